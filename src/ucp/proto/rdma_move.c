/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rdma_move.c - pieces of a message by put and get, PUT and FIN at
 * both ends.
 *
 * Each piece holds the message (ucp_rndv_get) from when it is made at the
 * sender of a put, from when it is posted at the reader, until it is over.
 * What R has granted holds nothing: S may be gone. */
#include "ucp/proto/rdma.h"

#include "ucp/core/worker.h"
#include "ucp/proto/fragment.h"
#include "ucp/proto/wire.h"

static const struct ucp_lane_model *piece_model(const struct ucp_piece *piece)
{
    return &piece->rndv->ep->config->lanes[piece->lane].model;
}

static struct uct_ep *piece_ep(const struct ucp_piece *piece)
{
    return piece->rndv->ep->lanes[piece->lane].uct_ep;
}

static struct ucp_piece *piece_create(struct ucp_rndv *rndv, unsigned lane,
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

static void piece_release_memory(struct ucp_piece *piece)
{
    if (piece->reg != NULL) {
        ucp_reg_put(piece->reg);
        piece->reg = NULL;
    }
    if (piece->rkey != NULL) {
        piece->rkey->md->transport->rkey_release(piece->rkey);
        piece->rkey = NULL;
    }
}

static void piece_destroy(struct ucp_piece *piece)
{
    piece_release_memory(piece);
    ucs_mpool_put(piece);
}

/* What the iov of an operation says of [offset, offset + length). */
static struct uct_iov piece_iov(const struct ucp_piece *piece, size_t offset,
                                size_t length)
{
    struct ucp_rndv      *rndv = piece->rndv;
    const struct ucp_reg *reg  = (piece->reg != NULL) ?
                                     piece->reg :
                                     rndv->by_rdma.regs[piece->lane];

    return (struct uct_iov){
        .buffer = (char *)rndv->req->dt.contig + offset,
        .length = length,
        .mem    = (reg == NULL) ? NULL : reg->mem,
    };
}

/* ---- cutting a range ---- */

/* The lane that has the smallest part of what it should have by now. */
static unsigned rdma_next_lane(const struct ucp_rndv *rndv, uint32_t lanes,
                               enum ucp_rdma_op op)
{
    const struct ucp_ep_config *config = rndv->ep->config;
    unsigned                    best   = 0;
    double                      best_s = HUGE_VAL;

    for (unsigned i = 0; i < config->lane_count; ++i) {
        const struct uct_iface_attr *attr = &config->lanes[i].model.attr;
        double bandwidth = (op == UCP_RDMA_PUT) ? attr->put_cost.bandwidth_Bps :
                                                  attr->get_cost.bandwidth_Bps;
        double time_s = (double)(rndv->by_rdma.lane_bytes[i] + 1) /
                        ucs_max(bandwidth, 1.0);

        if ((lanes & (UINT32_C(1) << i)) && (time_s < best_s)) {
            best   = i;
            best_s = time_s;
        }
    }
    return best;
}

/* A lane's share of the whole message, in pages: all of it for the only one.
 */
static size_t rdma_share(const struct ucp_rndv *rndv, unsigned lane,
                         enum ucp_rdma_op op)
{
    enum { SHARE_ALIGN_BYTES = 4096 };
    const struct ucp_ep_config *config = rndv->ep->config;
    double                      own = 0, all = 0;
    size_t                      share;

    for (unsigned i = 0; i < config->lane_count; ++i) {
        const struct uct_iface_attr *attr = &config->lanes[i].model.attr;
        double bandwidth = (op == UCP_RDMA_PUT) ? attr->put_cost.bandwidth_Bps :
                                                  attr->get_cost.bandwidth_Bps;

        if (rndv->by_rdma.lanes & (UINT32_C(1) << i)) {
            all += bandwidth;
            own += (i == lane) ? bandwidth : 0;
        }
    }
    if (own >= all) {
        return rndv->by_rdma.total;
    }
    share = (size_t)((double)rndv->by_rdma.total * own / all);
    return (share / SHARE_ALIGN_BYTES + 1) * SHARE_ALIGN_BYTES;
}

/* Cut the next piece for a lane off the range. NULL: no memory. */
static struct ucp_piece *rdma_cut(struct ucp_rndv *rndv, unsigned lane,
                                  enum ucp_rdma_op op, size_t length_max)
{
    struct ucp_rdma  *rdma   = &rndv->by_rdma;
    size_t            length = rdma->piece_bytes;
    struct ucp_piece *piece;

    if (length == 0) {
        length = rdma_share(rndv, lane, op);
    }
    length = ucs_min(length, length_max);
    length = ucs_min(length, rndv->rdma.end - rndv->rdma.offset);
    piece  = piece_create(rndv, lane, rndv->rdma.offset, length);
    if (piece != NULL) {
        rndv->rdma.offset += length;
        rdma->lane_bytes[lane] += length;
        ++rdma->count;
    }
    return piece;
}

/* Take back the piece that was cut last. */
static void rdma_uncut(struct ucp_piece *piece)
{
    struct ucp_rndv *rndv = piece->rndv;

    rndv->rdma.offset -= piece->length;
    rndv->by_rdma.lane_bytes[piece->lane] -= piece->length;
    --rndv->by_rdma.count;
    piece_destroy(piece);
}

/* ---- R: a piece is over ---- */

static void rdma_send_fin(struct ucp_ep *ep, const struct ucp_wire_fin *fin)
{
    uint8_t bytes[UCP_WIRE_FIN_BYTES];

    ucp_wire_fin_encode(bytes, fin);
    ucp_ep_send_control(ep, UCP_AM_FIN, bytes, sizeof(bytes));
}

void ucp_rdma_ask_failed(struct ucp_rndv *rndv)
{
    struct ucs_queue_elem *elem;
    struct ucp_piece      *piece;
    size_t                 offset, end;

    if (!ucp_fragment_is_idle(rndv)) {
        return;
    }
    elem = ucs_queue_pull(&rndv->by_rdma.failed);
    if (elem != NULL) {
        piece  = ucs_container_of(elem, struct ucp_piece, queue);
        offset = piece->offset;
        end    = piece->offset + piece->length;
        piece_destroy(piece);
        ucp_fragment_want(rndv, offset, end);
    }
}

static void rdma_piece_over(struct ucp_piece *piece, ucs_status_t status)
{
    struct ucp_rndv *rndv = piece->rndv;

    --rndv->by_rdma.count;
    if (ucp_rndv_is_over(rndv)) {
        piece_destroy(piece);
    } else if (status == UCS_OK) {
        rndv->req->recv.remaining -= piece->length;
        piece_destroy(piece);
    } else {
        piece_release_memory(piece);
        ucs_queue_push(&rndv->by_rdma.failed, &piece->queue);
        ucp_rdma_ask_failed(rndv);
    }
}

/* ---- R: get ---- */

void ucp_rdma_get(struct ucp_rndv *rndv, uint32_t lanes, size_t offset,
                  size_t end)
{
    rndv->rdma                = (struct ucp_range){offset, end};
    rndv->by_rdma.lanes       = lanes;
    rndv->by_rdma.total       = end - offset;
    rndv->by_rdma.piece_bytes = 0;
    ucp_rndv_submit(rndv);
}

/* All is read, or failed: tell the sender how much it need not send. */
static void get_check_end(struct ucp_rndv *rndv)
{
    struct ucp_wire_fin fin = {.id     = rndv->peer_id,
                               .length = rndv->by_rdma.read};

    if ((rndv->by_rdma.count == 0) && (fin.length > 0) &&
        (rndv->rdma.offset == rndv->rdma.end) && !ucp_rndv_is_over(rndv)) {
        rndv->by_rdma.read = 0;
        rdma_send_fin(rndv->ep, &fin);
    }
}

static void get_over(struct ucp_piece *piece, ucs_status_t status)
{
    struct ucp_rndv *rndv = piece->rndv;

    if (status == UCS_OK) {
        rndv->by_rdma.read += piece->length;
        ucp_worker_count(rndv->ep->worker, UCP_COUNT_GET_IN, piece->length);
    }
    rdma_piece_over(piece, status);
    get_check_end(rndv);
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
    struct ucp_rndv *rndv = piece->rndv;
    struct uct_iov   iov  = piece_iov(piece, piece->offset, piece->length);
    struct uct_ep   *lane = piece_ep(piece);
    ucs_status_t     status;

    piece->base.cb = get_done;
    ucp_rndv_get(rndv);
    status = lane->transport->get_zcopy(
        lane, &iov, 1, rndv->by_rdma.remote + piece->offset,
        rndv->by_rdma.rkeys[piece->lane], &piece->base, UCT_FLAG_PENDING);
    if (status == UCS_INPROGRESS) {
        return UCS_OK;
    }
    --rndv->in_flight; /* not the last one: the step holds another */
    if (status == UCS_ERR_WOULD_BLOCK) {
        rdma_uncut(piece);
        return status;
    }
    get_over(piece, status);
    return UCS_OK;
}

static ucs_status_t get_step(struct ucp_rndv *rndv)
{
    uint32_t     lanes  = rndv->by_rdma.lanes;
    ucs_status_t status = UCS_ERR_WOULD_BLOCK;

    while ((lanes != 0) && (status == UCS_ERR_WOULD_BLOCK)) {
        unsigned lane = rdma_next_lane(rndv, lanes, UCP_RDMA_GET);
        struct ucp_piece *piece =
            rdma_cut(rndv, lane, UCP_RDMA_GET,
                     rndv->ep->config->lanes[lane].model.attr.get
                         .zcopy_bytes_max);

        if (piece == NULL) {
            ucp_rndv_give_up(rndv, UCS_ERR_NO_MEMORY);
            return UCS_OK;
        }
        status = get_post(piece);
        lanes &= ~(UINT32_C(1) << lane);
    }
    return status;
}

/* ---- R: grants ---- */

/* @return false: it could not be given; it counts as failed. */
static bool grant_send(struct ucp_piece *piece)
{
    struct ucp_rndv    *rndv = piece->rndv;
    const struct ucp_reg *reg = rndv->by_rdma.regs[piece->lane];
    char               *address = (char *)rndv->req->dt.contig + piece->offset;
    uint8_t             key[UCT_RKEY_BYTES_MAX];
    uint8_t             bytes[UCP_WIRE_PUT_BYTES + UCT_RKEY_BYTES_MAX];
    struct ucp_wire_put put = {
        .sender_id   = rndv->peer_id,
        .receiver_id = rndv->req->recv.id,
        .offset      = piece->offset,
        .length      = piece->length,
        .address     = (uintptr_t)address,
        .lane_name   = ucp_ep_lane_name(rndv->ep, piece->lane),
        .key         = key,
    };

    if (reg == NULL) {
        if (ucp_rdma_register(rndv->ep, piece->lane, address, piece->length,
                              UCT_ACCESS_LOCAL | UCT_ACCESS_REMOTE_WRITE,
                              &piece->reg) != UCS_OK) {
            piece->reg = NULL;
            return false;
        }
        reg = piece->reg;
    }
    put.key_length = (uint8_t)ucp_rdma_pack_key(reg, key);
    ucs_list_add_tail(&rndv->by_rdma.grants, &piece->link);
    ucp_ep_send_control(rndv->ep, UCP_AM_PUT, bytes,
                        ucp_wire_put_encode(bytes, &put));
    return true;
}

/* Give as many as may be under way. */
static void grant_more(struct ucp_rndv *rndv)
{
    struct ucp_rdma  *rdma = &rndv->by_rdma;
    struct ucp_piece *piece;

    while ((rndv->rdma.offset < rndv->rdma.end) &&
           (rdma->count < rdma->depth) && !ucp_rndv_is_over(rndv)) {
        piece = rdma_cut(rndv, rdma_next_lane(rndv, rdma->lanes, UCP_RDMA_PUT),
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
    rndv->rdma                = *range;
    rndv->by_rdma.lanes       = lanes;
    rndv->by_rdma.total       = range->end - range->offset;
    rndv->by_rdma.piece_bytes = piece_bytes;
    rndv->by_rdma.depth       = depth;
    grant_more(rndv);
}

static struct ucp_piece *grant_find(struct ucp_rndv           *rndv,
                                    const struct ucp_wire_fin *fin)
{
    struct ucp_piece *piece;

    ucs_list_for_each(piece, &rndv->by_rdma.grants, link) {
        if ((piece->offset == fin->offset) && (piece->length == fin->length)) {
            return piece;
        }
    }
    return NULL;
}

/* S has written a piece, or could not. */
static void grant_receive_fin(struct ucp_rndv           *rndv,
                              const struct ucp_wire_fin *fin)
{
    struct ucp_piece *piece = grant_find(rndv, fin);

    if (piece == NULL) {
        ++rndv->ep->worker->bad_ids;
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

/* ---- S: put ---- */

/* The piece is over; tell R. Releases a use of the message. */
static void put_over(struct ucp_piece *piece, ucs_status_t status)
{
    struct ucp_rndv    *rndv = piece->rndv;
    struct ucp_wire_fin fin  = {.id     = rndv->peer_id,
                                .offset = piece->offset,
                                .length = piece->length,
                                .status = status};

    piece_destroy(piece);
    if (!ucp_rndv_is_over(rndv)) {
        if (status == UCS_OK) {
            ucp_worker_count(rndv->ep->worker, UCP_COUNT_PUT_OUT, fin.length);
        } else {
            rndv->unclaimed += fin.length;
        }
        rdma_send_fin(rndv->ep, &fin);
    }
    ucp_rndv_put(rndv);
}

/* Does a message that follows a completed put find its data? */
static bool put_is_visible(const struct ucp_piece *piece)
{
    unsigned flags = piece_model(piece)->attr.flags;

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

static void put_done(struct uct_req *self)
{
    struct ucp_piece *piece = ucs_container_of(self, struct ucp_piece, base);

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
    struct uct_ep *lane = piece_ep(piece);
    size_t         left = piece->length - piece->done;
    struct uct_iov iov;

    if (left == 0) {
        piece->base.cb = put_flushed;
        return uct_ep_flush(lane, &piece->base, UCT_FLAG_PENDING);
    }
    piece->posted  = ucs_min(left, piece_model(piece)->attr.put.zcopy_bytes_max);
    piece->base.cb = put_done;
    iov = piece_iov(piece, piece->offset + piece->done, piece->posted);
    return lane->transport->put_zcopy(lane, &iov, 1,
                                      piece->remote + piece->done, piece->rkey,
                                      &piece->base, UCT_FLAG_PENDING);
}

static ucs_status_t put_step(struct ucp_rndv *rndv)
{
    struct ucp_piece *piece =
        ucs_container_of(ucs_queue_pull(&rndv->by_rdma.puts), struct ucp_piece,
                         queue);
    bool         is_flush = (piece->done == piece->length);
    ucs_status_t status   = put_post(piece);

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
    size_t length = rndv->req->dt.length;

    return ((rndv->kind == UCP_RNDV_PUT) ||
            (rndv->kind == UCP_RNDV_PIPELINE)) &&
           (put->receiver_id != 0) &&
           ((rndv->peer_id == 0) || (rndv->peer_id == put->receiver_id)) &&
           (put->length > 0) && (put->length <= rndv->unclaimed) &&
           (put->offset <= length) && (put->length <= length - put->offset);
}

/* Make the piece that a PUT asks for: find its lane, its key, its memory.
 * @return NULL: this end cannot. */
static struct ucp_piece *put_create(struct ucp_rndv           *rndv,
                                    const struct ucp_wire_put *put)
{
    struct ucp_ep *ep   = rndv->ep;
    int            lane = ucp_rdma_find_lane(
        ep, ucp_rdma_own_lanes(ep, UCP_RDMA_PUT), put->lane_name);
    struct ucp_piece *piece;

    if (lane < 0) {
        return NULL;
    }
    piece = piece_create(rndv, (unsigned)lane, put->offset, put->length);
    if (piece == NULL) {
        return NULL;
    }
    piece->remote = put->address;
    if (ucp_rdma_unpack_key(ep, (unsigned)lane, put->key, put->key_length,
                            &piece->rkey) != UCS_OK) {
        piece->rkey = NULL;
        piece_destroy(piece);
        return NULL;
    }
    if ((rndv->by_rdma.regs[lane] == NULL) &&
        ucp_rdma_needs_local(piece_model(piece)) &&
        (ucp_rdma_register(ep, (unsigned)lane,
                           (char *)rndv->req->dt.contig + piece->offset,
                           piece->length, UCT_ACCESS_LOCAL,
                           &piece->reg) != UCS_OK)) {
        piece->reg = NULL;
        piece_destroy(piece);
        return NULL;
    }
    return piece;
}

static void put_accept(struct ucp_rndv *rndv, const struct ucp_wire_put *put)
{
    struct ucp_piece   *piece = put_create(rndv, put);
    struct ucp_wire_fin fin   = {.id     = put->receiver_id,
                                 .offset = put->offset,
                                 .length = put->length,
                                 .status = UCS_ERR_UNREACHABLE};

    rndv->peer_id = put->receiver_id;
    ucp_rndv_match(rndv);
    if (piece == NULL) {
        rdma_send_fin(rndv->ep, &fin);
        return;
    }
    rndv->unclaimed -= put->length;
    ucp_rndv_get(rndv);
    ucs_queue_push(&rndv->by_rdma.puts, &piece->queue);
    ucp_rndv_submit(rndv);
}

static ucs_status_t put_receive(void *arg, struct uct_source *source,
                                void *data, size_t length, unsigned flags)
{
    struct ucp_worker  *worker = ((struct ucp_worker_iface *)arg)->worker;
    struct ucp_rndv    *rndv;
    struct ucp_wire_put put;

    (void)flags;
    if (!ucp_wire_put_decode(data, length, &put)) {
        ++worker->bad_ids;
        return UCS_OK;
    }
    rndv = ucp_rndv_answered(worker, source->user, put.sender_id);
    if (rndv == NULL) {
        return UCS_OK;
    }
    if (!put_may(rndv, &put)) {
        ++worker->bad_ids;
        return UCS_OK;
    }
    ucp_rndv_get(rndv);
    put_accept(rndv, &put);
    ucp_rndv_put(rndv);
    return UCS_OK;
}

/* ---- FIN ---- */

/* R has read so much. */
static void get_receive_fin(struct ucp_rndv           *rndv,
                            const struct ucp_wire_fin *fin)
{
    struct ucp_worker *worker = rndv->ep->worker;

    if ((rndv->kind != UCP_RNDV_GET) || (fin->status != UCS_OK) ||
        (fin->length == 0) || (fin->length > rndv->unclaimed)) {
        ++worker->bad_ids;
        return;
    }
    ucp_rndv_get(rndv);
    ucp_rndv_match(rndv);
    rndv->unclaimed -= fin->length;
    ucp_worker_count(worker, UCP_COUNT_GET_OUT, fin->length);
    ucp_rndv_put(rndv);
}

static ucs_status_t fin_receive(void *arg, struct uct_source *source,
                                void *data, size_t length, unsigned flags)
{
    struct ucp_worker  *worker = ((struct ucp_worker_iface *)arg)->worker;
    struct ucp_request *req    = NULL;
    struct ucp_wire_fin fin;
    struct ucp_rndv    *rndv;

    (void)flags;
    if (!ucp_wire_fin_decode(data, length, &fin)) {
        ++worker->bad_ids;
        return UCS_OK;
    }
    req = ucp_worker_request_of_id(worker, source->user, fin.id);
    if ((req != NULL) && (req->flags & UCP_REQUEST_TAG_RECV)) {
        grant_receive_fin(req->recv.rndv, &fin);
        return UCS_OK;
    }
    rndv = ucp_rndv_answered(worker, source->user, fin.id);
    if (rndv != NULL) {
        get_receive_fin(rndv, &fin);
    }
    return UCS_OK;
}

/* ---- both ---- */

bool ucp_rdma_is_ready(const struct ucp_rndv *rndv)
{
    return (rndv->flags & UCP_RNDV_IS_RECV) ?
               (rndv->kind == UCP_RNDV_GET) &&
                   (rndv->rdma.offset < rndv->rdma.end) :
               !ucs_queue_is_empty(&rndv->by_rdma.puts);
}

ucs_status_t ucp_rdma_step(struct ucp_rndv *rndv)
{
    return (rndv->flags & UCP_RNDV_IS_RECV) ? get_step(rndv) : put_step(rndv);
}

void ucp_rdma_drop(struct ucp_rndv *rndv)
{
    struct ucp_rdma       *rdma = &rndv->by_rdma;
    struct ucs_queue_elem *elem;
    struct ucp_piece      *piece;

    while ((elem = ucs_queue_pull(&rdma->puts)) != NULL) {
        piece_destroy(ucs_container_of(elem, struct ucp_piece, queue));
        --rndv->in_flight;
    }
    while ((elem = ucs_queue_pull(&rdma->failed)) != NULL) {
        piece_destroy(ucs_container_of(elem, struct ucp_piece, queue));
    }
    while (!ucs_list_is_empty(&rdma->grants)) {
        piece = ucs_list_first(&rdma->grants, struct ucp_piece, link);
        ucs_list_remove(&piece->link);
        piece_destroy(piece);
    }
}

const struct ucp_handler ucp_rdma_handlers[] = {
    {UCP_AM_PUT, put_receive},
    {UCP_AM_FIN, fin_receive},
    {0, NULL},
};
