/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_seal.c - SipHash-2-4 and what is made of it. */
#include "uct/udp/udp_seal.h"

#include "ucs/assert.h"
#include "ucs/bytes.h"
#include "uct/udp/udp_wire.h"

struct seal_state {
    uint64_t v0, v1, v2, v3;
};

UCS_INLINE uint64_t seal_rotate(uint64_t value, unsigned bits)
{
    return (value << bits) | (value >> (64 - bits));
}

UCS_INLINE void seal_round(struct seal_state *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = seal_rotate(s->v1, 13) ^ s->v0;
    s->v3 = seal_rotate(s->v3, 16) ^ s->v2;
    s->v0 = seal_rotate(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = seal_rotate(s->v1, 17) ^ s->v2;
    s->v3 = seal_rotate(s->v3, 21) ^ s->v0;
    s->v2 = seal_rotate(s->v2, 32);
}

UCS_INLINE void seal_block(struct seal_state *s, uint64_t word)
{
    s->v3 ^= word;
    seal_round(s);
    seal_round(s);
    s->v0 ^= word;
}

static void seal_begin(struct seal_state *s, const struct udp_seal *seal)
{
    s->v0 = seal->key[0] ^ 0x736f6d6570736575ull;
    s->v1 = seal->key[1] ^ 0x646f72616e646f6dull;
    s->v2 = seal->key[0] ^ 0x6c7967656e657261ull;
    s->v3 = seal->key[1] ^ 0x7465646279746573ull;
}

static uint64_t seal_end(struct seal_state *s)
{
    unsigned round;

    s->v2 ^= 0xff;
    for (round = 0; round < 4; ++round) {
        seal_round(s);
    }
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

/* Whole words only but for the last one, which the caller made. */
static void seal_words(struct seal_state *s, const uint8_t *bytes,
                       size_t size_bytes)
{
    for (; size_bytes >= 8; size_bytes -= 8, bytes += 8) {
        seal_block(s, ucs_get_le64(bytes));
    }
}

uint64_t udp_seal_hash(const struct udp_seal *seal, const uint8_t *bytes,
                       size_t size_bytes, uint64_t last)
{
    struct seal_state s;
    uint64_t          rest = last;
    size_t            index;

    ucs_assert((last & ((UINT64_C(1) << (size_bytes % 8 * 8)) - 1)) == 0);
    seal_begin(&s, seal);
    seal_words(&s, bytes, size_bytes);
    for (index = 0; index < size_bytes % 8; ++index) {
        rest |= (uint64_t)bytes[size_bytes - size_bytes % 8 + index]
                << (8 * index);
    }
    seal_block(&s, rest);
    return seal_end(&s);
}

struct udp_seal udp_seal_derive(const struct udp_seal *seal, uint64_t a,
                                uint64_t b)
{
    uint8_t         bytes[17];
    struct udp_seal child;

    ucs_put_le64(bytes, a);
    ucs_put_le64(bytes + 8, b);
    bytes[16]    = 0;
    child.key[0] = udp_seal_hash(seal, bytes, sizeof(bytes), 0);
    bytes[16]    = 1;
    child.key[1] = udp_seal_hash(seal, bytes, sizeof(bytes), 0);
    return child;
}

/* The length of the packet takes the place of the hash's own count. */
static uint64_t seal_tag(const struct udp_seal *seal, const uint8_t *bytes,
                         size_t covered_bytes, size_t length)
{
    struct seal_state s;
    size_t            rest_bytes = covered_bytes - UDP_HEAD_BYTES;
    uint8_t           tail[8]    = {0};

    seal_begin(&s, seal);
    seal_words(&s, bytes, UDP_TAG_OFFSET);
    seal_words(&s, bytes + UDP_HEAD_BYTES, rest_bytes);
    memcpy(tail, bytes + covered_bytes - rest_bytes % 8, rest_bytes % 8);
    seal_block(&s, ucs_get_le64(tail) ^ ((uint64_t)length << 32));
    return seal_end(&s);
}

void udp_seal_put(const struct udp_seal *seal, uint8_t *bytes,
                  size_t covered_bytes, size_t length)
{
    ucs_put_le64(bytes + UDP_TAG_OFFSET,
                 seal_tag(seal, bytes, covered_bytes, length));
}

bool udp_seal_check(const struct udp_seal *seal, const uint8_t *bytes,
                    size_t covered_bytes, size_t length)
{
    return ucs_get_le64(bytes + UDP_TAG_OFFSET) ==
           seal_tag(seal, bytes, covered_bytes, length);
}
