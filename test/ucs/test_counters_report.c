/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/counters_report.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucs/log.h"
#include "ucs/suites.h"

enum { LOST, FOUND, COUNTER_COUNT };

static const struct ucs_counter_desc descs[] = {
    [LOST] = {"lost", "and not found"}, [FOUND] = {"found", "again"}};
static const struct ucs_counter_table table = {"bag", descs, COUNTER_COUNT};

struct object {
    struct ucs_counters counters;
    struct ucs_counter  values[COUNTER_COUNT];
};

static char path[64];
static char destination[80];

static void report_setup(const struct test_param *param)
{
    (void)param;
    (void)snprintf(path, sizeof(path), "/tmp/ucs_test_report.%d",
                   (int)getpid());
    (void)snprintf(destination, sizeof(destination), "file:%s", path);
    (void)unlink(path);
}

static void report_teardown(const struct test_param *param)
{
    (void)param;
    (void)unlink(path);
}

/* What was written, each line without its program and process. */
static const char *written(void)
{
    static char text[4096];
    FILE       *file = fopen(path, "r");
    char        line[256];

    text[0] = '\0';
    while ((file != NULL) && (fgets(line, sizeof(line), file) != NULL)) {
        const char *at = strchr(line, ' ');

        ck_assert_ptr_nonnull(at);
        ck_assert_uint_lt(strlen(text) + strlen(at), sizeof(text));
        memcpy(text + strlen(text), at, strlen(at) + 1);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return text;
}

static void use(struct object *object, const char *name, uint64_t lost)
{
    ucsi_counters_add(&object->counters, &table, name, object->values);
    ucs_counter_add(&object->values[LOST], lost);
}

static void report__at_the_end_of_each(const struct test_param *param)
{
    struct object a, b, c;

    (void)param;
    ck_assert(ucsi_counters_report_open(destination));
    use(&a, "a", 3);
    use(&b, "b", 0);
    use(&c, "c", 1);
    ck_assert_str_eq(written(), "");
    ucsi_counters_remove(&c.counters);
    ucsi_counters_remove(&b.counters);
    ck_assert_str_eq(written(), " bag c lost 1\n");
    ucsi_counters_report_close();
    ucsi_counters_remove(&a.counters);
    ck_assert_str_eq(written(), " bag c lost 1\n");
}

/* Two who use it: the first says where to, the last ends it; a later report
 * goes on in the same file. */
static void report__two_users(const struct test_param *param)
{
    struct object a;

    (void)param;
    ck_assert(ucsi_counters_report_open(destination));
    ck_assert(ucsi_counters_report_open("stderr"));
    ucsi_counters_report_close();
    use(&a, "a", 1);
    ucsi_counters_remove(&a.counters);
    ucsi_counters_report_close();
    ck_assert(ucsi_counters_report_open(destination));
    use(&a, "a", 2);
    ucsi_counters_remove(&a.counters);
    ucsi_counters_report_close();
    ck_assert_str_eq(written(), " bag a lost 1\n bag a lost 2\n");
}

static void count_warning(void *arg, ucs_log_level_t level, const char *file,
                          unsigned line, const char *text)
{
    (void)file;
    (void)line;
    (void)text;
    *(unsigned *)arg += (level == UCS_LOG_LEVEL_WARN);
}

static void report__nowhere(const struct test_param *param)
{
    unsigned               warnings = 0;
    struct ucs_log_handler handler  = {count_warning, &warnings};
    char                   longer[6000];

    (void)param;
    memset(longer, 'x', sizeof(longer));
    memcpy(longer, "file:", 5);
    longer[sizeof(longer) - 1] = '\0';
    (void)ucsi_log_set_handler(&handler);
    ck_assert(!ucsi_counters_report_open(""));
    ck_assert_uint_eq(warnings, 0);
    ck_assert(!ucsi_counters_report_open("udp:there"));
    ck_assert(!ucsi_counters_report_open("file:/nonexistent/x"));
    ck_assert(!ucsi_counters_report_open(longer));
    ck_assert_uint_eq(warnings, 3);
    (void)ucsi_log_set_handler(NULL);
}

/* Who exits without ending its objects is reported, a child of fork() that
 * only exits is not. */
static void report__at_exit(const struct test_param *param)
{
    static struct object a;
    int                  status;
    pid_t                child = fork();

    (void)param;
    if (child == 0) {
        if (!ucsi_counters_report_open(destination)) {
            _exit(1);
        }
        use(&a, "left", 5);
        if (fork() == 0) {
            exit(0);
        }
        (void)wait(&status);
        exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 0));
    ck_assert_str_eq(written(), " bag left lost 5\n");
}

static const struct test_case report_cases[] = {
    TEST(report__at_the_end_of_each),
    TEST(report__two_users),
    TEST(report__nowhere),
    TEST(report__at_exit),
    {0},
};

const struct test_suite counters_report_suite = {.name     = "counters_report",
                                                 .cases    = report_cases,
                                                 .setup    = report_setup,
                                                 .teardown = report_teardown};
