/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/trace_flight.c - operations that a transport goes on with after the
 * call: from there to their completion, while a trace is written. */
#include "ucp/core/trace_lane.h"

#include <stdlib.h>

/* base   what the transport has
 * real   whose completion this is
 * event  its end, once it is there
 * next   in trace->flight_free */
struct ucp_trace_flight {
    struct uct_req           base;
    struct uct_req          *real;
    struct ucp_trace        *trace;
    struct ucp_trace_event   event;
    struct ucp_trace_flight *next;
};

static void flight_put(struct ucp_trace_flight *flight)
{
    flight->next               = flight->trace->flight_free;
    flight->trace->flight_free = flight;
}

bool ucp_trace_flights_init(struct ucp_trace *trace)
{
    trace->flights = calloc(UCP_TRACE_FLIGHT_COUNT, sizeof(*trace->flights));
    for (unsigned i = 0;
         (trace->flights != NULL) && (i < UCP_TRACE_FLIGHT_COUNT); ++i) {
        trace->flights[i].trace = trace;
        flight_put(&trace->flights[i]);
    }
    return trace->flights != NULL;
}

static void flight_land(struct uct_req *self)
{
    struct ucp_trace_flight *flight =
        ucs_container_of(self, struct ucp_trace_flight, base);
    struct uct_req *real = flight->real;

    real->status           = self->status;
    flight->event.begin_ns = ucsi_clock_ns();
    flight->event.status   = self->status;
    ucp_trace_record(flight->trace, &flight->event);
    flight_put(flight);
    real->cb(real);
}

struct uct_req *ucp_trace_flight_get(struct ucp_trace_op      *op,
                                     struct uct_req           *req,
                                     struct ucp_trace_flight **flight_p)
{
    struct ucp_trace_flight *flight =
        (req == NULL) ? NULL : op->trace->flight_free;

    *flight_p = flight;
    if (flight == NULL) {
        return req;
    }
    op->trace->flight_free = flight->next;
    flight->base.cb        = flight_land;
    flight->real           = req;
    return &flight->base;
}

void ucp_trace_flight_leave(const struct ucp_trace_op *op,
                            struct ucp_trace_flight   *flight,
                            ucs_status_t               status)
{
    struct ucp_trace_event event = op->event;

    if (flight == NULL) {
        return;
    }
    if (status != UCS_INPROGRESS) {
        flight_put(flight);
        return;
    }
    event.kind         = UCP_TRACE_LEAVE;
    event.id           = (uintptr_t)flight;
    event.status       = UCS_OK;
    flight->event      = event;
    flight->event.kind = UCP_TRACE_LAND;
    ucp_trace_record(op->trace, &event);
}
