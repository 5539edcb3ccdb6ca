/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_hint.c - what the network says of packets that were sent
 * (ICMP). Anybody may have said it, so nothing fails by it and nothing gets
 * longer: the path is measured again, a silent peer is asked sooner. */
#include "uct/udp/udp.h"
#include "uct/udp/udp_crypt.h"

enum { HINT_COUNT = 4 /* of one turn: each looks at all connections */ };

void udp_conn_too_long(struct udp_conn *conn, size_t packet_bytes)
{
    struct udp_env *env = conn->env;

    if (conn->state != UDP_CONN_OPEN) {
        return;
    }
    if (conn->crypt != NULL) {
        packet_bytes -= ucs_min(packet_bytes, (size_t)UDP_CRYPT_TRAILER_BYTES);
    }
    udp_mtu_hint(&conn->mtu,
                 (uint32_t)ucs_min(packet_bytes, (size_t)UINT32_MAX),
                 env->now_ns);
    conn->cc.segment_bytes = conn->mtu.good_bytes;
    udp_conn_rearm(conn);
}

void udp_conn_doubt(struct udp_conn *conn)
{
    if ((conn->state == UDP_CONN_OPEN) &&
        (conn->pinged_count < UDP_CONN_PING_URGENT)) {
        conn->pinged_count = UDP_CONN_PING_URGENT;
        udp_conn_rearm(conn);
    }
}

/* @param hint  Its port may be 0: of any. */
static bool hint_is_of(const struct udp_conn *conn, const struct udp_hint *hint)
{
    struct ucs_sockaddr to = hint->to;
    enum udp_channel    channel;

    for (channel = 0; channel < UDP_CHANNEL_COUNT; ++channel) {
        if (ucsi_sockaddr_port(&hint->to) == 0) {
            ucsi_sockaddr_set_port(&to,
                                   ucsi_sockaddr_port(&conn->address[channel]));
        }
        if (ucsi_sockaddr_compare(&conn->address[channel], &to) == 0) {
            return true;
        }
    }
    return false;
}

static void hint_tell(struct udp_iface *iface, const struct udp_hint *hint)
{
    size_t           header_bytes = iface->io_attr.header_bytes;
    struct udp_conn *conn;

    ucs_list_for_each (conn, &iface->all, link) {
        if (!hint_is_of(conn, hint)) {
            continue;
        }
        if (hint->status != UCS_ERR_EXCEEDS_LIMIT) {
            udp_conn_doubt(conn);
        } else if (hint->mtu_bytes > header_bytes) {
            udp_conn_too_long(conn, hint->mtu_bytes - header_bytes);
        }
    }
}

void udp_iface_hints(struct udp_iface *iface)
{
    struct udp_hint hint;
    unsigned        count;

    for (count = 0; (count < HINT_COUNT) && udp_io_next_hint(iface->io, &hint);
         ++count) {
        hint_tell(iface, &hint);
    }
}
