/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rdma_get.c - protocol 6, RDMA Direct Get: the sender says where
 * from, the receiver reads there.
 *
 *     S                                          R
 *     | [register]                               |
 *     |---- RGET{tag, length, S's id, keys} ---->| match; [register]
 *     |<=== get, shared by the lanes ============|
 *     |<--- FIN{bytes read} ---------------------| one, after all lanes
 *     S is done with the FIN                       R when all is read
 *
 * Chosen for data with memory to show, in one block or in pieces worth it, on a
 * lane with get. A receiver whose data has none, or that has no lane to a key,
 * asks for fragments instead: protocol 4. What cannot be read is asked for like
 * that. */
#include "ucp/proto/rdma.h"

#include "ucp/proto/fragment.h"
#include "ucp/proto/layout.h"
#include "ucp/proto/wire.h"
#include "ucp/tag/recv.h"

static ucs_status_t get_offer(const struct ucp_query *query,
                              struct ucp_offer       *offer_p)
{
    return ucp_rdma_offer(query, UCP_RNDV_GET, UCP_RDMA_GET, offer_p);
}

static const char *get_obstacle(const struct ucp_ep *ep, size_t piece_bytes)
{
    return ucp_rdma_obstacle(ep, UCP_RNDV_GET, UCP_RDMA_GET, piece_bytes);
}

static ucs_status_t get_step(struct ucp_request *req)
{
    uint8_t               head[UCP_RDMA_HEAD_BYTES_MAX];
    struct ucp_rndv_start start = {
        .am_id = UCP_AM_RGET, .kind = UCP_RNDV_GET, .head = head};
    uint32_t         lanes = ucp_rdma_peer_lanes(req->send.ep, UCP_RDMA_GET);
    struct ucp_rndv *rndv;
    ucs_status_t     status;
    size_t           room;

    if ((req->send.id == 0) &&
        (get_obstacle(req->send.ep, ucp_dt_iter_piece_bytes(&req->dt)) !=
         NULL)) {
        return ucp_rndv_fall_back(req);
    }
    status = ucp_rndv_open(req, &rndv);
    if (status != UCS_OK) {
        return status;
    }
    lanes = ucp_rdma_register_all(rndv, lanes,
                                  UCT_ACCESS_LOCAL | UCT_ACCESS_REMOTE_READ);
    /* Without a key the receiver asks for fragments. */
    room             = ucs_min(sizeof(head),
                               req->send.ep->config->lane.attr.am.bcopy_bytes_max -
                                   UCP_WIRE_RNDV_BYTES);
    start.head_bytes = (uint16_t)ucp_rdma_head_encode(rndv, lanes, head, room);
    return ucp_rndv_start(rndv, &start);
}

static ucs_status_t get_answer(struct ucp_rndv          *rndv,
                               const struct ucp_arrival *arrival)
{
    uint32_t lanes = ucp_rdma_own_lanes(rndv->ep, UCP_RDMA_GET);
    size_t   end;

    if (lanes == 0) {
        return UCS_ERR_UNREACHABLE;
    }
    if (arrival->data_length > 0) {
        return UCS_ERR_UNSUPPORTED; /* not what our get_step() sends */
    }
    if (!ucp_rdma_can_show(rndv->ep, &rndv->req->dt, lanes)) {
        return UCS_ERR_UNSUPPORTED;
    }
    lanes = ucp_rdma_head_decode(rndv, arrival->data - arrival->head_length,
                                 arrival->head_length, lanes);
    if (lanes == 0) {
        return UCS_ERR_UNSUPPORTED;
    }
    lanes = ucp_rdma_register_local(rndv, lanes);
    if (lanes == 0) {
        return UCS_ERR_UNSUPPORTED;
    }
    end = rndv->by_rdma.layout->range.end;
    if (end < arrival->length) {
        ucp_fragment_want(rndv, end, arrival->length);
    }
    ucp_rdma_get(rndv, lanes, 0, end);
    return UCS_OK;
}

const struct ucp_proto ucp_rdma_get_proto = {
    .name    = "rndv/rdma_get",
    .summary = "ask first, the receiver reads out of the sender's buffer",
    .setting = "UCX_RNDV_SCHEME",
    .offer   = get_offer,
    .step    = get_step,
    .abort   = ucp_rndv_abort_send,
    .answer  = get_answer,
    .kind    = UCP_RNDV_GET,
    .answers = UCP_DT_BIT(UCP_DT_CONTIG) | UCP_DT_BIT(UCP_DT_IOV) |
               UCP_DT_BIT(UCP_DT_STRIDED),

    .obstacle = get_obstacle,
};
