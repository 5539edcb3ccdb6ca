/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_flush.c - flush: comes after everything before, needs nothing from
 * the peer's application, and means what it says. */

#include "uct/conform.h"

struct flush {
    struct uct_req req;
    unsigned       done;
    ucs_status_t   status;
    struct lane   *lane;
    uint64_t       slots_at_end;
};

static void on_flush(struct uct_req *req)
{
    struct flush *flush = ucs_container_of(req, struct flush, req);

    ++flush->done;
    flush->status       = req->status;
    flush->slots_at_end = flush->lane->done_number;
}

/* @return false: refused. */
static bool flush_begin(struct flush *flush, struct lane *lane)
{
    ucs_status_t status;

    *flush = (struct flush){.req = {.cb = on_flush}, .lane = lane};
    status = uct_ep_flush(lane->ep, &flush->req, 0);
    if (status == UCS_OK) {
        flush->done         = 1;
        flush->slots_at_end = lane->done_number;
    } else if (status != UCS_INPROGRESS) {
        ck_assert_int_eq(status, UCS_ERR_WOULD_BLOCK);
        return false;
    }
    return true;
}

static void flush_run(struct world *world, struct lane *lane)
{
    struct flush flush;
    unsigned     steps;

    while (!flush_begin(&flush, lane)) {
        world_step(world);
    }
    for (steps = 0; (flush.done == 0) && (steps < 20000000); ++steps) {
        world_step(world);
    }
    ck_assert_uint_eq(flush.done, 1);
    conform_must(flush.status, "flush");
}

static void flush__idle_is_done(const struct test_param *param)
{
    struct world world;
    struct lane *lane;

    world_open(&world, param, false);
    lane = world_lane(&world);
    flush_run(&world, lane);
    flush_run(&world, lane);
    world_close(&world);
}

static void flush__comes_after_all_before(const struct test_param *param)
{
    struct lane_load load = {.count     = 40,
                             .bytes_max = CONFORM_MESSAGE_BYTES,
                             .kinds     = LANE_SHORT | LANE_BCOPY | LANE_ZCOPY,
                             .am_id     = AM_ORDERED};
    struct flush     flush;
    struct world     world;
    struct lane     *lane;
    unsigned         round;
    uint64_t         number;

    world_open(&world, param, false);
    lane = world_lane(&world);
    for (round = 0; round < 100; ++round) {
        lane_load(lane, &load);
        while (lane->load.count > 0) {
            world_step(&world);
        }
        number = lane->zcopy_number;
        while (!flush_begin(&flush, lane)) {
            world_step(&world);
        }
        while (flush.done == 0) {
            world_step(&world);
        }
        conform_must(flush.status, "flush");
        ck_assert_uint_ge(flush.slots_at_end, number);
    }
    world_wait_ordered(&world, 100 * load.count);
    world_close(&world);
}

/* There stands still: its application does nothing, and yet the flush ends,
 * for what was accepted needs nothing more from it. */
static void flush__needs_no_progress_of_the_peer(const struct test_param *param)
{
    struct world world;
    struct lane *lane;
    unsigned     index;

    world_open(&world, param, false);
    lane = world_lane(&world);
    world_send(&world, lane, LANE_BCOPY, AM_ORDERED, 16);
    world_wait_ordered(&world, 1);
    world_command(&world, RPC_FREEZE, 1);
    for (index = 0; index < 3; ++index) {
        world_send(&world, lane, LANE_BCOPY, AM_ORDERED, 16);
    }
    flush_run(&world, lane);
    world_command(&world, RPC_FREEZE, 0);
    world_wait_ordered(&world, 4);
    world_close(&world);
}

static void flush__without_a_request(const struct test_param *param)
{
    struct world world;
    struct lane *lane;
    ucs_status_t status;
    unsigned     steps = 0;

    world_open(&world, param, false);
    lane = world_lane(&world);
    do {
        status = lane_send(lane, LANE_BCOPY, AM_ORDERED, 100, 0);
        world_step(&world);
    } while (status == UCS_ERR_WOULD_BLOCK);
    do {
        status = uct_ep_flush(lane->ep, NULL, 0);
        world_step(&world);
    } while ((status != UCS_OK) && (++steps < 20000000));
    conform_must(status, "flush");
    world_wait_ordered(&world, 1);
    world_close(&world);
}

static const struct test_case cases[] = {
    TEST(flush__idle_is_done),
    TEST(flush__comes_after_all_before),
    TEST(flush__needs_no_progress_of_the_peer),
    TEST(flush__without_a_request),
    {0}};

struct test_suite conform_flush_suite = {.name  = "conform_flush",
                                         .cases = cases};
