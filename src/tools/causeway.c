/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/causeway.c - the command `causeway`: picks the subcommand. */
#include "tools/options.h"
#include "tools/tool.h"

#include <string.h>

static const struct causeway_subcommand {
    const char  *name;
    const char  *summary;
    tool_main_fn main;
} causeway_subcommands[] = {
    {"perf", "measure latency, bandwidth and message rate", tool_perf_main},
    {"info", "show version, transports, limits and configuration",
     tool_info_main},
    {"explain", "show why messages go the way they go", tool_explain_main},
    {"run", "run any program that uses UCX on Causeway", tool_run_main},
    {"trace", "join the traces of several processes", tool_trace_main},
};

static void causeway_print_help(FILE *stream)
{
    size_t i;

    fprintf(stream, "Usage: causeway COMMAND [OPTION...]\n\nCommands:\n");
    for (i = 0; i < TOOL_ARRAY_COUNT(causeway_subcommands); i++) {
        fprintf(stream, "  %-8s%s\n", causeway_subcommands[i].name,
                causeway_subcommands[i].summary);
    }
    fprintf(stream, "\n'causeway COMMAND --help' explains each.\n"
                    "'causeway --version' prints the version.\n");
}

static int causeway_unknown(const char *word)
{
    const char *words[TOOL_ARRAY_COUNT(causeway_subcommands) + 1] = {NULL};
    const char *near;
    size_t      i;

    for (i = 0; i < TOOL_ARRAY_COUNT(causeway_subcommands); i++) {
        words[i] = causeway_subcommands[i].name;
    }
    near = tool_nearest(word, words);
    if (near != NULL) {
        tool_error("unknown command '%s' (did you mean %s?)", word, near);
    } else {
        tool_error("unknown command '%s'", word);
        causeway_print_help(stderr);
    }
    return TOOL_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    size_t i;

    if (argc < 2) {
        causeway_print_help(stderr);
        return TOOL_EXIT_USAGE;
    }
    if ((strcmp(argv[1], "--help") == 0) || (strcmp(argv[1], "-h") == 0) ||
        (strcmp(argv[1], "help") == 0)) {
        causeway_print_help(stdout);
        return TOOL_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("causeway %s\n", tool_version());
        return TOOL_EXIT_OK;
    }
    for (i = 0; i < TOOL_ARRAY_COUNT(causeway_subcommands); i++) {
        if (strcmp(argv[1], causeway_subcommands[i].name) == 0) {
            tool_set_name(argv[1]);
            return causeway_subcommands[i].main(argc - 1, argv + 1);
        }
    }
    return causeway_unknown(argv[1]);
}
