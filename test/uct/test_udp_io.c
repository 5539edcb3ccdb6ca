/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_io.c - opening, closing, sleeping and waking. */
#include "uct/udp/udp_io.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ucs/clock.h"
#include "ucs/fd.h"
#include "ucs/log_capture.h"
#include "uct/suites.h"
#include "uct/udp_stage.h"

static void udp_io__tells_what_it_got(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    struct udp_end       end;

    udp_end_open(&end, &params);
    ck_assert_uint_ne(ucsi_sockaddr_port(&end.attr.addresses[UDP_PRIORITY]), 0);
    ck_assert_uint_ne(ucsi_sockaddr_port(&end.attr.addresses[UDP_PRIORITY]),
                      ucsi_sockaddr_port(&end.attr.addresses[UDP_DATA]));
    ck_assert_uint_eq(end.attr.mtu_bytes, 65536);
    ck_assert_uint_eq(end.attr.header_bytes,
                      (params.local.base.sa_family == AF_INET) ? 28 : 48);
    ck_assert_uint_eq(end.attr.dropped_count, 0);
    ck_assert_uint_gt(end.attr.receive_bytes, 0);
    udp_end_close(&end);
}

static void udp_io__range_of_ports(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    struct udp_end       first, second;
    unsigned             low, high;

    udp_end_open(&first, &params);
    low  = ucsi_sockaddr_port(&first.attr.addresses[UDP_PRIORITY]);
    high = ucsi_sockaddr_port(&first.attr.addresses[UDP_DATA]);
    /* One port is not enough for two sockets. */
    log_capture_start();
    params.port_min = params.port_max = (uint16_t)low;
    ck_assert_int_eq(udp_io_open(&params, &second.io), UCS_ERR_BUSY);
    udp_end_close(&first);
    ck_assert_int_eq(udp_io_open(&params, &second.io), UCS_ERR_BUSY);
    ck_assert_uint_eq(log_captured.count, 2);

    params.port_min = (uint16_t)ucs_min(low, high);
    params.port_max = (uint16_t)ucs_max(low, high);
    udp_end_open(&second, &params);
    low  = ucsi_sockaddr_port(&second.attr.addresses[UDP_PRIORITY]);
    high = ucsi_sockaddr_port(&second.attr.addresses[UDP_DATA]);
    ck_assert_uint_ge(ucs_min(low, high), params.port_min);
    ck_assert_uint_le(ucs_max(low, high), params.port_max);
    udp_end_close(&second);
}

/* Each descriptor that opening needs fails once; the runner finds what a
 * failure leaves open or allocated. */
static void udp_io__descriptor_limit(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    struct rlimit        before;
    struct rlimit        limit;
    struct udp_io       *io     = NULL;
    ucs_status_t         status = UCS_ERR_LAST;
    unsigned             failures;
    int                  free_fd = dup(0);

    ck_assert_int_ge(free_fd, 0);
    ck_assert_int_eq(close(free_fd), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    log_capture_start();
    for (failures = 0; failures < 16; ++failures) {
        limit          = before;
        limit.rlim_cur = (rlim_t)free_fd + failures;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
        status = udp_io_open(&params, &io);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
        if (status == UCS_OK) {
            break;
        }
        ck_assert_int_eq(status, UCS_ERR_EXCEEDS_LIMIT);
        ck_assert_uint_ge(log_captured.count, failures + 1);
    }
    ck_assert_int_eq(status, UCS_OK);
    ck_assert_uint_ge(failures, 4); /* epoll, timer, two sockets */
    udp_io_close(io);
}

static bool is_readable(int fd, int timeout_ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    int           count   = poll(&poll_fd, 1, timeout_ms);

    ck_assert_int_ge(count, 0);
    return count > 0;
}

static void send_letter(struct udp_end *from, const struct udp_end *to,
                        enum udp_channel channel, char letter)
{
    struct iovec   part = {&letter, 1};
    struct udp_out out  = {.to        = &to->attr.addresses[channel],
                           .channel   = channel,
                           .iov       = &part,
                           .iov_count = 1};

    udp_end_send(from, &out);
}

static void send_byte(struct udp_end *from, const struct udp_end *to,
                      enum udp_channel channel)
{
    send_letter(from, to, channel, 'x');
}

/* It is there until it is received. */
static void expect_wake(struct udp_end *end, enum udp_channel channel)
{
    int           fd = udp_io_event_fd(end->io);
    struct udp_in in;

    ck_assert_int_eq(udp_io_arm(end->io, UCS_NS_INFINITE, false), UCS_ERR_BUSY);
    ck_assert(is_readable(fd, 10000));
    ck_assert_uint_eq(udp_end_receive(end, channel, &in, 1), 1);
    ck_assert(!is_readable(fd, 0));
}

static void udp_io_arm__packet_wakes(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    struct udp_end       ends[2];
    enum udp_channel     channel;

    udp_stage_open(ends, &params);
    for (channel = 0; channel < UDP_CHANNEL_COUNT; ++channel) {
        int fd = udp_io_event_fd(ends[1].io);

        ck_assert_int_eq(udp_io_arm(ends[1].io, UCS_NS_INFINITE, false),
                         UCS_OK);
        ck_assert(!is_readable(fd, 0));
        send_byte(&ends[0], &ends[1], channel);
        ck_assert(is_readable(fd, 10000));
        expect_wake(&ends[1], channel);
    }
    udp_stage_close(ends);
}

/* A packet that comes meanwhile wakes nobody, and is not lost. */
static void udp_io_detach__lasts_until_armed(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    struct udp_end       ends[2];
    enum udp_channel     channel;

    udp_stage_open(ends, &params);
    for (channel = 0; channel < UDP_CHANNEL_COUNT; ++channel) {
        udp_io_detach(ends[1].io);
        udp_io_detach(ends[1].io);
        send_byte(&ends[0], &ends[1], channel);
        ck_assert(!is_readable(udp_io_event_fd(ends[1].io), 100));
        expect_wake(&ends[1], channel);
        send_byte(&ends[0], &ends[1], channel); /* armed, still */
        expect_wake(&ends[1], channel);
    }
    udp_stage_close(ends);
}

/* It has the same event set, and closes what it has no use for. */
static void
udp_io_close__of_a_child_leaves_us_awake(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    struct udp_end       ends[2];
    int                  status;
    pid_t                child;

    udp_stage_open(ends, &params);
    ck_assert_int_eq(udp_io_arm(ends[1].io, UCS_NS_INFINITE, false), UCS_OK);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        udp_io_detach(ends[1].io);
        udp_io_close(ends[1].io);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    send_byte(&ends[0], &ends[1], UDP_PRIORITY);
    ck_assert(is_readable(udp_io_event_fd(ends[1].io), 10000));
    udp_stage_close(ends);
}

/* The timer has fired, or the kernel is about to say so: nobody sleeps long. */
static void check_is_due(const struct udp_end *end, uint64_t deadline_ns)
{
    ucs_status_t status = udp_io_arm(end->io, deadline_ns, false);

    ck_assert(
        (status == UCS_ERR_BUSY) ||
        ((status == UCS_OK) && is_readable(udp_io_event_fd(end->io), 10000)));
}

static void udp_io_arm__deadline_wakes(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    struct udp_end       end;
    uint64_t             deadline_ns;
    int                  fd;

    udp_end_open(&end, &params);
    fd = udp_io_event_fd(end.io);
    /* Long past. */
    check_is_due(&end, 1);
    check_is_due(&end, 1);
    ck_assert_int_eq(udp_io_arm(end.io, UCS_NS_INFINITE, false), UCS_OK);
    ck_assert(!is_readable(fd, 0));

    deadline_ns = ucsi_clock_ns() + 20 * UCS_NS_PER_MS;
    ck_assert_int_eq(udp_io_arm(end.io, deadline_ns, false), UCS_OK);
    ck_assert(is_readable(fd, 10000));
    ck_assert_uint_ge(ucsi_clock_ns(), deadline_ns);
    /* The same again: it has come. A later one: it has not. */
    check_is_due(&end, deadline_ns);
    ck_assert_int_eq(
        udp_io_arm(end.io, ucsi_clock_ns() + 3600ull * UCS_NS_PER_S, false),
        UCS_OK);
    ck_assert_int_eq(udp_io_arm(end.io, UCS_NS_INFINITE, false), UCS_OK);
    ck_assert(!is_readable(fd, 0));
    udp_end_close(&end);
}

static void udp_io_arm__room_is_there(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    struct udp_end       end;

    udp_end_open(&end, &params);
    ck_assert_int_eq(udp_io_arm(end.io, UCS_NS_INFINITE, true), UCS_ERR_BUSY);
    ck_assert_int_eq(udp_io_arm(end.io, UCS_NS_INFINITE, false), UCS_OK);
    udp_end_close(&end);
}

enum { RACE_COUNT = 3000 };

static bool take_answer(void *end)
{
    return udp_io_receive(((struct udp_end *)end)->io, UDP_PRIORITY,
                          &(struct udp_in){0}, 1) > 0;
}

/* One packet in flight, at another moment each time; 'e': the last. On a busy
 * machine each may wait for the processor, so there is a bound in time too. */
static void *send_with_pauses(void *arg)
{
    struct udp_end *ends     = arg;
    bool            answered = true;
    uint64_t        i, pause;

    for (i = 0; (i < RACE_COUNT) && test_has_time(15) && answered; ++i) {
        send_byte(&ends[0], &ends[1], (enum udp_channel)(i & 1));
        answered = test_wait_until(take_answer, &ends[0], 20);
        for (pause = (i * 2654435761u) >> 7 & 1023; pause > 0; --pause) {
            ucs_cpu_relax();
        }
    }
    send_letter(&ends[0], &ends[1], UDP_DATA, 'e');
    return answered ? NULL : arg;
}

/* @return whether the last packet is among them. */
static bool answer_all(struct udp_end ends[2], const struct udp_in *in,
                       unsigned count)
{
    bool is_over = false;

    for (; count > 0; --count, ++in) {
        is_over = is_over || (in->data[0] == 'e');
        send_byte(&ends[1], &ends[0], UDP_PRIORITY);
    }
    return is_over;
}

/* A packet comes at any moment around arm: the sleeper always wakes. */
static void udp_io_arm__race_loses_nothing(const struct test_param *param)
{
    struct udp_io_params params = udp_stage_params(param->value);
    struct udp_end       ends[2];
    struct udp_in        in[4];
    bool                 is_over = false;
    unsigned             round   = 0;
    pthread_t            thread;
    void                *unanswered;

    udp_stage_open(ends, &params);
    ck_assert_int_eq(pthread_create(&thread, NULL, send_with_pauses, ends), 0);
    while (!is_over) {
        is_over = answer_all(ends, in,
                             udp_io_receive(ends[1].io, UDP_PRIORITY, in, 4));
        is_over =
            answer_all(ends, in, udp_io_receive(ends[1].io, UDP_DATA, in, 4)) ||
            is_over;
        if (++round % 3 == 0) {
            udp_io_detach(ends[1].io);
        }
        if (!is_over &&
            (udp_io_arm(ends[1].io, UCS_NS_INFINITE, false) == UCS_OK) &&
            !is_readable(udp_io_event_fd(ends[1].io), 20000)) {
            ck_abort_msg("not woken");
        }
    }
    ck_assert_int_eq(pthread_join(thread, &unanswered), 0);
    ck_assert_ptr_null(unanswered);
    udp_stage_close(ends);
}

static const struct test_case cases[] = {
    TEST(udp_io__tells_what_it_got),
    TEST(udp_io__range_of_ports),
    TEST(udp_io__descriptor_limit),
    TEST(udp_io_arm__packet_wakes),
    TEST(udp_io_detach__lasts_until_armed),
    TEST(udp_io_close__of_a_child_leaves_us_awake),
    TEST(udp_io_arm__deadline_wakes),
    TEST(udp_io_arm__room_is_there),
    TEST(udp_io_arm__race_loses_nothing),
    {0},
};

const struct test_suite udp_io_suite = {"udp_io", cases, udp_stage_families,
                                        NULL, NULL};
