/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_stall_thread.c - one thread per process looks after the
 * interfaces whose application does not call; from the first interface to the
 * last one. Not from the first connection on: a peer may begin one while the
 * application computes, and is to be answered.
 *
 *   list of interfaces: look every 10 ms; while one rests, not: its descriptor
 *                                         is in the event set instead
 *   event set:          the bell (something changed), those that rest */
#include "uct/udp/udp_stall.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/clock.h"
#include "ucs/fd.h"
#include "ucs/log.h"
#include "uct/udp/udp.h"

struct stall_thread {
    pthread_t            id;
    struct ucs_event_set events;
    int                  bell_fd; /* in the set, without user */
};

/* What the process's interfaces share; guarded by lock.
 * thread  changes only while there is no interface: who has one may ring */
static struct {
    pthread_mutex_t      lock;
    struct stall_thread *thread; /* that shall run; NULL: none */
    struct ucs_list      ifaces;
} stall = {.lock   = PTHREAD_MUTEX_INITIALIZER,
           .ifaces = UCS_LIST_INITIALIZER(stall.ifaces)};

/* ---------------------------------------------------------------- looking */

static void stall_unwatch(struct udp_iface *iface)
{
    if (iface->stall.is_watched) {
        iface->stall.is_watched = false;
        ucsi_event_set_remove(&stall.thread->events,
                              udp_io_event_fd(iface->io));
    }
}

/* Without a place in the set it is looked at as before. */
static void stall_rest(struct udp_iface *iface)
{
    iface->stall.is_watched =
        ucsi_event_set_add(&stall.thread->events, udp_io_event_fd(iface->io),
                           UCS_EVENT_READ, iface) == UCS_OK;
}

/* Look at one if it is time. @return when to look again. */
static uint64_t stall_look(struct udp_iface *iface, uint64_t now_ns)
{
    struct udp_stall   *its       = &iface->stall;
    bool                has_fired = its->has_fired;
    enum udp_stall_next next;

    its->has_fired = false;
    if (its->is_watched) {
        if (!has_fired &&
            atomic_load_explicit(&its->rests, memory_order_relaxed)) {
            return UCS_NS_INFINITE;
        }
        stall_unwatch(iface);
        /* The application is there, and most likely comes again. */
        its->look_ns = has_fired ? now_ns : now_ns + UDP_STALL_TICK_NS;
    }
    if (now_ns < its->look_ns) {
        return its->look_ns;
    }
    next = udp_stall_look(iface);
    its->look_ns =
        now_ns + ((next == UDP_STALL_BUSY) ? (uint64_t)UDP_STALL_BUSY_NS
                                           : (uint64_t)UDP_STALL_TICK_NS);
    if (next == UDP_STALL_REST) {
        stall_rest(iface);
    }
    return its->is_watched ? UCS_NS_INFINITE : its->look_ns;
}

static uint64_t stall_look_at_all(void)
{
    uint64_t          now_ns  = ucsi_clock_ns();
    uint64_t          next_ns = UCS_NS_INFINITE;
    struct udp_iface *iface;

    ucs_list_for_each (iface, &stall.ifaces, stall.link) {
        next_ns = ucs_min(next_ns, stall_look(iface, now_ns));
    }
    return next_ns;
}

/* ---------------------------------------------------------------- sleeping */

/* An event set counts milliseconds, and we less. */
static void stall_sleep(const struct stall_thread *thread, uint64_t until_ns)
{
    struct pollfd   fd     = {.fd = thread->events.fd, .events = POLLIN};
    uint64_t        now_ns = ucsi_clock_ns();
    struct timespec left =
        ucs_clock_timespec((until_ns > now_ns) ? until_ns - now_ns : 0);

    (void)ppoll(&fd, 1, (until_ns == UCS_NS_INFINITE) ? NULL : &left, NULL);
}

/* An event may be of one that was forgotten meanwhile. */
static void stall_note(const void *user)
{
    struct udp_iface *iface;

    ucs_list_for_each (iface, &stall.ifaces, stall.link) {
        iface->stall.has_fired |= (iface == user);
    }
}

static void stall_take_events(struct stall_thread *thread)
{
    struct ucs_event events[UCS_EVENT_COUNT_MAX];
    unsigned         count = 0, index;

    if (ucsi_event_set_wait(&thread->events, events, UCS_ARRAY_COUNT(events), 0,
                            &count) != UCS_OK) {
        return; /* logged; ticks go on */
    }
    for (index = 0; index < count; ++index) {
        if (events[index].user == NULL) {
            (void)ucsi_eventfd_drain(thread->bell_fd);
        } else {
            stall_note(events[index].user);
        }
    }
}

static void *stall_main(void *arg)
{
    struct stall_thread *thread = (struct stall_thread *)arg;
    uint64_t             until_ns;

    (void)pthread_mutex_lock(&stall.lock);
    while (stall.thread == thread) {
        until_ns = stall_look_at_all();
        (void)pthread_mutex_unlock(&stall.lock);
        stall_sleep(thread, until_ns);
        (void)pthread_mutex_lock(&stall.lock);
        if (stall.thread == thread) {
            stall_take_events(thread);
        }
    }
    (void)pthread_mutex_unlock(&stall.lock);
    return NULL;
}

void udp_stall_wake(void)
{
    if (stall.thread != NULL) { /* a child has none */
        (void)ucsi_eventfd_signal(stall.thread->bell_fd);
    }
}

/* ----------------------------------------------------------- begin and end */

static void stall_free(struct stall_thread *thread)
{
    ucsi_fd_close(&thread->bell_fd);
    ucsi_event_set_cleanup(&thread->events);
    free(thread);
}

/* A child has not got the thread, perhaps its lock, and of the parent's
 * interfaces only a picture. */
static void stall_in_child(void)
{
    (void)pthread_mutex_init(&stall.lock, NULL);
    ucs_list_init(&stall.ifaces);
    if (stall.thread != NULL) {
        stall_free(stall.thread);
        stall.thread = NULL;
    }
}

static int stall_forks_error;

static void stall_mind_forks(void)
{
    stall_forks_error = pthread_atfork(NULL, NULL, stall_in_child);
}

/* Signals are the application's. */
static ucs_status_t stall_run(struct stall_thread *thread)
{
    sigset_t all, before;
    int      error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = (stall_forks_error != 0)
                ? stall_forks_error
                : pthread_create(&thread->id, NULL, stall_main, thread);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        ucs_error("udp: no helper thread: %s (UCX_UDP_HELPER=n does without, "
                  "for applications that call all the time)",
                  strerror(error));
        return UCS_ERR_NO_MEMORY;
    }
    return UCS_OK;
}

static ucs_status_t stall_start(void)
{
    struct stall_thread *thread = malloc(sizeof(*thread));
    ucs_status_t         status;

    if (thread == NULL) {
        return ucsi_no_memory("the helper of udp", sizeof(*thread));
    }
    *thread = (struct stall_thread){.events.fd = -1, .bell_fd = -1};
    status  = ucsi_event_set_init(&thread->events);
    if (status == UCS_OK) {
        status = ucsi_eventfd_open(&thread->bell_fd);
    }
    if (status == UCS_OK) {
        status = ucsi_event_set_add(&thread->events, thread->bell_fd,
                                    UCS_EVENT_READ, NULL);
    }
    stall.thread = thread; /* it looks */
    if (status == UCS_OK) {
        status = stall_run(thread);
    }
    if (status != UCS_OK) {
        stall.thread = NULL;
        stall_free(thread);
    }
    return status;
}

ucs_status_t udp_stall_watch(struct udp_iface *iface)
{
    static pthread_once_t once   = PTHREAD_ONCE_INIT;
    ucs_status_t          status = UCS_OK;

    (void)pthread_once(&once, stall_mind_forks);
    (void)pthread_mutex_lock(&stall.lock);
    if (stall.thread == NULL) {
        status = stall_start();
    }
    if (status == UCS_OK) {
        ucs_list_add_tail(&stall.ifaces, &iface->stall.link);
        udp_stall_wake();
    }
    (void)pthread_mutex_unlock(&stall.lock);
    return status;
}

static bool stall_has(const struct udp_iface *wanted)
{
    const struct udp_iface *iface;

    ucs_list_for_each (iface, &stall.ifaces, stall.link) {
        if (iface == wanted) {
            return true;
        }
    }
    return false;
}

void udp_stall_forget(struct udp_iface *iface)
{
    struct stall_thread *ended = NULL;

    (void)pthread_mutex_lock(&stall.lock);
    if (stall_has(iface)) { /* the parent's is not */
        stall_unwatch(iface);
        ucs_list_remove(&iface->stall.link);
        atomic_store_explicit(&iface->stall.rests, false, memory_order_relaxed);
        if (ucs_list_is_empty(&stall.ifaces)) {
            ended = stall.thread;
            udp_stall_wake();
            stall.thread = NULL;
        }
    }
    (void)pthread_mutex_unlock(&stall.lock);
    if (ended != NULL) {
        (void)pthread_join(ended->id, NULL);
        stall_free(ended);
    }
}
