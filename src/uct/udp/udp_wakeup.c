/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_wakeup.c - who sleeps is woken by a descriptor; who polls is not.
 *
 *   arm:     what is owed is sent; a timer for what is due later; the sockets
 *            are in the event set
 *   polls:   after some they are out of it (docs/adr/0036)
 *
 * The helper and a close sleep by the same alarm. */
#include "ucs/clock.h"
#include "uct/base/pending.h"
#include "uct/udp/udp.h"

enum {
    /* Polls in a row of who does not sleep: half a millisecond, in which the
     * five system calls of both ways do not count. */
    WAKEUP_DETACH_COUNT = 1024,
};

int udp_event_fd(struct uct_iface *iface)
{
    return udp_io_event_fd(udp_iface_of(iface)->io);
}

static bool wakeup_has_work(struct udp_iface *iface)
{
    enum uct_may_send may;
    struct uct_ep    *ep;

    if (!ucs_queue_is_empty(&iface->inbox) ||
        !ucs_queue_is_empty(&iface->notified)) {
        return true;
    }
    ucs_list_for_each (ep, &iface->base.pending, pending_link) {
        may = udp_ep_may_send(ep);
        if (may == UCT_MAY_SEND_NOW) {
            return true;
        }
        if (may == UCT_MAY_SEND_NOBODY) {
            break;
        }
    }
    return udp_env_deadline_ns(&iface->env) <= iface->env.now_ns;
}

static ucs_status_t wakeup_set_alarm(struct udp_iface *iface,
                                     uint64_t          deadline_ns)
{
    iface->stall.alarm_ns = deadline_ns;
    iface->detach_count   = WAKEUP_DETACH_COUNT;
    return udp_io_arm(iface->io, deadline_ns, iface->env.is_blocked);
}

ucs_status_t udp_iface_set_timer(struct udp_iface *iface)
{
    return wakeup_set_alarm(iface, udp_env_deadline_ns(&iface->env));
}

ucs_status_t udp_iface_set_alarm(struct udp_iface *iface)
{
    return wakeup_has_work(iface) ? wakeup_set_alarm(iface, iface->env.now_ns)
                                  : udp_iface_set_timer(iface);
}

ucs_status_t udp_arm(struct uct_iface *base)
{
    struct udp_iface *iface = udp_iface_of(base);
    ucs_status_t      status;

    udp_enter(iface);
    iface->env.now_ns = ucsi_clock_ns();
    iface->skip_count = UDP_SKIP_ALL; /* ask all who wakes us */
    udp_env_catch_up(&iface->env);
    udp_env_send_bundles(&iface->env);
    /* Who sleeps owes nobody anything. */
    (void)udp_env_settle(&iface->env);
    status = wakeup_has_work(iface) ? UCS_ERR_BUSY : udp_iface_set_alarm(iface);
    iface->is_armed             = (status == UCS_OK);
    iface->stall.waits_since_ns = iface->env.now_ns;
    udp_leave(iface);
    return status;
}

/* The application polls, and has not slept for long. A helper that rests on
 * the descriptor looks by itself again. */
void udp_iface_detach(struct udp_iface *iface)
{
    udp_io_detach(iface->io);
    udp_stall_detached(iface);
}
