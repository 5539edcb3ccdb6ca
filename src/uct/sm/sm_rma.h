/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_rma.h - put and get by CMA: the operations that go on.
 *
 *     put, get up to a piece, nothing before it    inside the call
 *     longer, or behind another one                first piece inside the call
 *                                                  if it is the first, the
 *                                                  rest from progress:
 *
 *     iface.copying:  ep A --> ep B --> ep C       one piece of one endpoint
 *                      |                           with each call, in turn
 *                   inflight: copy, copy, flush
 *
 * So no call takes longer than a piece, and operations of an endpoint
 * complete in their order. */
#ifndef UCT_SM_RMA_H_
#define UCT_SM_RMA_H_

#include "ucs/list.h"
#include "ucs/mpool.h"
#include "uct/api/transport.h"

enum uct_sm_rma_limit {
    /* Copied at most by one call: 15 us at 17 GB/s. */
    UCT_SM_PIECE_BYTES = 256 * 1024,
    /* Operations in progress on one interface; guess. */
    UCT_SM_COPY_COUNT_MAX = 128,
    /* Packed on the stack by put_bcopy; limit of put_short. */
    UCT_SM_RMA_SHORT_BYTES_MAX = 8192,
    UCT_SM_RMA_IOV_COUNT_MAX   = 64, /* on either side */
    /* For so long a peer is taken for the one it was. A number of a process
     * comes again after all others were used, which takes much longer. */
    UCT_SM_CONFIRM_NS = 1000 * 1000,
};

struct uct_sm_iface;
struct uct_sm_ep;

/* An operation in progress.
 * req      in ep->inflight
 * user     the caller's, or NULL
 * done     bytes copied, of [length]
 * rma      of the pieces below */
struct uct_sm_copy {
    struct uct_req       req;
    struct uct_req      *user;
    struct uct_sm_iface *iface;
    size_t               done;
    size_t               length;
    bool                 is_put;
    struct uct_rma       rma;
    struct uct_iov       iov[UCT_SM_RMA_IOV_COUNT_MAX];
    struct uct_remote    remote[UCT_SM_RMA_IOV_COUNT_MAX];
};

/* Of an interface.
 * eps    endpoints with copies in progress, in turn
 * count  copies taken from the pool */
struct uct_sm_copies {
    struct ucs_list  eps;
    struct ucs_mpool pool;
    unsigned         count;
};

void uct_sm_copies_init(struct uct_sm_copies *copies);
void uct_sm_copies_cleanup(struct uct_sm_copies *copies);
/* Copy one piece. @return 1 if there was one. */
unsigned uct_sm_copies_progress(struct uct_sm_iface *iface);
/* No more pieces of this endpoint; its requests stay in flight. */
void uct_sm_copies_stop(struct uct_sm_ep *ep);

uct_put_short_proc uct_sm_put_short;
uct_put_bcopy_proc uct_sm_put_bcopy;
uct_get_bcopy_proc uct_sm_get_bcopy;
uct_zcopy_proc     uct_sm_put_zcopy;
uct_zcopy_proc     uct_sm_get_zcopy;

#endif
