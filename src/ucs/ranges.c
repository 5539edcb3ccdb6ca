/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/ranges.c - the treap behind ucs/ranges.h.
 *
 * split() and merge() are recursive. Their depth follows from priorities that
 * we draw ourselves, never from the ranges: about 2.5 log2(count). */
#include "ucs/ranges.h"

#include "ucs/assert.h"

void ucsi_ranges_init(struct ucs_ranges *ranges)
{
    ranges->root   = NULL;
    ranges->count  = 0;
    ranges->random = 0x9e3779b97f4a7c15ull; /* any but 0 */
}

/* Marsaglia's xorshift64 (Journal of Statistical Software 8/14, 2003). */
static uint32_t priority_next(struct ucs_ranges *ranges)
{
    uint64_t value = ranges->random;

    value ^= value << 13;
    value ^= value >> 7;
    value ^= value << 17;
    ranges->random = value;
    return (uint32_t)(value >> 32);
}

/* Order by start; ranges of one start by their place in memory, so that the
 * order is total and a range can be found again. */
static bool is_before(const struct ucs_range *a, const struct ucs_range *b)
{
    return (a->start != b->start) ? (a->start < b->start) : (a < b);
}

static void update_end_max(struct ucs_range *node)
{
    node->end_max = node->end;
    if (node->left != NULL) {
        node->end_max = ucs_max(node->end_max, node->left->end_max);
    }
    if (node->right != NULL) {
        node->end_max = ucs_max(node->end_max, node->right->end_max);
    }
}

/* Cut a tree in what is before `at` and the rest. */
static void split(struct ucs_range *node, const struct ucs_range *at,
                  struct ucs_range **before_p, struct ucs_range **rest_p)
{
    if (node == NULL) {
        *before_p = NULL;
        *rest_p   = NULL;
        return;
    }
    if (is_before(node, at)) {
        split(node->right, at, &node->right, rest_p);
        *before_p = node;
    } else {
        split(node->left, at, before_p, &node->left);
        *rest_p = node;
    }
    update_end_max(node);
}

/* Join two trees; everything in a is before everything in b. */
static struct ucs_range *merge(struct ucs_range *a, struct ucs_range *b)
{
    if ((a == NULL) || (b == NULL)) {
        return (a == NULL) ? b : a;
    }
    if (a->priority >= b->priority) {
        a->right = merge(a->right, b);
        update_end_max(a);
        return a;
    }
    b->left = merge(a, b->left);
    update_end_max(b);
    return b;
}

void ucsi_ranges_add(struct ucs_ranges *ranges, struct ucs_range *range)
{
    struct ucs_range *before, *rest;

    ucs_assert(range->start < range->end);
    range->left     = NULL;
    range->right    = NULL;
    range->end_max  = range->end;
    range->priority = priority_next(ranges);
    split(ranges->root, range, &before, &rest);
    ranges->root = merge(merge(before, range), rest);
    ++ranges->count;
}

/* The tree without range, which is in it. */
static struct ucs_range *without(struct ucs_range       *node,
                                 const struct ucs_range *range)
{
    ucs_assert(node != NULL);
    if (node == range) {
        return merge(node->left, node->right);
    }
    if (is_before(range, node)) {
        node->left = without(node->left, range);
    } else {
        node->right = without(node->right, range);
    }
    update_end_max(node);
    return node;
}

void ucsi_ranges_remove(struct ucs_ranges *ranges, struct ucs_range *range)
{
    ranges->root = without(ranges->root, range);
    --ranges->count;
}

/* What is looked for. */
struct query {
    uintptr_t           start_max;
    uintptr_t           end_min;
    ucs_range_accept_fn accept;
    void               *arg;
};

static bool matches(const struct ucs_range *node, const struct query *query)
{
    return (node->start <= query->start_max) && (node->end >= query->end_min) &&
           ((query->accept == NULL) || query->accept(node, query->arg));
}

static struct ucs_range *find(struct ucs_range *node, const struct query *query)
{
    struct ucs_range *found;

    while ((node != NULL) && (node->end_max >= query->end_min)) {
        found = find(node->left, query);
        if (found != NULL) {
            return found;
        }
        if (matches(node, query)) {
            return node;
        }
        node = (node->start <= query->start_max) ? node->right : NULL;
    }
    return NULL;
}

struct ucs_range *ucsi_ranges_find(const struct ucs_ranges *ranges,
                                   uintptr_t start_max, uintptr_t end_min,
                                   ucs_range_accept_fn accept, void *arg)
{
    const struct query query = {.start_max = start_max,
                                .end_min   = end_min,
                                .accept    = accept,
                                .arg       = arg};

    return find(ranges->root, &query);
}
