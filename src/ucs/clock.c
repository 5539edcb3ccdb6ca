/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/clock.c - monotonic time, wall time, and the rate of the cycle counter.
 *
 * How the rate is found on x86: what the processor or the hypervisor says is
 * believed if a very short measurement agrees with it; else a longer
 * measurement is the answer. A hypervisor that moves guests between machines
 * may pass on a wrong number, so nobody is believed unseen. */
#include "ucs/clock.h"

#include <stdatomic.h>
#include <stdbool.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum clock_calibration {
    /* Both windows and all samples together stay below 1 ms. */
    CLOCK_CHECK_NS   = 100 * 1000,
    CLOCK_MEASURE_NS = 700 * 1000,
    /* Readings per sample; the tightest pair counts, so that one interrupt
     * does no harm. Guess. */
    CLOCK_SAMPLE_COUNT = 8,
    /* A sample errs by less than 100 ns, so 100 us of window err by 0.2 %. */
    CLOCK_TOLERANCE_PERCENT = 1
};

/* A cycle counter outside of this is not one. */
#define CLOCK_RATE_MIN (1000ull * 1000)
#define CLOCK_RATE_MAX (100ull * 1000 * 1000 * 1000)

struct clock_sample {
    uint64_t ns;
    uint64_t cycles;
};

static uint64_t clock_read(clockid_t id)
{
    struct timespec spec;

    /* Fails only for a bad id or pointer. */
    (void)clock_gettime(id, &spec);
    return (uint64_t)spec.tv_sec * UCS_NS_PER_S + (uint64_t)spec.tv_nsec;
}

uint64_t ucsi_clock_ns(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

uint64_t ucsi_clock_wall_ns(void)
{
    return clock_read(CLOCK_REALTIME);
}

#if defined(__aarch64__)
static uint64_t clock_calibrate(void)
{
    uint64_t rate;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(rate));
    return rate;
}
#elif defined(__x86_64__)
/* Clock and counter read as closely together as it goes. */
static struct clock_sample clock_sample_take(void)
{
    struct clock_sample best     = {0};
    uint64_t            gap_best = UINT64_MAX;
    int                 i;

    for (i = 0; i < CLOCK_SAMPLE_COUNT; ++i) {
        uint64_t before = ucs_clock_cycles();
        uint64_t ns     = ucsi_clock_ns();
        uint64_t gap    = ucs_clock_cycles() - before;

        if (gap < gap_best) {
            gap_best = gap;
            best     = (struct clock_sample){ns, before + gap / 2};
        }
    }
    return best;
}

static uint64_t clock_rate_measure(const struct clock_sample *start,
                                   uint64_t                   window_ns)
{
    struct clock_sample end;

    while (ucsi_clock_ns() - start->ns < window_ns) {
        ucs_cpu_relax();
    }
    end = clock_sample_take();
    return (uint64_t)((unsigned __int128)(end.cycles - start->cycles) *
                      UCS_NS_PER_S / (end.ns - start->ns));
}

/* CPUID leaf 15h: crystal Hz (ecx) * ebx / eax. Intel SDM, volume 2A. */
static uint64_t clock_rate_from_cpu(void)
{
    unsigned eax, ebx, ecx, edx;

    if (!__get_cpuid_count(0x15, 0, &eax, &ebx, &ecx, &edx) || (eax == 0)) {
        return 0;
    }
    return (uint64_t)((unsigned __int128)ecx * ebx / eax);
}

/* Leaf 40000010h: kHz in eax, as VMware defined it and KVM can offer it. */
static uint64_t clock_rate_from_hypervisor(void)
{
    const unsigned is_guest_bit = 1u << 31;
    unsigned       eax, ebx, ecx, edx;

    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & is_guest_bit)) {
        return 0;
    }
    __cpuid(0x40000000, eax, ebx, ecx, edx);
    if ((eax < 0x40000010) || (eax > 0x400000ff)) {
        return 0;
    }
    __cpuid(0x40000010, eax, ebx, ecx, edx);
    return (uint64_t)eax * 1000;
}

static bool clock_rate_agrees(uint64_t claimed, uint64_t measured)
{
    uint64_t difference =
        (claimed > measured) ? claimed - measured : measured - claimed;

    return difference * 100 <= measured * CLOCK_TOLERANCE_PERCENT;
}

static uint64_t clock_calibrate(void)
{
    struct clock_sample start    = clock_sample_take();
    uint64_t            measured = clock_rate_measure(&start, CLOCK_CHECK_NS);
    uint64_t            claimed;

    claimed = clock_rate_from_hypervisor();
    if ((claimed != 0) && clock_rate_agrees(claimed, measured)) {
        return claimed;
    }
    claimed = clock_rate_from_cpu();
    if ((claimed != 0) && clock_rate_agrees(claimed, measured)) {
        return claimed;
    }
    return clock_rate_measure(&start, CLOCK_MEASURE_NS);
}
#else
static uint64_t clock_calibrate(void)
{
    return UCS_NS_PER_S; /* ucs_clock_cycles is the clock itself */
}
#endif

uint64_t ucsi_clock_cycles_per_s(void)
{
    /* One word that says all: relaxed is enough. */
    static _Atomic uint64_t rate_found;
    uint64_t rate = atomic_load_explicit(&rate_found, memory_order_relaxed);
    uint64_t rate_other = 0;

    if (ucs_likely(rate != 0)) {
        return rate;
    }
    rate = clock_calibrate();
    if ((rate < CLOCK_RATE_MIN) || (rate > CLOCK_RATE_MAX)) {
        rate = UCS_NS_PER_S; /* a stopped counter: any number will do */
    }
    if (!atomic_compare_exchange_strong_explicit(&rate_found, &rate_other, rate,
                                                 memory_order_relaxed,
                                                 memory_order_relaxed)) {
        rate = rate_other;
    }
    return rate;
}

static uint64_t clock_scale(uint64_t value, uint64_t times, uint64_t per)
{
    unsigned __int128 scaled = (unsigned __int128)value * times / per;

    return (scaled > UINT64_MAX) ? UINT64_MAX : (uint64_t)scaled;
}

uint64_t ucsi_clock_ns_to_cycles(uint64_t duration_ns)
{
    if (duration_ns == UCS_NS_INFINITE) {
        return UINT64_MAX;
    }
    return clock_scale(duration_ns, ucsi_clock_cycles_per_s(), UCS_NS_PER_S);
}

uint64_t ucsi_clock_cycles_to_ns(uint64_t cycles)
{
    if (cycles == UINT64_MAX) {
        return UCS_NS_INFINITE;
    }
    return clock_scale(cycles, UCS_NS_PER_S, ucsi_clock_cycles_per_s());
}
