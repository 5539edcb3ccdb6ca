/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim.c - the simulator's command.
 *
 *   sim --seeds 10000          seeds 1 to 10000, on all processors
 *   sim --seed 4711 --trace    one again, with all that happens
 *   sim --seed 4711 --packets  and every packet
 *   sim --hosts 1000           so many hosts, all to all
 *   sim --star 10000           so many hosts, all with one
 *   sim --goodput              at 1 % loss and 1 ms delay
 *
 * A seed decides everything: the same seed gives the same run, to the packet.
 * Exit status: 0 all went well; 1 a seed failed, its line says how to replay
 * it; 2 wrong arguments. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim_load.h"

enum { SIM_SEED_SECONDS_MAX = 60, SIM_JOBS_MAX = 64 };

struct sim_options {
    uint64_t       first, count;
    unsigned       jobs, host_count;
    bool           is_star, is_goodput;
    enum sim_trace trace;
};

/* What the processes share: the seed that each runs; one has failed. */
struct sim_shared {
    volatile uint64_t seeds[SIM_JOBS_MAX];
    volatile bool     has_failed;
};

static struct sim_shared *sim_shared;

static void sim_too_long(int signal_number)
{
    static const char text[] =
        "a seed takes more than a minute of processor time\n";

    (void)signal_number;
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    abort();
}

/* 0: not at all. */
static void sim_set_alarm(time_t processor_seconds)
{
    struct itimerval value = {.it_value.tv_sec = processor_seconds};

    (void)setitimer(ITIMER_PROF, &value, NULL);
}

static bool sim_run_seed(uint64_t seed, const struct sim_options *options)
{
    enum sim_trace  trace = options->trace;
    struct sim_plan plan;
    bool            is_well;

    if (options->host_count > 0) {
        sim_plan_make_crowd(&plan, seed, options->host_count, options->is_star);
    } else if (options->is_goodput) {
        sim_plan_make_goodput(&plan, seed);
    } else {
        sim_plan_make(&plan, seed);
    }
    if (trace != SIM_TRACE_NONE) {
        sim_plan_print(&plan);
    }
    sim_set_alarm((options->host_count > 0) ? 0 : SIM_SEED_SECONDS_MAX);
    is_well = sim_load_run(&plan, trace);
    sim_set_alarm(0);
    if (!is_well) {
        sim_plan_print(&plan);
    }
    fflush(stdout);
    return is_well;
}

/* The seeds of one process: every jobs-th. Ends at the first that fails,
 * anywhere. */
static void sim_run_share(const struct sim_options *options, unsigned job)
{
    for (uint64_t i = job; i < options->count; i += options->jobs) {
        if (sim_shared->has_failed) {
            break;
        }
        sim_shared->seeds[job] = options->first + i;
        if (!sim_run_seed(options->first + i, options)) {
            sim_shared->has_failed = true;
            _exit(1);
        }
    }
    _exit(0);
}

/* A worker has a descriptor, and another one while it closes. */
static void sim_allow_files(unsigned host_count)
{
    rlim_t        count = (rlim_t)2 * host_count + 100;
    struct rlimit limit;

    if ((getrlimit(RLIMIT_NOFILE, &limit) == 0) && (limit.rlim_cur < count)) {
        limit.rlim_cur = count;
        limit.rlim_max = ucs_max(limit.rlim_max, count);
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
            fprintf(stderr, "sim: %u hosts need %llu open files: %s\n",
                    host_count, (unsigned long long)count, strerror(errno));
        }
    }
}

static bool sim_run_all(const struct sim_options *options)
{
    bool     is_well = true;
    pid_t    children[SIM_JOBS_MAX];
    unsigned job;
    int      status;

    for (job = 0; job < options->jobs; ++job) {
        children[job] = fork();
        if (children[job] == 0) {
            sim_run_share(options, job);
        }
    }
    for (job = 0; job < options->jobs; ++job) {
        if ((children[job] < 0) || (waitpid(children[job], &status, 0) < 0)) {
            fprintf(stderr, "sim: no process: %s\n", strerror(errno));
            is_well = false;
        } else if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0)) {
            fprintf(stderr,
                    "sim: seed %" PRIu64 " failed%s; again: --seed %" PRIu64
                    " --trace\n",
                    sim_shared->seeds[job],
                    WIFSIGNALED(status) ? " (crash)" : "",
                    sim_shared->seeds[job]);
            sim_shared->has_failed = true; /* a crash says it here */
            is_well                = false;
        }
    }
    return is_well;
}

static uint64_t sim_number(const char *text)
{
    char              *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(text, &end, 0);
    if ((errno != 0) || (end == text) || (*end != '\0')) {
        fprintf(stderr, "sim: not a number: %s\n", text);
        exit(2);
    }
    return value;
}

static void sim_parse(int argc, char **argv, struct sim_options *options)
{
    static const struct option longs[] = {
        {"seeds", required_argument, NULL, 'n'},
        {"first", required_argument, NULL, 'f'},
        {"seed", required_argument, NULL, 's'},
        {"jobs", required_argument, NULL, 'j'},
        {"hosts", required_argument, NULL, 'h'},
        {"star", required_argument, NULL, 'r'},
        {"goodput", no_argument, NULL, 'g'},
        {"trace", no_argument, NULL, 't'},
        {"packets", no_argument, NULL, 'p'},
        {0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        switch (option) {
        case 'n':
            options->count = sim_number(optarg);
            break;
        case 'f':
            options->first = sim_number(optarg);
            break;
        case 's':
            options->first = sim_number(optarg);
            options->count = 1;
            break;
        case 'j':
            options->jobs = (unsigned)sim_number(optarg);
            break;
        case 'h':
        case 'r':
            options->host_count = (unsigned)sim_number(optarg);
            options->is_star    = option == 'r';
            options->count      = 1;
            break;
        case 'g':
            options->is_goodput = true;
            options->count      = 1;
            break;
        case 't':
            options->trace = SIM_TRACE_EVENTS;
            break;
        case 'p':
            options->trace = SIM_TRACE_PACKETS;
            break;
        default:
            fprintf(stderr, "usage: sim [--first SEED] [--seeds COUNT] "
                            "[--seed SEED] [--jobs COUNT] [--trace] "
                            "[--packets] [--hosts COUNT] [--star COUNT] "
                            "[--goodput]\n");
            exit(2);
        }
    }
    if ((optind != argc) || (options->count == 0) || (options->jobs == 0) ||
        (options->jobs > SIM_JOBS_MAX)) {
        fprintf(stderr, "sim: nothing to run, or too many jobs\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    struct sim_options options = {
        .first = 1,
        .count = 100,
        .jobs  = (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
    };

    sim_parse(argc, argv, &options);
    sim_shared = mmap(NULL, sizeof(*sim_shared), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (sim_shared == MAP_FAILED) {
        perror("sim: mmap");
        return 1;
    }
    signal(SIGPROF, sim_too_long);
    sim_allow_files(options.host_count);
    if (!sim_run_all(&options)) {
        return 1;
    }
    printf("sim: %" PRIu64 " seeds from %" PRIu64 ": all well\n", options.count,
           options.first);
    return 0;
}
