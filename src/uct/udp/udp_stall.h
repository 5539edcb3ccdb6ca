/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_stall.h - the helper: who serves an interface while its
 * application does not call.
 *
 *         polled, or something moves            nothing is due
 *   BUSY <---------------------------- TICK --------------------> REST
 *   100 us                             10 ms        until its descriptor fires
 *                                        ^          or the application leaves
 *                                        '--------- something that is due */
#ifndef UCT_UDP_STALL_H_
#define UCT_UDP_STALL_H_

#include <stdatomic.h>

#include "ucs/list.h"
#include "ucs/type/status.h"

struct udp_iface;

enum udp_stall_interval {
    UDP_STALL_BUSY_NS = 100 * 1000, /* while there is traffic */
    UDP_STALL_TICK_NS = 10 * 1000 * 1000,
};

/* When to look again. */
enum udp_stall_next { UDP_STALL_BUSY, UDP_STALL_TICK, UDP_STALL_REST };

/* What the helper knows of an interface.
 * link, look_ns    its thread's: when it looks again
 * is_watched       its thread's: it is woken by the interface's descriptor;
 *                  has_fired: it was
 * poll_count_seen  at the last look
 * waits_since_ns   for a sleeper; written inside the gate
 * alarm_ns         when the descriptor fires without a packet; inside the gate
 * rests            nothing is due before; written inside the gate */
struct udp_stall {
    struct ucs_list link;
    uint64_t        look_ns;
    bool            is_watched, has_fired;
    uint64_t        poll_count_seen;
    uint64_t        waits_since_ns;
    uint64_t        alarm_ns;
    atomic_bool     rests;
};

/* udp_stall.c: look once. */
enum udp_stall_next udp_stall_look(struct udp_iface *iface);

/* The last one leaves the interface while the helper rests: wake it if
 * something was left that cannot wait. */
void udp_stall_leave(struct udp_iface *iface);

/* Its descriptor tells of packets no more: do not rest on it. */
void udp_stall_detached(struct udp_iface *iface);

/* udp_stall_thread.c: look at it again and again, until it is forgotten. */
ucs_status_t udp_stall_watch(struct udp_iface *iface);
void         udp_stall_forget(struct udp_iface *iface);
/* Some interface does not rest any more. From any thread. */
void udp_stall_wake(void);

#endif
