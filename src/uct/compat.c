/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/compat.c - UCX's libuct as programs see it: one without transports.
 * Our own are reached through uct/api, under other names. */
#include "uct/compat.h"

const char *uct_device_type_names[] = {
    "network",
    "intra-node",
    "accelerator",
    "loopback",
};

_Static_assert(sizeof(uct_device_type_names) == 4 * sizeof(char *),
               "programs hold a copy of this size");

ucs_status_t uct_query_components(void ***components_p, unsigned *count_p)
{
    *components_p = NULL;
    *count_p      = 0;
    return UCS_OK;
}

void uct_release_component_list(void **components)
{
    (void)components;
}

ucs_status_t uct_md_query_tl_resources(void *md, void **resources_p,
                                       unsigned *count_p)
{
    (void)md;
    *resources_p = NULL;
    *count_p     = 0;
    return UCS_OK;
}

void uct_release_tl_resource_list(void *resources)
{
    (void)resources;
}

/* All arguments of the calls below are passed on, which is their only use. */
static ucs_status_t unsupported(const char *function, ...)
{
    (void)function;
    return UCS_ERR_UNSUPPORTED;
}

ucs_status_t uct_component_query(void *component, void *attr)
{
    return unsupported(__func__, component, attr);
}

void uct_config_release(void *config)
{
    (void)unsupported(__func__, config);
}

ucs_status_t uct_md_config_read(void *component, const char *env_prefix,
                                const char *filename, void **config_p)
{
    return unsupported(__func__, component, env_prefix, filename, config_p);
}

ucs_status_t uct_md_open(void *component, const char *name, const void *config,
                         void **md_p)
{
    return unsupported(__func__, component, name, config, md_p);
}

void uct_md_close(void *md)
{
    (void)unsupported(__func__, md);
}

ucs_status_t uct_md_query(void *md, void *attr)
{
    return unsupported(__func__, md, attr);
}

ucs_status_t uct_md_iface_config_read(void *md, const char *tl_name,
                                      const char *env_prefix,
                                      const char *filename, void **config_p)
{
    return unsupported(__func__, md, tl_name, env_prefix, filename, config_p);
}

ucs_status_t uct_md_mkey_pack(void *md, void *memh, void *rkey_buffer)
{
    return unsupported(__func__, md, memh, rkey_buffer);
}

ucs_status_t uct_rkey_unpack(void *component, const void *rkey_buffer,
                             void *rkey_p)
{
    return unsupported(__func__, component, rkey_buffer, rkey_p);
}

ucs_status_t uct_rkey_release(void *component, const void *rkey)
{
    return unsupported(__func__, component, rkey);
}

ucs_status_t uct_worker_create(void *async, int thread_mode, void **worker_p)
{
    return unsupported(__func__, async, thread_mode, worker_p);
}

void uct_worker_destroy(void *worker)
{
    (void)unsupported(__func__, worker);
}

ucs_status_t uct_iface_open(void *md, void *worker, const void *params,
                            const void *config, void **iface_p)
{
    return unsupported(__func__, md, worker, params, config, iface_p);
}

void uct_iface_close(void *iface)
{
    (void)unsupported(__func__, iface);
}

ucs_status_t uct_iface_query(void *iface, void *attr)
{
    return unsupported(__func__, iface, attr);
}

ucs_status_t uct_iface_get_address(void *iface, void *address)
{
    return unsupported(__func__, iface, address);
}

ucs_status_t uct_iface_get_device_address(void *iface, void *address)
{
    return unsupported(__func__, iface, address);
}

int uct_iface_is_reachable(void *iface, const void *device_address,
                           const void *iface_address)
{
    (void)unsupported(__func__, iface, device_address, iface_address);
    return 0;
}

ucs_status_t uct_iface_set_am_handler(void *iface, uint8_t id, void *cb,
                                      void *arg, uint32_t flags)
{
    return unsupported(__func__, iface, id, cb, arg, flags);
}

ucs_status_t uct_iface_mem_alloc(void *iface, size_t length, unsigned flags,
                                 const char *name, void *mem)
{
    return unsupported(__func__, iface, length, flags, name, mem);
}

void uct_iface_mem_free(const void *mem)
{
    (void)unsupported(__func__, mem);
}

ucs_status_t uct_ep_create(const void *params, void **ep_p)
{
    return unsupported(__func__, params, ep_p);
}

void uct_ep_destroy(void *ep)
{
    (void)unsupported(__func__, ep);
}

ucs_status_t uct_ep_get_address(void *ep, void *address)
{
    return unsupported(__func__, ep, address);
}

ucs_status_t uct_ep_connect_to_ep(void *ep, const void *device_address,
                                  const void *ep_address)
{
    return unsupported(__func__, ep, device_address, ep_address);
}

ucs_status_t uct_cm_config_read(void *component, const char *env_prefix,
                                const char *filename, void **config_p)
{
    return unsupported(__func__, component, env_prefix, filename, config_p);
}

ucs_status_t uct_cm_open(void *component, void *worker, const void *config,
                         void **cm_p)
{
    return unsupported(__func__, component, worker, config, cm_p);
}

void uct_cm_close(void *cm)
{
    (void)unsupported(__func__, cm);
}

ucs_status_t uct_cm_query(void *cm, void *attr)
{
    return unsupported(__func__, cm, attr);
}
