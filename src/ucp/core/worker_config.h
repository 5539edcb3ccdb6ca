/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/worker_config.h - the endpoint configurations of a worker: one
 * selection table for all endpoints that have the same lanes. */
#ifndef UCP_CORE_WORKER_CONFIG_H_
#define UCP_CORE_WORKER_CONFIG_H_

#include "ucp/core/worker.h"

/* Free all of them; no endpoints are left. */
void ucp_worker_configs_cleanup(struct ucp_worker *worker);

#endif
