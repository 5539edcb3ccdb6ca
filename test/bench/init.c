/* SPDX-License-Identifier: BSD-3-Clause */
/* test/bench/init.c - how long ucp_init and ucp_worker_create take together,
 * each time in a process that has not called them before. */
#include "bench.h"

#include <sys/wait.h>
#include <unistd.h>

enum init_count { INIT_ROUNDS = 11 };

/* In a child. @return ms, through the pipe */
static double init_once(void)
{
    ucp_context_h context;
    ucp_worker_h  worker;
    uint64_t      begin_ns, spent_ns;
    double        spent_ms = -1;
    int           pair[2];
    pid_t         pid;

    if (pipe(pair) != 0) {
        perror("pipe");
        exit(1);
    }
    pid = fork();
    if (pid == 0) {
        begin_ns = bench_clock_ns();
        bench_open(&context, &worker);
        spent_ns = bench_clock_ns() - begin_ns;
        spent_ms = (double)spent_ns / 1e6;
        ucp_worker_destroy(worker);
        ucp_cleanup(context);
        exit(write(pair[1], &spent_ms, sizeof(spent_ms)) ==
                     (ssize_t)sizeof(spent_ms)
                 ? 0
                 : 1);
    }
    close(pair[1]);
    if (read(pair[0], &spent_ms, sizeof(spent_ms)) !=
        (ssize_t)sizeof(spent_ms)) {
        fprintf(stderr, "the child failed\n");
        exit(1);
    }
    close(pair[0]);
    (void)waitpid(pid, NULL, 0);
    return spent_ms;
}

int main(void)
{
    double   values[INIT_ROUNDS];
    unsigned i;

    for (i = 0; i < INIT_ROUNDS; i++) {
        values[i] = init_once();
    }
    printf("init %.3f ms\n", bench_median(values, INIT_ROUNDS));
    return 0;
}
