/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/ranges.h - a set of address ranges that may overlap, equal ones too.
 *
 *      [0x1000 ---------------------- 0x9000)
 *          [0x2000 -- 0x3000)    [0x7000 ------ 0xb000)
 *
 * "Which one covers these bytes?" and "which one touches them?" are the same
 * question, an upper bound for the start and a lower bound for the end, and
 * cost O(log n). Inside it is a treap: a search tree by start that random
 * priorities keep shallow; each node knows the largest end below it.
 *
 * Intrusive: the element embeds a struct ucs_range; nothing is allocated.
 * Thread: none of its own; the owner of the set serialises. */
#ifndef UCS_RANGES_H_
#define UCS_RANGES_H_

#include <stddef.h>
#include <stdint.h>

#include "ucs/compiler.h"

/* start, end  [start, end), not empty; set by the owner before add and left
 *             alone until remove; the rest is the set's */
struct ucs_range {
    uintptr_t         start;
    uintptr_t         end;
    uintptr_t         end_max; /* of this node and all below it */
    struct ucs_range *left;    /* starts before, or there too */
    struct ucs_range *right;
    uint32_t          priority; /* not above that of the parent */
};

struct ucs_ranges {
    struct ucs_range *root; /* NULL: empty */
    size_t            count;
    uint64_t          random; /* state of the generator of priorities */
};

UCS_EXPORT void ucsi_ranges_init(struct ucs_ranges *ranges);

UCS_EXPORT void ucsi_ranges_add(struct ucs_ranges *ranges,
                                struct ucs_range  *range);

/* Take out a range that is in the set. */
UCS_EXPORT void ucsi_ranges_remove(struct ucs_ranges *ranges,
                                   struct ucs_range  *range);

/* Is this the one? */
typedef bool (*ucs_range_accept_fn)(const struct ucs_range *range, void *arg);

/* Find a range that starts at start_max or before and ends at end_min or
 * behind, and that is accepted.
 * @param accept  NULL: any will do. It may not change the set.
 * @return the one with the lowest start; NULL: there is none. */
UCS_EXPORT struct ucs_range *
ucsi_ranges_find(const struct ucs_ranges *ranges, uintptr_t start_max,
                 uintptr_t end_min, ucs_range_accept_fn accept, void *arg);

/* A range that has all of [start, end). */
UCS_INLINE struct ucs_range *
ucs_ranges_covering(const struct ucs_ranges *ranges, uintptr_t start,
                    uintptr_t end, ucs_range_accept_fn accept, void *arg)
{
    return ucsi_ranges_find(ranges, start, end, accept, arg);
}

/* A range that has some of [start, end), which is not empty. */
UCS_INLINE struct ucs_range *
ucs_ranges_touching(const struct ucs_ranges *ranges, uintptr_t start,
                    uintptr_t end, ucs_range_accept_fn accept, void *arg)
{
    return ucsi_ranges_find(ranges, end - 1, start + 1, accept, arg);
}

#endif
