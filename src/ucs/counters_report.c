/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/counters_report.c - the report: one descriptor of the process, as long
 * as somebody has it open. A child of fork() has no part in it. */
#include "ucs/counters_report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "ucs/log.h"
#include "ucs/path.h"
#include "ucs/strbuf.h"

enum { REPORT_BYTES_MAX = 8192 }; /* of one object; the rest is cut */

/* fd          -1: there is none
 * pid         whose report it is
 * user_count  calls of open without a close
 * has_exit    the function for exit is registered */
static struct {
    pthread_mutex_t lock;
    int             fd;
    pid_t           pid;
    unsigned        user_count;
    bool            has_exit;
} report = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static void report_visit(const struct ucs_counters *counters, void *arg)
{
    (void)arg;
    ucs_counters_report(counters);
}

static void report_at_exit(void)
{
    (void)ucsi_counters_visit(report_visit, NULL);
}

static int report_open_file(const char *pattern)
{
    char path[PATH_MAX];
    int  fd;

    if (!ucsi_path_expand(pattern, path, sizeof(path))) {
        ucs_warn("UCX_STATS_DEST: the path is too long; nothing is written");
        return -1;
    }
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644);
    if (fd < 0) {
        ucs_warn("UCX_STATS_DEST: cannot open %s: %m; nothing is written",
                 path);
    }
    return fd;
}

static int report_open(const char *destination)
{
    static const char file[] = "file:";

    if (strcmp(destination, "stdout") == 0) {
        return dup(STDOUT_FILENO);
    }
    if (strcmp(destination, "stderr") == 0) {
        return dup(STDERR_FILENO);
    }
    if (strncmp(destination, file, sizeof(file) - 1) == 0) {
        return report_open_file(destination + sizeof(file) - 1);
    }
    ucs_warn("UCX_STATS_DEST: '%s' is not stdout, stderr or file:PATH; nothing "
             "is written",
             destination);
    return -1;
}

/* What a fork left here is the parent's. */
static void report_forget_parent(void)
{
    if ((report.fd >= 0) && (report.pid != getpid())) {
        (void)close(report.fd);
        report.fd         = -1;
        report.user_count = 0;
    }
}

bool ucsi_counters_report_open(const char *destination)
{
    bool is_open;

    if ((*destination == '\0') || getauxval(AT_SECURE)) {
        return false; /* nor may who starts a set-uid program name files */
    }
    (void)pthread_mutex_lock(&report.lock);
    report_forget_parent();
    if (report.fd < 0) {
        report.fd  = report_open(destination);
        report.pid = getpid();
    }
    is_open = (report.fd >= 0);
    report.user_count += is_open;
    if (is_open && !report.has_exit) {
        report.has_exit = (atexit(report_at_exit) == 0);
    }
    (void)pthread_mutex_unlock(&report.lock);
    return is_open;
}

void ucsi_counters_report_close(void)
{
    (void)pthread_mutex_lock(&report.lock);
    if ((report.pid == getpid()) && (--report.user_count == 0)) {
        (void)close(report.fd);
        report.fd = -1;
    }
    (void)pthread_mutex_unlock(&report.lock);
}

static void report_lines(const struct ucs_counters *counters,
                         struct ucs_strbuf         *text)
{
    const struct ucs_counter_table *table = counters->table;

    for (unsigned i = 0; i < table->count; ++i) {
        uint64_t value = ucs_counter_get(&counters->values[i]);

        if (value != 0) {
            ucsi_strbuf_appendf(
                text, "%s:%d %s %s %s %llu\n", program_invocation_short_name,
                (int)getpid(), table->title, counters->name,
                table->descs[i].name, (unsigned long long)value);
        }
    }
}

void ucs_counters_report(const struct ucs_counters *counters)
{
    char              bytes[REPORT_BYTES_MAX];
    struct ucs_strbuf text;

    (void)pthread_mutex_lock(&report.lock);
    if ((report.fd >= 0) && (report.pid == getpid())) {
        ucs_strbuf_init(&text, bytes, sizeof(bytes));
        report_lines(counters, &text);
        if (text.length > 0) {
            (void)!write(report.fd, bytes, text.length);
        }
    }
    (void)pthread_mutex_unlock(&report.lock);
}
