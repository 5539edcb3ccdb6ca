/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/trace.h - UCX_TRACE_FILE: what each message did, and when.
 *
 *   a request  |--- from its call to its completion -------------|  "request"
 *   step()        [rndv/pipeline_send]      [rndv/pipeline_send]    "step"
 *   message        [RNDV]--.            .-->[ACK] [FRAG]--.         "send",
 *                           '-> peer --'                   '-> peer "receive"
 *
 * Nothing on the data path asks whether a trace is written. When one is, the
 * endpoints of the worker have a transport between them and their lanes that
 * writes down each operation (trace_lane.c), and so have the handlers of
 * messages. What remains are the calls below: each is one branch on a path
 * that makes a request.
 *
 * Events go to an array of the worker; it is written out when it is full, when
 * the worker is destroyed, and at exit. */
#ifndef UCP_CORE_TRACE_H_
#define UCP_CORE_TRACE_H_

#include "ucp/core/ep.h"
#include "ucp/core/worker.h"

/* Open worker->trace if UCX_TRACE_FILE or UCX_STATS_DEST is set: the one writes
 * events down, the other only sums them up (trace_count.c). A file that cannot
 * be opened is a warning, and there is no trace. */
void ucp_trace_open(struct ucp_worker *worker);

/* Write out and free. */
void ucp_trace_close(struct ucp_worker *worker);

/* An interface is open and has its handlers. */
void ucp_trace_iface(struct ucp_worker_iface *wiface);

/* An endpoint has its lanes. */
void ucp_trace_ep(struct ucp_ep *ep);

typedef ucs_status_t (*ucp_trace_submit_fn)(struct ucp_ep      *ep,
                                            struct ucp_request *req);
ucs_status_t ucp_trace_do_submit(struct ucp_ep *ep, struct ucp_request *req,
                                 ucp_trace_submit_fn submit);
ucs_status_t ucp_trace_do_step(struct ucp_request *req);
ucs_status_t ucp_trace_do_bulk(struct ucp_ep *ep, struct ucp_bulk *bulk);
void         ucp_trace_do_change(struct ucp_request     *req,
                                 const struct ucp_proto *proto);

/* A request is handed to its endpoint. */
UCS_INLINE ucs_status_t ucp_trace_submit(struct ucp_ep      *ep,
                                         struct ucp_request *req,
                                         ucp_trace_submit_fn submit)
{
    return ucs_likely(ep->worker->trace == NULL)
               ? submit(ep, req)
               : ucp_trace_do_submit(ep, req, submit);
}

/* Another protocol takes a request over: its line ends and another begins, for
 * readers know the end of a line by its name. */
UCS_INLINE void ucp_trace_change(struct ucp_request     *req,
                                 const struct ucp_proto *proto)
{
    if (ucs_likely(req->worker->trace == NULL)) {
        req->send.proto = proto;
    } else {
        ucp_trace_do_change(req, proto);
    }
}

/* A protocol goes on with a request. */
UCS_INLINE ucs_status_t ucp_trace_step(struct ucp_request *req)
{
    return ucs_likely(req->worker->trace == NULL) ? req->send.proto->step(req)
                                                  : ucp_trace_do_step(req);
}

/* The same in the bulk queue. */
UCS_INLINE ucs_status_t ucp_trace_bulk(struct ucp_ep *ep, struct ucp_bulk *bulk)
{
    return ucs_likely(ep->worker->trace == NULL) ? bulk->step(bulk)
                                                 : ucp_trace_do_bulk(ep, bulk);
}

#endif
