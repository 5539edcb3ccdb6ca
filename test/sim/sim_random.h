/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_random.h - the only source of chance in a simulation.
 * Source: Steele, Lea, Flood 2014 (SplitMix64). */
#ifndef SIM_RANDOM_H_
#define SIM_RANDOM_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sim_random {
    uint64_t state;
};

static inline uint64_t sim_random_next(struct sim_random *random)
{
    uint64_t z = (random->state += 0x9e3779b97f4a7c15ull);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* Uniform in [0, limit), or 0 when limit is 0. The bias of the remainder is
 * below 2^-30 for the limits used here. */
static inline uint64_t sim_random_below(struct sim_random *random,
                                        uint64_t           limit)
{
    return (limit == 0) ? 0 : sim_random_next(random) % limit;
}

/* Uniform in [low, high]. */
static inline uint64_t sim_random_range(struct sim_random *random, uint64_t low,
                                        uint64_t high)
{
    return low + sim_random_below(random, high - low + 1);
}

/* True in `ppm` of a million cases. */
static inline bool sim_random_chance(struct sim_random *random, uint32_t ppm)
{
    return (ppm != 0) && (sim_random_below(random, 1000000) < ppm);
}

/* [length] bytes that only this random knows. */
static inline void sim_random_fill(struct sim_random *random, uint8_t *bytes,
                                   size_t length)
{
    uint64_t word;
    size_t   part;

    for (size_t i = 0; i < length; i += part) {
        word = sim_random_next(random);
        part = (length - i < sizeof(word)) ? length - i : sizeof(word);
        memcpy(bytes + i, &word, part);
    }
}

#endif
