/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_devices.c - interfaces judged. */
#include "uct/udp/udp_devices.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

bool udp_address_is_link_local(const struct ucs_sockaddr *address)
{
    if (address->base.sa_family == AF_INET) {
        return (ntohl(address->inet.sin_addr.s_addr) >> 16) == 0xa9fe;
    }
    return (address->base.sa_family == AF_INET6) &&
           IN6_IS_ADDR_LINKLOCAL(&address->inet6.sin6_addr);
}

static bool device_is_all(const struct ucs_config_list *wanted)
{
    return (wanted == NULL) || (wanted->count == 0) ||
           (!wanted->is_excluded && (wanted->count == 1) &&
            (strcmp(wanted->names[0], "all") == 0));
}

static bool device_is_listed(const struct ucs_config_list *wanted,
                             const char                   *name)
{
    unsigned i;

    for (i = 0; i < wanted->count; ++i) {
        if (strcmp(wanted->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* How good an address is to be known by; 0: not at all. IPv4 before IPv6: it
 * has the shorter header and is set up everywhere. */
static unsigned device_rate(const struct ucs_sockaddr *address)
{
    bool is_4 = (address->base.sa_family == AF_INET);

    if (udp_address_is_link_local(address)) {
        return is_4 ? 1 : 2;
    }
    return is_4 ? 4 : 3;
}

static const struct ucs_netif_address *
device_best_address(const struct ucs_netif *netif)
{
    const struct ucs_netif_address *best      = NULL;
    unsigned                        best_rate = 0;
    unsigned                        i;

    for (i = 0; i < netif->address_count; ++i) {
        unsigned rate = device_rate(&netif->addresses[i].address);

        if (rate > best_rate) {
            best_rate = rate;
            best      = &netif->addresses[i];
        }
    }
    return best;
}

static void device_refuse(struct udp_device *device, ucs_status_t status,
                          const char *reason)
{
    device->status = status;
    (void)snprintf(device->reason, sizeof(device->reason), "%s", reason);
}

void udp_device_judge(const struct ucs_netif       *netif,
                      const struct ucs_config_list *wanted,
                      struct udp_device            *device_p)
{
    const struct ucs_netif_address *best   = device_best_address(netif);
    bool                            is_all = device_is_all(wanted);

    memset(device_p, 0, sizeof(*device_p));
    (void)snprintf(device_p->name, sizeof(device_p->name), "%s", netif->name);
    device_p->index       = netif->index;
    device_p->mtu_bytes   = netif->mtu_bytes;
    device_p->speed_mbits = netif->speed_mbits;
    device_p->is_loopback = netif->is_loopback;
    device_p->is_named    = !is_all && !wanted->is_excluded &&
                         device_is_listed(wanted, netif->name);
    if (best != NULL) {
        device_p->local         = best->address;
        device_p->prefix_bits   = best->prefix_bits;
        device_p->is_link_local = udp_address_is_link_local(&best->address);
    }
    if (!is_all &&
        (device_is_listed(wanted, netif->name) == wanted->is_excluded)) {
        device_refuse(device_p, UCS_ERR_UNSUPPORTED, "not in UCX_NET_DEVICES");
    } else if (!netif->is_up) {
        device_refuse(device_p, UCS_ERR_NO_DEVICE, "down, or has no carrier");
    } else if (best == NULL) {
        device_refuse(device_p, UCS_ERR_INVALID_ADDR,
                      "has neither an IPv4 nor an IPv6 address");
    } else if (device_p->is_link_local && !device_p->is_named) {
        device_refuse(device_p, UCS_ERR_INVALID_ADDR,
                      "its addresses are link-local: others cannot know which "
                      "link; name it in UCX_NET_DEVICES to use it");
    }
}

const char *udp_devices_unknown(const struct ucs_netif_list  *netifs,
                                const struct ucs_config_list *wanted,
                                unsigned                     *position_p)
{
    if (device_is_all(wanted)) {
        return NULL;
    }
    while (*position_p < wanted->count) {
        const char *name = wanted->names[(*position_p)++];

        if (ucsi_netif_find(netifs, name) == NULL) {
            return name;
        }
    }
    return NULL;
}
