/* SPDX-License-Identifier: BSD-3-Clause */
/* What a number may be is tested through ucs/config.h, as everybody uses it. */
#include "ucs/config.h"

#include <string.h>

#include "lib/test.h"
#include "ucs/config_samples.h"
#include "ucs/suites.h"

static const struct config_row rows[] = {
    {"BOUND_UINT", "5", "5"},        {"BOUND_UINT", "4", NULL},
    {"BOUND_UINT", "2000", "2000"},  {"BOUND_UINT", "2001", NULL},
    {"BOUND_UINT", "inf", NULL},     {"BOUND_UINT", "auto", NULL},
    {"BOUND_SIZE", "4k", "4K"},      {"BOUND_SIZE", "1m", "1M"},
    {"BOUND_SIZE", "0", NULL},       {"BOUND_SIZE", "4097", NULL},
    {"BOUND_SIZE", "1028k", NULL},   {"BOUND_SIZE", "inf", NULL},
    {"BOUND_TIME", "5ns", "5ns"},    {"BOUND_TIME", "4ns", NULL},
    {"BOUND_TIME", "3us", NULL},     {"BOUND_RANGE", "5-2000", "5-2000"},
    {"BOUND_RANGE", "4-2000", NULL}, {"BOUND_RANGE", "5-2001", NULL},
    {"BOUND_RANGE", "0", NULL},
};

static void config_bounds__hold(const struct test_param *param)
{
    (void)param;
    check_rows(rows, UCS_ARRAY_COUNT(rows));
}

/* Who is refused reads what is allowed. */
static void config_bounds__are_said(const struct test_param *param)
{
    static const char *const rows_of_words[][2] = {
        {"BOUND_UINT", ", not below 5, not above 2000"},
        {"BOUND_SIZE", ", not below 4K, not above 1M, a multiple of 4K"},
        {"BOUND_TIME", ", not below 5ns, not above 2us"},
        {"BOUND_RANGE", ", not below 5, not above 2000"},
    };

    (void)param;
    log_capture_start();
    ck_assert_int_eq(ucsi_config_read(&table, NULL, &options), UCS_OK);
    for (size_t i = 0; i < UCS_ARRAY_COUNT(rows_of_words); ++i) {
        ck_assert_int_eq(
            ucsi_config_set(&table, &options, rows_of_words[i][0], "1"),
            UCS_ERR_INVALID_PARAM);
        ck_assert_msg(strstr(log_captured.text, rows_of_words[i][1]) != NULL,
                      "%s", log_captured.text);
    }
    ucsi_config_release(&table, &options);
}

static const struct test_case cases[] = {
    TEST(config_bounds__hold),
    TEST(config_bounds__are_said),
    {0},
};

const struct test_suite config_bounds_suite = {"config_bounds", cases, NULL,
                                               NULL, NULL};
