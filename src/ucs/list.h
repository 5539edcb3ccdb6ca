/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/list.h - intrusive doubly linked list.
 *
 *        .----------------------------------------.
 *        '-> head <-> first <-> ... <-> last <-> (head)
 *
 * A ring through the head: an empty list is a head that points to itself, and
 * no operation needs a branch. The element embeds a struct ucs_list; the list
 * owns nothing and allocates nothing.
 *
 * Thread: none of its own; the owner of the list serialises. */
#ifndef UCS_LIST_H_
#define UCS_LIST_H_

#include "ucs/compiler.h"

/* A head, or the link inside an element. */
struct ucs_list {
    struct ucs_list *prev; /* of a head: the last element, or the head */
    struct ucs_list *next; /* of a head: the first element, or the head */
};

/* The value of a head (or link) named _name, for static initialisation. */
#define UCS_LIST_INITIALIZER(_name)                                            \
    {                                                                          \
        &(_name), &(_name)                                                     \
    }

/* Make an empty list; or a link that may be removed without being on a
 * list. */
UCS_INLINE void ucs_list_init(struct ucs_list *head)
{
    head->prev = head;
    head->next = head;
}

UCS_INLINE bool ucs_list_is_empty(const struct ucs_list *head)
{
    return head->next == head;
}

/* Put elem, which is on no list, between two neighbours. */
UCS_INLINE void ucs_list_link_(struct ucs_list *prev, struct ucs_list *elem,
                               struct ucs_list *next)
{
    elem->prev = prev;
    elem->next = next;
    prev->next = elem;
    next->prev = elem;
}

UCS_INLINE void ucs_list_add_head(struct ucs_list *head, struct ucs_list *elem)
{
    ucs_list_link_(head, elem, head->next);
}

UCS_INLINE void ucs_list_add_tail(struct ucs_list *head, struct ucs_list *elem)
{
    ucs_list_link_(head->prev, elem, head);
}

/* Put elem before another element of a list. */
UCS_INLINE void ucs_list_add_before(struct ucs_list *position,
                                    struct ucs_list *elem)
{
    ucs_list_link_(position->prev, elem, position);
}

/* Take elem off its list. Its links stay as they were: init or add it before
 * it is removed again. */
UCS_INLINE void ucs_list_remove(struct ucs_list *elem)
{
    elem->prev->next = elem->next;
    elem->next->prev = elem->prev;
}

/* Move all elements of source, in order, behind those of head. */
UCS_INLINE void ucs_list_splice_tail(struct ucs_list *head,
                                     struct ucs_list *source)
{
    if (!ucs_list_is_empty(source)) {
        source->next->prev = head->prev;
        source->prev->next = head;
        head->prev->next   = source->next;
        head->prev         = source->prev;
        ucs_list_init(source);
    }
}

/* Count the elements, by walking: for tests and reports. */
UCS_INLINE size_t ucs_list_count(const struct ucs_list *head)
{
    const struct ucs_list *link;
    size_t                 count = 0;

    for (link = head->next; link != head; link = link->next) {
        ++count;
    }
    return count;
}

/* First and last element of a list that is not empty, typed. */
#define ucs_list_first(_head, _type, _member)                                  \
    ucs_container_of((_head)->next, _type, _member)
#define ucs_list_last(_head, _type, _member)                                   \
    ucs_container_of((_head)->prev, _type, _member)

/* The element behind _elem, which is not the last one. */
#define ucs_list_next(_elem, _member)                                          \
    ucs_container_of((_elem)->_member.next, __typeof__(*(_elem)), _member)

/* Walk from first to last; the body may not remove _elem. After a walk that
 * was not left by break, _elem is not an element. */
#define ucs_list_for_each(_elem, _head, _member)                               \
    for ((_elem) = ucs_list_first(_head, __typeof__(*(_elem)), _member);       \
         &(_elem)->_member != (_head);                                         \
         (_elem) = ucs_list_next(_elem, _member))

/* The same; the body may remove _elem, but not _next. */
#define ucs_list_for_each_safe(_elem, _next, _head, _member)                   \
    for ((_elem) = ucs_list_first(_head, __typeof__(*(_elem)), _member),       \
        (_next)  = ucs_list_next(_elem, _member);                              \
         &(_elem)->_member != (_head);                                         \
         (_elem) = (_next), (_next) = ucs_list_next(_elem, _member))

#endif
