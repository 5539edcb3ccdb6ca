/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_transport.c - settings, devices, and the struct of functions
 * that is all the rest of Causeway knows of udp. */
#include <stdio.h>
#include <string.h>

#include "ucs/netif.h"
#include "uct/base/md.h"
#include "uct/udp/udp.h"

static const char *const transport_congestion_names[] = {
    [UDP_CC_RATE] = "rate", [UDP_CC_FIXED] = "fixed", [UDP_CC_COUNT] = NULL};

static const struct ucs_config_entry transport_entries[] = {
    {.name         = "PORT_RANGE",
     .default_text = "0",
     .offset       = offsetof(struct udp_options, ports),
     .type         = UCS_CONFIG_TYPE_RANGE,
     .doc          = "Ports of the two sockets; 0: any."},
    {.name         = "RCVBUF",
     .default_text = "4m",
     .offset       = offsetof(struct udp_options, receive_bytes),
     .type         = UCS_CONFIG_TYPE_SIZE,
     .doc          = "Receive buffer of a socket; the kernel may give less "
                     "(net.core.rmem_max). 0: its default."},
    {.name         = "SNDBUF",
     .default_text = "4m",
     .offset       = offsetof(struct udp_options, send_bytes),
     .type         = UCS_CONFIG_TYPE_SIZE,
     .doc          = "Send buffer of a socket (net.core.wmem_max). 0: the "
                     "kernel's default."},
    {.name         = "SEGMENTATION",
     .default_text = "y",
     .offset       = offsetof(struct udp_options, segmentation),
     .type         = UCS_CONFIG_TYPE_BOOL,
     .doc          = "Give the kernel many packets in one call, where it can "
                     "(UDP_SEGMENT, UDP_GRO)."},
    {.name         = "CONGESTION",
     .default_text = "rate",
     .offset       = offsetof(struct udp_options, congestion),
     .type         = UCS_CONFIG_TYPE_ENUM,
     .type_arg     = transport_congestion_names,
     .doc          = "Congestion control: by delivery rate, or a fixed window "
                     "for fabrics that lose nothing."},
    {.name         = "WINDOW",
     .default_text = "1m",
     .offset       = offsetof(struct udp_options, window_bytes),
     .type         = UCS_CONFIG_TYPE_SIZE,
     .doc          = "Bytes on the way of a connection with CONGESTION=fixed."},
    {.name         = "SEGMENT_COUNT",
     .default_text = "16384",
     .offset       = offsetof(struct udp_options, segment_count),
     .type         = UCS_CONFIG_TYPE_UINT,
     .doc          = "Packets of an interface that may wait for their "
                     "acknowledgement."},
    {.name         = "HELPER",
     .default_text = "y",
     .offset       = offsetof(struct udp_options, helper),
     .type         = UCS_CONFIG_TYPE_BOOL,
     .doc          = "A thread that acknowledges and sends again while the "
                     "application does not call."},
    {.name         = "MTU",
     .default_text = "65504",
     .offset       = offsetof(struct udp_options, mtu_bytes),
     .type         = UCS_CONFIG_TYPE_SIZE,
     .doc          = "Longest packet, without IP and UDP; 1200 to 65504. The "
                     "path is measured up to it."},
    {.name = NULL},
};

const struct ucs_config_table udp_config_table = {
    .title        = "UDP",
    .prefix       = "UDP_",
    .entries      = transport_entries,
    .struct_bytes = sizeof(struct udp_options),
};

static void transport_devices(struct uct_device *devices, unsigned *count_p,
                              char *reason);

/* Found by uct/base/transports.c. */
extern const struct uct_transport uct_udp_transport;
const struct uct_transport        uct_udp_transport = {
           .name          = "udp",
           .aliases       = "-all",
           .config        = &udp_config_table,
           .devices       = transport_devices,
           .md_open       = udp_md_open,
           .md_close      = udp_md_close,
           .mem_register  = udp_mem_register,
           .mem_release   = udp_mem_release,
           .rkey_pack     = udp_rkey_pack,
           .rkey_unpack   = udp_rkey_unpack,
           .rkey_release  = udp_rkey_release,
           .iface_open    = udp_iface_open,
           .iface_close   = udp_iface_close,
           .iface_query   = udp_iface_query,
           .iface_address = udp_iface_address,
           .iface_reach   = udp_iface_reach,
           .progress      = udp_progress,
           .event_fd      = udp_event_fd,
           .arm           = udp_arm,
           .ep_create     = udp_ep_create,
           .ep_destroy    = udp_ep_destroy,
           .am_short      = udp_am_short,
           .am_bcopy      = udp_am_bcopy,
           .am_zcopy      = udp_am_zcopy,
           .put_short     = udp_put_short,
           .put_bcopy     = udp_put_bcopy,
           .put_zcopy     = udp_put_zcopy,
           .get_bcopy     = udp_get_bcopy,
           .get_zcopy     = udp_get_zcopy,
           .atomic        = udp_atomic,
           .ep_flush      = udp_ep_flush,
};

/* Is it worth a device? */
static bool transport_can_use(const struct ucs_netif *netif)
{
    return netif->is_up && (netif->address_count > 0);
}

static void transport_devices(struct uct_device *devices, unsigned *count_p,
                              char *reason)
{
    unsigned              room = *count_p, count = 0, index;
    struct ucs_netif_list list;

    *count_p = 0;
    if (ucsi_netif_list_init(&list) != UCS_OK) {
        ucti_reason(reason, "udp: the interfaces cannot be listed");
        return;
    }
    for (index = 0; index < list.count; ++index) {
        if (!transport_can_use(&list.netifs[index])) {
            continue;
        }
        if (count < room) {
            devices[count].transport = &uct_udp_transport;
            (void)snprintf(devices[count].name, sizeof(devices[count].name),
                           "%s", list.netifs[index].name);
        }
        ++count;
    }
    ucsi_netif_list_cleanup(&list);
    if (count == 0) {
        ucti_reason(reason, "udp: no interface is up and has an address");
    }
    *count_p = (room == 0) ? count : ucs_min(count, room);
}
