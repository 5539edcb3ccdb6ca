/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/timer.c - deadlines on a heap. */
#include "ucs/timer.h"

#include "ucs/assert.h"

void ucsi_timer_queue_init(struct ucs_timer_queue *queue)
{
    ucs_heap_init(&queue->heap);
    queue->horizon_ns = 0;
}

void ucsi_timer_queue_cleanup(struct ucs_timer_queue *queue)
{
    ucs_assert(queue->horizon_ns == 0);
    while (ucs_heap_pop(&queue->heap) != NULL) {
        /* a popped timer is a stopped one */
    }
}

void ucsi_timer_start(struct ucs_timer_queue *queue, struct ucs_timer *timer,
                      uint64_t deadline_ns)
{
    ucsi_timer_stop(queue, timer);
    timer->deadline_ns = deadline_ns;
    ucs_heap_push(&queue->heap, &timer->node,
                  ucs_max(deadline_ns, queue->horizon_ns));
}

void ucsi_timer_stop(struct ucs_timer_queue *queue, struct ucs_timer *timer)
{
    if (ucs_timer_is_started(timer)) {
        ucs_heap_remove(&queue->heap, &timer->node);
    }
}

unsigned ucsi_timer_queue_run(struct ucs_timer_queue *queue, uint64_t now_ns)
{
    unsigned          fired_count = 0;
    struct ucs_timer *timer;

    ucs_assert(queue->horizon_ns == 0); /* not from a timer's call */
    ucs_assert(now_ns < UINT64_MAX);
    queue->horizon_ns = now_ns + 1;
    while (ucs_timer_queue_deadline_ns(queue) <= now_ns) {
        timer = ucs_container_of(ucs_heap_pop(&queue->heap), struct ucs_timer,
                                 node);
        ++fired_count;
        timer->fn(timer, now_ns);
    }
    queue->horizon_ns = 0;
    return fired_count;
}
