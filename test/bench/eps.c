/* SPDX-License-Identifier: BSD-3-Clause */
/* test/bench/eps.c - what 1,000 endpoints to one peer process cost.
 *
 *   created   ucp_ep_create only
 *   used      and one message sent on each
 *
 * Bytes per endpoint: heap in use (malloc's own count) and proportional set
 * size of this process and of the peer, which shows what is mapped too. */
#include "bench.h"

#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum eps_count { EPS_COUNT = 1000, EPS_ADDRESS_BYTES_MAX = 1 << 16 };

#define EPS_TAG 5

struct eps_memory {
    double heap_bytes;
    double pss_bytes;
};

static struct eps_memory eps_memory_now(void)
{
    struct mallinfo2  heap   = mallinfo2();
    struct eps_memory memory = {(double)(heap.uordblks + heap.hblkhd), 0};
    FILE             *file   = fopen("/proc/self/smaps_rollup", "re");
    char              line[256];
    unsigned long     kib;

    while ((file != NULL) && (fgets(line, sizeof(line), file) != NULL)) {
        if (sscanf(line, "Pss: %lu kB", &kib) == 1) {
            memory.pss_bytes = 1024.0 * (double)kib;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return memory;
}

static void eps_write(int fd, const void *data, size_t size_bytes)
{
    if (send(fd, data, size_bytes, MSG_NOSIGNAL) != (ssize_t)size_bytes) {
        perror("send");
        exit(1);
    }
}

static void eps_read(int fd, void *data, size_t size_bytes)
{
    if (recv(fd, data, size_bytes, MSG_WAITALL) != (ssize_t)size_bytes) {
        fprintf(stderr, "the other process is gone\n");
        exit(1);
    }
}

/* Wait for bytes, or the end, and drive the worker meanwhile: the other side's
 * sends may need it to connect. */
static void eps_await(int fd, ucp_worker_h worker)
{
    char byte;

    while ((recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0) &&
           (errno == EAGAIN)) {
        ucp_worker_progress(worker);
    }
}

/* The peer: give the address, then receive; answer with its own memory at
 * each step. Ends at the end of the socket. */
static void eps_peer(int fd)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    ucp_context_h       context;
    ucp_worker_h        worker;
    ucp_address_t      *address;
    struct eps_memory   memory;
    size_t              address_bytes;
    unsigned            i, step;
    uint64_t            data;

    bench_open(&context, &worker);
    bench_check(ucp_worker_get_address(worker, &address, &address_bytes),
                "ucp_worker_get_address");
    eps_write(fd, &address_bytes, sizeof(address_bytes));
    eps_write(fd, address, address_bytes);
    ucp_worker_release_address(worker, address);
    for (step = 0; step < 3; step++) {
        uint32_t messages;

        eps_await(fd, worker);
        eps_read(fd, &messages, sizeof(messages));
        for (i = 0; i < messages; i++) {
            bench_finish(worker,
                         ucp_tag_recv_nbx(worker, &data, sizeof(data), EPS_TAG,
                                          UINT64_MAX, &param),
                         "receive");
        }
        memory = eps_memory_now();
        eps_write(fd, &memory, sizeof(memory));
    }
    eps_await(fd, worker); /* while the other side closes */
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}

/* Memory of both after the peer has received so many messages. */
static void eps_step(int fd, uint32_t messages, struct eps_memory both[2])
{
    eps_write(fd, &messages, sizeof(messages));
    eps_read(fd, &both[1], sizeof(both[1]));
    both[0] = eps_memory_now();
}

static void eps_print(const char *name, const struct eps_memory before[2],
                      const struct eps_memory after[2])
{
    printf("eps_%s_heap %.0f B\n", name,
           (after[0].heap_bytes - before[0].heap_bytes) / EPS_COUNT);
    printf("eps_%s_pss %.0f B\n", name,
           (after[0].pss_bytes - before[0].pss_bytes) / EPS_COUNT);
    printf("eps_%s_peer_heap %.0f B\n", name,
           (after[1].heap_bytes - before[1].heap_bytes) / EPS_COUNT);
    printf("eps_%s_peer_pss %.0f B\n", name,
           (after[1].pss_bytes - before[1].pss_bytes) / EPS_COUNT);
}

/* One endpoint more, used if a message is wanted. */
static ucp_ep_h eps_create(ucp_worker_h worker, const void *address)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                              .address    = address};
    ucp_ep_h        ep;

    bench_check(ucp_ep_create(worker, &params, &ep), "ucp_ep_create");
    return ep;
}

static void eps_use(ucp_worker_h worker, ucp_ep_h ep)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    uint64_t            data  = 0;

    bench_finish(worker,
                 ucp_tag_send_nbx(ep, &data, sizeof(data), EPS_TAG, &param),
                 "send");
}

static void eps_measure(int fd)
{
    static ucp_ep_h     eps[EPS_COUNT + 1];
    static char         address[EPS_ADDRESS_BYTES_MAX];
    ucp_request_param_t param = {.op_attr_mask = 0};
    struct eps_memory   before[2], created[2], used[2];
    ucp_context_h       context;
    ucp_worker_h        worker;
    size_t              address_bytes;
    unsigned            i;

    bench_open(&context, &worker);
    eps_read(fd, &address_bytes, sizeof(address_bytes));
    if (address_bytes > sizeof(address)) {
        fprintf(stderr, "address of %zu bytes\n", address_bytes);
        exit(1);
    }
    eps_read(fd, address, address_bytes);
    /* The first pays for the connection of the two processes, and for the
     * pools of as many messages as the others will send. */
    eps[0] = eps_create(worker, address);
    for (i = 0; i < EPS_COUNT; i++) {
        eps_use(worker, eps[0]);
    }
    eps_step(fd, EPS_COUNT, before);
    for (i = 1; i <= EPS_COUNT; i++) {
        eps[i] = eps_create(worker, address);
    }
    eps_step(fd, 0, created);
    for (i = 1; i <= EPS_COUNT; i++) {
        eps_use(worker, eps[i]);
    }
    eps_step(fd, EPS_COUNT, used);
    eps_print("created", before, created);
    eps_print("used", before, used);
    for (i = 0; i <= EPS_COUNT; i++) {
        bench_finish(worker, ucp_ep_close_nbx(eps[i], &param), "close");
    }
    close(fd);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}

int main(void)
{
    int   pair[2];
    int   status = 0;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        perror("socketpair");
        return 1;
    }
    pid = fork();
    if (pid == 0) {
        close(pair[0]);
        eps_peer(pair[1]);
        exit(0);
    }
    close(pair[1]);
    eps_measure(pair[0]);
    return ((pid > 0) && (waitpid(pid, &status, 0) == pid) && (status == 0))
               ? 0
               : 1;
}
