/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/layout.h - where the bytes of a range of a message lie at one end,
 * told to the other, which reads or writes them there (docs/adr/0024).
 *
 *   0 kind:1  1 lane count:1  2 run count:2  4 lane names: lane count x 4
 *   LIST     run count x { address:8 length:8 keys }
 *   STRIDED  base:8 block:8 extent:8, 2 x { count:8 stride:8 }, keys
 *   keys     for each lane: { length:1, key }; length 0: that of the run before
 *
 * Little endian. The runs of a list are the range, in its order; a pattern is
 * that of the whole message. A key is for the lane to the interface of that
 * name (ucp_worker_iface.name), so the ends need not number lanes alike. */
#ifndef UCP_PROTO_LAYOUT_H_
#define UCP_PROTO_LAYOUT_H_

#include "ucp/proto/rndv.h"

enum ucp_layout_kind {
    UCP_LAYOUT_LIST    = 0,
    UCP_LAYOUT_STRIDED = 1,
};

enum {
    UCP_LAYOUT_RUN_COUNT_MAX = 128,
    UCP_LAYOUT_KEY_COUNT_MAX = 256, /* of all runs and lanes together */
    /* One run or pattern with all keys that there can be. */
    UCP_LAYOUT_BYTES_MIN = 4 + 4 * UCP_LANE_COUNT_MAX + 56 +
                           UCP_LANE_COUNT_MAX * (1 + UCT_RKEY_BYTES_MAX),
};

UCS_MUST_USE ucs_status_t ucp_layout_pools_init(struct ucp_worker *worker);
void                      ucp_layout_pools_cleanup(struct ucp_worker *worker);

/* ---- its owner ---- */

/* Registrations that were made for one purpose. */
struct ucp_regs {
    unsigned        count;
    struct ucp_reg *regs[UCP_LAYOUT_KEY_COUNT_MAX];
};

/* @return NULL: no memory. */
struct ucp_regs *ucp_regs_create(struct ucp_worker *worker);
/* NULL is none. */
void ucp_regs_destroy(struct ucp_regs *regs);

/* What to show of a message.
 * lanes   over which it may be touched, as bits
 * access  enum uct_access
 * range   the part; not empty */
struct ucp_showing {
    struct ucp_rndv *rndv;
    uint32_t         lanes;
    unsigned         access;
    struct ucp_range range;
};

/* Write where it lies, as far as that fits into [size_bytes]. What the message
 * has registered as a whole (by_rdma.regs) is used, else each run is
 * registered for each lane.
 * @param regs   Takes what was registered.
 * @param end_p  Out: so far the range is shown.
 * @return bytes written; 0: nothing could be shown. */
size_t ucp_layout_show(const struct ucp_showing *showing, uint8_t *bytes,
                       size_t size_bytes, struct ucp_regs *regs, size_t *end_p);

/* ---- its peer ---- */

/* What the other end has shown. Addresses are those of its memory.
 * iter    walks over runs, or over the pattern
 * range   what is shown of the message
 * lanes   those for which there are all keys, as bits
 * slots   lane -> its place among the keys of a run
 * key_of  [run * slot_count + slot] */
struct ucp_layout {
    struct ucp_dt_iter    iter;
    struct ucp_dt_strided strided;
    struct ucp_range      range;
    uint32_t              lanes;
    uint8_t               slot_count;
    uint8_t               slots[UCP_LANE_COUNT_MAX];
    unsigned              key_count;
    ucp_dt_iov_t          runs[UCP_LAYOUT_RUN_COUNT_MAX];
    uint16_t              key_of[UCP_LAYOUT_KEY_COUNT_MAX];
    struct uct_rkey      *rkeys[UCP_LAYOUT_KEY_COUNT_MAX];
};

/* What came, and what it is about.
 * bytes   [size_bytes] from the peer
 * lanes   that may be used
 * range   the part of the message that it says it describes */
struct ucp_shown {
    struct ucp_ep   *ep;
    const uint8_t   *bytes;
    size_t           size_bytes;
    uint32_t         lanes;
    struct ucp_range range;
};

/* Understand it and unpack the keys of those lanes.
 * @return UCS_OK: give it back with ucp_layout_destroy().
 *         UCS_ERR_INVALID_PARAM: nonsense. UCS_ERR_UNREACHABLE: no lane has
 *         keys that can be used. UCS_ERR_NO_MEMORY. */
UCS_MUST_USE ucs_status_t ucp_layout_read(const struct ucp_shown *shown,
                                          struct ucp_layout     **layout_p);
/* NULL is none. */
void ucp_layout_destroy(struct ucp_layout *layout);

/* Describe up to length_max bytes from an offset of the message on, inside of
 * the range, for a lane of it.
 * @param remote  [*count_p] filled; *count_p becomes the number used.
 * @return bytes described. */
size_t ucp_layout_pieces(struct ucp_layout *layout, unsigned lane,
                         struct ucp_range range, struct uct_remote *remote,
                         unsigned *count_p);

#endif
