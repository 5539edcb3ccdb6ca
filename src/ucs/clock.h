/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/clock.h - the time: nanoseconds since some fixed moment, and the
 * processor's cycle counter for the places where a clock call is too slow.
 *
 * Only clock.c asks the kernel for the time. Protocol code does not ask at
 * all: it gets `now_ns` as an argument. */
#ifndef UCS_CLOCK_H_
#define UCS_CLOCK_H_

#include <stdint.h>
#include <time.h>

#include "ucs/compiler.h"

enum ucs_clock_unit {
    UCS_NS_PER_US = 1000,
    UCS_NS_PER_MS = 1000 * 1000,
    UCS_NS_PER_S  = 1000 * 1000 * 1000
};

/* A deadline that never comes, a duration that never ends. */
#define UCS_NS_INFINITE UINT64_MAX

/* Nanoseconds of CLOCK_MONOTONIC: never goes back, not changed by settimeofday,
 * the same for all processes of a host. Any thread; async-signal-safe. */
UCS_EXPORT uint64_t ucsi_clock_ns(void);

/* Nanoseconds since 1970. May jump: for showing to people only. */
UCS_EXPORT uint64_t ucsi_clock_wall_ns(void);

/* The deadline that is `timeout_ns` after `now_ns`; never if either is. */
static inline uint64_t ucs_clock_deadline(uint64_t now_ns, uint64_t timeout_ns)
{
    return (timeout_ns >= UINT64_MAX - now_ns) ? UINT64_MAX
                                               : now_ns + timeout_ns;
}

/* Read the cycle counter of this processor. Not ordered against the memory
 * accesses around it. Counters of different sockets may differ slightly, so
 * compare only what one thread reads, and bear a difference below zero. */
UCS_INLINE uint64_t ucs_clock_cycles(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return ucsi_clock_ns();
#endif
}

/* How many cycles the counter makes in a second.
 *
 * The first call calibrates, for at most 1 ms; later ones are a load. Two
 * threads that both come first agree on one result. */
UCS_EXPORT uint64_t ucsi_clock_cycles_per_s(void);

/* Convert; saturates at UINT64_MAX, which so stays "infinite". */
UCS_EXPORT uint64_t ucsi_clock_ns_to_cycles(uint64_t duration_ns);
UCS_EXPORT uint64_t ucsi_clock_cycles_to_ns(uint64_t cycles);

/* The instant as the kernel wants it. */
static inline struct timespec ucs_clock_timespec(uint64_t instant_ns)
{
    struct timespec spec = {
        .tv_sec  = (time_t)(instant_ns / UCS_NS_PER_S),
        .tv_nsec = (long)(instant_ns % UCS_NS_PER_S),
    };

    return spec;
}

#endif
