/* SPDX-License-Identifier: BSD-3-Clause */
/* mock_rma.c - put and get, from the initiator's side. Bounds and rights are
 * looked at when the operation is accepted and again when it is executed: a
 * region may have been released meanwhile. */
#include "mock/mock_private.h"

/* What an operation asks. */
struct mock_access {
    enum mock_op           op;
    enum mock_kind         kind;
    uint64_t               address;
    size_t                 length;
    size_t                 length_max;
    const struct uct_rkey *rkey;
    unsigned               flags;
};

static const struct uct_iface_attr *mock_attr(const struct mock_ep *ep)
{
    return &mock_world.setup.devices[mock_iface_of(ep->base.iface)->device];
}

static uint64_t mock_key(const struct uct_rkey *rkey)
{
    return ucs_container_of(rkey, struct mock_rkey, base)->key;
}

/* An item for it. @return NULL: *status_p says why. */
static struct mock_item *mock_rma_new(struct mock_ep           *ep,
                                      const struct mock_access *access,
                                      ucs_status_t             *status_p)
{
    unsigned right = (access->kind == MOCK_ITEM_PUT) ? UCT_ACCESS_REMOTE_WRITE
                                                     : UCT_ACCESS_REMOTE_READ;
    const struct mock_mem *mem;
    struct mock_item      *item;

    if (access->length > access->length_max) {
        *status_p = UCS_ERR_INVALID_PARAM;
        return NULL;
    }
    *status_p = mock_begin(ep, access->op, access->flags);
    if (*status_p != UCS_OK) {
        return NULL;
    }
    if (ep->source != NULL) {
        mem = mock_mem_allows(mock_key(access->rkey), ep->source->iface,
                              access->address, access->length, right);
        if (mem == NULL) {
            *status_p = UCS_ERR_INVALID_ADDR;
            return NULL;
        }
        if (mock_mem_is_stale(mem)) {
            mock_bad("host %u reaches memory that is gone: registration %lu",
                     mock_iface_of(ep->base.iface)->host,
                     (unsigned long)mem->number);
        }
    }
    item = mock_item_new(ep, access->kind);
    if (item == NULL) {
        *status_p = UCS_ERR_NO_MEMORY;
        return NULL;
    }
    item->address = access->address;
    item->length  = access->length;
    item->key     = mock_key(access->rkey);
    item->data    = malloc((access->length == 0) ? 1 : access->length);
    ucs_check(item->data != NULL);
    return item;
}

ucs_status_t mock_put_short(struct uct_ep *base, const void *buffer,
                            size_t length, uint64_t remote_address,
                            const struct uct_rkey *rkey, unsigned flags)
{
    struct mock_ep          *ep     = mock_ep_of(base);
    const struct mock_access access = {MOCK_PUT_SHORT,
                                       MOCK_ITEM_PUT,
                                       remote_address,
                                       length,
                                       mock_attr(ep)->put.short_bytes_max,
                                       rkey,
                                       flags};
    ucs_status_t             status;
    struct mock_item        *item = mock_rma_new(ep, &access, &status);

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
    const struct mock_access access = {MOCK_PUT_BCOPY,
                                       MOCK_ITEM_PUT,
                                       remote_address,
                                       length_max,
                                       mock_attr(ep)->put.bcopy_bytes_max,
                                       rkey,
                                       flags};
    ucs_status_t             status;
    struct mock_item        *item = mock_rma_new(ep, &access, &status);
    ssize_t                  length;

    if (item == NULL) {
        return status;
    }
    item->length = pack(item->data, arg);
    length       = (ssize_t)item->length;
    ucs_check(item->length <= length_max);
    mock_journal_item(item, MOCK_PUT_BCOPY);
    (void)mock_item_accept(item, NULL, false);
    return length;
}

/* Put and get with pieces of the caller's memory. */
static ucs_status_t mock_rma_zcopy(struct mock_ep           *ep,
                                   const struct mock_access *access,
                                   const struct uct_iov     *iov,
                                   unsigned iov_count, struct uct_req *req)
{
    struct mock_iface *self = mock_iface_of(ep->base.iface);
    struct mock_item  *item;
    ucs_status_t       status;

    if (iov_count > MOCK_IOV_COUNT_MAX) {
        return UCS_ERR_INVALID_PARAM;
    }
    item = mock_rma_new(ep, access, &status);
    if (item == NULL) {
        return status;
    }
    if (mock_world.setup.needs_mem && (access->op != MOCK_GET_BCOPY) &&
        !mock_mem_covers(self, iov, iov_count)) {
        mock_bad("host %u uses memory that is not registered", self->host);
    }
    item->status = mock_world.late_status;
    mock_item_lend(item, iov, iov_count);
    if (access->kind == MOCK_ITEM_PUT) {
        (void)uct_iov_gather(item->data, iov, iov_count);
    }
    mock_journal_item(item, access->op);
    return mock_item_accept(item, req, true);
}

ucs_status_t mock_put_zcopy(struct uct_ep *base, const struct uct_iov *iov,
                            unsigned iov_count, uint64_t remote_address,
                            const struct uct_rkey *rkey, struct uct_req *req,
                            unsigned flags)
{
    struct mock_ep          *ep     = mock_ep_of(base);
    const struct mock_access access = {MOCK_PUT_ZCOPY,
                                       MOCK_ITEM_PUT,
                                       remote_address,
                                       uct_iov_bytes(iov, iov_count),
                                       mock_attr(ep)->put.zcopy_bytes_max,
                                       rkey,
                                       flags};

    return (iov_count > mock_attr(ep)->put.iov_count_max)
               ? UCS_ERR_INVALID_PARAM
               : mock_rma_zcopy(ep, &access, iov, iov_count, req);
}

ucs_status_t mock_get_zcopy(struct uct_ep *base, const struct uct_iov *iov,
                            unsigned iov_count, uint64_t remote_address,
                            const struct uct_rkey *rkey, struct uct_req *req,
                            unsigned flags)
{
    struct mock_ep          *ep     = mock_ep_of(base);
    const struct mock_access access = {MOCK_GET_ZCOPY,
                                       MOCK_ITEM_GET,
                                       remote_address,
                                       uct_iov_bytes(iov, iov_count),
                                       mock_attr(ep)->get.zcopy_bytes_max,
                                       rkey,
                                       flags};

    return (iov_count > mock_attr(ep)->get.iov_count_max)
               ? UCS_ERR_INVALID_PARAM
               : mock_rma_zcopy(ep, &access, iov, iov_count, req);
}

ucs_status_t mock_get_bcopy(struct uct_ep *base, void *buffer, size_t length,
                            uint64_t               remote_address,
                            const struct uct_rkey *rkey, struct uct_req *req,
                            unsigned flags)
{
    struct mock_ep          *ep     = mock_ep_of(base);
    const struct uct_iov     iov    = {buffer, length, NULL};
    const struct mock_access access = {MOCK_GET_BCOPY,
                                       MOCK_ITEM_GET,
                                       remote_address,
                                       length,
                                       mock_attr(ep)->get.bcopy_bytes_max,
                                       rkey,
                                       flags};

    return mock_rma_zcopy(ep, &access, &iov, 1, req);
}
