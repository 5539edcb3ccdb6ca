/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_event.h - what happens at a moment of virtual time; embedded by
 * its owner. Those of one moment happen in the order in which they were set. */
#ifndef SIM_EVENT_H_
#define SIM_EVENT_H_

#include "ucs/heap.h"

struct sim_event {
    struct ucs_heap_node node; /* key: virtual ns */
    void (*fire)(struct sim_event *self);
};

static inline void sim_event_init(struct sim_event *event,
                                  void (*fire)(struct sim_event *self))
{
    ucs_heap_node_init(&event->node);
    event->fire = fire;
}

#endif
