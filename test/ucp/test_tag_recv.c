/* SPDX-License-Identifier: BSD-3-Clause */
/* test_tag_recv.c - src/ucp/entry/tag_recv.c: what a receive returns and when
 * it calls back; probing, and receiving what a probe took. */
#include "ucp/core/worker.h"

#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucp/told.h"

enum { TAG = 4, BYTES = 200000 };

static const size_t sizes[] = {0, 1, 8, 100, 5000, 40000, BYTES};
enum { SIZE_COUNT = sizeof(sizes) / sizeof(sizes[0]) };
static char in[BYTES], out[BYTES];

/* Send a message and let what can arrive arrive; its request or NULL. */
static void *store_one(struct pair *pair, size_t length)
{
    void *send = pair_send(pair, 0, out, length, TAG);

    ck_assert(!UCS_PTR_IS_ERR(send));
    pair_settle(pair);
    return send;
}

static void recv__posted_first(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned i = 0; i < SIZE_COUNT; ++i) {
        struct told         told = {.count = 0};
        ucp_request_param_t how  = told_receive_param(&told, 0);
        void *request = ucp_tag_recv_nbx(pair.workers[1], in, sizeof(in), TAG,
                                         UINT64_MAX, &how);

        ck_assert(UCS_PTR_IS_PTR(request));
        ck_assert_uint_eq(told.count, 0);
        ck_assert_int_eq(
            pair_wait(&pair, pair_send(&pair, 0, out, sizes[i], TAG)), UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, request), UCS_OK);
        ck_assert_uint_eq(told.count, 1);
        ck_assert_ptr_eq(told.request, request);
        ck_assert_uint_eq(told.info.length, sizes[i]);
        ck_assert_uint_eq(told.info.sender_tag, TAG);
    }
    pair_close(&pair);
}

/* The message is there: NULL, the info filled, no callback. Or it must ask
 * for the rest: then as above. */
static void recv__stored_message(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned i = 0; i < SIZE_COUNT; ++i) {
        void               *send = store_one(&pair, sizes[i]);
        ucp_tag_recv_info_t info = {.sender_tag = 1};
        struct told         told = {.count = 0};
        ucp_request_param_t how =
            told_receive_param(&told, UCP_OP_ATTR_FIELD_RECV_INFO);
        void *request;

        how.recv_info.tag_info = &info;
        request = ucp_tag_recv_nbx(pair.workers[1], in, sizeof(in), TAG,
                                   UINT64_MAX, &how);
        ck_assert_uint_eq(told.count, 0);
        if (request == NULL) {
            ck_assert_uint_eq(info.sender_tag, TAG);
            ck_assert_uint_eq(info.length, sizes[i]);
        }
        ck_assert_int_eq(pair_wait(&pair, request), UCS_OK);
        ck_assert_uint_eq(told.count, (request != NULL));
        ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    }
    pair_close(&pair);
}

/* The callback runs before the return if all is there, and the request is
 * complete; MPICH releases it in there. */
static void recv__no_imm_cmpl(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned i = 0; i < 2 * SIZE_COUNT; ++i) {
        void               *send = store_one(&pair, sizes[i / 2]);
        struct told         told = {.release = (i % 2 != 0)};
        ucp_request_param_t how =
            told_receive_param(&told, UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
        void *request = ucp_tag_recv_nbx(pair.workers[1], in, sizeof(in), TAG,
                                         UINT64_MAX, &how);

        ck_assert(UCS_PTR_IS_PTR(request));
        while (told.count == 0) {
            pair_progress(&pair);
        }
        ck_assert_ptr_eq(told.request, request);
        ck_assert_int_eq(told.status, UCS_OK);
        ck_assert_uint_eq(told.info.length, sizes[i / 2]);
        if (!told.release) {
            ck_assert_int_eq(pair_wait(&pair, request), UCS_OK);
        }
        ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
        ck_assert_uint_eq(told.count, 1);
    }
    pair_close(&pair);
}

static void recv__force_imm_cmpl(const struct test_param *param)
{
    ucp_request_param_t how = {.op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL};
    struct pair         pair;
    uint64_t            word = 0;
    void               *send;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(ucp_tag_recv_nbx(
                         pair.workers[1], &word, 8, TAG, UINT64_MAX, &how)),
                     UCS_ERR_NO_RESOURCE);
    send = store_one(&pair, 8);
    ck_assert_int_eq(
        pair_wait(&pair, ucp_tag_recv_nbx(pair.workers[1], &word, 8, TAG,
                                          UINT64_MAX, &how)),
        UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    pair_close(&pair);
}

static void recv__truncated(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned i = 1; i < 2 * SIZE_COUNT; ++i) {
        size_t              length    = sizes[i / 2];
        bool                is_stored = (i % 2 == 0);
        ucp_tag_recv_info_t info      = {.length = 0};
        struct told         told      = {.count = 0};
        ucp_request_param_t how =
            told_receive_param(&told, UCP_OP_ATTR_FIELD_RECV_INFO);
        void *send = NULL, *request;

        if (length == 0) {
            continue;
        }
        how.recv_info.tag_info = &info;
        if (is_stored) {
            send = store_one(&pair, length);
        }
        in[length - 1] = 0x55;
        request        = ucp_tag_recv_nbx(pair.workers[1], in, length - 1, TAG,
                                          UINT64_MAX, &how);
        if (!is_stored) {
            send = pair_send(&pair, 0, out, length, TAG);
        }
        ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
        if (UCS_PTR_IS_PTR(request)) {
            ck_assert_int_eq(pair_wait(&pair, request),
                             UCS_ERR_MESSAGE_TRUNCATED);
            ck_assert_int_eq(told.status, UCS_ERR_MESSAGE_TRUNCATED);
            info = told.info;
        } else {
            ck_assert_int_eq(UCS_PTR_RAW_STATUS(request),
                             UCS_ERR_MESSAGE_TRUNCATED);
        }
        ck_assert_uint_eq(info.length, length); /* of the message */
        ck_assert_int_eq(in[length - 1], 0x55);
    }
    pair_close(&pair);
}

static unsigned nb_count;
static void    *nb_request;
static size_t   nb_length;

static void nb_done(void *request, ucs_status_t status,
                    ucp_tag_recv_info_t *info)
{
    ck_assert_int_eq(status, UCS_OK);
    nb_request = request;
    nb_length  = info->length;
    ++nb_count;
}

/* The older forms imply NO_IMM_CMPL. */
static void recv__older_forms(const struct test_param *param)
{
    ucp_context_attr_t  attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
    ucp_tag_recv_info_t info;
    struct pair         pair;
    char               *block;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_int_eq(ucp_context_query(pair.contexts[0], &attr), UCS_OK);
    block = malloc(attr.request_size);
    ck_assert_ptr_nonnull(block);
    for (unsigned i = 0; i < SIZE_COUNT; ++i) {
        void *send     = store_one(&pair, sizes[i]);
        void *external = block + attr.request_size;
        void *request;

        nb_count = 0;
        request =
            ucp_tag_recv_nb(pair.workers[1], in, sizeof(in),
                            ucp_dt_make_contig(1), TAG, UINT64_MAX, nb_done);
        ck_assert(UCS_PTR_IS_PTR(request));
        ck_assert_int_eq(pair_wait(&pair, request), UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
        ck_assert_uint_eq(nb_count, 1);
        ck_assert_ptr_eq(nb_request, request);
        ck_assert_uint_eq(nb_length, sizes[i]);

        send = store_one(&pair, sizes[i]);
        ck_assert_int_eq(ucp_tag_recv_nbr(pair.workers[1], in, sizeof(in),
                                          ucp_dt_make_contig(1), TAG,
                                          UINT64_MAX, external),
                         UCS_OK);
        while (ucp_tag_recv_request_test(external, &info) == UCS_INPROGRESS) {
            pair_progress(&pair);
        }
        ck_assert_int_eq(ucp_request_check_status(external), UCS_OK);
        ck_assert_uint_eq(info.length, sizes[i]);
        ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    }
    free(block);
    pair_close(&pair);
}

/* A probe that takes nothing out finds the same again; one that takes it out
 * hides it from receives; it is received by its handle. */
static void recv__probe(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned i = 0; i < SIZE_COUNT; ++i) {
        ucp_tag_recv_info_t info;
        struct told         told = {.release = 1};
        ucp_request_param_t how =
            told_receive_param(&told, UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
        ucp_tag_message_h message;
        void             *send, *other, *request;

        ck_assert_ptr_null(
            ucp_tag_probe_nb(pair.workers[1], TAG, UINT64_MAX, 1, &info));
        send    = store_one(&pair, sizes[i]);
        message = ucp_tag_probe_nb(pair.workers[1], TAG, UINT64_MAX, 0, &info);
        ck_assert_ptr_nonnull(message);
        ck_assert_uint_eq(info.length, sizes[i]);
        ck_assert_uint_eq(info.sender_tag, TAG);
        ck_assert_int_eq(
            UCS_PTR_RAW_STATUS(ucp_tag_msg_recv_nbx(pair.workers[1], in, BYTES,
                                                    message, &pair_no_param)),
            UCS_ERR_INVALID_PARAM); /* not taken out */
        ck_assert_ptr_eq(ucp_tag_probe_nb(pair.workers[1], TAG, 0, 1, &info),
                         message);
        ck_assert_ptr_null(ucp_tag_probe_nb(pair.workers[1], TAG, 0, 0, &info));
        other   = pair_receive(&pair, 1, out, 0, TAG);
        request = ucp_tag_msg_recv_nbx(pair.workers[1], in, sizeof(in), message,
                                       &how);
        ck_assert(UCS_PTR_IS_PTR(request));
        while (told.count == 0) {
            pair_progress(&pair);
        }
        ck_assert_ptr_eq(told.request, request);
        ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
        ck_assert_int_eq(ucp_request_check_status(other), UCS_INPROGRESS);
        ucp_request_cancel(pair.workers[1], other);
        ucp_request_free(other);
    }
    pair_close(&pair);
}

static void recv__wrong_arguments(const struct test_param *param)
{
    ucp_request_param_t unknown = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                   .datatype     = 6};
    struct pair         pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(pair_receive(&pair, 1, NULL, 8, TAG)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(ucp_tag_recv_nbx(
                         pair.workers[1], in, 8, TAG, UINT64_MAX, &unknown)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(ucp_tag_msg_recv_nbx(
                         pair.workers[1], in, 8, NULL, &unknown)),
                     UCS_ERR_INVALID_PARAM);
    pair_close(&pair);
}

static const struct test_case recv_cases[] = {
    TEST(recv__posted_first),
    TEST(recv__stored_message),
    TEST(recv__no_imm_cmpl),
    TEST(recv__force_imm_cmpl),
    TEST(recv__truncated),
    TEST(recv__older_forms),
    TEST(recv__probe),
    TEST(recv__wrong_arguments),
    {0},
};

const struct test_suite tag_recv_suite = {
    .name = "tag_recv", .cases = recv_cases, .params = pair_protocols};
