/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/worker_config.h - the endpoint configurations of a worker: one
 * selection table for all endpoints that have the same lanes. */
#ifndef UCP_CORE_WORKER_CONFIG_H_
#define UCP_CORE_WORKER_CONFIG_H_

#include "ucp/core/worker.h"

/* What the protocols are asked for endpoints of a configuration; the caller
 * sets mode, dt_class and piece_bytes. */
struct ucp_query ucp_worker_config_query(const struct ucp_worker    *worker,
                                         const struct ucp_ep_config *config);

/* Is this the first call for that configuration? */
bool ucp_worker_config_is_new(struct ucp_worker          *worker,
                              const struct ucp_ep_config *config);

/* Free all of them; no endpoints are left. */
void ucp_worker_configs_cleanup(struct ucp_worker *worker);

#endif
