/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rdma_pipeline.c - protocol 7, RDMA Pipeline: as 5, but a piece of
 * the buffer at a time is registered, while others move.
 *
 *     S                                          R
 *     |==== RNDV + first data ==================>| match, unpack
 *     |<--- ACK{tail} ---------------------------| [register piece 0 ..]
 *     |<--- PUT{piece 0} .. PUT{piece depth-1} --|
 *     |==== FRAG: the tail =====================>|
 *     |==== put piece k, FIN{k} ================>| [release k], next PUT
 *     S is done when all is sent and put           R when all is there
 *
 * Pieces are UCX_RNDV_FRAG_SIZE, UCX_RNDV_PIPELINE_DEPTH of them are pinned at
 * most; the tail, UCX_RNDV_PIPELINE_SEND_LENGTH, moves while the first ones
 * are registered. The rest is as in rdma_put.c. */
#include "ucp/proto/rdma.h"

#include "ucp/proto/fragment.h"
#include "ucp/proto/wire.h"
#include "ucp/tag/recv.h"

static ucs_status_t pipeline_offer(const struct ucp_query *query,
                                   struct ucp_offer       *offer_p)
{
    const struct uct_cost *am = &query->lane->attr.cost;
    double                 piece =
        (double)ucs_max(query->config->rndv_fragment_bytes, (size_t)1);
    size_t            first;
    const char       *reason = ucp_rdma_refusal(query, UCP_RDMA_PUT, &first);
    uint32_t          lanes;
    struct ucs_linear put, pin;

    if (reason != NULL) {
        return ucp_offer_refuse(offer_p, reason);
    }
    if (!ucp_rndv_is_wanted(query, UCP_RNDV_PIPELINE)) {
        return ucp_offer_refuse(offer_p, "UCX_RNDV_SCHEME asks for another");
    }
    lanes            = ucp_rdma_query_lanes(query, UCP_RDMA_PUT);
    offer_p->piece_s = ucp_rdma_piece_cost(query, lanes, UCP_RDMA_PUT);
    put              = ucp_rdma_cost(query, lanes, UCP_RDMA_PUT);
    pin              = ucp_rdma_register_cost(query, lanes);
    /* The first piece is registered before anything moves; of the others the
     * slower of moving and registering counts, and a PUT and a FIN each. */
    return ucp_offer_sizes(
        offer_p, first, SIZE_MAX,
        ucs_linear(
            3 * am->latency_s + 6 * am->overhead_s + put.base_s + pin.base_s +
                pin.per_byte_s * piece,
            ucs_max(put.per_byte_s, pin.per_byte_s + pin.base_s / piece) +
                (4 * am->overhead_s + put.base_s) / piece));
}

static const char *pipeline_obstacle(const struct ucp_ep *ep,
                                     size_t               piece_bytes)
{
    return ucp_rdma_obstacle(ep, UCP_RNDV_PIPELINE, UCP_RDMA_PUT, piece_bytes);
}

static ucs_status_t pipeline_step(struct ucp_request *req)
{
    struct ucp_rndv_start start = {
        .am_id           = UCP_AM_RNDV,
        .kind            = UCP_RNDV_PIPELINE,
        .first_bytes_max = req->send.ep->config->lane.attr.am.bcopy_bytes_max -
                           UCP_WIRE_RNDV_BYTES,
    };
    struct ucp_rndv *rndv;
    ucs_status_t     status;

    if ((req->send.id == 0) &&
        (pipeline_obstacle(req->send.ep, ucp_dt_iter_piece_bytes(&req->dt)) !=
         NULL)) {
        return ucp_rndv_fall_back(req);
    }
    status = ucp_rndv_open(req, &rndv);
    return (status == UCS_OK) ? ucp_rndv_start(rndv, &start) : status;
}

static ucs_status_t pipeline_answer(struct ucp_rndv          *rndv,
                                    const struct ucp_arrival *arrival)
{
    const struct ucp_context_config *config =
        &rndv->ep->worker->context->config;
    uint32_t               lanes  = ucp_rdma_peer_lanes(rndv->ep, UCP_RDMA_PUT);
    size_t                 rest   = arrival->length - arrival->data_length;
    size_t                 tail   = ucs_min(rest, config->rndv_send_bytes);
    const struct ucp_range middle = {.offset = arrival->data_length,
                                     .end    = arrival->length - tail};

    if (lanes == 0) {
        return UCS_ERR_UNREACHABLE;
    }
    if (!ucp_rdma_can_show(rndv->ep, &rndv->req->dt, lanes)) {
        return UCS_ERR_UNSUPPORTED;
    }
    ucp_fragment_want(rndv, middle.end, arrival->length);
    ucp_rdma_grant(rndv, lanes, &middle,
                   ucs_max(config->rndv_fragment_bytes, (size_t)1),
                   ucs_max(config->rndv_depth, 1u));
    return UCS_OK;
}

const struct ucp_proto ucp_rdma_pipeline_proto = {
    .name    = "rndv/rdma_pipeline",
    .summary = "ask first, then write piece by piece as it is registered",
    .setting = "UCX_RNDV_SCHEME",
    .offer   = pipeline_offer,
    .step    = pipeline_step,
    .abort   = ucp_rndv_abort_send,
    .answer  = pipeline_answer,
    .kind    = UCP_RNDV_PIPELINE,
    .answers = UCP_DT_BIT(UCP_DT_CONTIG) | UCP_DT_BIT(UCP_DT_IOV) |
               UCP_DT_BIT(UCP_DT_STRIDED),

    .obstacle = pipeline_obstacle,
};
