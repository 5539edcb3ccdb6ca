/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/wireup/lanes.h - which interfaces reach a peer best: one for messages,
 * and rails that share the bytes of large ones. */
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

/* A pair of interfaces, looked at.
 * status  UCS_OK: they reach one another
 * reason  why not; or what its rank depends on, empty: it has none
 * cost_s  of a small message */
struct ucp_lane_candidate {
    struct ucp_lane_choice pair;
    ucs_status_t           status;
    double                 cost_s;
    char                   reason[UCT_REASON_BYTES_MAX];
};

enum { UCP_LANE_CANDIDATE_COUNT_MAX = 64 };

/* Look at every pair of interfaces of one transport, for people: choosing
 * looks at no more than it must.
 * @return how many there are. */
unsigned ucp_lanes_candidates(struct ucp_worker             *worker,
                              const struct ucp_address_view *view,
                              struct ucp_lane_candidate     *candidates);

/* Choose the lane for messages: of the pairs of interfaces that reach one
 * another, the one with the lowest latency and overhead; where these are
 * equal, what the transport ranks first (iface_rank).
 * @param reasons  [size_bytes] why each candidate was refused, for people.
 * @return UCS_OK, or UCS_ERR_UNREACHABLE. */
UCS_MUST_USE ucs_status_t ucp_lanes_choose(struct ucp_worker *worker,
                                           const struct ucp_address_view *view,
                                           struct ucp_lane_choice *choice_p,
                                           char *reasons, size_t size_bytes);

/* Choose rails behind the message lane in choices[0], the fastest first, so
 * that there are at most UCX_MAX_RNDV_RAILS with the message lane. Inside a
 * node the processor moves the bytes, so lanes there do not add up: there is
 * one at most.
 * @param choices  [UCP_LANE_COUNT_MAX]. @return how many are set. */
unsigned ucp_lanes_add_rails(struct ucp_worker             *worker,
                             const struct ucp_address_view *view,
                             struct ucp_lane_choice        *choices);

/* How both ends name an interface in messages. */
uint32_t ucp_lane_name(const char *transport, const uint8_t *address,
                       size_t address_bytes);

#endif
