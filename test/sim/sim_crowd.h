/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_crowd.h - many hosts at once. */
#ifndef SIM_CROWD_H_
#define SIM_CROWD_H_

#include "sim_flow.h"

/* Neighbours have met, so all have what a worker has once. Now all others meet,
 * speak and rest. Fail if an endpoint costs too much then; what the simulator
 * itself and the messages needed is not counted. */
void sim_crowd_run(struct sim_load *load);

#endif
