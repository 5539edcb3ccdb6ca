/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_netif.c - ucs/netif.h of a simulated host: an interface on each
 * rail, from which everybody is reached there; linked in place of ucs/netif.c
 * and uct/udp/udp_io_route.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_world.h"
#include "ucs/netif.h"
#include "uct/udp/udp_route.h"

ucs_status_t ucsi_netif_list_init(struct ucs_netif_list *list)
{
    unsigned          count  = sim_world->rail_count;
    struct ucs_netif *netifs = calloc(count, sizeof(*netifs));

    if (netifs == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    for (unsigned rail = 0; rail < count; ++rail) {
        struct ucs_netif *netif = &netifs[rail];

        (void)snprintf(netif->name, sizeof(netif->name), "sim%u", rail);
        netif->index         = 1 + rail;
        netif->mtu_bytes     = (unsigned)sim_world->net.weather.device_mtu;
        netif->is_up         = true;
        netif->address_count = 1;
        netif->addresses[0]  = (struct ucs_netif_address){
             .address     = sim_net_address(sim_world->current->index, rail),
             .prefix_bits = 16,
        };
    }
    *list = (struct ucs_netif_list){.netifs = netifs, .count = count};
    return UCS_OK;
}

void ucsi_netif_list_cleanup(struct ucs_netif_list *list)
{
    free(list->netifs);
    *list = (struct ucs_netif_list){.netifs = NULL};
}

const struct ucs_netif *ucsi_netif_find(const struct ucs_netif_list *list,
                                        const char                  *name)
{
    for (unsigned i = 0; i < list->count; ++i) {
        if (strcmp(list->netifs[i].name, name) == 0) {
            return &list->netifs[i];
        }
    }
    return NULL;
}

const struct ucs_netif *
ucsi_netif_find_address(const struct ucs_netif_list *list,
                        const struct ucs_sockaddr   *address)
{
    for (unsigned i = 0; i < list->count; ++i) {
        if (list->netifs[i].addresses[0].address.inet.sin_addr.s_addr ==
            address->inet.sin_addr.s_addr) {
            return &list->netifs[i];
        }
    }
    return NULL;
}

ucs_status_t udp_route_ask(const struct ucs_sockaddr *local,
                           const struct ucs_sockaddr *peer,
                           struct udp_way            *way_p)
{
    bool is_here = (sim_net_host(local) == sim_net_host(peer));

    *way_p = (struct udp_way){.kind  = is_here ? UDP_WAY_HERE : UDP_WAY_LINK,
                              .index = 1 + sim_net_rail(peer)};
    return UCS_OK;
}
