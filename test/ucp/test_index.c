/* SPDX-License-Identifier: BSD-3-Clause */
/* test_index.c - src/ucp/tag/index.c: growing keeps every node, and the order
 * of arrival of equal tags. */
#include "ucp/tag/index.h"

#include "lib/test.h"
#include "ucp/suites.h"

enum { NODES = 20000, TAGS = 500 };

struct node {
    struct ucp_tag_node base;
    unsigned            number;
};

static struct node nodes[NODES];

/* Take out the oldest with that tag under the mask; NULL: none. */
static struct node *take(struct ucp_tag_index *index, uint64_t tag)
{
    struct ucp_tag_node *found = ucp_tag_index_find(index, tag, index->mask);

    if (found == NULL) {
        return NULL;
    }
    ucp_tag_index_remove(index, found);
    return ucs_container_of(found, struct node, base);
}

static void check_grows(uint64_t mask, uint64_t ignored)
{
    struct ucp_tag_index index;
    unsigned             next[TAGS] = {0};
    unsigned             shift;

    ck_assert_int_eq(ucp_tag_index_init(&index, mask), UCS_OK);
    shift = index.shift;
    for (unsigned i = 0; i < NODES; ++i) {
        nodes[i].number = i;
        ucp_tag_index_add(&index, &nodes[i].base,
                          (i % TAGS) | (test_random() & ignored));
    }
    ck_assert_uint_eq(index.count, NODES);
    ck_assert_uint_lt(index.shift, shift); /* more buckets than before */
    for (unsigned i = 0; i < NODES; ++i) {
        unsigned     tag      = (unsigned)test_random_below(TAGS);
        struct node *node     = take(&index, tag | (test_random() & ignored));
        unsigned     expected = tag + TAGS * next[tag];

        if (expected >= NODES) {
            ck_assert_ptr_null(node);
            continue;
        }
        ck_assert_ptr_nonnull(node);
        ck_assert_uint_eq(node->number, expected);
        ++next[tag];
    }
    ucp_tag_index_cleanup(&index);
}

static void index__keeps_order_while_it_grows(const struct test_param *param)
{
    (void)param;
    check_grows(UINT64_MAX, 0);
}

static void index__looks_under_its_mask_only(const struct test_param *param)
{
    (void)param;
    check_grows(0xffff, ~UINT64_C(0xffff));
}

static void index__empty(const struct test_param *param)
{
    struct ucp_tag_index index;

    (void)param;
    ck_assert_int_eq(ucp_tag_index_init(&index, UINT64_MAX), UCS_OK);
    ck_assert_ptr_null(ucp_tag_index_find(&index, 0, UINT64_MAX));
    ck_assert_ptr_null(ucp_tag_index_find(&index, UINT64_MAX, UINT64_MAX));
    ucp_tag_index_grow(&index);
    ck_assert_ptr_null(ucp_tag_index_find(&index, 1, UINT64_MAX));
    ucp_tag_index_cleanup(&index);
    ucp_tag_index_cleanup(&index); /* nothing is left to free */
}

static const struct test_case index_cases[] = {
    TEST(index__keeps_order_while_it_grows),
    TEST(index__looks_under_its_mask_only),
    TEST(index__empty),
    {0},
};

const struct test_suite index_suite = {.name = "index", .cases = index_cases};
