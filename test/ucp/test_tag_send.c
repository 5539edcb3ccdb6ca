/* SPDX-License-Identifier: BSD-3-Clause */
/* test_tag_send.c - src/ucp/entry/tag_send.c: what a send returns and when it
 * calls back, in each form, for each protocol. */
#include "ucp/core/worker.h"

#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/api/causeway.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucp/told.h"

enum { TAG = 9, BYTES = 200000 };

static const size_t sizes[] = {0, 1, 8, 100, 5000, 40000, BYTES};
enum { SIZE_COUNT = sizeof(sizes) / sizeof(sizes[0]) };
static char in[BYTES], out[BYTES];

static void receive_one(struct pair *pair)
{
    ck_assert_int_eq(
        pair_wait(pair, pair_receive(pair, 1, in, sizeof(in), TAG)), UCS_OK);
}

/* NULL and silence, or a request and one callback from progress. */
static void
send__calls_back_after_the_call_or_never(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned i = 0; i < 2 * SIZE_COUNT; ++i) {
        struct told         told    = {.count = 0};
        ucp_request_param_t how     = told_send_param(&told, 0);
        bool                is_sync = (i % 2 != 0);
        void *request = is_sync ? ucp_tag_send_sync_nbx(pair.eps[0], out,
                                                        sizes[i / 2], TAG, &how)
                                : ucp_tag_send_nbx(pair.eps[0], out,
                                                   sizes[i / 2], TAG, &how);

        ck_assert_uint_eq(told.count, 0);
        ck_assert(!UCS_PTR_IS_ERR(request));
        ck_assert(!is_sync || (request != NULL));
        receive_one(&pair);
        if (request == NULL) {
            pair_settle(&pair);
            ck_assert_uint_eq(told.count, 0);
        } else {
            ck_assert_int_eq(pair_wait(&pair, request), UCS_OK);
            ck_assert_uint_eq(told.count, 1);
            ck_assert_ptr_eq(told.request, request);
            ck_assert_int_eq(told.status, UCS_OK);
        }
    }
    pair_close(&pair);
}

/* Always a request, always one callback; before the return if it is done. */
static void send__no_imm_cmpl(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned i = 0; i < SIZE_COUNT; ++i) {
        struct told         told = {.count = 0};
        ucp_request_param_t how =
            told_send_param(&told, UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
        void *request = ucp_tag_send_nbx(pair.eps[0], out, sizes[i], TAG, &how);

        ck_assert(UCS_PTR_IS_PTR(request));
        ck_assert_uint_eq(told.count,
                          ucp_request_check_status(request) == UCS_OK);
        receive_one(&pair);
        ck_assert_int_eq(pair_wait(&pair, request), UCS_OK);
        ck_assert_uint_eq(told.count, 1);
        ck_assert_ptr_eq(told.request, request);
    }
    pair_close(&pair);
}

/* At once, or NO_RESOURCE and nothing has happened. */
static void send__force_imm_cmpl(const struct test_param *param)
{
    ucp_request_param_t how = {.op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL};
    struct pair         pair;
    unsigned            sent = 0;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned i = 0; i < SIZE_COUNT; ++i) {
        void *request = ucp_tag_send_nbx(pair.eps[0], out, sizes[i], TAG, &how);

        ck_assert_msg((request == NULL) ||
                          (UCS_PTR_RAW_STATUS(request) == UCS_ERR_NO_RESOURCE),
                      "%zu bytes: %p", sizes[i], request);
        sent += (request == NULL);
    }
    for (unsigned i = 0; i < sent; ++i) {
        receive_one(&pair);
    }
    pair_settle(&pair);
    ck_assert_uint_eq(pair.workers[1]->tag.match.unexpected_count, 0);
    pair_close(&pair);
}

/* Small ones to a peer that was met go so, from the first one on. */
static void
send__force_imm_cmpl_takes_small_ones(const struct test_param *param)
{
    static const struct pair_setup sm = {.tls = "sm"};
    ucp_request_param_t how = {.op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL};
    struct pair         pair;

    (void)param;
    pair_open_setup(&pair, &sm, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_ptr_null(ucp_tag_send_nbx(pair.eps[0], out, 8, TAG, &how));
    receive_one(&pair);
    pair_close(&pair);
}

/* A ready message is a standard one whose receive is posted; one that comes
 * too early waits like any other. */
static void send__ready(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned i = 0; i < 2 * SIZE_COUNT; ++i) {
        size_t length  = sizes[i / 2];
        void  *receive = NULL, *request;

        if (i % 2 == 0) {
            receive = pair_receive(&pair, 1, in, sizeof(in), TAG);
        }
        pattern_fill(out, length, i);
        request = causeway_tag_send_ready_nbx(pair.eps[0], out, length, TAG,
                                              &pair_no_param);
        if (i % 2 == 0) {
            ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
        } else {
            receive_one(&pair);
        }
        ck_assert_int_eq(pair_wait(&pair, request), UCS_OK);
        pattern_check(in, length, i);
    }
    pair_close(&pair);
}

/* The same protocols as in standard mode, at every size. */
static void send__ready_chooses_as_standard(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (int dt_class = 0; dt_class < UCP_DT_CLASS_COUNT; ++dt_class) {
        const struct ucp_ep_config *config = pair.eps[0]->config;

        for (size_t bytes = 1; bytes < SIZE_MAX / 2; bytes *= 2) {
            ck_assert_ptr_eq(
                ucp_select_lookup(&config->select[UCP_MODE_READY][dt_class][0],
                                  bytes),
                ucp_select_lookup(
                    &config->select[UCP_MODE_STANDARD][dt_class][0], bytes));
        }
    }
    pair_close(&pair);
}

static unsigned nb_count;
static void    *nb_request;

static void nb_done(void *request, ucs_status_t status)
{
    ck_assert_int_eq(status, UCS_OK);
    nb_request = request;
    ++nb_count;
}

static void send__older_forms(const struct test_param *param)
{
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE};
    struct pair        pair;
    char              *block;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_int_eq(ucp_context_query(pair.contexts[0], &attr), UCS_OK);
    block = malloc(attr.request_size);
    ck_assert_ptr_nonnull(block);
    for (unsigned i = 0; i < SIZE_COUNT; ++i) {
        void        *external = block + attr.request_size;
        ucs_status_t status;
        void        *request;

        nb_count = 0;
        request  = ucp_tag_send_nb(pair.eps[0], out, sizes[i],
                                   ucp_dt_make_contig(1), TAG, nb_done);
        ck_assert_uint_eq(nb_count, 0);
        receive_one(&pair);
        ck_assert_int_eq(pair_wait(&pair, request), UCS_OK);
        ck_assert_uint_eq(nb_count, (request != NULL));

        nb_count = 0;
        request  = ucp_tag_send_sync_nb(pair.eps[0], out, sizes[i],
                                        ucp_dt_make_contig(1), TAG, nb_done);
        ck_assert(UCS_PTR_IS_PTR(request));
        receive_one(&pair);
        ck_assert_int_eq(pair_wait(&pair, request), UCS_OK);
        ck_assert_uint_eq(nb_count, 1);
        ck_assert_ptr_eq(nb_request, request);

        status = ucp_tag_send_nbr(pair.eps[0], out, sizes[i],
                                  ucp_dt_make_contig(1), TAG, external);
        receive_one(&pair);
        while (status == UCS_INPROGRESS) {
            pair_progress(&pair);
            status = ucp_request_check_status(external);
        }
        ck_assert_int_eq(status, UCS_OK);
    }
    free(block);
    pair_close(&pair);
}

/* What is not a message: said by the call, nothing is sent. */
static void send__wrong_arguments(const struct test_param *param)
{
    ucp_request_param_t huge    = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                   .datatype     = ucp_dt_make_contig(1u << 20)};
    ucp_request_param_t unknown = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                   .datatype     = 6};
    struct pair         pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(pair_send(&pair, 0, NULL, 8, TAG)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(ucp_tag_send_nbx(
                         pair.eps[0], out, (size_t)1 << 60, TAG, &huge)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(
                         ucp_tag_send_nbx(pair.eps[0], out, 8, TAG, &unknown)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(pair_wait(&pair, pair_send(&pair, 0, NULL, 0, TAG)),
                     UCS_OK);
    receive_one(&pair);
    pair_close(&pair);
}

/* A callback sends the next one. */
struct chain {
    struct pair *pair;
    unsigned     left;
};

static void chain_next(void *request, ucs_status_t status, void *user_data)
{
    struct chain       *chain = user_data;
    ucp_request_param_t how   = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                 UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send   = chain_next,
                                 .user_data = chain};

    ck_assert_int_eq(status, UCS_OK);
    if (request != NULL) {
        ucp_request_free(request);
    }
    if (chain->left-- > 0) {
        ck_assert(UCS_PTR_IS_PTR(
            ucp_tag_send_sync_nbx(chain->pair->eps[0], out, 3000, TAG, &how)));
    }
}

static void send__from_a_callback(const struct test_param *param)
{
    struct pair  pair;
    struct chain chain = {&pair, 50};

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    chain_next(NULL, UCS_OK, &chain);
    for (unsigned i = 0; i < 50; ++i) {
        receive_one(&pair);
    }
    pair_settle(&pair);
    ck_assert_uint_eq(chain.left, UINT32_MAX);
    pair_close(&pair);
}

static const struct test_case send_cases[] = {
    TEST(send__calls_back_after_the_call_or_never),
    TEST(send__ready),
    TEST(send__ready_chooses_as_standard),
    TEST(send__no_imm_cmpl),
    TEST(send__force_imm_cmpl),
    TEST(send__force_imm_cmpl_takes_small_ones),
    TEST(send__older_forms),
    TEST(send__wrong_arguments),
    TEST(send__from_a_callback),
    {0},
};

const struct test_suite tag_send_suite = {
    .name = "tag_send", .cases = send_cases, .params = pair_protocols};
