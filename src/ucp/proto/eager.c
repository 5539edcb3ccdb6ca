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
