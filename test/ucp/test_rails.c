/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rails.c - src/ucp/proto/rails.c: each lane has its part of the bytes,
 * by the arithmetic and on the wire of the mock. */
#include "ucp/proto/rails.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/core/worker.h"
#include "ucp/pair.h"
#include "ucp/play.h"
#include "ucp/suites.h"

enum { RAIL_COUNT = 4, BYTES = 4 << 20, TAG = 6 };

static uint8_t out[BYTES], in[BYTES];

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

/* ---- on the wire ---- */

/* What of the bytes goes by which operation. */
struct wire_scheme {
    const char          *scheme;
    enum mock_event_type type;
};

static const struct wire_scheme by_send = {"am", MOCK_AM};
static const struct wire_scheme by_put  = {"put_zcopy", MOCK_PUT};
static const struct wire_scheme by_get  = {"get_zcopy", MOCK_GET};
static const struct wire_scheme by_ppln = {"put_ppln", MOCK_PUT};

static const struct test_param wire_schemes[] = {{"am", &by_send},
                                                 {"put", &by_put},
                                                 {"get", &by_get},
                                                 {"put_ppln", &by_ppln},
                                                 {0}};

static void wire_open_some(struct pair *pair, const struct wire_scheme *scheme,
                           const double *parts, unsigned count,
                           unsigned rails_max)
{
    static const struct pair_setup setup = {
        .tls = "mock", .rndv_threshold = "0", .zcopy_threshold = "inf"};
    struct mock_setup *mock = play_mock()->setup;
    char               rails[12];

    play_mock()->reset();
    mock->device_count = count;
    for (unsigned i = 0; i < count; ++i) {
        mock->devices[i].cost.bandwidth_Bps     = parts[i] * 10e9;
        mock->devices[i].put_cost.bandwidth_Bps = parts[i] * 10e9;
        mock->devices[i].get_cost.bandwidth_Bps = parts[i] * 10e9;
    }
    (void)setenv("UCX_RNDV_SCHEME", scheme->scheme, 1);
    (void)snprintf(rails, sizeof(rails), "%u", rails_max);
    (void)setenv("UCX_MAX_RNDV_RAILS", rails, 1);
    (void)setenv("UCX_MIN_RNDV_CHUNK_SIZE", "16k", 1);
    (void)setenv("UCX_RNDV_FRAG_SIZE", "32k", 1);
    (void)setenv("UCX_RNDV_PIPELINE_DEPTH", "8", 1);
    (void)setenv("UCX_RNDV_PIPELINE_SEND_LENGTH", "0", 1);
    pair_open_setup(pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(pair);
    for (int side = 0; side < 2; ++side) {
        ck_assert_uint_eq(pair->eps[side]->config->lane_count,
                          ucs_min(count, rails_max));
    }
    play_mock()->forget_events();
}

static void wire_open(struct pair *pair, const struct wire_scheme *scheme,
                      const double *parts, unsigned count)
{
    wire_open_some(pair, scheme, parts, count, RAIL_COUNT);
}

static void wire_carry(struct pair *pair, size_t length)
{
    void *receive, *send;

    pattern_fill(out, length, 5);
    memset(in, 0, length);
    receive = pair_receive(pair, 1, in, length, TAG);
    send    = pair_send(pair, 0, out, length, TAG);
    ck_assert_int_eq(pair_wait(pair, receive), UCS_OK);
    ck_assert_int_eq(pair_wait(pair, send), UCS_OK);
    pattern_check(in, length, 5);
}

/* Bytes of the message that each device carried. @return those of all. */
static size_t wire_count(const struct wire_scheme *scheme, size_t *bytes)
{
    size_t all = 0;

    memset(bytes, 0, RAIL_COUNT * sizeof(*bytes));
    for (unsigned i = 0; i < play_mock()->event_count(); ++i) {
        const struct mock_event *event = play_mock()->event(i);

        if ((event->type == scheme->type) &&
            ((event->type != MOCK_AM) || (event->am_id == UCP_AM_FRAG))) {
            bytes[event->device] += event->length;
            all += event->length;
        }
    }
    return all;
}

static void wire__each_rail_has_its_share(const struct test_param *param)
{
    static const double parts[][RAIL_COUNT] = {
        {1, 1},    {1, 0.5},       {0.25, 1},
        {1, 1, 1}, {1, 0.5, 0.25}, {1, 0.5, 0.3, 0.7}};
    static const unsigned counts[] = {2, 2, 2, 3, 3, 4};

    for (unsigned i = 0; i < UCS_ARRAY_COUNT(counts); ++i) {
        size_t      bytes[RAIL_COUNT], all;
        double      sum = 0;
        struct pair pair;

        wire_open(&pair, param->value, parts[i], counts[i]);
        wire_carry(&pair, BYTES);
        all = wire_count(param->value, bytes);
        ck_assert_uint_ge(all, BYTES - (64 << 10));
        for (unsigned lane = 0; lane < counts[i]; ++lane) {
            sum += parts[i][lane];
        }
        for (unsigned lane = 0; lane < counts[i]; ++lane) {
            double share = (double)bytes[lane] / (double)all;

            ck_assert_msg(fabs(share - parts[i][lane] / sum) < 0.02,
                          "row %u: lane %u has %.3f of the bytes", i, lane,
                          share);
        }
        ck_assert_str_eq(play_mock()->bad(), "");
        pair_close(&pair);
    }
}

/* Below two shares one rail is used. */
static void wire__small_messages_use_one(const struct test_param *param)
{
    static const double parts[]   = {1, 1};
    static const size_t lengths[] = {10000, 20000, 32767};
    size_t              bytes[RAIL_COUNT];
    struct pair         pair;

    wire_open(&pair, param->value, parts, 2);
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(lengths); ++i) {
        play_mock()->forget_events();
        wire_carry(&pair, lengths[i]);
        ck_assert_uint_gt(wire_count(param->value, bytes), 0);
        ck_assert((bytes[0] == 0) || (bytes[1] == 0));
    }
    pair_close(&pair);
}

/* More devices than the setting allows: the fastest are used, by nothing of
 * all that is sent the others. */
static void wire__no_more_than_the_setting(const struct test_param *param)
{
    static const double parts[] = {1, 0.9, 0.5, 0.5};

    for (unsigned rails_max = 1; rails_max <= RAIL_COUNT; ++rails_max) {
        bool        is_used[RAIL_COUNT] = {false};
        size_t      bytes[RAIL_COUNT];
        struct pair pair;

        wire_open_some(&pair, param->value, parts, RAIL_COUNT, rails_max);
        wire_carry(&pair, BYTES);
        (void)wire_count(param->value, bytes);
        for (unsigned i = 0; i < play_mock()->event_count(); ++i) {
            is_used[play_mock()->event(i)->device] |=
                (play_mock()->event(i)->length > 0);
        }
        for (unsigned device = 0; device < RAIL_COUNT; ++device) {
            ck_assert_msg(is_used[device] == (device < rails_max),
                          "of %u rails, device %u is%s used", rails_max, device,
                          is_used[device] ? "" : " not");
            ck_assert_int_eq(bytes[device] > 0, device < rails_max);
        }
        pair_close(&pair);
    }
}

static const struct test_case wire_cases[] = {
    TEST(wire__each_rail_has_its_share),
    TEST(wire__no_more_than_the_setting),
    TEST(wire__small_messages_use_one),
    {0},
};

const struct test_suite rails_wire_suite = {
    .name = "rails_wire", .cases = wire_cases, .params = wire_schemes};
