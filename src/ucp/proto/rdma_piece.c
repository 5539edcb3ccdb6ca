/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rdma_piece.c - pieces of a message, and cutting a range into them
 * so that each lane gets its share. */
#include "ucp/proto/rdma_piece.h"

#include "ucp/core/worker.h"
#include "ucp/proto/rails.h"

struct ucp_piece *ucp_piece_create(struct ucp_rndv *rndv, unsigned lane,
                                   size_t offset, size_t length)
{
    struct ucp_piece *piece = ucs_mpool_get(&rndv->ep->worker->pieces);

    if (piece != NULL) {
        *piece = (struct ucp_piece){.rndv   = rndv,
                                    .offset = offset,
                                    .length = length,
                                    .lane   = (uint8_t)lane};
    }
    return piece;
}

void ucp_piece_release_memory(struct ucp_piece *piece)
{
    if (piece->reg != NULL) {
        ucp_reg_put(piece->reg);
        piece->reg = NULL;
    }
    ucp_regs_destroy(piece->regs);
    ucp_layout_destroy(piece->layout);
    piece->regs   = NULL;
    piece->layout = NULL;
}

void ucp_piece_destroy(struct ucp_piece *piece)
{
    ucp_piece_release_memory(piece);
    ucs_mpool_put(piece);
}

/* ---- one operation ---- */

/* Let the local side end with the remote one. */
static void lists_trim(struct ucp_rdma_lists *lists, size_t bytes)
{
    while (bytes >= lists->iov[lists->rma.iov_count - 1].length) {
        bytes -= lists->iov[--lists->rma.iov_count].length;
    }
    lists->iov[lists->rma.iov_count - 1].length -= bytes;
}

void ucp_rdma_lists_init(struct ucp_rdma_lists      *lists,
                         const struct ucp_piece     *piece,
                         struct ucp_layout          *layout,
                         const struct uct_op_limits *limits,
                         struct ucp_range            range)
{
    struct ucp_dt_iter *iter = &piece->rndv->by_rdma.local;
    size_t              local;

    lists->rma = (struct uct_rma){
        .iov    = lists->iov,
        .remote = lists->remote,
        .iov_count =
            ucs_min(limits->iov_count_max, (unsigned)UCP_RDMA_OP_COUNT_MAX),
        .remote_count =
            ucs_min(limits->remote_count_max, (unsigned)UCP_RDMA_OP_COUNT_MAX)};
    if (iter->length == 0) {
        *iter = piece->rndv->req->dt;
    }
    ucp_dt_iter_seek(iter, range.offset);
    local = ucp_dt_iter_pieces(
        iter, ucs_min(range.end - range.offset, limits->zcopy_bytes_max),
        lists->iov, &lists->rma.iov_count);
    range.end     = range.offset + local;
    lists->length = ucp_layout_pieces(layout, piece->lane, range, lists->remote,
                                      &lists->rma.remote_count);
    if (lists->length < local) {
        lists_trim(lists, local - lists->length);
    }
}

/* Register each entry. */
static ucs_status_t lists_register_runs(struct ucp_rdma_lists *lists,
                                        struct ucp_piece      *piece)
{
    struct ucp_regs *regs   = ucp_regs_create(piece->rndv->ep->worker);
    ucs_status_t     status = UCS_OK;

    if (regs == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    for (unsigned i = 0; (status == UCS_OK) && (i < lists->rma.iov_count);
         ++i) {
        status = ucp_rdma_register(piece->rndv->ep, piece->lane,
                                   lists->iov[i].buffer, lists->iov[i].length,
                                   UCT_ACCESS_LOCAL, &regs->regs[i]);
        if (status == UCS_OK) {
            lists->iov[i].mem = regs->regs[i]->mem;
            ++regs->count;
        }
    }
    if (status != UCS_OK) {
        ucp_regs_destroy(regs);
        return status;
    }
    piece->regs = regs;
    return UCS_OK;
}

ucs_status_t ucp_rdma_lists_register(struct ucp_rdma_lists *lists,
                                     struct ucp_piece      *piece)
{
    const struct ucp_rndv *rndv = piece->rndv;
    const struct ucp_reg  *reg =
        (piece->reg != NULL) ? piece->reg : rndv->by_rdma.regs[piece->lane];

    if (reg != NULL) {
        for (unsigned i = 0; i < lists->rma.iov_count; ++i) {
            lists->iov[i].mem = reg->mem;
        }
        return UCS_OK;
    }
    return ucp_rdma_needs_local(ucp_piece_model(piece))
               ? lists_register_runs(lists, piece)
               : UCS_OK;
}

/* ---- cutting a range ---- */

_Static_assert(((int)UCP_RDMA_PUT == (int)UCP_RAIL_PUT) &&
                   ((int)UCP_RDMA_GET == (int)UCP_RAIL_GET),
               "a lane puts, gets, or sends");

uint32_t ucp_rdma_worth(const struct ucp_rndv *rndv, uint32_t lanes,
                        enum ucp_rdma_op op, size_t length)
{
    return ucp_rails_for(rndv->ep->config->lanes, lanes, (enum ucp_rail_use)op,
                         length,
                         rndv->ep->worker->context->config.rndv_share_bytes);
}

unsigned ucp_rdma_next_lane(const struct ucp_rndv *rndv, uint32_t lanes,
                            enum ucp_rdma_op op)
{
    return ucp_rails_next(rndv->ep->config->lanes, lanes, (enum ucp_rail_use)op,
                          rndv->by_rdma.lane_bytes);
}

struct ucp_piece *ucp_rdma_cut(struct ucp_rndv *rndv, unsigned lane,
                               enum ucp_rdma_op op, size_t length_max)
{
    struct ucp_rdma  *rdma   = &rndv->by_rdma;
    size_t            length = rdma->piece_bytes;
    struct ucp_piece *piece;

    if (length == 0) {
        length = ucp_rails_share(rndv->ep->config->lanes, rdma->lanes,
                                 (enum ucp_rail_use)op, lane, rdma->total);
    }
    length = ucs_min(length, length_max);
    length = ucs_min(length, rndv->rdma.end - rndv->rdma.offset);
    piece  = ucp_piece_create(rndv, lane, rndv->rdma.offset, length);
    if (piece != NULL) {
        rndv->rdma.offset += length;
        rdma->lane_bytes[lane] += length;
        ++rdma->count;
    }
    return piece;
}

void ucp_rdma_shorten(struct ucp_piece *piece, size_t length)
{
    struct ucp_rndv *rndv = piece->rndv;
    size_t           rest = piece->length - length;

    rndv->rdma.offset -= rest;
    rndv->by_rdma.lane_bytes[piece->lane] -= rest;
    piece->length = length;
}

void ucp_rdma_uncut(struct ucp_piece *piece)
{
    ucp_rdma_shorten(piece, 0);
    --piece->rndv->by_rdma.count;
    ucp_piece_destroy(piece);
}

static void fin_is_sent(void *arg)
{
    ucp_rndv_put(arg);
}

void ucp_rdma_send_fin(struct ucp_rndv *rndv, const struct ucp_wire_fin *fin)
{
    uint8_t bytes[UCP_WIRE_FIN_BYTES];

    ucp_wire_fin_encode(bytes, fin);
    ucp_ep_send_control_then(rndv->ep, UCP_AM_FIN, bytes, sizeof(bytes),
                             fin_is_sent, rndv);
}

/* ---- both ends ---- */

bool ucp_rdma_is_ready(const struct ucp_rndv *rndv)
{
    return (rndv->flags & UCP_RNDV_IS_RECV)
               ? (rndv->kind == UCP_RNDV_GET) &&
                     (rndv->rdma.offset < rndv->rdma.end)
               : !ucs_queue_is_empty(&rndv->by_rdma.puts);
}

ucs_status_t ucp_rdma_step(struct ucp_rndv *rndv)
{
    return (rndv->flags & UCP_RNDV_IS_RECV) ? ucp_rdma_get_step(rndv)
                                            : ucp_rdma_put_step(rndv);
}

void ucp_rdma_drop(struct ucp_rndv *rndv)
{
    struct ucp_rdma       *rdma = &rndv->by_rdma;
    struct ucs_queue_elem *elem;
    struct ucp_piece      *piece;

    while ((elem = ucs_queue_pull(&rdma->puts)) != NULL) {
        ucp_piece_destroy(ucs_container_of(elem, struct ucp_piece, queue));
        --rndv->in_flight;
    }
    while (!ucs_list_is_empty(&rdma->grants)) {
        piece = ucs_list_first(&rdma->grants, struct ucp_piece, link);
        ucs_list_remove(&piece->link);
        ucp_piece_destroy(piece);
    }
}

/* ---- FIN ---- */
static ucs_status_t fin_receive(void *arg, struct uct_source *source,
                                void *data, size_t length, unsigned flags)
{
    struct ucp_worker  *worker = ((struct ucp_worker_iface *)arg)->worker;
    struct ucp_request *req    = NULL;
    struct ucp_wire_fin fin;
    struct ucp_rndv    *rndv;

    (void)flags;
    if (!ucp_wire_fin_decode(data, length, &fin)) {
        ucp_worker_drop(worker, source->user, "a FIN");
        return UCS_OK;
    }
    req = ucp_worker_request_of_id(worker, source->user, fin.id);
    if ((req != NULL) && (req->flags & UCP_REQUEST_TAG_RECV)) {
        ucp_rdma_grant_fin(req->recv.rndv, &fin);
        return UCS_OK;
    }
    rndv = ucp_rndv_answered(worker, source->user, fin.id);
    if (rndv != NULL) {
        ucp_rdma_get_fin(rndv, &fin);
    }
    return UCS_OK;
}

const struct ucp_handler ucp_rdma_handlers[] = {
    {UCP_AM_PUT, ucp_rdma_put_receive},
    {UCP_AM_FIN, fin_receive},
    {0, NULL},
};
