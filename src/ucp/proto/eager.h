/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/eager.h - what the protocols share that carry data in messages:
 * costs and the settings that limit them.
 *
 *     S                                            R
 *     |==== MATCH{tag} + data ====================>| match; copy, or keep as
 *     |                                            | unexpected; R is done
 *     S is done: at once (immediate, allocated) or on the local completion
 *     of the transport (prepared) */
#ifndef UCP_PROTO_EAGER_H_
#define UCP_PROTO_EAGER_H_

#include "ucp/core/ep.h"
#include "ucp/core/worker.h"
#include "ucp/proto/proto.h"
#include "ucp/proto/wire.h"

/* Seconds to copy a byte inside one processor: 10 GB/s, the low end of what
 * memcpy reaches between caches of current servers (docs/perf). */
static const double ucp_copy_s_per_byte = 0.1e-9;

/* Seconds that each piece of memory costs beyond its bytes where data is
 * packed, or its pieces are named to the transport, and unpacked: 64 pieces
 * with gaps make a message of 1 MiB 3 us longer (docs/perf/pieces.md). */
static const double ucp_pack_piece_s = 50e-9;

/* What a byte costs in a message that is copied so often, from the sender's
 * buffer to the receiver's, when one step follows the other. Where the lane
 * itself copies, its bandwidth is that of the copies, and there are always
 * two. */
static inline double ucp_am_byte_s(const struct uct_iface_attr *attr,
                                   unsigned                     copies)
{
    double lane_s = 1.0 / attr->cost.bandwidth_Bps;

    if (attr->flags & UCT_IFACE_ZCOPY_COPIES) {
        return 2 * lane_s +
               ucp_copy_s_per_byte * ((copies > 2) ? copies - 2 : 0);
    }
    return lane_s + copies * ucp_copy_s_per_byte;
}

/* What a byte more costs in a stream of fragments: sender, lane and receiver
 * work at the same time, the slowest counts. */
double ucp_am_stream_byte_s(const struct uct_iface_attr *attr, unsigned copies);

/* What a message of several fragments costs, copied so often. */
struct ucs_linear ucp_fragments_cost(const struct ucp_query *query,
                                     unsigned                copies);

/* Offer the sizes from first to last of a message that asks first and comes in
 * fragments, copied so often: sender, lane and receiver work at the same time,
 * so of what follows the first fragment only the slowest counts. */
UCS_MUST_USE ucs_status_t ucp_offer_fragments(const struct ucp_query *query,
                                              size_t            bytes_first,
                                              size_t            bytes_last,
                                              unsigned          copies,
                                              struct ucp_offer *offer_p);

/* Why no eager protocol sends a synchronous message. */
extern const char ucp_eager_sync_reason[];

/* abort() of a protocol that holds nothing while it waits. */
ucs_status_t ucp_eager_abort(struct ucp_request *req, ucs_status_t status);

/* UCX_RNDV_THRESH for this lane: bytes, UCS_UNITS_AUTO or SIZE_MAX (never). */
size_t ucp_rndv_threshold(const struct ucp_query *query);

/* UCX_ZCOPY_THRESH for this lane in bytes. Auto is 0: by cost; or SIZE_MAX,
 * never, where the lane copies all the same. */
size_t ucp_zcopy_threshold(const struct ucp_query *query);
/* It is set: cost does not decide. */
bool ucp_zcopy_is_forced(const struct ucp_query *query);

/* Take those sizes out of the offer of a protocol that copies which
 * UCX_ZCOPY_THRESH, where it is set, gives to protocol 2. */
UCS_MUST_USE ucs_status_t ucp_eager_leave_zcopy(const struct ucp_query *query,
                                                struct ucp_offer *offer_p);
/* Why, for explain. */
extern const char ucp_eager_zcopy_reason[];

/* The largest eager message that the settings allow. */
size_t ucp_eager_bytes_max(const struct ucp_query *query);

#endif
