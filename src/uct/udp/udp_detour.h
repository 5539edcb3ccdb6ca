/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_detour.h - the other way to a peer, when the own one is broken.
 *
 *      worker A                            worker B
 *      eth0 o-------- the own way ---X---o eth0      connection eth0 - eth0
 *      eth1 o========= its detour =======o eth1
 *
 * A connection belongs to one interface at each end. When what it sends is not
 * acknowledged, the same packets leave by another interface of its worker, for
 * another address of the peer's. Who gets one there looks for the connection
 * among its neighbours. Numbers and tags are those of the connection: nothing
 * is lost, comes twice or from somebody else.
 *
 *   - A handshake that is not answered tries both ways in turn.
 *   - Who hears nothing for long takes the other way, whichever that is.
 *   - Who hears by one way answers by it.
 *   - On a detour the own way is asked from time to time; a PONG by it leads
 *     back.
 *
 * Pure: time is in env. docs/adr/0032. */
#ifndef UCT_UDP_DETOUR_H_
#define UCT_UDP_DETOUR_H_

#include "ucs/socket.h"

struct udp_conn;
struct udp_env;

/* What a connection knows of it.
 * by        who sends on the other way; NULL: there is none
 * address   of the peer there
 * since_ns  nothing is acknowledged since then
 * turned_ns when it was taken or left last
 * look_ns   when to ask the own way again */
struct udp_detour {
    struct udp_env     *by;
    struct ucs_sockaddr address;
    bool                is_taken;
    uint64_t            since_ns, turned_ns, look_ns;
};

/* There is another way: by the sockets of `by`, to that address of the peer's
 * priority channel. The first one that is known stays. */
void udp_detour_learn(struct udp_conn *conn, struct udp_env *by,
                      const struct ucs_sockaddr *address);

/* conn takes the place of another one to that peer, that was never used: it
 * gets its detour, and its way if it knows none itself. */
void udp_detour_inherit(struct udp_conn *conn, const struct udp_conn *other);

/* `by` goes away: no packet leaves by it any more. */
void udp_detour_forget(struct udp_conn *conn, const struct udp_env *by);

/* The oldest segment was not acknowledged in time; conn->timeout_count is how
 * often by now. */
void udp_detour_timed_out(struct udp_conn *conn);

/* A handshake gets no answer: ask by the other way. */
void udp_detour_try(struct udp_conn *conn);

/* From here on by the way that the packet came which is being looked at, known
 * before or not. */
void udp_detour_follow(struct udp_conn *conn);

/* Nobody answered a PING: ask by the other way. */
void udp_detour_silent(struct udp_conn *conn);

/* A packet came, by env->came_by. */
void udp_detour_heard(struct udp_conn *conn, unsigned kind);

/* Is it time to ask the own way? Then ask. */
void udp_detour_step(struct udp_conn *conn);

#endif
