/* SPDX-License-Identifier: BSD-3-Clause */
/* The types are tested through ucs/config.h, as everybody uses them. */
#include "ucs/config.h"

#include "lib/test.h"
#include "ucs/config_samples.h"
#include "ucs/suites.h"

static const struct config_row rows[] = {
    {"BOOL", "n", "n"},
    {"BOOL", "YES", "y"},
    {"BOOL", "off", "n"},
    {"BOOL", "on", "y"},
    {"BOOL", "0", "n"},
    {"BOOL", "1", "y"},
    {"BOOL", "no", "n"},
    {"BOOL", "", NULL},
    {"BOOL", "2", NULL},
    {"BOOL", "try", NULL},
    {"BOOL", "yess", NULL},
    {"TERNARY", "y", "y"},
    {"TERNARY", "NO", "n"},
    {"TERNARY", "Try", "try"},
    {"TERNARY", "auto", "auto"},
    {"TERNARY", "maybe", NULL},
    {"ON_OFF", "on", "on"},
    {"ON_OFF", "n", "off"},
    {"ON_OFF", "try", "auto"},
    {"ON_OFF", "auto", "auto"},
    {"ON_OFF", "", NULL},
    {"UINT", "0", "0"},
    {"UINT", "4294967293", "4294967293"},
    {"UINT", "4294967294", NULL},
    {"UINT", "4294967296", NULL},
    {"UINT", "inf", "inf"},
    {"UINT", "auto", "auto"},
    {"UINT", "-1", NULL},
    {"INT", "-2147483648", "-2147483648"},
    {"INT", "2147483647", "2147483647"},
    {"INT", "2147483648", NULL},
    {"INT", "-2147483649", NULL},
    {"INT", "1x", NULL},
    {"DOUBLE", "1e3", "1000"},
    {"DOUBLE", "0.1", "0.1"},
    {"DOUBLE", "x", NULL},
    {"SIZE", "inf", "inf"},
    {"SIZE", "1536", "1536"},
    {"SIZE", "3072", "3K"},
    {"SIZE", "8q", NULL},
    {"TIME", "1500us", "1500us"},
    {"TIME", "1", "1s"},
    {"TIME", "inf", "inf"},
    {"TIME", "1y", NULL},
    {"BANDWIDTH", "100Mbps", "12800KBps"},
    {"BANDWIDTH", "auto", "auto"},
    {"BANDWIDTH", "1", NULL},
};

static void config_scalar__set_and_print(const struct test_param *param)
{
    (void)param;
    check_rows(rows, UCS_ARRAY_COUNT(rows));
}

static const struct test_case cases[] = {
    TEST(config_scalar__set_and_print),
    {0},
};

const struct test_suite config_scalar_suite = {"config_scalar", cases, NULL,
                                               NULL, NULL};
