/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/wakeup.c - sleeping until something happens.
 *
 *     interface's event fd ---.
 *     interface's event fd ----+--> epoll fd (ours, or the user's) --> poll()
 *     signal eventfd ---------+
 *     timerfd, while a close waits
 *
 * Arming asks every interface: one that has something already says BUSY. */
#include <poll.h>
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ucp/core/worker.h"
#include "ucp/proto/rdma_shared.h"
#include "ucs/fd.h"
#include "ucs/log.h"

static ucs_status_t wakeup_add(struct ucp_worker *worker, int fd)
{
    const struct ucp_worker_options *options = &worker->options;
    struct epoll_event               event   = {.events = EPOLLIN};

    if (options->edge_triggered) {
        event.events |= EPOLLET;
    }
    if (options->event_fd >= 0) {
        event.data.ptr = options->event_data;
    } else {
        event.data.fd = fd;
    }
    if (epoll_ctl(worker->wakeup.epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        ucs_error("epoll_ctl(fd %d, add fd %d): %m", worker->wakeup.epoll_fd,
                  fd);
        return UCS_ERR_IO_ERROR;
    }
    return UCS_OK;
}

static ucs_status_t wakeup_add_ifaces(struct ucp_worker *worker)
{
    ucs_status_t status = UCS_OK;

    for (unsigned i = 0; (i < worker->iface_count) && (status == UCS_OK); ++i) {
        struct uct_iface *iface = worker->ifaces[i].iface;
        int               fd    = (iface->transport->event_fd == NULL)
                                      ? -1
                                      : iface->transport->event_fd(iface);

        if (fd >= 0) {
            status = wakeup_add(worker, fd);
        }
    }
    return status;
}

ucs_status_t ucp_wakeup_open(struct ucp_worker *worker)
{
    struct ucp_wakeup *wakeup = &worker->wakeup;
    ucs_status_t       status;

    wakeup->epoll_fd  = -1;
    wakeup->signal_fd = -1;
    wakeup->timer_fd  = -1;
    if (!(worker->context->options.features & UCP_FEATURE_WAKEUP)) {
        return UCS_OK;
    }
    wakeup->epoll_fd = worker->options.event_fd;
    if (wakeup->epoll_fd < 0) {
        wakeup->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        if (wakeup->epoll_fd < 0) {
            ucs_error("epoll_create1: %m (ulimit -n?)");
            return UCS_ERR_IO_ERROR;
        }
    }
    status = ucsi_eventfd_open(&wakeup->signal_fd);
    if (status == UCS_OK) {
        status = wakeup_add(worker, wakeup->signal_fd);
    }
    if (status == UCS_OK) {
        status = wakeup_add_ifaces(worker);
    }
    if (status != UCS_OK) {
        ucp_wakeup_close(worker);
    }
    return status;
}

void ucp_wakeup_close(struct ucp_worker *worker)
{
    struct ucp_wakeup *wakeup = &worker->wakeup;

    ucsi_fd_close(&wakeup->signal_fd);
    ucsi_fd_close(&wakeup->timer_fd);
    if ((wakeup->epoll_fd >= 0) && (worker->options.event_fd < 0)) {
        ucsi_fd_close(&wakeup->epoll_fd);
    }
    wakeup->epoll_fd = -1;
}

/* A close that waits for its peer is looked at in time. */
static ucs_status_t wakeup_set_alarm(struct ucp_worker *worker)
{
    struct ucp_wakeup *wakeup = &worker->wakeup;
    ucs_status_t       status;

    if (ucs_list_is_empty(&worker->closes)) {
        return (wakeup->timer_fd < 0) ? UCS_OK
                                      : ucsi_timerfd_disarm(wakeup->timer_fd);
    }
    if (wakeup->timer_fd < 0) {
        status = ucsi_timerfd_open(&wakeup->timer_fd);
        if (status == UCS_OK) {
            status = wakeup_add(worker, wakeup->timer_fd);
        }
        if (status != UCS_OK) {
            return status;
        }
    }
    return ucsi_timerfd_arm(wakeup->timer_fd, worker->closes_look_ns);
}

ucs_status_t ucp_wakeup_arm(struct ucp_worker *worker)
{
    ucs_status_t status;

    if (ucsi_eventfd_drain(worker->wakeup.signal_fd) ||
        !ucs_list_is_empty(&worker->ended) || ucp_shares_have_work(worker)) {
        return UCS_ERR_BUSY; /* endpoints to end, messages to read */
    }
    status = wakeup_set_alarm(worker);
    if (status != UCS_OK) {
        return status;
    }
    for (unsigned i = 0; i < worker->iface_count; ++i) {
        struct uct_iface *iface = worker->ifaces[i].iface;

        if (iface->transport->arm == NULL) {
            continue;
        }
        status = iface->transport->arm(iface);
        if (status != UCS_OK) {
            return status;
        }
    }
    return UCS_OK;
}

ucs_status_t ucp_wakeup_wait(struct ucp_worker *worker)
{
    struct pollfd poll_fd = {.fd = worker->wakeup.epoll_fd, .events = POLLIN};
    ucs_status_t  status;

    ucp_worker_enter(worker);
    status = ucp_wakeup_arm(worker);
    ucp_worker_leave(worker);
    if (status == UCS_ERR_BUSY) {
        return UCS_OK;
    }
    if (status != UCS_OK) {
        return status;
    }
    while (poll(&poll_fd, 1, -1) < 0) {
        if (errno != EINTR) {
            ucs_error("poll(fd %d): %m", poll_fd.fd);
            return UCS_ERR_IO_ERROR;
        }
    }
    return UCS_OK;
}

ucs_status_t ucp_wakeup_signal(struct ucp_worker *worker)
{
    return ucsi_eventfd_signal(worker->wakeup.signal_fd);
}
