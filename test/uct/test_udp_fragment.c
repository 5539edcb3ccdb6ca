/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_fragment.c - a fragment ends once, however it ends. */
#include "uct/suites.h"
#include "uct/udp_fixtures.h"

enum { SHORT_BYTES = 100, LONG_COUNT = 10 };

static struct udp_net *const net = &fixture_net;
static uint8_t               memory[1 + LONG_COUNT][UDP_MESSAGE_BYTES];

static void flush(void)
{
    struct udp_net_end  *end = &net->ends[0];
    struct udp_fragment *fragment =
        udp_fragment_new(&end->conn, UDP_FRAGMENT_FLUSH);

    ck_assert_ptr_nonnull(fragment);
    fragment->req = &fragment->own;
    ucs_list_add_tail(&end->conn.operations, &fragment->link);
    udp_conn_queue(&end->conn, fragment);
}

static uint64_t wanted;

static bool has_finished(struct udp_net *unused)
{
    (void)unused;
    return net->ends[0].finished_count >= wanted;
}

/* One that was sent, a flush behind it, and those that wait for the window. */
static void begin_all(void)
{
    unsigned index;

    ck_assert(udp_net_send_zcopy(&net->ends[0], 0, memory[0], SHORT_BYTES));
    flush();
    for (index = 1; index <= LONG_COUNT; ++index) {
        ck_assert(udp_net_send_zcopy(&net->ends[0], index, memory[index],
                                     UDP_MESSAGE_BYTES));
    }
    wanted = 2 + LONG_COUNT;
}

static void expect_all(ucs_status_t status)
{
    ck_assert(udp_net_until(net, has_finished, 30));
    (void)udp_net_step(net);
    ck_assert_uint_eq(net->ends[0].finished_count, wanted);
    ck_assert_int_eq(net->ends[0].finished_status, status);
    ck_assert(ucs_list_is_empty(&net->ends[0].conn.operations));
}

static void end__all_arrived(const struct test_param *param)
{
    (void)param;
    begin_all();
    expect_all(UCS_OK);
}

/* The flush is in the queue of flushes and counts as sent. */
static void end__the_peer_is_lost(const struct test_param *param)
{
    (void)param;
    net->ends[1].is_gone = true;
    begin_all();
    expect_all(UCS_ERR_ENDPOINT_TIMEOUT);
}

static const struct test_case cases[] = {
    TEST(end__all_arrived),
    TEST(end__the_peer_is_lost),
    {0},
};

const struct test_suite udp_fragment_suite = {.name     = "udp_fragment",
                                              .cases    = cases,
                                              .setup    = fixture_net_open,
                                              .teardown = fixture_net_close};
