/* SPDX-License-Identifier: BSD-3-Clause */
/* test/bench/first.c - endpoint, first message and its answer, between two
 * processes that never talked, each with a second thread as under Open MPI.
 * Every round has processes of its own. */
#include "bench.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum first_limit { FIRST_ROUNDS = 11, FIRST_ADDRESS_BYTES_MAX = 4096 };

static void first_exit(const char *what)
{
    perror(what);
    exit(1);
}

/* One datagram to the other process, and its own. @return its length */
static size_t first_exchange(int socket, const void *mine, size_t bytes,
                             void *theirs)
{
    ssize_t length;

    if (send(socket, mine, bytes, 0) != (ssize_t)bytes) {
        first_exit("send");
    }
    length = recv(socket, theirs, FIRST_ADDRESS_BYTES_MAX, 0);
    if (length <= 0) {
        first_exit("recv");
    }
    return (size_t)length;
}

static void *first_idle(void *unused)
{
    (void)pause();
    return unused;
}

static void first_send(ucp_worker_h worker, ucp_ep_h ep)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    uint64_t            data  = 0;

    bench_finish(worker, ucp_tag_send_nbx(ep, &data, sizeof(data), 1, &param),
                 "send");
}

static void first_receive(ucp_worker_h worker)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    uint64_t            data;

    bench_finish(
        worker,
        ucp_tag_recv_nbx(worker, &data, sizeof(data), 1, UINT64_MAX, &param),
        "receive");
}

/* One of the two. @return us until the answer was there */
static double first_run(int socket, int is_first)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_request_param_t param = {.op_attr_mask = 0};
    uint8_t             theirs[FIRST_ADDRESS_BYTES_MAX];
    ucp_address_t      *mine;
    ucp_context_h       context;
    ucp_worker_h        worker;
    ucp_ep_h            ep;
    pthread_t           thread;
    size_t              bytes;
    uint64_t            begin_ns, spent_ns;

    if (pthread_create(&thread, NULL, first_idle, NULL) != 0) {
        first_exit("pthread_create");
    }
    bench_open(&context, &worker);
    bench_check(ucp_worker_get_address(worker, &mine, &bytes),
                "ucp_worker_get_address");
    (void)first_exchange(socket, mine, bytes, theirs);
    params.address = (const ucp_address_t *)theirs;
    begin_ns       = bench_clock_ns();
    bench_check(ucp_ep_create(worker, &params, &ep), "ucp_ep_create");
    if (is_first) {
        first_send(worker, ep);
        first_receive(worker);
    } else {
        first_receive(worker);
        first_send(worker, ep);
    }
    spent_ns = bench_clock_ns() - begin_ns;
    bench_finish(worker, ucp_ep_close_nbx(ep, &param), "close");
    ucp_worker_release_address(worker, mine);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    return (double)spent_ns / 1e3;
}

static double first_once(void)
{
    double  spent_us = -1;
    int     sockets[2], report[2], i;
    int     status;
    ssize_t bytes;

    if ((socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) != 0) ||
        (pipe(report) != 0)) {
        first_exit("socketpair");
    }
    for (i = 0; i < 2; i++) {
        if (fork() == 0) {
            spent_us = first_run(sockets[i], i == 0);
            bytes    = (i == 0) ? write(report[1], &spent_us, sizeof(spent_us))
                                : (ssize_t)sizeof(spent_us);
            exit(bytes == (ssize_t)sizeof(spent_us) ? 0 : 1);
        }
    }
    for (i = 0; i < 2; i++) {
        close(sockets[i]);
        if ((wait(&status) < 0) || (status != 0)) {
            fprintf(stderr, "one of the two failed\n");
            exit(1);
        }
    }
    if (read(report[0], &spent_us, sizeof(spent_us)) !=
        (ssize_t)sizeof(spent_us)) {
        first_exit("read");
    }
    close(report[0]);
    close(report[1]);
    return spent_us;
}

int main(void)
{
    double values[FIRST_ROUNDS];
    int    i;

    for (i = 0; i < FIRST_ROUNDS; i++) {
        values[i] = first_once();
    }
    printf("first %.1f us\n", bench_median(values, FIRST_ROUNDS));
    return 0;
}
