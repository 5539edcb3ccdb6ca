/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/explain_range.h - a range of sizes that is being explained, for the
 * files that do it. */
#ifndef UCP_PROTO_EXPLAIN_RANGE_H_
#define UCP_PROTO_EXPLAIN_RANGE_H_

#include "ucp/proto/explain.h"

/* Sizes from first to last have one cheapest offer.
 * winner  its index, or UCS_ENVELOPE_NONE */
struct ucp_explain_range {
    size_t   first;
    size_t   last;
    unsigned winner;
};

/* A record of one offer at one range: what it is about. */
void ucp_explain_begin_json(struct ucp_explain *explain, const char *record,
                            const struct ucp_query         *query,
                            const struct ucp_explain_range *range);

/* Why the offer of that index lost. */
void ucp_explain_lost(struct ucp_explain         *explain,
                      const struct ucp_query     *query,
                      const struct ucp_selection *selection, unsigned index,
                      const struct ucp_explain_range *range);

#endif
