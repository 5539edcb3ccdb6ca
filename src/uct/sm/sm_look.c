/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_look.c - everything that is not a ring, now and then: processes
 * that died, owners that left, sockets, channels to stop polling.
 *
 * progress counts its calls and comes here with every 64th. The clock is read
 * then, and the system calls happen every 10 ms. */
#include "uct/sm/sm.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ucs/clock.h"
#include "ucs/log.h"
#include "uct/sm/sm_barrier.h"

/* The process behind a pidfd ended. */
static void watch_ready(struct uct_sm_iface *iface, struct uct_sm_event *event)
{
    struct uct_sm_watch *watch =
        ucs_container_of(event, struct uct_sm_watch, event);

    ucs_debug("sm: process %d ended", (int)watch->pid);
    watch->is_dead = true;
    ucsi_event_set_remove(&iface->events, watch->pidfd);
}

bool uct_sm_watch_is_alive(const struct uct_sm_watch *watch)
{
    struct pollfd wait = {.fd = watch->pidfd, .events = POLLIN};

    return !watch->is_dead && (poll(&wait, 1, 0) == 0);
}

bool uct_sm_watch_is_there(void)
{
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

    if (fd < 0) {
        return (errno != ENOSYS) && (errno != EPERM);
    }
    (void)close(fd);
    return true;
}

/* @return UCS_OK: watched; UCS_ERR_NO_ELEM: it is not there any more. */
static ucs_status_t watch_open(struct uct_sm_iface *iface,
                               struct uct_sm_watch *watch)
{
    uint64_t start;

    watch->pidfd = (int)syscall(SYS_pidfd_open, watch->pid, 0);
    if (watch->pidfd < 0) {
        if (errno == ESRCH) {
            return UCS_ERR_NO_ELEM;
        }
        ucs_error("sm: pidfd_open of process %d: %m; its end would not be "
                  "noticed; see `ulimit -n`",
                  (int)watch->pid);
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    /* Only now that the number cannot be used again: is it that process? */
    start = uct_sm_process_start(watch->pid);
    if ((start != 0) && (watch->process_start != 0) &&
        (start != watch->process_start)) {
        ucsi_fd_close(&watch->pidfd);
        return UCS_ERR_NO_ELEM;
    }
    return ucsi_event_set_add(&iface->events, watch->pidfd, UCS_EVENT_READ,
                              &watch->event);
}

struct uct_sm_watch *uct_sm_watch_get(struct uct_sm_iface *iface, int32_t pid,
                                      uint64_t process_start, bool *is_dead_p)
{
    struct uct_sm_watch *watch;
    ucs_status_t         status;

    *is_dead_p = false;
    ucs_list_for_each (watch, &iface->watches, link) {
        if ((watch->pid == pid) && (watch->process_start == process_start)) {
            ++watch->use_count;
            return watch;
        }
    }
    watch = calloc(1, sizeof(*watch));
    if (watch == NULL) {
        return NULL;
    }
    watch->event.ready   = watch_ready;
    watch->pid           = pid;
    watch->process_start = process_start;
    watch->use_count     = 1;
    status               = watch_open(iface, watch);
    if (status != UCS_OK) {
        *is_dead_p = (status == UCS_ERR_NO_ELEM);
        ucsi_fd_close(&watch->pidfd);
        free(watch);
        return NULL;
    }
    ucs_list_add_tail(&iface->watches, &watch->link);
    return watch;
}

void uct_sm_watch_put(struct uct_sm_iface *iface, struct uct_sm_watch *watch)
{
    if (--watch->use_count > 0) {
        return;
    }
    if (!iface->is_child) {
        ucsi_event_set_remove(&iface->events, watch->pidfd);
    }
    ucsi_fd_close(&watch->pidfd);
    ucs_list_remove(&watch->link);
    free(watch);
}

/* Ask the kernel what happened. */
static unsigned look_events(struct uct_sm_iface *iface)
{
    struct ucs_event     events[16];
    struct uct_sm_event *event;
    unsigned             count, index;

    if (ucsi_event_set_wait(&iface->events, events, UCS_ARRAY_COUNT(events), 0,
                            &count) != UCS_OK) {
        return 0;
    }
    /* A socket's event may close that socket only. */
    for (index = 0; index < count; ++index) {
        event = events[index].user;
        event->ready(iface, event);
    }
    return count;
}

unsigned uct_sm_look(struct uct_sm_iface *iface)
{
    bool     is_soon = (iface->looked_ns == 0) || iface->is_armed;
    unsigned count   = 0;
    uint64_t now_ns;

    iface->look_in_calls = UCT_SM_LOOK_CALL_COUNT;
    if (iface->is_armed) {
        uct_sm_disarm(iface);
    }
    if (ucs_unlikely(iface->awaits_barrier) &&
        (uct_sm_barrier_state() != UCT_SM_BARRIER_ASKED)) {
        iface->awaits_barrier = false;
        uct_sm_peers_order(iface);
        uct_sm_channels_order(iface);
    }
    now_ns = ucsi_clock_ns();
    if (now_ns - iface->looked_ns >= UCT_SM_LOOK_NS) {
        is_soon          = true;
        iface->looked_ns = now_ns;
        uct_sm_poll_sweep(iface);
    }
    if (!is_soon && (iface->waiting_count == 0) &&
        (iface->closing_count == 0) && !iface->look_wanted) {
        return 0;
    }
    iface->look_wanted = false;
    count += look_events(iface);
    count += uct_sm_channels_look(iface);
    uct_sm_peers_look(iface);
    if (iface->reap_wanted) {
        uct_sm_peers_reap(iface, false);
    }
    return count;
}
