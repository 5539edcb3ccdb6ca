/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_stall.c - the helper looks when somebody must, and else sleeps. */
#include <dirent.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "ucs/clock.h"
#include "uct/suites.h"
#include "uct/udp_wild.h"

enum { STALL_IDLE_MS = 1000, STALL_SWITCHES_MAX = 40, STALL_POLL_COUNT = 3000 };
enum { STALL_AM_ID = 6, STALL_WHOLE_BYTES = 30000 };

static struct wild wild;

/* By hand, or by its thread. */
static const struct test_param helpers[] = {
    {"by_hand", "n"}, {"by_thread", "y"}, {NULL, NULL}};

static bool is_by_hand(const struct test_param *param)
{
    return ((const char *)param->value)[0] == 'n';
}

static void setup(const struct test_param *param)
{
    (void)setenv("UCX_UDP_HELPER", param->value, 1);
    wild_bound_ms = 20 * 1000; /* so that no keep-alive is due */
    wild_open(&wild);
    wild_talk(&wild, 10);
}

static struct udp_iface *iface_of(unsigned index)
{
    return wild_iface(&wild.hosts[index]);
}

static void teardown(const struct test_param *param)
{
    (void)param;
    /* Nobody answers while the first one closes. */
    uct_udp_transport.ep_destroy(wild.hosts[0].ep);
    wild.hosts[0].ep = NULL;
    while (iface_of(0)->env.ending_count > 0) {
        wild_progress(&wild);
    }
    wild_close(&wild);
}

/* An operation, and a message, of this test. */
static unsigned done_count, whole_count;

static void whole_done(struct uct_req *req)
{
    ck_assert_int_eq(req->status, UCS_OK);
    ++done_count;
}

static ucs_status_t whole_message(void *arg, struct uct_source *source,
                                  void *data, size_t length, unsigned flags)
{
    (void)arg;
    (void)source;
    (void)data;
    (void)flags;
    ck_assert_uint_eq(length, STALL_WHOLE_BYTES);
    ++whole_count;
    return UCS_OK;
}

static bool rests(unsigned index)
{
    return atomic_load(&iface_of(index)->stall.rests);
}

/* Look until there is nothing to look after. */
static bool look_until_rest(void *arg)
{
    const struct test_param *param = arg;

    if (is_by_hand(param)) {
        (void)udp_stall_look(iface_of(0));
        (void)udp_stall_look(iface_of(1));
    }
    return rests(0) && rests(1);
}

static void let_rest(const struct test_param *param)
{
    void *arg = (void *)(uintptr_t)param;

    ck_assert(test_wait_until(look_until_rest, arg, 20));
}

/* As an application that calls nothing but this. */
static unsigned kept_count(unsigned index)
{
    unsigned count;

    udp_enter(iface_of(index));
    count = iface_of(index)->inbox_count;
    udp_leave(iface_of(index));
    return count;
}

static bool has_kept_all(void *arg)
{
    const struct test_param *param = arg;

    if (is_by_hand(param) && !rests(0)) {
        (void)udp_stall_look(iface_of(0));
    }
    if (is_by_hand(param)) {
        (void)udp_stall_look(iface_of(1));
    }
    return kept_count(1) == wild.hosts[0].sent - wild.hosts[1].got;
}

/* Both compute: nothing is due, so nobody looks; until one sends. It does not
 * call again, and all of it arrives. */
static void rest__ends_when_something_is_sent(const struct test_param *param)
{
    unsigned round, count;

    let_rest(param);
    for (round = 0; round < 20; ++round) {
        for (count = 0; count < 7; ++count) { /* some share a packet */
            wild_send(&wild.hosts[0]);
        }
        ck_assert(!rests(0));
        ck_assert(test_wait_until(has_kept_all, (void *)(uintptr_t)param, 20));
        let_rest(param);
    }
}

/* A call that leaves nothing to look after leaves the helper alone. */
static void rest__lasts_while_nothing_is_due(const struct test_param *param)
{
    let_rest(param);
    (void)uct_udp_transport.progress(wild.hosts[0].iface);
    ck_assert(rests(0));
}

/* Who polls for long is not told of packets; the helper rested on that. */
static void rest__ends_when_it_polls_for_long(const struct test_param *param)
{
    unsigned round, poll;

    for (round = 0; round < 3; ++round) {
        let_rest(param);
        for (poll = 0; poll < STALL_POLL_COUNT; ++poll) {
            (void)uct_udp_transport.progress(wild.hosts[1].iface);
        }
        if (is_by_hand(param)) {
            ck_assert(!rests(1));
        }
        wild_send(&wild.hosts[0]);
        ck_assert(test_wait_until(has_kept_all, (void *)(uintptr_t)param, 20));
    }
}

/* Its packet is what wakes it. */
static void sleeper__keeps_its_packets(const struct test_param *param)
{
    if (!is_by_hand(param)) {
        test_skip("one cannot look at the right moment");
    }
    while (uct_udp_transport.arm(wild.hosts[1].iface) != UCS_OK) {
        wild_progress(&wild);
    }
    (void)udp_stall_look(iface_of(1)); /* it has polled */
    ck_assert_int_eq(udp_stall_look(iface_of(1)), UDP_STALL_REST);
    wild_send(&wild.hosts[0]);
    while (udp_stall_look(iface_of(1)) == UDP_STALL_REST) {
        (void)uct_udp_transport.progress(wild.hosts[0].iface);
    }
    ck_assert_uint_eq(kept_count(1), 0);
    while (wild.hosts[1].got < wild.hosts[0].sent) {
        wild_progress(&wild);
    }
}

/* The sender's side knows that all of it arrived. */
static bool has_settled(void *arg)
{
    struct udp_iface      *iface = iface_of(0);
    const struct udp_conn *conn  = udp_ep_of(wild.hosts[0].ep)->conn;
    bool                   is_idle;

    (void)look_until_rest(arg);
    udp_enter(iface);
    is_idle = udp_conn_has_settled(conn);
    udp_leave(iface);
    return is_idle;
}

/* Messages wait for the receiver's application, and a completion waits for the
 * sender's, however often the helper looks. */
static void computing__nobody_is_called(const struct test_param *param)
{
    static uint8_t memory[STALL_WHOLE_BYTES];
    struct uct_iov iov    = {.buffer = memory, .length = sizeof(memory)};
    struct uct_req req    = {.cb = whole_done};
    uint64_t       before = wild.hosts[1].got;

    done_count = whole_count = 0;
    ucti_iface_set_am(wild.hosts[1].iface, STALL_AM_ID, whole_message, NULL);
    let_rest(param);
    wild_send(&wild.hosts[0]);
    ck_assert_int_eq(uct_udp_transport.am_zcopy(wild.hosts[0].ep, STALL_AM_ID,
                                                NULL, 0, &iov, 1, &req, 0),
                     UCS_INPROGRESS);
    ck_assert(test_wait_until(has_settled, (void *)(uintptr_t)param, 20));
    let_rest(param);
    ck_assert_uint_eq(kept_count(1), 2);
    ck_assert_uint_eq(wild.hosts[1].got, before);
    ck_assert_uint_eq(whole_count + done_count, 0);
    wild_progress(&wild);
    ck_assert_uint_eq(wild.hosts[1].got, before + 1);
    ck_assert_uint_eq(whole_count, 1);
    ck_assert_uint_eq(done_count, 1);
}

static long switches(void)
{
    struct rusage usage;

    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_nvcsw;
}

/* Sleep as a careful application does. */
static void sleep_until(uint64_t end_ns)
{
    struct pollfd fds[2];
    unsigned      index;
    bool          is_armed;

    while (ucsi_clock_ns() < end_ns) {
        wild_progress(&wild);
        is_armed = true;
        for (index = 0; index < 2; ++index) {
            fds[index].fd = uct_udp_transport.event_fd(wild.hosts[index].iface);
            fds[index].events = POLLIN;
            is_armed &=
                uct_udp_transport.arm(wild.hosts[index].iface) == UCS_OK;
        }
        if (is_armed) {
            (void)poll(fds, 2,
                       (int)((end_ns - ucs_min(end_ns, ucsi_clock_ns())) /
                             UCS_NS_PER_MS) +
                           1);
        }
    }
}

/* Of the application and of the helper together. */
static void sleeper__is_woken_seldom(const struct test_param *param)
{
    const uint64_t idle_ns = STALL_IDLE_MS * (uint64_t)UCS_NS_PER_MS;
    double         cpu_s;
    long           before;

    (void)param;
    sleep_until(ucsi_clock_ns() + idle_ns); /* the path is searched */
    before = switches();
    cpu_s  = test_cpu_seconds();
    sleep_until(ucsi_clock_ns() + idle_ns);
    ck_assert_int_lt(switches() - before, STALL_SWITCHES_MAX);
    ck_assert_double_lt(test_cpu_seconds() - cpu_s, STALL_IDLE_MS * 0.02e-3);
}

/* The application computes; here it sleeps, to be told from the helper. */
static void computing__costs_nothing(const struct test_param *param)
{
    long before;

    let_rest(param);
    before = switches();
    (void)poll(NULL, 0, STALL_IDLE_MS);
    ck_assert_int_lt(switches() - before, STALL_SWITCHES_MAX);
}

static unsigned thread_count(void)
{
    const struct dirent *entry;
    unsigned             count = 0;
    DIR                 *tasks = opendir("/proc/self/task");

    ck_assert_ptr_nonnull(tasks);
    while ((entry = readdir(tasks)) != NULL) {
        count += (entry->d_name[0] != '.');
    }
    (void)closedir(tasks);
    return count;
}

/* Who ends is joined, but its entry may stay for a moment longer. */
static bool has_no_thread(void *arg)
{
    return thread_count() == *(const unsigned *)arg;
}

/* From the first interface to the last one, however many there are. */
static void thread__is_one_for_all_interfaces(const struct test_param *param)
{
    unsigned    before = thread_count(), own = is_by_hand(param) ? 0 : 1;
    unsigned    without = before - own;
    struct wild more;

    wild_open(&more);
    ck_assert_uint_eq(thread_count(), before);
    teardown(param);
    ck_assert_uint_eq(thread_count(), before);
    wild_close(&more);
    ck_assert(test_wait_until(has_no_thread, &without, 20));
    setup(param);
    ck_assert_uint_eq(thread_count(), before);
}

static const struct test_case cases[] = {
    TEST(rest__ends_when_something_is_sent),
    TEST(rest__lasts_while_nothing_is_due),
    TEST(rest__ends_when_it_polls_for_long),
    TEST(sleeper__keeps_its_packets),
    TEST(sleeper__is_woken_seldom),
    TEST(computing__nobody_is_called),
    TEST(computing__costs_nothing),
    TEST(thread__is_one_for_all_interfaces),
    {0},
};

const struct test_suite udp_stall_suite = {.name     = "udp_stall",
                                           .cases    = cases,
                                           .params   = helpers,
                                           .setup    = setup,
                                           .teardown = teardown};
