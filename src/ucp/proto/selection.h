/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/selection.h - a choice between protocols with all that led to it:
 * each offer or its reason, and who is cheapest where. ucp_select() keeps only
 * the winners; explain shows the rest. */
#ifndef UCP_PROTO_SELECTION_H_
#define UCP_PROTO_SELECTION_H_

#include "ucp/proto/proto.h"

enum ucp_selection_limit {
    UCP_SELECT_OFFER_COUNT_MAX = 16,
    UCP_SELECT_LINE_COUNT_MAX  = 64, /* of the envelope */
};

/* protos  who was asked, in order
 * offers  [offer_count] what they answered; a refusal has a reason and costs
 *         UCS_LINEAR_NEVER
 * lines   [line_count] the cheapest by size; index is that of protos */
struct ucp_selection {
    const struct ucp_proto *const *protos;
    unsigned                       offer_count;
    unsigned                       line_count;
    struct ucp_offer               offers[UCP_SELECT_OFFER_COUNT_MAX];
    struct ucs_envelope_row        lines[UCP_SELECT_LINE_COUNT_MAX];
};

/* Ask all protocols and find the cheapest for every size. Pure.
 * @return UCS_OK, also when nobody serves some sizes (UCS_ENVELOPE_NONE);
 *         UCS_ERR_UNSUPPORTED: no protocols; UCS_ERR_EXCEEDS_LIMIT. */
UCS_MUST_USE ucs_status_t ucp_select_all(const struct ucp_proto *const *protos,
                                         const struct ucp_query        *query,
                                         struct ucp_selection *selection_p);

#endif
