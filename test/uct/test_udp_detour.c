/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_detour.c - a way between two connections breaks: everything goes on
 * over the other one, once and in order, and comes back. */
#include "uct/udp/udp_detour.h"

#include "ucs/clock.h"
#include "uct/suites.h"
#include "uct/udp_fixtures.h"

enum { ZCOPY_BYTES = UDP_MESSAGE_BYTES };

static struct udp_net *const net = &fixture_net;
/* What each end has sent. */
static uint64_t sent[2], zcopies[2];
static uint8_t  memory[2][ZCOPY_BYTES];

static void setup(const struct test_param *param)
{
    sent[0] = sent[1] = zcopies[0] = zcopies[1] = 0;
    fixture_net_open(param);
}

static struct udp_conn *conn_of(unsigned index)
{
    return &net->ends[index].conn;
}

static bool both_are_on_detour(struct udp_net *unused)
{
    (void)unused;
    return conn_of(0)->detour.is_taken && conn_of(1)->detour.is_taken;
}

static bool nobody_is_on_detour(struct udp_net *unused)
{
    (void)unused;
    return !conn_of(0)->detour.is_taken && !conn_of(1)->detour.is_taken;
}

static bool somebody_failed(struct udp_net *unused)
{
    (void)unused;
    return (conn_of(0)->state == UDP_CONN_FAILED) ||
           (conn_of(1)->state == UDP_CONN_FAILED);
}

static void send_one(unsigned index)
{
    struct udp_net_end *end = &net->ends[index];

    if ((test_random_below(4) == 0) &&
        (zcopies[index] == end->finished_count)) {
        if (udp_net_send_zcopy(end, sent[index], memory[index], ZCOPY_BYTES)) {
            ++zcopies[index];
            ++sent[index];
        }
    } else if (udp_net_send(end, sent[index], 8 + test_random_below(1000))) {
        ++sent[index];
    }
}

/* The ends send for so long, now and then. */
static void traffic(double seconds)
{
    uint64_t end_ns  = net->now_ns + (uint64_t)(seconds * 1e9);
    uint64_t next_ns = net->now_ns;

    while (net->now_ns < end_ns) {
        if (net->now_ns >= next_ns) {
            send_one(0);
            send_one(1);
            next_ns = net->now_ns + UCS_NS_PER_MS;
        }
        (void)udp_net_step(net);
    }
}

/* All that was sent arrives within that time. */
static void check(double seconds)
{
    ck_assert(udp_net_until(net, udp_net_is_quiet, seconds));
    for (unsigned index = 0; index < 2; ++index) {
        ck_assert_int_eq(conn_of(index)->state, UDP_CONN_OPEN);
        ck_assert_uint_eq(net->ends[index].bad_count, 0);
        ck_assert_uint_eq(net->ends[1 - index].ordered_count, sent[index]);
        ck_assert_uint_eq(net->ends[index].finished_count, zcopies[index]);
    }
}

static void show_both(void)
{
    udp_net_show_detour(&net->ends[0]);
    udp_net_show_detour(&net->ends[1]);
}

static void detour__a_cut_in_mid_traffic(const struct test_param *param)
{
    (void)param;
    show_both();
    traffic(0.02);
    net->path.is_cut = true;
    traffic(0.5);
    ck_assert(both_are_on_detour(net));
    check(1);
    net->path.is_cut = false; /* and back */
    traffic(0.6);
    ck_assert(nobody_is_on_detour(net));
    traffic(1);
    ck_assert(nobody_is_on_detour(net));
    check(1);
}

/* Who was told nothing learns it from the packets. */
static void detour__is_learned(const struct test_param *param)
{
    (void)param;
    udp_net_show_detour(&net->ends[0]);
    traffic(0.01);
    net->path.is_cut = true;
    traffic(0.5);
    ck_assert(both_are_on_detour(net));
    check(1);
}

/* Only one direction breaks: of who sends, of who listens. */
static void one_direction(unsigned sender)
{
    show_both();
    net->is_one_way = true;
    for (unsigned i = 0; i < 100; ++i) {
        send_one(sender);
        (void)udp_net_step(net);
    }
    check(1);
    traffic(1);
    check(1);
}

static void detour__one_direction(const struct test_param *param)
{
    (void)param;
    one_direction(0);
}

static void detour__the_other_direction(const struct test_param *param)
{
    (void)param;
    one_direction(1);
}

/* Nothing is under way: PINGs find it out, within the bound. */
static void detour__while_idle(const struct test_param *param)
{
    (void)param;
    show_both();
    net->path.is_cut = true;
    while (net->now_ns < 1060ull * UCS_NS_PER_S) {
        (void)udp_net_step(net);
    }
    check(1);
    traffic(0.1);
    check(1);
}

/* It carries less: what was cut for the own way comes in pieces. */
static void detour__is_narrow(const struct test_param *param)
{
    (void)param;
    show_both();
    net->detour.mtu_bytes = 1232;
    traffic(0.5); /* finds the long packets */
    ck_assert_uint_gt(conn_of(0)->mtu.good_bytes, 8000);
    net->path.is_cut = true;
    traffic(0.5);
    check(2);
    ck_assert_uint_le(conn_of(0)->mtu.good_bytes, 1232);
}

/* Both are cut: the bound holds. */
static void detour__both_ways_are_cut(const struct test_param *param)
{
    uint64_t cut_ns;

    (void)param;
    show_both();
    traffic(0.01);
    cut_ns           = net->now_ns;
    net->path.is_cut = net->detour.is_cut = true;
    send_one(0);
    ck_assert(udp_net_until(net, somebody_failed, 15));
    ck_assert_uint_ge(net->now_ns - cut_ns, 8ull * UCS_NS_PER_S);
    ck_assert_uint_le(net->now_ns - cut_ns, 12ull * UCS_NS_PER_S);
}

/* One of the two is cut at any time, and both lose. */
static void detour__to_and_fro(const struct test_param *param)
{
    (void)param;
    show_both();
    net->path.loss = net->detour.loss = 50;
    for (uint64_t i = 0; i < test_rounds(20, 1000); ++i) {
        net->path.is_cut   = (i % 2 == 0);
        net->detour.is_cut = (i % 2 == 1);
        traffic(0.05 + (double)test_random_below(1000) / 1000);
    }
    check(5);
}

/* The own way is cut before anybody met. */
static void detour__of_the_handshake(const struct test_param *param)
{
    (void)param;
    udp_net_close(net);
    udp_net_open(net, 0);
    net->path.is_cut = true;
    udp_net_connect(net);
    udp_net_show_detour(&net->ends[0]);
    ck_assert(udp_net_until(net, udp_net_is_open, 1));
    traffic(0.3);
    check(1);
    net->path.is_cut = false;
    traffic(0.6);
    ck_assert(nobody_is_on_detour(net));
    check(1);
}

static void detour__goes_away(const struct test_param *param)
{
    (void)param;
    show_both();
    net->path.is_cut = true;
    traffic(0.5);
    net->path.is_cut = false;
    for (unsigned index = 0; index < 2; ++index) {
        udp_detour_forget(conn_of(index), &net->ends[index].beside);
        ck_assert(!conn_of(index)->detour.is_taken);
    }
    net->detour.is_cut = true;
    traffic(0.1);
    check(1);
}

static const struct test_case cases[] = {TEST(detour__a_cut_in_mid_traffic),
                                         TEST(detour__is_learned),
                                         TEST(detour__one_direction),
                                         TEST(detour__the_other_direction),
                                         TEST(detour__while_idle),
                                         TEST(detour__is_narrow),
                                         TEST(detour__both_ways_are_cut),
                                         TEST(detour__to_and_fro),
                                         TEST(detour__of_the_handshake),
                                         TEST(detour__goes_away),
                                         {0}};

const struct test_suite udp_detour_suite = {.name     = "udp_detour",
                                            .cases    = cases,
                                            .setup    = setup,
                                            .teardown = fixture_net_close};
