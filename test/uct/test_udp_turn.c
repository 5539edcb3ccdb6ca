/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_turn.c - one turn: how much of a connection goes, and what of it
 * goes first. The window is wide, so that nothing else decides. */
#include "uct/udp_net.h"

#include "uct/suites.h"

enum {
    TURN_WINDOW_BYTES  = 8 << 20,
    TURN_MESSAGE_COUNT = 16,
    TURN_LOST_COUNT    = 3, /* messages, less than the credit */
};

static struct udp_net net;
static uint8_t        memory[TURN_MESSAGE_COUNT][UDP_MESSAGE_BYTES];

/* What left end 0 in chunks, those that are lost; `is_mixed`: one again after
 * one that is new. And pieces; probes of the path before the first of them. */
static size_t   new_bytes, again_bytes;
static bool     is_mixed, is_lost;
static unsigned piece_count, early_probe_count;

static bool watch(const struct udp_net_end *from, enum udp_channel channel,
                  const uint8_t *bytes, size_t length)
{
    struct udp_head head;

    (void)channel;
    ck_assert(udp_wire_get_head(bytes, length, &head));
    if ((from != &net.ends[0]) || (head.kind != UDP_KIND_CHUNK)) {
        piece_count += (head.kind == UDP_KIND_PIECE);
        early_probe_count += (head.kind == UDP_KIND_PING) &&
                             (length > UDP_PACKET_BYTES_MIN) &&
                             (piece_count == 0);
        return false;
    }
    if (head.attempt == 0) {
        new_bytes += length;
    } else {
        again_bytes += length;
        is_mixed |= (new_bytes > 0);
    }
    return is_lost;
}

static bool has_long_packets(struct udp_net *unused)
{
    (void)unused;
    return net.ends[0].conn.mtu.good_bytes > 8000;
}

static void setup(const struct test_param *param)
{
    unsigned index;

    (void)param;
    udp_net_open(&net, 0);
    for (index = 0; index < 2; ++index) {
        net.ends[index].env.congestion       = UDP_CC_FIXED;
        net.ends[index].env.congestion_bytes = TURN_WINDOW_BYTES;
        net.ends[index].env.buffer_bytes     = TURN_WINDOW_BYTES;
    }
    udp_net_connect(&net);
    ck_assert(udp_net_until(&net, udp_net_is_open, 30));
    ck_assert(udp_net_until(&net, has_long_packets, 5));
    ck_assert(udp_net_until(&net, udp_net_is_quiet, 5));
    is_lost = false;
    net.spy = watch;
}

static void teardown(const struct test_param *param)
{
    (void)param;
    udp_net_close(&net);
}

/* These messages wait for a turn: the socket is full. */
static void queue(unsigned first, unsigned end)
{
    net.ends[0].env.is_blocked = true;
    new_bytes = again_bytes = 0;
    for (; first < end; ++first) {
        ck_assert(udp_net_send_zcopy(&net.ends[0], first, memory[first],
                                     UDP_MESSAGE_BYTES));
    }
    ck_assert_uint_eq(new_bytes + again_bytes, 0);
}

static void all_arrive(unsigned count)
{
    is_lost = false;
    ck_assert(udp_net_until(&net, udp_net_is_quiet, 30));
    ck_assert_uint_eq(net.ends[1].ordered_count, count);
    ck_assert_uint_eq(net.ends[1].bad_count, 0);
}

/* A call that begins within the credit may end behind it. */
static void credit__is_all_that_goes_in_a_turn(const struct test_param *param)
{
    unsigned turn;

    (void)param;
    queue(0, TURN_MESSAGE_COUNT);
    for (turn = 0; turn < 3; ++turn) {
        new_bytes = 0;
        (void)udp_env_turn(&net.ends[0].env);
        ck_assert_uint_ge(new_bytes, UDP_CREDIT_BYTES);
        ck_assert_uint_lt(new_bytes, UDP_CREDIT_BYTES + UDP_IO_OUT_BYTES_MAX);
    }
    all_arrive(TURN_MESSAGE_COUNT);
}

/* What timed out goes before what waits, and counts. */
static void lost__go_before_what_is_new(const struct test_param *param)
{
    size_t bytes;

    (void)param;
    is_lost = true;
    queue(0, TURN_LOST_COUNT);
    (void)udp_env_turn(&net.ends[0].env);
    bytes = new_bytes;
    ck_assert_uint_gt(bytes, TURN_LOST_COUNT * UDP_MESSAGE_BYTES);
    queue(TURN_LOST_COUNT, TURN_MESSAGE_COUNT);
    is_mixed = false;
    net.now_ns += UDP_RTO_MAX_NS;
    net.ends[0].env.now_ns = net.now_ns;
    (void)udp_env_turn(&net.ends[0].env);
    ck_assert_uint_eq(again_bytes, bytes);
    ck_assert_uint_gt(new_bytes, 0);
    ck_assert(!is_mixed);
    ck_assert_uint_ge(again_bytes + new_bytes, UDP_CREDIT_BYTES);
    ck_assert_uint_lt(again_bytes + new_bytes,
                      UDP_CREDIT_BYTES + UDP_IO_OUT_BYTES_MAX);
    all_arrive(TURN_MESSAGE_COUNT);
}

/* All pieces of a segment must arrive together: a long probe before them would
 * take their place in a short queue, whenever they go. */
static void pieces__go_before_a_probe(const struct test_param *param)
{
    struct udp_conn *conn = &net.ends[0].conn;

    (void)param;
    is_lost = true;
    queue(0, 1);
    (void)udp_env_turn(&net.ends[0].env);
    is_lost                = false;
    net.now_ns             = net.now_ns + UDP_RTO_MAX_NS;
    net.ends[0].env.now_ns = net.now_ns;
    udp_mtu_black_hole(&conn->mtu, net.now_ns);
    udp_conn_rearm(conn);
    piece_count = early_probe_count = 0;
    (void)udp_env_turn(&net.ends[0].env);
    ck_assert_uint_gt(piece_count, 1);
    ck_assert_uint_eq(early_probe_count, 0);
    ck_assert(udp_net_until(&net, has_long_packets, 5));
    all_arrive(1);
}

static const struct test_case cases[] = {
    TEST(credit__is_all_that_goes_in_a_turn),
    TEST(lost__go_before_what_is_new),
    TEST(pieces__go_before_a_probe),
    {0},
};

const struct test_suite udp_turn_suite = {
    .name = "udp_turn", .cases = cases, .setup = setup, .teardown = teardown};
