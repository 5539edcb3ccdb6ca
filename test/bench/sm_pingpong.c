/* SPDX-License-Identifier: BSD-3-Clause */
/* test/bench/sm_pingpong.c - what the shared-memory transport costs, directly
 * over uct, next to a bare cache-line ping-pong of the same run.
 *
 *   sm_pingpong [bytes] [transport] [span]
 *
 * With a span, source and landing buffer are so long and messages walk
 * through them: what does not fit into the caches costs more.
 *
 * Two processes on two processors. The run is cut into short slices, in each
 * of which all three figures are taken; the 10th percentile of the slices is
 * printed, so that what else runs on the machine disturbs little. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "uct/api/uct.h"

enum {
    BENCH_SLICE_COUNT = 300,
    BENCH_ROUND_COUNT = 200,
    BENCH_AM_ID       = 3,
};

/* me        0: measures, 1: answers
 * span      bytes of buffer and landing; the offsets walk through them
 * received  messages handed up */
struct bench {
    unsigned              me;
    struct uct_iface     *iface;
    struct uct_ep        *ep;
    struct uct_iface_attr attr;
    size_t                bytes;
    size_t                span;
    size_t                sent_offset;
    size_t                landed_offset;
    uint8_t              *buffer;
    uint8_t              *landing;
    uint64_t              received;
    _Atomic uint32_t     *lines[2];
};

static double bench_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void bench_check(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "sm_pingpong: %s failed\n", what);
        exit(1);
    }
}

/* Where the next message is in a buffer. */
static size_t bench_step(const struct bench *bench, size_t offset)
{
    return (offset + 2 * bench->bytes <= bench->span) ? offset + bench->bytes
                                                      : 0;
}

static ucs_status_t bench_on_message(void *arg, struct uct_source *source,
                                     void *data, size_t length, unsigned flags)
{
    struct bench *bench = arg;

    (void)source;
    (void)flags;
    memcpy(bench->landing + bench->landed_offset, data, length);
    bench->landed_offset = bench_step(bench, bench->landed_offset);
    ++bench->received;
    return UCS_OK;
}

static size_t bench_pack(void *dest, void *arg)
{
    struct bench *bench = arg;

    memcpy(dest, bench->buffer + bench->sent_offset, bench->bytes);
    bench->sent_offset = bench_step(bench, bench->sent_offset);
    return bench->bytes;
}

static void bench_send(struct bench *bench)
{
    ssize_t result;

    do {
        if (bench->bytes <= bench->attr.am.short_bytes_max) {
            result = uct_ep_am_short(bench->ep, BENCH_AM_ID, 1, bench->buffer,
                                     bench->bytes, 0);
        } else {
            result = uct_ep_am_bcopy(bench->ep, BENCH_AM_ID, bench_pack, bench,
                                     bench->bytes, 0);
        }
        if (result == UCS_ERR_WOULD_BLOCK) {
            (void)uct_iface_progress(bench->iface);
        }
    } while (result == UCS_ERR_WOULD_BLOCK);
    bench_check(result >= 0, "send");
}

static void bench_wait(struct bench *bench, uint64_t count)
{
    while (bench->received < count) {
        (void)uct_iface_progress(bench->iface);
    }
}

static void bench_line(struct bench *bench, uint32_t *turn)
{
    int round;

    for (round = 0; round < BENCH_ROUND_COUNT; ++round) {
        ++*turn;
        if (bench->me == 0) {
            atomic_store_explicit(bench->lines[0], *turn, memory_order_release);
        }
        while (atomic_load_explicit(bench->lines[1 - bench->me],
                                    memory_order_acquire) != *turn) {
        }
        if (bench->me == 1) {
            atomic_store_explicit(bench->lines[1], *turn, memory_order_release);
        }
    }
}

static void bench_pingpong(struct bench *bench)
{
    uint64_t base = bench->received;
    int      round;

    for (round = 1; round <= BENCH_ROUND_COUNT; ++round) {
        if (bench->me == 0) {
            bench_send(bench);
        }
        bench_wait(bench, base + (uint64_t)round);
        if (bench->me == 1) {
            bench_send(bench);
        }
    }
}

static void bench_stream(struct bench *bench, int count)
{
    uint64_t base = bench->received;
    int      index;

    if (bench->me == 0) {
        for (index = 0; index < count; ++index) {
            bench_send(bench);
        }
        bench_wait(bench, base + 1);
    } else {
        bench_wait(bench, base + (uint64_t)count);
        bench_send(bench);
    }
}

static int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void bench_run(struct bench *bench)
{
    static double line[BENCH_SLICE_COUNT], one_way[BENCH_SLICE_COUNT],
        message[BENCH_SLICE_COUNT];
    int      stream_count = 4 * BENCH_ROUND_COUNT;
    uint32_t turn         = 0;
    double   start;
    int      slice, low = BENCH_SLICE_COUNT / 10, mid = BENCH_SLICE_COUNT / 2;

    for (slice = 0; slice < BENCH_SLICE_COUNT; ++slice) {
        start = bench_now_ns();
        bench_line(bench, &turn);
        line[slice] = (bench_now_ns() - start) / BENCH_ROUND_COUNT / 2;
        start       = bench_now_ns();
        bench_pingpong(bench);
        one_way[slice] = (bench_now_ns() - start) / BENCH_ROUND_COUNT / 2;
        start          = bench_now_ns();
        bench_stream(bench, stream_count);
        message[slice] = (bench_now_ns() - start) / stream_count;
    }
    if (bench->me == 1) {
        return;
    }
    qsort(line, BENCH_SLICE_COUNT, sizeof(double), bench_compare);
    qsort(one_way, BENCH_SLICE_COUNT, sizeof(double), bench_compare);
    qsort(message, BENCH_SLICE_COUNT, sizeof(double), bench_compare);
    printf("%7zu B  one way %7.1f ns (median %7.1f), %.2f x line %.1f ns;"
           "  stream %6.1f ns, %6.2f M/s, %6.2f GB/s\n",
           bench->bytes, one_way[low], one_way[mid], one_way[low] / line[low],
           line[low], message[low], 1e3 / message[low],
           (double)bench->bytes / message[low]);
}

static struct uct_iface *bench_open(const char *name)
{
    const struct uct_transport *const *transport = ucti_transports();
    struct uct_iface_params            params    = {.wakeup = false};
    struct uct_device                  device;
    struct uct_iface                  *iface = NULL;
    char                               reason[UCT_REASON_BYTES_MAX];
    unsigned                           count = 1;
    struct uct_md                     *md;

    while ((*transport != NULL) && strcmp((*transport)->name, name)) {
        ++transport;
    }
    bench_check(*transport != NULL, "find transport");
    (*transport)->devices(NULL, &device, &count, reason);
    bench_check(count > 0, "find device");
    bench_check(ucti_md_open(&device, &md) == UCS_OK, "md_open");
    bench_check(ucti_iface_open(md, &params, &iface) == UCS_OK, "iface_open");
    return iface;
}

/* Exchange addresses over a socket and make the endpoint. */
static void bench_connect(struct bench *bench, int fd)
{
    uint8_t mine[UCT_ADDRESS_BYTES_MAX], theirs[UCT_ADDRESS_BYTES_MAX];
    struct uct_ep_params params = {.address = theirs};

    bench->iface->transport->iface_query(bench->iface, &bench->attr);
    bench->iface->transport->iface_address(bench->iface, mine);
    params.address_bytes = bench->attr.address_bytes;
    bench_check(write(fd, mine, params.address_bytes) ==
                    (ssize_t)params.address_bytes,
                "write");
    bench_check(read(fd, theirs, params.address_bytes) ==
                    (ssize_t)params.address_bytes,
                "read");
    bench_check(ucti_ep_create(bench->iface, &params, &bench->ep) == UCS_OK,
                "ep_create");
    ucti_iface_set_am(bench->iface, BENCH_AM_ID, bench_on_message, bench);
}

int main(int argc, char **argv)
{
    size_t       bytes = (argc > 1) ? strtoul(argv[1], NULL, 0) : 8;
    const char  *name  = (argc > 2) ? argv[2] : "sm";
    struct bench bench = {.bytes = bytes};
    cpu_set_t    processors;
    int          sockets[2];
    char         byte = 0;
    pid_t        child;

    bench.span     = (argc > 3) ? strtoul(argv[3], NULL, 0) : 0;
    bench.span     = ucs_max(bench.span, bytes + 64);
    bench.lines[0] = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bench_check(bench.lines[0] != MAP_FAILED, "mmap");
    bench.lines[1] = bench.lines[0] + 1024;
    bench_check(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0,
                "socketpair");
    child    = fork();
    bench.me = (child == 0);
    CPU_ZERO(&processors);
    CPU_SET(bench.me, &processors);
    (void)sched_setaffinity(0, sizeof(processors), &processors);
    bench.buffer  = calloc(1, bench.span);
    bench.landing = calloc(1, bench.span);
    bench_check((bench.buffer != NULL) && (bench.landing != NULL), "calloc");
    memset(bench.buffer, 7, bench.span);
    memset(bench.landing, 7, bench.span);
    bench.iface = bench_open(name);
    bench_connect(&bench, sockets[bench.me]);
    bench_run(&bench);
    ucti_ep_destroy(bench.ep);
    /* Neither leaves before the other has read everything. */
    bench_check((write(sockets[bench.me], &byte, 1) == 1) &&
                    (read(sockets[bench.me], &byte, 1) == 1),
                "goodbye");
    ucti_iface_close(bench.iface);
    free(bench.buffer);
    free(bench.landing);
    if (bench.me == 0) {
        (void)waitpid(child, NULL, 0);
    }
    return 0;
}
