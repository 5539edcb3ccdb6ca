/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/eager.c - what the eager protocols share. */
#include "ucp/proto/eager.h"

const char ucp_eager_sync_reason[] =
    "a synchronous message must be answered by the receiver";

ucs_status_t ucp_eager_abort(struct ucp_request *req, ucs_status_t status)
{
    (void)req;
    (void)status;
    return UCS_OK;
}

static size_t threshold_bytes(const struct ucs_config_threshold *threshold,
                              const struct ucp_query            *query)
{
    return (query->lane->attr.flags & UCT_IFACE_INTRA_NODE)
               ? threshold->intra_bytes
               : threshold->inter_bytes;
}

size_t ucp_rndv_threshold(const struct ucp_query *query)
{
    return threshold_bytes(&query->config->rndv_threshold, query);
}

size_t ucp_zcopy_threshold(const struct ucp_query *query)
{
    size_t bytes = threshold_bytes(&query->config->zcopy_threshold, query);

    if (bytes != UCS_UNITS_AUTO) {
        return bytes;
    }
    return (query->lane->attr.flags & UCT_IFACE_ZCOPY_COPIES) ? SIZE_MAX : 0;
}

size_t ucp_eager_bytes_max(const struct ucp_query *query)
{
    size_t threshold = ucp_rndv_threshold(query);

    if ((threshold == UCS_UNITS_AUTO) || (threshold == SIZE_MAX)) {
        return SIZE_MAX;
    }
    return (threshold == 0) ? 0 : threshold - 1;
}

/* Of a byte more in a stream. */
static double eager_stream_byte_s(const struct uct_iface_attr *attr,
                                  unsigned                     copies)
{
    double lane_s = 1.0 / attr->cost.bandwidth_Bps;

    return (attr->flags & UCT_IFACE_ZCOPY_COPIES)
               ? ucp_am_byte_s(attr, copies) - lane_s
               : ucs_max(lane_s, (copies - 1) * ucp_copy_s_per_byte);
}

ucs_status_t ucp_offer_fragments(const struct ucp_query *query,
                                 size_t bytes_first, size_t bytes_last,
                                 unsigned copies, struct ucp_offer *offer_p)
{
    const struct uct_iface_attr *attr = &query->lane->attr;
    const size_t first  = attr->am.bcopy_bytes_max - UCP_WIRE_RNDV_BYTES;
    const double base_s = 3 * attr->cost.latency_s + 6 * attr->cost.overhead_s;
    const double byte_s = ucp_am_byte_s(attr, copies);
    const double more_s = eager_stream_byte_s(attr, copies) +
                          2 * attr->cost.overhead_s / (double)first;
    const struct ucs_linear more =
        ucs_linear(base_s + (byte_s - more_s) * (double)first, more_s);

    if (bytes_first > first) {
        return ucp_offer_sizes(offer_p, bytes_first, bytes_last, more);
    }
    if (ucp_offer_sizes(offer_p, bytes_first, ucs_min(first, bytes_last),
                        ucs_linear(base_s, byte_s)) != UCS_OK) {
        return UCS_ERR_UNSUPPORTED;
    }
    return (bytes_last <= first) ? UCS_OK
                                 : ucsi_piecewise_set(&offer_p->cost, first + 1,
                                                      bytes_last, more);
}
