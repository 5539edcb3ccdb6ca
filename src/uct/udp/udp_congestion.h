/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_congestion.h - how much may be on the way at a time.
 *
 *      acks, losses --> ops --> window_bytes, pace_Bps --> udp_conn
 *
 * Two controls: `fixed` for tests and for fabrics that lose nothing, `rate`
 * for everything else. `rate` models the path by the two numbers that can be
 * measured, the rate at which data arrives and the shortest round trip
 * (BBR: Cardwell and others 2016), so random loss does not slow it down.
 *
 * Pure. The state is in one struct for both; a new control adds a member to
 * the union, a file and a line in udp_congestion.c. */
#ifndef UCT_UDP_CONGESTION_H_
#define UCT_UDP_CONGESTION_H_

#include "ucs/compiler.h"

/* What an acknowledgement told.
 * acked_bytes      that arrived and were not known to
 * rtt_ns           of the segment that arrived last; 0: not known
 * delivered_bytes  that arrived while that segment was on its way, in
 * interval_ns
 * prior_bytes      delivered_bytes of the connection as it was sent
 * total_bytes      the same now
 * is_app_limited   then there was nothing more to send: no measure of the
 *                  path */
struct udp_cc_sample {
    uint64_t now_ns;
    uint64_t acked_bytes;
    uint64_t rtt_ns;
    uint64_t delivered_bytes;
    uint64_t interval_ns;
    uint64_t prior_bytes;
    uint64_t total_bytes;
    uint64_t flight_bytes;
    bool     is_app_limited;
};

struct udp_cc;

struct udp_cc_ops {
    const char *name;
    void (*init)(struct udp_cc *cc, uint64_t now_ns);
    void (*acked)(struct udp_cc *cc, const struct udp_cc_sample *sample);
    /* Segments were overtaken. */
    void (*lost)(struct udp_cc *cc, uint64_t lost_bytes, uint64_t now_ns);
    /* Nothing came for the whole time-out. */
    void (*timed_out)(struct udp_cc *cc, uint64_t now_ns);
};

enum { UDP_CC_ROUND_COUNT = 10 };

struct udp_cc_rate {
    uint64_t rate_Bps[UDP_CC_ROUND_COUNT]; /* the best of each round */
    uint64_t rate_max_Bps;
    uint64_t full_Bps; /* of when start-up last grew */
    uint64_t min_rtt_ns, min_rtt_at_ns, smooth_rtt_ns;
    uint64_t round_end_bytes; /* the round ends when so much arrived */
    uint64_t phase_ns;        /* since when the phase lasts */
    uint32_t round;
    uint8_t  full_count, phase, state;
    bool     is_cautious; /* after a time-out, until something arrives */
};

/* window_bytes   may be on the way
 * pace_Bps       of sending; 0: at any rate
 * segment_bytes  of a full packet now */
struct udp_cc {
    const struct udp_cc_ops *ops;
    uint64_t                 window_bytes;
    uint64_t                 pace_Bps;
    uint32_t                 segment_bytes;
    union {
        struct udp_cc_rate rate;
    } of;
};

enum udp_cc_kind { UDP_CC_RATE, UDP_CC_FIXED, UDP_CC_COUNT };

extern const struct udp_cc_ops udp_cc_rate_ops;  /* udp_cc_rate.c */
extern const struct udp_cc_ops udp_cc_fixed_ops; /* udp_cc_fixed.c */

/* @param window_bytes  Of `fixed`; `rate` finds its own. */
void udp_cc_init(struct udp_cc *cc, enum udp_cc_kind kind,
                 uint64_t window_bytes, uint64_t now_ns);

/* How long a packet of that many bytes holds back the next one. */
UCS_INLINE uint64_t udp_cc_pace_ns(const struct udp_cc *cc, uint64_t bytes)
{
    return (cc->pace_Bps == 0) ? 0 : bytes * 1000000000ull / cc->pace_Bps;
}

#endif
