/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/compat.h - what programs built for UCX's libuct look up in ours.
 *
 * They find no component, so none of the rest is ever reached with something
 * to work on. Handles and structs of UCX's are pointers to nothing we know.
 * Nothing of ours calls these, and this header is not installed. */
#ifndef UCT_COMPAT_H_
#define UCT_COMPAT_H_

#include <stddef.h>
#include <stdint.h>

#include "ucs/sys/compiler_def.h"
#include "ucs/type/status.h"

UCS_API_BEGIN

extern const char *uct_device_type_names[];

/* Queries: UCS_OK, an empty list. */
ucs_status_t uct_query_components(void ***components_p, unsigned *count_p);
void         uct_release_component_list(void **components);
ucs_status_t uct_md_query_tl_resources(void *md, void **resources_p,
                                       unsigned *count_p);
void         uct_release_tl_resource_list(void *resources);

/* UCS_ERR_UNSUPPORTED, or nothing. */
ucs_status_t uct_component_query(void *component, void *attr);
void         uct_config_release(void *config);
ucs_status_t uct_md_config_read(void *component, const char *env_prefix,
                                const char *filename, void **config_p);
ucs_status_t uct_md_open(void *component, const char *name, const void *config,
                         void **md_p);
void         uct_md_close(void *md);
ucs_status_t uct_md_query(void *md, void *attr);
ucs_status_t uct_md_iface_config_read(void *md, const char *tl_name,
                                      const char *env_prefix,
                                      const char *filename, void **config_p);
ucs_status_t uct_md_mkey_pack(void *md, void *memh, void *rkey_buffer);
ucs_status_t uct_rkey_unpack(void *component, const void *rkey_buffer,
                             void *rkey_p);
ucs_status_t uct_rkey_release(void *component, const void *rkey);
ucs_status_t uct_worker_create(void *async, int thread_mode, void **worker_p);
void         uct_worker_destroy(void *worker);
ucs_status_t uct_iface_open(void *md, void *worker, const void *params,
                            const void *config, void **iface_p);
void         uct_iface_close(void *iface);
ucs_status_t uct_iface_query(void *iface, void *attr);
ucs_status_t uct_iface_get_address(void *iface, void *address);
ucs_status_t uct_iface_get_device_address(void *iface, void *address);
int          uct_iface_is_reachable(void *iface, const void *device_address,
                                    const void *iface_address);
ucs_status_t uct_iface_set_am_handler(void *iface, uint8_t id, void *cb,
                                      void *arg, uint32_t flags);
ucs_status_t uct_iface_mem_alloc(void *iface, size_t length, unsigned flags,
                                 const char *name, void *mem);
void         uct_iface_mem_free(const void *mem);
ucs_status_t uct_ep_create(const void *params, void **ep_p);
void         uct_ep_destroy(void *ep);
ucs_status_t uct_ep_get_address(void *ep, void *address);
ucs_status_t uct_ep_connect_to_ep(void *ep, const void *device_address,
                                  const void *ep_address);
ucs_status_t uct_cm_config_read(void *component, const char *env_prefix,
                                const char *filename, void **config_p);
ucs_status_t uct_cm_open(void *component, void *worker, const void *config,
                         void **cm_p);
void         uct_cm_close(void *cm);
ucs_status_t uct_cm_query(void *cm, void *attr);

UCS_API_END

#endif
