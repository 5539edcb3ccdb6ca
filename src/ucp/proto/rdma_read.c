/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rdma_read.c - the receiver's end of put and get: it reads, or
 * grants pieces of its buffer, and asks for what failed.
 *
 * A piece that is read holds the message (ucp_rndv_get) until the transport is
 * done. What is granted holds nothing: S may be gone. */
#include "ucp/proto/rdma_piece.h"

#include "ucp/core/worker.h"
#include "ucp/proto/fragment.h"
#include "ucp/proto/rdma_shared.h"

/* A piece is read or written, or could not be: then it comes as fragments. */
static void rdma_piece_over(struct ucp_piece *piece, ucs_status_t status)
{
    struct ucp_rndv *rndv   = piece->rndv;
    size_t           offset = piece->offset;
    size_t           length = piece->length;

    --rndv->by_rdma.count;
    ucp_piece_destroy(piece);
    if (ucp_rndv_is_over(rndv)) {
        return;
    }
    if (status == UCS_OK) {
        rndv->req->recv.remaining -= length;
    } else {
        ucp_fragment_want(rndv, offset, offset + length);
    }
}

/* ---- get ---- */

void ucp_rdma_get(struct ucp_rndv *rndv, uint32_t lanes, size_t offset,
                  size_t end)
{
    rndv->rdma = (struct ucp_range){offset, end};
    rndv->by_rdma.lanes =
        ucp_rdma_worth(rndv, lanes, UCP_RDMA_GET, end - offset);
    rndv->by_rdma.total       = end - offset;
    rndv->by_rdma.piece_bytes = 0;
    ucp_rndv_submit(rndv);
}

void ucp_rdma_get_check_end(struct ucp_rndv *rndv)
{
    struct ucp_wire_fin fin = {.id     = rndv->peer_id,
                               .length = rndv->by_rdma.read};

    if ((rndv->share != NULL) && (rndv->req->recv.remaining > 0)) {
        return; /* there may be more to read */
    }
    if ((rndv->by_rdma.count == 0) && (fin.length > 0) &&
        (rndv->rdma.offset == rndv->rdma.end) && !ucp_rndv_is_over(rndv)) {
        rndv->by_rdma.read = 0;
        ucp_rndv_get(rndv);
        ucp_rdma_send_fin(rndv, &fin);
    }
}

static void get_over(struct ucp_piece *piece, ucs_status_t status)
{
    struct ucp_rndv *rndv = piece->rndv;

    if ((rndv->share != NULL) && !ucp_share_is_valid(rndv->share)) {
        status = UCS_ERR_CANCELED; /* S has let go of its buffer meanwhile */
    }
    if ((rndv->share != NULL) && (status != UCS_OK)) {
        rndv->share->is_open = false;
    }
    if (status == UCS_OK) {
        rndv->by_rdma.read += piece->length;
        ucp_worker_count(rndv->ep->worker, UCP_COUNT_GET_IN, piece->length);
    }
    rdma_piece_over(piece, status);
    ucp_rdma_get_check_end(rndv);
}

static void get_done(struct uct_req *self)
{
    struct ucp_piece *piece = ucs_container_of(self, struct ucp_piece, base);
    struct ucp_rndv  *rndv  = piece->rndv;

    get_over(piece, self->status);
    ucp_rndv_put(rndv);
}

static ucs_status_t get_post(struct ucp_piece *piece)
{
    struct ucp_rndv      *rndv = piece->rndv;
    struct uct_ep        *lane = ucp_piece_ep(piece);
    struct ucp_rdma_lists lists;
    ucs_status_t          status;

    ucp_rdma_lists_init(
        &lists, piece, rndv->by_rdma.layout, &ucp_piece_model(piece)->attr.get,
        (struct ucp_range){piece->offset, piece->offset + piece->length});
    ucp_rdma_shorten(piece, lists.length);
    status = ucp_rdma_lists_register(&lists, piece);
    if (status != UCS_OK) {
        get_over(piece, status);
        return UCS_OK;
    }
    piece->base.cb = get_done;
    ucp_rndv_get(rndv);
    status = lane->transport->get_zcopy(lane, &lists.rma, &piece->base,
                                        UCT_FLAG_PENDING);
    if (status == UCS_INPROGRESS) {
        return UCS_OK;
    }
    --rndv->in_flight; /* not the last one: the step holds another */
    if (status == UCS_ERR_WOULD_BLOCK) {
        ucp_rdma_uncut(piece);
        return status;
    }
    get_over(piece, status);
    return UCS_OK;
}

ucs_status_t ucp_rdma_get_step(struct ucp_rndv *rndv)
{
    uint32_t     lanes  = rndv->by_rdma.lanes;
    ucs_status_t status = UCS_ERR_WOULD_BLOCK;

    while ((lanes != 0) && (status == UCS_ERR_WOULD_BLOCK)) {
        unsigned          lane  = ucp_rdma_next_lane(rndv, lanes, UCP_RDMA_GET);
        struct ucp_piece *piece = ucp_rdma_cut(
            rndv, lane, UCP_RDMA_GET,
            rndv->ep->config->lanes[lane].model.attr.get.zcopy_bytes_max);

        if (piece == NULL) {
            ucp_rndv_give_up(rndv, UCS_ERR_NO_MEMORY);
            return UCS_OK;
        }
        status = get_post(piece);
        lanes &= ~(UINT32_C(1) << lane);
    }
    return status;
}

/* ---- grants ---- */

/* Grant as much of the piece as a message can show.
 * @return false: nothing; it counts as failed. */
static bool grant_send(struct ucp_piece *piece)
{
    struct ucp_rndv         *rndv    = piece->rndv;
    const struct ucp_showing showing = {
        .rndv   = rndv,
        .lanes  = UINT32_C(1) << piece->lane,
        .access = UCT_ACCESS_LOCAL | UCT_ACCESS_REMOTE_WRITE,
        .range  = {piece->offset, piece->offset + piece->length}};
    size_t  room = ucs_min(rndv->ep->config->lane.attr.am.bcopy_bytes_max,
                           (size_t)UCP_CONTROL_BYTES_MAX);
    uint8_t bytes[UCP_CONTROL_BYTES_MAX];
    size_t  length, end;
    struct ucp_wire_put put = {.sender_id   = rndv->peer_id,
                               .receiver_id = rndv->req->recv.id,
                               .offset      = piece->offset};

    piece->regs = ucp_regs_create(rndv->ep->worker);
    if (piece->regs == NULL) {
        return false;
    }
    length = ucp_layout_show(&showing, bytes + UCP_WIRE_PUT_BYTES,
                             room - UCP_WIRE_PUT_BYTES, piece->regs, &end);
    if (length == 0) {
        return false;
    }
    ucp_rdma_shorten(piece, end - piece->offset);
    put.length = piece->length;
    ucp_wire_put_encode(bytes, &put);
    ucs_list_add_tail(&rndv->by_rdma.grants, &piece->link);
    ucp_ep_send_control(rndv->ep, UCP_AM_PUT, bytes,
                        UCP_WIRE_PUT_BYTES + length);
    return true;
}

/* Give as many as may be under way. */
static void grant_more(struct ucp_rndv *rndv)
{
    struct ucp_rdma  *rdma = &rndv->by_rdma;
    struct ucp_piece *piece;

    while ((rndv->rdma.offset < rndv->rdma.end) &&
           (rdma->count < rdma->depth) && !ucp_rndv_is_over(rndv)) {
        piece = ucp_rdma_cut(
            rndv, ucp_rdma_next_lane(rndv, rdma->lanes, UCP_RDMA_PUT),
            UCP_RDMA_PUT, SIZE_MAX);
        if (piece == NULL) {
            ucp_rndv_give_up(rndv, UCS_ERR_NO_MEMORY);
            return;
        }
        if (!grant_send(piece)) {
            rdma_piece_over(piece, UCS_ERR_NO_MEMORY);
        }
    }
}

void ucp_rdma_grant(struct ucp_rndv *rndv, uint32_t lanes,
                    const struct ucp_range *range, size_t piece_bytes,
                    unsigned depth)
{
    rndv->rdma = *range;
    rndv->by_rdma.lanes =
        ucp_rdma_worth(rndv, lanes, UCP_RDMA_PUT, range->end - range->offset);
    rndv->by_rdma.total       = range->end - range->offset;
    rndv->by_rdma.piece_bytes = piece_bytes;
    rndv->by_rdma.depth       = depth;
    grant_more(rndv);
}

static struct ucp_piece *grant_find(struct ucp_rndv           *rndv,
                                    const struct ucp_wire_fin *fin)
{
    struct ucp_piece *piece;

    ucs_list_for_each (piece, &rndv->by_rdma.grants, link) {
        if ((piece->offset == fin->offset) && (piece->length == fin->length)) {
            return piece;
        }
    }
    return NULL;
}

/* S has written a piece, or could not. */
void ucp_rdma_grant_fin(struct ucp_rndv *rndv, const struct ucp_wire_fin *fin)
{
    struct ucp_piece *piece = grant_find(rndv, fin);

    if (piece == NULL) {
        ucp_worker_drop(rndv->ep->worker, rndv->ep, "a FIN");
        return;
    }
    ucs_list_remove(&piece->link);
    ucp_rndv_get(rndv);
    if (fin->status == UCS_OK) {
        ucp_worker_count(rndv->ep->worker, UCP_COUNT_PUT_IN, piece->length);
    }
    rdma_piece_over(piece, fin->status);
    grant_more(rndv);
    ucp_rndv_put(rndv);
}
