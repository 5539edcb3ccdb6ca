/* SPDX-License-Identifier: BSD-3-Clause */
/* test_heap.c - intrusive min-heap. */
#include "ucs/heap.h"

#include "ucs/random_model.h"
#include "ucs/suites.h"

enum { NODE_COUNT = 1000 };

static struct ucs_heap      heap;
static struct ucs_heap_node nodes[NODE_COUNT];

static void setup(const struct test_param *param)
{
    int i;

    (void)param;
    ucs_heap_init(&heap);
    for (i = 0; i < NODE_COUNT; ++i) {
        ucs_heap_node_init(&nodes[i]);
    }
}

static void empty__has_no_min(const struct test_param *param)
{
    (void)param;
    ck_assert(ucs_heap_is_empty(&heap));
    ck_assert_ptr_null(ucs_heap_min(&heap));
    ck_assert_ptr_null(ucs_heap_pop(&heap));
}

static void pop__smallest_first(const struct test_param *param)
{
    static const uint64_t keys[]  = {5, UINT64_MAX, 0, 7, 1};
    static const int      order[] = {2, 4, 0, 3, 1};
    size_t                i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(keys); ++i) {
        ucs_heap_push(&heap, &nodes[i], keys[i]);
        ck_assert(ucs_heap_node_is_in(&nodes[i]));
    }
    for (i = 0; i < UCS_ARRAY_COUNT(keys); ++i) {
        ck_assert_ptr_eq(ucs_heap_min(&heap), &nodes[order[i]]);
        ck_assert_ptr_eq(ucs_heap_pop(&heap), &nodes[order[i]]);
        ck_assert(!ucs_heap_node_is_in(&nodes[order[i]]));
    }
    ck_assert(ucs_heap_is_empty(&heap));
}

static void pop__equal_keys_in_order(const struct test_param *param)
{
    int i;

    (void)param;
    for (i = 0; i < NODE_COUNT; ++i) {
        ucs_heap_push(&heap, &nodes[i], (uint64_t)i % 3);
    }
    for (i = 0; i < NODE_COUNT; ++i) {
        int expected =
            (i < 334) ? 3 * i
                      : ((i < 667) ? 3 * (i - 334) + 1 : 3 * (i - 667) + 2);

        ck_assert_ptr_eq(ucs_heap_pop(&heap), &nodes[expected]);
    }
}

static void remove__first_last_inner(const struct test_param *param)
{
    int i;

    (void)param;
    for (i = 0; i < 10; ++i) {
        ucs_heap_push(&heap, &nodes[i], (uint64_t)i);
    }
    ck_assert_ptr_eq(ucs_heap_pop(&heap), &nodes[0]); /* gives it a shape */
    ucs_heap_remove(&heap, &nodes[1]);
    ucs_heap_remove(&heap, &nodes[5]);
    ucs_heap_remove(&heap, &nodes[9]);
    ck_assert(!ucs_heap_node_is_in(&nodes[5]));
    ucs_heap_push(&heap, &nodes[5], 100);
    for (i = 2; i < 9; ++i) {
        if (i != 5) {
            ck_assert_ptr_eq(ucs_heap_pop(&heap), &nodes[i]);
        }
    }
    ck_assert_ptr_eq(ucs_heap_pop(&heap), &nodes[5]);
    ck_assert(ucs_heap_is_empty(&heap));
}

static void random__like_a_search(const struct test_param *param)
{
    (void)param;
    run_random_model(model_heap, 1000);
}

static const struct test_case cases[] = {
    TEST(empty__has_no_min),        TEST(pop__smallest_first),
    TEST(pop__equal_keys_in_order), TEST(remove__first_last_inner),
    TEST(random__like_a_search),    {0}};

const struct test_suite heap_suite = {"heap", cases, NULL, setup, NULL};
