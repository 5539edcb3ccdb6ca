/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/log.c - builds a line on the stack and writes it with one call.
 *
 * Must not use anything that logs itself, and must not allocate: it is
 * called when memory is short. The file is opened once, at the first line
 * that is written, and stays open until the library is unloaded. */
#include "ucs/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ucs/clock.h"
#include "ucs/path.h"

_Static_assert(UCS_LOG_LINE_BYTES_MAX <= PIPE_BUF, "a line is one write");

enum { LOG_HOST_BYTES_MAX = 64 };

const char *const ucsi_log_level_names[] = {
    [UCS_LOG_LEVEL_FATAL] = "FATAL",     [UCS_LOG_LEVEL_ERROR] = "ERROR",
    [UCS_LOG_LEVEL_WARN] = "WARN",       [UCS_LOG_LEVEL_DIAG] = "DIAG",
    [UCS_LOG_LEVEL_INFO] = "INFO",       [UCS_LOG_LEVEL_DEBUG] = "DEBUG",
    [UCS_LOG_LEVEL_TRACE] = "TRACE",     [UCS_LOG_LEVEL_TRACE_REQ] = "REQ",
    [UCS_LOG_LEVEL_TRACE_DATA] = "DATA", [UCS_LOG_LEVEL_TRACE_ASYNC] = "ASYNC",
    [UCS_LOG_LEVEL_TRACE_FUNC] = "FUNC", [UCS_LOG_LEVEL_TRACE_POLL] = "POLL",
    [UCS_LOG_LEVEL_LAST] = NULL,
};

atomic_int ucsi_log_level = UCS_LOG_LEVEL_LAST;

static _Atomic(const struct ucs_log_handler *) log_handler;

/* Where lines go; below zero: not looked up yet. */
static atomic_int      log_sink_fd                  = -1;
static pthread_mutex_t log_sink_lock                = PTHREAD_MUTEX_INITIALIZER;
static char            log_host[LOG_HOST_BYTES_MAX] = "?";

/* In place of UCX_LOG_FILE when not empty; under log_sink_lock. */
static char log_pattern[PATH_MAX];

/* Who wants this thread's errors and warnings for a line of its own. */
static _Thread_local struct ucs_log_cause *log_cause;

/* A line that grows; what does not fit is cut and marked at the end. */
struct log_line {
    char   bytes[UCS_LOG_LINE_BYTES_MAX];
    size_t used; /* without the closing newline, always below the size */
};

/* ---------------------------------------------------------------- level */

ucs_status_t ucsi_log_level_parse(const char *text, ucs_log_level_t *level_p)
{
    int level;

    for (level = 0; ucsi_log_level_names[level] != NULL; ++level) {
        if (strcasecmp(text, ucsi_log_level_names[level]) == 0) {
            *level_p = (ucs_log_level_t)level;
            return UCS_OK;
        }
    }
    return UCS_ERR_INVALID_PARAM;
}

static void log_level_look_up(void)
{
    int             unset = UCS_LOG_LEVEL_LAST;
    ucs_log_level_t level = UCS_LOG_LEVEL_WARN;
    const char     *text  = getenv("UCX_LOG_LEVEL");

    if ((text != NULL) && (ucsi_log_level_parse(text, &level) != UCS_OK)) {
        level = UCS_LOG_LEVEL_WARN; /* not worth a line, UCX says none */
    }
    /* A level that somebody set meanwhile stays. */
    (void)atomic_compare_exchange_strong_explicit(
        &ucsi_log_level, &unset, (int)level, memory_order_relaxed,
        memory_order_relaxed);
}

bool ucsi_log_check(ucs_log_level_t level)
{
    if (atomic_load_explicit(&ucsi_log_level, memory_order_relaxed) ==
        UCS_LOG_LEVEL_LAST) {
        log_level_look_up();
    }
    return (int)level <=
           atomic_load_explicit(&ucsi_log_level, memory_order_relaxed);
}

void ucsi_log_set_level(ucs_log_level_t level)
{
    int value = ucs_min((int)level, (int)UCS_LOG_LEVEL_TRACE_POLL);

    atomic_store_explicit(&ucsi_log_level, value, memory_order_relaxed);
}

/* ----------------------------------------------------------------- line */

static UCS_PRINTF(2, 0) void log_line_add_va(struct log_line *line,
                                             const char *format, va_list args)
{
    size_t left   = sizeof(line->bytes) - line->used;
    int    length = vsnprintf(line->bytes + line->used, left, format, args);

    if (length < 0) {
        return; /* a format that cannot be printed: the rest still is */
    }
    if ((size_t)length < left) {
        line->used += (size_t)length;
        return;
    }
    line->used = sizeof(line->bytes) - 1;
    memcpy(line->bytes + line->used - 3, "...", 3);
}

static UCS_PRINTF(2, 3) void log_line_add(struct log_line *line,
                                          const char      *format, ...)
{
    va_list args;

    va_start(args, format);
    log_line_add_va(line, format, args);
    va_end(args);
}

/* One message stays one line, and no terminal sequence gets through. */
static void log_line_clean(struct log_line *line, size_t from)
{
    for (; from < line->used; ++from) {
        unsigned char byte = (unsigned char)line->bytes[from];

        if ((byte < ' ') || (byte == 0x7f)) {
            line->bytes[from] = '?';
        }
    }
}

/* ----------------------------------------------------------------- file */

static void log_sink_complain(const char *pattern, const char *why)
{
    struct log_line line = {.used = 0};

    log_line_add(&line, "UCX_LOG_FILE %s: %s; messages go to stderr", pattern,
                 why);
    log_line_clean(&line, 0);
    line.bytes[line.used] = '\n';
    (void)!write(STDERR_FILENO, line.bytes, line.used + 1);
}

static int log_sink_open(void)
{
    const char *pattern = secure_getenv("UCX_LOG_FILE");
    char        path[PATH_MAX];
    int         fd;

    if (log_pattern[0] != '\0') {
        pattern = log_pattern;
    }
    if ((pattern == NULL) || (*pattern == '\0') ||
        (strcmp(pattern, "stderr") == 0)) {
        return STDERR_FILENO;
    }
    if (strcmp(pattern, "stdout") == 0) {
        return STDOUT_FILENO;
    }
    if (!ucsi_path_expand(pattern, path, sizeof(path))) {
        log_sink_complain(pattern, "the path is too long");
        return STDERR_FILENO;
    }
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644);
    if (fd < 0) {
        log_sink_complain(path, strerror(errno));
        return STDERR_FILENO;
    }
    return fd;
}

static void log_host_look_up(void)
{
    if (gethostname(log_host, sizeof(log_host)) != 0) {
        log_host[0] = '?';
        log_host[1] = '\0';
    }
    log_host[sizeof(log_host) - 1] = '\0';
}

/* The descriptor to write to, with log_host known. */
static int log_sink(void)
{
    /* SINK: acquire, pairs with OPENED: log_host is written. */
    int fd = atomic_load_explicit(&log_sink_fd, memory_order_acquire);

    if (ucs_likely(fd >= 0)) {
        return fd;
    }
    (void)pthread_mutex_lock(&log_sink_lock);
    fd = atomic_load_explicit(&log_sink_fd, memory_order_relaxed);
    if (fd < 0) {
        log_host_look_up();
        fd = log_sink_open();
        /* OPENED: release, pairs with SINK. */
        atomic_store_explicit(&log_sink_fd, fd, memory_order_release);
    }
    (void)pthread_mutex_unlock(&log_sink_lock);
    return fd;
}

/* The new file takes the old one's number: others may be writing to it. */
static int log_sink_replace(int old)
{
    int fd = log_sink_open();

    if (old <= STDERR_FILENO) {
        return fd;
    }
    (void)dup3(fd, old, O_CLOEXEC);
    if (fd > STDERR_FILENO) {
        (void)close(fd);
    }
    return old;
}

void ucsi_log_set_file(const char *pattern)
{
    int fd;

    (void)pthread_mutex_lock(&log_sink_lock);
    fd = atomic_load_explicit(&log_sink_fd, memory_order_relaxed);
    if (strncmp(log_pattern, pattern, sizeof(log_pattern) - 1) != 0) {
        (void)snprintf(log_pattern, sizeof(log_pattern), "%s", pattern);
        if (fd >= 0) {
            fd = log_sink_replace(fd);
            atomic_store_explicit(&log_sink_fd, fd, memory_order_release);
        }
    }
    (void)pthread_mutex_unlock(&log_sink_lock);
}

void ucsi_log_close(void)
{
    int fd = atomic_exchange_explicit(&log_sink_fd, -1, memory_order_relaxed);

    if (fd > STDERR_FILENO) {
        (void)close(fd);
    }
}

/* Who loads and unloads us again and again keeps no file of ours. */
static UCS_AT_UNLOAD void log_unload(void)
{
    ucsi_log_close();
}

static void log_write(int fd, const struct log_line *line)
{
    const char *bytes = line->bytes;
    size_t      left  = line->used;

    while (left > 0) {
        ssize_t written = write(fd, bytes, left);

        if (written > 0) { /* all of it, save on a full disk or a tty */
            bytes += written;
            left -= (size_t)written;
        } else if ((written == 0) || (errno != EINTR)) {
            return; /* nobody is left to be told */
        }
    }
}

/* -------------------------------------------------------------- message */

static const char *log_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return (slash == NULL) ? path : slash + 1;
}

static void log_line_begin(struct log_line *line, ucs_log_level_t level,
                           const char *file, unsigned line_number)
{
    uint64_t    now_ns = ucsi_clock_wall_ns();
    const char *name   = "PRINT";

    if (level < UCS_LOG_LEVEL_LAST) {
        name = ucsi_log_level_names[level];
    }
    log_line_add(line, "[%llu.%06llu] [%s:%d:%d] %s:%u UCX %s ",
                 (unsigned long long)(now_ns / UCS_NS_PER_S),
                 (unsigned long long)(now_ns % UCS_NS_PER_S / UCS_NS_PER_US),
                 log_host, (int)getpid(), (int)syscall(SYS_gettid), file,
                 line_number, name);
}

static void log_cause_add(struct ucs_log_cause *cause, const char *text)
{
    size_t used = strlen(cause->text);

    (void)snprintf(cause->text + used, sizeof(cause->text) - used, "%s%s",
                   (used > 0) ? "; " : "", text);
}

void ucsi_log_cause_begin(struct ucs_log_cause *cause)
{
    cause->outer   = log_cause;
    cause->text[0] = '\0';
    log_cause      = cause;
}

void ucsi_log_cause_end(struct ucs_log_cause *cause)
{
    log_cause = cause->outer;
}

const char *ucsi_log_cause_text(const struct ucs_log_cause *cause,
                                ucs_status_t                status)
{
    return (cause->text[0] != '\0') ? cause->text : ucs_status_string(status);
}

static UCS_PRINTF(5, 0) void log_message(ucs_log_level_t level,
                                         const char *file, unsigned line_number,
                                         uint64_t    hidden_count,
                                         const char *format, va_list args)
{
    int                           error = errno; /* for %m, and kept */
    const struct ucs_log_handler *handler;
    struct log_line               line;
    size_t                        text_at;
    int                           fd = -1;
    bool is_cause = (log_cause != NULL) && (level >= UCS_LOG_LEVEL_ERROR) &&
                    (level <= UCS_LOG_LEVEL_WARN);

    line.used = 0;
    file      = log_file_name(file);
    /* USE: acquire, pairs with SET: the handler's fields are complete. */
    handler = atomic_load_explicit(&log_handler, memory_order_acquire);
    if ((handler == NULL) && !is_cause) {
        fd = log_sink();
        log_line_begin(&line, level, file, line_number);
    }
    text_at = line.used;
    errno   = error;
    log_line_add_va(&line, format, args);
    if (hidden_count > 0) {
        log_line_add(&line, " (and %llu more like this)",
                     (unsigned long long)hidden_count);
    }
    log_line_clean(&line, text_at);
    if (is_cause) {
        line.bytes[line.used] = '\0';
        log_cause_add(log_cause, line.bytes);
    } else if (handler != NULL) {
        line.bytes[line.used] = '\0';
        handler->fn(handler->arg, level, file, line_number,
                    line.bytes + text_at);
    } else {
        line.bytes[line.used++] = '\n';
        log_write(fd, &line);
    }
    errno = error;
}

void ucsi_log_va(ucs_log_level_t level, const char *file, unsigned line,
                 const char *format, va_list args)
{
    log_message(level, file, line, 0, format, args);
}

void ucsi_log(ucs_log_level_t level, const char *file, unsigned line,
              const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_message(level, file, line, 0, format, args);
    va_end(args);
}

void ucsi_log_repeated(uint64_t hidden_count, ucs_log_level_t level,
                       const char *file, unsigned line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_message(level, file, line, hidden_count, format, args);
    va_end(args);
}

ucs_status_t ucsi_no_memory_at(const char *file, unsigned line,
                               const char *what, size_t size_bytes)
{
    if (ucs_log_is_enabled(UCS_LOG_LEVEL_ERROR)) {
        ucsi_log(UCS_LOG_LEVEL_ERROR, file, line,
                 "out of memory: %s of %zu bytes", what, size_bytes);
    }
    return UCS_ERR_NO_MEMORY;
}

const struct ucs_log_handler *
ucsi_log_set_handler(const struct ucs_log_handler *handler)
{
    /* SET: release, pairs with USE. */
    return atomic_exchange_explicit(&log_handler, handler,
                                    memory_order_acq_rel);
}

/* ---------------------------------------------------------------- limit */

bool ucsi_log_limit_pass(struct ucs_log_limit *limit, uint64_t now_ns,
                         uint64_t *hidden_count_p)
{
    uint64_t until_ns =
        atomic_load_explicit(&limit->quiet_until_ns, memory_order_relaxed);
    uint64_t next_ns = now_ns + (uint64_t)UCS_LOG_REPEAT_MS * UCS_NS_PER_MS;

    /* Of threads that come together one passes. */
    if ((now_ns < until_ns) ||
        !atomic_compare_exchange_strong_explicit(
            &limit->quiet_until_ns, &until_ns, next_ns, memory_order_relaxed,
            memory_order_relaxed)) {
        atomic_fetch_add_explicit(&limit->hidden_count, 1,
                                  memory_order_relaxed);
        return false;
    }
    *hidden_count_p =
        atomic_exchange_explicit(&limit->hidden_count, 0, memory_order_relaxed);
    return true;
}

bool ucsi_log_limit_pass_now(struct ucs_log_limit *limit,
                             uint64_t             *hidden_count_p)
{
    return ucsi_log_limit_pass(limit, ucsi_clock_ns(), hidden_count_p);
}
