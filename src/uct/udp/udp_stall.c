/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_stall.c - what was accepted moves on although the application
 * does not call.
 *
 *     has the interface polled since? --no--> try the gate
 *     does it sleep (armed)? --no--> serve
 *     nothing is due? --> rest
 *
 * While there is something to serve it looks again after 100 us: the other side
 * would take 10 ms for the way, or for losses.
 *
 * It calls no handler and no callback: messages go to the inbox, completions
 * wait. Who sleeps is woken by its descriptor, so its packets are left where
 * they are: taken away, they would wake nobody. But who armed and does not
 * come although something waits for long does not sleep; it is served, and its
 * descriptor goes on saying so. Who looks is udp_stall_thread.c; a simulation
 * has an event for it. */
#include "uct/udp/udp_stall.h"

#include "ucs/clock.h"
#include "uct/udp/udp.h"

enum { STALL_OVERSLEPT_NS = 30 * 1000 * 1000 };

/* Has it polled since the last look? */
static bool stall_is_alive(struct udp_iface *iface)
{
    /* Relaxed: an old number only makes the look a tick late. */
    uint64_t count =
        atomic_load_explicit(&iface->poll_count, memory_order_relaxed);
    bool is_alive = (count != iface->stall.poll_count_seen);

    iface->stall.poll_count_seen = count;
    return is_alive;
}

/* Let the descriptor fire when there is something to look after. */
static ucs_status_t stall_arm(struct udp_iface *iface)
{
    return iface->is_armed ? udp_iface_set_alarm(iface)
                           : udp_iface_set_timer(iface);
}

/* Nothing has waited for long for who is armed. */
static bool stall_is_asleep(struct udp_iface *iface, ucs_status_t status)
{
    struct udp_stall *stall  = &iface->stall;
    uint64_t          now_ns = iface->env.now_ns;
    /* Relaxed: changed inside the gate only, where we are. */
    bool has_rested =
        atomic_exchange_explicit(&stall->rests, false, memory_order_relaxed);

    if ((status != UCS_ERR_BUSY) || has_rested) {
        stall->waits_since_ns = now_ns;
    }
    return iface->is_armed &&
           (now_ns - stall->waits_since_ns < STALL_OVERSLEPT_NS);
}

enum udp_stall_next udp_stall_look(struct udp_iface *iface)
{
    ucs_status_t status;
    unsigned     count = 0;
    bool         rests;

    if (stall_is_alive(iface) || !udp_try_enter(iface)) {
        return UDP_STALL_TICK;
    }
    iface->env.now_ns = ucsi_clock_ns();
    status            = iface->is_armed ? stall_arm(iface) : UCS_OK;
    if (!stall_is_asleep(iface, status)) {
        count  = udp_iface_serve(iface);
        status = stall_arm(iface);
    }
    rests = (count == 0) && (status == UCS_OK) && !iface->env.is_blocked;
    atomic_store_explicit(&iface->stall.rests, rests, memory_order_relaxed);
    udp_helper_leave(iface);
    return (count > 0) ? UDP_STALL_BUSY
           : rests     ? UDP_STALL_REST
                       : UDP_STALL_TICK;
}

static void stall_end_rest(struct udp_iface *iface)
{
    /* Relaxed: the bell orders it for the thread. */
    atomic_store_explicit(&iface->stall.rests, false, memory_order_relaxed);
    udp_stall_wake();
}

void udp_stall_detached(struct udp_iface *iface)
{
    /* Relaxed: written inside the gate, where we are. */
    if (atomic_load_explicit(&iface->stall.rests, memory_order_relaxed)) {
        stall_end_rest(iface);
    }
}

void udp_stall_leave(struct udp_iface *iface)
{
    if ((udp_env_deadline_ns(&iface->env) < iface->stall.alarm_ns) ||
        iface->env.is_blocked) {
        stall_end_rest(iface);
    }
}
