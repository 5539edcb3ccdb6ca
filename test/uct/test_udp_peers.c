/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_peers.c - strangers at real sockets: whoever has not got the secret
 * cannot connect, put anything into a connection or end it; whoever has it and
 * no cookie leaves nothing behind; nobody is answered with more than he sent.
 * And two that ask one another share what they make. */
#include <string.h>

#include "ucs/bytes.h"
#include "ucs/clock.h"
#include "uct/suites.h"
#include "uct/udp_fixtures.h"

static struct wild *const      wild = &fixture_wild;
static struct wild_host *const host = &fixture_wild.hosts[1];

/* What was shot has arrived: the other one hears of it with its progress, and
 * of the data channel now and then. */
static void settle(uint64_t dropped)
{
    while (wild_dropped(host) < dropped) {
        wild_progress(wild);
    }
    ck_assert_uint_eq(wild_dropped(host), dropped);
}

static void nobody_was_answered(void)
{
    uint8_t answer[64];

    ck_assert_uint_eq(wild_answer(wild, answer, sizeof(answer)), 0);
}

static void stranger__floods_with_questions(const struct test_param *param)
{
    const unsigned   count = (unsigned)test_rounds(10000, 1000000);
    struct udp_seal  wrong = {{1, 2}};
    uint8_t          bytes[WILD_HELLO_BYTES];
    struct udp_hello hello;
    unsigned         index;

    (void)param;
    for (index = 0; index < count; ++index) {
        hello = wild_random_hello();
        wild_shoot(wild, host, UDP_PRIORITY, bytes,
                   wild_make_hello(
                       bytes, (index % 2) ? UDP_KIND_HELLO : UDP_KIND_CONNECT,
                       &hello, &wrong));
        if (index % 32 == 31) {
            settle(index + 1); /* before the socket is full */
        }
    }
    settle(count);
    ck_assert_uint_eq(wild_count(host, UDP_COUNT_BAD_TAG), count);
    ck_assert_uint_eq(wild_conn_count(host), 0);
    nobody_was_answered();
    wild_talk(wild, 100);
}

/* The secret is right, the cookie is not: a cookie comes back, as long as the
 * question, and nothing is kept. */
static void insider__without_a_cookie(const struct test_param *param)
{
    const struct udp_seal *secret = &wild_iface(host)->self.secret;
    uint8_t                bytes[WILD_HELLO_BYTES], answer[2048];
    struct udp_hello       hello;
    struct udp_head        head;
    unsigned               index;
    size_t                 length;

    (void)param;
    for (index = 0; index < 2000; ++index) {
        hello = wild_random_hello();
        wild_shoot(wild, host, UDP_PRIORITY, bytes,
                   wild_make_hello(
                       bytes, (index % 2) ? UDP_KIND_HELLO : UDP_KIND_CONNECT,
                       &hello, secret));
        do {
            wild_progress(wild);
            length = wild_answer(wild, answer, sizeof(answer));
        } while (length == 0);
        ck_assert_uint_eq(length, WILD_HELLO_BYTES);
        ck_assert(udp_wire_get_head(answer, length, &head));
        ck_assert_uint_eq(head.kind, UDP_KIND_COOKIE);
        nobody_was_answered();
    }
    ck_assert_uint_eq(wild_conn_count(host), 0);
    ck_assert_uint_eq(wild_iface(host)->accepted.count, 0);
}

/* The cookie of one address is worth nothing at another. */
static void insider__with_the_cookie_of_another(const struct test_param *param)
{
    struct udp_iface   *iface = wild_iface(host);
    struct ucs_sockaddr other = {.inet.sin_family = AF_INET};
    struct udp_hello    hello = wild_random_hello();
    uint8_t             bytes[WILD_HELLO_BYTES], answer[2048];

    (void)param;
    other.size_bytes = sizeof(other.inet);
    hello.cookie     = udp_connect_cookie(&iface->self, &other, &hello,
                                          ucsi_clock_ns() / UCS_NS_PER_S);
    wild_shoot(
        wild, host, UDP_PRIORITY, bytes,
        wild_make_hello(bytes, UDP_KIND_CONNECT, &hello, &iface->self.secret));
    while (wild_answer(wild, answer, sizeof(answer)) == 0) {
        wild_progress(wild);
    }
    ck_assert_uint_eq(wild_conn_count(host), 0);
}

/* A client may call itself anything: when it has gone, so has its entry. */
static void insider__whose_names_cancel_out(const struct test_param *param)
{
    struct udp_iface *iface = wild_iface(host);
    struct udp_hello  hello = wild_random_hello();
    struct udp_conn  *conn;

    (void)param;
    hello.incarnation = ((uint64_t)hello.id << 32) ^ hello.id;
    wild_shake_hands(wild, host, &hello);
    while (wild_conn_count(host) == 0) {
        wild_progress(wild);
    }
    conn = ucs_list_first(&iface->all, struct udp_conn, link);
    ck_assert_ptr_eq(ucsi_hash_get(&iface->accepted, conn->client_key), conn);
    udp_conn_fail(conn, UCS_ERR_CANCELED);
    while (wild_conn_count(host) > 0) {
        wild_progress(wild);
    }
    ck_assert_uint_eq(iface->accepted.count, 0);
    ck_assert_uint_eq(iface->orphans.count, 0);
}

/* -------------------------------------------- no memory for the inbox */

enum { LONG_AM_ID = 4, LONG_BYTES = 1000 };

static size_t pack_long(void *dest, void *arg)
{
    (void)arg;
    memset(dest, 7, LONG_BYTES);
    return LONG_BYTES;
}

static ucs_status_t long_message(void *arg, struct uct_source *source,
                                 void *data, size_t length, unsigned flags)
{
    (void)source;
    (void)data;
    (void)flags;
    ck_assert_uint_eq(length, LONG_BYTES);
    ++*(unsigned *)arg;
    return UCS_OK;
}

/* While the application does not call, messages wait in memory of ours. Where
 * there is none, they are not taken, and come again: nobody's connection
 * fails. */
static void inbox__without_memory(const struct test_param *param)
{
    struct udp_iface *iface = wild_iface(host);
    struct udp_env   *env   = &iface->env;
    struct udp_held  *held[16];
    unsigned          count = 0, got = 0;

    (void)param;
    ucti_iface_set_am(host->iface, LONG_AM_ID, long_message, &got);
    wild_talk(wild, 1);
    env->held_large.params.element_count_max = UCS_ARRAY_COUNT(held);
    while ((count < UCS_ARRAY_COUNT(held)) &&
           ((held[count] = udp_env_hold(env, LONG_BYTES)) != NULL)) {
        ++count;
    }
    ck_assert(!udp_env_can_hold(env, LONG_BYTES));
    ck_assert_int_eq(uct_udp_transport.am_bcopy(wild->hosts[0].ep, LONG_AM_ID,
                                                pack_long, NULL, LONG_BYTES, 0),
                     LONG_BYTES);
    while (wild_count(host, UDP_COUNT_NO_ROOM) == 0) {
        (void)uct_udp_transport.progress(wild->hosts[0].iface);
        udp_enter(iface);
        (void)udp_iface_serve(iface); /* as the helper does */
        udp_leave(iface);
    }
    while (count > 0) {
        udp_env_unhold(held[--count]);
    }
    while (got == 0) {
        wild_progress(wild);
    }
    ck_assert_int_eq(wild->hosts[0].failed, UCS_OK);
    wild_talk(wild, 1);
}

/* Who has the address but for its secret: refused in silence, told in time. */
static void secret__wrong(const struct test_param *param)
{
    uint8_t  address[UDP_ADDRESS_BYTES];
    uint64_t begin_ns = ucsi_clock_ns();

    (void)param;
    memcpy(address, host->address, sizeof(address));
    address[sizeof(address) - 1] ^= 1;
    wild_connect(&wild->hosts[0], address);
    (void)wild->hosts[0].iface->transport->am_short(wild->hosts[0].ep, 3, 0,
                                                    NULL, 0, 0);
    while (wild->hosts[0].failed == UCS_OK) {
        wild_progress(wild);
        ck_assert_uint_lt(ucsi_clock_ns() - begin_ns, 30ull * UCS_NS_PER_S);
    }
    ck_assert_int_eq(wild->hosts[0].failed, UCS_ERR_UNREACHABLE);
    ck_assert_uint_eq(wild_conn_count(host), 0);
    ck_assert_uint_gt(wild_count(host, UDP_COUNT_BAD_TAG), 0);
}

/* The best guess there is: id, numbers, region and key are right, only the tag
 * is not. */
static size_t best_guess(uint8_t *bytes, unsigned kind)
{
    const struct udp_conn *conn =
        ucs_list_first(&wild_iface(host)->all, struct udp_conn, link);
    const struct udp_access access = {
        .key     = test_random(),
        .address = (uintptr_t)host->region,
        .length  = 64,
    };
    const struct udp_word word = {.operand = 1, .size_bytes = 8};
    struct udp_head       head = {.to     = conn->id,
                                  .kind   = (uint8_t)kind,
                                  .am_id  = 3,
                                  .flags  = (uint8_t)test_random(),
                                  .number = conn->receive.expected,
                                  .ack    = conn->send.next,
                                  .window = (uint16_t)test_random()};

    memset(bytes, 0xee, 128);
    udp_wire_put_head(bytes, &head);
    if ((kind == UDP_KIND_PUT) || (kind == UDP_KIND_GET)) {
        (void)udp_wire_put_access(bytes + UDP_HEAD_BYTES, &access);
    } else if (kind == UDP_KIND_ATOMIC) {
        (void)udp_wire_put_access(bytes + UDP_HEAD_BYTES, &access);
        (void)udp_wire_put_word(bytes + UDP_HEAD_BYTES, &word);
    }
    ucs_put_le64(bytes + UDP_TAG_OFFSET, test_random());
    return 128;
}

static void
stranger__guesses_everything_but_the_tag(const struct test_param *param)
{
    uint8_t  bytes[128], before[WILD_REGION_BYTES];
    unsigned index, count = 5000;

    (void)param;
    wild_talk(wild, 50);
    memcpy(before, host->region, sizeof(before));
    for (index = 0; index < count; ++index) {
        size_t length = best_guess(bytes, index % UDP_KIND_COUNT);

        wild_shoot(wild, host, (index % 3) ? UDP_PRIORITY : UDP_DATA, bytes,
                   length);
        if (index % 16 == 15) {
            wild_talk(wild, 2);
        }
    }
    settle(count);
    ck_assert_uint_eq(wild_count(host, UDP_COUNT_BAD_TAG), count);
    ck_assert_mem_eq(before, host->region, sizeof(before));
    ck_assert_uint_eq(wild_conn_count(host), 1);
    nobody_was_answered();
    wild_talk(wild, 100);
    ck_assert_int_eq(wild->hosts[0].failed, UCS_OK);
}

/* Packets that were good in an earlier life of the interface. */
static void stranger__repeats_an_earlier_life(const struct test_param *param)
{
    static uint8_t   old[UDP_KIND_COUNT][128];
    struct udp_conn *conn;
    struct udp_head  head;
    unsigned         kind;

    (void)param;
    wild_talk(wild, 20);
    conn = ucs_list_first(&wild_iface(host)->all, struct udp_conn, link);
    for (kind = 0; kind < UDP_KIND_COUNT; ++kind) {
        (void)best_guess(old[kind], kind);
        udp_seal_put((kind >= UDP_KIND_HELLO) ? &conn->handshake : &conn->seal,
                     old[kind],
                     (kind == UDP_KIND_ACK)
                         ? 128
                         : UDP_HEAD_BYTES + udp_wire_extension_bytes(kind),
                     128);
    }
    wild_close(wild);
    wild_open(wild);
    wild_talk(wild, 20);
    conn = ucs_list_first(&wild_iface(host)->all, struct udp_conn, link);
    for (kind = 0; kind < UDP_KIND_COUNT; ++kind) {
        ck_assert(udp_wire_get_head(old[kind], 128, &head));
        wild_shoot(wild, host, UDP_PRIORITY, old[kind], 128);
        ucs_put_le32(old[kind], conn->id);
        wild_shoot(wild, host, UDP_DATA, old[kind], 128);
    }
    settle(2 * UDP_KIND_COUNT);
    nobody_was_answered();
    wild_talk(wild, 100);
    ck_assert_uint_eq(wild_conn_count(host), 1);
}

/* A peer, with all secrets but the key of the region. */
static void peer__guesses_a_key(const struct test_param *param)
{
    const struct uct_transport *tl = wild->hosts[0].iface->transport;
    uint8_t                     bytes[UCT_RKEY_BYTES_MAX], payload[64] = {1};
    struct uct_rkey            *rkey;
    size_t                      length;
    unsigned                    round;

    (void)param;
    wild_talk(wild, 10);
    length = tl->rkey_pack(host->mem, bytes);
    ucs_put_le64(bytes + 2, ucs_get_le64(bytes + 2) + 1);
    ck_assert_int_eq(tl->rkey_unpack(wild->hosts[0].md, bytes, length, &rkey),
                     UCS_OK);
    for (round = 0; round < 20; ++round) {
        ck_assert_int_eq(tl->put_short(wild->hosts[0].ep, payload,
                                       sizeof(payload), (uintptr_t)host->region,
                                       rkey, 0),
                         UCS_OK);
        wild_talk(wild, 1);
    }
    while (wild_count(host, UDP_COUNT_BAD_ACCESS) < 20) {
        wild_progress(wild);
    }
    ck_assert_uint_eq(host->region[0], 0);
    tl->rkey_release(rkey);
}

/* ------------------------------------------------------------- garbage */

static uint8_t noise[4096];

static void make_noise(void)
{
    size_t index;

    for (index = 0; index < sizeof(noise); ++index) {
        noise[index] = (uint8_t)test_random();
    }
}

/* One that looks like a packet from far, near or very near. */
static size_t garbage(uint8_t *bytes)
{
    size_t length = 1 + test_random_below(1400);

    memcpy(bytes, noise + test_random_below(sizeof(noise) - length), length);
    switch (test_random_below(4)) {
    case 0:
        return length; /* noise */
    case 1:
        (void)best_guess(bytes, (unsigned)test_random_below(UDP_KIND_COUNT));
        return 1 + test_random_below(127); /* cut */
    case 2:
        length = best_guess(bytes, (unsigned)test_random_below(UDP_KIND_COUNT));
        ucs_put_le32(bytes, (uint32_t)test_random()); /* of nobody */
        return length;
    default:
        return best_guess(bytes, (unsigned)test_random_below(UDP_KIND_COUNT));
    }
}

/* It is counted, all of it, and what was meant arrives. */
static void garbage__while_it_works(const struct test_param *param)
{
    const unsigned count = (unsigned)test_rounds(20000, 1000000);
    uint8_t        bytes[1500];
    unsigned       index;

    (void)param;
    make_noise();
    wild_talk(wild, 10);
    for (index = 0; index < count; ++index) {
        wild_shoot(wild, host, (index & 1) ? UDP_PRIORITY : UDP_DATA, bytes,
                   garbage(bytes));
        if (index % 32 == 31) {
            wild_talk(wild, 8);
            settle(index + 1);
        }
    }
    settle(count);
    nobody_was_answered();
    ck_assert_uint_eq(wild_conn_count(host), 1);
    ck_assert_int_eq(wild->hosts[0].failed, UCS_OK);
    ck_assert_uint_eq(wild->hosts[0].sent, host->got);
}

/* Both ends send `count` messages and have each other's. */
static void talk_both_ways(uint64_t count)
{
    struct wild_host *hosts = wild->hosts;

    while ((hosts[0].got < count) || (hosts[1].got < count)) {
        if (hosts[0].sent < count) {
            wild_send(&hosts[0]);
        }
        if (hosts[1].sent < count) {
            wild_send(&hosts[1]);
        }
        wild_progress(wild);
    }
}

static void both_ask__share_a_connection(const struct test_param *param)
{
    (void)param;
    wild_connect(&wild->hosts[0], wild->hosts[1].address);
    wild_connect(&wild->hosts[1], wild->hosts[0].address);
    talk_both_ways(50);
    ck_assert_uint_eq(wild_conn_count(&wild->hosts[0]), 1);
    ck_assert_uint_eq(wild_conn_count(&wild->hosts[1]), 1);
}

static void one_asks__the_other_uses_it(const struct test_param *param)
{
    (void)param;
    wild_talk(wild, 10);
    wild_connect(&wild->hosts[1], wild->hosts[0].address);
    talk_both_ways(50);
    ck_assert_uint_eq(wild_conn_count(&wild->hosts[0]), 1);
    ck_assert_uint_eq(wild_conn_count(&wild->hosts[1]), 1);
}

/* A client that has not said a word may have given the connection up. */
static void one_asks__and_is_not_heard(const struct test_param *param)
{
    uint64_t incarnation = wild_iface(&wild->hosts[0])->env.incarnation;

    (void)param;
    wild_connect(&wild->hosts[0], wild->hosts[1].address);
    wild_send(&wild->hosts[0]);
    while (wild_conn_count(&wild->hosts[1]) == 0) {
        (void)uct_udp_transport.progress(wild->hosts[1].iface);
        if (wild_conn_count(&wild->hosts[1]) == 0) {
            (void)uct_udp_transport.progress(wild->hosts[0].iface);
        }
    }
    ck_assert_ptr_null(
        udp_peers_adopt(wild_iface(&wild->hosts[1]), incarnation));
}

/* The one that gives way is destroyed while it asks: the other one connects
 * all the same. */
static void both_ask__and_one_goes(const struct test_param *param)
{
    (void)param;
    wild_connect(&wild->hosts[0], wild->hosts[1].address);
    wild_connect(&wild->hosts[1], wild->hosts[0].address);
    wild_send(&wild->hosts[0]);
    wild_send(&wild->hosts[1]);
    uct_udp_transport.ep_destroy(wild->hosts[1].ep);
    wild->hosts[1].ep = NULL;
    wild_talk(wild, 10);
}

static const struct test_case cases[] = {
    TEST(both_ask__share_a_connection),
    TEST(one_asks__the_other_uses_it),
    TEST(one_asks__and_is_not_heard),
    TEST(both_ask__and_one_goes),
    TEST_TIMEOUT(stranger__floods_with_questions, 600),
    TEST(stranger__guesses_everything_but_the_tag),
    TEST(stranger__repeats_an_earlier_life),
    TEST(insider__without_a_cookie),
    TEST(insider__with_the_cookie_of_another),
    TEST(insider__whose_names_cancel_out),
    TEST(inbox__without_memory),
    TEST(secret__wrong),
    TEST(peer__guesses_a_key),
    TEST_TIMEOUT(garbage__while_it_works, 600),
    {0}};

const struct test_suite udp_peers_suite = {.name     = "udp_peers",
                                           .cases    = cases,
                                           .setup    = fixture_wild_open,
                                           .teardown = fixture_wild_close};
