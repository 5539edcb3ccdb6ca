/* SPDX-License-Identifier: BSD-3-Clause */
/* test_flush_silent.c - src/ucp/core/flush.c: a close whose peer lives, has
 * matched a message, and takes no more of it, or only slowly. */
#include <stdlib.h>

#include "lib/test.h"
#include "ucp/core/flush.h"
#include "ucp/core/worker.h"
#include "ucp/pair.h"
#include "ucp/proto/rndv.h"
#include "ucp/suites.h"
#include "ucs/clock.h"

enum { TAG = 2, BYTES = 400000, BOUND_MS = 60 };

static const struct pair_setup over_sm = {
    .tls = "sm", .rndv_threshold = "0", .zcopy_threshold = "inf"};
static const struct pair_setup over_mock = {
    .tls = "mock", .rndv_threshold = "0", .zcopy_threshold = "inf"};
static const struct pair_setup over_example = {
    .tls = "example", .rndv_threshold = "0", .zcopy_threshold = "inf"};

static const struct test_param silent_params[] = {
    {.name = "sm", .value = &over_sm},
    {.name = "mock", .value = &over_mock},
    {.name = "example", .value = &over_example},
    {0},
};

static uint8_t out[BYTES], in[BYTES];

/* Messages come 10 kB at a time; S's is matched, and a part of it was taken.
 */
static void open_matched(struct pair *pair, const struct test_param *param,
                         uint64_t features, const char *bound, void **send_p,
                         void **receive_p)
{
    (void)setenv("UCX_RNDV_SCHEME", "am", 1);
    (void)setenv("UCX_RNDV_FRAG_SIZE", "10000", 1);
    (void)setenv("UCX_RNDV_PIPELINE_DEPTH", "1", 1);
    (void)setenv("UCX_FAILURE_BOUND_PEER", bound, 1);
    pair_open(pair, param, features, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(pair);
    pattern_fill(out, BYTES, 3);
    *receive_p = pair_receive(pair, 1, in, BYTES, TAG);
    *send_p    = pair_send(pair, 0, out, BYTES, TAG);
    ck_assert(UCS_PTR_IS_PTR(*send_p) && UCS_PTR_IS_PTR(*receive_p));
    while (!ucp_rndv_is_matched(ucp_request_of(*send_p))) {
        pair_progress(pair);
    }
    ck_assert_int_eq(ucp_request_check_status(*receive_p), UCS_INPROGRESS);
}

static void check_cut(struct pair *pair, void *send, void *receive)
{
    ck_assert_int_eq(pair_wait(pair, send), UCS_ERR_ENDPOINT_TIMEOUT);
    ck_assert_int_eq(pair_wait(pair, receive), UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(pair->error_count[0], 0);
    for (int side = 0; side < 2; ++side) {
        ck_assert_uint_eq(pair->workers[side]->ids.count, 0);
    }
}

/* The close is done in time though R never goes on; both ends hear of it. */
static void silent__the_close_has_a_bound(const struct test_param *param)
{
    struct pair pair;
    void       *send, *receive, *close;
    uint64_t    begin_ns;

    open_matched(&pair, param, 0, "60ms", &send, &receive);
    begin_ns    = ucsi_clock_ns();
    close       = ucp_ep_close_nbx(pair.eps[0], &pair_no_param);
    pair.eps[0] = NULL;
    ck_assert(UCS_PTR_IS_PTR(close));
    ck_assert_int_eq(worker_wait(pair.workers[0], close, 30), UCS_OK);
    ck_assert_uint_ge(ucsi_clock_ns() - begin_ns, BOUND_MS * UCS_NS_PER_MS);
    ucp_request_free(close);
    check_cut(&pair, send, receive);
    pair_close(&pair);
}

/* Also for one that sleeps meanwhile. */
static void silent__a_sleeper_wakes_for_it(const struct test_param *param)
{
    struct pair pair;
    void       *send, *receive, *close;

    if (param->value == &over_mock) {
        test_skip("the mock has no sleep");
    }
    open_matched(&pair, param, UCP_FEATURE_WAKEUP, "60ms", &send, &receive);
    close       = ucp_ep_close_nbx(pair.eps[0], &pair_no_param);
    pair.eps[0] = NULL;
    ck_assert(UCS_PTR_IS_PTR(close));
    while (ucp_request_check_status(close) == UCS_INPROGRESS) {
        if (ucp_worker_progress(pair.workers[0]) == 0) {
            ck_assert_int_eq(ucp_worker_wait(pair.workers[0]), UCS_OK);
        }
    }
    ck_assert_int_eq(pair_wait(&pair, close), UCS_OK);
    check_cut(&pair, send, receive);
    pair_close(&pair);
}

/* Both go on until R has taken a piece, or has all. */
static void take_a_piece(struct pair *pair, void *send, void *receive)
{
    size_t owed = ucp_rndv_owed(ucp_request_of(send));

    while ((ucp_request_check_status(receive) == UCS_INPROGRESS) &&
           (ucp_request_check_status(send) == UCS_INPROGRESS) &&
           (ucp_rndv_owed(ucp_request_of(send)) == owed)) {
        pair_progress(pair);
    }
}

/* A peer that takes a piece just before the bound, again and again, is waited
 * for. The time is the test's. */
static void silent__a_slow_peer_gets_all(const struct test_param *param)
{
    const uint64_t bound_ns = 1000 * (uint64_t)UCS_NS_PER_S;
    struct pair    pair;
    void          *send, *receive, *close;
    uint64_t       now_ns;
    unsigned       pieces = 0;

    open_matched(&pair, param, 0, "1000s", &send, &receive);
    close       = ucp_ep_close_nbx(pair.eps[0], &pair_no_param);
    pair.eps[0] = NULL;
    ck_assert(UCS_PTR_IS_PTR(close));
    now_ns = ucsi_clock_ns();
    while (ucp_request_check_status(send) == UCS_INPROGRESS) {
        take_a_piece(&pair, send, receive);
        ck_assert_uint_eq(ucp_closes_look(pair.workers[0], now_ns), 0);
        now_ns += bound_ns / 10 * 9;
        ++pieces;
    }
    ck_assert_uint_gt(pieces, 3);
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, close), UCS_OK);
    pattern_check(in, BYTES, 3);
    pair_close(&pair);
}

static const struct test_case silent_cases[] = {
    TEST(silent__the_close_has_a_bound),
    TEST(silent__a_sleeper_wakes_for_it),
    TEST(silent__a_slow_peer_gets_all),
    {0},
};

const struct test_suite flush_silent_suite = {
    .name = "flush_silent", .cases = silent_cases, .params = silent_params};
