/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/trace_lane.c - between libucp and its transports, while a trace is
 * written.
 *
 *   protocol, fast path --> [traced transport] --> transport
 *   handler <-------------- [trace_receive]    <-- progress
 *
 * A traced transport is a copy of the transport's struct in which every
 * operation first notes the time, then does what the transport does. It can
 * what the transport can, so nothing above behaves differently, and no protocol
 * knows of it. */
#include "ucp/core/trace_lane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucp/core/trace.h"
#include "ucp/wireup/peer.h"

_Static_assert(sizeof(((struct ucp_trace_op *)NULL)->header) ==
                   (size_t)UCP_WIRE_ACK_BYTES,
               "the longest header must fit");

/* ------------------------------------------------------------ one message */

static uint64_t trace_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull; /* 2^64 / golden ratio */
    return hash ^ (hash >> 32);
}

/* A name of the message that both sides find: who sent it on which of its
 * endpoints, and its number, or its header if it may overtake. */
static uint64_t trace_message_id(uint64_t sender, uint64_t receiver,
                                 uint32_t index, const struct ucp_trace_op *op)
{
    uint64_t id = trace_mix(trace_mix(trace_mix(1, sender), receiver), index);

    if (op->message->flags & UCP_WIRE_IS_ORDERED) {
        return trace_mix(id, op->number) | 1;
    }
    for (size_t i = 0; i < op->header_bytes; ++i) {
        id = trace_mix(id, op->header[i]);
    }
    return trace_mix(id, op->event.bytes) | 1; /* never 0, which is none */
}

static void trace_header(struct ucp_trace_op *op, const void *bytes,
                         size_t length)
{
    size_t room = op->message->header_bytes - op->header_bytes;

    length = ucs_min(length, room);
    memcpy(op->header + op->header_bytes, bytes, length);
    op->header_bytes += length;
}

static void trace_message_init(struct ucp_trace_op *op, uint8_t am_id)
{
    op->message      = ucp_wire_message(am_id);
    op->event.name   = op->message->name;
    op->header_bytes = 0;
    ucs_assert(op->message->header_bytes <= UCP_TRACE_HEADER_BYTES);
}

/* Where its data begins. */
static size_t trace_data_start(const struct ucp_trace_op *op, size_t length)
{
    struct ucp_wire_rndv rndv;

    if ((op->message->flags & UCP_WIRE_HAS_HEAD) &&
        (op->header_bytes >= UCP_WIRE_RNDV_BYTES) &&
        ucp_wire_rndv_decode(op->header, length, &rndv)) {
        return op->header_bytes + rndv.head_length;
    }
    return op->header_bytes;
}

/* The header is known: what it says, and how much of length is data. */
static void trace_message_read(struct ucp_trace_op *op, size_t length)
{
    op->event.has_tag =
        (op->message->flags & UCP_WIRE_HAS_TAG) && (op->header_bytes >= 8);
    op->event.tag = op->event.has_tag ? ucs_get_le64(op->header) : 0;
    op->event.bytes =
        (op->message->flags & UCP_WIRE_IS_CONTROL)
            ? 0
            : length - ucs_min(length, trace_data_start(op, length));
}

/* ------------------------------------------------------------------- sends */

/* Whose message this is: the running step's; else that of the protocol with a
 * handler for it; else it went from the call itself, by the endpoint's table.
 */
static const char *trace_proto(const struct ucp_trace_op *op)
{
    const struct ucp_select_table *table =
        &op->ep->config->select[UCP_MODE_STANDARD][UCP_DT_CONTIG][0];

    if (op->trace->proto != NULL) {
        return op->trace->proto;
    }
    return (op->am_id == UCP_AM_EAGER)
               ? ucp_select_lookup(table, op->event.bytes)->name
               : op->iface->handlers[op->am_id].proto;
}

void ucp_trace_op_begin(struct ucp_trace_op *op, struct uct_ep *lane,
                        const char *name)
{
    op->iface = (const struct ucp_trace_iface *)(const void *)lane->transport;
    op->real  = op->iface->real;
    op->ep    = lane->user;
    op->trace = op->ep->worker->trace;
    op->event = (struct ucp_trace_event){
        .kind     = UCP_TRACE_REMOTE,
        .name     = name,
        .op       = name,
        .proto    = op->trace->proto,
        .lane     = op->iface->name,
        .row      = ucp_trace_row_of(op->trace, op->ep)->row,
        .begin_ns = ucsi_clock_ns(),
    };
}

void ucp_trace_op_end(struct ucp_trace_op *op, ucs_status_t status)
{
    op->event.end_ns = ucsi_clock_ns();
    op->event.status = status;
    if (!UCS_STATUS_IS_ERR(status)) {
        op->trace->step_bytes += op->event.bytes;
    } else {
        op->event.bytes = 0;
    }
    ucp_trace_record(op->trace, &op->event);
}

static void trace_send_begin(struct ucp_trace_op *op, struct uct_ep *lane,
                             uint8_t am_id, const char *name)
{
    ucp_trace_op_begin(op, lane, name);
    trace_message_init(op, am_id);
    op->event.kind = UCP_TRACE_SEND;
    op->am_id      = am_id;
    if (op->message->flags & UCP_WIRE_IS_ORDERED) {
        /* now: the handler may run inside the call, and send itself */
        op->number = ucp_trace_row_of(op->trace, op->ep)->sent++;
    }
}

/* @param length  With the header. */
static void trace_send_end(struct ucp_trace_op *op, size_t length,
                           ucs_status_t status)
{
    const struct ucp_ep *ep = op->ep;

    if (UCS_STATUS_IS_ERR(status) &&
        (op->message->flags & UCP_WIRE_IS_ORDERED)) {
        --ucp_trace_row_of(op->trace, ep)->sent;
    }
    trace_message_read(op, length);
    op->event.proto = trace_proto(op);
    if (op->header_bytes > 0) {
        op->event.id =
            trace_message_id(ep->worker->id, ep->peer->id, ep->index, op);
    }
    ucp_trace_op_end(op, status);
}

static ucs_status_t trace_am_short(struct uct_ep *lane, uint8_t am_id,
                                   uint64_t header, const void *payload,
                                   size_t length, unsigned flags)
{
    struct ucp_trace_op op;
    ucs_status_t        status;

    trace_send_begin(&op, lane, am_id, "am_short");
    trace_header(&op, &header, sizeof(header));
    if (length > 0) {
        trace_header(&op, payload, length);
    }
    status = op.real->am_short(lane, am_id, header, payload, length, flags);
    trace_send_end(&op, sizeof(header) + length, status);
    return status;
}

/* The caller's pack function, and a look at what it wrote. */
struct trace_pack {
    struct ucp_trace_op *op;
    uct_pack_fn          pack;
    void                *arg;
};

static size_t trace_pack(void *dest, void *arg)
{
    const struct trace_pack *pack   = arg;
    size_t                   length = pack->pack(dest, pack->arg);

    trace_header(pack->op, dest, length);
    return length;
}

static ssize_t trace_am_bcopy(struct uct_ep *lane, uint8_t am_id,
                              uct_pack_fn pack, void *arg, size_t length_max,
                              unsigned flags)
{
    struct ucp_trace_op op;
    struct trace_pack   seen = {.op = &op, .pack = pack, .arg = arg};
    ssize_t             packed;

    trace_send_begin(&op, lane, am_id, "am_bcopy");
    packed =
        op.real->am_bcopy(lane, am_id, trace_pack, &seen, length_max, flags);
    trace_send_end(&op, (packed < 0) ? 0 : (size_t)packed,
                   (packed < 0) ? (ucs_status_t)packed : UCS_OK);
    return packed;
}

size_t ucp_trace_iov_bytes(const struct uct_iov *iov, unsigned count)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < count; ++i) {
        bytes += iov[i].length;
    }
    return bytes;
}

static ucs_status_t trace_am_zcopy(struct uct_ep *lane, uint8_t am_id,
                                   const void *header, size_t header_length,
                                   const struct uct_iov *iov,
                                   unsigned iov_count, struct uct_req *req,
                                   unsigned flags)
{
    size_t length = header_length + ucp_trace_iov_bytes(iov, iov_count);
    struct ucp_trace_flight *flight;
    struct ucp_trace_op      op;
    ucs_status_t             status;

    trace_send_begin(&op, lane, am_id, "am_zcopy");
    trace_header(&op, header, header_length);
    req    = ucp_trace_flight_get(&op, req, &flight);
    status = op.real->am_zcopy(lane, am_id, header, header_length, iov,
                               iov_count, req, flags);
    trace_send_end(&op, length, status);
    ucp_trace_flight_leave(&op, flight, status);
    return status;
}

/* -------------------------------------------------------------- receiving */

/* Which message it is: the peer numbered it, too. */
static void trace_receive_number(struct ucp_trace_op *op)
{
    const struct ucp_ep *ep = op->ep;
    bool is_loop = ep->options.no_loopback && (ep->peer->id == ep->worker->id);

    if (op->message->flags & UCP_WIRE_IS_ORDERED) {
        op->number = ucp_trace_row_of(op->trace, ep)->received++;
    }
    if (op->header_bytes > 0) {
        op->event.id = trace_message_id(ep->peer->id, ep->worker->id,
                                        ep->index ^ is_loop, op);
    }
}

static ucs_status_t trace_receive(void *arg, struct uct_source *source,
                                  void *data, size_t length, unsigned flags)
{
    const struct ucp_trace_handler *handler = arg;
    const char                     *outer   = handler->trace->proto;
    struct ucp_trace_op             op      = {
                         .trace = handler->trace,
                         .ep    = source->user,
                         .event = {.kind     = UCP_TRACE_RECEIVE,
                                   .proto    = handler->proto,
                                   .begin_ns = ucsi_clock_ns()},
    };

    trace_message_init(&op, handler->am_id);
    trace_header(&op, data, length);
    trace_message_read(&op, length);
    if (op.ep != NULL) {
        trace_receive_number(&op);
    }
    op.event.row    = ucp_trace_row_of(op.trace, op.ep)->row;
    op.trace->proto = NULL; /* what the handler sends is no step */
    op.event.status = handler->fn(handler->arg, source, data, length, flags);
    op.trace->proto = outer;
    op.event.end_ns = ucsi_clock_ns();
    if (op.event.status == UCS_INPROGRESS) {
        op.event.op = "kept"; /* the transport's buffer, for later */
    }
    op.event.status = UCS_OK;
    ucp_trace_record(op.trace, &op.event);
    return (op.event.op == NULL) ? UCS_OK : UCS_INPROGRESS;
}

/* ----------------------------------------------------------------- wrapping */

/* What the transport cannot, the traced one cannot. */
static void trace_messages_init(struct uct_transport       *traced,
                                const struct uct_transport *real)
{
    *traced          = *real;
    traced->am_short = (real->am_short == NULL) ? NULL : trace_am_short;
    traced->am_bcopy = (real->am_bcopy == NULL) ? NULL : trace_am_bcopy;
    traced->am_zcopy = (real->am_zcopy == NULL) ? NULL : trace_am_zcopy;
}

static const char *trace_handler_proto(uint8_t am_id)
{
    for (const struct ucp_proto *const *proto = ucp_protos; *proto != NULL;
         ++proto) {
        const struct ucp_handler *handler = (*proto)->handlers;

        for (; (handler != NULL) && (handler->fn != NULL); ++handler) {
            if ((handler->am_id == am_id) && (am_id != UCP_AM_EAGER)) {
                return (*proto)->name;
            }
        }
    }
    return NULL; /* or that of all eager protocols: the message says less */
}

void ucp_trace_iface(struct ucp_worker_iface *wiface)
{
    struct ucp_trace       *trace = wiface->worker->trace;
    struct ucp_trace_iface *iface;

    if (trace == NULL) {
        return;
    }
    iface = calloc(1, sizeof(*iface));
    if (iface == NULL) {
        return;
    }
    iface->iface = wiface->iface;
    iface->real  = wiface->iface->transport;
    (void)snprintf(iface->name, sizeof(iface->name), "%s/%s", iface->real->name,
                   wiface->iface->md->device.name);
    trace_messages_init(&iface->traced, iface->real);
    ucp_trace_remote_init(&iface->traced, iface->real);
    for (unsigned id = 0; id < UCT_AM_ID_COUNT; ++id) {
        const struct uct_am_entry *entry = &wiface->iface->am[id];

        iface->handlers[id] = (struct ucp_trace_handler){
            .trace = trace,
            .fn    = entry->fn,
            .arg   = entry->arg,
            .proto = trace_handler_proto((uint8_t)id),
            .am_id = (uint8_t)id,
        };
        ucti_iface_set_am(wiface->iface, (uint8_t)id, trace_receive,
                          &iface->handlers[id]);
    }
    trace->ifaces[trace->iface_count++] = iface;
}

void ucp_trace_lane(struct ucp_trace *trace, struct uct_ep *lane)
{
    for (unsigned i = 0; i < trace->iface_count; ++i) {
        if (trace->ifaces[i]->iface == lane->iface) {
            lane->transport = &trace->ifaces[i]->traced;
        }
    }
}

void ucp_trace_ifaces_free(struct ucp_trace *trace)
{
    while (trace->iface_count > 0) {
        free(trace->ifaces[--trace->iface_count]);
    }
}
