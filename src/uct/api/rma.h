/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/api/rma.h - put, get and atomics: what they are asked, and how the
 * functions look that a transport may have for them.
 *
 *   local     [iov 0][  iov 1  ][iov 2]       put: from here to there
 *              |      |    |     |
 *   remote    [ remote 0 ][  remote 1  ]      get: from there to here
 *
 * The bytes are counted through on both sides, so each side is cut as it
 * likes (docs/adr/0024). */
#ifndef UCT_API_RMA_H_
#define UCT_API_RMA_H_

#include "uct/api/uct_def.h"

struct uct_rkey;

/* One piece of the peer's memory, inside the region that rkey names. */
struct uct_remote {
    uint64_t               address;
    size_t                 length;
    const struct uct_rkey *rkey;
};

/* What put_zcopy and get_zcopy move. The pieces of either side are as long
 * together as those of the other; those that are written do not overlap.
 * iov     [iov_count], at most uct_op_limits.iov_count_max; borrowed
 * remote  [remote_count], at most uct_op_limits.remote_count_max; borrowed,
 *         the keys are lent until the operation completes */
struct uct_rma {
    const struct uct_iov    *iov;
    const struct uct_remote *remote;
    unsigned                 iov_count;
    unsigned                 remote_count;
};

/* Atomic operations on one aligned word at the target. */
enum uct_atomic_op {
    UCT_ATOMIC_ADD,
    UCT_ATOMIC_AND,
    UCT_ATOMIC_OR,
    UCT_ATOMIC_XOR,
    UCT_ATOMIC_SWAP,
    UCT_ATOMIC_CSWAP,
    UCT_ATOMIC_COUNT
};

/* One atomic operation.
 * op          what to do
 * size_bytes  4 or 8; remote_address is a multiple of it
 * operand     the operand; for CSWAP the new value
 * compare     CSWAP only: stored only if the target holds this
 * result      where the old value goes ([size_bytes], lent until done), or
 *             NULL for the form that fetches nothing */
struct uct_atomic {
    enum uct_atomic_op op;
    unsigned           size_bytes;
    uint64_t           operand;
    uint64_t           compare;
    void              *result;
};

/* Types of the functions themselves: a transport declares its own by them.
 * What they answer is said at their slots in transport.h. */
typedef ucs_status_t uct_put_short_proc(struct uct_ep *ep, const void *buffer,
                                        size_t length, uint64_t remote_address,
                                        const struct uct_rkey *rkey,
                                        unsigned               flags);
typedef ssize_t      uct_put_bcopy_proc(struct uct_ep *ep, uct_pack_fn pack,
                                        void *arg, size_t length_max,
                                        uint64_t               remote_address,
                                        const struct uct_rkey *rkey, unsigned flags);
typedef ucs_status_t uct_get_bcopy_proc(struct uct_ep *ep, void *buffer,
                                        size_t length, uint64_t remote_address,
                                        const struct uct_rkey *rkey,
                                        struct uct_req *req, unsigned flags);
typedef ucs_status_t uct_zcopy_proc(struct uct_ep        *ep,
                                    const struct uct_rma *rma,
                                    struct uct_req *req, unsigned flags);
typedef ucs_status_t uct_atomic_proc(struct uct_ep           *ep,
                                     const struct uct_atomic *atomic,
                                     uint64_t                 remote_address,
                                     const struct uct_rkey   *rkey,
                                     struct uct_req *req, unsigned flags);

#endif
