/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_judge.h - looks at a load from outside: is it over, does
 * something wait too long, what waits for ever. */
#ifndef SIM_JUDGE_H_
#define SIM_JUDGE_H_

#include "sim_flow.h"

/* Is everything of that flow decided? */
bool sim_judge_flow_is_over(const struct load_flow *flow);
/* Of all flows? */
bool sim_judge_is_over(struct sim_load *load);

/* Fail if no packet flew for long although somebody waits for one: a timer
 * idles the link. Only where the plan itself keeps nobody waiting. */
void sim_judge_check_idle(const struct sim_load *load);

/* Fail if less arrived on a flow than the plan asks for. */
void sim_judge_check_goodput(const struct sim_load *load);

/* Note how large the pools of interfaces are; in the end, fail if they ever
 * were larger than what may be on its way at a time explains. */
void sim_judge_note_pools(struct sim_load *load);
void sim_judge_check_pools(const struct sim_load *load);

/* From now on fail if a worker that ends has not put back what its transports
 * took from their pools. */
void sim_judge_listen(void);

/* Fail, with a line for each flow that hangs. */
void sim_judge_say_what_waits(const struct sim_load *load);

#endif
