/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_bundle.c - tiny messages that share a packet. */
#include "uct/udp/udp_bundle.h"

#include <string.h>

#include "uct/suites.h"
#include "uct/udp_fixtures.h"

enum { TINY_BYTES = 16 };

static struct udp_net *const net = &fixture_net;

static void post(uint64_t first, uint64_t count, size_t length)
{
    for (; count > 0; --count, ++first) {
        ck_assert(udp_net_send(&net->ends[0], first, length));
    }
}

static uint64_t wanted;

static bool has_come(struct udp_net *unused)
{
    (void)unused;
    return net->ends[1].ordered_count == wanted;
}

static void expect(uint64_t count)
{
    wanted = count;
    ck_assert(udp_net_until(net, has_come, 5));
    ck_assert_uint_eq(net->ends[1].bad_count, 0);
}

static void burst__shares_packets(const struct test_param *param)
{
    uint64_t before = net->packet_count;

    (void)param;
    post(0, 64, TINY_BYTES);
    udp_env_send_bundles(&net->ends[0].env);
    ck_assert_ptr_null(net->ends[0].conn.bundle);
    ck_assert_uint_le(net->packet_count - before, 10);
    expect(64);
}

static void first__goes_at_once(const struct test_param *param)
{
    uint64_t before = net->packet_count;

    (void)param;
    post(0, UDP_BUNDLE_ALONE_COUNT, TINY_BYTES);
    ck_assert_ptr_null(net->ends[0].conn.bundle);
    ck_assert_uint_eq(net->packet_count - before, UDP_BUNDLE_ALONE_COUNT);
    /* A turn later the next one is the first again. */
    ++net->ends[0].env.turn;
    post(UDP_BUNDLE_ALONE_COUNT, 1, TINY_BYTES);
    ck_assert_ptr_null(net->ends[0].conn.bundle);
    expect(UDP_BUNDLE_ALONE_COUNT + 1);
}

static void turn__sends_what_waits(const struct test_param *param)
{
    (void)param;
    post(0, UDP_BUNDLE_ALONE_COUNT + 1, TINY_BYTES);
    ck_assert_ptr_nonnull(net->ends[0].conn.bundle);
    ck_assert_uint_eq(udp_env_deadline_ns(&net->ends[0].env), 0);
    (void)udp_env_turn(&net->ends[0].env);
    ck_assert_ptr_null(net->ends[0].conn.bundle);
    expect(UDP_BUNDLE_ALONE_COUNT + 1);
}

/* What does not fit in goes behind, not before. */
static void longer__keeps_its_turn(const struct test_param *param)
{
    (void)param;
    post(0, UDP_BUNDLE_ALONE_COUNT + 3, TINY_BYTES);
    ck_assert_ptr_nonnull(net->ends[0].conn.bundle);
    post(UDP_BUNDLE_ALONE_COUNT + 3, 1, UDP_BUNDLE_MESSAGE_BYTES + 8);
    ck_assert_ptr_null(net->ends[0].conn.bundle);
    expect(UDP_BUNDLE_ALONE_COUNT + 4);
}

static void window__has_a_number_for_it(const struct test_param *param)
{
    struct udp_conn *conn  = &net->ends[0].conn;
    uint64_t         count = 0;

    (void)param;
    conn->send.limit = conn->send.next + UDP_BUNDLE_ALONE_COUNT + 1;
    while (udp_net_send(&net->ends[0], count, TINY_BYTES)) {
        ++count;
        ck_assert_uint_lt(count, 100);
    }
    udp_env_send_bundles(&net->ends[0].env);
    expect(count);
}

static void loss__repeats_it(const struct test_param *param)
{
    (void)param;
    net->path.is_cut = true;
    post(0, 40, TINY_BYTES);
    udp_env_send_bundles(&net->ends[0].env);
    net->path.is_cut = false;
    expect(40);
}

static void failure__drops_it(const struct test_param *param)
{
    (void)param;
    post(0, UDP_BUNDLE_ALONE_COUNT + 1, TINY_BYTES);
    udp_conn_fail(&net->ends[0].conn, UCS_ERR_CONNECTION_RESET);
    ck_assert_ptr_null(net->ends[0].conn.bundle);
    ck_assert_uint_eq(net->ends[0].env.bundle_count, 0);
}

/* Lengths are the sender's word: they stay inside of the packet. */
static void open__of_anything(const struct test_param *param)
{
    uint8_t          bytes[64] UCS_ALIGNED(8) = {0};
    struct udp_env  *env                      = &net->ends[1].env;
    struct udp_conn *conn                     = &net->ends[1].conn;

    (void)param;
    bytes[0] = 57; /* longer than what follows */
    udp_bundle_open(conn, bytes, sizeof(bytes));
    ck_assert_uint_eq(ucs_counter_get(&env->counters[UDP_COUNT_BAD_PACKET]), 1);
    bytes[0] = bytes[1] = 0xff;
    udp_bundle_open(conn, bytes, sizeof(bytes));
    udp_bundle_open(conn, bytes, 7);
    ck_assert_uint_eq(ucs_counter_get(&env->counters[UDP_COUNT_BAD_PACKET]), 3);
    udp_bundle_open(conn, bytes, 0);
    ck_assert_uint_eq(net->ends[1].ordered_count, 0);
}

static const struct test_case cases[] = {TEST(burst__shares_packets),
                                         TEST(first__goes_at_once),
                                         TEST(turn__sends_what_waits),
                                         TEST(longer__keeps_its_turn),
                                         TEST(window__has_a_number_for_it),
                                         TEST(loss__repeats_it),
                                         TEST(failure__drops_it),
                                         TEST(open__of_anything),
                                         {0}};

const struct test_suite udp_bundle_suite = {.name     = "udp_bundle",
                                            .cases    = cases,
                                            .setup    = fixture_net_open,
                                            .teardown = fixture_net_close};
