/* SPDX-License-Identifier: BSD-3-Clause */
/* test_assert.c - a broken promise ends the process, and says which. */
#include "ucs/assert.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ucs/suites.h"

enum { CHECK_LINE = __LINE__ + 4 };

static void check_one_is_two(void)
{
    ucs_check(1 == 2);
}

static void assert_with_sentence(void)
{
    ucs_assertv(1 == 2, "one is %d", 1);
}

static void assert_with_long_sentence(void)
{
    char text[5000];

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    ucsi_assert_failed_because("a", "b", 3, "%s", text);
}

/* Run fn in a child; what it writes to standard error goes to text.
 * @return the child's exit status as wait gives it. */
static int run_child(void (*fn)(void), char *text, size_t size)
{
    static const struct rlimit no_core = {0, 0};

    ssize_t length = 0, got;
    int     pipe_fds[2];
    int     status;
    pid_t   pid;

    ck_assert_int_eq(pipe(pipe_fds), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        (void)setrlimit(RLIMIT_CORE, &no_core);
        (void)dup2(pipe_fds[1], STDERR_FILENO);
        fn();
        _exit(0);
    }
    (void)close(pipe_fds[1]);
    while ((got = read(pipe_fds[0], text + length, size - 1 - (size_t)length)) >
           0) {
        length += got;
    }
    text[length] = '\0';
    (void)close(pipe_fds[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

static void expect_abort(void (*fn)(void), const char *expected)
{
    char text[2048];
    int  status = run_child(fn, text, sizeof(text));

    ck_assert(WIFSIGNALED(status) && (WTERMSIG(status) == SIGABRT));
    ck_assert_msg(strstr(text, expected) != NULL, "%s", text);
    ck_assert_msg(text[strlen(text) - 1] == '\n', "%s", text);
}

static void check__says_what_and_where(const struct test_param *param)
{
    char expected[100];

    (void)param;
    (void)snprintf(expected, sizeof(expected),
                   "test_assert.c:%d: assertion failed: 1 == 2\n", CHECK_LINE);
    expect_abort(check_one_is_two, expected);
}

static void check__evaluates_once(const struct test_param *param)
{
    int count = 0;

    (void)param;
    ucs_check(++count == 1);
    ck_assert_int_eq(count, 1);
}

static void assert__as_the_build_says(const struct test_param *param)
{
    int count = 0;

    (void)param;
    ucs_assert(++count == 1);
    ck_assert_int_eq(count, UCS_ENABLE_ASSERT);
    if (UCS_ENABLE_ASSERT) {
        expect_abort(assert_with_sentence,
                     "assertion failed: 1 == 2: one is 1\n");
    } else {
        assert_with_sentence();
    }
}

static void assertv__cuts_long_text(const struct test_param *param)
{
    (void)param;
    expect_abort(assert_with_long_sentence, "b:3: assertion failed: a: xxxx");
}

static const struct test_case cases[] = {TEST(check__says_what_and_where),
                                         TEST(check__evaluates_once),
                                         TEST(assert__as_the_build_says),
                                         TEST(assertv__cuts_long_text),
                                         {0}};

const struct test_suite assert_suite = {"assert", cases, NULL, NULL, NULL};
