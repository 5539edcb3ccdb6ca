/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_faults.c - the other process ends without a word: what it sent is
 * handed up first, then its end; our requests complete; one report. */
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ucs/clock.h"
#include "uct/conform.h"

enum { REPORT_S = CONFORM_FAILURE_S + 3 };

static const struct lane_load mixed = {
    .count     = 1u << 30,
    .bytes_max = CONFORM_MESSAGE_BYTES,
    .kinds     = LANE_SHORT | LANE_BCOPY | LANE_ZCOPY,
    .am_id     = AM_ORDERED,
};

static bool has_errors(struct world *world, uint64_t count)
{
    return world->here->inbox.ep_errors >= count;
}

static bool has_failed_sources(struct world *world, uint64_t count)
{
    return world->here->inbox.ended_failed >= count;
}

static void check_here(struct world *world)
{
    ck_assert_msg(world->here->inbox.bad[0] == '\0', "here: %s",
                  world->here->inbox.bad);
}

/* All lanes of here have failed, each once, and nothing is in flight. */
static void check_failed(struct world *world, unsigned lane_count)
{
    unsigned     index;
    struct lane *lane;

    ck_assert(world_wait(world, has_errors, lane_count, REPORT_S));
    for (index = 0; index < 200; ++index) {
        world_step(world);
    }
    check_here(world);
    ck_assert_uint_eq(world->here->inbox.ep_errors, lane_count);
    for (index = 0; index < lane_count; ++index) {
        lane = &world->here->lanes[index];
        ck_assert_uint_eq(lane->slots_used, 0);
        ck_assert_uint_eq(lane->errors, 1);
    }
}

/* Every operation now returns the status that was reported. */
static void check_operations(struct lane *lane)
{
    unsigned kind;

    for (kind = LANE_SHORT; kind <= LANE_ZCOPY; kind *= 2) {
        if (lane_has(lane, (enum lane_kind)kind)) {
            ck_assert_int_eq(lane_send(lane, (enum lane_kind)kind, AM_ORDERED,
                                       8, UCT_FLAG_PENDING),
                             lane->error_status);
        }
    }
    ck_assert_int_eq(uct_ep_flush(lane->ep, NULL, 0), lane->error_status);
}

static void connect_lane(struct world *world, struct lane *lane)
{
    while (lane_send(lane, LANE_BCOPY, AM_COUNT, 8, 0) == UCS_ERR_WOULD_BLOCK) {
        world_step(world);
    }
    --lane->sequence;
    world_wait_count(world, 1);
}

static void killed__idle_peer_is_reported_once(const struct test_param *param)
{
    struct world world;
    struct lane *lane;
    double       begin;

    world_open(&world, param, false);
    lane = world_lane(&world);
    connect_lane(&world, lane);
    begin = test_cpu_seconds();
    world_kill(&world);
    check_failed(&world, 1);
    ck_assert_double_lt(test_cpu_seconds() - begin, REPORT_S);
    check_operations(lane);
    world_close(&world);
}

static void exited__without_closing_is_reported(const struct test_param *param)
{
    struct rpc   rpc = {.op = RPC_EXIT};
    struct world world;
    struct lane *lane;

    world_open(&world, param, false);
    lane = world_lane(&world);
    connect_lane(&world, lane);
    ck_assert_int_eq(send(world.socket, &rpc, sizeof(rpc), 0), sizeof(rpc));
    ck_assert_int_eq(waitpid(world.child, NULL, 0), world.child);
    (void)close(world.socket);
    world.child  = -1;
    world.socket = -1;
    check_failed(&world, 1);
    check_operations(lane);
    world_close(&world);
}

/* There sends a known number and dies when all were accepted: they come, all
 * of them, before its end. */
static void killed__what_it_sent_is_handed_up(const struct test_param *param)
{
    struct lane_load load = mixed;
    struct rpc       rpc  = {.op = RPC_LOAD};
    struct world     world;

    load.count     = 40;
    load.kinds     = LANE_SHORT | LANE_BCOPY;
    load.bytes_max = 256;
    world_open(&world, param, false);
    rpc.a = world_lane_back(&world);
    memcpy(rpc.bytes, &load, sizeof(load));
    world_rpc(&world, &rpc);
    while (world_inbox(&world)->unsent > 0) {
        (void)uct_iface_progress(world.here->iface);
    }
    world_kill(&world);
    ck_assert(world_wait(&world, has_failed_sources, 1, REPORT_S));
    check_here(&world);
    ck_assert_uint_eq(world.here->inbox.ordered_count, load.count);
    ck_assert_uint_eq(world.here->inbox.ended_ok, 0);
    world_close(&world);
}

/* The same, but here has not looked: what lies between the two is handed up,
 * although there has unread messages of ours. */
static void
killed__what_lies_between_is_handed_up(const struct test_param *param)
{
    struct lane_load load = mixed;
    struct rpc       rpc  = {.op = RPC_LOAD};
    struct world     world;
    unsigned         back;

    world_open(&world, param, false);
    connect_lane(&world, world_lane(&world));
    back           = world_lane_back(&world);
    load.kinds     = LANE_BCOPY;
    load.bytes_max = 100;
    for (load.count = 1; load.count <= 10; load.count += 9) {
        rpc.op = RPC_LOAD;
        rpc.a  = back;
        memcpy(rpc.bytes, &load, sizeof(load));
        world_rpc(&world, &rpc);
        while (world_inbox(&world)->unsent > 0) {
            /* The first message may need us for its connection. */
            if (load.count == 1) {
                world_step(&world);
            }
        }
    }
    world_command(&world, RPC_FREEZE, 1);
    (void)lane_send(&world.here->lanes[0], LANE_BCOPY, AM_COUNT, 8, 0);
    world_kill(&world);
    ck_assert(world_wait(&world, has_failed_sources, 1, REPORT_S));
    check_here(&world);
    ck_assert_uint_eq(world.here->inbox.ordered_count, 1 + 10);
    /* Whichever is first: both ends of the talk say the same of the peer. */
    ck_assert(world_wait(&world, has_errors, 1, REPORT_S));
    ck_assert_uint_eq(world.here->inbox.ended_status,
                      world.here->inbox.ep_error_status);
    world_close(&world);
}

/* Both directions full of traffic, killed at a random moment. */
static void killed__in_full_traffic(const struct test_param *param)
{
    struct rpc   rpc = {.op = RPC_LOAD};
    struct world world;
    unsigned     round, step;

    for (round = 0;
         (round < test_rounds(8, 200)) && ((round == 0) || test_has_time(20));
         ++round) {
        world_open(&world, param, false);
        connect_lane(&world, world_lane(&world));
        lane_load(&world.here->lanes[0], &mixed);
        lane_load(world_lane(&world), &mixed);
        rpc.op = RPC_LOAD;
        rpc.a  = world_lane_back(&world);
        memcpy(rpc.bytes, &mixed, sizeof(mixed));
        world_rpc(&world, &rpc);
        for (step = (unsigned)test_random_below(3000); step > 0; --step) {
            world_step(&world);
        }
        (void)kill(world.child, SIGKILL);
        for (step = (unsigned)test_random_below(300); step > 0; --step) {
            world_step(&world);
        }
        world_kill(&world);
        check_failed(&world, 2);
        if (world.here->inbox.sources > 0) {
            ck_assert(world_wait(&world, has_failed_sources, 1, REPORT_S));
        }
        check_here(&world);
        check_operations(&world.here->lanes[0]);
        world_close(&world);
    }
}

/* An endpoint that waits for room is not called back when its peer dies; the
 * report tells. */
static void killed__while_we_wait_for_room(const struct test_param *param)
{
    struct lane_load load = mixed;
    struct world     world;
    struct lane     *lane;
    uint64_t         calls;

    world_open(&world, param, false);
    lane = world_lane(&world);
    connect_lane(&world, lane);
    world_command(&world, RPC_FREEZE, 1);
    load.kinds = LANE_BCOPY;
    lane_load(lane, &load);
    while (!lane->is_waiting) {
        (void)lane_step(lane);
    }
    calls = lane->pending_calls;
    world_kill(&world);
    check_failed(&world, 1);
    ck_assert_uint_le(lane->pending_calls, calls + 1);
    check_operations(lane);
    world_close(&world);
}

/* Stopped is not dead: a second of silence is borne. */
static void stopped__for_a_while_is_no_failure(const struct test_param *param)
{
    struct lane_load load = mixed;
    struct world     world;
    struct lane     *lane;
    uint64_t         end_ns;

    world_open(&world, param, false);
    lane = world_lane(&world);
    connect_lane(&world, lane);
    load.count = 2000;
    lane_load(lane, &load);
    ck_assert_int_eq(kill(world.child, SIGSTOP), 0);
    end_ns = ucsi_clock_ns() + UCS_NS_PER_S;
    while (ucsi_clock_ns() < end_ns) {
        world_step(&world);
    }
    ck_assert_int_eq(kill(world.child, SIGCONT), 0);
    world_wait_sent(&world);
    world_wait_ordered(&world, load.count);
    ck_assert_uint_eq(world.here->inbox.ep_errors, 0);
    world_close(&world);
}

/* A kept message of a dead sender stays readable. */
static void killed__kept_messages_stay(const struct test_param *param)
{
    struct lane_load load = mixed;
    struct rpc       rpc  = {.op = RPC_LOAD};
    struct world     world;

    if (((const struct conform_param *)param->value)->transport->am_release ==
        NULL) {
        test_skip("am_release");
    }
    load.count = 30;
    load.am_id = AM_KEEP;
    load.kinds = LANE_BCOPY;
    world_open(&world, param, false);
    rpc.a = world_lane_back(&world);
    memcpy(rpc.bytes, &load, sizeof(load));
    world_rpc(&world, &rpc);
    while (world.here->inbox.ordered_count < load.count) {
        world_step(&world);
    }
    world_kill(&world);
    ck_assert(world_wait(&world, has_failed_sources, 1, REPORT_S));
    host_release_kept(world.here, UINT64_MAX);
    check_here(&world);
    world_close(&world);
}

static const struct test_case cases[] = {
    TEST(killed__idle_peer_is_reported_once),
    TEST(exited__without_closing_is_reported),
    TEST(killed__what_it_sent_is_handed_up),
    TEST(killed__what_lies_between_is_handed_up),
    TEST_TIMEOUT(killed__in_full_traffic, 120),
    TEST(killed__while_we_wait_for_room),
    TEST(killed__kept_messages_stay),
    TEST(stopped__for_a_while_is_no_failure),
    {0}};

struct test_suite conform_faults_suite = {.name  = "conform_faults",
                                          .cases = cases};
