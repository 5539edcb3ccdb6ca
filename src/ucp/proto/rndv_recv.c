/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rndv_recv.c - the receiver of a message that asks first: its final
 * word on how the message comes; and ABORT at both ends. */
#include "ucp/core/worker.h"
#include "ucp/proto/fragment.h"
#include "ucp/proto/rndv.h"
#include "ucp/proto/wire.h"
#include "ucp/tag/recv.h"
#include "ucp/tag/unexpected.h"

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
        ucp_worker_drop(wiface->worker, arrival.ep, "a start");
        return UCS_OK;
    }
    arrival.tag         = wire.start.tag;
    arrival.length      = wire.start.length;
    arrival.id          = wire.start.id;
    arrival.candidate   = wire.candidate;
    arrival.head_length = wire.head_length;
    arrival.data_length = length - UCP_WIRE_RNDV_BYTES - wire.head_length;
    arrival.data =
        (const uint8_t *)data + UCP_WIRE_RNDV_BYTES + wire.head_length;
    return ucp_tag_start_arrived(&arrival, UCP_UNEXPECTED_RNDV);
}

/* The object of a receive that more bytes will come for; NULL: no memory. */
static struct ucp_rndv *rndv_open_recv(struct ucp_request       *req,
                                       const struct ucp_arrival *arrival)
{
    struct ucp_rndv *rndv = ucp_rndv_create(req, arrival->ep);

    if (rndv == NULL) {
        return NULL;
    }
    if (ucsi_idmap_add(&req->worker->ids, req, &req->recv.id) != UCS_OK) {
        req->recv.id = 0;
        ucp_rndv_destroy(rndv);
        return NULL;
    }
    rndv->flags     = UCP_RNDV_IS_RECV;
    rndv->bulk.name = "rndv/receive";
    rndv->kind      = arrival->candidate;
    rndv->peer_id   = arrival->id;
    req->recv.rndv  = rndv;
    req->recv.ep    = arrival->ep;
    ucs_list_add_tail(&arrival->ep->receives, &req->recv.ep_link);
    return rndv;
}

/* The receiver's final word. */
static void rndv_answer(struct ucp_rndv          *rndv,
                        const struct ucp_arrival *arrival)
{
    const struct ucp_proto *proto  = ucp_rndv_proto_of(arrival->candidate);
    ucs_status_t            status = UCS_ERR_UNSUPPORTED;

    if (proto != NULL) {
        rndv->bulk.name = proto->name;
        if (proto->answers & UCP_DT_BIT(rndv->req->dt.dt_class)) {
            status = proto->answer(rndv, arrival);
        }
    }
    if (status != UCS_OK) {
        if (status == UCS_ERR_UNREACHABLE) {
            rndv->flags |= UCP_RNDV_REFUSED;
        }
        if (proto != NULL) {
            ucp_worker_count(rndv->ep->worker, UCP_COUNT_FALL_BACK, 1);
        }
        ucp_fragment_want(rndv, arrival->data_length, arrival->length);
    }
}

void ucp_rndv_recv_start(struct ucp_request       *req,
                         const struct ucp_arrival *arrival)
{
    struct ucp_ep *ep = arrival->ep;
    ucs_status_t   status =
        ucp_tag_recv_begin(req, arrival->tag, arrival->length);
    struct ucp_rndv *rndv;

    if (status != UCS_OK) {
        ucp_rndv_send_abort(ep, arrival->id, UCP_WIRE_RECEIVER, status);
        ucp_tag_recv_end(req, status);
        return;
    }
    if (arrival->data_length == arrival->length) {
        (void)ucp_tag_recv_piece(req, 0, arrival->data, arrival->data_length);
        ucp_fragment_ask_nothing(ep, arrival->id, arrival->length);
        ucp_tag_recv_end(req, req->recv.status);
        return;
    }
    rndv = rndv_open_recv(req, arrival);
    if (rndv == NULL) {
        ucp_rndv_send_abort(ep, arrival->id, UCP_WIRE_RECEIVER,
                            UCS_ERR_NO_MEMORY);
        ucp_tag_recv_end(req, UCS_ERR_NO_MEMORY);
        return;
    }
    /* The answer first: the sender packs while we unpack. */
    ucp_rndv_get(rndv);
    rndv_answer(rndv, arrival);
    (void)ucp_tag_recv_piece(req, 0, arrival->data, arrival->data_length);
    ucp_rndv_put(rndv);
}

struct ucp_rndv *ucp_rndv_receiving(struct ucp_worker   *worker,
                                    const struct ucp_ep *ep, uint64_t id)
{
    struct ucp_request *req = ucp_worker_request_of_id(worker, ep, id);

    if ((req == NULL) || !(req->flags & UCP_REQUEST_TAG_RECV)) {
        ucp_worker_drop(worker, ep, "a FRAG");
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

    ucs_list_for_each (req, &ep->receives, recv.ep_link) {
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
        ucp_worker_drop(worker, ep, "an ABORT");
        return UCS_OK;
    }
    if (abort.side == UCP_WIRE_SENDER) {
        rndv_sender_gives_up(ep, &abort);
        return UCS_OK;
    }
    rndv = ucp_rndv_answered(worker, ep, abort.id);
    if (rndv != NULL) {
        /* A receive buffer that is too small is no failure of the sender. */
        ucp_rndv_abort(rndv, (abort.status == UCS_ERR_MESSAGE_TRUNCATED)
                                 ? UCS_OK
                                 : abort.status);
    }
    return UCS_OK;
}

const struct ucp_handler ucp_rndv_handlers[] = {
    {UCP_AM_RNDV, rndv_receive_start},
    {UCP_AM_RGET, rndv_receive_start},
    {UCP_AM_ABORT, rndv_receive_abort},
    {0, NULL},
};
