/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_example.c - the example plug-in is as difficult as it says: what
 * every test over it relies on. Not part of the contract, and not in its
 * table. */
#include "uct/conform.h"

static void open_lane(struct world *world, const struct test_param *param,
                      struct lane **lane_p)
{
    world_open(world, param, false);
    *lane_p = world_lane(world);
    world_send(world, *lane_p, LANE_BCOPY, AM_ORDERED, 8); /* connects */
    world_wait_ordered(world, 1);
}

/* @return how many of [count] sends into an empty connection are refused. */
static unsigned refused_of(const struct test_param *param, unsigned count)
{
    unsigned     refused = 0;
    struct world world;
    struct lane *lane;

    open_lane(&world, param, &lane);
    for (unsigned i = 0; i < count; ++i) {
        refused += (lane_send(lane, LANE_BCOPY, AM_ORDERED, 8, 0) ==
                    UCS_ERR_WOULD_BLOCK);
        world_wait_ordered(&world, lane->sequence);
    }
    world_close(&world);
    return refused;
}

static void example__refuses_without_need(const struct test_param *param)
{
    enum { COUNT = 2000 };
    unsigned refused = refused_of(param, COUNT);

    ck_assert_msg((refused > COUNT / 20) && (refused < COUNT / 5),
                  "%u of %u are refused", refused, (unsigned)COUNT);
    (void)setenv("UCX_EXAMPLE_REFUSE_PERCENT", "0", 1);
    ck_assert_uint_eq(refused_of(param, COUNT), 0);
}

/* Some zcopies end before older ones: those are told together, later. */
static void example__zcopies_end_late_and_mixed(const struct test_param *param)
{
    enum { COUNT = 12 }; /* the lane lends no more */
    uint64_t     before, together = 0, silent = 0;
    struct world world;
    struct lane *lane;

    open_lane(&world, param, &lane);
    for (unsigned i = 0; i < COUNT; ++i) {
        while (lane_send(lane, LANE_ZCOPY, AM_ORDERED, 100, 0) ==
               UCS_ERR_WOULD_BLOCK) {
        }
    }
    ck_assert_uint_gt(lane->zcopy_number, lane->done_number + COUNT / 2);
    while (lane->done_number < lane->zcopy_number) {
        before = lane->done_number;
        (void)uct_iface_progress(world.here->iface);
        silent += (lane->done_number == before);
        together = ucs_max(together, lane->done_number - before);
    }
    ck_assert_uint_gt(silent, COUNT);
    ck_assert_uint_gt(together, 1);
    world_wait_ordered(&world, lane->sequence);
    world_close(&world);
}

static const struct test_case cases[] = {
    TEST(example__refuses_without_need),
    TEST(example__zcopies_end_late_and_mixed),
    {0}};

struct test_suite conform_example_suite = {.name = "example", .cases = cases};
