/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/type/status.h"

#include <string.h>

#include "lib/test.h"
#include "ucs/suites.h"

static void
status_string__every_code_has_its_own_text(const struct test_param *param)
{
    int a;
    int b;

    (void)param;
    for (a = 1; a >= UCS_ERR_CONNECTION_RESET; --a) {
        const char *text = ucs_status_string((ucs_status_t)a);

        ck_assert_msg(*text != '\0', "status %d", a);
        ck_assert_msg(strncmp(text, "Unknown", 7) != 0, "status %d", a);
        for (b = 1; b > a; --b) {
            ck_assert_msg(strcmp(text, ucs_status_string((ucs_status_t)b)) != 0,
                          "statuses %d and %d: %s", a, b, text);
        }
    }
}

static void status_string__ranges(const struct test_param *param)
{
    static const struct {
        int         code;
        const char *text;
    } rows[] = {
        {-39, "Unknown error -39"},
        {UCS_ERR_FIRST_LINK_FAILURE, "The link failed"},
        {UCS_ERR_LAST_LINK_FAILURE, "The link failed"},
        {UCS_ERR_FIRST_ENDPOINT_FAILURE, "The endpoint failed"},
        {-79, "The endpoint failed"},
        {UCS_ERR_ENDPOINT_TIMEOUT,
         "The endpoint's peer did not answer in time"},
        {UCS_ERR_LAST_ENDPOINT_FAILURE, "The endpoint failed"},
        {-90, "Unknown error -90"},
        {-26, "Unknown error -26"},
        {UCS_ERR_LAST, "Unknown error -100"},
        {-128, "Unknown error -128"},
        {2, "Unknown error 2"},
        {127, "Unknown error 127"},
    };
    size_t i;

    (void)param;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        ck_assert_str_eq(ucs_status_string((ucs_status_t)rows[i].code),
                         rows[i].text);
    }
}

static void status_pointer__edges(const struct test_param *param)
{
    static const struct {
        intptr_t value;
        bool     is_error;
        bool     is_pointer;
    } rows[] = {
        {0, false, false},     {1, false, true},    {-1, true, false},
        {-99, true, false},    {-100, true, false}, {-101, false, true},
        {0x1000, false, true},
    };
    size_t i;

    (void)param;
    ck_assert_uint_eq(sizeof(ucs_status_t), 1);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        void *pointer = (void *)rows[i].value;

        ck_assert_msg(UCS_PTR_IS_ERR(pointer) == rows[i].is_error, "row %zu",
                      i);
        ck_assert_msg(UCS_PTR_IS_PTR(pointer) == rows[i].is_pointer, "row %zu",
                      i);
    }
    ck_assert_int_eq(UCS_PTR_STATUS(UCS_STATUS_PTR(UCS_ERR_BUSY)),
                     UCS_ERR_BUSY);
}

static const struct test_case cases[] = {
    TEST(status_string__every_code_has_its_own_text),
    TEST(status_string__ranges),
    TEST(status_pointer__edges),
    {0},
};

const struct test_suite status_suite = {"status", cases, NULL, NULL, NULL};
