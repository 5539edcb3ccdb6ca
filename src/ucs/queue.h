/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/queue.h - intrusive first-in first-out queue, singly linked.
 *
 *     head -> elem -> elem -> elem -> (undefined)
 *                               ^
 *     ptail --- points to its next, or to head when empty
 *
 * One word per element. The last next pointer is never read, so push does not
 * write it. Because ptail may point into the queue itself, a queue must not be
 * copied or moved.
 *
 * Thread: none of its own; the owner of the queue serialises. */
#ifndef UCS_QUEUE_H_
#define UCS_QUEUE_H_

#include "ucs/compiler.h"

/* The link inside an element. */
struct ucs_queue_elem {
    struct ucs_queue_elem *next; /* undefined in the last element */
};

struct ucs_queue {
    struct ucs_queue_elem  *head;  /* undefined when empty */
    struct ucs_queue_elem **ptail; /* where the next push writes */
};

UCS_INLINE void ucs_queue_init(struct ucs_queue *queue)
{
    queue->head  = NULL;
    queue->ptail = &queue->head;
}

UCS_INLINE bool ucs_queue_is_empty(const struct ucs_queue *queue)
{
    return queue->ptail == &queue->head;
}

UCS_INLINE void ucs_queue_push(struct ucs_queue      *queue,
                               struct ucs_queue_elem *elem)
{
    *queue->ptail = elem;
    queue->ptail  = &elem->next;
}

/* Put elem before all others: it is the next to be pulled. */
UCS_INLINE void ucs_queue_push_head(struct ucs_queue      *queue,
                                    struct ucs_queue_elem *elem)
{
    if (ucs_queue_is_empty(queue)) {
        queue->ptail = &elem->next;
    }
    elem->next  = queue->head;
    queue->head = elem;
}

/* The element that was pushed first, left where it is. NULL when empty. */
UCS_INLINE struct ucs_queue_elem *ucs_queue_head(const struct ucs_queue *queue)
{
    return ucs_queue_is_empty(queue) ? NULL : queue->head;
}

/* The same; the queue is not empty. */
UCS_INLINE struct ucs_queue_elem *ucs_queue_first(const struct ucs_queue *queue)
{
    return queue->head;
}

/* Take out the element that was pushed first. NULL when empty. */
UCS_INLINE struct ucs_queue_elem *ucs_queue_pull(struct ucs_queue *queue)
{
    struct ucs_queue_elem *elem = ucs_queue_head(queue);

    if (elem != NULL) {
        if (queue->ptail == &elem->next) {
            queue->ptail = &queue->head;
        } else {
            queue->head = elem->next;
        }
    }
    return elem;
}

/* Move all elements of source, in order, behind those of queue. */
UCS_INLINE void ucs_queue_splice(struct ucs_queue *queue,
                                 struct ucs_queue *source)
{
    if (!ucs_queue_is_empty(source)) {
        *queue->ptail = source->head;
        queue->ptail  = source->ptail;
        ucs_queue_init(source);
    }
}

/* Take out the element to which *position points: the queue's head, or the
 * next pointer of the element before it. *position is then the one behind, so
 * a walk that removed does not step. */
UCS_INLINE void ucs_queue_remove_at(struct ucs_queue       *queue,
                                    struct ucs_queue_elem **position)
{
    struct ucs_queue_elem *elem = *position;

    if (queue->ptail == &elem->next) {
        queue->ptail = position;
    } else {
        *position = elem->next;
    }
}

#define ucs_queue_elem_(_link, _elem, _member)                                 \
    ucs_container_of(_link, __typeof__(*(_elem)), _member)

/* Walk from head to tail; the body may not change the queue. */
#define ucs_queue_for_each(_elem, _queue, _member)                             \
    for (struct ucs_queue_elem *const *_elem##_position = &(_queue)->head;     \
         (_elem##_position != (_queue)->ptail) &&                              \
         (((_elem) = ucs_queue_elem_(*_elem##_position, _elem, _member)),      \
          true);                                                               \
         _elem##_position = &(*_elem##_position)->next)

/* The same; the body may remove the current element with
 * ucs_queue_remove_at(queue, position) and then free it. _position, a struct
 * ucs_queue_elem ** of the caller, steps only when the body did not remove. */
#define ucs_queue_for_each_safe(_elem, _position, _queue, _member)             \
    for (uintptr_t _elem##_link = (uintptr_t)((_position) = &(_queue)->head);  \
         ((_position) != (_queue)->ptail) &&                                   \
         (_elem##_link = (uintptr_t) * (_position),                            \
         (_elem)       = ucs_queue_elem_(*(_position), _elem, _member), true);       \
         (_position) = ucs_queue_step_(_queue, _position, _elem##_link))

/* After the body for the element at link: stay when it was removed, else
 * step. A number, because the element may be freed. */
UCS_INLINE struct ucs_queue_elem **
ucs_queue_step_(const struct ucs_queue *queue, struct ucs_queue_elem **position,
                uintptr_t link)
{
    bool removed = (position == queue->ptail) || ((uintptr_t)*position != link);

    return removed ? position : &(*position)->next;
}

#endif
