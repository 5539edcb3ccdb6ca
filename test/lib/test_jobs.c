/* SPDX-License-Identifier: BSD-3-Clause */
/* test_jobs.c - several tests at the same time: processes that take the next
 * one each, and one that tells in order what came of them. */
#include "lib/test_internal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void *test_shared_create(size_t size_bytes)
{
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        perror("mmap");
        abort();
    }
    return memory;
}

/* Between this process and the others. */
struct jobs_shared {
    atomic_size_t next;
    atomic_bool   is_done[];
};

/* Says each that is done by a byte, if anybody reads. */
static void take_all(struct jobs_shared *shared, const struct test_jobs *jobs,
                     int told)
{
    size_t index;

    while ((index = atomic_fetch_add(&shared->next, 1)) < jobs->count) {
        jobs->run(jobs->arg, index);
        atomic_store(&shared->is_done[index], true);
        if (write(told, "", 1) != 1) {
            break; /* the runner is gone */
        }
    }
}

/* Told to end, check kills the group of its test; while there is none yet, its
 * own. */
static void start(struct jobs_shared *shared, const struct test_jobs *jobs,
                  const int pipe_fds[2])
{
    pid_t parent = getpid();
    pid_t pid    = fork();

    if (pid < 0) {
        perror("fork"); /* the others do it all */
    }
    if (pid == 0) {
        (void)close(pipe_fds[0]);
        (void)setpgid(0, 0);
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() == parent) {
            take_all(shared, jobs, pipe_fds[1]);
            (void)fflush(NULL);
        }
        _exit(0);
    }
}

static void run_here(const struct test_jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; ++i) {
        jobs->run(jobs->arg, i);
        jobs->done(jobs->arg, i);
    }
}

void test_jobs_run(const struct test_jobs *jobs, unsigned process_count)
{
    size_t              size_bytes = sizeof(struct jobs_shared) + jobs->count;
    struct jobs_shared *shared;
    size_t              said = 0;
    int                 pipe_fds[2];
    char                byte;

    if (process_count <= 1) {
        run_here(jobs);
        return;
    }
    shared = test_shared_create(size_bytes);
    if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
        perror("pipe");
        abort();
    }
    (void)fflush(NULL); /* else each child writes it a second time */
    for (unsigned i = 0; i < process_count; ++i) {
        start(shared, jobs, pipe_fds);
    }
    (void)close(pipe_fds[1]);
    while ((said < jobs->count) && (read(pipe_fds[0], &byte, 1) == 1)) {
        for (; (said < jobs->count) && shared->is_done[said]; ++said) {
            jobs->done(jobs->arg, said);
        }
    }
    for (; said < jobs->count; ++said) {
        jobs->done(jobs->arg, said);
    }
    while (wait(NULL) > 0) {
    }
    (void)close(pipe_fds[0]);
    (void)munmap(shared, size_bytes);
}
