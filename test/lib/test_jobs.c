/* SPDX-License-Identifier: BSD-3-Clause */
/* test_jobs.c - several tests at the same time: processes that take the next
 * one each, from a list that they share. */
#include "lib/test_internal.h"

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

static void take_all(atomic_size_t *next, const struct test_jobs *jobs)
{
    size_t index;

    while ((index = atomic_fetch_add(next, 1)) < jobs->count) {
        jobs->run(jobs->arg, index);
    }
}

/* Told to end, check kills the group of its test; while there is none yet, its
 * own. */
static _Noreturn void be_one_of(atomic_size_t          *next,
                                const struct test_jobs *jobs, pid_t parent)
{
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent) {
        take_all(next, jobs);
        (void)fflush(NULL);
    }
    _exit(0);
}

void test_jobs_run(const struct test_jobs *jobs, unsigned process_count)
{
    atomic_size_t *next   = test_shared_create(sizeof(*next));
    pid_t          parent = getpid();
    pid_t          pid;

    (void)fflush(NULL); /* else each child writes it a second time */
    for (unsigned i = 0; (process_count > 1) && (i < process_count); ++i) {
        pid = fork();
        if (pid == 0) {
            be_one_of(next, jobs, parent);
        }
        if (pid < 0) {
            perror("fork");
        }
    }
    while (wait(NULL) > 0) {
    }
    if (process_count <= 1) {
        take_all(next, jobs);
    }
    (void)munmap(next, sizeof(*next));
}
