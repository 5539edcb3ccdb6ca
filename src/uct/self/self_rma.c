/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/self/self_rma.c - put, get and atomics: the key is looked up, bounds
 * and rights are checked, then the processor does it. Done inside the call,
 * so there is nothing to complete and nothing to refuse, except behind an
 * endpoint that waits. */
#include "uct/self/self.h"

#include <stdatomic.h>
#include <string.h>

#include "ucs/assert.h"
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

/* The operation on one word; @return what was there. Sequentially consistent,
 * as a reader on any processor expects of a network's atomic: it pairs with
 * every other one on that word. */
#define SELF_ATOMIC(_type, _atomic, _address)                                  \
    ({                                                                         \
        _Atomic _type *_target  = (_Atomic _type *)(_address);                 \
        _type          _operand = (_type)(_atomic)->operand;                   \
        _type          _old     = 0;                                           \
                                                                               \
        switch ((_atomic)->op) {                                               \
        case UCT_ATOMIC_ADD:                                                   \
            _old = atomic_fetch_add(_target, _operand);                        \
            break;                                                             \
        case UCT_ATOMIC_AND:                                                   \
            _old = atomic_fetch_and(_target, _operand);                        \
            break;                                                             \
        case UCT_ATOMIC_OR:                                                    \
            _old = atomic_fetch_or(_target, _operand);                         \
            break;                                                             \
        case UCT_ATOMIC_XOR:                                                   \
            _old = atomic_fetch_xor(_target, _operand);                        \
            break;                                                             \
        case UCT_ATOMIC_SWAP:                                                  \
            _old = atomic_exchange(_target, _operand);                         \
            break;                                                             \
        case UCT_ATOMIC_CSWAP:                                                 \
            _old = (_type)(_atomic)->compare;                                  \
            (void)atomic_compare_exchange_strong(_target, &_old, _operand);    \
            break;                                                             \
        case UCT_ATOMIC_COUNT:                                                 \
            break;                                                             \
        }                                                                      \
        _old;                                                                  \
    })

static void self_atomic32(const struct uct_atomic *atomic, void *target)
{
    uint32_t old = SELF_ATOMIC(uint32_t, atomic, target);

    if (atomic->result != NULL) {
        memcpy(atomic->result, &old, sizeof(old));
    }
}

static void self_atomic64(const struct uct_atomic *atomic, void *target)
{
    uint64_t old = SELF_ATOMIC(uint64_t, atomic, target);

    if (atomic->result != NULL) {
        memcpy(atomic->result, &old, sizeof(old));
    }
}

ucs_status_t self_atomic(struct uct_ep *ep, const struct uct_atomic *atomic,
                         uint64_t remote_address, const struct uct_rkey *rkey,
                         struct uct_req *req, unsigned flags)
{
    ucs_status_t status;

    (void)req;
    if (((unsigned)atomic->op >= UCT_ATOMIC_COUNT) ||
        ((atomic->size_bytes != 4) && (atomic->size_bytes != 8)) ||
        ((remote_address % atomic->size_bytes) != 0)) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = self_rma_begin(ep, remote_address, atomic->size_bytes, rkey,
                            UCT_ACCESS_REMOTE_ATOMIC, flags);
    if (status != UCS_OK) {
        return status;
    }
    if (atomic->size_bytes == 4) {
        self_atomic32(atomic, self_pointer(remote_address));
    } else {
        self_atomic64(atomic, self_pointer(remote_address));
    }
    return UCS_OK;
}
