/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/timer.h - calls that are due at a time.
 *
 * A queue of deadlines that knows no clock: the owner says what time it is.
 * Good for tens of timers with any deadlines (connections, keep-alive,
 * wake-ups). Thousands that mostly do not expire belong in a ucs/hotel.h.
 *
 * Times are nanoseconds of one clock of the owner's choice; UINT64_MAX is
 * never.
 *
 * Thread: none of its own; the owner of the queue serialises. */
#ifndef UCS_TIMER_H_
#define UCS_TIMER_H_

#include "ucs/compiler.h"
#include "ucs/heap.h"

struct ucs_timer;

/* The timer is due. It is stopped when this is called, and may be started
 * again or freed; any other timer may be started or stopped too.
 * @param now_ns  What the owner gave to run. */
typedef void (*ucs_timer_fn)(struct ucs_timer *self, uint64_t now_ns);

struct ucs_timer {
    struct ucs_heap_node node;
    uint64_t             deadline_ns; /* as given to start */
    ucs_timer_fn         fn;
};

struct ucs_timer_queue {
    struct ucs_heap heap; /* key: when to fire, not before horizon_ns */
    /* While run runs: timers started now are due after this, so that run
     * ends. Else 0. */
    uint64_t horizon_ns;
};

UCS_EXPORT void ucsi_timer_queue_init(struct ucs_timer_queue *queue);

/* Stop all timers. Not from a timer's call. */
UCS_EXPORT void ucsi_timer_queue_cleanup(struct ucs_timer_queue *queue);

/* Prepare a timer once, before its first start. */
UCS_INLINE void ucs_timer_init(struct ucs_timer *timer, ucs_timer_fn fn)
{
    ucs_heap_node_init(&timer->node);
    timer->deadline_ns = UINT64_MAX;
    timer->fn          = fn;
}

UCS_INLINE bool ucs_timer_is_started(const struct ucs_timer *timer)
{
    return ucs_heap_node_is_in(&timer->node);
}

/* Call timer->fn in the first run at or after deadline_ns. A timer of this
 * queue that is started already is moved. Timers with equal deadlines fire in
 * the order of their starts. One that is started by a timer's call does not
 * fire in the same run: if it is due, it waits for a run with a later time.
 *
 * The timer is lent until it fires or is stopped. Constant time. */
UCS_EXPORT void ucsi_timer_start(struct ucs_timer_queue *queue,
                                 struct ucs_timer *timer, uint64_t deadline_ns);

/* Take a timer out of this queue; harmless if it is not started. */
UCS_EXPORT void ucsi_timer_stop(struct ucs_timer_queue *queue,
                                struct ucs_timer       *timer);

/* Fire all timers that are due at now_ns, earliest deadline first. A now_ns
 * before that of an earlier run is harmless. Not from a timer's call.
 *
 * @return How many fired. */
UCS_EXPORT unsigned ucsi_timer_queue_run(struct ucs_timer_queue *queue,
                                         uint64_t                now_ns);

/* When to run next; UINT64_MAX when no timer is started. */
UCS_INLINE uint64_t
ucs_timer_queue_deadline_ns(const struct ucs_timer_queue *queue)
{
    const struct ucs_heap_node *node = ucs_heap_min(&queue->heap);

    return (node == NULL) ? UINT64_MAX : node->key;
}

#endif
