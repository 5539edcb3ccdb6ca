/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_wakeup.c - sleep: nobody sleeps while something waits, and no
 * wake-up is lost. */
#include <poll.h>

#include "ucs/clock.h"
#include "uct/conform.h"

static int fd_of(struct host *host)
{
    return host->tl->event_fd(host->iface);
}

/* After so long nothing will come, even on a busy machine. */
enum { WAKE_MS = 20000 };

static bool is_readable(int fd, int timeout_ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, timeout_ms) == 1;
}

/* Progress until arm succeeds: whatever waited is handled. */
static void sleep_deep(struct world *world, struct host *host)
{
    ucs_status_t status;
    unsigned     tries = 0;

    do {
        world_step(world);
        status = host->tl->arm(host->iface);
    } while ((status == UCS_ERR_BUSY) && (++tries < 1000000));
    conform_must(status, "arm");
}

static void open_or_skip(struct world *world, const struct test_param *param)
{
    world_need(param, UCT_CAP_WAKEUP);
    world_open(world, param, true);
}

static void arm__busy_while_something_waits(const struct test_param *param)
{
    struct world world;
    struct lane *lane;
    struct host *there;
    uint64_t     end_ns;
    ucs_status_t status;

    open_or_skip(&world, param);
    lane = world_lane(&world);
    world_send(&world, lane, LANE_BCOPY, AM_ORDERED, 8);
    world_wait_ordered(&world, 1);
    there = world.there;
    if ((there == NULL) || (there->shared != NULL)) {
        /* The peer answers on our own interface instead. */
        (void)world_lane_back(&world);
        world_send(&world, lane, LANE_BCOPY, AM_ECHO, 8);
        there = world.here;
        if (world.there != NULL) { /* handed up inside the call */
            world_close(&world);
            test_skip("self only");
        }
    } else {
        world_send(&world, lane, LANE_BCOPY, AM_ORDERED, 8);
    }
    end_ns = ucsi_clock_ns() + 5 * (uint64_t)UCS_NS_PER_S;
    do {
        status = there->tl->arm(there->iface);
    } while ((status == UCS_OK) && (ucsi_clock_ns() < end_ns));
    ck_assert_int_eq(status, UCS_ERR_BUSY);
    world_close(&world);
}

static bool has_sleeps(struct world *world, uint64_t count)
{
    return world_inbox(world)->sleeps >= count;
}

/* There sleeps whenever it has nothing to do; each message must wake it.
 * With two processes it is a real sleeper, with one the descriptor is looked
 * at. */
static void fd__fires_for_a_message(const struct test_param *param)
{
    struct world world;
    struct lane *lane;
    uint64_t     count;

    open_or_skip(&world, param);
    lane = world_lane(&world);
    world_send(&world, lane, LANE_BCOPY, AM_ORDERED, 8);
    world_wait_ordered(&world, 1);
    if (world.there == NULL) {
        world_command(&world, RPC_SLEEPY, 1);
    }
    for (count = 2; count < 100; ++count) {
        struct host *there = (world.there == NULL)           ? NULL
                             : (world.there->shared != NULL) ? world.here
                                                             : world.there;

        if (there != NULL) {
            sleep_deep(&world, there);
            ck_assert(!is_readable(fd_of(there), 0));
        }
        world_send(&world, lane, LANE_BCOPY, AM_ORDERED, 8);
        if (there != NULL) {
            ck_assert(is_readable(fd_of(there), WAKE_MS));
        }
        world_wait_ordered(&world, count);
    }
    world_close(&world);
}

/* Here is refused and sleeps; there then takes what waits. */
static void fd__fires_for_room(const struct test_param *param)
{
    struct lane_load load = {.count     = 1u << 30,
                             .bytes_min = 64,
                             .bytes_max = 64,
                             .kinds     = LANE_BCOPY,
                             .am_id     = AM_ORDERED};
    struct world     world;
    struct lane     *lane;
    uint64_t         calls;

    open_or_skip(&world, param);
    lane = world_lane(&world);
    if (world.here->attr.flags & UCT_IFACE_SELF_ONLY) {
        world_close(&world); /* room comes from its own progress only */
        test_skip("self only");
    }
    world_send(&world, lane, LANE_BCOPY, AM_ORDERED, 64);
    world_wait_ordered(&world, 1);
    world_command(&world, RPC_FREEZE, 1);
    lane_load(lane, &load);
    while (!lane->is_waiting || (lane->refused < 1)) {
        world_step(&world);
    }
    sleep_deep(&world, world.here);
    calls = lane->pending_calls;
    world_command(&world, RPC_FREEZE, 0);
    if (world.there != NULL) {
        /* A busy kernel delivers later what it was given. */
        while (!is_readable(fd_of(world.here), 0)) {
            (void)host_step(world.there);
            ck_assert(test_has_time(30));
        }
    } else {
        ck_assert(is_readable(fd_of(world.here), WAKE_MS));
    }
    lane->load.count = 0;
    while (lane->pending_calls == calls) {
        world_step(&world);
    }
    world_wait_sent(&world);
    world_wait_ordered(&world, lane->sequence);
    world_close(&world);
}

static bool has_errors(struct world *world, uint64_t count)
{
    return world->here->inbox.ep_errors >= count;
}

static void fd__fires_for_a_failed_peer(const struct test_param *param)
{
    const struct conform_param *conform = param->value;
    struct world                world;
    struct lane                *lane;

    if (conform->process_count == 1) {
        test_skip("one process");
    }
    open_or_skip(&world, param);
    lane = world_lane(&world);
    world_send(&world, lane, LANE_BCOPY, AM_ORDERED, 8);
    world_wait_ordered(&world, 1);
    sleep_deep(&world, world.here);
    world_kill(&world);
    ck_assert(
        is_readable(fd_of(world.here),
                    (int)(1000 * test_scaled_seconds(CONFORM_FAILURE_S + 3))));
    ck_assert(world_wait(&world, has_errors, 1, CONFORM_FAILURE_S + 3));
    world_close(&world);
}

/* Here goes on, or sleeps for what must come. */
static void race_step(struct world *world, uint64_t expected)
{
    struct host *here = world->here;

    world_step(world);
    if ((world->there != NULL) || (test_random_below(4) != 0) ||
        (here->inbox.ordered_count >= expected) ||
        (here->tl->arm(here->iface) != UCS_OK)) {
        return;
    }
    if (!is_readable(fd_of(here), WAKE_MS)) {
        ck_assert_msg(uct_iface_progress(here->iface) == 0,
                      "here lost a wake-up for message %llu",
                      (unsigned long long)expected);
        (void)world_inbox(world); /* or there says that it did */
    }
}

/* Sender and sleeper meet at every moment: there sleeps whenever it is idle,
 * here sends after a random pause and waits for the echo, itself sleeping
 * now and then. A sleeper that wakes by its clock and finds something says
 * so. */
static void race__no_wakeup_is_lost(const struct test_param *param)
{
    struct world world;
    struct lane *lane;
    struct host *here;
    uint64_t     round, rounds, spin, expected, end_ns;

    open_or_skip(&world, param);
    rounds = test_rounds(100000, 1000000);
    here   = world.here;
    lane   = world_lane(&world);
    (void)world_lane_back(&world);
    if (world.there == NULL) {
        world_command(&world, RPC_SLEEPY, 1);
    }
    /* A crowded machine switches slowly: then fewer rounds, unless it is a
     * campaign. */
    end_ns =
        (rounds > 100000) ? UINT64_MAX : ucsi_clock_ns() + 20ull * UCS_NS_PER_S;
    for (round = 1; (round <= rounds) && (ucsi_clock_ns() < end_ns); ++round) {
        for (spin = test_random_below(400); spin > 0; --spin) {
            ucs_cpu_relax();
        }
        while (lane_send(lane, LANE_BCOPY, AM_ECHO, 8, 0) ==
               UCS_ERR_WOULD_BLOCK) {
            world_step(&world);
        }
        expected = round * ((here->attr.flags & UCT_IFACE_SELF_ONLY) ? 2 : 1);
        while (here->inbox.ordered_count < expected) {
            race_step(&world, expected);
        }
    }
    if (world.there == NULL) {
        world_command(&world, RPC_SLEEPY, 0);
        ck_assert(has_sleeps(&world, 1));
    }
    world_close(&world);
}

/* One process: arm and send in random order, and compare with what must
 * be. */
static void race__random_arm_and_send(const struct test_param *param)
{
    struct world world;
    struct lane *lane;
    struct host *there;
    uint64_t     round, sent = 1;
    bool         is_armed = false, is_waiting = false;
    ucs_status_t status;

    open_or_skip(&world, param);
    lane = world_lane(&world);
    world_send(&world, lane, LANE_BCOPY, AM_ORDERED, 8);
    world_wait_ordered(&world, 1);
    there = world.there;
    if ((there == NULL) || (there->shared != NULL)) {
        world_close(&world); /* race__no_wakeup_is_lost has it */
        test_skip("one process only");
    }
    sleep_deep(&world, there);
    is_armed = true;
    for (round = 0; round < test_rounds(20000, 1000000); ++round) {
        switch (test_random_below(3)) {
        case 0:
            status = lane_send(lane, LANE_BCOPY, AM_ORDERED, 8, 0);
            sent += (status == UCS_OK);
            is_waiting |= (status == UCS_OK);
            break;
        case 1:
            if (is_armed && is_waiting) {
                ck_assert(is_readable(fd_of(there), WAKE_MS));
            }
            (void)uct_iface_progress(there->iface);
            (void)uct_iface_progress(world.here->iface);
            is_waiting = there->inbox.ordered_count < sent;
            is_armed   = false;
            break;
        default:
            status   = there->tl->arm(there->iface);
            is_armed = (status == UCS_OK) || (is_armed && is_waiting);
            break;
        }
    }
    world_wait_ordered(&world, sent);
    world_close(&world);
}

static const struct test_case cases[] = {
    TEST(arm__busy_while_something_waits),
    TEST(fd__fires_for_a_message),
    TEST(fd__fires_for_room),
    TEST(fd__fires_for_a_failed_peer),
    TEST_TIMEOUT(race__no_wakeup_is_lost, 120),
    TEST(race__random_arm_and_send),
    {0}};

struct test_suite conform_wakeup_suite = {.name  = "conform_wakeup",
                                          .cases = cases};
