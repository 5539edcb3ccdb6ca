/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_barrier.h - fences that the kernel runs on others' processors.
 *
 * Who sleeps calls membarrier, so that those who do not sleep need no fence
 * of their own (docs/adr/0014). It reaches processes that registered. That
 * takes a microsecond while a process has one thread; with more, the kernel
 * waits until every processor has switched once: 10 to 20 ms. So a thread of
 * its own does it then, and who sends meanwhile fences (docs/adr/0038). */
#ifndef UCT_SM_BARRIER_H_
#define UCT_SM_BARRIER_H_

#include <stdbool.h>

enum uct_sm_barrier_state {
    UCT_SM_BARRIER_NONE,  /* nobody asked */
    UCT_SM_BARRIER_ASKED, /* not yet, see above */
    UCT_SM_BARRIER_REACHES_US,
    UCT_SM_BARRIER_IMPOSSIBLE,
};

/* Register this process; for every interface that opens, from any thread. */
void uct_sm_barrier_begin(void);
/* An interface closes: no thread of ours is left, whoever unloads us. */
void                      uct_sm_barrier_end(void);
enum uct_sm_barrier_state uct_sm_barrier_state(void);

/* Can we order other processes? */
bool uct_sm_barrier_is_there(void);
/* Fence every processor on which a registered process runs. */
void uct_sm_barrier_call(void);

#endif
