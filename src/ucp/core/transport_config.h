/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/transport_config.h - the settings of all transports, read with the
 * caller's prefix and handed to their interfaces. */
#ifndef UCP_CORE_TRANSPORT_CONFIG_H_
#define UCP_CORE_TRANSPORT_CONFIG_H_

#include <stdio.h>

#include "ucs/config.h"

struct uct_transport;

enum { UCP_TRANSPORT_COUNT_MAX = 32 };

/* options  [table->struct_bytes], owned */
struct ucp_transport_options {
    const struct uct_transport *transport;
    void                       *options;
};

struct ucp_transport_config {
    unsigned                     count;
    struct ucp_transport_options entries[UCP_TRANSPORT_COUNT_MAX];
};

/* Read the settings of every transport that has some.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM: a value is bad, one line said which;
 *         UCS_ERR_NO_MEMORY. Then there is nothing to release. */
UCS_MUST_USE ucs_status_t ucp_transport_config_read(
    const char *app_prefix, struct ucp_transport_config *config);
UCS_MUST_USE ucs_status_t
     ucp_transport_config_copy(const struct ucp_transport_config *config,
                               struct ucp_transport_config       *copy);
void ucp_transport_config_release(struct ucp_transport_config *config);

/* Change one setting.
 * @return as ucsi_config_set(); UCS_ERR_NO_ELEM: no transport has it. */
UCS_MUST_USE ucs_status_t ucp_transport_config_set(
    struct ucp_transport_config *config, const char *name, const char *value);

void ucp_transport_config_print(const struct ucp_transport_config *config,
                                FILE *stream, unsigned flags);

/* The options of one transport, NULL if it has none. */
const void *ucp_transport_config_find(const struct ucp_transport_config *config,
                                      const struct uct_transport *transport);

#endif
