/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/select.c - which protocol for which size.
 *
 *   cost |  \ immediate  .      / allocated
 *        |     \      .     /          .... pipeline
 *        |        \.   /   ....
 *        |--------+--+----------------------------> bytes
 *                rows: the lower envelope of all offers
 *
 * Pure arithmetic, done once per endpoint configuration. */
#include "ucp/proto/proto.h"

enum {
    SELECT_OFFER_COUNT_MAX = 16,
    SELECT_LINE_COUNT_MAX  = 64, /* of the envelope; rows are joined */
};

ucs_status_t ucp_offer_sizes(struct ucp_offer *offer, size_t bytes_first,
                             size_t bytes_last, struct ucs_linear cost)
{
    if (bytes_first > bytes_last) {
        return ucp_offer_refuse(offer, "the thresholds leave no size for it");
    }
    ucsi_piecewise_init(&offer->cost, UCS_LINEAR_NEVER);
    return ucsi_piecewise_set(&offer->cost, bytes_first, bytes_last, cost);
}

/* Fill the table from the envelope; neighbours of one protocol are joined. */
static ucs_status_t select_fill(const struct ucp_proto *const *offering,
                                const struct ucs_envelope_row *lines,
                                unsigned                       line_count,
                                struct ucp_select_table       *table_p)
{
    unsigned                count = 0;
    const struct ucp_proto *proto;

    for (unsigned i = 0; i < line_count; ++i) {
        if (lines[i].index == UCS_ENVELOPE_NONE) {
            return UCS_ERR_UNSUPPORTED;
        }
        proto = offering[lines[i].index];
        if ((count == 0) || (table_p->rows[count - 1].proto != proto)) {
            ++count;
        }
        if (count > UCP_SELECT_ROW_COUNT_MAX) {
            return UCS_ERR_EXCEEDS_LIMIT;
        }
        table_p->rows[count - 1].proto     = proto;
        table_p->rows[count - 1].bytes_max = lines[i].size_bytes_max;
    }
    return UCS_OK;
}

ucs_status_t ucp_select(const struct ucp_proto *const *protos,
                        const struct ucp_query        *query,
                        struct ucp_select_table       *table_p)
{
    struct ucp_offer            offers[SELECT_OFFER_COUNT_MAX];
    const struct ucp_proto     *offering[SELECT_OFFER_COUNT_MAX];
    const struct ucs_piecewise *costs[SELECT_OFFER_COUNT_MAX];
    struct ucs_envelope_row     lines[SELECT_LINE_COUNT_MAX];
    unsigned                    line_count = SELECT_LINE_COUNT_MAX;
    unsigned                    count      = 0;
    ucs_status_t                status;

    for (; (*protos != NULL) && (count < SELECT_OFFER_COUNT_MAX); ++protos) {
        if ((*protos)->offer(query, &offers[count]) == UCS_OK) {
            offering[count] = *protos;
            costs[count]    = &offers[count].cost;
            ++count;
        }
    }
    if (count == 0) {
        return UCS_ERR_UNSUPPORTED;
    }
    status = ucsi_piecewise_envelope(costs, count, lines, &line_count);
    return (status == UCS_OK)
               ? select_fill(offering, lines, line_count, table_p)
               : status;
}
