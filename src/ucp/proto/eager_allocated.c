/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/eager_allocated.c - protocol 3, Eager Send (Allocated): the
 * message is packed into buffers of the transport.
 *
 *     S                                          R
 *     |==== MATCH{tag} + data =================>|     am_bcopy: fits one
 *
 *     |==== FIRST{tag, length, number} + data =>|     does not fit one
 *     |==== MORE{number, offset} + data =======>|     and is not to ask
 *     |==== ...                                 |
 *
 * Any datatype. The user's buffer is free when the last fragment is packed.
 * All fragments are ordered, so a receiver has at most one unfinished message
 * of each sender. The second form is used below a UCX_RNDV_THRESH that is set,
 * and up to 128 KiB over lanes that copy. */
#include "ucp/proto/eager.h"

#include "ucp/tag/recv.h"
#include "ucs/log.h"

struct allocated_state {
    uint64_t number;
};
_Static_assert(sizeof(struct allocated_state) <= UCP_PROTO_STATE_BYTES,
               "a protocol's state must fit the request's slot");

static struct allocated_state *allocated_state(struct ucp_request *req)
{
    return (struct allocated_state *)(void *)req->send.state;
}

enum {
    /* Over lanes that copy, without being told: what a receiver that does not
     * expect the message has to keep, against a rendezvous that is a fifth of
     * the time of 128 KiB in a stream (docs/perf/protocols.md). */
    ALLOCATED_COPIED_BYTES_MAX = 131072,
};

/* The largest message. A threshold that is set means: no asking below it,
 * however many fragments that takes. */
static size_t allocated_bytes_max(const struct ucp_query *query, size_t one)
{
    size_t max = SIZE_MAX;

    if (ucp_rndv_threshold(query) == UCS_UNITS_AUTO) {
        max = (query->lane->attr.flags & UCT_IFACE_ZCOPY_COPIES)
                  ? ucs_max(one, (size_t)ALLOCATED_COPIED_BYTES_MAX)
                  : one;
    }
    return ucs_min(max, ucp_eager_bytes_max(query));
}

static ucs_status_t allocated_offer(const struct ucp_query *query,
                                    struct ucp_offer       *offer_p)
{
    const struct uct_iface_attr *attr = &query->lane->attr;
    const size_t one    = attr->am.bcopy_bytes_max - UCP_WIRE_EAGER_BYTES;
    const double byte_s = ucp_am_byte_s(attr, 2);
    const double more_s =
        ucp_am_stream_byte_s(attr, 2) + 2 * attr->cost.overhead_s / (double)one;
    const double base_s = attr->cost.latency_s + 2 * attr->cost.overhead_s;
    size_t       max;

    if ((query->lane->transport->am_bcopy == NULL) ||
        (attr->am.bcopy_bytes_max <= UCP_WIRE_FIRST_BYTES)) {
        return ucp_offer_refuse(offer_p, "the message lane has no am_bcopy");
    }
    if (query->mode == UCP_MODE_SYNC) {
        return ucp_offer_refuse(offer_p, ucp_eager_sync_reason);
    }
    max              = allocated_bytes_max(query, one);
    offer_p->piece_s = ucp_pack_piece_s;
    if (ucp_offer_sizes(offer_p, 0, ucs_min(one, max),
                        ucs_linear(base_s, byte_s)) != UCS_OK) {
        return UCS_ERR_UNSUPPORTED;
    }
    if ((max > one) &&
        (ucsi_piecewise_set(&offer_p->cost, one + 1, max,
                            ucs_linear(base_s + (byte_s - more_s) * (double)one,
                                       more_s)) != UCS_OK)) {
        return UCS_ERR_UNSUPPORTED;
    }
    return ucp_eager_leave_zcopy(query, offer_p);
}

static size_t allocated_pack_whole(void *dest, void *arg)
{
    struct ucp_request *req = arg;

    ucs_put_le64(dest, req->send.tag);
    return UCP_WIRE_EAGER_BYTES +
           ucp_dt_iter_pack(&req->dt, (uint8_t *)dest + UCP_WIRE_EAGER_BYTES,
                            req->dt.length);
}

static size_t allocated_room(const struct ucp_request *req)
{
    return req->send.ep->config->lane.attr.am.bcopy_bytes_max;
}

static size_t allocated_pack_first(void *dest, void *arg)
{
    struct ucp_request   *req   = arg;
    struct ucp_wire_start start = {
        .tag    = req->send.tag,
        .length = req->dt.length,
        .id     = allocated_state(req)->number,
    };

    ucp_wire_start_encode(dest, &start);
    return UCP_WIRE_FIRST_BYTES +
           ucp_dt_iter_pack(&req->dt, (uint8_t *)dest + UCP_WIRE_FIRST_BYTES,
                            allocated_room(req) - UCP_WIRE_FIRST_BYTES);
}

static size_t allocated_pack_more(void *dest, void *arg)
{
    struct ucp_request   *req   = arg;
    struct ucp_wire_piece piece = {
        .id     = allocated_state(req)->number,
        .offset = req->dt.offset,
    };

    ucp_wire_piece_encode(dest, &piece);
    return UCP_WIRE_MORE_BYTES +
           ucp_dt_iter_pack(&req->dt, (uint8_t *)dest + UCP_WIRE_MORE_BYTES,
                            allocated_room(req) - UCP_WIRE_MORE_BYTES);
}

static ucs_status_t allocated_send(struct ucp_request *req, uint8_t am_id,
                                   uct_pack_fn pack, size_t header_bytes)
{
    size_t  length_max = ucs_min(header_bytes + req->dt.length - req->dt.offset,
                                 allocated_room(req));
    ssize_t packed =
        uct_ep_am_bcopy(req->send.ep->message_ep, am_id, pack, req, length_max,
                        UCT_FLAG_PENDING | UCT_FLAG_HEADER(header_bytes));

    return (packed < 0) ? (ucs_status_t)packed : UCS_OK;
}

static ucs_status_t allocated_step_fragments(struct ucp_request *req)
{
    struct allocated_state *state = allocated_state(req);
    ucs_status_t            status;

    if (req->dt.offset == 0) {
        state->number = req->send.ep->eager_number_next;
        status = allocated_send(req, UCP_AM_EAGER_FIRST, allocated_pack_first,
                                UCP_WIRE_FIRST_BYTES);
        if (status != UCS_OK) {
            return status;
        }
        ++req->send.ep->eager_number_next;
    }
    while (req->dt.offset < req->dt.length) {
        status = allocated_send(req, UCP_AM_EAGER_MORE, allocated_pack_more,
                                UCP_WIRE_MORE_BYTES);
        if (status != UCS_OK) {
            return status;
        }
    }
    return UCS_OK;
}

static ucs_status_t allocated_step(struct ucp_request *req)
{
    if (req->dt.length <= allocated_room(req) - UCP_WIRE_EAGER_BYTES) {
        return allocated_send(req, UCP_AM_EAGER, allocated_pack_whole,
                              UCP_WIRE_EAGER_BYTES);
    }
    return allocated_step_fragments(req);
}

/* A peer that does not keep to the protocol is no longer listened to. */
static ucs_status_t allocated_bad_message(struct ucp_worker *worker,
                                          struct ucp_ep *ep, const char *what)
{
    char text[128];

    ++worker->bad_ids;
    if (ep != NULL) {
        ucs_error("%s from %s: not as the protocol says, the connection is "
                  "closed; do both sides run the same version?",
                  what, ucp_ep_describe(ep, text, sizeof(text)));
        ucp_ep_fail(ep, UCS_ERR_IO_ERROR);
    }
    return UCS_OK;
}

static ucs_status_t allocated_receive_first(void              *arg,
                                            struct uct_source *source,
                                            void *data, size_t length,
                                            unsigned flags)
{
    struct ucp_worker_iface *wiface = arg;
    struct ucp_ep           *ep     = source->user;
    struct ucp_wire_start    start;
    struct ucp_arrival       arrival = {
              .worker   = wiface->worker,
              .iface    = wiface->iface,
              .ep       = ep,
              .data     = (const uint8_t *)data + UCP_WIRE_FIRST_BYTES,
              .base     = data,
              .am_flags = flags,
    };

    if ((ep == NULL) || !ucp_wire_start_decode(data, length, &start) ||
        (ep->eager.arrived < ep->eager.length)) {
        return allocated_bad_message(wiface->worker, ep, "EAGER_FIRST");
    }
    arrival.tag         = start.tag;
    arrival.length      = start.length;
    arrival.data_length = length - UCP_WIRE_FIRST_BYTES;
    ep->eager           = (struct ucp_eager_partial){
                  .number  = start.id,
                  .length  = start.length,
                  .arrived = arrival.data_length,
    };
    return ucp_tag_start_arrived(&arrival, UCP_UNEXPECTED_EAGER);
}

void ucp_eager_recv_start(struct ucp_request       *req,
                          const struct ucp_arrival *arrival)
{
    ucs_status_t status =
        ucp_tag_recv_begin(req, arrival->tag, arrival->length);

    if (status != UCS_OK) {
        req->recv.status = status; /* the rest is passed over */
    }
    if (ucp_tag_recv_piece(req, 0, arrival->data, arrival->data_length)) {
        ucp_tag_recv_end(req, req->recv.status);
        return;
    }
    req->recv.ep = arrival->ep;
    ucs_list_add_tail(&arrival->ep->receives, &req->recv.ep_link);
    arrival->ep->eager.recv = req;
}

static ucs_status_t allocated_receive_more(void *arg, struct uct_source *source,
                                           void *data, size_t length,
                                           unsigned flags)
{
    struct ucp_worker_iface  *wiface = arg;
    struct ucp_ep            *ep     = source->user;
    const uint8_t            *bytes  = data;
    struct ucp_eager_partial *partial;
    struct ucp_wire_piece     piece;
    struct ucp_request       *req;

    (void)flags;
    if ((ep == NULL) || !ucp_wire_piece_decode(data, length, &piece) ||
        (piece.id != ep->eager.number) || (piece.offset != ep->eager.arrived) ||
        (length - UCP_WIRE_MORE_BYTES > ep->eager.length - piece.offset)) {
        return allocated_bad_message(wiface->worker, ep, "EAGER_MORE");
    }
    partial = &ep->eager;
    length -= UCP_WIRE_MORE_BYTES;
    bytes += UCP_WIRE_MORE_BYTES;
    partial->arrived += length;
    if (partial->recv != NULL) {
        req = partial->recv;
        if (ucp_tag_recv_piece(req, piece.offset, bytes, length)) {
            partial->recv = NULL;
            ucp_tag_recv_end(req, req->recv.status);
        }
    } else if (partial->unexpected != NULL) {
        memcpy(partial->unexpected->data + piece.offset, bytes, length);
        partial->unexpected->data_length += length;
        if (partial->arrived == partial->length) {
            partial->unexpected = NULL;
        }
    }
    return UCS_OK;
}

static const struct ucp_handler allocated_handlers[] = {
    {UCP_AM_EAGER_FIRST, allocated_receive_first},
    {UCP_AM_EAGER_MORE, allocated_receive_more},
    {0, NULL},
};

const struct ucp_proto ucp_eager_allocated_proto = {
    .name     = "eager/allocated",
    .summary  = "packed into buffers of the transport",
    .setting  = "UCX_RNDV_THRESH",
    .offer    = allocated_offer,
    .step     = allocated_step,
    .abort    = ucp_eager_abort,
    .direct   = UCP_DIRECT_PACKED,
    .handlers = allocated_handlers,
};
