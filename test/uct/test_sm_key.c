/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sm_key.c - keys survive the way, damage and strangers do not. */
#include "uct/sm/sm_key.h"

#include <stdlib.h>
#include <string.h>

#include "uct/sm_stage.h"
#include "uct/suites.h"

static const struct uct_sm_key sample = {
    .access        = UCT_ACCESS_REMOTE_READ | UCT_ACCESS_LOCAL,
    .name          = 0x1122334455667788,
    .address       = 0x10000,
    .length        = 0x1000,
    .process_start = 12345,
    .pid           = 77,
    .pid_namespace = 0xf0000001,
};

static void decode__is_what_was_encoded(const struct test_param *param)
{
    uint8_t           bytes[UCT_SM_KEY_BYTES];
    struct uct_sm_key key;

    (void)param;
    uct_sm_key_encode(&sample, bytes);
    ck_assert_int_eq(uct_sm_key_decode(bytes, sizeof(bytes), &key), UCS_OK);
    ck_assert_uint_eq(key.access, sample.access);
    ck_assert(key.name == sample.name);
    ck_assert(key.address == sample.address);
    ck_assert(key.length == sample.length);
    ck_assert(key.process_start == sample.process_start);
    ck_assert_int_eq(key.pid, sample.pid);
    ck_assert_uint_eq(key.pid_namespace, sample.pid_namespace);
}

static void decode__damage_is_noticed(const struct test_param *param)
{
    uint8_t           bytes[UCT_SM_KEY_BYTES + 1] = {0};
    struct uct_sm_key key;
    uint8_t          *exact;
    size_t            size, bit;

    (void)param;
    uct_sm_key_encode(&sample, bytes);
    for (size = 0; size <= sizeof(bytes); ++size) {
        exact = malloc(size + 1);
        memcpy(exact, bytes, size);
        ck_assert_int_eq(uct_sm_key_decode(exact, size, &key),
                         (size == UCT_SM_KEY_BYTES) ? UCS_OK
                                                    : UCS_ERR_INVALID_PARAM);
        free(exact);
    }
    for (bit = 0; bit < 8 * (size_t)UCT_SM_KEY_BYTES; ++bit) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_int_eq(uct_sm_key_decode(bytes, UCT_SM_KEY_BYTES, &key),
                         UCS_ERR_INVALID_PARAM);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

/* A right check does not make sense out of nonsense. */
static void decode__forged_fields_are_refused(const struct test_param *param)
{
    uint8_t           bytes[UCT_SM_KEY_BYTES];
    struct uct_sm_key forged, key;

    (void)param;
    forged        = sample;
    forged.length = UINT64_MAX - forged.address + 1;
    uct_sm_key_encode(&forged, bytes);
    ck_assert_int_eq(uct_sm_key_decode(bytes, sizeof(bytes), &key),
                     UCS_ERR_INVALID_PARAM);
    forged        = sample;
    forged.access = 0x10;
    uct_sm_key_encode(&forged, bytes);
    ck_assert_int_eq(uct_sm_key_decode(bytes, sizeof(bytes), &key),
                     UCS_ERR_INVALID_PARAM);
    forged     = sample;
    forged.pid = -1;
    uct_sm_key_encode(&forged, bytes);
    ck_assert_int_eq(uct_sm_key_decode(bytes, sizeof(bytes), &key),
                     UCS_ERR_INVALID_PARAM);
}

static void allows__at_every_edge(const struct test_param *param)
{
    static const struct {
        uint64_t address;
        size_t   length;
        unsigned access;
        bool     is_allowed;
    } rows[] = {
        {0x10000, 0x1000, UCT_ACCESS_REMOTE_READ, true},
        {0x10000, 0, UCT_ACCESS_REMOTE_READ, true},
        {0x11000, 0, UCT_ACCESS_REMOTE_READ, true},
        {0x10fff, 1, UCT_ACCESS_REMOTE_READ, true},
        {0x10fff, 2, UCT_ACCESS_REMOTE_READ, false},
        {0x0ffff, 1, UCT_ACCESS_REMOTE_READ, false},
        {0x11000, 1, UCT_ACCESS_REMOTE_READ, false},
        {0x11001, 0, UCT_ACCESS_REMOTE_READ, false},
        {0x10000, 0x1001, UCT_ACCESS_REMOTE_READ, false},
        {0x10000, SIZE_MAX, UCT_ACCESS_REMOTE_READ, false},
        {UINT64_MAX, SIZE_MAX, UCT_ACCESS_REMOTE_READ, false},
        {0, SIZE_MAX, UCT_ACCESS_REMOTE_READ, false},
        {0x10000, 8, UCT_ACCESS_REMOTE_WRITE, false},
        {0x10000, 8, UCT_ACCESS_REMOTE_READ | UCT_ACCESS_REMOTE_ATOMIC, false},
    };
    unsigned row;

    (void)param;
    for (row = 0; row < UCS_ARRAY_COUNT(rows); ++row) {
        ck_assert_msg(uct_sm_key_allows(&sample, rows[row].address,
                                        rows[row].length, rows[row].access) ==
                          rows[row].is_allowed,
                      "row %u", row);
    }
}

static void is_of__one_incarnation_only(const struct test_param *param)
{
    struct uct_sm_address address = {
        .pid           = sample.pid,
        .process_start = sample.process_start,
        .pid_namespace = sample.pid_namespace,
    };

    (void)param;
    ck_assert(uct_sm_key_is_of(&sample, &address));
    ++address.process_start;
    ck_assert(!uct_sm_key_is_of(&sample, &address));
    --address.process_start;
    ++address.pid;
    ck_assert(!uct_sm_key_is_of(&sample, &address));
    --address.pid;
    ++address.pid_namespace;
    ck_assert(!uct_sm_key_is_of(&sample, &address));
}

static void register__names_differ_and_say_who(const struct test_param *param)
{
    uint8_t               bytes[UCT_RKEY_BYTES_MAX];
    uint8_t               memory[64];
    struct uct_mem       *mem[2];
    struct uct_sm_key     key[2];
    struct uct_sm_address self = {0};
    struct sm_end         end;
    unsigned              index;

    (void)param;
    sm_end_open(&end, false);
    uct_sm_address_self(&self);
    for (index = 0; index < 2; ++index) {
        ck_assert_int_eq(uct_sm_mem_register(end.md, memory, sizeof(memory),
                                             UCT_ACCESS_ALL, &mem[index]),
                         UCS_OK);
        ck_assert_uint_eq(uct_sm_rkey_pack(mem[index], bytes),
                          UCT_SM_KEY_BYTES);
        ck_assert_int_eq(
            uct_sm_key_decode(bytes, UCT_SM_KEY_BYTES, &key[index]), UCS_OK);
        ck_assert(uct_sm_key_is_of(&key[index], &self));
        ck_assert(uct_sm_key_allows(&key[index], (uintptr_t)memory,
                                    sizeof(memory), UCT_ACCESS_ALL));
    }
    ck_assert(key[0].name != key[1].name);
    uct_sm_mem_release(mem[0]);
    uct_sm_mem_release(mem[1]);
    ck_assert_int_eq(
        uct_sm_mem_register(end.md, NULL, 8, UCT_ACCESS_ALL, &mem[0]),
        UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(
        uct_sm_mem_register(end.md, memory, SIZE_MAX, UCT_ACCESS_ALL, &mem[0]),
        UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(uct_sm_mem_register(end.md, memory, 8, 1 << 10, &mem[0]),
                     UCS_ERR_INVALID_PARAM);
    sm_end_close(&end);
}

static const struct test_case cases[] = {
    TEST(decode__is_what_was_encoded),
    TEST(decode__damage_is_noticed),
    TEST(decode__forged_fields_are_refused),
    TEST(allows__at_every_edge),
    TEST(is_of__one_incarnation_only),
    TEST(register__names_differ_and_say_who),
    {0}};

const struct test_suite sm_key_suite = {.name = "sm_key", .cases = cases};
