/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/fd.c - thin and complete: each call of ours is one system call, its
 * errors named. epoll(7), eventfd(2), timerfd_create(2). */
#include "ucs/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "ucs/clock.h"
#include "ucs/log.h"

static const struct {
    int          error;
    ucs_status_t status;
} fd_statuses[] = {
    {0, UCS_OK},
    {EAGAIN, UCS_ERR_WOULD_BLOCK},
    {EINPROGRESS, UCS_INPROGRESS},
    {EALREADY, UCS_INPROGRESS},
    {ENOMEM, UCS_ERR_NO_MEMORY},
    {ENOBUFS, UCS_ERR_NO_MEMORY},
    {EMFILE, UCS_ERR_EXCEEDS_LIMIT},
    {ENFILE, UCS_ERR_EXCEEDS_LIMIT},
    {ENOSPC, UCS_ERR_EXCEEDS_LIMIT},
    {EINVAL, UCS_ERR_INVALID_PARAM},
    {EBADF, UCS_ERR_INVALID_PARAM},
    {ENOTSOCK, UCS_ERR_INVALID_PARAM},
    {EFAULT, UCS_ERR_INVALID_PARAM},
    {EADDRNOTAVAIL, UCS_ERR_INVALID_ADDR},
    {EAFNOSUPPORT, UCS_ERR_INVALID_ADDR},
    {EADDRINUSE, UCS_ERR_BUSY},
    {EBUSY, UCS_ERR_BUSY},
    {EEXIST, UCS_ERR_ALREADY_EXISTS},
    {EISCONN, UCS_ERR_ALREADY_EXISTS},
    {ENOENT, UCS_ERR_NO_ELEM},
    {ENXIO, UCS_ERR_NO_ELEM},
    {ESRCH, UCS_ERR_NO_ELEM},
    {ENODEV, UCS_ERR_NO_DEVICE},
    {ENOSYS, UCS_ERR_UNSUPPORTED},
    {EOPNOTSUPP, UCS_ERR_UNSUPPORTED},
    {ENOPROTOOPT, UCS_ERR_UNSUPPORTED},
    {EPROTONOSUPPORT, UCS_ERR_UNSUPPORTED},
    {ECONNREFUSED, UCS_ERR_REJECTED},
    {EACCES, UCS_ERR_REJECTED},
    {EPERM, UCS_ERR_REJECTED},
    {ENETUNREACH, UCS_ERR_UNREACHABLE},
    {EHOSTUNREACH, UCS_ERR_UNREACHABLE},
    {ENETDOWN, UCS_ERR_UNREACHABLE},
    {EHOSTDOWN, UCS_ERR_UNREACHABLE},
    {ETIMEDOUT, UCS_ERR_TIMED_OUT},
    {ECONNRESET, UCS_ERR_CONNECTION_RESET},
    {ECONNABORTED, UCS_ERR_CONNECTION_RESET},
    {EPIPE, UCS_ERR_CONNECTION_RESET},
    {ENOTCONN, UCS_ERR_NOT_CONNECTED},
    {EMSGSIZE, UCS_ERR_MESSAGE_TRUNCATED},
    {ERANGE, UCS_ERR_OUT_OF_RANGE},
    {EOVERFLOW, UCS_ERR_OUT_OF_RANGE},
    {ECANCELED, UCS_ERR_CANCELED},
};

ucs_status_t ucsi_status_from_errno(int error)
{
    size_t i;

    for (i = 0; i < UCS_ARRAY_COUNT(fd_statuses); ++i) {
        if (fd_statuses[i].error == error) {
            return fd_statuses[i].status;
        }
    }
    return UCS_ERR_IO_ERROR;
}

static uint32_t fd_flags_to_epoll(unsigned flags)
{
    uint32_t events = 0;

    events |= (flags & UCS_EVENT_READ) ? EPOLLIN : 0;
    events |= (flags & UCS_EVENT_WRITE) ? EPOLLOUT : 0;
    events |= (flags & UCS_EVENT_EDGE) ? (uint32_t)EPOLLET : 0;
    return events;
}

static unsigned fd_flags_from_epoll(uint32_t events)
{
    unsigned flags = 0;

    flags |= (events & EPOLLIN) ? UCS_EVENT_READ : 0;
    flags |= (events & EPOLLOUT) ? UCS_EVENT_WRITE : 0;
    if (events & (EPOLLERR | EPOLLHUP)) {
        flags |= UCS_EVENT_READ | UCS_EVENT_ERROR;
    }
    return flags;
}

ucs_status_t ucsi_event_set_init(struct ucs_event_set *set)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);

    if (fd < 0) {
        ucs_error("epoll_create: %m");
        return ucsi_status_from_errno(errno);
    }
    set->fd = fd;
    return UCS_OK;
}

void ucsi_event_set_cleanup(struct ucs_event_set *set)
{
    ucsi_fd_close(&set->fd);
}

static ucs_status_t fd_event_control(struct ucs_event_set *set, int operation,
                                     int fd, unsigned flags, void *user)
{
    struct epoll_event event = {
        .events   = fd_flags_to_epoll(flags),
        .data.ptr = user,
    };

    if (epoll_ctl(set->fd, operation, fd, &event) == 0) {
        return UCS_OK;
    }
    if ((operation == EPOLL_CTL_ADD) && (errno == EEXIST)) {
        return UCS_ERR_ALREADY_EXISTS;
    }
    if ((operation == EPOLL_CTL_MOD) && (errno == ENOENT)) {
        return UCS_ERR_NO_ELEM;
    }
    ucs_error("epoll fd %d: %s fd %d: %m", set->fd,
              (operation == EPOLL_CTL_ADD) ? "add" : "modify", fd);
    return ucsi_status_from_errno(errno);
}

ucs_status_t ucsi_event_set_add(struct ucs_event_set *set, int fd,
                                unsigned flags, void *user)
{
    return fd_event_control(set, EPOLL_CTL_ADD, fd, flags, user);
}

ucs_status_t ucsi_event_set_modify(struct ucs_event_set *set, int fd,
                                   unsigned flags, void *user)
{
    return fd_event_control(set, EPOLL_CTL_MOD, fd, flags, user);
}

void ucsi_event_set_remove(struct ucs_event_set *set, int fd)
{
    if ((epoll_ctl(set->fd, EPOLL_CTL_DEL, fd, NULL) != 0) &&
        (errno != ENOENT) && (errno != EBADF)) {
        ucs_error("epoll fd %d: remove fd %d: %m", set->fd, fd);
    }
}

static int fd_timeout_ms(uint64_t timeout_ns)
{
    uint64_t timeout_ms;

    if (timeout_ns == UCS_NS_INFINITE) {
        return -1;
    }
    timeout_ms = timeout_ns / UCS_NS_PER_MS + (timeout_ns % UCS_NS_PER_MS != 0);
    return (int)ucs_min(timeout_ms, (uint64_t)INT_MAX);
}

ucs_status_t ucsi_event_set_wait(struct ucs_event_set *set,
                                 struct ucs_event *events, unsigned count_max,
                                 uint64_t timeout_ns, unsigned *count_p)
{
    struct epoll_event ready[UCS_EVENT_COUNT_MAX];
    unsigned           limit = ucs_min(count_max, UCS_ARRAY_COUNT(ready));
    int                count;
    int                i;

    count = epoll_wait(set->fd, ready, (int)limit, fd_timeout_ms(timeout_ns));
    if (count < 0) {
        if (errno == EINTR) {
            *count_p = 0;
            return UCS_OK;
        }
        ucs_error("epoll fd %d: wait: %m", set->fd);
        return ucsi_status_from_errno(errno);
    }
    for (i = 0; i < count; ++i) {
        events[i].user  = ready[i].data.ptr;
        events[i].flags = fd_flags_from_epoll(ready[i].events);
    }
    *count_p = (unsigned)count;
    return UCS_OK;
}

ucs_status_t ucsi_eventfd_open(int *fd_p)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    if (fd < 0) {
        ucs_error("eventfd: %m");
        return ucsi_status_from_errno(errno);
    }
    *fd_p = fd;
    return UCS_OK;
}

ucs_status_t ucsi_eventfd_signal(int fd)
{
    uint64_t     one    = 1;
    int          error  = errno;
    ucs_status_t status = UCS_OK;
    ssize_t      written;

    do {
        written = write(fd, &one, sizeof(one));
    } while ((written < 0) && (errno == EINTR));
    /* EAGAIN: the count is at its end, so it rings. */
    if ((written < 0) && (errno != EAGAIN)) {
        status = UCS_ERR_IO_ERROR;
    }
    errno = error;
    return status;
}

/* Read the eight bytes that make eventfd and timerfd silent. */
static bool fd_drain(int fd, const char *what)
{
    uint64_t count;
    ssize_t  got;

    do {
        got = read(fd, &count, sizeof(count));
    } while ((got < 0) && (errno == EINTR));
    if (got == (ssize_t)sizeof(count)) {
        return true;
    }
    if (errno != EAGAIN) {
        ucs_error_limited("%s fd %d: read: %m", what, fd);
    }
    return false;
}

bool ucsi_eventfd_drain(int fd)
{
    return fd_drain(fd, "eventfd");
}

ucs_status_t ucsi_timerfd_open(int *fd_p)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

    if (fd < 0) {
        ucs_error("timerfd_create: %m");
        return ucsi_status_from_errno(errno);
    }
    *fd_p = fd;
    return UCS_OK;
}

static ucs_status_t fd_timer_set(int fd, uint64_t when_ns)
{
    struct itimerspec spec = {.it_value = ucs_clock_timespec(when_ns)};

    /* Setting also forgets an expiration that nobody read. */
    if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, NULL) != 0) {
        ucs_error("timerfd fd %d: set %llu ns: %m", fd,
                  (unsigned long long)when_ns);
        return ucsi_status_from_errno(errno);
    }
    return UCS_OK;
}

ucs_status_t ucsi_timerfd_arm(int fd, uint64_t when_ns)
{
    if (when_ns == UCS_NS_INFINITE) {
        return fd_timer_set(fd, 0);
    }
    return fd_timer_set(fd, ucs_max(when_ns, (uint64_t)1)); /* 0: disarm */
}

ucs_status_t ucsi_timerfd_disarm(int fd)
{
    return fd_timer_set(fd, 0);
}

void ucsi_fd_close(int *fd_p)
{
    int error = errno;
    int fd    = *fd_p;

    *fd_p = -1;
    /* After EINTR the descriptor is closed all the same: close(2). */
    if ((fd >= 0) && (close(fd) != 0) && (errno != EINTR)) {
        ucs_error("fd %d: close: %m", fd);
    }
    errno = error;
}

ucs_status_t ucsi_fd_prepare(int fd)
{
    int file_flags = fcntl(fd, F_GETFL);
    int fd_flags   = fcntl(fd, F_GETFD);

    if ((file_flags < 0) || (fd_flags < 0) ||
        (fcntl(fd, F_SETFL, file_flags | O_NONBLOCK) < 0) ||
        (fcntl(fd, F_SETFD, fd_flags | FD_CLOEXEC) < 0)) {
        ucs_error("fd %d: fcntl: %m", fd);
        return ucsi_status_from_errno(errno);
    }
    return UCS_OK;
}
