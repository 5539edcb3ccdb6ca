/* SPDX-License-Identifier: BSD-3-Clause */
/* test_hotel.c - time-outs in a wheel; the clock is a number. */
#include "ucs/hotel.h"

#include "ucs/random_model.h"
#include "ucs/suites.h"

enum { TICK_NS = 1024, ROOM_COUNT = 8, GUEST_COUNT = 8 };

static struct ucs_hotel hotel;
static int              guests[GUEST_COUNT]; /* evictions of each guest */
static int              evicted[64];         /* guests in order */
static unsigned         evicted_count;
static uint64_t         again_ns; /* an evicted guest comes back for this */

static void evict(struct ucs_hotel *self, uint32_t room, void *guest,
                  uint64_t now_ns)
{
    ck_assert_ptr_eq(self, &hotel);
    ck_assert_ptr_null(ucs_hotel_guest(&hotel, room));
    ck_assert_ptr_eq(hotel.arg, guests);
    ++*(int *)guest;
    evicted[evicted_count++] = (int)((int *)guest - guests);
    if (again_ns > 0) {
        ck_assert_uint_ne(
            ucsi_hotel_checkin(&hotel, guest, now_ns, again_ns - 1),
            UCS_HOTEL_NO_ROOM);
    }
}

static const struct ucs_hotel_params params = {.room_count = ROOM_COUNT,
                                               .tick_ns    = 1000,
                                               .now_ns     = 1000000,
                                               .evict      = evict,
                                               .arg        = guests};

static void setup(const struct test_param *param)
{
    (void)param;
    ck_assert_int_eq(ucsi_hotel_init(&hotel, &params), UCS_OK);
}

static void teardown(const struct test_param *param)
{
    (void)param;
    ucsi_hotel_cleanup(&hotel);
}

static uint32_t checkin(int guest, uint64_t now_ns, uint64_t stay_ns)
{
    uint32_t room = ucsi_hotel_checkin(&hotel, &guests[guest], now_ns, stay_ns);

    ck_assert_uint_lt(room, ROOM_COUNT);
    return room;
}

static void run(uint64_t now_ns, unsigned expected_count)
{
    evicted_count = 0;
    ck_assert_uint_eq(ucsi_hotel_run(&hotel, now_ns), expected_count);
    ck_assert_uint_eq(evicted_count, expected_count);
}

static void init__refuses_bad_params(const struct test_param *param)
{
    struct ucs_hotel        other;
    struct ucs_hotel_params bad = params;

    (void)param;
    bad.room_count = 0;
    ck_assert_int_eq(ucsi_hotel_init(&other, &bad), UCS_ERR_INVALID_PARAM);
    bad.room_count = UCS_HOTEL_ROOM_COUNT_MAX + 1;
    ck_assert_int_eq(ucsi_hotel_init(&other, &bad), UCS_ERR_INVALID_PARAM);
    bad         = params;
    bad.tick_ns = 0;
    ck_assert_int_eq(ucsi_hotel_init(&other, &bad), UCS_ERR_INVALID_PARAM);
    bad.tick_ns = (1ull << UCS_HOTEL_TICK_SHIFT_MAX) + 1;
    ck_assert_int_eq(ucsi_hotel_init(&other, &bad), UCS_ERR_INVALID_PARAM);
    bad       = params;
    bad.evict = NULL;
    ck_assert_int_eq(ucsi_hotel_init(&other, &bad), UCS_ERR_INVALID_PARAM);
}

static void empty__has_no_deadline(const struct test_param *param)
{
    (void)param;
    ck_assert_uint_eq(ucsi_hotel_deadline_ns(&hotel), UINT64_MAX);
    run(UINT64_MAX / 2, 0);
    ck_assert_uint_eq(ucsi_hotel_deadline_ns(&hotel), UINT64_MAX);
}

static void checkin__until_full(const struct test_param *param)
{
    int i;

    (void)param;
    for (i = 0; i < ROOM_COUNT; ++i) {
        ck_assert_ptr_eq(ucs_hotel_guest(&hotel, checkin(i, 1000000, 5000)),
                         &guests[i]);
    }
    ck_assert_uint_eq(ucs_hotel_guest_count(&hotel), ROOM_COUNT);
    ck_assert_uint_eq(ucsi_hotel_checkin(&hotel, &guests[0], 1000000, 1),
                      UCS_HOTEL_NO_ROOM);
    ck_assert_ptr_eq(ucsi_hotel_checkout(&hotel, 3), &guests[3]);
    ck_assert_uint_eq(checkin(3, 1000000, 5000), 3);
}

static void checkout__is_not_evicted(const struct test_param *param)
{
    uint32_t room = checkin(0, 1000000, 5000);

    (void)param;
    (void)checkin(1, 1000000, 5000);
    ck_assert_ptr_eq(ucsi_hotel_checkout(&hotel, room), &guests[0]);
    ck_assert_ptr_null(ucs_hotel_guest(&hotel, room));
    run(2000000, 1);
    ck_assert_int_eq(evicted[0], 1);
    ck_assert_uint_eq(ucs_hotel_guest_count(&hotel), 0);
}

/* Stays around the edges of each level: not early, at most a tick late. */
static void evict__in_time_at_all_levels(const struct test_param *param)
{
    static const uint64_t ticks[] = {
        1,       2,        62,       63,       64,         65,        127,
        128,     4095,     4096,     4097,     262143,     262144,    262145,
        1 << 23, 16777215, 16777216, 16777217, 1ull << 30, 1ull << 34};
    uint64_t now_ns = params.now_ns;
    uint64_t stay_ns;
    size_t   i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(ticks); ++i) {
        stay_ns = ticks[i] * TICK_NS + i;
        (void)checkin(0, now_ns, stay_ns);
        run(now_ns + stay_ns - 1, 0);
        ck_assert_uint_gt(ucsi_hotel_deadline_ns(&hotel),
                          now_ns + stay_ns - TICK_NS);
        ck_assert_uint_lt(ucsi_hotel_deadline_ns(&hotel),
                          now_ns + stay_ns + TICK_NS);
        run(now_ns + stay_ns + TICK_NS - 1, 1);
        now_ns += stay_ns + TICK_NS + 77;
    }
}

static void evict__in_order_of_end(const struct test_param *param)
{
    static const unsigned stays_us[] = {900, 3, 90000, 70, 4, 9000, 3, 900};
    static const int      order[]    = {1, 6, 4, 3, 0, 7, 5, 2};
    int                   i;

    (void)param;
    for (i = 0; i < GUEST_COUNT; ++i) {
        (void)checkin(i, params.now_ns, stays_us[i] * 1024ull);
    }
    run(params.now_ns + 1000000000, 8); /* all in one run */
    for (i = 0; i < GUEST_COUNT; ++i) {
        ck_assert_int_eq(evicted[i], order[i]);
    }
}

static void evict__same_tick_in_order_of_checkin(const struct test_param *param)
{
    uint64_t end_ns = params.now_ns + 100000000;
    int      i;

    (void)param;
    for (i = 0; i < GUEST_COUNT; ++i) { /* from nearer and nearer */
        uint64_t now_ns = end_ns - (100000000ull >> (2 * i));

        run(now_ns, 0);
        (void)checkin(i, now_ns, end_ns - now_ns);
    }
    run(end_ns + TICK_NS, 8);
    for (i = 0; i < GUEST_COUNT; ++i) {
        ck_assert_int_eq(evicted[i], i);
    }
}

static void evict__guest_comes_back(const struct test_param *param)
{
    uint64_t now_ns = params.now_ns + 10 * TICK_NS;

    (void)param;
    (void)checkin(0, params.now_ns, TICK_NS);
    again_ns = 1; /* for no time at all: the next run is the earliest */
    run(now_ns, 1);
    run(now_ns, 0);
    run(now_ns + TICK_NS, 1);
    again_ns = 1 + 5 * TICK_NS;
    run(now_ns + 2 * TICK_NS, 1);
    run(now_ns + 6 * TICK_NS, 0);
    again_ns = 0;
    run(now_ns + 8 * TICK_NS, 1);
    ck_assert_uint_eq(ucs_hotel_guest_count(&hotel), 0);
}

static void run__time_does_not_go_back(const struct test_param *param)
{
    (void)param;
    run(params.now_ns + 100 * TICK_NS, 0);
    (void)checkin(0, params.now_ns, TICK_NS); /* ended before it began */
    run(params.now_ns + 50 * TICK_NS, 0);
    run(params.now_ns + 100 * TICK_NS, 0);
    run(params.now_ns + 102 * TICK_NS, 1);
}

/* A stay beyond the end of counting does not end, and years of silence pass
 * in a few steps. */
static void checkin__for_ever(const struct test_param *param)
{
    uint32_t room        = checkin(0, params.now_ns, UINT64_MAX);
    uint64_t deadline_ns = ucsi_hotel_deadline_ns(&hotel);
    unsigned run_count   = 0;

    (void)param;
    run(UINT64_MAX / 2, 0);
    while (deadline_ns < UINT64_MAX) {
        ck_assert_uint_lt(++run_count, UCS_HOTEL_LEVEL_COUNT);
        run(deadline_ns, 0);
        deadline_ns = ucsi_hotel_deadline_ns(&hotel);
    }
    run(UINT64_MAX, 0);
    ck_assert_ptr_eq(ucsi_hotel_checkout(&hotel, room), &guests[0]);
}

static void random__like_a_list(const struct test_param *param)
{
    (void)param;
    run_random_model(model_hotel, 1000);
}

static const struct test_case cases[] = {
    TEST(init__refuses_bad_params),
    TEST(empty__has_no_deadline),
    TEST(checkin__until_full),
    TEST(checkout__is_not_evicted),
    TEST(evict__in_time_at_all_levels),
    TEST(evict__in_order_of_end),
    TEST(evict__same_tick_in_order_of_checkin),
    TEST(evict__guest_comes_back),
    TEST(run__time_does_not_go_back),
    TEST(checkin__for_ever),
    TEST(random__like_a_list),
    {0}};

const struct test_suite hotel_suite = {"hotel", cases, NULL, setup, teardown};
