/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/ep.c - opening, failing and ending endpoints. The queues are in
 * ep_queue.c. */
#include "ucp/core/ep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucp/core/explain.h"
#include "ucp/core/lost.h"
#include "ucp/core/trace.h"
#include "ucp/core/worker.h"
#include "ucp/proto/rndv.h"
#include "ucp/tag/recv.h"
#include "ucp/wireup/lanes.h"
#include "ucp/wireup/peer.h"
#include "ucs/log.h"

const char *ucp_ep_describe(const struct ucp_ep *ep, char *text, size_t size)
{
    snprintf(text, size, "worker '%s' (%016lx), endpoint %u over %s",
             ep->peer->view.name, (unsigned long)ep->peer->id, ep->index,
             (ep->message_ep == NULL) ? "no transport"
                                      : ep->message_ep->transport->name);
    return text;
}

bool ucp_ep_is_settled(const struct ucp_ep *ep)
{
    return (ep->matched_count == 0) && ((ep->peer->id != ep->worker->id) ||
                                        ucs_list_is_empty(&ep->receives));
}

static void ep_transport_failed(struct uct_ep *uct_ep, ucs_status_t status)
{
    ucp_ep_fail(uct_ep->user, status);
}

static void ep_has_room(struct uct_ep *uct_ep)
{
    ucp_ep_drain(uct_ep->user);
}

/* An open lane of that transport; NULL: none. */
static struct uct_ep *ep_spare(const struct ucp_ep        *ep,
                               const struct uct_transport *transport)
{
    for (unsigned i = 0; i < ucp_ep_lane_count(ep); ++i) {
        if ((ep->lanes[i].uct_ep != NULL) &&
            (ep->lanes[i].uct_ep->iface->transport == transport)) {
            return ep->lanes[i].uct_ep;
        }
    }
    return NULL;
}

static ucs_status_t ep_open_lane(struct ucp_ep                *ep,
                                 const struct ucp_lane_choice *choice,
                                 struct ucp_ep_lane           *lane)
{
    struct uct_iface    *iface  = ep->worker->ifaces[choice->iface_index].iface;
    struct uct_ep_params params = {
        .pending       = ep_has_room,
        .error         = ep_transport_failed,
        .user          = ep,
        .address       = choice->entry->bytes,
        .address_bytes = choice->entry->size_bytes,
        .spare         = ep_spare(ep, iface->transport),
    };
    ucs_status_t status;

    lane->peer_domain = choice->entry->domain;
    lane->peer_name =
        ucp_lane_name(choice->entry->transport, choice->entry->bytes,
                      choice->entry->size_bytes);
    status = ucti_ep_create(iface, &params, &lane->uct_ep);
    if (status != UCS_OK) {
        ucs_error("worker '%s' (%016lx), %s: %s", ep->peer->view.name,
                  (unsigned long)ep->peer->id, choice->entry->transport,
                  ucs_status_string(status));
    }
    return status;
}

/* Open the lanes; one that cannot be opened leaves the others without, as
 * ep_close_lanes() expects. */
static ucs_status_t ep_open_lanes(struct ucp_ep                *ep,
                                  const struct ucp_lane_choice *choices)
{
    ucs_status_t status = UCS_OK;

    for (unsigned i = 0; (i < ucp_ep_lane_count(ep)) && (status == UCS_OK);
         ++i) {
        status = ep_open_lane(ep, &choices[i], &ep->lanes[i]);
    }
    ep->message_ep = ep->lanes[0].uct_ep;
    return status;
}

static void ep_close_lanes(struct ucp_ep *ep)
{
    for (unsigned i = 0; i < ucp_ep_lane_count(ep); ++i) {
        if (ep->lanes[i].uct_ep != NULL) {
            ucti_ep_destroy(ep->lanes[i].uct_ep);
        }
    }
}

/* Which lanes reach the peer?
 * @param choices  [UCP_LANE_COUNT_MAX]. @param count_p  0 on an error. */
static ucs_status_t ep_choose_lanes(struct ucp_worker             *worker,
                                    const struct ucp_peer         *peer,
                                    const struct ucp_address_view *view,
                                    struct ucp_lane_choice        *choices,
                                    unsigned                      *count_p)
{
    char         reasons[512];
    ucs_status_t status =
        ucp_lanes_choose(worker, view, &choices[0], reasons, sizeof(reasons));

    *count_p = 0;
    if (status == UCS_OK) {
        *count_p = ucp_lanes_add_rails(worker, view, choices);
    } else {
        /* An end that stands in was asked for by nobody here. */
        ucs_log((view == &peer->view) ? UCS_LOG_LEVEL_DIAG
                                      : UCS_LOG_LEVEL_ERROR,
                "worker '%s' (%016lx) cannot be reached: %s", peer->view.name,
                (unsigned long)peer->id, reasons);
    }
    return status;
}

static ucs_status_t ep_configure(struct ucp_ep                *ep,
                                 const struct ucp_lane_choice *choices,
                                 unsigned                      count)
{
    unsigned indices[UCP_LANE_COUNT_MAX];

    for (unsigned i = 0; i < count; ++i) {
        indices[i] = choices[i].iface_index;
    }
    ep->config = ucp_worker_ep_config(ep->worker, indices, count);
    return (ep->config == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
}

/* An endpoint without lanes yet. */
static struct ucp_ep *ep_new(struct ucp_worker *worker, struct ucp_peer *peer,
                             uint32_t index, unsigned lane_count)
{
    size_t bytes =
        sizeof(struct ucp_ep) + (lane_count * sizeof(struct ucp_ep_lane));
    struct ucp_ep *ep = calloc(1, bytes);

    if (ep == NULL) {
        ucsi_no_memory("an endpoint", bytes);
        return NULL;
    }
    ep->worker = worker;
    ep->peer   = peer;
    ep->index  = index;
    ucs_queue_init(&ep->control);
    ucs_queue_init(&ep->messages);
    ucs_queue_init(&ep->bulk);
    ucs_list_init(&ep->requests);
    ucs_list_init(&ep->receives);
    ucs_list_init(&ep->unexpected);
    ucs_list_add_tail(&worker->eps, &ep->worker_link);
    return ep;
}

ucs_status_t ucp_ep_open(struct ucp_worker *worker, struct ucp_peer *peer,
                         const struct ucp_address_view *view, uint32_t index,
                         struct ucp_ep **ep_p)
{
    struct ucp_lane_choice choices[UCP_LANE_COUNT_MAX];
    unsigned               count;
    ucs_status_t           status;
    struct ucp_ep         *ep;

    status = ep_choose_lanes(worker, peer, view, choices, &count);
    ep     = ep_new(worker, peer, index, count);
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    if (status == UCS_OK) {
        status = ep_configure(ep, choices, count);
    }
    if (status == UCS_OK) {
        status = ep_open_lanes(ep, choices);
    }
    ep->failed = status;
    ucp_trace_ep(ep);
    ucp_explain_new_ep(ep);
    *ep_p = ep;
    return status;
}

ucs_status_t ucp_ep_set_options(struct ucp_ep               *ep,
                                const struct ucp_ep_options *options)
{
    char *name = NULL;

    if (options->name != NULL) {
        name = strndup(options->name, UCP_ENTITY_NAME_MAX - 1);
        if (name == NULL) {
            return ucsi_no_memory("the name of an endpoint",
                                  UCP_ENTITY_NAME_MAX);
        }
    }
    ep->options      = *options;
    ep->options.name = name;
    return UCS_OK;
}

/* A request leaves for good: its protocol lets go, the user is told. */
static void ep_abort_request(struct ucp_request *req, ucs_status_t status)
{
    ucp_request_hush(req);
    if (req->send.proto->abort(req, status) == UCS_OK) {
        ucp_dt_iter_cleanup(&req->dt);
        ucp_request_complete_send(req, status);
    }
}

static void ep_abort_queue(struct ucs_queue *queue, ucs_status_t status)
{
    struct ucs_queue_elem *elem;

    while ((elem = ucs_queue_pull(queue)) != NULL) {
        ep_abort_request(ucs_container_of(elem, struct ucp_request, send.queue),
                         status);
    }
}

/* What is being received from this peer will never be complete. */
static void ep_abort_receives(struct ucp_ep *ep, ucs_status_t status)
{
    struct ucp_request *req;

    ep->eager.recv = NULL;
    ucp_unexpected_orphan(ep, status);
    while (!ucs_list_is_empty(&ep->receives)) {
        req = ucs_list_first(&ep->receives, struct ucp_request, recv.ep_link);
        ucp_request_hush(req);
        if (req->recv.rndv != NULL) {
            ucp_rndv_abort(req->recv.rndv, status);
        } else {
            ucp_tag_recv_end(req, status);
        }
    }
}

static void ep_abort_sends(struct ucp_ep *ep, ucs_status_t status)
{
    ucp_ep_drop_control(ep);
    ep_abort_queue(&ep->messages, status);
    while (!ucs_list_is_empty(&ep->requests)) {
        ep_abort_request(
            ucs_list_first(&ep->requests, struct ucp_request, send.ep_link),
            status);
    }
}

/* In mode NONE nobody hears of it, and who waits for that peer may wait for
 * ever. One that was never reached has not been waited for. */
static void ep_report_unhandled(struct ucp_ep *ep, ucs_status_t status,
                                const char *text)
{
    if (status == UCS_ERR_ENDPOINT_TIMEOUT) {
        ucp_ep_lost(ep, status, text);
        return;
    }
    ucs_log((status == UCS_ERR_UNREACHABLE) ? UCS_LOG_LEVEL_ERROR
                                            : UCS_LOG_LEVEL_DIAG,
            "%s: %s", text, ucs_status_string(status));
}

/* The first to know says it: loudly when the user asked to be told of errors
 * and gave no handler. */
static void ep_report(struct ucp_ep *ep, ucs_status_t status)
{
    char text[128];

    if (!(ep->flags & UCP_EP_USER) || (ep->flags & UCP_EP_CLOSING)) {
        return;
    }
    ucp_ep_describe(ep, text, sizeof(text));
    if (ep->options.err_mode == UCP_ERR_HANDLING_MODE_NONE) {
        ep_report_unhandled(ep, status, text);
    } else if (ep->options.err_cb == NULL) {
        ucs_error("%s: %s; no error handler was given to ucp_ep_create()", text,
                  ucs_status_string(status));
    } else {
        ucs_debug("%s: %s", text, ucs_status_string(status));
        ep->options.err_cb(ep->options.err_arg, ep, status);
    }
}

void ucp_ep_fail(struct ucp_ep *ep, ucs_status_t status)
{
    if (ep->failed != UCS_OK) {
        return;
    }
    ep->failed          = status;
    ep->short_bytes_end = 0;
    ep_abort_sends(ep, status);
    ep_abort_receives(ep, status);
    ep_report(ep, status);
}

/* @return false: there is none to tell any more. */
static bool ep_tell_one_send(struct ucp_ep *ep)
{
    struct ucp_request *req;

    ucs_list_for_each (req, &ep->requests, send.ep_link) {
        if (ucp_rndv_peer_closed(req)) {
            return true;
        }
    }
    return false;
}

void ucp_ep_peer_closed(struct ucp_ep *ep)
{
    ep_abort_receives(ep, UCS_ERR_CONNECTION_RESET);
    while (ep_tell_one_send(ep)) {
    }
}

void ucp_ep_detach(struct ucp_ep *ep, ucs_status_t status)
{
    if (ep->flags & UCP_EP_ENDED) {
        return;
    }
    ep->flags |= UCP_EP_ENDED;
    ep->flags &= (uint16_t)~UCP_EP_USER;
    if (ep->failed == UCS_OK) {
        ep->failed = status;
    }
    ep->short_bytes_end = 0;
    ucp_peer_remove_ep(ep->peer, ep);
    if (ep->source != NULL) {
        ep->source->user = NULL;
        ep->source       = NULL;
    }
    ucp_peer_rails_drop(ep);
    ucs_list_remove(&ep->worker_link);
    ucs_list_add_tail(&ep->worker->ended, &ep->worker_link);
}

void ucp_ep_end(struct ucp_ep *ep, ucs_status_t status)
{
    if (!(ep->flags & UCP_EP_ENDED)) {
        ucp_ep_detach(ep, status);
        ep_abort_sends(ep, status);
        ep_abort_receives(ep, status);
    }
}

void ucp_ep_report_later(struct ucp_ep *ep)
{
    ucs_list_remove(&ep->worker_link);
    ucs_list_add_tail(&ep->worker->ended, &ep->worker_link);
}

/* It is an endpoint like others again. */
static void ep_report_now(struct ucp_ep *ep)
{
    ucs_list_add_tail(&ep->worker->eps, &ep->worker_link);
    if (ep->worker->is_closing) {
        ucp_ep_end(ep, ep->failed);
    } else {
        ep_report(ep, ep->failed);
    }
}

void ucp_eps_reap(struct ucp_worker *worker)
{
    struct ucp_ep *ep;

    while (!ucs_list_is_empty(&worker->ended)) {
        ep = ucs_list_first(&worker->ended, struct ucp_ep, worker_link);
        ucs_list_remove(&ep->worker_link);
        if (!(ep->flags & UCP_EP_ENDED)) {
            ep_report_now(ep);
            continue;
        }
        ep_abort_sends(ep, ep->failed);
        ep_abort_receives(ep, ep->failed);
        ep_close_lanes(ep);
        ucp_peer_gone(ep);
        free((void *)(uintptr_t)ep->options.name); /* our copy */
        free(ep);
    }
}

ucs_status_t ucp_ep_wait_for_peer(struct ucp_ep *ep, struct ucp_request *req)
{
    ucs_status_t status = ucsi_idmap_add(&ep->worker->ids, req, &req->send.id);

    if (status == UCS_OK) {
        req->flags |= UCP_REQUEST_ON_EP_LIST;
        ucs_list_add_tail(&ep->requests, &req->send.ep_link);
    } else {
        req->send.id = 0;
    }
    return status;
}

void ucp_ep_wait_over(struct ucp_request *req)
{
    if (req->flags & UCP_REQUEST_ON_EP_LIST) {
        req->flags &= ~(uint32_t)UCP_REQUEST_ON_EP_LIST;
        ucs_list_remove(&req->send.ep_link);
    }
    if (req->send.id != 0) {
        ucsi_idmap_remove(&req->worker->ids, req->send.id);
        req->send.id = 0;
    }
}
