/* SPDX-License-Identifier: BSD-3-Clause */
/* test_buffered.c - src/ucp/core/buffered.c and src/ucp/entry/buffered.c:
 * buffered sends, attach and detach. The user's memory is scribbled over as
 * soon as a call returns. */
#include "ucp/core/buffered.h"

#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/core/worker.h"
#include "ucp/layout.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucp/told.h"

enum {
    TAG         = 5,
    LARGE_BYTES = 300000,
    ROOM_BYTES  = 4 * LARGE_BYTES,
    COUNT_MAX   = 500,
};

static char large[LARGE_BYTES], in[ROOM_BYTES], room[ROOM_BYTES];

/* Everything asks first, so what nobody receives waits in the buffer. */
static const struct pair_setup rndv = {.tls = "sm", .rndv_threshold = "0"};

static void open_attached(struct pair *pair, const struct test_param *param,
                          size_t size_bytes)
{
    pair_open(pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_int_eq(
        causeway_worker_attach_buffer(pair->workers[0], room, size_bytes),
        UCS_OK);
}

static causeway_buffer_attr_t query(const struct pair *pair)
{
    causeway_buffer_attr_t attr = {.field_mask =
                                       CAUSEWAY_BUFFER_ATTR_FIELD_SIZE |
                                       CAUSEWAY_BUFFER_ATTR_FIELD_USED |
                                       CAUSEWAY_BUFFER_ATTR_FIELD_LOST};

    ck_assert_int_eq(causeway_worker_query_buffer(pair->workers[0], &attr),
                     UCS_OK);
    return attr;
}

/* Send a pattern; the memory holds something else when this returns. */
static ucs_status_t send_pattern(struct pair *pair, size_t length,
                                 unsigned seed)
{
    void *result;

    pattern_fill(large, length, seed);
    result = causeway_tag_send_buffered_nbx(pair->eps[0], large, length, TAG,
                                            &pair_no_param);
    memset(large, 0x5a, length);
    ck_assert(!UCS_PTR_IS_PTR(result));
    return UCS_PTR_RAW_STATUS(result);
}

static void receive_pattern(struct pair *pair, size_t length, unsigned seed)
{
    memset(in, 0, length);
    ck_assert_int_eq(
        pair_wait(pair, pair_receive(pair, 1, in, sizeof(in), TAG)), UCS_OK);
    pattern_check(in, length, seed);
}

static void detach(struct pair *pair)
{
    void *request =
        causeway_worker_detach_buffer_nbx(pair->workers[0], &pair_no_param);

    ck_assert_int_eq(pair_wait(pair, request), UCS_OK);
}

/* ---- sending ---- */

static void send__is_done_inside_the_call(const struct test_param *param)
{
    static const size_t lengths[] = {0, 1, 60, 500, 9000, 70000, LARGE_BYTES};
    struct pair         pair;

    open_attached(&pair, param, ROOM_BYTES);
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(lengths); ++i) {
        void *receive = pair_receive(&pair, 1, in, sizeof(in), TAG);

        ck_assert_int_eq(send_pattern(&pair, lengths[i], i), UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
        pattern_check(in, lengths[i], i);
        ck_assert_int_eq(send_pattern(&pair, lengths[i], i), UCS_OK);
        receive_pattern(&pair, lengths[i], i);
    }
    detach(&pair);
    pair_close(&pair);
}

static void send__any_datatype(const struct test_param *param)
{
    static const size_t lengths[] = {1, 500, 9000, 100000};
    struct pair         pair;

    open_attached(&pair, param, ROOM_BYTES);
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(lengths) * UCP_DT_CLASS_COUNT;
         ++i) {
        ucp_request_param_t how = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE};
        struct layout       layout;

        layout_draw(&layout, (enum ucp_dt_class)(i % UCP_DT_CLASS_COUNT),
                    lengths[i / UCP_DT_CLASS_COUNT]);
        layout_fill(&layout, i);
        how.datatype = layout.datatype;
        ck_assert_ptr_null(causeway_tag_send_buffered_nbx(
            pair.eps[0], layout.buffer, layout.count, TAG, &how));
        layout_clear(&layout);
        ck_assert_int_eq(layout.open_states, 0);
        ck_assert_int_eq(
            pair_wait(&pair, pair_receive(&pair, 1, in, sizeof(in), TAG)),
            UCS_OK);
        for (size_t byte = 0; byte < layout.length; ++byte) {
            if ((uint8_t)in[byte] != layout_byte(i, byte)) {
                ck_abort_msg("class %d, byte %zu", layout.dt_class, byte);
            }
        }
        layout_free(&layout);
    }
    detach(&pair);
    pair_close(&pair);
}

/* With more than the lane takes, and with standard messages between, in the
 * order of the calls. */
static void send__keeps_the_order(const struct test_param *param)
{
    enum { COUNT = 300 };
    static char  standard[COUNT][2000];
    static void *sends[COUNT];
    struct pair  pair;

    open_attached(&pair, param, ROOM_BYTES);
    for (unsigned i = 0; i < COUNT; ++i) {
        size_t length = (i * 37) % 2000;

        sends[i] = NULL;
        if (i % 3 != 0) {
            ck_assert_int_eq(send_pattern(&pair, length, i), UCS_OK);
            continue;
        }
        pattern_fill(standard[i], length, i);
        sends[i] = pair_send(&pair, 0, standard[i], length, TAG);
    }
    for (unsigned i = 0; i < COUNT; ++i) {
        receive_pattern(&pair, (i * 37) % 2000, i);
        ck_assert_int_eq(pair_wait(&pair, sends[i]), UCS_OK);
    }
    detach(&pair);
    pair_close(&pair);
}

static void send__complete_request_if_asked(const struct test_param *param)
{
    struct pair pair;

    open_attached(&pair, param, ROOM_BYTES);
    for (int i = 0; i < 2; ++i) {
        struct told         told = {.count = 0};
        ucp_request_param_t how =
            told_send_param(&told, UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
        void *request = causeway_tag_send_buffered_nbx(
            pair.eps[0], large, (i == 0) ? 8 : LARGE_BYTES, TAG, &how);

        ck_assert(UCS_PTR_IS_PTR(request));
        ck_assert_uint_eq(told.count, 1);
        ck_assert_int_eq(told.status, UCS_OK);
        ck_assert_ptr_eq(told.request, request);
        ck_assert_int_eq(ucp_request_check_status(request), UCS_OK);
        ucp_request_free(request);
        ck_assert_int_eq(
            pair_wait(&pair, pair_receive(&pair, 1, in, sizeof(in), TAG)),
            UCS_OK);
    }
    detach(&pair);
    pair_close(&pair);
}

/* ---- room ---- */

/* Nothing of a refused message is sent; room comes back. */
static void room__is_asked_for_before(const struct test_param *param)
{
    struct pair pair;
    unsigned    count = 0, received;

    open_attached(&pair, param, 1000);
    ck_assert_int_eq(send_pattern(&pair, 1000, 0), UCS_ERR_EXCEEDS_LIMIT);
    while ((count < COUNT_MAX) && (send_pattern(&pair, 400, count) == UCS_OK)) {
        ++count;
        ck_assert_uint_le(query(&pair).used_bytes, 1000);
        ck_assert_uint_ge(query(&pair).used_bytes,
                          400 * query(&pair).used_count);
    }
    /* self takes any number, unless it asks first */
    ck_assert((count < COUNT_MAX) || pair.is_loop);
    for (received = 0; received < count; ++received) {
        receive_pattern(&pair, 400, received);
    }
    pair_settle(&pair);
    ck_assert_uint_eq(pair.workers[1]->tag.match.unexpected_count, 0);
    ck_assert_uint_eq(query(&pair).used_count, 0);
    ck_assert_int_eq(send_pattern(&pair, 400, 1), UCS_OK);
    receive_pattern(&pair, 400, 1);
    detach(&pair);
    pair_close(&pair);
}

/* As many as the header says, while nobody receives. */
static void room__is_what_the_header_promises(const struct test_param *param)
{
    struct pair pair;
    size_t      lengths[40];
    size_t      sum = 0;

    (void)param;
    pair_open_setup(&pair, &rndv, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned i = 0; i < 40; ++i) {
        lengths[i] = 9000 + test_random_below(3000);
        sum += lengths[i] + CAUSEWAY_BUFFERED_OVERHEAD_BYTES;
    }
    ck_assert_int_eq(causeway_worker_attach_buffer(pair.workers[0], room, sum),
                     UCS_OK);
    for (unsigned i = 0; i < 40; ++i) {
        ck_assert_int_eq(send_pattern(&pair, lengths[i], i), UCS_OK);
    }
    ck_assert_uint_eq(query(&pair).used_count, 40);
    for (unsigned i = 0; i < 40; ++i) {
        receive_pattern(&pair, lengths[i], i);
    }
    detach(&pair);
    pair_close(&pair);
}

/* Random messages in a buffer that is often full. */
static void room__soak(const struct test_param *param)
{
    enum { COUNT = 1500, AHEAD_MAX = 60 };
    static size_t lengths[COUNT];
    struct pair   pair;
    int           sent = 0, received = 0;
    ucs_status_t  status;

    open_attached(&pair, param, 100000);
    while (received < COUNT) {
        bool may_send = (sent < COUNT) && (sent - received < AHEAD_MAX);

        if (may_send && (test_random_below(3) != 0)) {
            lengths[sent] = test_random_below(1 << test_random_below(17));
            status        = send_pattern(&pair, lengths[sent], (unsigned)sent);
            sent += (status == UCS_OK);
            ck_assert((status == UCS_OK) || (status == UCS_ERR_NO_RESOURCE) ||
                      (lengths[sent] > 99000));
        } else if (received < sent) {
            receive_pattern(&pair, lengths[received], (unsigned)received);
            ++received;
        } else {
            pair_progress(&pair);
        }
    }
    detach(&pair);
    ck_assert_uint_eq(query(&pair).lost_count, 0);
    pair_close(&pair);
}

/* ---- attach and detach ---- */

static void attach__refuses(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_int_eq(causeway_worker_attach_buffer(pair.workers[0], NULL, 9),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(
        causeway_worker_attach_buffer(pair.workers[0], room,
                                      CAUSEWAY_BUFFERED_OVERHEAD_BYTES - 1),
        UCS_ERR_BUFFER_TOO_SMALL);
    ck_assert_int_eq(send_pattern(&pair, 8, 1), UCS_ERR_NO_ELEM);
    ck_assert_int_eq(causeway_worker_detach_buffer(pair.workers[0], NULL, NULL),
                     UCS_ERR_NO_ELEM);
    ck_assert_int_eq(
        causeway_worker_attach_buffer(pair.workers[0], room,
                                      CAUSEWAY_BUFFERED_OVERHEAD_BYTES),
        UCS_OK);
    ck_assert_int_eq(
        causeway_worker_attach_buffer(pair.workers[0], room, ROOM_BYTES),
        UCS_ERR_ALREADY_EXISTS);
    ck_assert_uint_eq(query(&pair).size_bytes,
                      CAUSEWAY_BUFFERED_OVERHEAD_BYTES);
    detach(&pair);
    ck_assert_uint_eq(query(&pair).size_bytes, 0);
    pair_close(&pair);
}

/* Two large messages wait for their match; detach waits for both. */
static void detach__waits_until_drained(const struct test_param *param)
{
    struct told         told = {.count = 0};
    ucp_request_param_t how  = told_send_param(&told, 0);
    struct pair         pair;
    void               *request, *other;

    open_attached(&pair, param, ROOM_BYTES);
    ck_assert_int_eq(send_pattern(&pair, LARGE_BYTES / 2, 1), UCS_OK);
    ck_assert_int_eq(send_pattern(&pair, LARGE_BYTES / 2, 2), UCS_OK);
    request = causeway_worker_detach_buffer_nbx(pair.workers[0], &how);
    if (request != NULL) { /* a transport with much room has taken both */
        ck_assert(UCS_PTR_IS_PTR(request));
        ck_assert_int_eq(send_pattern(&pair, 8, 3), UCS_ERR_NO_ELEM);
        other =
            causeway_worker_detach_buffer_nbx(pair.workers[0], &pair_no_param);
        ck_assert_int_eq(UCS_PTR_RAW_STATUS(other), UCS_ERR_BUSY);
    }
    receive_pattern(&pair, LARGE_BYTES / 2, 1);
    receive_pattern(&pair, LARGE_BYTES / 2, 2);
    ck_assert_int_eq(pair_wait(&pair, request), UCS_OK);
    ck_assert_uint_eq(told.count, request != NULL);
    ck_assert_uint_eq(query(&pair).size_bytes, 0);
    pair_close(&pair);
}

static void reattach(void *request, ucs_status_t status, void *user_data)
{
    (void)request;
    ck_assert_int_eq(status, UCS_OK);
    ck_assert_int_eq(causeway_worker_attach_buffer(user_data, room, ROOM_BYTES),
                     UCS_OK);
}

static void detach__callback_may_attach_again(const struct test_param *param)
{
    struct pair         pair;
    ucp_request_param_t how;
    void               *request;

    (void)param;
    pair_open_setup(&pair, &rndv, 0, UCP_ERR_HANDLING_MODE_PEER);
    how = (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                UCP_OP_ATTR_FIELD_USER_DATA,
                                .cb.send   = reattach,
                                .user_data = pair.workers[0]};
    ck_assert_int_eq(
        causeway_worker_attach_buffer(pair.workers[0], room, ROOM_BYTES),
        UCS_OK);
    ck_assert_int_eq(send_pattern(&pair, LARGE_BYTES, 1), UCS_OK);
    request = causeway_worker_detach_buffer_nbx(pair.workers[0], &how);
    ck_assert(UCS_PTR_IS_PTR(request));
    receive_pattern(&pair, LARGE_BYTES, 1);
    ck_assert_int_eq(pair_wait(&pair, request), UCS_OK);
    ck_assert_int_eq(send_pattern(&pair, 100, 2), UCS_OK);
    receive_pattern(&pair, 100, 2);
    detach(&pair);
    pair_close(&pair);
}

/* The blocking form, with a receiver in the same worker. */
static void detach__blocks_until_drained(const struct test_param *param)
{
    static const struct pair_setup self = {.tls = "self"};
    struct pair                    pair;
    void                          *receive, *buffer;
    size_t                         size_bytes;

    (void)param;
    pair_open_setup(&pair, &self, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_int_eq(
        causeway_worker_attach_buffer(pair.workers[0], room, ROOM_BYTES),
        UCS_OK);
    ck_assert_int_eq(send_pattern(&pair, LARGE_BYTES, 1), UCS_OK);
    ck_assert_uint_eq(query(&pair).used_count, 1);
    receive = pair_receive(&pair, 1, in, sizeof(in), TAG);
    ck_assert_int_eq(
        causeway_worker_detach_buffer(pair.workers[0], &buffer, &size_bytes),
        UCS_OK);
    ck_assert_ptr_eq(buffer, room);
    ck_assert_uint_eq(size_bytes, ROOM_BYTES);
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    pattern_check(in, LARGE_BYTES, 1);
    pair_close(&pair);
}

/* ---- ends ---- */

/* The peer's part is freed and counted; the error handler tells. */
static void end__of_the_peer_is_counted(const struct test_param *param)
{
    struct pair pair;
    void       *request;
    unsigned    count = 0;

    open_attached(&pair, param, ROOM_BYTES);
    while (query(&pair).used_count == 0) {
        ck_assert_int_eq(send_pattern(&pair, LARGE_BYTES / 2, 1), UCS_OK);
        if (++count == 100) {
            ck_assert(pair.is_loop); /* takes any number of eager ones */
            pair_abandon(&pair);
            return;
        }
    }
    request =
        causeway_worker_detach_buffer_nbx(pair.workers[0], &pair_no_param);
    ck_assert(UCS_PTR_IS_PTR(request));
    ucp_ep_fail(pair.eps[0], UCS_ERR_ENDPOINT_TIMEOUT);
    pair_settle(&pair);
    ck_assert_int_eq(pair.error_count[0], 1);
    ck_assert_uint_eq(query(&pair).lost_count, 1);
    ck_assert_uint_eq(query(&pair).lost_bytes, LARGE_BYTES / 2);
    ck_assert_int_eq(ucp_request_check_status(request), UCS_OK);
    ucp_request_free(request);
    ck_assert_uint_eq(pair.workers[0]->ids.count, 0);
    pair_abandon(&pair);
}

/* What nobody has matched goes with the endpoint. */
static void end__of_the_endpoint_is_counted(const struct test_param *param)
{
    struct pair pair;

    (void)param;
    for (int force = 0; force < 2; ++force) {
        const ucp_request_param_t *how =
            force ? &pair_force_param : &pair_no_param;

        pair_open_setup(&pair, &rndv, 0, UCP_ERR_HANDLING_MODE_PEER);
        ck_assert_int_eq(
            causeway_worker_attach_buffer(pair.workers[0], room, ROOM_BYTES),
            UCS_OK);
        ck_assert_int_eq(send_pattern(&pair, LARGE_BYTES, 1), UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, ucp_ep_close_nbx(pair.eps[0], how)),
                         UCS_OK);
        pair.eps[0] = NULL;
        pair_settle(&pair);
        ck_assert_uint_eq(query(&pair).lost_count, 1);
        ck_assert_uint_eq(query(&pair).used_count, 0);
        ck_assert_int_eq(pair.error_count[0], 0);
        pair_close(&pair);
    }
}

/* Messages and a detach wait; nothing leaks, nobody is called. */
static void end__of_the_worker_while_draining(const struct test_param *param)
{
    struct told         told = {.count = 0};
    ucp_request_param_t how  = told_send_param(&told, 0);
    struct pair         pair;
    void               *request;

    open_attached(&pair, param, ROOM_BYTES);
    ck_assert_int_eq(send_pattern(&pair, LARGE_BYTES / 2, 1), UCS_OK);
    ck_assert_int_eq(send_pattern(&pair, LARGE_BYTES / 2, 2), UCS_OK);
    request = causeway_worker_detach_buffer_nbx(pair.workers[0], &how);
    if (request != NULL) {
        ucp_request_release(request);
    }
    pair_abandon(&pair);
    ck_assert_uint_eq(told.count, 0);
}

static const struct test_case buffered_cases[] = {
    TEST(send__is_done_inside_the_call),
    TEST(send__any_datatype),
    TEST(send__keeps_the_order),
    TEST(send__complete_request_if_asked),
    TEST(room__is_asked_for_before),
    TEST_TIMEOUT(room__soak, 60),
    TEST(attach__refuses),
    TEST(detach__waits_until_drained),
    TEST(end__of_the_peer_is_counted),
    TEST(end__of_the_worker_while_draining),
    {0},
};

const struct test_suite buffered_suite = {
    .name = "buffered", .cases = buffered_cases, .params = pair_protocols};

static const struct test_case buffered_one_cases[] = {
    TEST(room__is_what_the_header_promises),
    TEST(detach__callback_may_attach_again),
    TEST(detach__blocks_until_drained),
    TEST(end__of_the_endpoint_is_counted),
    {0},
};

const struct test_suite buffered_one_suite = {.name  = "buffered_one",
                                              .cases = buffered_one_cases};
