/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/clock.h"

#include <pthread.h>
#include <time.h>

#include "lib/test.h"
#include "ucs/suites.h"

static void
clock_ns__grows_and_is_monotonic_time(const struct test_param *param)
{
    uint64_t        before = ucsi_clock_ns();
    struct timespec spec;
    uint64_t        kernel;
    int             i;

    (void)param;
    ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &spec), 0);
    kernel = (uint64_t)spec.tv_sec * UCS_NS_PER_S + (uint64_t)spec.tv_nsec;
    ck_assert_uint_ge(kernel, before);
    ck_assert_uint_le(kernel, ucsi_clock_ns());
    for (i = 0; i < 10000; ++i) {
        uint64_t now = ucsi_clock_ns();

        if (now < before) {
            ck_abort_msg("%llu after %llu", (unsigned long long)now,
                         (unsigned long long)before);
        }
        before = now;
    }
}

static void clock_wall__is_this_century(const struct test_param *param)
{
    uint64_t seconds = ucsi_clock_wall_ns() / UCS_NS_PER_S;

    (void)param;
    ck_assert_uint_gt(seconds, 1700000000ull);
    ck_assert_uint_lt(seconds, 4102444800ull);
}

static void clock_deadline__edges(const struct test_param *param)
{
    static const struct {
        uint64_t now;
        uint64_t timeout;
        uint64_t deadline;
    } rows[] = {
        {0, 0, 0},
        {5, 7, 12},
        {5, UCS_NS_INFINITE, UCS_NS_INFINITE},
        {5, UINT64_MAX - 5, UINT64_MAX},
        {5, UINT64_MAX - 6, UINT64_MAX - 1},
        {UINT64_MAX, 0, UINT64_MAX},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX},
    };
    size_t i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        ck_assert_uint_eq(ucs_clock_deadline(rows[i].now, rows[i].timeout),
                          rows[i].deadline);
    }
}

static void clock_timespec__splits(const struct test_param *param)
{
    struct timespec spec = ucs_clock_timespec(12ull * UCS_NS_PER_S + 34);

    (void)param;
    ck_assert_int_eq(spec.tv_sec, 12);
    ck_assert_int_eq(spec.tv_nsec, 34);
}

static void clock_rate__is_found_quickly(const struct test_param *param)
{
    double   start = test_cpu_seconds();
    uint64_t rate  = ucsi_clock_cycles_per_s();

    (void)param;
    ck_assert_uint_ge(rate, 1000 * 1000);
    /* 1 ms by design */
    ck_assert_double_lt(test_cpu_seconds() - start, test_scaled_seconds(0.1));
    ck_assert_uint_eq(ucsi_clock_cycles_per_s(), rate);
}

static void clock_rate__agrees_with_the_clock(const struct test_param *param)
{
    const uint64_t window_ns = 20 * 1000 * 1000;
    uint64_t       off       = UINT64_MAX;
    int            i;

    (void)param;
    (void)ucsi_clock_cycles_per_s();
    /* The best of a few: the others were interrupted. */
    for (i = 0; (i < 20) && (off > window_ns / 200); ++i) {
        uint64_t cycles = ucs_clock_cycles();
        uint64_t start  = ucsi_clock_ns();
        uint64_t end;
        uint64_t by_cycles;

        do {
            end = ucsi_clock_ns();
        } while (end - start < window_ns);
        by_cycles = ucsi_clock_cycles_to_ns(ucs_clock_cycles() - cycles);
        off = ucs_min(off, (by_cycles > end - start) ? by_cycles - (end - start)
                                                     : end - start - by_cycles);
    }
    ck_assert_msg(off <= window_ns / 200, "%llu ns in 20 ms",
                  (unsigned long long)off);
}

static void *rate_thread(void *arg)
{
    *(uint64_t *)arg = ucsi_clock_cycles_per_s();
    return NULL;
}

static void clock_rate__threads_agree(const struct test_param *param)
{
    pthread_t threads[4];
    uint64_t  rates[4];
    int       i;

    (void)param;
    for (i = 0; i < 4; ++i) {
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, rate_thread, &rates[i]), 0);
    }
    for (i = 0; i < 4; ++i) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_uint_eq(rates[i], ucsi_clock_cycles_per_s());
    }
}

static void clock_convert__edges(const struct test_param *param)
{
    uint64_t rate = ucsi_clock_cycles_per_s();
    uint64_t ns;

    (void)param;
    ck_assert_uint_eq(ucsi_clock_ns_to_cycles(0), 0);
    ck_assert_uint_eq(ucsi_clock_cycles_to_ns(0), 0);
    ck_assert_uint_eq(ucsi_clock_ns_to_cycles(UCS_NS_PER_S), rate);
    ck_assert_uint_eq(ucsi_clock_cycles_to_ns(rate), UCS_NS_PER_S);
    ck_assert_uint_eq(ucsi_clock_ns_to_cycles(UCS_NS_INFINITE), UINT64_MAX);
    ck_assert_uint_eq(ucsi_clock_cycles_to_ns(UINT64_MAX), UCS_NS_INFINITE);
    /* One hour loses no more than the rounding. */
    ns = 3600ull * UCS_NS_PER_S;
    ck_assert_uint_le(ns - ucsi_clock_cycles_to_ns(ucsi_clock_ns_to_cycles(ns)),
                      1 + UCS_NS_PER_S / rate);
}

static const struct test_case cases[] = {
    TEST(clock_ns__grows_and_is_monotonic_time),
    TEST(clock_wall__is_this_century),
    TEST(clock_deadline__edges),
    TEST(clock_timespec__splits),
    TEST(clock_rate__is_found_quickly),
    TEST(clock_rate__agrees_with_the_clock),
    TEST(clock_rate__threads_agree),
    TEST(clock_convert__edges),
    {0},
};

const struct test_suite clock_suite = {"clock", cases, NULL, NULL, NULL};
