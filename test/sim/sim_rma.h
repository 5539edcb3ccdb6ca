/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_rma.h - puts, gets and atomics of flows, against a model.
 *
 *   flow, at the target:   counter | slot 0 | slot 1 | slot 2
 *
 *   a round: puts of chance bytes into slots --> flush --> they are there -->
 *            gets of them, the same bytes --> atomic adds --> the counter is
 *            the sum, what they fetched are its steps
 *
 * Nobody else touches the bytes of a flow, so what is there is known at all
 * times. Some rounds put to memory that is there no more: such a put may not
 * say that it went well. The public API has no puts yet, so they go by the
 * endpoint below it (uct). */
#ifndef SIM_RMA_H_
#define SIM_RMA_H_

#include "sim_flow.h"

/* Memory for the flows to a host that has started; it goes away before the
 * process does. */
void sim_rma_open(struct sim_load *load, unsigned host);
void sim_rma_close(struct sim_load *load, unsigned host);

/* A flow gets its bytes, and begins some day. */
void sim_rma_begin(struct load_flow *flow);

/* The host runs: go on. @return did anything move? */
bool sim_rma_step(struct sim_load *load, struct sim_host *host);

/* Are all rounds over, or has an operation failed? */
bool sim_rma_is_over(const struct load_flow *flow);

/* In the end: fail if a counter is not what was added to it. */
void sim_rma_check(const struct sim_load *load);

#endif
