/* SPDX-License-Identifier: BSD-3-Clause */
/* test_registration_time.c - protocol 7 hides what registering costs, by the
 * clocks of the mock: two processors that register, a link that moves.
 *
 *     5:  S |register all|        R |register all|  link |=== put ===|
 *     7:  S    |r|r|r|r|    R |r|r|r|r|             link    |==|==|==|==|  */
#include "ucp/play.h"
#include "ucp/suites.h"

enum { MIB = 1 << 20, PIECE_BYTES = 65536, DEPTH = 4 };

/* Registering a byte takes as long as moving it: 0.2 ns, and 1 us each. */
static void dear(struct mock_setup *setup)
{
    struct uct_iface_attr *device = &setup->devices[0];

    device->put_cost.bandwidth_Bps   = 5e9;
    device->get_cost.bandwidth_Bps   = 5e9;
    device->cost.register_base_s     = 1e-6;
    device->cost.register_per_byte_s = 0.2e-9;
    device->flags                    = UCT_IFACE_PUT_BEFORE_AM;
}

static void cheap(struct mock_setup *setup)
{
    dear(setup);
    setup->devices[0].cost.register_base_s     = 0;
    setup->devices[0].cost.register_per_byte_s = 0;
}

#define DEPTH_4  "UCX_RNDV_PIPELINE_DEPTH", "4"
#define NO_TAIL  "UCX_RNDV_PIPELINE_SEND_LENGTH", "0"
#define PIECES   "UCX_RNDV_FRAG_SIZE", "65536"
#define FORCE(x) "UCX_RNDV_THRESH", "0", "UCX_RNDV_SCHEME", x

/* How a message went. */
struct outcome {
    double time_s;    /* when both had it */
    size_t pinned[2]; /* at most, by each */
};

static struct outcome
run(const char *scheme, void (*prepare)(struct mock_setup *setup), size_t bytes)
{
    static const struct play_wire wire     = {MOCK_EARLIEST, true};
    const struct scenario         scenario = {
                .name    = scheme,
                .bytes   = bytes,
                .prepare = prepare,
                .env     = {FORCE(scheme), DEPTH_4, NO_TAIL, PIECES},
    };
    struct outcome outcome;
    struct play    play;

    play_open(&play, &scenario, &wire);
    play.mock->restart_clock();
    play_start(&play);
    play_run(&play);
    outcome.time_s = ucs_max(play.mock->now_s(0), play.mock->now_s(1));
    for (unsigned side = 0; side < 2; ++side) {
        outcome.pinned[side] = play.mock->pinned_bytes_peak(side);
    }
    play_check(&play);
    ck_assert_str_eq(play.problem, "");
    play_close(&play);
    return outcome;
}

/* Protocol 5 registers at S, then at R, then moves: three times as long as
 * moving. Protocol 7 takes as long as moving, and one piece more at each. */
static void pipeline__hides_the_cost(const struct test_param *param)
{
    const size_t         bytes    = 4 * MIB;
    const double         move_s   = (double)bytes / 5e9;
    const struct outcome put      = run("put_zcopy", dear, bytes);
    const struct outcome pipeline = run("put_ppln", dear, bytes);
    const struct outcome free_put = run("put_zcopy", cheap, bytes);

    (void)param;
    ck_assert_msg(free_put.time_s < 1.05 * move_s, "%g", free_put.time_s);
    ck_assert_msg(put.time_s > 2.9 * move_s, "%g of %g", put.time_s, move_s);
    ck_assert_msg(pipeline.time_s < 1.3 * move_s, "%g of %g", pipeline.time_s,
                  move_s);
}

/* Where registering costs nothing there is nothing to hide. */
static void pipeline__costs_little_more(const struct test_param *param)
{
    const struct outcome put      = run("put_zcopy", cheap, 4 * MIB);
    const struct outcome pipeline = run("put_ppln", cheap, 4 * MIB);

    (void)param;
    ck_assert_msg(pipeline.time_s < 1.1 * put.time_s, "%g, %g", pipeline.time_s,
                  put.time_s);
}

/* Never more than `depth` pieces of the buffer are registered. */
static void
pipeline__pins_no_more_than_its_depth(const struct test_param *param)
{
    const struct outcome put      = run("put_zcopy", dear, 4 * MIB);
    const struct outcome pipeline = run("put_ppln", dear, 4 * MIB);

    (void)param;
    for (unsigned side = 0; side < 2; ++side) {
        ck_assert_uint_eq(put.pinned[side], 4 * MIB);
        ck_assert_uint_le(pipeline.pinned[side], DEPTH * PIECE_BYTES);
        ck_assert_uint_ge(pipeline.pinned[side], 2 * PIECE_BYTES);
    }
}

/* How many registrations of that side come before, and how many behind, the
 * first put. */
static void count_around_put(const struct mock_control *mock, unsigned side,
                             unsigned *before_p, unsigned *behind_p)
{
    bool is_moving = false;

    *before_p = 0;
    *behind_p = 0;
    for (unsigned i = 0; i < mock->event_count(); ++i) {
        const struct mock_event *event = mock->event(i);

        is_moving |= (event->type == MOCK_PUT);
        if ((event->type == MOCK_REGISTERED) && (event->from == side)) {
            ++*(is_moving ? behind_p : before_p);
        }
    }
}

/* S has registered one piece, and R as many as may be under way, when the
 * first one moves; all others are registered while it, or another, moves. */
static void
pipeline__registers_while_others_move(const struct test_param *param)
{
    enum { PIECE_COUNT = 12 };
    static const struct play_wire wire     = {MOCK_EARLIEST, true};
    const struct scenario         scenario = {
                .name    = "many pieces",
                .bytes   = PIECE_COUNT * PIECE_BYTES,
                .prepare = dear,
                .env     = {FORCE("put_ppln"), DEPTH_4, NO_TAIL, PIECES},
    };
    unsigned    before, behind;
    struct play play;

    (void)param;
    play_open(&play, &scenario, &wire);
    play_start(&play);
    play_run(&play);
    count_around_put(play.mock, 0, &before, &behind);
    ck_assert_uint_eq(before, 1);
    ck_assert_uint_eq(behind, PIECE_COUNT - 1);
    count_around_put(play.mock, 1, &before, &behind);
    ck_assert_uint_le(before, DEPTH);
    ck_assert_uint_eq(before + behind, PIECE_COUNT);
    play_check(&play);
    ck_assert_str_eq(play.problem, "");
    play_close(&play);
}

static const struct test_case registration_time_cases[] = {
    TEST(pipeline__hides_the_cost),
    TEST(pipeline__costs_little_more),
    TEST(pipeline__pins_no_more_than_its_depth),
    TEST(pipeline__registers_while_others_move),
    {0}};

const struct test_suite registration_time_suite = {
    .name = "registration_time", .cases = registration_time_cases};
