/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_mtu.c - the search finds the path's length, whatever it is. */
#include "uct/udp/udp_mtu.h"

#include "uct/suites.h"
#include "uct/udp/udp_wire.h"

enum { LARGEST = UDP_PACKET_BYTES_MAX, WAIT_NS = 1000 };

/* Search over a path that carries path_bytes; @return probes sent. */
static unsigned search(struct udp_mtu *mtu, uint32_t path_bytes,
                       uint64_t now_ns)
{
    unsigned count = 0;
    uint32_t probe;

    while (udp_mtu_deadline_ns(mtu) <= now_ns + 10 * WAIT_NS) {
        now_ns = ucs_max(now_ns, udp_mtu_deadline_ns(mtu));
        probe  = udp_mtu_step(mtu, now_ns);
        if (probe == 0) {
            continue;
        }
        ck_assert_uint_gt(probe, mtu->good_bytes);
        ck_assert_uint_eq(probe % 8, 0);
        udp_mtu_sent(mtu, ++count, now_ns, WAIT_NS);
        if (probe <= path_bytes) {
            ck_assert(udp_mtu_answered(mtu, count, now_ns + 1));
        }
        ck_assert_uint_lt(count, 100);
    }
    return count;
}

static void search__the_largest_mostly_works(const struct test_param *param)
{
    struct udp_mtu mtu;

    (void)param;
    udp_mtu_init(&mtu, LARGEST, 0);
    ck_assert_uint_eq(mtu.good_bytes, UDP_PACKET_BYTES_MIN);
    ck_assert_uint_eq(search(&mtu, LARGEST, 0), 1);
    ck_assert_uint_eq(mtu.good_bytes, LARGEST);
    ck_assert_uint_eq(udp_mtu_deadline_ns(&mtu), UINT64_MAX);
}

static void search__every_path(const struct test_param *param)
{
    struct udp_mtu mtu;
    uint32_t       path;

    (void)param;
    for (path = UDP_PACKET_BYTES_MIN; path <= LARGEST; path += 8) {
        udp_mtu_init(&mtu, LARGEST, 0);
        (void)search(&mtu, path, 0);
        ck_assert_uint_le(mtu.good_bytes, path);
        ck_assert_uint_ge(mtu.good_bytes + UDP_MTU_STEP_BYTES, path);
    }
}

static void hint__ends_the_search_at_once(const struct test_param *param)
{
    struct udp_mtu mtu;

    (void)param;
    udp_mtu_init(&mtu, LARGEST, 0);
    ck_assert_uint_eq(udp_mtu_step(&mtu, 0), LARGEST);
    udp_mtu_sent(&mtu, 1, 0, WAIT_NS);
    udp_mtu_hint(&mtu, 1472, 1);
    ck_assert_uint_eq(udp_mtu_step(&mtu, 1), 1472);
    udp_mtu_sent(&mtu, 2, 1, WAIT_NS);
    ck_assert(udp_mtu_answered(&mtu, 2, 2));
    ck_assert_uint_eq(mtu.good_bytes, 1472);
    /* A path that is wider than was said is found all the same. */
    (void)search(&mtu, 4000, 3);
    ck_assert_uint_ge(mtu.good_bytes + UDP_MTU_STEP_BYTES, 4000);
}

/* Who lies costs a search, once a second, and never goes below the base. */
static void hint__that_lies(const struct test_param *param)
{
    struct udp_mtu mtu;

    (void)param;
    udp_mtu_init(&mtu, LARGEST, 0);
    (void)search(&mtu, LARGEST, 0);
    ck_assert_uint_eq(mtu.good_bytes, LARGEST);
    udp_mtu_hint(&mtu, LARGEST + 8, 10);
    ck_assert_uint_eq(mtu.good_bytes, LARGEST);
    udp_mtu_hint(&mtu, 68, 10);
    ck_assert_uint_eq(mtu.good_bytes, UDP_PACKET_BYTES_MIN);
    (void)search(&mtu, LARGEST, 10);
    ck_assert_uint_eq(mtu.good_bytes, LARGEST);
    udp_mtu_hint(&mtu, 68, 20);
    ck_assert_uint_eq(mtu.good_bytes, LARGEST);
}

static void probe__refused_by_the_device(const struct test_param *param)
{
    struct udp_mtu mtu;

    (void)param;
    udp_mtu_init(&mtu, LARGEST, 0);
    ck_assert_uint_eq(udp_mtu_step(&mtu, 0), LARGEST);
    udp_mtu_sent(&mtu, 1, 0, WAIT_NS);
    udp_mtu_refused(&mtu, 0);
    ck_assert_uint_lt(udp_mtu_step(&mtu, 0), LARGEST);
    ck_assert(!udp_mtu_answered(&mtu, 1, 0)); /* that one is over */
}

static void hole__falls_back_and_searches(const struct test_param *param)
{
    struct udp_mtu mtu;

    (void)param;
    udp_mtu_init(&mtu, LARGEST, 0);
    (void)search(&mtu, LARGEST, 0);
    udp_mtu_black_hole(&mtu, 5);
    ck_assert_uint_eq(mtu.good_bytes, UDP_PACKET_BYTES_MIN);
    (void)search(&mtu, 1472, 5);
    ck_assert_uint_le(mtu.good_bytes, 1472);
    ck_assert_uint_ge(mtu.good_bytes + UDP_MTU_STEP_BYTES, 1472);
}

static void init__bounds_what_devices_say(const struct test_param *param)
{
    struct udp_mtu mtu;

    (void)param;
    udp_mtu_init(&mtu, 100, 0);
    ck_assert_uint_eq(mtu.largest_bytes, UDP_PACKET_BYTES_MIN);
    ck_assert_uint_eq(udp_mtu_step(&mtu, 0), 0);
    ck_assert_uint_eq(udp_mtu_deadline_ns(&mtu), UINT64_MAX);
    udp_mtu_init(&mtu, 65536, 0);
    ck_assert_uint_eq(mtu.largest_bytes, UDP_PACKET_BYTES_MAX);
}

static const struct test_case cases[] = {
    TEST(search__the_largest_mostly_works), TEST(search__every_path),
    TEST(hint__ends_the_search_at_once),    TEST(hint__that_lies),
    TEST(probe__refused_by_the_device),     TEST(hole__falls_back_and_searches),
    TEST(init__bounds_what_devices_say),    {0}};

const struct test_suite udp_mtu_suite = {.name = "udp_mtu", .cases = cases};
