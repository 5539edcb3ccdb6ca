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
#include "ucp/proto/selection.h"

const char ucp_offer_no_size_reason[] = "the thresholds leave no size for it";

ucs_status_t ucp_offer_sizes(struct ucp_offer *offer, size_t bytes_first,
                             size_t bytes_last, struct ucs_linear cost)
{
    if (bytes_first > bytes_last) {
        return ucp_offer_refuse(offer, ucp_offer_no_size_reason);
    }
    ucsi_piecewise_init(&offer->cost, UCS_LINEAR_NEVER);
    return ucsi_piecewise_set(&offer->cost, bytes_first, bytes_last, cost);
}

/* Each piece costs, so each byte costs its part of that. */
static void select_add_pieces(struct ucp_offer       *offer,
                              const struct ucp_query *query)
{
    if (query->piece_bytes == 0) {
        return;
    }
    for (unsigned i = 0; i < offer->cost.count; ++i) {
        struct ucs_linear *cost = &offer->cost.pieces[i].cost;

        if (isfinite(cost->base_s)) {
            cost->per_byte_s += offer->piece_s / (double)query->piece_bytes;
        }
    }
}

ucs_status_t ucp_select_all(const struct ucp_proto *const *protos,
                            const struct ucp_query        *query,
                            struct ucp_selection          *selection_p)
{
    const struct ucs_piecewise *costs[UCP_SELECT_OFFER_COUNT_MAX];
    unsigned                    count = 0;

    for (; (protos[count] != NULL) && (count < UCP_SELECT_OFFER_COUNT_MAX);
         ++count) {
        struct ucp_offer *offer = &selection_p->offers[count];

        offer->reason  = NULL;
        offer->piece_s = 0;
        if (protos[count]->offer(query, offer) != UCS_OK) {
            ucsi_piecewise_init(&offer->cost, UCS_LINEAR_NEVER);
        }
        select_add_pieces(offer, query);
        costs[count] = &offer->cost;
    }
    if (count == 0) {
        return UCS_ERR_UNSUPPORTED;
    }
    selection_p->protos      = protos;
    selection_p->offer_count = count;
    selection_p->line_count  = UCP_SELECT_LINE_COUNT_MAX;
    return ucsi_piecewise_envelope(costs, count, selection_p->lines,
                                   &selection_p->line_count);
}

/* Fill the table from the envelope; neighbours of one protocol are joined. */
static ucs_status_t select_fill(const struct ucp_selection *selection,
                                struct ucp_select_table    *table_p)
{
    unsigned                count = 0;
    const struct ucp_proto *proto;

    for (unsigned i = 0; i < selection->line_count; ++i) {
        const struct ucs_envelope_row *line = &selection->lines[i];

        if (line->index == UCS_ENVELOPE_NONE) {
            return UCS_ERR_UNSUPPORTED;
        }
        proto = selection->protos[line->index];
        if ((count == 0) || (table_p->rows[count - 1].proto != proto)) {
            ++count;
        }
        if (count > UCP_SELECT_ROW_COUNT_MAX) {
            return UCS_ERR_EXCEEDS_LIMIT;
        }
        table_p->rows[count - 1].proto     = proto;
        table_p->rows[count - 1].bytes_max = line->size_bytes_max;
    }
    return UCS_OK;
}

ucs_status_t ucp_select(const struct ucp_proto *const *protos,
                        const struct ucp_query        *query,
                        struct ucp_select_table       *table_p)
{
    struct ucp_selection selection;
    ucs_status_t         status = ucp_select_all(protos, query, &selection);

    return (status == UCS_OK) ? select_fill(&selection, table_p) : status;
}
