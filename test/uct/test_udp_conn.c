/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_conn.c - two connections over a network that loses, doubles,
 * delays and turns around: every message arrives once, in order, bit-exact. */
#include "uct/udp/udp_conn.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/clock.h"
#include "uct/suites.h"
#include "uct/udp/udp_crypt.h"
#include "uct/udp_net.h"

enum { LOAD_SLOTS = 16, LOAD_BYTES_MAX = UDP_MESSAGE_BYTES };

static struct udp_net net;

/* Everything once in the clear and once encrypted. */
static const struct test_param params[] = {
    {"clear", &(const unsigned){0}},
    {"encrypted", &(const unsigned){UDP_CRYPT_CHACHA20}},
    {NULL, NULL}};

static void setup(const struct test_param *param)
{
    const unsigned *ciphers = param->value;

    udp_net_open(&net, *ciphers);
}

static void teardown(const struct test_param *param)
{
    (void)param;
    udp_net_close(&net);
}

static void connect_both(void)
{
    udp_net_connect(&net);
    ck_assert(udp_net_until(&net, udp_net_is_open, 30));
}

/* What an end sends: all kinds and lengths, in order and any order. */
struct load {
    struct udp_net_end *end;
    uint64_t            ordered, any, zcopies;
    uint8_t            *memory[LOAD_SLOTS];
};

static void load_open(struct load *load, struct udp_net_end *end)
{
    unsigned index;

    *load = (struct load){.end = end};
    for (index = 0; index < LOAD_SLOTS; ++index) {
        load->memory[index] = malloc(LOAD_BYTES_MAX);
    }
}

static void load_close(struct load *load)
{
    unsigned index;

    for (index = 0; index < LOAD_SLOTS; ++index) {
        free(load->memory[index]);
    }
}

static void load_send(struct load *load)
{
    struct udp_net_end *end    = load->end;
    size_t              length = 8 + test_random_below(1000);

    switch (test_random_below(4)) {
    case 0:
        load->any += udp_net_send_any(end, load->any, length);
        break;
    case 1:
        length += test_random_below(LOAD_BYTES_MAX - 2000);
        /* They finish in any order: all slots, then all over again. */
        if (((load->zcopies % LOAD_SLOTS != 0) ||
             (load->zcopies == end->finished_count)) &&
            udp_net_send_zcopy(end, load->ordered,
                               load->memory[load->zcopies % LOAD_SLOTS],
                               length)) {
            ++load->zcopies;
            ++load->ordered;
        }
        break;
    default:
        load->ordered += udp_net_send(end, load->ordered, length);
        break;
    }
}

/* Both ends send `count` messages each. */
static void traffic(uint64_t count, double seconds)
{
    struct load loads[2];
    unsigned    index;
    uint64_t    end_ns = net.now_ns + (uint64_t)(seconds * 1e9);

    for (index = 0; index < 2; ++index) {
        load_open(&loads[index], &net.ends[index]);
    }
    while ((loads[0].ordered + loads[0].any < count) ||
           (loads[1].ordered + loads[1].any < count)) {
        for (index = 0; index < 2; ++index) {
            if (loads[index].ordered + loads[index].any < count) {
                load_send(&loads[index]);
            }
        }
        if (test_random_below(3) == 0) {
            (void)udp_net_step(&net);
        }
        ck_assert_msg(net.now_ns < end_ns, "%llu and %llu were sent",
                      (unsigned long long)loads[0].ordered,
                      (unsigned long long)loads[1].ordered);
    }
    ck_assert(udp_net_until(&net, udp_net_is_quiet, seconds));
    for (index = 0; index < 2; ++index) {
        struct udp_net_end *there = &net.ends[1 - index];

        ck_assert_int_eq(net.ends[index].conn.state, UDP_CONN_OPEN);
        ck_assert_uint_eq(there->bad_count, 0);
        ck_assert_uint_eq(there->ordered_count, loads[index].ordered);
        ck_assert_uint_eq(there->any_count, loads[index].any);
        ck_assert_uint_eq(net.ends[index].finished_count, loads[index].zcopies);
        load_close(&loads[index]);
    }
}

static void handshake__opens_both_ends(const struct test_param *param)
{
    (void)param;
    connect_both();
    ck_assert_uint_eq(net.ends[0].conn.peer_id, 77);
    ck_assert_uint_eq(net.ends[1].conn.peer_id, 33);
    ck_assert_mem_eq(&net.ends[0].conn.seal, &net.ends[1].conn.seal,
                     sizeof(struct udp_seal));
}

static void handshake__survives_loss(const struct test_param *param)
{
    (void)param;
    net.path.loss      = 400;
    net.path.duplicate = 200;
    connect_both();
}

static void traffic__on_a_good_path(const struct test_param *param)
{
    (void)param;
    connect_both();
    traffic(2000, 60);
    ck_assert_uint_eq(
        ucs_counter_get(&net.ends[0].env.counters[UDP_COUNT_TIMEOUTS]), 0);
}

static void traffic__on_a_bad_path(const struct test_param *param)
{
    (void)param;
    connect_both();
    net.path = (struct udp_net_path){
        .loss      = (unsigned)test_random_below(200),
        .duplicate = (unsigned)test_random_below(100),
        .reorder   = (unsigned)test_random_below(300),
        .delay_ns  = 1000 + test_random_below(2000000),
        .jitter_ns = test_random_below(1000000),
    };
    traffic(test_rounds(1000, 10000), 600);
}

static void traffic__with_the_fixed_window(const struct test_param *param)
{
    unsigned index;

    (void)param;
    for (index = 0; index < 2; ++index) {
        net.ends[index].env.congestion       = UDP_CC_FIXED;
        net.ends[index].env.congestion_bytes = 100000;
    }
    connect_both();
    net.path.loss = 50;
    traffic(1000, 60);
}

static bool has_long_packets(struct udp_net *unused)
{
    (void)unused;
    return net.ends[0].conn.mtu.good_bytes > 8000;
}

static void mtu__is_found(const struct test_param *param)
{
    (void)param;
    connect_both();
    ck_assert(udp_net_until(&net, has_long_packets, 5));
}

static bool path_search_is_over(struct udp_net *unused)
{
    (void)unused;
    return net.ends[0].conn.mtu.due_ns > net.now_ns + UCS_NS_PER_S * 100ull;
}

static void mtu__of_the_narrowest_link(const struct test_param *param)
{
    (void)param;
    net.path.mtu_bytes = 1472;
    connect_both();
    ck_assert(udp_net_until(&net, path_search_is_over, 30));
    ck_assert_uint_le(net.ends[0].conn.mtu.good_bytes, 1472);
    ck_assert_uint_ge(net.ends[0].conn.mtu.good_bytes, 1472 - 64);
    traffic(500, 60);
}

/* What is on its way when the path shrinks comes in pieces. */
static void mtu__path_that_shrinks(const struct test_param *param)
{
    static uint8_t memory[4][LOAD_BYTES_MAX];
    unsigned       index;

    (void)param;
    connect_both();
    ck_assert(udp_net_until(&net, has_long_packets, 5));
    for (index = 0; index < 4; ++index) {
        ck_assert(udp_net_send_zcopy(&net.ends[0], index, memory[index],
                                     LOAD_BYTES_MAX));
    }
    net.path.mtu_bytes = 1300;
    net.path.loss      = 50;
    ck_assert(udp_net_until(&net, udp_net_is_quiet, 60));
    ck_assert_uint_eq(net.ends[1].ordered_count, 4);
    ck_assert_uint_eq(net.ends[1].bad_count, 0);
}

/* ------------------------------------------------------------ strangers */

static void
cookie__is_for_one_client_and_two_seconds(const struct test_param *param)
{
    const struct ucs_sockaddr here  = {.size_bytes = 16};
    struct ucs_sockaddr       there = here;
    struct udp_connect_self  *self  = &net.ends[1].self;
    struct udp_hello          hello = {.incarnation = 1, .nonce = 2, .id = 3};
    struct udp_hello          other = hello;
    uint64_t                  now   = 100ull * UCS_NS_PER_S;

    (void)param;
    there.inet.sin_port = 7;
    hello.cookie        = udp_connect_cookie(self, &here, &hello, 100);
    ck_assert(udp_connect_is_ours(self, &here, &hello, now));
    ck_assert(udp_connect_is_ours(self, &here, &hello, now + UCS_NS_PER_S));
    ck_assert(
        !udp_connect_is_ours(self, &here, &hello, now + 2ull * UCS_NS_PER_S));
    ck_assert(!udp_connect_is_ours(self, &there, &hello, now));
    other.cookie = hello.cookie;
    other.id     = 4;
    ck_assert(!udp_connect_is_ours(self, &here, &other, now));
}

/* Who sees no packets cannot make one that counts. */
static void stranger__changes_nothing(const struct test_param *param)
{
    struct udp_conn *conn = &net.ends[1].conn;
    struct udp_conn  before;
    uint8_t          bytes[200];
    struct udp_head  head;
    unsigned         round, index;

    (void)param;
    connect_both();
    traffic(50, 30);
    before = *conn;
    for (round = 0; round < 20000; ++round) {
        for (index = 0; index < sizeof(bytes); ++index) {
            bytes[index] = (uint8_t)test_random();
        }
        head = (struct udp_head){
            .to     = conn->id,
            .number = conn->receive.expected + (uint32_t)test_random_below(3),
            .ack    = conn->send.next,
            .kind   = (uint8_t)test_random_below(UDP_KIND_COUNT)};
        udp_wire_put_head(bytes, &head);
        ck_assert(udp_wire_get_head(bytes, sizeof(bytes), &head));
        udp_conn_packet(conn, &head, bytes, sizeof(bytes));
    }
    ck_assert_mem_eq(&before, conn, sizeof(before));
    ck_assert_uint_eq(
        ucs_counter_get(&net.ends[1].env.counters[UDP_COUNT_BAD_TAG]), 20000);
}

static bool has_failed(struct udp_net *unused)
{
    (void)unused;
    return net.ends[0].conn.state == UDP_CONN_FAILED;
}

/* ----------------------------------------------------------- encryption */

static void encryption__must_be_agreed_on(const struct test_param *param)
{
    const unsigned *ciphers = param->value;
    net.ends[1].env.ciphers = (*ciphers == 0) ? UDP_CRYPT_CHACHA20 : 0;
    udp_net_connect(&net);
    ck_assert(!udp_net_until(&net, udp_net_is_open, 1));
    ck_assert(!net.ends[1].has_conn);
    ck_assert_uint_gt(net.ends[1].refused_count, 0);
}

static const uint8_t text[] = "nobody reads this";
static unsigned      text_count;

static bool reads(const struct udp_net_end *from, enum udp_channel channel,
                  const uint8_t *bytes, size_t length)
{
    (void)from;
    (void)channel;
    text_count += (memmem(bytes, length, text, sizeof(text) - 1) != NULL);
    return false;
}

static void encryption__hides_the_payload(const struct test_param *param)
{
    const unsigned     *ciphers = param->value;
    struct udp_segment *segment;

    connect_both();
    segment = udp_env_segment(&net.ends[0].env, UDP_HEAD_BYTES + 32);
    memset(segment->bytes + UDP_HEAD_BYTES, 0, 32);
    memcpy(segment->bytes + UDP_HEAD_BYTES + 8, text, sizeof(text) - 1);
    net.spy    = reads;
    text_count = 0;
    udp_conn_send_am(&net.ends[0].conn, segment, 5, 0, 32);
    ck_assert(udp_net_until(&net, udp_net_is_quiet, 5));
    ck_assert_uint_eq(text_count > 0, *ciphers == 0);
}

static void silence__fails_within_the_bound(const struct test_param *param)
{
    uint64_t begin_ns;

    (void)param;
    connect_both();
    begin_ns            = net.now_ns;
    net.ends[1].is_gone = true;
    ck_assert(udp_net_until(&net, has_failed, 30));
    ck_assert_uint_le(net.now_ns - begin_ns, 13ull * UCS_NS_PER_S);
    ck_assert_int_eq(net.ends[0].conn.status, UCS_ERR_ENDPOINT_TIMEOUT);
}

static void silence__ends_what_is_in_flight(const struct test_param *param)
{
    static uint8_t memory[10][LOAD_BYTES_MAX];
    unsigned       index;

    (void)param;
    connect_both();
    net.ends[1].is_gone = true;
    for (index = 0; index < 10; ++index) {
        ck_assert(udp_net_send_zcopy(&net.ends[0], index, memory[index],
                                     LOAD_BYTES_MAX));
    }
    ck_assert(udp_net_until(&net, has_failed, 30));
    (void)udp_net_step(&net);
    ck_assert_uint_eq(net.ends[0].finished_count, 10);
    ck_assert_int_eq(net.ends[0].finished_status, UCS_ERR_ENDPOINT_TIMEOUT);
}

static void silence__that_ends_is_no_failure(const struct test_param *param)
{
    (void)param;
    connect_both();
    net.path.is_cut = true;
    ck_assert(!udp_net_until(&net, has_failed, 8));
    net.path.is_cut = false;
    traffic(100, 30);
}

/* Its process was stopped: nobody asked, so nobody failed to answer. */
static void silence__of_our_own_is_no_failure(const struct test_param *param)
{
    (void)param;
    connect_both();
    net.ends[0].is_stopped   = true;
    net.ends[1].env.bound_ns = 1000ull * UCS_NS_PER_S;
    ck_assert(!udp_net_until(&net, has_failed, 100));
    net.ends[0].is_stopped = false;
    traffic(100, 30);
}

/* The peer's next endpoint waits until is_ending is over. */
static bool has_closed(struct udp_net *unused)
{
    (void)unused;
    ck_assert(net.ends[0].conn.is_ending || net.ends[1].conn.has_peer_fin ||
              !net.ends[0].conn.is_fin_queued);
    return net.ends[0].conn.is_over && net.ends[1].conn.is_over;
}

static void close__after_everything_arrived(const struct test_param *param)
{
    uint64_t number;

    (void)param;
    connect_both();
    net.path.loss = 300;
    for (number = 0; number < 20; ++number) {
        ck_assert(udp_net_send(&net.ends[0], number, 500));
    }
    udp_connect_close(&net.ends[0].conn);
    ck_assert(udp_net_until(&net, has_closed, 60));
    ck_assert_uint_eq(net.ends[1].ordered_count, 20);
    ck_assert(net.ends[1].conn.has_peer_fin);
}

/* FIN is lost, RESET is not: the peer has all there was, and knows it. */
static void close__reset_says_what_fin_said(const struct test_param *param)
{
    (void)param;
    connect_both();
    ck_assert(udp_net_send(&net.ends[0], 0, 500));
    ck_assert(udp_net_until(&net, udp_net_is_quiet, 5));
    net.path.is_cut = true;
    udp_connect_close(&net.ends[0].conn);
    (void)udp_env_turn(&net.ends[0].env);
    net.path.is_cut = false;
    ck_assert(!net.ends[1].conn.has_peer_fin);
    udp_connect_leave(&net.ends[0].conn);
    net.ends[0].is_gone = true;
    while (net.ends[1].conn.state == UDP_CONN_OPEN) {
        ck_assert(udp_net_step(&net));
    }
    ck_assert(net.ends[1].conn.has_peer_fin);
    ck_assert_int_eq(net.ends[1].conn.status, UCS_ERR_CONNECTION_RESET);
}

static void window__shut_and_open_again(const struct test_param *param)
{
    uint64_t number = 0;

    (void)param;
    connect_both();
    net.ends[1].is_full    = true;
    net.ends[1].env.window = 0;
    while (udp_net_send(&net.ends[0], number, 100)) {
        ++number;
    }
    ck_assert(!udp_net_until(&net, udp_net_is_quiet, 5));
    ck_assert_int_eq(net.ends[0].conn.state, UDP_CONN_OPEN);
    ck_assert_uint_eq(net.ends[1].ordered_count, 0);
    net.ends[1].is_full    = false;
    net.ends[1].env.window = UDP_WINDOW_COUNT;
    ck_assert(udp_net_until(&net, udp_net_is_quiet, 5));
    ck_assert_uint_eq(net.ends[1].ordered_count, number);
}

static void memory__of_an_idle_connection(const struct test_param *param)
{
    (void)param;
    ck_assert_uint_le(sizeof(struct udp_conn), 2048);
}

static const struct test_case cases[] = {
    TEST(handshake__opens_both_ends),
    TEST(handshake__survives_loss),
    TEST(traffic__on_a_good_path),
    TEST(traffic__on_a_bad_path),
    TEST(traffic__with_the_fixed_window),
    TEST(mtu__is_found),
    TEST(mtu__of_the_narrowest_link),
    TEST(mtu__path_that_shrinks),
    TEST(cookie__is_for_one_client_and_two_seconds),
    TEST(stranger__changes_nothing),
    TEST(encryption__must_be_agreed_on),
    TEST(encryption__hides_the_payload),
    TEST(silence__fails_within_the_bound),
    TEST(silence__ends_what_is_in_flight),
    TEST(silence__that_ends_is_no_failure),
    TEST(silence__of_our_own_is_no_failure),
    TEST(close__after_everything_arrived),
    TEST(close__reset_says_what_fin_said),
    TEST(window__shut_and_open_again),
    TEST(memory__of_an_idle_connection),
    {0}};

const struct test_suite udp_conn_suite = {.name     = "udp_conn",
                                          .cases    = cases,
                                          .params   = params,
                                          .setup    = setup,
                                          .teardown = teardown};
