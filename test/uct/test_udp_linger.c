/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_linger.c - a close waits for what was accepted, and sleeps
 * meanwhile. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "ucs/clock.h"
#include "uct/suites.h"
#include "uct/udp_wild.h"

static struct wild wild;

static void setup(const struct test_param *param)
{
    (void)param;
    (void)setenv("UCX_UDP_HELPER", "n", 1); /* who is silent is silent */
    wild_open(&wild);
    wild_talk(&wild, 10);
}

static void teardown(const struct test_param *param)
{
    (void)param;
    wild_host_close(&wild.hosts[1]);
    wild_close_stranger(&wild);
}

/* So many messages that the peer does not hear of. */
static void leave_unheard(unsigned count)
{
    uint64_t end = wild.hosts[0].sent + count;

    while (wild.hosts[0].sent < end) {
        wild_send(&wild.hosts[0]);
        (void)uct_udp_transport.progress(wild.hosts[0].iface);
    }
}

static double seconds_since(uint64_t begin_ns)
{
    return (double)(ucsi_clock_ns() - begin_ns) / UCS_NS_PER_S;
}

/* The peer is silent: until it counts as dead. */
static void linger__sleeps_up_to_the_bound(const struct test_param *param)
{
    uint64_t begin_ns = ucsi_clock_ns();
    double   cpu_s;

    (void)param;
    leave_unheard(3);
    cpu_s = test_cpu_seconds();
    wild_host_close(&wild.hosts[0]);
    cpu_s = test_cpu_seconds() - cpu_s;
    ck_assert_double_ge(seconds_since(begin_ns), WILD_BOUND_MS * 0.8e-3);
    ck_assert_double_lt(cpu_s, 0.1 * WILD_BOUND_MS * 1e-3);
}

static atomic_bool is_closed;

/* The peer hears of nothing for a while, then of everything. */
static void *answer_late(void *arg)
{
    uint64_t begin_ns = ucsi_clock_ns();

    while (seconds_since(begin_ns) < WILD_BOUND_MS * 0.3e-3) {
        (void)sched_yield();
    }
    while (!atomic_load(&is_closed)) {
        (void)uct_udp_transport.progress(wild.hosts[1].iface);
    }
    return arg;
}

static void linger__ends_with_the_last_answer(const struct test_param *param)
{
    uint64_t  begin_ns = ucsi_clock_ns(), sent;
    pthread_t peer;

    (void)param;
    leave_unheard(5);
    sent = wild.hosts[0].sent;
    ck_assert_int_eq(pthread_create(&peer, NULL, answer_late, NULL), 0);
    wild_host_close(&wild.hosts[0]);
    atomic_store(&is_closed, true);
    ck_assert_double_ge(seconds_since(begin_ns), WILD_BOUND_MS * 0.3e-3);
    ck_assert_int_eq(pthread_join(peer, NULL), 0);
    while (wild.hosts[1].got < sent) {
        (void)uct_udp_transport.progress(wild.hosts[1].iface);
    }
}

static void *close_peer(void *arg)
{
    wild_host_close(&wild.hosts[1]);
    return arg;
}

/* The peer has no endpoint, so nothing but its close says that it leaves: by
 * a FIN, and RESET only behind it. */
static void goodbye__comes_before_the_end(const struct test_param *param)
{
    struct udp_conn *conn = ((struct udp_ep *)wild.hosts[0].ep)->conn;
    uint64_t         begin_ns;
    pthread_t        peer;
    bool             is_open;

    (void)param;
    begin_ns = ucsi_clock_ns();
    ck_assert_int_eq(pthread_create(&peer, NULL, close_peer, NULL), 0);
    while (!conn->has_peer_fin) {
        (void)uct_udp_transport.progress(wild.hosts[0].iface);
    }
    is_open = (conn->state == UDP_CONN_OPEN) ||
              (seconds_since(begin_ns) > 0.2); /* it did not wait for us */
    ck_assert_int_eq(pthread_join(peer, NULL), 0);
    ck_assert(is_open);
    wild_host_open(&wild.hosts[1]);
    wild_host_close(&wild.hosts[0]);
}

/* Who does not answer is not waited for. */
static void goodbye__is_short(const struct test_param *param)
{
    uint64_t begin_ns;

    (void)param;
    wild_host_close(&wild.hosts[1]); /* hosts[0] does not call */
    begin_ns = ucsi_clock_ns();
    wild_host_open(&wild.hosts[1]);
    while (wild.hosts[0].failed == UCS_OK) {
        (void)uct_udp_transport.progress(wild.hosts[0].iface);
    }
    ck_assert_double_lt(seconds_since(begin_ns), test_scaled_seconds(5));
    ck_assert_int_eq(wild.hosts[0].failed, UCS_ERR_CONNECTION_RESET);
    wild_host_close(&wild.hosts[0]);
}

/* What has come is lost. */
static void lose_what_came(struct wild_host *host)
{
    struct udp_in in[UDP_IO_RECEIVE_COUNT_MAX];

    for (unsigned channel = 0; channel < UDP_CHANNEL_COUNT; ++channel) {
        while (udp_io_receive(wild_iface(host)->io, channel, in,
                              UCS_ARRAY_COUNT(in)) > 0) {
        }
    }
}

/* Both ends have closed; the one hears nothing of it that the other has its
 * FIN, and the other is gone. */
static void
goodbye__is_not_waited_for_when_he_is_gone(const struct test_param *param)
{
    struct udp_conn *conn = ((struct udp_ep *)wild.hosts[0].ep)->conn;
    uint64_t         begin_ns;

    (void)param;
    ucti_ep_destroy(wild.hosts[0].ep);
    wild.hosts[0].ep = NULL;
    (void)uct_udp_transport.progress(wild.hosts[0].iface);
    while (conn->state != UDP_CONN_CLOSED) {
        (void)uct_udp_transport.progress(wild.hosts[1].iface);
        lose_what_came(&wild.hosts[1]);
        (void)uct_udp_transport.progress(wild.hosts[0].iface);
    }
    lose_what_came(&wild.hosts[1]);
    wild_host_close(&wild.hosts[0]);
    lose_what_came(&wild.hosts[1]);
    begin_ns = ucsi_clock_ns();
    wild_host_close(&wild.hosts[1]);
    ck_assert_double_lt(seconds_since(begin_ns), WILD_BOUND_MS * 0.4e-3);
    wild_host_open(&wild.hosts[1]);
}

static const struct test_case cases[] = {
    TEST(goodbye__comes_before_the_end),
    TEST(goodbye__is_short),
    TEST(goodbye__is_not_waited_for_when_he_is_gone),
    TEST(linger__sleeps_up_to_the_bound),
    TEST(linger__ends_with_the_last_answer),
    {0},
};

const struct test_suite udp_linger_suite = {
    .name = "udp_linger", .cases = cases, .setup = setup, .teardown = teardown};
