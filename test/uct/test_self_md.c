/* SPDX-License-Identifier: BSD-3-Clause */
/* test_self_md.c - regions and their keys. */
#include "uct/self/self.h"

#include "uct/self_stage.h"

static void
rkey__of_a_released_region_opens_nothing(const struct test_param *param)
{
    const struct uct_transport *self = iface->transport;
    uint64_t                    word = 7, value = 9;
    uint8_t                     bytes[UCT_RKEY_BYTES_MAX];
    struct uct_mem             *mem;
    struct uct_rkey            *rkey;
    size_t                      size_bytes;

    (void)param;
    ck_assert_int_eq(
        self->mem_register(md, &word, sizeof(word), UCT_ACCESS_ALL, &mem),
        UCS_OK);
    size_bytes = self->rkey_pack(mem, bytes);
    ck_assert_int_eq(self->rkey_unpack(md, bytes, size_bytes, &rkey), UCS_OK);
    ck_assert_int_eq(self->put_short(ep, &value, 8, (uintptr_t)&word, rkey, 0),
                     UCS_OK);
    self->mem_release(mem);
    value = 1;
    ck_assert_int_eq(self->put_short(ep, &value, 8, (uintptr_t)&word, rkey, 0),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_uint_eq(word, 9);
    self->rkey_release(rkey);
}

static void rkey__bytes_are_checked(const struct test_param *param)
{
    uint8_t          bytes[SELF_RKEY_BYTES] = {SELF_RKEY_VERSION + 1};
    struct uct_rkey *rkey;

    (void)param;
    ck_assert_int_eq(self_rkey_unpack(md, bytes, sizeof(bytes), &rkey),
                     UCS_ERR_INVALID_PARAM);
    bytes[0] = SELF_RKEY_VERSION;
    ck_assert_int_eq(self_rkey_unpack(md, bytes, sizeof(bytes) - 1, &rkey),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(self_rkey_unpack(md, bytes, 0, &rkey),
                     UCS_ERR_INVALID_PARAM);
}

static void register__checks_its_arguments(const struct test_param *param)
{
    uint64_t        word;
    struct uct_mem *mem;

    (void)param;
    ck_assert_int_eq(self_mem_register(md, NULL, 8, UCT_ACCESS_ALL, &mem),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(self_mem_register(md, &word, 0, UCT_ACCESS_ALL, &mem),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(
        self_mem_register(md, &word, SIZE_MAX, UCT_ACCESS_ALL, &mem),
        UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(self_mem_register(md, &word, 8, 1u << 30, &mem),
                     UCS_ERR_INVALID_PARAM);
}

/* Every border of a region that ends where addresses end. */
static void check__does_not_overflow(const struct test_param *param)
{
    const uintptr_t  start = UINTPTR_MAX - 15;
    uint8_t          bytes[UCT_RKEY_BYTES_MAX];
    struct uct_mem  *mem;
    struct uct_rkey *rkey;

    (void)param;
    ck_assert_int_eq(
        self_mem_register(md, (void *)start, 15, UCT_ACCESS_ALL, &mem), UCS_OK);
    ck_assert_int_eq(
        self_rkey_unpack(md, bytes, self_rkey_pack(mem, bytes), &rkey), UCS_OK);
    ck_assert_int_eq(self_region_check(rkey, start, 15, UCT_ACCESS_LOCAL),
                     UCS_OK);
    ck_assert_int_eq(self_region_check(rkey, start, 16, UCT_ACCESS_LOCAL),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(self_region_check(rkey, start + 8, SIZE_MAX, 0),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(self_region_check(rkey, start - 1, 1, 0),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(self_region_check(rkey, 0, 1, 0), UCS_ERR_INVALID_ADDR);
    self_rkey_release(rkey);
    self_mem_release(mem);
}

static const struct test_case cases[] = {
    TEST(rkey__of_a_released_region_opens_nothing),
    TEST(rkey__bytes_are_checked),
    TEST(register__checks_its_arguments),
    TEST(check__does_not_overflow),
    {0}};

const struct test_suite self_md_suite = {
    .name = "self_md", .cases = cases, .setup = setup, .teardown = teardown};
