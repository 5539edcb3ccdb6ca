/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/trace_lane.h - one traced operation, from its begin to its end; for
 * trace_lane.c (messages) and trace_remote.c (remote memory). */
#ifndef UCP_CORE_TRACE_LANE_H_
#define UCP_CORE_TRACE_LANE_H_

#include "ucp/core/trace_event.h"
#include "ucp/proto/wire_names.h"

enum { UCP_TRACE_HEADER_BYTES = 40 }; /* of the longest header: PUT */

/* A handler, wrapped.
 * proto  which protocol it belongs to, NULL: none */
struct ucp_trace_handler {
    struct ucp_trace *trace;
    uct_am_fn         fn;
    void             *arg;
    const char       *proto;
    uint8_t           am_id;
};

/* traced  what endpoints of the interface have instead of real
 * name    transport and device */
struct ucp_trace_iface {
    struct uct_transport        traced;
    const struct uct_transport *real;
    struct uct_iface           *iface;
    char                        name[2 * UCT_NAME_BYTES_MAX];
    struct ucp_trace_handler    handlers[UCT_AM_ID_COUNT];
};

/* One operation on its way.
 * row      ordered messages are counted there; rows may move meanwhile
 * number   of an ordered message */
struct ucp_trace_op {
    struct ucp_trace              *trace;
    struct ucp_ep                 *ep;
    const struct ucp_trace_iface  *iface;
    const struct uct_transport    *real;
    const struct ucp_wire_message *message;
    struct ucp_trace_event         event;
    uint64_t                       number;
    uint8_t                        am_id;
    size_t                         header_bytes;
    uint8_t                        header[UCP_TRACE_HEADER_BYTES];
};

/* An operation begins.
 * @param name  Of the operation, static. */
void ucp_trace_op_begin(struct ucp_trace_op *op, struct uct_ep *lane,
                        const char *name);

/* It has answered; event.bytes is set. */
void ucp_trace_op_end(struct ucp_trace_op *op, ucs_status_t status);

/* The bytes of all pieces. */
size_t ucp_trace_iov_bytes(const struct uct_iov *iov, unsigned count);

/* See a completion first: what to pass to the transport instead of req.
 * @param flight_p  For ucp_trace_flight_leave(); NULL when req is NULL, or too
 *                  many are in progress: then this one is not seen. */
struct uct_req *ucp_trace_flight_get(struct ucp_trace_op      *op,
                                     struct uct_req           *req,
                                     struct ucp_trace_flight **flight_p);

/* The transport has answered. */
void ucp_trace_flight_leave(const struct ucp_trace_op *op,
                            struct ucp_trace_flight   *flight,
                            ucs_status_t               status);

/* Put the operations on remote memory of a traced transport in place. */
void ucp_trace_remote_init(struct uct_transport       *traced,
                           const struct uct_transport *real);

#endif
