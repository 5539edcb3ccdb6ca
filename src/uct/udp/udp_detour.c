/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_detour.c - when to take the other way, and when to come back. */
#include "uct/udp/udp_detour.h"

#include <string.h>

#include "uct/udp/udp_conn.h"

enum {
    /* Unanswered for so long, so often: guesses. A processor that is shared
     * may be away for some tens of milliseconds. */
    DETOUR_PATIENCE_NS   = 100 * 1000 * 1000,
    DETOUR_TIMEOUT_COUNT = 3,
    DETOUR_LOOK_NS       = 250 * 1000 * 1000,
    DETOUR_STEADY_NS     = 50 * 1000 * 1000,
};

void udp_detour_learn(struct udp_conn *conn, struct udp_env *by,
                      const struct ucs_sockaddr *address)
{
    if (conn->detour.by == NULL) {
        conn->detour.by      = by;
        conn->detour.address = *address;
    }
}

void udp_detour_inherit(struct udp_conn *conn, const struct udp_conn *other)
{
    if (other->detour.by != NULL) {
        udp_detour_learn(conn, other->detour.by, &other->detour.address);
    }
    if (conn->detour.is_taken) { /* it was accepted by it, perhaps */
        memcpy(conn->address, other->address, sizeof(conn->address));
    }
}

/* From now on this way: what is known of the other one's length is void. */
static void detour_turn(struct udp_conn *conn, bool is_taken)
{
    uint64_t now_ns = conn->env->now_ns;

    if ((conn->detour.is_taken == is_taken) || (conn->state != UDP_CONN_OPEN)) {
        return;
    }
    conn->detour.is_taken  = is_taken;
    conn->detour.since_ns  = now_ns;
    conn->detour.turned_ns = now_ns;
    conn->detour.look_ns   = now_ns + DETOUR_LOOK_NS;
    udp_mtu_black_hole(&conn->mtu, now_ns);
    conn->cc.segment_bytes = conn->mtu.good_bytes;
    udp_count(conn->env, UDP_COUNT_DETOURS);
    udp_conn_make_busy(conn);
    udp_conn_rearm(conn);
}

void udp_detour_forget(struct udp_conn *conn, const struct udp_env *by)
{
    if (conn->detour.by == by) {
        conn->detour.is_taken = false;
        conn->detour.by       = NULL;
    }
}

void udp_detour_timed_out(struct udp_conn *conn)
{
    struct udp_detour *detour = &conn->detour;
    uint64_t           now_ns = conn->env->now_ns;

    if (conn->timeout_count <= 1) {
        detour->since_ns = now_ns;
    } else if ((detour->by != NULL) &&
               (conn->timeout_count >= DETOUR_TIMEOUT_COUNT) &&
               (now_ns - detour->since_ns >= DETOUR_PATIENCE_NS)) {
        detour_turn(conn, !detour->is_taken);
    }
}

void udp_detour_silent(struct udp_conn *conn)
{
    if (conn->detour.by != NULL) {
        detour_turn(conn, !conn->detour.is_taken);
    }
}

void udp_detour_try(struct udp_conn *conn)
{
    if (conn->detour.by != NULL) {
        conn->detour.is_taken = !conn->detour.is_taken;
    }
}

void udp_detour_follow(struct udp_conn *conn)
{
    const struct udp_env *env = conn->env;

    if (env->came_by != NULL) {
        udp_detour_learn(conn, env->came_by, env->came_from);
        conn->detour.turned_ns = env->now_ns;
        conn->detour.look_ns   = env->now_ns + DETOUR_LOOK_NS;
    }
    conn->detour.is_taken = (env->came_by != NULL);
}

void udp_detour_heard(struct udp_conn *conn, unsigned kind)
{
    const struct udp_env *env      = conn->env;
    bool                  is_taken = (env->came_by != NULL);

    if (is_taken) {
        udp_detour_learn(conn, env->came_by, env->came_from);
    }
    /* A PING may be a look at a way that carries only this far; and what was
     * under way when we turned says nothing. */
    if ((kind == UDP_KIND_PING) || (is_taken == conn->detour.is_taken) ||
        (env->now_ns - conn->detour.turned_ns < DETOUR_STEADY_NS)) {
        return;
    }
    detour_turn(conn, is_taken);
    if (kind == UDP_KIND_PONG) {
        udp_conn_send_ack(conn); /* we know it first: the peer may follow */
    }
}

void udp_detour_step(struct udp_conn *conn)
{
    struct udp_detour *detour = &conn->detour;

    if (!detour->is_taken || (conn->env->now_ns < detour->look_ns)) {
        return;
    }
    detour->look_ns  = conn->env->now_ns + DETOUR_LOOK_NS;
    detour->is_taken = false;
    udp_conn_send_ping(conn, 0);
    detour->is_taken = true;
}
