/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_load.h - the application on every host, and the judge.
 *
 *   flow: host a sends messages 0, 1, 2 ... of one tag to host b, which
 *         receives them; size and content follow from flow and number
 *
 * Every message must arrive once, in order, bit-exact; or the endpoint fails,
 * where the plan allows it, within its bound, and everything pending on it
 * completes with an error. */
#ifndef SIM_LOAD_H_
#define SIM_LOAD_H_

#include "sim_plan.h"
#include "sim_world.h"

struct sim_load;

enum sim_trace { SIM_TRACE_NONE, SIM_TRACE_EVENTS, SIM_TRACE_PACKETS };

/* Run a plan from start to end. @return false: something is wrong, it was
 * said on standard error. */
bool sim_load_run(const struct sim_plan *plan, enum sim_trace trace);

#endif
