/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_stall_thread.c - one thread per process looks every 10 ms
 * whether an application calls; from the first interface to the last one. Not
 * from the first connection on: a peer may begin one while the application
 * computes, and is to be answered. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "ucs/clock.h"
#include "ucs/log.h"
#include "uct/udp/udp.h"

/* What the processes' interfaces share; guarded by lock. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t  stop;
    pthread_t       thread;
    struct ucs_list ifaces;
    unsigned        count;
    unsigned        generation; /* of the thread that shall run */
} stall = {.lock   = PTHREAD_MUTEX_INITIALIZER,
           .stop   = PTHREAD_COND_INITIALIZER,
           .ifaces = UCS_LIST_INITIALIZER(stall.ifaces)};

/* @return is there traffic that nobody else serves? */
static bool stall_look(void)
{
    struct udp_iface *iface;
    bool              is_busy = false;

    ucs_list_for_each (iface, &stall.ifaces, stall_link) {
        is_busy |= udp_stall_look(iface);
    }
    return is_busy;
}

static void *stall_main(void *arg)
{
    unsigned        generation = (unsigned)(uintptr_t)arg;
    struct timespec until;
    bool            is_busy = false;

    (void)pthread_mutex_lock(&stall.lock);
    while (stall.generation == generation) {
        until = ucs_clock_timespec(
            ucsi_clock_wall_ns() +
            (is_busy ? UDP_STALL_BUSY_NS : UDP_STALL_TICK_NS));
        is_busy = false;
        (void)pthread_cond_timedwait(&stall.stop, &stall.lock, &until);
        if (stall.generation == generation) {
            is_busy = stall_look();
        }
    }
    (void)pthread_mutex_unlock(&stall.lock);
    return NULL;
}

/* A child has not got the thread, perhaps its lock, and of the parent's
 * interfaces only a picture. */
static void stall_in_child(void)
{
    (void)pthread_mutex_init(&stall.lock, NULL);
    (void)pthread_cond_init(&stall.stop, NULL);
    ucs_list_init(&stall.ifaces);
    stall.count = 0;
    ++stall.generation;
}

static int stall_forks_error;

static void stall_mind_forks(void)
{
    stall_forks_error = pthread_atfork(NULL, NULL, stall_in_child);
}

/* Signals are the application's. */
static int stall_start(void)
{
    sigset_t all, before;
    int      error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&stall.thread, NULL, stall_main,
                           (void *)(uintptr_t)stall.generation);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

ucs_status_t udp_stall_watch(struct udp_iface *iface)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int                   error;

    (void)pthread_once(&once, stall_mind_forks);
    (void)pthread_mutex_lock(&stall.lock);
    error = (stall_forks_error != 0) ? stall_forks_error
            : (stall.count == 0)     ? stall_start()
                                     : 0;
    if (error == 0) {
        ucs_list_add_tail(&stall.ifaces, &iface->stall_link);
        ++stall.count;
    }
    (void)pthread_mutex_unlock(&stall.lock);
    if (error != 0) {
        ucs_error("udp: no helper thread: %s (UCX_UDP_HELPER=n does without, "
                  "for applications that call all the time)",
                  strerror(error));
        return UCS_ERR_NO_MEMORY;
    }
    return UCS_OK;
}

static bool stall_has(const struct udp_iface *wanted)
{
    const struct udp_iface *iface;

    ucs_list_for_each (iface, &stall.ifaces, stall_link) {
        if (iface == wanted) {
            return true;
        }
    }
    return false;
}

void udp_stall_forget(struct udp_iface *iface)
{
    pthread_t thread;
    bool      is_last = false;

    (void)pthread_mutex_lock(&stall.lock);
    thread = stall.thread;
    if (stall_has(iface)) { /* the parent's is not */
        ucs_list_remove(&iface->stall_link);
        is_last = (--stall.count == 0);
    }
    if (is_last) {
        ++stall.generation;
        (void)pthread_cond_signal(&stall.stop);
    }
    (void)pthread_mutex_unlock(&stall.lock);
    if (is_last) {
        (void)pthread_join(thread, NULL);
    }
}
