/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/wireup/lanes.h - which interface reaches a peer best. */
#ifndef UCP_WIREUP_LANES_H_
#define UCP_WIREUP_LANES_H_

#include "ucp/core/worker.h"
#include "ucp/wireup/address.h"

/* iface_index  ours
 * entry        theirs */
struct ucp_lane_choice {
    unsigned                        iface_index;
    const struct ucp_address_entry *entry;
};

/* Choose the lane for messages: of the pairs of interfaces that reach one
 * another, the one with the lowest latency and overhead.
 * @param reasons  [size_bytes] why each candidate was refused, for people.
 * @return UCS_OK, or UCS_ERR_UNREACHABLE. */
UCS_MUST_USE ucs_status_t
ucp_lanes_choose(struct ucp_worker *worker, const struct ucp_address_view *view,
                 struct ucp_lane_choice *choice_p, char *reasons,
                 size_t size_bytes);

#endif
