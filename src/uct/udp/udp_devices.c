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

/* As the setting spells it: the interface, or one side of it. */
static bool device_is_listed(const struct ucs_config_list *wanted,
                             const char *netif, const char *name)
{
    unsigned i;

    for (i = 0; i < wanted->count; ++i) {
        if ((strcmp(wanted->names[i], netif) == 0) ||
            (strcmp(wanted->names[i], name) == 0)) {
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

/* @param family  AF_UNSPEC: any. */
static const struct ucs_netif_address *
device_best_address(const struct ucs_netif *netif, int family)
{
    const struct ucs_netif_address *best      = NULL;
    unsigned                        best_rate = 0;
    unsigned                        i;

    for (i = 0; i < netif->address_count; ++i) {
        const struct ucs_sockaddr *address = &netif->addresses[i].address;
        unsigned                   rate    = device_rate(address);

        if ((rate > best_rate) &&
            ((family == AF_UNSPEC) || (address->base.sa_family == family))) {
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

/* What is known of it, whatever becomes of it. */
static void device_describe(const struct ucs_netif         *netif,
                            const struct ucs_netif_address *best,
                            struct udp_device              *device)
{
    device->index       = netif->index;
    device->mtu_bytes   = netif->mtu_bytes;
    device->speed_mbits = netif->is_virtual ? 0 : netif->speed_mbits;
    device->is_loopback = netif->is_loopback;
    if (best != NULL) {
        device->local         = best->address;
        device->prefix_bits   = best->prefix_bits;
        device->is_link_local = udp_address_is_link_local(&best->address);
    }
}

/* device->name is set. */
static void device_judge(const struct ucs_netif         *netif,
                         const struct ucs_netif_address *best,
                         const struct ucs_config_list   *wanted,
                         struct udp_device              *device)
{
    bool is_all = device_is_all(wanted);
    bool is_listed =
        !is_all && device_is_listed(wanted, netif->name, device->name);

    device_describe(netif, best, device);
    device->is_named = is_listed && !wanted->is_excluded;
    if (!is_all && (is_listed == wanted->is_excluded)) {
        device_refuse(device, UCS_ERR_UNSUPPORTED, "not in UCX_NET_DEVICES");
    } else if (!netif->is_up) {
        device_refuse(device, UCS_ERR_NO_DEVICE, "down, or has no carrier");
    } else if (best == NULL) {
        device_refuse(device, UCS_ERR_INVALID_ADDR,
                      "has neither an IPv4 nor an IPv6 address");
    } else if (device->is_link_local && !device->is_named) {
        device_refuse(device, UCS_ERR_INVALID_ADDR,
                      "its addresses are link-local: others cannot know which "
                      "link; name it in UCX_NET_DEVICES to use it");
    }
}

void udp_device_judge(const struct ucs_netif       *netif,
                      const struct ucs_config_list *wanted,
                      struct udp_device            *device_p)
{
    memset(device_p, 0, sizeof(*device_p));
    (void)snprintf(device_p->name, sizeof(device_p->name), "%s", netif->name);
    device_judge(netif, device_best_address(netif, AF_UNSPEC), wanted,
                 device_p);
}

bool udp_device_judge_other(const struct ucs_netif       *netif,
                            const struct ucs_config_list *wanted,
                            struct udp_device            *device_p)
{
    const struct ucs_netif_address *first =
        device_best_address(netif, AF_UNSPEC);
    const struct ucs_netif_address *other =
        device_best_address(netif, AF_INET6);

    if (netif->is_loopback || (other == NULL) || (other == first) ||
        udp_address_is_link_local(&other->address)) {
        return false;
    }
    memset(device_p, 0, sizeof(*device_p));
    (void)snprintf(device_p->name, sizeof(device_p->name), "%s/ipv6",
                   netif->name);
    device_judge(netif, other, wanted, device_p);
    return true;
}

/* Lower is better. */
static uint64_t device_rank(const struct udp_device *device)
{
    if (device->status != UCS_OK) {
        return UINT64_MAX;
    }
    return device->is_loopback ? 0 : UINT64_MAX - 1 - device->speed_mbits;
}

/* Among those before it; equal ones stay as they came. */
static void device_insert(struct udp_device *devices, unsigned count)
{
    struct udp_device device = devices[count];

    while ((count > 0) &&
           (device_rank(&devices[count - 1]) > device_rank(&device))) {
        devices[count] = devices[count - 1];
        --count;
    }
    devices[count] = device;
}

unsigned udp_devices_judge(const struct ucs_netif_list  *netifs,
                           const struct ucs_config_list *wanted,
                           struct udp_device            *devices_p)
{
    unsigned count = 0;
    unsigned i;

    for (i = 0; i < netifs->count; ++i) {
        udp_device_judge(&netifs->netifs[i], wanted, &devices_p[count]);
        device_insert(devices_p, count++);
        if (udp_device_judge_other(&netifs->netifs[i], wanted,
                                   &devices_p[count])) {
            device_insert(devices_p, count++);
        }
    }
    return count;
}

ucs_status_t udp_devices_find(const struct ucs_netif_list  *netifs,
                              const struct ucs_config_list *wanted,
                              const char *name, struct udp_device *device_p)
{
    unsigned i;

    for (i = 0; i < netifs->count; ++i) {
        udp_device_judge(&netifs->netifs[i], wanted, device_p);
        if (strcmp(device_p->name, name) == 0) {
            return UCS_OK;
        }
        if (udp_device_judge_other(&netifs->netifs[i], wanted, device_p) &&
            (strcmp(device_p->name, name) == 0)) {
            return UCS_OK;
        }
    }
    return UCS_ERR_NO_DEVICE;
}

const char *udp_devices_unknown(const struct ucs_netif_list  *netifs,
                                const struct ucs_config_list *wanted,
                                unsigned                     *position_p)
{
    struct udp_device device;

    if (device_is_all(wanted)) {
        return NULL;
    }
    while (*position_p < wanted->count) {
        const char *name = wanted->names[(*position_p)++];

        if ((strcmp(name, "all") != 0) &&
            (udp_devices_find(netifs, NULL, name, &device) != UCS_OK)) {
            return name;
        }
    }
    return NULL;
}
