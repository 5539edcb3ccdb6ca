/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/tag/match.h - which message belongs to which receive.
 *
 *   a message with tag t matches a receive (tag, mask)
 *   when ((t ^ tag) & mask) == 0; the oldest on either side wins.
 *
 *   expected    receives that wait, grouped by mask: each class hashes
 *               (tag & mask), so an arriving message probes one bucket in
 *               each class in use and takes the oldest of what it finds
 *   unexpected  messages that wait, in three orders at once: by whole tag,
 *               by the sender's bits of the tag, and by arrival
 *
 * So exact and fully wild receives cost the same with any number waiting, and
 * a masked one walks its sender's bucket only. Pure: no request, no endpoint,
 * no callback; the caller embeds the two structs. See docs/adr/0004. */
#ifndef UCP_TAG_MATCH_H_
#define UCP_TAG_MATCH_H_

#include "ucp/tag/index.h"

enum ucp_tag_match_limit {
    /* Masks in use at one time before receives fall back to one list; MPI
     * uses at most four. */
    UCP_TAG_CLASS_COUNT_MAX = 8,
    /* Cache lines of a stored message that are fetched ahead: the struct that
     * embeds ucp_tag_unexpected, and a few bytes of data. */
    UCP_TAG_FETCH_LINES = 4,
};

/* A receive that waits; embedded by the caller. */
struct ucp_tag_expected {
    struct ucp_tag_node   node;
    uint64_t              mask;
    uint64_t              sequence;
    struct ucp_tag_index *index; /* NULL: in the list of the others */
};

/* A message that waits; embedded by the caller. */
struct ucp_tag_unexpected {
    struct ucp_tag_node exact;
    struct ucp_tag_node sender;
    struct ucs_list     arrival;
};

struct ucp_tag_match {
    uint64_t             next_sequence;
    unsigned             class_count;
    struct ucp_tag_index classes[UCP_TAG_CLASS_COUNT_MAX];
    struct ucs_list      others; /* expected, by age */
    size_t               others_count;

    size_t               unexpected_count;
    struct ucp_tag_index exact;
    struct ucp_tag_index sender; /* mask 0: not known yet, unused */
    struct ucs_list      arrivals;
};

/* @param sender_mask  The bits of a tag that name its sender, 0: learn them
 *                     from the first masked receive.
 * @return UCS_OK, UCS_ERR_NO_MEMORY. */
UCS_MUST_USE ucs_status_t ucp_tag_match_init(struct ucp_tag_match *match,
                                             uint64_t              sender_mask);
/* Nothing inside is touched: the caller has taken out what it needs. */
void ucp_tag_match_cleanup(struct ucp_tag_match *match);

/* The rare cases of the functions below: another mask than the last one, or
 * several in use. */
void ucp_tag_match_expect_slow(struct ucp_tag_match    *match,
                               struct ucp_tag_expected *expected, uint64_t tag,
                               uint64_t mask);
void ucp_tag_match_unexpect_other(struct ucp_tag_match    *match,
                                  struct ucp_tag_expected *expected);
struct ucp_tag_expected *ucp_tag_match_arrived_slow(struct ucp_tag_match *match,
                                                    uint64_t              tag);

/* Does a receive with this mask go into the first class, without growing? */
UCS_INLINE bool ucp_tag_match_is_class0(const struct ucp_tag_match *match,
                                        uint64_t                    mask)
{
    return (match->class_count > 0) && (match->classes[0].mask == mask) &&
           !ucp_tag_index_is_full(&match->classes[0]);
}

/* The same as ucp_tag_match_expect() while is_class0. */
UCS_INLINE void ucp_tag_match_expect_class0(struct ucp_tag_match    *match,
                                            struct ucp_tag_expected *expected,
                                            uint64_t tag, uint64_t mask)
{
    expected->mask     = mask;
    expected->sequence = match->next_sequence++;
    expected->index    = &match->classes[0];
    ucp_tag_index_put(&match->classes[0], &expected->node, tag);
}

/* Let a receive wait behind all earlier ones. */
UCS_INLINE void ucp_tag_match_expect(struct ucp_tag_match    *match,
                                     struct ucp_tag_expected *expected,
                                     uint64_t tag, uint64_t mask)
{
    if (ucs_likely(ucp_tag_match_is_class0(match, mask))) {
        ucp_tag_match_expect_class0(match, expected, tag, mask);
    } else {
        ucp_tag_match_expect_slow(match, expected, tag, mask);
    }
}

/* Take a receive out again. */
UCS_INLINE void ucp_tag_match_unexpect(struct ucp_tag_match    *match,
                                       struct ucp_tag_expected *expected)
{
    if (ucs_likely(expected->index != NULL)) {
        ucp_tag_index_remove(expected->index, &expected->node);
    } else {
        ucp_tag_match_unexpect_other(match, expected);
    }
}

/* Have all receives that wait, and those before, one mask? */
UCS_INLINE bool ucp_tag_match_is_plain(const struct ucp_tag_match *match)
{
    return (match->class_count == 1) && (match->others_count == 0);
}

/* The same as ucp_tag_match_arrived() while is_plain. */
UCS_INLINE struct ucp_tag_expected *
ucp_tag_match_arrived_plain(struct ucp_tag_match *match, uint64_t tag)
{
    struct ucp_tag_index *index = &match->classes[0];
    struct ucp_tag_node  *node  = ucp_tag_index_find(index, tag, index->mask);

    if (ucs_unlikely(node == NULL)) {
        return NULL;
    }
    ucp_tag_index_remove(index, node);
    return ucs_container_of(node, struct ucp_tag_expected, node);
}

/* A message arrived: take out the oldest receive that it matches, or NULL. */
UCS_INLINE struct ucp_tag_expected *
ucp_tag_match_arrived(struct ucp_tag_match *match, uint64_t tag)
{
    if (ucs_likely(ucp_tag_match_is_plain(match))) {
        return ucp_tag_match_arrived_plain(match, tag);
    }
    return ucp_tag_match_arrived_slow(match, tag);
}

/* Let a message wait behind all earlier ones. */
void ucp_tag_match_store(struct ucp_tag_match      *match,
                         struct ucp_tag_unexpected *unexpected, uint64_t tag);
void ucp_tag_match_remove(struct ucp_tag_match      *match,
                          struct ucp_tag_unexpected *unexpected);

/* The oldest message that matches, left where it is, or NULL. */
struct ucp_tag_unexpected *ucp_tag_match_find(struct ucp_tag_match *match,
                                              uint64_t tag, uint64_t mask);

#endif
