/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/wireup/peer.h - one remote worker and the endpoints to it.
 *
 *      worker A                              worker B
 *      A's 1st endpoint to B  <----------->  B's 1st endpoint to A
 *      A's 2nd endpoint to B  <----------->  (stands in until B makes it)
 *
 * The n-th endpoint that A makes to B and the n-th that B makes to A are the
 * two ends of one connection. The first message of an endpoint announces it:
 * who, and which number. If the other side has not made its end yet, an
 * internal one stands in; the user's ep_create() gets that one.
 *
 *   ANNOUNCE   0 number:4   4 flags:4 (0)   8 A's worker address
 *
 * Fragments may come over other lanes (peer_rails.c):
 *
 *   ANNOUNCE   0 number:4   4 1 + 256 lane:4   8 A's worker id:8  16 secret:16
 *              on that lane, before all else
 *   ANNOUNCE   0 number:4   4 2 + 256 lane:4   on the message lane: now it is
 *              used, and A's end comes when it has ended, too */
#ifndef UCP_WIREUP_PEER_H_
#define UCP_WIREUP_PEER_H_

#include "ucp/core/worker.h"
#include "ucp/wireup/address.h"

enum ucp_peer_limit {
    UCP_PEER_EP_COUNT_MAX   = 1 << 20, /* endpoints between two workers */
    UCP_ANNOUNCE_HEAD_BYTES = 8,
    UCP_ANNOUNCE_RAIL_BYTES =
        UCP_ANNOUNCE_HEAD_BYTES + 8 + UCP_ADDRESS_SECRET_BYTES,
};

/* The low byte of an announcement's flags; the lane is above it. */
enum ucp_announce_flag {
    UCP_ANNOUNCE_RAIL  = 1 << 0,
    UCP_ANNOUNCE_USED  = 1 << 1,
    UCP_ANNOUNCE_SHIFT = 8,
};

/* Where an endpoint's fragments come from beside its message lane. By the
 * peer's number of the lane:
 * used       as bits: that may have fragments for us
 * ended      as bits
 * has_ended  the message lane */
struct ucp_peer_rails {
    uint8_t            used;
    uint8_t            ended;
    bool               has_ended;
    struct uct_source *sources[UCP_LANE_COUNT_MAX];
};

/* view        lends from `address`, a copy of the peer's blob; it is cut behind
 *             its last entry, as a worker may have ten thousand peers
 * user_count  endpoints that the user has made: number of the next one
 * eps         [ep_count] by number; NULL: closed, or not made */
struct ucp_peer {
    uint64_t                id;
    uint8_t                *address;
    uint32_t                user_count;
    uint32_t                ep_count;
    struct ucp_ep         **eps;
    struct ucp_address_view view;
};

/* Find or make the peer with that address.
 * @param view_p  What the address says, lent from bytes: it may offer less
 *                than the one that the peer was first met with (NET_ONLY).
 * @return UCS_OK; UCS_ERR_INVALID_ADDR: no address, or another one than this
 *         worker id had before, one line says so; UCS_ERR_NO_MEMORY. */
UCS_MUST_USE ucs_status_t ucp_peer_get(struct ucp_worker *worker,
                                       const uint8_t *bytes, size_t size_bytes,
                                       struct ucp_address_view *view_p,
                                       struct ucp_peer        **peer_p);

/* Free all peers; no endpoints are left. */
void ucp_peers_cleanup(struct ucp_worker *worker);

/* The user's next endpoint to a peer: the one that stands in, or a new one.
 * @param view  What may be used to reach it.
 * @return as ucp_ep_open(). */
UCS_MUST_USE ucs_status_t ucp_peer_make_user_ep(
    struct ucp_worker *worker, struct ucp_peer *peer,
    const struct ucp_address_view *view, const struct ucp_ep_options *options,
    struct ucp_ep **ep_p);

/* An end was closed by force, and its peer may go on sending: an internal one
 * takes its number, its source and its rails. It says nothing before `gone` is
 * freed, so that the peer hears of the end first. */
void ucp_peer_stand_in(struct ucp_ep *gone, struct uct_source *source);

/* `gone` is freed now: the one that stands in for it may speak. */
void ucp_peer_gone(const struct ucp_ep *gone);

/* Forget an endpoint that is being closed. */
void ucp_peer_remove_ep(struct ucp_peer *peer, struct ucp_ep *ep);

/* Send the announcement of an endpoint.
 * @return UCS_OK, UCS_ERR_WOULD_BLOCK (entered the pending queue), error. */
UCS_MUST_USE ucs_status_t ucp_peer_announce(struct ucp_ep *ep);

/* Our end of the peer's index-th endpoint; NULL: there is none. */
struct ucp_ep *ucp_peer_find_ep(const struct ucp_worker *worker,
                                const struct ucp_peer *peer, uint32_t index);

/* Tell the peer of a rail, if it does not know, before the first fragment.
 * @return as ucp_peer_announce(). */
UCS_MUST_USE ucs_status_t ucp_peer_announce_rail(struct ucp_ep *ep,
                                                 unsigned       lane);

/* A peer's rail was announced, is used. @return false: it makes no sense. */
bool ucp_peer_rail_announced(struct ucp_worker *worker,
                             struct uct_source *source, const uint8_t *bytes);
bool ucp_peer_rail_used(struct ucp_ep *ep, const uint8_t *bytes);

/* A source has ended. @return true: the peer's end is not here yet. */
bool ucp_peer_rails_wait(struct ucp_ep *ep, const struct uct_source *source);

/* What comes over rails is for nobody, for another endpoint. */
void ucp_peer_rails_drop(struct ucp_ep *ep);
void ucp_peer_rails_move(struct ucp_ep *from, struct ucp_ep *to);

/* Receive announcements on an interface. */
void ucp_peer_set_handler(struct ucp_worker_iface *wiface);

/* A source ended (uct_source_end_fn); arg is the worker. */
void ucp_peer_source_ended(void *arg, struct uct_source *source,
                           ucs_status_t status);

#endif
