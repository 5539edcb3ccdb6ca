/* SPDX-License-Identifier: BSD-3-Clause */
/* The types are tested through ucs/config.h, as everybody uses them. */
#include "ucs/config.h"

#include <stdio.h>
#include <string.h>

#include "lib/test.h"
#include "ucs/config_samples.h"
#include "ucs/suites.h"

static const struct config_row rows[] = {
    {"STRING", "", ""},
    {"STRING", "a=b, c", "a=b, c"},
    {"COLOR", "BLUE", "blue"},
    {"COLOR", "blu", NULL},
    {"COLOR", "bluee", NULL},
    {"COLOR", "", NULL},
    {"LIST", "a", "a"},
    {"LIST", " a , b\t,,c, ", "a,b,c"},
    {"LIST", "^x,y", "^x,y"},
    {"LIST", " ^ x", "^x"},
    {"LIST", "", ""},
    {"LIST", "^", "^"},
    {"LIST", ",,,", ""},
    {"LIST", "a,^b", NULL},
    {"LIST", ",^b", NULL},
    {"LIST", "^^b", NULL},
    {"RANGE", "7", "7"},
    {"RANGE", "1-1", "1"},
    {"RANGE", "1000-1999", "1000-1999"},
    {"RANGE", "2-1", NULL},
    {"RANGE", "-1", NULL},
    {"RANGE", "1-", NULL},
    {"RANGE", "-", NULL},
    {"RANGE", "", NULL},
    {"RANGE", "1-2-3", NULL},
    {"RANGE", "1k-2k", NULL},
    {"RANGE", "inf", NULL},
    {"RANGE", "1-99999999999999999999", NULL},
    {"RANGE", "1-9999999999999999999999999999999999999999", NULL},
    {"COLORS", "", ""},
    {"COLORS", "blue, RED", "red,blue"},
    {"COLORS", "red,red", "red"},
    {"COLORS", "red,pink", NULL},
    {"THRESH", "8k", "8K"},
    {"THRESH", "inf", "inf"},
    {"THRESH", "intra:8k,inter:64k", "intra:8K,inter:64K"},
    {"THRESH", "inter:64k", "intra:auto,inter:64K"},
    {"THRESH", "INTRA:1, inter:1", "1"},
    {"THRESH", "intra:", NULL},
    {"THRESH", "inner:1", NULL},
    {"THRESH", "intra:1,2", NULL},
    {"THRESH", "x", NULL},
    {"THRESH", ":", NULL},
};

static void config_value__set_and_print(const struct test_param *param)
{
    (void)param;
    check_rows(rows, UCS_ARRAY_COUNT(rows));
}

static void config_value__bitmap_of_64_names(const struct test_param *param)
{
    static char        texts[66][16];
    static const char *names[67];
    struct small {
        struct ucs_config_base base;
        uint64_t               bits;
    } small;
    const struct ucs_config_entry small_entries[] = {
        {"BITS", "", offsetof(struct small, bits), UCS_CONFIG_TYPE_BITMAP,
         names, "?", 0, NULL},
        {0},
    };
    const struct ucs_config_table small_table = {
        "small", "", small_entries, sizeof(small), 0, NULL};
    char text[32];
    int  i;

    (void)param;
    log_capture_start();
    for (i = 0; i < 66; ++i) {
        (void)snprintf(texts[i], sizeof(texts[i]), "n%d", i);
        names[i] = texts[i];
    }
    ck_assert_int_eq(ucsi_config_read(&small_table, NULL, &small), UCS_OK);
    ck_assert_int_eq(ucsi_config_set(&small_table, &small, "BITS", "n0,n63"),
                     UCS_OK);
    ck_assert_uint_eq(small.bits, (1ull << 63) | 1);
    ck_assert_int_eq(
        ucsi_config_get_text(&small_table, &small, "BITS", text, 32), UCS_OK);
    ck_assert_str_eq(text, "n0,n63");
    ck_assert_int_eq(ucsi_config_set(&small_table, &small, "BITS", "n64"),
                     UCS_ERR_INVALID_PARAM);
    ucsi_config_release(&small_table, &small);
}

static void config_value__list_has_a_limit(const struct test_param *param)
{
    static char value[2 * (UCS_CONFIG_LIST_COUNT_MAX + 1) + 1];
    int         i;

    (void)param;
    log_capture_start();
    ck_assert_int_eq(ucsi_config_read(&table, NULL, &options), UCS_OK);
    for (i = 0; i < UCS_CONFIG_LIST_COUNT_MAX; ++i) {
        memcpy(value + 2 * i, "x,", 2);
    }
    ck_assert_int_eq(ucsi_config_set(&table, &options, "LIST", value), UCS_OK);
    ck_assert_uint_eq(options.list.count, UCS_CONFIG_LIST_COUNT_MAX);
    ck_assert_str_eq(options.list.names[UCS_CONFIG_LIST_COUNT_MAX - 1], "x");
    value[2 * UCS_CONFIG_LIST_COUNT_MAX] = 'x';
    ck_assert_int_eq(ucsi_config_set(&table, &options, "LIST", value),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(options.list.count, UCS_CONFIG_LIST_COUNT_MAX);
    ucsi_config_release(&table, &options);
}

static const struct test_case cases[] = {
    TEST(config_value__set_and_print),
    TEST(config_value__bitmap_of_64_names),
    TEST(config_value__list_has_a_limit),
    {0},
};

const struct test_suite config_value_suite = {"config_value", cases, NULL, NULL,
                                              NULL};
