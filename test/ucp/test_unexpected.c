/* SPDX-License-Identifier: BSD-3-Clause */
/* test_unexpected.c - src/ucp/tag/unexpected.c: messages that nobody waits
 * for: very many, of all kinds, and what becomes of them when their sender
 * goes away. */
#include "ucp/tag/unexpected.h"

#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/core/worker.h"
#include "ucp/pair.h"
#include "ucp/suites.h"

enum { MANY = 100000, BYTES = 100000 };

static const struct pair_setup sm      = {.tls = "sm"};
static const struct pair_setup sm_rndv = {.tls            = "sm",
                                          .rndv_threshold = "2000"};

static const struct test_param unexpected_params[] = {
    {.name = "sm", .value = &sm},
    {.name = "sm_rndv", .value = &sm_rndv},
    {0},
};

static char in[BYTES], out[BYTES];

/* Small mostly, so that 100000 of them fit; each size of each kind comes. */
static size_t length_of(unsigned index)
{
    static const size_t lengths[] = {0,  8,   8,  64,   8,   65, 8, 700,
                                     16, 900, 24, 1100, 100, 8,  8, 2500};

    return (index % 500 == 499) ? 20000 : lengths[index % 16];
}

static void send_many(struct pair *pair, unsigned count)
{
    for (unsigned i = 0; i < count; ++i) {
        void *send;

        memcpy(out, &i, sizeof(i));
        send = pair_send(pair, 0, out, length_of(i), i);
        if (UCS_PTR_IS_PTR(send)) { /* it reads the buffer later */
            pattern_fill(out, 16, 0);
            ucp_request_free(send);
        }
        if (i % 64 == 63) {
            ucp_worker_progress(pair->workers[1]);
            ucp_worker_progress(pair->workers[0]);
        }
    }
    pair_settle(pair);
}

/* Past all that waits: a message that asks first, and the answer to it. */
static void meets_its_receive(struct pair *pair)
{
    static char large_out[200000], large_in[sizeof(large_out)];
    void       *receive, *send;

    receive = pair_receive(pair, 1, large_in, sizeof(large_in), MANY + 1);
    pattern_fill(large_out, sizeof(large_out), 3);
    send = pair_send_sync(pair, 0, large_out, sizeof(large_out), MANY + 1);
    ck_assert_int_eq(pair_wait(pair, send), UCS_OK);
    ck_assert_int_eq(pair_wait(pair, receive), UCS_OK);
    pattern_check(large_in, sizeof(large_in), 3);
}

static void unexpected__a_hundred_thousand(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    send_many(&pair, MANY);
    ck_assert_uint_eq(pair.workers[1]->tag.match.unexpected_count, MANY);
    meets_its_receive(&pair);
    ck_assert_uint_eq(pair.workers[1]->tag.match.unexpected_count, MANY);
    /* In another order than they came: by a step that is coprime to all. */
    for (unsigned i = 0; i < MANY; ++i) {
        unsigned tag = (unsigned)((uint64_t)i * 70001 % MANY);

        if (pair_wait(&pair, pair_receive(&pair, 1, in, BYTES, tag)) !=
            UCS_OK) {
            ck_abort_msg("tag %u", tag);
        }
    }
    ck_assert_uint_eq(pair.workers[1]->tag.match.unexpected_count, 0);
    pair_close(&pair);
}

/* Nobody ever receives them: closing frees all, kept buffers too. */
static void unexpected__left_at_the_end(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    send_many(&pair, 5000);
    ck_assert_uint_eq(pair.workers[1]->tag.match.unexpected_count, 5000);
    pair_close(&pair);
}

/* Buffers of the transport are kept while there are some, then copied; the
 * lane goes on whatever waits. */
static void
unexpected__kept_buffers_do_not_stop_the_lane(const struct test_param *param)
{
    enum { COUNT = 1000, LENGTH = 20000 };
    unsigned                   kept = 0, copied = 0;
    struct ucp_tag_unexpected *waiting;
    struct pair                pair;

    (void)param;
    (void)setenv("UCX_SM_CHUNK_COUNT", "16", 1);
    pair_open_setup(&pair,
                    &(struct pair_setup){.tls = "sm", .rndv_threshold = "inf"},
                    0, UCP_ERR_HANDLING_MODE_PEER);
    pattern_fill(out, LENGTH, 4);
    for (unsigned i = 0; i < COUNT; ++i) {
        ck_assert_int_eq(pair_wait(&pair, pair_send(&pair, 0, out, LENGTH, i)),
                         UCS_OK);
    }
    pair_settle(&pair);
    ucs_list_for_each (waiting, &pair.workers[1]->tag.match.arrivals, arrival) {
        struct ucp_unexpected *unexpected =
            ucs_container_of(waiting, struct ucp_unexpected, match);

        if (unexpected->kept_iface != NULL) {
            ++kept;
        } else {
            ++copied;
        }
    }
    ck_assert_uint_eq(kept + copied, COUNT);
    ck_assert_uint_gt(kept, 0);
    ck_assert_uint_gt(copied, 0);
    /* The peer closes and leaves: what is kept stays readable. */
    ck_assert_int_eq(
        pair_wait(&pair, ucp_ep_close_nbx(pair.eps[0], &pair_no_param)),
        UCS_OK);
    pair.eps[0] = NULL;
    ucp_worker_destroy(pair.workers[0]);
    ucp_cleanup(pair.contexts[0]);
    worker_settle(pair.workers[1]);
    for (unsigned i = 0; i < COUNT; ++i) {
        memset(in, 0, LENGTH);
        ck_assert_ptr_null(pair_receive(&pair, 1, in, BYTES, i));
        pattern_check(in, LENGTH, 4);
    }
    pair.workers[0]  = pair.workers[1]; /* to close with */
    pair.is_loop     = true;
    pair.contexts[0] = pair.contexts[1];
    pair.eps[0]      = pair.eps[1];
    pair_close(&pair);
}

/* Messages of a peer that fails or leaves: what is whole is received, what is
 * not fails, and the receiver is told why. Number 499 of send_many() does not
 * fit one chunk. */
static void check_after(struct pair *pair, ucs_status_t failure)
{
    for (unsigned i = 0; i < 600; ++i) {
        ucs_status_t status =
            UCS_PTR_RAW_STATUS(pair_receive(pair, 1, in, BYTES, i));

        ck_assert_msg(status == ((i == 499) ? failure : UCS_OK),
                      "message %u: %s", i, ucs_status_string(status));
    }
}

static void unexpected__sender_fails(const struct test_param *param)
{
    struct pair pair;

    (void)param;
    (void)setenv("UCX_SM_CHUNK_SIZE", "4096", 1);
    (void)setenv("UCX_RNDV_SCHEME", "am", 1); /* data comes with the start */
    pair_open_setup(&pair, &sm_rndv, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    send_many(&pair, 600);
    ucp_ep_fail(pair.eps[1], UCS_ERR_ENDPOINT_TIMEOUT);
    check_after(&pair, UCS_ERR_ENDPOINT_TIMEOUT);
    pair_abandon(&pair);
}

static void unexpected__sender_closes(const struct test_param *param)
{
    struct pair pair;

    (void)param;
    (void)setenv("UCX_SM_CHUNK_SIZE", "4096", 1);
    (void)setenv("UCX_RNDV_SCHEME", "am", 1); /* data comes with the start */
    pair_open_setup(&pair, &sm_rndv, 0, UCP_ERR_HANDLING_MODE_PEER);
    send_many(&pair, 600);
    ucp_worker_destroy(pair.workers[0]);
    ucp_cleanup(pair.contexts[0]);
    pair.workers[0] = NULL;
    pair.eps[0]     = NULL;
    worker_settle(pair.workers[1]);
    for (int i = 0; i < 100000; ++i) {
        ucp_worker_progress(pair.workers[1]);
    }
    check_after(&pair, UCS_ERR_CONNECTION_RESET);
    ucp_worker_destroy(pair.workers[1]);
    ucp_cleanup(pair.contexts[1]);
}

/* Taken out by a probe, then the sender takes its message back. */
static void unexpected__probed_then_cancelled(const struct test_param *param)
{
    ucp_tag_recv_info_t info;
    ucp_tag_message_h   message;
    struct pair         pair;
    void               *send;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    send = pair_send_sync(&pair, 0, out, BYTES, 1);
    pair_settle(&pair);
    message = ucp_tag_probe_nb(pair.workers[1], 1, UINT64_MAX, 1, &info);
    ck_assert_ptr_nonnull(message);
    ck_assert_int_eq(
        pair_wait(&pair, ucp_ep_close_nbx(pair.eps[0], &pair_no_param)),
        UCS_OK);
    pair.eps[0] = NULL;
    ck_assert_int_eq(pair_wait(&pair, send), UCS_ERR_CANCELED);
    pair_settle(&pair);
    ck_assert(UCS_STATUS_IS_ERR(
        pair_wait(&pair, ucp_tag_msg_recv_nbx(pair.workers[1], in, BYTES,
                                              message, &pair_no_param))));
    pair_close(&pair);
}

/* Not taken out: it is gone, and a receive waits as if it had never been. */
static void unexpected__cancelled_is_forgotten(const struct test_param *param)
{
    struct pair pair;
    void       *send;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    send = pair_send_sync(&pair, 0, out, BYTES, 1);
    pair_settle(&pair);
    ck_assert_uint_eq(pair.workers[1]->tag.match.unexpected_count, 1);
    ck_assert_int_eq(
        pair_wait(&pair, ucp_ep_close_nbx(pair.eps[0], &pair_no_param)),
        UCS_OK);
    pair.eps[0] = NULL;
    ck_assert_int_eq(pair_wait(&pair, send), UCS_ERR_CANCELED);
    pair_settle(&pair);
    ck_assert_uint_eq(pair.workers[1]->tag.match.unexpected_count, 0);
    pair_close(&pair);
}

static const struct test_case unexpected_cases[] = {
    TEST_TIMEOUT(unexpected__a_hundred_thousand, 120),
    TEST(unexpected__left_at_the_end),
    TEST(unexpected__kept_buffers_do_not_stop_the_lane),
    TEST(unexpected__sender_fails),
    TEST(unexpected__sender_closes),
    TEST(unexpected__probed_then_cancelled),
    TEST(unexpected__cancelled_is_forgotten),
    {0},
};

const struct test_suite unexpected_suite = {.name   = "unexpected",
                                            .cases  = unexpected_cases,
                                            .params = unexpected_params};
