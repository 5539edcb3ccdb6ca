/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/fd.h - descriptors that a worker sleeps on: event sets (epoll), bells
 * (eventfd) and alarms (timerfd).
 *
 *   bell --.
 *   socket +--> event set --> poll(2) of the application, or wait here
 *   alarm -'
 *
 * Every descriptor made here is CLOEXEC and non-blocking. Errors are logged
 * here with descriptor and cause, once; the callers pass the status on.
 * Where no other status is named, it is that of ucsi_status_from_errno. */
#ifndef UCS_FD_H_
#define UCS_FD_H_

#include <stdbool.h>
#include <stdint.h>

#include "ucs/compiler.h"
#include "ucs/type/status.h"

/* The status that says most of what an errno says; UCS_ERR_IO_ERROR for one
 * that has no status of its own, UCS_OK for 0. */
UCS_EXPORT ucs_status_t ucsi_status_from_errno(int error);

/* What to wait for, and what happened. */
enum ucs_event_flag {
    UCS_EVENT_READ  = 1 << 0,
    UCS_EVENT_WRITE = 1 << 1,
    UCS_EVENT_EDGE  = 1 << 2, /* to wait for: tell of changes only */
    UCS_EVENT_ERROR = 1 << 3, /* happened: error or the peer hung up; always
                                 told, together with READ: a read says more */
};

enum ucs_event_limit {
    /* Most events of one wait; the others come with the next one. */
    UCS_EVENT_COUNT_MAX = 32
};

struct ucs_event {
    void    *user;  /* as given when the descriptor was added */
    unsigned flags; /* enum ucs_event_flag */
};

/* A set of descriptors. Threads: one may wait while others add and remove.
 * A removed descriptor's event can still come out of a wait that had begun.
 * The set's own descriptor is readable when an event waits. */
struct ucs_event_set {
    int fd;
};

/* @return UCS_OK, or an error and nothing is open. */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_event_set_init(struct ucs_event_set *set);

/* Close the set; the descriptors in it stay open. */
UCS_EXPORT void ucsi_event_set_cleanup(struct ucs_event_set *set);

/* Watch `fd`, which the caller keeps and removes before closing it.
 * @return UCS_OK; UCS_ERR_ALREADY_EXISTS it is in the set (not logged). */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_event_set_add(
    struct ucs_event_set *set, int fd, unsigned flags, void *user);

/* Change what is waited for. @return UCS_ERR_NO_ELEM: not in the set. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_event_set_modify(
    struct ucs_event_set *set, int fd, unsigned flags, void *user);

/* Watch no longer. A descriptor that is not in the set is no error: closing
 * its last copy had removed it. */
UCS_EXPORT void ucsi_event_set_remove(struct ucs_event_set *set, int fd);

/* Wait up to `timeout_ns` (0: only look; UCS_NS_INFINITE) for events.
 * A time-out is rounded up to milliseconds.
 *
 * @param events  [count_max], filled from the start.
 * @return UCS_OK, *count_p events (0: time-out or a signal came); error. */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_event_set_wait(struct ucs_event_set *set, struct ucs_event *events,
                    unsigned count_max, uint64_t timeout_ns, unsigned *count_p);

/* A bell: readable from signal to drain, however often it was signalled. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_eventfd_open(int *fd_p);

/* Ring. Async-signal-safe and thread-safe; keeps errno; logs nothing.
 * @return UCS_OK, also if it rings already; UCS_ERR_IO_ERROR: no eventfd. */
UCS_EXPORT ucs_status_t ucsi_eventfd_signal(int fd);

/* Silence it. @return whether it had been ringing. */
UCS_EXPORT bool ucsi_eventfd_drain(int fd);

/* An alarm on the clock of ucsi_clock_ns: readable when it went off. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_timerfd_open(int *fd_p);

/* Go off at `when_ns`, at once if that has passed; replaces what was set and
 * silences it. UCS_NS_INFINITE is the same as disarm. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_timerfd_arm(int fd, uint64_t when_ns);

/* Do not go off, and be silent. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_timerfd_disarm(int fd);

/* Close *fd_p if it is open (not below zero) and set it to -1. Keeps errno. */
UCS_EXPORT void ucsi_fd_close(int *fd_p);

/* Make a foreign descriptor non-blocking and CLOEXEC. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_fd_prepare(int fd);

#endif
