/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucs/clock.h"
#include "ucs/suites.h"

/* What the handler was given last, and how often. */
struct capture {
    char            text[UCS_LOG_LINE_BYTES_MAX];
    char            file[64];
    ucs_log_level_t level;
    unsigned        count;
};

static void capture_message(void *arg, ucs_log_level_t level, const char *file,
                            unsigned line, const char *text)
{
    struct capture *capture = arg;

    ck_assert_uint_gt(line, 0);
    (void)snprintf(capture->text, sizeof(capture->text), "%s", text);
    (void)snprintf(capture->file, sizeof(capture->file), "%s", file);
    capture->level = level;
    ++capture->count;
}

static char log_path[64];

/* Let the log go to a new file; call before the first message. */
static void log_to_file(void)
{
    int fd;

    (void)snprintf(log_path, sizeof(log_path), "/tmp/ucs_test_log_XXXXXX");
    fd = mkstemp(log_path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(close(fd), 0);
    ck_assert_int_eq(setenv("UCX_LOG_FILE", log_path, 1), 0);
}

/* What was written there; the file is gone afterwards. */
static const char *log_file_text(const char *path)
{
    static char text[64 * 1024];
    FILE       *file = fopen(path, "r");
    size_t      length;

    ck_assert_ptr_nonnull(file);
    length       = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(unlink(path), 0);
    ucsi_log_close();
    return text;
}

static void check_matches(const char *text, const char *pattern)
{
    regex_t regex;

    ck_assert_int_eq(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    ck_assert_msg(regexec(&regex, text, 0, NULL, 0) == 0,
                  "\"%s\" does not match %s", text, pattern);
    regfree(&regex);
}

static void log_level__parse(const struct test_param *param)
{
    static const struct {
        const char *text;
        int         level; /* -1: not one */
    } rows[] = {
        {"fatal", UCS_LOG_LEVEL_FATAL},
        {"Error", UCS_LOG_LEVEL_ERROR},
        {"WARN", UCS_LOG_LEVEL_WARN},
        {"diag", UCS_LOG_LEVEL_DIAG},
        {"info", UCS_LOG_LEVEL_INFO},
        {"debug", UCS_LOG_LEVEL_DEBUG},
        {"trace", UCS_LOG_LEVEL_TRACE},
        {"req", UCS_LOG_LEVEL_TRACE_REQ},
        {"data", UCS_LOG_LEVEL_TRACE_DATA},
        {"async", UCS_LOG_LEVEL_TRACE_ASYNC},
        {"func", UCS_LOG_LEVEL_TRACE_FUNC},
        {"poll", UCS_LOG_LEVEL_TRACE_POLL},
        {"", -1},
        {"warning", -1},
        {"war", -1},
        {"3", -1},
        {"last", -1},
    };
    size_t i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        ucs_log_level_t level  = UCS_LOG_LEVEL_PRINT;
        ucs_status_t    status = ucsi_log_level_parse(rows[i].text, &level);

        if (rows[i].level < 0) {
            ck_assert_int_eq(status, UCS_ERR_INVALID_PARAM);
            ck_assert_int_eq((int)level, UCS_LOG_LEVEL_PRINT);
        } else {
            ck_assert_int_eq(status, UCS_OK);
            ck_assert_int_eq((int)level, rows[i].level);
        }
    }
}

static void log_level__default_is_warn(const struct test_param *param)
{
    (void)param;
    ck_assert(ucs_log_is_enabled(UCS_LOG_LEVEL_WARN));
    ck_assert(!ucs_log_is_enabled(UCS_LOG_LEVEL_DIAG));
}

static void log_level__bad_setting_is_ignored(const struct test_param *param)
{
    (void)param;
    ck_assert_int_eq(setenv("UCX_LOG_LEVEL", "bogus", 1), 0);
    ck_assert(ucs_log_is_enabled(UCS_LOG_LEVEL_WARN));
    ck_assert(!ucs_log_is_enabled(UCS_LOG_LEVEL_DIAG));
}

static int evaluated_count;

static int evaluated(void)
{
    return ++evaluated_count;
}

static void log_level__from_environment_then_set(const struct test_param *param)
{
    struct capture         capture = {.count = 0};
    struct ucs_log_handler handler = {capture_message, &capture};

    (void)param;
    ck_assert_int_eq(setenv("UCX_LOG_LEVEL", "error", 1), 0);
    (void)ucsi_log_set_handler(&handler);
    ucs_warn("number %d", evaluated()); /* the very first one is filtered too */
    ck_assert_uint_eq(capture.count, 0);
    ck_assert_int_eq(evaluated_count, 0);
    ucs_error("number %d", evaluated());
    ck_assert_str_eq(capture.text, "number 1");
    ck_assert_int_eq((int)capture.level, UCS_LOG_LEVEL_ERROR);
    ck_assert_str_eq(capture.file, "test_log.c");

    ucsi_log_set_level(UCS_LOG_LEVEL_TRACE);
    ucs_trace("t");
    ck_assert_str_eq(capture.text, "t");
    ucs_log(UCS_LOG_LEVEL_TRACE_REQ, "r");
    ck_assert_str_eq(capture.text, "t");
    ucsi_log_set_level(UCS_LOG_LEVEL_PRINT); /* all there is */
    ucs_log(UCS_LOG_LEVEL_TRACE_POLL, "p");
    ck_assert_str_eq(capture.text, "p");
    ck_assert_ptr_eq(ucsi_log_set_handler(NULL), &handler);
}

static void log_line__format(const struct test_param *param)
{
    (void)param;
    log_to_file();
    ucs_error("queue %s has %d", "q", 7);
    ucs_warn("second");
    check_matches(log_file_text(log_path),
                  "^\\[[0-9]{10}\\.[0-9]{6}\\] \\[[^:]+:[0-9]+:[0-9]+\\] "
                  "test_log\\.c:[0-9]+ UCX ERROR queue q has 7\n"
                  "\\[[^]]*\\] \\[[^]]*\\] test_log\\.c:[0-9]+ UCX WARN "
                  "second\n$");
}

static void log_line__errno_is_shown_and_kept(const struct test_param *param)
{
    struct capture         capture = {.count = 0};
    struct ucs_log_handler handler = {capture_message, &capture};

    (void)param;
    (void)ucsi_log_set_handler(&handler);
    errno = ENOENT;
    ucs_error("open: %m");
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_str_eq(capture.text, "open: No such file or directory");
    (void)ucsi_log_set_handler(NULL);

    log_to_file();
    errno = EPERM;
    ucs_error("%m");
    ck_assert_int_eq(errno, EPERM);
    check_matches(log_file_text(log_path), "Operation not permitted\n$");
}

static void log_line__long_text_is_cut_once(const struct test_param *param)
{
    static char long_text[3 * UCS_LOG_LINE_BYTES_MAX];
    const char *text;

    (void)param;
    memset(long_text, 'x', sizeof(long_text) - 1);
    log_to_file();
    ucs_error("%s", long_text);
    text = log_file_text(log_path);
    ck_assert_uint_eq(strlen(text), UCS_LOG_LINE_BYTES_MAX);
    ck_assert_str_eq(text + UCS_LOG_LINE_BYTES_MAX - 5, "x...\n");
}

static void
log_line__control_characters_do_not_pass(const struct test_param *param)
{
    struct capture         capture = {.count = 0};
    struct ucs_log_handler handler = {capture_message, &capture};

    (void)param;
    (void)ucsi_log_set_handler(&handler);
    ucs_error("a\nb\x1b[31mc\x7f\td\xc3\xa4");
    ck_assert_str_eq(capture.text, "a?b?[31mc??d\xc3\xa4");
}

static void log_file__placeholders(const struct test_param *param)
{
    char pattern[128];
    char expected[256];
    char host[64];

    (void)param;
    ck_assert_int_eq(gethostname(host, sizeof(host)), 0);
    (void)snprintf(pattern, sizeof(pattern), "/tmp/ucs_log_%%p_%%h_%%%%_%%x");
    (void)snprintf(expected, sizeof(expected), "/tmp/ucs_log_%d_%s_%%_%%x",
                   (int)getpid(), host);
    ck_assert_int_eq(setenv("UCX_LOG_FILE", pattern, 1), 0);
    ucs_error("here");
    check_matches(log_file_text(expected), "UCX ERROR here\n$");
}

/* Put a file in place of a standard stream; the old one's copy comes back. */
static int stream_swap(int fd, int other)
{
    int copy = dup(fd);

    ck_assert_int_ge(copy, 0);
    ck_assert_int_eq(dup2(other, fd), fd);
    ck_assert_int_eq(close(other), 0);
    return copy;
}

static void stream_check(int stream, const char *setting, const char *pattern)
{
    char path[] = "/tmp/ucs_test_out_XXXXXX";
    int  copy   = stream_swap(stream, mkstemp(path));

    if (setting != NULL) {
        ck_assert_int_eq(setenv("UCX_LOG_FILE", setting, 1), 0);
    }
    ucs_error("told");
    (void)close(stream_swap(stream, copy));
    check_matches(log_file_text(path), pattern);
}

static void log_file__opens_again_after_close(const struct test_param *param)
{
    (void)param;
    log_to_file();
    ucs_error("one");
    check_matches(log_file_text(log_path), "UCX ERROR one\n$");
    log_to_file();
    ucs_error("two");
    check_matches(log_file_text(log_path), "^[^\n]*UCX ERROR two\n$");
}

static void log_file__default_is_stderr(const struct test_param *param)
{
    (void)param;
    stream_check(STDERR_FILENO, NULL, "^[^\n]*UCX ERROR told\n$");
}

static void log_file__stdout(const struct test_param *param)
{
    (void)param;
    stream_check(STDOUT_FILENO, "stdout", "^[^\n]*UCX ERROR told\n$");
}

static void log_file__bad_path_goes_to_stderr(const struct test_param *param)
{
    (void)param;
    stream_check(STDERR_FILENO, "/nonexistent/folder/file",
                 "^UCX_LOG_FILE /nonexistent/folder/file: No such file or "
                 "directory; messages go to stderr\n"
                 "[^\n]*UCX ERROR told\n$");
}

static void
log_file__too_long_path_goes_to_stderr(const struct test_param *param)
{
    char path[5000];

    (void)param;
    memset(path, 'a', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    stream_check(STDERR_FILENO, path, "UCX ERROR told\n$");
}

enum { THREAD_COUNT = 4, THREAD_LINE_COUNT = 200 };

static void *log_thread(void *arg)
{
    int i;

    for (i = 0; i < THREAD_LINE_COUNT; ++i) {
        ucs_error("<%s %d>", (const char *)arg, i);
    }
    return NULL;
}

static void log_file__threads_do_not_mix(const struct test_param *param)
{
    static char marks[THREAD_COUNT][40];
    pthread_t   threads[THREAD_COUNT];
    const char *line;
    int         count = 0;
    int         i;

    (void)param;
    log_to_file();
    for (i = 0; i < THREAD_COUNT; ++i) {
        memset(marks[i], 'a' + i, sizeof(marks[i]) - 1);
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, log_thread, marks[i]), 0);
    }
    for (i = 0; i < THREAD_COUNT; ++i) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    /* 200 lines of four threads are more than the buffer of the helper, so
     * count what it shows: each begins and ends as a line does. */
    for (line = log_file_text(log_path); strchr(line, '\n') != NULL;
         line = strchr(line, '\n') + 1) {
        ck_assert_int_eq(*line, '[');
        ck_assert_int_eq(strchr(line, '\n')[-1], '>');
        ++count;
    }
    ck_assert_int_gt(count, THREAD_LINE_COUNT);
}

static void log_limit__window(const struct test_param *param)
{
    const uint64_t       ms    = UCS_NS_PER_MS;
    struct ucs_log_limit limit = {0};
    const struct {
        uint64_t now_ns;
        bool     passes;
        uint64_t hidden;
    } rows[] = {
        {5 * ms, true, 0},         {5 * ms, false, 0},    {1004 * ms, false, 0},
        {1005 * ms - 1, false, 0}, {1005 * ms, true, 3},  {1006 * ms, false, 0},
        {9000 * ms, true, 1},      {99000 * ms, true, 0},
    };
    size_t i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        uint64_t hidden = 99;
        bool     passes = ucsi_log_limit_pass(&limit, rows[i].now_ns, &hidden);

        ck_assert_msg(passes == rows[i].passes, "row %zu", i);
        ck_assert_uint_eq(hidden, passes ? rows[i].hidden : 99);
    }
}

static void log_limit__call_site(const struct test_param *param)
{
    struct capture         capture = {.count = 0};
    struct ucs_log_handler handler = {capture_message, &capture};
    int                    i;

    (void)param;
    (void)ucsi_log_set_handler(&handler);
    for (i = 0; i < 100; ++i) {
        ucs_error_limited("packet %d is bad", i);
    }
    /* A second may pass on a busy machine, not fifty. */
    ck_assert_uint_lt(capture.count, 50);
    ck_assert_uint_ge(capture.count, 1);
    ucsi_log_repeated(41, UCS_LOG_LEVEL_ERROR, "a/b.c", 3, "bad %d", 5);
    ck_assert_str_eq(capture.text, "bad 5 (and 41 more like this)");
    ck_assert_str_eq(capture.file, "b.c");
    for (i = 0; i < 3; ++i) {
        ucs_warn_limited("another site");
    }
    ck_assert_str_eq(capture.text, "another site");
}

/* The line is the caller's, who alone knows what the memory was for. */
static void no_memory__names_the_caller(const struct test_param *param)
{
    struct capture         capture = {.count = 0};
    struct ucs_log_handler handler = {capture_message, &capture};

    (void)param;
    (void)ucsi_log_set_handler(&handler);
    ck_assert_int_eq(ucsi_no_memory("a thing", 17), UCS_ERR_NO_MEMORY);
    ck_assert_uint_eq(capture.count, 1);
    ck_assert_str_eq(capture.file, "test_log.c");
    ck_assert_str_eq(capture.text, "out of memory: a thing of 17 bytes");
    ck_assert_int_eq((int)capture.level, UCS_LOG_LEVEL_ERROR);
    ucsi_log_set_level(UCS_LOG_LEVEL_FATAL);
    ck_assert_int_eq(ucsi_no_memory("a thing", 17), UCS_ERR_NO_MEMORY);
    ck_assert_uint_eq(capture.count, 1);
    (void)ucsi_log_set_handler(NULL);
}

/* What a layer below logs becomes part of the caller's line; what is for
 * developers is not kept back, and nor is what other threads log. */
static void log_cause__is_part_of_one_line(const struct test_param *param)
{
    struct capture         capture = {.count = 0};
    struct ucs_log_handler handler = {capture_message, &capture};
    struct ucs_log_cause   outer, inner;

    (void)param;
    (void)ucsi_log_set_handler(&handler);
    ucsi_log_set_level(UCS_LOG_LEVEL_INFO);
    ucsi_log_cause_begin(&outer);
    ck_assert_str_eq(ucsi_log_cause_text(&outer, UCS_ERR_NO_DEVICE),
                     ucs_status_string(UCS_ERR_NO_DEVICE));
    ucs_error("no %s", "file");
    ucsi_log_cause_begin(&inner);
    ucs_warn("deeper");
    ucsi_log_cause_end(&inner);
    ck_assert_str_eq(ucsi_log_cause_text(&inner, UCS_OK), "deeper");
    ucs_warn("above: %s", inner.text);
    ck_assert_uint_eq(capture.count, 0);
    ucs_info("this is written");
    ck_assert_uint_eq(capture.count, 1);
    ucsi_log_cause_end(&outer);
    ck_assert_str_eq(ucsi_log_cause_text(&outer, UCS_OK),
                     "no file; above: deeper");
    ucs_error("written again");
    ck_assert_uint_eq(capture.count, 2);
    ck_assert_str_eq(capture.text, "written again");
    (void)ucsi_log_set_handler(NULL);
}

/* A cause is bounded, and what it is made of stays one line. */
static void log_cause__too_much_is_cut(const struct test_param *param)
{
    struct ucs_log_cause cause;

    (void)param;
    ucsi_log_cause_begin(&cause);
    for (int i = 0; i < 100; ++i) {
        ucs_error("message %d\n of many", i);
    }
    ucsi_log_cause_end(&cause);
    ck_assert_uint_eq(strlen(cause.text), sizeof(cause.text) - 1);
    ck_assert_ptr_null(strchr(cause.text, '\n'));
}

static const struct test_case cases[] = {
    TEST(log_level__parse),
    TEST(log_level__default_is_warn),
    TEST(log_level__bad_setting_is_ignored),
    TEST(log_level__from_environment_then_set),
    TEST(log_line__format),
    TEST(log_line__errno_is_shown_and_kept),
    TEST(log_line__long_text_is_cut_once),
    TEST(log_line__control_characters_do_not_pass),
    TEST(log_file__placeholders),
    TEST(log_file__opens_again_after_close),
    TEST(log_file__default_is_stderr),
    TEST(log_file__stdout),
    TEST(log_file__bad_path_goes_to_stderr),
    TEST(log_file__too_long_path_goes_to_stderr),
    TEST(log_file__threads_do_not_mix),
    TEST(log_limit__window),
    TEST(log_limit__call_site),
    TEST(no_memory__names_the_caller),
    TEST(log_cause__is_part_of_one_line),
    TEST(log_cause__too_much_is_cut),
    {0},
};

const struct test_suite log_suite = {"log", cases, NULL, NULL, NULL};
