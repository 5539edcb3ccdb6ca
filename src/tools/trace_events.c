/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/trace_events.c - reading and writing trace files line by line: what
 * libucp writes has one event a line, so no line needs more than a look for
 * its keys. */
#include "tools/trace.h"

#include "tools/tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The place behind "key": in an event, NULL: it has no such member. Quotes
 * inside of texts are escaped, so this is never found in one. */
static const char *event_find(const char *text, const char *key)
{
    char        quoted[32];
    const char *at;

    (void)snprintf(quoted, sizeof(quoted), "\"%s\":", key);
    at = strstr(text, quoted);
    return (at == NULL) ? NULL : at + strlen(quoted);
}

bool trace_event_number(const char *text, const char *key, int64_t *number_p)
{
    const char *at    = event_find(text, key);
    char       *end   = NULL;
    int64_t     part  = 0;
    int64_t     whole = (at == NULL) ? 0 : strtoll(at, &end, 10);

    if ((at == NULL) || (end == at)) {
        return false;
    }
    if (*end == '.') {
        for (int digit = 0; digit < 3; ++digit) {
            ++end;
            part = 10 * part;
            if ((*end >= '0') && (*end <= '9')) {
                part += *end - '0';
            } else {
                --end;
            }
        }
        whole = 1000 * whole + part;
    }
    *number_p = whole;
    return true;
}

static void event_text(const char *text, const char *key, char *value,
                       size_t size)
{
    const char *at = event_find(text, key);

    value[0] = '\0';
    if ((at != NULL) && (*at == '"')) {
        (void)snprintf(value, size, "%s", at + 1);
        value[strcspn(value, "\"")] = '\0';
    }
}

static struct trace_event *set_add(struct trace_set *set)
{
    if (set->event_count == set->event_room) {
        set->event_room = 2 * set->event_room + 1024;
        set->events =
            realloc(set->events, set->event_room * sizeof(*set->events));
        if (set->events == NULL) {
            tool_error("no memory for %zu events", set->event_room);
            exit(TOOL_EXIT_FAILED);
        }
    }
    return &set->events[set->event_count++];
}

/* Read one line; it ends with NUL. @return false: it is no whole event. */
static bool file_read_line(struct trace_set *set, struct trace_file *file,
                           char *line, size_t length)
{
    struct trace_event *event;
    char                text[32];
    int64_t             number = 0;

    if ((length > 0) && (line[length - 1] == ',')) {
        line[--length] = '\0';
    }
    event_text(line, "ph", text, sizeof(text));
    if ((line[0] != '{') || (line[length - 1] != '}') || (text[0] == '\0') ||
        !trace_event_number(line, "pid", &number)) {
        return false;
    }
    file->pid = (uint64_t)number;
    event     = set_add(set);
    *event    = (struct trace_event){.text   = line,
                                     .length = length,
                                     .file   = (unsigned)(file - set->files),
                                     .phase  = text[0]};
    (void)trace_event_number(line, "ts", &event->ts_ns);
    event_text(line, "id", text, sizeof(text));
    event->id = strtoull(text, NULL, 16);
    event_text(line, "name", text, sizeof(text));
    if ((event->phase == 'M') && (strcmp(text, "causeway_clock") == 0)) {
        event_text(line, "boot", file->boot, sizeof(file->boot));
        event_text(line, "host", file->host, sizeof(file->host));
        if (trace_event_number(line, "wall_us", &number)) {
            file->wall_ns = number * 1000;
        }
    }
    return true;
}

static char *file_content(const char *path)
{
    FILE  *stream = fopen(path, "re");
    char  *text   = NULL;
    size_t room = 0, length = 0, got = 1;

    if (stream == NULL) {
        tool_error("%s: %m", path);
        return NULL;
    }
    while (got > 0) {
        if (length + 1 >= room) {
            room = 2 * room + 65536;
            text = realloc(text, room);
            if (text == NULL) {
                tool_error("%s: no memory for it", path);
                exit(TOOL_EXIT_FAILED);
            }
        }
        got = fread(text + length, 1, room - length - 1, stream);
        length += got;
    }
    text[length] = '\0';
    (void)fclose(stream);
    return text;
}

bool trace_set_load(struct trace_set *set, const char *path)
{
    struct trace_file *file   = &set->files[set->file_count];
    size_t             before = set->event_count;
    char              *line, *next;

    *file = (struct trace_file){.path = path, .content = file_content(path)};
    if (file->content == NULL) {
        return false;
    }
    ++set->file_count;
    if (strncmp(file->content, "[\n", 2) != 0) {
        tool_error("%s: no trace of Causeway", path);
        return false;
    }
    for (line = file->content + 2; *line != '\0'; line = next) {
        size_t length = strcspn(line, "\n");

        next = line + length + (line[length] == '\n');
        if ((length == 1) && (line[0] == ']')) {
            break;
        }
        line[length] = '\0';
        if (!file_read_line(set, file, line, length)) {
            if (*next != '\0') {
                tool_error("%s: no trace of Causeway: '%.40s'", path, line);
                return false;
            }
            tool_note("%s: the last line is cut off and left out", path);
        }
    }
    if (file->boot[0] == '\0') {
        tool_error("%s: no trace of Causeway: it does not name its clock",
                   path);
    }
    return (set->event_count > before) && (file->boot[0] != '\0');
}

void trace_set_free(struct trace_set *set)
{
    for (unsigned i = 0; i < set->file_count; ++i) {
        free(set->files[i].content);
    }
    free(set->events);
}

/* Two processes of different hosts, or containers, may have one number. */
static void set_number_processes(struct trace_set *set)
{
    uint64_t most = 0;

    for (unsigned i = 0; i < set->file_count; ++i) {
        struct trace_file *file = &set->files[i];

        most          = (file->pid > most) ? file->pid : most;
        file->new_pid = file->pid;
    }
    for (unsigned i = 1; i < set->file_count; ++i) {
        for (unsigned j = 0; j < i; ++j) {
            if (set->files[i].new_pid == set->files[j].new_pid) {
                set->files[i].new_pid = ++most;
                break;
            }
        }
    }
}

/* Names first, then by time; what was written first stays first. */
static int event_compare(const void *a, const void *b)
{
    const struct trace_event *left = a, *right = b;

    if ((left->phase == 'M') != (right->phase == 'M')) {
        return (left->phase == 'M') ? -1 : 1;
    }
    if ((left->phase != 'M') && (left->ts_ns != right->ts_ns)) {
        return (left->ts_ns < right->ts_ns) ? -1 : 1;
    }
    if (left->file != right->file) {
        return (left->file < right->file) ? -1 : 1;
    }
    return (left->text < right->text) ? -1 : (left->text > right->text);
}

/* Print an event with its number changed, up to the number's end.
 * @return where the rest begins. */
static const char *event_print_up_to(const char *text, const char *key,
                                     FILE *stream)
{
    const char *at = event_find(text, key);

    if (at == NULL) {
        return text;
    }
    (void)fprintf(stream, "%.*s", (int)(at - text), text);
    return at + strspn(at, "0123456789.-");
}

static void event_print(const struct trace_event *event, uint64_t pid,
                        FILE *stream)
{
    const char *rest = event_print_up_to(event->text, "pid", stream);

    (void)fprintf(stream, "%" PRIu64, pid);
    if (event->phase != 'M') {
        const char *behind = event_print_up_to(rest, "ts", stream);

        if (behind != rest) {
            (void)fprintf(stream, "%" PRId64 ".%03d", event->ts_ns / 1000,
                          (int)(event->ts_ns % 1000));
        }
        rest = behind;
    }
    (void)fprintf(stream, "%s", rest);
}

bool trace_set_write(struct trace_set *set, FILE *stream)
{
    set_number_processes(set);
    for (size_t i = 0; i < set->event_count; ++i) {
        struct trace_event *event = &set->events[i];

        event->ts_ns += set->files[event->file].shift_ns;
    }
    qsort(set->events, set->event_count, sizeof(*set->events), event_compare);
    (void)fprintf(stream, "[\n");
    for (unsigned i = 0; i < set->file_count; ++i) {
        const struct trace_file *file = &set->files[i];

        (void)fprintf(
            stream,
            "{\"ph\":\"M\",\"pid\":%" PRIu64
            ",\"tid\":0,\"ts\":0.000,\"name\":\"process_labels\","
            "\"cat\":\"__metadata\",\"args\":{\"labels\":\"%s, process %" PRIu64
            "\"}},\n",
            file->new_pid, file->host, file->pid);
    }
    for (size_t i = 0; i < set->event_count; ++i) {
        const struct trace_event *event = &set->events[i];

        event_print(event, set->files[event->file].new_pid, stream);
        (void)fprintf(stream, "%s\n", (i + 1 < set->event_count) ? "," : "");
    }
    (void)fprintf(stream, "]\n");
    return (fflush(stream) == 0) && !ferror(stream);
}
