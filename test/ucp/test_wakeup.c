/* SPDX-License-Identifier: BSD-3-Clause */
/* test_wakeup.c - src/ucp/core/wakeup.c: a worker that sleeps wakes for what
 * happens, whatever the moment; and one that sleeps does nothing. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucp/core/worker.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucs/log_capture.h"

enum { TAG = 13, BYTES = 300000 };

/* After so long nothing will come, even on a busy machine. */
enum { WAKE_MS = 20000 };

static bool is_readable(int fd, int timeout_ms)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, timeout_ms) == 1;
}

static int efd_of(ucp_worker_h worker)
{
    int fd = -1;

    ck_assert_int_eq(ucp_worker_get_efd(worker, &fd), UCS_OK);
    return fd;
}

/* Progress until arming works. */
static void arm(ucp_worker_h worker)
{
    for (int i = 0; i < 10000; ++i) {
        ucs_status_t status;

        worker_settle(worker);
        status = ucp_worker_arm(worker);
        if (status == UCS_OK) {
            return;
        }
        ck_assert_int_eq(status, UCS_ERR_BUSY);
    }
    ck_abort_msg("always busy");
}

static void wakeup__needs_the_feature(const struct test_param *param)
{
    struct pair pair;
    int         fd;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    log_capture_start();
    ck_assert_int_eq(ucp_worker_get_efd(pair.workers[0], &fd),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_worker_arm(pair.workers[0]), UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_worker_wait(pair.workers[0]), UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_worker_signal(pair.workers[0]), UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(log_captured.count, 4);
    ck_assert_ptr_nonnull(strstr(log_captured.text, "UCP_FEATURE_WAKEUP"));
    pair_close(&pair);
}

/* A message that is there already: BUSY, or the descriptor says so. */
static void wakeup__arm_with_a_message_waiting(const struct test_param *param)
{
    struct pair pair;
    uint64_t    word = 1;

    pair_open(&pair, param, UCP_FEATURE_WAKEUP, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    for (int i = 0; i < 100; ++i) {
        arm(pair.workers[1]);
        worker_settle(pair.workers[1]);
        ck_assert_int_eq(worker_wait(pair.workers[0],
                                     pair_send(&pair, 0, &word, 8, TAG), 10),
                         UCS_OK);
        if (!pair.is_loop) { /* there it is handed up at once */
            ck_assert((ucp_worker_arm(pair.workers[1]) == UCS_ERR_BUSY) ||
                      is_readable(efd_of(pair.workers[1]), WAKE_MS));
        }
        ck_assert_int_eq(
            pair_wait(&pair, pair_receive(&pair, 1, &word, 8, TAG)), UCS_OK);
    }
    pair_close(&pair);
}

static void wakeup__message_wakes(const struct test_param *param)
{
    struct pair pair;
    uint64_t    word = 1;
    void       *receive;
    int         fd;

    pair_open(&pair, param, UCP_FEATURE_WAKEUP, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    if (pair.is_loop) {
        pair_close(&pair);
        return;
    }
    fd = efd_of(pair.workers[1]);
    for (int i = 0; i < 200; ++i) {
        receive = pair_receive(&pair, 1, &word, 8, TAG);
        arm(pair.workers[1]);
        ck_assert(!is_readable(fd, 0));
        ck_assert_int_eq(worker_wait(pair.workers[0],
                                     pair_send(&pair, 0, &word, 8, TAG), 10),
                         UCS_OK);
        ck_assert(is_readable(fd, WAKE_MS));
        ck_assert_int_eq(worker_wait(pair.workers[1], receive, 5), UCS_OK);
        ucp_request_free(receive);
    }
    pair_close(&pair);
}

/* Sleep until something happens to one of the two, if both may. */
static void sleep_both(struct pair *pair, void *send, void *receive)
{
    struct pollfd fds[2];
    int           armed = 0;

    for (int side = 0; side < 2; ++side) {
        worker_settle(pair->workers[side]);
        fds[side] = (struct pollfd){.fd     = efd_of(pair->workers[side]),
                                    .events = POLLIN};
    }
    for (int side = 0; side < 2; ++side) {
        armed += (ucp_worker_arm(pair->workers[side]) == UCS_OK);
    }
    if ((armed == 2) &&
        ((ucp_request_check_status(send) == UCS_INPROGRESS) ||
         (ucp_request_check_status(receive) == UCS_INPROGRESS))) {
        ck_assert_msg(poll(fds, 2, WAKE_MS) > 0, "both sleep for ever");
    }
}

/* Both sleep whenever they may, and a long message gets through. */
static void wakeup__both_sleep(const struct test_param *param)
{
    static uint8_t in[BYTES], out[BYTES];
    struct pair    pair;
    void          *send, *receive;

    (void)setenv("UCX_SM_CHUNK_COUNT", "16", 1);
    pair_open(&pair, param, UCP_FEATURE_WAKEUP, UCP_ERR_HANDLING_MODE_PEER);
    if (pair.is_loop) {
        pair_close(&pair);
        return;
    }
    pattern_fill(out, BYTES, 1);
    for (int i = 0; i < 10; ++i) {
        receive = pair_receive(&pair, 1, in, BYTES, TAG);
        send    = pair_send_sync(&pair, 0, out, BYTES, TAG);
        while ((ucp_request_check_status(send) == UCS_INPROGRESS) ||
               (ucp_request_check_status(receive) == UCS_INPROGRESS)) {
            sleep_both(&pair, send, receive);
        }
        ucp_request_free(send);
        ucp_request_free(receive);
        pattern_check(in, BYTES, 1);
    }
    pair_close(&pair);
}

/* A signal before or while one sleeps wakes once. */
static void wakeup__signal(const struct test_param *param)
{
    struct pair pair;
    int         fd;

    pair_open(&pair, param, UCP_FEATURE_WAKEUP, UCP_ERR_HANDLING_MODE_PEER);
    fd = efd_of(pair.workers[0]);
    for (int i = 0; i < 50; ++i) {
        arm(pair.workers[0]);
        ck_assert(!is_readable(fd, 0));
        ck_assert_int_eq(ucp_worker_signal(pair.workers[0]), UCS_OK);
        ck_assert_int_eq(ucp_worker_signal(pair.workers[0]), UCS_OK);
        ck_assert(is_readable(fd, WAKE_MS));
        ck_assert_int_eq(ucp_worker_arm(pair.workers[0]), UCS_ERR_BUSY);
        arm(pair.workers[0]);
        ck_assert(!is_readable(fd, 0));
        ck_assert_int_eq(ucp_worker_signal(pair.workers[0]), UCS_OK);
        ck_assert_int_eq(ucp_worker_wait(pair.workers[0]), UCS_OK);
        arm(pair.workers[0]);
    }
    pair_close(&pair);
}

/* Nobody writes: a sleeper uses no processor. */
static void *sleep_thread(void *arg)
{
    ck_assert_int_eq(ucp_worker_wait(arg), UCS_OK);
    return NULL;
}

static double thread_cpu_seconds(pthread_t thread)
{
    struct timespec time = {0};
    clockid_t       clock;

    ck_assert_int_eq(pthread_getcpuclockid(thread, &clock), 0);
    ck_assert_int_eq(clock_gettime(clock, &time), 0);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void wakeup__sleeping_uses_no_processor(const struct test_param *param)
{
    struct timespec pause = {.tv_nsec = 300 * 1000 * 1000};
    pthread_t       thread;
    struct pair     pair;
    double          before;

    pair_open(&pair, param, UCP_FEATURE_WAKEUP, UCP_ERR_HANDLING_MODE_PEER);
    worker_settle(pair.workers[0]);
    ck_assert_int_eq(
        pthread_create(&thread, NULL, sleep_thread, pair.workers[0]), 0);
    (void)nanosleep(&pause, NULL); /* the time that is measured, no event */
    before = thread_cpu_seconds(thread);
    (void)nanosleep(&pause, NULL);
    ck_assert_double_lt(thread_cpu_seconds(thread) - before, 0.005);
    ck_assert_int_eq(ucp_worker_signal(pair.workers[0]), UCS_OK);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    pair_close(&pair);
}

/* ---- the caller's own descriptor, edges ---- */

static void run_with(const struct test_param   *param,
                     const ucp_worker_params_t *worker, int epoll_fd,
                     bool is_external)
{
    struct pair_setup  setup = *(const struct pair_setup *)param->value;
    struct epoll_event event;
    struct pair        pair;
    uint64_t           word = 1;
    void              *receive;
    int                fd = -1;

    setup.worker = worker;
    pair_open_setup(&pair, &setup, UCP_FEATURE_WAKEUP,
                    UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    if (is_external) {
        ck_assert_int_eq(ucp_worker_get_efd(pair.workers[1], &fd),
                         UCS_ERR_UNSUPPORTED);
    } else {
        epoll_fd = efd_of(pair.workers[1]);
    }
    for (int i = 0; (i < 50) && !pair.is_loop; ++i) {
        receive = pair_receive(&pair, 1, &word, 8, TAG);
        arm(pair.workers[1]);
        if (is_external) { /* both sides are in it */
            arm(pair.workers[0]);
            while (epoll_wait(epoll_fd, &event, 1, 0) > 0) {
                worker_settle(pair.workers[0]);
                arm(pair.workers[0]);
                arm(pair.workers[1]);
            }
        }
        (void)worker_wait(pair.workers[0], pair_send(&pair, 0, &word, 8, TAG),
                          10);
        ck_assert_int_eq(epoll_wait(epoll_fd, &event, 1, WAKE_MS), 1);
        if (is_external) {
            ck_assert_ptr_eq(event.data.ptr, worker->user_data);
        }
        ck_assert_int_eq(worker_wait(pair.workers[1], receive, 5), UCS_OK);
        ucp_request_free(receive);
    }
    pair_close(&pair);
}

static void wakeup__external_descriptor(const struct test_param *param)
{
    int                 epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    ucp_worker_params_t worker   = {
          .field_mask =
              UCP_WORKER_PARAM_FIELD_EVENT_FD | UCP_WORKER_PARAM_FIELD_USER_DATA,
          .event_fd  = epoll_fd,
          .user_data = &epoll_fd,
    };

    ck_assert_int_ge(epoll_fd, 0);
    run_with(param, &worker, epoll_fd, true);
    ck_assert_int_eq(close(epoll_fd), 0); /* still ours */
}

static void wakeup__edge(const struct test_param *param)
{
    static const ucp_worker_params_t worker = {
        .field_mask = UCP_WORKER_PARAM_FIELD_EVENTS,
        .events     = UCP_WAKEUP_EDGE | UCP_WAKEUP_RX | UCP_WAKEUP_TX,
    };

    run_with(param, &worker, -1, false);
}

/* ---- races ---- */

/* Another thread sends at random moments; the sleeper, which arms and polls
 * only, misses none. */
struct race {
    struct pair     *pair;
    _Atomic unsigned allowed; /* messages that may be sent */
    _Atomic bool     is_over;
    unsigned         count;
    uint64_t         seed;
};

static void *race_send(void *arg)
{
    struct race *race  = arg;
    uint64_t     state = race->seed;
    uint64_t     word  = 0;

    for (unsigned i = 0; i < race->count; ++i) {
        void *send;

        while (atomic_load_explicit(&race->allowed, memory_order_acquire) <=
               i) {
            if (atomic_load_explicit(&race->is_over, memory_order_relaxed)) {
                return NULL;
            }
            ucp_worker_progress(race->pair->workers[0]);
        }
        state = state * 6364136223846793005u + 1442695040888963407u;
        for (unsigned spin = (state >> 40) % 400; spin > 0; --spin) {
            ucs_cpu_relax();
        }
        send = pair_send(race->pair, 0, &word, 8, TAG);
        ck_assert_int_eq(worker_wait(race->pair->workers[0], send, 20), UCS_OK);
        if (UCS_PTR_IS_PTR(send)) {
            ucp_request_free(send);
        }
    }
    return NULL;
}

static void wakeup__arming_misses_nothing(const struct test_param *param)
{
    struct pair pair;
    struct race race = {.pair = &pair, .count = 10000, .seed = test_random()};
    pthread_t   thread;
    uint64_t    word;
    int         fd;

    pair_open(&pair, param, UCP_FEATURE_WAKEUP, UCP_ERR_HANDLING_MODE_PEER);
    if (pair.is_loop) {
        pair_close(&pair);
        return;
    }
    pair_meet(&pair);
    fd = efd_of(pair.workers[1]);
    ck_assert_int_eq(pthread_create(&thread, NULL, race_send, &race), 0);
    for (unsigned i = 0; (i < race.count) && ((i < 100) || test_has_time(20));
         ++i) {
        void *receive = pair_receive(&pair, 1, &word, 8, TAG);

        atomic_store_explicit(&race.allowed, i + 1, memory_order_release);
        while (UCS_PTR_IS_PTR(receive) &&
               (ucp_request_check_status(receive) == UCS_INPROGRESS)) {
            if (ucp_worker_progress(pair.workers[1]) > 0) {
                continue;
            }
            if ((ucp_worker_arm(pair.workers[1]) == UCS_OK) &&
                !is_readable(fd, WAKE_MS)) {
                ck_abort_msg("message %u: nobody woke us", i);
            }
        }
        if (UCS_PTR_IS_PTR(receive)) {
            ucp_request_free(receive);
        }
    }
    atomic_store_explicit(&race.is_over, true, memory_order_relaxed);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    pair_close(&pair);
}

static const struct test_case wakeup_cases[] = {
    TEST(wakeup__needs_the_feature),
    TEST(wakeup__arm_with_a_message_waiting),
    TEST(wakeup__message_wakes),
    TEST(wakeup__both_sleep),
    TEST(wakeup__signal),
    TEST(wakeup__sleeping_uses_no_processor),
    TEST(wakeup__external_descriptor),
    TEST(wakeup__edge),
    TEST_TIMEOUT(wakeup__arming_misses_nothing, 90),
    {0},
};

const struct test_suite wakeup_suite = {
    .name = "wakeup", .cases = wakeup_cases, .params = pair_transports};
