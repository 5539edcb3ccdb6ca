/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/transport_config.c - the settings of all transports. */
#include "ucp/core/transport_config.h"

#include <stdlib.h>

#include "ucs/log.h"
#include "uct/api/uct.h"

/* Room for the options of a transport, entered in the list but not counted. */
static struct ucp_transport_options *
transport_config_next(struct ucp_transport_config *config,
                      const struct uct_transport  *transport)
{
    struct ucp_transport_options *entry = &config->entries[config->count];

    entry->transport = transport;
    entry->options   = calloc(1, transport->config->struct_bytes);
    if (entry->options == NULL) {
        (void)ucsi_no_memory(transport->config->title,
                             transport->config->struct_bytes);
        return NULL;
    }
    return entry;
}

ucs_status_t ucp_transport_config_read(const char                  *app_prefix,
                                       struct ucp_transport_config *config)
{
    const struct uct_transport *const *transport = ucti_transports();
    struct ucp_transport_options      *entry;
    ucs_status_t                       status;

    config->count = 0;
    for (; (*transport != NULL) && (config->count < UCP_TRANSPORT_COUNT_MAX);
         ++transport) {
        if ((*transport)->config == NULL) {
            continue;
        }
        entry  = transport_config_next(config, *transport);
        status = (entry == NULL) ? UCS_ERR_NO_MEMORY
                                 : ucsi_config_read((*transport)->config,
                                                    app_prefix, entry->options);
        if (status != UCS_OK) {
            free((entry == NULL) ? NULL : entry->options);
            ucp_transport_config_release(config);
            return status;
        }
        ++config->count;
    }
    return UCS_OK;
}

ucs_status_t
ucp_transport_config_copy(const struct ucp_transport_config *config,
                          struct ucp_transport_config       *copy)
{
    struct ucp_transport_options *entry;
    ucs_status_t                  status;

    copy->count = 0;
    for (unsigned i = 0; i < config->count; ++i) {
        entry  = transport_config_next(copy, config->entries[i].transport);
        status = (entry == NULL) ? UCS_ERR_NO_MEMORY
                                 : ucsi_config_copy(entry->transport->config,
                                                    config->entries[i].options,
                                                    entry->options);
        if (status != UCS_OK) {
            free((entry == NULL) ? NULL : entry->options);
            ucp_transport_config_release(copy);
            return status;
        }
        ++copy->count;
    }
    return UCS_OK;
}

void ucp_transport_config_release(struct ucp_transport_config *config)
{
    while (config->count > 0) {
        struct ucp_transport_options *entry = &config->entries[--config->count];

        ucsi_config_release(entry->transport->config, entry->options);
        free(entry->options);
    }
}

ucs_status_t ucp_transport_config_set(struct ucp_transport_config *config,
                                      const char *name, const char *value)
{
    ucs_status_t status = UCS_ERR_NO_ELEM;

    for (unsigned i = 0; (i < config->count) && (status == UCS_ERR_NO_ELEM);
         ++i) {
        status = ucsi_config_set(config->entries[i].transport->config,
                                 config->entries[i].options, name, value);
    }
    return status;
}

void ucp_transport_config_print(const struct ucp_transport_config *config,
                                FILE *stream, unsigned flags)
{
    for (unsigned i = 0; i < config->count; ++i) {
        ucsi_config_print(stream, config->entries[i].transport->config,
                          config->entries[i].options, NULL, flags);
    }
}

const void *ucp_transport_config_find(const struct ucp_transport_config *config,
                                      const struct uct_transport *transport)
{
    for (unsigned i = 0; i < config->count; ++i) {
        if (config->entries[i].transport == transport) {
            return config->entries[i].options;
        }
    }
    return NULL;
}
