/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/context.h - what a process has: settings, devices, domains. */
#ifndef UCP_CORE_CONTEXT_H_
#define UCP_CORE_CONTEXT_H_

#include "ucp/api/ucp.h"
#include "ucp/core/config.h"
#include "ucp/core/reg_cache.h"
#include "ucs/hash.h"
#include "uct/api/uct.h"

enum { UCP_DEVICE_COUNT_MAX = 64 };

/* What the user wants (read from ucp_params_t in entry/context.c). */
struct ucp_context_options {
    uint64_t                       features;
    size_t                         request_bytes; /* of the user, per request */
    ucp_request_init_callback_t    request_init;
    ucp_request_cleanup_callback_t request_cleanup;
    uint64_t                       tag_sender_mask;
    bool                           workers_are_shared;
    char                           name[UCP_ENTITY_NAME_MAX];
};

/* A device that was opened. */
struct ucp_resource {
    struct uct_md *md;
};

/* What was not opened, and why: a transport, or a device of one. */
struct ucp_left_out {
    char name[2 * UCT_NAME_BYTES_MAX];
    char reason[UCT_REASON_BYTES_MAX];
};

enum { UCP_LEFT_OUT_COUNT_MAX = 32 }; /* more are not remembered */

/* user_count  itself and its workers: who goes last destroys it
 * is_counted  UCX_STATS_DEST: it has the report of counters open
 * regs  registered memory, of all domains
 * mems  memory handles by name: struct ucp_mem; mems_lock guards it */
struct ucp_context {
    struct ucp_context_config   config;
    struct ucp_transport_config transports;
    struct ucp_context_options  options;
    _Atomic unsigned            user_count;
    _Atomic bool         is_scheme_reported; /* UCX_RNDV_SCHEME: why not */
    bool                 is_counted;
    unsigned             resource_count;
    struct ucp_resource  resources[UCP_DEVICE_COUNT_MAX];
    unsigned             left_out_count;
    struct ucp_left_out  left_out[UCP_LEFT_OUT_COUNT_MAX];
    struct ucp_reg_cache regs;
    struct ucs_hash      mems;
    pthread_mutex_t      mems_lock;
};

/* Open all devices that the settings allow.
 * @param config  Borrowed: a copy is kept.
 * @return UCS_OK; UCS_ERR_NO_DEVICE: nothing is left, one line says why;
 *         UCS_ERR_NO_MEMORY. */
UCS_MUST_USE ucs_status_t ucp_context_create(
    const struct ucp_config *config, const struct ucp_context_options *options,
    struct ucp_context **context_p);

/* That domain is the how-manieth of its transport? So a peer names it, in
 * addresses and keys. */
uint8_t ucp_context_domain_ordinal(const struct ucp_context *context,
                                   const struct uct_md      *md);

/* One of user_count is gone. */
void ucp_context_put(struct ucp_context *context);

#endif
