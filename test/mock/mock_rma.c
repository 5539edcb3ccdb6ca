/* SPDX-License-Identifier: BSD-3-Clause */
/* mock_rma.c - put and get, from the initiator's side. Bounds and rights are
 * looked at when the operation is accepted and again when it is executed: a
 * region may have been released meanwhile. */
#include "mock/mock_private.h"

/* What an operation asks.
 * remote  [remote_count], length bytes together */
struct mock_access {
    enum mock_op             op;
    enum mock_kind           kind;
    const struct uct_remote *remote;
    unsigned                 remote_count;
    size_t                   length;
    size_t                   length_max;
    unsigned                 flags;
};

static const struct uct_iface_attr *mock_attr(const struct mock_ep *ep)
{
    return &mock_world.setup.devices[mock_iface_of(ep->base.iface)->device];
}

/* What the item must know of the target when it is there. */
static void mock_rma_aim(struct mock_item         *item,
                         const struct mock_access *access)
{
    unsigned index;

    item->length       = access->length;
    item->remote_count = access->remote_count;
    for (index = 0; index < access->remote_count; ++index) {
        const struct uct_remote *remote = &access->remote[index];

        item->remote[index] = (struct mock_remote){
            remote->address, remote->length,
            ucs_container_of(remote->rkey, struct mock_rkey, base)->key};
    }
}

/* An item for it. @return NULL: *status_p says why. */
static struct mock_item *mock_rma_new(struct mock_ep           *ep,
                                      const struct mock_access *access,
                                      ucs_status_t             *status_p)
{
    const struct mock_mem *stale;
    struct mock_item      *item;

    if (access->length > access->length_max) {
        *status_p = UCS_ERR_INVALID_PARAM;
        return NULL;
    }
    *status_p = mock_begin(ep, access->op, access->flags);
    if (*status_p != UCS_OK) {
        return NULL;
    }
    item = mock_item_new(ep, access->kind);
    if (item == NULL) {
        *status_p = UCS_ERR_NO_MEMORY;
        return NULL;
    }
    mock_rma_aim(item, access);
    if ((ep->source != NULL) &&
        !mock_item_is_allowed(item, ep->source->iface)) {
        *status_p = UCS_ERR_INVALID_ADDR;
        free(item); /* not on the wire yet */
        return NULL;
    }
    stale =
        (ep->source == NULL) ? NULL : mock_item_stale(item, ep->source->iface);
    if (stale != NULL) {
        mock_bad("host %u reaches memory that is gone: registration %lu",
                 mock_iface_of(ep->base.iface)->host,
                 (unsigned long)stale->number);
    }
    item->data = malloc((access->length == 0) ? 1 : access->length);
    ucs_check(item->data != NULL);
    return item;
}

ucs_status_t mock_put_short(struct uct_ep *base, const void *buffer,
                            size_t length, uint64_t remote_address,
                            const struct uct_rkey *rkey, unsigned flags)
{
    struct mock_ep          *ep     = mock_ep_of(base);
    const struct uct_remote  remote = {remote_address, length, rkey};
    const struct mock_access access = {
        MOCK_PUT_SHORT, MOCK_ITEM_PUT,
        &remote,        1,
        length,         mock_attr(ep)->put.short_bytes_max,
        flags};
    ucs_status_t      status;
    struct mock_item *item = mock_rma_new(ep, &access, &status);

    if (item == NULL) {
        return status;
    }
    if (length > 0) {
        memcpy(item->data, buffer, length);
    }
    mock_journal_item(item, MOCK_PUT_SHORT);
    return mock_item_accept(item, NULL, false);
}

ssize_t mock_put_bcopy(struct uct_ep *base, uct_pack_fn pack, void *arg,
                       size_t length_max, uint64_t remote_address,
                       const struct uct_rkey *rkey, unsigned flags)
{
    struct mock_ep          *ep     = mock_ep_of(base);
    const struct uct_remote  remote = {remote_address, length_max, rkey};
    const struct mock_access access = {
        MOCK_PUT_BCOPY, MOCK_ITEM_PUT,
        &remote,        1,
        length_max,     mock_attr(ep)->put.bcopy_bytes_max,
        flags};
    ucs_status_t      status;
    struct mock_item *item = mock_rma_new(ep, &access, &status);
    ssize_t           length;

    if (item == NULL) {
        return status;
    }
    item->length           = pack(item->data, arg);
    item->remote[0].length = item->length;
    length                 = (ssize_t)item->length;
    ucs_check(item->length <= length_max);
    mock_journal_item(item, MOCK_PUT_BCOPY);
    (void)mock_item_accept(item, NULL, false);
    return length;
}

/* Put and get with pieces of the caller's memory. */
static ucs_status_t mock_rma_zcopy(struct mock_ep           *ep,
                                   const struct mock_access *access,
                                   const struct uct_rma     *rma,
                                   struct uct_req           *req)
{
    struct mock_iface *self = mock_iface_of(ep->base.iface);
    struct mock_item  *item;
    ucs_status_t       status;

    item = mock_rma_new(ep, access, &status);
    if (item == NULL) {
        return status;
    }
    if (mock_world.setup.needs_mem && (access->op != MOCK_GET_BCOPY) &&
        !mock_mem_covers(self, rma->iov, rma->iov_count)) {
        mock_bad("host %u uses memory that is not registered", self->host);
    }
    item->status = mock_world.late_status;
    mock_item_lend(item, rma->iov, rma->iov_count);
    if (access->kind == MOCK_ITEM_PUT) {
        (void)uct_iov_gather(item->data, rma->iov, rma->iov_count);
    }
    mock_journal_item(item, access->op);
    return mock_item_accept(item, req, true);
}

/* put_zcopy and get_zcopy; the access says which. */
static ucs_status_t mock_zcopy(struct mock_ep *ep, struct mock_access *access,
                               const struct uct_op_limits *limits,
                               const struct uct_rma *rma, struct uct_req *req)
{
    access->remote       = rma->remote;
    access->remote_count = rma->remote_count;
    access->length       = uct_iov_bytes(rma->iov, rma->iov_count);
    access->length_max   = limits->zcopy_bytes_max;
    if ((rma->iov_count > limits->iov_count_max) ||
        (rma->remote_count > limits->remote_count_max) ||
        (uct_remote_bytes(rma) != access->length)) {
        return UCS_ERR_INVALID_PARAM;
    }
    return mock_rma_zcopy(ep, access, rma, req);
}

ucs_status_t mock_put_zcopy(struct uct_ep *base, const struct uct_rma *rma,
                            struct uct_req *req, unsigned flags)
{
    struct mock_ep    *ep     = mock_ep_of(base);
    struct mock_access access = {
        .op = MOCK_PUT_ZCOPY, .kind = MOCK_ITEM_PUT, .flags = flags};

    return mock_zcopy(ep, &access, &mock_attr(ep)->put, rma, req);
}

ucs_status_t mock_get_zcopy(struct uct_ep *base, const struct uct_rma *rma,
                            struct uct_req *req, unsigned flags)
{
    struct mock_ep    *ep     = mock_ep_of(base);
    struct mock_access access = {
        .op = MOCK_GET_ZCOPY, .kind = MOCK_ITEM_GET, .flags = flags};

    return mock_zcopy(ep, &access, &mock_attr(ep)->get, rma, req);
}

ucs_status_t mock_get_bcopy(struct uct_ep *base, void *buffer, size_t length,
                            uint64_t               remote_address,
                            const struct uct_rkey *rkey, struct uct_req *req,
                            unsigned flags)
{
    struct mock_ep          *ep     = mock_ep_of(base);
    const struct uct_iov     iov    = {buffer, length, NULL};
    const struct uct_remote  remote = {remote_address, length, rkey};
    const struct uct_rma     rma    = {&iov, &remote, 1, 1};
    const struct mock_access access = {
        MOCK_GET_BCOPY, MOCK_ITEM_GET,
        &remote,        1,
        length,         mock_attr(ep)->get.bcopy_bytes_max,
        flags};

    return mock_rma_zcopy(ep, &access, &rma, req);
}
