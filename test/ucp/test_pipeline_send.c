/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pipeline_send.c - src/ucp/proto/pipeline_send.c: each arrow of the
 * conversation; what happens when it is cut, doubled, late or forged.
 *
 *   side 0                        side 1
 *   |== RNDV =====================>|     arrow 1
 *   |<- ACK -----------------------|     arrow 2
 *   |== FRAG ... =================>|     arrow 3
 * An arrow has arrived when its receiver has called progress, so a test stops
 * between any two. */
#include "ucp/proto/rndv.h"

#include <stdlib.h>

#include "lib/test.h"
#include "ucp/inject.h"
#include "ucp/pair.h"
#include "ucp/suites.h"

enum { BYTES = 1500000, TAG = 5 }; /* more than the lane holds at a time */

static const struct pair_setup sm_rndv = {
    .tls = "sm", .rndv_threshold = "0", .zcopy_threshold = "inf"};
static const struct pair_setup sm_zcopy = {
    .tls = "sm", .rndv_threshold = "0", .zcopy_threshold = "1"};

static const struct test_param pipeline_params[] = {
    {.name = "bcopy", .value = &sm_rndv},
    {.name = "zcopy", .value = &sm_zcopy},
    {0},
};

struct stage {
    struct pair pair;
    uint8_t    *out;
    uint8_t    *in;
    void       *send;
    void       *receive;
};

static void stage_open(struct stage *stage, const struct test_param *param)
{
    memset(stage, 0, sizeof(*stage));
    (void)setenv("UCX_SM_CHUNK_COUNT", "16", 1);
    (void)setenv("UCX_RNDV_SCHEME", "am", 1);
    pair_open(&stage->pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&stage->pair);
    stage->out = malloc(BYTES);
    stage->in  = calloc(1, BYTES);
    ck_assert(stage->out != NULL && stage->in != NULL);
    pattern_fill(stage->out, BYTES, 1);
}

static void stage_close(struct stage *stage)
{
    pair_close(&stage->pair);
    free(stage->out);
    free(stage->in);
}

static struct ucp_request *stage_sender(const struct stage *stage)
{
    return ucp_request_of(stage->send);
}

static struct ucp_request *stage_receiver(const struct stage *stage)
{
    return ucp_request_of(stage->receive);
}

/* Let `arrows` arrows arrive. */
static void stage_run(struct stage *stage, int arrows)
{
    stage->send    = pair_send(&stage->pair, 0, stage->out, BYTES, TAG);
    stage->receive = pair_receive(&stage->pair, 1, stage->in, BYTES, TAG);
    ck_assert(UCS_PTR_IS_PTR(stage->send) && UCS_PTR_IS_PTR(stage->receive));
    if (arrows >= 1) {
        worker_settle(stage->pair.workers[1]);
    }
    if (arrows >= 2) {
        worker_settle(stage->pair.workers[0]);
    }
}

static void stage_finish(struct stage *stage)
{
    ck_assert_int_eq(pair_wait(&stage->pair, stage->receive), UCS_OK);
    ck_assert_int_eq(pair_wait(&stage->pair, stage->send), UCS_OK);
    pattern_check(stage->in, BYTES, 1);
}

static void pipeline__arrows_come_in_order(const struct test_param *param)
{
    struct stage stage;

    stage_open(&stage, param);
    stage_run(&stage, 0);
    ck_assert(!ucp_rndv_is_matched(stage_sender(&stage)));
    ck_assert_uint_eq(stage_receiver(&stage)->recv.id, 0);
    worker_settle(stage.pair.workers[1]);
    ck_assert_uint_ne(stage_receiver(&stage)->recv.id, 0);
    ck_assert(!ucp_rndv_is_matched(stage_sender(&stage)));
    worker_settle(stage.pair.workers[0]);
    ck_assert(ucp_rndv_is_matched(stage_sender(&stage)));
    stage_finish(&stage);
    ck_assert_uint_eq(stage.pair.workers[0]->ids.count, 0);
    ck_assert_uint_eq(stage.pair.workers[1]->ids.count, 0);
    ck_assert_uint_eq(stage.pair.workers[0]->bad_ids, 0);
    stage_close(&stage);
}

static void pipeline__truncated_receive_is_no_error_of_the_sender(
    const struct test_param *param)
{
    struct stage stage;

    stage_open(&stage, param);
    stage.send    = pair_send(&stage.pair, 0, stage.out, BYTES, TAG);
    stage.receive = pair_receive(&stage.pair, 1, stage.in, BYTES - 1, TAG);
    ck_assert_int_eq(pair_wait(&stage.pair, stage.receive),
                     UCS_ERR_MESSAGE_TRUNCATED);
    ck_assert_int_eq(pair_wait(&stage.pair, stage.send), UCS_OK);
    stage_close(&stage);
}

static void
pipeline__sync_completes_after_the_match(const struct test_param *param)
{
    static const size_t sizes[] = {0, 1, 4000, BYTES};
    struct stage        stage;

    stage_open(&stage, param);
    for (unsigned i = 0; i < 4; ++i) {
        stage.send = pair_send_sync(&stage.pair, 0, stage.out, sizes[i], TAG);
        pair_settle(&stage.pair);
        ck_assert_int_eq(ucp_request_check_status(stage.send), UCS_INPROGRESS);
        stage.receive = pair_receive(&stage.pair, 1, stage.in, BYTES, TAG);
        ck_assert_int_eq(pair_wait(&stage.pair, stage.send), UCS_OK);
        ck_assert_int_eq(pair_wait(&stage.pair, stage.receive), UCS_OK);
        pattern_check(stage.in, sizes[i], 1);
    }
    stage_close(&stage);
}

/* ---- messages that no honest peer sends ---- */

static void pipeline__bad_acks_are_dropped(const struct test_param *param)
{
    struct stage        stage;
    struct ucp_request *req;
    struct ucp_worker  *worker;
    struct ucp_wire_ack good, bad;

    stage_open(&stage, param);
    stage_run(&stage, 1);
    worker = stage.pair.workers[0];
    req    = stage_sender(&stage);
    good   = (struct ucp_wire_ack){.sender_id   = req->send.id,
                                   .receiver_id = 77,
                                   .offset      = req->dt.offset,
                                   .length      = BYTES - req->dt.offset};
    bad    = good;
    bad.length += 1;
    inject_ack(worker, stage.pair.eps[0], bad);
    bad.length = 0; /* "all is here" when it is not */
    inject_ack(worker, stage.pair.eps[0], bad);
    bad        = good;
    bad.offset = good.offset + 1;
    inject_ack(worker, stage.pair.eps[0], bad);
    bad.offset = UINT64_MAX - 5;
    inject_ack(worker, stage.pair.eps[0], bad);
    bad             = good;
    bad.receiver_id = 0;
    inject_ack(worker, stage.pair.eps[0], bad);
    bad           = good;
    bad.sender_id = good.sender_id ^ (1ull << 32);
    inject_ack(worker, stage.pair.eps[0], bad);
    inject_ack(worker, NULL, good); /* of another source */
    ck_assert_uint_eq(worker->bad_ids, 7);
    ck_assert_int_eq(ucp_request_check_status(stage.send), UCS_INPROGRESS);
    ck_assert(!ucp_rndv_is_matched(req));
    stage_finish(&stage);
    stage_close(&stage);
}

static void pipeline__cut_messages_are_dropped(const struct test_param *param)
{
    static const struct {
        uint8_t am_id;
        size_t  length;
    } wholes[]             = {{UCP_AM_RNDV, UCP_WIRE_RNDV_BYTES},
                              {UCP_AM_ACK, UCP_WIRE_ACK_BYTES},
                              {UCP_AM_FRAG, UCP_WIRE_FRAG_BYTES},
                              {UCP_AM_ABORT, UCP_WIRE_ABORT_BYTES}};
    uint8_t      zeros[64] = {0};
    uint64_t     count     = 0;
    struct stage stage;

    stage_open(&stage, param);
    for (unsigned i = 0; i < 4; ++i) {
        for (size_t cut = 0; cut < wholes[i].length; ++cut) {
            (void)inject(stage.pair.workers[0], stage.pair.eps[0],
                         wholes[i].am_id, zeros, cut);
            ++count;
            ck_assert_uint_eq(stage.pair.workers[0]->bad_ids, count);
        }
    }
    (void)inject(stage.pair.workers[0], stage.pair.eps[0], UCP_AM_ACK, zeros,
                 UCP_WIRE_ACK_BYTES + 1);
    ck_assert_uint_eq(stage.pair.workers[0]->bad_ids, count + 1);
    stage_run(&stage, 2);
    stage_finish(&stage);
    stage_close(&stage);
}

/* An ACK that comes twice: while fragments wait for room, and afterwards. */
static void pipeline__second_ack_is_dropped(const struct test_param *param)
{
    struct stage        stage;
    struct ucp_wire_ack ack;
    struct ucp_worker  *worker;

    stage_open(&stage, param);
    stage_run(&stage, 1);
    worker = stage.pair.workers[0];
    ack    = (struct ucp_wire_ack){.sender_id   = stage_sender(&stage)->send.id,
                                   .receiver_id = stage_receiver(&stage)->recv.id,
                                   .offset      = stage_sender(&stage)->dt.offset,
                                   .length =
                                       BYTES - stage_sender(&stage)->dt.offset};
    worker_settle(worker); /* the real one */
    inject_ack(worker, stage.pair.eps[0], ack);
    ack.length = 0;
    inject_ack(worker, stage.pair.eps[0], ack);
    ck_assert_uint_eq(worker->bad_ids, 2);
    stage_finish(&stage);
    inject_ack(worker, stage.pair.eps[0], ack);
    ck_assert_uint_eq(worker->bad_ids, 3);
    stage_close(&stage);
}

/* Nothing was asked yet: the lane is full; the first in the queue has an id. */
static void
pipeline__answer_before_the_question_is_dropped(const struct test_param *param)
{
    enum { COUNT_MAX = 1000 };
    static void          *sends[COUNT_MAX];
    struct ucp_wire_abort abort = {.side   = UCP_WIRE_RECEIVER,
                                   .status = UCS_ERR_MESSAGE_TRUNCATED};
    struct ucp_wire_ack   ack   = {.receiver_id = 9, .length = BYTES};
    struct ucp_worker    *worker;
    unsigned              count = 0;
    struct stage          stage;

    stage_open(&stage, param);
    worker = stage.pair.workers[0];
    while (ucp_ep_is_drained(stage.pair.eps[0])) {
        ck_assert_uint_lt(count, COUNT_MAX);
        sends[count++] = pair_send(&stage.pair, 0, stage.out, BYTES, TAG);
    }
    ack.sender_id = abort.id = ucp_request_of(sends[count - 1])->send.id;
    ck_assert_uint_ne(abort.id, 0);
    inject_ack(worker, stage.pair.eps[0], ack);
    inject_abort(worker, stage.pair.eps[0], abort);
    ck_assert_uint_eq(worker->bad_ids, 2);
    for (unsigned i = 0; i < count; ++i) {
        stage.send    = sends[i];
        stage.receive = pair_receive(&stage.pair, 1, stage.in, BYTES, TAG);
        stage_finish(&stage);
    }
    stage_close(&stage);
}

static void pipeline__bad_fragments_are_dropped(const struct test_param *param)
{
    struct stage        stage;
    struct ucp_worker  *worker;
    struct ucp_request *req;
    uint64_t            id, first;

    stage_open(&stage, param);
    stage_run(&stage, 1);
    worker = stage.pair.workers[1];
    req    = stage_receiver(&stage);
    id     = req->recv.id;
    first  = BYTES - req->recv.remaining;
    inject_piece(worker, stage.pair.eps[1], UCP_AM_FRAG,
                 (struct ucp_wire_piece){id, BYTES}, 1);
    inject_piece(worker, stage.pair.eps[1], UCP_AM_FRAG,
                 (struct ucp_wire_piece){id, UINT64_MAX}, 2);
    inject_piece(worker, stage.pair.eps[1], UCP_AM_FRAG,
                 (struct ucp_wire_piece){id, BYTES - 10}, 11);
    inject_piece(worker, stage.pair.eps[1], UCP_AM_FRAG,
                 (struct ucp_wire_piece){id, 0}, BYTES - first + 1);
    inject_piece(worker, stage.pair.eps[1], UCP_AM_FRAG,
                 (struct ucp_wire_piece){id + 1, first}, 10);
    inject_piece(worker, NULL, UCP_AM_FRAG, (struct ucp_wire_piece){id, first},
                 10);
    ck_assert_uint_eq(worker->bad_ids, 6);
    ck_assert_uint_eq(req->recv.remaining, BYTES - first);
    stage_finish(&stage);
    inject_piece(worker, stage.pair.eps[1], UCP_AM_FRAG,
                 (struct ucp_wire_piece){id, first}, 10); /* late */
    ck_assert_uint_eq(worker->bad_ids, 7);
    stage_close(&stage);
}

/* An ABORT brings an error of the API's, whatever its byte says. */
static void pipeline__abort_of_the_receiver(const struct test_param *param)
{
    static const int      odd[] = {0, UCS_INPROGRESS, 100, UCS_ERR_LAST};
    struct ucp_wire_abort abort = {.side = UCP_WIRE_RECEIVER};
    struct stage          stage;

    stage_open(&stage, param);
    stage_run(&stage, 1);
    abort.id = stage_sender(&stage)->send.id;
    for (unsigned i = 0; i < 4; ++i) {
        abort.status = (ucs_status_t)odd[i];
        inject_abort(stage.pair.workers[0], stage.pair.eps[0], abort);
        ck_assert_uint_eq(stage.pair.workers[0]->bad_ids, i + 1);
    }
    abort.side   = 2;
    abort.status = UCS_ERR_CANCELED;
    inject_abort(stage.pair.workers[0], stage.pair.eps[0], abort);
    ck_assert_uint_eq(stage.pair.workers[0]->bad_ids, 5);
    abort.side = UCP_WIRE_RECEIVER; /* now a good one, twice */
    for (int i = 0; i < 2; ++i) {
        inject_abort(stage.pair.workers[0], stage.pair.eps[0], abort);
        ck_assert_int_eq(ucp_request_check_status(stage.send),
                         UCS_ERR_CANCELED);
        ck_assert_uint_eq(stage.pair.workers[0]->bad_ids, 5 + i);
    }
    pair_abandon(&stage.pair);
    free(stage.out);
    free(stage.in);
}

/* ---- closing and failing at each arrow ---- */

/* The handle is gone; both operations end, whatever had arrived. */
static void stage_end_both(struct stage *stage, ucs_status_t send_status)
{
    ucs_status_t status;

    pair_settle(&stage->pair);
    status = worker_wait(stage->pair.workers[0], stage->send, 10);
    ck_assert_int_eq(status, send_status);
    ucp_request_free(stage->send);
    status = worker_wait(stage->pair.workers[1], stage->receive, 10);
    if (send_status == UCS_OK) {
        ck_assert_int_eq(status, UCS_OK);
    } else if (status == UCS_INPROGRESS) { /* never matched */
        ucp_request_cancel(stage->pair.workers[1], stage->receive);
        status = ucp_request_check_status(stage->receive);
        ck_assert_int_eq(status, UCS_ERR_CANCELED);
    } else {
        ck_assert_msg(UCS_STATUS_IS_ERR(status), "status %d", status);
    }
    ucp_request_free(stage->receive);
    ck_assert_uint_eq(stage->pair.workers[0]->ids.count, 0);
    ck_assert_uint_eq(stage->pair.workers[1]->ids.count, 0);
}

/* A flushing close sends what was granted and takes back what was not; a
 * receive that has matched what is taken back must end too. */
static void pipeline__close_at_each_arrow(const struct test_param *param)
{
    for (int arrows = 0; arrows <= 2; ++arrows) {
        struct stage stage;
        void        *close;

        stage_open(&stage, param);
        stage_run(&stage, arrows);
        close = ucp_ep_close_nbx(stage.pair.eps[0], &pair_no_param);
        ck_assert_int_eq(pair_wait(&stage.pair, close), UCS_OK);
        stage.pair.eps[0] = NULL;
        stage_end_both(&stage, (arrows == 2) ? UCS_OK : UCS_ERR_CANCELED);
        stage_close(&stage);
    }
}

static void pipeline__force_close_at_each_arrow(const struct test_param *param)
{
    for (int arrows = 0; arrows <= 2; ++arrows) {
        struct stage stage;

        stage_open(&stage, param);
        stage_run(&stage, arrows);
        ck_assert_ptr_null(
            ucp_ep_close_nbx(stage.pair.eps[0], &pair_force_param));
        stage.pair.eps[0] = NULL;
        stage_end_both(&stage, UCS_ERR_CANCELED);
        ck_assert_int_eq(stage.pair.error_count[0], 0);
        stage_close(&stage);
    }
}

static void pipeline__failure_at_each_arrow(const struct test_param *param)
{
    for (int arrows = 0; arrows <= 2; ++arrows) {
        for (int side = 0; side < 2; ++side) {
            struct stage stage;
            void        *request;

            stage_open(&stage, param);
            stage_run(&stage, arrows);
            request = (side == 0) ? stage.send : stage.receive;
            ucp_ep_fail(stage.pair.eps[side], UCS_ERR_ENDPOINT_TIMEOUT);
            if ((side == 0) || (arrows >= 1)) {
                ck_assert_int_eq(ucp_request_check_status(request),
                                 UCS_ERR_ENDPOINT_TIMEOUT);
            }
            ck_assert_int_eq(stage.pair.error_count[side], 1);
            pair_abandon(&stage.pair);
            free(stage.out);
            free(stage.in);
        }
    }
}

/* The receiver's worker is destroyed. An orderly end is no failure, so a
 * message that it had not asked for waits until our end is closed. */
static void pipeline__peer_leaves_at_each_arrow(const struct test_param *param)
{
    for (int arrows = 0; arrows <= 2; ++arrows) {
        struct stage stage;

        stage_open(&stage, param);
        stage_run(&stage, arrows);
        ucp_request_free(stage.receive);
        ucp_worker_destroy(stage.pair.workers[1]);
        ucp_cleanup(stage.pair.contexts[1]);
        stage.pair.workers[1] = NULL;
        stage.pair.eps[1]     = NULL;
        if (arrows == 2) { /* fragments wait for room that never comes */
            ck_assert_int_eq(worker_wait(stage.pair.workers[0], stage.send, 10),
                             UCS_ERR_CONNECTION_RESET);
        }
        ck_assert_int_eq(
            pair_wait(&stage.pair,
                      ucp_ep_close_nbx(stage.pair.eps[0], &pair_no_param)),
            UCS_OK);
        stage.pair.eps[0] = NULL;
        ck_assert(UCS_STATUS_IS_ERR(ucp_request_check_status(stage.send)));
        ucp_request_free(stage.send);
        ck_assert_uint_eq(stage.pair.workers[0]->ids.count, 0);
        stage_close(&stage);
    }
}

/* The transport knows already that its peer has left. */
static void pipeline__send_to_one_who_left(const struct test_param *param)
{
    struct stage stage;

    stage_open(&stage, param);
    ucp_worker_destroy(stage.pair.workers[1]);
    ucp_cleanup(stage.pair.contexts[1]);
    stage.pair.workers[1] = NULL;
    stage.pair.eps[1]     = NULL;
    for (int i = 0; i < 100000; ++i) { /* past the next look at the peer */
        ucp_worker_progress(stage.pair.workers[0]);
    }
    for (int i = 0; i < 3; ++i) {
        stage.send = pair_send(&stage.pair, 0, stage.out, BYTES, TAG);
        if (UCS_PTR_IS_PTR(stage.send)) {
            ck_assert_int_eq(worker_wait(stage.pair.workers[0], stage.send, 10),
                             UCS_ERR_CONNECTION_RESET);
            ucp_request_free(stage.send);
        } else {
            ck_assert_int_eq(UCS_PTR_RAW_STATUS(stage.send),
                             UCS_ERR_CONNECTION_RESET);
        }
        ck_assert_uint_eq(stage.pair.workers[0]->ids.count, 0);
    }
    stage_close(&stage);
}

static const struct test_case pipeline_cases[] = {
    TEST(pipeline__arrows_come_in_order),
    TEST(pipeline__truncated_receive_is_no_error_of_the_sender),
    TEST(pipeline__sync_completes_after_the_match),
    TEST(pipeline__bad_acks_are_dropped),
    TEST(pipeline__cut_messages_are_dropped),
    TEST(pipeline__second_ack_is_dropped),
    TEST(pipeline__answer_before_the_question_is_dropped),
    TEST(pipeline__bad_fragments_are_dropped),
    TEST(pipeline__abort_of_the_receiver),
    TEST(pipeline__close_at_each_arrow),
    TEST(pipeline__force_close_at_each_arrow),
    TEST(pipeline__failure_at_each_arrow),
    TEST(pipeline__peer_leaves_at_each_arrow),
    TEST(pipeline__send_to_one_who_left),
    {0},
};

const struct test_suite pipeline_send_suite = {.name   = "pipeline_send",
                                               .cases  = pipeline_cases,
                                               .params = pipeline_params};
