/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/run.c - `causeway run`: any program that uses UCX, on Causeway. */
#include "tools/run.h"

#include "tools/options.h"
#include "tools/tool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct run_options {
    const char *libdir;
    bool        preload;
    bool        quiet;
    bool        allow_root;
};

#define RUN_FIELD(_name) offsetof(struct run_options, _name)

static const struct tool_option run_option_rows[] = {
    {"libdir", "FOLDER",
     "Where Causeway's libraries are. Default: beside this\n"
     "command, in ../lib, or where they were installed.",
     TOOL_OPTION_TEXT, RUN_FIELD(libdir), 0, 0, NULL},
    {"preload", NULL,
     "Load our libraries into every process first (LD_PRELOAD):\n"
     "for programs with an RPATH, which beats LD_LIBRARY_PATH.",
     TOOL_OPTION_FLAG, RUN_FIELD(preload), 0, 0, NULL},
    {"allow-root", NULL,
     "Tell Open MPI's mpirun that running as root is meant\n"
     "(in a container); it refuses otherwise.",
     TOOL_OPTION_FLAG, RUN_FIELD(allow_root), 0, 0, NULL},
    {"quiet", NULL, "Say nothing when all went well.", TOOL_OPTION_FLAG,
     RUN_FIELD(quiet), 0, 0, NULL},
    {0},
};

static const struct tool_command run_command = {
    .usage       = "run [OPTION...] [--] COMMAND [WORD...]",
    .takes_words = true,
    .summary =
        "Run a program that uses UCX on Causeway: our libraries come first "
        "for the loader,\nand Open MPI and MPICH are told to choose UCX "
        "(variables that you set stay).\nAt the end one line on standard "
        "error says how many processes used ours.\n\n"
        "Exit code: the program's; 125 if it succeeded but no process used "
        "Causeway (the\nreason is printed) or this command failed; 126 or "
        "127 if it cannot be started.",
    .options = run_option_rows,
    .after   = "Examples:\n"
               "  causeway run mpirun -np 2 ./app\n"
               "  causeway run --allow-root mpirun -np 2 ./app\n"
               "  causeway run python3 script_with_mpi4py.py",
};

/* The last line. @return the exit code that we would choose. */
static int run_report(const struct run_seen *seen, char **words, bool quiet)
{
    char text[RUN_TEXT_BYTES];
    bool mixed = (seen->other_count > 0) || (seen->foreign_reports > 0);

    if ((seen->reports > 0) && !mixed) {
        if (!quiet) {
            tool_note("%zu process%s used %s", seen->reports,
                      seen->reports == 1 ? "" : "es", seen->ours);
        }
        return TOOL_EXIT_OK;
    }
    run_why(seen, words, text, sizeof(text));
    if (seen->reports > 0) {
        tool_error("only some processes (%zu) used Causeway: %s", seen->reports,
                   text);
    } else {
        tool_error("no process used Causeway: %s", text);
    }
    return RUN_EXIT_TOOL;
}

static int run_words(const struct run_options *options, char **words)
{
    static struct run_seen      seen; /* large */
    static struct run_libraries libraries;
    int                         status = 0;
    int                         code, verdict;

    if (!run_env_find(options->libdir, &libraries) ||
        !run_seen_open(&seen, libraries.paths[RUN_LIBRARY_UCP])) {
        return RUN_EXIT_TOOL;
    }
    run_env_set(&libraries, options->preload);
    if (options->allow_root) {
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    }
    code = run_child(words, &seen, &status);
    run_seen_close(&seen);
    if (code != 0) {
        return code;
    }
    unsetenv("LD_PRELOAD"); /* of the look at the program, not of users */
    verdict = run_report(&seen, words, options->quiet);
    code    = run_child_exit(status);
    return code != TOOL_EXIT_OK ? code : verdict;
}

int tool_run_main(int argc, char **argv)
{
    struct run_options options = {0};
    int                rest    = argc;

    switch (tool_options_parse(&run_command, argc, argv, &options, &rest)) {
    case TOOL_PARSE_HELP:
        return TOOL_EXIT_OK;
    case TOOL_PARSE_BAD:
        return RUN_EXIT_TOOL;
    case TOOL_PARSE_OK:
        break;
    }
    if (rest >= argc) {
        tool_error("no command; 'causeway run --help' explains");
        return RUN_EXIT_TOOL;
    }
    return run_words(&options, argv + rest);
}
