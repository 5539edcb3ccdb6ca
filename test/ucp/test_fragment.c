/* SPDX-License-Identifier: BSD-3-Clause */
/* test_fragment.c - src/ucp/proto/fragment.c: ranges are granted as the
 * window allows, and not two times. */
#include "ucp/proto/fragment.h"

#include <stdlib.h>

#include "lib/test.h"
#include "ucp/inject.h"
#include "ucp/pair.h"
#include "ucp/suites.h"

enum { BYTES = 300000, PIECE = 10000, DEPTH = 3, TAG = 8 };

static const struct pair_setup sm_rndv = {
    .tls = "sm", .rndv_threshold = "0", .zcopy_threshold = "inf"};
static const struct pair_setup self_rndv = {
    .tls = "self", .rndv_threshold = "0", .zcopy_threshold = "1"};

static const struct test_param fragment_params[] = {
    {.name = "sm", .value = &sm_rndv},
    {.name = "self", .value = &self_rndv},
    {0},
};

static uint8_t out[BYTES], in[BYTES];

static void open_with_window(struct pair *pair, const struct test_param *param)
{
    (void)setenv("UCX_RNDV_SCHEME", "am", 1);
    (void)setenv("UCX_RNDV_FRAG_SIZE", "10000", 1);
    (void)setenv("UCX_RNDV_PIPELINE_DEPTH", "3", 1);
    (void)setenv("UCX_SM_CHUNK_SIZE", "4k", 1);
    pair_open(pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(pair);
    pattern_fill(out, BYTES, 3);
    memset(in, 0, BYTES);
}

/* What is under way never exceeds the window, whoever is slow. */
static void
fragment__the_window_bounds_what_is_under_way(const struct test_param *param)
{
    struct pair         pair;
    ucp_tag_recv_info_t info;
    struct ucp_request *req;
    void               *send, *receive;

    open_with_window(&pair, param);
    send = pair_send_sync(&pair, 0, out, BYTES, TAG);
    while (ucp_tag_probe_nb(pair.workers[1], TAG, UINT64_MAX, 0, &info) ==
           NULL) {
        ucp_worker_progress(pair.workers[1]);
    }
    receive = pair_receive(&pair, 1, in, BYTES, TAG); /* has its message */
    ck_assert(UCS_PTR_IS_PTR(send) && UCS_PTR_IS_PTR(receive));
    req = ucp_request_of(receive);
    while (ucp_request_check_status(receive) == UCS_INPROGRESS) {
        if (req->recv.rndv != NULL) {
            ck_assert_uint_le(req->recv.rndv->asked.bytes, PIECE * DEPTH);
        }
        ucp_worker_progress(pair.workers[1]);
        if ((ucp_request_check_status(receive) == UCS_INPROGRESS) &&
            (req->recv.rndv != NULL)) {
            ck_assert_uint_le(req->recv.rndv->asked.bytes, PIECE * DEPTH);
        }
        ucp_worker_progress(pair.workers[0]);
    }
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    pattern_check(in, BYTES, 3);
    ck_assert_uint_eq(pair.workers[0]->bad_ids, 0);
    ck_assert_uint_eq(pair.workers[1]->bad_ids, 0);
    pair_close(&pair);
}

/* Settings at their limits: a window of one byte, and one of everything. */
static void fragment__any_window_works(const struct test_param *param)
{
    static const char *const rows[][2] = {
        {"1", "1"}, {"0", "0"}, {"inf", "inf"}, {"1", "1g"}, {"100", "7"}};
    static const size_t sizes[] = {0, 1, 9000, 20000};

    for (unsigned i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        struct pair pair;

        (void)setenv("UCX_RNDV_PIPELINE_DEPTH", rows[i][0], 1);
        (void)setenv("UCX_RNDV_FRAG_SIZE", rows[i][1], 1);
        (void)setenv("UCX_RNDV_SCHEME", "am", 1);
        pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
        for (unsigned j = 0; j < UCS_ARRAY_COUNT(sizes); ++j) {
            void *send, *receive;

            pattern_fill(out, sizes[j], j);
            receive = pair_receive(&pair, 1, in, BYTES, TAG);
            send    = pair_send_sync(&pair, 0, out, sizes[j], TAG);
            ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
            ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
            pattern_check(in, sizes[j], j);
        }
        pair_close(&pair);
    }
}

/* A grant that comes again, overlaps or jumps asks for nothing. */
static void fragment__a_grant_comes_once(const struct test_param *param)
{
    struct pair              pair;
    struct ucp_worker       *worker;
    struct ucp_rndv         *rndv;
    struct ucp_wire_ack      ack;
    void                    *send, *receive;
    const struct ucp_extent *first;

    open_with_window(&pair, param);
    send = pair_send_sync(&pair, 0, out, BYTES, TAG);
    ck_assert(UCS_PTR_IS_PTR(send));
    receive = pair_receive(&pair, 1, in, BYTES, TAG);
    worker_settle(pair.workers[1]); /* it has asked for the first window */
    if (ucp_request_check_status(receive) == UCS_INPROGRESS) {
        rndv   = ucp_request_of(receive)->recv.rndv;
        worker = pair.workers[0];
        first  = ucp_extents_first(&rndv->asked);
        ck_assert(first != NULL);
        ack = (struct ucp_wire_ack){
            .sender_id   = ucp_request_of(send)->send.id,
            .receiver_id = ucp_request_of(receive)->recv.id,
            .offset      = (first == NULL) ? 0 : first->offset,
            .length      = rndv->asked.bytes};
        worker_settle(worker);
        inject_ack(worker, pair.eps[0], ack);
        ck_assert_uint_eq(worker->bad_ids, 1);
        ack.offset += 1;
        inject_ack(worker, pair.eps[0], ack);
        ck_assert_uint_eq(worker->bad_ids, 2);
        ack.receiver_id += 1;
        ack.offset += ack.length - 1;
        inject_ack(worker, pair.eps[0], ack); /* another receive's */
        ck_assert_uint_eq(worker->bad_ids, 3);
    }
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    pattern_check(in, BYTES, 3);
    pair_close(&pair);
}

static const struct test_case fragment_cases[] = {
    TEST(fragment__the_window_bounds_what_is_under_way),
    TEST(fragment__any_window_works),
    TEST(fragment__a_grant_comes_once),
    {0},
};

const struct test_suite fragment_suite = {
    .name = "fragment", .cases = fragment_cases, .params = fragment_params};
