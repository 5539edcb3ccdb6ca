/* SPDX-License-Identifier: BSD-3-Clause */
/* test_module.c - which files of a module folder are loaded, which are
 * refused and why, and which are not touched. */
#include "uct/base/module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ucs/log.h"
#include "uct/base/transports.h"
#include "uct/suites.h"

static char                   folder[64];
static struct uct_module_list list;

static void setup(const struct test_param *param)
{
    (void)param;
    ucsi_log_set_level(UCS_LOG_LEVEL_ERROR); /* refusals are warnings */
    (void)snprintf(folder, sizeof(folder), "/tmp/causeway_modules_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(const struct test_param *param)
{
    char command[128];

    (void)param;
    (void)snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* Put the sample with that name into the folder. */
static void add_as(const char *sample, const char *file_name)
{
    char from[512], to[512];

    (void)snprintf(from, sizeof(from), "%s/causeway_uct_%s.so",
                   MODULE_SAMPLE_DIR, sample);
    (void)snprintf(to, sizeof(to), "%s/%s", folder, file_name);
    ck_assert_msg(access(from, R_OK) == 0, "%s: %s", from, strerror(errno));
    ck_assert_int_eq(symlink(from, to), 0);
}

static void add(const char *sample)
{
    char file_name[64];

    (void)snprintf(file_name, sizeof(file_name), "causeway_uct_%s.so", sample);
    add_as(sample, file_name);
}

static void add_text(const char *file_name, const char *text)
{
    char  path[512];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, file_name);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static void load(void)
{
    uct_modules_load(folder, uct_builtin_transports, &list);
}

static unsigned report_lines(void)
{
    const char *next;
    unsigned    count = 0;

    for (next = list.report; *next != '\0'; ++next) {
        count += (*next == '\n');
    }
    return count;
}

static void load__a_good_one(const struct test_param *param)
{
    (void)param;
    add("good");
    load();
    ck_assert_uint_eq(list.count, 1);
    ck_assert_str_eq(list.transports[0]->name, "good");
    ck_assert_str_eq(list.report, "");
}

/* One row per wrong sample: what the report must say. The first wrong field
 * is the one that is reported: magic before ABI before size. */
static const struct {
    const char *sample;
    const char *why;
} wrong[] = {
    {"magic", "magic 0x1"},       {"abi", "transport ABI 99"},
    {"bytes", "has 8 bytes"},     {"symbol", "exports no causeway_uct_module"},
    {"flush", "ep_flush"},        {"renamed", "different names"},
    {"self", "is there already"},
};

static void load__refuses_with_a_reason(const struct test_param *param)
{
    unsigned index;

    (void)param;
    for (index = 0; index < UCS_ARRAY_COUNT(wrong); ++index) {
        add(wrong[index].sample);
    }
    add("good");
    load();
    ck_assert_uint_eq(list.count, 1);
    ck_assert_str_eq(list.transports[0]->name, "good");
    ck_assert_uint_eq(report_lines(), UCS_ARRAY_COUNT(wrong));
    for (index = 0; index < UCS_ARRAY_COUNT(wrong); ++index) {
        ck_assert_msg(strstr(list.report, wrong[index].why) != NULL,
                      "no \"%s\" in:\n%s", wrong[index].why, list.report);
    }
}

static void load__refuses_what_is_no_object(const struct test_param *param)
{
    (void)param;
    add_text("causeway_uct_text.so", "not an object");
    add_text("causeway_uct_empty.so", "");
    load();
    ck_assert_uint_eq(list.count, 0);
    ck_assert_uint_eq(report_lines(), 2);
}

/* UCX's modules, other names: never opened, so nothing to report. */
static void load__opens_no_other_name(const struct test_param *param)
{
    (void)param;
    add_text("libuct_ib.so.0", "not an object");
    add_text("libuct_ib.so", "not an object");
    add_text("causeway_uct_.so", "no name");
    add_text("causeway_uct_x.so.1", "not the suffix");
    add_text("xcauseway_uct_x.so", "not the prefix");
    load();
    ck_assert_uint_eq(list.count, 0);
    ck_assert_str_eq(list.report, "");
}

static void load__ucx_folder_is_harmless(const struct test_param *param)
{
    static const char ucx[] = "/usr/lib/x86_64-linux-gnu/ucx";

    (void)param;
    if (access(ucx, R_OK) != 0) {
        test_skip("no %s here", ucx);
    }
    uct_modules_load(ucx, uct_builtin_transports, &list);
    ck_assert_uint_eq(list.count, 0);
    ck_assert_str_eq(list.report, "");
}

static void load__no_folder_is_an_empty_one(const struct test_param *param)
{
    (void)param;
    uct_modules_load("/nonexistent/causeway", uct_builtin_transports, &list);
    ck_assert_uint_eq(list.count, 0);
    ck_assert_str_eq(list.report, "");
}

static void load__long_reports_are_cut(const struct test_param *param)
{
    char     name[128];
    unsigned index;

    (void)param;
    for (index = 0; index < 80; ++index) {
        (void)snprintf(name, sizeof(name),
                       "causeway_uct_a_rather_long_name_%u.so", index);
        add_text(name, "not an object");
    }
    load();
    ck_assert_uint_lt(strlen(list.report), UCT_MODULE_REPORT_BYTES_MAX);
    ck_assert_uint_gt(strlen(list.report), UCT_MODULE_REPORT_BYTES_MAX / 2);
}

static void check__builtin_transports_are_whole(const struct test_param *param)
{
    char     reason[UCT_REASON_BYTES_MAX] = "";
    unsigned index;

    (void)param;
    for (index = 0; uct_builtin_transports[index] != NULL; ++index) {
        ck_assert_msg(
            uct_transport_check(uct_builtin_transports[index], reason),
            "%s: %s", uct_builtin_transports[index]->name, reason);
    }
    ck_assert_uint_ge(index, 1);
}

static const struct test_case cases[] = {
    TEST(load__a_good_one),
    TEST(load__refuses_with_a_reason),
    TEST(load__refuses_what_is_no_object),
    TEST(load__opens_no_other_name),
    TEST(load__ucx_folder_is_harmless),
    TEST(load__no_folder_is_an_empty_one),
    TEST(load__long_reports_are_cut),
    TEST(check__builtin_transports_are_whole),
    {0}};

const struct test_suite module_suite = {
    .name = "module", .cases = cases, .setup = setup, .teardown = teardown};
