/* SPDX-License-Identifier: BSD-3-Clause */
/* test_random.c - numbers that look random and come again with their seed.
 *
 * Source: Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators" (xoshiro256**), seeded by splitmix64 as they advise. */
#include "lib/test_internal.h"

static uint64_t random_seed;
static uint64_t random_state[4];

uint64_t test_random_mix(uint64_t *state)
{
    uint64_t value = (*state += 0x9e3779b97f4a7c15u);

    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

uint64_t test_random_seed_of(uint64_t seed, const char *name)
{
    uint64_t state = seed;
    uint64_t value = test_random_mix(&state);

    for (; *name != '\0'; ++name) {
        state = value ^ (unsigned char)*name;
        value = test_random_mix(&state);
    }
    return value;
}

void test_random_start(uint64_t seed)
{
    uint64_t mixer = seed;

    random_seed = seed;
    for (int i = 0; i < 4; ++i) {
        random_state[i] = test_random_mix(&mixer);
    }
}

uint64_t test_seed(void)
{
    return random_seed;
}

static uint64_t rotate_left(uint64_t value, int bits)
{
    return (value << bits) | (value >> (64 - bits));
}

uint64_t test_random(void)
{
    uint64_t *state = random_state;
    uint64_t  value = rotate_left(state[1] * 5, 7) * 9;
    uint64_t  third = state[1] << 17;

    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= third;
    state[3] = rotate_left(state[3], 45);
    return value;
}

uint64_t test_random_below(uint64_t limit)
{
    /* Refuse the incomplete last round, so every value is equally likely. */
    uint64_t refuse_below = (0 - limit) % limit;
    uint64_t value;

    do {
        value = test_random();
    } while (value < refuse_below);
    return value % limit;
}
