/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rdma_shared.h - one message, two who move it: what the shared form
 * of protocol 6 keeps, and where the rest of the core calls it.
 *
 *     first                                                        length
 *     |.......|--- claimed by S --->|      free      |<-- by R -----|
 *               sent as fragments                      read by get
 *
 * The word (uct/api/claim.h) counts the units that each end has claimed: S's
 * in the lower 16 bits of its half, R's in the upper ones. Who claims a unit
 * moves it, nobody else does. */
#ifndef UCP_PROTO_RDMA_SHARED_H_
#define UCP_PROTO_RDMA_SHARED_H_

#include "ucp/proto/rndv.h"

/* link     R: in worker->shares
 * word     of the message; S's interface has it
 * name     of that use of the word
 * lane     over which the word is reached
 * first    the first byte that is shared; end: of the message
 * count    units of [unit] bytes, the last may be shorter
 * front    S: first byte that it has not claimed
 * is_open  this end may claim
 * seen     R: fragment_count of the endpoint at the last look
 * since_ns it has been so since then, as far as R has looked; 0: not yet */
struct ucp_share {
    struct ucs_list   link;
    struct ucp_rndv  *rndv;
    _Atomic uint64_t *word;
    uint64_t          name;
    unsigned          lane;
    size_t            first;
    size_t            end;
    size_t            unit;
    uint32_t          count;
    size_t            front;
    bool              is_open;
    uint32_t          seen;
    uint64_t          since_ns;
};

/* Nobody uses it any more: give the word back, leave the worker. */
void ucp_share_destroy(struct ucp_share *share);

/* S: R takes part; what is claimed may be sent. @return false: R may not. */
bool ucp_share_begin(struct ucp_rndv *rndv, size_t offset, size_t length);

/* S: has R taken part? */
static inline bool ucp_share_has_begun(const struct ucp_share *share)
{
    return (share != NULL) && (share->count > 0);
}

/* S: may there be something to claim? */
static inline bool ucp_share_is_open(const struct ucp_share *share)
{
    return (share != NULL) && share->is_open;
}

/* S: claim what the next fragment needs. May give the message up. */
void ucp_share_claim(struct ucp_rndv *rndv);

/* Is the word still this message's? If not, S has let go of its buffer. */
static inline bool ucp_share_is_valid(const struct ucp_share *share)
{
    return uct_claim_is_current(
        share->name, atomic_load_explicit(share->word, memory_order_acquire));
}

/* R: is there a unit that it has claimed, or might? Without one all that is
 * missing comes as messages, and R may sleep until then. */
bool ucp_shares_have_work(const struct ucp_worker *worker);

/* R: outside of callbacks: read where nothing comes. @return events. */
unsigned ucp_shares_look(struct ucp_worker *worker);

#endif
