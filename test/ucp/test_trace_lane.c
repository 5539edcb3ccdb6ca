/* SPDX-License-Identifier: BSD-3-Clause */
/* test_trace_lane.c - src/ucp/core/trace_lane.c: each line of a trace names the
 * lane that its bytes went over, as the mock's journal says. */
#include "ucp/core/trace_lane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ucp/play.h"
#include "ucp/suites.h"
#include "ucp/trace_lines.h"

enum { DEVICE_COUNT = 2, BYTES = 1 << 20, TAG = 5 };

static uint8_t out[BYTES], in[BYTES];

/* What carries a message: a scheme, how its lines are called, and what that is
 * in the journal; head_bytes are not the user's. */
struct carrier {
    const char          *scheme;
    const char          *name;
    enum mock_event_type type;
    size_t               head_bytes;
};

static const struct carrier by_send = {"am", "FRAG", MOCK_AM,
                                       UCP_WIRE_FRAG_BYTES};
static const struct carrier by_put  = {"put_zcopy", "put_zcopy", MOCK_PUT, 0};
static const struct carrier by_get  = {"get_zcopy", "get_zcopy", MOCK_GET, 0};

static const struct test_param carriers[] = {
    {"am", &by_send}, {"put", &by_put}, {"get", &by_get}, {0}};

static uint64_t journal_bytes(const struct carrier *carrier, unsigned device)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < play_mock()->event_count(); ++i) {
        const struct mock_event *event = play_mock()->event(i);

        if ((event->type == carrier->type) && (event->device == device) &&
            ((event->type != MOCK_AM) || (event->am_id == UCP_AM_FRAG))) {
            bytes += event->length - carrier->head_bytes;
        }
    }
    return bytes;
}

/* Bytes of the lines of that name, those that came aside; lane NULL: any. */
static uint64_t trace_lane_bytes(const struct trace_lines *all,
                                 const char *name, const char *lane)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < all->count; ++i) {
        const struct trace_line *line = &all->lines[i];

        if ((line->ph == 'X') && (strcmp(line->cat, "receive") != 0) &&
            (strcmp(line->name, name) == 0) &&
            ((lane == NULL) || (strcmp(line->lane, lane) == 0))) {
            bytes += line->bytes;
        }
    }
    return bytes;
}

static void carry(struct pair *pair)
{
    void *receive = pair_receive(pair, 1, in, BYTES, TAG);

    pattern_fill(out, BYTES, 1);
    ck_assert_int_eq(pair_wait(pair, pair_send(pair, 0, out, BYTES, TAG)),
                     UCS_OK);
    ck_assert_int_eq(pair_wait(pair, receive), UCS_OK);
    pattern_check(in, BYTES, 1);
}

/* Two rails, the second with half the bandwidth. */
static void open_two_rails(struct pair *pair, const struct carrier *carrier)
{
    const struct pair_setup setup = {.tls             = "mock",
                                     .rndv_threshold  = "0",
                                     .zcopy_threshold = "inf",
                                     .rndv_scheme     = carrier->scheme};
    struct uct_iface_attr  *devices;

    play_mock()->reset();
    play_mock()->setup->device_count = DEVICE_COUNT;
    devices                          = play_mock()->setup->devices;
    devices[1].cost.bandwidth_Bps /= 2;
    devices[1].put_cost.bandwidth_Bps /= 2;
    devices[1].get_cost.bandwidth_Bps /= 2;
    (void)setenv("UCX_TRACE_FILE", "/tmp/ucp_test_trace_lane.%p", 1);
    (void)setenv("UCX_MAX_RNDV_RAILS", "2", 1);
    (void)setenv("UCX_RNDV_FRAG_SIZE", "32k", 1);
    pair_open_setup(pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(pair);
}

static void lane__names_what_carried_the_bytes(const struct test_param *param)
{
    const struct carrier *carrier = param->value;
    uint64_t              bytes[DEVICE_COUNT];
    struct trace_lines    all;
    struct pair           pair;
    char                  path[64], lane[32];

    open_two_rails(&pair, carrier);
    carry(&pair);
    for (unsigned i = 0; i < DEVICE_COUNT; ++i) {
        bytes[i] = journal_bytes(carrier, i);
        ck_assert_uint_gt(bytes[i], 0);
    }
    ck_assert_uint_ne(bytes[0], bytes[1]);
    pair_close(&pair);
    (void)snprintf(path, sizeof(path), "/tmp/ucp_test_trace_lane.%d",
                   (int)getpid());
    all = trace_lines_load(path);
    for (unsigned i = 0; i < DEVICE_COUNT; ++i) {
        (void)snprintf(lane, sizeof(lane), "mock/mock%u", i);
        ck_assert_uint_eq(trace_lane_bytes(&all, carrier->name, lane),
                          bytes[i]);
    }
    ck_assert_uint_eq(trace_lane_bytes(&all, carrier->name, NULL),
                      bytes[0] + bytes[1]);
    trace_lines_free(&all);
    (void)unlink(path);
}

static const struct test_case lane_cases[] = {
    TEST(lane__names_what_carried_the_bytes), {0}};

const struct test_suite trace_lane_suite = {
    .name = "trace_lane", .cases = lane_cases, .params = carriers};
