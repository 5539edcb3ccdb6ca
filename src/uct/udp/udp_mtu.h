/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_mtu.h - the longest packet that the path carries (RFC 8899).
 *
 *      1200 ==== good ==== ? probes, each a padded PING ? ==== bad ==== device
 *           base    ^ what segments use now
 *
 * Probes go up: first the largest there could be, since it mostly works, then
 * by halves. A probe that is not answered is sent again, three times in all,
 * before its length counts as bad. When nothing long arrives any more (a
 * black hole), segments fall back to the base and the search begins again.
 *
 * Lengths are those of our packets, without IP and UDP, in multiples of 8.
 * Pure: time is an argument. */
#ifndef UCT_UDP_MTU_H_
#define UCT_UDP_MTU_H_

#include "ucs/compiler.h"

enum udp_mtu_limit {
    UDP_MTU_TRY_COUNT  = 3,
    UDP_MTU_STEP_BYTES = 64, /* near enough */
};

#define UDP_MTU_AGAIN_NS                                                       \
    (600 * 1000000000ull) /* RFC 8899: PMTU_RAISE_TIMER                        \
                           */

/* So often at most do words make segments shorter. */
#define UDP_MTU_HINT_NS 1000000000ull

/* good_bytes   arrived, and is used
 * bad_bytes    the shortest that did not; above the largest at first
 * probe_bytes  on its way; 0: none
 * hint_bytes   what the next probe tries, as somebody said; 0: nobody
 * hinted_ns    when segments last became shorter for such words
 * due_ns       when to send the next probe, or to give this one up */
struct udp_mtu {
    uint32_t good_bytes, bad_bytes, largest_bytes;
    uint32_t probe_bytes, probe_number;
    uint32_t try_count, hint_bytes;
    uint64_t hinted_ns;
    uint64_t due_ns;
    bool     is_out; /* the probe went; probe_number is its */
};

/* @param largest_bytes  What the device carries; at least the base. */
void udp_mtu_init(struct udp_mtu *mtu, uint32_t largest_bytes, uint64_t now_ns);

/* Is there something to do at now_ns? @return the length of the probe to send
 * now; 0: none. Tell its number with udp_mtu_sent(). */
uint32_t udp_mtu_step(struct udp_mtu *mtu, uint64_t now_ns);

/* The probe went out; after wait_ns it is lost. */
void udp_mtu_sent(struct udp_mtu *mtu, uint32_t number, uint64_t now_ns,
                  uint64_t wait_ns);

/* It cannot leave the host: too long for the device. */
void udp_mtu_refused(struct udp_mtu *mtu, uint64_t now_ns);

/* Somebody says that nothing longer than packet_bytes passes. It may be a lie:
 * never below the base, and never up; a search settles it. */
void udp_mtu_hint(struct udp_mtu *mtu, uint32_t packet_bytes, uint64_t now_ns);

/* A PING with that number was answered. @return true: good_bytes grew. */
bool udp_mtu_answered(struct udp_mtu *mtu, uint32_t number, uint64_t now_ns);

/* Long packets do not arrive any more although short ones do. */
void udp_mtu_black_hole(struct udp_mtu *mtu, uint64_t now_ns);

/* When to call step; UINT64_MAX: never. */
UCS_INLINE uint64_t udp_mtu_deadline_ns(const struct udp_mtu *mtu)
{
    return mtu->due_ns;
}

#endif
