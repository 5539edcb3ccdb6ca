/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/trace.c - the trace of one worker: its rows, its requests. */
#include "ucp/core/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "ucp/core/trace_file.h"
#include "ucp/wireup/peer.h"
#include "ucs/log.h"

/* A row for an endpoint or the worker; 0, the worker's, when memory is short.
 */
static uint32_t trace_add_row(struct ucp_trace *trace, const char *name)
{
    struct ucp_trace_row *rows =
        realloc(trace->rows, (trace->row_count + 1) * sizeof(*rows));

    if (rows == NULL) {
        return 0;
    }
    trace->rows                   = rows;
    trace->rows[trace->row_count] = (struct ucp_trace_row){
        .row = (trace->events == NULL) ? 0 : ucp_trace_file_row(name)};
    return trace->row_count++;
}

static void trace_free(struct ucp_trace *trace)
{
    ucp_trace_counts_cleanup(trace);
    ucp_trace_ifaces_free(trace);
    free(trace->flights);
    free(trace->rows);
    free(trace->events);
    free(trace);
}

static void trace_destroy(struct ucp_trace *trace)
{
    if (trace->events != NULL) {
        ucp_trace_file_leave(trace);
    }
    trace_free(trace);
}

/* Have events written to a file. */
static void trace_join_file(struct ucp_trace *trace, const char *pattern)
{
    if ((*pattern == '\0') || getauxval(AT_SECURE)) {
        return; /* nor may who starts a set-uid program name files */
    }
    trace->events = calloc(UCP_TRACE_EVENT_COUNT_MAX, sizeof(*trace->events));
    if ((trace->events != NULL) && !ucp_trace_file_join(trace, pattern)) {
        free(trace->events);
        trace->events = NULL;
    }
}

void ucp_trace_open(struct ucp_worker *worker)
{
    const struct ucp_context *context = worker->context;
    struct ucp_trace         *trace;
    char                      name[128];

    if ((*context->config.trace_file == '\0') && !context->is_counted) {
        return;
    }
    trace = calloc(1, sizeof(*trace));
    if (trace == NULL) {
        return;
    }
    trace->worker = worker;
    trace_join_file(trace, context->config.trace_file);
    if (((trace->events == NULL) && !context->is_counted) ||
        !ucp_trace_flights_init(trace) ||
        (context->is_counted && !ucp_trace_counts_init(trace))) {
        trace_destroy(trace);
        return;
    }
    (void)snprintf(name, sizeof(name), "worker '%s' (%016lx)",
                   worker->options.name, (unsigned long)worker->id);
    (void)trace_add_row(trace, name);
    if (trace->rows == NULL) {
        trace_destroy(trace);
        return;
    }
    worker->trace = trace;
}

void ucp_trace_close(struct ucp_worker *worker)
{
    if (worker->trace != NULL) {
        trace_destroy(worker->trace);
        worker->trace = NULL;
    }
}

void ucp_trace_ep(struct ucp_ep *ep)
{
    struct ucp_trace *trace = ep->worker->trace;
    char              name[128];

    if (trace == NULL) {
        return;
    }
    ep->trace_row =
        trace_add_row(trace, ucp_ep_describe(ep, name, sizeof(name)));
    for (unsigned i = 0; i < ucp_ep_lane_count(ep); ++i) {
        if (ep->lanes[i].uct_ep != NULL) {
            ucp_trace_lane(trace, ep->lanes[i].uct_ep);
        }
    }
}

/* The array is full: empty it, and say how long that took. */
static UCS_NOINLINE void trace_write_out(struct ucp_trace *trace)
{
    struct ucp_trace_event event = {
        .kind     = UCP_TRACE_WRITE,
        .name     = "trace written out",
        .begin_ns = ucsi_clock_ns(),
        .row      = trace->rows[0].row,
    };

    ucp_trace_file_write(trace);
    event.end_ns     = ucsi_clock_ns();
    trace->events[0] = event;
    atomic_store_explicit(&trace->count, 1, memory_order_release);
}

void ucp_trace_record(struct ucp_trace             *trace,
                      const struct ucp_trace_event *event)
{
    unsigned count = atomic_load_explicit(&trace->count, memory_order_relaxed);

    if (trace->counts != NULL) {
        ucp_trace_count(trace->counts, event);
    }
    if (trace->events == NULL) {
        return;
    }
    trace->events[count] = *event;
    /* WRITTEN: release, pairs with file_put_events() at exit. */
    atomic_store_explicit(&trace->count, count + 1, memory_order_release);
    if (ucs_unlikely(count + 1 == UCP_TRACE_EVENT_COUNT_MAX)) {
        trace_write_out(trace);
    }
}

/* A step of a protocol, of a request or in the bulk queue: one is NULL. */
static ucs_status_t trace_step(struct ucp_ep *ep, const char *name,
                               struct ucp_request *req, struct ucp_bulk *bulk)
{
    struct ucp_trace      *trace = ep->worker->trace;
    struct ucp_trace_event event = {
        .kind     = UCP_TRACE_STEP,
        .name     = name,
        .proto    = name,
        .row      = ucp_trace_row_of(trace, ep)->row,
        .begin_ns = ucsi_clock_ns(),
    };
    const char *outer_proto = trace->proto;
    uint64_t    outer_bytes = trace->step_bytes;

    trace->proto      = event.proto;
    trace->step_bytes = 0;
    event.status =
        (req != NULL) ? req->send.proto->step(req) : bulk->step(bulk);
    /* It may be gone, if it went to ourselves. */
    event.end_ns      = ucsi_clock_ns();
    event.bytes       = trace->step_bytes;
    trace->proto      = outer_proto;
    trace->step_bytes = outer_bytes;
    ucp_trace_record(trace, &event);
    return event.status;
}

ucs_status_t ucp_trace_do_step(struct ucp_request *req)
{
    return trace_step(req->send.ep, req->send.proto->name, req, NULL);
}

ucs_status_t ucp_trace_do_bulk(struct ucp_ep *ep, struct ucp_bulk *bulk)
{
    return trace_step(ep, bulk->name, NULL, bulk);
}

static void trace_record_end(struct ucp_trace *trace, struct ucp_request *req,
                             ucs_status_t status)
{
    struct ucp_trace_event event = {
        .kind     = UCP_TRACE_END,
        .name     = req->send.proto->name,
        .row      = ucp_trace_row_of(trace, req->send.ep)->row,
        .id       = (uintptr_t)req,
        .begin_ns = ucsi_clock_ns(),
        .status   = status,
    };

    req->flags &= ~(uint32_t)UCP_REQUEST_TRACED;
    ucp_trace_record(trace, &event);
}

static void trace_record_begin(struct ucp_trace *trace, struct ucp_request *req)
{
    bool                   is_message = (req->send.proto->offer != NULL);
    struct ucp_trace_event event      = {
             .kind     = UCP_TRACE_BEGIN,
             .name     = req->send.proto->name,
             .row      = ucp_trace_row_of(trace, req->send.ep)->row,
             .id       = (uintptr_t)req,
             .begin_ns = ucsi_clock_ns(),
             .bytes    = is_message ? req->dt.length : 0,
             .tag      = is_message ? req->send.tag : 0,
             .has_tag  = is_message,
    };

    req->flags |= UCP_REQUEST_TRACED;
    ucp_trace_record(trace, &event);
}

ucs_status_t ucp_trace_do_submit(struct ucp_ep *ep, struct ucp_request *req,
                                 ucp_trace_submit_fn submit)
{
    struct ucp_trace *trace = ep->worker->trace;
    ucs_status_t      status;

    trace_record_begin(trace, req);
    status = submit(ep, req);
    if (status != UCS_INPROGRESS) {
        trace_record_end(trace, req, status);
    }
    return status;
}

void ucp_trace_do_change(struct ucp_request *req, const struct ucp_proto *proto)
{
    trace_record_end(req->worker->trace, req, UCS_ERR_UNSUPPORTED);
    req->send.proto = proto;
    trace_record_begin(req->worker->trace, req);
}

void ucp_trace_request_end(struct ucp_request *req, ucs_status_t status)
{
    if (req->worker->trace != NULL) {
        trace_record_end(req->worker->trace, req, status);
    }
}
