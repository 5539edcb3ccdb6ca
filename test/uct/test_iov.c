/* SPDX-License-Identifier: BSD-3-Clause */
/* test_iov.c - walking the pieces of a message. */
#include "uct/base/iov.h"

#include "uct/suites.h"

static void iov__sum_gather_scatter(const struct test_param *param)
{
    char                 a[3] = "abc", b[2] = "de", out[8] = {0};
    const struct uct_iov iov[]  = {{.buffer = NULL},
                                   {.buffer = a, .length = 3},
                                   {.buffer = NULL},
                                   {.buffer = b, .length = 2}};
    const struct uct_iov huge[] = {{.length = SIZE_MAX}, {.length = 1}};

    (void)param;
    ck_assert_uint_eq(uct_iov_bytes(iov, 4), 5);
    ck_assert_uint_eq(uct_iov_bytes(iov, 0), 0);
    ck_assert_uint_eq(uct_iov_bytes(huge, 2), SIZE_MAX);
    ck_assert_uint_eq(uct_iov_gather(out, iov, 4), 5);
    ck_assert_str_eq(out, "abcde");
    uct_iov_scatter(iov, 4, "ABCDE");
    ck_assert_int_eq(memcmp(a, "ABC", 3), 0);
    ck_assert_int_eq(memcmp(b, "DE", 2), 0);
}

static const struct test_case cases[] = {TEST(iov__sum_gather_scatter), {0}};

const struct test_suite iov_suite = {.name = "iov", .cases = cases};
