/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_am.c - active messages: lengths, ids, limits, sources. */

#include "uct/conform.h"

/* Each length up to 128, then around powers of two, then the maximum. */
static size_t next_length(size_t length, size_t length_max)
{
    size_t next = (length < 128)            ? length + 1
                  : (length & (length - 1)) ? length * 2 - (length % 2)
                                            : length + 1;

    return ((length < length_max) && (next > length_max)) ? length_max : next;
}

static void send_every_length(const struct test_param *param,
                              enum lane_kind           kind)
{
    struct world world;
    struct lane *lane;
    size_t       length;
    uint64_t     count = 0;

    world_open(&world, param, false);
    lane = world_lane(&world);
    for (length = 0; length <= lane_payload_max(lane, kind);
         length = next_length(length, lane_payload_max(lane, kind))) {
        world_send(&world, lane, kind, AM_ORDERED, length);
        ++count;
    }
    world_wait_ordered(&world, count);
    world_wait_sent(&world);
    world_close(&world);
}

static void short__every_length(const struct test_param *param)
{
    world_need(param, UCT_CAP_AM_SHORT);
    send_every_length(param, LANE_SHORT);
}

static void bcopy__every_length(const struct test_param *param)
{
    send_every_length(param, LANE_BCOPY);
}

static void zcopy__every_length(const struct test_param *param)
{
    world_need(param, UCT_CAP_AM_ZCOPY);
    send_every_length(param, LANE_ZCOPY);
}

static size_t pack_nothing(void *dest, void *arg)
{
    (void)dest;
    ++*(unsigned *)arg;
    return 0;
}

/* No byte at all; am_short has its header always. */
static void bcopy__empty_message_arrives(const struct test_param *param)
{
    struct world world;
    struct lane *lane;
    unsigned     packs = 0;
    ssize_t      packed;

    world_open(&world, param, false);
    lane = world_lane(&world);
    do {
        packed =
            uct_ep_am_bcopy(lane->ep, AM_COUNT, pack_nothing, &packs, 0, 0);
        world_step(&world);
    } while (packed == UCS_ERR_WOULD_BLOCK);
    ck_assert_int_eq(packed, 0);
    ck_assert_uint_eq(packs, 1);
    world_wait_count(&world, 1);
    ck_assert_uint_eq(world.seen.count_bytes, 0);
    world_close(&world);
}

static unsigned zcopies_done;

static void on_zcopy_done(struct uct_req *req)
{
    ck_assert_int_eq(req->status, UCS_OK);
    ++zcopies_done;
}

static void zcopy__empty_message_arrives(const struct test_param *param)
{
    struct uct_req req = {.cb = on_zcopy_done};
    struct world   world;
    struct lane   *lane;
    ucs_status_t   status;

    world_need(param, UCT_CAP_AM_ZCOPY);
    world_open(&world, param, false);
    lane = world_lane(&world);
    do {
        status = uct_ep_am_zcopy(lane->ep, AM_COUNT, NULL, 0, NULL, 0, &req, 0);
        world_step(&world);
    } while (status == UCS_ERR_WOULD_BLOCK);
    world_wait_count(&world, 1);
    ck_assert_uint_eq(world.seen.count_bytes, 0);
    while ((status == UCS_INPROGRESS) && (zcopies_done == 0)) {
        world_step(&world);
    }
    world_close(&world);
}

static void short__empty_payload_arrives(const struct test_param *param)
{
    struct world world;
    struct lane *lane;
    ucs_status_t status;

    world_need(param, UCT_CAP_AM_SHORT);
    world_open(&world, param, false);
    lane = world_lane(&world);
    do {
        status = uct_ep_am_short(lane->ep, AM_COUNT, 1, NULL, 0, 0);
        world_step(&world);
    } while (status == UCS_ERR_WOULD_BLOCK);
    conform_must(status, "short");
    world_wait_count(&world, 1);
    ck_assert_uint_eq(world.seen.count_bytes, 8);
    world_close(&world);
}

static void limit__longer_is_refused(const struct test_param *param)
{
    static uint8_t        bytes[1 << 16];
    struct uct_op_limits *limits;
    struct uct_iov        iov = {.buffer = bytes};
    struct world          world;
    struct lane          *lane;
    unsigned              packs = 0;

    world_open(&world, param, false);
    lane   = world_lane(&world);
    limits = &world.here->attr.am;
    ck_assert_int_eq(uct_ep_am_bcopy(lane->ep, AM_COUNT, pack_nothing, &packs,
                                     limits->bcopy_bytes_max + 1, 0),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(packs, 0);
    if (lane_has(lane, LANE_SHORT)) {
        ck_assert_int_eq(uct_ep_am_short(lane->ep, AM_COUNT, 0, bytes,
                                         limits->short_bytes_max + 1, 0),
                         UCS_ERR_INVALID_PARAM);
    }
    if (lane_has(lane, LANE_ZCOPY) && (limits->zcopy_bytes_max < SIZE_MAX)) {
        iov.length = limits->zcopy_bytes_max + 1;
        ck_assert_int_eq(
            uct_ep_am_zcopy(lane->ep, AM_COUNT, NULL, 0, &iov, 1, NULL, 0),
            UCS_ERR_INVALID_PARAM);
        ck_assert_int_eq(
            uct_ep_am_zcopy(lane->ep, AM_COUNT, bytes,
                            world.here->attr.am_zcopy_header_bytes_max + 1,
                            NULL, 0, NULL, 0),
            UCS_ERR_INVALID_PARAM);
    }
    world_close(&world);
}

/* Every id but the one without a handler, through all kinds. */
static void id__each_finds_its_handler(const struct test_param *param)
{
    struct world world;
    struct lane *lane;
    uint64_t     count = 0;
    unsigned     kind, am_id;

    world_open(&world, param, false);
    lane = world_lane(&world);
    for (kind = LANE_SHORT; kind <= LANE_ZCOPY; kind *= 2) {
        if (!lane_has(lane, (enum lane_kind)kind)) {
            continue;
        }
        for (am_id = 0; am_id < UCT_AM_ID_COUNT; ++am_id) {
            if ((am_id == AM_ORDERED) || (am_id == AM_COUNT)) {
                world_send(&world, lane, (enum lane_kind)kind, am_id, 20);
                count += (am_id == AM_COUNT);
                lane->sequence -= (am_id == AM_COUNT);
            }
        }
    }
    world_wait_count(&world, count);
    world_wait_sent(&world);
    world_close(&world);
}

static bool has_dropped(struct world *world, uint64_t count)
{
    return world_inbox(world)->dropped >= count;
}

static void id__without_handler_is_dropped(const struct test_param *param)
{
    struct world world;
    struct lane *lane;
    unsigned     am_id;

    world_open(&world, param, false);
    lane = world_lane(&world);
    for (am_id = AM_NOBODY - 3; am_id < UCT_AM_ID_COUNT; ++am_id) {
        world_send(&world, lane, LANE_BCOPY, am_id, 100);
        --lane->sequence;
    }
    world_send(&world, lane, LANE_BCOPY, AM_ORDERED, 100);
    world_wait_ordered(&world, 1);
    ck_assert(
        world_wait(&world, has_dropped, UCT_AM_ID_COUNT - AM_NOBODY + 3, 5));
    world_close(&world);
}

static void source__one_for_each_endpoint(const struct test_param *param)
{
    struct world world;
    struct lane *lanes[5];
    unsigned     round, index;

    world_open(&world, param, false);
    for (index = 0; index < 5; ++index) {
        lanes[index] = world_lane(&world);
    }
    for (round = 0; round < 20; ++round) {
        for (index = 0; index < 5; ++index) {
            world_send(&world, lanes[index], LANE_BCOPY, AM_ORDERED, round);
        }
    }
    world_wait_ordered(&world, 100);
    ck_assert_uint_eq(world.seen.sources, 5);
    ck_assert_uint_eq(world.seen.ended_ok + world.seen.ended_failed, 0);
    world_close(&world);
}

static void accepted__arrives_without_the_sender(const struct test_param *param)
{
    struct world world;
    struct lane *lane;
    unsigned     kind;
    uint64_t     count = 0;

    world_open(&world, param, false);
    lane = world_lane(&world);
    /* The connection may need the sender; after the first message it
     * stands. */
    world_send(&world, lane, LANE_BCOPY, AM_ORDERED, 10);
    world_wait_ordered(&world, ++count);
    for (kind = LANE_SHORT; kind <= LANE_BCOPY; kind *= 2) {
        if (!lane_has(lane, (enum lane_kind)kind)) {
            continue;
        }
        world_send(&world, lane, (enum lane_kind)kind, AM_ORDERED, 10);
        world.here->is_frozen =
            (world.here->attr.flags & UCT_IFACE_SELF_ONLY) == 0;
        world_wait_ordered(&world, ++count);
        world.here->is_frozen = false;
    }
    world_close(&world);
}

static const struct test_case cases[] = {
    TEST(short__every_length),
    TEST(bcopy__every_length),
    TEST(zcopy__every_length),
    TEST(short__empty_payload_arrives),
    TEST(bcopy__empty_message_arrives),
    TEST(zcopy__empty_message_arrives),
    TEST(limit__longer_is_refused),
    TEST(id__each_finds_its_handler),
    TEST(id__without_handler_is_dropped),
    TEST(source__one_for_each_endpoint),
    TEST(accepted__arrives_without_the_sender),
    {0}};

struct test_suite conform_am_suite = {.name = "conform_am", .cases = cases};
