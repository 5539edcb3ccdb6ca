/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_order.c - one endpoint's messages are handed up as they were
 * accepted, whatever the mix of kinds, sizes and refusals; any-order ones
 * arrive once. */

#include "uct/conform.h"

static const struct lane_load mixed = {
    .bytes_max = CONFORM_MESSAGE_BYTES,
    .kinds     = LANE_SHORT | LANE_BCOPY | LANE_ZCOPY,
    .am_id     = AM_ORDERED,
};

static uint64_t ordered_sent(const struct world *world)
{
    uint64_t count = 0;
    unsigned index;

    for (index = 0; index < world->here->lane_count; ++index) {
        count += world->here->lanes[index].sequence;
    }
    return count;
}

static uint64_t any_sent(const struct world *world)
{
    uint64_t count = 0;
    unsigned index;

    for (index = 0; index < world->here->lane_count; ++index) {
        count += world->here->lanes[index].any_sequence;
    }
    return count;
}

static void run(const struct test_param *param, const struct lane_load *load,
                unsigned lane_count)
{
    struct world world;
    unsigned     index;

    world_open(&world, param, false);
    for (index = 0; index < lane_count; ++index) {
        lane_load(world_lane(&world), load);
    }
    world_wait_sent(&world);
    world_wait_ordered(&world, ordered_sent(&world));
    world_wait_any(&world, any_sent(&world));
    ck_assert_uint_eq(ordered_sent(&world) + any_sent(&world),
                      lane_count * load->count);
    world_close(&world);
}

static void order__random_kinds_and_sizes(const struct test_param *param)
{
    struct lane_load load = mixed;

    load.count = test_rounds(20000, 200000);
    run(param, &load, 1);
}

static void order__random_with_polling(const struct test_param *param)
{
    struct lane_load load = mixed;

    load.count      = test_rounds(10000, 100000);
    load.is_polling = 1;
    run(param, &load, 1);
}

static void order__several_endpoints(const struct test_param *param)
{
    struct lane_load load = mixed;

    load.count = test_rounds(3000, 30000);
    run(param, &load, 6);
}

static void order__largest_next_to_smallest(const struct test_param *param)
{
    struct lane_load load = mixed;
    struct world     world;
    struct lane     *lane;
    unsigned         round;
    uint64_t         count = 0;

    world_open(&world, param, false);
    lane = world_lane(&world);
    for (round = 0; round < 100; ++round) {
        load.bytes_min = (round % 2 == 0) ? CONFORM_MESSAGE_BYTES : 0;
        load.bytes_max = load.bytes_min;
        load.kinds     = (round % 2 == 0) ? LANE_BCOPY | LANE_ZCOPY
                                          : LANE_SHORT | LANE_BCOPY;
        load.count     = 20;
        lane_load(lane, &load);
        world_wait_sent(&world);
        count += load.count;
    }
    world_wait_ordered(&world, count);
    world_close(&world);
}

static void order__million_small(const struct test_param *param)
{
    struct lane_load load = mixed;

    load.count     = test_rounds(100000, 1000000);
    load.bytes_max = 16;
    load.kinds     = LANE_SHORT | LANE_BCOPY;
    run(param, &load, 1);
}

static bool has_echoes(struct world *world, uint64_t count)
{
    (void)world_inbox(world);
    return world->here->inbox.ordered_count >= count;
}

/* There sends as much as here, and an answer to each message besides. */
static void order__both_directions(const struct test_param *param)
{
    struct lane_load load = mixed;
    struct rpc       rpc  = {.op = RPC_LOAD};
    struct world     world;
    struct lane     *lane;
    uint64_t         expected;

    world_open(&world, param, false);
    lane       = world_lane(&world);
    rpc.a      = world_lane_back(&world);
    load.count = test_rounds(5000, 50000);
    memcpy(rpc.bytes, &load, sizeof(load));
    world_rpc(&world, &rpc);
    load.am_id = AM_ECHO;
    lane_load(lane, &load);
    world_wait_sent(&world);
    expected = load.count * 2;
    if (world.here->attr.flags & UCT_IFACE_SELF_ONLY) {
        expected = load.count * 3; /* one inbox for both */
    }
    if (!world_wait(&world, has_echoes, expected, 20)) {
        ck_abort_msg("%llu of %llu came back",
                     (unsigned long long)world.here->inbox.ordered_count,
                     (unsigned long long)expected);
    }
    ck_assert_uint_eq(world.here->inbox.ordered_count, expected);
    world_close(&world);
}

static void any_order__each_arrives_once(const struct test_param *param)
{
    struct lane_load load = mixed;

    load.count       = test_rounds(10000, 100000);
    load.any_percent = 40;
    run(param, &load, 2);
}

/* What hangs is found by world_wait(); a starved process is only slow. */
enum { ORDER_S = 300 };

static const struct test_case cases[] = {
    TEST_TIMEOUT(order__random_kinds_and_sizes, ORDER_S),
    TEST_TIMEOUT(order__random_with_polling, ORDER_S),
    TEST_TIMEOUT(order__several_endpoints, ORDER_S),
    TEST_TIMEOUT(order__largest_next_to_smallest, ORDER_S),
    TEST_TIMEOUT(order__million_small, ORDER_S),
    TEST_TIMEOUT(order__both_directions, ORDER_S),
    TEST_TIMEOUT(any_order__each_arrives_once, ORDER_S),
    {0}};

struct test_suite conform_order_suite = {.name  = "conform_order",
                                         .cases = cases};
