/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_transport.c - settings, devices, and the struct of functions
 * that is all the rest of Causeway knows of udp. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/log.h"
#include "ucs/netif.h"
#include "ucs/strbuf.h"
#include "uct/base/md.h"
#include "uct/udp/udp.h"

static const char *const transport_congestion_names[] = {
    [UDP_CC_RATE] = "rate", [UDP_CC_FIXED] = "fixed", [UDP_CC_COUNT] = NULL};

static const struct ucs_config_bounds transport_ports   = {0, UINT16_MAX, 0};
static const struct ucs_config_bounds transport_buffers = {0, INT32_MAX, 0};
static const struct ucs_config_bounds transport_window  = {UDP_PACKET_BYTES_MAX,
                                                           UINT32_MAX, 0};
static const struct ucs_config_bounds transport_segments = {
    UDP_SEGMENT_COUNT_MIN, UDP_SEGMENT_COUNT_MAX, 0};
static const struct ucs_config_bounds transport_conns = {1, INT32_MAX, 0};
static const struct ucs_config_bounds transport_mtu   = {UDP_PACKET_BYTES_MIN,
                                                         UDP_PACKET_BYTES_MAX, 0};

static const struct ucs_config_entry transport_entries[] = {
    {.name         = "DEVICES",
     .default_text = "all",
     .offset       = offsetof(struct udp_options, devices),
     .type         = UCS_CONFIG_TYPE_LIST,
     .doc          = "Network interfaces that may be used, comma separated; "
                     "with ^ in front, all but these; eth0/ipv6 is the IPv6 "
                     "side of eth0."},
    {.name         = "ENCRYPT",
     .default_text = "n",
     .offset       = offsetof(struct udp_options, encrypt),
     .type         = UCS_CONFIG_TYPE_BOOL,
     .doc = "Encrypt every packet, so that nobody on the way can read or "
            "change it (AEAD); the same on both sides."},
    {.name         = "PORT_RANGE",
     .default_text = "0",
     .offset       = offsetof(struct udp_options, ports),
     .type         = UCS_CONFIG_TYPE_RANGE,
     .bounds       = &transport_ports,
     .doc          = "Ports of the two sockets of each device, as 7000-7999; "
                     "0: any."},
    {.name         = "RCVBUF",
     .default_text = "4m",
     .offset       = offsetof(struct udp_options, receive_bytes),
     .type         = UCS_CONFIG_TYPE_SIZE,
     .bounds       = &transport_buffers,
     .doc          = "Receive buffer of a socket; the kernel may give less "
                     "(net.core.rmem_max). 0: its default."},
    {.name         = "SNDBUF",
     .default_text = "4m",
     .offset       = offsetof(struct udp_options, send_bytes),
     .type         = UCS_CONFIG_TYPE_SIZE,
     .bounds       = &transport_buffers,
     .doc          = "Send buffer of a socket (net.core.wmem_max). 0: the "
                     "kernel's default."},
    {.name         = "SEGMENTATION",
     .default_text = "y",
     .offset       = offsetof(struct udp_options, segmentation),
     .type         = UCS_CONFIG_TYPE_BOOL,
     .doc          = "Give the kernel many packets in one call, where it can "
                     "(UDP_SEGMENT, UDP_GRO)."},
    {.name         = "DIRECT",
     .default_text = "y",
     .offset       = offsetof(struct udp_options, direct),
     .type         = UCS_CONFIG_TYPE_BOOL,
     .doc          = "A socket on the same port that is connected to the peer "
                     "that gets most packets."},
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
     .bounds       = &transport_window,
     .doc          = "Bytes on the way of a connection with CONGESTION=fixed."},
    {.name         = "SEGMENT_COUNT",
     .default_text = "16384",
     .offset       = offsetof(struct udp_options, segment_count),
     .type         = UCS_CONFIG_TYPE_UINT,
     .bounds       = &transport_segments,
     .doc          = "Packets of an interface that may wait for their "
                     "acknowledgement."},
    {.name         = "CONNS_PER_ADDRESS",
     .default_text = "16384",
     .offset       = offsetof(struct udp_options, conns_per_address),
     .type         = UCS_CONFIG_TYPE_UINT,
     .bounds       = &transport_conns,
     .doc          = "Connections that one address may make to an interface: "
                     "all processes of a host together."},
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
     .bounds       = &transport_mtu,
     .doc          = "Longest packet, without IP and UDP. The path is measured "
                     "up to it."},
    {.name = NULL},
};

/* UCX_NET_DEVICES is what UCX calls it. */
static const char *const transport_families[] = {"NET_", NULL};

const struct ucs_config_table udp_config_table = {
    .title        = "UDP",
    .prefix       = "UDP_",
    .families     = transport_families,
    .entries      = transport_entries,
    .struct_bytes = sizeof(struct udp_options),
};

static void transport_devices(const void *config, struct uct_device *devices,
                              unsigned *count_p, char *reason);

/* Found by uct/base/transports.c. */
extern const struct uct_transport uct_udp_transport;
const struct uct_transport        uct_udp_transport = {
           .name          = "udp",
           .aliases       = "",
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
           .iface_rank    = udp_iface_rank,
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

static void transport_warn_unknown(const struct ucs_netif_list  *list,
                                   const struct ucs_config_list *wanted)
{
    char              text[512];
    struct ucs_strbuf names;
    const char       *unknown;
    unsigned          index, position = 0;

    while ((unknown = udp_devices_unknown(list, wanted, &position)) != NULL) {
        ucs_strbuf_init(&names, text, sizeof(text));
        for (index = 0; index < list->count; ++index) {
            ucsi_strbuf_appendf(&names, "%s%s", (index > 0) ? ", " : "",
                                list->netifs[index].name);
        }
        ucs_error("UCX_NET_DEVICES: there is no interface '%s' here; there "
                  "are: %s",
                  unknown, text);
    }
}

static void transport_fill(const struct udp_device *found, unsigned count,
                           struct uct_device *devices)
{
    unsigned index;

    for (index = 0; index < count; ++index) {
        devices[index].transport = &uct_udp_transport;
        (void)snprintf(devices[index].name, sizeof(devices[index].name), "%s",
                       found[index].name);
        (void)snprintf(devices[index].left_out, sizeof(devices[index].left_out),
                       "%s", found[index].reason);
    }
}

/* Judge every interface of the host. */
static void transport_list(const struct ucs_netif_list *list,
                           const struct udp_options    *options,
                           struct uct_device *devices, unsigned *count_p)
{
    unsigned           room  = *count_p;
    struct udp_device *found = calloc((size_t)2 * list->count, sizeof(*found));

    *count_p = 0;
    if (found == NULL) {
        return;
    }
    transport_warn_unknown(list, &options->devices);
    *count_p = udp_devices_judge(list, &options->devices, found);
    transport_fill(found, ucs_min(room, *count_p), devices);
    free(found);
}

static void transport_devices(const void *config, struct uct_device *devices,
                              unsigned *count_p, char *reason)
{
    struct udp_options    options;
    struct ucs_netif_list list;

    ucti_reason(reason, "udp: the interfaces cannot be listed");
    if (udp_options_read(config, &options) != UCS_OK) {
        *count_p = 0;
        return;
    }
    if (ucsi_netif_list_init(&list) == UCS_OK) {
        transport_list(&list, &options, devices, count_p);
        ucsi_netif_list_cleanup(&list);
    } else {
        *count_p = 0;
    }
    ucsi_config_release(&udp_config_table, &options);
}

ucs_status_t udp_options_read(const void *config, struct udp_options *options)
{
    return (config != NULL)
               ? ucsi_config_copy(&udp_config_table, config, options)
               : ucsi_config_read(&udp_config_table, NULL, options);
}
