/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucs/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucs/clock.h"
#include "ucs/log.h"
#include "ucs/suites.h"

static unsigned logged_count;

static void log_count(void *arg, ucs_log_level_t level, const char *file,
                      unsigned line, const char *text)
{
    (void)arg;
    (void)level;
    (void)file;
    (void)line;
    (void)text;
    ++logged_count;
}

static const struct ucs_log_handler counter = {log_count, NULL};

static bool is_readable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, 0) == 1;
}

static void check_prepared(int fd)
{
    ck_assert_int_ge(fd, 0);
    ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static void errno_status__table(const struct test_param *param)
{
    static const struct {
        int          error;
        ucs_status_t status;
    } rows[] = {
        {0, UCS_OK},
        {EAGAIN, UCS_ERR_WOULD_BLOCK},
        {EINPROGRESS, UCS_INPROGRESS},
        {ECONNREFUSED, UCS_ERR_REJECTED},
        {ECONNRESET, UCS_ERR_CONNECTION_RESET},
        {EPIPE, UCS_ERR_CONNECTION_RESET},
        {ETIMEDOUT, UCS_ERR_TIMED_OUT},
        {EHOSTUNREACH, UCS_ERR_UNREACHABLE},
        {EADDRINUSE, UCS_ERR_BUSY},
        {ENOMEM, UCS_ERR_NO_MEMORY},
        {EMFILE, UCS_ERR_EXCEEDS_LIMIT},
        {EINVAL, UCS_ERR_INVALID_PARAM},
        {ENODEV, UCS_ERR_NO_DEVICE},
        {ENOSYS, UCS_ERR_UNSUPPORTED},
        {EIO, UCS_ERR_IO_ERROR},
        {99999, UCS_ERR_IO_ERROR},
    };
    size_t i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        ck_assert_msg(ucsi_status_from_errno(rows[i].error) == rows[i].status,
                      "errno %d", rows[i].error);
    }
}

static void event_set__tells_who_is_ready(const struct test_param *param)
{
    struct ucs_event_set set;
    struct ucs_event     events[4];
    unsigned             count;
    int                  bells[2];
    int                  i;

    (void)param;
    ck_assert_int_eq(ucsi_event_set_init(&set), UCS_OK);
    check_prepared(set.fd);
    for (i = 0; i < 2; ++i) {
        ck_assert_int_eq(ucsi_eventfd_open(&bells[i]), UCS_OK);
        ck_assert_int_eq(
            ucsi_event_set_add(&set, bells[i], UCS_EVENT_READ, &bells[i]),
            UCS_OK);
    }
    ck_assert_int_eq(ucsi_event_set_wait(&set, events, 4, 0, &count), UCS_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert(!is_readable(set.fd));

    ck_assert_int_eq(ucsi_eventfd_signal(bells[1]), UCS_OK);
    ck_assert(is_readable(set.fd));
    ck_assert_int_eq(
        ucsi_event_set_wait(&set, events, 4, UCS_NS_INFINITE, &count), UCS_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_ptr_eq(events[0].user, &bells[1]);
    ck_assert_uint_eq(events[0].flags, UCS_EVENT_READ);

    ck_assert_int_eq(ucsi_eventfd_signal(bells[0]), UCS_OK);
    ck_assert_int_eq(ucsi_event_set_wait(&set, events, 1, 0, &count), UCS_OK);
    ck_assert_uint_eq(count, 1); /* no more than asked for */
    ck_assert_int_eq(ucsi_event_set_wait(&set, events, 4, 0, &count), UCS_OK);
    ck_assert_uint_eq(count, 2);

    ucsi_event_set_remove(&set, bells[1]);
    ck_assert_int_eq(ucsi_event_set_wait(&set, events, 4, 0, &count), UCS_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_ptr_eq(events[0].user, &bells[0]);
    ucsi_fd_close(&bells[0]);
    ucsi_fd_close(&bells[1]);
    ucsi_event_set_cleanup(&set);
    ck_assert_int_eq(set.fd, -1);
}

static void event_set__add_modify_remove_edges(const struct test_param *param)
{
    struct ucs_event_set set;
    int                  bell;

    (void)param;
    (void)ucsi_log_set_handler(&counter);
    ck_assert_int_eq(ucsi_event_set_init(&set), UCS_OK);
    ck_assert_int_eq(ucsi_eventfd_open(&bell), UCS_OK);
    ck_assert_int_eq(ucsi_event_set_modify(&set, bell, 0, NULL),
                     UCS_ERR_NO_ELEM);
    ck_assert_int_eq(ucsi_event_set_add(&set, bell, UCS_EVENT_READ, NULL),
                     UCS_OK);
    ck_assert_int_eq(ucsi_event_set_add(&set, bell, UCS_EVENT_READ, NULL),
                     UCS_ERR_ALREADY_EXISTS);
    ucsi_event_set_remove(&set, bell);
    ucsi_event_set_remove(&set, bell);
    ck_assert_uint_eq(logged_count, 0);
    ck_assert_int_eq(ucsi_event_set_add(&set, -1, UCS_EVENT_READ, NULL),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(logged_count, 1);
    ucsi_fd_close(&bell);
    ucsi_event_set_cleanup(&set);
}

static void event_set__write_edge_and_hang_up(const struct test_param *param)
{
    struct ucs_event_set set;
    struct ucs_event     event;
    unsigned             count;
    int                  pair[2];

    (void)param;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    ck_assert_int_eq(ucsi_fd_prepare(pair[0]), UCS_OK);
    check_prepared(pair[0]);
    ck_assert(fcntl(pair[0], F_GETFL) & O_NONBLOCK);
    ck_assert_int_eq(ucsi_event_set_init(&set), UCS_OK);
    ck_assert_int_eq(ucsi_event_set_add(&set, pair[0],
                                        UCS_EVENT_WRITE | UCS_EVENT_EDGE, &set),
                     UCS_OK);
    ck_assert_int_eq(ucsi_event_set_wait(&set, &event, 1, 0, &count), UCS_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(event.flags, UCS_EVENT_WRITE);
    ck_assert_int_eq(ucsi_event_set_wait(&set, &event, 1, 0, &count), UCS_OK);
    ck_assert_uint_eq(count, 0); /* no change, so nothing is told */

    ck_assert_int_eq(ucsi_event_set_modify(&set, pair[0], UCS_EVENT_READ, pair),
                     UCS_OK);
    ck_assert_int_eq(close(pair[1]), 0);
    ck_assert_int_eq(ucsi_event_set_wait(&set, &event, 1, 0, &count), UCS_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_ptr_eq(event.user, pair);
    ck_assert_uint_eq(event.flags, UCS_EVENT_READ | UCS_EVENT_ERROR);
    ucsi_fd_close(&pair[0]);
    ucsi_event_set_cleanup(&set);
}

static void
event_set__waits_until_the_time_is_over(const struct test_param *param)
{
    struct ucs_event_set set;
    struct ucs_event     event;
    unsigned             count = 9;
    uint64_t             start = ucsi_clock_ns();

    (void)param;
    ck_assert_int_eq(ucsi_event_set_init(&set), UCS_OK);
    ck_assert_int_eq(
        ucsi_event_set_wait(&set, &event, 1, 5 * UCS_NS_PER_MS + 1, &count),
        UCS_OK);
    ck_assert_uint_eq(count, 0);
    /* epoll counts in jiffies of its own clock: allow one millisecond. */
    ck_assert_uint_ge(ucsi_clock_ns() - start, 5 * UCS_NS_PER_MS);
    ucsi_event_set_cleanup(&set);
}

static void on_alarm(int number)
{
    (void)number;
}

static void event_set__a_signal_ends_the_wait(const struct test_param *param)
{
    struct sigaction     action = {.sa_handler = on_alarm};
    struct itimerval     timer  = {.it_value.tv_usec    = 2000,
                                   .it_interval.tv_usec = 2000};
    struct itimerval     off    = {.it_value.tv_usec = 0};
    struct ucs_event_set set;
    struct ucs_event     event;
    unsigned             count = 9;

    (void)param;
    ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
    ck_assert_int_eq(ucsi_event_set_init(&set), UCS_OK);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &timer, NULL), 0);
    ck_assert_int_eq(
        ucsi_event_set_wait(&set, &event, 1, UCS_NS_INFINITE, &count), UCS_OK);
    ck_assert_int_eq(setitimer(ITIMER_REAL, &off, NULL), 0);
    ck_assert_uint_eq(count, 0);
    ucsi_event_set_cleanup(&set);
}

static void eventfd__rings_until_drained(const struct test_param *param)
{
    uint64_t full = UINT64_MAX - 1;
    int      fd;

    (void)param;
    ck_assert_int_eq(ucsi_eventfd_open(&fd), UCS_OK);
    check_prepared(fd);
    ck_assert(!is_readable(fd));
    ck_assert(!ucsi_eventfd_drain(fd));
    ck_assert_int_eq(ucsi_eventfd_signal(fd), UCS_OK);
    ck_assert_int_eq(ucsi_eventfd_signal(fd), UCS_OK);
    ck_assert(is_readable(fd));
    ck_assert(ucsi_eventfd_drain(fd));
    ck_assert(!is_readable(fd));
    ck_assert(!ucsi_eventfd_drain(fd));

    /* A counter at its end rings and is no error; errno is kept. */
    ck_assert_int_eq(write(fd, &full, sizeof(full)), sizeof(full));
    errno = 123;
    ck_assert_int_eq(ucsi_eventfd_signal(fd), UCS_OK);
    ck_assert_int_eq(errno, 123);
    ck_assert(ucsi_eventfd_drain(fd));
    ucsi_fd_close(&fd);

    (void)ucsi_log_set_handler(&counter);
    ck_assert_int_eq(ucsi_eventfd_signal(-1), UCS_ERR_IO_ERROR);
    ck_assert_int_eq(errno, 123);
    ck_assert_uint_eq(logged_count, 0); /* it may run in a signal handler */
    ck_assert(!ucsi_eventfd_drain(-1));
    ck_assert_uint_eq(logged_count, 1);
}

static bool fd_readable(void *arg)
{
    return is_readable(*(int *)arg);
}

static void timerfd__arm_and_disarm(const struct test_param *param)
{
    uint64_t now = ucsi_clock_ns();
    int      fd;

    (void)param;
    ck_assert_int_eq(ucsi_timerfd_open(&fd), UCS_OK);
    check_prepared(fd);
    ck_assert(!is_readable(fd));

    ck_assert_int_eq(ucsi_timerfd_arm(fd, now + 3 * UCS_NS_PER_MS), UCS_OK);
    ck_assert(test_wait_until(fd_readable, &fd, 5));
    ck_assert_uint_ge(ucsi_clock_ns(), now + 3 * UCS_NS_PER_MS);
    ck_assert_int_eq(ucsi_timerfd_disarm(fd), UCS_OK);
    ck_assert(!is_readable(fd)); /* also when it had gone off */

    ck_assert_int_eq(ucsi_timerfd_arm(fd, 0), UCS_OK); /* passed: at once */
    ck_assert(test_wait_until(fd_readable, &fd, 5));
    ck_assert_int_eq(
        ucsi_timerfd_arm(fd, ucsi_clock_ns() + 3600ull * 1000 * UCS_NS_PER_MS),
        UCS_OK);
    ck_assert(!is_readable(fd)); /* replaced */
    ck_assert_int_eq(ucsi_timerfd_arm(fd, UCS_NS_INFINITE), UCS_OK);
    ck_assert_int_eq(ucsi_timerfd_arm(fd, UCS_NS_INFINITE - 1), UCS_OK);
    ck_assert(!is_readable(fd));
    ucsi_fd_close(&fd);

    (void)ucsi_log_set_handler(&counter);
    ck_assert_int_eq(ucsi_timerfd_arm(-1, 5), UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(logged_count, 1);
}

static void fd_close__twice_is_harmless(const struct test_param *param)
{
    int fd;

    (void)param;
    (void)ucsi_log_set_handler(&counter);
    ck_assert_int_eq(ucsi_eventfd_open(&fd), UCS_OK);
    errno = 77;
    ucsi_fd_close(&fd);
    ck_assert_int_eq(fd, -1);
    ucsi_fd_close(&fd);
    ck_assert_int_eq(fd, -1);
    ck_assert_uint_eq(logged_count, 0);
    fd = 1000000;
    ucsi_fd_close(&fd);
    ck_assert_int_eq(fd, -1);
    ck_assert_uint_eq(logged_count, 1);
    ck_assert_int_eq(errno, 77);
    ck_assert_int_eq(ucsi_fd_prepare(-1), UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(logged_count, 2);
}

static const struct test_case cases[] = {
    TEST(errno_status__table),
    TEST(event_set__tells_who_is_ready),
    TEST(event_set__add_modify_remove_edges),
    TEST(event_set__write_edge_and_hang_up),
    TEST(event_set__waits_until_the_time_is_over),
    TEST(event_set__a_signal_ends_the_wait),
    TEST(eventfd__rings_until_drained),
    TEST(timerfd__arm_and_disarm),
    TEST(fd_close__twice_is_harmless),
    {0},
};

const struct test_suite fd_suite = {"fd", cases, NULL, NULL, NULL};
