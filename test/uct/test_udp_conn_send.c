/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_conn_send.c - by which channel a packet goes, what may overtake
 * what, and what is sent once more when the tail of a burst is lost. A spy on
 * the network sees all packets, and decides which are lost. */
#include "uct/udp_fixtures.h"

#include "lib/test.h"
#include "uct/suites.h"

enum { SEND_BULK_BYTES = 30000, SEND_SHORT_COUNT = 100 };

static struct udp_net_end *const ends = fixture_net.ends;

/* What the spy saw, by what decides the channel; on the wrong one. */
static unsigned seen_acks, seen_short, seen_long, seen_bulk, seen_again, wrong;

static bool watch(const struct udp_net_end *from, enum udp_channel channel,
                  const uint8_t *bytes, size_t length)
{
    struct udp_head head;
    bool            is_data;

    (void)from;
    ck_assert(udp_wire_get_head(bytes, length, &head));
    is_data = length > UDP_SMALL_BYTES;
    if (udp_kind_is_numbered(head.kind) && (head.attempt > 0)) {
        ++seen_again;
        is_data = true;
    } else if (head.kind == UDP_KIND_CHUNK) {
        ++seen_bulk;
        is_data = true; /* the last one goes with those before it */
    } else if (head.kind == UDP_KIND_ACK) {
        ++seen_acks;
        ck_assert(!is_data);
    } else if (head.kind == UDP_KIND_AM) {
        ++*(is_data ? &seen_long : &seen_short);
    }
    wrong += (channel != (is_data ? UDP_DATA : UDP_PRIORITY));
    return false;
}

static void setup(const struct test_param *param)
{
    fixture_net_open(param);
    seen_acks = seen_short = seen_long = seen_bulk = seen_again = wrong = 0;
}

static void be_quiet(void)
{
    ck_assert(udp_net_until(&fixture_net, udp_net_is_quiet, 30));
}

/* Ordered messages of that length, one at a time. */
static void send_some(struct udp_net_end *end, unsigned count, size_t length)
{
    uint64_t number = end->net->ends[end == ends].ordered_count;

    for (; count > 0; --count) {
        ck_assert(udp_net_send(end, number++, length));
        be_quiet();
    }
}

/* Short ones up to the last byte, longer ones, what is in pieces, and all of
 * it once more. */
static void channel__by_length_and_kind(const struct test_param *param)
{
    static uint8_t memory[SEND_BULK_BYTES];

    (void)param;
    fixture_net.spy = watch;
    send_some(&ends[0], 3, 100);
    send_some(&ends[0], 3, UDP_SMALL_BYTES - UDP_HEAD_BYTES);
    ck_assert_uint_eq(seen_short, 6);
    ck_assert_uint_eq(seen_long, 0);
    send_some(&ends[0], 3, UDP_SMALL_BYTES - UDP_HEAD_BYTES + 8);
    ck_assert_uint_eq(seen_long, 3);
    ck_assert_uint_eq(seen_again, 0);
    ck_assert(udp_net_send_zcopy(&ends[0], 9, memory, SEND_BULK_BYTES));
    be_quiet();
    fixture_net.path.loss = 200;
    send_some(&ends[0], SEND_SHORT_COUNT, 100);
    ck_assert_uint_gt(seen_bulk, 0);
    ck_assert_uint_gt(seen_acks, 0);
    ck_assert_uint_gt(seen_again, 0);
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_eq(ends[1].bad_count, 0);
}

/* Bulk finds the buffer of its channel full. */
static bool drop_bulk(const struct udp_net_end *from, enum udp_channel channel,
                      const uint8_t *bytes, size_t length)
{
    (void)watch(from, channel, bytes, length);
    return (from == &ends[0]) && (channel == UDP_DATA);
}

static bool has_answered(struct udp_net *net)
{
    return udp_send_is_idle(&net->ends[1].conn.send);
}

/* Nothing of a sender's bulk arrives; its acknowledgements do. */
static void
channel__bulk_drops_no_acknowledgement(const struct test_param *param)
{
    static uint8_t memory[4][SEND_BULK_BYTES];
    unsigned       index;

    (void)param;
    send_some(&ends[0], 3, 100);
    fixture_net.spy = drop_bulk;
    for (index = 0; index < 4; ++index) {
        ck_assert(udp_net_send_zcopy(&ends[0], 3 + index, memory[index],
                                     SEND_BULK_BYTES));
    }
    for (index = 0; index < SEND_SHORT_COUNT; ++index) {
        ck_assert(udp_net_send(&ends[1], index, 100));
        ck_assert(udp_net_until(&fixture_net, has_answered, 5));
    }
    ck_assert_uint_ge(seen_acks, SEND_SHORT_COUNT / 2);
    ck_assert_uint_eq(ends[0].ordered_count, SEND_SHORT_COUNT);
    ck_assert_uint_eq(ends[1].ordered_count, 3);
    ck_assert(!udp_net_is_quiet(&fixture_net));
    fixture_net.spy = NULL;
    be_quiet();
    ck_assert_uint_eq(ends[1].ordered_count, 7);
    ck_assert_uint_eq(ends[0].bad_count + ends[1].bad_count, 0);
}

/* The segment that is lost when it goes for the first time. */
static uint32_t lost_number;

static bool drop_one(const struct udp_net_end *from, enum udp_channel channel,
                     const uint8_t *bytes, size_t length)
{
    struct udp_head head;

    (void)channel;
    ck_assert(udp_wire_get_head(bytes, length, &head));
    return (from == &ends[0]) && (head.kind == UDP_KIND_AM) &&
           (head.number == lost_number) && (head.attempt == 0);
}

static bool has_come(struct udp_net *net)
{
    return net->ends[1].any_count > 0;
}

/* What asked for no order does not wait for what was sent before it. */
static void any_order__overtakes_what_is_lost(const struct test_param *param)
{
    (void)param;
    send_some(&ends[0], 1, 500); /* nothing overtakes the first message */
    fixture_net.spy = drop_one;
    lost_number     = ends[0].conn.send.next;
    ck_assert(udp_net_send(&ends[0], 1, 500));
    ck_assert(udp_net_send_any(&ends[0], 0, 500));
    ck_assert(udp_net_until(&fixture_net, has_come, 5));
    ck_assert_uint_eq(ends[1].ordered_count, 1);
    be_quiet();
    ck_assert_uint_eq(ends[1].ordered_count, 2);
    ck_assert_uint_eq(ends[1].any_count, 1);
    ck_assert_uint_eq(ends[1].bad_count, 0);
}

static uint64_t count(enum udp_counter counter)
{
    return ucs_counter_get(&ends[0].env.counters[counter]);
}

static bool have_all_come(struct udp_net *net)
{
    return net->ends[1].ordered_count == 15;
}

/* Nothing behind it says that it is lost: it goes once more after two round
 * trips, before the time-out would have come. */
static void
tail__is_sent_again_before_the_timeout(const struct test_param *param)
{
    uint64_t number, begin_ns;

    (void)param;
    send_some(&ends[0], 10, 500);
    fixture_net.spy = drop_one;
    lost_number     = ends[0].conn.send.next + 4;
    begin_ns        = fixture_net.now_ns;
    for (number = 10; number < 15; ++number) {
        ck_assert(udp_net_send(&ends[0], number, 500));
    }
    ck_assert_uint_eq(ends[0].conn.send.next, lost_number + 1);
    ck_assert(udp_net_until(&fixture_net, have_all_come, 5));
    ck_assert_uint_lt(fixture_net.now_ns - begin_ns,
                      udp_rtt_timeout_ns(&ends[0].conn.rtt));
    be_quiet();
    ck_assert_uint_eq(count(UDP_COUNT_TIMEOUTS), 0);
    ck_assert_uint_eq(count(UDP_COUNT_PROBES), 1);
    ck_assert_uint_eq(ends[1].bad_count, 0);
}

static const struct test_case cases[] = {
    TEST(channel__by_length_and_kind),
    TEST(channel__bulk_drops_no_acknowledgement),
    TEST(any_order__overtakes_what_is_lost),
    TEST(tail__is_sent_again_before_the_timeout),
    {0},
};

const struct test_suite udp_conn_send_suite = {.name     = "udp_conn_send",
                                               .cases    = cases,
                                               .setup    = setup,
                                               .teardown = fixture_net_close};
