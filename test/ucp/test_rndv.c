/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rndv.c - src/ucp/proto/rndv.c: starts that no honest peer sends, and
 * what a flush waits for. The conversation itself is in test_pipeline_send.c
 * and the tests of each protocol. */
#include "ucp/proto/rndv.h"

#include <stdlib.h>

#include "lib/test.h"
#include "ucp/inject.h"
#include "ucp/pair.h"
#include "ucp/suites.h"

enum { BYTES = 1500000, TAG = 6 };

static const struct pair_setup sm_rndv = {.tls = "sm", .rndv_threshold = "0"};

static uint8_t out[BYTES], in[BYTES];

static void open_pair(struct pair *pair)
{
    pair_open_setup(pair, &sm_rndv, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(pair);
}

/* Lengths that do not add up are dropped; candidates that nobody knows, and
 * keys that are none, are answered by asking for fragments. */
static void rndv__odd_starts(const struct test_param *param)
{
    struct ucp_wire_rndv wire = {.start = {.tag = TAG, .length = 100, .id = 9},
                                 .head_length = 5};
    uint8_t              bytes[UCP_WIRE_RNDV_BYTES + 4] = {0};
    struct pair          pair;
    void                *receive;

    (void)param;
    open_pair(&pair);
    ucp_wire_rndv_encode(bytes, &wire);
    (void)inject(pair.workers[1], pair.eps[1], UCP_AM_RNDV, bytes,
                 sizeof(bytes)); /* the head is cut */
    ck_assert_uint_eq(pair.workers[1]->bad_ids, 1);
    wire.start.length = 3; /* more first data than message */
    inject_rndv(pair.workers[1], pair.eps[1], UCP_AM_RNDV, wire, 4);
    ck_assert_uint_eq(pair.workers[1]->bad_ids, 2);
    wire.start.length = 100;
    for (unsigned candidate = 0; candidate < 256; candidate += 51) {
        for (unsigned before = 0; before < 2; ++before) {
            wire.candidate = (uint8_t)candidate;
            if (before) {
                receive = pair_receive(&pair, 1, in, BYTES, TAG);
            }
            inject_rndv(pair.workers[1], pair.eps[1], UCP_AM_RGET, wire, 10);
            if (!before) {
                receive = pair_receive(&pair, 1, in, BYTES, TAG);
            }
            ck_assert(UCS_PTR_IS_PTR(receive));
            ck_assert_int_eq(ucp_request_check_status(receive), UCS_INPROGRESS);
            ck_assert_uint_eq(ucp_request_of(receive)->recv.remaining, 90);
            inject_abort(
                pair.workers[1], pair.eps[1],
                (struct ucp_wire_abort){.id = 9, .status = UCS_ERR_CANCELED});
            ck_assert_int_eq(pair_wait(&pair, receive), UCS_ERR_CANCELED);
        }
    }
    ck_assert_uint_eq(pair.workers[1]->bad_ids, 2);
    pair_close(&pair);
}

/* A flush ends after a message that is matched, not after one that waits. */
static void
rndv__a_flush_waits_for_what_is_matched(const struct test_param *param)
{
    struct pair pair;
    void       *send, *receive, *flush;

    (void)param;
    open_pair(&pair);
    pattern_fill(out, BYTES, 1);
    send = pair_send(&pair, 0, out, BYTES, TAG);
    ck_assert(UCS_PTR_IS_PTR(send));
    ck_assert_int_eq(
        pair_wait(&pair, ucp_ep_flush_nbx(pair.eps[0], &pair_no_param)),
        UCS_OK);
    ck_assert_int_eq(ucp_request_check_status(send), UCS_INPROGRESS);
    receive = pair_receive(&pair, 1, in, BYTES, TAG);
    worker_settle(pair.workers[1]);
    worker_settle(pair.workers[0]);
    ck_assert_uint_eq(pair.eps[0]->matched_count,
                      ucp_request_check_status(send) == UCS_INPROGRESS);
    flush = ucp_ep_flush_nbx(pair.eps[0], &pair_no_param);
    ck_assert_int_eq(pair_wait(&pair, flush), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    ck_assert_uint_eq(pair.eps[0]->matched_count, 0);
    pattern_check(in, BYTES, 1);
    pair_close(&pair);
}

static const struct test_case rndv_cases[] = {
    TEST(rndv__odd_starts),
    TEST(rndv__a_flush_waits_for_what_is_matched),
    {0},
};

const struct test_suite rndv_suite = {.name = "rndv", .cases = rndv_cases};
