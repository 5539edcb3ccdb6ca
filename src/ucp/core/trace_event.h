/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/trace_event.h - the trace of one worker, inside: what trace.c and
 * trace_lane.c write down, and trace_file.c writes out. */
#ifndef UCP_CORE_TRACE_EVENT_H_
#define UCP_CORE_TRACE_EVENT_H_

#include <stdatomic.h>

#include "ucp/core/worker.h"
#include "ucs/clock.h"

enum ucp_trace_limit {
    UCP_TRACE_EVENT_COUNT_MAX = 8192, /* then they are written out: guess */
    UCP_TRACE_FLIGHT_COUNT    = 256,  /* more at a time go unseen: guess */
};

enum ucp_trace_kind {
    UCP_TRACE_STEP,    /* a protocol's step() */
    UCP_TRACE_SEND,    /* a message goes out */
    UCP_TRACE_RECEIVE, /* a message's handler */
    UCP_TRACE_REMOTE,  /* put, get, atomic, flush */
    UCP_TRACE_BEGIN,   /* a request is handed in; begin_ns only */
    UCP_TRACE_END,     /* it is complete */
    UCP_TRACE_LEAVE,   /* a transport goes on alone; begin_ns only */
    UCP_TRACE_LAND,    /* its operation is complete */
    UCP_TRACE_WRITE,   /* the trace itself was written out */
};

/* id      SEND, RECEIVE: the same on both sides, 0: none;
 *         BEGIN, END: of the request; LEAVE, LAND: of the flight
 * bytes   of the user's data
 * name    of the message, the operation
 * proto   whose step or message it is, NULL: nobody's
 * op      SEND: the transport's operation
 * lane    the transport
 * status  what the operation answered
 * row     of the picture */
struct ucp_trace_event {
    uint64_t            begin_ns;
    uint64_t            end_ns;
    uint64_t            id;
    uint64_t            bytes;
    uint64_t            tag;
    const char         *name;
    const char         *proto;
    const char         *op;
    const char         *lane;
    uint32_t            row;
    ucs_status_t        status;
    enum ucp_trace_kind kind;
    bool                has_tag;
};

/* One endpoint, or (the first) the worker itself.
 * row       its number in the file
 * sent      ordered messages so far
 * received  likewise */
struct ucp_trace_row {
    uint32_t row;
    uint64_t sent;
    uint64_t received;
};

struct ucp_trace_iface;
struct ucp_trace_flight;
struct ucp_trace_counts;

/* link        in the file's list
 * counts      sums for UCX_STATS_DEST, NULL: none
 * count       events written down; WRITTEN: release, pairs with the acquire of
 *             whoever writes out at exit
 * done_count  of them, written out
 * events      [UCP_TRACE_EVENT_COUNT_MAX]; NULL: no file is written
 * rows        [row_count]; ep->trace_row is an index
 * proto       whose step runs, NULL: none
 * step_bytes  that it has sent
 * flights     [UCP_TRACE_FLIGHT_COUNT]; flight_free: list of those not used */
struct ucp_trace {
    struct ucs_list          link;
    struct ucp_worker       *worker;
    struct ucp_trace_counts *counts;
    _Atomic unsigned         count;
    unsigned                 done_count;
    struct ucp_trace_event  *events;
    struct ucp_trace_row    *rows;
    unsigned                 row_count;
    unsigned                 iface_count;
    struct ucp_trace_iface  *ifaces[UCP_DEVICE_COUNT_MAX];
    const char              *proto;
    uint64_t                 step_bytes;
    struct ucp_trace_flight *flights;
    struct ucp_trace_flight *flight_free;
};

/* Write one event down. */
void ucp_trace_record(struct ucp_trace             *trace,
                      const struct ucp_trace_event *event);

/* The row of an endpoint; the worker's for NULL. */
static inline struct ucp_trace_row *ucp_trace_row_of(struct ucp_trace    *trace,
                                                     const struct ucp_ep *ep)
{
    return &trace->rows[(ep == NULL) ? 0 : ep->trace_row];
}

/* In trace_count.c. @return false: no memory. */
bool ucp_trace_counts_init(struct ucp_trace *trace);
void ucp_trace_counts_cleanup(struct ucp_trace *trace);
void ucp_trace_count(struct ucp_trace_counts      *counts,
                     const struct ucp_trace_event *event);

/* In trace_flight.c. @return false: no memory. */
bool ucp_trace_flights_init(struct ucp_trace *trace);

/* In trace_lane.c: stand between an endpoint and its lane; and the end. */
void ucp_trace_lane(struct ucp_trace *trace, struct uct_ep *lane);
void ucp_trace_ifaces_free(struct ucp_trace *trace);

#endif
