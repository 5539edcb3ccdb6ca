/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/log_config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucs/compat.h"
#include "ucs/log.h"
#include "ucs/suites.h"

static int level_now(void)
{
    (void)ucsi_log_check(UCS_LOG_LEVEL_FATAL); /* looks up the environment */
    return atomic_load(&ucsi_log_level);
}

/* Read and apply with that prefix, as ucp_config_read() does. */
static void apply(const char *app_prefix)
{
    struct ucs_log_config config;

    ck_assert_int_eq(
        ucsi_config_read(&ucsi_log_config_table, app_prefix, &config), UCS_OK);
    ucsi_log_config_apply(&config);
    ucsi_config_release(&ucsi_log_config_table, &config);
}

static void modify(const char *name, const char *value, ucs_status_t expected)
{
    struct ucs_log_config config;

    ck_assert_int_eq(ucsi_config_read(&ucsi_log_config_table, NULL, &config),
                     UCS_OK);
    ck_assert_int_eq(
        ucsi_config_set(&ucsi_log_config_table, &config, name, value),
        expected);
    ucsi_log_config_apply(&config);
    ucsi_config_release(&ucsi_log_config_table, &config);
}

static void set(const char *name, const char *value)
{
    ck_assert_int_eq(setenv(name, value, 1), 0);
}

static void log_config__defaults_change_nothing(const struct test_param *param)
{
    (void)param;
    ucsi_log_set_level(UCS_LOG_LEVEL_TRACE);
    apply(NULL);
    ck_assert_int_eq(level_now(), UCS_LOG_LEVEL_TRACE);
}

/* The application's prefix wins over UCX_, and programs of UCX see it. */
static void log_config__app_prefix(const struct test_param *param)
{
    (void)param;
    set("UCX_LOG_LEVEL", "error");
    set("APP_UCX_LOG_LEVEL", "Debug");
    ck_assert_int_eq(level_now(), UCS_LOG_LEVEL_ERROR);
    apply("OTHER");
    ck_assert_int_eq(level_now(), UCS_LOG_LEVEL_ERROR);
    apply("APP");
    ck_assert_int_eq(level_now(), UCS_LOG_LEVEL_DEBUG);
    ck_assert_int_eq(ucs_global_opts.log_component.log_level,
                     UCS_LOG_LEVEL_DEBUG);
}

static void log_config__file(const struct test_param *param)
{
    char  folder[] = "/tmp/ucs_test_log_config_XXXXXX";
    char  path[64];
    FILE *file;

    (void)param;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/ucx.conf", folder);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    (void)fprintf(file, "UCX_LOG_LEVEL = info\n");
    ck_assert_int_eq(fclose(file), 0);
    set("UCX_CONFIG_DIR", folder);
    ck_assert_int_eq(level_now(), UCS_LOG_LEVEL_WARN);
    apply(NULL);
    (void)unlink(path);
    (void)rmdir(folder);
    ck_assert_int_eq(level_now(), UCS_LOG_LEVEL_INFO);
    /* The environment is stronger than a file, at any time. */
    set("UCX_LOG_LEVEL", "error");
    apply(NULL);
    ck_assert_int_eq(level_now(), UCS_LOG_LEVEL_ERROR);
    ck_assert_int_eq(unsetenv("UCX_LOG_LEVEL"), 0);
    apply(NULL);
    ck_assert_int_eq(level_now(), UCS_LOG_LEVEL_ERROR);
}

/* A second library of the process that reads its settings takes nothing
 * back. */
static void log_config__modified_stays(const struct test_param *param)
{
    (void)param;
    set("UCX_LOG_LEVEL", "trace");
    modify("LOG_LEVEL", "fatal", UCS_OK);
    ck_assert_int_eq(level_now(), UCS_LOG_LEVEL_FATAL);
    apply(NULL);
    ck_assert_int_eq(level_now(), UCS_LOG_LEVEL_FATAL);
    modify("LOG_LEVEL", "diag", UCS_OK);
    ck_assert_int_eq(level_now(), UCS_LOG_LEVEL_DIAG);
}

/* A bad value counts as absent in the environment, and is refused when a
 * program sets it. */
static void log_config__bad_values(const struct test_param *param)
{
    (void)param;
    set("APP_UCX_LOG_LEVEL", "loud");
    apply("APP");
    ck_assert_int_eq(level_now(), UCS_LOG_LEVEL_WARN);
    ucsi_log_set_level(UCS_LOG_LEVEL_FATAL);
    modify("LOG_LEVEL", "loud", UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(level_now(), UCS_LOG_LEVEL_FATAL);
}

/* What a file holds that mkstemp() made; it is gone then. */
static void check_file(const char *path, const char *expected)
{
    char    text[1024];
    int     fd     = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = read(fd, text, sizeof(text) - 1);

    ck_assert_int_ge(length, 0);
    text[length] = '\0';
    (void)close(fd);
    (void)unlink(path);
    ck_assert_msg(strstr(text, expected) != NULL, "no \"%s\" in: %s", expected,
                  text);
}

static void make_file(char *path)
{
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(close(fd), 0);
}

/* The log goes on in another file, in the middle; the first one is closed. */
static void log_config__log_file_moves(const struct test_param *param)
{
    char first[]  = "/tmp/ucs_test_log_config_XXXXXX";
    char second[] = "/tmp/ucs_test_log_config_XXXXXX";

    (void)param;
    make_file(first);
    make_file(second);
    set("UCX_LOG_FILE", first);
    ucs_warn("one");
    set("APP_UCX_LOG_FILE", second);
    apply("APP");
    ucs_warn("two");
    modify("LOG_FILE", "stderr", UCS_OK);
    ucs_warn("three: this line is meant to be here");
    ucsi_log_close();
    check_file(first, "one");
    check_file(second, "two");
}

static const struct test_case cases[] = {
    TEST(log_config__defaults_change_nothing),
    TEST(log_config__app_prefix),
    TEST(log_config__file),
    TEST(log_config__modified_stays),
    TEST(log_config__bad_values),
    TEST(log_config__log_file_moves),
    {0},
};

const struct test_suite log_config_suite = {"log_config", cases, NULL, NULL,
                                            NULL};
