/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_connect.h - how a connection begins, stays alive and ends;
 * udp_connect.c has the picture. Pure: (packet, time) -> packets. */
#ifndef UCT_UDP_CONNECT_H_
#define UCT_UDP_CONNECT_H_

#include "uct/udp/udp_conn.h"

/* What an interface says of itself in the handshake. */
struct udp_connect_self {
    struct udp_seal secret;     /* of its address */
    struct udp_seal cookie_key; /* nobody else's */
    uint16_t        data_port;
};

/* Ask the peer whose address, secret (conn->handshake) and nonce are set. */
void udp_connect_begin(struct udp_conn *conn, uint16_t data_port);
/* No answer is waited for any more. */
void udp_connect_answered(struct udp_conn *conn);
/* Answer a COOKIE or ACCEPT. */
void udp_connect_packet(struct udp_conn *conn, const struct udp_head *head,
                        const uint8_t *bytes, size_t length);
/* What is due: handshake again, keep-alive, end of lingering. */
void     udp_connect_step(struct udp_conn *conn);
uint64_t udp_connect_deadline_ns(const struct udp_conn *conn);
/* No more messages of ours: FIN behind what is queued. */
void udp_connect_close(struct udp_conn *conn);
/* The peer has our end, or will never have it. */
void udp_connect_ended(struct udp_conn *conn);
/* If our end is there: nobody waits for it; if both are: linger. */
void udp_connect_closed(struct udp_conn *conn);
/* Does nothing but our end wait for an answer, of a peer whose end is here?
 * He may be gone, and needs it no more. */
bool udp_connect_is_last_word(const struct udp_conn *conn);
/* We go, in order: one word, not waited for. */
void udp_connect_leave(struct udp_conn *conn);

/* The cookie of who said that hello from there, in this or that second. */
uint64_t udp_connect_cookie(const struct udp_connect_self *self,
                            const struct ucs_sockaddr     *from,
                            const struct udp_hello *hello, uint64_t second);
/* Answer a HELLO from there. `stranger` is a connection for the call only:
 * nothing of it is kept. */
void udp_connect_send_cookie(struct udp_conn               *stranger,
                             const struct udp_connect_self *self,
                             const struct ucs_sockaddr     *from,
                             const struct udp_hello        *hello);
/* Is a CONNECT's cookie ours and not older than two seconds? */
bool udp_connect_is_ours(const struct udp_connect_self *self,
                         const struct ucs_sockaddr     *from,
                         const struct udp_hello *hello, uint64_t now_ns);
/* Do both ends encrypt, or neither, and in a way that both can? */
bool udp_connect_agrees(const struct udp_env *env, unsigned ciphers);
/* Make `conn`, which is new, the other end of that CONNECT. nonce is set.
 * @return UCS_ERR_UNSUPPORTED: not encrypted as we can; no memory. Then it is
 *         nobody's. */
UCS_MUST_USE ucs_status_t udp_connect_accept(
    struct udp_conn *conn, const struct udp_connect_self *self,
    const struct ucs_sockaddr *from, const struct udp_hello *hello);
/* Tell the client, again if it asks again. */
void udp_connect_send_accept(struct udp_conn *conn, uint16_t data_port);

#endif
