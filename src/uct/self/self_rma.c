/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/self/self_rma.c - put, get and atomics: the key is looked up, bounds
 * and rights are checked, then the processor does it. Done inside the call,
 * so there is nothing to complete and nothing to refuse, except behind an
 * endpoint that waits. */
#include "uct/self/self.h"

#include <string.h>

#include "ucs/assert.h"
#include "uct/base/atomic.h"
#include "uct/base/iov.h"
#include "uct/base/pending.h"

/* What every operation asks first. */
static ucs_status_t self_rma_begin(struct uct_ep *ep, uint64_t remote_address,
                                   size_t length, const struct uct_rkey *rkey,
                                   unsigned access, unsigned flags)
{
    ucs_status_t status;

    status = self_region_check(rkey, remote_address, length, access);
    if (status != UCS_OK) {
        return status;
    }
    if (uct_ep_must_wait(ep, flags)) {
        return uct_ep_refuse(ep, flags);
    }
    return UCS_OK;
}

static void *self_pointer(uint64_t remote_address)
{
    return (void *)(uintptr_t)remote_address;
}

ucs_status_t self_put_short(struct uct_ep *ep, const void *buffer,
                            size_t length, uint64_t remote_address,
                            const struct uct_rkey *rkey, unsigned flags)
{
    ucs_status_t status;

    if (length > SELF_SHORT_BYTES_MAX) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = self_rma_begin(ep, remote_address, length, rkey,
                            UCT_ACCESS_REMOTE_WRITE, flags);
    if ((status == UCS_OK) && (length != 0)) {
        /* Source and target may overlap: it is one process. */
        memmove(self_pointer(remote_address), buffer, length);
    }
    return status;
}

ssize_t self_put_bcopy(struct uct_ep *ep, uct_pack_fn pack, void *arg,
                       size_t length_max, uint64_t remote_address,
                       const struct uct_rkey *rkey, unsigned flags)
{
    ucs_status_t status;
    size_t       length;

    status = self_rma_begin(ep, remote_address, length_max, rkey,
                            UCT_ACCESS_REMOTE_WRITE, flags);
    if (status != UCS_OK) {
        return status;
    }
    length = pack(self_pointer(remote_address), arg);
    ucs_assert(length <= length_max);
    return (ssize_t)length;
}

/* Both sides are walked at once. */
static void self_move(const struct uct_rma *rma, bool is_put)
{
    struct uct_remote_cursor cursor = {.rma = rma};
    unsigned                 index;

    for (index = 0; index < rma->iov_count; ++index) {
        char  *local = (char *)rma->iov[index].buffer;
        size_t left  = rma->iov[index].length;

        while (left > 0) {
            struct uct_remote piece  = uct_remote_next(&cursor, left);
            void             *remote = self_pointer(piece.address);

            memmove(is_put ? remote : local, is_put ? local : remote,
                    piece.length);
            local += piece.length;
            left -= piece.length;
        }
    }
}

static ucs_status_t self_zcopy(struct uct_ep *ep, bool is_put,
                               const struct uct_rma *rma, unsigned flags)
{
    unsigned access = is_put ? UCT_ACCESS_REMOTE_WRITE : UCT_ACCESS_REMOTE_READ;
    ucs_status_t status = UCS_OK;
    unsigned     index;

    if ((rma->iov_count > SELF_IOV_COUNT_MAX) ||
        (rma->remote_count > SELF_IOV_COUNT_MAX) ||
        (uct_iov_bytes(rma->iov, rma->iov_count) != uct_remote_bytes(rma))) {
        return UCS_ERR_INVALID_PARAM;
    }
    for (index = 0; (status == UCS_OK) && (index < rma->remote_count);
         ++index) {
        status = self_region_check(rma->remote[index].rkey,
                                   rma->remote[index].address,
                                   rma->remote[index].length, access);
    }
    if (status != UCS_OK) {
        return status;
    }
    if (uct_ep_must_wait(ep, flags)) {
        return uct_ep_refuse(ep, flags);
    }
    self_move(rma, is_put);
    return UCS_OK;
}

ucs_status_t self_put_zcopy(struct uct_ep *ep, const struct uct_rma *rma,
                            struct uct_req *req, unsigned flags)
{
    (void)req;
    return self_zcopy(ep, true, rma, flags);
}

ucs_status_t self_get_zcopy(struct uct_ep *ep, const struct uct_rma *rma,
                            struct uct_req *req, unsigned flags)
{
    (void)req;
    return self_zcopy(ep, false, rma, flags);
}

ucs_status_t self_get_bcopy(struct uct_ep *ep, void *buffer, size_t length,
                            uint64_t               remote_address,
                            const struct uct_rkey *rkey, struct uct_req *req,
                            unsigned flags)
{
    const struct uct_iov    iov    = {.buffer = buffer, .length = length};
    const struct uct_remote remote = {remote_address, length, rkey};
    const struct uct_rma    rma    = {&iov, &remote, 1, 1};

    (void)req;
    return self_zcopy(ep, false, &rma, flags);
}

ucs_status_t self_atomic(struct uct_ep *ep, const struct uct_atomic *atomic,
                         uint64_t remote_address, const struct uct_rkey *rkey,
                         struct uct_req *req, unsigned flags)
{
    ucs_status_t status;

    (void)req;
    if (!uct_atomic_is_valid(atomic->op, atomic->size_bytes, remote_address)) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = self_rma_begin(ep, remote_address, atomic->size_bytes, rkey,
                            UCT_ACCESS_REMOTE_ATOMIC, flags);
    if (status != UCS_OK) {
        return status;
    }
    uct_atomic_give(atomic->result, atomic->size_bytes,
                    uct_atomic_apply(atomic, self_pointer(remote_address)));
    return UCS_OK;
}
