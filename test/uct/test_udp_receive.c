/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_receive.c - order, duplicates, ranges, and when to acknowledge. */
#include "uct/udp/udp_receive.h"

#include <string.h>

#include "uct/suites.h"
#include "uct/udp/udp_seq.h"

enum { FIRST = (int)-20 }; /* the numbers wrap in every test */

static struct udp_receive receive;
static void              *ring[UDP_WINDOW_COUNT];

static void setup(const struct test_param *param)
{
    (void)param;
    memset(ring, 0, sizeof(ring));
    udp_receive_init(&receive, (uint32_t)FIRST);
    ck_assert_ptr_null(udp_receive_lend(&receive, ring, UDP_WINDOW_COUNT));
}

/* A segment comes, as a connection takes it. */
static enum udp_arrival come(uint32_t number, uint64_t now_ns)
{
    const struct udp_head head    = {.number = number};
    enum udp_arrival      arrival = udp_receive_look(&receive, number);

    udp_receive_note(&receive, &head, arrival, now_ns);
    if (arrival == UDP_ARRIVAL_EARLY) {
        udp_receive_keep(&receive, number, (void *)(uintptr_t)(number | 1));
    } else if (arrival == UDP_ARRIVAL_NEXT) {
        udp_receive_take(&receive);
        while (udp_receive_early(&receive) != NULL) {
            udp_receive_pop(&receive);
            udp_receive_take(&receive);
        }
    }
    return arrival;
}

static void seq__wraps(const struct test_param *param)
{
    (void)param;
    ck_assert(udp_seq_is_before(0xffffffffu, 0));
    ck_assert(!udp_seq_is_before(0, 0xffffffffu));
    ck_assert_uint_eq(udp_seq_max(0xfffffff0u, 3), 3);
    ck_assert_uint_eq(udp_seq_widen(0x0001fffe, 0x0003), 0x00020003);
    ck_assert_uint_eq(udp_seq_widen(0x00020003, 0xfffe), 0x0001fffe);
    ck_assert_uint_eq(udp_seq_widen(2, 0xffff), 0xffffffffu);
}

static void look__every_place(const struct test_param *param)
{
    uint32_t first = (uint32_t)FIRST;

    (void)param;
    ck_assert_int_eq(udp_receive_look(&receive, first), UDP_ARRIVAL_NEXT);
    ck_assert_int_eq(udp_receive_look(&receive, first - 1), UDP_ARRIVAL_OLD);
    ck_assert_int_eq(udp_receive_look(&receive, first + 1), UDP_ARRIVAL_EARLY);
    ck_assert_int_eq(udp_receive_look(&receive, first + UDP_WINDOW_COUNT - 1),
                     UDP_ARRIVAL_EARLY);
    ck_assert_int_eq(udp_receive_look(&receive, first + UDP_WINDOW_COUNT),
                     UDP_ARRIVAL_BEYOND);
    (void)come(first + 5, 0);
    ck_assert_int_eq(udp_receive_look(&receive, first + 5), UDP_ARRIVAL_OLD);
}

/* Any order, many twice: each number is news exactly once. */
static void order__random_arrivals(const struct test_param *param)
{
    uint32_t expected = (uint32_t)FIRST, number, count = 0;
    uint32_t total = 20000;

    (void)param;
    while (receive.expected != expected + total) {
        number = receive.expected - 3 +
                 (uint32_t)test_random_below(
                     ucs_min(60u, expected + total - receive.expected + 3));
        switch (come(number, 1)) {
        case UDP_ARRIVAL_NEXT:
        case UDP_ARRIVAL_EARLY:
            ++count;
            break;
        default:
            break;
        }
    }
    ck_assert_uint_eq(count, total);
    ck_assert_uint_eq(receive.early_count, 0);
    ck_assert_ptr_eq(udp_receive_return(&receive), ring);
    ck_assert_ptr_null(receive.ring);
}

static void ranges__are_what_came(const struct test_param *param)
{
    struct udp_range ranges[UDP_RANGE_COUNT_MAX];
    uint32_t         first = (uint32_t)FIRST;

    (void)param;
    ck_assert_uint_eq(udp_receive_ranges(&receive, ranges), 0);
    (void)come(first + 2, 0);
    (void)come(first + 3, 0);
    (void)come(first + 40, 0);
    ck_assert_uint_eq(udp_receive_ranges(&receive, ranges), 2);
    ck_assert_uint_eq(ranges[0].first, first + 2);
    ck_assert_uint_eq(ranges[0].end, first + 4);
    ck_assert_uint_eq(ranges[1].first, first + 40);
    ck_assert_uint_eq(ranges[1].end, first + 41);
    (void)come(first, 0);
    (void)come(first + 1, 0);
    ck_assert_uint_eq(receive.expected, first + 4);
    ck_assert_uint_eq(udp_receive_ranges(&receive, ranges), 1);
}

static void ranges__more_than_fit(const struct test_param *param)
{
    struct udp_range ranges[UDP_RANGE_COUNT_MAX];
    uint32_t         index;

    (void)param;
    for (index = 1; index <= 2 * UDP_RANGE_COUNT_MAX; ++index) {
        (void)come((uint32_t)FIRST + 2 * index, 0);
    }
    ck_assert_uint_eq(udp_receive_ranges(&receive, ranges),
                      UDP_RANGE_COUNT_MAX);
}

static void ack__is_delayed_and_then_due(const struct test_param *param)
{
    struct udp_head head  = {0};
    uint32_t        first = (uint32_t)FIRST;

    (void)param;
    ck_assert_uint_eq(udp_receive_deadline_ns(&receive), UINT64_MAX);
    (void)come(first, 1000);
    (void)come(first + 1, 2000);
    ck_assert_uint_eq(udp_receive_deadline_ns(&receive),
                      1000 + UDP_ACK_DELAY_NS);
    udp_receive_fill(&receive, &head, 12000); /* it rides on data */
    ck_assert_uint_eq(head.ack, first + 2);
    ck_assert_uint_eq(head.newest, (uint16_t)(first + 1));
    ck_assert_uint_eq(head.delay_us, 10);
    ck_assert_uint_eq(udp_receive_deadline_ns(&receive), UINT64_MAX);
}

static void ack__at_once_when_it_matters(const struct test_param *param)
{
    struct udp_head head  = {0};
    uint32_t        first = (uint32_t)FIRST, index;

    (void)param;
    (void)come(first + 1, 5); /* a gap */
    ck_assert_uint_eq(udp_receive_deadline_ns(&receive), 0);
    udp_receive_fill(&receive, &head, 6); /* only ranges can say it */
    ck_assert_uint_eq(udp_receive_deadline_ns(&receive), 0);
    udp_receive_told(&receive);
    ck_assert_uint_eq(udp_receive_deadline_ns(&receive), UINT64_MAX);
    (void)come(first, 7); /* the gap is closed */
    ck_assert_uint_eq(udp_receive_deadline_ns(&receive), 0);
    udp_receive_told(&receive);
    (void)come(first, 8); /* again: our acknowledgement was lost */
    ck_assert_uint_eq(udp_receive_deadline_ns(&receive), 0);
    udp_receive_told(&receive);
    for (index = 0; index < UDP_ACK_COUNT; ++index) {
        ck_assert_uint_ne(udp_receive_deadline_ns(&receive), 0);
        (void)come(receive.expected, 9);
    }
    ck_assert_uint_eq(udp_receive_deadline_ns(&receive), 0);
}

/* A ring is outgrown in the middle of a gap: nothing is forgotten. */
static void ring__grows(const struct test_param *param)
{
    static void *shorter[UDP_RING_COUNT];
    uint32_t     first = (uint32_t)FIRST;
    unsigned     index;

    (void)param;
    udp_receive_init(&receive, first);
    ck_assert(!udp_receive_fits(&receive, first + 1));
    ck_assert_ptr_null(udp_receive_lend(&receive, shorter, UDP_RING_COUNT));
    (void)come(first, 1); /* so that the numbers do not begin at slot 0 */
    for (index = 2; index < UDP_RING_COUNT; index += 3) {
        (void)come(first + index, 1);
    }
    ck_assert(udp_receive_fits(&receive, first + UDP_RING_COUNT));
    ck_assert(!udp_receive_fits(&receive, first + UDP_RING_COUNT + 1));
    ck_assert_ptr_eq(udp_receive_lend(&receive, ring, UDP_WINDOW_COUNT),
                     shorter);
    for (index = 0; index < UDP_RING_COUNT; ++index) {
        ck_assert_ptr_null(shorter[index]);
    }
    (void)come(first + 1000, 1);
    for (index = 2; index < 1000; ++index) {
        bool was_there = (index % 3 == 2) && (index < UDP_RING_COUNT);

        ck_assert_int_eq(udp_receive_look(&receive, first + index),
                         was_there ? UDP_ARRIVAL_OLD : UDP_ARRIVAL_EARLY);
    }
    for (index = 1; index < 1000; ++index) {
        (void)come(first + index, 2);
    }
    ck_assert_uint_eq(receive.expected, first + 1001);
    ck_assert_ptr_eq(udp_receive_return(&receive), ring);
}

static const struct test_case cases[] = {TEST(seq__wraps),
                                         TEST(ring__grows),
                                         TEST(look__every_place),
                                         TEST(order__random_arrivals),
                                         TEST(ranges__are_what_came),
                                         TEST(ranges__more_than_fit),
                                         TEST(ack__is_delayed_and_then_due),
                                         TEST(ack__at_once_when_it_matters),
                                         {0}};

const struct test_suite udp_receive_suite = {
    .name = "udp_receive", .cases = cases, .setup = setup};
