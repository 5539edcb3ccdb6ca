/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rails.c - src/ucp/proto/rails.c: each lane has its part of the bytes.
 */
#include "ucp/proto/rails.h"

#include <math.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/suites.h"

enum { RAIL_COUNT = 4 };

/* ---- the arithmetic ---- */

static struct ucp_lane_row rows[UCP_LANE_COUNT_MAX];

static void set_rows(double first, double second, double third, double fourth)
{
    const double bandwidths[RAIL_COUNT] = {first, second, third, fourth};

    memset(rows, 0, sizeof(rows));
    for (unsigned i = 0; i < RAIL_COUNT; ++i) {
        rows[i].model.attr.cost.bandwidth_Bps     = bandwidths[i];
        rows[i].model.attr.put_cost.bandwidth_Bps = bandwidths[i] / 2;
        rows[i].model.attr.get_cost.bandwidth_Bps = bandwidths[i] / 3;
    }
}

static void rails__next_follows_the_bandwidths(const struct test_param *param)
{
    static const double bandwidths[] = {10e9, 5e9, 2.5e9, 2.5e9};

    (void)param;
    set_rows(10e9, 5e9, 2.5e9, 2.5e9);
    for (int use = UCP_RAIL_PUT; use <= UCP_RAIL_SEND; ++use) {
        size_t lane_bytes[UCP_LANE_COUNT_MAX] = {0};
        size_t all                            = 0;

        for (int i = 0; i < 20000; ++i) {
            unsigned lane =
                ucp_rails_next(rows, 0xf, (enum ucp_rail_use)use, lane_bytes);
            size_t part = 1 + test_random_below(8192);

            ck_assert_uint_lt(lane, RAIL_COUNT);
            lane_bytes[lane] += part;
            all += part;
        }
        for (unsigned i = 0; i < RAIL_COUNT; ++i) {
            double share = (double)all * bandwidths[i] / 20e9;

            ck_assert(fabs((double)lane_bytes[i] - share) < 4 * 8192);
        }
    }
}

static void rails__next_takes_only_those(const struct test_param *param)
{
    size_t lane_bytes[UCP_LANE_COUNT_MAX] = {0, 1000, 5, 2000};

    (void)param;
    set_rows(1e9, 1e9, 1e9, 1e9);
    ck_assert_uint_eq(ucp_rails_next(rows, 0xf, UCP_RAIL_SEND, lane_bytes), 0);
    ck_assert_uint_eq(ucp_rails_next(rows, 0xe, UCP_RAIL_SEND, lane_bytes), 2);
    ck_assert_uint_eq(ucp_rails_next(rows, 0xa, UCP_RAIL_SEND, lane_bytes), 1);
    ck_assert_uint_eq(ucp_rails_next(rows, 0x8, UCP_RAIL_SEND, lane_bytes), 3);
}

/* The slowest goes first, the fastest is left. */
static void rails__small_messages_use_one(const struct test_param *param)
{
    enum { LEAST = 1000 };

    (void)param;
    set_rows(2e9, 8e9, 4e9, 2e9); /* the slowest has an eighth */
    ck_assert_uint_eq(ucp_rails_for(rows, 0xf, UCP_RAIL_SEND, 8000, LEAST),
                      0xf);
    ck_assert_uint_eq(ucp_rails_for(rows, 0xf, UCP_RAIL_SEND, 7999, LEAST),
                      0xe);
    ck_assert_uint_eq(ucp_rails_for(rows, 0xf, UCP_RAIL_SEND, 3000, LEAST),
                      0x6);
    ck_assert_uint_eq(ucp_rails_for(rows, 0xf, UCP_RAIL_SEND, 2999, LEAST),
                      0x2);
    ck_assert_uint_eq(ucp_rails_for(rows, 0xf, UCP_RAIL_SEND, 0, LEAST), 0x2);
    ck_assert_uint_eq(ucp_rails_for(rows, 0xf, UCP_RAIL_SEND, 0, 0), 0xf);
    ck_assert_uint_eq(ucp_rails_for(rows, 0x1, UCP_RAIL_SEND, 0, LEAST), 0x1);
    ck_assert_uint_eq(ucp_rails_for(rows, 0, UCP_RAIL_SEND, 9, LEAST), 0);
}

static void rails__shares_add_up(const struct test_param *param)
{
    static const size_t lengths[] = {1, 4096, 100000, 1 << 20, 10000001};

    (void)param;
    set_rows(8e9, 4e9, 2e9, 2e9);
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(lengths); ++i) {
        size_t sum = 0;

        for (unsigned lane = 0; lane < RAIL_COUNT; ++lane) {
            size_t share =
                ucp_rails_share(rows, 0xf, UCP_RAIL_PUT, lane, lengths[i]);

            ck_assert_uint_eq(share % 4096, 0);
            ck_assert_uint_ge(share, lengths[i] / (lane == 0 ? 2 : 8));
            sum += share;
        }
        ck_assert_uint_ge(sum, lengths[i]);
        ck_assert_uint_le(sum, lengths[i] + 4 * 4096);
        ck_assert_uint_eq(ucp_rails_share(rows, 4, UCP_RAIL_GET, 2, lengths[i]),
                          lengths[i]);
    }
}

static const struct test_case rails_cases[] = {
    TEST(rails__next_follows_the_bandwidths),
    TEST(rails__next_takes_only_those),
    TEST(rails__small_messages_use_one),
    TEST(rails__shares_add_up),
    {0},
};

const struct test_suite rails_suite = {.name = "rails", .cases = rails_cases};
