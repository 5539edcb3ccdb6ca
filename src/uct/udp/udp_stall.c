/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_stall.c - what was accepted moves on although the application
 * does not call.
 *
 *     every 10 ms: has the interface polled since? --no--> try the gate
 *                  does it sleep (armed)? --no--> serve, leave
 *
 * While there is something to serve it looks again after 100 us: the other side
 * would take 10 ms for the way, or for losses.
 *
 * It calls no handler and no callback: messages go to the inbox, completions
 * wait. Who sleeps is woken by its descriptor, so its packets are left where
 * they are: taken away, they would wake nobody. But who armed and does not
 * come although something waits for long does not sleep; it is served, and its
 * descriptor goes on saying so. Who looks every 10 ms is udp_stall_thread.c; a
 * simulation has an event for it. */
#include "ucs/clock.h"
#include "uct/udp/udp.h"

enum { STALL_OVERSLEPT_NS = 30 * 1000 * 1000 };

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

/* It is armed, and nothing has waited for it for long. */
static bool stall_is_asleep(struct udp_iface *iface)
{
    if (!iface->is_armed || (udp_iface_set_alarm(iface) != UCS_ERR_BUSY)) {
        iface->waits_since_ns = iface->env.now_ns;
    }
    return iface->is_armed &&
           (iface->env.now_ns - iface->waits_since_ns < STALL_OVERSLEPT_NS);
}

bool udp_stall_look(struct udp_iface *iface)
{
    unsigned count = 0;

    if (stall_is_alive(iface) || !udp_try_enter(iface)) {
        return false;
    }
    iface->env.now_ns = ucsi_clock_ns();
    if (!stall_is_asleep(iface)) {
        count = udp_iface_serve(iface);
        if (iface->is_armed) {
            (void)udp_iface_set_alarm(iface);
        }
    }
    udp_helper_leave(iface);
    return count > 0;
}
