/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_speed.h - how fast this machine copies, for the cost model.
 *
 * Which is faster, messages that two processors copy through chunks or one
 * system call that copies from process to process, differs between machines by
 * a factor of five. So it is measured, once per process, in about 0.1 ms
 * (docs/adr/0027); settings override it. */
#ifndef UCT_SM_SPEED_H_
#define UCT_SM_SPEED_H_

#include <stdint.h>

#include "uct/sm/sm_options.h"

/* chunk_Bps       a long message through chunks, copied by both processors
 * cma_Bps         a long put or get, where the kernel allows them
 * cma_overhead_s  of each put or get */
struct uct_sm_speed {
    double chunk_Bps;
    double cma_Bps;
    double cma_overhead_s;
};

/* What the settings say, and for the rest what was measured. */
struct uct_sm_speed uct_sm_speed(const struct uct_sm_options *options);

#endif
