/* SPDX-License-Identifier: BSD-3-Clause */
/* mock_item.c - one thing on the wire: accepted, lent, detached, freed. */
#include "mock/mock_private.h"

struct mock_item *mock_item_new(struct mock_ep *ep, enum mock_kind kind)
{
    struct mock_item *item = calloc(1, sizeof(*item));

    if (item == NULL) {
        return NULL;
    }
    item->kind   = kind;
    item->number = ++mock_world.number;
    item->event  = -1;
    item->status = UCS_OK;
    if (ep != NULL) {
        item->ep            = ep;
        item->source        = ep->source;
        item->from          = mock_iface_of(ep->base.iface);
        item->to            = (ep->source != NULL) ? ep->source->iface : NULL;
        item->accepted_step = item->from->steps;
    }
    return item;
}

static uint64_t mock_sum(const struct uct_iov *iov, unsigned iov_count)
{
    uint64_t       sum = 0xcbf29ce484222325ull; /* FNV-1a */
    const uint8_t *bytes;
    unsigned       index;
    size_t         offset;

    for (index = 0; index < iov_count; ++index) {
        bytes = (const uint8_t *)iov[index].buffer;
        for (offset = 0; offset < iov[index].length; ++offset) {
            sum = (sum ^ bytes[offset]) * 0x100000001b3ull;
        }
    }
    return sum;
}

void mock_item_lend(struct mock_item *item, const struct uct_iov *iov,
                    unsigned iov_count)
{
    if (iov_count > 0) {
        memcpy(item->iov, iov, iov_count * sizeof(*iov));
    }
    item->iov_count = iov_count;
    item->is_lent   = true;
    if (item->kind != MOCK_ITEM_GET) {
        item->sum = mock_sum(iov, iov_count);
    }
}

/* The request of an operation whose caller gave none. */
static void mock_item_own_done(struct uct_req *req)
{
    struct mock_item *item = ucs_container_of(req, struct mock_item, own);

    item->is_own_used = false;
    if (item->has_arrived && (item->req == NULL)) {
        mock_item_free(item);
    }
}

ucs_status_t mock_item_accept(struct mock_item *item, struct uct_req *req,
                              bool is_lending)
{
    struct mock_ep *ep = item->ep;

    if (item->source != NULL) {
        item->source->has_sent |= (item->kind == MOCK_ITEM_AM);
    }
    item->has_arrived =
        (item->kind == MOCK_ITEM_FLUSH) || (item->source == NULL);
    if (!item->has_arrived) {
        ++ep->on_way;
    }
    ucs_list_add_tail(&mock_world.wire, &item->link);
    mock_clock_accept(item);
    if (!is_lending) {
        if (item->has_arrived) {
            mock_item_free(item);
        }
        return UCS_OK;
    }
    if (req == NULL) {
        req               = &item->own;
        req->cb           = mock_item_own_done;
        item->is_own_used = true;
    }
    item->req = req;
    uct_inflight_add(&ep->inflight, req);
    return UCS_INPROGRESS;
}

bool mock_item_is_allowed(const struct mock_item  *item,
                          const struct mock_iface *owner)
{
    unsigned right = (item->kind == MOCK_ITEM_PUT) ? UCT_ACCESS_REMOTE_WRITE
                                                   : UCT_ACCESS_REMOTE_READ;
    unsigned index;

    for (index = 0; index < item->remote_count; ++index) {
        const struct mock_remote *remote = &item->remote[index];

        if (!mock_mem_allows(remote->key, owner, remote->address,
                             remote->length, right)) {
            return false;
        }
    }
    return true;
}

const struct mock_mem *mock_item_stale(const struct mock_item  *item,
                                       const struct mock_iface *owner)
{
    unsigned right = (item->kind == MOCK_ITEM_PUT) ? UCT_ACCESS_REMOTE_WRITE
                                                   : UCT_ACCESS_REMOTE_READ;
    unsigned index;

    for (index = 0; index < item->remote_count; ++index) {
        const struct mock_remote *remote = &item->remote[index];
        const struct mock_mem    *mem    = mock_mem_allows(
                  remote->key, owner, remote->address, remote->length, right);

        if ((mem != NULL) && mock_mem_is_stale(mem)) {
            return mem;
        }
    }
    return NULL;
}

void mock_item_gather(struct mock_item *item)
{
    if (!item->is_lent) {
        return;
    }
    item->is_lent = false;
    if ((item->kind != MOCK_ITEM_GET) && (item->kind != MOCK_ITEM_FLUSH)) {
        if (mock_sum(item->iov, item->iov_count) != item->sum) {
            mock_bad("bytes that were lent to number %lu changed",
                     (unsigned long)item->number);
        }
        (void)uct_iov_gather(item->data + item->header_length, item->iov,
                             item->iov_count);
    }
}

void mock_item_detach(struct mock_item *item)
{
    mock_item_gather(item);
    item->ep   = NULL;
    item->from = NULL;
    item->req  = NULL;
    if (item->kind == MOCK_ITEM_GET) {
        item->has_arrived = true; /* nobody waits for the bytes */
    }
}

void mock_item_free(struct mock_item *item)
{
    ucs_list_remove(&item->link);
    free(item->data);
    free(item);
}
