/* SPDX-License-Identifier: BSD-3-Clause */
/* mock_ep.c - endpoints, their sources at the peer, room, and flush. */
#include "mock/mock_private.h"

#include "ucs/bytes.h"

static struct mock_iface *mock_iface_find(uint64_t id)
{
    struct mock_iface *iface;

    ucs_list_for_each (iface, &mock_world.ifaces, link) {
        if ((iface->id == id) && !iface->is_dead) {
            return iface;
        }
    }
    return NULL;
}

static struct mock_source *mock_source_new(struct mock_iface *iface,
                                           struct mock_ep    *ep)
{
    struct mock_source *source = calloc(1, sizeof(*source));

    if (source != NULL) {
        source->iface   = iface;
        source->ep      = ep;
        source->channel = ep->channel;
        ucs_list_add_tail(&iface->sources, &source->link);
    }
    return source;
}

void mock_source_free(struct mock_source *source)
{
    if (source->ep != NULL) {
        source->ep->source = NULL;
    }
    ucs_list_remove(&source->link);
    free(source);
}

ucs_status_t mock_ep_create(struct uct_iface           *iface,
                            const struct uct_ep_params *params,
                            struct uct_ep             **ep_p)
{
    struct mock_iface *self = mock_iface_of(iface);
    struct mock_iface *peer;
    struct mock_ep    *ep;
    ucs_status_t       status;

    status =
        mock_iface_reach(iface, params->address, params->address_bytes, NULL);
    if (status != UCS_OK) {
        return status;
    }
    peer = mock_iface_find(ucs_get_le64(params->address + 8));
    ep   = calloc(1, sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ep->channel = ++mock_world.number;
    if (peer != NULL) {
        ep->source = mock_source_new(peer, ep);
        if (ep->source == NULL) {
            free(ep);
            return UCS_ERR_NO_MEMORY;
        }
    }
    uct_inflight_init(&ep->inflight);
    ucti_ep_init(&ep->base, iface, params);
    if (peer != NULL) {
        ep->base.claims      = peer->base.claims.words;
        ep->base.claim_count = (uint8_t)peer->base.claims.count;
    }
    ucs_list_add_tail(&self->eps, &ep->link);
    *ep_p = &ep->base;
    return UCS_OK;
}

/* What it has on the way goes on without it. */
static void mock_ep_leave_items(struct mock_ep *ep)
{
    struct mock_item *item;

    ucs_list_for_each (item, &mock_world.wire, link) {
        if (item->ep == ep) {
            mock_item_detach(item);
        }
    }
}

/* Those that were kept for their completion only. */
static void mock_free_finished(void)
{
    struct mock_item *item, *next;

    ucs_list_for_each_safe (item, next, &mock_world.wire, link) {
        if ((item->ep == NULL) && item->has_arrived && !item->is_own_used) {
            mock_item_free(item);
        }
    }
}

void mock_ep_destroy(struct uct_ep *base)
{
    struct mock_ep     *ep     = mock_ep_of(base);
    struct mock_source *source = ep->source;
    struct mock_item   *end;

    ucti_ep_cleanup(base);
    mock_ep_leave_items(ep);
    ucti_inflight_cleanup(&ep->inflight);
    mock_free_finished();
    if (source != NULL) {
        if (source->has_sent) {
            end = mock_item_new(ep, MOCK_ITEM_END);
            ucs_check(end != NULL);
            (void)mock_item_accept(end, NULL, false);
            mock_item_detach(end);
            source->ep = NULL;
        } else {
            mock_source_free(source);
        }
    }
    ucs_list_remove(&ep->link);
    free(ep);
}

static bool mock_has_room(const struct mock_ep *ep)
{
    const struct mock_iface *self = mock_iface_of(ep->base.iface);

    return (ep->on_way < mock_world.setup.room) &&
           !mock_world.hosts[self->host].is_blocked;
}

enum uct_may_send mock_may_send(struct uct_ep *base)
{
    const struct mock_ep *ep = mock_ep_of(base);

    return ((ep->source == NULL) || mock_has_room(ep)) ? UCT_MAY_SEND_NOW
                                                       : UCT_MAY_SEND_LATER;
}

ucs_status_t mock_begin(struct mock_ep *ep, enum mock_op op, unsigned flags)
{
    const struct mock_iface *self = mock_iface_of(ep->base.iface);
    const struct mock_fault *fault;

    if (ep->base.failed != UCS_OK) {
        return ep->base.failed;
    }
    if (self->is_dead || ((ep->source == NULL) && !ep->is_cut)) {
        return UCS_ERR_CONNECTION_RESET;
    }
    if (uct_ep_must_wait(&ep->base, flags) || !mock_has_room(ep)) {
        return uct_ep_refuse(&ep->base, flags);
    }
    fault                  = mock_fault_hit(op, self->host);
    mock_world.late_status = UCS_OK;
    if ((fault != NULL) && fault->late) {
        mock_world.late_status = fault->status;
    } else if (fault != NULL) {
        return (fault->status == UCS_ERR_WOULD_BLOCK)
                   ? uct_ep_refuse(&ep->base, flags)
                   : fault->status;
    }
    return UCS_OK;
}

/* Is anything before it not done at the target? */
static bool mock_ep_has_rma(const struct mock_ep *ep)
{
    const struct mock_item *item;

    ucs_list_for_each (item, &mock_world.wire, link) {
        if ((item->ep == ep) && !item->has_arrived &&
            ((item->kind == MOCK_ITEM_PUT) || (item->kind == MOCK_ITEM_GET))) {
            return true;
        }
    }
    return false;
}

ucs_status_t mock_ep_flush(struct uct_ep *base, struct uct_req *req,
                           unsigned flags)
{
    struct mock_ep   *ep = mock_ep_of(base);
    struct mock_item *item;
    ucs_status_t      status;

    status = mock_begin(ep, MOCK_FLUSH, flags);
    if (status != UCS_OK) {
        return status;
    }
    if (uct_inflight_is_empty(&ep->inflight) && !mock_ep_has_rma(ep)) {
        return UCS_OK;
    }
    if (req == NULL) {
        return UCS_INPROGRESS;
    }
    item = mock_item_new(ep, MOCK_ITEM_FLUSH);
    if (item == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    return mock_item_accept(item, req, true);
}
