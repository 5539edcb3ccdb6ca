/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_bundle.h - many tiny messages in one packet.
 *
 *     AM, UDP_FLAG_BUNDLE:  head | 8 len id | message | 8 len id | message ...
 *
 * The first messages of a turn go at once, each in its packet. Who sends more
 * without a look at the network is in a hurry to send, not to arrive: the rest
 * is gathered and goes when the packet is full, when anything else is sent, or
 * with the next turn (the helper's, if the application does not call).
 *
 * Pure; the order is that of the calls. */
#ifndef UCT_UDP_BUNDLE_H_
#define UCT_UDP_BUNDLE_H_

#include "uct/udp/udp_conn.h"

enum udp_bundle_limit {
    UDP_BUNDLE_ALONE_COUNT   = 4,   /* of a turn go at once */
    UDP_BUNDLE_MESSAGE_BYTES = 256, /* the longest that is gathered */
};

/* Room for a message behind others. @return where its bytes go; NULL: send it
 * in a packet of its own. */
uint8_t *udp_bundle_add(struct udp_conn *conn, unsigned am_id, size_t length);

/* Send what was gathered. */
void udp_bundle_send(struct udp_conn *conn);

UCS_INLINE void udp_bundle_go(struct udp_conn *conn)
{
    if (ucs_unlikely(conn->bundle != NULL)) {
        udp_bundle_send(conn);
    }
}

/* It will not be sent: the connection is no more. */
void udp_bundle_drop(struct udp_conn *conn);

/* Hand up the messages of one: what follows the head. */
void udp_bundle_open(struct udp_conn *conn, uint8_t *bytes, size_t length);

#endif
