/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/trace_file.c - events as text, text into the file. */
#include "ucp/core/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "ucs/json.h"
#include "ucs/log.h"
#include "ucs/path.h"
#include "ucs/strbuf.h"

enum {
    FILE_TEXT_BYTES  = 64 * 1024, /* what one write takes */
    FILE_EVENT_BYTES = 1024,      /* more than any event's text */
};

/* How the file ends until more is written over it. */
static const char file_tail[] = "\n]\n";

/* fd          -1: closed
 * end         where file_tail begins
 * row_count   given away
 * is_failed   a write failed: nothing more is written
 * has_exit    the functions for exit and fork are registered
 * path        of the file that is, or was last, open
 * traces      those that joined */
static struct {
    pthread_mutex_t   lock;
    int               fd;
    bool              is_failed;
    bool              has_exit;
    off_t             end;
    uint32_t          row_count;
    char              path[PATH_MAX];
    struct ucs_list   traces;
    struct ucs_strbuf text;
    char              text_bytes[FILE_TEXT_BYTES];
} file = {
    .lock   = PTHREAD_MUTEX_INITIALIZER,
    .fd     = -1,
    .traces = {&file.traces, &file.traces},
};

static void file_fail(const char *what)
{
    ucs_warn("UCX_TRACE_FILE: %s %s: %m; the trace ends here", what, file.path);
    file.is_failed = true;
}

/* Write bytes at a place, all of them. */
static bool file_put(const char *bytes, size_t length, off_t at)
{
    while (length > 0) {
        ssize_t done = pwrite(file.fd, bytes, length, at);

        if ((done <= 0) && (errno != EINTR)) {
            file_fail("cannot write");
            return false;
        }
        if (done > 0) {
            bytes += done;
            length -= (size_t)done;
            at += done;
        }
    }
    return true;
}

/* Empty the text into the file. The tail goes along: room is kept for it. */
static void file_put_text(void)
{
    size_t length = file.text.length;

    if ((length > 0) && (file.fd >= 0) && !file.is_failed) {
        ucsi_strbuf_append(&file.text, file_tail);
        if (file_put(file.text_bytes, file.text.length, file.end)) {
            file.end += (off_t)length;
        }
    }
    ucs_strbuf_init(&file.text, file.text_bytes, sizeof(file.text_bytes));
}

/* Begin an event of a row. */
static void text_begin(char phase, uint32_t row)
{
    bool is_first = (file.end == 0) && (file.text.length == 0);

    if (file.text.size - file.text.length < FILE_EVENT_BYTES) {
        file_put_text();
    }
    ucsi_strbuf_appendf(&file.text, "%s{\"ph\":\"%c\",\"pid\":%d,\"tid\":%u",
                        is_first ? "[\n" : ",\n", phase, (int)getpid(), row);
}

static void text_end(void)
{
    ucsi_strbuf_append(&file.text, "}");
}

static void text_time(const char *key, uint64_t ns)
{
    ucsi_strbuf_appendf(&file.text, ",\"%s\":%" PRIu64 ".%03u", key,
                        ns / UCS_NS_PER_US, (unsigned)(ns % UCS_NS_PER_US));
}

static void text_string(const char *key, const char *value)
{
    ucsi_json_text(&file.text, key, value);
}

/* Metadata: of no time and no category, but some readers want both. */
static void text_metadata(const char *what, uint32_t row)
{
    text_begin('M', row);
    text_time("ts", 0);
    text_string("name", what);
    text_string("cat", "__metadata");
    ucsi_json_open(&file.text, "args");
}

/* What is called how. */
static void text_name(const char *what, uint32_t row, const char *name)
{
    text_metadata(what, row);
    text_string("name", name);
    ucsi_json_close(&file.text);
    text_end();
}

/* The clock: hosts are told apart by the id of their boot. */
static void text_clock(void)
{
    int     fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    char    boot[37] = "";
    char    host[65];
    int64_t shift = (int64_t)(ucsi_clock_wall_ns() - ucsi_clock_ns());

    if (fd >= 0) {
        if (read(fd, boot, sizeof(boot) - 1) < 0) {
            boot[0] = '\0';
        }
        (void)close(fd);
    }
    (void)!ucsi_path_expand("%h", host, sizeof(host));
    text_metadata("causeway_clock", 0);
    text_string("boot", boot);
    text_string("host", host);
    ucsi_strbuf_appendf(&file.text, ",\"wall_us\":%" PRId64 "}",
                        shift / (int64_t)UCS_NS_PER_US);
    text_end();
}

static const char *event_result(ucs_status_t status)
{
    switch ((int)status) {
    case UCS_INPROGRESS:
        return "in progress";
    case UCP_STEP_TURN_DONE:
        return "more to send";
    case UCS_ERR_WOULD_BLOCK:
        return "no room";
    default:
        return ucs_status_string(status);
    }
}

static void text_args(const struct ucp_trace_event *event)
{
    ucsi_strbuf_appendf(&file.text, ",\"args\":{\"bytes\":%" PRIu64,
                        event->bytes);
    if (event->has_tag) {
        ucsi_strbuf_appendf(&file.text, ",\"tag\":\"0x%" PRIx64 "\"",
                            event->tag);
    }
    if (event->proto != NULL) {
        text_string("protocol", event->proto);
    }
    if (event->op != NULL) {
        text_string("operation", event->op);
    }
    if (event->lane != NULL) {
        text_string("lane", event->lane);
    }
    if (event->status != UCS_OK) {
        text_string("result", event_result(event->status));
    }
    ucsi_strbuf_append(&file.text, "}");
}

/* The arrow from a message's sending to its handler; the other end is in the
 * peer's file, under the same id. */
static void text_arrow(const struct ucp_trace_event *event)
{
    bool is_start = (event->kind == UCP_TRACE_SEND);

    if ((event->id == 0) || UCS_STATUS_IS_ERR(event->status)) {
        return;
    }
    text_begin(is_start ? 's' : 'f', event->row);
    text_time("ts", event->begin_ns);
    text_string("name", "message");
    text_string("cat", "message");
    ucsi_strbuf_appendf(&file.text, ",\"id\":\"0x%" PRIx64 "\"%s", event->id,
                        is_start ? "" : ",\"bp\":\"e\"");
    text_end();
}

/* A request, or a flight: an own line of the picture, from begin to end. */
static void text_span(const struct ucp_trace_event *event, char phase,
                      const char *category)
{
    text_begin(phase, event->row);
    text_time("ts", event->begin_ns);
    text_string("name", event->name);
    text_string("cat", category);
    ucsi_strbuf_appendf(&file.text, ",\"id2\":{\"local\":\"0x%" PRIx64 "\"}",
                        event->id);
    text_args(event);
    text_end();
}

static void text_box(const struct ucp_trace_event *event)
{
    static const char *const categories[] = {
        [UCP_TRACE_STEP] = "step",       [UCP_TRACE_SEND] = "send",
        [UCP_TRACE_RECEIVE] = "receive", [UCP_TRACE_REMOTE] = "remote",
        [UCP_TRACE_WRITE] = "trace",
    };

    text_begin('X', event->row);
    text_time("ts", event->begin_ns);
    text_time("dur", event->end_ns - event->begin_ns);
    text_string("name", event->name);
    text_string("cat", categories[event->kind]);
    text_args(event);
    text_end();
    text_arrow(event);
}

static void text_event(const struct ucp_trace_event *event)
{
    switch (event->kind) {
    case UCP_TRACE_BEGIN:
        text_span(event, 'b', "request");
        break;
    case UCP_TRACE_END:
        text_span(event, 'e', "request");
        break;
    case UCP_TRACE_LEAVE:
        text_span(event, 'b', "flight");
        break;
    case UCP_TRACE_LAND:
        text_span(event, 'e', "flight");
        break;
    case UCP_TRACE_STEP:
    case UCP_TRACE_SEND:
    case UCP_TRACE_RECEIVE:
    case UCP_TRACE_REMOTE:
    case UCP_TRACE_WRITE:
        text_box(event);
        break;
    }
}

/* What was recorded since the last time. */
static void file_put_events(struct ucp_trace *trace)
{
    /* acquire, pairs with WRITTEN: at exit this may be another thread. */
    unsigned count = atomic_load_explicit(&trace->count, memory_order_acquire);

    while (trace->done_count < count) {
        text_event(&trace->events[trace->done_count++]);
    }
    file_put_text();
}

static void file_at_exit(void)
{
    struct ucp_trace *trace;

    pthread_mutex_lock(&file.lock);
    ucs_list_for_each (trace, &file.traces, link) {
        file_put_events(trace);
    }
    pthread_mutex_unlock(&file.lock);
}

/* The file is the parent's, and so are the events. */
static void file_in_child(void)
{
    struct ucp_trace *trace, *next;

    pthread_mutex_init(&file.lock, NULL);
    ucs_list_for_each_safe (trace, next, &file.traces, link) {
        ucs_list_init(&trace->link);
    }
    ucs_list_init(&file.traces);
    if (file.fd >= 0) {
        (void)close(file.fd);
    }
    file.fd        = -1;
    file.is_failed = false;
    file.path[0]   = '\0';
}

static void file_register(void)
{
    if (!file.has_exit) {
        file.has_exit = (atexit(file_at_exit) == 0) &&
                        (pthread_atfork(NULL, NULL, file_in_child) == 0);
    }
}

/* Open the file, alone: two processes in one would spoil it. A file that this
 * process closed goes on where it ended. */
static bool file_open(const char *path)
{
    bool goes_on = (strcmp(path, file.path) == 0);

    file.fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
    (void)snprintf(file.path, sizeof(file.path), "%s", path);
    file.is_failed = false;
    if (file.fd < 0) {
        file_fail("cannot open");
        return false;
    }
    if (flock(file.fd, LOCK_EX | LOCK_NB) != 0) {
        ucs_warn("UCX_TRACE_FILE: %s is being written by another process; put "
                 "%%p, the process id, into the name",
                 path);
        goto close_file;
    }
    if (!goes_on || (lseek(file.fd, 0, SEEK_END) < file.end)) {
        file.end       = 0;
        file.row_count = 0;
    }
    if (ftruncate(file.fd, file.end) != 0) {
        file_fail("cannot use");
        goto close_file;
    }
    file_register();
    return true;

close_file:
    (void)close(file.fd);
    file.fd      = -1;
    file.path[0] = '\0';
    return false;
}

static void file_introduce(void)
{
    char name[128];

    (void)snprintf(name, sizeof(name), "%s", program_invocation_short_name);
    text_name("process_name", 0, name);
    text_clock();
}

bool ucp_trace_file_join(struct ucp_trace *trace, const char *pattern)
{
    char path[PATH_MAX];
    bool is_open = true;

    if (!ucsi_path_expand(pattern, path, sizeof(path))) {
        ucs_warn("UCX_TRACE_FILE: the path is too long; no trace is written");
        return false;
    }
    pthread_mutex_lock(&file.lock);
    ucs_strbuf_init(&file.text, file.text_bytes, sizeof(file.text_bytes));
    if (file.fd < 0) {
        is_open = file_open(path);
        if (is_open && (file.end == 0)) {
            file_introduce();
        }
    } else if (strcmp(path, file.path) != 0) {
        ucs_warn("UCX_TRACE_FILE: this process writes to %s already, so %s "
                 "stays unwritten",
                 file.path, path);
    }
    if (is_open) {
        ucs_list_add_tail(&file.traces, &trace->link);
    }
    pthread_mutex_unlock(&file.lock);
    return is_open;
}

void ucp_trace_file_leave(struct ucp_trace *trace)
{
    pthread_mutex_lock(&file.lock);
    file_put_events(trace);
    ucs_list_remove(&trace->link);
    if (ucs_list_is_empty(&file.traces) && (file.fd >= 0)) {
        (void)close(file.fd);
        file.fd = -1;
    }
    pthread_mutex_unlock(&file.lock);
}

void ucp_trace_file_write(struct ucp_trace *trace)
{
    pthread_mutex_lock(&file.lock);
    file_put_events(trace);
    trace->done_count = 0;
    atomic_store_explicit(&trace->count, 0, memory_order_relaxed);
    pthread_mutex_unlock(&file.lock);
}

uint32_t ucp_trace_file_row(const char *name)
{
    uint32_t row;

    pthread_mutex_lock(&file.lock);
    row = ++file.row_count;
    text_name("thread_name", row, name);
    file_put_text();
    pthread_mutex_unlock(&file.lock);
    return row;
}
