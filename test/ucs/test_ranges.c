/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ranges.c - a set of ranges that may overlap. */
#include "ucs/ranges.h"

#include "lib/test.h"
#include "ucs/suites.h"

enum { RANGE_COUNT = 200, SPACE = 1000, STEP_COUNT = 20000 };

static struct ucs_ranges ranges;

static void setup(const struct test_param *param)
{
    (void)param;
    ucsi_ranges_init(&ranges);
}

static void empty__finds_nothing(const struct test_param *param)
{
    (void)param;
    ck_assert_ptr_null(ucs_ranges_covering(&ranges, 0, 1, NULL, NULL));
    ck_assert_ptr_null(
        ucs_ranges_touching(&ranges, 0, UINTPTR_MAX, NULL, NULL));
}

/* Which queries find [10, 20). */
static void find__edges(const struct test_param *param)
{
    static const struct {
        uintptr_t start, end;
        bool      covers, touches;
    } rows[] = {
        {10, 20, true, true},   {10, 11, true, true},    {19, 20, true, true},
        {12, 15, true, true},   {9, 20, false, true},    {10, 21, false, true},
        {0, 10, false, false},  {9, 10, false, false},   {9, 11, false, true},
        {20, 21, false, false}, {19, 21, false, true},   {0, 100, false, true},
        {0, 1, false, false},   {99, 100, false, false},
    };
    struct ucs_range range = {.start = 10, .end = 20};

    (void)param;
    ucsi_ranges_add(&ranges, &range);
    for (size_t i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        ck_assert_ptr_eq(ucs_ranges_covering(&ranges, rows[i].start,
                                             rows[i].end, NULL, NULL),
                         rows[i].covers ? &range : NULL);
        ck_assert_ptr_eq(ucs_ranges_touching(&ranges, rows[i].start,
                                             rows[i].end, NULL, NULL),
                         rows[i].touches ? &range : NULL);
    }
}

static void find__ends_of_the_address_space(const struct test_param *param)
{
    struct ucs_range low  = {.start = 0, .end = 1};
    struct ucs_range high = {.start = UINTPTR_MAX - 1, .end = UINTPTR_MAX};

    (void)param;
    ucsi_ranges_add(&ranges, &low);
    ucsi_ranges_add(&ranges, &high);
    ck_assert_ptr_eq(ucs_ranges_touching(&ranges, 0, 1, NULL, NULL), &low);
    ck_assert_ptr_eq(ucs_ranges_touching(&ranges, 1, UINTPTR_MAX, NULL, NULL),
                     &high);
}

/* Ranges that are equal are different elements. */
static void remove__one_of_equals(const struct test_param *param)
{
    struct ucs_range equal[3];

    (void)param;
    for (int i = 0; i < 3; ++i) {
        equal[i].start = 5;
        equal[i].end   = 6;
        ucsi_ranges_add(&ranges, &equal[i]);
    }
    ucsi_ranges_remove(&ranges, &equal[1]);
    ck_assert_uint_eq(ranges.count, 2);
    ck_assert_ptr_ne(ucs_ranges_covering(&ranges, 5, 6, NULL, NULL), &equal[1]);
    ucsi_ranges_remove(&ranges, &equal[0]);
    ck_assert_ptr_eq(ucs_ranges_covering(&ranges, 5, 6, NULL, NULL), &equal[2]);
    ucsi_ranges_remove(&ranges, &equal[2]);
    ck_assert_ptr_null(ranges.root);
}

static bool is_wanted(const struct ucs_range *range, void *arg)
{
    return range == (const struct ucs_range *)arg;
}

/* The accept function is asked about every match until it says yes. */
static void find__asks_each(const struct test_param *param)
{
    struct ucs_range nested[10];

    (void)param;
    for (unsigned i = 0; i < 10; ++i) {
        nested[i].start = 10 - i;
        nested[i].end   = 100 + i;
        ucsi_ranges_add(&ranges, &nested[i]);
    }
    for (unsigned i = 0; i < 10; ++i) {
        ck_assert_ptr_eq(
            ucs_ranges_covering(&ranges, 50, 60, is_wanted, &nested[i]),
            &nested[i]);
        ck_assert_ptr_null(
            ucs_ranges_covering(&ranges, 0, 60, is_wanted, &nested[i]));
    }
}

/* What a list of all elements would find. */
struct model {
    struct ucs_range elements[RANGE_COUNT];
    bool             is_in[RANGE_COUNT];
};

static bool model_has(const struct model *model, uintptr_t start_max,
                      uintptr_t end_min)
{
    for (unsigned i = 0; i < RANGE_COUNT; ++i) {
        if (model->is_in[i] && (model->elements[i].start <= start_max) &&
            (model->elements[i].end >= end_min)) {
            return true;
        }
    }
    return false;
}

static void model_check(const struct model *model)
{
    uintptr_t               start = test_random_below(SPACE);
    uintptr_t               end   = start + 1 + test_random_below(SPACE / 10);
    const struct ucs_range *found;

    found = ucs_ranges_covering(&ranges, start, end, NULL, NULL);
    if (((found != NULL) != model_has(model, start, end)) ||
        ((found != NULL) && ((found->start > start) || (found->end < end)))) {
        ck_abort_msg("covering [%zu, %zu)", (size_t)start, (size_t)end);
    }
    found = ucs_ranges_touching(&ranges, start, end, NULL, NULL);
    if (((found != NULL) != model_has(model, end - 1, start + 1)) ||
        ((found != NULL) && ((found->start >= end) || (found->end <= start)))) {
        ck_abort_msg("touching [%zu, %zu)", (size_t)start, (size_t)end);
    }
}

static void random__as_a_list(const struct test_param *param)
{
    static struct model model;
    size_t              count = 0;

    (void)param;
    for (unsigned step = 0; step < STEP_COUNT; ++step) {
        unsigned          i     = (unsigned)test_random_below(RANGE_COUNT);
        struct ucs_range *range = &model.elements[i];

        if (model.is_in[i]) {
            ucsi_ranges_remove(&ranges, range);
            --count;
        } else {
            range->start = test_random_below(SPACE);
            range->end =
                range->start + 1 + test_random_below((i % 8 == 0) ? SPACE : 20);
            ucsi_ranges_add(&ranges, range);
            ++count;
        }
        model.is_in[i] = !model.is_in[i];
        ck_assert_uint_eq(ranges.count, count);
        model_check(&model);
    }
}

static unsigned depth_of(const struct ucs_range *node)
{
    return (node == NULL)
               ? 0
               : 1 + ucs_max(depth_of(node->left), depth_of(node->right));
}

/* Ascending starts, the worst for a plain tree, stay shallow. */
static void sorted__stays_shallow(const struct test_param *param)
{
    static struct ucs_range many[1 << 16];

    (void)param;
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(many); ++i) {
        many[i].start = 2 * (uintptr_t)i;
        many[i].end   = many[i].start + 1;
        ucsi_ranges_add(&ranges, &many[i]);
    }
    ck_assert_uint_le(depth_of(ranges.root), 60); /* 16 would be perfect */
}

static const struct test_case ranges_cases[] = {
    TEST(empty__finds_nothing),
    TEST(find__edges),
    TEST(find__ends_of_the_address_space),
    TEST(remove__one_of_equals),
    TEST(find__asks_each),
    TEST(random__as_a_list),
    TEST(sorted__stays_shallow),
    {0},
};

const struct test_suite ranges_suite = {
    .name = "ranges", .cases = ranges_cases, .setup = setup};
