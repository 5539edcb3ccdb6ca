/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/eager.c - the settings that limit eager messages. */
#include "ucp/proto/eager.h"

static size_t threshold_bytes(const struct ucs_config_threshold *threshold,
                              const struct ucp_query            *query)
{
    return (query->lane->attr.flags & UCT_IFACE_INTRA_NODE) ?
                   threshold->intra_bytes :
                   threshold->inter_bytes;
}

size_t ucp_rndv_threshold(const struct ucp_query *query)
{
    return threshold_bytes(&query->config->rndv_threshold, query);
}

size_t ucp_zcopy_threshold(const struct ucp_query *query)
{
    size_t bytes = threshold_bytes(&query->config->zcopy_threshold, query);

    return (bytes == UCS_UNITS_AUTO) ? 0 : bytes;
}

size_t ucp_eager_bytes_max(const struct ucp_query *query)
{
    size_t threshold = ucp_rndv_threshold(query);

    if ((threshold == UCS_UNITS_AUTO) || (threshold == SIZE_MAX)) {
        return SIZE_MAX;
    }
    return (threshold == 0) ? 0 : threshold - 1;
}
