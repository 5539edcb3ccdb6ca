/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_rma.c - put, get and atomics over a network that loses, doubles
 * and turns around. */
#include "uct/udp_net.h"

#include <string.h>

#include "lib/test.h"
#include "uct/suites.h"

static struct udp_net net;
static uint64_t       asked; /* operations on regions */

static void setup(const struct test_param *param)
{
    (void)param;
    asked = 0;
    udp_net_open(&net, 0);
    udp_net_connect(&net);
    ck_assert(udp_net_until(&net, udp_net_is_open, 30));
}

static void teardown(const struct test_param *param)
{
    (void)param;
    udp_net_close(&net);
}

static void open_region(void)
{
    net.ends[1].region_key = 4711;
}

static bool is_quiet(void)
{
    return udp_send_is_idle(&net.ends[0].conn.send) &&
           udp_send_is_idle(&net.ends[1].conn.send);
}

static struct udp_fragment *ask(unsigned kind, uint64_t address, size_t length)
{
    struct udp_conn     *conn     = &net.ends[0].conn;
    struct udp_fragment *fragment = udp_fragment_new(conn, kind);

    fragment->key       = net.ends[1].region_key;
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
    net.ends[0].env.now_ns = net.now_ns;
    udp_conn_queue(&net.ends[0].conn, fragment);
}

static void lend(struct udp_fragment *fragment, uint8_t *memory, size_t length)
{
    fragment->iov[0]    = (struct iovec){memory, length};
    fragment->iov_count = 1;
}

static bool has_answers(struct udp_net *unused)
{
    (void)unused;
    return (net.ends[0].finished_count >= asked) && is_quiet();
}

static void bad_path(void)
{
    net.path = (struct udp_net_path){
        .loss = 100, .duplicate = 100, .reorder = 200, .delay_ns = 50000};
}

static void rma__put_and_get_on_a_bad_path(const struct test_param *param)
{
    static uint8_t out[NET_REGION_BYTES], in[NET_REGION_BYTES];
    size_t         index, round, offset, length;

    (void)param;
    open_region();
    net.ends[1].region_access = UCT_ACCESS_ALL;
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
        ck_assert(udp_net_until(&net, has_answers, 60));
        ck_assert_int_eq(net.ends[0].finished_status, UCS_OK);
        ck_assert_mem_eq(net.ends[1].region + offset, out + offset, length);
        memset(in, 0, sizeof(in));
        fragment = ask(UDP_KIND_GET, offset, length);
        lend(fragment, in, length);
        go(fragment);
        ++asked;
        ck_assert(udp_net_until(&net, has_answers, 60));
        ck_assert_int_eq(net.ends[0].finished_status, UCS_OK);
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
    net.ends[1].region_access = UCT_ACCESS_ALL;
    bad_path();
    for (round = 0; round < 200; ++round) {
        struct udp_fragment *fragment = ask(UDP_KIND_ATOMIC, 16, 8);

        fragment->word = (struct udp_word){
            .operand = 3, .op = UCT_ATOMIC_ADD, .size_bytes = 8};
        fragment->result = &old;
        go(fragment);
        ++asked;
        ck_assert(udp_net_until(&net, has_answers, 60));
        ck_assert_uint_eq(old, 3ull * round);
    }
    memcpy(&sum, net.ends[1].region + 16, sizeof(sum));
    ck_assert_uint_eq(sum, 600);
}

static void rma__without_the_key_is_refused(const struct test_param *param)
{
    static uint8_t memory[100];
    uint64_t       word;
    unsigned       kind;

    (void)param;
    open_region();
    net.ends[1].region_access = UCT_ACCESS_REMOTE_READ;
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
        ck_assert(udp_net_until(&net, has_answers, 60));
        ck_assert_int_eq(net.ends[0].finished_status, UCS_ERR_INVALID_ADDR);
    }
    memcpy(&word, net.ends[1].region + 8, sizeof(word));
    ck_assert_uint_eq(word, 0);
    ck_assert_uint_eq(memory[0], 0x55);
    ck_assert_int_eq(net.ends[0].conn.state, UDP_CONN_OPEN);
    ck_assert_uint_eq(
        ucs_counter_get(&net.ends[1].env.counters[UDP_COUNT_BAD_ACCESS]), 3);
}

static const struct test_case cases[] = {TEST(rma__put_and_get_on_a_bad_path),
                                         TEST(rma__atomics_happen_once),
                                         TEST(rma__without_the_key_is_refused),
                                         {0}};

const struct test_suite udp_rma_suite = {
    .name = "udp_rma", .cases = cases, .setup = setup, .teardown = teardown};
