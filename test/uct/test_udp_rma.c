/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_rma.c - put, get and atomics over a network that loses, doubles
 * and turns around. */
#include "uct/udp_fixtures.h"

#include <string.h>

#include "lib/test.h"
#include "uct/suites.h"

static struct udp_net *const net = &fixture_net;
static uint64_t              asked; /* operations on regions */

static void setup(const struct test_param *param)
{
    asked = 0;
    fixture_net_open(param);
}

static void open_region(void)
{
    net->ends[1].region_key = 4711;
}

static bool is_quiet(void)
{
    return udp_send_is_idle(&net->ends[0].conn.send) &&
           udp_send_is_idle(&net->ends[1].conn.send);
}

static struct udp_fragment *ask(unsigned kind, uint64_t address, size_t length)
{
    struct udp_conn     *conn     = &net->ends[0].conn;
    struct udp_fragment *fragment = udp_fragment_new(conn, kind);

    fragment->key       = net->ends[1].region_key;
    fragment->address   = address;
    fragment->operation = ++conn->operation;
    fragment->total     = (uint32_t)length;
    fragment->req       = &fragment->own;
    ucs_list_add_tail(&conn->operations, &fragment->link);
    if (kind != UDP_KIND_PUT) {
        fragment->waits_answer = true;
        ++conn->operation_count;
    }
    return fragment;
}

static void go(struct udp_fragment *fragment)
{
    net->ends[0].env.now_ns = net->now_ns;
    udp_conn_queue(&net->ends[0].conn, fragment);
}

static void lend(struct udp_fragment *fragment, uint8_t *memory, size_t length)
{
    fragment->iov[0]    = (struct iovec){memory, length};
    fragment->iov_count = 1;
}

static bool has_answers(struct udp_net *unused)
{
    (void)unused;
    return (net->ends[0].finished_count >= asked) && is_quiet();
}

static void bad_path(void)
{
    net->path = (struct udp_net_path){
        .loss = 100, .duplicate = 100, .reorder = 200, .delay_ns = 50000};
}

static void rma__put_and_get_on_a_bad_path(const struct test_param *param)
{
    static uint8_t out[NET_REGION_BYTES], in[NET_REGION_BYTES];
    size_t         index, round, offset, length;

    (void)param;
    open_region();
    net->ends[1].region_access = UCT_ACCESS_ALL;
    bad_path();
    for (index = 0; index < sizeof(out); ++index) {
        out[index] = (uint8_t)test_random();
    }
    for (round = 0; round < 30; ++round) {
        struct udp_fragment *fragment;

        offset   = test_random_below(NET_REGION_BYTES);
        length   = test_random_below(NET_REGION_BYTES - offset) + 1;
        fragment = ask(UDP_KIND_PUT, offset, length);
        lend(fragment, out + offset, length);
        go(fragment);
        ++asked;
        ck_assert(udp_net_until(net, has_answers, 60));
        ck_assert_int_eq(net->ends[0].finished_status, UCS_OK);
        ck_assert_mem_eq(net->ends[1].region + offset, out + offset, length);
        memset(in, 0, sizeof(in));
        fragment = ask(UDP_KIND_GET, offset, length);
        lend(fragment, in, length);
        go(fragment);
        ++asked;
        ck_assert(udp_net_until(net, has_answers, 60));
        ck_assert_int_eq(net->ends[0].finished_status, UCS_OK);
        ck_assert_mem_eq(in, out + offset, length);
    }
}

/* However often a packet comes, an atomic happens once. */
static void rma__atomics_happen_once(const struct test_param *param)
{
    uint64_t old, sum;
    unsigned round;

    (void)param;
    open_region();
    net->ends[1].region_access = UCT_ACCESS_ALL;
    bad_path();
    for (round = 0; round < 200; ++round) {
        struct udp_fragment *fragment = ask(UDP_KIND_ATOMIC, 16, 8);

        fragment->word = (struct udp_word){
            .operand = 3, .op = UCT_ATOMIC_ADD, .size_bytes = 8};
        fragment->result = &old;
        go(fragment);
        ++asked;
        ck_assert(udp_net_until(net, has_answers, 60));
        ck_assert_uint_eq(old, 3ull * round);
    }
    memcpy(&sum, net->ends[1].region + 16, sizeof(sum));
    ck_assert_uint_eq(sum, 600);
}

static void rma__without_the_key_is_refused(const struct test_param *param)
{
    static uint8_t memory[100];
    uint64_t       word;
    unsigned       kind;

    (void)param;
    open_region();
    net->ends[1].region_access = UCT_ACCESS_REMOTE_READ;
    for (kind = UDP_KIND_PUT; kind <= UDP_KIND_ATOMIC; ++kind) {
        struct udp_fragment *fragment;

        if (kind == UDP_KIND_DATA) {
            continue;
        }
        fragment = ask(kind, 8, 8);
        fragment->key += (kind == UDP_KIND_GET); /* the others lack rights */
        fragment->word = (struct udp_word){.size_bytes = 8, .operand = 1};
        if (kind != UDP_KIND_ATOMIC) {
            lend(fragment, memory, 8);
        }
        memset(memory, 0x55, sizeof(memory));
        go(fragment);
        ++asked;
        ck_assert(udp_net_until(net, has_answers, 60));
        ck_assert_int_eq(net->ends[0].finished_status, UCS_ERR_INVALID_ADDR);
    }
    memcpy(&word, net->ends[1].region + 8, sizeof(word));
    ck_assert_uint_eq(word, 0);
    ck_assert_uint_eq(memory[0], 0x55);
    ck_assert_int_eq(net->ends[0].conn.state, UDP_CONN_OPEN);
    ck_assert_uint_eq(
        ucs_counter_get(&net->ends[1].env.counters[UDP_COUNT_BAD_ACCESS]), 3);
}

/* The word that a put is refused may be lost, the acknowledgement of the put
 * not: its asker hears of it all the same. */
static void rma__refused_on_a_bad_path(const struct test_param *param)
{
    static uint8_t memory[NET_REGION_BYTES];
    unsigned       round;

    (void)param;
    open_region();
    net->ends[1].region_access = UCT_ACCESS_REMOTE_READ;
    bad_path();
    for (round = 0; round < 60; ++round) {
        size_t               length   = (round % 10 == 0) ? sizeof(memory) : 8;
        struct udp_fragment *fragment = ask(UDP_KIND_PUT, 0, length);

        lend(fragment, memory, length);
        go(fragment);
        ++asked;
        ck_assert(udp_net_until(net, has_answers, 60));
        ck_assert_int_eq(net->ends[0].finished_status, UCS_ERR_INVALID_ADDR);
    }
    ck_assert_uint_eq(net->ends[1].conn.shares[UDP_SHARE_ANSWER], 0);
    ck_assert_ptr_null(net->ends[1].conn.refusal);
}

/* Nobody waits for it: it ends, too, and holds nothing back. */
static void rma__refused_and_nobody_waits(const struct test_param *param)
{
    static uint8_t       memory[8];
    struct udp_fragment *put, *get;

    (void)param;
    open_region();
    net->ends[1].region_access = UCT_ACCESS_REMOTE_READ;
    put            = udp_fragment_new(&net->ends[0].conn, UDP_KIND_PUT);
    put->key       = net->ends[1].region_key;
    put->operation = ++net->ends[0].conn.operation;
    put->total     = sizeof(memory);
    lend(put, memory, sizeof(memory));
    go(put);
    get = ask(UDP_KIND_GET, 0, sizeof(memory));
    lend(get, memory, sizeof(memory));
    go(get);
    asked = 1;
    ck_assert(udp_net_until(net, has_answers, 60));
    ck_assert_int_eq(net->ends[0].finished_status, UCS_OK);
    ck_assert_uint_eq(
        ucs_counter_get(&net->ends[1].env.counters[UDP_COUNT_BAD_ACCESS]), 1);
}

/* --------------------------------------------------- a peer that lies */

static uint8_t packet[UDP_PACKET_BYTES_MAX] UCS_ALIGNED(8);

static void lie(unsigned end, unsigned kind, size_t length)
{
    const struct udp_conn *conn = &net->ends[end].conn;

    udp_net_lie(&net->ends[end],
                (struct udp_head){.kind   = (uint8_t)kind,
                                  .ack    = conn->send.first,
                                  .window = UDP_WINDOW_COUNT,
                                  .number = conn->receive.expected},
                packet, length);
}

/* Answers to a get that waits for its turn, and to a message, which has
 * none. */
static void rma__answers_before_the_question(const struct test_param *param)
{
    static uint8_t         memory[64], message[5000];
    struct ucs_queue_elem *elem;
    struct udp_fragment   *get;
    struct udp_answer      answer = {.status = UCS_OK};
    unsigned               kind, operation;

    (void)param;
    open_region();
    net->ends[1].region_access  = UCT_ACCESS_ALL;
    net->ends[0].env.is_blocked = true;
    ck_assert(udp_net_send_zcopy(&net->ends[0], 0, message, sizeof(message)));
    elem = ucs_queue_head(&net->ends[0].conn.fragments);
    ck_assert_ptr_nonnull(elem);
    ucs_list_add_tail(
        &net->ends[0].conn.operations,
        &ucs_container_of(elem, struct udp_fragment, queue)->link);
    get = ask(UDP_KIND_GET, 0, sizeof(memory));
    lend(get, memory, sizeof(memory));
    go(get);
    ck_assert_uint_eq(net->ends[0].conn.fragment_count, 2);
    for (operation = 0; operation < 2; ++operation) {
        for (kind = UDP_KIND_DATA; kind <= UDP_KIND_RESULT; kind += 2) {
            answer.operation = operation;
            (void)udp_wire_put_answer(packet + UDP_HEAD_BYTES, &answer);
            lie(0, kind, 16 + ((kind == UDP_KIND_DATA) ? sizeof(memory) : 0));
        }
    }
    ck_assert(ucs_queue_is_empty(&net->ends[0].conn.finished));
    /* The numbers that were used up are the true peer's, too. */
    net->ends[1].conn.send.next  = net->ends[0].conn.receive.expected;
    net->ends[1].conn.send.first = net->ends[0].conn.receive.expected;
    asked                        = 2;
    ck_assert(udp_net_until(net, has_answers, 60));
    ck_assert_uint_eq(net->ends[0].finished_count, 2);
    ck_assert_uint_eq(net->ends[1].ordered_count, 1);
}

/* Who asks and takes no answer makes us keep only so many. */
static void rma__answers_that_nobody_takes(const struct test_param *param)
{
    struct udp_conn  *conn   = &net->ends[1].conn;
    struct udp_access access = {.key = 1};
    struct udp_word   word   = {.size_bytes = 8};
    unsigned          round;

    (void)param;
    for (round = 0; round < 2000; ++round) {
        (void)udp_wire_put_access(packet + UDP_HEAD_BYTES, &access);
        if (round % 2 == 0) {
            lie(1, UDP_KIND_PUT, 24 + 8);
        } else {
            (void)udp_wire_put_word(packet + UDP_HEAD_BYTES, &word);
            lie(1, UDP_KIND_ATOMIC, 40);
        }
    }
    ck_assert_uint_eq(conn->shares[UDP_SHARE_ANSWER], UDP_ANSWER_COUNT_MAX);
    ck_assert_uint_le(conn->fragment_count, UDP_ANSWER_COUNT_MAX);
    ck_assert_uint_eq(
        ucs_counter_get(&net->ends[1].env.counters[UDP_COUNT_BAD_ACCESS]),
        UDP_ANSWER_COUNT_MAX);
}

static const struct test_case cases[] = {TEST(rma__put_and_get_on_a_bad_path),
                                         TEST(rma__atomics_happen_once),
                                         TEST(rma__without_the_key_is_refused),
                                         TEST(rma__refused_on_a_bad_path),
                                         TEST(rma__refused_and_nobody_waits),
                                         TEST(rma__answers_before_the_question),
                                         TEST(rma__answers_that_nobody_takes),
                                         {0}};

const struct test_suite udp_rma_suite = {.name     = "udp_rma",
                                         .cases    = cases,
                                         .setup    = setup,
                                         .teardown = fixture_net_close};
