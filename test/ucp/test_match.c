/* SPDX-License-Identifier: BSD-3-Clause */
/* test_match.c - src/ucp/tag/match.c: order, masks, many, and a model. */
#include "ucp/tag/match.h"

#include <stdlib.h>

#include "lib/test.h"
#include "ucp/suites.h"

static const uint64_t match_all = UINT64_MAX;

static void match_setup(struct ucp_tag_match *match, uint64_t sender_mask)
{
    ck_assert_int_eq(ucp_tag_match_init(match, sender_mask), UCS_OK);
}

static void expect__oldest_of_all_masks_wins(const struct test_param *param)
{
    struct ucp_tag_match    match;
    struct ucp_tag_expected wild, masked, exact;

    (void)param;
    match_setup(&match, 0);
    ucp_tag_match_expect(&match, &wild, 0, 0);
    ucp_tag_match_expect(&match, &exact, 0x1234, match_all);
    ucp_tag_match_expect(&match, &masked, 0x1200, 0xff00);
    ck_assert_ptr_eq(ucp_tag_match_arrived(&match, 0x1234), &wild);
    ck_assert_ptr_eq(ucp_tag_match_arrived(&match, 0x1234), &exact);
    ck_assert_ptr_eq(ucp_tag_match_arrived(&match, 0x1234), &masked);
    ck_assert_ptr_null(ucp_tag_match_arrived(&match, 0x1234));
    ucp_tag_match_cleanup(&match);
}

static void expect__more_masks_than_classes(const struct test_param *param)
{
    enum { COUNT = UCP_TAG_CLASS_COUNT_MAX + 4 };
    struct ucp_tag_match    match;
    struct ucp_tag_expected expected[COUNT];

    (void)param;
    match_setup(&match, 0);
    for (int i = 0; i < COUNT; ++i) {
        ucp_tag_match_expect(&match, &expected[i], UINT64_MAX,
                             (uint64_t)1 << i);
    }
    ucp_tag_match_unexpect(&match, &expected[COUNT - 1]);
    for (int i = 0; i < COUNT - 1; ++i) {
        ck_assert_ptr_eq(ucp_tag_match_arrived(&match, UINT64_MAX),
                         &expected[i]);
    }
    ck_assert_ptr_null(ucp_tag_match_arrived(&match, UINT64_MAX));
    ucp_tag_match_cleanup(&match);
}

static void expect__empty_class_takes_a_new_mask(const struct test_param *param)
{
    struct ucp_tag_match    match;
    struct ucp_tag_expected expected;

    (void)param;
    match_setup(&match, 0);
    for (uint64_t mask = 1; mask < 100; ++mask) {
        ucp_tag_match_expect(&match, &expected, mask, mask);
        ck_assert_ptr_nonnull(expected.index);
        ck_assert_ptr_eq(ucp_tag_match_arrived(&match, mask), &expected);
    }
    ck_assert_uint_eq(match.class_count, 1);
    ucp_tag_match_cleanup(&match);
}

static void find__arrival_order(const struct test_param *param)
{
    struct ucp_tag_match      match;
    struct ucp_tag_unexpected first, second;

    (void)param;
    match_setup(&match, 0xff00);
    ucp_tag_match_store(&match, &first, 0x1201);
    ucp_tag_match_store(&match, &second, 0x1202);
    ck_assert_ptr_eq(ucp_tag_match_find(&match, 0x1202, match_all), &second);
    ck_assert_ptr_eq(ucp_tag_match_find(&match, 0x1200, 0xff00), &first);
    ck_assert_ptr_eq(ucp_tag_match_find(&match, 0x0002, 0x00ff), &second);
    ck_assert_ptr_eq(ucp_tag_match_find(&match, 0, 0), &first);
    ck_assert_ptr_null(ucp_tag_match_find(&match, 0x1300, 0xff00));
    ucp_tag_match_remove(&match, &first);
    ck_assert_ptr_eq(ucp_tag_match_find(&match, 0, 0), &second);
    ucp_tag_match_remove(&match, &second);
    ck_assert_ptr_null(ucp_tag_match_find(&match, 0, 0));
    ucp_tag_match_cleanup(&match);
}

static void find__learns_the_sender_bits(const struct test_param *param)
{
    struct ucp_tag_match      match;
    struct ucp_tag_unexpected stored[3];

    (void)param;
    match_setup(&match, 0);
    ucp_tag_match_store(&match, &stored[0], 0x1201);
    ucp_tag_match_store(&match, &stored[1], 0x1302);
    ck_assert_ptr_eq(ucp_tag_match_find(&match, 0x1300, 0xff00), &stored[1]);
    ck_assert_ptr_nonnull(match.sender.buckets);
    ucp_tag_match_store(&match, &stored[2], 0x1303);
    ck_assert_ptr_eq(ucp_tag_match_find(&match, 0x1303, 0xffff), &stored[2]);
    ucp_tag_match_remove(&match, &stored[1]);
    ck_assert_ptr_eq(ucp_tag_match_find(&match, 0x1300, 0xff00), &stored[2]);
    ucp_tag_match_cleanup(&match);
}

static void store__chains_stay_short(const struct test_param *param)
{
    enum { COUNT = 100000 };
    struct ucp_tag_unexpected *stored = calloc(COUNT, sizeof(*stored));
    struct ucp_tag_match       match;
    struct ucs_list           *bucket;
    size_t                     longest = 0, length;

    (void)param;
    ck_assert_ptr_nonnull(stored);
    match_setup(&match, 0);
    for (uint64_t i = 0; i < COUNT; ++i) {
        ucp_tag_match_store(&match, &stored[i], i << 20);
    }
    for (size_t i = 0; i < ((size_t)1 << (64 - match.exact.shift)); ++i) {
        bucket  = &match.exact.buckets[i];
        length  = ucs_list_count(bucket);
        longest = (length > longest) ? length : longest;
    }
    ck_assert_uint_le(longest, 16);
    ck_assert_ptr_eq(ucp_tag_match_find(&match, 77777ull << 20, match_all),
                     &stored[77777]);
    ucp_tag_match_cleanup(&match);
    free(stored);
}

/* ---- The model: two arrays searched from the oldest on. ---- */

enum { MODEL_COUNT = 200, MODEL_STEPS = 20000 };

struct model_entry {
    bool                      is_used;
    uint64_t                  age;
    uint64_t                  tag;
    uint64_t                  mask;
    struct ucp_tag_expected   expected;
    struct ucp_tag_unexpected unexpected;
};

static struct model_entry *model_oldest(struct model_entry *entries,
                                        uint64_t tag, uint64_t mask)
{
    struct model_entry *oldest = NULL;

    for (int i = 0; i < MODEL_COUNT; ++i) {
        struct model_entry *entry = &entries[i];

        if (entry->is_used &&
            (((entry->tag ^ tag) & mask & entry->mask) == 0) &&
            ((oldest == NULL) || (entry->age < oldest->age))) {
            oldest = entry;
        }
    }
    return oldest;
}

static struct model_entry *model_free(struct model_entry *entries)
{
    struct model_entry *entry = &entries[test_random_below(MODEL_COUNT)];

    return entry->is_used ? NULL : entry;
}

static uint64_t model_mask(void)
{
    static const uint64_t masks[] = {UINT64_MAX, UINT64_MAX, 0,    0xf,
                                     0xf0,       0xff,       0x30, 0xfff};

    return (test_random_below(8) == 0) ? test_random()
                                       : masks[test_random_below(8)];
}

/* A receive is posted: it takes a stored message, or waits. */
static void model_post(struct ucp_tag_match *match, struct model_entry *posted,
                       struct model_entry *stored, uint64_t age)
{
    uint64_t                   tag   = test_random_below(256);
    uint64_t                   mask  = model_mask();
    struct model_entry        *want  = model_oldest(stored, tag, mask);
    struct ucp_tag_unexpected *found = ucp_tag_match_find(match, tag, mask);
    struct model_entry        *entry;

    if (found != ((want == NULL) ? NULL : &want->unexpected)) {
        ck_abort_msg("find: tag %lx mask %lx", tag, mask);
    }
    if (found != NULL) {
        ucp_tag_match_remove(match, found);
        want->is_used = false;
        return;
    }
    entry = model_free(posted);
    if (entry != NULL) {
        *entry = (struct model_entry){
            .is_used = true, .age = age, .tag = tag, .mask = mask};
        ucp_tag_match_expect(match, &entry->expected, tag, mask);
    }
}

/* A message arrives: it is taken by a receive, or waits. */
static void model_arrive(struct ucp_tag_match *match,
                         struct model_entry *posted, struct model_entry *stored,
                         uint64_t age)
{
    uint64_t                 tag   = test_random_below(256);
    struct model_entry      *want  = model_oldest(posted, tag, UINT64_MAX);
    struct ucp_tag_expected *found = ucp_tag_match_arrived(match, tag);
    struct model_entry      *entry;

    if (found != ((want == NULL) ? NULL : &want->expected)) {
        ck_abort_msg("arrived: tag %lx", tag);
    }
    if (found != NULL) {
        want->is_used = false;
        return;
    }
    entry = model_free(stored);
    if (entry != NULL) {
        *entry = (struct model_entry){
            .is_used = true, .age = age, .tag = tag, .mask = UINT64_MAX};
        ucp_tag_match_store(match, &entry->unexpected, tag);
    }
}

static void model__random_posts_and_arrivals(const struct test_param *param)
{
    static struct model_entry posted[MODEL_COUNT], stored[MODEL_COUNT];
    struct ucp_tag_match      match;
    struct model_entry       *entry;

    (void)param;
    match_setup(&match, (test_random_below(2) == 0) ? 0 : 0xf0);
    for (uint64_t age = 0; age < MODEL_STEPS; ++age) {
        switch (test_random_below(5)) {
        case 0:
        case 1:
            model_post(&match, posted, stored, age);
            break;
        case 2:
        case 3:
            model_arrive(&match, posted, stored, age);
            break;
        default:
            entry = &posted[test_random_below(MODEL_COUNT)];
            if (entry->is_used) {
                ucp_tag_match_unexpect(&match, &entry->expected);
                entry->is_used = false;
            }
        }
    }
    ucp_tag_match_cleanup(&match);
}

static const struct test_case match_cases[] = {
    TEST(expect__oldest_of_all_masks_wins),
    TEST(expect__more_masks_than_classes),
    TEST(expect__empty_class_takes_a_new_mask),
    TEST(find__arrival_order),
    TEST(find__learns_the_sender_bits),
    TEST(store__chains_stay_short),
    TEST(model__random_posts_and_arrivals),
    {0},
};

const struct test_suite match_suite = {.name = "match", .cases = match_cases};
