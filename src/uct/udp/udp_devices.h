/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_devices.h - which interfaces of this host are worth a device,
 * and which of its addresses the sockets are bound to.
 *
 *   all interfaces --> UCX_NET_DEVICES --> up? --> an address that others can
 *   reach without being told the link? --> device, or the reason why not
 *
 * An interface is a device for each family in which others reach it: "eth0" by
 * IPv4, if it has that, and "eth0/ipv6" by IPv6 beside it.
 *
 * Pure: judges a list that somebody else made (ucs/netif.h). Whether a device
 * reaches a certain peer is udp_route.h. */
#ifndef UCT_UDP_DEVICES_H_
#define UCT_UDP_DEVICES_H_

#include "ucs/config.h"
#include "ucs/netif.h"
#include "uct/api/uct_def.h"

/* status       UCS_OK: a device. UCS_ERR_UNSUPPORTED: not in UCX_NET_DEVICES;
 *              UCS_ERR_NO_DEVICE: it is down; UCS_ERR_INVALID_ADDR: it has no
 *              address of use
 * reason       for people, when status is not UCS_OK
 * local        port 0, with the scope if it is link-local
 * speed_mbits  0: not known; what a virtual one claims does not count
 * is_named     UCX_NET_DEVICES spells it */
struct udp_device {
    char                name[UCT_NAME_BYTES_MAX];
    unsigned            index;
    struct ucs_sockaddr local;
    unsigned            prefix_bits;
    size_t              mtu_bytes;
    uint64_t            speed_mbits;
    bool                is_loopback, is_link_local, is_named;
    ucs_status_t        status;
    char                reason[UCT_REASON_BYTES_MAX];
};

/* Does it mean something on its own link only: 169.254/16 (RFC 3927),
 * fe80::/10 (RFC 4291)? */
bool udp_address_is_link_local(const struct ucs_sockaddr *address);

/* Judge one interface.
 * @param wanted  UCX_NET_DEVICES; NULL, empty or "all": every one. */
void udp_device_judge(const struct ucs_netif       *netif,
                      const struct ucs_config_list *wanted,
                      struct udp_device            *device_p);

/* Judge the IPv6 side of an interface that is a device by IPv4.
 * @return false: it has none, or none that others reach. */
bool udp_device_judge_other(const struct ucs_netif       *netif,
                            const struct ucs_config_list *wanted,
                            struct udp_device            *device_p);

/* Judge them all: devices first, of this host only, then the fast ones.
 * @param devices_p  [2 * netifs->count]. @return how many are set. */
unsigned udp_devices_judge(const struct ucs_netif_list  *netifs,
                           const struct ucs_config_list *wanted,
                           struct udp_device            *devices_p);

/* The device of that name, judged.
 * @return UCS_OK; UCS_ERR_NO_DEVICE: there is none (not logged). */
UCS_MUST_USE ucs_status_t udp_devices_find(const struct ucs_netif_list  *netifs,
                                           const struct ucs_config_list *wanted,
                                           const char                   *name,
                                           struct udp_device *device_p);

/* The next name of UCX_NET_DEVICES, from *position_p on, that is no interface
 * of this host. @return NULL: no other. */
const char *udp_devices_unknown(const struct ucs_netif_list  *netifs,
                                const struct ucs_config_list *wanted,
                                unsigned                     *position_p);

#endif
