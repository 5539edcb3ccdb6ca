/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/eager.c - what the eager protocols share. */
#include "ucp/proto/eager.h"

#include "ucp/proto/rails.h"

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

bool ucp_zcopy_is_forced(const struct ucp_query *query)
{
    return threshold_bytes(&query->config->zcopy_threshold, query) !=
           UCS_UNITS_AUTO;
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

double ucp_am_stream_byte_s(const struct uct_iface_attr *attr, unsigned copies)
{
    double lane_s = 1.0 / attr->cost.bandwidth_Bps;

    if (attr->flags & UCT_IFACE_SELF_ONLY) {
        return ucp_am_byte_s(attr, copies); /* one processor is both ends */
    }
    return (attr->flags & UCT_IFACE_ZCOPY_COPIES)
               ? ucp_am_byte_s(attr, copies) - lane_s
               : ucs_max(lane_s, (copies - 1) * ucp_copy_s_per_byte);
}

/* The message lane, as fast as all that share its fragments. */
static struct uct_iface_attr eager_rails(const struct ucp_query *query)
{
    struct uct_iface_attr attr = query->lane->attr;

    for (unsigned i = 1; i < query->row_count; ++i) {
        attr.cost.bandwidth_Bps +=
            ucp_rail_can_send(&query->rows[i].model)
                ? ucp_rail_bandwidth(&query->rows[i].model, UCP_RAIL_SEND)
                : 0;
    }
    return attr;
}

/* A message that asks first, its first fragment in it. */
static struct ucs_linear eager_first_cost(const struct ucp_query *query,
                                          unsigned                copies)
{
    const struct uct_cost *cost = &query->lane->attr.cost;

    return ucs_linear(3 * cost->latency_s + 6 * cost->overhead_s,
                      ucp_am_byte_s(&query->lane->attr, copies));
}

static size_t eager_first_bytes(const struct ucp_query *query)
{
    return query->lane->attr.am.bcopy_bytes_max - UCP_WIRE_RNDV_BYTES;
}

struct ucs_linear ucp_fragments_cost(const struct ucp_query *query,
                                     unsigned                copies)
{
    const struct uct_iface_attr *attr   = &query->lane->attr;
    const struct uct_iface_attr  rails  = eager_rails(query);
    const double                 bytes  = (double)eager_first_bytes(query);
    struct ucs_linear            first  = eager_first_cost(query, copies);
    const double                 more_s = ucp_am_stream_byte_s(&rails, copies) +
                          2 * attr->cost.overhead_s / bytes;

    return ucs_linear(first.base_s + (first.per_byte_s - more_s) * bytes,
                      more_s);
}

/* A window is granted, and the sender has to come back for the next one, from
 * whatever it does meanwhile. How long that takes is anybody's guess: this one
 * makes the other forms win where their own costs are below 1 us a window. */
static struct ucs_linear eager_attention(const struct ucp_query *query)
{
    static const double attention_s = 1e-6;
    const double        window =
        (double)query->config->rndv_fragment_bytes * query->config->rndv_depth;

    return ucs_linear(0, attention_s / ucs_max(window, 1.0));
}

ucs_status_t ucp_offer_fragments(const struct ucp_query *query,
                                 size_t bytes_first, size_t bytes_last,
                                 unsigned copies, struct ucp_offer *offer_p)
{
    const size_t            first = eager_first_bytes(query);
    const struct ucs_linear more  = ucs_linear_add(
         ucp_fragments_cost(query, copies), eager_attention(query));

    offer_p->piece_s = ucp_pack_piece_s;
    if (bytes_first > first) {
        return ucp_offer_sizes(offer_p, bytes_first, bytes_last, more);
    }
    if (ucp_offer_sizes(offer_p, bytes_first, ucs_min(first, bytes_last),
                        eager_first_cost(query, copies)) != UCS_OK) {
        return UCS_ERR_UNSUPPORTED;
    }
    return (bytes_last <= first) ? UCS_OK
                                 : ucsi_piecewise_set(&offer_p->cost, first + 1,
                                                      bytes_last, more);
}
