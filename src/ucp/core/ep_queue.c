/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/ep_queue.c - what an endpoint does when its lane has no room.
 *
 *   control --> messages --> bulk        served in this order, each as far as
 *                 |  flush waits for bulk  there is room
 *
 * Called again by the lane's pending callback. As the receiver makes room while
 * we send, bulk stops after some turns: a call of progress ends soon, and what
 * the application does next comes in between. */
#include "ucp/core/ep.h"

#include "ucp/core/trace.h"
#include "ucp/core/worker.h"
#include "ucp/wireup/peer.h"
#include "ucs/log.h"

enum {
    /* Fragments, 10 to 40 us over shared memory. */
    EP_BULK_TURNS_MAX = 32,
};

/* An answer that found no room. queue comes first: mpool elements are put by
 * that address. then: called when it is gone */
struct ucp_control {
    struct ucs_queue_elem queue;
    void (*then)(void *arg);
    void    *arg;
    uint8_t  am_id;
    uint16_t length;
    uint8_t  bytes[UCP_CONTROL_BYTES_MAX];
};

ucs_status_t ucp_ep_queues_init(struct ucp_worker *worker)
{
    const struct ucs_mpool_params params = {
        .name          = "control messages",
        .element_bytes = sizeof(struct ucp_control),
        .chunk_count   = 16,
    };

    return ucsi_mpool_init(&worker->controls, &params);
}

/* The fast path of sends is open while nothing is queued and the peer knows
 * us. */
static void ep_update_fast_path(struct ucp_ep *ep)
{
    bool is_open = (ep->flags & UCP_EP_ANNOUNCED) && (ep->failed == UCS_OK) &&
                   ucs_queue_is_empty(&ep->messages);

    ep->short_bytes_end = is_open ? ep->config->short_bytes_end : 0;
}

static size_t control_pack(void *dest, void *arg)
{
    const struct ucp_control *control = arg;

    memcpy(dest, control->bytes, control->length);
    return control->length;
}

/* An abort follows the message that it takes back; all others may overtake. */
static ucs_status_t control_send(struct ucp_ep *ep, struct ucp_control *control)
{
    unsigned order = (control->am_id == UCP_AM_ABORT) ? 0 : UCT_FLAG_ANY_ORDER;
    ssize_t  packed =
        uct_ep_am_bcopy(ep->message_ep, control->am_id, control_pack, control,
                        control->length, UCT_FLAG_PENDING | order);

    return (packed < 0) ? (ucs_status_t)packed : UCS_OK;
}

/* Send it now. @return false: there is no room, or others wait. */
static bool control_send_now(struct ucp_ep *ep, struct ucp_control *control)
{
    if (ep->failed != UCS_OK) {
        return true; /* nobody is there to hear it */
    }
    return (ep->flags & UCP_EP_ANNOUNCED) && ucs_queue_is_empty(&ep->control) &&
           (control_send(ep, control) != UCS_ERR_WOULD_BLOCK);
}

static void control_fill(struct ucp_control *control, uint8_t am_id,
                         const uint8_t *bytes, size_t length)
{
    control->am_id  = am_id;
    control->length = (uint16_t)length;
    memcpy(control->bytes, bytes, length);
}

void ucp_ep_send_control_then(struct ucp_ep *ep, uint8_t am_id,
                              const uint8_t *bytes, size_t   length,
                              void (*then)(void *arg), void *arg)
{
    struct ucp_control  first;
    struct ucp_control *queued;

    ucs_assert(length <= UCP_CONTROL_BYTES_MAX);
    control_fill(&first, am_id, bytes, length);
    if (control_send_now(ep, &first)) {
        then(arg); /* a failure is reported by the transport */
        return;
    }
    queued = ucs_mpool_get(&ep->worker->controls);
    if (queued == NULL) {
        ucp_ep_fail(ep, UCS_ERR_NO_MEMORY); /* its operation would hang */
        then(arg);
        return;
    }
    queued->then = then;
    queued->arg  = arg;
    control_fill(queued, am_id, bytes, length);
    ucs_queue_push(&ep->control, &queued->queue);
    if (!(ep->flags & UCP_EP_ANNOUNCED)) {
        ucp_ep_drain(ep);
    }
}

static void control_no_more(void *arg)
{
    (void)arg;
}

void ucp_ep_send_control(struct ucp_ep *ep, uint8_t am_id, const uint8_t *bytes,
                         size_t length)
{
    ucp_ep_send_control_then(ep, am_id, bytes, length, control_no_more, NULL);
}

/* It was taken out of the queue: it is sent, or nobody will hear it. */
static void control_over(struct ucp_control *control)
{
    void (*then)(void *arg) = control->then;
    void *arg               = control->arg;

    ucs_mpool_put(control);
    then(arg);
}

void ucp_ep_drop_control(struct ucp_ep *ep)
{
    struct ucs_queue_elem *elem;

    while ((elem = ucs_queue_pull(&ep->control)) != NULL) {
        control_over(ucs_container_of(elem, struct ucp_control, queue));
    }
}

/* Tell the peer who we are, if it does not know. */
static ucs_status_t ep_introduce(struct ucp_ep *ep)
{
    ucs_status_t status;

    if (ucs_likely(ep->flags & UCP_EP_ANNOUNCED)) {
        return UCS_OK;
    }
    if (ep->flags & UCP_EP_FOLLOWS) {
        return UCS_ERR_WOULD_BLOCK; /* ucp_peer_gone() goes on */
    }
    status = ucp_peer_announce(ep);
    if (status == UCS_OK) {
        ep->flags |= UCP_EP_ANNOUNCED;
    }
    return status;
}

/* Each drain_ function: @return false when the lane has no room. */

static bool drain_announcement(struct ucp_ep *ep)
{
    ucs_status_t status = ep_introduce(ep);

    if ((status != UCS_OK) && (status != UCS_ERR_WOULD_BLOCK)) {
        ucp_ep_fail(ep, status);
    }
    return status == UCS_OK;
}

static bool drain_control(struct ucp_ep *ep)
{
    struct ucs_queue_elem *elem;
    struct ucp_control    *control;

    while ((elem = ucs_queue_head(&ep->control)) != NULL) {
        control = ucs_container_of(elem, struct ucp_control, queue);
        if (control_send(ep, control) == UCS_ERR_WOULD_BLOCK) {
            return false;
        }
        (void)ucs_queue_pull(&ep->control);
        control_over(control);
    }
    return true;
}

/* A queued request is sent or has failed. */
static void drain_finish(struct ucp_request *req, ucs_status_t status)
{
    if ((status == UCS_INPROGRESS) ||
        ((status != UCS_OK) &&
         (req->send.proto->abort(req, status) == UCS_INPROGRESS))) {
        return;
    }
    ucp_dt_iter_cleanup(&req->dt);
    ucp_request_complete_send(req, status);
}

static bool drain_messages(struct ucp_ep *ep)
{
    struct ucs_queue_elem *elem;
    struct ucp_request    *req;
    ucs_status_t           status;

    while ((elem = ucs_queue_pull(&ep->messages)) != NULL) {
        req    = ucs_container_of(elem, struct ucp_request, send.queue);
        status = ucp_trace_step(req);
        if (status == UCS_ERR_WOULD_BLOCK) {
            ucs_queue_push_head(&ep->messages, elem);
            return false;
        }
        drain_finish(req, status);
    }
    return true;
}

static bool drain_bulk(struct ucp_ep *ep)
{
    unsigned               turn_count = 0;
    struct ucs_queue_elem *elem;
    struct ucp_bulk       *bulk;
    ucs_status_t           status;

    while ((elem = ucs_queue_pull(&ep->bulk)) != NULL) {
        if (turn_count++ == EP_BULK_TURNS_MAX) {
            ucs_queue_push_head(&ep->bulk, elem);
            ucti_ep_yield(ep->message_ep);
            return false;
        }
        bulk            = ucs_container_of(elem, struct ucp_bulk, queue);
        bulk->is_queued = false;
        status          = ucp_trace_bulk(ep, bulk);
        if ((status == UCS_OK) || bulk->is_queued) {
            continue; /* done, or queued again by what its step did */
        }
        bulk->is_queued = true;
        if (status == UCS_ERR_WOULD_BLOCK) {
            ucs_queue_push_head(&ep->bulk, elem);
            return false;
        }
        ucs_queue_push(&ep->bulk, elem);
    }
    return true;
}

void ucp_ep_drain(struct ucp_ep *ep)
{
    bool has_room;

    if ((ep->flags & UCP_EP_DRAINING) || (ep->failed != UCS_OK)) {
        return; /* the one at work goes on with what was added */
    }
    ep->flags |= UCP_EP_DRAINING;
    do {
        has_room = drain_announcement(ep) && drain_control(ep);
        if (has_room) {
            (void)drain_messages(ep);
            has_room = drain_bulk(ep);
        }
        /* A flush waits for bulk: look at it again once that is gone. */
    } while (has_room && !ucs_queue_is_empty(&ep->messages) &&
             ucp_ep_is_settled(ep) &&
             (ep->message_ep->pending_state != UCT_PENDING_WAITS) &&
             (ep->failed == UCS_OK));
    ep->flags &= (uint16_t)~UCP_EP_DRAINING;
    if (ep->failed == UCS_OK) {
        ep_update_fast_path(ep);
    }
}

static ucs_status_t ep_submit(struct ucp_ep *ep, struct ucp_request *req)
{
    ucs_status_t status = UCS_ERR_WOULD_BLOCK;

    if (ep->failed != UCS_OK) {
        return ep->failed;
    }
    if (!(ep->flags & UCP_EP_DRAINING) && ucs_queue_is_empty(&ep->messages)) {
        status = ep_introduce(ep);
        if (status == UCS_OK) {
            status = ucp_trace_step(req);
        }
    }
    if (status == UCS_ERR_WOULD_BLOCK) {
        ucs_queue_push(&ep->messages, &req->send.queue);
        status = UCS_INPROGRESS;
    } else if ((status != UCS_OK) && (status != UCS_INPROGRESS)) {
        /* It may have an id already. */
        if (req->send.proto->abort(req, status) == UCS_INPROGRESS) {
            status = UCS_INPROGRESS;
        }
    }
    if (!(ep->flags & UCP_EP_DRAINING) && (ep->failed == UCS_OK)) {
        ep_update_fast_path(ep);
    }
    return status;
}

ucs_status_t ucp_ep_submit(struct ucp_ep *ep, struct ucp_request *req)
{
    return ucp_trace_submit(ep, req, ep_submit);
}

void ucp_ep_remove_bulk(struct ucp_ep *ep, struct ucp_bulk *bulk)
{
    struct ucs_queue_elem **position;
    struct ucp_bulk        *other;

    if (!bulk->is_queued) {
        return;
    }
    ucs_queue_for_each_safe (other, position, &ep->bulk, queue) {
        if (other == bulk) {
            ucs_queue_remove_at(&ep->bulk, position);
            break;
        }
    }
    bulk->is_queued = false;
}

void ucp_ep_submit_bulk(struct ucp_ep *ep, struct ucp_bulk *bulk)
{
    if (!bulk->is_queued) {
        bulk->is_queued = true;
        ucs_queue_push(&ep->bulk, &bulk->queue);
    }
    ucp_ep_drain(ep);
}
