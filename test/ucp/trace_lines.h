/* SPDX-License-Identifier: BSD-3-Clause */
/* trace_lines.h - a trace file, read back line by line. Strict about what we
 * write ourselves; test/apps/tool_trace.sh reads it as JSON. */
#ifndef TEST_UCP_TRACE_LINES_H_
#define TEST_UCP_TRACE_LINES_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"

/* Times in ns. What a line does not have is 0 or "". */
struct trace_line {
    char     ph;
    uint64_t row;
    uint64_t ts;
    uint64_t dur;
    uint64_t bytes;
    bool     has_tag;
    char     name[128];
    char     cat[16];
    char     id[32];
    char     protocol[32];
    char     operation[16];
    char     lane[64];
    char     result[64];
};

struct trace_lines {
    struct trace_line *lines;
    unsigned           count;
    unsigned           room;
};

/* The text of "key":"text", cut at its end. */
static inline void trace_text(const char *line, const char *key, char *text,
                              size_t size)
{
    char        quoted[32];
    const char *at;

    (void)snprintf(quoted, sizeof(quoted), "\"%s\":\"", key);
    at = strstr(line, quoted);
    (void)snprintf(text, size, "%s", (at == NULL) ? "" : at + strlen(quoted));
    text[strcspn(text, "\"")] = '\0';
}

/* The number of "key":1234.567 in thousandths, or of "key":1234. */
static inline uint64_t trace_number(const char *line, const char *key)
{
    unsigned long long whole = 0, part = 0;
    char               quoted[32];
    const char        *at;

    (void)snprintf(quoted, sizeof(quoted), "\"%s\":", key);
    at = strstr(line, quoted);
    if (at == NULL) {
        return 0;
    }
    if (sscanf(at + strlen(quoted), "%llu.%3llu", &whole, &part) == 2) {
        return whole * 1000 + part;
    }
    return whole;
}

static inline struct trace_line trace_line_read(const char *text)
{
    struct trace_line line = {
        .row   = trace_number(text, "tid"),
        .ts    = trace_number(text, "ts"),
        .dur   = trace_number(text, "dur"),
        .bytes = trace_number(text, "bytes"),
    };
    char ph[2];

    line.has_tag = (strstr(text, "\"tag\":") != NULL);
    trace_text(text, "ph", ph, sizeof(ph));
    line.ph = ph[0];
    trace_text(text, "name", line.name, sizeof(line.name));
    trace_text(text, "cat", line.cat, sizeof(line.cat));
    trace_text(text, "id", line.id, sizeof(line.id));
    trace_text(text, "protocol", line.protocol, sizeof(line.protocol));
    trace_text(text, "operation", line.operation, sizeof(line.operation));
    trace_text(text, "lane", line.lane, sizeof(line.lane));
    trace_text(text, "result", line.result, sizeof(line.result));
    if ((line.ph == 'b') || (line.ph == 'e')) {
        trace_text(text, "local", line.id, sizeof(line.id));
    }
    return line;
}

static inline void trace_lines_add(struct trace_lines *all, const char *text)
{
    if (all->count == all->room) {
        all->room  = 2 * all->room + 64;
        all->lines = realloc(all->lines, all->room * sizeof(*all->lines));
    }
    if (all->lines == NULL) {
        ck_abort_msg("no memory");
    }
    all->lines[all->count++] = trace_line_read(text);
}

/* Read a file that must be whole: brackets, one event a line, commas between.
 * Free with trace_lines_free(). */
static inline struct trace_lines trace_lines_load(const char *path)
{
    struct trace_lines all      = {0};
    FILE              *file     = fopen(path, "r");
    bool               has_more = true;
    char               text[2048];

    ck_assert_msg(file != NULL, "no %s", path);
    ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
    ck_assert_str_eq(text, "[\n");
    while (has_more) {
        size_t length;

        length   = (fgets(text, sizeof(text), file) == NULL) ? 0 : strlen(text);
        has_more = (length > 3) && (strcmp(text + length - 3, "},\n") == 0);
        if ((text[0] != '{') || (length <= 3) ||
            (!has_more && (strcmp(text + length - 2, "}\n") != 0))) {
            ck_abort_msg("line %u: %s", all.count + 2, text);
        }
        trace_lines_add(&all, text);
    }
    ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
    ck_assert_str_eq(text, "]\n");
    ck_assert_ptr_null(fgets(text, sizeof(text), file));
    (void)fclose(file);
    return all;
}

static inline void trace_lines_free(struct trace_lines *all)
{
    free(all->lines);
}

/* How many lines have that phase, category and name; NULL: any. */
static inline unsigned trace_count(const struct trace_lines *all, char ph,
                                   const char *cat, const char *name)
{
    unsigned count = 0;

    for (unsigned i = 0; i < all->count; ++i) {
        const struct trace_line *line = &all->lines[i];

        count += (line->ph == ph) &&
                 ((cat == NULL) || (strcmp(line->cat, cat) == 0)) &&
                 ((name == NULL) || (strcmp(line->name, name) == 0));
    }
    return count;
}

/* The user's bytes that messages or operations of a category carried. */
static inline uint64_t trace_bytes(const struct trace_lines *all,
                                   const char *cat, const char *name)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < all->count; ++i) {
        const struct trace_line *line = &all->lines[i];

        if ((line->ph == 'X') && (strcmp(line->cat, cat) == 0) &&
            ((name == NULL) || (strcmp(line->name, name) == 0))) {
            bytes += line->bytes;
        }
    }
    return bytes;
}

#endif
