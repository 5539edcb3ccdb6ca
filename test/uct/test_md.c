/* SPDX-License-Identifier: BSD-3-Clause */
/* test_md.c - opening a domain checks its arguments; reasons. */
#include "uct/base/md.h"

#include <string.h>

#include "uct/api/uct.h"
#include "uct/suites.h"

static void reason__is_cut_and_optional(const struct test_param *param)
{
    char reason[UCT_REASON_BYTES_MAX + 1];

    (void)param;
    memset(reason, 'x', sizeof(reason));
    ucti_reason(reason, "%0500d", 1);
    ck_assert_uint_eq(strlen(reason), UCT_REASON_BYTES_MAX - 1);
    ck_assert_int_eq(reason[UCT_REASON_BYTES_MAX], 'x');
    ucti_reason(NULL, "nobody wants to know %d", 1);
}

static void open__checks_its_arguments(const struct test_param *param)
{
    struct uct_device device = {0};
    struct uct_md    *md;

    (void)param;
    ck_assert_int_eq(ucti_md_open(NULL, &md), UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucti_md_open(&device, &md), UCS_ERR_INVALID_PARAM);
    device.transport = ucti_transports()[0];
    ck_assert_int_eq(ucti_md_open(&device, NULL), UCS_ERR_INVALID_PARAM);
}

static const struct test_case cases[] = {
    TEST(reason__is_cut_and_optional), TEST(open__checks_its_arguments), {0}};

const struct test_suite md_suite = {.name = "md", .cases = cases};
