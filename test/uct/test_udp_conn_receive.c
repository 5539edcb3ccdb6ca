/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_conn_receive.c - a peer that has the keys and lies: what it says is
 * counted and dropped, and it makes us keep no more than is bounded. */
#include "uct/udp_net.h"

#include <string.h>

#include "lib/test.h"
#include "uct/suites.h"
#include "uct/udp/udp_share.h"

static struct udp_net net;
static uint8_t        packet[UDP_PACKET_BYTES_MAX + 64] UCS_ALIGNED(8);

static void setup(const struct test_param *param)
{
    (void)param;
    udp_net_open_connected(&net);
    memset(packet, 0, sizeof(packet));
}

static void teardown(const struct test_param *param)
{
    (void)param;
    udp_net_close(&net);
}

static struct udp_net_end *victim(void)
{
    return &net.ends[1];
}

static uint64_t bad_packets(void)
{
    return ucs_counter_get(&victim()->env.counters[UDP_COUNT_BAD_PACKET]);
}

/* The next segment, or one so far ahead of it. */
static struct udp_head lie(unsigned kind, uint32_t ahead)
{
    return (struct udp_head){.kind   = (uint8_t)kind,
                             .am_id  = 5,
                             .ack    = victim()->conn.send.next,
                             .window = UDP_WINDOW_COUNT,
                             .number = victim()->conn.receive.expected + ahead};
}

/* A chunk of a message: number ahead, its place. */
static void chunk(uint32_t ahead, const struct udp_chunk *at, size_t length,
                  unsigned flags)
{
    struct udp_head head      = lie(UDP_KIND_CHUNK, ahead);
    size_t          extension = udp_wire_put_chunk(packet + UDP_HEAD_BYTES, at);

    head.flags = (uint8_t)flags;
    udp_net_lie(victim(), head, packet, extension + length);
}

/* Whoever took the peer's messages was told that there are no more. */
static void message__behind_the_last_one(const struct test_param *param)
{
    uint32_t expected = victim()->conn.receive.expected;

    (void)param;
    udp_net_lie(victim(), lie(UDP_KIND_AM, 1), packet, 8); /* it waits */
    udp_net_lie(victim(), lie(UDP_KIND_FIN, 0), packet, 0);
    ck_assert(victim()->conn.has_peer_fin);
    udp_net_lie(victim(), lie(UDP_KIND_AM, 0), packet, 8);
    chunk(0, &(struct udp_chunk){.total = 8}, 8, UDP_FLAG_LAST);
    udp_net_lie(victim(), lie(UDP_KIND_FIN, 0), packet, 0);
    ck_assert_uint_eq(victim()->conn.receive.expected, expected + 5);
    ck_assert_uint_eq(victim()->ordered_count + victim()->any_count, 0);
    ck_assert_uint_eq(bad_packets(), 4);
}

/* It would not fit where early ones are kept. */
static void message__longer_than_a_packet(const struct test_param *param)
{
    struct udp_head head;

    (void)param;
    udp_net_lie(victim(), lie(UDP_KIND_AM, 1), packet,
                UDP_PACKET_BYTES_MAX - UDP_HEAD_BYTES + 1);
    ck_assert_uint_eq(victim()->conn.receive.early_count, 0);
    ck_assert(!udp_wire_get_head(packet, UDP_PACKET_BYTES_MAX + 1, &head));
    udp_net_lie(victim(), lie(UDP_KIND_AM, 1), packet,
                UDP_PACKET_BYTES_MAX - UDP_HEAD_BYTES);
    ck_assert_uint_eq(victim()->conn.receive.early_count, 1);
}

/* A packet may be longer than any message. */
static void message__longer_than_any(const struct test_param *param)
{
    (void)param;
    udp_net_lie(victim(), lie(UDP_KIND_AM, 0), packet,
                UDP_MESSAGE_BYTES + UDP_HEADER_BYTES + 1);
    ck_assert_uint_eq(bad_packets(), 1);
    ck_assert_uint_eq(victim()->ordered_count + victim()->bad_count, 0);
}

/* Chunks that lie over one another add up to the length and leave a hole, in
 * which another message's bytes would be seen. */
static void message__with_a_hole(const struct test_param *param)
{
    const struct udp_chunk first = {.message = 7, .total = 2048};
    const struct udp_chunk twice = {.message = 7, .offset = 512, .total = 2048};

    (void)param;
    chunk(0, &first, 1024, 0);
    chunk(0, &twice, 1024, UDP_FLAG_LAST);
    ck_assert_uint_eq(victim()->ordered_count + victim()->bad_count, 0);
    ck_assert_uint_eq(bad_packets(), 2); /* the chunk and the message */
    ck_assert(ucs_list_is_empty(&victim()->conn.reassemblies));
    ck_assert_uint_eq(victim()->env.reassembly_count, 0);
}

static void message__in_odd_pieces(const struct test_param *param)
{
    const struct udp_chunk odd = {.message = 7, .offset = 4, .total = 64};

    (void)param;
    chunk(0, &odd, 60, 0);
    chunk(0, &(struct udp_chunk){.message = 7, .total = 64}, 12, 0);
    ck_assert_uint_eq(bad_packets(), 2);
}

/* Messages that begin and never end: only so many, and the one whose turn it
 * is finds room all the same. */
static void messages__that_never_end(const struct test_param *param)
{
    struct udp_chunk at = {.message = 1000, .total = 16};
    uint32_t         ahead;

    (void)param;
    for (ahead = 1; ahead < UDP_WINDOW_COUNT; ++ahead) {
        ++at.message;
        chunk(ahead, &at, 8, 0);
    }
    ck_assert_uint_eq(victim()->conn.reassembly_count, UDP_AHEAD_CONN_MAX);
    ck_assert_uint_eq(victim()->conn.receive.early_count, UDP_AHEAD_CONN_MAX);
    at.message = 1;
    chunk(0, &at, 8, 0);
    ck_assert_uint_eq(victim()->conn.reassembly_count, UDP_AHEAD_CONN_MAX + 1);
}

/* ------------------------------------------- many liars, one honest peer */

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

    ops               = *victim()->env.ops;
    ops.message       = swallow;
    victim()->env.ops = &ops;
    for (index = 0; index < UCS_ARRAY_COUNT(peers); ++index) {
        udp_conn_init(&peers[index], &victim()->env, 1000 + index);
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
        ck_assert_uint_eq(victim()->env.shares[index], 0);
    }
}

/* As much as they like ahead of the one that never comes: memory is left for
 * another peer's early ones, and for those whose turn it is. */
static void liars__leave_room(const struct test_param *param)
{
    const struct udp_env *env = &victim()->env;
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
    struct udp_env *env = &victim()->env;
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
    struct udp_env *env = &victim()->env;

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

static void ranges__ragged(const struct test_param *param)
{
    struct udp_head head;

    (void)param;
    udp_net_lie(victim(), lie(UDP_KIND_ACK, 0), packet, 8);
    ck_assert(udp_wire_get_head(packet, UDP_HEAD_BYTES + 8, &head));
    ck_assert(!udp_wire_get_head(packet, UDP_HEAD_BYTES + 9, &head));
}

/* Who repeats a PING from elsewhere gets no more than it gave. */
static size_t longest_bytes;

static size_t measure(struct udp_env *env, struct udp_out *out)
{
    (void)env;
    longest_bytes = ucs_max(longest_bytes, out->iov[0].iov_len);
    return out->iov[0].iov_len;
}

static void ping__is_as_long_as_its_answer(const struct test_param *param)
{
    struct udp_env_ops        ops = *victim()->env.ops;
    const struct udp_env_ops *own = victim()->env.ops;
    size_t                    ping_bytes;

    (void)param;
    ops.transmit      = measure;
    victim()->env.ops = &ops;
    longest_bytes     = 0;
    udp_conn_send_ping(&victim()->conn, 0);
    ping_bytes    = longest_bytes;
    longest_bytes = 0;
    udp_net_lie(victim(), lie(UDP_KIND_PING, 0), packet,
                ping_bytes - UDP_HEAD_BYTES);
    victim()->env.ops = own;
    ck_assert_uint_gt(longest_bytes, UDP_HEAD_BYTES);
    ck_assert_uint_le(longest_bytes, ping_bytes);
}

static const struct test_case cases[] = {TEST(message__behind_the_last_one),
                                         TEST(message__longer_than_a_packet),
                                         TEST(message__longer_than_any),
                                         TEST(message__with_a_hole),
                                         TEST(message__in_odd_pieces),
                                         TEST(messages__that_never_end),
                                         TEST(liars__leave_room),
                                         TEST(share__of_each_kind),
                                         TEST(ring__of_who_is_far_ahead),
                                         TEST(ranges__ragged),
                                         TEST(ping__is_as_long_as_its_answer),
                                         {0}};

const struct test_suite udp_conn_receive_suite = {.name  = "udp_conn_receive",
                                                  .cases = cases,
                                                  .setup = setup,
                                                  .teardown = teardown};
