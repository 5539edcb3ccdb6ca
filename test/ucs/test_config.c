/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucs/config_samples.h"
#include "ucs/suites.h"
#include "ucs/units.h"

static const char *const families[] = {"FA_", "FB_", NULL};

static const struct ucs_config_table table_prefix = {
    "prefixed settings", "TST_", entries, sizeof(struct options), 0, families};
static const struct ucs_config_table table_ignore = {
    "process settings",          "",  entries, sizeof(struct options),
    UCS_CONFIG_TABLE_IGNORE_BAD, NULL};

static void set_env(const char *name, const char *value)
{
    ck_assert_int_eq(setenv(name, value, 1), 0);
}

static void check_origin(const struct ucs_config_table *which, const char *name,
                         enum ucs_config_origin expected, const char *where)
{
    enum ucs_config_origin origin;
    const char            *text;

    ck_assert_int_eq(
        ucsi_config_get_origin(which, &options, name, &origin, &text), UCS_OK);
    ck_assert_int_eq((int)origin, (int)expected);
    ck_assert_str_eq(text, where);
}

static void config_read__defaults(const struct test_param *param)
{
    static const uint64_t gb = 1ull << 30;

    (void)param;
    memset(&options, 0xa5,
           sizeof(options)); /* what was there does not matter */
    ck_assert_int_eq(ucsi_config_read(&table, NULL, &options), UCS_OK);
    ck_assert_str_eq(options.string, "some text");
    ck_assert(options.boolean);
    ck_assert_int_eq(options.ternary, UCS_TRY);
    ck_assert_int_eq(options.on_off, UCS_CONFIG_AUTO);
    ck_assert_uint_eq(options.count, 16);
    ck_assert_int_eq(options.number, -1);
    ck_assert(options.real == 0.5);
    ck_assert_uint_eq(options.size, 8192);
    ck_assert_uint_eq(options.time_ns, 20000000000ull);
    ck_assert_uint_eq(options.bandwidth, 10 * gb);
    ck_assert_int_eq(options.color, 1);
    ck_assert_uint_eq(options.list.count, 1);
    ck_assert_str_eq(options.list.names[0], "all");
    ck_assert(!options.list.is_excluded);
    ck_assert_uint_eq(options.range.first, 0);
    ck_assert_uint_eq(options.range.last, 0);
    ck_assert_uint_eq(options.colors, 5);
    ck_assert_uint_eq(options.threshold.intra_bytes, UCS_UNITS_AUTO);
    ck_assert(!options.hidden);
    check_origin(&table, "LIST", UCS_CONFIG_ORIGIN_DEFAULT, "");
    ucsi_config_release(&table, &options);
    ck_assert_ptr_null(options.base.origins);
    ck_assert_ptr_null(options.string);
    ucsi_config_release(&table, &options); /* again, and of a zero struct */
}

static void
config_read__environment_and_application(const struct test_param *param)
{
    (void)param;
    set_env("UCX_SIZE", "1m");
    set_env("UCX_LIST", "a,b");
    set_env("MPI_UCX_LIST", "^c");
    set_env("OTHER_UCX_SIZE", "9");
    ck_assert_int_eq(ucsi_config_read(&table, NULL, &options), UCS_OK);
    check_text(&table, "LIST", "a,b");
    check_origin(&table, "LIST", UCS_CONFIG_ORIGIN_ENVIRONMENT, "UCX_LIST");
    ucsi_config_release(&table, &options);

    ck_assert_int_eq(ucsi_config_read(&table, "MPI", &options), UCS_OK);
    check_text(&table, "SIZE", "1M");
    check_origin(&table, "SIZE", UCS_CONFIG_ORIGIN_ENVIRONMENT, "UCX_SIZE");
    check_text(&table, "LIST", "^c");
    check_origin(&table, "LIST", UCS_CONFIG_ORIGIN_ENVIRONMENT, "MPI_UCX_LIST");
    ucsi_config_release(&table, &options);
}

static void
config_read__prefix_is_stronger_than_families(const struct test_param *param)
{
    (void)param;
    set_env("UCX_SIZE", "1"); /* not of this table */
    set_env("UCX_FA_UINT", "2");
    set_env("UCX_FB_UINT", "3");
    set_env("UCX_FB_INT", "4");
    set_env("UCX_TST_INT", "5");
    set_env("UCX_FA_TIME", "6s");
    set_env("P_UCX_FA_INT", "7"); /* the application's place is stronger */
    ck_assert_int_eq(ucsi_config_read(&table_prefix, NULL, &options), UCS_OK);
    check_text(&table_prefix, "TST_SIZE", "8K");
    check_text(&table_prefix, "TST_UINT", "3");
    check_text(&table_prefix, "TST_INT", "5");
    check_text(&table_prefix, "FB_INT", "5"); /* a name of the same value */
    check_text(&table_prefix, "TST_TIME", "6s");
    check_origin(&table_prefix, "TST_TIME", UCS_CONFIG_ORIGIN_ENVIRONMENT,
                 "UCX_FA_TIME");
    ucsi_config_release(&table_prefix, &options);

    ck_assert_int_eq(ucsi_config_read(&table_prefix, "P", &options), UCS_OK);
    check_text(&table_prefix, "TST_INT", "7");
    ucsi_config_release(&table_prefix, &options);
}

static void config_read__bad_value_is_named(const struct test_param *param)
{
    (void)param;
    log_capture_start();
    set_env("MPI_UCX_SIZE", "foo");
    ck_assert_int_eq(ucsi_config_read(&table, NULL, &options), UCS_OK);
    ucsi_config_release(&table, &options);
    ck_assert_int_eq(ucsi_config_read(&table, "MPI", &options),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(log_captured.count, 1);
    ck_assert_int_eq((int)log_captured.level, UCS_LOG_LEVEL_ERROR);
    ck_assert_str_eq(log_captured.text,
                     "environment variable MPI_UCX_SIZE: \"foo\" is not valid, "
                     "expected a size such as 8k, with the unit b, k, m, g, t "
                     "or p, or inf or auto");
    ck_assert_ptr_null(options.base.origins); /* nothing to release */

    set_env("MPI_UCX_SIZE", "1");
    set_env("MPI_UCX_COLOR", "pink");
    ck_assert_int_eq(ucsi_config_read(&table, "MPI", &options),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_str_eq(log_captured.text,
                     "environment variable MPI_UCX_COLOR: \"pink\" is not "
                     "valid, expected one of: red, green, blue");
}

static void config_read__bad_value_of_a_process_setting_is_silent(
    const struct test_param *param)
{
    (void)param;
    log_capture_start();
    set_env("UCX_SIZE", "foo");
    set_env("UCX_UINT", "7");
    ck_assert_int_eq(ucsi_config_read(&table_ignore, NULL, &options), UCS_OK);
    ck_assert_uint_eq(log_captured.count, 0);
    check_text(&table_ignore, "SIZE", "8K");
    check_origin(&table_ignore, "SIZE", UCS_CONFIG_ORIGIN_DEFAULT, "");
    check_text(&table_ignore, "UINT", "7");
    ucsi_config_release(&table_ignore, &options);
}

static void config_read__too_long_value(const struct test_param *param)
{
    static char value[UCS_CONFIG_VALUE_BYTES_MAX + 1];

    (void)param;
    log_capture_start();
    memset(value, 'x', UCS_CONFIG_VALUE_BYTES_MAX - 1);
    set_env("UCX_STRING", value);
    ck_assert_int_eq(ucsi_config_read(&table, NULL, &options), UCS_OK);
    check_text(&table, "STRING", value);
    ucsi_config_release(&table, &options);
    value[UCS_CONFIG_VALUE_BYTES_MAX - 1] = 'x';
    set_env("UCX_STRING", value);
    ck_assert_int_eq(ucsi_config_read(&table, NULL, &options),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(log_captured.count, 1);
}

static void config_names__unknown(const struct test_param *param)
{
    static const char *const names[] = {"",         "NONE",     "SIZ", "SIZEX",
                                        "TST_SIZE", "UCX_SIZE", "size"};
    enum ucs_config_origin   origin;
    const char              *where;
    char                     text[16] = "kept";
    size_t                   i;

    (void)param;
    log_capture_start();
    ck_assert_int_eq(ucsi_config_read(&table, NULL, &options), UCS_OK);
    for (i = 0; i < UCS_ARRAY_COUNT(names); ++i) {
        ck_assert_int_eq(ucsi_config_set(&table, &options, names[i], "1"),
                         UCS_ERR_NO_ELEM);
        ck_assert_int_eq(ucsi_config_get_text(&table, &options, names[i], text,
                                              sizeof(text)),
                         UCS_ERR_NO_ELEM);
        ck_assert_int_eq(
            ucsi_config_get_origin(&table, &options, names[i], &origin, &where),
            UCS_ERR_NO_ELEM);
    }
    ck_assert_str_eq(text, "kept");
    ck_assert_uint_eq(log_captured.count, 0);
    ucsi_config_release(&table, &options);
}

static void config_get_text__small_buffers(const struct test_param *param)
{
    char text[10]; /* "some text" needs all */

    (void)param;
    ck_assert_int_eq(ucsi_config_read(&table, NULL, &options), UCS_OK);
    ck_assert_int_eq(ucsi_config_get_text(&table, &options, "STRING", text, 10),
                     UCS_OK);
    ck_assert_str_eq(text, "some text");
    ck_assert_int_eq(ucsi_config_get_text(&table, &options, "STRING", text, 9),
                     UCS_ERR_BUFFER_TOO_SMALL);
    ck_assert_int_eq(ucsi_config_get_text(&table, &options, "COLORS", text, 8),
                     UCS_ERR_BUFFER_TOO_SMALL);
    ck_assert_int_eq(ucsi_config_get_text(&table, &options, "STRING", text, 1),
                     UCS_ERR_BUFFER_TOO_SMALL);
    ck_assert_int_eq(ucsi_config_get_text(&table, &options, "STRING", NULL, 0),
                     UCS_ERR_BUFFER_TOO_SMALL);
    ucsi_config_release(&table, &options);
}

static void config_copy__is_independent(const struct test_param *param)
{
    struct options copy;

    (void)param;
    set_env("UCX_LIST", "^a,b");
    ck_assert_int_eq(ucsi_config_read(&table, NULL, &options), UCS_OK);
    ck_assert_int_eq(ucsi_config_set(&table, &options, "SIZE", "12345"),
                     UCS_OK);
    ck_assert_int_eq(ucsi_config_copy(&table, &options, &copy), UCS_OK);
    ucsi_config_release(&table, &options);

    options = copy;
    check_text(&table, "LIST", "^a,b");
    check_origin(&table, "LIST", UCS_CONFIG_ORIGIN_ENVIRONMENT, "UCX_LIST");
    check_text(&table, "SIZE", "12345");
    check_origin(&table, "SIZE", UCS_CONFIG_ORIGIN_MODIFIED, "");
    check_origin(&table, "TIME", UCS_CONFIG_ORIGIN_DEFAULT, "");
    ucsi_config_release(&table, &options);
}

/* What a print writes, in static memory. */
static const char *print(const struct ucs_config_table *which,
                         const char *title, unsigned flags)
{
    static char text[64 * 1024];
    FILE       *stream = fmemopen(text, sizeof(text), "w");

    ck_assert_ptr_nonnull(stream);
    ucsi_config_print(stream, which, &options, title, flags);
    ck_assert_int_eq(fclose(stream), 0);
    return text;
}

static void config_print__for_programs(const struct test_param *param)
{
    (void)param;
    ck_assert_int_eq(ucsi_config_read(&table_prefix, NULL, &options), UCS_OK);
    ck_assert_int_eq(
        ucsi_config_set(&table_prefix, &options, "TST_STRING", "a b"), UCS_OK);
    ck_assert_str_eq(print(&table_prefix, "title", UCS_CONFIG_PRINT_CONFIG),
                     "UCX_TST_STRING=a b\nUCX_TST_BOOL=y\nUCX_TST_TERNARY=try\n"
                     "UCX_TST_ON_OFF=auto\nUCX_TST_UINT=16\nUCX_TST_INT=-1\n"
                     "UCX_TST_DOUBLE=0.5\nUCX_TST_SIZE=8K\nUCX_TST_TIME=20s\n"
                     "UCX_TST_BANDWIDTH=10GBps\nUCX_TST_COLOR=green\n"
                     "UCX_TST_LIST=all\nUCX_TST_RANGE=0\n"
                     "UCX_TST_COLORS=red,blue\nUCX_TST_THRESH=auto\n");
    ck_assert_ptr_nonnull(
        strstr(print(&table_prefix, NULL,
                     UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_HIDDEN),
               "\nUCX_TST_SECRET=n\n"));
    ucsi_config_release(&table_prefix, &options);
}

static void
config_print__values_that_do_not_parse(const struct test_param *param)
{
    static const char *const values[] = {"a=b", "a\nb", "\x7f", "a\rb"};
    size_t                   i;

    (void)param;
    ck_assert_int_eq(ucsi_config_read(&table, NULL, &options), UCS_OK);
    for (i = 0; i < UCS_ARRAY_COUNT(values); ++i) {
        ck_assert_int_eq(ucsi_config_set(&table, &options, "STRING", values[i]),
                         UCS_OK);
        ck_assert_int_eq(strncmp(print(&table, NULL, UCS_CONFIG_PRINT_CONFIG),
                                 "UCX_BOOL=y\n", 11),
                         0);
    }
    /* For people they are shown, on one line. */
    ck_assert_int_eq(
        strncmp(print(&table, NULL,
                      UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_HEADER),
                "#\n# test settings\n#\n\nUCX_STRING=a?b\n", 36),
        0);
    ucsi_config_release(&table, &options);
}

static void config_print__for_people(const struct test_param *param)
{
    const char *text;

    (void)param;
    set_env("UCX_UINT", "16");
    ck_assert_int_eq(ucsi_config_read(&table, NULL, &options), UCS_OK);
    ck_assert_int_eq(ucsi_config_set(&table, &options, "INT", "3"), UCS_OK);
    text = print(&table, "A title",
                 UCS_CONFIG_PRINT_CONFIG | UCS_CONFIG_PRINT_HEADER |
                     UCS_CONFIG_PRINT_DOC | UCS_CONFIG_PRINT_ORIGIN |
                     UCS_CONFIG_PRINT_COMMENT_DEFAULT);
    ck_assert_int_eq(strncmp(text, "#\n# A title\n#\n\n", 15), 0);
    ck_assert_ptr_nonnull(strstr(text, "\n# A size.\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n# default: 8k\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "# value:   one of: red, green, blue\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n# from default\n# UCX_SIZE=8K\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "\n# from environment: UCX_UINT\nUCX_UINT=16\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "\n# from set by the program\nUCX_INT=3\n"));
    ck_assert_ptr_null(strstr(text, "SECRET"));
    ck_assert_str_eq(print(&table, "T", UCS_CONFIG_PRINT_HEADER),
                     "#\n# T\n#\n\n");
    ucsi_config_release(&table, &options);
}

static const struct test_case cases[] = {
    TEST(config_read__defaults),
    TEST(config_read__environment_and_application),
    TEST(config_read__prefix_is_stronger_than_families),
    TEST(config_read__bad_value_is_named),
    TEST(config_read__bad_value_of_a_process_setting_is_silent),
    TEST(config_read__too_long_value),
    TEST(config_names__unknown),
    TEST(config_get_text__small_buffers),
    TEST(config_copy__is_independent),
    TEST(config_print__for_programs),
    TEST(config_print__values_that_do_not_parse),
    TEST(config_print__for_people),
    {0},
};

const struct test_suite config_suite = {"config", cases, NULL, NULL, NULL};
