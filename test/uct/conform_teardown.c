/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_teardown.c - orderly ends with work in flight: what was accepted is
 * delivered, requests complete, sources end once. */

#include "uct/conform.h"

static const struct lane_load mixed = {
    .count     = 200,
    .bytes_max = CONFORM_MESSAGE_BYTES,
    .kinds     = LANE_SHORT | LANE_BCOPY | LANE_ZCOPY,
    .am_id     = AM_ORDERED,
};

static bool has_ended(struct world *world, uint64_t count)
{
    const struct inbox *inbox = world_inbox(world);

    return inbox->ended_ok + inbox->ended_failed >= count;
}

static void ep__unused_leaves_no_trace(const struct test_param *param)
{
    struct world world;

    world_open(&world, param, false);
    lane_close(world_lane(&world));
    ck_assert(!world_wait(&world, has_ended, 1, 0.1));
    world_close(&world);
}

/* Messages, then destroy at once: all that was accepted comes, in order,
 * then the end, once, with UCS_OK. zcopies in flight are canceled and may be
 * cut off the end, so only the others are sent. */
static void ep__accepted_messages_arrive(const struct test_param *param)
{
    struct lane_load load = mixed;
    struct world     world;
    struct lane     *lane;
    uint64_t         accepted = 0;
    unsigned         round;

    load.kinds = LANE_SHORT | LANE_BCOPY;
    for (round = 0; round < 10; ++round) {
        world_open(&world, param, false);
        lane = world_lane(&world);
        lane_load(lane, &load);
        while (lane->load.count > 0) {
            (void)lane_step(lane);
            if (lane->is_waiting) {
                world_step(&world);
            }
        }
        accepted = lane->sequence;
        lane_close(lane);
        ck_assert(world_wait(&world, has_ended, 1, 20));
        ck_assert_uint_eq(world.seen.ended_ok, 1);
        ck_assert_uint_eq(world.seen.ordered_count, accepted);
        ck_assert(!world_wait(&world, has_ended, 2, 0.02));
        world_close(&world);
    }
}

/* lane_close() checks that no request remains, slot_done() the order. */
static void ep__requests_complete_inside_destroy(const struct test_param *param)
{
    struct lane_load load = mixed;
    struct world     world;
    struct lane     *lane;
    unsigned         round;

    for (round = 0; round < 20; ++round) {
        world_open(&world, param, false);
        lane = world_lane(&world);
        lane_load(lane, &load);
        for (unsigned step = (unsigned)test_random_below(50); step > 0;
             --step) {
            world_step(&world);
        }
        (void)lane_step(lane);
        lane_close(lane);
        ck_assert_uint_eq(lane->done_number, lane->zcopy_number);
        world_close(&world);
    }
}

static void ep__many_one_after_the_other(const struct test_param *param)
{
    struct rpc           rpc = {.op = RPC_ADDRESS};
    struct uct_ep_params params;
    struct world         world;
    struct uct_ep       *ep;
    unsigned             round;

    world_open(&world, param, false);
    world_rpc(&world, &rpc);
    params = (struct uct_ep_params){.address       = rpc.bytes,
                                    .address_bytes = rpc.size_bytes};
    for (round = 0; round < 2000; ++round) {
        conform_must(ucti_ep_create(world.here->iface, &params, &ep), "ep");
        if (round % 10 == 0) {
            world_step(&world);
        }
        ucti_ep_destroy(ep);
    }
    world_send(&world, world_lane(&world), LANE_BCOPY, AM_ORDERED, 9);
    world_wait_ordered(&world, 1);
    world_close(&world);
}

/* Sources come and go; each ends once, after its messages. */
static void source__ends_after_its_messages(const struct test_param *param)
{
    struct lane_load load = mixed;
    struct world     world;
    struct lane     *lane;
    unsigned         round;

    world_open(&world, param, false);
    load.count     = 30;
    load.bytes_max = 300;
    for (round = 1; round <= CONFORM_LANE_COUNT; ++round) {
        lane = world_lane(&world);
        lane_load(lane, &load);
        world_wait_sent(&world);
        lane_close(lane);
        ck_assert(world_wait(&world, has_ended, round, 10));
        ck_assert_uint_eq(world.seen.ended_ok, round);
        ck_assert_uint_eq(world.seen.ordered_count, round * load.count);
    }
    world_close(&world);
}

static bool is_flushed(struct world *world, uint64_t lane)
{
    return uct_ep_flush(world->here->lanes[lane].ep, NULL, 0) == UCS_OK;
}

/* There stands still while one ends and the next one speaks: what it finds
 * then is in that order. */
static void source__ends_before_the_next_begins(const struct test_param *param)
{
    struct world world;
    struct lane *lane;
    uint64_t     sent = 0;
    unsigned     round;

    world_open(&world, param, false);
    for (round = 1; round <= CONFORM_LANE_COUNT; ++round) {
        lane = world_lane(&world);
        if (round > 1) {
            /* As far as it comes without there; some need it for this. */
            (void)lane_send(lane, LANE_BCOPY, AM_ORDERED, 8, UCT_FLAG_PENDING);
            (void)world_wait(&world, is_flushed, round - 1, 0.1);
            world_command(&world, RPC_FREEZE, 0);
        }
        world_send(&world, lane, LANE_BCOPY, AM_ORDERED, 9);
        sent += lane->sequence;
        world_wait_ordered(&world, sent);
        world_command(&world, RPC_FREEZE, 1);
        lane_close(lane);
    }
    world_command(&world, RPC_FREEZE, 0);
    ck_assert(world_wait(&world, has_ended, CONFORM_LANE_COUNT, 10));
    ck_assert_uint_eq(world.seen.sources_max, 1);
    world_close(&world);
}

/* Here closes while there has not received yet, and the other way round. */
static void
iface__closed_with_messages_on_the_way(const struct test_param *param)
{
    struct lane_load load = mixed;
    struct rpc       rpc  = {.op = RPC_LOAD};
    struct world     world;
    unsigned         round;

    load.count = 50;
    for (round = 0; round < 10; ++round) {
        world_open(&world, param, false);
        lane_load(world_lane(&world), &load);
        rpc.op = RPC_LOAD;
        rpc.a  = world_lane_back(&world);
        memcpy(rpc.bytes, &load, sizeof(load));
        world_rpc(&world, &rpc);
        for (unsigned step = (unsigned)test_random_below(100); step > 0;
             --step) {
            world_step(&world);
        }
        world_close(&world);
    }
}

/* An interface that closed in order: sends to it are accepted and dropped or
 * fail, but they do not block for ever. */
static void peer__gone_in_order_never_blocks(const struct test_param *param)
{
    struct lane_load load = mixed;
    struct world     world;
    struct lane     *lane;
    uint64_t         tries = 0;

    world_open(&world, param, false);
    lane = world_lane(&world);
    if (world.here->attr.flags & UCT_IFACE_SELF_ONLY) {
        world_close(&world); /* it cannot outlive itself */
        test_skip("self only");
    }
    world_send(&world, lane, LANE_BCOPY, AM_ORDERED, 9);
    world_wait_ordered(&world, 1);
    if (world.there != NULL) {
        host_close(world.there);
        free(world.there);
        world.there = NULL;
    } else {
        world_command(&world, RPC_LEAVE, 0);
    }
    load.count = 20000;
    lane_load(lane, &load);
    while ((lane->load.count > 0) && (lane->send_status == UCS_OK) &&
           (lane->errors == 0)) {
        (void)host_step(world.here);
        ck_assert_msg(++tries < 30000000, "%llu messages are stuck",
                      (unsigned long long)lane->load.count);
    }
    world_kill(&world);
    world_close(&world);
}

static const struct test_case cases[] = {
    TEST(ep__unused_leaves_no_trace),
    TEST(ep__accepted_messages_arrive),
    TEST(ep__requests_complete_inside_destroy),
    TEST(ep__many_one_after_the_other),
    TEST(source__ends_after_its_messages),
    TEST(source__ends_before_the_next_begins),
    TEST(iface__closed_with_messages_on_the_way),
    TEST(peer__gone_in_order_never_blocks),
    {0}};

struct test_suite conform_teardown_suite = {.name  = "conform_teardown",
                                            .cases = cases};
