/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucs/log_capture.h"
#include "ucs/suites.h"

struct options {
    struct ucs_config_base base;
    bool                   one;
    bool                   two;
};

static const struct ucs_config_entry entries[] = {
    {"NODELAY", "y", offsetof(struct options, one), UCS_CONFIG_TYPE_BOOL, NULL,
     "?", 0, NULL},
    {"OUR_OWN_OPTION", "y", offsetof(struct options, two), UCS_CONFIG_TYPE_BOOL,
     NULL, "?", 0, NULL},
    {0},
};
static const char *const             families[] = {"NET_", NULL};
static const struct ucs_config_table plain      = {
         "plain", "", entries, sizeof(struct options), 0, NULL};
static const struct ucs_config_table tcp = {
    "tcp", "TCP_", entries, sizeof(struct options), 0, families};
static const struct ucs_config_table *const tables[] = {&plain, &tcp, NULL};

static void set_env(const char *name)
{
    ck_assert_int_eq(setenv(name, "1", 1), 0);
}

static const char *warn(const char *app_prefix)
{
    log_capture_start();
    ucsi_config_warn_unknown(tables, app_prefix);
    return log_captured.text;
}

static void
config_unknown__known_ones_are_silent(const struct test_param *param)
{
    (void)param;
    set_env("UCX_TLS");
    set_env("UCX_OUR_OWN_OPTION");
    set_env("UCX_TCP_OUR_OWN_OPTION");
    set_env("UCX_NET_OUR_OWN_OPTION");
    set_env("UCX_RC_SOMETHING_NEW");
    set_env("UCX_TCP_SOMETHING_NEW");
    set_env("MPI_UCX_RNDV_THRESH");
    set_env("UCX_");
    set_env("UCXX_FOO");
    set_env("MY_UCX_FOO");
    ck_assert_str_eq(warn("MPI"), "");
    ck_assert_uint_eq(log_captured.count, 0);
}

static void
config_unknown__one_line_with_guesses(const struct test_param *param)
{
    const char *text;

    (void)param;
    set_env("UCX_QQQQ");
    set_env("UCX_RNDV_TRESH");
    set_env("UCX_OUR_ONW_OPTION");
    set_env("MPI_UCX_TCP_NODLAY");
    set_env("UCX_NET_NODELAI");
    set_env("OTHER_UCX_QQQQ");
    text = warn("MPI");
    ck_assert_uint_eq(log_captured.count, 1);
    ck_assert_int_eq((int)log_captured.level, UCS_LOG_LEVEL_WARN);
    ck_assert_int_eq(strncmp(text, "5 environment variable(s) ", 26), 0);
    ck_assert_ptr_nonnull(strstr(text, " UCX_QQQQ"));
    ck_assert_ptr_null(strstr(text, "UCX_QQQQ ("));
    ck_assert_ptr_nonnull(
        strstr(text, "UCX_RNDV_TRESH (did you mean UCX_RNDV_THRESH?)"));
    ck_assert_ptr_nonnull(
        strstr(text, "UCX_OUR_ONW_OPTION (did you mean UCX_OUR_OWN_OPTION?)"));
    ck_assert_ptr_nonnull(
        strstr(text, "MPI_UCX_TCP_NODLAY (did you mean UCX_TCP_NODELAY?)"));
    ck_assert_ptr_nonnull(
        strstr(text, "UCX_NET_NODELAI (did you mean UCX_NET_NODELAY?)"));
    ck_assert_ptr_nonnull(strstr(text, "UCX_WARN_UNUSED_ENV_VARS=n"));
    ck_assert_ptr_null(strstr(text, "OTHER"));

    ck_assert_str_eq(warn("MPI"), ""); /* once per process */
}

static void config_unknown__can_be_silenced(const struct test_param *param)
{
    (void)param;
    set_env("UCX_QQQQ");
    ck_assert_int_eq(setenv("UCX_WARN_UNUSED_ENV_VARS", "n", 1), 0);
    ck_assert_str_eq(warn(NULL), "");
}

static void
config_unknown__a_bad_silencer_counts_as_none(const struct test_param *param)
{
    (void)param;
    set_env("UCX_QQQQ");
    ck_assert_int_eq(setenv("UCX_WARN_UNUSED_ENV_VARS", "perhaps", 1), 0);
    ck_assert_str_ne(warn(NULL), "");
}

static void config_unknown__many_and_long(const struct test_param *param)
{
    char name[UCS_CONFIG_NAME_BYTES_MAX + 8];
    int  i;

    (void)param;
    for (i = 0; i < 100; ++i) {
        (void)snprintf(name, sizeof(name), "UCX_%0*d", 120, i);
        set_env(name);
    }
    (void)snprintf(name, sizeof(name), "UCX_%0*d", UCS_CONFIG_NAME_BYTES_MAX,
                   0);
    set_env(name); /* too long to be a name at all */
    ck_assert_int_eq(strncmp(warn(NULL), "100 environment variable(s) ", 28),
                     0);
    ck_assert_ptr_nonnull(strstr(log_captured.text, ", ... ("));
}

static const struct test_case cases[] = {
    TEST(config_unknown__known_ones_are_silent),
    TEST(config_unknown__one_line_with_guesses),
    TEST(config_unknown__can_be_silenced),
    TEST(config_unknown__a_bad_silencer_counts_as_none),
    TEST(config_unknown__many_and_long),
    {0},
};

const struct test_suite config_unknown_suite = {"config_unknown", cases, NULL,
                                                NULL, NULL};
