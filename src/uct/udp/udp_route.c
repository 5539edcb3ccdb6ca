/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_route.c - the judgement on a device and a peer, and its words. */
#include "uct/udp/udp_route.h"

#include <stdio.h>

#include "uct/udp/udp_address.h"

enum { ROUTE_RANK_SHIFT = 60 };

#define ROUTE_SPEED_MAX ((UINT64_C(1) << ROUTE_RANK_SHIFT) - 1)

/* The host part of an address, for a sentence. */
#define ROUTE_TEXT(_address)                                                   \
    ucsi_sockaddr_print(_address, (char[UCS_SOCKADDR_TEXT_BYTES_MAX]){0},      \
                        UCS_SOCKADDR_TEXT_BYTES_MAX)

static const char *route_family(const struct ucs_sockaddr *address)
{
    return (address->base.sa_family == AF_INET) ? "IPv4" : "IPv6";
}

ucs_status_t udp_route_check(const struct udp_device     *device,
                             const struct udp_route_peer *peer, char *reason)
{
    if (device->local.base.sa_family != peer->address.base.sa_family) {
        (void)snprintf(reason, UCT_REASON_BYTES_MAX,
                       "%s has an %s address, the peer an %s one", device->name,
                       route_family(&device->local),
                       route_family(&peer->address));
    } else if (!peer->is_here && device->is_loopback) {
        (void)snprintf(reason, UCT_REASON_BYTES_MAX,
                       "%s reaches only this host", device->name);
    } else if (!peer->is_here && udp_address_is_loopback(&peer->address)) {
        (void)snprintf(reason, UCT_REASON_BYTES_MAX,
                       "the peer is on another host, its address %s on every "
                       "host",
                       ROUTE_TEXT(&peer->address));
    } else if (udp_address_is_link_local(&device->local) !=
               udp_address_is_link_local(&peer->address)) {
        (void)snprintf(reason, UCT_REASON_BYTES_MAX,
                       "only one of %s (%s) and the peer's %s is link-local",
                       device->name, ROUTE_TEXT(&device->local),
                       ROUTE_TEXT(&peer->address));
    } else {
        return UCS_OK;
    }
    return UCS_ERR_UNREACHABLE;
}

ucs_status_t udp_route_judge(const struct udp_device     *device,
                             const struct udp_route_peer *peer,
                             const struct udp_way *way, char *reason)
{
    const char *text = ROUTE_TEXT(&peer->address);
    char        name[IF_NAMESIZE];

    switch (way->kind) {
    case UDP_WAY_HERE:
        if (peer->is_here) {
            return UCS_OK;
        }
        (void)snprintf(reason, UCT_REASON_BYTES_MAX,
                       "%s is an address of this host too: both hosts have a "
                       "network of that name, as docker0 is",
                       text);
        break;
    case UDP_WAY_LINK:
    case UDP_WAY_GATEWAY:
        if (way->index == device->index) {
            return UCS_OK;
        }
        (void)snprintf(reason, UCT_REASON_BYTES_MAX,
                       "to %s the kernel sends by %s, not by %s", text,
                       (if_indextoname(way->index, name) != NULL)
                           ? name
                           : "another device",
                       device->name);
        break;
    case UDP_WAY_NONE:
        (void)snprintf(reason, UCT_REASON_BYTES_MAX,
                       "no route from %s to %s: ip route get", device->name,
                       text);
        break;
    case UDP_WAY_BLACK_HOLE:
        (void)snprintf(reason, UCT_REASON_BYTES_MAX,
                       "the route to %s drops everything (black hole, "
                       "prohibit): ip route get",
                       text);
        break;
    }
    return UCS_ERR_UNREACHABLE;
}

ucs_status_t udp_route_reach(const struct udp_device     *device,
                             const struct udp_route_peer *peer,
                             struct udp_way *way_p, char *reason)
{
    struct udp_way way;
    ucs_status_t   status = udp_route_check(device, peer, reason);

    if (status != UCS_OK) {
        return status;
    }
    status = udp_route_ask(&device->local, &peer->address, &way);
    if (status != UCS_OK) {
        (void)snprintf(reason, UCT_REASON_BYTES_MAX,
                       "the kernel does not tell its routes: %s",
                       ucs_status_string(status));
        return UCS_ERR_UNREACHABLE;
    }
    status = udp_route_judge(device, peer, &way, reason);
    if (status == UCS_OK) {
        *way_p = way;
    }
    return status;
}

uint64_t udp_route_rank(const struct udp_device *device,
                        const struct udp_way    *way)
{
    static const uint64_t kinds[] = {[UDP_WAY_HERE]       = 0,
                                     [UDP_WAY_LINK]       = 1,
                                     [UDP_WAY_GATEWAY]    = 2,
                                     [UDP_WAY_NONE]       = 3,
                                     [UDP_WAY_BLACK_HOLE] = 3};

    /* Not known: as the slowest. */
    return (kinds[way->kind] << ROUTE_RANK_SHIFT) |
           (ROUTE_SPEED_MAX - ucs_min(device->speed_mbits, ROUTE_SPEED_MAX));
}
