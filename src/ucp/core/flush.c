/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/flush.c - flush and close.
 *
 * A flush that must wait is a request like a message: it stands in the
 * endpoint's ordered queue, and its turn comes when all before it is sent. */
#include "ucp/core/flush.h"

#include "ucp/core/worker.h"
#include "ucp/proto/rndv.h"
#include "ucp/wireup/peer.h"
#include "ucs/clock.h"
#include "ucs/log.h"

/* base         completion of the lane's flush
 * request      to find the request from base
 * lane         that is flushed; those before are
 * closes       the endpoint ends when the flush is done
 * A close that waits is watched:
 * link         in worker->closes
 * owed         what the endpoint had to send and to be asked for when that
 *              changed last
 * deadline_ns  it gives up if that is so for so long */
struct flush_state {
    struct uct_req      base;
    struct ucp_request *request;
    uint8_t             lane;
    bool                closes;
    bool                is_watched;
    struct ucs_list     link;
    size_t              owed;
    uint64_t            deadline_ns;
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

/* ---- a close that waits for a peer that lives and does nothing ---- */

static size_t close_queue_count(const struct ucs_queue *queue)
{
    struct ucs_queue_elem *const *position = &queue->head;
    size_t                        count    = 0;

    for (; position != queue->ptail; position = &(*position)->next) {
        ++count;
    }
    return count;
}

/* Things and bytes that the endpoint has to get rid of: when that changes, the
 * peer does something. */
static size_t close_owed(const struct ucp_ep *ep)
{
    const struct ucp_request *req;
    size_t                    owed =
        close_queue_count(&ep->control) + close_queue_count(&ep->messages);

    ucs_list_for_each (req, &ep->requests, send.ep_link) {
        owed += ucp_rndv_owed(req);
    }
    return owed;
}

static uint64_t close_deadline(const struct ucp_ep *ep, uint64_t now_ns)
{
    const struct ucp_context_config *config = &ep->worker->context->config;

    return ucs_clock_deadline(
        now_ns, (ep->options.err_mode == UCP_ERR_HANDLING_MODE_NONE)
                    ? config->failure_bound_none_ns
                    : config->failure_bound_peer_ns);
}

static void close_watch(struct ucp_request *req)
{
    struct flush_state *state = flush_state(req);

    state->is_watched  = true;
    state->request     = req;
    state->owed        = close_owed(req->send.ep);
    state->deadline_ns = close_deadline(req->send.ep, ucsi_clock_ns());
    ucs_list_add_tail(&req->worker->closes, &state->link);
    req->worker->closes_look_ns = 0;
}

static void close_unwatch(struct flush_state *state)
{
    if (state->is_watched) {
        state->is_watched = false;
        ucs_list_remove(&state->link);
    }
}

/* The handle is given back; what stays is the internal end. */
static void close_finish(struct ucp_ep *ep)
{
    struct ucp_request *req, *next;

    ucs_list_for_each_safe (req, next, &ep->requests, send.ep_link) {
        ucp_rndv_cancel_unmatched(req);
    }
    ep->flags &= (uint16_t) ~(UCP_EP_USER | UCP_EP_CLOSING);
    if ((ep->source == NULL) || (ep->failed != UCS_OK) || close_is_loop(ep)) {
        ucp_ep_end(ep, UCS_ERR_CANCELED);
    }
}

/* Flush one lane after the other. */
static ucs_status_t flush_lanes(struct ucp_request *req)
{
    struct flush_state  *state  = flush_state(req);
    const struct ucp_ep *ep     = req->send.ep;
    ucs_status_t         status = UCS_OK;

    for (; (status == UCS_OK) && (state->lane < ucp_ep_lane_count(ep));
         state->lane += (status == UCS_OK)) {
        if ((state->lane == 0) || ep->lanes[state->lane].is_used) {
            status = uct_ep_flush(ep->lanes[state->lane].uct_ep, &state->base,
                                  UCT_FLAG_PENDING);
        }
    }
    return status;
}

static void flush_done(struct uct_req *self)
{
    struct flush_state *state =
        ucs_container_of(self, struct flush_state, base);
    struct ucp_request *req    = state->request;
    struct ucp_ep      *ep     = req->send.ep;
    ucs_status_t        status = self->status;

    if (status == UCS_OK) {
        ++state->lane;
        status = flush_lanes(req);
    }
    if (status == UCS_INPROGRESS) {
        return;
    }
    if (status == UCS_ERR_WOULD_BLOCK) {
        ucs_queue_push_head(&ep->messages, &req->send.queue);
        ucp_ep_drain(ep);
        return;
    }
    if (state->closes) {
        close_unwatch(state);
        close_finish(req->send.ep);
    }
    ucp_request_hush(req);
    ucp_request_complete_send(req, status);
}

static ucs_status_t flush_step(struct ucp_request *req)
{
    struct flush_state *state = flush_state(req);
    struct ucp_ep      *ep    = req->send.ep;
    ucs_status_t        status;

    if (!ucs_queue_is_empty(&ep->control) || !ucs_queue_is_empty(&ep->bulk) ||
        !ucp_ep_is_settled(ep)) {
        return UCS_ERR_WOULD_BLOCK;
    }
    state->base.cb = flush_done;
    state->request = req;
    status         = flush_lanes(req);
    if ((status == UCS_OK) && state->closes) {
        close_unwatch(state);
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
        close_unwatch(flush_state(req));
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
    req->send.ep                 = ep;
    req->send.proto              = &flush_proto;
    req->send.id                 = 0;
    req->send.tag                = 0;
    flush_state(req)->closes     = closes;
    flush_state(req)->is_watched = false;
    flush_state(req)->lane       = 0;
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
    struct ucp_request *part =
        ucp_request_get(ep->worker, UCP_REQUEST_CALLBACK | UCP_REQUEST_OURS);

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

ucs_status_t ucp_flush_worker(struct ucp_worker  *worker,
                              struct ucp_request *req)
{
    struct flush_worker_state *state = flush_worker_state(req);
    struct ucp_ep             *ep, *next;

    req->send.proto   = &flush_worker_proto;
    req->send.tag     = 0;
    state->left_count = 1; /* this call: what ends inside does not end req */
    state->status     = UCS_OK;
    ucs_list_for_each_safe (ep, next, &worker->eps, worker_link) {
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
    if (status == UCS_INPROGRESS) {
        close_watch(req);
    }
    return status;
}

/* Take a close out of its endpoint's queue. @return false: it has had its
 * turn, and waits for the transport. */
static bool close_unqueue(struct ucp_request *req)
{
    struct ucs_queue       *queue = &req->send.ep->messages;
    struct ucs_queue_elem **position;
    struct ucp_request     *other;

    ucs_queue_for_each_safe (other, position, queue, send.queue) {
        if (other == req) {
            ucs_queue_remove_at(queue, position);
            return true;
        }
    }
    return false;
}

/* The peer has not taken anything for too long: as if it were gone. It will
 * hear that the endpoint ended. */
static void close_give_up(struct ucp_request *req)
{
    struct ucp_ep *ep = req->send.ep;
    char           text[128];

    ucs_diag("%s: closed with a message that the peer has taken a part of, and "
             "then nothing for the time of UCX_FAILURE_BOUND%s",
             ucp_ep_describe(ep, text, sizeof(text)),
             (ep->options.err_mode == UCP_ERR_HANDLING_MODE_NONE) ? ""
                                                                  : "_PEER");
    close_unwatch(flush_state(req));
    ucp_ep_fail(ep, UCS_ERR_ENDPOINT_TIMEOUT);
    close_finish(ep);
    ucp_request_complete_send(req, UCS_OK);
}

/* @return whether the peer has had its time. */
static bool close_is_late(struct flush_state *state, uint64_t now_ns)
{
    struct ucp_ep *ep   = state->request->send.ep;
    size_t         owed = close_owed(ep);

    if (owed != state->owed) {
        state->owed        = owed;
        state->deadline_ns = close_deadline(ep, now_ns);
    }
    return now_ns >= state->deadline_ns;
}

/* Looks that a close has before it gives up. */
enum { CLOSE_LOOK_COUNT = 8 };

unsigned ucp_closes_look(struct ucp_worker *worker, uint64_t now_ns)
{
    uint64_t            left_ns = UINT64_MAX;
    struct flush_state *state;

    if (now_ns < worker->closes_look_ns) {
        return 0;
    }
    ucs_list_for_each (state, &worker->closes, link) {
        if (close_is_late(state, now_ns) && close_unqueue(state->request)) {
            close_give_up(state->request);
            return 1; /* the list has changed: the others' turn is next */
        }
        left_ns = ucs_min(
            left_ns, close_deadline(state->request->send.ep, now_ns) - now_ns);
    }
    worker->closes_look_ns =
        ucs_clock_deadline(now_ns, left_ns / CLOSE_LOOK_COUNT);
    return 0;
}

void ucp_close_force(struct ucp_ep *ep)
{
    struct uct_source *source = ep->source;
    bool               is_heard =
        (source != NULL) && (ep->failed == UCS_OK) && !close_is_loop(ep);

    struct ucp_peer_rails *rails = ep->rails;

    ep->flags |= UCP_EP_CLOSING;
    ep->rails = is_heard ? NULL : rails;
    ucp_ep_detach(ep, UCS_ERR_CANCELED);
    if (is_heard) {
        ep->rails = rails;
        ucp_peer_stand_in(ep, source);
        ucp_peer_rails_drop(ep); /* if none stands in */
    }
}
