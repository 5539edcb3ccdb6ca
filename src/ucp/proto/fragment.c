/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/fragment.c - ACK and FRAG, both ends. */
#include "ucp/proto/fragment.h"

#include "ucp/core/worker.h"
#include "ucp/proto/rdma.h"
#include "ucp/proto/wire.h"
#include "ucp/tag/recv.h"

/* ---- the sender ---- */

static size_t fragment_pack(void *dest, void *arg)
{
    struct ucp_rndv      *rndv  = arg;
    struct ucp_request   *req   = rndv->req;
    struct ucp_wire_piece piece = {.id     = rndv->peer_id,
                                   .offset = rndv->granted.offset};
    size_t room = rndv->ep->config->lane.attr.am.bcopy_bytes_max -
                  UCP_WIRE_FRAG_BYTES;
    size_t length;

    ucp_wire_piece_encode(dest, &piece);
    room   = ucs_min(room, rndv->granted.end - rndv->granted.offset);
    length = ucp_dt_iter_pack(&req->dt, (uint8_t *)dest + UCP_WIRE_FRAG_BYTES,
                              room);
    rndv->granted.offset += length;
    ucp_worker_count(req->worker, UCP_COUNT_FRAGMENT_OUT, length);
    return UCP_WIRE_FRAG_BYTES + length;
}

static ucs_status_t fragment_send_bcopy(struct ucp_rndv *rndv)
{
    size_t  rest       = rndv->granted.end - rndv->granted.offset;
    size_t  length_max = ucs_min(UCP_WIRE_FRAG_BYTES + rest,
                                 rndv->ep->config->lane.attr.am.bcopy_bytes_max);
    ssize_t packed     = uct_ep_am_bcopy(rndv->ep->message_ep, UCP_AM_FRAG,
                                         fragment_pack, rndv, length_max,
                                         UCT_FLAG_PENDING | UCT_FLAG_ANY_ORDER |
                                             UCT_FLAG_HEADER(UCP_WIRE_FRAG_BYTES));

    return (packed < 0) ? (ucs_status_t)packed : UCS_OK;
}

static void fragment_done(struct uct_req *self)
{
    struct ucp_piece *piece  = ucs_container_of(self, struct ucp_piece, base);
    struct ucp_rndv  *rndv   = piece->rndv;
    ucs_status_t      status = self->status;

    ucs_mpool_put(piece);
    if ((status != UCS_OK) && !ucp_rndv_is_over(rndv)) {
        ucp_rndv_abort(rndv, status);
    }
    ucp_rndv_put(rndv);
}

/* Send one from the buffer. */
static ucs_status_t fragment_send_zcopy(struct ucp_rndv *rndv)
{
    struct ucp_ep               *ep   = rndv->ep;
    const struct uct_iface_attr *attr = &ep->config->lane.attr;
    struct ucp_wire_piece        wire = {.id     = rndv->peer_id,
                                         .offset = rndv->granted.offset};
    struct ucp_dt_iter           iter = rndv->req->dt;
    struct uct_iov               iov[UCP_IOV_COUNT_MAX];
    unsigned     count = ucs_min((unsigned)UCP_IOV_COUNT_MAX,
                                 attr->am.iov_count_max);
    uint8_t      header[UCP_WIRE_FRAG_BYTES];
    size_t       room  = attr->am.zcopy_bytes_max - UCP_WIRE_FRAG_BYTES;
    struct ucp_piece *piece = ucs_mpool_get(&ep->worker->pieces);
    ucs_status_t      status;

    if (piece == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    room = ucs_min(room, rndv->granted.end - rndv->granted.offset);
    (void)ucp_dt_iter_pieces(&iter, room, iov, &count);
    ucp_wire_piece_encode(header, &wire);
    piece->rndv    = rndv;
    piece->base.cb = fragment_done;
    ucp_rndv_get(rndv);
    status = uct_ep_am_zcopy(ep->message_ep, UCP_AM_FRAG, header,
                             sizeof(header), iov, count, &piece->base,
                             UCT_FLAG_PENDING | UCT_FLAG_ANY_ORDER);
    if (status != UCS_INPROGRESS) {
        --rndv->in_flight; /* not the last one: the step holds another */
        ucs_mpool_put(piece);
    }
    if ((status == UCS_OK) || (status == UCS_INPROGRESS)) {
        ucp_worker_count(ep->worker, UCP_COUNT_FRAGMENT_OUT,
                         iter.offset - rndv->granted.offset);
        rndv->req->dt        = iter;
        rndv->granted.offset = iter.offset;
        status               = UCS_OK;
    }
    return status;
}

static bool fragment_uses_zcopy(const struct ucp_rndv *rndv)
{
    const struct ucp_lane_model *lane = &rndv->ep->config->lane;
    size_t rest = rndv->granted.end - rndv->granted.offset;

    return (lane->transport->am_zcopy != NULL) &&
           ucp_dt_iter_is_coarse(&rndv->req->dt,
                                 ucs_min((unsigned)UCP_IOV_COUNT_MAX,
                                         lane->attr.am.iov_count_max)) &&
           (lane->attr.am_zcopy_header_bytes_max >= UCP_WIRE_FRAG_BYTES) &&
           (lane->attr.am.zcopy_bytes_max > UCP_WIRE_FRAG_BYTES) &&
           (rest >= rndv->ep->config->zcopy_bytes_min);
}

static bool fragment_is_granted(const struct ucp_rndv *rndv)
{
    return rndv->granted.offset < rndv->granted.end;
}

ucs_status_t ucp_fragment_step(struct ucp_rndv *rndv)
{
    ucs_status_t status;

    if (!fragment_is_granted(rndv)) {
        return UCS_OK;
    }
    status = fragment_uses_zcopy(rndv) ? fragment_send_zcopy(rndv) :
                                         fragment_send_bcopy(rndv);
    if (status == UCS_OK) {
        return fragment_is_granted(rndv) ? UCP_STEP_TURN_DONE : UCS_OK;
    }
    if (status != UCS_ERR_WOULD_BLOCK) {
        ucp_rndv_give_up(rndv, status);
    }
    return status;
}

/* May the receiver ask for that range? */
static bool fragment_may_ask(const struct ucp_rndv     *rndv,
                             const struct ucp_wire_ack *ack)
{
    size_t length = rndv->req->dt.length;

    if (ack->length == 0) {
        return (rndv->unclaimed == 0) && !(rndv->flags & UCP_RNDV_MATCHED) &&
               (ack->offset == length);
    }
    if ((ack->receiver_id == 0) ||
        ((rndv->peer_id != 0) && (rndv->peer_id != ack->receiver_id)) ||
        (ack->length > rndv->unclaimed) || (ack->offset > length) ||
        (ack->length > length - ack->offset)) {
        return false;
    }
    return (ack->offset == rndv->granted.end) ||
           ((rndv->kind != UCP_RNDV_SEND) && !fragment_is_granted(rndv));
}

static void fragment_grant(struct ucp_rndv           *rndv,
                           const struct ucp_wire_ack *ack)
{
    if (ack->offset != rndv->granted.end) {
        rndv->granted.offset  = ack->offset;
        rndv->req->dt.offset = ack->offset;
    }
    rndv->granted.end = ack->offset + ack->length;
    rndv->peer_id     = ack->receiver_id;
    rndv->unclaimed -= ack->length;
    if ((rndv->kind == UCP_RNDV_PUT) || (rndv->kind == UCP_RNDV_GET)) {
        rndv->bulk.name = ucp_pipeline_send_proto.name; /* R fell back */
    }
    ucp_rndv_submit(rndv);
}

static ucs_status_t fragment_receive_ack(void *arg, struct uct_source *source,
                                         void *data, size_t length,
                                         unsigned flags)
{
    struct ucp_worker  *worker = ((struct ucp_worker_iface *)arg)->worker;
    struct ucp_rndv    *rndv;
    struct ucp_wire_ack ack;

    (void)flags;
    if (!ucp_wire_ack_decode(data, length, &ack)) {
        ++worker->bad_ids;
        return UCS_OK;
    }
    rndv = ucp_rndv_answered(worker, source->user, ack.sender_id);
    if (rndv == NULL) {
        return UCS_OK;
    }
    if (!fragment_may_ask(rndv, &ack)) {
        ++worker->bad_ids; /* not what we sent */
        return UCS_OK;
    }
    ucp_rndv_get(rndv);
    ucp_rndv_match(rndv);
    if (ack.flags & UCP_WIRE_ACK_REFUSED) {
        rndv->ep->refused |= (uint8_t)(1u << rndv->kind);
    }
    if (ack.length > 0) {
        fragment_grant(rndv, &ack);
    }
    ucp_rndv_put(rndv);
    return UCS_OK;
}

/* ---- the receiver ---- */

static void fragment_send_ack(struct ucp_ep *ep, const struct ucp_wire_ack *ack)
{
    uint8_t bytes[UCP_WIRE_ACK_BYTES];

    ucp_wire_ack_encode(bytes, ack);
    ucp_ep_send_control(ep, UCP_AM_ACK, bytes, sizeof(bytes));
}

void ucp_fragment_ask_nothing(struct ucp_ep *ep, uint64_t sender_id,
                              size_t length)
{
    const struct ucp_wire_ack ack = {.sender_id = sender_id, .offset = length};

    if (ep != NULL) {
        fragment_send_ack(ep, &ack);
    }
}

/* Bytes that may be under way. */
static size_t fragment_window(const struct ucp_context_config *config)
{
    size_t window;

    if (__builtin_mul_overflow(ucs_max(config->rndv_depth, 1u),
                               ucs_max(config->rndv_fragment_bytes, (size_t)1),
                               &window)) {
        window = SIZE_MAX;
    }
    return window;
}

/* Ask for as much as the window has room for: all of the rest, or at least a
 * fragment's size at a time. */
static void fragment_ask(struct ucp_rndv *rndv)
{
    const struct ucp_context_config *config =
        &rndv->ep->worker->context->config;
    size_t window = fragment_window(config);
    size_t rest   = rndv->wanted.end - rndv->wanted.offset;
    size_t room   = (window > rndv->expected) ? window - rndv->expected : 0;
    struct ucp_wire_ack ack;

    if ((rest == 0) ||
        ((rest > room) &&
         (room < ucs_min(window, config->rndv_fragment_bytes))) ||
        (room == 0)) {
        return;
    }
    ack = (struct ucp_wire_ack){
        .sender_id   = rndv->peer_id,
        .receiver_id = rndv->req->recv.id,
        .offset      = rndv->wanted.offset,
        .length      = ucs_min(rest, room),
        .flags = (rndv->flags & UCP_RNDV_REFUSED) ? UCP_WIRE_ACK_REFUSED : 0,
    };
    rndv->wanted.offset += ack.length;
    rndv->expected += ack.length;
    fragment_send_ack(rndv->ep, &ack);
}

void ucp_fragment_want(struct ucp_rndv *rndv, size_t offset, size_t end)
{
    ucs_assert(ucp_fragment_is_idle(rndv));
    rndv->wanted      = (struct ucp_range){.offset = offset, .end = end};
    rndv->arrived     = offset;
    rndv->early_count = 0;
    fragment_ask(rndv);
}

/* The gap before some early fragments may be closed now. */
static void fragment_advance(struct ucp_rndv *rndv)
{
    unsigned i = 0;

    while (i < rndv->early_count) {
        if (rndv->early[i].offset == rndv->arrived) {
            rndv->arrived  = rndv->early[i].end;
            rndv->early[i] = rndv->early[--rndv->early_count];
            i              = 0;
        } else {
            ++i;
        }
    }
}

/* Did this range not come before? Remember it. */
static bool fragment_is_new(struct ucp_rndv *rndv, size_t offset, size_t length)
{
    if (offset < rndv->arrived) {
        return false;
    }
    for (unsigned i = 0; i < rndv->early_count; ++i) {
        if ((offset < rndv->early[i].end) &&
            (rndv->early[i].offset < offset + length)) {
            return false;
        }
    }
    if (offset == rndv->arrived) {
        rndv->arrived += length;
        fragment_advance(rndv);
    } else if ((length > 0) && (rndv->early_count < UCP_RNDV_EARLY_COUNT_MAX)) {
        rndv->early[rndv->early_count++] =
            (struct ucp_range){offset, offset + length};
    }
    return true;
}

static ucs_status_t fragment_receive(void *arg, struct uct_source *source,
                                     void *data, size_t length, unsigned flags)
{
    struct ucp_worker    *worker = ((struct ucp_worker_iface *)arg)->worker;
    struct ucp_wire_piece wire;
    struct ucp_rndv      *rndv;

    (void)flags;
    if (!ucp_wire_piece_decode(data, length, &wire)) {
        ++worker->bad_ids;
        return UCS_OK;
    }
    rndv = ucp_rndv_receiving(worker, source->user, wire.id);
    if (rndv == NULL) {
        return UCS_OK;
    }
    length -= UCP_WIRE_FRAG_BYTES;
    if ((length > rndv->expected) || (wire.offset > rndv->wanted.offset) ||
        (length > rndv->wanted.offset - wire.offset) ||
        !fragment_is_new(rndv, wire.offset, length)) {
        ++worker->bad_ids; /* not what we asked for, or again */
        return UCS_OK;
    }
    ucp_rndv_get(rndv);
    rndv->expected -= length;
    ucp_worker_count(worker, UCP_COUNT_FRAGMENT_IN, length);
    (void)ucp_tag_recv_piece(rndv->req, wire.offset,
                             (const uint8_t *)data + UCP_WIRE_FRAG_BYTES,
                             length);
    fragment_ask(rndv);
    ucp_rdma_ask_failed(rndv);
    ucp_rndv_put(rndv);
    return UCS_OK;
}

const struct ucp_handler ucp_fragment_handlers[] = {
    {UCP_AM_ACK, fragment_receive_ack},
    {UCP_AM_FRAG, fragment_receive},
    {0, NULL},
};
