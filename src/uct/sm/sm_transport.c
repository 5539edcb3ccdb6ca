/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_transport.c - what the transport is: its names, its one device,
 * its settings, its functions. */
#include "uct/sm/sm.h"

#include <stdio.h>

#include "uct/sm/sm_key.h"

static const char *const transport_attach_names[] = {"auto", "proc", "socket",
                                                     NULL};

static const struct ucs_config_bounds transport_chunk_bytes = {
    UCT_SM_PAGE_BYTES, UCT_SM_CHUNK_BYTES_MAX, UCT_SM_PAGE_BYTES};
static const struct ucs_config_bounds transport_chunk_count = {
    UCT_SM_CHUNK_COUNT_MIN, UCT_SM_CHUNK_COUNT_MAX, 0};
static const struct ucs_config_bounds transport_poll_channels = {
    1, UCT_SM_POLLED_COUNT_MAX, 0};

static const struct ucs_config_entry transport_entries[] = {
    {.name         = "CHUNK_SIZE",
     .default_text = "32k",
     .offset       = offsetof(struct uct_sm_options, chunk_bytes),
     .type         = UCS_CONFIG_TYPE_SIZE,
     .bounds       = &transport_chunk_bytes,
     .doc          = "Bytes of one buffer for messages that do not fit into a "
                     "ring, and so the longest piece of a message; a multiple of "
                     "4096."},
    {.name         = "CHUNK_COUNT",
     .default_text = "128",
     .offset       = offsetof(struct uct_sm_options, chunk_count),
     .type         = UCS_CONFIG_TYPE_UINT,
     .bounds       = &transport_chunk_count,
     .doc = "How many of these buffers all senders to a worker share."},
    {.name         = "POLL_CHANNELS",
     .default_text = "16",
     .offset       = offsetof(struct uct_sm_options, poll_channels),
     .type         = UCS_CONFIG_TYPE_UINT,
     .bounds       = &transport_poll_channels,
     .doc = "How many senders are looked at by every call of progress; "
            "the others ring a doorbell."},
    {.name         = "ATTACH",
     .default_text = "auto",
     .offset       = offsetof(struct uct_sm_options, attach),
     .type         = UCS_CONFIG_TYPE_ENUM,
     .type_arg     = transport_attach_names,
     .doc          = "How the memory of another process is opened: through "
                     "/proc, over a socket, or as it is possible."},
    {.name         = "CMA",
     .default_text = "y",
     .offset       = offsetof(struct uct_sm_options, cma),
     .type         = UCS_CONFIG_TYPE_BOOL,
     .doc          = "Copy long messages directly between processes "
                     "(process_vm_readv), where the kernel allows it."},
    {.name         = "CMA_PTRACER",
     .default_text = "n",
     .offset       = offsetof(struct uct_sm_options, cma_ptracer),
     .type         = UCS_CONFIG_TYPE_BOOL,
     .doc          = "Where yama/ptrace_scope is 1: let every process of this "
                     "user read and write the memory of this one "
                     "(PR_SET_PTRACER)."},
    {.name         = "BW",
     .default_text = "auto",
     .offset       = offsetof(struct uct_sm_options, chunk_Bps),
     .type         = UCS_CONFIG_TYPE_BANDWIDTH,
     .doc          = "How fast long messages go through shared memory, for the "
                     "choice of protocols; auto: measured when the process "
                     "opens its first interface."},
    {.name         = "CMA_BW",
     .default_text = "auto",
     .offset       = offsetof(struct uct_sm_options, cma_Bps),
     .type         = UCS_CONFIG_TYPE_BANDWIDTH,
     .doc          = "The same of copies directly between processes."},
    {.name = NULL},
};

const struct ucs_config_table uct_sm_config_table = {
    .title        = "Shared memory",
    .prefix       = "SM_",
    .entries      = transport_entries,
    .struct_bytes = sizeof(struct uct_sm_options),
};

static void transport_devices(const void *config, struct uct_device *devices,
                              unsigned *count_p, char *reason)
{
    (void)config;
    (void)reason;
    if (*count_p > 0) {
        devices[0].transport = &uct_sm_transport;
        (void)snprintf(devices[0].name, sizeof(devices[0].name), "memory");
    }
    *count_p = 1;
}

const struct uct_transport uct_sm_transport = {
    .name          = "sm",
    .aliases       = "shm,mm,posix,sysv,+cma",
    .config        = &uct_sm_config_table,
    .devices       = transport_devices,
    .md_open       = uct_sm_md_open,
    .md_close      = uct_sm_md_close,
    .mem_register  = uct_sm_mem_register,
    .mem_release   = uct_sm_mem_release,
    .rkey_pack     = uct_sm_rkey_pack,
    .rkey_unpack   = uct_sm_rkey_unpack,
    .rkey_release  = uct_sm_rkey_release,
    .iface_open    = uct_sm_iface_open,
    .iface_close   = uct_sm_iface_close,
    .iface_query   = uct_sm_iface_query,
    .iface_address = uct_sm_iface_address,
    .iface_reach   = uct_sm_reach,
    .progress      = uct_sm_progress,
    .event_fd      = uct_sm_event_fd,
    .arm           = uct_sm_arm,
    .am_release    = uct_sm_am_release,
    .ep_create     = uct_sm_ep_create,
    .ep_destroy    = uct_sm_ep_destroy,
    .am_short      = uct_sm_am_short,
    .am_bcopy      = uct_sm_am_bcopy,
    .am_zcopy      = uct_sm_am_zcopy,
    .put_short     = uct_sm_put_short,
    .put_bcopy     = uct_sm_put_bcopy,
    .put_zcopy     = uct_sm_put_zcopy,
    .get_bcopy     = uct_sm_get_bcopy,
    .get_zcopy     = uct_sm_get_zcopy,
    .ep_flush      = uct_sm_ep_flush,
};
