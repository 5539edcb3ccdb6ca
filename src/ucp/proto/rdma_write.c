/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rdma_write.c - the sender's end of put and get: it writes what R
 * grants by PUT, and hears by FIN what R has read.
 *
 *   PUT --> piece --> put .. put --> (flush) --> FIN
 *
 * A piece holds the message (ucp_rndv_get) until it is over. */
#include "ucp/proto/rdma_piece.h"

#include "ucp/core/worker.h"
#include "ucp/proto/rdma_shared.h"

/* R may ask for what could not be written. */
static void put_back(struct ucp_rndv *rndv, const struct ucp_wire_fin *fin)
{
    ucs_status_t status =
        ucp_extents_add(&rndv->unasked, fin->offset, fin->offset + fin->length);

    if (status != UCS_OK) {
        ucp_rndv_give_up(rndv, status);
    }
}

/* The piece is over; tell R. Releases a use of the message. */
static void put_over(struct ucp_piece *piece, ucs_status_t status)
{
    struct ucp_rndv    *rndv = piece->rndv;
    struct ucp_wire_fin fin  = {.id     = rndv->peer_id,
                                .offset = piece->offset,
                                .length = piece->length,
                                .status = status};

    ucp_piece_destroy(piece);
    if (!ucp_rndv_is_over(rndv)) {
        if (status == UCS_OK) {
            ucp_worker_count(rndv->ep->worker, UCP_COUNT_PUT_OUT, fin.length);
        } else if (rndv->flags & UCP_RNDV_ALONE) {
            ucp_rndv_abort(rndv, UCS_ERR_CONNECTION_RESET);
        } else {
            put_back(rndv, &fin);
        }
        ucp_rdma_send_fin(rndv, &fin);
    } else {
        ucp_rndv_put(rndv);
    }
}

/* Does a message that follows a completed put find its data? */
static bool put_is_visible(const struct ucp_piece *piece)
{
    unsigned flags = ucp_piece_model(piece)->attr.flags;

    return (flags & UCT_IFACE_PUT_DONE_AT_TARGET) ||
           ((piece->lane == 0) && (flags & UCT_IFACE_PUT_BEFORE_AM));
}

static void put_requeue(struct ucp_piece *piece)
{
    ucs_queue_push_head(&piece->rndv->by_rdma.puts, &piece->queue);
}

/* An operation of the piece has completed: is there more to do for it?
 * @return false: it is over. */
static bool put_has_more(const struct ucp_piece *piece)
{
    return (piece->done < piece->length) || !put_is_visible(piece);
}

/* An operation has let go of the runs of this end. */
static void put_release(struct ucp_piece *piece)
{
    ucp_regs_destroy(piece->regs);
    piece->regs = NULL;
}

static void put_done(struct uct_req *self)
{
    struct ucp_piece *piece = ucs_container_of(self, struct ucp_piece, base);

    put_release(piece);
    piece->done += piece->posted;
    if ((self->status == UCS_OK) && put_has_more(piece) &&
        !ucp_rndv_is_over(piece->rndv)) {
        put_requeue(piece);
        ucp_rndv_submit(piece->rndv);
    } else {
        put_over(piece, self->status);
    }
}

static void put_flushed(struct uct_req *self)
{
    put_over(ucs_container_of(self, struct ucp_piece, base), self->status);
}

/* Post the next operation of a piece: a put, or the flush after it. */
static ucs_status_t put_post(struct ucp_piece *piece)
{
    struct uct_ep        *lane = ucp_piece_ep(piece);
    struct ucp_rdma_lists lists;
    ucs_status_t          status;

    if (piece->done == piece->length) {
        piece->base.cb = put_flushed;
        return uct_ep_flush(lane, &piece->base, UCT_FLAG_PENDING);
    }
    ucp_rdma_lists_init(&lists, piece, piece->layout,
                        &ucp_piece_model(piece)->attr.put,
                        (struct ucp_range){piece->offset + piece->done,
                                           piece->offset + piece->length});
    status = ucp_rdma_lists_register(&lists, piece);
    if (status != UCS_OK) {
        return status;
    }
    piece->posted  = lists.length;
    piece->base.cb = put_done;
    status         = lane->transport->put_zcopy(lane, &lists.rma, &piece->base,
                                                UCT_FLAG_PENDING);
    if (status != UCS_INPROGRESS) {
        put_release(piece);
    }
    return status;
}

ucs_status_t ucp_rdma_put_step(struct ucp_rndv *rndv)
{
    struct ucp_piece *piece = ucs_container_of(
        ucs_queue_first(&rndv->by_rdma.puts), struct ucp_piece, queue);
    bool         is_flush = (piece->done == piece->length);
    ucs_status_t status;

    (void)ucs_queue_pull(&rndv->by_rdma.puts);
    status = put_post(piece);
    if (status == UCS_ERR_WOULD_BLOCK) {
        put_requeue(piece);
        return status;
    }
    if (status == UCS_INPROGRESS) {
        return UCS_OK;
    }
    if ((status == UCS_OK) && !is_flush) {
        piece->done += piece->posted;
        if (put_has_more(piece) && !ucp_rndv_is_over(rndv)) {
            put_requeue(piece);
            return UCS_OK;
        }
    }
    put_over(piece, status);
    return UCS_OK;
}

/* May R have that written? */
static bool put_may(const struct ucp_rndv *rndv, const struct ucp_wire_put *put)
{
    return ((rndv->kind == UCP_RNDV_PUT) ||
            (rndv->kind == UCP_RNDV_PIPELINE)) &&
           (put->receiver_id != 0) &&
           ((rndv->peer_id == 0) || (rndv->peer_id == put->receiver_id)) &&
           (put->length > 0) && (put->offset <= SIZE_MAX - put->length) &&
           ucp_extents_have(&rndv->unasked, put->offset,
                            put->offset + put->length);
}

/* Register this end of a piece, if it is one block and its lane wants that. */
static ucs_status_t put_register(struct ucp_piece *piece)
{
    const struct ucp_rndv *rndv = piece->rndv;
    struct uct_iov         span =
        ucp_dt_iter_span(&rndv->req->dt, piece->offset, piece->length);
    ucs_status_t status;

    if ((span.buffer == NULL) || (rndv->by_rdma.regs[piece->lane] != NULL) ||
        !ucp_rdma_needs_local(ucp_piece_model(piece))) {
        return UCS_OK;
    }
    status = ucp_rdma_register(rndv->ep, piece->lane, span.buffer, span.length,
                               UCT_ACCESS_LOCAL, &piece->reg);
    if (status != UCS_OK) {
        piece->reg = NULL;
    }
    return status;
}

/* Make the piece that a PUT asks for; it owns the layout.
 * @return NULL: this end cannot. */
static struct ucp_piece *put_create(struct ucp_rndv           *rndv,
                                    const struct ucp_wire_put *put,
                                    struct ucp_layout         *layout)
{
    unsigned          lane = (unsigned)__builtin_ctz(layout->lanes);
    struct ucp_piece *piece =
        ucp_piece_create(rndv, lane, put->offset, put->length);

    if (piece == NULL) {
        ucp_layout_destroy(layout);
        return NULL;
    }
    piece->layout = layout;
    if (put_register(piece) != UCS_OK) {
        ucp_piece_destroy(piece);
        return NULL;
    }
    return piece;
}

/* @param layout  NULL: no lane has keys that can be used. */
static void put_accept(struct ucp_rndv *rndv, const struct ucp_wire_put *put,
                       struct ucp_layout *layout)
{
    struct ucp_piece *piece =
        (layout == NULL) ? NULL : put_create(rndv, put, layout);
    struct ucp_wire_fin fin = {.id     = put->receiver_id,
                               .offset = put->offset,
                               .length = put->length,
                               .status = UCS_ERR_UNREACHABLE};
    ucs_status_t        status;

    rndv->peer_id = put->receiver_id;
    ucp_rndv_match(rndv);
    if (piece == NULL) {
        ucp_rndv_get(rndv);
        ucp_rdma_send_fin(rndv, &fin);
        return;
    }
    status = ucp_extents_remove(&rndv->unasked, put->offset,
                                put->offset + put->length);
    if (status != UCS_OK) {
        ucp_piece_destroy(piece);
        ucp_rndv_give_up(rndv, status);
        return;
    }
    ucp_rndv_get(rndv);
    ucs_queue_push(&rndv->by_rdma.puts, &piece->queue);
    ucp_rndv_submit(rndv);
}

/* Where to? @return false: it is nonsense, or not about the whole range. */
static bool put_read(struct ucp_rndv *rndv, const struct ucp_wire_put *put,
                     struct ucp_shown *shown, struct ucp_layout **layout_p)
{
    ucs_status_t status;

    *layout_p    = NULL;
    shown->ep    = rndv->ep;
    shown->lanes = ucp_rdma_own_lanes(rndv->ep, UCP_RDMA_PUT);
    shown->range = (struct ucp_range){put->offset, put->offset + put->length};
    status       = ucp_layout_read(shown, layout_p);
    if ((status == UCS_OK) && ((*layout_p)->range.end < shown->range.end)) {
        ucp_layout_destroy(*layout_p);
        return false;
    }
    return status != UCS_ERR_INVALID_PARAM;
}

ucs_status_t ucp_rdma_put_receive(void *arg, struct uct_source *source,
                                  void *data, size_t length, unsigned flags)
{
    struct ucp_worker  *worker = ((struct ucp_worker_iface *)arg)->worker;
    struct ucp_rndv    *rndv;
    struct ucp_wire_put put;
    struct ucp_layout  *layout;
    struct ucp_shown    shown = {.bytes =
                                     (const uint8_t *)data + UCP_WIRE_PUT_BYTES,
                                 .size_bytes = length - UCP_WIRE_PUT_BYTES};

    (void)flags;
    if (!ucp_wire_put_decode(data, length, &put)) {
        ucp_worker_drop(worker, source->user, "a PUT");
        return UCS_OK;
    }
    rndv = ucp_rndv_answered(worker, source->user, put.sender_id);
    if (rndv == NULL) {
        return UCS_OK;
    }
    if (!put_may(rndv, &put) || !put_read(rndv, &put, &shown, &layout)) {
        ucp_worker_drop(worker, source->user, "a PUT");
        return UCS_OK;
    }
    ucp_rndv_get(rndv);
    put_accept(rndv, &put, layout);
    ucp_rndv_put(rndv);
    return UCS_OK;
}

/* R has read so much. */
void ucp_rdma_get_fin(struct ucp_rndv *rndv, const struct ucp_wire_fin *fin)
{
    struct ucp_worker *worker = rndv->ep->worker;

    /* It comes once: what could not be read is asked for as fragments. */
    if (((rndv->kind != UCP_RNDV_GET) && (rndv->kind != UCP_RNDV_SHARED)) ||
        (fin->status != UCS_OK) || (fin->length == 0) ||
        (rndv->by_rdma.read > 0) || (fin->length > rndv->unasked.bytes)) {
        ucp_worker_drop(worker, rndv->ep, "a FIN");
        return;
    }
    ucp_rndv_get(rndv);
    ucp_rndv_match(rndv);
    rndv->by_rdma.read = fin->length;
    if (rndv->share != NULL) {
        rndv->share->is_open = false; /* nothing is left to claim */
    }
    ucp_worker_count(worker, UCP_COUNT_GET_OUT, fin->length);
    ucp_rndv_put(rndv);
}
