/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/tag/index.c - making, growing and freeing a hash of tags. */
#include "ucp/tag/index.h"

#include <stdlib.h>

#include "ucs/log.h"

static struct ucs_list *buckets_create(unsigned shift)
{
    size_t           count   = (size_t)1 << (64 - shift);
    struct ucs_list *buckets = malloc(count * sizeof(*buckets));

    if (buckets == NULL) {
        (void)ucsi_no_memory("a hash of tags", count * sizeof(*buckets));
        return NULL;
    }
    for (size_t i = 0; i < count; ++i) {
        ucs_list_init(&buckets[i]);
    }
    return buckets;
}

ucs_status_t ucp_tag_index_init(struct ucp_tag_index *index, uint64_t mask)
{
    index->mask       = mask;
    index->shift      = 64 - __builtin_ctz(UCP_TAG_BUCKET_COUNT_MIN);
    index->count      = 0;
    index->grow_count = UCP_TAG_BUCKET_COUNT_MIN / 2;
    index->buckets    = buckets_create(index->shift);
    return (index->buckets == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
}

void ucp_tag_index_cleanup(struct ucp_tag_index *index)
{
    free(index->buckets);
    index->buckets = NULL;
}

void ucp_tag_index_grow(struct ucp_tag_index *index)
{
    struct ucp_tag_index bigger = *index;
    struct ucp_tag_node *node, *next;
    size_t               count = (size_t)1 << (64 - index->shift);

    index->grow_count *= 4; /* also if it fails: not at every add */
    bigger.grow_count = index->grow_count;
    bigger.shift      = index->shift - 2;
    bigger.buckets    = buckets_create(bigger.shift);
    if (bigger.buckets == NULL) {
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        ucs_list_for_each_safe (node, next, &index->buckets[i], link) {
            ucs_list_add_tail(ucp_tag_index_bucket(&bigger, node->tag),
                              &node->link);
        }
    }
    free(index->buckets);
    *index = bigger;
}
