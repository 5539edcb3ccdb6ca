/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_linger.c - a close waits until everything that was accepted has
 * arrived, or its receiver is dead.
 *
 *     owes? --> serve --> nothing to do: sleep until a packet or a timer --.
 *       ^                                                                  |
 *       '------------------------------------------------------------------'
 *
 * Then every peer that does not know yet is told that we leave, by a FIN, which
 * comes again if it is lost: who hears nothing takes us for lost. That is
 * waited for, too, but not long; and not at all if he has left before and the
 * network says that nobody is there: his answer to our FIN may be what was
 * lost.
 *
 * Neighbours, too, while they can take our detours and we theirs. The caller is
 * inside all of them. */
#include "ucs/clock.h"
#include "uct/udp/udp.h"

enum {
    LINGER_RING_MAX = 16,                /* interfaces that are slept on */
    LINGER_NAP_NS   = 100 * 1000 * 1000, /* for those beyond them */
    /* Many round trips; who does not answer is leaving himself. Guess. */
    LINGER_GOODBYE_NS = 250 * 1000 * 1000,
};

/* What is waited for: all that was accepted; goodbyes, too. */
enum linger_for { LINGER_FOR_DATA, LINGER_FOR_GOODBYE };

static bool linger_conn_owes(const struct udp_conn *conn, enum linger_for what)
{
    if ((conn->state != UDP_CONN_OPEN) || udp_conn_has_settled(conn)) {
        return false;
    }
    return !udp_connect_is_last_word(conn) ||
           ((what == LINGER_FOR_GOODBYE) &&
            (conn->pinged_count < UDP_CONN_PING_URGENT));
}

static bool linger_owes(const struct udp_iface *iface, enum linger_for what)
{
    const struct udp_conn *conn;

    ucs_list_for_each (conn, &iface->all, link) {
        if (linger_conn_owes(conn, what)) {
            return true;
        }
    }
    return false;
}

static bool linger_ring_owes(const struct udp_iface *iface,
                             enum linger_for         what)
{
    const struct udp_iface *other;
    bool                    owes = linger_owes(iface, what);

    ucs_list_for_each (other, &iface->ring, ring) {
        owes |= linger_owes(other, what);
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

/* Until there is something to serve, or so long.
 * @return false: nothing will come, or one cannot sleep. */
static bool linger_sleep(struct udp_iface *iface, uint64_t timeout_ns)
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
           ((status == UCS_OK) && udp_io_sleep(ios, count, timeout_ns));
}

/* While something is owed, and no longer than until `end_ns`. */
static void linger_until(struct udp_iface *iface, enum linger_for what,
                         uint64_t end_ns)
{
    while (linger_ring_owes(iface, what)) {
        linger_serve(iface);
        if (!linger_ring_owes(iface, what) || (iface->env.now_ns >= end_ns) ||
            !linger_sleep(iface, ucs_min(end_ns - iface->env.now_ns,
                                         (uint64_t)LINGER_NAP_NS))) {
            break;
        }
    }
}

/* To those who have heard nothing of our end, and seem to be there. */
static void linger_say_goodbye(struct udp_iface *iface)
{
    struct udp_conn *conn;

    ucs_list_for_each (conn, &iface->all, link) {
        if (!conn->has_peer_fin && (conn->pinged_count == 0)) {
            udp_connect_close(conn);
        }
    }
}

void udp_iface_linger(struct udp_iface *iface)
{
    linger_until(iface, LINGER_FOR_DATA, UCS_NS_INFINITE);
    linger_say_goodbye(iface);
    linger_until(iface, LINGER_FOR_GOODBYE,
                 iface->env.now_ns + LINGER_GOODBYE_NS);
}
