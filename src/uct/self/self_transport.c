/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/self/self_transport.c - settings, device, and the struct of functions
 * that is all the rest of Causeway knows of self. */
#include "uct/self/self.h"

#include <stdio.h>

static const struct ucs_config_bounds self_seg_bytes    = {SELF_SEG_BYTES_MIN,
                                                           SELF_SEG_BYTES_MAX, 0};
static const struct ucs_config_bounds self_buffer_count = {
    SELF_BUFFER_COUNT_MIN, SELF_BUFFER_COUNT_MAX, 0};

static const struct ucs_config_entry self_config_entries[] = {
    {.name         = "SEG_SIZE",
     .default_text = "8k",
     .offset       = offsetof(struct self_config, seg_bytes),
     .type         = UCS_CONFIG_TYPE_SIZE,
     .bounds       = &self_seg_bytes,
     .doc          = "Largest active message, in bytes."},
    {.name         = "BUFFER_COUNT",
     .default_text = "256",
     .offset       = offsetof(struct self_config, buffer_count),
     .type         = UCS_CONFIG_TYPE_UINT,
     .bounds       = &self_buffer_count,
     .doc          = "Messages that wait or are kept, at most."},
    {0}};

const struct ucs_config_table self_config_table = {
    .title        = "self",
    .prefix       = "SELF_",
    .entries      = self_config_entries,
    .struct_bytes = sizeof(struct self_config),
};

static void self_devices(const void *config, struct uct_device *devices,
                         unsigned *count_p, char *reason);

/* Found by uct/base/transports.c. */
extern const struct uct_transport uct_self_transport;
const struct uct_transport        uct_self_transport = {
           .name          = "self",
           .aliases       = "loopback",
           .config        = &self_config_table,
           .devices       = self_devices,
           .md_open       = self_md_open,
           .md_close      = self_md_close,
           .mem_register  = self_mem_register,
           .mem_release   = self_mem_release,
           .rkey_pack     = self_rkey_pack,
           .rkey_unpack   = self_rkey_unpack,
           .rkey_release  = self_rkey_release,
           .iface_open    = self_iface_open,
           .iface_close   = self_iface_close,
           .iface_query   = self_iface_query,
           .iface_address = self_iface_address,
           .iface_reach   = self_iface_reach,
           .progress      = self_progress,
           .event_fd      = self_event_fd,
           .arm           = self_arm,
           .am_release    = self_am_release,
           .ep_create     = self_ep_create,
           .ep_destroy    = self_ep_destroy,
           .am_short      = self_am_short,
           .am_bcopy      = self_am_bcopy,
           .am_zcopy      = self_am_zcopy,
           .put_short     = self_put_short,
           .put_bcopy     = self_put_bcopy,
           .put_zcopy     = self_put_zcopy,
           .get_bcopy     = self_get_bcopy,
           .get_zcopy     = self_get_zcopy,
           .atomic        = self_atomic,
           .ep_flush      = self_ep_flush,
};

static void self_devices(const void *config, struct uct_device *devices,
                         unsigned *count_p, char *reason)
{
    (void)config;
    (void)reason; /* there always is one */
    if (*count_p > 0) {
        devices[0].transport = &uct_self_transport;
        (void)snprintf(devices[0].name, sizeof(devices[0].name), "memory");
    }
    *count_p = 1;
}
