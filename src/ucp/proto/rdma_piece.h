/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rdma_piece.h - pieces of a message, for rdma_read.c (the
 * receiver's end) and rdma_write.c (the sender's). */
#ifndef UCP_PROTO_RDMA_PIECE_H_
#define UCP_PROTO_RDMA_PIECE_H_

#include "ucp/proto/layout.h"
#include "ucp/proto/rdma.h"
#include "ucp/proto/wire_rdma.h"

/* A piece for a lane. NULL: no memory. */
struct ucp_piece *ucp_piece_create(struct ucp_rndv *rndv, unsigned lane,
                                   size_t offset, size_t length);
void              ucp_piece_destroy(struct ucp_piece *piece);

/* Give back its registrations and keys. */
void ucp_piece_release_memory(struct ucp_piece *piece);

/* A put or get: as much of a range as the lists of one operation take.
 * length  bytes of it */
struct ucp_rdma_lists {
    struct uct_iov    iov[UCP_RDMA_OP_COUNT_MAX];
    struct uct_remote remote[UCP_RDMA_OP_COUNT_MAX];
    struct uct_rma    rma;
    size_t            length;
};

/* Describe [range) of the message here and there, as far as it goes. */
void ucp_rdma_lists_init(struct ucp_rdma_lists      *lists,
                         const struct ucp_piece     *piece,
                         struct ucp_layout          *layout,
                         const struct uct_op_limits *limits,
                         struct ucp_range            range);

/* Let each local entry have its registration, where the lane wants one; until
 * ucp_piece_release_memory(). */
UCS_MUST_USE ucs_status_t ucp_rdma_lists_register(struct ucp_rdma_lists *lists,
                                                  struct ucp_piece      *piece);

static inline const struct ucp_lane_model *
ucp_piece_model(const struct ucp_piece *piece)
{
    return &piece->rndv->ep->config->lanes[piece->lane].model;
}

static inline struct uct_ep *ucp_piece_ep(const struct ucp_piece *piece)
{
    return piece->rndv->ep->lanes[piece->lane].uct_ep;
}

/* Those of the lanes that are worth using for so many bytes (rails.h). */
uint32_t ucp_rdma_worth(const struct ucp_rndv *rndv, uint32_t lanes,
                        enum ucp_rdma_op op, size_t length);

/* The lane that has the smallest part of what it should have by now. */
unsigned ucp_rdma_next_lane(const struct ucp_rndv *rndv, uint32_t lanes,
                            enum ucp_rdma_op op);

/* Cut the next piece for a lane off the range. NULL: no memory. */
struct ucp_piece *ucp_rdma_cut(struct ucp_rndv *rndv, unsigned lane,
                               enum ucp_rdma_op op, size_t length_max);
/* Take back what is behind length bytes of the piece that was cut last. */
void ucp_rdma_shorten(struct ucp_piece *piece, size_t length);
/* Take it back whole. */
void ucp_rdma_uncut(struct ucp_piece *piece);

/* The message ends after its FIN: this takes a use of it (ucp_rndv_get), which
 * it puts when the transport has the FIN. */
void ucp_rdma_send_fin(struct ucp_rndv *rndv, const struct ucp_wire_fin *fin);

/* Post the next get, the next put. @return as ucp_bulk.step. */
ucs_status_t ucp_rdma_get_step(struct ucp_rndv *rndv);
ucs_status_t ucp_rdma_put_step(struct ucp_rndv *rndv);

/* R: all is read, or failed: tell the sender how much it need not send. */
void ucp_rdma_get_check_end(struct ucp_rndv *rndv);

/* A FIN for what was read, at S; for what was granted, at R. */
void ucp_rdma_get_fin(struct ucp_rndv *rndv, const struct ucp_wire_fin *fin);
void ucp_rdma_grant_fin(struct ucp_rndv *rndv, const struct ucp_wire_fin *fin);

/* The handler of PUT. */
ucs_status_t ucp_rdma_put_receive(void *arg, struct uct_source *source,
                                  void *data, size_t length, unsigned flags);

#endif
