/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_limits.c - what the machine itself can do, without any library.
 *
 *   line   a counter goes to the other core and one comes back: the least a
 *          message can cost
 *   ring   a producer fills cache lines, a consumer empties them: the most
 *          messages a second
 *   copy   memcpy between the buffers that the measured rows use
 *
 * Measured between the repetitions of the rows, by the same two processes on
 * the same cores, in shared memory of their own. Raw sockets are in
 * perf_socket_loops.c. */
#include "tools/perf_node.h"
#include "tools/tool.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum perf_limits_private {
    LIMITS_LINE_BYTES  = 64,
    LIMITS_RING_SLOTS  = 1024,
    LIMITS_COPY_NS     = 2000000, /* per trial, at least */
    LIMITS_CREDIT_STEP = 256,     /* the consumer returns room this often */
};

/* 128: neighbour lines are fetched in pairs by some processors. */
struct perf_limits_area {
    _Alignas(128) _Atomic uint64_t ping;
    _Alignas(128) _Atomic uint64_t pong;
    _Alignas(128) _Atomic uint64_t taken;
    _Alignas(128) struct perf_limits_slot {
        _Alignas(LIMITS_LINE_BYTES) _Atomic uint64_t turn;
        uint64_t payload;
    } ring[LIMITS_RING_SLOTS];
};

int perf_limits_create_fd(void)
{
    int fd = memfd_create("causeway-perf-limits", 0);

    if ((fd >= 0) && (ftruncate(fd, sizeof(struct perf_limits_area)) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

struct perf_limits_area *perf_limits_map(int fd)
{
    void *memory =
        mmap(NULL, sizeof(struct perf_limits_area), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_POPULATE, fd, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/* Counters go on from job to job, so nothing has to be reset. */
void perf_limits_line(struct perf_limits_area *area, uint64_t iterations,
                      bool first)
{
    _Atomic uint64_t *mine   = first ? &area->ping : &area->pong;
    _Atomic uint64_t *theirs = first ? &area->pong : &area->ping;
    uint64_t          turn   = atomic_load_explicit(mine, memory_order_relaxed);
    uint64_t          end    = turn + iterations;

    while (turn++ < end) {
        if (first) {
            atomic_store_explicit(mine, turn, memory_order_release);
        }
        /* LINE: each side's acquire pairs with the other's release. */
        while (atomic_load_explicit(theirs, memory_order_acquire) != turn) {
            /* spin */
        }
        if (!first) {
            atomic_store_explicit(mine, turn, memory_order_release);
        }
    }
}

static void limits_ring_produce(struct perf_limits_area *area, uint64_t begin,
                                uint64_t end)
{
    uint64_t                 room = begin + LIMITS_RING_SLOTS;
    struct perf_limits_slot *slot;
    uint64_t                 i;

    for (i = begin; i < end; i++) {
        while (i >= room) {
            /* ROOM: acquire, pairs with the consumer's release. */
            room = atomic_load_explicit(&area->taken, memory_order_acquire) +
                   LIMITS_RING_SLOTS;
        }
        slot          = &area->ring[i % LIMITS_RING_SLOTS];
        slot->payload = i;
        /* SLOT: release, pairs with the consumer's acquire. */
        atomic_store_explicit(&slot->turn, i + 1, memory_order_release);
    }
    while (atomic_load_explicit(&area->taken, memory_order_acquire) != end) {
        /* the last message has arrived */
    }
}

static void limits_ring_consume(struct perf_limits_area *area, uint64_t begin,
                                uint64_t end)
{
    uint64_t                 sum = 0;
    struct perf_limits_slot *slot;
    uint64_t                 i;

    for (i = begin; i < end; i++) {
        slot = &area->ring[i % LIMITS_RING_SLOTS];
        while (atomic_load_explicit(&slot->turn, memory_order_acquire) !=
               i + 1) {
            /* SLOT */
        }
        sum += slot->payload;
        if ((i + 1) % LIMITS_CREDIT_STEP == 0) {
            atomic_store_explicit(&area->taken, i + 1, memory_order_release);
        }
    }
    __asm__ volatile("" ::"r"(sum)); /* the payload is read */
    atomic_store_explicit(&area->taken, end, memory_order_release);
}

void perf_limits_ring(struct perf_limits_area *area, uint64_t iterations,
                      bool first)
{
    uint64_t begin = atomic_load_explicit(&area->taken, memory_order_acquire);

    if (first) {
        limits_ring_produce(area, begin, begin + iterations);
    } else {
        limits_ring_consume(area, begin, begin + iterations);
    }
}

double perf_limits_copy_ns(struct perf_node *node, uint64_t size_bytes)
{
    uint64_t begin_ns = tool_clock_ns();
    uint64_t count    = 0;
    uint64_t batch    = size_bytes > 0 ? (1 << 20) / size_bytes + 1 : 1024;
    uint64_t spent_ns, i;

    do {
        for (i = 0; i < batch; i++) {
            memcpy(node->recv_buffer, node->send_buffer, size_bytes);
            __asm__ volatile("" ::: "memory"); /* each copy happens */
        }
        count += batch;
        spent_ns = tool_clock_ns() - begin_ns;
    } while (spent_ns < LIMITS_COPY_NS);
    return (double)spent_ns / (double)count;
}
