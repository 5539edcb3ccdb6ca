/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/config_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucs/config.h"
#include "ucs/log_capture.h"
#include "ucs/suites.h"

static struct ucs_config_store store;

static void parse(const char *text)
{
    ck_assert_int_eq(ucsi_config_store_parse(&store, "f", text, strlen(text)),
                     UCS_OK);
}

static void check_setting(const char *name, const char *value,
                          const char *where)
{
    const struct ucs_config_setting *setting =
        ucsi_config_store_find(&store, name);

    if (value == NULL) {
        ck_assert_ptr_null(setting);
        return;
    }
    ck_assert_msg(setting != NULL, "%s", name);
    ck_assert_str_eq(setting->value, value);
    ck_assert_str_eq(setting->where, where);
}

static void config_file__lines(const struct test_param *param)
{
    (void)param;
    log_capture_start();
    parse("# comment\n"
          "\n"
          "UCX_A=1\n"
          "  UCX_B \t=  two words \r\n"
          "; UCX_C=3\n"
          "UCX_D=\n"
          "UCX_E=a=b # no comment\n"
          "UCX_A=2\n"
          "UCX_LAST=no newline");
    ck_assert_uint_eq(log_captured.count, 0);
    ck_assert_uint_eq(store.count, 6);
    check_setting("UCX_A", "2", "f:8");
    check_setting("UCX_B", "two words", "f:4");
    check_setting("UCX_C", NULL, NULL);
    check_setting("UCX_D", "", "f:6");
    check_setting("UCX_E", "a=b # no comment", "f:7");
    check_setting("UCX_LAST", "no newline", "f:9");
    check_setting("UCX", NULL, NULL);
    check_setting("", NULL, NULL);
    ucsi_config_store_cleanup(&store);
    ck_assert_uint_eq(store.count, 0);
    check_setting("UCX_A", NULL, NULL);
}

static void
config_file__sections_are_passed_over(const struct test_param *param)
{
    (void)param;
    log_capture_start();
    parse("UCX_A=1\n"
          "[Some machine]\n"
          "CPU model=Grace\n"
          "UCX_A=2\n"
          " [] \n"
          "UCX_B=3\n"
          "[x]\nUCX_B=4\n");
    parse("UCX_C=5\n"); /* the next file begins outside of a section */
    ck_assert_uint_eq(log_captured.count, 0);
    check_setting("UCX_A", "1", "f:1");
    check_setting("UCX_B", "3", "f:6");
    check_setting("UCX_C", "5", "f:1");
    ucsi_config_store_cleanup(&store);
}

static void config_file__bad_lines_are_told_once(const struct test_param *param)
{
    static const char *const lines[] = {
        "no equals sign", "=x",    " = ",  "two words=1",
        "UCX-A=1",        "[open", "\x01", "\xff\xfe=1",
    };
    static const char with_nul[] = "UCX_N=a\0b\nUCX_O=1\n";
    size_t            i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(lines); ++i) {
        char text[128];

        log_capture_start();
        (void)snprintf(text, sizeof(text), "UCX_A=1\n%s\n%s\nUCX_B=2\n",
                       lines[i], lines[i]);
        parse(text);
        ck_assert_uint_eq(log_captured.count, 1);
        ck_assert_int_eq((int)log_captured.level, UCS_LOG_LEVEL_WARN);
        ck_assert_str_eq(log_captured.text,
                         "f:2: expected NAME=value or a comment; 2 such "
                         "line(s) left out");
        ck_assert_uint_eq(store.count, 2);
        check_setting("UCX_B", "2", "f:4");
        ucsi_config_store_cleanup(&store);
    }
    ck_assert_int_eq(
        ucsi_config_store_parse(&store, "f", with_nul, sizeof(with_nul) - 1),
        UCS_OK);
    check_setting("UCX_N", NULL, NULL);
    check_setting("UCX_O", "1", "f:2");
    ucsi_config_store_cleanup(&store);
}

static void config_file__long_lines(const struct test_param *param)
{
    static char text[2 * UCS_CONFIG_VALUE_BYTES_MAX];
    int         i;

    (void)param;
    for (i = 0; i < 2; ++i) {
        int length = UCS_CONFIG_VALUE_BYTES_MAX - 1 + i;

        log_capture_start();
        (void)snprintf(text, sizeof(text), "UCX_A=%0*d", length, 0);
        parse(text);
        ck_assert_uint_eq(log_captured.count, (unsigned)i);
        ck_assert_uint_eq(store.count, 1u - (unsigned)i);
        ucsi_config_store_cleanup(&store);

        length = UCS_CONFIG_NAME_BYTES_MAX - 1 + i;
        log_capture_start();
        (void)snprintf(text, sizeof(text), "%0*d=1", length, 0);
        parse(text);
        ck_assert_uint_eq(store.count, 1u - (unsigned)i);
        ucsi_config_store_cleanup(&store);
    }
}

static void config_file__too_many_settings(const struct test_param *param)
{
    static char text[(UCS_CONFIG_SETTING_COUNT_MAX + 1) * 4];
    int         i;

    (void)param;
    log_capture_start();
    for (i = 0; i <= UCS_CONFIG_SETTING_COUNT_MAX; ++i) {
        memcpy(text + 4 * i, "A=1\n", 4);
    }
    ck_assert_int_eq(
        ucsi_config_store_parse(&store, "f", text, sizeof(text) - 4), UCS_OK);
    ucsi_config_store_cleanup(&store);
    ck_assert_int_eq(ucsi_config_store_parse(&store, "f", text, sizeof(text)),
                     UCS_ERR_EXCEEDS_LIMIT);
    ck_assert_uint_eq(store.count, UCS_CONFIG_SETTING_COUNT_MAX);
    ck_assert_uint_eq(log_captured.count, 1);
    ucsi_config_store_cleanup(&store);
}

/* ---------------------------------------------------------------- files */

static char folder[64];

static void folder_make(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/ucs_test_conf_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static const char *folder_path(const char *name)
{
    static char path[256];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void folder_write(const char *name, const char *text)
{
    FILE *file = fopen(folder_path(name), "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static void folder_remove(void)
{
    char command[128];

    (void)snprintf(command, sizeof(command), "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void config_file__load(const struct test_param *param)
{
    (void)param;
    log_capture_start();
    folder_make();
    ck_assert_int_eq(ucsi_config_store_load(&store, folder_path("none")),
                     UCS_ERR_NO_ELEM);
    ck_assert_int_eq(ucsi_config_store_load(&store, "/dev/null/none"),
                     UCS_ERR_NO_ELEM);
    ck_assert_uint_eq(log_captured.count, 0);

    folder_write("empty", "");
    ck_assert_int_eq(ucsi_config_store_load(&store, folder_path("empty")),
                     UCS_OK);
    ck_assert_uint_eq(store.count, 0);
    folder_write("good", "UCX_A=1\n");
    ck_assert_int_eq(ucsi_config_store_load(&store, folder_path("good")),
                     UCS_OK);
    ck_assert_uint_eq(store.count, 1);
    ck_assert_uint_eq(log_captured.count, 0);
    ucsi_config_store_cleanup(&store);
    folder_remove();
}

static void
config_file__load_refuses_what_is_no_file(const struct test_param *param)
{
    (void)param;
    log_capture_start();
    folder_make();
    ck_assert_int_eq(ucsi_config_store_load(&store, folder),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucsi_config_store_load(&store, "/dev/zero"),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(mkfifo(folder_path("fifo"), 0600), 0);
    ck_assert_int_eq(ucsi_config_store_load(&store, folder_path("fifo")),
                     UCS_ERR_INVALID_PARAM); /* and does not wait */
    folder_write("big", "#");
    ck_assert_int_eq(truncate(folder_path("big"), UCS_CONFIG_FILE_BYTES_MAX),
                     0);
    ck_assert_int_eq(ucsi_config_store_load(&store, folder_path("big")),
                     UCS_OK);
    ck_assert_int_eq(
        truncate(folder_path("big"), UCS_CONFIG_FILE_BYTES_MAX + 1), 0);
    ck_assert_int_eq(ucsi_config_store_load(&store, folder_path("big")),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(log_captured.count, 4);
    ck_assert_uint_eq(store.count, 0);
    folder_remove();
}

struct options {
    struct ucs_config_base base;
    size_t                 values[5];
};

#define ENTRY(_name, _index)                                                   \
    {                                                                          \
        _name, "0", offsetof(struct options, values[_index]),                  \
            UCS_CONFIG_TYPE_SIZE, NULL, "?", 0, NULL                           \
    }

static const struct ucs_config_entry entries[] = {
    ENTRY("V0", 0), ENTRY("V1", 1), ENTRY("V2", 2),
    ENTRY("V3", 3), ENTRY("V4", 4), {0},
};
static const char *const families[] = {"FAM_", NULL};

static const struct ucs_config_table table = {
    "files", "OWN_", entries, sizeof(struct options), 0, families};

/* Each place is stronger than the one before; a prefix is stronger than a
 * family within the files, and the environment is stronger than all. */
static void config_files__places(const struct test_param *param)
{
    struct options         options;
    enum ucs_config_origin origin;
    const char            *where;
    char                   expected[512];

    (void)param;
    folder_make();
    ck_assert_int_eq(mkdir(folder_path("home"), 0700), 0);
    ck_assert_int_eq(setenv("HOME", folder_path("home"), 1), 0);
    folder_write("home/ucx.conf", "UCX_OWN_V0=1\nUCX_OWN_V1=1\nUCX_OWN_V2=1\n"
                                  "UCX_OWN_V3=1\nUCX_OWN_V4=1\n");
    ck_assert_int_eq(mkdir(folder_path("dir"), 0700), 0);
    ck_assert_int_eq(setenv("UCX_CONFIG_DIR", folder_path("dir"), 1), 0);
    folder_write("dir/ucx.conf", "UCX_OWN_V1=2\nUCX_OWN_V2=2\nUCX_FAM_V3=2\n");
    ck_assert_int_eq(mkdir(folder_path("here"), 0700), 0);
    ck_assert_int_eq(chdir(folder_path("here")), 0);
    folder_write("here/ucx.conf", "UCX_OWN_V2=3\nMPI_UCX_OWN_V0=9\n");
    ck_assert_int_eq(setenv("UCX_FAM_V4", "4", 1), 0);

    ck_assert_int_eq(ucsi_config_read(&table, "MPI", &options), UCS_OK);
    ck_assert_uint_eq(options.values[0], 1);
    ck_assert_uint_eq(options.values[1], 2);
    ck_assert_uint_eq(options.values[2], 3);
    ck_assert_uint_eq(options.values[3], 1);
    ck_assert_uint_eq(options.values[4], 4);
    ck_assert_int_eq(
        ucsi_config_get_origin(&table, &options, "OWN_V1", &origin, &where),
        UCS_OK);
    ck_assert_int_eq((int)origin, UCS_CONFIG_ORIGIN_FILE);
    (void)snprintf(expected, sizeof(expected), "%s:1",
                   folder_path("dir/ucx.conf"));
    ck_assert_str_eq(where, expected);
    ucsi_config_release(&table, &options);
    ck_assert_int_eq(chdir("/"), 0);
    folder_remove();

    /* Read once: the files are gone, the values are not. */
    ck_assert_int_eq(ucsi_config_read(&table, NULL, &options), UCS_OK);
    ck_assert_uint_eq(options.values[2], 3);
    ucsi_config_release(&table, &options);
}

static void
config_files__bad_value_names_the_line(const struct test_param *param)
{
    struct options options;
    char           expected[512];

    (void)param;
    log_capture_start();
    folder_make();
    ck_assert_int_eq(setenv("UCX_CONFIG_DIR", folder, 1), 0);
    folder_write("ucx.conf", "# one\nUCX_OWN_V1=foo\n");
    ck_assert_int_eq(ucsi_config_read(&table, NULL, &options),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(log_captured.count, 1);
    (void)snprintf(expected, sizeof(expected), "setting %s:2: \"foo\" is not",
                   folder_path("ucx.conf"));
    ck_assert_int_eq(strncmp(log_captured.text, expected, strlen(expected)), 0);
    folder_remove();
}

static const struct test_case cases[] = {
    TEST(config_file__lines),
    TEST(config_file__sections_are_passed_over),
    TEST(config_file__bad_lines_are_told_once),
    TEST(config_file__long_lines),
    TEST(config_file__too_many_settings),
    TEST(config_file__load),
    TEST(config_file__load_refuses_what_is_no_file),
    TEST(config_files__places),
    TEST(config_files__bad_value_names_the_line),
    {0},
};

const struct test_suite config_file_suite = {"config_file", cases, NULL, NULL,
                                             NULL};
