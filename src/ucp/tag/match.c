/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/tag/match.c - expected and unexpected queues. */
#include "ucp/tag/match.h"

ucs_status_t ucp_tag_match_init(struct ucp_tag_match *match,
                                uint64_t              sender_mask)
{
    ucs_status_t status;

    match->next_sequence    = 0;
    match->class_count      = 0;
    match->others_count     = 0;
    match->unexpected_count = 0;
    match->sender.buckets   = NULL;
    match->sender.mask      = 0;
    ucs_list_init(&match->others);
    ucs_list_init(&match->arrivals);

    status = ucp_tag_index_init(&match->exact, UINT64_MAX);
    if ((status == UCS_OK) && (sender_mask != 0)) {
        status = ucp_tag_index_init(&match->sender, sender_mask);
        if (status != UCS_OK) {
            ucp_tag_index_cleanup(&match->exact);
        }
    }
    return status;
}

void ucp_tag_match_cleanup(struct ucp_tag_match *match)
{
    for (unsigned i = 0; i < match->class_count; ++i) {
        ucp_tag_index_cleanup(&match->classes[i]);
    }
    ucp_tag_index_cleanup(&match->sender);
    ucp_tag_index_cleanup(&match->exact);
}

/* A class for a mask that none in use has: an empty one is given the new
 * mask, else one is added. NULL when all are in use or memory is short. */
static UCS_NOINLINE struct ucp_tag_index *
match_class_new(struct ucp_tag_match *match, uint64_t mask)
{
    struct ucp_tag_index *index;

    for (unsigned i = 0; i < match->class_count; ++i) {
        if (match->classes[i].count == 0) {
            match->classes[i].mask = mask;
            return &match->classes[i];
        }
    }
    if (match->class_count == UCP_TAG_CLASS_COUNT_MAX) {
        return NULL;
    }
    index = &match->classes[match->class_count];
    if (ucp_tag_index_init(index, mask) != UCS_OK) {
        return NULL;
    }
    ++match->class_count;
    return index;
}

static struct ucp_tag_index *match_class(struct ucp_tag_match *match,
                                         uint64_t              mask)
{
    for (unsigned i = 0; i < match->class_count; ++i) {
        if (match->classes[i].mask == mask) {
            return &match->classes[i];
        }
    }
    return match_class_new(match, mask);
}

void ucp_tag_match_expect_slow(struct ucp_tag_match    *match,
                               struct ucp_tag_expected *expected, uint64_t tag,
                               uint64_t mask)
{
    expected->node.tag = tag;
    expected->mask     = mask;
    expected->sequence = match->next_sequence++;
    expected->index    = match_class(match, mask);
    if (expected->index != NULL) {
        ucp_tag_index_add(expected->index, &expected->node, tag);
    } else {
        ucs_list_add_tail(&match->others, &expected->node.link);
        ++match->others_count;
    }
}

void ucp_tag_match_unexpect_other(struct ucp_tag_match    *match,
                                  struct ucp_tag_expected *expected)
{
    ucs_list_remove(&expected->node.link);
    --match->others_count;
}

/* The oldest of those without a class that the tag matches, or NULL. */
static UCS_NOINLINE struct ucp_tag_expected *
match_find_other(struct ucp_tag_match *match, uint64_t tag)
{
    struct ucp_tag_expected *expected;

    ucs_list_for_each (expected, &match->others, node.link) {
        if (((expected->node.tag ^ tag) & expected->mask) == 0) {
            return expected;
        }
    }
    return NULL;
}

struct ucp_tag_expected *ucp_tag_match_arrived_slow(struct ucp_tag_match *match,
                                                    uint64_t              tag)
{
    struct ucp_tag_expected *oldest = NULL;
    struct ucp_tag_expected *found;
    struct ucp_tag_node     *node;

    for (unsigned i = 0; i < match->class_count; ++i) {
        if (match->classes[i].count == 0) {
            continue;
        }
        node =
            ucp_tag_index_find(&match->classes[i], tag, match->classes[i].mask);
        if (node == NULL) {
            continue;
        }
        found = ucs_container_of(node, struct ucp_tag_expected, node);
        if ((oldest == NULL) || (found->sequence < oldest->sequence)) {
            oldest = found;
        }
    }
    if (ucs_unlikely(match->others_count > 0)) {
        found = match_find_other(match, tag);
        if ((found != NULL) &&
            ((oldest == NULL) || (found->sequence < oldest->sequence))) {
            oldest = found;
        }
    }
    if (oldest != NULL) {
        ucp_tag_match_unexpect(match, oldest);
    }
    return oldest;
}

void ucp_tag_match_store(struct ucp_tag_match      *match,
                         struct ucp_tag_unexpected *unexpected, uint64_t tag)
{
    ucp_tag_index_add(&match->exact, &unexpected->exact, tag);
    if (match->sender.buckets != NULL) {
        ucp_tag_index_add(&match->sender, &unexpected->sender, tag);
    }
    ucs_list_add_tail(&match->arrivals, &unexpected->arrival);
    ++match->unexpected_count;
}

/* The oldest message leaves, and receives of whatever comes first take the
 * next ones in turn: fetch the lines of the second, and the neighbours of the
 * first, whose links were fetched in the turn before. */
UCS_INLINE void match_fetch_ahead(const struct ucs_list *first)
{
    const struct ucp_tag_unexpected *next =
        ucs_container_of(first, struct ucp_tag_unexpected, arrival);
    const char *second = (const char *)ucs_container_of(
        first->next, struct ucp_tag_unexpected, arrival);

    ucs_prefetch_write(next->exact.link.prev);
    ucs_prefetch_write(next->exact.link.next);
    for (unsigned line = 0; line < UCP_TAG_FETCH_LINES; ++line) {
        ucs_prefetch_write(second + ((size_t)line * UCS_CACHE_LINE_BYTES));
    }
}

void ucp_tag_match_remove(struct ucp_tag_match      *match,
                          struct ucp_tag_unexpected *unexpected)
{
    if ((unexpected->arrival.prev == &match->arrivals) &&
        (unexpected->arrival.next != &match->arrivals)) {
        match_fetch_ahead(unexpected->arrival.next);
    }
    ucp_tag_index_remove(&match->exact, &unexpected->exact);
    if (match->sender.buckets != NULL) {
        ucp_tag_index_remove(&match->sender, &unexpected->sender);
    }
    ucs_list_remove(&unexpected->arrival);
    --match->unexpected_count;
}

/* The first masked receive tells which bits name a sender. */
static UCS_NOINLINE void match_learn_sender(struct ucp_tag_match *match,
                                            uint64_t              mask)
{
    struct ucp_tag_unexpected *unexpected;

    if (ucp_tag_index_init(&match->sender, mask) != UCS_OK) {
        return; /* masked receives keep walking all arrivals */
    }
    ucs_list_for_each (unexpected, &match->arrivals, arrival) {
        ucp_tag_index_add(&match->sender, &unexpected->sender,
                          unexpected->exact.tag);
    }
}

struct ucp_tag_unexpected *ucp_tag_match_find(struct ucp_tag_match *match,
                                              uint64_t tag, uint64_t mask)
{
    struct ucp_tag_unexpected *unexpected;
    struct ucp_tag_node       *node;

    if (match->unexpected_count == 0) {
        return NULL;
    }
    if (mask == UINT64_MAX) {
        node = ucp_tag_index_find(&match->exact, tag, mask);
        return (node == NULL)
                   ? NULL
                   : ucs_container_of(node, struct ucp_tag_unexpected, exact);
    }
    if ((match->sender.buckets == NULL) && (mask != 0)) {
        match_learn_sender(match, mask);
    }
    if ((match->sender.buckets != NULL) &&
        ((mask & match->sender.mask) == match->sender.mask)) {
        node = ucp_tag_index_find(&match->sender, tag, mask);
        return (node == NULL)
                   ? NULL
                   : ucs_container_of(node, struct ucp_tag_unexpected, sender);
    }
    ucs_list_for_each (unexpected, &match->arrivals, arrival) {
        if (((unexpected->exact.tag ^ tag) & mask) == 0) {
            return unexpected;
        }
    }
    return NULL;
}
