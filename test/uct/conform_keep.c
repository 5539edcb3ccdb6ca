/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_keep.c - messages that a handler keeps: they stay as they are, and
 * the interface goes on receiving. */

#include "uct/conform.h"

static const struct lane_load keep_load = {
    .bytes_max = CONFORM_MESSAGE_BYTES,
    .kinds     = LANE_SHORT | LANE_BCOPY | LANE_ZCOPY,
    .am_id     = AM_KEEP,
};

/* Nothing is given back until everything came. */
static void keep__receiving_goes_on(const struct test_param *param)
{
    struct lane_load load = keep_load;
    struct world     world;

    world_need(param, UCT_CAP_KEEP);
    world_open(&world, param, false);
    load.count = 3000;
    lane_load(world_lane(&world), &load);
    world_wait_sent(&world);
    world_wait_ordered(&world, load.count);
    ck_assert_msg(world.seen.kept_total > 0, "none could be kept");
    world_command(&world, RPC_RELEASE_KEPT, UINT64_MAX);
    ck_assert_uint_eq(world_inbox(&world)->kept_count, 0);
    world_close(&world);
}

static void keep__given_back_in_any_order(const struct test_param *param)
{
    struct lane_load load = keep_load;
    struct world     world;
    struct lane     *lane;
    unsigned         round;

    world_need(param, UCT_CAP_KEEP);
    world_open(&world, param, false);
    lane       = world_lane(&world);
    load.count = 100;
    for (round = 1; (round <= 50) && ((round < 5) || test_has_time(10));
         ++round) {
        lane_load(lane, &load);
        world_wait_sent(&world);
        world_wait_ordered(&world, round * load.count);
        world_command(&world, RPC_RELEASE_KEPT,
                      test_random_below(2 * load.count));
    }
    world_command(&world, RPC_RELEASE_KEPT, UINT64_MAX);
    (void)world_inbox(&world);
    world_close(&world);
}

static bool has_ended(struct world *world, uint64_t count)
{
    const struct inbox *inbox = world_inbox(world);

    return inbox->ended_ok + inbox->ended_failed >= count;
}

static void keep__outlives_the_endpoint(const struct test_param *param)
{
    struct lane_load load = keep_load;
    struct world     world;
    struct lane     *lane;

    world_need(param, UCT_CAP_KEEP);
    world_open(&world, param, false);
    lane       = world_lane(&world);
    load.count = 20;
    lane_load(lane, &load);
    world_wait_sent(&world);
    world_wait_ordered(&world, load.count);
    lane_close(lane);
    ck_assert(world_wait(&world, has_ended, 1, 10));
    world_command(&world, RPC_RELEASE_KEPT, UINT64_MAX);
    (void)world_inbox(&world); /* which says if one changed */
    world_close(&world);
}

static const struct test_case cases[] = {TEST(keep__receiving_goes_on),
                                         TEST(keep__given_back_in_any_order),
                                         TEST(keep__outlives_the_endpoint),
                                         {0}};

struct test_suite conform_keep_suite = {.name = "conform_keep", .cases = cases};
