/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_gate.c - who is inside an interface: the application's thread,
 * or for moments the helper's.
 *
 * The application always gets in; it waits only while the helper is there,
 * which is when the application has not called for a while. */
#include <sched.h>

#include "uct/udp/udp.h"

enum { GATE_SPIN_COUNT = 1000 };

static bool gate_take(struct udp_iface *iface)
{
    /* Acquire: what the one before did is seen; pairs with gate_give(). */
    return atomic_exchange_explicit(&iface->gate, 1, memory_order_acquire) == 0;
}

static void gate_give(struct udp_iface *iface)
{
    /* Relaxed: changed inside only. */
    if (ucs_unlikely(
            atomic_load_explicit(&iface->stall.rests, memory_order_relaxed))) {
        udp_stall_leave(iface);
    }
    atomic_store_explicit(&iface->gate, 0, memory_order_release);
}

void udp_enter(struct udp_iface *iface)
{
    unsigned spin = 0;

    if (iface->depth++ > 0) {
        return;
    }
    while (ucs_unlikely(!gate_take(iface))) {
        ucs_cpu_relax();
        if (++spin % GATE_SPIN_COUNT == 0) {
            (void)sched_yield(); /* it may share our processor */
        }
    }
}

void udp_leave(struct udp_iface *iface)
{
    if (--iface->depth == 0) {
        gate_give(iface);
    }
}

/* Only the helper writes helper_depth, and only inside: who is inside may
 * read it, and the helper itself. There is one helper. */
bool udp_try_enter(struct udp_iface *iface)
{
    if ((iface->helper_depth == 0) && !gate_take(iface)) {
        return false;
    }
    ++iface->helper_depth;
    return true;
}

void udp_helper_leave(struct udp_iface *iface)
{
    if (--iface->helper_depth == 0) {
        gate_give(iface);
    }
}

bool udp_enter_beside(const struct udp_iface *iface, struct udp_iface *other)
{
    if (iface->helper_depth > 0) {
        return udp_try_enter(other);
    }
    udp_enter(other);
    return true;
}

void udp_leave_beside(const struct udp_iface *iface, struct udp_iface *other)
{
    if (iface->helper_depth > 0) {
        udp_helper_leave(other);
    } else {
        udp_leave(other);
    }
}
