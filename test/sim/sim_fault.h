/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_fault.h - what happens to processes and endpoints while they
 * talk. */
#ifndef SIM_FAULT_H_
#define SIM_FAULT_H_

#include "sim_flow.h"

/* Let the faults of the plan happen at their time. */
void sim_fault_begin(struct sim_load *load);
/* Nobody is stopped or dies any more: all close; who is away comes back. */
void sim_fault_end(struct sim_load *load);
void sim_fault_cleanup(struct sim_load *load);

/* The host runs: go on with an endpoint that is being closed.
 * @return did anything move? */
bool sim_fault_step(struct sim_load *load, struct sim_host *host);

#endif
