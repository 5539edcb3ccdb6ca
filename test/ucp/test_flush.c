/* SPDX-License-Identifier: BSD-3-Clause */
/* test_flush.c - src/ucp/core/flush.c: what flush and close wait for, and what
 * they do not. */
#include "ucp/core/flush.h"

#include <stdlib.h>

#include "lib/test.h"
#include "ucp/core/worker.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucp/told.h"
#include "ucs/log_capture.h"

enum { TAG = 2, BYTES = 1000000, PENDING_MAX = 20000 };

static char  in[BYTES], out[BYTES];
static void *sends[PENDING_MAX];

/* Send small messages until some wait for room. @return how many. */
static unsigned fill(struct pair *pair)
{
    unsigned count = 0;

    do {
        ck_assert_uint_lt(count, PENDING_MAX);
        sends[count] = pair_send(pair, 0, out, 200, TAG);
        ck_assert(!UCS_PTR_IS_ERR(sends[count]));
        ++count;
    } while (ucp_ep_is_drained(pair->eps[0]) || (count % 16 != 0));
    return count;
}

static void finish(struct pair *pair, unsigned count, ucs_status_t expected)
{
    for (unsigned i = 0; i < count; ++i) {
        ucs_status_t status = pair_wait(pair, sends[i]);

        ck_assert((status == UCS_OK) || (status == expected));
    }
}

static void receive_all(struct pair *pair, unsigned count)
{
    for (unsigned i = 0; i < count; ++i) {
        ck_assert_int_eq(pair_wait(pair, pair_receive(pair, 1, in, BYTES, TAG)),
                         UCS_OK);
    }
}

static void flush__of_nothing_is_done(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_ptr_null(ucp_ep_flush_nbx(pair.eps[0], &pair_no_param));
    ck_assert_ptr_null(ucp_worker_flush_nbx(pair.workers[0], &pair_no_param));
    ck_assert_int_eq(ucp_ep_flush(pair.eps[0]), UCS_OK);
    ck_assert_int_eq(ucp_worker_flush(pair.workers[0]), UCS_OK);
    ck_assert_int_eq(ucp_worker_fence(pair.workers[0]), UCS_OK);
    pair_close(&pair);
}

/* It waits for what waits for room, of its endpoint only. */
static void flush__waits_for_what_is_queued(const struct test_param *param)
{
    for (int whole = 0; whole < 2; ++whole) {
        struct told         told = {.count = 0};
        ucp_request_param_t how  = told_send_param(&told, 0);
        struct pair         pair;
        unsigned            count;
        void               *flush;

        pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
        count = fill(&pair);
        flush = whole ? ucp_worker_flush_nbx(pair.workers[0], &how)
                      : ucp_ep_flush_nbx(pair.eps[0], &how);
        ck_assert(UCS_PTR_IS_PTR(flush));
        ck_assert_uint_eq(told.count, 0);
        ck_assert_int_eq(pair_wait(&pair, flush), UCS_OK);
        ck_assert_uint_eq(told.count, 1);
        ck_assert(ucp_ep_is_drained(pair.eps[0]));
        finish(&pair, count, UCS_OK);
        receive_all(&pair, count);
        pair_close(&pair);
    }
}

/* Several at a time end in their order; what is sent behind one does not
 * hold it. */
static void order_done(void *request, ucs_status_t status, void *user_data)
{
    unsigned **next = user_data;

    ck_assert_int_eq(status, UCS_OK);
    *(*next)++ = 1;
    ucp_request_free(request);
}

static void flush__several(const struct test_param *param)
{
    unsigned            done[8] = {0};
    unsigned           *next    = done;
    ucp_request_param_t how     = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                   UCP_OP_ATTR_FIELD_USER_DATA,
                                   .cb.send   = order_done,
                                   .user_data = &next};
    struct pair         pair;
    unsigned            count;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    count = fill(&pair);
    for (unsigned i = 0; i < 8; ++i) {
        ck_assert(UCS_PTR_IS_PTR(ucp_ep_flush_nbx(pair.eps[0], &how)));
        sends[count++] = pair_send(&pair, 0, out, 100, TAG);
    }
    finish(&pair, count, UCS_OK);
    pair_settle(&pair);
    ck_assert_ptr_eq(next, done + 8);
    receive_all(&pair, count);
    pair_close(&pair);
}

/* Nobody has asked for the message yet: flush does not wait for that. */
static void
flush__unmatched_rendezvous_does_not_hold(const struct test_param *param)
{
    struct pair pair;
    void       *send;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    send = pair_send_sync(&pair, 0, out, BYTES, TAG);
    ck_assert_int_eq(
        pair_wait(&pair, ucp_ep_flush_nbx(pair.eps[0], &pair_no_param)),
        UCS_OK);
    ck_assert_int_eq(
        pair_wait(&pair, ucp_worker_flush_nbx(pair.workers[0], &pair_no_param)),
        UCS_OK);
    ck_assert_int_eq(ucp_request_check_status(send), UCS_INPROGRESS);
    receive_all(&pair, 1);
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    pair_close(&pair);
}

/* One that was asked for is sent first. */
static void flush__matched_rendezvous_holds(const struct test_param *param)
{
    static const struct pair_setup sm_rndv = {
        .tls = "sm", .rndv_threshold = "0", .zcopy_threshold = "inf"};
    struct pair pair;
    void       *send, *receive, *flush;

    (void)param;
    (void)setenv("UCX_SM_CHUNK_COUNT", "16", 1);
    (void)setenv("UCX_RNDV_SCHEME", "am", 1); /* it takes several arrows */
    pair_open_setup(&pair, &sm_rndv, 0, UCP_ERR_HANDLING_MODE_PEER);
    pattern_fill(out, BYTES, 7);
    send    = pair_send(&pair, 0, out, BYTES, TAG);
    receive = pair_receive(&pair, 1, in, BYTES, TAG);
    worker_settle(pair.workers[1]);
    worker_settle(pair.workers[0]);
    ck_assert_int_eq(ucp_request_check_status(send), UCS_INPROGRESS);
    flush = ucp_ep_flush_nbx(pair.eps[0], &pair_no_param);
    ck_assert(UCS_PTR_IS_PTR(flush));
    worker_settle(pair.workers[0]);
    ck_assert_int_eq(ucp_request_check_status(flush), UCS_INPROGRESS);
    while (ucp_request_check_status(flush) == UCS_INPROGRESS) {
        pair_progress(&pair);
    }
    ck_assert_int_eq(ucp_request_check_status(send), UCS_OK);
    ucp_request_free(flush);
    ucp_request_free(send);
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    pattern_check(in, BYTES, 7);
    pair_close(&pair);
}

static void flush__after_a_failure(const struct test_param *param)
{
    struct pair pair;
    unsigned    count;
    void       *flushes[2];

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    count      = fill(&pair);
    flushes[0] = ucp_ep_flush_nbx(pair.eps[0], &pair_no_param);
    flushes[1] = ucp_worker_flush_nbx(pair.workers[0], &pair_no_param);
    ucp_ep_fail(pair.eps[0], UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(worker_wait(pair.workers[0], flushes[0], 10),
                     UCS_ERR_CONNECTION_RESET);
    /* A worker's flush is about all its endpoints: one's failure is told on
     * that one. */
    ck_assert_int_eq(worker_wait(pair.workers[0], flushes[1], 10), UCS_OK);
    ucp_request_free(flushes[0]);
    ucp_request_free(flushes[1]);
    ck_assert_int_eq(ucp_ep_flush(pair.eps[0]), UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(ucp_worker_flush(pair.workers[0]), UCS_OK);
    for (unsigned i = 0; i < count; ++i) {
        ucs_status_t status = worker_wait(pair.workers[0], sends[i], 10);

        ck_assert((status == UCS_OK) || (status == UCS_ERR_CONNECTION_RESET));
        if (UCS_PTR_IS_PTR(sends[i])) {
            ucp_request_free(sends[i]);
        }
    }
    pair_abandon(&pair);
}

/* A transport should call back from progress only; one that does it inside of
 * the call must not leave a worker's flush waiting for ever. */
static ucs_status_t flush_inside(struct uct_ep *ep, struct uct_req *req,
                                 unsigned flags)
{
    (void)ep;
    (void)flags;
    req->status = UCS_OK;
    req->cb(req);
    return UCS_INPROGRESS;
}

static void flush__worker_part_ends_inside(const struct test_param *param)
{
    const struct uct_transport *whole;
    struct uct_transport        inside;
    struct pair                 pair;
    void                       *flush;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    whole                              = pair.eps[0]->message_ep->transport;
    inside                             = *whole;
    inside.ep_flush                    = flush_inside;
    pair.eps[0]->message_ep->transport = &inside;
    flush = ucp_worker_flush_nbx(pair.workers[0], &pair_no_param);
    pair.eps[0]->message_ep->transport = whole;
    ck_assert_int_eq(UCS_PTR_IS_PTR(flush)
                         ? worker_wait(pair.workers[0], flush, 10)
                         : UCS_PTR_RAW_STATUS(flush),
                     UCS_OK);
    if (UCS_PTR_IS_PTR(flush)) {
        ucp_request_free(flush);
    }
    pair_close(&pair);
}

/* Flushes that wait when their worker is destroyed: nobody is called back,
 * and no request is missing from its pool. */
static void flush__destroyed_while_it_waits(const struct test_param *param)
{
    struct told         told = {.count = 0};
    ucp_request_param_t how  = told_send_param(&told, 0);
    void               *flushes[2];
    struct pair         pair;
    unsigned            count;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    count      = fill(&pair);
    flushes[0] = ucp_ep_flush_nbx(pair.eps[0], &how);
    flushes[1] = ucp_worker_flush_nbx(pair.workers[0], &how);
    for (int i = 0; i < 2; ++i) {
        ck_assert(UCS_PTR_IS_PTR(flushes[i]));
        ucp_request_release(flushes[i]); /* its callback stays */
    }
    for (unsigned i = 0; i < count; ++i) {
        if (UCS_PTR_IS_PTR(sends[i])) {
            ucp_request_free(sends[i]);
        }
    }
    log_capture_start();
    pair_abandon(&pair);
    (void)ucsi_log_set_handler(NULL);
    ck_assert_uint_eq(told.count, 0);
    ck_assert_msg(log_captured.count == 0, "said: %s", log_captured.text);
}

/* Everything at once: queued, unmatched, matched, a flush, and then close. */
static void close__with_everything_in_flight(const struct test_param *param)
{
    for (int forced = 0; forced < 2; ++forced) {
        struct pair pair;
        unsigned    count;
        void       *flush, *close, *unmatched, *big, *receive;

        (void)setenv("UCX_SM_CHUNK_COUNT", "16", 1);
        pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
        pair_meet(&pair);
        receive   = pair_receive(&pair, 1, in, BYTES, TAG + 1);
        unmatched = pair_send_sync(&pair, 0, out, BYTES, TAG + 2);
        big       = pair_send_sync(&pair, 0, out, BYTES, TAG + 1);
        pair_progress(&pair);
        count = fill(&pair);
        flush = ucp_ep_flush_nbx(pair.eps[0], &pair_no_param);
        close = ucp_ep_close_nbx(pair.eps[0],
                                 forced ? &pair_force_param : &pair_no_param);
        ck_assert(!forced || (close == NULL));
        ck_assert_int_eq(pair_wait(&pair, close), UCS_OK);
        pair.eps[0] = NULL;
        if (pair.is_loop) {
            pair.eps[1] = NULL;
        }
        ck_assert_int_eq(pair_wait(&pair, flush),
                         (forced && UCS_PTR_IS_PTR(flush)) ? UCS_ERR_CANCELED
                                                           : UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, unmatched), UCS_ERR_CANCELED);
        finish(&pair, count, UCS_ERR_CANCELED);
        (void)pair_wait(&pair, big);
        pair_settle(&pair);
        ucp_request_cancel(pair.workers[1], receive);
        ck_assert_int_ne(worker_wait(pair.workers[1], receive, 10),
                         UCS_INPROGRESS);
        ucp_request_free(receive);
        ck_assert_int_eq(pair.error_count[0], 0);
        pair_close(&pair);
    }
}

/* By force: what is open ends with CANCELED, but from progress: the caller may
 * hold a lock that its callbacks take. A sleeper is told to progress. */
static void
close__by_force_calls_back_from_progress(const struct test_param *param)
{
    struct told         told  = {.count = 0};
    ucp_request_param_t tells = told_send_param(&told, 0);
    struct pair         pair;
    void               *send;

    pair_open(&pair, param, UCP_FEATURE_WAKEUP, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    send = ucp_tag_send_sync_nbx(pair.eps[0], out, BYTES, TAG, &tells);
    ck_assert(UCS_PTR_IS_PTR(send));
    pair_settle(&pair);
    ck_assert_ptr_null(ucp_ep_close_nbx(pair.eps[0], &pair_force_param));
    pair.eps[0] = NULL;
    if (pair.is_loop) {
        pair.eps[1] = NULL;
    }
    ck_assert_uint_eq(told.count, 0);
    ck_assert_int_eq(ucp_request_check_status(send), UCS_INPROGRESS);
    ck_assert_int_eq(ucp_worker_arm(pair.workers[0]), UCS_ERR_BUSY);
    (void)ucp_worker_progress(pair.workers[0]);
    ck_assert_uint_eq(told.count, 1);
    ck_assert_int_eq(told.status, UCS_ERR_CANCELED);
    ucp_request_free(send);
    pair_close(&pair);
}

/* The peer of an end that was closed by force is not told, and what it sends
 * on arrives, as with OpenUCX; closed outside and inside of a callback. */
static struct pair *forced_pair;

static void close_by_force(void *request, ucs_status_t status,
                           const ucp_tag_recv_info_t *info, void *user_data)
{
    (void)request;
    (void)status;
    (void)info;
    (void)user_data;
    ck_assert_ptr_null(
        ucp_ep_close_nbx(forced_pair->eps[0], &pair_force_param));
    forced_pair->eps[0] = NULL;
}

static void close__by_force_the_peer_sends_on(const struct test_param *param)
{
    for (int is_inside = 0; is_inside < 2; ++is_inside) {
        ucp_request_param_t closes = {
            .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK,
            .cb.recv      = close_by_force,
        };
        struct pair pair;
        void       *works[3], *receive;

        forced_pair = &pair;
        pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
        if (pair.is_loop) {
            pair_close(&pair);
            return; /* both ends are one */
        }
        pair_meet(&pair);
        works[0] = pair_send_sync(&pair, 0, out, BYTES, TAG + 9); /* dropped */
        if (is_inside) {
            receive = ucp_tag_recv_nbx(pair.workers[0], in, 8, TAG + 3,
                                       UINT64_MAX, &closes);
            ck_assert_int_eq(
                pair_wait(&pair, pair_send(&pair, 1, out, 8, TAG + 3)), UCS_OK);
            works[1] = pair_send_sync(&pair, 1, out, BYTES, TAG);
            ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
        } else {
            works[1] = pair_send_sync(&pair, 1, out, BYTES, TAG);
            close_by_force(NULL, UCS_OK, NULL, NULL);
        }
        works[2] = pair_send_sync(&pair, 1, out, 8, TAG + 1);
        receive  = pair_receive(&pair, 0, in, BYTES, TAG);
        ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
        receive = pair_receive(&pair, 0, in, 8, TAG + 1);
        ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, works[0]), UCS_ERR_CANCELED);
        ck_assert_int_eq(pair_wait(&pair, works[1]), UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, works[2]), UCS_OK);
        ck_assert_int_eq(pair.error_count[1], 0);
        pair_close(&pair);
    }
}

static void close__twice(const struct test_param *param)
{
    struct pair pair;
    void       *close;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    (void)fill(&pair);
    close = ucp_ep_close_nbx(pair.eps[0], &pair_no_param);
    ck_assert(UCS_PTR_IS_PTR(close));
    ck_assert_int_eq(
        UCS_PTR_RAW_STATUS(ucp_ep_close_nbx(pair.eps[0], &pair_no_param)),
        UCS_ERR_NOT_CONNECTED);
    ck_assert_int_eq(
        UCS_PTR_RAW_STATUS(ucp_ep_close_nbx(pair.eps[0], &pair_force_param)),
        UCS_ERR_NOT_CONNECTED);
    ck_assert_int_eq(pair_wait(&pair, close), UCS_OK);
    pair.eps[0] = NULL;
    if (pair.is_loop) {
        pair.eps[1] = NULL;
    }
    for (unsigned i = 0; i < PENDING_MAX; ++i) {
        if (UCS_PTR_IS_PTR(sends[i])) {
            ucp_request_free(sends[i]);
        }
    }
    pair_close(&pair);
}

static void close__force_needs_mode_peer(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_NONE);
    ck_assert_int_eq(
        UCS_PTR_RAW_STATUS(ucp_ep_close_nbx(pair.eps[0], &pair_force_param)),
        UCS_ERR_INVALID_PARAM);
    pair_close(&pair);
}

/* The other side never calls progress again: closing ends all the same. */
static void close__needs_no_progress_of_the_peer(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (int i = 0; i < 10; ++i) {
        void *send = pair_send(&pair, 0, out, 100, TAG);

        ck_assert_int_eq(worker_wait(pair.workers[0], send, 10), UCS_OK);
        if (UCS_PTR_IS_PTR(send)) {
            ucp_request_free(send);
        }
    }
    ucp_ep_destroy(pair.eps[0]);
    pair.eps[0] = NULL;
    if (pair.is_loop) {
        pair.eps[1] = NULL;
    }
    receive_all(&pair, 10);
    pair_close(&pair);
}

static const struct test_case flush_cases[] = {
    TEST(flush__of_nothing_is_done),
    TEST(flush__waits_for_what_is_queued),
    TEST(flush__several),
    TEST(flush__unmatched_rendezvous_does_not_hold),
    TEST(flush__matched_rendezvous_holds),
    TEST(flush__after_a_failure),
    TEST(flush__worker_part_ends_inside),
    TEST(flush__destroyed_while_it_waits),
    TEST(close__with_everything_in_flight),
    TEST(close__by_force_calls_back_from_progress),
    TEST(close__by_force_the_peer_sends_on),
    TEST(close__twice),
    TEST(close__force_needs_mode_peer),
    TEST(close__needs_no_progress_of_the_peer),
    {0},
};

/* Without self, whose lane is never full. */
const struct test_suite flush_suite = {
    .name = "flush", .cases = flush_cases, .params = &pair_transports[1]};
