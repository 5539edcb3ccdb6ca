/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/tag/index.h - tags hashed under a mask; the buckets keep arrival order.
 *
 *      (tag & mask) ---hash---> bucket: oldest, ..., newest
 *
 * On the data path: all but growing is inline. Pure. */
#ifndef UCP_TAG_INDEX_H_
#define UCP_TAG_INDEX_H_

#include "ucs/compiler.h"
#include "ucs/list.h"
#include "ucs/type/status.h"

enum {
    /* Buckets an index begins with; grows by 4 when half as many are in: with
     * 100,000 messages stored every other node in a bucket is a line that no
     * cache holds. */
    UCP_TAG_BUCKET_COUNT_MIN = 64
};

struct ucp_tag_node {
    struct ucs_list link;
    uint64_t        tag;
};

struct ucp_tag_index {
    uint64_t         mask;
    struct ucs_list *buckets;
    unsigned         shift;      /* 64 - log2(number of buckets) */
    size_t           count;      /* nodes inside */
    size_t           grow_count; /* grow when so many are inside */
};

/* @return UCS_OK, UCS_ERR_NO_MEMORY. */
UCS_MUST_USE ucs_status_t ucp_tag_index_init(struct ucp_tag_index *index,
                                             uint64_t              mask);
/* The nodes are not touched. */
void ucp_tag_index_cleanup(struct ucp_tag_index *index);
/* Four times the buckets; without memory for them the chains stay longer. */
void ucp_tag_index_grow(struct ucp_tag_index *index);

UCS_INLINE struct ucs_list *
ucp_tag_index_bucket(const struct ucp_tag_index *index, uint64_t tag)
{
    /* 2^64 divided by the golden ratio spreads neighbouring tags (Knuth,
     * TAOCP volume 3, 6.4). */
    return &index->buckets[((tag & index->mask) * 0x9e3779b97f4a7c15ull) >>
                           index->shift];
}

/* Will the next add look for more memory? */
UCS_INLINE bool ucp_tag_index_is_full(const struct ucp_tag_index *index)
{
    return index->count >= index->grow_count;
}

/* Add a node without growing. */
UCS_INLINE void ucp_tag_index_put(struct ucp_tag_index *index,
                                  struct ucp_tag_node *node, uint64_t tag)
{
    struct ucs_list *bucket = ucp_tag_index_bucket(index, tag);

    ++index->count;
    node->tag = tag;
    ucs_list_add_tail(bucket, &node->link);
}

UCS_INLINE void ucp_tag_index_add(struct ucp_tag_index *index,
                                  struct ucp_tag_node *node, uint64_t tag)
{
    if (ucs_unlikely(ucp_tag_index_is_full(index))) {
        ucp_tag_index_grow(index);
    }
    ucp_tag_index_put(index, node, tag);
}

UCS_INLINE void ucp_tag_index_remove(struct ucp_tag_index *index,
                                     struct ucp_tag_node  *node)
{
    --index->count;
    ucs_list_remove(&node->link);
}

/* The oldest node whose tag agrees under mask, which covers index->mask. */
UCS_INLINE struct ucp_tag_node *
ucp_tag_index_find(const struct ucp_tag_index *index, uint64_t tag,
                   uint64_t mask)
{
    struct ucp_tag_node *node;

    ucs_list_for_each (node, ucp_tag_index_bucket(index, tag), link) {
        if (ucs_likely(((node->tag ^ tag) & mask) == 0)) {
            return node;
        }
    }
    return NULL;
}

#endif
