/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_share.h - how much of our memory a peer may make us keep.
 *
 *     a pool:  | what peers make wait, at most `room` | for whose turn it is |
 *              |<- of one connection: 1/4 of the free ->|
 *
 * A peer that sends segments ahead of order and never the one that is due, or
 * asks and never takes the answer, makes us keep things. Without a bound of all
 * of them the honest peers would find nothing left; with one of each connection
 * only, many connections would fill all. So a connection gets a quarter of what
 * is free (the dynamic threshold of Choudhury and Hahne, 1998): one alone gets
 * a fifth of the room, a thousand share most of it, and for one more there is
 * always something. What finds no place is dropped as if it had been lost. */
#ifndef UCT_UDP_SHARE_H_
#define UCT_UDP_SHARE_H_

#include "uct/udp/udp_conn.h"

enum udp_share_limit {
    UDP_SHARE_PART       = 4,
    UDP_SHARE_SMALL_MAX  = 65536,
    UDP_SHARE_LARGE_MAX  = UDP_HELD_LARGE_MAX / 4 * 3,
    UDP_SHARE_HUGE_MAX   = UDP_HELD_HUGE_MAX / 4 * 3,
    UDP_SHARE_RING_MAX   = 4096, /* 32 KiB each */
    UDP_SHARE_ANSWER_MAX = 65536,
};

/* May that connection have one more? */
bool udp_share_has(const struct udp_conn *conn, enum udp_share share);

UCS_INLINE void udp_share_add(struct udp_conn *conn, enum udp_share share)
{
    ++conn->shares[share];
    ++conn->env->shares[share];
}

UCS_INLINE void udp_share_remove(struct udp_conn *conn, enum udp_share share)
{
    ucs_assert(conn->shares[share] > 0);
    --conn->shares[share];
    --conn->env->shares[share];
}

/* A held message that waits for what is missing, maybe for ever.
 * @return NULL: no memory for it. */
struct udp_held *udp_share_hold(struct udp_conn *conn, size_t length);
/* It waits no more. */
void udp_share_release(struct udp_conn *conn, const struct udp_held *held);

/* A place in the ring for an early number. @return false: there is none. */
bool udp_share_place(struct udp_conn *conn, uint32_t number);
/* Give the ring back, if there is one and it is empty. */
void udp_share_return(struct udp_conn *conn);

#endif
