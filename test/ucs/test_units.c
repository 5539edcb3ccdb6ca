/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/units.h"

#include <locale.h>
#include <math.h>
#include <string.h>

#include "lib/test.h"
#include "ucs/suites.h"

#define INF   UCS_UNITS_INF
#define AUTO  UCS_UNITS_AUTO
#define BAD   UCS_ERR_INVALID_PARAM
#define RANGE UCS_ERR_OUT_OF_RANGE

struct row {
    const char  *text;
    uint64_t     value;
    ucs_status_t status;
};

typedef ucs_status_t (*parse_fn)(const char *text, uint64_t *value_p);
typedef char *(*print_fn)(uint64_t value, char *text, size_t text_bytes);

static void check_rows(const struct row *rows, size_t count, parse_fn parse)
{
    size_t i;

    for (i = 0; i < count; ++i) {
        uint64_t     value  = 0x5a5a;
        ucs_status_t status = parse(rows[i].text, &value);

        ck_assert_msg(status == rows[i].status, "\"%s\": status %d",
                      rows[i].text, status);
        ck_assert_msg(value == ((status == UCS_OK) ? rows[i].value : 0x5a5a),
                      "\"%s\": %llu", rows[i].text, (unsigned long long)value);
    }
}

/* What is printed is read back the same: around the powers, and at random. */
static void check_round_trip(print_fn print, parse_fn parse)
{
    char     text[UCS_UNITS_TEXT_BYTES_MAX];
    uint64_t back;
    int      i;

    for (i = 0; i < 20000; ++i) {
        uint64_t value = (i < 64 * 3)
                             ? (1ull << (i / 3)) + (uint64_t)(i % 3) - 1
                             : test_random() >> test_random_below(64);

        if (i % 5 == 0) {
            value = value / 1000000 * 1000000;
        }
        print(value, text, sizeof(text));
        if ((parse(text, &back) != UCS_OK) || (back != value) ||
            (strlen(text) >= sizeof(text) - 1)) {
            ck_abort_msg("%llu printed as \"%s\"", (unsigned long long)value,
                         text);
        }
    }
    ck_assert_str_eq(print(INF, text, sizeof(text)), "inf");
    ck_assert_str_eq(print(AUTO, text, sizeof(text)), "auto");
    ck_assert_str_eq(print(1ull << 40, text, 2)[0] ? "cut" : "", "cut");
    ck_assert_uint_eq(strlen(text), 1);
}

static void units_count__parse(const struct test_param *param)
{
    static const struct row rows[] = {
        {"0", 0, UCS_OK},
        {"007", 7, UCS_OK},
        {"18446744073709551613", UINT64_MAX - 2, UCS_OK},
        {"18446744073709551614", 0, RANGE},
        {"18446744073709551615", 0, RANGE},
        {"18446744073709551616", 0, RANGE},
        {"99999999999999999999999999", 0, RANGE},
        {"inf", INF, UCS_OK},
        {"INF", INF, UCS_OK},
        {"auto", AUTO, UCS_OK},
        {"", 0, BAD},
        {"-1", 0, BAD},
        {"+1", 0, BAD},
        {" 1", 0, BAD},
        {"1 ", 0, BAD},
        {"1k", 0, BAD},
        {"1.0", 0, BAD},
        {"0x10", 0, BAD},
        {"infinite", 0, BAD},
    };

    (void)param;
    check_rows(rows, UCS_ARRAY_COUNT(rows), ucsi_units_parse_count);
    check_round_trip(ucsi_units_print_count, ucsi_units_parse_count);
}

static void units_size__parse(const struct test_param *param)
{
    static const struct row rows[] = {
        {"0", 0, UCS_OK},
        {"1", 1, UCS_OK},
        {"8192", 8192, UCS_OK},
        {"8b", 8, UCS_OK},
        {"8B", 8, UCS_OK},
        {"8k", 8192, UCS_OK},
        {"8K", 8192, UCS_OK},
        {"8kb", 8192, UCS_OK},
        {"8KB", 8192, UCS_OK},
        {"3m", 3 << 20, UCS_OK},
        {"3Mb", 3 << 20, UCS_OK},
        {"2g", 2ull << 30, UCS_OK},
        {"5t", 5ull << 40, UCS_OK},
        {"5p", 5ull << 50, UCS_OK},
        {"1.5k", 1536, UCS_OK},
        {"0.1k", 102, UCS_OK},  /* 102.4 */
        {"0.0005k", 1, UCS_OK}, /* 0.512 */
        {"0.0001k", 0, UCS_OK},
        {"16383p", 16383ull << 50, UCS_OK},
        {"16384p", 0, RANGE},
        {"18446744073709551613", UINT64_MAX - 2, UCS_OK},
        {"18446744073709551614", 0, RANGE},
        {"18446744073709551615b", 0, RANGE},
        {"18014398509481983k", 18014398509481983ull << 10, UCS_OK},
        {"18014398509481984k", 0, RANGE},
        {"99999999999999999999999999g", 0, RANGE},
        {"inf", INF, UCS_OK},
        {"Auto", AUTO, UCS_OK},
        {"", 0, BAD},
        {"k", 0, BAD},
        {"foo", 0, BAD},
        {"-1", 0, BAD},
        {"8kk", 0, BAD},
        {"8bb", 0, BAD},
        {"8kB ", 0, BAD},
        {"8 k", 0, BAD},
        {"8kib", 0, BAD},
        {"8x", 0, BAD},
        {"1.", 0, BAD},
        {".5k", 0, BAD},
        {"1.5.5k", 0, BAD},
        {"1e3", 0, BAD},
        {"\xff", 0, BAD},
    };

    (void)param;
    check_rows(rows, UCS_ARRAY_COUNT(rows), ucsi_units_parse_size);
    check_round_trip(ucsi_units_print_size, ucsi_units_parse_size);
}

static void units_time__parse(const struct test_param *param)
{
    static const struct row rows[] = {
        {"0", 0, UCS_OK},
        {"1", 1000000000, UCS_OK},
        {"20s", 20000000000, UCS_OK},
        {"20S", 20000000000, UCS_OK},
        {"1ms", 1000000, UCS_OK},
        {"1.5us", 1500, UCS_OK},
        {"7ns", 7, UCS_OK},
        {"0.1s", 100000000, UCS_OK},
        {"20000000.00us", 20000000000, UCS_OK}, /* as UCX prints it */
        {"0.4ns", 0, UCS_OK},
        {"0.5ns", 1, UCS_OK},
        {"0.1234567891234567891234567891234s", 123456789, UCS_OK},
        {"18446744073.709551613s", UINT64_MAX - 2, UCS_OK},
        {"18446744073.709551614s", 0, RANGE},
        {"18446744074s", 0, RANGE},
        {"inf", INF, UCS_OK},
        {"auto", AUTO, UCS_OK},
        {"", 0, BAD},
        {"s", 0, BAD},
        {"1m", 0, BAD},
        {"1h", 0, BAD},
        {"1sec", 0, BAD},
        {"-1s", 0, BAD},
        {"1 s", 0, BAD},
        {"1,5s", 0, BAD},
    };

    (void)param;
    check_rows(rows, UCS_ARRAY_COUNT(rows), ucsi_units_parse_time);
    check_round_trip(ucsi_units_print_time, ucsi_units_parse_time);
}

static void units_bandwidth__parse(const struct test_param *param)
{
    static const struct row rows[] = {
        {"0Bps", 0, UCS_OK},
        {"1Bps", 1, UCS_OK},
        {"8bps", 1, UCS_OK},
        {"4bps", 1, UCS_OK}, /* half a byte, rounded up */
        {"3bps", 0, UCS_OK},
        {"12179.00MBps", 12179ull << 20, UCS_OK},
        {"2200MBs", 2200ull << 20, UCS_OK},
        {"10GB/s", 10ull << 30, UCS_OK},
        {"100Gbps", (100ull << 30) / 8, UCS_OK},
        {"1.5kBps", 1536, UCS_OK},
        {"1TBps", 1ull << 40, UCS_OK},
        {"inf", INF, UCS_OK},
        {"auto", AUTO, UCS_OK},
        {"16777215TBps", 16777215ull << 40, UCS_OK},
        {"16777216TBps", 0, RANGE},
        {"", 0, BAD},
        {"10", 0, BAD},
        {"10G", 0, BAD},
        {"10GB", 0, BAD},
        {"10PBps", 0, BAD},
        {"MBps", 0, BAD},
        {"10MBpss", 0, BAD},
        {"-1MBps", 0, BAD},
    };

    (void)param;
    check_rows(rows, UCS_ARRAY_COUNT(rows), ucsi_units_parse_bandwidth);
    check_round_trip(ucsi_units_print_bandwidth, ucsi_units_parse_bandwidth);
}

static void units_print__largest_whole_unit(const struct test_param *param)
{
    static const struct {
        print_fn    print;
        uint64_t    value;
        const char *text;
    } rows[] = {
        {ucsi_units_print_size, 0, "0"},
        {ucsi_units_print_size, 1023, "1023"},
        {ucsi_units_print_size, 1024, "1K"},
        {ucsi_units_print_size, 8256, "8256"},
        {ucsi_units_print_size, 1536 << 10, "1536K"},
        {ucsi_units_print_size, 1ull << 50, "1P"},
        {ucsi_units_print_size, UINT64_MAX - 2, "18446744073709551613"},
        {ucsi_units_print_time, 0, "0s"},
        {ucsi_units_print_time, 1, "1ns"},
        {ucsi_units_print_time, 1500, "1500ns"},
        {ucsi_units_print_time, 250000, "250us"},
        {ucsi_units_print_time, 20000000000, "20s"},
        {ucsi_units_print_bandwidth, 0, "0Bps"},
        {ucsi_units_print_bandwidth, 1000, "1000Bps"},
        {ucsi_units_print_bandwidth, 12179ull << 20, "12179MBps"},
        {ucsi_units_print_count, 4096, "4096"},
    };
    char   text[UCS_UNITS_TEXT_BYTES_MAX];
    size_t i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        ck_assert_str_eq(rows[i].print(rows[i].value, text, sizeof(text)),
                         rows[i].text);
    }
}

static void units_int__parse(const struct test_param *param)
{
    static const struct {
        const char  *text;
        int64_t      value;
        ucs_status_t status;
    } rows[] = {
        {"0", 0, UCS_OK},
        {"-0", 0, UCS_OK},
        {"-1", -1, UCS_OK},
        {"+17", 17, UCS_OK},
        {"010", 10, UCS_OK},
        {"9223372036854775807", INT64_MAX, UCS_OK},
        {"9223372036854775808", 0, RANGE},
        {"-9223372036854775808", INT64_MIN, UCS_OK},
        {"-9223372036854775809", 0, RANGE},
        {"", 0, BAD},
        {"-", 0, BAD},
        {"--1", 0, BAD},
        {" 1", 0, BAD},
        {"1 ", 0, BAD},
        {"1.5", 0, BAD},
        {"inf", 0, BAD},
    };
    size_t i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        int64_t value = 0x5a5a;

        ck_assert_msg(ucsi_units_parse_int(rows[i].text, &value) ==
                          rows[i].status,
                      "\"%s\"", rows[i].text);
        ck_assert_int_eq(value,
                         (rows[i].status == UCS_OK) ? rows[i].value : 0x5a5a);
    }
}

static void units_double__parse(const struct test_param *param)
{
    static const struct {
        const char  *text;
        double       value;
        ucs_status_t status;
    } rows[] = {
        {"0", 0, UCS_OK},
        {"1.5", 1.5, UCS_OK},
        {"-2.", -2, UCS_OK},
        {".25", 0.25, UCS_OK},
        {"1e3", 1000, UCS_OK},
        {"1E-3", 0.001, UCS_OK},
        {"+4e+0", 4, UCS_OK},
        {"1e308", 1e308, UCS_OK},
        {"1e309", 0, RANGE},
        {"-1e309", 0, RANGE},
        {"1e-400", 0, UCS_OK},
        {"inf", HUGE_VAL, UCS_OK},
        {"-inf", -HUGE_VAL, UCS_OK},
        {"nan", 0, BAD},
        {"", 0, BAD},
        {".", 0, BAD},
        {"e3", 0, BAD},
        {"1e", 0, BAD},
        {"0x1p3", 0, BAD},
        {"1,5", 0, BAD},
        {" 1", 0, BAD},
        {"1 ", 0, BAD},
    };
    size_t i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        double value = 77;

        ck_assert_msg(ucsi_units_parse_double(rows[i].text, &value) ==
                          rows[i].status,
                      "\"%s\"", rows[i].text);
        ck_assert(value == ((rows[i].status == UCS_OK) ? rows[i].value : 77));
    }
}

static void check_double(double value)
{
    char   text[UCS_UNITS_TEXT_BYTES_MAX];
    double back;

    ucsi_units_print_double(value, text, sizeof(text));
    if ((strchr(text, ',') != NULL) ||
        (ucsi_units_parse_double(text, &back) != UCS_OK) || (back != value)) {
        ck_abort_msg("%a printed as %s", value, text);
    }
}

static void units_double__round_trip(const struct test_param *param)
{
    static const double edges[] = {0,         0.1,      1.0 / 3, -1e-300,
                                   1.7e308,   5e-324,   1e17,    HUGE_VAL,
                                   -HUGE_VAL, 123456789};
    size_t              i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(edges); ++i) {
        check_double(edges[i]);
    }
    for (i = 0; i < 2000; ++i) {
        uint64_t bits = test_random();
        double   value;

        memcpy(&value, &bits, sizeof(value));
        if (!isnan(value)) {
            check_double(value);
        }
    }
}

static void units_double__locale_does_not_matter(const struct test_param *param)
{
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE",
                                          "fr_FR.UTF-8"};
    size_t                   i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(locales); ++i) {
        if (setlocale(LC_ALL, locales[i]) != NULL) {
            check_double(0.5);
            return;
        }
    }
    test_skip("no locale with a decimal comma is installed");
}

static const struct test_case cases[] = {
    TEST(units_count__parse),
    TEST(units_size__parse),
    TEST(units_time__parse),
    TEST(units_bandwidth__parse),
    TEST(units_print__largest_whole_unit),
    TEST(units_int__parse),
    TEST(units_double__parse),
    TEST(units_double__round_trip),
    TEST(units_double__locale_does_not_matter),
    {0},
};

const struct test_suite units_suite = {"units", cases, NULL, NULL, NULL};
