/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_stall.c - what was accepted moves on although the application
 * does not call.
 *
 *     every 10 ms: has the interface polled since? --no--> try the gate,
 *                                                         serve, leave
 *
 * While there is something to serve it looks again after 100 us: the other side
 * would take 10 ms for the way, or for losses.
 *
 * It calls no handler and no callback: messages go to the inbox, completions
 * wait. Who looks every 10 ms is udp_stall_thread.c; a simulation has an
 * event for it. */
#include "uct/udp/udp.h"

/* Has it polled since the last look? */
static bool stall_is_alive(struct udp_iface *iface)
{
    /* Relaxed: an old number only makes the look a tick late. */
    uint64_t count =
        atomic_load_explicit(&iface->poll_count, memory_order_relaxed);
    bool is_alive = (count != iface->poll_count_seen);

    iface->poll_count_seen = count;
    return is_alive;
}

bool udp_stall_look(struct udp_iface *iface)
{
    unsigned count = 0;

    if (!stall_is_alive(iface) && udp_try_enter(iface)) {
        count = udp_iface_serve(iface);
        udp_helper_leave(iface);
    }
    return count > 0;
}
