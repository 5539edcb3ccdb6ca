/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf.c - `causeway perf`: options and roles. */
#include "tools/perf.h"

#include "tools/options.h"
#include "tools/perf_control.h"
#include "tools/perf_launch.h"
#include "tools/tool.h"

#include <stddef.h>
#include <unistd.h>

#define PERF_FIELD(_name) offsetof(struct perf_options, _name)
#define PERF_FD_MAX       (1 << 20)

static const struct tool_option perf_option_rows[] = {
    {"test", "LIST", "Any of lat, sync, bw, rate. Default: lat,bw,rate.",
     TOOL_OPTION_CUSTOM, PERF_FIELD(tests), 0, 0, perf_tests_set},
    {"sizes", "LIST",
     "Message sizes and ranges of powers of two: 8,1k,64k-16m.\n"
     "Default: 0-16m; for rate 8.",
     TOOL_OPTION_CUSTOM, PERF_FIELD(sizes), 0, 0, perf_sizes_set},
    {"window", "COUNT", "Messages under way in bw and rate. Default: 64.",
     TOOL_OPTION_COUNT, PERF_FIELD(window), 1, PERF_WINDOW_MAX, NULL},
    {"repeat", "COUNT",
     "Repetitions per row, over which median, min, max and\n"
     "percentiles are taken. Default: 10.",
     TOOL_OPTION_COUNT, PERF_FIELD(repeat), 1, PERF_REPEAT_MAX, NULL},
    {"time", "SECONDS", "Measuring time per row, about. Default: 0.2.",
     TOOL_OPTION_SECONDS, PERF_FIELD(row_seconds), 1, 3600000, NULL},
    {"iterations", "COUNT", "Iterations per repetition, in place of --time.",
     TOOL_OPTION_COUNT, PERF_FIELD(iterations), 1, 1 << 28, NULL},
    {"walk", "MIB",
     "Messages from and into one part after the other of so\n"
     "many MiB, which then are in no cache. Default: always the\n"
     "same two buffers.",
     TOOL_OPTION_COUNT, PERF_FIELD(walk_mib), 1, PERF_WALK_MIB_MAX, NULL},
    {"pieces", "COUNT",
     "Every message as an iov of so many pieces. Default: one\n"
     "block.",
     TOOL_OPTION_COUNT, PERF_FIELD(piece_count), 1, PERF_PIECES_MAX, NULL},
    {"gap", "BYTES", "Between two pieces in memory. Default: 0.",
     TOOL_OPTION_COUNT, PERF_FIELD(gap_bytes), 0, PERF_GAP_MAX, NULL},
    {"verify", NULL,
     "Check every byte of messages of every row before it is\n"
     "measured, and the buffers afterwards; see --seed.",
     TOOL_OPTION_FLAG, PERF_FIELD(verify), 0, 0, NULL},
    {"seed", "NUMBER", "Seed of the data. Default: another one every time.",
     TOOL_OPTION_COUNT, PERF_FIELD(seed), 1, UINT64_MAX, NULL},
    {"limits", NULL,
     "Measure what the machine can do, between the repetitions\n"
     "and on the same cores, and compare each row with it.\n"
     "With --connect: what bare sockets can do on the same way.",
     TOOL_OPTION_FLAG, PERF_FIELD(limits), 0, 0, NULL},
    {"sleep", "HOW",
     "Wait without using the processor: wait (ucp_worker_wait)\n"
     "or efd (ucp_worker_arm and poll). Default: spin.",
     TOOL_OPTION_CUSTOM, PERF_FIELD(sleep), 0, 0, perf_sleep_set},
    {"procs", "COUNT",
     "Start so many processes; all but two are connected to the\n"
     "two that measure, and sleep. Default: 2.",
     TOOL_OPTION_COUNT, PERF_FIELD(procs), 2, PERF_PROCS_MAX, NULL},
    {"idle-tls", "LIST",
     "UCX_TLS of those that sleep, so that both connect to them\n"
     "by another transport. Default: the same.",
     TOOL_OPTION_TEXT, PERF_FIELD(idle_tls), 0, 0, NULL},
    {"cpus", "A,B",
     "Processors of the two processes, or none. Default: two\n"
     "different cores if there are two. With --listen and\n"
     "--connect one, the own. Default there: not pinned.",
     TOOL_OPTION_CUSTOM, PERF_FIELD(cpus), 0, 0, perf_cpus_set},
    {"listen", "[HOST:]PORT", "Be the server of a client elsewhere, once.",
     TOOL_OPTION_TEXT, PERF_FIELD(listen), 0, 0, NULL},
    {"connect", "HOST[:PORT]", "Be the client of that server.",
     TOOL_OPTION_TEXT, PERF_FIELD(connect), 0, 0, NULL},
    {"csv", NULL, "Print comma-separated values.", TOOL_OPTION_FLAG,
     PERF_FIELD(csv), 0, 0, NULL},
    {"json", NULL, "Print JSON.", TOOL_OPTION_FLAG, PERF_FIELD(json), 0, 0,
     NULL},
    {"timeout", "SECONDS",
     "Give up when one repetition takes longer. Default: 60.",
     TOOL_OPTION_SECONDS, PERF_FIELD(timeout_seconds), 1000, 86400000, NULL},
    /* What the command says to the processes that it starts itself. */
    {"peer-fd", "FD", NULL, TOOL_OPTION_COUNT, PERF_FIELD(peer_fd), 3,
     PERF_FD_MAX, NULL},
    {"idle-fd", "FD", NULL, TOOL_OPTION_COUNT, PERF_FIELD(idle_fd), 3,
     PERF_FD_MAX, NULL},
    {"limits-fd", "FD", NULL, TOOL_OPTION_COUNT, PERF_FIELD(limits_fd), 0,
     PERF_FD_MAX, NULL},
    {0},
};

static const struct tool_command perf_command = {
    .usage   = "perf [OPTION...]",
    .summary = "Measure tagged messages between two processes: latency, "
               "bandwidth, message rate.\n"
               "Starts both itself, or is one of them (--listen, --connect). "
               "Works with every\nlibucp: LD_LIBRARY_PATH decides, and the "
               "first line of the output names it.",
    .options = perf_option_rows,
    .after   = "Examples:\n"
               "  causeway perf --sizes 8,8k,1m --verify --limits\n"
               "  causeway perf --test lat --sizes 8 --procs 64\n"
               "  causeway perf --listen 17337        on one host, and\n"
               "  causeway perf --connect HOST:17337  on another",
};

/* Options that contradict one another. */
static bool perf_check(const struct perf_options *options)
{
    bool remote = (options->listen != NULL) || (options->connect != NULL);

    if ((options->listen != NULL) && (options->connect != NULL)) {
        tool_error("--listen and --connect exclude one another");
    } else if (options->csv && options->json) {
        tool_error("--csv and --json exclude one another");
    } else if ((options->walk_mib > 0) && options->verify) {
        tool_error("--walk and --verify exclude one another");
    } else if ((options->piece_count > 0) &&
               (options->verify || (options->walk_mib > 0))) {
        tool_error("--pieces excludes --verify and --walk");
    } else if ((options->gap_bytes > 0) && (options->piece_count == 0)) {
        tool_error("--gap is between pieces: it needs --pieces");
    } else if (options->limits && (options->listen != NULL)) {
        tool_error("--limits is for the one that leads: with --connect");
    } else if ((options->procs > 2) && remote) {
        tool_error("--procs excludes --listen and --connect");
    } else if ((options->idle_tls != NULL) && (options->procs == 2)) {
        tool_error("--idle-tls is of those that sleep: it needs --procs");
    } else if (!remote && options->cpus.given && !options->cpus.none &&
               (options->cpus.index[1] < 0)) {
        tool_error("--cpus: expected two processors, for example 0,1");
    } else {
        return true;
    }
    return false;
}

static int perf_listen(const struct perf_options *options)
{
    int fd, code;

    if (options->cpus.given && !perf_launch_pin(options->cpus.index[0])) {
        return TOOL_EXIT_FAILED;
    }
    fd = perf_control_listen(options->listen);
    if (fd < 0) {
        return TOOL_EXIT_FAILED;
    }
    code = perf_server_main(options, fd);
    return code;
}

int tool_perf_main(int argc, char **argv)
{
    struct perf_options options = {.tests = 1u << PERF_TEST_LATENCY |
                                            1u << PERF_TEST_BANDWIDTH |
                                            1u << PERF_TEST_RATE,
                                   .window          = 64,
                                   .repeat          = 10,
                                   .procs           = 2,
                                   .row_seconds     = 0.2,
                                   .timeout_seconds = 60};

    switch (tool_options_parse(&perf_command, argc, argv, &options, NULL)) {
    case TOOL_PARSE_HELP:
        return TOOL_EXIT_OK;
    case TOOL_PARSE_BAD:
        return TOOL_EXIT_USAGE;
    case TOOL_PARSE_OK:
        break;
    }
    if (options.peer_fd != 0) {
        return perf_server_main(&options, (int)options.peer_fd);
    }
    if (options.idle_fd != 0) {
        return perf_idle_main((int)options.idle_fd);
    }
    if (!perf_check(&options)) {
        return TOOL_EXIT_USAGE;
    }
    if (options.listen != NULL) {
        return perf_listen(&options);
    }
    return perf_client_main(&options);
}
