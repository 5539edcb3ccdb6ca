/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rndv.c - a message that asks first: its start, and its end at
 * either side. The receiver's word is in rndv_recv.c. */
#include "ucp/proto/rndv.h"

#include "ucp/core/worker.h"
#include "ucp/proto/eager.h"
#include "ucp/proto/fragment.h"
#include "ucp/proto/rdma.h"
#include "ucp/proto/rdma_shared.h"
#include "ucp/proto/wire.h"
#include "ucp/tag/recv.h"
#include "ucp/tag/unexpected.h"

/* A send request's slot. */
struct rndv_state {
    struct ucp_rndv *rndv; /* while send.id is not 0 */
};
_Static_assert(sizeof(struct rndv_state) <= UCP_PROTO_STATE_BYTES,
               "a protocol's state must fit the request's slot");

static struct rndv_state *rndv_state(struct ucp_request *req)
{
    return (struct rndv_state *)(void *)req->send.state;
}

enum { RNDV_POOL_COUNT = 4 };

/* The pools of a worker, and what they hold. */
static void rndv_pools(struct ucp_worker *worker,
                       struct ucs_mpool **pools /* [RNDV_POOL_COUNT] */)
{
    pools[0] = &worker->rndvs;
    pools[1] = &worker->pieces;
    pools[2] = &worker->extents;
    pools[3] = &worker->share_pool;
}

static void rndv_pools_cleanup(struct ucp_worker *worker, unsigned count)
{
    struct ucs_mpool *pools[RNDV_POOL_COUNT];

    rndv_pools(worker, pools);
    while (count-- > 0) {
        ucsi_mpool_cleanup(pools[count], false);
    }
}

ucs_status_t ucp_rndv_pools_init(struct ucp_worker *worker)
{
    static const struct ucs_mpool_params params[RNDV_POOL_COUNT] = {
        {.name          = "rendezvous",
         .element_bytes = sizeof(struct ucp_rndv),
         .chunk_count   = 32},
        {.name          = "rendezvous pieces",
         .element_bytes = sizeof(struct ucp_piece),
         .chunk_count   = 32},
        {.name          = "rendezvous extents",
         .element_bytes = sizeof(struct ucp_extent),
         .chunk_count   = 32},
        {.name          = "rendezvous shares",
         .element_bytes = sizeof(struct ucp_share),
         .chunk_count   = 32},
    };
    struct ucs_mpool *pools[RNDV_POOL_COUNT];
    ucs_status_t      status;

    rndv_pools(worker, pools);
    for (unsigned i = 0; i < RNDV_POOL_COUNT; ++i) {
        status = ucsi_mpool_init(pools[i], &params[i]);
        if (status != UCS_OK) {
            rndv_pools_cleanup(worker, i);
            return status;
        }
    }
    return UCS_OK;
}

void ucp_rndv_pools_cleanup(struct ucp_worker *worker)
{
    rndv_pools_cleanup(worker, RNDV_POOL_COUNT);
}

/* ---- the object ---- */

/* Send the next thing that is ready. */
static ucs_status_t rndv_advance(struct ucp_rndv *rndv)
{
    ucs_status_t status =
        ucp_rdma_is_ready(rndv) ? ucp_rdma_step(rndv) : ucp_fragment_step(rndv);

    if ((status == UCS_OK) &&
        (ucp_rdma_is_ready(rndv) || ucp_fragment_is_ready(rndv))) {
        status = UCP_STEP_TURN_DONE;
    }
    return status;
}

static ucs_status_t rndv_step(struct ucp_bulk *bulk)
{
    struct ucp_rndv *rndv   = ucs_container_of(bulk, struct ucp_rndv, bulk);
    ucs_status_t     status = UCS_OK;

    ucp_rndv_get(rndv);
    if (!ucp_rndv_is_over(rndv)) {
        status = rndv_advance(rndv);
    }
    if (ucp_rndv_is_over(rndv)) {
        status = UCS_OK; /* and out of the queue */
    }
    if (status != UCS_OK) {
        --rndv->in_flight; /* it goes on: nothing has ended */
        return status;
    }
    ucp_rndv_put(rndv);
    return UCS_OK;
}

struct ucp_rndv *ucp_rndv_create(struct ucp_request *req, struct ucp_ep *ep)
{
    struct ucp_rndv *rndv = ucs_mpool_get(&ep->worker->rndvs);

    if (rndv != NULL) {
        *rndv = (struct ucp_rndv){
            .bulk = {.step = rndv_step}, .req = req, .ep = ep};
        ucs_queue_init(&rndv->by_rdma.puts);
        ucs_list_init(&rndv->by_rdma.grants);
        ucp_extents_init(&rndv->unasked, &ep->worker->extents);
        ucp_extents_init(&rndv->asked, &ep->worker->extents);
    }
    return rndv;
}

void ucp_rndv_destroy(struct ucp_rndv *rndv)
{
    if (rndv->share != NULL) {
        ucp_share_destroy(rndv->share);
    }
    ucp_rdma_drop(rndv);
    ucp_rdma_cleanup(rndv);
    ucp_extents_cleanup(&rndv->unasked);
    ucp_extents_cleanup(&rndv->asked);
    ucs_mpool_put(rndv);
}

/* Is every byte where it should be? */
static bool rndv_is_complete(const struct ucp_rndv *rndv)
{
    if (rndv->flags & UCP_RNDV_IS_RECV) {
        return rndv->req->recv.remaining == 0;
    }
    return (rndv->flags & UCP_RNDV_MATCHED) &&
           (ucp_rndv_unclaimed(rndv) == 0) && (rndv->asked.bytes == 0);
}

/* S: a flush may wait for this one. */
static void rndv_leave_ep(struct ucp_rndv *rndv)
{
    struct ucp_ep *ep = rndv->ep;

    if (rndv->flags & UCP_RNDV_MATCHED) {
        rndv->flags &= (uint8_t)~UCP_RNDV_MATCHED;
        --ep->matched_count;
    }
}

static void rndv_end(struct ucp_rndv *rndv)
{
    struct ucp_request *req     = rndv->req;
    struct ucp_ep      *ep      = rndv->ep;
    bool                is_recv = (rndv->flags & UCP_RNDV_IS_RECV) != 0;
    ucs_status_t        status  = rndv->status;

    rndv_leave_ep(rndv);
    ucp_rndv_destroy(rndv);
    ucp_request_hush(req);
    if (is_recv) {
        req->recv.rndv = NULL;
        ucp_tag_recv_end(req, (status == UCS_OK) ? req->recv.status : status);
        return;
    }
    ucp_ep_wait_over(req);
    ucp_dt_iter_cleanup(&req->dt);
    ucp_request_complete_send(req, status);
    if (!ucs_queue_is_empty(&ep->messages) && ucp_ep_is_settled(ep)) {
        ucp_ep_drain(ep); /* a flush */
    }
}

static bool rndv_can_end(const struct ucp_rndv *rndv)
{
    return (rndv->in_flight == 0) && !rndv->bulk.is_queued &&
           (ucp_rndv_is_over(rndv) || rndv_is_complete(rndv));
}

void ucp_rndv_put(struct ucp_rndv *rndv)
{
    --rndv->in_flight;
    if (rndv_can_end(rndv)) {
        rndv_end(rndv);
    }
}

/* Nobody finds it any more, by id or through its endpoint. */
static void rndv_detach(struct ucp_rndv *rndv, ucs_status_t status)
{
    struct ucp_request *req = rndv->req;

    rndv->flags |= UCP_RNDV_OVER;
    rndv->status = status;
    rndv_leave_ep(rndv);
    ucp_rdma_drop(rndv);
    ucp_ep_remove_bulk(rndv->ep, &rndv->bulk);
    if (!(rndv->flags & UCP_RNDV_IS_RECV)) {
        ucp_ep_wait_over(req);
        return;
    }
    if (req->recv.ep != NULL) {
        ucs_list_remove(&req->recv.ep_link);
        req->recv.ep = NULL;
    }
    if (req->recv.id != 0) {
        ucsi_idmap_remove(&req->worker->ids, req->recv.id);
        req->recv.id = 0;
    }
}

void ucp_rndv_abort(struct ucp_rndv *rndv, ucs_status_t status)
{
    ucp_rndv_get(rndv);
    rndv_detach(rndv, status);
    ucp_rndv_put(rndv);
}

void ucp_rndv_send_abort(struct ucp_ep *ep, uint64_t id,
                         enum ucp_wire_side side, ucs_status_t status)
{
    struct ucp_wire_abort abort = {
        .id = id, .side = (uint8_t)side, .status = status};
    uint8_t bytes[UCP_WIRE_ABORT_BYTES];

    if (ep != NULL) {
        ucp_wire_abort_encode(bytes, &abort);
        ucp_ep_send_control(ep, UCP_AM_ABORT, bytes, sizeof(bytes));
    }
}

void ucp_rndv_give_up(struct ucp_rndv *rndv, ucs_status_t status)
{
    if (rndv->flags & UCP_RNDV_IS_RECV) {
        ucp_rndv_send_abort(rndv->ep, rndv->peer_id, UCP_WIRE_RECEIVER, status);
    } else {
        ucp_rndv_send_abort(rndv->ep, rndv->req->send.id, UCP_WIRE_SENDER,
                            status);
    }
    ucp_rndv_abort(rndv, status);
}

/* ---- the sender ---- */

ucs_status_t ucp_rndv_open(struct ucp_request *req, struct ucp_rndv **rndv_p)
{
    struct ucp_rndv *rndv;
    ucs_status_t     status;

    if (req->send.id != 0) {
        *rndv_p = rndv_state(req)->rndv;
        return UCS_OK;
    }
    rndv = ucp_rndv_create(req, req->send.ep);
    if (rndv == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = ucp_extents_add(&rndv->unasked, 0, req->dt.length);
    if (status == UCS_OK) {
        status = ucp_ep_wait_for_peer(req->send.ep, req);
    }
    if (status != UCS_OK) {
        ucp_rndv_destroy(rndv);
        return status;
    }
    rndv->bulk.name       = req->send.proto->name;
    rndv_state(req)->rndv = rndv;
    *rndv_p               = rndv;
    return UCS_OK;
}

/* What rndv_pack needs. */
struct rndv_packing {
    struct ucp_rndv             *rndv;
    const struct ucp_rndv_start *start;
};

static size_t rndv_pack(void *dest, void *arg)
{
    const struct rndv_packing   *packing = arg;
    const struct ucp_rndv_start *start   = packing->start;
    struct ucp_rndv             *rndv    = packing->rndv;
    struct ucp_request          *req     = rndv->req;
    struct ucp_wire_rndv         wire    = {
                   .start       = {.tag    = req->send.tag,
                                   .length = req->dt.length,
                                   .id     = req->send.id},
                   .candidate   = start->kind,
                   .head_length = start->head_bytes,
    };
    uint8_t     *bytes = dest;
    ucs_status_t status;

    ucp_wire_rndv_encode(bytes, &wire);
    bytes += UCP_WIRE_RNDV_BYTES;
    if (start->head_bytes > 0) {
        memcpy(bytes, start->head, start->head_bytes);
        bytes += start->head_bytes;
    }
    if (start->first_bytes_max > 0) {
        bytes += ucp_dt_iter_pack(&req->dt, bytes, start->first_bytes_max);
    }
    rndv->flags |= UCP_RNDV_ASKED;
    status = ucp_extents_remove(&rndv->unasked, 0, req->dt.offset);
    ucs_assert(status == UCS_OK); /* from the front */
    return (size_t)(bytes - (uint8_t *)dest);
}

ucs_status_t ucp_rndv_start(struct ucp_rndv             *rndv,
                            const struct ucp_rndv_start *start)
{
    struct rndv_packing packing = {.rndv = rndv, .start = start};
    size_t              head    = UCP_WIRE_RNDV_BYTES + start->head_bytes;
    size_t              length =
        head + ucs_min(start->first_bytes_max, rndv->req->dt.length);
    ssize_t packed;

    rndv->kind = start->kind;
    packed     = uct_ep_am_bcopy(
            rndv->ep->message_ep, start->am_id, rndv_pack, &packing, length,
            UCT_FLAG_PENDING | UCT_FLAG_LATER | UCT_FLAG_HEADER(head));
    return (packed < 0) ? (ucs_status_t)packed : UCS_INPROGRESS;
}

ucs_status_t ucp_rndv_step_with_data(struct ucp_request *req)
{
    struct ucp_rndv_start start = {
        .am_id           = UCP_AM_RNDV,
        .kind            = UCP_RNDV_SEND,
        .first_bytes_max = req->send.ep->config->lane.attr.am.bcopy_bytes_max -
                           UCP_WIRE_RNDV_BYTES,
    };
    struct ucp_rndv *rndv;
    ucs_status_t     status = ucp_rndv_open(req, &rndv);

    return (status == UCS_OK) ? ucp_rndv_start(rndv, &start) : status;
}

ucs_status_t ucp_rndv_abort_send(struct ucp_request *req, ucs_status_t status)
{
    struct ucp_rndv *rndv;

    if (req->send.id == 0) {
        return UCS_OK; /* it had no turn yet */
    }
    rndv = rndv_state(req)->rndv;
    rndv_detach(rndv, status);
    if (rndv->in_flight > 0) {
        return UCS_INPROGRESS;
    }
    ucp_rndv_destroy(rndv);
    return UCS_OK;
}

bool ucp_rndv_is_matched(const struct ucp_request *req)
{
    const struct rndv_state *state =
        (const struct rndv_state *)(const void *)req->send.state;

    return (req->send.id != 0) && (state->rndv->flags & UCP_RNDV_MATCHED);
}

size_t ucp_rndv_owed(const struct ucp_request *req)
{
    const struct rndv_state *state =
        (const struct rndv_state *)(const void *)req->send.state;

    return ucp_rndv_is_matched(req)
               ? ucp_rndv_unclaimed(state->rndv) + state->rndv->asked.bytes
               : 0;
}

/* What the peer has matched fails if it has not asked for all of it; what it
 * has not matched waits on. */
bool ucp_rndv_peer_closed(struct ucp_request *req)
{
    struct ucp_rndv *rndv;

    if (!ucp_rndv_is_matched(req)) {
        return false;
    }
    rndv = rndv_state(req)->rndv;
    if (rndv->flags & UCP_RNDV_ALONE) {
        return false;
    }
    rndv->flags |= UCP_RNDV_ALONE;
    if (ucp_rndv_unclaimed(rndv) > 0) {
        ucp_rndv_abort(rndv, UCS_ERR_CONNECTION_RESET);
    }
    return true;
}

void ucp_rndv_cancel_unmatched(struct ucp_request *req)
{
    if (!ucp_rndv_is_matched(req)) {
        ucp_rndv_give_up(rndv_state(req)->rndv, UCS_ERR_CANCELED);
    }
}

struct ucp_rndv *ucp_rndv_answered(struct ucp_worker   *worker,
                                   const struct ucp_ep *ep, uint64_t id)
{
    struct ucp_request *req = ucp_worker_request_of_id(worker, ep, id);
    struct ucp_rndv    *rndv;

    if ((req == NULL) || (req->flags & UCP_REQUEST_TAG_RECV) ||
        !(rndv_state(req)->rndv->flags & UCP_RNDV_ASKED)) {
        ucp_worker_drop(worker, ep, "an answer");
        return NULL;
    }
    rndv = rndv_state(req)->rndv;
    return rndv;
}

void ucp_rndv_match(struct ucp_rndv *rndv)
{
    if (!(rndv->flags & UCP_RNDV_MATCHED)) {
        rndv->flags |= UCP_RNDV_MATCHED;
        ++rndv->ep->matched_count;
    }
}
