/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/fragment.c - ACK and FRAG, both ends. */
#include "ucp/proto/fragment.h"

#include "ucp/core/worker.h"
#include "ucp/proto/rails.h"
#include "ucp/proto/rdma_piece.h"
#include "ucp/proto/rdma_shared.h"
#include "ucp/proto/wire.h"
#include "ucp/tag/recv.h"
#include "ucp/wireup/peer.h"

/* ---- the sender ---- */

/* The next fragment, over a lane.
 * room  bytes that it may have */
struct fragment {
    struct ucp_rndv *rndv;
    unsigned         lane;
    size_t           offset;
    size_t           room;
};

static const struct uct_iface_attr *
fragment_attr(const struct fragment *fragment)
{
    return &fragment->rndv->ep->config->lanes[fragment->lane].model.attr;
}

enum {
    /* Where lanes share a message, a fragment has no more than this, so that
     * none has much to do when the others are done (guess). */
    FRAGMENT_SHARED_BYTES_MAX = 64 << 10,
};

/* It is sent. */
static void fragment_account(const struct fragment *fragment, size_t length)
{
    struct ucp_rndv *rndv = fragment->rndv;
    ucs_status_t     status;

    status = ucp_extents_remove(&rndv->asked, fragment->offset,
                                fragment->offset + length);
    ucs_assert(status == UCS_OK); /* from the front */
    rndv->by_rdma.lane_bytes[fragment->lane] += length;
    ucp_worker_count(rndv->ep->worker, UCP_COUNT_FRAGMENT_OUT, length);
}

static size_t fragment_pack(void *dest, void *arg)
{
    const struct fragment *fragment = arg;
    struct ucp_dt_iter    *iter     = &fragment->rndv->req->dt;
    struct ucp_wire_piece  piece    = {.id     = fragment->rndv->peer_id,
                                       .offset = fragment->offset};
    size_t                 length;

    ucp_wire_piece_encode(dest, &piece);
    ucp_dt_iter_seek(iter, fragment->offset);
    length = ucp_dt_iter_pack(iter, (uint8_t *)dest + UCP_WIRE_FRAG_BYTES,
                              fragment->room);
    fragment_account(fragment, length);
    return UCP_WIRE_FRAG_BYTES + length;
}

static ucs_status_t fragment_send_bcopy(struct fragment *fragment)
{
    struct uct_ep *lane = fragment->rndv->ep->lanes[fragment->lane].uct_ep;
    ssize_t        packed;

    fragment->room =
        ucs_min(fragment->room, fragment_attr(fragment)->am.bcopy_bytes_max -
                                    UCP_WIRE_FRAG_BYTES);
    packed = uct_ep_am_bcopy(lane, UCP_AM_FRAG, fragment_pack, fragment,
                             UCP_WIRE_FRAG_BYTES + fragment->room,
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
static ucs_status_t fragment_send_zcopy(struct fragment *fragment)
{
    struct ucp_rndv             *rndv = fragment->rndv;
    const struct uct_iface_attr *attr = fragment_attr(fragment);
    const struct ucp_wire_piece  wire = {.id     = rndv->peer_id,
                                         .offset = fragment->offset};
    struct ucp_dt_iter           iter = rndv->req->dt;
    struct uct_iov               iov[UCP_IOV_COUNT_MAX];
    unsigned                     count =
        ucs_min((unsigned)UCP_IOV_COUNT_MAX, attr->am.iov_count_max);
    uint8_t header[UCP_WIRE_FRAG_BYTES];
    size_t  room =
        ucs_min(fragment->room, attr->am.zcopy_bytes_max - UCP_WIRE_FRAG_BYTES);
    struct ucp_piece *piece = ucs_mpool_get(&rndv->ep->worker->pieces);
    ucs_status_t      status;

    if (piece == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ucp_dt_iter_seek(&iter, fragment->offset);
    room = ucp_dt_iter_pieces(&iter, room, iov, &count);
    ucp_wire_piece_encode(header, &wire);
    piece->rndv    = rndv;
    piece->base.cb = fragment_done;
    ucp_rndv_get(rndv);
    status =
        uct_ep_am_zcopy(rndv->ep->lanes[fragment->lane].uct_ep, UCP_AM_FRAG,
                        header, sizeof(header), iov, count, &piece->base,
                        UCT_FLAG_PENDING | UCT_FLAG_ANY_ORDER);
    if (status != UCS_INPROGRESS) {
        --rndv->in_flight; /* not the last one: the step holds another */
        ucs_mpool_put(piece);
    }
    if ((status == UCS_OK) || (status == UCS_INPROGRESS)) {
        rndv->req->dt = iter;
        fragment_account(fragment, room);
        status = UCS_OK;
    }
    return status;
}

static bool fragment_uses_zcopy(const struct fragment *fragment)
{
    const struct ucp_rndv       *rndv   = fragment->rndv;
    const struct ucp_ep_config  *config = rndv->ep->config;
    const struct ucp_lane_model *lane   = &config->lanes[fragment->lane].model;

    return (lane->transport->am_zcopy != NULL) &&
           ucp_dt_iter_is_coarse(&rndv->req->dt,
                                 ucs_min((unsigned)UCP_IOV_COUNT_MAX,
                                         lane->attr.am.iov_count_max)) &&
           (lane->attr.am_zcopy_header_bytes_max >= UCP_WIRE_FRAG_BYTES) &&
           (lane->attr.am.zcopy_bytes_max > UCP_WIRE_FRAG_BYTES) &&
           (fragment->room >= config->zcopy_bytes_min);
}

bool ucp_fragment_is_ready(const struct ucp_rndv *rndv)
{
    const struct ucp_extent *first = ucp_extents_first(&rndv->asked);

    if ((first == NULL) && !(rndv->flags & UCP_RNDV_IS_RECV)) {
        return ucp_share_is_open(rndv->share);
    }
    /* What was asked for before, and comes later, has to go first? */
    return (first != NULL) && !(rndv->flags & UCP_RNDV_IS_RECV) &&
           (ucp_dt_iter_can_seek(&rndv->req->dt) ||
            (first->offset == rndv->req->dt.offset));
}

/* The lanes that share this message's fragments; found once. */
static uint32_t fragment_lanes(struct ucp_rndv *rndv)
{
    const struct ucp_ep_config *config = rndv->ep->config;
    uint32_t                    lanes  = 0;

    if (rndv->by_rdma.lanes == 0) {
        for (unsigned i = 0; i < config->lane_count; ++i) {
            lanes |= ucp_rail_can_send(&config->lanes[i].model)
                         ? UINT32_C(1) << i
                         : 0;
        }
        rndv->by_rdma.lanes = ucp_rails_for(
            config->lanes, lanes, UCP_RAIL_SEND, rndv->req->dt.length,
            rndv->ep->worker->context->config.rndv_share_bytes);
    }
    return rndv->by_rdma.lanes;
}

/* Send the beginning of an extent over a lane. */
static ucs_status_t fragment_send(struct ucp_rndv         *rndv,
                                  const struct ucp_extent *extent,
                                  unsigned                 lane)
{
    struct fragment fragment = {.rndv   = rndv,
                                .lane   = lane,
                                .offset = extent->offset,
                                .room   = extent->end - extent->offset};
    ucs_status_t    status   = ucp_peer_announce_rail(rndv->ep, lane);

    if (status != UCS_OK) {
        return status;
    }
    if (rndv->by_rdma.lanes != (UINT32_C(1) << lane)) {
        fragment.room =
            ucs_min(fragment.room, (size_t)FRAGMENT_SHARED_BYTES_MAX);
    }
    return fragment_uses_zcopy(&fragment) ? fragment_send_zcopy(&fragment)
                                          : fragment_send_bcopy(&fragment);
}

ucs_status_t ucp_fragment_step(struct ucp_rndv *rndv)
{
    ucs_status_t             status = UCS_ERR_WOULD_BLOCK;
    const struct ucp_extent *first;
    uint32_t                 lanes;
    unsigned                 lane;

    if (ucp_share_is_open(rndv->share)) {
        ucp_share_claim(rndv);
    }
    first = ucp_extents_first(&rndv->asked);
    if ((first == NULL) || !ucp_fragment_is_ready(rndv)) {
        return UCS_OK;
    }
    lanes = fragment_lanes(rndv);
    while ((lanes != 0) && (status == UCS_ERR_WOULD_BLOCK)) {
        lane   = ucp_rails_next(rndv->ep->config->lanes, lanes, UCP_RAIL_SEND,
                                rndv->by_rdma.lane_bytes);
        status = fragment_send(rndv, first, lane);
        lanes &= ~(UINT32_C(1) << lane);
    }
    if (status == UCS_OK) {
        return ucp_fragment_is_ready(rndv) ? UCP_STEP_TURN_DONE : UCS_OK;
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
    if (ack->length == 0) {
        return (ucp_rndv_unclaimed(rndv) == 0) &&
               !(rndv->flags & UCP_RNDV_MATCHED) &&
               (ack->offset == rndv->req->dt.length);
    }
    return (ack->receiver_id != 0) &&
           ((rndv->peer_id == 0) || (rndv->peer_id == ack->receiver_id)) &&
           (ack->length <= ucp_rndv_unclaimed(rndv)) &&
           (ack->offset <= SIZE_MAX - ack->length) &&
           ucp_extents_have(&rndv->unasked, ack->offset,
                            ack->offset + ack->length);
}

static void fragment_grant(struct ucp_rndv           *rndv,
                           const struct ucp_wire_ack *ack)
{
    size_t       end    = ack->offset + ack->length;
    ucs_status_t status = ucp_extents_remove(&rndv->unasked, ack->offset, end);

    rndv->peer_id = ack->receiver_id;
    if ((rndv->kind == UCP_RNDV_PUT) || (rndv->kind == UCP_RNDV_GET) ||
        ((rndv->kind == UCP_RNDV_SHARED) &&
         !ucp_share_has_begun(rndv->share))) {
        rndv->bulk.name = ucp_pipeline_send_proto.name; /* R fell back */
    }
    if (status == UCS_OK) {
        status = ucp_extents_add(&rndv->asked, ack->offset, end);
    }
    if (status != UCS_OK) {
        ucp_rndv_give_up(rndv, status);
    } else if (ucp_fragment_is_ready(rndv)) {
        ucp_rndv_submit(rndv);
    }
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
        ucp_worker_drop(worker, source->user, "an ACK");
        return UCS_OK;
    }
    rndv = ucp_rndv_answered(worker, source->user, ack.sender_id);
    if (rndv == NULL) {
        return UCS_OK;
    }
    if (!fragment_may_ask(rndv, &ack) ||
        ((ack.flags & UCP_WIRE_ACK_SHARED) &&
         !ucp_share_begin(rndv, ack.offset, ack.length))) {
        ucp_worker_drop(worker, source->user, "an ACK");
        return UCS_OK;
    }
    ucp_rndv_get(rndv);
    ucp_rndv_match(rndv);
    if (ack.flags & UCP_WIRE_ACK_REFUSED) {
        rndv->ep->refused |= (uint8_t)(1u << rndv->kind);
    }
    if (ack.flags & UCP_WIRE_ACK_SHARED) {
        rndv->peer_id = ack.receiver_id;
        ucp_rndv_submit(rndv);
    } else if (ack.length > 0) {
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

/* How much to ask for next, at most [first): as much as the window has room
 * for, if that is a fragment's size, or all of the rest. 0: nothing now. */
static size_t fragment_askable(const struct ucp_rndv   *rndv,
                               const struct ucp_extent *first)
{
    const struct ucp_context_config *config =
        &rndv->ep->worker->context->config;
    size_t window = fragment_window(config);
    size_t room = (window > rndv->asked.bytes) ? window - rndv->asked.bytes : 0;

    if ((room < rndv->unasked.bytes) &&
        (room < ucs_min(window, config->rndv_fragment_bytes))) {
        return 0;
    }
    return ucs_min(first->end - first->offset, room);
}

static ucs_status_t fragment_ask_one(struct ucp_rndv *rndv, size_t offset,
                                     size_t length)
{
    const struct ucp_wire_ack ack = {
        .sender_id   = rndv->peer_id,
        .receiver_id = rndv->req->recv.id,
        .offset      = offset,
        .length      = length,
        .flags = (rndv->flags & UCP_RNDV_REFUSED) ? UCP_WIRE_ACK_REFUSED : 0,
    };
    ucs_status_t status;

    status = ucp_extents_remove(&rndv->unasked, offset, offset + length);
    if (status == UCS_OK) {
        status = ucp_extents_add(&rndv->asked, offset, offset + length);
    }
    if (status == UCS_OK) {
        fragment_send_ack(rndv->ep, &ack);
    }
    return status;
}

/* Ask for what the window has room for. */
static void fragment_ask(struct ucp_rndv *rndv)
{
    const struct ucp_extent *first;
    ucs_status_t             status = UCS_OK;
    size_t                   length;

    while ((status == UCS_OK) && !ucp_rndv_is_over(rndv) &&
           ((first = ucp_extents_first(&rndv->unasked)) != NULL)) {
        length = fragment_askable(rndv, first);
        if (length == 0) {
            return;
        }
        status = fragment_ask_one(rndv, first->offset, length);
    }
    if (status != UCS_OK) {
        ucp_rndv_give_up(rndv, status);
    }
}

void ucp_fragment_want(struct ucp_rndv *rndv, size_t offset, size_t end)
{
    ucs_status_t status = ucp_extents_add(&rndv->unasked, offset, end);

    if (status != UCS_OK) {
        ucp_rndv_give_up(rndv, status);
        return;
    }
    fragment_ask(rndv);
}

void ucp_fragment_share(struct ucp_rndv *rndv, size_t offset, size_t end)
{
    const struct ucp_wire_ack ack = {
        .sender_id   = rndv->peer_id,
        .receiver_id = rndv->req->recv.id,
        .offset      = offset,
        .length      = end - offset,
        .flags       = UCP_WIRE_ACK_SHARED,
    };
    ucs_status_t status = ucp_extents_add(&rndv->asked, offset, end);

    if (status != UCS_OK) {
        ucp_rndv_give_up(rndv, status);
        return;
    }
    fragment_send_ack(rndv->ep, &ack);
}

/* Did we ask for that, and did it not come? */
static bool fragment_is_asked(const struct ucp_rndv       *rndv,
                              const struct ucp_wire_piece *wire, size_t length)
{
    return (length > 0) && (wire->offset <= SIZE_MAX - length) &&
           ucp_extents_have(&rndv->asked, wire->offset, wire->offset + length);
}

/* It came: unpack it, and ask for more. */
static void fragment_accept(struct ucp_rndv *rndv, size_t offset,
                            const uint8_t *data, size_t length)
{
    ucs_status_t status;

    status = ucp_extents_remove(&rndv->asked, offset, offset + length);
    if (status != UCS_OK) {
        ucp_rndv_give_up(rndv, status);
        return;
    }
    ucp_worker_count(rndv->ep->worker, UCP_COUNT_FRAGMENT_IN, length);
    ++rndv->ep->fragment_count;
    (void)ucp_tag_recv_piece(rndv->req, offset, data, length);
    fragment_ask(rndv);
    ucp_rdma_get_check_end(rndv);
}

static ucs_status_t fragment_receive(void *arg, struct uct_source *source,
                                     void *data, size_t length, unsigned flags)
{
    struct ucp_worker    *worker = ((struct ucp_worker_iface *)arg)->worker;
    struct ucp_wire_piece wire;
    struct ucp_rndv      *rndv;

    (void)flags;
    if (!ucp_wire_piece_decode(data, length, &wire)) {
        ucp_worker_drop(worker, source->user, "a FRAG");
        return UCS_OK;
    }
    rndv = ucp_rndv_receiving(worker, source->user, wire.id);
    if (rndv == NULL) {
        return UCS_OK;
    }
    length -= UCP_WIRE_FRAG_BYTES;
    if (!fragment_is_asked(rndv, &wire, length)) {
        ucp_worker_drop(worker, source->user, "a FRAG");
        return UCS_OK;
    }
    ucp_rndv_get(rndv);
    fragment_accept(rndv, wire.offset,
                    (const uint8_t *)data + UCP_WIRE_FRAG_BYTES, length);
    ucp_rndv_put(rndv);
    return UCS_OK;
}

const struct ucp_handler ucp_fragment_handlers[] = {
    {UCP_AM_ACK, fragment_receive_ack},
    {UCP_AM_FRAG, fragment_receive},
    {0, NULL},
};
