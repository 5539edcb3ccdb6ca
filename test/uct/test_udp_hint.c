/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_hint.c - what ICMP says is looked into, and not believed. */
#include "ucs/clock.h"
#include "uct/suites.h"
#include "uct/udp/udp.h"
#include "uct/udp_fixtures.h"

static struct udp_net *const net = &fixture_net;

static bool has_long_packets(struct udp_net *unused)
{
    (void)unused;
    return net->ends[0].conn.mtu.good_bytes > 8000;
}

static bool path_search_is_over(struct udp_net *unused)
{
    (void)unused;
    return net->ends[0].conn.mtu.due_ns > net->now_ns + UCS_NS_PER_S * 100ull;
}

/* What ICMP says is looked into at once. */
static void hint__of_a_narrower_path(const struct test_param *param)
{
    (void)param;
    ck_assert(udp_net_until(net, has_long_packets, 5));
    net->path.mtu_bytes     = 1408;
    net->ends[0].env.now_ns = net->now_ns;
    udp_conn_too_long(&net->ends[0].conn, 1408);
    ck_assert_uint_eq(net->ends[0].conn.mtu.good_bytes, UDP_PACKET_BYTES_MIN);
    ck_assert(udp_net_until(net, path_search_is_over, 1));
    ck_assert_uint_ge(net->ends[0].conn.mtu.good_bytes, 1408 - 64);
}

/* A peer that is said to be gone is asked, and is not. */
static void hint__that_the_peer_is_gone(const struct test_param *param)
{
    uint64_t packets;
    unsigned round;

    (void)param;
    ck_assert(udp_net_until(net, path_search_is_over, 30));
    packets = net->packet_count;
    for (round = 0; round < 100; ++round) {
        net->ends[0].env.now_ns = net->now_ns;
        udp_conn_doubt(&net->ends[0].conn);
        (void)udp_net_step(net);
    }
    ck_assert_int_eq(net->ends[0].conn.state, UDP_CONN_OPEN);
    ck_assert_uint_gt(net->packet_count, packets);
}

static const struct test_case cases[] = {
    TEST(hint__of_a_narrower_path),
    TEST(hint__that_the_peer_is_gone),
    {0},
};

const struct test_suite udp_hint_suite = {.name     = "udp_hint",
                                          .cases    = cases,
                                          .setup    = fixture_net_open,
                                          .teardown = fixture_net_close};
