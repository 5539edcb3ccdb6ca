/* SPDX-License-Identifier: BSD-3-Clause */
/* test_path.c - src/ucs/path.c: each hole, and names that are too long. */
#include "ucs/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucs/clock.h"
#include "ucs/suites.h"

static void path__each_hole_is_filled(const struct test_param *param)
{
    char host[256] = "";
    char path[512];
    char want[600];

    (void)param;
    ck_assert_int_eq(gethostname(host, sizeof(host) - 1), 0);
    (void)snprintf(want, sizeof(want), "/a%d/%s%%%s", (int)getpid(), host,
                   host);
    errno = ENOENT;
    ck_assert(ucsi_path_expand("/a%p/%h%%%h", path, sizeof(path)));
    ck_assert_str_eq(path, want);
    ck_assert_int_eq(errno, ENOENT);
}

static void path__time_is_now(const struct test_param *param)
{
    char     path[64];
    uint64_t before = ucsi_clock_wall_ns() / UCS_NS_PER_S;
    uint64_t got;

    (void)param;
    ck_assert(ucsi_path_expand("%t", path, sizeof(path)));
    got = strtoull(path, NULL, 10);
    ck_assert_uint_ge(got, before);
    ck_assert_uint_le(got, ucsi_clock_wall_ns() / UCS_NS_PER_S);
}

static void path__other_letters_stay(const struct test_param *param)
{
    static const char *const same[] = {"", "/tmp/x", "%", "a%", "%q%z", "%P"};

    (void)param;
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(same); ++i) {
        char path[16];

        ck_assert(ucsi_path_expand(same[i], path, sizeof(path)));
        ck_assert_str_eq(path, same[i]);
    }
}

static void path__too_long_is_refused(const struct test_param *param)
{
    char path[8];

    (void)param;
    ck_assert(ucsi_path_expand("1234567", path, sizeof(path)));
    ck_assert(!ucsi_path_expand("12345678", path, sizeof(path)));
    ck_assert_uint_eq(strlen(path), 7);
    ck_assert(!ucsi_path_expand("123456%t", path, sizeof(path)));
}

static const struct test_case path_cases[] = {
    TEST(path__each_hole_is_filled),
    TEST(path__time_is_now),
    TEST(path__other_letters_stay),
    TEST(path__too_long_is_refused),
    {0},
};

const struct test_suite path_suite = {.name = "path", .cases = path_cases};
