/* SPDX-License-Identifier: BSD-3-Clause */
/* test/fuzz/tape.h - bytes of a fuzzer, read as decisions.
 *
 * Each decision eats its bytes; behind the end all of them are zero. On
 * purpose not ucs/bytes.h, which is one of the things under test. */
#ifndef TEST_FUZZ_TAPE_H_
#define TEST_FUZZ_TAPE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tape {
    const uint8_t *bytes;
    size_t         size;
    size_t         at;
};

static inline bool tape_is_over(const struct tape *tape)
{
    return tape->at >= tape->size;
}

static inline uint8_t tape_u8(struct tape *tape)
{
    return tape_is_over(tape) ? 0 : tape->bytes[tape->at++];
}

static inline uint16_t tape_u16(struct tape *tape)
{
    uint16_t low = tape_u8(tape);

    return (uint16_t)(low | (tape_u8(tape) << 8));
}

static inline uint64_t tape_u64(struct tape *tape)
{
    uint64_t value = 0;
    int      i;

    for (i = 0; i < 4; ++i) {
        value = (value << 16) | tape_u16(tape);
    }
    return value;
}

/* Any number of bits, all lengths alike: small ones and huge ones. */
static inline uint64_t tape_scaled(struct tape *tape)
{
    unsigned bits = tape_u8(tape) & 63;

    return (bits == 0) ? 0 : tape_u64(tape) >> (64 - bits);
}

#endif
