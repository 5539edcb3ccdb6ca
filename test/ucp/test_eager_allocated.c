/* SPDX-License-Identifier: BSD-3-Clause */
/* test_eager_allocated.c - src/ucp/proto/eager_allocated.c: messages in one
 * buffer and in several, met before and after their receive, and fragments
 * that do not keep to the protocol. */
#include <stdlib.h>

#include "lib/test.h"
#include "ucp/inject.h"
#include "ucp/pair.h"
#include "ucp/suites.h"

enum { BYTES = 200000, TAG = 3 };

static const struct pair_setup sm_eager = {
    .tls = "sm", .rndv_threshold = "inf", .zcopy_threshold = "inf"};

struct stage {
    struct pair pair;
    uint8_t    *out;
    uint8_t    *in;
};

static void stage_open(struct stage *stage)
{
    pair_open_setup(&stage->pair, &sm_eager, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&stage->pair);
    stage->out = malloc(BYTES);
    stage->in  = calloc(1, BYTES);
    ck_assert(stage->out != NULL && stage->in != NULL);
    pattern_fill(stage->out, BYTES, 2);
}

static void stage_close(struct stage *stage)
{
    pair_close(&stage->pair);
    free(stage->out);
    free(stage->in);
}

static const char *proto_of(struct ucp_ep *ep, size_t bytes)
{
    return ucp_select_lookup(
               &ep->config->select[UCP_MODE_STANDARD][UCP_DT_CONTIG][0], bytes)
        ->name;
}

static void allocated__carries_any_length(const struct test_param *param)
{
    struct stage stage;
    size_t       one;

    (void)param;
    stage_open(&stage);
    one = stage.pair.eps[0]->config->lane.attr.am.bcopy_bytes_max -
          UCP_WIRE_EAGER_BYTES;
    for (int delta = -1; delta <= 1; ++delta) {
        for (unsigned fragments = 1; fragments < 4; ++fragments) {
            size_t length = fragments * one + (size_t)delta;
            void  *receive, *send;

            ck_assert_str_eq(proto_of(stage.pair.eps[0], length),
                             "eager/allocated");
            memset(stage.in, 0, BYTES);
            receive = pair_receive(&stage.pair, 1, stage.in, BYTES, TAG);
            send    = pair_send(&stage.pair, 0, stage.out, length, TAG);
            ck_assert_int_eq(pair_wait(&stage.pair, send), UCS_OK);
            ck_assert_int_eq(pair_wait(&stage.pair, receive), UCS_OK);
            pattern_check(stage.in, length, 2);
        }
    }
    stage_close(&stage);
}

/* The receive comes when some fragments are there, and others not. */
static void allocated__receive_in_the_middle(const struct test_param *param)
{
    for (int rounds = 0; rounds < 12; ++rounds) {
        struct stage stage;
        void        *receive, *send;

        (void)param;
        stage_open(&stage);
        send = pair_send(&stage.pair, 0, stage.out, BYTES, TAG);
        for (int i = 0; i < rounds; ++i) {
            ucp_worker_progress(stage.pair.workers[i % 2]);
        }
        receive = pair_receive(&stage.pair, 1, stage.in, BYTES, TAG);
        ck_assert_int_eq(pair_wait(&stage.pair, receive), UCS_OK);
        ck_assert_int_eq(pair_wait(&stage.pair, send), UCS_OK);
        pattern_check(stage.in, BYTES, 2);
        stage_close(&stage);
    }
}

static struct ucp_wire_start first_of(uint64_t length)
{
    return (struct ucp_wire_start){.tag = TAG, .length = length, .id = 7};
}

/* The sender closes or fails when a part of the message is here. */
static void allocated__sender_ends_in_the_middle(const struct test_param *param)
{
    (void)param;
    for (int posted = 0; posted < 3; ++posted) {
        struct stage        stage;
        ucp_tag_recv_info_t info;
        ucp_tag_message_h   message = NULL;
        void               *receive = NULL;

        stage_open(&stage);
        if (posted == 0) {
            receive = pair_receive(&stage.pair, 1, stage.in, BYTES, TAG);
        }
        inject_first(stage.pair.workers[1], stage.pair.eps[1], first_of(BYTES),
                     1000);
        if (posted == 2) {
            message = ucp_tag_probe_nb(stage.pair.workers[1], TAG, UINT64_MAX,
                                       1, &info);
            ck_assert_ptr_nonnull(message);
            ck_assert_uint_eq(info.length, BYTES);
        }
        ucp_ep_fail(stage.pair.eps[1], UCS_ERR_CONNECTION_RESET);
        if (posted == 1) {
            receive = pair_receive(&stage.pair, 1, stage.in, BYTES, TAG);
        } else if (posted == 2) {
            static const ucp_request_param_t none = {0};

            receive = ucp_tag_msg_recv_nbx(stage.pair.workers[1], stage.in,
                                           BYTES, message, &none);
        }
        ck_assert_int_eq(pair_wait(&stage.pair, receive),
                         UCS_ERR_CONNECTION_RESET);
        stage_close(&stage);
    }
}

struct bad_piece {
    uint64_t id;
    uint64_t offset;
    size_t   length;
};

/* Fragments that cannot be: the endpoint fails, the receive with it. */
static void
allocated__bad_fragments_end_the_endpoint(const struct test_param *param)
{
    static const struct bad_piece pieces[] = {
        {8, 1000, 10},       /* of another message */
        {7, 1001, 10},       /* a hole */
        {7, 0, 10},          /* twice */
        {7, UINT64_MAX, 10}, /* before the start, so to say */
        {7, 1000, 9001},     /* more than there is */
    };

    (void)param;
    for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); ++i) {
        for (int posted = 0; posted < 2; ++posted) {
            struct stage stage;
            void        *receive = NULL;

            stage_open(&stage);
            if (posted) {
                receive = pair_receive(&stage.pair, 1, stage.in, 10000, TAG);
            }
            inject_first(stage.pair.workers[1], stage.pair.eps[1],
                         first_of(10000), 1000);
            inject_piece(
                stage.pair.workers[1], stage.pair.eps[1], UCP_AM_EAGER_MORE,
                (struct ucp_wire_piece){pieces[i].id, pieces[i].offset},
                pieces[i].length);
            if (!posted) {
                receive = pair_receive(&stage.pair, 1, stage.in, 10000, TAG);
            }
            ck_assert_int_eq(stage.pair.error_count[1], 1);
            ck_assert_int_eq(pair_wait(&stage.pair, receive), UCS_ERR_IO_ERROR);
            stage_close(&stage);
        }
    }
}

static void allocated__more_without_first(const struct test_param *param)
{
    struct stage stage;

    (void)param;
    stage_open(&stage);
    inject_piece(stage.pair.workers[1], stage.pair.eps[1], UCP_AM_EAGER_MORE,
                 (struct ucp_wire_piece){1, 0}, 100);
    ck_assert_int_eq(stage.pair.error_count[1], 1);
    stage_close(&stage);
}

static void allocated__first_inside_a_message(const struct test_param *param)
{
    struct stage stage;

    (void)param;
    stage_open(&stage);
    for (int i = 0; i < 2; ++i) {
        inject_first(stage.pair.workers[1], stage.pair.eps[1], first_of(10000),
                     1000);
        ck_assert_int_eq(stage.pair.error_count[1], i);
    }
    stage_close(&stage);
}

static void allocated__cut_messages(const struct test_param *param)
{
    uint8_t zeros[64] = {0};

    (void)param;
    for (size_t cut = 0; cut < UCP_WIRE_FIRST_BYTES; ++cut) {
        struct stage stage;

        stage_open(&stage);
        (void)inject(stage.pair.workers[1], stage.pair.eps[1],
                     UCP_AM_EAGER_FIRST, zeros, cut);
        ck_assert_int_eq(stage.pair.error_count[1], 1);
        stage_close(&stage);
    }
}

/* A length that no memory holds: the message is lost, nothing is written. */
static void allocated__absurd_length(const struct test_param *param)
{
    static const uint64_t lengths[] = {UINT64_MAX, UINT64_MAX - 64,
                                       UINT64_MAX - 200, 1ull << 62};

    (void)param;
    for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); ++i) {
        struct stage stage;

        stage_open(&stage);
        inject_first(stage.pair.workers[1], stage.pair.eps[1],
                     first_of(lengths[i]), 4000);
        ck_assert_int_eq(stage.pair.error_count[1], 1);
        ck_assert_int_eq(stage.pair.error_status[1], UCS_ERR_NO_MEMORY);
        stage_close(&stage);
    }
}

static void allocated__truncated_in_pieces(const struct test_param *param)
{
    struct stage stage;
    void        *receive, *send;

    (void)param;
    stage_open(&stage);
    for (int posted = 0; posted < 2; ++posted) {
        receive = NULL;
        if (posted) {
            receive = pair_receive(&stage.pair, 1, stage.in, BYTES - 1, TAG);
        }
        send = pair_send(&stage.pair, 0, stage.out, BYTES, TAG);
        if (!posted) {
            pair_settle(&stage.pair);
            receive = pair_receive(&stage.pair, 1, stage.in, BYTES - 1, TAG);
        }
        ck_assert_int_eq(pair_wait(&stage.pair, send), UCS_OK);
        ck_assert_int_eq(pair_wait(&stage.pair, receive),
                         UCS_ERR_MESSAGE_TRUNCATED);
        ck_assert_uint_eq(stage.in[0], 0); /* nothing was written */
    }
    stage_close(&stage);
}

static const struct test_case allocated_cases[] = {
    TEST(allocated__carries_any_length),
    TEST(allocated__receive_in_the_middle),
    TEST(allocated__sender_ends_in_the_middle),
    TEST(allocated__bad_fragments_end_the_endpoint),
    TEST(allocated__more_without_first),
    TEST(allocated__first_inside_a_message),
    TEST(allocated__cut_messages),
    TEST(allocated__absurd_length),
    TEST(allocated__truncated_in_pieces),
    {0},
};

const struct test_suite eager_allocated_suite = {.name  = "eager_allocated",
                                                 .cases = allocated_cases};
