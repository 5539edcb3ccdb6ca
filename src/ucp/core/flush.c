/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/flush.c - flush and close.
 *
 * A flush that must wait is a request like a message: it stands in the
 * endpoint's ordered queue, and its turn comes when all before it is sent. */
#include "ucp/core/flush.h"

#include "ucp/core/worker.h"
#include "ucp/proto/rndv.h"
#include "ucp/wireup/peer.h"

/* base     completion of the lane's flush
 * request  to find the request from base
 * closes   the endpoint ends when the flush is done */
struct flush_state {
    struct uct_req      base;
    struct ucp_request *request;
    bool                closes;
};
_Static_assert(sizeof(struct flush_state) <= UCP_PROTO_STATE_BYTES,
               "the state must fit the request's slot");

/* State of a request that waits for the flushes of all endpoints.
 * left_count  flushes that are not done */
struct flush_worker_state {
    unsigned     left_count;
    ucs_status_t status;
};

static struct flush_state *flush_state(struct ucp_request *req)
{
    return (struct flush_state *)(void *)req->send.state;
}

static struct flush_worker_state *flush_worker_state(struct ucp_request *req)
{
    return (struct flush_worker_state *)(void *)req->send.state;
}

/* Are both ends in one? Then nobody else sends here. */
static bool close_is_loop(const struct ucp_ep *ep)
{
    return (ep->source != NULL) && (ep->source->user == ep) &&
           (ep->peer->id == ep->worker->id);
}

/* The handle is given back; what stays is the internal end. */
static void close_finish(struct ucp_ep *ep)
{
    struct ucp_request *req, *next;

    ucs_list_for_each_safe(req, next, &ep->requests, send.ep_link) {
        ucp_rndv_cancel_unmatched(req);
    }
    ep->flags &= (uint16_t)~(UCP_EP_USER | UCP_EP_CLOSING);
    if ((ep->source == NULL) || (ep->failed != UCS_OK) || close_is_loop(ep)) {
        ucp_ep_end(ep, UCS_ERR_CANCELED);
    }
}

static void flush_done(struct uct_req *self)
{
    struct flush_state *state =
            ucs_container_of(self, struct flush_state, base);
    struct ucp_request *req = state->request;

    if (state->closes) {
        close_finish(req->send.ep);
    }
    ucp_request_hush(req);
    ucp_request_complete_send(req, self->status);
}

static ucs_status_t flush_step(struct ucp_request *req)
{
    struct flush_state *state = flush_state(req);
    struct ucp_ep      *ep    = req->send.ep;
    ucs_status_t        status;

    if (!ucs_queue_is_empty(&ep->control) ||
        !ucs_queue_is_empty(&ep->bulk) || !ucp_ep_is_settled(ep)) {
        return UCS_ERR_WOULD_BLOCK;
    }
    state->base.cb = flush_done;
    state->request = req;
    status = uct_ep_flush(ep->message_ep, &state->base, UCT_FLAG_PENDING);
    if ((status == UCS_OK) && state->closes) {
        close_finish(ep);
    }
    return status;
}

/* The endpoint failed: a close is done then, whatever it waited for. */
static ucs_status_t flush_abort(struct ucp_request *req, ucs_status_t status)
{
    (void)status;
    if (flush_state(req)->closes) {
        flush_state(req)->closes = false;
        close_finish(req->send.ep);
    }
    return UCS_OK;
}

static const struct ucp_proto flush_proto = {
        .name    = "flush",
        .summary = "wait until all before is done",
        .step    = flush_step,
        .abort   = flush_abort,
};

/* Also what is done at once is a request that the user may ask about. */
static void flush_prepare(struct ucp_ep *ep, struct ucp_request *req,
                          bool closes)
{
    req->send.ep             = ep;
    req->send.proto          = &flush_proto;
    req->send.id             = 0;
    req->send.tag            = 0;
    flush_state(req)->closes = closes;
    ucp_dt_iter_init_contig(&req->dt, NULL, 0);
}

/* Nothing was ever sent, or nothing is left. */
static bool flush_is_idle(const struct ucp_ep *ep)
{
    return !(ep->flags & UCP_EP_ANNOUNCED) && ucp_ep_is_drained(ep);
}

ucs_status_t ucp_flush_ep(struct ucp_ep *ep, struct ucp_request *req)
{
    flush_prepare(ep, req, false);
    if (ep->failed != UCS_OK) {
        return ep->failed;
    }
    return flush_is_idle(ep) ? UCS_OK : ucp_ep_submit(ep, req);
}

static void flush_worker_part_done(void *part, ucs_status_t status, void *arg)
{
    struct ucp_request *req = arg;

    (void)status; /* a failure is reported on its own endpoint */
    ucp_request_put(ucp_request_of(part));
    if (--flush_worker_state(req)->left_count == 0) {
        ucp_request_hush(req);
        ucp_request_complete_send(req, flush_worker_state(req)->status);
    }
}

/* Flush one endpoint for req. @return false: memory is short. */
static bool flush_worker_part(struct ucp_ep *ep, struct ucp_request *req)
{
    struct ucp_request *part = ucp_request_get(
        ep->worker, UCP_REQUEST_CALLBACK | UCP_REQUEST_OURS);

    if (part == NULL) {
        return false;
    }
    part->cb.send   = flush_worker_part_done;
    part->user_data = req;
    flush_prepare(ep, part, false);
    ++flush_worker_state(req)->left_count;
    if (ucp_ep_submit(ep, part) != UCS_INPROGRESS) {
        --flush_worker_state(req)->left_count;
        ucp_request_put(part);
    }
    return true;
}

static ucs_status_t flush_worker_abort(struct ucp_request *req,
                                       ucs_status_t        status)
{
    (void)req;
    (void)status;
    return UCS_OK;
}

/* Never stepped: its parts are in the endpoints' queues. */
static const struct ucp_proto flush_worker_proto = {
        .name    = "flush/worker",
        .summary = "wait for the flushes of all endpoints",
        .abort   = flush_worker_abort,
};

ucs_status_t ucp_flush_worker(struct ucp_worker *worker,
                              struct ucp_request *req)
{
    struct flush_worker_state *state = flush_worker_state(req);
    struct ucp_ep             *ep, *next;

    req->send.proto   = &flush_worker_proto;
    req->send.tag     = 0;
    state->left_count = 1; /* this call: what ends inside does not end req */
    state->status     = UCS_OK;
    ucs_list_for_each_safe(ep, next, &worker->eps, worker_link) {
        if ((ep->failed != UCS_OK) || flush_is_idle(ep)) {
            continue;
        }
        if (!flush_worker_part(ep, req)) {
            state->status = UCS_ERR_NO_MEMORY;
            break; /* the parts that wait complete it */
        }
    }
    return (--state->left_count == 0) ? state->status : UCS_INPROGRESS;
}

ucs_status_t ucp_close_flush(struct ucp_ep *ep, struct ucp_request *req)
{
    ucs_status_t status;

    ep->flags |= UCP_EP_CLOSING;
    flush_prepare(ep, req, true);
    if ((ep->failed != UCS_OK) || flush_is_idle(ep)) {
        close_finish(ep);
        return UCS_OK;
    }
    status = ucp_ep_submit(ep, req);
    if ((status != UCS_OK) && (status != UCS_INPROGRESS)) {
        close_finish(ep);
        status = UCS_OK; /* the peer is gone, and so is the handle */
    }
    return status;
}

void ucp_close_force(struct ucp_ep *ep)
{
    struct uct_source *source = ep->source;
    bool               is_heard = (source != NULL) &&
                    (ep->failed == UCS_OK) && !close_is_loop(ep);

    ep->flags |= UCP_EP_CLOSING;
    ucp_ep_detach(ep, UCS_ERR_CANCELED);
    if (is_heard) {
        ucp_peer_stand_in(ep, source);
    }
}
