/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/module_sample.c - modules that are right, and wrong in one way
 * each. Built once for each SAMPLE_* (test/uct/Makefile.inc). */
#include <stddef.h>

#include "uct/api/module.h"

#ifdef SAMPLE_NO_SYMBOL
UCS_EXPORT extern int causeway_uct_something_else;
int                   causeway_uct_something_else = 1;
#else

/* Never called: the loader looks at pointers only. */
static void sample_devices(const void *config, struct uct_device *devices,
                           unsigned *count_p, char *reason)
{
    (void)config;
    (void)devices;
    (void)reason;
    *count_p = 0;
}

static ucs_status_t sample_md_open(const struct uct_device *device,
                                   struct uct_md          **md_p)
{
    (void)device;
    (void)md_p;
    return UCS_ERR_UNSUPPORTED;
}

static void sample_md_close(struct uct_md *md)
{
    (void)md;
}

static ucs_status_t sample_iface_open(struct uct_md                 *md,
                                      const struct uct_iface_params *params,
                                      struct uct_iface             **iface_p)
{
    (void)md;
    (void)params;
    (void)iface_p;
    return UCS_ERR_UNSUPPORTED;
}

static void sample_iface_close(struct uct_iface *iface)
{
    (void)iface;
}

static void sample_query(const struct uct_iface *iface,
                         struct uct_iface_attr  *attr_p)
{
    (void)iface;
    (void)attr_p;
}

static void sample_address(const struct uct_iface *iface, uint8_t *bytes)
{
    (void)iface;
    (void)bytes;
}

static ucs_status_t sample_reach(struct uct_iface *iface, const uint8_t *bytes,
                                 size_t size_bytes, char *reason)
{
    (void)iface;
    (void)bytes;
    (void)size_bytes;
    (void)reason;
    return UCS_ERR_UNREACHABLE;
}

static unsigned sample_progress(struct uct_iface *iface)
{
    (void)iface;
    return 0;
}

static ucs_status_t sample_ep_create(struct uct_iface           *iface,
                                     const struct uct_ep_params *params,
                                     struct uct_ep             **ep_p)
{
    (void)iface;
    (void)params;
    (void)ep_p;
    return UCS_ERR_UNSUPPORTED;
}

static void sample_ep_destroy(struct uct_ep *ep)
{
    (void)ep;
}

static ssize_t sample_am_bcopy(struct uct_ep *ep, uint8_t am_id,
                               uct_pack_fn pack, void *arg, size_t length_max,
                               unsigned flags)
{
    (void)ep;
    (void)am_id;
    (void)pack;
    (void)arg;
    (void)length_max;
    (void)flags;
    return UCS_ERR_UNSUPPORTED;
}

UCS_UNUSED
static ucs_status_t sample_ep_flush(struct uct_ep *ep, struct uct_req *req,
                                    unsigned flags)
{
    (void)ep;
    (void)req;
    (void)flags;
    return UCS_ERR_UNSUPPORTED;
}

UCS_UNUSED static const struct uct_transport sample_transport = {
    .name          = SAMPLE_NAME,
    .aliases       = "",
    .devices       = sample_devices,
    .md_open       = sample_md_open,
    .md_close      = sample_md_close,
    .iface_open    = sample_iface_open,
    .iface_close   = sample_iface_close,
    .iface_query   = sample_query,
    .iface_address = sample_address,
    .iface_reach   = sample_reach,
    .progress      = sample_progress,
    .ep_create     = sample_ep_create,
    .ep_destroy    = sample_ep_destroy,
    .am_bcopy      = sample_am_bcopy,
#ifndef SAMPLE_NO_FLUSH
    .ep_flush      = sample_ep_flush,
#endif
};

#ifndef SAMPLE_MAGIC
#define SAMPLE_MAGIC UCT_MODULE_MAGIC
#endif
#ifndef SAMPLE_ABI
#define SAMPLE_ABI UCT_MODULE_ABI_NUMBER
#endif
#ifndef SAMPLE_BYTES
#define SAMPLE_BYTES sizeof(struct uct_transport)
#endif
/* What lies behind the first wrong field must not be followed. */
#ifndef SAMPLE_TRANSPORT
#define SAMPLE_TRANSPORT &sample_transport
#endif

UCS_EXPORT extern const struct uct_module causeway_uct_module;
const struct uct_module                   causeway_uct_module = {
                      .magic        = SAMPLE_MAGIC,
                      .abi_number   = SAMPLE_ABI,
                      .struct_bytes = SAMPLE_BYTES,
                      .name         = SAMPLE_NAME,
                      .transport    = SAMPLE_TRANSPORT,
};
#endif
