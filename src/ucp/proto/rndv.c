/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rndv.c - a message that asks first: its start, the receiver's
 * word, its end at either side. */
#include "ucp/proto/rndv.h"

#include "ucp/core/worker.h"
#include "ucp/proto/eager.h"
#include "ucp/proto/fragment.h"
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

ucs_status_t ucp_rndv_pools_init(struct ucp_worker *worker)
{
    struct ucs_mpool_params params = {
        .name          = "rendezvous",
        .element_bytes = sizeof(struct ucp_rndv),
        .chunk_count   = 32,
    };
    ucs_status_t status = ucsi_mpool_init(&worker->rndvs, &params);

    if (status != UCS_OK) {
        return status;
    }
    params.name          = "rendezvous pieces";
    params.element_bytes = sizeof(struct ucp_piece);
    status               = ucsi_mpool_init(&worker->pieces, &params);
    if (status != UCS_OK) {
        ucsi_mpool_cleanup(&worker->rndvs, false);
    }
    return status;
}

void ucp_rndv_pools_cleanup(struct ucp_worker *worker)
{
    ucsi_mpool_cleanup(&worker->pieces, false);
    ucsi_mpool_cleanup(&worker->rndvs, false);
}

/* ---- the object ---- */

static ucs_status_t rndv_step(struct ucp_bulk *bulk)
{
    struct ucp_rndv *rndv   = ucs_container_of(bulk, struct ucp_rndv, bulk);
    ucs_status_t     status = UCS_OK;

    ucp_rndv_get(rndv);
    if (!ucp_rndv_is_over(rndv)) {
        status = ucp_fragment_step(rndv);
    }
    if (ucp_rndv_is_over(rndv)) {
        status = UCS_OK;
    }
    if (status != UCS_OK) {
        --rndv->in_flight; /* it goes on: nothing has ended */
        return status;
    }
    ucp_rndv_put(rndv);
    return UCS_OK;
}

static struct ucp_rndv *rndv_create(struct ucp_request *req, struct ucp_ep *ep)
{
    struct ucp_rndv *rndv = ucs_mpool_get(&ep->worker->rndvs);

    if (rndv != NULL) {
        *rndv = (struct ucp_rndv){
            .bulk = {.step = rndv_step}, .req = req, .ep = ep};
    }
    return rndv;
}

/* Is every byte where it should be? */
static bool rndv_is_complete(const struct ucp_rndv *rndv)
{
    if (rndv->flags & UCP_RNDV_IS_RECV) {
        return rndv->req->recv.remaining == 0;
    }
    return (rndv->flags & UCP_RNDV_MATCHED) && (rndv->unclaimed == 0) &&
           (rndv->granted.offset == rndv->granted.end);
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
    ucs_mpool_put(rndv);
    if (is_recv) {
        req->recv.rndv = NULL;
        ucp_tag_recv_end(req, (status == UCS_OK) ? req->recv.status : status);
        return;
    }
    ucp_ep_wait_over(req);
    ucp_dt_iter_cleanup(&req->dt);
    ucp_request_complete_send(req, status);
    if ((ep->matched_count == 0) && !ucs_queue_is_empty(&ep->messages)) {
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

static void rndv_send_abort(struct ucp_ep *ep, uint64_t id,
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
        rndv_send_abort(rndv->ep, rndv->peer_id, UCP_WIRE_RECEIVER, status);
    } else {
        rndv_send_abort(rndv->ep, rndv->req->send.id, UCP_WIRE_SENDER, status);
    }
    ucp_rndv_abort(rndv, status);
}

bool ucp_rndv_bytes_first(const struct ucp_query *query, size_t *first_p)
{
    size_t threshold = ucp_rndv_threshold(query);

    if ((query->mode == UCP_MODE_SYNC) || (threshold == UCS_UNITS_AUTO)) {
        threshold = 0;
    }
    *first_p = threshold;
    return threshold != SIZE_MAX;
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
    rndv = rndv_create(req, req->send.ep);
    if (rndv == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = ucp_ep_wait_for_peer(req->send.ep, req);
    if (status != UCS_OK) {
        ucs_mpool_put(rndv);
        return status;
    }
    rndv->bulk.name       = req->send.proto->name;
    rndv->unclaimed       = req->dt.length;
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
    uint8_t *bytes = dest;

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
    rndv->unclaimed      = req->dt.length - req->dt.offset;
    rndv->granted.offset = req->dt.offset;
    rndv->granted.end    = req->dt.offset;
    return (size_t)(bytes - (uint8_t *)dest);
}

ucs_status_t ucp_rndv_start(struct ucp_rndv             *rndv,
                            const struct ucp_rndv_start *start)
{
    struct rndv_packing packing = {.rndv = rndv, .start = start};
    size_t              head    = UCP_WIRE_RNDV_BYTES + start->head_bytes;
    size_t              length  = head + ucs_min(start->first_bytes_max,
                                                 rndv->req->dt.length);
    ssize_t             packed;

    rndv->kind = start->kind;
    packed     = uct_ep_am_bcopy(rndv->ep->message_ep, start->am_id, rndv_pack,
                                 &packing, length, UCT_FLAG_PENDING);
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
    if ((rndv->in_flight > 0) || rndv->bulk.is_queued) {
        return UCS_INPROGRESS;
    }
    ucs_mpool_put(rndv);
    return UCS_OK;
}

bool ucp_rndv_is_matched(const struct ucp_request *req)
{
    const struct rndv_state *state =
        (const struct rndv_state *)(const void *)req->send.state;

    return (req->send.id != 0) && (state->rndv->flags & UCP_RNDV_MATCHED);
}

void ucp_rndv_cancel_unmatched(struct ucp_request *req)
{
    if (!ucp_rndv_is_matched(req)) {
        ucp_rndv_give_up(rndv_state(req)->rndv, UCS_ERR_CANCELED);
    }
}

struct ucp_rndv *ucp_rndv_answered(struct ucp_worker *worker,
                                   const struct ucp_ep *ep, uint64_t id)
{
    struct ucp_request *req = ucp_worker_request_of_id(worker, ep, id);
    struct ucp_rndv    *rndv;

    if ((req == NULL) || (req->flags & UCP_REQUEST_TAG_RECV) ||
        !(rndv_state(req)->rndv->flags & UCP_RNDV_ASKED)) {
        ++worker->bad_ids;
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

/* ---- the receiver ---- */

static ucs_status_t rndv_receive_start(void *arg, struct uct_source *source,
                                       void *data, size_t length,
                                       unsigned flags)
{
    struct ucp_worker_iface *wiface = arg;
    struct ucp_wire_rndv     wire;
    struct ucp_arrival       arrival = {
              .worker   = wiface->worker,
              .iface    = wiface->iface,
              .ep       = source->user,
              .base     = data,
              .am_flags = flags,
    };

    if ((arrival.ep == NULL) || !ucp_wire_rndv_decode(data, length, &wire)) {
        ++wiface->worker->bad_ids;
        return UCS_OK;
    }
    arrival.tag         = wire.start.tag;
    arrival.length      = wire.start.length;
    arrival.id          = wire.start.id;
    arrival.candidate   = wire.candidate;
    arrival.head_length = wire.head_length;
    arrival.data_length = length - UCP_WIRE_RNDV_BYTES - wire.head_length;
    arrival.data = (const uint8_t *)data + UCP_WIRE_RNDV_BYTES +
                   wire.head_length;
    return ucp_tag_start_arrived(&arrival, UCP_UNEXPECTED_RNDV);
}

/* The object of a receive that more bytes will come for; NULL: no memory. */
static struct ucp_rndv *rndv_open_recv(struct ucp_request       *req,
                                       const struct ucp_arrival *arrival)
{
    struct ucp_rndv *rndv = rndv_create(req, arrival->ep);

    if (rndv == NULL) {
        return NULL;
    }
    if (ucsi_idmap_add(&req->worker->ids, req, &req->recv.id) != UCS_OK) {
        req->recv.id = 0;
        ucs_mpool_put(rndv);
        return NULL;
    }
    rndv->flags     = UCP_RNDV_IS_RECV;
    rndv->bulk.name = "rndv/receive";
    rndv->kind     = arrival->candidate;
    rndv->peer_id  = arrival->id;
    req->recv.rndv = rndv;
    req->recv.ep   = arrival->ep;
    ucs_list_add_tail(&arrival->ep->receives, &req->recv.ep_link);
    return rndv;
}

void ucp_rndv_recv_start(struct ucp_request       *req,
                         const struct ucp_arrival *arrival)
{
    struct ucp_ep   *ep     = arrival->ep;
    ucs_status_t     status = ucp_tag_recv_begin(req, arrival->tag,
                                                 arrival->length);
    struct ucp_rndv *rndv;

    if (status != UCS_OK) {
        rndv_send_abort(ep, arrival->id, UCP_WIRE_RECEIVER, status);
        ucp_tag_recv_end(req, status);
        return;
    }
    if (ucp_tag_recv_piece(req, 0, arrival->data, arrival->data_length)) {
        ucp_fragment_ask_nothing(ep, arrival->id, arrival->length);
        ucp_tag_recv_end(req, req->recv.status);
        return;
    }
    rndv = rndv_open_recv(req, arrival);
    if (rndv == NULL) {
        rndv_send_abort(ep, arrival->id, UCP_WIRE_RECEIVER, UCS_ERR_NO_MEMORY);
        ucp_tag_recv_end(req, UCS_ERR_NO_MEMORY);
        return;
    }
    ucp_rndv_get(rndv);
    ucp_fragment_want(rndv, arrival->data_length, arrival->length);
    ucp_rndv_put(rndv);
}

struct ucp_rndv *ucp_rndv_receiving(struct ucp_worker *worker,
                                    const struct ucp_ep *ep, uint64_t id)
{
    struct ucp_request *req = ucp_worker_request_of_id(worker, ep, id);

    if ((req == NULL) || !(req->flags & UCP_REQUEST_TAG_RECV)) {
        ++worker->bad_ids;
        return NULL;
    }
    return req->recv.rndv;
}

/* ---- giving up ---- */

/* The RNDV may wait still, or our answer may have crossed the ABORT. */
static void rndv_sender_gives_up(struct ucp_ep               *ep,
                                 const struct ucp_wire_abort *abort)
{
    struct ucp_request *req;

    ucs_list_for_each(req, &ep->receives, recv.ep_link) {
        if ((req->recv.rndv != NULL) &&
            (req->recv.rndv->peer_id == abort->id)) {
            ucp_rndv_abort(req->recv.rndv, abort->status);
            return;
        }
    }
    ucp_unexpected_forget(ep, abort->id, abort->status);
}

static ucs_status_t rndv_receive_abort(void *arg, struct uct_source *source,
                                       void *data, size_t length,
                                       unsigned flags)
{
    struct ucp_worker    *worker = ((struct ucp_worker_iface *)arg)->worker;
    struct ucp_ep        *ep     = source->user;
    struct ucp_wire_abort abort;
    struct ucp_rndv      *rndv;

    (void)flags;
    if ((ep == NULL) || !ucp_wire_abort_decode(data, length, &abort)) {
        ++worker->bad_ids;
        return UCS_OK;
    }
    if (abort.side == UCP_WIRE_SENDER) {
        rndv_sender_gives_up(ep, &abort);
        return UCS_OK;
    }
    rndv = ucp_rndv_answered(worker, ep, abort.id);
    if (rndv != NULL) {
        /* A receive buffer that is too small is no failure of the sender. */
        ucp_rndv_abort(rndv, (abort.status == UCS_ERR_MESSAGE_TRUNCATED) ?
                                 UCS_OK :
                                 abort.status);
    }
    return UCS_OK;
}

const struct ucp_handler ucp_rndv_handlers[] = {
    {UCP_AM_RNDV, rndv_receive_start},
    {UCP_AM_RGET, rndv_receive_start},
    {UCP_AM_ABORT, rndv_receive_abort},
    {0, NULL},
};
