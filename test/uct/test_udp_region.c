/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_region.c - a region is found by its key, within its bounds and
 * rights, until it is released. */
#include "uct/udp/udp_region.h"

#include "uct/suites.h"

enum { REGION_BYTES = 4096 };

static uint8_t          region[REGION_BYTES];
static struct uct_md   *base;
static struct udp_md   *md;
static struct uct_mem  *mem;
static struct uct_rkey *rkey;
static uint64_t         key;

static void setup(const struct test_param *param)
{
    struct uct_device device = {.name = "lo"};
    uint8_t           bytes[UCT_RKEY_BYTES_MAX];

    (void)param;
    ck_assert_int_eq(udp_md_open(&device, &base), UCS_OK);
    md = ucs_container_of(base, struct udp_md, base);
    ck_assert_int_eq(
        udp_mem_register(base, region, REGION_BYTES,
                         UCT_ACCESS_REMOTE_READ | UCT_ACCESS_REMOTE_WRITE,
                         &mem),
        UCS_OK);
    ck_assert_uint_eq(udp_rkey_pack(mem, bytes), UDP_RKEY_BYTES);
    ck_assert_int_eq(udp_rkey_unpack(base, bytes, UDP_RKEY_BYTES, &rkey),
                     UCS_OK);
    key = ucs_container_of(rkey, struct udp_rkey, base)->key;
}

static void teardown(const struct test_param *param)
{
    (void)param;
    udp_rkey_release(rkey);
    if (mem != NULL) {
        udp_mem_release(mem);
    }
    udp_md_close(base);
}

static bool may(uint64_t with, uint64_t address, size_t length, unsigned right)
{
    const struct udp_access access = {.key = with, .address = address};
    void *found = udp_region_enter(md, &access, length, right);

    if (found != NULL) {
        ck_assert_uint_eq((uintptr_t)found, address);
        udp_region_leave(md);
    }
    return found != NULL;
}

static void enter__within_bounds_and_rights(const struct test_param *param)
{
    uint64_t begin = (uintptr_t)region;

    (void)param;
    ck_assert(may(key, begin, REGION_BYTES, UCT_ACCESS_REMOTE_READ));
    ck_assert(may(key, begin + REGION_BYTES, 0, UCT_ACCESS_REMOTE_WRITE));
    ck_assert(!may(key, begin, REGION_BYTES + 1, UCT_ACCESS_REMOTE_READ));
    ck_assert(!may(key, begin - 1, 1, UCT_ACCESS_REMOTE_READ));
    ck_assert(!may(key, begin + REGION_BYTES, 1, UCT_ACCESS_REMOTE_READ));
    ck_assert(!may(key, UINT64_MAX, 8, UCT_ACCESS_REMOTE_READ));
    ck_assert(!may(key, begin + 8, SIZE_MAX - 4, UCT_ACCESS_REMOTE_READ));
    ck_assert(!may(key, begin, 8, UCT_ACCESS_REMOTE_ATOMIC));
    ck_assert(!may(key + 1, begin, 8, UCT_ACCESS_REMOTE_READ));
    ck_assert(!may(0, begin, 8, UCT_ACCESS_REMOTE_READ));
}

static void enter__not_after_the_release(const struct test_param *param)
{
    (void)param;
    udp_mem_release(mem);
    mem = NULL;
    ck_assert(!may(key, (uintptr_t)region, 8, UCT_ACCESS_REMOTE_READ));
}

static void check__the_asker_says_the_same(const struct test_param *param)
{
    uint64_t begin = (uintptr_t)region;

    (void)param;
    ck_assert_int_eq(
        udp_rkey_check(rkey, begin, REGION_BYTES, UCT_ACCESS_REMOTE_READ),
        UCS_OK);
    ck_assert_int_eq(
        udp_rkey_check(rkey, begin + 1, REGION_BYTES, UCT_ACCESS_REMOTE_READ),
        UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(udp_rkey_check(rkey, begin, 8, UCT_ACCESS_REMOTE_ATOMIC),
                     UCS_ERR_INVALID_ADDR);
}

/* Nobody outside ever asks for it: it has no key. */
static void register__local_memory(const struct test_param *param)
{
    struct uct_mem *local;

    (void)param;
    ck_assert_int_eq(
        udp_mem_register(base, region, 8, UCT_ACCESS_LOCAL, &local), UCS_OK);
    ck_assert_uint_eq(ucsi_hash_count(&md->regions), 1);
    udp_mem_release(local);
    ck_assert_int_eq(udp_mem_register(base, NULL, 8, 0, &local),
                     UCS_ERR_INVALID_PARAM);
}

static const struct test_case cases[] = {TEST(enter__within_bounds_and_rights),
                                         TEST(enter__not_after_the_release),
                                         TEST(check__the_asker_says_the_same),
                                         TEST(register__local_memory),
                                         {0}};

const struct test_suite udp_region_suite = {
    .name = "udp_region", .cases = cases, .setup = setup, .teardown = teardown};
