/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_conn_receive.c - a peer that has the keys and lies: what it says is
 * counted and dropped, and it makes us keep no more than is bounded. */
#include "uct/udp_fixtures.h"

#include <string.h>

#include "lib/test.h"
#include "uct/suites.h"

static struct udp_net_end *const victim = &fixture_net.ends[1];
static uint8_t packet[UDP_PACKET_BYTES_MAX + 64] UCS_ALIGNED(8);

static void setup(const struct test_param *param)
{
    fixture_net_open(param);
    memset(packet, 0, sizeof(packet));
}

static uint64_t bad_packets(void)
{
    return ucs_counter_get(&victim->env.counters[UDP_COUNT_BAD_PACKET]);
}

/* The next segment, or one so far ahead of it. */
static struct udp_head lie(unsigned kind, uint32_t ahead)
{
    return (struct udp_head){.kind   = (uint8_t)kind,
                             .am_id  = 5,
                             .ack    = victim->conn.send.next,
                             .window = UDP_WINDOW_COUNT,
                             .number = victim->conn.receive.expected + ahead};
}

/* A chunk of a message: number ahead, its place. */
static void chunk(uint32_t ahead, const struct udp_chunk *at, size_t length,
                  unsigned flags)
{
    struct udp_head head      = lie(UDP_KIND_CHUNK, ahead);
    size_t          extension = udp_wire_put_chunk(packet + UDP_HEAD_BYTES, at);

    head.flags = (uint8_t)flags;
    udp_net_lie(victim, head, packet, extension + length);
}

/* Whoever took the peer's messages was told that there are no more. */
static void message__behind_the_last_one(const struct test_param *param)
{
    uint32_t expected = victim->conn.receive.expected;

    (void)param;
    udp_net_lie(victim, lie(UDP_KIND_AM, 1), packet, 8); /* it waits */
    udp_net_lie(victim, lie(UDP_KIND_FIN, 0), packet, 0);
    ck_assert(victim->conn.has_peer_fin);
    udp_net_lie(victim, lie(UDP_KIND_AM, 0), packet, 8);
    chunk(0, &(struct udp_chunk){.total = 8}, 8, UDP_FLAG_LAST);
    udp_net_lie(victim, lie(UDP_KIND_FIN, 0), packet, 0);
    ck_assert_uint_eq(victim->conn.receive.expected, expected + 5);
    ck_assert_uint_eq(victim->ordered_count + victim->any_count, 0);
    ck_assert_uint_eq(bad_packets(), 4);
}

/* It would not fit where early ones are kept. */
static void message__longer_than_a_packet(const struct test_param *param)
{
    struct udp_head head;

    (void)param;
    udp_net_lie(victim, lie(UDP_KIND_AM, 1), packet,
                UDP_PACKET_BYTES_MAX - UDP_HEAD_BYTES + 1);
    ck_assert_uint_eq(victim->conn.receive.early_count, 0);
    ck_assert(!udp_wire_get_head(packet, UDP_PACKET_BYTES_MAX + 1, &head));
    udp_net_lie(victim, lie(UDP_KIND_AM, 1), packet,
                UDP_PACKET_BYTES_MAX - UDP_HEAD_BYTES);
    ck_assert_uint_eq(victim->conn.receive.early_count, 1);
}

/* A packet may be longer than any message. */
static void message__longer_than_any(const struct test_param *param)
{
    (void)param;
    udp_net_lie(victim, lie(UDP_KIND_AM, 0), packet,
                UDP_MESSAGE_BYTES + UDP_HEADER_BYTES + 1);
    ck_assert_uint_eq(bad_packets(), 1);
    ck_assert_uint_eq(victim->ordered_count + victim->bad_count, 0);
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
    ck_assert_uint_eq(victim->ordered_count + victim->bad_count, 0);
    ck_assert_uint_eq(bad_packets(), 2); /* the chunk and the message */
    ck_assert(ucs_list_is_empty(&victim->conn.reassemblies));
    ck_assert_uint_eq(victim->env.reassembly_count, 0);
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
    ck_assert_uint_eq(victim->conn.reassembly_count, UDP_AHEAD_CONN_MAX);
    ck_assert_uint_eq(victim->conn.receive.early_count, UDP_AHEAD_CONN_MAX);
    at.message = 1;
    chunk(0, &at, 8, 0);
    ck_assert_uint_eq(victim->conn.reassembly_count, UDP_AHEAD_CONN_MAX + 1);
}

static void ranges__ragged(const struct test_param *param)
{
    struct udp_head head;

    (void)param;
    udp_net_lie(victim, lie(UDP_KIND_ACK, 0), packet, 8);
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
    struct udp_env_ops        ops = *victim->env.ops;
    const struct udp_env_ops *own = victim->env.ops;
    size_t                    ping_bytes;

    (void)param;
    ops.transmit    = measure;
    victim->env.ops = &ops;
    longest_bytes   = 0;
    udp_conn_send_ping(&victim->conn, 0);
    ping_bytes    = longest_bytes;
    longest_bytes = 0;
    udp_net_lie(victim, lie(UDP_KIND_PING, 0), packet,
                ping_bytes - UDP_HEAD_BYTES);
    victim->env.ops = own;
    ck_assert_uint_gt(longest_bytes, UDP_HEAD_BYTES);
    ck_assert_uint_le(longest_bytes, ping_bytes);
}

static const struct test_case cases[] = {TEST(message__behind_the_last_one),
                                         TEST(message__longer_than_a_packet),
                                         TEST(message__longer_than_any),
                                         TEST(message__with_a_hole),
                                         TEST(message__in_odd_pieces),
                                         TEST(messages__that_never_end),
                                         TEST(ranges__ragged),
                                         TEST(ping__is_as_long_as_its_answer),
                                         {0}};

const struct test_suite udp_conn_receive_suite = {.name  = "udp_conn_receive",
                                                  .cases = cases,
                                                  .setup = setup,
                                                  .teardown =
                                                      fixture_net_close};
