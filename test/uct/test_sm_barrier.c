/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/test_sm_barrier.c - nobody waits until barriers reach a process. */
#include "uct/sm/sm_barrier.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "uct/sm_stage.h"
#include "uct/suites.h"

static struct sm_end receiver, sender;

static void *wait_for_nothing(void *arg)
{
    (void)pthread_mutex_lock(arg);
    (void)pthread_mutex_unlock(arg);
    return NULL;
}

/* With a second thread it takes the kernel some milliseconds until barriers
 * reach us. Messages do not wait for that, and in the end nobody fences. */
static void barrier__nobody_waits_for_it(const struct test_param *param)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t       thread;
    uint64_t        number;

    (void)param;
    (void)pthread_mutex_lock(&lock);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_nothing, &lock), 0);
    sm_end_open(&receiver, false);
    sm_end_open(&sender, false);
    sender.ep = sm_end_connect(&sender, &receiver);
    ck_assert_int_ne(uct_sm_barrier_state(), UCT_SM_BARRIER_NONE);
    for (number = 0; number < 20; ++number) {
        sm_stage_send_all(&sender, sender.ep, SM_STAGE_AM, number, 64);
    }
    sm_stage_until_received(&receiver, NULL, 20);
    if (!uct_sm_barrier_is_there()) {
        ck_assert(receiver.sm->must_fence);
    } else {
        while (receiver.sm->awaits_barrier || sender.sm->awaits_barrier) {
            sm_stage_progress(&receiver, &sender, 64);
        }
        ck_assert_int_eq(uct_sm_barrier_state(), UCT_SM_BARRIER_REACHES_US);
        ck_assert(!receiver.sm->must_fence);
        ck_assert(!ucs_container_of(sender.ep, struct uct_sm_ep, base)
                       ->peer->must_fence);
    }
    for (; number < 40; ++number) {
        sm_stage_send_all(&sender, sender.ep, SM_STAGE_AM, number, 64);
    }
    sm_stage_until_received(&receiver, NULL, 40);
    sm_end_close(&sender);
    sm_end_close(&receiver);
    (void)pthread_mutex_unlock(&lock);
    (void)pthread_join(thread, NULL);
}

/* Closed at once: the thread that asks does not outlive its interface, and a
 * child that was forked meanwhile has not got it. */
static void barrier__close_and_fork_meanwhile(const struct test_param *param)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t       thread;
    pid_t           child;
    int             status;

    (void)param;
    (void)pthread_mutex_lock(&lock);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_nothing, &lock), 0);
    sm_end_open(&receiver, false);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        uct_sm_barrier_end(); /* has nobody to wait for */
        _exit(uct_sm_barrier_state() == UCT_SM_BARRIER_ASKED);
    }
    sm_end_close(&receiver);
    ck_assert_int_ne(uct_sm_barrier_state(), UCT_SM_BARRIER_ASKED);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    (void)pthread_mutex_unlock(&lock);
    (void)pthread_join(thread, NULL);
}

static const struct test_case barrier_cases[] = {
    TEST(barrier__nobody_waits_for_it),
    TEST(barrier__close_and_fork_meanwhile),
    {0},
};

const struct test_suite sm_barrier_suite = {
    .name  = "sm_barrier",
    .cases = barrier_cases,
};
