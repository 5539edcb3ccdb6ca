/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rndv.h - what all protocols share that ask the receiver first.
 *
 *     S                                       R
 *     |==== RNDV or RGET{candidate} =========>| match; R has the final word:
 *     |                                       |   the candidate, or fragments
 *     |<--- ACK{range}, PUT{range}, FIN ------| fragment.c, rdma.c
 *     |<--- ABORT{status} --------------------| does not fit, or failed
 *     |---- ABORT{status} ------------------->| cancelled, failed
 *
 * struct ucp_rndv is one such message seen from one end. It is over when all
 * bytes are accounted for, or somebody gave up; it ends, with its request,
 * once no transport has a piece of the buffer: nobody touches that later.
 *
 * Each byte is asked for once and comes once. Both ends keep the same two sets
 * of ranges, and what does not fit them is dropped and counted:
 *
 *              S                               R
 *   unasked    R may still ask for it          to be asked for as fragments
 *   asked      to be sent as fragments         asked for so, and did not come
 *
 * A range whose RDMA failed is unasked again, and R asks for it as fragments.
 */
#ifndef UCP_PROTO_RNDV_H_
#define UCP_PROTO_RNDV_H_

#include "ucp/core/ep.h"
#include "ucp/core/request.h"
#include "ucp/proto/extents.h"
#include "ucp/proto/wire.h"

struct ucp_arrival;
struct ucp_reg;
struct ucp_regs;
struct ucp_layout;
struct ucp_share;

/* How a message goes on after its start; the numbers are on the wire. */
enum ucp_rndv_kind {
    UCP_RNDV_SEND     = 0, /* pipeline_send.c: any receiver can */
    UCP_RNDV_PUT      = 1,
    UCP_RNDV_GET      = 2,
    UCP_RNDV_PIPELINE = 3,
    UCP_RNDV_SHARED   = 4,
    UCP_RNDV_KIND_COUNT
};

enum ucp_rndv_flag {
    UCP_RNDV_IS_RECV = 1 << 0,
    UCP_RNDV_ASKED   = 1 << 1, /* S: the start is sent; answers are honest */
    UCP_RNDV_MATCHED = 1 << 2, /* S: R has answered */
    UCP_RNDV_OVER    = 1 << 3, /* given up; status says why */
    UCP_RNDV_REFUSED = 1 << 4, /* R: the candidate, and will each time */
    UCP_RNDV_ALONE   = 1 << 5, /* S: R's end is closed, it asks no more */
};

/* A range that is cut into pieces, one after the other. */
struct ucp_range {
    size_t offset; /* where the next piece begins */
    size_t end;
};

/* What put and get need of a message.
 * puts        S: struct ucp_piece that wait to be posted
 * grants      R: pieces that S may write
 * lanes       those that may be used, as bits
 * depth       R: pieces under way at most
 * piece_bytes R: of each; 0: the message is shared once between the lanes
 * total       R: bytes that go by RDMA in all
 * count       R: pieces under way
 * read        R: bytes read that S was not told of; S: bytes that R has read
 * lane_bytes  R: given to each lane
 * regs        of the whole message, by lane, if it is in one block
 * local       a walk over this end's memory
 * shown       S: what it has registered for get; layout: R: what S has shown */
struct ucp_rdma {
    struct ucs_queue   puts;
    struct ucs_list    grants;
    uint32_t           lanes;
    unsigned           depth;
    unsigned           count;
    size_t             piece_bytes;
    size_t             total;
    size_t             read;
    size_t             lane_bytes[UCP_LANE_COUNT_MAX];
    struct ucp_reg    *regs[UCP_LANE_COUNT_MAX];
    struct ucp_regs   *shown;
    struct ucp_layout *layout;
    struct ucp_dt_iter local;
};

/* bulk       in ep->bulk while something is ready to be sent
 * peer_id    the other end's request, 0: not known
 * in_flight  pieces that a transport has, and functions that use this object
 * status     how the request ends when UCP_RNDV_OVER is set
 * unasked, asked  see above
 * rdma       R: what no piece covers yet; by_rdma: rdma.h
 * share      both ends move it (rdma_shared.h), or NULL */
struct ucp_rndv {
    struct ucp_bulk     bulk;
    struct ucp_request *req;
    struct ucp_ep      *ep;
    uint64_t            peer_id;
    uint8_t             kind;  /* enum ucp_rndv_kind */
    uint8_t             flags; /* enum ucp_rndv_flag */
    uint32_t            in_flight;
    ucs_status_t        status;
    struct ucp_extents  unasked;
    struct ucp_extents  asked;
    struct ucp_range    rdma;
    struct ucp_rdma     by_rdma;
    struct ucp_share   *share;
};

/* A part of a message that a transport has, or that waits for one.
 * queue   by_rdma.puts; link: by_rdma.grants
 * done    bytes of it that were posted
 * layout  put: where to
 * reg     its own registration, or NULL; regs: those of its runs */
struct ucp_piece {
    struct uct_req        base;
    struct ucp_rndv      *rndv;
    struct ucs_queue_elem queue;
    struct ucs_list       link;
    size_t                offset;
    size_t                length;
    size_t                done;
    size_t                posted;
    struct ucp_layout    *layout;
    struct ucp_reg       *reg;
    struct ucp_regs      *regs;
    uint8_t               lane;
};

UCS_MUST_USE ucs_status_t ucp_rndv_pools_init(struct ucp_worker *worker);
void                      ucp_rndv_pools_cleanup(struct ucp_worker *worker);
/* A new object, NULL: no memory; and its end: it gives back what it holds. */
struct ucp_rndv *ucp_rndv_create(struct ucp_request *req, struct ucp_ep *ep);
void             ucp_rndv_destroy(struct ucp_rndv *rndv);

/* Tell the peer, if any, that the message is given up. */
void ucp_rndv_send_abort(struct ucp_ep *ep, uint64_t id,
                         enum ucp_wire_side side, ucs_status_t status);
/* How a sender starts.
 * head             [head_bytes], NULL when 0
 * first_bytes_max  of data in the start */
struct ucp_rndv_start {
    uint8_t        am_id;
    uint8_t        kind; /* enum ucp_rndv_kind */
    const uint8_t *head;
    uint16_t       head_bytes;
    size_t         first_bytes_max;
};

/* S: the object of a send request, made when it is asked for first.
 * @return UCS_OK, UCS_ERR_NO_MEMORY. */
UCS_MUST_USE ucs_status_t ucp_rndv_open(struct ucp_request *req,
                                        struct ucp_rndv   **rndv_p);

/* S: send the start of an open rendezvous. @return as step(). */
ucs_status_t ucp_rndv_start(struct ucp_rndv             *rndv,
                            const struct ucp_rndv_start *start);

/* S: step() of a protocol that starts with as much data as fits. */
ucs_status_t ucp_rndv_step_with_data(struct ucp_request *req);

/* S: abort() of all protocols of this family. */
ucs_status_t ucp_rndv_abort_send(struct ucp_request *req, ucs_status_t status);

/* S: take back what the receiver has not matched: UCS_ERR_CANCELED. */
void ucp_rndv_cancel_unmatched(struct ucp_request *req);

/* S: the peer's end is closed. @return true: the lists may have changed. */
bool ucp_rndv_peer_closed(struct ucp_request *req);
/* S: bytes of it that the receiver has matched and did not take. */
size_t ucp_rndv_owed(const struct ucp_request *req);
/* S: has the receiver answered? */
bool ucp_rndv_is_matched(const struct ucp_request *req);

/* S: find who an answer is for. @return NULL, counted, when there is nobody,
 * or the question is not asked yet. */
struct ucp_rndv *ucp_rndv_answered(struct ucp_worker   *worker,
                                   const struct ucp_ep *ep, uint64_t id);

/* S: the answer is a good one; flushes wait for this message now. */
void ucp_rndv_match(struct ucp_rndv *rndv);
/* R: find who a message is for. @return NULL, counted. */
struct ucp_rndv *ucp_rndv_receiving(struct ucp_worker   *worker,
                                    const struct ucp_ep *ep, uint64_t id);

/* Give up: the request ends so once no transport has a piece, the endpoint
 * forgets it now. The second form tells the peer. */
void ucp_rndv_abort(struct ucp_rndv *rndv, ucs_status_t status);
void ucp_rndv_give_up(struct ucp_rndv *rndv, ucs_status_t status);

/* Use the object across calls that may end it. put: it may be gone after. */
static inline void ucp_rndv_get(struct ucp_rndv *rndv)
{
    ++rndv->in_flight;
}
void ucp_rndv_put(struct ucp_rndv *rndv);

static inline bool ucp_rndv_is_over(const struct ucp_rndv *rndv)
{
    return (rndv->flags & UCP_RNDV_OVER) != 0;
}

/* S: bytes that R has neither asked for nor read. */
static inline size_t ucp_rndv_unclaimed(const struct ucp_rndv *rndv)
{
    return rndv->unasked.bytes - rndv->by_rdma.read;
}
/* Bulk work is ready. */
static inline void ucp_rndv_submit(struct ucp_rndv *rndv)
{
    ucp_ep_submit_bulk(rndv->ep, &rndv->bulk);
}

/* The first size that may ask first. */
bool ucp_rndv_bytes_first(const struct ucp_query *query, size_t *first_p);

/* Does the query's UCX_RNDV_SCHEME allow this kind? */
bool ucp_rndv_is_wanted(const struct ucp_query *query, enum ucp_rndv_kind kind);

/* The protocol of a kind that needs an answer of its own, or NULL. */
const struct ucp_proto *ucp_rndv_proto_of(uint8_t kind);

/* The protocol that UCX_RNDV_SCHEME asks for; NULL: any. */
const struct ucp_proto *ucp_rndv_scheme_proto(int scheme);

/* A forced scheme that cannot answer a query: let that take what is best.
 * @return the protocol that cannot, its answer in *offer_p; NULL: none. */
const struct ucp_proto *ucp_rndv_settle_scheme(struct ucp_query *query,
                                               struct ucp_offer *offer_p);

/* S: this endpoint cannot, or the peer refused it before: go on as protocol 4,
 * from the start. @return as step(). */
UCS_MUST_USE ucs_status_t ucp_rndv_fall_back(struct ucp_request *req);

/* Protocol 4, what the others fall back to. */
extern const struct ucp_proto ucp_pipeline_send_proto;
/* The handlers of RNDV, RGET and ABORT. */
extern const struct ucp_handler ucp_rndv_handlers[];

#endif
