/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/perf_launch.h"

#include "tools/perf.h"
#include "tools/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum perf_launch_private { LAUNCH_TEXT_BYTES = 32 };

/* The first hardware thread of the core that [cpu] belongs to. */
static int launch_core_of(int cpu)
{
    char  path[128];
    int   core = cpu;
    FILE *file;

    snprintf(path, sizeof(path),
             "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
             cpu);
    file = fopen(path, "re");
    if (file != NULL) {
        if (fscanf(file, "%d", &core) != 1) {
            core = cpu;
        }
        fclose(file);
    }
    return core;
}

/* The next allowed processor above [cpu], of another core if [core] >= 0. */
static int launch_next_cpu(const cpu_set_t *allowed, int cpu, int core)
{
    for (cpu++; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, allowed) &&
            ((core < 0) || (launch_core_of(cpu) != core))) {
            return cpu;
        }
    }
    return -1;
}

void perf_launch_choose_cpus(const struct perf_cpus *given, int cpus[2])
{
    cpu_set_t allowed;

    if (given->given) {
        cpus[0] = given->index[0];
        cpus[1] = given->index[1];
        return;
    }
    cpus[0] = cpus[1] = -1;
    CPU_ZERO(&allowed);
    if ((sched_getaffinity(0, sizeof(allowed), &allowed) != 0) ||
        (CPU_COUNT(&allowed) < 2)) {
        return;
    }
    cpus[0] = launch_next_cpu(&allowed, -1, -1);
    cpus[1] = launch_next_cpu(&allowed, cpus[0], launch_core_of(cpus[0]));
    if (cpus[1] < 0) {
        cpus[1] = launch_next_cpu(&allowed, cpus[0], -1);
    }
}

bool perf_launch_pin(int cpu)
{
    cpu_set_t set;

    if (cpu < 0) {
        return true;
    }
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0) {
        tool_error("cannot run on processor %d: %s", cpu, strerror(errno));
        return false;
    }
    return true;
}

/* In the child; does not return. */
static void launch_exec(const char *role, int cpu, int fd, int limits_fd,
                        const char *tls)
{
    char  role_text[LAUNCH_TEXT_BYTES], limits_text[LAUNCH_TEXT_BYTES];
    char *words[] = {(char[]){"causeway"}, (char[]){"perf"}, role_text,
                     limits_text, NULL};

    snprintf(role_text, sizeof(role_text), "--%s-fd=%d", role, fd);
    snprintf(limits_text, sizeof(limits_text), "--limits-fd=%d",
             limits_fd >= 0 ? limits_fd : 0);
    if (!perf_launch_pin(cpu) || (fcntl(fd, F_SETFD, 0) != 0) ||
        (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) ||
        ((tls != NULL) && (setenv("UCX_TLS", tls, 1) != 0))) {
        _exit(TOOL_EXIT_FAILED);
    }
    execv("/proc/self/exe", words);
    tool_error("cannot start /proc/self/exe: %s", strerror(errno));
    _exit(TOOL_EXIT_FAILED);
}

bool perf_launch_child(const char *role, int cpu, int limits_fd,
                       const char *tls, struct perf_child *child_p)
{
    int   pair[2];
    pid_t parent = getpid();
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        tool_error("socketpair: %s", strerror(errno));
        return false;
    }
    fflush(NULL);
    pid = fork();
    if (pid < 0) {
        tool_error("fork: %s", strerror(errno));
        close(pair[0]);
        close(pair[1]);
        return false;
    }
    if (pid == 0) {
        if (getppid() != parent) {
            _exit(TOOL_EXIT_FAILED);
        }
        launch_exec(role, cpu, pair[1], limits_fd, tls);
    }
    close(pair[1]);
    child_p->pid = pid;
    child_p->fd  = pair[0];
    return true;
}

bool perf_launch_wait(const struct perf_child *child, bool quiet)
{
    int status;

    while (waitpid(child->pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return false;
        }
    }
    if (WIFEXITED(status) && (WEXITSTATUS(status) == TOOL_EXIT_OK)) {
        return true;
    }
    if (!quiet && WIFSIGNALED(status)) {
        tool_error("the other process (pid %d) was killed by signal %d (%s)",
                   (int)child->pid, WTERMSIG(status),
                   strsignal(WTERMSIG(status)));
    } else if (!quiet) {
        tool_error("the other process (pid %d) ended with code %d",
                   (int)child->pid, WEXITSTATUS(status));
    }
    return false;
}
