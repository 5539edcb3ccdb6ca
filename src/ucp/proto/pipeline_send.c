/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/pipeline_send.c - protocol 4, Send/Receive Pipeline: ask first,
 * then send in fragments. Works for any datatype on either side; synchronous
 * messages of any size go this way.
 *
 *     S                                              R
 *     |==== RNDV{tag, length, S's id} + first data =>| match, unpack
 *     |<--- ACK{S's id, R's id, offset, length} -----| length 0: all is here
 *     |==== FRAG{R's id, offset} + data ============>| unpack at the offset
 *     |==== ...                                      |
 *     S is done when the last fragment is sent         R when all bytes came
 *
 *     |<--- ABORT{S's id, truncated} ----------------| does not fit: S is done
 *     |---- ABORT{S's id, cancelled} --------------->| forget the RNDV, or
 *     |                                              | fail what has matched it
 *
 * RNDV is ordered; ACK, FRAG and ABORT are not. Ids are honoured only from the
 * endpoint they belong to. When the peer is gone both sides complete with the
 * reason. */
#include "ucp/proto/eager.h"

#include "ucp/proto/rndv.h"
#include "ucp/tag/recv.h"
#include "ucp/tag/unexpected.h"

/* base        completion of the last fragment, if it is sent from the buffer
 * request     to find the request from base
 * peer_id     the receiver's id, 0: RNDV is not answered yet
 * granted_end fragments may go up to here
 * is_asked    RNDV is sent: only then an answer can be honest */
struct pipeline_state {
    struct uct_req      base;
    struct ucp_request *request;
    uint64_t            peer_id;
    uint64_t            granted_end;
    bool                is_asked;
};
_Static_assert(sizeof(struct pipeline_state) <= UCP_PROTO_STATE_BYTES,
               "a protocol's state must fit the request's slot");

static struct pipeline_state *pipeline_state(struct ucp_request *req)
{
    return (struct pipeline_state *)(void *)req->send.state;
}

static ucs_status_t pipeline_offer(const struct ucp_query *query,
                                   struct ucp_offer       *offer_p)
{
    const struct uct_iface_attr *attr = &query->lane->attr;
    size_t threshold                  = ucp_rndv_threshold(query);

    if ((query->lane->transport->am_bcopy == NULL) ||
        (attr->am.bcopy_bytes_max <= UCP_WIRE_RNDV_BYTES)) {
        return ucp_offer_refuse(offer_p, "the message lane has no am_bcopy");
    }
    if ((query->mode == UCP_MODE_SYNC) || (threshold == UCS_UNITS_AUTO)) {
        threshold = 0;
    } else if (threshold == SIZE_MAX) {
        return ucp_offer_refuse(offer_p, "UCX_RNDV_THRESH is inf");
    }
    return ucp_offer_sizes(offer_p, threshold, SIZE_MAX,
                           ucs_linear(3 * attr->cost.latency_s +
                                              6 * attr->cost.overhead_s,
                                      2 * ucp_copy_s_per_byte +
                                              1.0 / attr->cost.bandwidth_Bps));
}

static size_t pipeline_pack_start(void *dest, void *arg)
{
    struct ucp_request   *req   = arg;
    struct ucp_wire_start start = {
            .tag    = req->send.tag,
            .length = req->dt.length,
            .id     = req->send.id,
    };
    size_t room = req->send.ep->config->lane.attr.am.bcopy_bytes_max;

    pipeline_state(req)->is_asked = true;
    ucp_wire_start_encode(dest, &start);
    return UCP_WIRE_RNDV_BYTES +
           ucp_dt_iter_pack(&req->dt, (uint8_t *)dest + UCP_WIRE_RNDV_BYTES,
                            room - UCP_WIRE_RNDV_BYTES);
}

static size_t pipeline_pack_fragment(void *dest, void *arg)
{
    struct ucp_request   *req   = arg;
    struct ucp_wire_piece piece = {
            .id     = pipeline_state(req)->peer_id,
            .offset = req->dt.offset,
    };
    size_t room = req->send.ep->config->lane.attr.am.bcopy_bytes_max;

    ucp_wire_piece_encode(dest, &piece);
    return UCP_WIRE_FRAG_BYTES +
           ucp_dt_iter_pack(&req->dt, (uint8_t *)dest + UCP_WIRE_FRAG_BYTES,
                            room - UCP_WIRE_FRAG_BYTES);
}

static ucs_status_t pipeline_step_start(struct ucp_request *req)
{
    struct ucp_ep *ep = req->send.ep;
    size_t         length_max;
    ssize_t        packed;
    ucs_status_t   status;

    if (req->send.id == 0) {
        status = ucp_ep_wait_for_peer(ep, req);
        if (status != UCS_OK) {
            return status;
        }
        pipeline_state(req)->peer_id  = 0;
        pipeline_state(req)->is_asked = false;
    }
    length_max = ucs_min(UCP_WIRE_RNDV_BYTES + req->dt.length,
                         ep->config->lane.attr.am.bcopy_bytes_max);
    packed     = uct_ep_am_bcopy(ep->message_ep, UCP_AM_RNDV,
                                 pipeline_pack_start, req, length_max,
                                 UCT_FLAG_PENDING);
    return (packed < 0) ? (ucs_status_t)packed : UCS_INPROGRESS;
}

static void pipeline_finish(struct ucp_request *req, ucs_status_t status)
{
    ucp_ep_wait_over(req);
    ucp_dt_iter_cleanup(&req->dt);
    ucp_request_complete_send(req, status);
}

static void pipeline_fragment_done(struct uct_req *self)
{
    struct pipeline_state *state =
            ucs_container_of(self, struct pipeline_state, base);

    ucp_dt_iter_cleanup(&state->request->dt);
    ucp_request_complete_send(state->request, self->status);
}

/* Send one fragment from the buffer; completions come in order, so only that
 * of the last one is asked for. */
static ucs_status_t pipeline_send_zcopy(struct ucp_request *req)
{
    struct pipeline_state       *state = pipeline_state(req);
    struct ucp_ep               *ep    = req->send.ep;
    const struct uct_iface_attr *attr  = &ep->config->lane.attr;
    struct ucp_wire_piece        piece = {.id     = state->peer_id,
                                          .offset = req->dt.offset};
    struct ucp_dt_iter           iter  = req->dt;
    struct uct_iov               iov[UCP_IOV_COUNT_MAX];
    unsigned     count = ucs_min((unsigned)UCP_IOV_COUNT_MAX,
                                 attr->am.iov_count_max);
    uint8_t      header[UCP_WIRE_FRAG_BYTES];
    ucs_status_t status;
    bool         is_last;

    (void)ucp_dt_iter_pieces(&iter,
                             attr->am.zcopy_bytes_max - UCP_WIRE_FRAG_BYTES,
                             iov, &count);
    is_last = (iter.offset == iter.length);
    ucp_wire_piece_encode(header, &piece);
    state->base.cb = pipeline_fragment_done;
    state->request = req;
    status = uct_ep_am_zcopy(ep->message_ep, UCP_AM_FRAG, header,
                             sizeof(header), iov, count,
                             is_last ? &state->base : NULL,
                             UCT_FLAG_PENDING | UCT_FLAG_ANY_ORDER);
    if ((status != UCS_OK) && (status != UCS_INPROGRESS)) {
        return status;
    }
    req->dt = iter;
    if (!is_last) {
        return UCP_STEP_TURN_DONE;
    }
    ucp_ep_wait_over(req); /* from here on the transport has it */
    return status;
}

static bool pipeline_uses_zcopy(const struct ucp_request *req)
{
    const struct ucp_lane_model *lane = &req->send.ep->config->lane;

    return (lane->transport->am_zcopy != NULL) &&
           ucp_dt_iter_is_coarse(&req->dt,
                                 ucs_min((unsigned)UCP_IOV_COUNT_MAX,
                                         lane->attr.am.iov_count_max)) &&
           (lane->attr.am_zcopy_header_bytes_max >= UCP_WIRE_FRAG_BYTES) &&
           (lane->attr.am.zcopy_bytes_max > UCP_WIRE_FRAG_BYTES) &&
           (req->dt.length - req->dt.offset >=
            req->send.ep->config->zcopy_bytes_min);
}

static ucs_status_t pipeline_step_fragment(struct ucp_request *req)
{
    size_t  length_max;
    ssize_t packed;

    if (pipeline_uses_zcopy(req)) {
        return pipeline_send_zcopy(req);
    }
    length_max = ucs_min(UCP_WIRE_FRAG_BYTES + req->dt.length - req->dt.offset,
                         req->send.ep->config->lane.attr.am.bcopy_bytes_max);
    packed     = uct_ep_am_bcopy(req->send.ep->message_ep, UCP_AM_FRAG,
                                 pipeline_pack_fragment, req, length_max,
                                 UCT_FLAG_PENDING | UCT_FLAG_ANY_ORDER);
    if (packed < 0) {
        return (ucs_status_t)packed;
    }
    if (req->dt.offset < req->dt.length) {
        return UCP_STEP_TURN_DONE;
    }
    ucp_ep_wait_over(req);
    return UCS_OK;
}

static ucs_status_t pipeline_step(struct ucp_request *req)
{
    bool is_matched = (req->send.id != 0) &&
                      (pipeline_state(req)->peer_id != 0);

    return is_matched ? pipeline_step_fragment(req) : pipeline_step_start(req);
}

static ucs_status_t pipeline_abort(struct ucp_request *req,
                                   ucs_status_t        status)
{
    (void)status;
    ucp_ep_wait_over(req);
    return UCS_OK;
}

static ucs_status_t pipeline_receive_start(void *arg,
                                           struct uct_source *source,
                                           void *data, size_t length,
                                           unsigned flags)
{
    struct ucp_worker_iface *wiface = arg;
    struct ucp_wire_start    start;
    struct ucp_arrival       arrival = {
                  .worker   = wiface->worker,
                  .iface    = wiface->iface,
                  .ep       = source->user,
                  .data     = (const uint8_t *)data + UCP_WIRE_RNDV_BYTES,
                  .base     = data,
                  .am_flags = flags,
    };

    if ((arrival.ep == NULL) || !ucp_wire_start_decode(data, length, &start)) {
        ++wiface->worker->bad_ids;
        return UCS_OK;
    }
    arrival.tag         = start.tag;
    arrival.length      = start.length;
    arrival.id          = start.id;
    arrival.data_length = length - UCP_WIRE_RNDV_BYTES;
    return ucp_tag_start_arrived(&arrival, UCP_UNEXPECTED_RNDV);
}

static void pipeline_send_ack(struct ucp_ep *ep, const struct ucp_wire_ack *ack)
{
    uint8_t bytes[UCP_WIRE_ACK_BYTES];

    if (ep != NULL) {
        ucp_wire_ack_encode(bytes, ack);
        ucp_ep_send_control(ep, UCP_AM_ACK, bytes, sizeof(bytes));
    }
}

static void pipeline_send_abort(struct ucp_ep *ep,
                                const struct ucp_wire_abort *abort)
{
    uint8_t bytes[UCP_WIRE_ABORT_BYTES];

    if (ep != NULL) {
        ucp_wire_abort_encode(bytes, abort);
        ucp_ep_send_control(ep, UCP_AM_ABORT, bytes, sizeof(bytes));
    }
}

bool ucp_rndv_is_matched(const struct ucp_request *req)
{
    const struct pipeline_state *state =
            (const struct pipeline_state *)(const void *)req->send.state;

    return state->peer_id != 0;
}

void ucp_rndv_cancel(struct ucp_request *req)
{
    struct ucp_wire_abort abort = {.id     = req->send.id,
                                   .side   = UCP_WIRE_SENDER,
                                   .status = UCS_ERR_CANCELED};

    pipeline_send_abort(req->send.ep, &abort);
    pipeline_finish(req, UCS_ERR_CANCELED);
}

void ucp_rndv_recv_start(struct ucp_request       *req,
                         const struct ucp_arrival *arrival)
{
    struct ucp_ep        *ep    = arrival->ep;
    ucs_status_t          status;
    struct ucp_wire_ack   ack   = {.sender_id = arrival->id,
                                   .offset    = arrival->data_length};
    struct ucp_wire_abort abort = {.id     = arrival->id,
                                   .side   = UCP_WIRE_RECEIVER,
                                   .status = UCS_ERR_MESSAGE_TRUNCATED};

    status = ucp_tag_recv_begin(req, arrival->tag, arrival->length);
    if (status != UCS_OK) {
        pipeline_send_abort(ep, &abort);
        ucp_tag_recv_end(req, status);
        return;
    }
    if (ucp_tag_recv_piece(req, 0, arrival->data, arrival->data_length)) {
        pipeline_send_ack(ep, &ack);
        ucp_tag_recv_end(req, req->recv.status);
        return;
    }
    status = ucsi_idmap_add(&req->worker->ids, req, &req->recv.id);
    if (status != UCS_OK) {
        req->recv.id = 0;
        abort.status = status;
        pipeline_send_abort(ep, &abort);
        ucp_tag_recv_end(req, status);
        return;
    }
    req->recv.ep      = ep;
    req->recv.peer_id = arrival->id;
    ucs_list_add_tail(&ep->receives, &req->recv.ep_link);
    ack.receiver_id = req->recv.id;
    ack.length      = arrival->length - arrival->data_length;
    pipeline_send_ack(ep, &ack);
}

/* The send that an answer names, if it has asked and has no answer yet; it is
 * in no queue then. Else NULL. */
static struct ucp_request *pipeline_sender(struct ucp_worker *worker,
                                           struct ucp_ep *ep, uint64_t id)
{
    struct ucp_request *req = ucp_worker_request_of_id(worker, ep, id);

    if ((req == NULL) || (req->flags & UCP_REQUEST_TAG_RECV) ||
        !pipeline_state(req)->is_asked || (pipeline_state(req)->peer_id != 0)) {
        return NULL;
    }
    return req;
}

static ucs_status_t pipeline_receive_ack(void *arg, struct uct_source *source,
                                         void *data, size_t length,
                                         unsigned flags)
{
    struct ucp_worker     *worker = ((struct ucp_worker_iface *)arg)->worker;
    struct ucp_request    *req    = NULL;
    struct pipeline_state *state;
    struct ucp_wire_ack    ack;

    (void)flags;
    if (ucp_wire_ack_decode(data, length, &ack)) {
        req = pipeline_sender(worker, source->user, ack.sender_id);
    }
    if (req == NULL) {
        ++worker->bad_ids;
        return UCS_OK;
    }
    state = pipeline_state(req);
    if ((ack.offset != req->dt.offset) ||
        (ack.length != req->dt.length - req->dt.offset) ||
        ((ack.length > 0) && (ack.receiver_id == 0))) {
        ++worker->bad_ids; /* not what we sent */
    } else if (ack.length == 0) {
        pipeline_finish(req, UCS_OK);
    } else {
        state->peer_id     = ack.receiver_id;
        state->granted_end = ack.offset + ack.length;
        ucp_ep_submit_bulk(req->send.ep, req);
    }
    return UCS_OK;
}

static ucs_status_t pipeline_receive_fragment(void *arg,
                                              struct uct_source *source,
                                              void *data, size_t length,
                                              unsigned flags)
{
    struct ucp_worker    *worker = ((struct ucp_worker_iface *)arg)->worker;
    struct ucp_request   *req    = NULL;
    struct ucp_wire_piece piece;

    (void)flags;
    if (ucp_wire_piece_decode(data, length, &piece)) {
        req = ucp_worker_request_of_id(worker, source->user, piece.id);
    }
    length -= UCP_WIRE_FRAG_BYTES;
    if ((req == NULL) || !(req->flags & UCP_REQUEST_TAG_RECV) ||
        (piece.offset > req->recv.info.length) ||
        (length > req->recv.info.length - piece.offset) ||
        (length > req->recv.remaining)) {
        ++worker->bad_ids;
        return UCS_OK;
    }
    if (ucp_tag_recv_piece(req, piece.offset,
                           (const uint8_t *)data + UCP_WIRE_FRAG_BYTES,
                           length)) {
        ucp_tag_recv_end(req, req->recv.status);
    }
    return UCS_OK;
}

/* The RNDV may wait still, or our ACK may have crossed the ABORT. */
static void pipeline_sender_gives_up(struct ucp_ep               *ep,
                                     const struct ucp_wire_abort *abort)
{
    struct ucp_request *req;

    ucs_list_for_each(req, &ep->receives, recv.ep_link) {
        if ((req->recv.id != 0) && (req->recv.peer_id == abort->id)) {
            ucp_tag_recv_end(req, abort->status);
            return;
        }
    }
    ucp_unexpected_forget(ep, abort->id, abort->status);
}

static ucs_status_t pipeline_receive_abort(void *arg,
                                           struct uct_source *source,
                                           void *data, size_t length,
                                           unsigned flags)
{
    struct ucp_worker    *worker = ((struct ucp_worker_iface *)arg)->worker;
    struct ucp_ep        *ep     = source->user;
    struct ucp_request   *req    = NULL;
    struct ucp_wire_abort abort;

    (void)flags;
    if ((ep == NULL) || !ucp_wire_abort_decode(data, length, &abort)) {
        ++worker->bad_ids;
        return UCS_OK;
    }
    if (abort.side == UCP_WIRE_SENDER) {
        pipeline_sender_gives_up(ep, &abort);
        return UCS_OK;
    }
    req = pipeline_sender(worker, ep, abort.id);
    if (req == NULL) {
        ++worker->bad_ids;
    } else {
        /* A receive buffer that is too small is no failure of the sender. */
        pipeline_finish(req, (abort.status == UCS_ERR_MESSAGE_TRUNCATED) ?
                                     UCS_OK :
                                     abort.status);
    }
    return UCS_OK;
}

static const struct ucp_handler pipeline_handlers[] = {
        {UCP_AM_RNDV, pipeline_receive_start},
        {UCP_AM_ACK, pipeline_receive_ack},
        {UCP_AM_FRAG, pipeline_receive_fragment},
        {UCP_AM_ABORT, pipeline_receive_abort},
        {0, NULL},
};

const struct ucp_proto ucp_pipeline_send_proto = {
        .name     = "rndv/pipeline_send",
        .summary  = "ask first, then send in fragments",
        .setting  = "UCX_RNDV_THRESH",
        .offer    = pipeline_offer,
        .step     = pipeline_step,
        .abort    = pipeline_abort,
        .handlers = pipeline_handlers,
};
