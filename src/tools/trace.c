/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/trace.c - `causeway trace`: what to do with files of UCX_TRACE_FILE. */
#include "tools/trace.h"

#include "tools/options.h"
#include "tools/tool.h"

#include <stdlib.h>
#include <string.h>

struct trace_options {
    const char *output;
    bool        quiet;
};

#define TRACE_FIELD(_name) offsetof(struct trace_options, _name)

static const struct tool_option trace_option_rows[] = {
    {"output", "FILE",
     "Where the result goes; -o is the same. Default: standard\noutput.",
     TOOL_OPTION_TEXT, TRACE_FIELD(output), 0, 0, NULL},
    {"quiet", NULL, "Do not say what was joined.", TOOL_OPTION_FLAG,
     TRACE_FIELD(quiet), 0, 0, NULL},
    {0},
};

static const struct tool_command trace_command = {
    .usage       = "trace merge [OPTION...] FILE...",
    .takes_words = true,
    .summary =
        "Join the traces of several processes into one file that Perfetto "
        "and\nchrome://tracing open. Processes of one host share a clock; the "
        "clocks of others\nare put in line by the messages between them.",
    .options = trace_option_rows,
    .after   = "Examples:\n"
               "  UCX_TRACE_FILE=/tmp/trace.%h.%p.json mpirun -np 2 ./app\n"
               "  causeway trace merge /tmp/trace.*.json -o all.json",
};

static bool trace_write(struct trace_set *set, const char *path)
{
    FILE *stream = (path == NULL) ? stdout : fopen(path, "we");
    bool  done;

    if (stream == NULL) {
        tool_error("%s: %m", path);
        return false;
    }
    done = trace_set_write(set, stream);
    if ((path != NULL) && (fclose(stream) != 0)) {
        done = false;
    }
    if (!done) {
        tool_error("%s: %m", (path == NULL) ? "standard output" : path);
    }
    return done;
}

static unsigned trace_clock_count(const struct trace_set *set)
{
    unsigned count = 0;

    for (unsigned i = 0; i < set->file_count; ++i) {
        bool is_new = true;

        for (unsigned j = 0; j < i; ++j) {
            is_new =
                is_new && (strcmp(set->files[i].boot, set->files[j].boot) != 0);
        }
        count += is_new;
    }
    return count;
}

static int trace_merge(const struct trace_options *options, char **paths,
                       int count)
{
    static struct trace_set set; /* large */
    size_t                  matched, lost;
    bool                    good = true;

    if (count > TRACE_FILE_COUNT_MAX) {
        tool_error("%d files, at most %d", count, TRACE_FILE_COUNT_MAX);
        return TOOL_EXIT_USAGE;
    }
    for (int i = 0; good && (i < count); ++i) {
        good = trace_set_load(&set, paths[i]);
    }
    if (good) {
        trace_set_align(&set, &matched, &lost);
        good = trace_write(&set, options->output);
    }
    if (good && !options->quiet) {
        unsigned clocks = trace_clock_count(&set);

        tool_note("%u process%s on %u host%s, %zu events, %zu messages; %zu "
                  "without their other end",
                  set.file_count, (set.file_count == 1) ? "" : "es", clocks,
                  (clocks == 1) ? "" : "s", set.event_count, matched, lost);
    }
    trace_set_free(&set);
    return good ? TOOL_EXIT_OK : TOOL_EXIT_FAILED;
}

/* Is that word an option, or what one with a value takes? */
static bool trace_is_option(char **argv, int i)
{
    return (i > 0) &&
           ((argv[i][0] == '-') || (strcmp(argv[i - 1], "-o") == 0) ||
            (strcmp(argv[i - 1], "--output") == 0));
}

/* Put options before files, so that they may stand behind them as well, and
 * write -o as what it means.
 * @param words  [argc + 1], filled. */
static void trace_sort_words(int argc, char **argv, char **words)
{
    static char output[] = "--output";
    int         count    = 1;

    words[0] = argv[0];
    for (int i = 1; i < argc; ++i) {
        if (trace_is_option(argv, i)) {
            words[count++] = (strcmp(argv[i], "-o") == 0) ? output : argv[i];
        }
    }
    for (int i = 1; i < argc; ++i) {
        if (!trace_is_option(argv, i)) {
            words[count++] = argv[i];
        }
    }
    words[count] = NULL;
}

int tool_trace_main(int argc, char **argv)
{
    struct trace_options options = {0};
    char               **words = tool_calloc((size_t)argc + 1, sizeof(*words));
    int                  rest  = argc;
    int                  code  = TOOL_EXIT_USAGE;

    trace_sort_words(argc, argv, words);
    switch (tool_options_parse(&trace_command, argc, words, &options, &rest)) {
    case TOOL_PARSE_HELP:
        code = TOOL_EXIT_OK;
        break;
    case TOOL_PARSE_BAD:
        break;
    case TOOL_PARSE_OK:
        if ((rest >= argc) || (strcmp(words[rest], "merge") != 0)) {
            tool_error("the one thing to do is 'merge'; 'causeway trace "
                       "--help' explains");
        } else if (rest + 1 >= argc) {
            tool_error("no files; 'causeway trace --help' explains");
        } else {
            code = trace_merge(&options, words + rest + 1, argc - rest - 1);
        }
        break;
    }
    free(words);
    return code;
}
