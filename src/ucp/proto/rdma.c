/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rdma.c - which lanes can put and get, what that costs, memory and
 * keys. The moving is in rdma_read.c and rdma_write.c. */
#include "ucp/proto/rdma.h"

#include "ucp/core/reg_cache.h"
#include "ucp/core/worker.h"
#include "ucp/proto/eager.h"
#include "ucp/proto/layout.h"
#include "ucp/proto/wire.h"

/* ---- choosing ---- */

static bool rdma_lane_can(const struct ucp_lane_model *model,
                          enum ucp_rdma_op             op)
{
    const struct uct_transport *transport = model->transport;

    if ((transport->mem_register == NULL) || (transport->rkey_pack == NULL)) {
        return false;
    }
    return (op == UCP_RDMA_PUT) ? (transport->put_zcopy != NULL) &&
                                      (model->attr.put.zcopy_bytes_max > 0)
                                : (transport->get_zcopy != NULL) &&
                                      (model->attr.get.zcopy_bytes_max > 0);
}

static const struct uct_rma_cost *
rdma_lane_cost(const struct ucp_lane_model *model, enum ucp_rdma_op op)
{
    return (op == UCP_RDMA_PUT) ? &model->attr.put_cost : &model->attr.get_cost;
}

uint32_t ucp_rdma_query_lanes(const struct ucp_query *query,
                              enum ucp_rdma_op        op)
{
    uint32_t lanes = 0;

    for (unsigned i = 0; i < query->row_count; ++i) {
        if (rdma_lane_can(&query->rows[i].model, op)) {
            lanes |= UINT32_C(1) << i;
        }
    }
    return lanes;
}

struct ucs_linear ucp_rdma_cost(const struct ucp_query *query, uint32_t lanes,
                                enum ucp_rdma_op op)
{
    struct ucs_linear cost      = {0};
    double            bandwidth = 0;

    for (unsigned i = 0; i < query->row_count; ++i) {
        const struct uct_rma_cost *lane =
            rdma_lane_cost(&query->rows[i].model, op);

        if (lanes & (UINT32_C(1) << i)) {
            bandwidth += lane->bandwidth_Bps;
            cost.base_s =
                ucs_max(cost.base_s,
                        lane->latency_s + lane->overhead_s + ucp_rdma_keys_s);
        }
    }
    cost.per_byte_s = (bandwidth > 0) ? 1.0 / bandwidth : 0;
    return cost;
}

bool ucp_rdma_needs_local(const struct ucp_lane_model *model)
{
    /* Inside the node a processor moves the bytes: no device must know. */
    return !(model->attr.flags & UCT_IFACE_INTRA_NODE);
}

struct ucs_linear ucp_rdma_register_cost(const struct ucp_query *query,
                                         uint32_t                lanes)
{
    struct ucs_linear cost = {0};

    for (unsigned i = 0; i < query->row_count; ++i) {
        const struct ucp_lane_model *model = &query->rows[i].model;
        double                       ends = ucp_rdma_needs_local(model) ? 2 : 1;

        if (lanes & (UINT32_C(1) << i)) {
            cost.base_s += ends * model->attr.cost.register_base_s;
            cost.per_byte_s += ends * model->attr.cost.register_per_byte_s;
        }
    }
    return cost;
}

/* Pieces that an operation takes, at the end that takes fewer. */
static unsigned rdma_op_pieces(const struct ucp_lane_model *model,
                               enum ucp_rdma_op             op)
{
    const struct uct_op_limits *limits =
        (op == UCP_RDMA_PUT) ? &model->attr.put : &model->attr.get;
    unsigned count = ucs_min(limits->iov_count_max, limits->remote_count_max);

    return ucs_max(ucs_min(count, (unsigned)UCP_RDMA_OP_COUNT_MAX), 1u);
}

double ucp_rdma_piece_cost(const struct ucp_query *query, uint32_t lanes,
                           enum ucp_rdma_op op)
{
    double piece_s = ucp_rdma_run_s;
    double op_s    = 0;

    for (unsigned i = 0; i < query->row_count; ++i) {
        const struct ucp_lane_model *model = &query->rows[i].model;

        if (lanes & (UINT32_C(1) << i)) {
            op_s = ucs_max(op_s, rdma_lane_cost(model, op)->overhead_s /
                                     rdma_op_pieces(model, op));
        }
    }
    if (query->dt_kind != UCP_DT_STRIDED) { /* that is registered as one */
        piece_s += ucp_rdma_register_cost(query, lanes).base_s;
    }
    return piece_s + op_s;
}

const char *ucp_rdma_refusal(const struct ucp_query *query, enum ucp_rdma_op op,
                             size_t *first_p)
{
    if (query->dt_kind == UCP_DT_GENERIC) {
        return "a generic datatype has no memory to show";
    }
    if (query->mode == UCP_MODE_BUFFERED) {
        return "a buffered message leaves the user's buffer at once";
    }
    if (ucp_rdma_query_lanes(query, op) == 0) {
        return (op == UCP_RDMA_PUT) ? "no lane has put" : "no lane has get";
    }
    if ((query->lane->transport->am_bcopy == NULL) ||
        (query->lane->attr.am.bcopy_bytes_max <
         UCP_WIRE_RNDV_BYTES + UCP_LAYOUT_BYTES_MIN)) {
        return "the message lane has no am_bcopy for keys";
    }
    if (!ucp_rndv_bytes_first(query, first_p)) {
        return "UCX_RNDV_THRESH is inf";
    }
    *first_p = ucs_max(*first_p, (size_t)1); /* nothing cannot be registered */
    return NULL;
}

ucs_status_t ucp_rdma_offer(const struct ucp_query *query,
                            enum ucp_rndv_kind kind, enum ucp_rdma_op op,
                            struct ucp_offer *offer_p)
{
    const struct uct_cost *am = &query->lane->attr.cost;
    /* RNDV, PUT and FIN; RGET and FIN. */
    unsigned    messages = (op == UCP_RDMA_PUT) ? 3 : 2;
    size_t      first;
    const char *reason = ucp_rdma_refusal(query, op, &first);
    uint32_t    lanes;

    if (reason != NULL) {
        return ucp_offer_refuse(offer_p, reason);
    }
    if (!ucp_rndv_is_wanted(query, kind)) {
        return ucp_offer_refuse(offer_p, "UCX_RNDV_SCHEME asks for another");
    }
    lanes            = ucp_rdma_query_lanes(query, op);
    offer_p->piece_s = ucp_rdma_piece_cost(query, lanes, op);
    return ucp_offer_sizes(
        offer_p, first, SIZE_MAX,
        ucs_linear_add(
            ucs_linear(messages * (am->latency_s + 2 * am->overhead_s), 0),
            ucs_linear_add(ucp_rdma_cost(query, lanes, op),
                           ucp_rdma_register_cost(query, lanes))));
}

size_t ucp_rdma_piece_bytes_min(const struct ucp_lane_model *model)
{
    double overhead_s = ucs_max(model->attr.put_cost.overhead_s,
                                model->attr.get_cost.overhead_s);

    return (size_t)((overhead_s + model->attr.cost.register_base_s) /
                    (2 * ucp_copy_s_per_byte));
}

/* Are pieces of so many bytes worth describing? 0: it is one block. */
static bool rdma_pieces_are_worth(const struct ucp_ep *ep, size_t piece_bytes,
                                  uint32_t lanes)
{
    for (unsigned i = 0; (piece_bytes > 0) && (i < ep->config->lane_count);
         ++i) {
        if ((lanes & (UINT32_C(1) << i)) &&
            (piece_bytes <
             ucp_rdma_piece_bytes_min(&ep->config->lanes[i].model))) {
            return false;
        }
    }
    return true;
}

bool ucp_rdma_can_show(const struct ucp_ep *ep, const struct ucp_dt_iter *iter,
                       uint32_t lanes)
{
    return (iter->dt_class != UCP_DT_GENERIC) &&
           rdma_pieces_are_worth(ep, ucp_dt_iter_piece_bytes(iter), lanes);
}

static uint32_t rdma_ep_lanes(const struct ucp_ep *ep, enum ucp_rdma_op op,
                              bool is_peer)
{
    uint8_t  right = (op == UCP_RDMA_PUT) ? UCT_RIGHT_PUT : UCT_RIGHT_GET;
    uint32_t lanes = 0;

    for (unsigned i = 0; i < ucp_ep_lane_count(ep); ++i) {
        const struct uct_ep *lane = ep->lanes[i].uct_ep;
        uint8_t rights            = is_peer ? lane->peer_rights : lane->rights;

        if (rdma_lane_can(&ep->config->lanes[i].model, op) &&
            (!(rights & UCT_RIGHT_KNOWN) || (rights & right))) {
            lanes |= UINT32_C(1) << i;
        }
    }
    return lanes;
}

uint32_t ucp_rdma_own_lanes(const struct ucp_ep *ep, enum ucp_rdma_op op)
{
    return rdma_ep_lanes(ep, op, false);
}

uint32_t ucp_rdma_peer_lanes(const struct ucp_ep *ep, enum ucp_rdma_op op)
{
    return rdma_ep_lanes(ep, op, true);
}

const char *ucp_rdma_obstacle(const struct ucp_ep *ep, enum ucp_rndv_kind kind,
                              enum ucp_rdma_op op, size_t piece_bytes)
{
    uint32_t lanes = rdma_ep_lanes(ep, op, op == UCP_RDMA_GET);

    if (ep->refused & (1u << kind)) {
        return "the peer has refused it";
    }
    if (lanes == 0) {
        return (op == UCP_RDMA_PUT) ? "we may not write to the peer's memory"
                                    : "the peer may not read our memory";
    }
    return rdma_pieces_are_worth(ep, piece_bytes, lanes)
               ? NULL
               : "its pieces are too short to be worth an entry each";
}

/* ---- memory ---- */

static struct uct_md *rdma_md(const struct ucp_ep *ep, unsigned lane)
{
    return ep->lanes[lane].uct_ep->iface->md;
}

ucs_status_t ucp_rdma_register(struct ucp_ep *ep, unsigned lane, void *address,
                               size_t length, unsigned access,
                               struct ucp_reg **reg_p)
{
    return ucp_reg_get(&ep->worker->context->regs, rdma_md(ep, lane), address,
                       length, access, reg_p);
}

/* The registration of another lane of the same domain, or NULL. */
static struct ucp_reg *rdma_find_reg(const struct ucp_rndv *rndv, unsigned lane)
{
    for (unsigned i = 0; i < lane; ++i) {
        if ((rndv->by_rdma.regs[i] != NULL) &&
            (rndv->by_rdma.regs[i]->mem->md == rdma_md(rndv->ep, lane))) {
            return rndv->by_rdma.regs[i];
        }
    }
    return NULL;
}

uint32_t ucp_rdma_register_all(struct ucp_rndv *rndv, uint32_t lanes,
                               unsigned access)
{
    struct ucp_rdma *rdma   = &rndv->by_rdma;
    size_t           length = (rndv->flags & UCP_RNDV_IS_RECV)
                                  ? rndv->req->recv.info.length
                                  : rndv->req->dt.length;
    struct uct_iov   span   = ucp_dt_iter_span(&rndv->req->dt, 0, length);
    uint32_t         done   = 0;

    if (span.buffer == NULL) {
        return lanes;
    }
    for (unsigned i = 0; i < rndv->ep->config->lane_count; ++i) {
        if (!(lanes & (UINT32_C(1) << i))) {
            continue;
        }
        if (rdma->regs[i] == NULL) {
            rdma->regs[i] = rdma_find_reg(rndv, i);
        }
        if ((rdma->regs[i] == NULL) &&
            (ucp_rdma_register(rndv->ep, i, span.buffer, span.length, access,
                               &rdma->regs[i]) != UCS_OK)) {
            rdma->regs[i] = NULL;
            continue;
        }
        done |= UINT32_C(1) << i;
    }
    return done;
}

uint32_t ucp_rdma_register_local(struct ucp_rndv *rndv, uint32_t lanes)
{
    uint32_t needy = 0;

    for (unsigned i = 0; i < rndv->ep->config->lane_count; ++i) {
        if ((lanes & (UINT32_C(1) << i)) &&
            ucp_rdma_needs_local(&rndv->ep->config->lanes[i].model)) {
            needy |= UINT32_C(1) << i;
        }
    }
    return (lanes & ~needy) |
           ucp_rdma_register_all(rndv, needy, UCT_ACCESS_LOCAL);
}

void ucp_rdma_cleanup(struct ucp_rndv *rndv)
{
    struct ucp_rdma *rdma = &rndv->by_rdma;

    for (unsigned i = 0; i < UCP_LANE_COUNT_MAX; ++i) {
        struct ucp_reg *reg = rdma->regs[i];

        for (unsigned j = i; (reg != NULL) && (j < UCP_LANE_COUNT_MAX); ++j) {
            if (rdma->regs[j] == reg) {
                rdma->regs[j] = NULL;
            }
        }
        if (reg != NULL) {
            ucp_reg_put(reg);
        }
    }
    ucp_regs_destroy(rdma->shown);
    ucp_layout_destroy(rdma->layout);
}

/* ---- keys ---- */

/* The lane to the peer's interface of that name, one of those; or none. */
int ucp_rdma_find_lane(const struct ucp_ep *ep, uint32_t lanes, uint32_t name)
{
    for (unsigned i = 0; i < ep->config->lane_count; ++i) {
        if ((lanes & (UINT32_C(1) << i)) && (ep->lanes[i].peer_name == name)) {
            return (int)i;
        }
    }
    return -1;
}

ucs_status_t ucp_rdma_unpack_key(struct ucp_ep *ep, unsigned lane,
                                 const uint8_t *bytes, size_t length,
                                 struct uct_rkey **rkey_p)
{
    struct uct_md *md = rdma_md(ep, lane);

    return md->transport->rkey_unpack(md, bytes, length, rkey_p);
}

/* ---- RGET's head: a layout ---- */

size_t ucp_rdma_head_encode(struct ucp_rndv *rndv, uint32_t lanes,
                            uint8_t *bytes, size_t size_bytes)
{
    const struct ucp_showing showing = {
        .rndv   = rndv,
        .lanes  = lanes,
        .access = UCT_ACCESS_LOCAL | UCT_ACCESS_REMOTE_READ,
        .range  = {.offset = 0, .end = rndv->req->dt.length}};
    size_t end;

    ucp_regs_destroy(rndv->by_rdma.shown); /* of a start that was refused */
    rndv->by_rdma.shown = ucp_regs_create(rndv->ep->worker);
    if ((rndv->by_rdma.shown == NULL) || (lanes == 0)) {
        return 0;
    }
    return ucp_layout_show(&showing, bytes, size_bytes, rndv->by_rdma.shown,
                           &end);
}

uint32_t ucp_rdma_head_decode(struct ucp_rndv *rndv, const uint8_t *bytes,
                              size_t length, uint32_t lanes)
{
    const struct ucp_shown shown = {
        .ep         = rndv->ep,
        .bytes      = bytes,
        .size_bytes = length,
        .lanes      = lanes,
        .range      = {.offset = 0, .end = rndv->req->recv.info.length}};
    struct ucp_layout *layout;

    if (ucp_layout_read(&shown, &layout) != UCS_OK) {
        return 0;
    }
    rndv->by_rdma.layout = layout;
    return ucp_rdma_can_show(rndv->ep, &layout->iter, layout->lanes)
               ? layout->lanes
               : 0;
}
