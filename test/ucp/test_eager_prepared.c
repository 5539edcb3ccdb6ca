/* SPDX-License-Identifier: BSD-3-Clause */
/* test_eager_prepared.c - src/ucp/proto/eager_prepared.c: sent from the user's
 * buffer, which is lent until the transport says so. Over the example plug-in,
 * which is late with that and stops who changes a lent buffer. */
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/core/worker.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucp/told.h"

enum { TAG = 12, BYTES = 40000, COUNT = 40 };

static const struct pair_setup example = {
    .tls = "example", .rndv_threshold = "inf", .zcopy_threshold = "1"};
static const struct pair_setup sm = {
    .tls = "sm", .rndv_threshold = "inf", .zcopy_threshold = "1"};

static const struct test_param prepared_params[] = {
    {.name = "sm", .value = &sm},
    {.name = "example", .value = &example},
    {0},
};

static uint8_t in[BYTES], out[COUNT][BYTES];

/* Lengths that go this way over that lane: [1 or more, the lane's limit]. */
static size_t prepared_bytes_max(struct ucp_ep *ep)
{
    const struct ucp_select_row *row =
        ep->config->select[UCP_MODE_STANDARD][UCP_DT_CONTIG][0].rows;

    while (strcmp(row->proto->name, "eager/prepared") != 0) {
        ck_assert_uint_ne(row->bytes_max, SIZE_MAX);
        ++row;
    }
    return row->bytes_max;
}

/* Many under way at a time, of all lengths; each ends once, in order. */
static void prepared__many_under_way(const struct test_param *param)
{
    static struct told told[COUNT];
    void              *sends[COUNT];
    struct pair        pair;
    size_t             max;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    max = prepared_bytes_max(pair.eps[0]);
    for (unsigned i = 0; i < COUNT; ++i) {
        ucp_request_param_t how    = told_send_param(&told[i], 0);
        size_t              length = max - (max / COUNT) * i;

        ck_assert_uint_le(length, BYTES);
        pattern_fill(out[i], length, i);
        sends[i] = ucp_tag_send_nbx(pair.eps[0], out[i], length, i, &how);
        ck_assert(!UCS_PTR_IS_ERR(sends[i]));
    }
    for (unsigned i = 0; i < COUNT; ++i) {
        size_t length = max - (max / COUNT) * i;

        memset(in, 0, sizeof(in));
        ck_assert_int_eq(
            pair_wait(&pair, pair_receive(&pair, 1, in, length, i)), UCS_OK);
        pattern_check(in, length, i);
    }
    for (unsigned i = 0; i < COUNT; ++i) {
        bool is_request = UCS_PTR_IS_PTR(sends[i]);

        ck_assert_int_eq(pair_wait(&pair, sends[i]), UCS_OK);
        ck_assert_uint_eq(told[i].count, is_request);
        memset(out[i], 0, BYTES); /* ours again */
    }
    pair_close(&pair);
}

/* An iov up to the lane's limit goes so; with more entries it is packed. */
static void prepared__iov_entries(const struct test_param *param)
{
    ucp_request_param_t how = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                               .datatype     = ucp_dt_make_iov()};
    ucp_dt_iov_t        iov[40];
    struct pair         pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    pattern_fill(out[0], BYTES, 9);
    for (size_t count = 1; count <= 40; ++count) {
        for (size_t i = 0; i < count; ++i) {
            iov[i].buffer = out[0] + 100 * i;
            iov[i].length = 100;
        }
        memset(in, 0, sizeof(in));
        ck_assert_int_eq(pair_wait(&pair, ucp_tag_send_nbx(pair.eps[0], iov,
                                                           count, TAG, &how)),
                         UCS_OK);
        ck_assert_int_eq(
            pair_wait(&pair, pair_receive(&pair, 1, in, BYTES, TAG)), UCS_OK);
        pattern_check(in, 100 * count, 9);
    }
    pair_close(&pair);
}

/* What the transport has taken ends by the transport; what waits ends with
 * the endpoint; none twice. */
static void prepared__end_with_sends_under_way(const struct test_param *param)
{
    for (int way = 0; way < 3; ++way) {
        static struct told told[COUNT];
        void              *sends[COUNT];
        void              *close = NULL;
        struct pair        pair;
        size_t             max;

        memset(told, 0, sizeof(told));
        pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
        pair_meet(&pair);
        max = prepared_bytes_max(pair.eps[0]);
        for (unsigned i = 0; i < COUNT; ++i) {
            ucp_request_param_t how = told_send_param(&told[i], 0);

            sends[i] = ucp_tag_send_nbx(pair.eps[0], out[i], max, i, &how);
        }
        if (way == 0) {
            ucp_ep_fail(pair.eps[0], UCS_ERR_CONNECTION_RESET);
            close = ucp_ep_close_nbx(pair.eps[0], &pair_no_param);
        } else {
            close = ucp_ep_close_nbx(pair.eps[0], (way == 1) ? &pair_force_param
                                                             : &pair_no_param);
        }
        ck_assert_int_eq(pair_wait(&pair, close), UCS_OK);
        pair.eps[0] = NULL;
        for (unsigned i = 0; i < COUNT; ++i) {
            bool         is_request = UCS_PTR_IS_PTR(sends[i]);
            ucs_status_t status     = pair_wait(&pair, sends[i]);

            ck_assert((way < 2) || (status == UCS_OK));
            ck_assert_uint_eq(told[i].count, is_request);
        }
        pair_settle(&pair);
        pair_abandon(&pair);
    }
}

/* What the transport has taken ends with its worker, and nobody is called. */
static void
prepared__destroy_with_sends_under_way(const struct test_param *param)
{
    static struct told  told;
    ucp_request_param_t how   = told_send_param(&told, 0);
    unsigned            count = 0;
    struct pair         pair;
    size_t              max;

    memset(&told, 0, sizeof(told));
    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    max = prepared_bytes_max(pair.eps[0]);
    for (unsigned i = 0; i < COUNT; ++i) {
        void *send = ucp_tag_send_nbx(pair.eps[0], out[i], max, i, &how);

        count += UCS_PTR_IS_PTR(send);
    }
    ck_assert_uint_gt(count, told.count); /* some are under way */
    told.count = 0;
    pair_abandon(&pair);
    ck_assert_uint_eq(told.count, 0);
}

/* A threshold that is set decides, whatever the costs: copied below it, sent
 * from the buffer from it on, as far as the lane can. */
static void prepared__from_the_threshold_on(const struct test_param *param)
{
    static const char *const thresholds[] = {"0", "1", "100", "1k", "20000"};
    static const size_t      first[]      = {1, 1, 100, 1024, 20000};
    struct pair_setup        setup = *(const struct pair_setup *)param->value;
    struct pair              pair;

    for (unsigned i = 0; i < UCS_ARRAY_COUNT(thresholds); ++i) {
        setup.zcopy_threshold = thresholds[i];
        pair_open_setup(&pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
        for (size_t bytes = 0; bytes < 2 * BYTES; bytes += 1 + bytes / 64) {
            size_t                  max   = prepared_bytes_max(pair.eps[0]);
            const struct ucp_proto *proto = ucp_select_lookup(
                &pair.eps[0]
                     ->config->select[UCP_MODE_STANDARD][UCP_DT_CONTIG][0],
                bytes);

            ck_assert_msg((strcmp(proto->name, "eager/prepared") == 0) ==
                              ((bytes >= first[i]) && (bytes <= max)),
                          "from %s on, %zu bytes go by %s", thresholds[i],
                          bytes, proto->name);
        }
        pair_close(&pair);
    }
}

static const struct test_case prepared_cases[] = {
    TEST(prepared__from_the_threshold_on),
    TEST(prepared__many_under_way),
    TEST(prepared__iov_entries),
    TEST(prepared__end_with_sends_under_way),
    TEST(prepared__destroy_with_sends_under_way),
    {0},
};

const struct test_suite eager_prepared_suite = {.name   = "eager_prepared",
                                                .cases  = prepared_cases,
                                                .params = prepared_params};
