/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_linger.c - a close waits until everything that was accepted has
 * arrived, or its receiver is dead.
 *
 *     owes? --> serve --> nothing to do: sleep until a packet or a timer --.
 *       ^                                                                  |
 *       '------------------------------------------------------------------'
 *
 * Neighbours, too, while they can take our detours and we theirs. The caller is
 * inside all of them. */
#include "uct/udp/udp.h"

enum {
    LINGER_RING_MAX = 16,                /* interfaces that are slept on */
    LINGER_NAP_NS   = 100 * 1000 * 1000, /* for those beyond them */
};

/* Something that was accepted has not arrived. */
static bool linger_owes(const struct udp_iface *iface)
{
    const struct udp_conn *conn;

    ucs_list_for_each (conn, &iface->all, link) {
        if ((conn->state == UDP_CONN_OPEN) &&
            (!udp_send_is_idle(&conn->send) || (conn->bundle != NULL) ||
             !ucs_queue_is_empty(&conn->fragments))) {
            return true;
        }
    }
    return false;
}

static bool linger_ring_owes(const struct udp_iface *iface)
{
    const struct udp_iface *other;
    bool                    owes = linger_owes(iface);

    ucs_list_for_each (other, &iface->ring, ring) {
        owes |= linger_owes(other);
    }
    return owes;
}

static void linger_serve(struct udp_iface *iface)
{
    struct udp_iface *other;

    (void)udp_iface_serve(iface);
    ucs_list_for_each (other, &iface->ring, ring) {
        (void)udp_iface_serve(other);
    }
}

/* Until there is something to serve.
 * @return false: nothing will come, or one cannot sleep. */
static bool linger_sleep(struct udp_iface *iface)
{
    struct udp_io    *ios[LINGER_RING_MAX];
    unsigned          count  = 0;
    ucs_status_t      status = udp_iface_set_timer(iface);
    struct udp_iface *other;

    ios[count++] = iface->io;
    ucs_list_for_each (other, &iface->ring, ring) {
        if ((status == UCS_OK) && (count < LINGER_RING_MAX)) {
            status       = udp_iface_set_timer(other);
            ios[count++] = other->io;
        }
    }
    return (status == UCS_ERR_BUSY) ||
           ((status == UCS_OK) && udp_io_sleep(ios, count, LINGER_NAP_NS));
}

void udp_iface_linger(struct udp_iface *iface)
{
    while (linger_ring_owes(iface)) {
        linger_serve(iface);
        if (linger_ring_owes(iface) && !linger_sleep(iface)) {
            break;
        }
    }
}
