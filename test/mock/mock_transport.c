/* SPDX-License-Identifier: BSD-3-Clause */
/* mock_transport.c - devices, domains, and what the module exports: the struct
 * of functions, which the setup thins out, and the control. */
#include "mock/mock_private.h"

#include <stdio.h>

static void         mock_devices(const void *config, struct uct_device *devices,
                                 unsigned *count_p, char *reason);
static ucs_status_t mock_md_open(const struct uct_device *device,
                                 struct uct_md          **md_p);
static void         mock_md_close(struct uct_md *md);

/* Not const: mock_apply_absent() takes functions away and puts them back. */
static struct uct_transport mock_transport = {
    .name          = "mock",
    .aliases       = "",
    .devices       = mock_devices,
    .md_open       = mock_md_open,
    .md_close      = mock_md_close,
    .mem_register  = mock_mem_register,
    .mem_release   = mock_mem_release,
    .rkey_pack     = mock_rkey_pack,
    .rkey_unpack   = mock_rkey_unpack,
    .rkey_release  = mock_rkey_release,
    .iface_open    = mock_iface_open,
    .iface_close   = mock_iface_close,
    .iface_query   = mock_iface_query,
    .iface_address = mock_iface_address,
    .iface_reach   = mock_iface_reach,
    .progress      = mock_progress,
    .am_release    = mock_am_release,
    .ep_create     = mock_ep_create,
    .ep_destroy    = mock_ep_destroy,
    .am_short      = mock_am_short,
    .am_bcopy      = mock_am_bcopy,
    .am_zcopy      = mock_am_zcopy,
    .put_short     = mock_put_short,
    .put_bcopy     = mock_put_bcopy,
    .put_zcopy     = mock_put_zcopy,
    .get_bcopy     = mock_get_bcopy,
    .get_zcopy     = mock_get_zcopy,
    .ep_flush      = mock_ep_flush,
};

/* The one name that the loader looks for. */
UCS_EXPORT extern const struct uct_module causeway_uct_module;
const struct uct_module                   causeway_uct_module = {
                      .magic        = UCT_MODULE_MAGIC,
                      .abi_number   = UCT_MODULE_ABI_NUMBER,
                      .struct_bytes = sizeof(struct uct_transport),
                      .name         = "mock",
                      .transport    = &mock_transport,
};

#define MOCK_SLOT(_absent, _op, _slot)                                         \
    (mock_transport._slot = ((_absent) & (1u << (_op))) ? NULL : mock_##_slot)

/* Without registration there is no put and no get: transport.h. */
static void mock_apply_absent(unsigned absent)
{
    const unsigned rma = (1u << MOCK_PUT_SHORT) | (1u << MOCK_PUT_BCOPY) |
                         (1u << MOCK_PUT_ZCOPY) | (1u << MOCK_GET_BCOPY) |
                         (1u << MOCK_GET_ZCOPY);

    if (absent & (1u << MOCK_REGISTER)) {
        absent |= rma;
    }
    MOCK_SLOT(absent, MOCK_AM_SHORT, am_short);
    MOCK_SLOT(absent, MOCK_AM_ZCOPY, am_zcopy);
    MOCK_SLOT(absent, MOCK_PUT_SHORT, put_short);
    MOCK_SLOT(absent, MOCK_PUT_BCOPY, put_bcopy);
    MOCK_SLOT(absent, MOCK_PUT_ZCOPY, put_zcopy);
    MOCK_SLOT(absent, MOCK_GET_BCOPY, get_bcopy);
    MOCK_SLOT(absent, MOCK_GET_ZCOPY, get_zcopy);
    MOCK_SLOT(absent, MOCK_KEEP, am_release);
    MOCK_SLOT(absent, MOCK_REGISTER, mem_register);
    MOCK_SLOT(absent, MOCK_REGISTER, mem_release);
    MOCK_SLOT(absent, MOCK_REGISTER, rkey_pack);
    MOCK_SLOT(absent, MOCK_REGISTER, rkey_unpack);
    MOCK_SLOT(absent, MOCK_REGISTER, rkey_release);
}

/* A context begins with this call: what the setup says from here on counts. */
static void mock_devices(const void *config, struct uct_device *devices,
                         unsigned *count_p, char *reason)
{
    unsigned count = mock_world.setup.device_count;
    unsigned index;

    (void)config;
    mock_apply_absent(mock_world.setup.absent);
    mock_world.random = mock_world.setup.seed;
    for (index = 0; index < ucs_min(count, *count_p); ++index) {
        devices[index].transport = &mock_transport;
        (void)snprintf(devices[index].name, sizeof(devices[index].name),
                       "mock%u", index);
    }
    if (count == 0) {
        ucti_reason(reason, "mock: the setup has no device");
    }
    *count_p = count;
}

/* The lowest number that no open domain of the device has. */
static unsigned mock_md_host(unsigned device)
{
    struct mock_md *md;
    unsigned        host = 0;
    bool            is_used;

    do {
        is_used = false;
        ucs_list_for_each (md, &mock_world.mds, link) {
            is_used |= (md->device == device) && (md->host == host);
        }
        host += is_used ? 1 : 0;
    } while (is_used);
    return host;
}

static ucs_status_t mock_md_open(const struct uct_device *device,
                                 struct uct_md          **md_p)
{
    struct mock_md *md = calloc(1, sizeof(*md));

    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    md->device = (unsigned)(device->name[4] - '0');
    md->host   = mock_md_host(md->device);
    if (md->host >= MOCK_HOST_COUNT_MAX) {
        free(md);
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    uct_md_init(&md->base, device);
    ucs_list_add_tail(&mock_world.mds, &md->link);
    *md_p = &md->base;
    return UCS_OK;
}

static void mock_md_close(struct uct_md *base)
{
    struct mock_md *md = ucs_container_of(base, struct mock_md, base);

    ucs_list_remove(&md->link);
    free(md);
}
