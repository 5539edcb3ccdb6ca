/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/netif.h - the network interfaces of this host: what they are called,
 * which addresses they have and how good they are.
 *
 * A list is a picture of one moment; interfaces come and go. It tells what the
 * kernel says, and decides nothing. Source: getifaddrs(3), netdevice(7),
 * Documentation/ABI/testing/sysfs-class-net of Linux. */
#ifndef UCS_NETIF_H_
#define UCS_NETIF_H_

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "ucs/compiler.h"
#include "ucs/socket.h"
#include "ucs/type/status.h"

enum ucs_netif_limits {
    UCS_NETIF_ADDRESS_COUNT_MAX =
        16, /* of one interface; others are left out */
    UCS_NETIF_COUNT_MAX = 1024
};

struct ucs_netif_address {
    struct ucs_sockaddr address;     /* IPv4 or IPv6, port 0 */
    unsigned            prefix_bits; /* of its network: 24 of 10.0.0.1/24 */
};

struct ucs_netif {
    char     name[IF_NAMESIZE];
    unsigned index;     /* the kernel's; 0: it went away meanwhile */
    unsigned mtu_bytes; /* 0: not known */
    uint64_t
         speed_mbits; /* per second; 0: not known, as of most virtual ones */
    bool is_up;       /* switched on, and has a carrier */
    bool is_loopback;
    bool is_virtual; /* no device behind it: bridge, veth, tunnel, lo */
    unsigned                 address_count;
    struct ucs_netif_address addresses[UCS_NETIF_ADDRESS_COUNT_MAX];
};

struct ucs_netif_list {
    struct ucs_netif *netifs; /* [count], in order of the kernel's index */
    unsigned          count;
};

/* List the interfaces, those that are down too.
 * @return UCS_OK, clean the list up later; UCS_ERR_NO_MEMORY,
 *         UCS_ERR_IO_ERROR (logged): nothing to clean up. */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_netif_list_init(struct ucs_netif_list *list);

UCS_EXPORT void ucsi_netif_list_cleanup(struct ucs_netif_list *list);

/* The interface of that name; NULL: none. Lent. */
UCS_EXPORT const struct ucs_netif *
ucsi_netif_find(const struct ucs_netif_list *list, const char *name);

/* The interface that has this address, whatever its port; NULL: none. Lent. */
UCS_EXPORT const struct ucs_netif *
ucsi_netif_find_address(const struct ucs_netif_list *list,
                        const struct ucs_sockaddr   *address);

#endif
