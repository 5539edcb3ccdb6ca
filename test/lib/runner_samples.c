/* SPDX-License-Identifier: BSD-3-Clause */
/* runner_samples.c - tests that pass, fail and misbehave on purpose. Not a
 * test by itself: test_runner_self.sh runs it and looks at what is said. */
#include "lib/test_internal.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int setup_count;

static void count_setup(const struct test_param *param)
{
    (void)param;
    ++setup_count;
}

static void count_teardown(const struct test_param *param)
{
    (void)param;
    --setup_count;
}

static void good__passes(const struct test_param *param)
{
    (void)param;
    ck_assert_int_eq(1, 1);
}

static void good__has_fixture(const struct test_param *param)
{
    (void)param;
    ck_assert_int_eq(setup_count, 1);
}

static void good__prints_random(const struct test_param *param)
{
    (void)param;
    printf("random %llu seed %llu\n", (unsigned long long)test_random(),
           (unsigned long long)test_seed());
    for (int i = 0; i < 1000; ++i) {
        ck_assert_uint_lt(test_random_below(7), 7);
    }
}

static bool seventh_time(void *arg)
{
    return ++*(int *)arg == 7;
}

static bool never(void *arg)
{
    (void)arg;
    return false;
}

static void good__waits(const struct test_param *param)
{
    int count = 0;

    (void)param;
    ck_assert(test_wait_until(seventh_time, &count, 10));
    ck_assert_int_eq(count, 7);
    ck_assert(!test_wait_until(never, NULL, 0.01));
    ck_assert(test_has_time(1000));
    ck_assert(!test_has_time(0.01));
}

static void good__counts_its_own_time(const struct test_param *param)
{
    double start = test_cpu_seconds();

    (void)param;
    while (test_cpu_seconds() - start < 0.01) {
    }
    ck_assert(!test_has_time(0.01)); /* no more than what passed */
}

static void good__sees_no_ucx_env(const struct test_param *param)
{
    (void)param;
    ck_assert_ptr_null(getenv("UCX_SAMPLE"));
}

static void bad__assertion(const struct test_param *param)
{
    (void)param;
    ck_assert_msg(0, "a <reason> with \"quotes\" & more");
}

/* Volatile, so that no compiler sees that the memory is lost. */
static void *volatile lost;

static void bad__leaks_memory(const struct test_param *param)
{
    (void)param;
    for (int i = 0; i < 100; ++i) {
        lost = malloc(77);
        memset(lost, i, 77);
    }
    lost = NULL;
}

static void bad__leaks_fd(const struct test_param *param)
{
    (void)param;
    ck_assert_int_ge(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
}

static void bad__leaves_child(const struct test_param *param)
{
    pid_t pid = fork();

    (void)param;
    if (pid == 0) {
        (void)pause();
        _exit(0);
    }
    ck_assert_int_gt(pid, 0);
}

static void bad__exits(const struct test_param *param)
{
    (void)param;
    exit(0);
}

static void bad__crashes(const struct test_param *param)
{
    (void)param;
    abort();
}

static void bad__teardown(const struct test_param *param)
{
    (void)param;
    setup_count = 5;
}

static void fail_if_five(const struct test_param *param)
{
    (void)param;
    ck_assert_int_ne(setup_count, 5);
}

static void *failing_thread(void *arg)
{
    ck_assert_msg(0, "from a thread");
    return arg;
}

static void bad__in_thread(const struct test_param *param)
{
    pthread_t thread;

    (void)param;
    ck_assert_int_eq(pthread_create(&thread, NULL, failing_thread, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* The grandchild holds the pipe; the script sees that it was killed too. */
static void bad__hangs_with_child(const struct test_param *param)
{
    (void)param;
    if (fork() == 0) {
        printf("grandchild %d\n", (int)getpid());
        (void)fflush(stdout);
    }
    for (;;) {
        (void)pause();
    }
}

static void skip__says_why(const struct test_param *param)
{
    (void)param;
    test_skip("no %s here", "hardware");
}

static void param__is_given(const struct test_param *param)
{
    ck_assert_str_eq(param->name, param->value);
}

/* Two that only pass at the same time. */
static atomic_bool *is_second_here;

static bool second_is_here(void *arg)
{
    (void)arg;
    return atomic_load(is_second_here);
}

static void pair__first(const struct test_param *param)
{
    (void)param;
    ck_assert(test_wait_until(second_is_here, NULL, 10));
}

static void pair__second(const struct test_param *param)
{
    (void)param;
    atomic_store(is_second_here, true);
}

static const struct test_case good_cases[] = {TEST(good__passes),
                                              TEST(good__has_fixture),
                                              TEST(good__waits),
                                              TEST(good__prints_random),
                                              TEST(good__sees_no_ucx_env),
                                              TEST(good__counts_its_own_time),
                                              {0}};
static const struct test_case bad_cases[]  = {
     TEST(bad__assertion),
     TEST(bad__leaks_memory),
     TEST(bad__leaks_fd),
     TEST(bad__leaves_child),
     TEST(bad__exits),
     TEST(bad__crashes),
     TEST(bad__in_thread),
     TEST_TIMEOUT(bad__hangs_with_child, 0.5),
     {0}};
static const struct test_case pair_cases[] = {
    TEST(pair__first), TEST(pair__second), {0}};
static const struct test_case  torn_cases[]  = {TEST(bad__teardown), {0}};
static const struct test_case  skip_cases[]  = {TEST(skip__says_why), {0}};
static const struct test_case  param_cases[] = {TEST(param__is_given), {0}};
static const struct test_param params[]      = {
         {"red", "red"}, {"green", "green"}, {0}};

static const struct test_suite good   = {"good", good_cases, NULL, count_setup,
                                         count_teardown};
static const struct test_suite bad    = {"bad", bad_cases, NULL, NULL, NULL};
static const struct test_suite torn   = {"torn", torn_cases, NULL, NULL,
                                         fail_if_five};
static const struct test_suite skip   = {"skip", skip_cases, NULL, NULL, NULL};
static const struct test_suite pair   = {"pair", pair_cases, NULL, NULL, NULL};
static const struct test_suite colour = {"colour", param_cases, params, NULL,
                                         NULL};

int main(int argc, char **argv)
{
    static const struct test_suite *const suites[] = {
        &good, &bad, &torn, &skip, &pair, &colour, NULL};

    is_second_here = test_shared_create(sizeof(*is_second_here));

    return test_main(argc, argv, suites);
}
