/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_speed.c - see sm_speed.h.
 *
 *   memcpy of 64 KiB            --> a fifth of it: chunks
 *   process_vm_readv of oneself --> four fifths of it: put and get
 *     (64 KiB less 4 KiB over the difference in time, and what is left)
 *
 * The best of a few tries counts: what else the machine does makes a try
 * slower, never faster. */
#include "uct/sm/sm_speed.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ucs/clock.h"
#include "ucs/compiler.h"
#include "ucs/units.h"
#include "uct/sm/sm_cma.h"

enum {
    SPEED_TRIES       = 5,
    SPEED_BYTES       = 65536, /* both buffers fit a second-level cache */
    SPEED_SHORT_BYTES = 4096,
};

/* Parts of what one processor does alone in its cache that two processes
 * reach. Measured, 1 to 16 MiB (docs/perf/protocols.md): chunks 0.40 with a
 * common cache, 0.18 without one, 0.15 out of memory; put and get 0.84, 0.80,
 * 0.45. */
static const double speed_chunk_part = 0.20;
static const double speed_cma_part   = 0.80;

/* When nothing can be measured: half of what the development machine does. */
static const struct uct_sm_speed speed_fallback = {
    .chunk_Bps = 12e9, .cma_Bps = 7e9, .cma_overhead_s = 1e-6};

static struct uct_sm_speed speed_measured;
static pthread_once_t      speed_once = PTHREAD_ONCE_INIT;

/* Nanoseconds of the fastest tries; 0: it cannot be done. */
struct speed_times {
    uint64_t memcpy_ns;
    uint64_t cma_ns;
    uint64_t cma_short_ns;
};

static uint64_t speed_memcpy_ns(uint8_t *memory)
{
    uint64_t begin_ns = ucsi_clock_ns();

    memcpy(memory + SPEED_BYTES, memory, SPEED_BYTES);
    __asm__ volatile("" ::"r"(memory) : "memory"); /* the copy happens */
    return ucsi_clock_ns() - begin_ns;
}

static uint64_t speed_cma_ns(uint8_t *memory, size_t length)
{
    struct iovec from = {.iov_base = memory, .iov_len = length};
    struct iovec to   = {.iov_base = memory + SPEED_BYTES, .iov_len = length};
    struct uct_sm_transfer transfer = {
        .pid = getpid(), .local = {&to, 1}, .remote = {&from, 1}};
    uint64_t begin_ns = ucsi_clock_ns();

    return (uct_sm_cma_copy(&transfer) == UCS_OK) ? ucsi_clock_ns() - begin_ns
                                                  : 0;
}

static void speed_try(uint8_t *memory, struct speed_times *best)
{
    const struct speed_times times = {
        .memcpy_ns    = speed_memcpy_ns(memory),
        .cma_ns       = speed_cma_ns(memory, SPEED_BYTES),
        .cma_short_ns = speed_cma_ns(memory, SPEED_SHORT_BYTES),
    };

    best->memcpy_ns    = ucs_min(best->memcpy_ns, times.memcpy_ns);
    best->cma_ns       = ucs_min(best->cma_ns, times.cma_ns);
    best->cma_short_ns = ucs_min(best->cma_short_ns, times.cma_short_ns);
}

static struct uct_sm_speed speed_of(const struct speed_times *times)
{
    struct uct_sm_speed speed = speed_fallback;
    double              slope_s;

    if (times->memcpy_ns > 0) {
        speed.chunk_Bps =
            speed_chunk_part * SPEED_BYTES * 1e9 / (double)times->memcpy_ns;
    }
    if (times->cma_ns > times->cma_short_ns) {
        slope_s = (double)(times->cma_ns - times->cma_short_ns) * 1e-9 /
                  (SPEED_BYTES - SPEED_SHORT_BYTES);
        speed.cma_Bps        = speed_cma_part / slope_s;
        speed.cma_overhead_s = ucs_max((double)times->cma_short_ns * 1e-9 -
                                           slope_s * SPEED_SHORT_BYTES,
                                       0.0);
    }
    return speed;
}

static void speed_measure(void)
{
    struct speed_times best   = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    size_t             length = 2 * (size_t)SPEED_BYTES;
    uint8_t           *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    unsigned           i;

    speed_measured = speed_fallback;
    if (memory == MAP_FAILED) {
        return;
    }
    for (i = 0; i < SPEED_TRIES; ++i) {
        speed_try(memory, &best);
    }
    (void)munmap(memory, length);
    speed_measured = speed_of(&best);
}

struct uct_sm_speed uct_sm_speed(const struct uct_sm_options *options)
{
    struct uct_sm_speed speed = speed_fallback;

    if ((options->chunk_Bps == UCS_UNITS_AUTO) ||
        (options->cma_Bps == UCS_UNITS_AUTO)) {
        (void)pthread_once(&speed_once, speed_measure);
        speed = speed_measured;
    }
    if (options->chunk_Bps != UCS_UNITS_AUTO) {
        speed.chunk_Bps = (double)ucs_max(options->chunk_Bps, UINT64_C(1));
    }
    if (options->cma_Bps != UCS_UNITS_AUTO) {
        speed.cma_Bps = (double)ucs_max(options->cma_Bps, UINT64_C(1));
    }
    return speed;
}
