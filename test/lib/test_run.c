/* SPDX-License-Identifier: BSD-3-Clause */
/* test_run.c - one test: its process, its time limit, what it left behind.
 *
 * `check` forks, kills the process group when the time is over, and brings
 * back the message of an assertion, from whatever thread it comes. What check
 * does not know goes through a shared page: that the test was skipped, and
 * that its function really returned (exit(0) in the middle is no pass). */
#include "lib/test_internal.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TEST_TIMEOUT_S_DEFAULT = 60, TEST_FD_MAX = 4096 };

enum test_stage { STAGE_RUNNING, STAGE_SKIPPED, STAGE_LEAK_CHECK, STAGE_DONE };

/* Between the runner and the test's process. */
struct test_shared {
    enum test_stage stage;
    char            reason[TEST_REASON_BYTES_MAX]; /* of a skip */
};

static struct test_shared         *shared;
static const struct test_instance *current;
static bool                        current_no_fork;
static pid_t                       current_pid;
static double                      time_multiplier = 1.0;
static double                      begin_seconds; /* of the current test */
static sigjmp_buf                  skip_target;   /* without fork only */
static bool                        fd_open_before[TEST_FD_MAX];

/* There in programs linked with -fsanitize=leak or address: complains and
 * ends the process if memory is lost; runs at most once per process. */
extern void __lsan_do_leak_check(void) __attribute__((weak));

static double seconds_of(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double clock_seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double test_cpu_seconds(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

bool test_has_time(double seconds)
{
    return clock_seconds() - begin_seconds < test_scaled_seconds(seconds);
}

double test_scaled_seconds(double seconds)
{
    return seconds * time_multiplier;
}

uint64_t test_rounds(uint64_t quick, uint64_t often)
{
    const char *text = getenv("TEST_LONG");

    return ((text != NULL) && (strcmp(text, "1") == 0)) ? often : quick;
}

bool test_wait_until(bool (*fn)(void *), void *arg, double seconds)
{
    double end = clock_seconds() + test_scaled_seconds(seconds);

    while (!fn(arg)) {
        if (clock_seconds() > end) {
            return fn(arg); /* we may have been off the processor */
        }
        (void)sched_yield();
    }
    return true;
}

void test_skip(const char *format, ...)
{
    va_list arguments;

    if ((getpid() != current_pid) || (gettid() != current_pid)) {
        (void)fprintf(stderr, "test_skip() outside the test's own thread\n");
        abort();
    }
    va_start(arguments, format);
    (void)vsnprintf(shared->reason, sizeof(shared->reason), format, arguments);
    va_end(arguments);
    shared->stage = STAGE_SKIPPED;
    if (current_no_fork) {
        siglongjmp(skip_target, 1);
    }
    (void)fflush(NULL);
    _exit(0);
}

/* Call visit for every open descriptor but the one used for looking. */
static void visit_fds(void (*visit)(int fd, char *text, size_t text_bytes),
                      char *text, size_t text_bytes)
{
    DIR           *directory = opendir("/proc/self/fd");
    struct dirent *entry;

    ck_assert_msg(directory != NULL, "/proc/self/fd: %s", strerror(errno));
    while ((entry = readdir(directory)) != NULL) {
        char *end;
        long  fd = strtol(entry->d_name, &end, 10);

        if ((end != entry->d_name) && (fd != dirfd(directory)) &&
            (fd < TEST_FD_MAX)) {
            visit((int)fd, text, text_bytes);
        }
    }
    (void)closedir(directory);
}

static void fd_note(int fd, char *text, size_t text_bytes)
{
    (void)text;
    (void)text_bytes;
    fd_open_before[fd] = true;
}

static void fd_complain(int fd, char *text, size_t text_bytes)
{
    size_t  used = strlen(text);
    char    path[32];
    char    target[128];
    ssize_t length;

    if (fd_open_before[fd]) {
        return;
    }
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    length = readlink(path, target, sizeof(target) - 1);
    target[(length < 0) ? 0 : length] = '\0';
    (void)snprintf(text + used, text_bytes - used, " %d (%s)", fd, target);
}

static void check_left_behind(void)
{
    char  text[TEST_REASON_BYTES_MAX / 2] = "";
    pid_t pid;

    visit_fds(fd_complain, text, sizeof(text));
    ck_assert_msg(text[0] == '\0', "leaves descriptors open:%s", text);

    if (current_no_fork) {
        return; /* one memory check per process is all there is */
    }
    pid = waitpid(-1, NULL, WNOHANG);
    ck_assert_msg((pid == -1) && (errno == ECHILD),
                  "leaves a child process (waitpid says %d)", (int)pid);
    if (__lsan_do_leak_check != NULL) {
        shared->stage = STAGE_LEAK_CHECK;
        __lsan_do_leak_check();
    }
}

static void run_current(void)
{
    const struct test_suite *suite = current->suite;

    begin_seconds = clock_seconds();
    memset(fd_open_before, 0, sizeof(fd_open_before));
    visit_fds(fd_note, NULL, 0);
    if (suite->setup != NULL) {
        suite->setup(current->param);
    }
    current->test_case->run(current->param);
    if (suite->teardown != NULL) {
        suite->teardown(current->param);
    }
    check_left_behind();
    shared->stage = STAGE_DONE;
}

START_TEST(test_body)
{
    current_pid = getpid();
    if (current_no_fork) {
        if (sigsetjmp(skip_target, 0) == 0) {
            run_current();
        }
        return;
    }
    /* Handlers of check's parent half are not the test's business. */
    (void)signal(SIGALRM, SIG_DFL);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    run_current();
}
END_TEST

static void result_fill(struct test_record *result, SRunner *runner)
{
    TestResult **list = srunner_results(runner);
    TestResult  *one  = (srunner_ntests_run(runner) == 1) ? list[0] : NULL;

    result->outcome   = TEST_FAILED;
    result->reason[0] = '\0';
    if (one == NULL) {
        (void)snprintf(result->reason, sizeof(result->reason),
                       "check did not run it");
    } else if (shared->stage == STAGE_SKIPPED) {
        result->outcome = TEST_SKIPPED;
        memcpy(result->reason, shared->reason, sizeof(result->reason));
    } else if (shared->stage == STAGE_LEAK_CHECK) {
        (void)snprintf(result->reason, sizeof(result->reason),
                       "leaks memory: see the report above");
    } else if (tr_rtype(one) != CK_PASS) {
        (void)snprintf(result->reason, sizeof(result->reason), "%s:%d: %s",
                       tr_lfile(one), tr_lno(one), tr_msg(one));
    } else if (shared->stage != STAGE_DONE) {
        (void)snprintf(result->reason, sizeof(result->reason),
                       "its process ended before the test did");
    } else {
        result->outcome = TEST_PASSED;
    }
    free(list);
}

void test_run_instance(const struct test_options *options,
                       struct test_record        *result)
{
    const struct test_instance *instance  = result->instance;
    double                      timeout_s = instance->test_case->timeout_s;
    Suite                      *suite     = suite_create(instance->suite->name);
    TCase                      *tcase = tcase_create(instance->test_case->name);
    SRunner                    *runner = srunner_create(suite);
    double                      begin  = clock_seconds();

    if (shared == NULL) {
        shared = test_shared_create(sizeof(*shared));
    }
    memset(shared, 0, sizeof(*shared));
    current         = instance;
    current_no_fork = options->no_fork;
    time_multiplier = options->timeout_multiplier;
    test_random_start(test_random_seed_of(result->seed, instance->name));

    suite_add_tcase(suite, tcase);
    tcase_add_test(tcase, test_body);
    tcase_set_timeout(tcase, test_scaled_seconds((timeout_s > 0)
                                                     ? timeout_s
                                                     : TEST_TIMEOUT_S_DEFAULT));
    srunner_set_fork_status(runner, options->no_fork ? CK_NOFORK : CK_FORK);
    (void)fflush(NULL); /* else the child writes it a second time */
    srunner_run_all(runner, CK_SILENT);

    result->seconds = clock_seconds() - begin;
    result_fill(result, runner);
    srunner_free(runner);
}
