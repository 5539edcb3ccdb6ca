/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/heap.h - intrusive min-heap: the smallest key first, equal keys in the
 * order in which they were pushed.
 *
 * A pairing heap (Fredman, Sedgewick, Sleator, Tarjan 1986): push and min are
 * constant time, pop and remove logarithmic on average over a sequence of
 * them. The element embeds a struct ucs_heap_node; the heap owns nothing and
 * allocates nothing, so push cannot fail.
 *
 *     root -> [1]             down:  child
 *              |              right: sibling
 *             [4] -> [2] -> [7]
 *                     |
 *                    [3]      no node is before its parent
 *
 * Thread: none of its own; the owner of the heap serialises. */
#ifndef UCS_HEAP_H_
#define UCS_HEAP_H_

#include "ucs/assert.h"
#include "ucs/compiler.h"

struct ucs_heap_node {
    uint64_t               key;     /* smallest first; set by push */
    uint64_t               order;   /* number of the push; settles equal keys */
    struct ucs_heap_node  *child;   /* the first of those below; NULL: none */
    struct ucs_heap_node  *sibling; /* the next below the same parent */
    struct ucs_heap_node **link;    /* what points here; NULL: in no heap */
};

struct ucs_heap {
    struct ucs_heap_node *root;       /* NULL: empty */
    uint64_t              push_count; /* pushes so far, ever */
};

UCS_INLINE void ucs_heap_init(struct ucs_heap *heap)
{
    heap->root       = NULL;
    heap->push_count = 0;
}

/* Prepare a node once, before its first push. */
UCS_INLINE void ucs_heap_node_init(struct ucs_heap_node *node)
{
    node->link = NULL;
}

UCS_INLINE bool ucs_heap_is_empty(const struct ucs_heap *heap)
{
    return heap->root == NULL;
}

/* The node is in a heap. */
UCS_INLINE bool ucs_heap_node_is_in(const struct ucs_heap_node *node)
{
    return node->link != NULL;
}

/* The first node, left where it is. NULL when empty. */
UCS_INLINE struct ucs_heap_node *ucs_heap_min(const struct ucs_heap *heap)
{
    return heap->root;
}

UCS_INLINE bool ucs_heap_is_before_(const struct ucs_heap_node *a,
                                    const struct ucs_heap_node *b)
{
    return (a->key < b->key) || ((a->key == b->key) && (a->order < b->order));
}

/* Join two trees, of which either may be NULL; returns the root of both. Its
 * link and sibling are the caller's to set. */
static inline struct ucs_heap_node *ucs_heap_meld_(struct ucs_heap_node *a,
                                                   struct ucs_heap_node *b)
{
    struct ucs_heap_node *first, *second;

    if ((a == NULL) || (b == NULL)) {
        return (a == NULL) ? b : a;
    }
    first           = ucs_heap_is_before_(a, b) ? a : b;
    second          = (first == a) ? b : a;
    second->sibling = first->child;
    second->link    = &first->child;
    if (second->sibling != NULL) {
        second->sibling->link = &second->sibling;
    }
    first->child = second;
    return first;
}

/* Join a list of siblings to one tree: pairs from left to right, then the
 * pairs from right to left. The order of the two is what makes pop cheap. */
static inline struct ucs_heap_node *
ucs_heap_meld_siblings_(struct ucs_heap_node *node)
{
    struct ucs_heap_node *pairs = NULL; /* a stack through sibling */
    struct ucs_heap_node *all   = NULL;
    struct ucs_heap_node *partner, *rest;

    while (node != NULL) {
        partner       = node->sibling;
        rest          = (partner == NULL) ? NULL : partner->sibling;
        node          = ucs_heap_meld_(node, partner);
        node->sibling = pairs;
        pairs         = node;
        node          = rest;
    }
    while (pairs != NULL) {
        rest  = pairs->sibling;
        all   = ucs_heap_meld_(all, pairs);
        pairs = rest;
    }
    return all;
}

UCS_INLINE void ucs_heap_set_root_(struct ucs_heap      *heap,
                                   struct ucs_heap_node *root)
{
    heap->root = root;
    if (root != NULL) {
        root->link    = &heap->root;
        root->sibling = NULL;
    }
}

/* Put a node, which is in no heap, in. */
static inline void ucs_heap_push(struct ucs_heap      *heap,
                                 struct ucs_heap_node *node, uint64_t key)
{
    node->key     = key;
    node->order   = heap->push_count++;
    node->child   = NULL;
    node->sibling = NULL;
    ucs_heap_set_root_(heap, ucs_heap_meld_(heap->root, node));
}

/* Take a node of this heap out, wherever it is. */
static inline void ucs_heap_remove(struct ucs_heap      *heap,
                                   struct ucs_heap_node *node)
{
    struct ucs_heap_node *below = ucs_heap_meld_siblings_(node->child);

    ucs_assert(ucs_heap_node_is_in(node));
    *node->link = node->sibling;
    if (node->sibling != NULL) {
        node->sibling->link = node->link;
    }
    node->link = NULL;
    ucs_heap_set_root_(heap, ucs_heap_meld_(heap->root, below));
}

/* Take the first node out. NULL when empty. */
static inline struct ucs_heap_node *ucs_heap_pop(struct ucs_heap *heap)
{
    struct ucs_heap_node *node = heap->root;

    if (node != NULL) {
        ucs_heap_remove(heap, node);
    }
    return node;
}

#endif
