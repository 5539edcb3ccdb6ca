/* SPDX-License-Identifier: BSD-3-Clause */
/* test_complete.c - completions in order. */
#include "uct/base/complete.h"

#include "uct/suites.h"
#include "uct/tracked.h"

static void setup(const struct test_param *param)
{
    (void)param;
    tracked_open();
}

static bool finish(unsigned index)
{
    return ucti_inflight_finish(&inflight, &tracked[index].req, UCS_OK);
}

static void
finish__out_of_order_completes_in_order(const struct test_param *param)
{
    (void)param;
    add(4);
    ck_assert(finish(2));
    ck_assert(finish(1));
    ck_assert_str_eq(order, "");
    ck_assert(finish(0));
    ck_assert_str_eq(order, "abc");
    ck_assert(!uct_inflight_is_empty(&inflight));
    ck_assert(finish(3));
    ck_assert_str_eq(order, "abcd");
    ck_assert(uct_inflight_is_empty(&inflight));
}

static void flush__completes_after_all_before(const struct test_param *param)
{
    (void)param;
    add(2);
    uct_inflight_add_finished(&inflight, &tracked[5].req);
    uct_inflight_add(&inflight, &tracked[2].req);
    ck_assert(finish(1));
    ck_assert(finish(0));
    ck_assert_str_eq(order, "abf");
    ck_assert(finish(2));
    ck_assert_str_eq(order, "abfc");
}

static void fail__keeps_what_finished(const struct test_param *param)
{
    (void)param;
    add(3);
    ck_assert(finish(1));
    ck_assert(ucti_inflight_finish_all(&inflight, UCS_ERR_CONNECTION_RESET));
    ck_assert_str_eq(order, "abc");
    ck_assert_int_eq(tracked[0].req.status, UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(tracked[1].req.status, UCS_OK);
    ck_assert_int_eq(tracked[2].req.status, UCS_ERR_CONNECTION_RESET);
}

static void add_another(struct tracked *one)
{
    (void)one;
    uct_inflight_add(&inflight, &tracked[7].req);
}

static void fail__leaves_what_callbacks_add(const struct test_param *param)
{
    (void)param;
    add(2);
    tracked[0].also = add_another;
    ck_assert(ucti_inflight_finish_all(&inflight, UCS_ERR_CONNECTION_RESET));
    ck_assert_str_eq(order, "ab");
    ck_assert(!uct_inflight_is_empty(&inflight));
    ck_assert(finish(7));
}

static void destroy_queue(struct tracked *one)
{
    (void)one;
    ucti_inflight_cleanup(&inflight);
    memset(&inflight, 0x5a, sizeof(inflight)); /* as free would */
}

static void destroy__inside_a_callback(const struct test_param *param)
{
    (void)param;
    add(4);
    tracked[1].also = destroy_queue;
    ck_assert(finish(2));
    ck_assert(finish(1));
    ck_assert(!finish(0));
    ck_assert_str_eq(order, "abcd");
    ck_assert_int_eq(tracked[2].req.status, UCS_OK);
    ck_assert_int_eq(tracked[3].req.status, UCS_ERR_CANCELED);
}

static void cleanup__cancels_in_order(const struct test_param *param)
{
    (void)param;
    add(3);
    ucti_inflight_cleanup(&inflight);
    ck_assert_str_eq(order, "abc");
    ck_assert_int_eq(tracked[2].req.status, UCS_ERR_CANCELED);
}

static void finish__random_order(const struct test_param *param)
{
    unsigned round, index, other, swap;
    unsigned ids[REQ_COUNT];

    (void)param;
    for (round = 0; round < 500; ++round) {
        memset(order, 0, sizeof(order));
        order_count = 0;
        add(REQ_COUNT);
        for (index = 0; index < REQ_COUNT; ++index) {
            ids[index] = index;
        }
        for (index = REQ_COUNT; index > 1; --index) {
            other          = (unsigned)test_random_below(index);
            swap           = ids[index - 1];
            ids[index - 1] = ids[other];
            ids[other]     = swap;
        }
        for (index = 0; index < REQ_COUNT; ++index) {
            ck_assert(finish(ids[index]));
        }
        ck_assert_str_eq(order, "abcdefgh");
    }
}

static const struct test_case cases[] = {
    TEST(finish__out_of_order_completes_in_order),
    TEST(finish__random_order),
    TEST(flush__completes_after_all_before),
    TEST(fail__keeps_what_finished),
    TEST(fail__leaves_what_callbacks_add),
    TEST(destroy__inside_a_callback),
    TEST(cleanup__cancels_in_order),
    {0}};

const struct test_suite complete_suite = {
    .name = "complete", .cases = cases, .setup = setup};
