/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_seal.c - SipHash-2-4 against its authors' vectors, and what the
 * tag of a packet covers. */
#include "uct/udp/udp_seal.h"

#include <string.h>

#include "ucs/bytes.h"
#include "uct/suites.h"
#include "uct/udp/udp_wire.h"

/* Appendix A of the paper: key 00..0f, message 00..0e. */
static void hash__is_siphash(const struct test_param *param)
{
    uint8_t         key[16], message[15];
    struct udp_seal seal;
    unsigned        index;

    (void)param;
    for (index = 0; index < 16; ++index) {
        key[index] = (uint8_t)index;
    }
    for (index = 0; index < 15; ++index) {
        message[index] = (uint8_t)index;
    }
    seal.key[0] = ucs_get_le64(key);
    seal.key[1] = ucs_get_le64(key + 8);
    ck_assert_uint_eq(udp_seal_hash(&seal, message, 15, (uint64_t)15 << 56),
                      0xa129ca6149be45e5ull);
    ck_assert_uint_eq(udp_seal_hash(&seal, message, 0, 0),
                      0x726fdb47dd0e0e31ull);
    ck_assert_uint_eq(udp_seal_hash(&seal, message, 8, (uint64_t)8 << 56),
                      0x93f5f5799a932462ull);
}

static void tag__covers_head_and_extension(const struct test_param *param)
{
    const struct udp_seal seal = {{1, 2}};
    uint8_t               bytes[UDP_HEAD_BYTES + 20 + 8];
    size_t                covered = UDP_HEAD_BYTES + 20, index;
    bool                  is_right;

    (void)param;
    for (index = 0; index < sizeof(bytes); ++index) {
        bytes[index] = (uint8_t)(index * 3);
    }
    udp_seal_put(&seal, bytes, covered, sizeof(bytes));
    ck_assert(udp_seal_check(&seal, bytes, covered, sizeof(bytes)));
    ck_assert(!udp_seal_check(&seal, bytes, covered, sizeof(bytes) - 1));
    for (index = 0; index < sizeof(bytes) * 8; ++index) {
        bytes[index / 8] ^= (uint8_t)(1u << (index % 8));
        is_right = udp_seal_check(&seal, bytes, covered, sizeof(bytes));
        ck_assert_int_eq(is_right, index / 8 >= covered);
        bytes[index / 8] ^= (uint8_t)(1u << (index % 8));
    }
}

static void derive__differs_in_every_part(const struct test_param *param)
{
    const struct udp_seal seal = {{1, 2}}, other = {{1, 3}};
    struct udp_seal       a = udp_seal_derive(&seal, 5, 6);
    struct udp_seal       b = udp_seal_derive(&seal, 6, 5);
    struct udp_seal       c = udp_seal_derive(&other, 5, 6);

    (void)param;
    ck_assert_mem_ne(&a, &b, sizeof(a));
    ck_assert_mem_ne(&a, &c, sizeof(a));
    ck_assert(a.key[0] != a.key[1]);
}

static const struct test_case cases[] = {TEST(hash__is_siphash),
                                         TEST(tag__covers_head_and_extension),
                                         TEST(derive__differs_in_every_part),
                                         {0}};

const struct test_suite udp_seal_suite = {.name = "udp_seal", .cases = cases};
