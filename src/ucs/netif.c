/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/netif.c - gathers what getifaddrs, the interface ioctls and sysfs say.
 *
 * Where sysfs is not mounted (some containers) speed stays unknown and every
 * interface counts as virtual; nothing else is lost. */
#include "ucs/netif.h"

#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ucs/fd.h"
#include "ucs/host.h"
#include "ucs/log.h"
#include "ucs/units.h"

#define NETIF_SYSFS "/sys/class/net"

/* A file of sysfs that is one number; 0 if it is not there or below zero. */
static uint64_t netif_sysfs_number(const char *name, const char *file)
{
    char    path[PATH_MAX];
    char    text[UCS_UNITS_TEXT_BYTES_MAX];
    int64_t value = 0;

    (void)snprintf(path, sizeof(path), NETIF_SYSFS "/%s/%s", name, file);
    if (ucsi_host_read(path, text, sizeof(text)) == 0) {
        return 0; /* EINVAL while it is down */
    }
    text[strcspn(text, "\n")] = '\0';
    if ((ucsi_units_parse_int(text, &value) != UCS_OK) || (value < 0)) {
        return 0;
    }
    return (uint64_t)value;
}

static bool netif_has_device(const char *name)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), NETIF_SYSFS "/%s/device", name);
    return access(path, F_OK) == 0;
}

static unsigned netif_mtu(int socket_fd, const char *name)
{
    struct ifreq request = {.ifr_mtu = 0};

    (void)snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    if ((ioctl(socket_fd, SIOCGIFMTU, &request) != 0) ||
        (request.ifr_mtu < 0)) {
        return 0;
    }
    return (unsigned)request.ifr_mtu;
}

static void netif_fill(struct ucs_netif *netif, int socket_fd, const char *name,
                       unsigned flags)
{
    memset(netif, 0, sizeof(*netif));
    (void)snprintf(netif->name, sizeof(netif->name), "%s", name);
    netif->index       = if_nametoindex(name);
    netif->mtu_bytes   = netif_mtu(socket_fd, name);
    netif->speed_mbits = netif_sysfs_number(name, "speed");
    netif->is_up       = (flags & IFF_UP) && (flags & IFF_RUNNING);
    netif->is_loopback = (flags & IFF_LOOPBACK) != 0;
    netif->is_virtual  = !netif_has_device(name);
}

/* How many leading bits of a mask are set. */
static unsigned netif_prefix_bits(const struct sockaddr *mask)
{
    const uint8_t *bytes;
    unsigned       count;
    unsigned       bits = 0;
    unsigned       i;

    if (mask == NULL) {
        return 0;
    }
    if (mask->sa_family == AF_INET) {
        bytes =
            (const uint8_t *)&((const struct sockaddr_in *)(const void *)mask)
                ->sin_addr;
        count = 4;
    } else {
        bytes =
            (const uint8_t *)&((const struct sockaddr_in6 *)(const void *)mask)
                ->sin6_addr;
        count = 16;
    }
    for (i = 0; i < count; ++i) {
        bits += (unsigned)__builtin_popcount(bytes[i]);
    }
    return bits;
}

static void netif_add_address(struct ucs_netif     *netif,
                              const struct ifaddrs *entry)
{
    struct ucs_netif_address *slot;
    size_t                    size_bytes;

    if ((entry->ifa_addr == NULL) ||
        ((entry->ifa_addr->sa_family != AF_INET) &&
         (entry->ifa_addr->sa_family != AF_INET6))) {
        return;
    }
    if (netif->address_count == UCS_NETIF_ADDRESS_COUNT_MAX) {
        ucs_debug("interface %s has more than %d addresses", netif->name,
                  UCS_NETIF_ADDRESS_COUNT_MAX);
        return;
    }
    slot = &netif->addresses[netif->address_count];
    if ((ucsi_sockaddr_size(entry->ifa_addr, &size_bytes) == UCS_OK) &&
        (ucsi_sockaddr_copy(entry->ifa_addr, size_bytes, &slot->address) ==
         UCS_OK)) {
        slot->prefix_bits = netif_prefix_bits(entry->ifa_netmask);
        ++netif->address_count;
    }
}

static struct ucs_netif *netif_find(const struct ucs_netif_list *list,
                                    const char                  *name)
{
    unsigned i;

    for (i = 0; i < list->count; ++i) {
        if (strcmp(list->netifs[i].name, name) == 0) {
            return &list->netifs[i];
        }
    }
    return NULL;
}

/* The interface of an entry, made if it is new; NULL: no room for it. */
static struct ucs_netif *netif_obtain(struct ucs_netif_list *list,
                                      unsigned room, int socket_fd,
                                      const struct ifaddrs *entry)
{
    struct ucs_netif *netif;
    char              name[IF_NAMESIZE];

    /* An address with a label comes under that: "eth0:1" is of eth0. */
    (void)snprintf(name, sizeof(name), "%s", entry->ifa_name);
    name[strcspn(name, ":")] = '\0';
    netif                    = netif_find(list, name);
    if ((netif == NULL) && (list->count < room)) {
        netif = &list->netifs[list->count++];
        netif_fill(netif, socket_fd, name, entry->ifa_flags);
    }
    return netif;
}

static int netif_compare(const void *a, const void *b)
{
    const struct ucs_netif *left  = a;
    const struct ucs_netif *right = b;

    return (left->index > right->index) - (left->index < right->index);
}

static ucs_status_t netif_list_fill(struct ucs_netif_list *list,
                                    const struct ifaddrs  *entries,
                                    int                    socket_fd)
{
    const struct ifaddrs *entry;
    unsigned              room = 0;

    /* At most one interface for each entry. */
    for (entry = entries; entry != NULL; entry = entry->ifa_next) {
        room += (room < UCS_NETIF_COUNT_MAX);
    }
    list->netifs = calloc(room + 1, sizeof(*list->netifs));
    if (list->netifs == NULL) {
        ucs_error("list of network interfaces: out of memory");
        return UCS_ERR_NO_MEMORY;
    }
    for (entry = entries; entry != NULL; entry = entry->ifa_next) {
        struct ucs_netif *netif = netif_obtain(list, room, socket_fd, entry);

        if (netif != NULL) {
            netif_add_address(netif, entry);
        }
    }
    qsort(list->netifs, list->count, sizeof(*list->netifs), netif_compare);
    return UCS_OK;
}

ucs_status_t ucsi_netif_list_init(struct ucs_netif_list *list_p)
{
    struct ucs_netif_list list = {NULL, 0};
    struct ifaddrs       *entries;
    ucs_status_t          status;
    int                   socket_fd;

    status = ucsi_socket_open(AF_INET, SOCK_DGRAM, &socket_fd);
    if (status != UCS_OK) {
        return status;
    }
    if (getifaddrs(&entries) != 0) {
        ucs_error("getifaddrs: %m");
        ucsi_fd_close(&socket_fd);
        return (errno == ENOMEM) ? UCS_ERR_NO_MEMORY : UCS_ERR_IO_ERROR;
    }
    status = netif_list_fill(&list, entries, socket_fd);
    freeifaddrs(entries);
    ucsi_fd_close(&socket_fd);
    if (status == UCS_OK) {
        *list_p = list;
    }
    return status;
}

void ucsi_netif_list_cleanup(struct ucs_netif_list *list)
{
    free(list->netifs);
    list->netifs = NULL;
    list->count  = 0;
}

const struct ucs_netif *ucsi_netif_find(const struct ucs_netif_list *list,
                                        const char                  *name)
{
    return netif_find(list, name);
}

static bool netif_has_address(const struct ucs_netif    *netif,
                              const struct ucs_sockaddr *wanted)
{
    unsigned i;

    for (i = 0; i < netif->address_count; ++i) {
        if (ucsi_sockaddr_compare(&netif->addresses[i].address, wanted) == 0) {
            return true;
        }
    }
    return false;
}

const struct ucs_netif *
ucsi_netif_find_address(const struct ucs_netif_list *list,
                        const struct ucs_sockaddr   *address)
{
    struct ucs_sockaddr wanted = *address;
    unsigned            i;

    ucsi_sockaddr_set_port(&wanted, 0);
    for (i = 0; i < list->count; ++i) {
        if (netif_has_address(&list->netifs[i], &wanted)) {
            return &list->netifs[i];
        }
    }
    return NULL;
}
