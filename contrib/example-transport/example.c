/* SPDX-License-Identifier: BSD-3-Clause */
/* example.c - settings, device, memory domain, and what the module exports.
 *
 * The example shows a transport outside Causeway's tree, and is a difficult
 * one on purpose: it refuses at random, completes late, has small limits and
 * no am_short, so that what runs over it runs over others. */
#include "example.h"

#include <stdio.h>
#include <stdlib.h>

static const struct ucs_config_entry example_config_entries[] = {
    {.name         = "REFUSE_PERCENT",
     .default_text = "10",
     .offset       = offsetof(struct example_config, refuse_percent),
     .type         = UCS_CONFIG_TYPE_UINT,
     .doc          = "Operations that are refused without need."},
    {.name         = "DELAY",
     .default_text = "4",
     .offset       = offsetof(struct example_config, delay),
     .type         = UCS_CONFIG_TYPE_UINT,
     .doc          = "Calls of progress until a zcopy finishes, on average."},
    {.name         = "DEVICES",
     .default_text = "1",
     .offset       = offsetof(struct example_config, devices),
     .type         = UCS_CONFIG_TYPE_UINT,
     .doc          = "How many there are; with several each is like a network "
                     "card of its own, so that libucp uses them together."},
    {.name         = "SEED",
     .default_text = "1",
     .offset       = offsetof(struct example_config, seed),
     .type         = UCS_CONFIG_TYPE_UINT,
     .doc          = "Start of the random numbers."},
    {0}};

const struct ucs_config_table example_config_table = {
    .title        = "example",
    .prefix       = "EXAMPLE_",
    .entries      = example_config_entries,
    .struct_bytes = sizeof(struct example_config),
};

static void example_devices(const void *config, struct uct_device *devices,
                            unsigned *count_p, char *reason);
static ucs_status_t example_md_open(const struct uct_device *device,
                                    struct uct_md          **md_p);
static void         example_md_close(struct uct_md *md);

static const struct uct_transport example_transport = {
    .name          = "example",
    .aliases       = "",
    .config        = &example_config_table,
    .devices       = example_devices,
    .md_open       = example_md_open,
    .md_close      = example_md_close,
    .iface_open    = example_iface_open,
    .iface_close   = example_iface_close,
    .iface_query   = example_iface_query,
    .iface_address = example_iface_address,
    .iface_reach   = example_iface_reach,
    .progress      = example_progress,
    .event_fd      = example_event_fd,
    .arm           = example_arm,
    .am_release    = example_am_release,
    .ep_create     = example_ep_create,
    .ep_destroy    = example_ep_destroy,
    .am_bcopy      = example_am_bcopy,
    .am_zcopy      = example_am_zcopy,
    .ep_flush      = example_ep_flush,
};

/* The one name that the loader looks for. */
UCS_EXPORT extern const struct uct_module causeway_uct_module;
const struct uct_module                   causeway_uct_module = {
                      .magic        = UCT_MODULE_MAGIC,
                      .abi_number   = UCT_MODULE_ABI_NUMBER,
                      .struct_bytes = sizeof(struct uct_transport),
                      .name         = "example",
                      .transport    = &example_transport,
};

static void example_devices(const void *config, struct uct_device *devices,
                            unsigned *count_p, char *reason)
{
    const char *text  = getenv("UCX_EXAMPLE_DEVICES");
    long        count = (text == NULL) ? 1 : strtol(text, NULL, 10);
    unsigned    room  = *count_p;

    (void)config; /* the environment is enough */
    (void)reason; /* there always is one */
    *count_p = ((count < 1) || (count > EXAMPLE_DEVICE_COUNT_MAX))
                   ? 1
                   : (unsigned)count;
    for (unsigned i = 0; (i < *count_p) && (i < room); ++i) {
        devices[i].transport = &example_transport;
        (void)snprintf(devices[i].name, sizeof(devices[i].name), "unix%u", i);
    }
}

static ucs_status_t example_md_open(const struct uct_device *device,
                                    struct uct_md          **md_p)
{
    struct uct_md *md = malloc(sizeof(*md));

    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    uct_md_init(md, device);
    *md_p = md;
    return UCS_OK;
}

static void example_md_close(struct uct_md *md)
{
    free(md);
}
