/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rdma_shared.c - protocol 6, shared form: the sender sends while it
 * is inside the library, and the receiver reads what the sender does not send.
 *
 *     S                                          R
 *     |==== RGET{claim, keys} + first data =====>| match
 *     |<--- ACK{all, shared} --------------------| you may send what you claim
 *     |==== FRAG, each piece claimed first =====>| unpack
 *     |     (S computes)                         | nothing comes: claim from
 *     |<=== get =================================| the back, read
 *     |<--- FIN{bytes read} ---------------------| if any
 *     S is done when all is claimed, its part sent,  R when all is there
 *     and R's part read
 *
 * Neither waits for a piece that the other has not claimed. R begins to read
 * when nothing has come from S for some microseconds, of any message, and stops
 * when something comes:
 * two processors that copy through chunks are faster than one in the kernel,
 * one in the kernel is faster than nobody (docs/adr/0028). A sender that
 * closes gives the word back; what R has read by then counts, what it reads
 * then does not. An R that does not reach the word, as one that has not sent
 * anything to S yet, reads all by itself; also where S had no word left. */
#include "ucp/proto/rdma_shared.h"

#include "ucp/proto/eager.h"
#include "ucp/proto/fragment.h"
#include "ucp/proto/rdma_piece.h"
#include "ucp/proto/wire.h"
#include "ucp/tag/recv.h"
#include "ucs/clock.h"

enum {
    SHARED_UNIT_BYTES = 65536, /* 5 us of reading, 1-2 us of sending */
    SHARED_COUNT_MAX  = 32767, /* both parts of the word together fit */
    SHARED_HEAD_BYTES = 12,    /* lane name:4 claim:8, then RGET's head */
    /* Longer than anything that S does between two fragments. */
    SHARED_PATIENCE_NS = 5000,
};

/* ---- the word ---- */

static uint32_t shared_front(uint64_t value)
{
    return (uint32_t)value & 0xffff;
}

static uint32_t shared_back(uint64_t value)
{
    return (uint32_t)value >> 16;
}

/* Is that the word of this message, and a unit of it nobody's? */
static bool shared_has_units(const struct ucp_share *share, uint64_t value)
{
    return uct_claim_is_current(share->name, value) &&
           (shared_front(value) + shared_back(value) < share->count);
}

/* Claim a unit for the end whose count grows by [step].
 * @return the word before; its upper half is another's: nothing is left. */
static uint64_t shared_claim(const struct ucp_share *share, uint32_t step)
{
    uint64_t value = atomic_load_explicit(share->word, memory_order_acquire);

    do {
        if (!shared_has_units(share, value)) {
            return 0;
        }
        /* The bytes are ordered by the messages; the word only divides. */
    } while (!atomic_compare_exchange_weak_explicit(
        share->word, &value, value + step, memory_order_acq_rel,
        memory_order_acquire));
    return value;
}

/* ---- both ends ---- */

static struct ucp_share *shared_create(struct ucp_rndv *rndv, unsigned lane,
                                       uint64_t name, _Atomic uint64_t *word)
{
    struct ucp_share *share = ucs_mpool_get(&rndv->ep->worker->share_pool);

    if (share != NULL) {
        *share = (struct ucp_share){
            .rndv = rndv, .lane = lane, .name = name, .word = word};
        rndv->share = share;
        ucs_list_init(&share->link);
    }
    return share;
}

/* The same units at both ends: the message decides. */
static void shared_divide(struct ucp_share *share, size_t first, size_t end)
{
    share->unit = SHARED_UNIT_BYTES;
    while ((end - first - 1) / share->unit >= SHARED_COUNT_MAX) {
        share->unit *= 2;
    }
    share->first   = first;
    share->front   = first;
    share->end     = end;
    share->count   = (uint32_t)((end - first - 1) / share->unit) + 1;
    share->is_open = true;
}

void ucp_share_destroy(struct ucp_share *share)
{
    struct ucp_ep *ep = share->rndv->ep;

    if (share->rndv->flags & UCP_RNDV_IS_RECV) {
        ucs_list_remove(&share->link);
    } else {
        ucti_claim_put(ep->lanes[share->lane].uct_ep->iface, share->name);
    }
    ucs_mpool_put(share);
}

/* ---- choosing ---- */

static uint32_t shared_query_lanes(const struct ucp_query *query)
{
    uint32_t lanes = ucp_rdma_query_lanes(query, UCP_RDMA_GET);

    for (unsigned i = 0; i < query->row_count; ++i) {
        if (!(query->rows[i].model.attr.flags & UCT_IFACE_CLAIMS)) {
            lanes &= ~(UINT32_C(1) << i);
        }
    }
    return lanes;
}

static ucs_status_t shared_offer(const struct ucp_query *query,
                                 struct ucp_offer       *offer_p)
{
    size_t      first;
    const char *reason = ucp_rdma_refusal(query, UCP_RDMA_GET, &first);
    uint32_t    lanes;

    if (reason != NULL) {
        return ucp_offer_refuse(offer_p, reason);
    }
    if (query->dt_kind != UCP_DT_CONTIG) {
        return ucp_offer_refuse(offer_p, "the data is not contiguous");
    }
    if (!ucp_rndv_is_wanted(query, UCP_RNDV_SHARED)) {
        return ucp_offer_refuse(offer_p, "UCX_RNDV_SCHEME asks for another");
    }
    lanes = shared_query_lanes(query);
    if (lanes == 0) {
        return ucp_offer_refuse(offer_p, "no lane has get and shared words");
    }
    return ucp_offer_sizes(
        offer_p, first, SIZE_MAX,
        ucs_linear_add(ucs_linear(ucp_rdma_keys_s, 0),
                       ucs_linear_add(ucp_fragments_cost(query, 2),
                                      ucp_rdma_register_cost(query, lanes))));
}

/* ---- the sender ---- */

/* A word of an interface whose lane R may read over. @return false: none. */
static bool shared_take_word(struct ucp_rndv *rndv, uint32_t lanes)
{
    struct ucp_ep *ep = rndv->ep;

    for (unsigned i = 0; i < ep->config->lane_count; ++i) {
        struct uct_iface *iface = ep->lanes[i].uct_ep->iface;
        uint64_t          name;

        if (!(lanes & (UINT32_C(1) << i)) || !ucti_claim_get(iface, &name)) {
            continue;
        }
        if (shared_create(rndv, i, name, ucti_iface_claim(iface, name)) !=
            NULL) {
            return true;
        }
        ucti_claim_put(iface, name);
    }
    return false;
}

/* How R finds it; zeros: all words are in use. */
static void shared_name_word(struct ucp_rndv *rndv, uint32_t lanes,
                             uint8_t *head)
{
    bool has_word = (rndv->share != NULL) || shared_take_word(rndv, lanes);

    ucs_put_le32(head,
                 has_word ? ucp_ep_lane_name(rndv->ep, rndv->share->lane) : 0);
    ucs_put_le64(head + 4, has_word ? rndv->share->name : 0);
}

static const char *shared_obstacle(const struct ucp_ep *ep, size_t piece_bytes)
{
    return ucp_rdma_obstacle(ep, UCP_RNDV_SHARED, UCP_RDMA_GET, piece_bytes);
}

static ucs_status_t shared_step(struct ucp_request *req)
{
    uint8_t head[SHARED_HEAD_BYTES + UCP_RDMA_HEAD_BYTES_MAX];
    size_t  room = req->send.ep->config->lane.attr.am.bcopy_bytes_max -
                  UCP_WIRE_RNDV_BYTES;
    struct ucp_rndv_start start = {
        .am_id = UCP_AM_RGET, .kind = UCP_RNDV_SHARED, .head = head};
    uint32_t         lanes = ucp_rdma_peer_lanes(req->send.ep, UCP_RDMA_GET);
    struct ucp_rndv *rndv;
    ucs_status_t     status;

    if ((req->send.id == 0) && (shared_obstacle(req->send.ep, 0) != NULL)) {
        return ucp_rndv_fall_back(req);
    }
    status = ucp_rndv_open(req, &rndv);
    if (status != UCS_OK) {
        return status;
    }
    /* Without a word R reads all, without a key it asks for fragments. */
    shared_name_word(rndv, lanes, head);
    lanes = ucp_rdma_register_all(rndv, lanes,
                                  UCT_ACCESS_LOCAL | UCT_ACCESS_REMOTE_READ);
    start.head_bytes =
        (uint16_t)(SHARED_HEAD_BYTES +
                   ucp_rdma_head_encode(rndv, lanes, head + SHARED_HEAD_BYTES,
                                        ucs_min(room, sizeof(head)) -
                                            SHARED_HEAD_BYTES));
    start.first_bytes_max = room - start.head_bytes;
    return ucp_rndv_start(rndv, &start);
}

bool ucp_share_begin(struct ucp_rndv *rndv, size_t offset, size_t length)
{
    struct ucp_share *share = rndv->share;

    if ((share == NULL) || (share->count > 0) || (length == 0) ||
        (length != rndv->unasked.bytes) ||
        (offset != rndv->req->dt.length - length)) {
        return false;
    }
    shared_divide(share, offset, offset + length);
    return true;
}

void ucp_share_claim(struct ucp_rndv *rndv)
{
    struct ucp_share *share  = rndv->share;
    size_t            wanted = rndv->ep->config->lane.attr.am.bcopy_bytes_max;
    size_t            end;
    ucs_status_t      status = UCS_OK;

    while (share->is_open && (status == UCS_OK) &&
           (rndv->asked.bytes < wanted)) {
        if ((share->front == share->end) || (shared_claim(share, 1) == 0)) {
            share->is_open = false;
            return;
        }
        end    = ucs_min(share->front + share->unit, share->end);
        status = ucp_extents_remove(&rndv->unasked, share->front, end);
        if (status == UCS_OK) {
            status = ucp_extents_add(&rndv->asked, share->front, end);
        }
        share->front = end;
    }
    if (status != UCS_OK) {
        ucp_rndv_give_up(rndv, status);
    }
}

/* ---- the receiver ---- */

/* The word that the head names. NULL: none, or this end does not reach it. */
static struct ucp_share *shared_find_word(struct ucp_rndv *rndv,
                                          const uint8_t *head, uint32_t lanes)
{
    uint64_t name = ucs_get_le64(head + 4);
    int      lane = ucp_rdma_find_lane(rndv->ep, lanes, ucs_get_le32(head));
    _Atomic uint64_t *word =
        ((lane < 0) || (name == 0))
            ? NULL
            : ucti_ep_claim(rndv->ep->lanes[lane].uct_ep, name);

    return (word == NULL) ? NULL
                          : shared_create(rndv, (unsigned)lane, name, word);
}

static ucs_status_t shared_answer(struct ucp_rndv          *rndv,
                                  const struct ucp_arrival *arrival)
{
    const uint8_t    *head  = arrival->data - arrival->head_length;
    uint32_t          lanes = ucp_rdma_own_lanes(rndv->ep, UCP_RDMA_GET);
    struct ucp_share *share;

    if (lanes == 0) {
        return UCS_ERR_UNREACHABLE;
    }
    if ((rndv->req->dt.dt_class != UCP_DT_CONTIG) ||
        (arrival->head_length < SHARED_HEAD_BYTES)) {
        return UCS_ERR_UNSUPPORTED;
    }
    lanes =
        ucp_rdma_head_decode(rndv, head + SHARED_HEAD_BYTES,
                             arrival->head_length - SHARED_HEAD_BYTES, lanes);
    if ((lanes == 0) || (rndv->by_rdma.layout->range.end < arrival->length)) {
        return UCS_ERR_UNSUPPORTED;
    }
    lanes = ucp_rdma_register_local(rndv, lanes);
    if (lanes == 0) {
        return UCS_ERR_UNSUPPORTED;
    }
    share = shared_find_word(rndv, head, lanes);
    if (share == NULL) {
        rndv->kind = UCP_RNDV_GET; /* its plain form */
        ucp_rdma_get(rndv, lanes, arrival->data_length, arrival->length);
        return UCS_OK;
    }
    shared_divide(share, arrival->data_length, arrival->length);
    share->seen               = rndv->ep->fragment_count;
    rndv->by_rdma.lanes       = lanes;
    rndv->by_rdma.piece_bytes = share->unit;
    ucs_list_add_tail(&rndv->ep->worker->shares, &share->link);
    ucp_fragment_share(rndv, share->first, share->end);
    return UCS_OK;
}

/* Claim the next unit from the back, to be read. @return false: none is left,
 * or what the word says cannot be. */
static bool shared_claim_back(struct ucp_share *share)
{
    struct ucp_rndv *rndv  = share->rndv;
    uint64_t         value = shared_claim(share, UINT32_C(1) << 16);
    size_t           begin, end;

    if (value == 0) {
        return false;
    }
    begin =
        share->first + (share->count - 1 - shared_back(value)) * share->unit;
    end = ucs_min(begin + share->unit, share->end);
    if (!ucp_extents_have(&rndv->asked, begin, end) ||
        (ucp_extents_remove(&rndv->asked, begin, end) != UCS_OK)) {
        ucp_worker_drop(rndv->ep->worker, rndv->ep, "a claim");
        return false;
    }
    rndv->rdma = (struct ucp_range){begin, end};
    return true;
}

/* Has nothing come from S for so long that R should read? The clock is read
 * only while nothing comes. */
static bool shared_is_quiet(struct ucp_share *share)
{
    uint32_t count = share->rndv->ep->fragment_count;

    if (share->seen != count) {
        share->seen     = count;
        share->since_ns = 0;
        return false;
    }
    if (share->since_ns == 0) {
        share->since_ns = ucsi_clock_ns();
        return false;
    }
    return ucsi_clock_ns() - share->since_ns >= SHARED_PATIENCE_NS;
}

/* Read a piece, if S does not send. @return events. */
static unsigned shared_look(struct ucp_share *share)
{
    struct ucp_rndv *rndv = share->rndv;

    if (ucp_rndv_is_over(rndv) || !shared_is_quiet(share)) {
        return 0;
    }
    if ((rndv->rdma.offset == rndv->rdma.end) &&
        (!share->is_open || !shared_claim_back(share))) {
        share->is_open = false;
        return 0;
    }
    ucp_rndv_get(rndv);
    (void)ucp_rdma_get_step(rndv); /* without room: the next look */
    ucp_rndv_put(rndv);
    return 1;
}

/* Is there something that R reads by itself, now or soon? */
static bool shared_has_work(const struct ucp_share *share)
{
    const struct ucp_rndv *rndv = share->rndv;
    uint64_t value = atomic_load_explicit(share->word, memory_order_acquire);

    return !ucp_rndv_is_over(rndv) &&
           ((rndv->rdma.offset < rndv->rdma.end) ||
            (share->is_open && shared_has_units(share, value)));
}

bool ucp_shares_have_work(const struct ucp_worker *worker)
{
    const struct ucp_share *share;

    ucs_list_for_each (share, &worker->shares, link) {
        if (shared_has_work(share)) {
            return true;
        }
    }
    return false;
}

unsigned ucp_shares_look(struct ucp_worker *worker)
{
    struct ucp_share *share =
        ucs_list_first(&worker->shares, struct ucp_share, link);

    /* One of them each time: a look reads one piece at most. */
    ucs_list_remove(&share->link);
    ucs_list_add_tail(&worker->shares, &share->link);
    return shared_look(share);
}

const struct ucp_proto ucp_rdma_shared_proto = {
    .name     = "rndv/rdma_shared",
    .summary  = "ask first, then the sender sends and the receiver reads what "
                "it does not send",
    .setting  = "UCX_RNDV_SCHEME",
    .offer    = shared_offer,
    .step     = shared_step,
    .abort    = ucp_rndv_abort_send,
    .answer   = shared_answer,
    .kind     = UCP_RNDV_SHARED,
    .answers  = UCP_DT_BIT(UCP_DT_CONTIG),
    .obstacle = shared_obstacle,
};
