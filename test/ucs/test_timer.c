/* SPDX-License-Identifier: BSD-3-Clause */
/* test_timer.c - deadlines; the clock is a number. */
#include "ucs/timer.h"

#include <stdlib.h>

#include "ucs/suites.h"

enum { TIMER_COUNT = 64, FIRED_COUNT_MAX = 256 };

static struct ucs_timer_queue queue;
static struct ucs_timer       timers[TIMER_COUNT];
static int                    fired[FIRED_COUNT_MAX];
static int                    fired_count;
static uint64_t               fired_now_ns;

static void record(struct ucs_timer *self, uint64_t now_ns)
{
    ck_assert(!ucs_timer_is_started(self));
    ck_assert_int_lt(fired_count, FIRED_COUNT_MAX);
    fired[fired_count++] = (int)(self - timers);
    fired_now_ns         = now_ns;
}

static void record_and_restart(struct ucs_timer *self, uint64_t now_ns)
{
    record(self, now_ns);
    ucsi_timer_start(&queue, self, now_ns);
}

/* Stops timer 1 and starts timer 2, due long ago. */
static void record_and_meddle(struct ucs_timer *self, uint64_t now_ns)
{
    record(self, now_ns);
    ucsi_timer_stop(&queue, &timers[1]);
    ucsi_timer_start(&queue, &timers[2], 0);
}

static void free_self(struct ucs_timer *self, uint64_t now_ns)
{
    (void)now_ns;
    free(self);
}

static void setup(const struct test_param *param)
{
    int i;

    (void)param;
    ucsi_timer_queue_init(&queue);
    for (i = 0; i < TIMER_COUNT; ++i) {
        ucs_timer_init(&timers[i], record);
    }
}

static void run(uint64_t now_ns, unsigned expected_count)
{
    fired_count = 0;
    ck_assert_uint_eq(ucsi_timer_queue_run(&queue, now_ns), expected_count);
    if (expected_count > 0) {
        ck_assert_uint_eq(fired_now_ns, now_ns);
    }
}

static void run__not_before_deadline(const struct test_param *param)
{
    (void)param;
    ck_assert_uint_eq(ucs_timer_queue_deadline_ns(&queue), UINT64_MAX);
    run(1, 0);
    ucsi_timer_start(&queue, &timers[0], 100);
    ck_assert_uint_eq(ucs_timer_queue_deadline_ns(&queue), 100);
    ck_assert_uint_eq(timers[0].deadline_ns, 100);
    run(99, 0);
    ck_assert(ucs_timer_is_started(&timers[0]));
    run(100, 1);
    run(101, 0);
    ck_assert_uint_eq(ucs_timer_queue_deadline_ns(&queue), UINT64_MAX);
}

static void run__in_order_of_deadline_then_start(const struct test_param *param)
{
    static const uint64_t deadlines[] = {30, 10, 20, 10, 30};
    static const int      order[]     = {1, 3, 2, 0, 4};
    int                   i;

    (void)param;
    for (i = 0; i < 5; ++i) {
        ucsi_timer_start(&queue, &timers[i], deadlines[i]);
    }
    run(1000, 5);
    for (i = 0; i < 5; ++i) {
        ck_assert_int_eq(fired[i], order[i]);
    }
}

static void start__moves_a_started_one(const struct test_param *param)
{
    (void)param;
    ucsi_timer_start(&queue, &timers[0], 10);
    ucsi_timer_start(&queue, &timers[1], 10);
    ucsi_timer_start(&queue, &timers[0], 10); /* behind timer 1 now */
    run(10, 2);
    ck_assert_int_eq(fired[0], 1);
    ucsi_timer_start(&queue, &timers[0], 20);
    ucsi_timer_start(&queue, &timers[0], 30);
    run(20, 0);
    run(30, 1);
}

static void start__never(const struct test_param *param)
{
    (void)param;
    ucsi_timer_start(&queue, &timers[0], UINT64_MAX);
    run(UINT64_MAX - 1, 0);
    ck_assert(ucs_timer_is_started(&timers[0]));
    ucsi_timer_stop(&queue, &timers[0]);
}

static void stop__is_harmless_twice(const struct test_param *param)
{
    (void)param;
    ucsi_timer_stop(&queue, &timers[0]);
    ucsi_timer_start(&queue, &timers[0], 10);
    ucsi_timer_stop(&queue, &timers[0]);
    ucsi_timer_stop(&queue, &timers[0]);
    run(10, 0);
}

static void callback__restarts_itself(const struct test_param *param)
{
    (void)param;
    timers[0].fn = record_and_restart;
    ucsi_timer_start(&queue, &timers[0], 10);
    run(10, 1); /* due again at once, but this run ends */
    ck_assert_uint_eq(ucs_timer_queue_deadline_ns(&queue), 11);
    run(10, 0);
    run(11, 1);
}

static void callback__stops_and_starts_others(const struct test_param *param)
{
    (void)param;
    timers[0].fn = record_and_meddle;
    ucsi_timer_start(&queue, &timers[0], 10);
    ucsi_timer_start(&queue, &timers[1], 10);
    ucsi_timer_start(&queue, &timers[2], 10);
    run(10, 1); /* 1 was stopped, 2 was moved */
    run(11, 1);
    ck_assert_int_eq(fired[0], 2);
}

static void callback__frees_the_timer(const struct test_param *param)
{
    struct ucs_timer *timer = malloc(sizeof(*timer));

    (void)param;
    ck_assert_ptr_nonnull(timer);
    ucs_timer_init(timer, free_self);
    ucsi_timer_start(&queue, timer, 5);
    ck_assert_uint_eq(ucsi_timer_queue_run(&queue, 5), 1);
    ck_assert_uint_eq(ucsi_timer_queue_run(&queue, 6), 0);
}

static void cleanup__stops_all(const struct test_param *param)
{
    int i;

    (void)param;
    for (i = 0; i < TIMER_COUNT; ++i) {
        ucsi_timer_start(&queue, &timers[i], (uint64_t)i % 7);
    }
    ucsi_timer_queue_cleanup(&queue);
    for (i = 0; i < TIMER_COUNT; ++i) {
        ck_assert(!ucs_timer_is_started(&timers[i]));
    }
    run(100, 0);
}

/* Which timer of the model fires next: earliest deadline, then first start.
 * @return -1: none is due. */
static int model_next(const uint64_t *deadlines, const unsigned *starts,
                      uint64_t now_ns)
{
    int next = -1;
    int i;

    for (i = 0; i < TIMER_COUNT; ++i) {
        if ((starts[i] > 0) && (deadlines[i] <= now_ns) &&
            ((next < 0) || (deadlines[i] < deadlines[next]) ||
             ((deadlines[i] == deadlines[next]) &&
              (starts[i] < starts[next])))) {
            next = i;
        }
    }
    return next;
}

static void random__like_a_search(const struct test_param *param)
{
    uint64_t deadlines[TIMER_COUNT] = {0};
    unsigned starts[TIMER_COUNT]    = {0}; /* number of the start; 0: stopped */
    unsigned start_count            = 0;
    uint64_t now_ns                 = 0;
    int      step, i;

    (void)param;
    for (step = 0; step < 5000; ++step) {
        int number = (int)test_random_below(TIMER_COUNT);

        switch (test_random_below(8)) {
        case 0:
            ucsi_timer_stop(&queue, &timers[number]);
            starts[number] = 0;
            break;
        case 1:
            now_ns += test_random_below(30);
            fired_count = 0;
            (void)ucsi_timer_queue_run(&queue, now_ns);
            for (i = 0; i < fired_count; ++i) {
                number = model_next(deadlines, starts, now_ns);
                ck_assert_int_eq(fired[i], number);
                starts[number] = 0;
            }
            ck_assert_int_eq(model_next(deadlines, starts, now_ns), -1);
            break;
        default:
            deadlines[number] = now_ns + test_random_below(100);
            starts[number]    = ++start_count;
            ucsi_timer_start(&queue, &timers[number], deadlines[number]);
            break;
        }
    }
}

static const struct test_case cases[] = {
    TEST(run__not_before_deadline),
    TEST(run__in_order_of_deadline_then_start),
    TEST(start__moves_a_started_one),
    TEST(start__never),
    TEST(stop__is_harmless_twice),
    TEST(callback__restarts_itself),
    TEST(callback__stops_and_starts_others),
    TEST(callback__frees_the_timer),
    TEST(cleanup__stops_all),
    TEST(random__like_a_search),
    {0}};

const struct test_suite timer_suite = {"timer", cases, NULL, setup, NULL};
