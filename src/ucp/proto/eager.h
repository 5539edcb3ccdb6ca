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

/* Why no eager protocol sends a synchronous message. */
extern const char ucp_eager_sync_reason[];

/* abort() of a protocol that holds nothing while it waits. */
ucs_status_t ucp_eager_abort(struct ucp_request *req, ucs_status_t status);

/* UCX_RNDV_THRESH for this lane: bytes, UCS_UNITS_AUTO or SIZE_MAX (never). */
size_t ucp_rndv_threshold(const struct ucp_query *query);

/* UCX_ZCOPY_THRESH for this lane in bytes. Auto is 0: by cost; or SIZE_MAX,
 * never, where the lane copies all the same. */
size_t ucp_zcopy_threshold(const struct ucp_query *query);

/* The largest eager message that the settings allow. */
size_t ucp_eager_bytes_max(const struct ucp_query *query);

#endif
