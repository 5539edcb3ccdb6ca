/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/host.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucs/suites.h"

static void read__cuts_and_terminates(const struct test_param *param)
{
    char whole[64], some[8];

    (void)param;
    memset(some, 'x', sizeof(some));
    ck_assert_uint_gt(ucsi_host_read("/proc/self/comm", whole, sizeof(whole)),
                      sizeof(some));
    ck_assert_uint_eq(ucsi_host_read("/proc/self/comm", some, sizeof(some)),
                      sizeof(some) - 1);
    ck_assert_int_eq(strncmp(whole, some, sizeof(some) - 1), 0);
    ck_assert_uint_eq(some[sizeof(some) - 1], '\0');
}

static void read__what_is_not_there_is_empty(const struct test_param *param)
{
    char text[8] = "before";

    (void)param;
    ck_assert_uint_eq(ucsi_host_read("/proc/self/no", text, sizeof(text)), 0);
    ck_assert_str_eq(text, "");
    ck_assert_uint_eq(ucsi_host_read("/proc/self", text, sizeof(text)), 0);
    ck_assert_str_eq(text, "");
}

/* Of all processes here. */
static void id__is_that_of_a_child(const struct test_param *param)
{
    uint64_t id    = ucsi_host_id();
    uint32_t space = ucsi_host_namespace("net");
    int      status;
    pid_t    pid;

    (void)param;
    ck_assert_uint_ne(id, 0);
    ck_assert_uint_ne(space, 0);
    pid = fork();
    if (pid == 0) {
        _exit((ucsi_host_id() != id) || (ucsi_host_namespace("net") != space));
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

static void namespace__of_a_wrong_kind_is_none(const struct test_param *param)
{
    (void)param;
    ck_assert_uint_eq(ucsi_host_namespace("no"), 0);
    ck_assert_uint_ne(ucsi_host_namespace("pid"), ucsi_host_namespace("net"));
}

static const struct test_case cases[] = {
    TEST(read__cuts_and_terminates),
    TEST(read__what_is_not_there_is_empty),
    TEST(id__is_that_of_a_child),
    TEST(namespace__of_a_wrong_kind_is_none),
    {0}};

const struct test_suite host_suite = {.name = "host", .cases = cases};
