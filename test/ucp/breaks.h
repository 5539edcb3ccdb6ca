/* SPDX-License-Identifier: BSD-3-Clause */
/* breaks.h - break a scenario once per arrow and per way, and look at what is
 * left: no hang, no leak, the right status on both sides, no buffer touched
 * after its request completed, ids that nobody gave counted. */
#ifndef TEST_UCP_BREAKS_H_
#define TEST_UCP_BREAKS_H_

#include "ucp/play.h"

/* Play each unbroken; the last has no name. Its arrows are those of the
 * drawing, both ends complete as it says. Fails the test. */
void scenarios_are_as_drawn(const struct scenario  *scenarios,
                            const struct play_wire *wire);

/* Break each in every way that means something there (ways.h) at each of its
 * first 30 arrows, the last one's arrival included. Copies and lies are about
 * answers only: other arrows have none. Fails the test with what was found.
 * BREAKS=name limits it to one way, BREAKS_VERBOSE=1 tells each. */
void scenarios_survive(const struct scenario  *scenarios,
                       const struct play_wire *wire);

#endif
