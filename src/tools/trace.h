/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/trace.h - traces of several processes (UCX_TRACE_FILE), read, put on
 * one clock, and joined. */
#ifndef CAUSEWAY_TOOL_TRACE_H_
#define CAUSEWAY_TOOL_TRACE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { TRACE_FILE_COUNT_MAX = 1024 };

/* One line of a file.
 * text   as it was, without the comma
 * ts_ns  its time, 0 for names
 * id     of the message, for the ends of an arrow
 * file   which one */
struct trace_event {
    const char *text;
    size_t      length;
    int64_t     ts_ns;
    uint64_t    id;
    unsigned    file;
    char        phase;
};

/* path     borrowed
 * content  the whole file, owned
 * pid      as in the file; new_pid as in the result
 * boot, host, wall_ns  of causeway_clock: which clock it is, where, and how far
 *          it is from the time of day
 * shift_ns added to its times
 * is_aligned  shift_ns is known */
struct trace_file {
    const char *path;
    char       *content;
    uint64_t    pid;
    uint64_t    new_pid;
    char        boot[64];
    char        host[128];
    int64_t     wall_ns;
    int64_t     shift_ns;
    bool        is_aligned;
};

struct trace_set {
    struct trace_file   files[TRACE_FILE_COUNT_MAX];
    unsigned            file_count;
    struct trace_event *events; /* [event_count] in the order of the files */
    size_t              event_count;
    size_t              event_room;
};

/* Add a file. One that ends in the middle of a line, because its process was
 * killed, counts up to there.
 * @return false: it is no trace of ours; an error was printed. */
bool trace_set_load(struct trace_set *set, const char *path);
void trace_set_free(struct trace_set *set);

/* The unsigned number behind "key": in an event, in thousandths if it has a
 * point. @return false: there is none. */
bool trace_event_number(const char *text, const char *key, int64_t *number_p);

/* Find shift_ns of every file. Files with one boot id share their clock;
 * others are moved by the messages between them, so that the quickest one each
 * way took the same time, or by the time of day if there are none.
 * @param matched_p  Messages with both ends in the set.
 * @param lost_p     With one only. */
void trace_set_align(struct trace_set *set, size_t *matched_p, size_t *lost_p);

/* Write all events in order of time, as one trace. */
bool trace_set_write(struct trace_set *set, FILE *stream);

#endif
