/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_io_direct.c - the socket of the busiest peer: when it is there, that
 * nothing is lost when it comes and goes, and that nobody is forgotten. */
#include "uct/udp/udp_io.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ucs/clock.h"
#include "ucs/fd.h"
#include "uct/suites.h"
#include "uct/udp_stage.h"

enum {
    BUSY_COUNT  = 1000, /* packets that make a peer the busiest */
    LEAVE_COUNT = 5000, /* and that make it another one */
    ASKED_COUNT = 40,   /* receives in which everybody is heard */
};

static struct udp_end ends[3];

static struct udp_io_params direct_params(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);

    params.direct = true;
    return params;
}

static void direct_setup(const struct test_param *param)
{
    struct udp_io_params params = direct_params(param);

    for (unsigned i = 0; i < 3; ++i) {
        udp_end_open(&ends[i], &params);
    }
}

static void direct_teardown(const struct test_param *param)
{
    (void)param;
    for (unsigned i = 0; i < 3; ++i) {
        if (ends[i].io != NULL) {
            udp_end_close(&ends[i]);
            ends[i].io = NULL;
        }
    }
}

static bool has_direct(unsigned end, enum udp_channel channel)
{
    udp_io_query(ends[end].io, &ends[end].attr);
    return ends[end].attr.direct_fds[channel] >= 0;
}

static void send_number(unsigned from, unsigned to, enum udp_channel channel,
                        uint32_t number)
{
    struct iovec   part = {&number, sizeof(number)};
    struct udp_out out  = {.to            = &ends[to].attr.addresses[channel],
                           .channel       = channel,
                           .iov           = &part,
                           .iov_count     = 1,
                           .dont_fragment = true};

    udp_end_send(&ends[from], &out);
}

/* The numbers [first, first + count) from one end to another; each arrives
 * once, from the port that all know. */
static void talk(unsigned from, unsigned to, enum udp_channel channel,
                 uint32_t count)
{
    struct udp_in in[UDP_IO_RECEIVE_COUNT_MAX];
    uint32_t      number, got;

    for (number = 0; number < count; ++number) {
        send_number(from, to, channel, number);
        ck_assert_uint_eq(udp_end_receive(&ends[to], channel, in, 1), 1);
        ck_assert_uint_eq(in[0].length, sizeof(got));
        memcpy(&got, in[0].data, sizeof(got));
        ck_assert_uint_eq(got, number);
        ck_assert_int_eq(ucsi_sockaddr_compare(
                             in[0].from, &ends[from].attr.addresses[channel]),
                         0);
    }
}

static void make_busy(enum udp_channel channel)
{
    ck_assert(!has_direct(0, channel));
    talk(0, 1, channel, BUSY_COUNT);
    ck_assert(has_direct(0, channel));
    ck_assert(!has_direct(0, (enum udp_channel)(1 - channel)));
    ck_assert(!has_direct(1, channel)); /* it only received */
}

static void direct__is_for_the_busiest_peer(const struct test_param *param)
{
    enum udp_channel channel;

    for (channel = 0; channel < UDP_CHANNEL_COUNT; ++channel) {
        make_busy(channel);
        /* Both ways, both with one and with none. */
        talk(1, 0, channel, 2 * BUSY_COUNT);
        ck_assert(has_direct(1, channel));
        talk(0, 1, channel, BUSY_COUNT);
        direct_teardown(param);
        direct_setup(param);
    }
}

/* Take what waits, in both sockets. */
static void drain(unsigned end, enum udp_channel channel, unsigned *count_p)
{
    struct udp_in in[1];
    unsigned      empty = 0;

    while (empty < ASKED_COUNT) {
        if (udp_io_receive(ends[end].io, channel, in, 1) == 1) {
            ++*count_p;
            empty = 0;
        } else {
            ++empty;
        }
    }
}

/* Within some receives, whoever else is busy. */
static void heard_soon(unsigned from, enum udp_channel channel, bool is_busy)
{
    struct udp_in in[1];
    bool          heard = false;
    unsigned      calls;

    send_number(from, 0, channel, 77);
    for (calls = 0; (calls < ASKED_COUNT) && !heard; ++calls) {
        if (is_busy) {
            send_number(1, 0, channel, calls);
        }
        heard = (udp_io_receive(ends[0].io, channel, in, 1) == 1) &&
                (ucsi_sockaddr_compare(
                     in[0].from, &ends[from].attr.addresses[channel]) == 0);
    }
    ck_assert(heard);
    drain(0, channel, &calls);
}

static void direct__others_are_heard(const struct test_param *param)
{
    enum udp_channel channel;

    for (channel = 0; channel < UDP_CHANNEL_COUNT; ++channel) {
        make_busy(channel);
        talk(1, 0, channel, 10); /* the direct one is the one asked now */
        heard_soon(2, channel, false);
        heard_soon(2, channel, true);
        talk(2, 0, channel, 10);
        heard_soon(1, channel, false);
        direct_teardown(param);
        direct_setup(param);
    }
}

/* Another one becomes the busiest: what lies in the old socket is read. */
static void direct__goes_to_another(const struct test_param *param)
{
    enum { WAITING = 50 };
    unsigned count = 0;

    (void)param;
    make_busy(UDP_PRIORITY);
    for (unsigned i = 0; i < WAITING; ++i) {
        send_number(1, 0, UDP_PRIORITY, i);
    }
    talk(0, 2, UDP_PRIORITY, LEAVE_COUNT);
    drain(0, UDP_PRIORITY, &count);
    ck_assert_uint_eq(count, WAITING);
    ck_assert(!has_direct(0, UDP_PRIORITY));
    talk(0, 2, UDP_PRIORITY, BUSY_COUNT);
    ck_assert(has_direct(0, UDP_PRIORITY));
    talk(2, 0, UDP_PRIORITY, 10);
    heard_soon(1, UDP_PRIORITY, false);
}

/* Who talks to many in turn needs none. */
static void direct__not_for_many(const struct test_param *param)
{
    (void)param;
    for (unsigned i = 0; i < BUSY_COUNT; ++i) {
        talk(0, 1, UDP_PRIORITY, 1);
        talk(0, 2, UDP_PRIORITY, 1);
    }
    ck_assert(!has_direct(0, UDP_PRIORITY));
}

static void direct__wakes_the_sleeper(const struct test_param *param)
{
    struct pollfd poll_fd = {.events = POLLIN};
    unsigned      count   = 0;

    (void)param;
    udp_io_detach(ends[0].io); /* one that is opened now comes in later */
    make_busy(UDP_PRIORITY);
    poll_fd.fd = udp_io_event_fd(ends[0].io);
    for (unsigned from = 1; from < 3; ++from) {
        ck_assert_int_eq(udp_io_arm(ends[0].io, UCS_NS_INFINITE, false),
                         UCS_OK);
        ck_assert_int_eq(poll(&poll_fd, 1, 0), 0);
        send_number(from, 0, UDP_PRIORITY, 1);
        ck_assert_int_eq(poll(&poll_fd, 1, 10000), 1);
        ck_assert_int_eq(udp_io_arm(ends[0].io, UCS_NS_INFINITE, false),
                         UCS_ERR_BUSY);
        drain(0, UDP_PRIORITY, &count);
        udp_io_detach(ends[0].io);
    }
    ck_assert_uint_eq(count, 2);
}

struct gone {
    struct udp_hint hint;
    bool            is_told;
};

static bool is_told(void *arg)
{
    struct gone    *gone = arg;
    struct udp_in   in[1];
    struct udp_hint hint;

    (void)udp_io_receive(ends[0].io, UDP_PRIORITY, in, 1);
    while (udp_io_next_hint(ends[0].io, &hint)) {
        gone->is_told = true;
        gone->hint    = hint;
    }
    return gone->is_told && !has_direct(0, UDP_PRIORITY);
}

/* It is told like any other loss, and the socket is given up. */
static void direct__peer_is_gone(const struct test_param *param)
{
    struct ucs_sockaddr address;
    struct gone         gone = {.is_told = false};

    (void)param;
    make_busy(UDP_PRIORITY);
    address = ends[1].attr.addresses[UDP_PRIORITY];
    udp_end_close(&ends[1]);
    ends[1].io                           = NULL;
    ends[1].attr.addresses[UDP_PRIORITY] = address;
    send_number(0, 1, UDP_PRIORITY, 1);
    ck_assert(test_wait_until(is_told, &gone, 10));
    ck_assert_int_eq(gone.hint.status, UCS_ERR_REJECTED);
    ck_assert_int_eq(ucsi_sockaddr_compare(&gone.hint.to, &address), 0);
    ck_assert_int_eq(udp_io_arm(ends[0].io, UCS_NS_INFINITE, false), UCS_OK);
    talk(0, 2, UDP_PRIORITY, 3);
}

/* Whoever asks for the port, with whatever option, does not get it. */
static void direct__nobody_joins_the_port(const struct test_param *param)
{
    const struct ucs_sockaddr *address = &ends[0].attr.addresses[UDP_PRIORITY];
    int                        one     = 1;
    int                        fd;

    (void)param;
    make_busy(UDP_PRIORITY);
    fd = socket(address->base.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)), 0);
    ck_assert_int_ne(bind(fd, &address->base, address->size_bytes), 0);
    ucsi_fd_close(&fd);
}

static void direct__only_if_wanted(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);

    udp_end_close(&ends[0]);
    udp_end_open(&ends[0], &params);
    talk(0, 1, UDP_PRIORITY, 2 * BUSY_COUNT);
    ck_assert(!has_direct(0, UDP_PRIORITY));
}

static const struct test_case cases[] = {
    TEST(direct__is_for_the_busiest_peer),
    TEST(direct__others_are_heard),
    TEST(direct__goes_to_another),
    TEST(direct__not_for_many),
    TEST(direct__wakes_the_sleeper),
    TEST(direct__peer_is_gone),
    TEST(direct__nobody_joins_the_port),
    TEST(direct__only_if_wanted),
    {0},
};

const struct test_suite udp_io_direct_suite = {
    "udp_io_direct", cases, udp_stage_families, direct_setup, direct_teardown};
