/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_send.c - the window: numbers, acknowledgements in any shape, what
 * counts as lost. */
#include "uct/udp/udp_send.h"

#include <stdlib.h>
#include <string.h>

#include "uct/suites.h"
#include "uct/udp/udp_loss.h"

enum { FIRST = (int)-100 };

static struct udp_send     window;
static struct udp_segment *ring[UDP_WINDOW_COUNT];
static struct ucs_list     acked;

static void setup(const struct test_param *param)
{
    (void)param;
    memset(ring, 0, sizeof(ring));
    udp_send_init(&window, (uint32_t)FIRST);
    ck_assert_ptr_null(udp_send_lend(&window, ring, UDP_WINDOW_COUNT));
    udp_send_allow(&window, (uint32_t)FIRST + UDP_WINDOW_COUNT);
    ucs_list_init(&acked);
}

static void free_all(struct ucs_list *list)
{
    struct udp_segment *segment, *next;

    ucs_list_for_each_safe (segment, next, list, link) {
        free(segment);
    }
    ucs_list_init(list);
}

static void teardown(const struct test_param *param)
{
    (void)param;
    udp_send_drain(&window, &acked);
    free_all(&acked);
}

static struct udp_segment *send_one(enum udp_channel channel, uint64_t now_ns)
{
    struct udp_segment *segment = calloc(1, sizeof(*segment));

    segment->head_bytes = 100;
    udp_send_add(&window, segment);
    udp_send_sent(&window, segment, channel, now_ns);
    return segment;
}

static void window__opens_and_shuts(const struct test_param *param)
{
    unsigned count = 0;

    (void)param;
    window.limit = (uint32_t)FIRST + 10;
    while (udp_send_is_open(&window, 0)) {
        (void)send_one(UDP_PRIORITY, 0);
        ++count;
    }
    ck_assert_uint_eq(count, 10);
    ck_assert_uint_eq(window.flight_bytes, 1000);
    ck_assert_uint_eq(window.flight_count, 10);
    udp_send_allow(&window, (uint32_t)FIRST + 5); /* nobody takes back */
    udp_send_allow(&window, (uint32_t)FIRST + 3 * UDP_WINDOW_COUNT);
    while (udp_send_is_open(&window, 0)) {
        (void)send_one(UDP_DATA, 0);
        ++count;
    }
    ck_assert_uint_eq(count, UDP_WINDOW_COUNT);
}

/* The ring is outgrown while some segments have arrived and some not. */
static void ring__grows(const struct test_param *param)
{
    static struct udp_segment *shorter[UDP_RING_COUNT];
    uint32_t                   first = (uint32_t)FIRST, number;
    unsigned                   count;

    (void)param;
    udp_send_init(&window, first);
    udp_send_allow(&window, first + UDP_WINDOW_COUNT);
    ck_assert(!udp_send_fits(&window));
    ck_assert_ptr_null(udp_send_lend(&window, shorter, UDP_RING_COUNT));
    for (count = 0; udp_send_fits(&window); ++count) {
        (void)send_one(UDP_DATA, 0);
    }
    ck_assert_uint_eq(count, UDP_RING_COUNT);
    ck_assert_uint_eq(udp_send_ack(&window, first + 7, first + 9, &acked), 2);
    ck_assert_ptr_null(udp_send_return(&window));
    ck_assert_ptr_eq(udp_send_lend(&window, ring, UDP_WINDOW_COUNT), shorter);
    (void)send_one(UDP_DATA, 0);
    for (number = first; number != window.next; ++number) {
        bool has_arrived = (number - first == 7) || (number - first == 8);

        ck_assert_int_eq(*udp_send_slot(&window, number) == NULL, has_arrived);
    }
    for (number = 0; number < UDP_RING_COUNT; ++number) {
        ck_assert_ptr_null(shorter[number]);
    }
    ck_assert_uint_eq(udp_send_ack(&window, first, window.next, &acked),
                      UDP_RING_COUNT - 1);
    ck_assert_ptr_eq(udp_send_return(&window), ring);
    ck_assert(!udp_send_fits(&window));
}

static void ack__cumulative_and_ranges(const struct test_param *param)
{
    uint32_t first = (uint32_t)FIRST;
    unsigned index;

    (void)param;
    for (index = 0; index < 20; ++index) {
        (void)send_one(UDP_DATA, index);
    }
    ck_assert_uint_eq(udp_send_ack(&window, first, first + 5, &acked), 5);
    ck_assert_uint_eq(udp_send_ack(&window, first, first + 5, &acked), 0);
    ck_assert_uint_eq(window.first, first + 5);
    ck_assert_uint_eq(udp_send_ack(&window, first + 7, first + 9, &acked), 2);
    ck_assert_uint_eq(window.first, first + 5);
    ck_assert_uint_eq(udp_send_ack(&window, first + 3, first + 7, &acked), 2);
    ck_assert_uint_eq(window.first, first + 9); /* over the range too */
    ck_assert_uint_eq(window.flight_count, 11);
    /* What was never sent is nobody's to acknowledge. */
    ck_assert_uint_eq(udp_send_ack(&window, first + 9, first + 21, &acked), 0);
    ck_assert_uint_eq(udp_send_ack(&window, first + 9, first + 20, &acked), 11);
    ck_assert(udp_send_is_idle(&window));
    ck_assert_uint_eq(window.flight_bytes, 0);
    ck_assert_uint_eq(window.delivered_bytes, 2000);
}

static void lost__when_three_later_ones_arrived(const struct test_param *param)
{
    uint32_t first = (uint32_t)FIRST;
    unsigned index;

    (void)param;
    for (index = 0; index < 6; ++index) {
        (void)send_one(UDP_DATA, 0);
    }
    (void)udp_send_ack(&window, first + 1, first + 3, &acked);
    ck_assert_uint_eq(udp_send_find_lost(&window, UINT64_MAX / 2), 0);
    (void)udp_send_ack(&window, first + 3, first + 4, &acked);
    ck_assert_uint_eq(udp_send_find_lost(&window, UINT64_MAX / 2), 100);
    ck_assert_uint_eq(ucs_list_count(&window.lost), 1);
    ck_assert_uint_eq(window.flight_count, 2);
}

/* The two channels overtake one another: that is no loss. */
static void lost__not_by_the_other_channel(const struct test_param *param)
{
    uint32_t first = (uint32_t)FIRST;
    unsigned index;

    (void)param;
    (void)send_one(UDP_DATA, 0);
    for (index = 0; index < 50; ++index) {
        (void)send_one(UDP_PRIORITY, 0);
    }
    (void)udp_send_ack(&window, first + 1, first + 51, &acked);
    ck_assert_uint_eq(udp_send_find_lost(&window, UINT64_MAX / 2), 0);
}

static void again__takes_a_new_place_in_order(const struct test_param *param)
{
    uint32_t            first = (uint32_t)FIRST;
    struct udp_segment *segment;
    unsigned            index;

    (void)param;
    segment = send_one(UDP_DATA, 0);
    for (index = 0; index < 4; ++index) {
        (void)send_one(UDP_DATA, 0);
    }
    (void)udp_send_ack(&window, first + 1, first + 5, &acked);
    ck_assert_uint_eq(udp_send_find_lost(&window, UINT64_MAX / 2), 100);
    ck_assert_uint_eq(window.flight_count, 0);
    udp_send_sent(&window, segment, UDP_DATA, 7);
    ck_assert_uint_eq(segment->attempt, 1);
    ck_assert_uint_eq(window.flight_count, 1);
    /* It is the newest now: those before it say nothing about it. */
    ck_assert_uint_eq(udp_send_find_lost(&window, UINT64_MAX / 2), 0);
    ck_assert_ptr_eq(udp_send_last(&window), segment);
    ck_assert_uint_eq(udp_send_ack(&window, first, first + 1, &acked), 1);
    ck_assert(udp_send_is_idle(&window));
}

static void ack__of_one_given_up(const struct test_param *param)
{
    uint32_t            first   = (uint32_t)FIRST;
    struct udp_segment *segment = send_one(UDP_DATA, 0);

    (void)param;
    udp_send_lose(&window, segment);
    ck_assert_uint_eq(window.flight_bytes, 0);
    ck_assert_uint_eq(udp_send_ack(&window, first, first + 1, &acked), 1);
    ck_assert(ucs_list_is_empty(&window.lost));
    ck_assert_uint_eq(window.flight_bytes, 0);
}

/* Whenever they were lost: what the peer waits for goes again first. */
static void lost__in_any_order_go_in_order(const struct test_param *param)
{
    struct udp_segment *segments[200], *lost;
    unsigned            index, other;
    uint32_t            number = (uint32_t)FIRST; /* it wraps around */

    (void)param;
    for (index = 0; index < UCS_ARRAY_COUNT(segments); ++index) {
        segments[index] = send_one(UDP_DATA, 0);
    }
    for (index = UCS_ARRAY_COUNT(segments); index-- > 0;) {
        other = (unsigned)test_random_below(index + 1);
        udp_send_lose(&window, segments[other]);
        segments[other] = segments[index];
    }
    ucs_list_for_each (lost, &window.lost, link) {
        ck_assert_uint_eq(lost->number, number++);
    }
    ck_assert_uint_eq(number, window.next);
    lost = ucs_list_first(&window.lost, struct udp_segment, link);
    udp_send_sent(&window, lost, UDP_DATA, 0);
    udp_send_lose(&window, lost); /* again */
    ck_assert_ptr_eq(ucs_list_first(&window.lost, struct udp_segment, link),
                     lost);
}

/* The channels overtake one another, but not for ever. */
static void
lost__long_before_one_on_another_channel(const struct test_param *param)
{
    struct udp_segment *tiny = send_one(UDP_PRIORITY, 0);
    struct udp_segment *bulk;

    (void)param;
    bulk = send_one(UDP_DATA, 1000);
    udp_send_reached(&window, bulk);
    ck_assert_uint_eq(udp_send_find_lost(&window, 1000), 0);
    ck_assert_uint_eq(udp_send_find_lost(&window, 999), 100);
    ck_assert_int_eq(tiny->state, UDP_SEGMENT_LOST);
    ck_assert_int_eq(bulk->state, UDP_SEGMENT_SENT);
}

static const struct test_case cases[] = {
    TEST(lost__in_any_order_go_in_order),
    TEST(lost__long_before_one_on_another_channel),
    TEST(window__opens_and_shuts),
    TEST(ring__grows),
    TEST(ack__cumulative_and_ranges),
    TEST(lost__when_three_later_ones_arrived),
    TEST(lost__not_by_the_other_channel),
    TEST(again__takes_a_new_place_in_order),
    TEST(ack__of_one_given_up),
    {0}};

const struct test_suite udp_send_suite = {
    .name = "udp_send", .cases = cases, .setup = setup, .teardown = teardown};
