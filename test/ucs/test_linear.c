/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linear.c - cost lines and their lower envelope. */
#include "ucs/linear.h"

#include "ucs/suites.h"

enum { ROW_COUNT = 64 };

static struct ucs_envelope_row rows[ROW_COUNT];
static unsigned                row_count;

static void envelope(const struct ucs_piecewise *first,
                     const struct ucs_piecewise *second,
                     const struct ucs_piecewise *third)
{
    const struct ucs_piecewise *functions[3] = {first, second, third};

    row_count = ROW_COUNT;
    ck_assert_int_eq(ucsi_piecewise_envelope(functions, (third != NULL) ? 3 : 2,
                                             rows, &row_count),
                     UCS_OK);
}

static void expect_row(unsigned row, size_t size_bytes_max, unsigned index)
{
    ck_assert_uint_lt(row, row_count);
    ck_assert_uint_eq(rows[row].size_bytes_max, size_bytes_max);
    ck_assert_uint_eq(rows[row].index, index);
}

static void linear__cost_add_scale(const struct test_param *param)
{
    struct ucs_linear line =
        ucs_linear_add(ucs_linear(1, 0.5), ucs_linear(2, 0.25));

    (void)param;
    ck_assert_double_eq(ucs_linear_cost(line, 0), 3);
    ck_assert_double_eq(ucs_linear_cost(line, 4), 6);
    ck_assert_double_eq(ucs_linear_cost(ucs_linear_scale(line, 2), 4), 12);
    ck_assert_double_infinite(
        ucs_linear_cost(ucs_linear_add(line, UCS_LINEAR_NEVER), 4));
}

static void crossing__table(const struct test_param *param)
{
    (void)param;
    ck_assert_double_eq(
        ucsi_linear_crossing(ucs_linear(0, 2), ucs_linear(10, 1)), 10);
    ck_assert_double_eq(
        ucsi_linear_crossing(ucs_linear(10, 1), ucs_linear(0, 2)), 10);
    ck_assert_double_eq(
        ucsi_linear_crossing(ucs_linear(5, 1), ucs_linear(5, 2)), 0);
    ck_assert_double_infinite(
        ucsi_linear_crossing(ucs_linear(0, 1), ucs_linear(10, 2)));
    ck_assert_double_infinite(
        ucsi_linear_crossing(ucs_linear(0, 1), ucs_linear(10, 1)));
    ck_assert_double_infinite(
        ucsi_linear_crossing(ucs_linear(0, 1), ucs_linear(0, 1)));
    ck_assert_double_infinite(
        ucsi_linear_crossing(ucs_linear(0, 1), UCS_LINEAR_NEVER));
}

static void set(struct ucs_piecewise *function, size_t first, size_t last,
                double base_s)
{
    ck_assert_int_eq(
        ucsi_piecewise_set(function, first, last, ucs_linear(base_s, 0)),
        UCS_OK);
}

static void set__splits_and_joins(const struct test_param *param)
{
    struct ucs_piecewise function;

    (void)param;
    ucsi_piecewise_init(&function, ucs_linear(1, 0));
    set(&function, 100, 199, 2);
    ck_assert_uint_eq(function.count, 3);
    ck_assert_double_eq(ucsi_piecewise_at(&function, 99).base_s, 1);
    ck_assert_double_eq(ucsi_piecewise_at(&function, 100).base_s, 2);
    ck_assert_double_eq(ucsi_piecewise_at(&function, 199).base_s, 2);
    ck_assert_double_eq(ucsi_piecewise_at(&function, 200).base_s, 1);
    ck_assert_double_eq(ucsi_piecewise_at(&function, SIZE_MAX).base_s, 1);
    set(&function, 150, 299, 3); /* over the end of a piece */
    ck_assert_uint_eq(function.count, 4);
    ck_assert_double_eq(ucsi_piecewise_at(&function, 149).base_s, 2);
    ck_assert_double_eq(ucsi_piecewise_at(&function, 299).base_s, 3);
    set(&function, 100, 299, 1); /* as it was */
    ck_assert_uint_eq(function.count, 1);
    set(&function, 0, SIZE_MAX, 4);
    ck_assert_uint_eq(function.count, 1);
    ck_assert_double_eq(ucsi_piecewise_at(&function, 7).base_s, 4);
}

static void set__errors_change_nothing(const struct test_param *param)
{
    struct ucs_piecewise function;
    size_t               i;

    (void)param;
    ucsi_piecewise_init(&function, ucs_linear(1, 0));
    ck_assert_int_eq(ucsi_piecewise_set(&function, 2, 1, UCS_LINEAR_NEVER),
                     UCS_ERR_INVALID_PARAM);
    for (i = 0; i + 1 < UCS_PIECEWISE_COUNT_MAX; ++i) {
        set(&function, i, i, 10.0 + (double)i);
    }
    ck_assert_uint_eq(function.count, UCS_PIECEWISE_COUNT_MAX);
    ck_assert_int_eq(
        ucsi_piecewise_set(&function, 1000, 1000, UCS_LINEAR_NEVER),
        UCS_ERR_EXCEEDS_LIMIT);
    ck_assert_uint_eq(function.count, UCS_PIECEWISE_COUNT_MAX);
    ck_assert_double_eq(ucsi_piecewise_at(&function, 1000).base_s, 1);
}

/* The same against an array of 64 sizes. */
static void set__random_like_an_array(const struct test_param *param)
{
    double               costs[64];
    struct ucs_piecewise function;
    size_t               first, last, i;
    int                  step;

    (void)param;
    ucsi_piecewise_init(&function, ucs_linear(0, 0));
    for (i = 0; i < 64; ++i) {
        costs[i] = 0;
    }
    for (step = 0; step < 2000; ++step) {
        double cost = (double)test_random_below(3);

        first = test_random_below(64);
        last  = first + test_random_below(64 - first);
        if (ucsi_piecewise_set(&function, first, last, ucs_linear(cost, 0)) ==
            UCS_OK) {
            for (i = first; i <= last; ++i) {
                costs[i] = cost;
            }
        }
        for (i = 0; i < 64; ++i) {
            if (ucsi_piecewise_at(&function, i).base_s != costs[i]) {
                ck_abort_msg("size %zu in step %d", i, step);
            }
        }
        ck_assert_uint_eq(function.pieces[function.count - 1].size_bytes_max,
                          SIZE_MAX);
    }
}

static void envelope__two_lines(const struct test_param *param)
{
    struct ucs_piecewise small, large;

    (void)param;
    ucsi_piecewise_init(&small, ucs_linear(1e-6, 1e-9));
    ucsi_piecewise_init(&large, ucs_linear(3e-6, 0.5e-9));
    envelope(&small, &large, NULL); /* they cross at 4000 */
    ck_assert_uint_eq(row_count, 2);
    ck_assert_uint_ge(rows[0].size_bytes_max, 3999);
    ck_assert_uint_le(rows[0].size_bytes_max, 4000);
    expect_row(0, rows[0].size_bytes_max, 0);
    expect_row(1, SIZE_MAX, 1);
}

static void envelope__never_best_is_no_row(const struct test_param *param)
{
    struct ucs_piecewise best, worse, same;

    (void)param;
    ucsi_piecewise_init(&best, ucs_linear(1, 1));
    ucsi_piecewise_init(&worse, ucs_linear(2, 1));
    same = best;
    envelope(&worse, &best, &same); /* of equals the first */
    ck_assert_uint_eq(row_count, 1);
    expect_row(0, SIZE_MAX, 1);
}

static void envelope__limited_ranges(const struct test_param *param)
{
    struct ucs_piecewise tiny, middle;

    (void)param;
    ucsi_piecewise_init(&tiny, UCS_LINEAR_NEVER);
    ucsi_piecewise_init(&middle, UCS_LINEAR_NEVER);
    set(&tiny, 0, 100, 1);
    set(&middle, 50, 5000, 2);
    envelope(&tiny, &middle, NULL);
    ck_assert_uint_eq(row_count, 3);
    expect_row(0, 100, 0);
    expect_row(1, 5000, 1);
    expect_row(2, SIZE_MAX, UCS_ENVELOPE_NONE);
}

static void envelope__too_many_rows(const struct test_param *param)
{
    const struct ucs_piecewise *functions[2];
    struct ucs_piecewise        small, large;

    (void)param;
    ucsi_piecewise_init(&small, ucs_linear(0, 1));
    ucsi_piecewise_init(&large, ucs_linear(5, 0));
    functions[0] = &small;
    functions[1] = &large;
    row_count    = 1;
    ck_assert_int_eq(ucsi_piecewise_envelope(functions, 2, rows, &row_count),
                     UCS_ERR_EXCEEDS_LIMIT);
    ck_assert_uint_eq(row_count, 1);
    row_count = 2;
    ck_assert_int_eq(ucsi_piecewise_envelope(functions, 2, rows, &row_count),
                     UCS_OK);
}

/* A size, small ones more often. */
static size_t random_size(void)
{
    return (size_t)(test_random() >> test_random_below(64));
}

static void random_function(struct ucs_piecewise *function)
{
    unsigned count = (unsigned)test_random_below(4);
    size_t   first, last;

    ucsi_piecewise_init(function,
                        ucs_linear(1e-6 * (double)test_random_below(100),
                                   1e-11 * (double)test_random_below(1000)));
    while (count-- > 0) {
        first = random_size();
        last  = random_size();
        ck_assert_int_eq(
            ucsi_piecewise_set(
                function, ucs_min(first, last), ucs_max(first, last),
                (test_random_below(4) == 0)
                    ? UCS_LINEAR_NEVER
                    : ucs_linear(1e-7 * (double)test_random_below(500),
                                 1e-11 * (double)test_random_below(900))),
            UCS_OK);
    }
}

/* At a size, the row's choice costs what the cheapest function costs. */
static void check_at(const struct ucs_piecewise *functions, unsigned count,
                     size_t size)
{
    const struct ucs_envelope_row *row  = rows;
    double                         best = HUGE_VAL;
    double                         cost;
    unsigned                       i;

    while (row->size_bytes_max < size) {
        ++row;
    }
    for (i = 0; i < count; ++i) {
        cost = ucs_linear_cost(ucsi_piecewise_at(&functions[i], size),
                               (double)size);
        best = fmin(best, cost);
    }
    if (isinf(best)) {
        ck_assert_uint_eq(row->index, UCS_ENVELOPE_NONE);
        return;
    }
    ck_assert_uint_lt(row->index, count);
    cost = ucs_linear_cost(ucsi_piecewise_at(&functions[row->index], size),
                           (double)size);
    if ((cost != ucs_linear_cost(row->cost, (double)size)) ||
        (cost > best * (1 + 2e-12))) {
        ck_abort_msg("size %zu: function %u costs %.17g, best %.17g", size,
                     row->index, cost, best);
    }
}

static void envelope__random_like_a_minimum(const struct test_param *param)
{
    const struct ucs_piecewise *pointers[6];
    struct ucs_piecewise        functions[6];
    unsigned                    count, i;
    int                         round;

    (void)param;
    for (round = 0; round < 300; ++round) {
        count = 1 + (unsigned)test_random_below(6);
        for (i = 0; i < count; ++i) {
            random_function(&functions[i]);
            pointers[i] = &functions[i];
        }
        row_count = ROW_COUNT;
        ck_assert_int_eq(
            ucsi_piecewise_envelope(pointers, count, rows, &row_count), UCS_OK);
        ck_assert_uint_eq(rows[row_count - 1].size_bytes_max, SIZE_MAX);
        for (i = 0; i < row_count; ++i) { /* both sides of each edge */
            check_at(functions, count, rows[i].size_bytes_max);
            if (i + 1 < row_count) {
                ck_assert_uint_lt(rows[i].size_bytes_max,
                                  rows[i + 1].size_bytes_max);
                check_at(functions, count, rows[i].size_bytes_max + 1);
            }
        }
        for (i = 0; i < 100; ++i) {
            check_at(functions, count, random_size());
        }
    }
}

static const struct test_case cases[] = {TEST(linear__cost_add_scale),
                                         TEST(crossing__table),
                                         TEST(set__splits_and_joins),
                                         TEST(set__errors_change_nothing),
                                         TEST(set__random_like_an_array),
                                         TEST(envelope__two_lines),
                                         TEST(envelope__never_best_is_no_row),
                                         TEST(envelope__limited_ranges),
                                         TEST(envelope__too_many_rows),
                                         TEST(envelope__random_like_a_minimum),
                                         {0}};

const struct test_suite linear_suite = {"linear", cases, NULL, NULL, NULL};
