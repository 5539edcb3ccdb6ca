/* SPDX-License-Identifier: BSD-3-Clause */
/* test_json.c - src/ucs/json.c: commas, escapes, numbers that JSON has not. */
#include "ucs/json.h"

#include <math.h>

#include "lib/test.h"
#include "ucs/suites.h"

static void json__members_and_commas(const struct test_param *param)
{
    char              text[256];
    struct ucs_strbuf json;

    (void)param;
    ucs_strbuf_init(&json, text, sizeof(text));
    ucsi_json_open(&json, NULL);
    ucsi_json_open(&json, "empty");
    ucsi_json_close(&json);
    ucsi_json_u64(&json, "most", UINT64_MAX);
    ucsi_json_open(&json, "inner");
    ucsi_json_bool(&json, "yes", true);
    ucsi_json_bool(&json, "no", false);
    ucsi_json_close(&json);
    ucsi_json_text(&json, "last", "");
    ucsi_json_close(&json);
    ck_assert_str_eq(text, "{\"empty\":{},\"most\":18446744073709551615,"
                           "\"inner\":{\"yes\":true,\"no\":false},"
                           "\"last\":\"\"}");
}

static void json__text_is_escaped(const struct test_param *param)
{
    char              text[64];
    struct ucs_strbuf json;

    (void)param;
    ucs_strbuf_init(&json, text, sizeof(text));
    ucsi_json_text(&json, "t", "a\"b\\c\nd\xc3\xa9{");
    ucsi_json_u64(&json, "n", 1);
    ck_assert_str_eq(text, "\"t\":\"a\\\"b\\\\c?d??{\",\"n\":1");
}

static void json__numbers(const struct test_param *param)
{
    static const struct row {
        double      value;
        const char *text;
    } rows[] = {
        {0, "\"d\":0"},
        {1.5e-9, "\"d\":1.5e-09"},
        {-2, "\"d\":-2"},
        {(double)HUGE_VAL, "\"d\":null"},
        {-(double)HUGE_VAL, "\"d\":null"},
        {(double)NAN, "\"d\":null"},
    };

    (void)param;
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        char              text[64];
        struct ucs_strbuf json;

        ucs_strbuf_init(&json, text, sizeof(text));
        ucsi_json_double(&json, "d", rows[i].value);
        ck_assert_str_eq(text, rows[i].text);
    }
}

static void json__cut_is_remembered(const struct test_param *param)
{
    char              text[8];
    struct ucs_strbuf json;

    (void)param;
    ucs_strbuf_init(&json, text, sizeof(text));
    ucsi_json_text(&json, "key", "value");
    ck_assert(json.truncated);
    ck_assert_uint_eq(json.length, sizeof(text) - 1);
}

static const struct test_case json_cases[] = {
    TEST(json__members_and_commas),
    TEST(json__text_is_escaped),
    TEST(json__numbers),
    TEST(json__cut_is_remembered),
    {0},
};

const struct test_suite json_suite = {.name = "json", .cases = json_cases};
