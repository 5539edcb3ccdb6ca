/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rails.h - which lane carries the next bytes of a large message.
 *
 *   10 GB/s  |=====1=====|=====3=====|=====4=====|   each lane has a part of
 *    5 GB/s  |==========2============|               the bytes like its part
 *                                                    of the bandwidth
 *
 * The one rule by which fragments, puts and gets share a message. A lane that
 * would get less than UCX_MIN_RNDV_CHUNK_SIZE of it is left out, the slowest
 * first: a small message goes over one. Pure. */
#ifndef UCP_PROTO_RAILS_H_
#define UCP_PROTO_RAILS_H_

#include "ucp/core/ep.h"

enum {
    /* More than what is sent about a rail, and before a fragment. */
    UCP_RAIL_BCOPY_BYTES_MIN = 64,
};

/* What the lanes are to do. */
enum ucp_rail_use {
    UCP_RAIL_PUT,
    UCP_RAIL_GET,
    UCP_RAIL_SEND,
};

/* Bytes per second; 0: it cannot. */
double ucp_rail_bandwidth(const struct ucp_lane_model *model,
                          enum ucp_rail_use            use);

/* Can fragments go over it? */
static inline bool ucp_rail_can_send(const struct ucp_lane_model *model)
{
    return (model->transport->am_bcopy != NULL) &&
           (model->attr.am.bcopy_bytes_max > UCP_RAIL_BCOPY_BYTES_MIN);
}

/* Of those lanes, the ones that are worth using for so many bytes. */
uint32_t ucp_rails_for(const struct ucp_lane_row *rows, uint32_t lanes,
                       enum ucp_rail_use use, size_t length,
                       size_t share_bytes_min);

/* The lane that has the smallest part of what it should have by now.
 * @param lanes       Not 0.
 * @param lane_bytes  By lane: what it was given. */
unsigned ucp_rails_next(const struct ucp_lane_row *rows, uint32_t lanes,
                        enum ucp_rail_use use, const size_t *lane_bytes);

/* A lane's part of so many bytes, in pages: all of them for the only one. */
size_t ucp_rails_share(const struct ucp_lane_row *rows, uint32_t lanes,
                       enum ucp_rail_use use, unsigned lane, size_t length);

#endif
