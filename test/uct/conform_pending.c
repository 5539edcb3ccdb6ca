/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_pending.c - refusals: nothing happened, the endpoint waits its
 * turn, nobody overtakes or starves.
 *
 * Here stands still or there does, until a transport with any bound refuses.
 * One that hands up inside the call is flooded from inside a handler. */

#include <stdlib.h>

#include "uct/base/am.h"
#include "uct/conform.h"

enum { FLOOD_COUNT_MAX = 2000000, FLOOD_BYTES = 64 };

/* Stop the receiver; a self-only interface does not progress unless told. */
static void stop_there(struct world *world)
{
    world_command(world, RPC_FREEZE, 1);
}

static struct lane *flood_lane;
static unsigned     flood_flags;
static uint64_t     flood_count;
static ucs_status_t flood_status;

static void flood(void)
{
    flood_status = UCS_OK;
    while ((flood_status == UCS_OK) && (flood_count < FLOOD_COUNT_MAX)) {
        flood_status = lane_send(flood_lane, LANE_BCOPY, AM_ORDERED,
                                 FLOOD_BYTES, flood_flags);
        flood_count += (flood_status == UCS_OK);
    }
}

static ucs_status_t on_flood(void *arg, struct uct_source *source, void *data,
                             size_t length, unsigned flags)
{
    (void)arg;
    (void)source;
    (void)data;
    (void)length;
    (void)flags;
    flood();
    return UCS_OK;
}

static size_t pack_word(void *dest, void *arg)
{
    memset(dest, 0, 8);
    (void)arg;
    return 8;
}

/* Send on the lane until it is refused. */
static void fill(struct world *world, struct lane *lane, unsigned flags)
{
    struct host *here = world->here;

    flood_lane  = lane;
    flood_flags = flags;
    flood_count = 0;
    if (here->attr.flags & UCT_IFACE_SELF_ONLY) {
        ucti_iface_set_am(here->iface, AM_NOBODY, on_flood, NULL);
        ck_assert_int_eq(
            uct_ep_am_bcopy(lane->ep, AM_NOBODY, pack_word, NULL, 8, 0), 8);
        while (flood_status == 0 && flood_count == 0) {
            (void)uct_iface_progress(here->iface);
        }
    } else {
        stop_there(world);
        flood();
    }
    ck_assert_msg(flood_status == UCS_ERR_WOULD_BLOCK,
                  "%llu messages were accepted and none refused, last %d",
                  (unsigned long long)flood_count, flood_status);
}

static void do_nothing(struct lane *lane)
{
    (void)lane;
}

static bool has_called(struct world *world, uint64_t count)
{
    return world->here->lanes[0].pending_calls >= count;
}

static void refuse__then_called_back_once(const struct test_param *param)
{
    struct world world;
    struct lane *lane;

    world_open(&world, param, false);
    lane             = world_lane(&world);
    lane->on_pending = do_nothing;
    fill(&world, lane, UCT_FLAG_PENDING);
    ck_assert_uint_eq(lane->pending_calls, 0); /* only in progress */
    world_command(&world, RPC_FREEZE, 0);
    ck_assert(world_wait(&world, has_called, 1, 10));
    world_wait_ordered(&world, flood_count);
    ck_assert(!world_wait(&world, has_called, 2, 0.2)); /* one-shot */
    world_send(&world, lane, LANE_BCOPY, AM_ORDERED, 8);
    world_wait_ordered(&world, flood_count + 1);
    world_close(&world);
}

static void refuse__without_flag_calls_nobody(const struct test_param *param)
{
    struct world world;
    struct lane *lane;

    world_open(&world, param, false);
    lane             = world_lane(&world);
    lane->on_pending = do_nothing;
    fill(&world, lane, 0);
    world_command(&world, RPC_FREEZE, 0);
    world_wait_ordered(&world, flood_count);
    ck_assert(!world_wait(&world, has_called, 1, 0.2));
    world_close(&world);
}

/* All kinds are refused while the endpoint waits, also when there is room
 * again: what was refused first goes first. */
static void wait__ordered_ones_stay_behind(const struct test_param *param)
{
    struct world world;
    struct lane *lane;
    unsigned     kind;

    world_open(&world, param, false);
    lane             = world_lane(&world);
    lane->on_pending = do_nothing;
    fill(&world, lane, UCT_FLAG_PENDING);
    /* There takes everything; here does not progress, so it still waits. */
    if (!(world.here->attr.flags & UCT_IFACE_SELF_ONLY)) {
        world_command(&world, RPC_FREEZE, 0);
        world.here->is_frozen = true;
        world_wait_ordered(&world, flood_count);
    }
    for (kind = LANE_SHORT; kind <= LANE_ZCOPY; kind *= 2) {
        if (lane_has(lane, (enum lane_kind)kind)) {
            ck_assert_int_eq(lane_send(lane, (enum lane_kind)kind, AM_ORDERED,
                                       8, UCT_FLAG_PENDING),
                             UCS_ERR_WOULD_BLOCK);
            ck_assert_int_eq(
                lane_send(lane, (enum lane_kind)kind, AM_ORDERED, 8, 0),
                UCS_ERR_WOULD_BLOCK);
        }
    }
    ck_assert_uint_eq(lane->pending_calls, 0);
    world.here->is_frozen = false;
    ck_assert(world_wait(&world, has_called, 1, 10));
    ck_assert(!world_wait(&world, has_called, 2, 0.1));
    world_wait_ordered(&world, flood_count);
    world_close(&world);
}

static void destroy__while_waiting_calls_nobody(const struct test_param *param)
{
    struct world world;
    struct lane *lane;

    world_open(&world, param, false);
    lane = world_lane(&world);
    fill(&world, lane, UCT_FLAG_PENDING);
    lane_close(lane);
    world_command(&world, RPC_FREEZE, 0);
    world_wait_ordered(&world, flood_count);
    ck_assert(!world_wait(&world, has_called, 1, 0.1));
    world_close(&world);
}

static void close_lane(struct lane *lane)
{
    lane_close(lane);
}

static void destroy__inside_the_pending_callback(const struct test_param *param)
{
    struct world world;
    struct lane *lane;

    world_open(&world, param, false);
    lane             = world_lane(&world);
    lane->on_pending = close_lane;
    fill(&world, lane, UCT_FLAG_PENDING);
    world_command(&world, RPC_FREEZE, 0);
    ck_assert(world_wait(&world, has_called, 1, 10));
    ck_assert_ptr_null(lane->ep);
    world_wait_ordered(&world, flood_count);
    world_close(&world);
}

/* All lanes have endless work; each must get its share of what is sent. */
static void serve__nobody_starves(const struct test_param *param)
{
    struct lane_load load = {.count     = 1u << 30,
                             .bytes_min = 32,
                             .bytes_max = 32,
                             .kinds     = LANE_BCOPY,
                             .am_id     = AM_ORDERED};
    struct world     world;
    unsigned         index, count;
    uint64_t         sum = 0, least = UINT64_MAX;

    /* Congestion control decides by what is lost, and a busy machine loses: it
     * must not be what is measured. */
    ck_assert_int_eq(setenv("UCX_UDP_CONGESTION", "fixed", 1), 0);
    world_open(&world, param, false);
    for (count = 0; count < 8; ++count) {
        lane_load(world_lane(&world), &load);
    }
    do {
        sum = 0;
        for (index = 0; index < 32; ++index) {
            world_step(&world);
        }
        for (index = 0; index < count; ++index) {
            sum += world.here->lanes[index].sent;
        }
    } while (sum < test_rounds(40000, 1000000));
    for (index = 0; index < count; ++index) {
        least = ucs_min(least, world.here->lanes[index].sent);
        world.here->lanes[index].load.count = 0;
    }
    ck_assert_msg(least * count * 4 >= sum, "one sent %llu of %llu",
                  (unsigned long long)least, (unsigned long long)sum);
    world_wait_sent(&world);
    sum = 0;
    for (index = 0; index < count; ++index) {
        sum += world.here->lanes[index].sent;
    }
    world_wait_ordered(&world, sum);
    world_close(&world);
}

/* Who gives way is called again although nothing happens meanwhile. */
static void yield__called_again(const struct test_param *param)
{
    struct world world;
    struct lane *lane;

    world_open(&world, param, false);
    lane             = world_lane(&world);
    lane->on_pending = do_nothing;
    world_send(&world, lane, LANE_BCOPY, AM_ORDERED, 8);
    world_wait_ordered(&world, 1);
    for (uint64_t i = lane->pending_calls + 1; i < 10; ++i) {
        ucti_ep_yield(lane->ep);
        ck_assert_int_eq(lane_send(lane, LANE_BCOPY, AM_ORDERED, 8, 0),
                         UCS_ERR_WOULD_BLOCK);
        ck_assert(world_wait(&world, has_called, i, 10));
    }
    world_send(&world, lane, LANE_BCOPY, AM_ORDERED, 8);
    world_wait_ordered(&world, 2);
    world_close(&world);
}

static const struct test_case cases[] = {
    TEST(refuse__then_called_back_once),
    TEST(refuse__without_flag_calls_nobody),
    TEST(wait__ordered_ones_stay_behind),
    TEST(destroy__while_waiting_calls_nobody),
    TEST(destroy__inside_the_pending_callback),
    TEST(serve__nobody_starves),
    TEST(yield__called_again),
    {0}};

struct test_suite conform_pending_suite = {.name  = "conform_pending",
                                           .cases = cases};
