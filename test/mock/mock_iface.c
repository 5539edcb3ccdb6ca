/* SPDX-License-Identifier: BSD-3-Clause */
/* mock_iface.c - interfaces: address, progress, the end of those who send to
 * it and of those it sends to. */
#include "mock/mock_private.h"

#include <stdio.h>

#include "ucs/bytes.h"
#include "uct/base/am.h"

ucs_status_t mock_iface_open(struct uct_md                 *base,
                             const struct uct_iface_params *params,
                             struct uct_iface             **iface_p)
{
    struct mock_md    *md   = ucs_container_of(base, struct mock_md, base);
    struct mock_iface *self = calloc(1, sizeof(*self));

    if (self == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucti_iface_init(&self->base, base, params);
    self->id     = ++mock_world.number;
    self->device = md->device;
    self->host   = md->host;
    if (mock_world.setup.devices[self->device].flags & UCT_IFACE_CLAIMS) {
        self->base.claims.words =
            mock_world.hosts[self->host].claims[self->device];
        self->base.claims.count = MOCK_CLAIM_COUNT;
    }
    ucs_list_init(&self->eps);
    ucs_list_init(&self->sources);
    ucs_list_add_tail(&mock_world.ifaces, &self->link);
    *iface_p = &self->base;
    return UCS_OK;
}

/* What is on the way to it goes nowhere. */
static void mock_iface_refuse_items(struct mock_iface *self)
{
    struct mock_item *item, *next;

    ucs_list_for_each_safe (item, next, &mock_world.wire, link) {
        if (item->to != self) {
            continue;
        }
        if ((item->kind == MOCK_ITEM_PUT) || (item->kind == MOCK_ITEM_GET)) {
            item->status = UCS_ERR_CONNECTION_RESET;
        }
        if (!item->has_arrived && (item->ep != NULL)) {
            --item->ep->on_way;
        }
        item->has_arrived = true;
        item->to          = NULL;
        item->source      = NULL;
        if ((item->req == NULL) && !item->is_own_used) {
            mock_item_free(item);
        }
    }
}

void mock_iface_close(struct uct_iface *iface)
{
    struct mock_iface  *self = mock_iface_of(iface);
    struct mock_source *source;

    mock_iface_refuse_items(self);
    while (!ucs_list_is_empty(&self->sources)) {
        source = ucs_list_first(&self->sources, struct mock_source, link);
        mock_source_free(source);
    }
    if (self->kept_count > 0) {
        mock_bad("host %u closed with %u kept messages", self->host,
                 self->kept_count);
    }
    uct_iface_cleanup(iface);
    ucs_list_remove(&self->link);
    free(self);
}

void mock_iface_query(const struct uct_iface *iface,
                      struct uct_iface_attr  *attr_p)
{
    *attr_p = mock_world.setup.devices[mock_iface_of(iface)->device];
    attr_p->address_bytes = MOCK_ADDRESS_BYTES;
    if (iface->transport->put_zcopy == NULL) {
        attr_p->put.zcopy_bytes_max = 0;
    }
    if (iface->transport->get_zcopy == NULL) {
        attr_p->get.zcopy_bytes_max = 0;
    }
    if (iface->transport->am_zcopy == NULL) {
        attr_p->am.zcopy_bytes_max = 0;
    }
    if (iface->transport->am_short == NULL) {
        attr_p->am.short_bytes_max = 0;
    }
}

/* 0 magic:4  4 device:4  8 id:8  16 check:8 */
void mock_iface_address(const struct uct_iface *iface, uint8_t *bytes)
{
    const struct mock_iface *self = mock_iface_of(iface);

    ucs_put_le32(bytes, MOCK_ADDRESS_MAGIC);
    ucs_put_le32(bytes + 4, self->device);
    ucs_put_le64(bytes + 8, self->id);
    ucs_put_le64(bytes + 16, ~self->id);
}

ucs_status_t mock_iface_reach(struct uct_iface *iface, const uint8_t *bytes,
                              size_t size_bytes, char *reason)
{
    const struct mock_iface *self = mock_iface_of(iface);

    if ((size_bytes != MOCK_ADDRESS_BYTES) ||
        (ucs_get_le32(bytes) != MOCK_ADDRESS_MAGIC) ||
        (ucs_get_le64(bytes + 8) != ~ucs_get_le64(bytes + 16))) {
        ucti_reason(reason, "mock: these bytes are no address");
        return UCS_ERR_INVALID_ADDR;
    }
    if (ucs_get_le32(bytes + 4) != self->device) {
        ucti_reason(reason, "mock: the address is of device %u, this is %u",
                    ucs_get_le32(bytes + 4), self->device);
        return UCS_ERR_UNREACHABLE;
    }
    return UCS_OK;
}

void mock_am_release(struct uct_iface *iface, void *data)
{
    --mock_iface_of(iface)->kept_count;
    free(data);
}

/* Report the peers that were killed. */
static unsigned mock_report_cut(struct mock_iface *self)
{
    struct mock_ep *ep;
    unsigned        count = 0;
    bool            is_changed;

    do {
        is_changed = false;
        ucs_list_for_each (ep, &self->eps, link) {
            if (ep->is_cut && (ep->base.failed == UCS_OK)) {
                mock_wire_lose(ep);
                (void)ucti_ep_fail(&ep->base, &ep->inflight,
                                   UCS_ERR_CONNECTION_RESET);
                ++count;
                is_changed = true;
                break; /* the list may have changed */
            }
        }
    } while (is_changed);
    return count;
}

static bool mock_source_is_empty(const struct mock_source *source)
{
    const struct mock_item *item;

    ucs_list_for_each (item, &mock_world.wire, link) {
        if ((item->source == source) && !item->has_arrived) {
            return false;
        }
    }
    return true;
}

/* The end of senders that were killed, after their last message. */
static unsigned mock_end_cut_sources(struct mock_iface *self)
{
    struct mock_source *source, *next;
    unsigned            count = 0;

    ucs_list_for_each_safe (source, next, &self->sources, link) {
        if (source->is_cut && mock_source_is_empty(source)) {
            if (source->has_sent) {
                uct_iface_end_source(&self->base, &source->base,
                                     UCS_ERR_CONNECTION_RESET);
                ++count;
            }
            mock_source_free(source);
        }
    }
    return count;
}

unsigned mock_progress(struct uct_iface *iface)
{
    struct mock_iface *self  = mock_iface_of(iface);
    unsigned           count = 0;

    if (self->is_dead) {
        return 0;
    }
    ++self->steps;
    count += mock_wire_arrive(self);
    count += mock_wire_complete(self);
    count += mock_end_cut_sources(self);
    count += mock_report_cut(self);
    return count + ucti_pending_serve(iface, mock_may_send);
}

/* The peers' endpoints and sources learn of it with their progress. */
void mock_iface_kill(struct mock_iface *self)
{
    struct mock_source *source, *next;
    struct mock_item   *item, *next_item;
    struct mock_ep     *ep;

    self->is_dead = true;
    ucs_list_for_each_safe (item, next_item, &mock_world.wire, link) {
        bool is_lost = (item->from == self) && !item->is_released;

        if (!item->has_arrived && (is_lost || (item->to == self))) {
            item->has_arrived = true;
            item->is_lent     = false;
            item->status      = UCS_ERR_CONNECTION_RESET;
            if ((item->req == NULL) && !item->is_own_used) {
                mock_item_free(item);
            }
        }
    }
    ucs_list_for_each (ep, &self->eps, link) {
        if (ep->source != NULL) {
            ep->source->is_cut = true;
            ep->source->ep     = NULL;
            ep->source         = NULL;
        }
    }
    ucs_list_for_each_safe (source, next, &self->sources, link) {
        if (source->ep != NULL) {
            source->ep->is_cut = true;
        }
    }
}
