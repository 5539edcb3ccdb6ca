/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rdma.h - ranges of a message by put and get.
 *
 *     S                                          R
 *     |<--- PUT{range, layout} ------------------|  a grant: write it here
 *     |==== put ================================>|
 *     |---- FIN{range, status} ----------------->|  the data is visible
 *
 *     |---- RGET{layout} ----------------------->|  read it from here
 *     |<=== get, in pieces ======================|
 *     |<--- FIN{bytes read} ---------------------|
 *
 * A layout says where the bytes lie, in one block or in many (layout.h). A
 * piece whose RDMA failed is asked for again as fragments. */
#ifndef UCP_PROTO_RDMA_H_
#define UCP_PROTO_RDMA_H_

#include "ucp/core/reg_cache.h"
#include "ucp/core/worker.h"
#include "ucp/proto/rndv.h"

enum {
    /* RGET's head, and a message's with it. */
    UCP_RDMA_HEAD_BYTES_MAX = 8192,
    /* Entries of an operation that we use, at each side. */
    UCP_RDMA_OP_COUNT_MAX = 64,
};

/* Which operation. */
enum ucp_rdma_op {
    UCP_RDMA_PUT,
    UCP_RDMA_GET,
};

/* ---- choosing ---- */

/* What keys cost both ends beyond messages and operations: a registration,
 * objects, packing and unpacking. Measured over `self`: 0.63 us in all for a
 * message of 8 bytes by get, 0.10 us in one fragment. */
static const double ucp_rdma_keys_s = 0.5e-6;

/* What describing a piece of memory costs both ends: its run and key are
 * written, checked, unpacked, and looked up by whoever moves it. 64 pieces with
 * gaps make a get of 1 MiB 15 us longer (docs/perf/pieces.md). */
static const double ucp_rdma_run_s = 0.25e-6;

/* The lanes of a query that can, as bits; 0: none. */
uint32_t ucp_rdma_query_lanes(const struct ucp_query *query,
                              enum ucp_rdma_op        op);

/* What moving a byte costs over those lanes together, and starting. */
struct ucs_linear ucp_rdma_cost(const struct ucp_query *query, uint32_t lanes,
                                enum ucp_rdma_op op);

/* Registering at both ends, as far as the lanes need it. */
struct ucs_linear ucp_rdma_register_cost(const struct ucp_query *query,
                                         uint32_t                lanes);

/* What each piece of memory costs more: its registration, but for strided data,
 * its description, and its part of an operation, which takes so many and no
 * more. */
double ucp_rdma_piece_cost(const struct ucp_query *query, uint32_t lanes,
                           enum ucp_rdma_op op);

/* An answer to a query if RDMA protocols cannot be offered at all: no memory
 * to show, no lane, thresholds. NULL: they can; *first_p is the first
 * size. */
const char *ucp_rdma_refusal(const struct ucp_query *query, enum ucp_rdma_op op,
                             size_t *first_p);

/* Offer to move a message as a whole by that operation: the messages around
 * it, registration at both ends, the operation. */
UCS_MUST_USE ucs_status_t ucp_rdma_offer(const struct ucp_query *query,
                                         enum ucp_rndv_kind      kind,
                                         enum ucp_rdma_op        op,
                                         struct ucp_offer       *offer_p);

/* The lanes over which this end of an endpoint may do that to the peer; and
 * over which the peer may do it to us, as far as it told. */
uint32_t ucp_rdma_own_lanes(const struct ucp_ep *ep, enum ucp_rdma_op op);
uint32_t ucp_rdma_peer_lanes(const struct ucp_ep *ep, enum ucp_rdma_op op);

/* Pieces smaller than this are packed: describing one costs an operation and a
 * registration at most, packing it two copies. */
size_t ucp_rdma_piece_bytes_min(const struct ucp_lane_model *model);

/* Is the memory of that message worth showing over those lanes? A generic
 * datatype has none; small runs are better packed: protocol 4. */
bool ucp_rdma_can_show(const struct ucp_ep *ep, const struct ucp_dt_iter *iter,
                       uint32_t lanes);
/* S: why an endpoint cannot propose that kind for pieces of so many bytes (0:
 * one block), a constant sentence; NULL: it can. Put is ours to do, get the
 * peer's. */
const char *ucp_rdma_obstacle(const struct ucp_ep *ep, enum ucp_rndv_kind kind,
                              enum ucp_rdma_op op, size_t piece_bytes);

/* ---- memory ---- */

/* Register the message's buffer for those lanes, if it is in one block; kept
 * until the end. The runs of others are registered when they are used.
 * @return the lanes for which that worked. */
uint32_t ucp_rdma_register_all(struct ucp_rndv *rndv, uint32_t lanes,
                               unsigned access);

/* Register memory for one operation, or one message; give it back with
 * ucp_reg_put(). */
UCS_MUST_USE ucs_status_t ucp_rdma_register(struct ucp_ep *ep, unsigned lane,
                                            void *address, size_t length,
                                            unsigned         access,
                                            struct ucp_reg **reg_p);

/* @return bytes written to bytes[UCT_RKEY_BYTES_MAX]. */
static inline size_t ucp_rdma_pack_key(const struct ucp_reg *reg,
                                       uint8_t              *bytes)
{
    return reg->mem->md->transport->rkey_pack(reg->mem, bytes);
}

/* The lane to the peer's interface of that name, one of those; -1: none. */
int ucp_rdma_find_lane(const struct ucp_ep *ep, uint32_t lanes, uint32_t name);

UCS_MUST_USE ucs_status_t ucp_rdma_unpack_key(struct ucp_ep *ep, unsigned lane,
                                              const uint8_t    *bytes,
                                              size_t            length,
                                              struct uct_rkey **rkey_p);

/* How the peer knows this end of a lane. */
static inline uint32_t ucp_ep_lane_name(const struct ucp_ep *ep, unsigned lane)
{
    return ep->worker->ifaces[ep->config->lanes[lane].iface_index].name;
}

/* Does this lane want the iov of a put or get registered? */
bool ucp_rdma_needs_local(const struct ucp_lane_model *model);

/* The same for this end's put or get, where a lane needs it.
 * @return the lanes that can be used. */
uint32_t ucp_rdma_register_local(struct ucp_rndv *rndv, uint32_t lanes);

/* S: write RGET's head, for those lanes. @return its length; 0: nothing can be
 * shown. */
size_t ucp_rdma_head_encode(struct ucp_rndv *rndv, uint32_t lanes,
                            uint8_t *bytes, size_t size_bytes);

/* R: understand it; by_rdma.layout.
 * @return the lanes with keys, for which those pieces are worth it. */
uint32_t ucp_rdma_head_decode(struct ucp_rndv *rndv, const uint8_t *bytes,
                              size_t length, uint32_t lanes);

/* ---- moving ---- */

/* R: read [offset, end) over the lanes that have keys. */
void ucp_rdma_get(struct ucp_rndv *rndv, uint32_t lanes, size_t offset,
                  size_t end);

/* R: let S write [offset, end), in pieces of that size, 0: one for each lane;
 * so many at a time. */
void ucp_rdma_grant(struct ucp_rndv *rndv, uint32_t lanes,
                    const struct ucp_range *range, size_t piece_bytes,
                    unsigned depth);

/* Post the next operation. @return as ucp_bulk.step. */
ucs_status_t ucp_rdma_step(struct ucp_rndv *rndv);

/* Is there something to post? */
bool ucp_rdma_is_ready(const struct ucp_rndv *rndv);

/* Nothing that waits here will be posted any more. */
void ucp_rdma_drop(struct ucp_rndv *rndv);

/* Release memory and keys. */
void ucp_rdma_cleanup(struct ucp_rndv *rndv);

/* The handlers of PUT and FIN. */
extern const struct ucp_handler ucp_rdma_handlers[];

#endif
