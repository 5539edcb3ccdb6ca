/* SPDX-License-Identifier: BSD-3-Clause */
/* test_worker.c - src/ucp/core/worker.c, entry/worker.c: thread modes, what a
 * worker tells of itself, and threads that use one worker together (run it
 * under ThreadSanitizer too). */
#include "ucp/core/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucs/log_capture.h"

enum { THREADS = 4, ROUNDS = 1000, LONG_BYTES = 50000 };

static const ucp_worker_params_t multi = {
    .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
    .thread_mode = UCS_THREAD_MODE_MULTI,
};

struct worker_thread {
    struct pair *pair;
    pthread_t    thread;
    unsigned     index;
};

/* Wait as a program does: look at the request without a lock, and progress. */
static void wait_for(struct pair *pair, void *request)
{
    if (request == NULL) {
        return;
    }
    ck_assert(UCS_PTR_IS_PTR(request));
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        pair_progress(pair);
    }
    ck_assert_int_eq(ucp_request_check_status(request), UCS_OK);
    ucp_request_free(request);
}

/* Each thread sends to itself over the shared workers, by its own tag. */
static void *exchange_thread(void *arg)
{
    struct worker_thread *self = arg;
    uint8_t              *out  = malloc(LONG_BYTES);
    uint8_t              *in   = malloc(LONG_BYTES);

    ck_assert((out != NULL) && (in != NULL));
    for (unsigned i = 0; (i < ROUNDS) && ((i < 20) || test_has_time(15)); ++i) {
        size_t length = (i % 16 == 0) ? LONG_BYTES : 8 + i % 300;
        void  *send, *receive;

        memset(out, (int)(i + self->index), length);
        if (i % 2 == 0) {
            receive = pair_receive(self->pair, 1, in, length, self->index);
            send    = pair_send(self->pair, 0, out, length, self->index);
        } else {
            send    = pair_send_sync(self->pair, 0, out, length, self->index);
            receive = pair_receive(self->pair, 1, in, length, self->index);
        }
        wait_for(self->pair, receive);
        if (memcmp(in, out, length) != 0) {
            ck_abort_msg("thread %u, round %u: wrong bytes", self->index, i);
        }
        wait_for(self->pair, send);
    }
    free(out);
    free(in);
    return NULL;
}

static void worker__four_threads(const struct test_param *param)
{
    struct pair_setup    setup = *(const struct pair_setup *)param->value;
    struct worker_thread threads[THREADS];
    struct pair          pair;

    setup.worker = &multi;
    pair_open_setup(&pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned i = 0; i < THREADS; ++i) {
        threads[i].pair  = &pair;
        threads[i].index = i;
        ck_assert_int_eq(pthread_create(&threads[i].thread, NULL,
                                        exchange_thread, &threads[i]),
                         0);
    }
    for (unsigned i = 0; i < THREADS; ++i) {
        ck_assert_int_eq(pthread_join(threads[i].thread, NULL), 0);
    }
    ck_assert_int_eq(pair.error_count[0] + pair.error_count[1], 0);
    pair_close(&pair);
}

/* One thread progresses, others only look at their requests. */
static _Atomic bool is_over;

static void *progress_thread(void *arg)
{
    while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
        pair_progress(arg);
    }
    return NULL;
}

static void *look_thread(void *arg)
{
    struct worker_thread *self = arg;

    for (unsigned i = 0; (i < ROUNDS) && ((i < 20) || test_has_time(15)); ++i) {
        uint64_t in = 0, out = i;
        void    *receive = pair_receive(self->pair, 1, &in, 8, self->index);
        void    *send    = pair_send(self->pair, 0, &out, 8, self->index);
        ucp_tag_recv_info_t info;

        while (ucp_request_test(receive, &info) == UCS_INPROGRESS) {
            sched_yield();
        }
        /* The receive's bytes and info are visible with its status. */
        if ((in != i) || (info.length != 8)) {
            ck_abort_msg("round %u: %lu, %zu bytes", i, (unsigned long)in,
                         info.length);
        }
        ucp_request_free(receive);
        while (UCS_PTR_IS_PTR(send) && !ucp_request_is_completed(send)) {
            sched_yield();
        }
        if (UCS_PTR_IS_PTR(send)) {
            ucp_request_free(send);
        }
    }
    return NULL;
}

static void worker__one_progresses_for_all(const struct test_param *param)
{
    struct pair_setup    setup = *(const struct pair_setup *)param->value;
    struct worker_thread threads[THREADS];
    pthread_t            progress;
    struct pair          pair;

    setup.worker = &multi;
    pair_open_setup(&pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_int_eq(pthread_create(&progress, NULL, progress_thread, &pair),
                     0);
    for (unsigned i = 0; i < THREADS; ++i) {
        threads[i].pair  = &pair;
        threads[i].index = i;
        ck_assert_int_eq(
            pthread_create(&threads[i].thread, NULL, look_thread, &threads[i]),
            0);
    }
    for (unsigned i = 0; i < THREADS; ++i) {
        ck_assert_int_eq(pthread_join(threads[i].thread, NULL), 0);
    }
    atomic_store_explicit(&is_over, true, memory_order_relaxed);
    ck_assert_int_eq(pthread_join(progress, NULL), 0);
    pair_close(&pair);
}

/* One after another, from changing threads, in mode SINGLE, as Open MPI. */
static void *single_thread(void *arg)
{
    struct pair *pair = arg;
    uint64_t     word = 0;

    ck_assert_int_eq(pair_wait(pair, pair_send(pair, 0, &word, 8, 1)), UCS_OK);
    ck_assert_int_eq(pair_wait(pair, pair_receive(pair, 1, &word, 8, 1)),
                     UCS_OK);
    return NULL;
}

static void worker__single_from_changing_threads(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (int i = 0; i < 20; ++i) {
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, NULL, single_thread, &pair),
                         0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
    }
    pair_close(&pair);
}

static void worker__query(const struct test_param *param)
{
    ucp_worker_params_t params = {
        .field_mask =
            UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_NAME,
        .name = "a worker",
    };
    struct pair_setup setup = *(const struct pair_setup *)param->value;

    for (int mode = UCS_THREAD_MODE_SINGLE; mode <= UCS_THREAD_MODE_MULTI;
         ++mode) {
        ucp_worker_attr_t attr = {
            .field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE |
                          UCP_WORKER_ATTR_FIELD_NAME |
                          UCP_WORKER_ATTR_FIELD_ADDRESS |
                          UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING,
        };
        ucp_worker_address_attr_t address = {
            .field_mask = UCP_WORKER_ADDRESS_ATTR_FIELD_UID};
        struct pair pair;

        params.thread_mode = (ucs_thread_mode_t)mode;
        setup.worker       = &params;
        pair_open_setup(&pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
        ck_assert_int_eq(ucp_worker_query(pair.workers[0], &attr), UCS_OK);
        ck_assert_int_eq(attr.thread_mode, mode);
        ck_assert_str_eq(attr.name, "a worker");
        ck_assert_uint_ge(attr.max_debug_string, 100);
        ck_assert_uint_le(attr.address_length, 1536);
        ck_assert_int_eq(ucp_worker_address_query(attr.address, &address),
                         UCS_OK);
        ck_assert_uint_eq(address.worker_uid, pair.workers[0]->id);
        ucp_worker_release_address(pair.workers[0], attr.address);
        pair_close(&pair);
    }
}

static void worker__wrong_arguments(const struct test_param *param)
{
    ucp_worker_params_t params = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = (ucs_thread_mode_t)17,
    };
    struct pair  pair;
    ucp_worker_h worker;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_int_eq(ucp_worker_create(pair.contexts[0], &params, &worker),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_worker_create(pair.contexts[0], NULL, &worker),
                     UCS_ERR_INVALID_PARAM);
    pair_close(&pair);
}

/* Destroyed with everything open: messages stored, receives waiting, sends
 * under way, handles not closed. */
static void worker__destroy_with_everything_open(const struct test_param *param)
{
    static uint8_t bytes[LONG_BYTES];
    struct pair    pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned tag = 0; tag < 100; ++tag) {
        size_t length = (tag % 2 == 0) ? 8 : LONG_BYTES;
        void  *send   = pair_send(&pair, (int)(tag % 2), bytes, length, tag);
        void  *receive;

        if (UCS_PTR_IS_PTR(send)) {
            ucp_request_free(send);
        }
        if (tag % 3 == 0) {
            receive =
                pair_receive(&pair, (int)(tag % 2), bytes, length, tag + 1000);
            ucp_request_free(receive);
        }
        if (tag % 10 == 0) {
            pair_progress(&pair);
        }
    }
    pair_abandon(&pair);
}

static void worker_called_back(void *request, ucs_status_t status, void *arg)
{
    (void)request;
    (void)status;
    ++*(int *)arg;
}

/* A send that nobody matches is open when its worker is destroyed. */
static void worker__destroy_calls_nobody_back(const struct test_param *param)
{
    static uint8_t      bytes[8];
    int                 count      = 0;
    ucp_request_param_t send_param = {
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send   = worker_called_back,
        .user_data = &count,
    };
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert(UCS_PTR_IS_PTR(ucp_tag_send_sync_nbx(
        pair.eps[0], bytes, sizeof(bytes), 1, &send_param)));
    pair_progress(&pair);
    pair_abandon(&pair);
    ck_assert_int_eq(count, 0);
}

/* At the loudest level, too, a message writes no line. */
static void worker__is_silent_about_messages(const struct test_param *param)
{
    static uint8_t      out[LONG_BYTES], in[LONG_BYTES];
    static const size_t lengths[] = {0, 8, 5000, LONG_BYTES};
    struct pair         pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    for (unsigned round = 0; round < 400; ++round) {
        size_t length = lengths[round % 4];
        void  *receive;

        if (round == 8) { /* what is made once has been made */
            log_capture_start();
            ucsi_log_set_level(UCS_LOG_LEVEL_TRACE_POLL);
        }
        receive = pair_receive(&pair, 1, in, LONG_BYTES, 1);
        ck_assert_int_eq(pair_wait(&pair, pair_send(&pair, 0, out, length, 1)),
                         UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    }
    ck_assert_msg(log_captured.count == 0, "said: %s", log_captured.text);
    ucsi_log_set_level(UCS_LOG_LEVEL_WARN);
    pair_close(&pair);
}

static void worker_received_back(void *request, ucs_status_t status,
                                 const ucp_tag_recv_info_t *info,
                                 void                      *user_data)
{
    (void)info;
    worker_called_back(request, status, user_data);
}

/* Sends and receives of all lengths, stopped after any number of steps, by
 * every way that a rendezvous goes. */
static void
worker__destroy_in_the_middle_calls_nobody_back(const struct test_param *param)
{
    static const char *const schemes[] = {"am", "put_zcopy", "get_zcopy",
                                          "put_ppln"};
    static uint8_t           out[LONG_BYTES], in[LONG_BYTES];

    for (unsigned round = 0; round < 40; ++round) {
        int                 count = 0, before;
        ucp_request_param_t how   = {
              .op_attr_mask =
                  UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
              .user_data = &count,
        };
        struct pair pair;

        (void)setenv("UCX_RNDV_SCHEME", schemes[round % 4], 1);
        pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
        for (unsigned tag = 0; tag < 8; ++tag) {
            size_t length = 1 + test_random_below(LONG_BYTES);

            how.cb.recv = worker_received_back;
            (void)ucp_tag_recv_nbx(pair.workers[1], in, length, tag, UINT64_MAX,
                                   &how);
            how.cb.send = worker_called_back;
            (void)ucp_tag_send_nbx(pair.eps[0], out, length, tag, &how);
        }
        for (uint64_t steps = test_random_below(12); steps > 0; --steps) {
            pair_progress(&pair);
        }
        before = count;
        pair_abandon(&pair);
        ck_assert_int_eq(count, before);
    }
}

static const struct test_case worker_cases[] = {
    TEST(worker__destroy_calls_nobody_back),
    TEST(worker__is_silent_about_messages),
    TEST(worker__destroy_in_the_middle_calls_nobody_back),
    TEST_TIMEOUT(worker__four_threads, 60),
    TEST_TIMEOUT(worker__one_progresses_for_all, 60),
    TEST(worker__single_from_changing_threads),
    TEST(worker__query),
    TEST(worker__wrong_arguments),
    TEST(worker__destroy_with_everything_open),
    {0},
};

const struct test_suite worker_suite = {
    .name = "worker", .cases = worker_cases, .params = pair_transports};
