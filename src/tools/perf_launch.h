/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_launch.h - start this program again, and pin processes. */
#ifndef CAUSEWAY_TOOL_PERF_LAUNCH_H_
#define CAUSEWAY_TOOL_PERF_LAUNCH_H_

#include <stdbool.h>
#include <sys/types.h>

struct perf_child {
    pid_t pid;
    int   fd; /* control socket */
};

/* Choose processors for client and server: what the user gave, else the first
 * two different cores that this process may use, else -1. */
struct perf_cpus;
void perf_launch_choose_cpus(const struct perf_cpus *given, int cpus[2]);

/* Run this process on one processor from now on; -1 does nothing. */
bool perf_launch_pin(int cpu);

/* Start `causeway perf --<role>-fd N` on [cpu]. Dies with this process.
 * @param limits_fd inherited memory for the raw limits, or -1
 * @param tls       its UCX_TLS; NULL: ours */
bool perf_launch_child(const char *role, int cpu, int limits_fd,
                       const char *tls, struct perf_child *child_p);

/* Wait for the end of a child.
 * @return false if it failed; prints how, if [quiet] is false. */
bool perf_launch_wait(const struct perf_child *child, bool quiet);

#endif
