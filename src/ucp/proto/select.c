/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/select.c - which protocol for which size.
 *
 *   cost |  \ immediate  .      / allocated
 *        |     \      .     /          .... pipeline
 *        |        \.   /   ....
 *        |--------+--+----------------------------> bytes
 *                rows: the lower envelope of all offers
 *
 * Pure arithmetic, done once per endpoint configuration. Between two
 * neighbouring bounds (an offer's first or last size, or where two cost lines
 * cross) one offer is cheapest throughout. */
#include "ucp/proto/proto.h"

enum { SELECT_OFFER_COUNT_MAX = 16 };

struct select_entry {
    const struct ucp_proto *proto;
    struct ucp_offer        offer;
};

static double select_cost(const struct ucp_offer *offer, size_t bytes)
{
    return offer->base_s + (double)bytes * offer->per_byte_s;
}

static const struct select_entry *
select_cheapest(const struct select_entry *entries, unsigned count,
                size_t bytes)
{
    const struct select_entry *best = NULL;

    for (const struct select_entry *entry = entries; entry < entries + count;
         ++entry) {
        if ((bytes >= entry->offer.bytes_min) &&
            (bytes <= entry->offer.bytes_max) &&
            ((best == NULL) || (select_cost(&entry->offer, bytes) <
                                select_cost(&best->offer, bytes)))) {
            best = entry;
        }
    }
    return best;
}

/* The last size, at most `last`, up to which `best` is not dearer than
 * `other`; `best` is not dearer at `bytes`. */
static size_t select_crossing(const struct ucp_offer *best,
                              const struct ucp_offer *other, size_t bytes,
                              size_t last)
{
    double gain_per_byte = best->per_byte_s - other->per_byte_s;
    double at;

    if (gain_per_byte <= 0) {
        return last;
    }
    at = (other->base_s - best->base_s) / gain_per_byte;
    if (at >= (double)last) {
        return last;
    }
    return (at <= (double)bytes) ? bytes : (size_t)at;
}

/* How far `best`, the cheapest at `bytes`, stays it. */
static size_t select_reach(const struct select_entry *entries, unsigned count,
                           const struct select_entry *best, size_t bytes)
{
    size_t last = best->offer.bytes_max;

    for (const struct select_entry *other = entries; other < entries + count;
         ++other) {
        if ((other == best) || (other->offer.bytes_max <= bytes)) {
            continue;
        }
        if (other->offer.bytes_min > bytes) {
            last = ucs_min(last, other->offer.bytes_min - 1);
        } else {
            last = select_crossing(&best->offer, &other->offer, bytes, last);
        }
    }
    return last;
}

ucs_status_t ucp_select(const struct ucp_proto *const *protos,
                        const struct ucp_query        *query,
                        struct ucp_select_table       *table_p)
{
    struct select_entry        entries[SELECT_OFFER_COUNT_MAX];
    const struct select_entry *best;
    unsigned                   count     = 0;
    unsigned                   row_count = 0;
    size_t                     bytes     = 0;
    size_t                     last;

    for (; (*protos != NULL) && (count < SELECT_OFFER_COUNT_MAX); ++protos) {
        if ((*protos)->offer(query, &entries[count].offer) == UCS_OK) {
            entries[count++].proto = *protos;
        }
    }
    for (;;) {
        best = select_cheapest(entries, count, bytes);
        if (best == NULL) {
            return UCS_ERR_UNSUPPORTED;
        }
        last = select_reach(entries, count, best, bytes);
        if ((row_count > 0) &&
            (table_p->rows[row_count - 1].proto == best->proto)) {
            --row_count; /* the same goes on */
        }
        if (row_count == UCP_SELECT_ROW_COUNT_MAX) {
            return UCS_ERR_EXCEEDS_LIMIT;
        }
        table_p->rows[row_count].bytes_max = last;
        table_p->rows[row_count].proto     = best->proto;
        ++row_count;
        if (last == SIZE_MAX) {
            return UCS_OK;
        }
        bytes = last + 1;
    }
}
