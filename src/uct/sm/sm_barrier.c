/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_barrier.c - see sm_barrier.h. */
#include "uct/sm/sm_barrier.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ucs/compiler.h"

#if UCS_HAS_TSAN
#define BARRIER_IS_ALONE 1 /* its thread is there; a child may start none */
#elif __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define BARRIER_IS_ALONE __libc_single_threaded
#else
#define BARRIER_IS_ALONE 0 /* it cannot be known */
#endif

/* One answer for all threads and interfaces. */
static struct {
    pthread_mutex_t lock; /* all but state */
    pthread_t       thread;
    bool            is_running; /* thread is to be joined */
    _Atomic int     state;      /* enum uct_sm_barrier_state */
} barrier = {.lock = PTHREAD_MUTEX_INITIALIZER};

static long barrier_syscall(int command)
{
    return syscall(SYS_membarrier, command, 0, 0);
}

static void barrier_register(void)
{
    long failed = barrier_syscall(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);

    atomic_store_explicit(&barrier.state,
                          (failed == 0) ? UCT_SM_BARRIER_REACHES_US
                                        : UCT_SM_BARRIER_IMPOSSIBLE,
                          memory_order_release);
}

static void *barrier_main(void *unused)
{
    (void)unused;
    barrier_register();
    return NULL;
}

/* A child has not got the thread, and perhaps its lock. */
static void barrier_in_child(void)
{
    (void)pthread_mutex_init(&barrier.lock, NULL);
    if (barrier.is_running) {
        barrier.is_running = false;
        atomic_store_explicit(&barrier.state, UCT_SM_BARRIER_NONE,
                              memory_order_relaxed);
    }
}

static int barrier_forks_error;

static void barrier_mind_forks(void)
{
    barrier_forks_error = pthread_atfork(NULL, NULL, barrier_in_child);
}

/* Signals are the application's. @return false: no thread to be had. */
static bool barrier_run(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    sigset_t              all, before;
    int                   error;

    (void)pthread_once(&once, barrier_mind_forks);
    if (barrier_forks_error != 0) {
        return false;
    }
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&barrier.thread, NULL, barrier_main, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

void uct_sm_barrier_begin(void)
{
    (void)pthread_mutex_lock(&barrier.lock);
    if (uct_sm_barrier_state() == UCT_SM_BARRIER_NONE) {
        atomic_store_explicit(&barrier.state, UCT_SM_BARRIER_ASKED,
                              memory_order_relaxed);
        barrier.is_running =
            !BARRIER_IS_ALONE && uct_sm_barrier_is_there() && barrier_run();
        if (!barrier.is_running) {
            barrier_register();
        }
    }
    (void)pthread_mutex_unlock(&barrier.lock);
}

void uct_sm_barrier_end(void)
{
    (void)pthread_mutex_lock(&barrier.lock);
    if (barrier.is_running) {
        (void)pthread_join(barrier.thread, NULL);
        barrier.is_running = false;
    }
    (void)pthread_mutex_unlock(&barrier.lock);
}

enum uct_sm_barrier_state uct_sm_barrier_state(void)
{
    return (enum uct_sm_barrier_state)atomic_load_explicit(
        &barrier.state, memory_order_acquire);
}

bool uct_sm_barrier_is_there(void)
{
    long commands = barrier_syscall(MEMBARRIER_CMD_QUERY);

    return (commands > 0) && (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

void uct_sm_barrier_call(void)
{
    (void)barrier_syscall(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}
