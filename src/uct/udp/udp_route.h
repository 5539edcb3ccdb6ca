/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_route.h - does a device reach a peer? As the kernel's routes say,
 * in this network namespace, at this moment.
 *
 *   our address, theirs --> udp_route_ask (netlink) --> way
 *   device, peer, way   --> udp_route_judge (pure)  --> yes, or why not
 *
 * The question is the one that sendmsg() asks for every packet: out of a
 * socket bound to our address, to theirs. So a device is refused when the
 * kernel would send by another one. A route says what this host believes; that
 * somebody answers is shown by the handshake only.
 *
 * udp_route_ask is in udp_io_route.c: a simulation replaces it with the other
 * system calls. Source: rtnetlink(7), RFC 3927, RFC 4007. */
#ifndef UCT_UDP_ROUTE_H_
#define UCT_UDP_ROUTE_H_

#include "uct/udp/udp_devices.h"

enum udp_way_kind {
    UDP_WAY_LINK,       /* the peer is on the device's own network */
    UDP_WAY_GATEWAY,    /* by a router */
    UDP_WAY_HERE,       /* the address is one of this host itself */
    UDP_WAY_NONE,       /* no route */
    UDP_WAY_BLACK_HOLE, /* a route that drops: black hole, prohibit */
};

/* index      the device that the kernel sends by; LINK and GATEWAY
 * mtu_bytes  of the route, IP header included; 0: the device's */
struct udp_way {
    enum udp_way_kind kind;
    unsigned          index;
    size_t            mtu_bytes;
};

/* Ask the kernel for the way from `local` to `peer`; ports do not matter.
 * @return UCS_OK; UCS_ERR_NO_MEMORY, UCS_ERR_IO_ERROR and others (logged):
 *         it does not answer. */
UCS_MUST_USE ucs_status_t udp_route_ask(const struct ucs_sockaddr *local,
                                        const struct ucs_sockaddr *peer,
                                        struct udp_way            *way_p);

/* What is known of a peer before anything was sent to it.
 * address  the scope of a link-local one is set to the device's
 * is_here  it is on this host, in this network namespace */
struct udp_route_peer {
    struct ucs_sockaddr address;
    bool                is_here;
};

/* Things that need no kernel: family, loopback, link-local.
 * @param reason  [UCT_REASON_BYTES_MAX] set when refused.
 * @return UCS_OK: ask for the way; UCS_ERR_UNREACHABLE. */
UCS_MUST_USE ucs_status_t udp_route_check(const struct udp_device     *device,
                                          const struct udp_route_peer *peer,
                                          char                        *reason);

/* @return UCS_OK; UCS_ERR_UNREACHABLE, and the reason. */
UCS_MUST_USE ucs_status_t udp_route_judge(const struct udp_device     *device,
                                          const struct udp_route_peer *peer,
                                          const struct udp_way        *way,
                                          char                        *reason);

/* Check, ask, judge. @param way_p  Set when UCS_OK.
 * @return UCS_OK; UCS_ERR_UNREACHABLE, and the reason. */
UCS_MUST_USE ucs_status_t udp_route_reach(const struct udp_device     *device,
                                          const struct udp_route_peer *peer,
                                          struct udp_way *way_p, char *reason);

/* Of several ways to one peer, which to try first: lower is better. On this
 * host, on the link, by a router; then the faster device. */
uint64_t udp_route_rank(const struct udp_device *device,
                        const struct udp_way    *way);

#endif
