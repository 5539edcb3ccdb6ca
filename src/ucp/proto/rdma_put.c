/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rdma_put.c - protocol 5, RDMA Direct Put: the receiver says where
 * to, the sender writes there.
 *
 *     S                                          R
 *     | [register]                               |
 *     |---- RNDV{tag, length, S's id} ---------->| match; [register]
 *     |<--- PUT{range, address, key} per lane ---|
 *     |==== put ================================>|
 *     |---- FIN{range} ------------------------->| the data is visible
 *     S is done when all puts are complete         R when all FINs are there
 *
 * Chosen for data with memory to show, in one block or in pieces worth it, on a
 * lane with put. A receiver whose data has none, without lane or registration,
 * asks for fragments instead: protocol 4. A put that fails is asked for again
 * like that. */
#include "ucp/proto/rdma.h"

#include <limits.h>

#include "ucp/proto/wire.h"
#include "ucp/tag/recv.h"

static ucs_status_t put_offer(const struct ucp_query *query,
                              struct ucp_offer       *offer_p)
{
    return ucp_rdma_offer(query, UCP_RNDV_PUT, UCP_RDMA_PUT, offer_p);
}

static const char *put_obstacle(const struct ucp_ep *ep, size_t piece_bytes)
{
    return ucp_rdma_obstacle(ep, UCP_RNDV_PUT, UCP_RDMA_PUT, piece_bytes);
}

static ucs_status_t put_step(struct ucp_request *req)
{
    const struct ucp_rndv_start start = {.am_id = UCP_AM_RNDV,
                                         .kind  = UCP_RNDV_PUT};
    uint32_t         lanes = ucp_rdma_own_lanes(req->send.ep, UCP_RDMA_PUT);
    struct ucp_rndv *rndv;
    ucs_status_t     status;

    if ((req->send.id == 0) &&
        (put_obstacle(req->send.ep, ucp_dt_iter_piece_bytes(&req->dt)) !=
         NULL)) {
        return ucp_rndv_fall_back(req);
    }
    status = ucp_rndv_open(req, &rndv);
    if (status != UCS_OK) {
        return status;
    }
    /* What fails here is tried again when the put is asked for. */
    (void)ucp_rdma_register_local(rndv, lanes);
    return ucp_rndv_start(rndv, &start);
}

static ucs_status_t put_answer(struct ucp_rndv          *rndv,
                               const struct ucp_arrival *arrival)
{
    const struct ucp_range range = {.offset = arrival->data_length,
                                    .end    = arrival->length};
    uint32_t               lanes = ucp_rdma_peer_lanes(rndv->ep, UCP_RDMA_PUT);

    if (lanes == 0) {
        return UCS_ERR_UNREACHABLE;
    }
    if (!ucp_rdma_can_show(rndv->ep, &rndv->req->dt, lanes)) {
        return UCS_ERR_UNSUPPORTED;
    }
    lanes = ucp_rdma_register_all(rndv, lanes,
                                  UCT_ACCESS_LOCAL | UCT_ACCESS_REMOTE_WRITE);
    if (lanes == 0) {
        return UCS_ERR_UNSUPPORTED;
    }
    ucp_rdma_grant(rndv, lanes, &range, 0, UINT_MAX);
    return UCS_OK;
}

const struct ucp_proto ucp_rdma_put_proto = {
    .name    = "rndv/rdma_put",
    .summary = "ask first, then write into the receiver's buffer",
    .setting = "UCX_RNDV_SCHEME",
    .offer   = put_offer,
    .step    = put_step,
    .abort   = ucp_rndv_abort_send,
    .answer  = put_answer,
    .kind    = UCP_RNDV_PUT,
    .answers = UCP_DT_BIT(UCP_DT_CONTIG) | UCP_DT_BIT(UCP_DT_IOV) |
               UCP_DT_BIT(UCP_DT_STRIDED),

    .obstacle = put_obstacle,
};
