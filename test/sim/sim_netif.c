/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_netif.c - ucs/netif.h of a simulated host: one interface, from
 * which everybody is reached; linked in place of ucs/netif.c and
 * uct/udp/udp_io_route.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_world.h"
#include "ucs/netif.h"
#include "uct/udp/udp_route.h"

ucs_status_t ucsi_netif_list_init(struct ucs_netif_list *list)
{
    struct ucs_netif *netif = calloc(1, sizeof(*netif));

    if (netif == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    (void)snprintf(netif->name, sizeof(netif->name), "sim0");
    netif->index         = 1;
    netif->mtu_bytes     = (unsigned)sim_world->net.weather.device_mtu;
    netif->is_up         = true;
    netif->address_count = 1;
    netif->addresses[0]  = (struct ucs_netif_address){
         .address     = sim_net_address(sim_world->current->index),
         .prefix_bits = 8,
    };
    *list = (struct ucs_netif_list){.netifs = netif, .count = 1};
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
    return ((list->count > 0) && (strcmp(list->netifs[0].name, name) == 0))
               ? &list->netifs[0]
               : NULL;
}

const struct ucs_netif *
ucsi_netif_find_address(const struct ucs_netif_list *list,
                        const struct ucs_sockaddr   *address)
{
    return ((list->count > 0) &&
            (sim_net_host(&list->netifs[0].addresses[0].address) ==
             sim_net_host(address)))
               ? &list->netifs[0]
               : NULL;
}

ucs_status_t udp_route_ask(const struct ucs_sockaddr *local,
                           const struct ucs_sockaddr *peer,
                           struct udp_way            *way_p)
{
    bool is_here = (sim_net_host(local) == sim_net_host(peer));

    *way_p = (struct udp_way){.kind  = is_here ? UDP_WAY_HERE : UDP_WAY_LINK,
                              .index = 1};
    return UCS_OK;
}
