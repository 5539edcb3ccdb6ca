/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_share.c - many liars and one honest peer on one interface: what
 * they make us keep leaves room. */
#include "uct/udp/udp_share.h"

#include <string.h>

#include "lib/test.h"
#include "uct/suites.h"
#include "uct/udp_fixtures.h"

static struct udp_net_end *const victim = &fixture_net.ends[1];
static uint8_t packet[UDP_SHORT_BYTES_MAX + 64] UCS_ALIGNED(8);

static void setup(const struct test_param *param)
{
    fixture_net_open(param);
    memset(packet, 0, sizeof(packet));
}

enum { LIAR_COUNT = 4, HONEST_COUNT = 64, LONG_BYTES = 1000 };

static struct udp_conn peers[LIAR_COUNT + 1];

/* A message of that length from peer n, so far ahead. */
static void arrive(unsigned peer, uint32_t ahead, size_t length)
{
    struct udp_conn      *conn = &peers[peer];
    const struct udp_head head = {.kind   = UDP_KIND_AM,
                                  .number = conn->receive.expected + ahead};

    udp_conn_arrival(conn, &head, packet, UDP_HEAD_BYTES + length);
}

static void swallow(struct udp_env *env, struct udp_conn *conn, unsigned am_id,
                    struct udp_held *held, uint8_t *data, size_t length)
{
    (void)env;
    (void)conn;
    (void)am_id;
    (void)data;
    (void)length;
    if (held != NULL) {
        udp_env_unhold(held);
    }
}

static void open_peers(void)
{
    static struct udp_env_ops ops;
    unsigned                  index;

    ops             = *victim->env.ops;
    ops.message     = swallow;
    victim->env.ops = &ops;
    for (index = 0; index < UCS_ARRAY_COUNT(peers); ++index) {
        udp_conn_init(&peers[index], &victim->env, 1000 + index);
        peers[index].state = UDP_CONN_OPEN;
    }
}

static void close_peers(void)
{
    unsigned index;

    for (index = 0; index < UCS_ARRAY_COUNT(peers); ++index) {
        udp_conn_cleanup(&peers[index]);
    }
    for (index = 0; index < UDP_SHARE_COUNT; ++index) {
        ck_assert_uint_eq(victim->env.shares[index], 0);
    }
}

/* As much as they like ahead of the one that never comes: memory is left for
 * another peer's early ones, and for those whose turn it is. */
static void liars__leave_room(const struct test_param *param)
{
    const struct udp_env *env = &victim->env;
    unsigned              index;
    uint32_t              ahead;

    (void)param;
    open_peers();
    for (index = 0; index < LIAR_COUNT; ++index) {
        for (ahead = 1; ahead < UDP_WINDOW_COUNT; ++ahead) {
            arrive(index, ahead, LONG_BYTES);
        }
        ck_assert_uint_gt(peers[index].receive.early_count, 0);
    }
    ck_assert_uint_gt(peers[0].receive.early_count, UDP_SHARE_LARGE_MAX / 6);
    ck_assert_uint_lt(env->shares[UDP_SHARE_LARGE], UDP_SHARE_LARGE_MAX);
    for (ahead = HONEST_COUNT; ahead > 0; --ahead) {
        arrive(LIAR_COUNT, ahead, LONG_BYTES);
    }
    ck_assert_uint_eq(peers[LIAR_COUNT].receive.early_count, HONEST_COUNT);
    arrive(LIAR_COUNT, 0, LONG_BYTES);
    ck_assert_uint_eq(peers[LIAR_COUNT].receive.expected, HONEST_COUNT + 1);
    ck_assert_uint_eq(peers[LIAR_COUNT].shares[UDP_SHARE_LARGE], 0);
    close_peers();
}

/* What others hold leaves a fourth of the rest. */
static void share__of_each_kind(const struct test_param *param)
{
    static const uint32_t rooms[UDP_SHARE_COUNT] = {
        UDP_SHARE_SMALL_MAX, UDP_SHARE_LARGE_MAX, UDP_SHARE_HUGE_MAX,
        UDP_SHARE_RING_MAX, UDP_SHARE_ANSWER_MAX};
    struct udp_env *env = &victim->env;
    unsigned        index;

    (void)param;
    open_peers();
    for (index = 0; index < UDP_SHARE_COUNT; ++index) {
        enum udp_share share = (enum udp_share)index;

        env->shares[index] = rooms[index] - 8;
        ck_assert(udp_share_has(&peers[0], share));
        peers[0].shares[index] = 2;
        ck_assert(!udp_share_has(&peers[0], share));
        ck_assert(udp_share_has(&peers[1], share));
        env->shares[index] = rooms[index] + 1;
        ck_assert(!udp_share_has(&peers[1], share));
        env->shares[index]     = 0;
        peers[0].shares[index] = 0;
    }
    close_peers();
}

/* One packet far ahead takes a long ring; without one it is dropped, and a near
 * one is kept. */
static void ring__of_who_is_far_ahead(const struct test_param *param)
{
    struct udp_env *env = &victim->env;

    (void)param;
    open_peers();
    arrive(0, UDP_RING_COUNT, 8);
    ck_assert_uint_eq(env->shares[UDP_SHARE_RING], 1);
    env->shares[UDP_SHARE_RING] = UDP_SHARE_RING_MAX;
    arrive(1, UDP_RING_COUNT, 8);
    ck_assert_uint_eq(peers[1].receive.early_count, 0);
    arrive(1, UDP_RING_COUNT - 1, 8);
    ck_assert_uint_eq(peers[1].receive.early_count, 1);
    env->shares[UDP_SHARE_RING] = 1;
    close_peers();
}

static const struct test_case cases[] = {TEST(liars__leave_room),
                                         TEST(share__of_each_kind),
                                         TEST(ring__of_who_is_far_ahead),
                                         {0}};

const struct test_suite udp_share_suite = {.name     = "udp_share",
                                           .cases    = cases,
                                           .setup    = setup,
                                           .teardown = fixture_net_close};
