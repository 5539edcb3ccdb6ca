/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_verdict.h - whoever has something for a host that is away for
 * longer than the bound knows soon after the bound that it is dead. */
#ifndef SIM_VERDICT_H_
#define SIM_VERDICT_H_

#include "sim_flow.h"

/* Look at all that the plan lets be away for so long: who is stopped, and what
 * is cut on all rails. */
void sim_verdict_begin(struct sim_load *load);
/* That host was killed, now. */
void sim_verdict_killed(struct sim_load *load, unsigned host);
void sim_verdict_cleanup(struct sim_load *load);

#endif
