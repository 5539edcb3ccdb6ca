/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/context.c - choosing devices and opening their domains. */
#include "ucp/core/context.h"

#include <stdio.h>
#include <stdlib.h>

#include "ucp/core/mem.h"
#include "ucs/counters_report.h"
#include "ucs/log.h"
#include "ucs/strbuf.h"

/* Remember why something is not used.
 * @param device  NULL: no device of the transport. */
static void context_leave_out(struct ucp_context         *context,
                              const struct uct_transport *transport,
                              const struct uct_device    *device,
                              const char                 *reason)
{
    struct ucp_left_out *left = &context->left_out[context->left_out_count];

    if (context->left_out_count < UCP_LEFT_OUT_COUNT_MAX) {
        (void)snprintf(left->name, sizeof(left->name), "%s%s%s",
                       transport->name, (device == NULL) ? "" : "/",
                       (device == NULL) ? "" : device->name);
        (void)snprintf(left->reason, sizeof(left->reason), "%s", reason);
        ++context->left_out_count;
    }
}

static void context_open_device(struct ucp_context      *context,
                                const struct uct_device *device)
{
    struct ucp_resource *resource =
        &context->resources[context->resource_count];
    ucs_status_t status;

    if (device->left_out[0] != '\0') {
        context_leave_out(context, device->transport, device, device->left_out);
        return;
    }
    status = ucti_md_open(device, &resource->md);
    if (status == UCS_OK) {
        ++context->resource_count;
    } else {
        ucs_warn("transport %s, device %s is left out: %s",
                 device->transport->name, device->name,
                 ucs_status_string(status));
        context_leave_out(context, device->transport, device,
                          ucs_status_string(status));
    }
}

/* Open the devices of one transport. */
static void context_open_transport(struct ucp_context         *context,
                                   const struct uct_transport *transport)
{
    struct uct_device devices[UCP_DEVICE_COUNT_MAX] = {{0}};
    char              reason[UCT_REASON_BYTES_MAX]  = "no device";
    unsigned          count = UCP_DEVICE_COUNT_MAX - context->resource_count;
    unsigned          room  = count;

    if (!ucp_config_allows(&context->config, transport)) {
        context_leave_out(context, transport, NULL, "not in UCX_TLS");
        return;
    }
    transport->devices(
        ucp_transport_config_find(&context->transports, transport), devices,
        &count, reason);
    if (count == 0) {
        context_leave_out(context, transport, NULL, reason);
    }
    for (unsigned i = 0; i < ucs_min(count, room); ++i) {
        context_open_device(context, &devices[i]);
    }
}

/* All that was left out, in one line. */
static const char *context_why(const struct ucp_context *context, char *text,
                               size_t size_bytes)
{
    struct ucs_strbuf why;

    ucs_strbuf_init(&why, text, size_bytes);
    for (unsigned i = 0; i < context->left_out_count; ++i) {
        ucsi_strbuf_appendf(&why, "%s%s: %s", (i > 0) ? "; " : "",
                            context->left_out[i].name,
                            context->left_out[i].reason);
    }
    return (context->left_out_count > 0) ? text : "none";
}

static ucs_status_t context_copy_config(struct ucp_context      *context,
                                        const struct ucp_config *config)
{
    ucs_status_t status = ucsi_config_copy(&ucp_context_config_table,
                                           &config->context, &context->config);

    if (status != UCS_OK) {
        return status;
    }
    status =
        ucp_transport_config_copy(&config->transports, &context->transports);
    if (status != UCS_OK) {
        ucsi_config_release(&ucp_context_config_table, &context->config);
    }
    return status;
}

/* The cache of registrations, over all domains, and no handles yet. */
static ucs_status_t context_open_memory(struct ucp_context *context)
{
    const struct ucp_context_config *config = &context->config;
    const struct ucp_reg_limits      limits = {
             .is_enabled = (config->rcache_enable != UCS_NO),
             .bytes_max  = config->rcache_bytes_max,
             .count_max  = config->rcache_count_max,
    };
    ucs_status_t status = ucp_reg_cache_init(&context->regs, &limits);

    if (status != UCS_OK) {
        return status;
    }
    ucsi_hash_init(&context->mems, 0);
    (void)pthread_mutex_init(&context->mems_lock, NULL);
    for (unsigned i = 0; i < context->resource_count; ++i) {
        ucp_reg_cache_add_domain(&context->regs, context->resources[i].md);
    }
    if (context->options.workers_are_shared) {
        ucp_reg_cache_share(&context->regs);
    }
    return UCS_OK;
}

/* Undo what ucp_context_create() did before context_open_memory(). */
static void context_close(struct ucp_context *context)
{
    for (unsigned i = 0; i < context->resource_count; ++i) {
        ucti_md_close(context->resources[i].md);
    }
    ucp_transport_config_release(&context->transports);
    ucsi_config_release(&ucp_context_config_table, &context->config);
    free(context);
}

ucs_status_t ucp_context_create(const struct ucp_config          *config,
                                const struct ucp_context_options *options,
                                struct ucp_context              **context_p)
{
    const struct uct_transport *const *transport = ucti_transports();
    struct ucp_context                *context   = calloc(1, sizeof(*context));
    char                               text[1024];
    ucs_status_t                       status;

    if (context == NULL) {
        return ucsi_no_memory("a context", sizeof(*context));
    }
    status = context_copy_config(context, config);
    if (status != UCS_OK) {
        free(context);
        return status;
    }
    context->user_count = 1;
    context->options    = *options;
    ucp_config_warn_transports(&config->context);
    for (; *transport != NULL; ++transport) {
        context_open_transport(context, *transport);
    }
    if (context->resource_count == 0) {
        ucs_error("no transport can be used: %s",
                  context_why(context, text, sizeof(text)));
        context_close(context);
        return UCS_ERR_NO_DEVICE;
    }
    status = context_open_memory(context);
    if (status != UCS_OK) {
        context_close(context);
        return status;
    }
    context->is_counted = ucsi_counters_report_open(context->config.stats_dest);
    ucs_debug("context '%s': %u devices; left out: %s", options->name,
              context->resource_count,
              context_why(context, text, sizeof(text)));
    *context_p = context;
    return UCS_OK;
}

uint8_t ucp_context_domain_ordinal(const struct ucp_context *context,
                                   const struct uct_md      *md)
{
    uint8_t ordinal = 0;

    for (unsigned i = 0; context->resources[i].md != md; ++i) {
        ucs_assert(i < context->resource_count);
        if (context->resources[i].md->transport == md->transport) {
            ++ordinal;
        }
    }
    return ordinal;
}

void ucp_context_put(struct ucp_context *context)
{
    if (atomic_fetch_sub(&context->user_count, 1) > 1) {
        return;
    }
    ucp_mem_destroy_all(context);
    (void)pthread_mutex_destroy(&context->mems_lock);
    ucsi_hash_cleanup(&context->mems);
    ucp_reg_cache_cleanup(&context->regs);
    if (context->is_counted) {
        ucsi_counters_report_close();
    }
    context_close(context);
}
