/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ep_queue.c - src/ucp/core/ep_queue.c: what waits for room, in which
 * order it goes, and when the fast path is open. */
#include "ucp/core/worker.h"

#include "lib/test.h"
#include "ucp/pair.h"
#include "ucp/proto/wire.h"
#include "ucp/suites.h"

enum { TAG = 4, MESSAGES_MAX = 20000, BYTES = 200, CONTROLS = 300 };

static const struct pair_setup sm = {.tls = "sm"};
static uint8_t                 out[BYTES], in[MESSAGES_MAX][BYTES];
static void                   *works[MESSAGES_MAX];

/* Send until the lane is full and a message waits. @return how many. */
static unsigned fill(struct pair *pair)
{
    unsigned count = 0;

    while (ucs_queue_is_empty(&pair->eps[0]->messages)) {
        ck_assert_uint_lt(count, MESSAGES_MAX);
        out[0]       = (uint8_t)count;
        works[count] = pair_send(pair, 0, out, BYTES, TAG);
        ++count;
    }
    return count;
}

static void empty(struct pair *pair, unsigned count)
{
    for (unsigned i = 0; i < count; ++i) {
        void *receive = pair_receive(pair, 1, in[i], BYTES, TAG);

        ck_assert_int_eq(pair_wait(pair, receive), UCS_OK);
        ck_assert_int_eq(pair_wait(pair, works[i]), UCS_OK);
    }
}

/* Closed while something waits, open again afterwards. */
static void ep_queue__fast_path(const struct test_param *param)
{
    struct pair pair;
    unsigned    count;

    (void)param;
    pair_open_setup(&pair, &sm, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_uint_eq(pair.eps[0]->short_bytes_end, 0); /* not announced */
    pair_meet(&pair);
    ck_assert_uint_eq(pair.eps[0]->short_bytes_end,
                      pair.eps[0]->config->short_bytes_end);
    ck_assert_uint_gt(pair.eps[0]->short_bytes_end, 8);
    count = fill(&pair);
    ck_assert_uint_eq(pair.eps[0]->short_bytes_end, 0);
    works[count] = pair_send(&pair, 0, out, 8, TAG); /* does not overtake */
    ck_assert(UCS_PTR_IS_PTR(works[count]));
    empty(&pair, count + 1);
    ck_assert(ucp_ep_is_drained(pair.eps[0]));
    ck_assert_uint_eq(pair.eps[0]->short_bytes_end,
                      pair.eps[0]->config->short_bytes_end);
    pair_close(&pair);
}

/* Answers wait too when there is no room, go before messages that waited
 * longer, and none is lost. They name no operation, so the peer counts them. */
static void ep_queue__answers_go_first(const struct test_param *param)
{
    uint8_t     bytes[UCP_WIRE_ABORT_BYTES] = {1, 2, 3};
    struct pair pair;
    uint64_t    before;
    unsigned    count;

    (void)param;
    pair_open_setup(&pair, &sm, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    before   = pair.workers[1]->bad_ids;
    count    = fill(&pair);
    bytes[8] = UCP_WIRE_RECEIVER;
    for (unsigned i = 0; i < CONTROLS; ++i) {
        ucp_ep_send_control(pair.eps[0], UCP_AM_ABORT, bytes, sizeof(bytes));
    }
    ck_assert(!ucs_queue_is_empty(&pair.eps[0]->control));
    while (!ucs_queue_is_empty(&pair.eps[0]->control)) {
        ck_assert(!ucs_queue_is_empty(&pair.eps[0]->messages));
        pair_progress(&pair);
    }
    empty(&pair, count);
    for (unsigned i = 0; i < count; ++i) {
        ck_assert_uint_eq(in[i][0], (uint8_t)i);
    }
    pair_settle(&pair);
    ck_assert_uint_eq(pair.workers[1]->bad_ids - before, CONTROLS);
    pair_close(&pair);
}

/* The peer is gone: what waits ends, nothing is queued any more. */
static void
ep_queue__nothing_for_a_failed_endpoint(const struct test_param *param)
{
    uint8_t     bytes[UCP_WIRE_ABORT_BYTES] = {0};
    struct pair pair;
    unsigned    count;

    (void)param;
    pair_open_setup(&pair, &sm, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    count = fill(&pair);
    ucp_ep_send_control(pair.eps[0], UCP_AM_ABORT, bytes, sizeof(bytes));
    ucp_ep_fail(pair.eps[0], UCS_ERR_CONNECTION_RESET);
    ck_assert(ucp_ep_is_drained(pair.eps[0]));
    ck_assert_uint_eq(pair.eps[0]->short_bytes_end, 0);
    ck_assert_int_eq(pair_wait(&pair, works[count - 1]),
                     UCS_ERR_CONNECTION_RESET);
    ucp_ep_send_control(pair.eps[0], UCP_AM_ABORT, bytes, sizeof(bytes));
    ck_assert(ucp_ep_is_drained(pair.eps[0]));
    ucp_ep_drain(pair.eps[0]);
    ck_assert_uint_eq(pair.eps[0]->short_bytes_end, 0);
    pair_abandon(&pair);
}

static void count_call(void *arg)
{
    ++*(unsigned *)arg;
}

static void send_and_count(struct pair *pair, unsigned *calls)
{
    static const uint8_t bytes[UCP_WIRE_ABORT_BYTES] = {1, 2, 3};

    ucp_ep_send_control_then(pair->eps[0], UCP_AM_ABORT, bytes, sizeof(bytes),
                             count_call, calls);
}

/* Who waits for an answer to be on its way is called once, then. */
static void ep_queue__then_is_called_once(const struct test_param *param)
{
    unsigned    calls = 0, late_calls = 0, count;
    struct pair pair;

    (void)param;
    pair_open_setup(&pair, &sm, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    send_and_count(&pair, &calls);
    ck_assert_uint_eq(calls, 1); /* there was room */
    count = fill(&pair);
    do {
        calls = 0;
        send_and_count(&pair, &calls);
    } while (calls == 1); /* an answer may use the last of it */
    ck_assert(!ucs_queue_is_empty(&pair.eps[0]->control));
    ucp_worker_progress(pair.workers[0]);
    ck_assert_uint_eq(calls, 0); /* the peer has taken nothing */
    while (!ucs_queue_is_empty(&pair.eps[0]->control)) {
        ck_assert_uint_eq(calls, 0);
        pair_progress(&pair);
    }
    ck_assert_uint_eq(calls, 1);
    empty(&pair, count);

    count = fill(&pair);
    do {
        late_calls = 0;
        send_and_count(&pair, &late_calls);
    } while (late_calls == 1);
    ucp_ep_fail(pair.eps[0], UCS_ERR_CONNECTION_RESET);
    ck_assert_uint_eq(late_calls, 1); /* nobody will hear it */
    send_and_count(&pair, &late_calls);
    ck_assert_uint_eq(late_calls, 2);
    ck_assert_uint_eq(calls, 1);
    ck_assert_int_eq(pair_wait(&pair, works[count - 1]),
                     UCS_ERR_CONNECTION_RESET);
    pair_abandon(&pair);
}

/* Work without an end. */
struct endless {
    struct ucp_bulk bulk;
    unsigned        turn_count;
    bool            is_over;
};

static ucs_status_t endless_step(struct ucp_bulk *bulk)
{
    struct endless *endless = ucs_container_of(bulk, struct endless, bulk);

    ++endless->turn_count;
    return endless->is_over ? UCS_OK : UCP_STEP_TURN_DONE;
}

/* A call of progress ends although there is always room and always more; both
 * have their turns, a message goes in between, and nobody may sleep. */
static void bulk__gives_way(const struct test_param *param)
{
    struct endless works_on[2];
    struct pair    pair;
    void          *receive, *send;

    pair_open(&pair, param, UCP_FEATURE_WAKEUP, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    for (unsigned i = 0; i < 2; ++i) {
        works_on[i] =
            (struct endless){.bulk = {.name = "endless", .step = endless_step}};
        ucp_ep_submit_bulk(pair.eps[0], &works_on[i].bulk);
    }
    for (unsigned i = 0; i < 100; ++i) {
        unsigned before = works_on[0].turn_count;

        ck_assert_int_eq(ucp_worker_arm(pair.workers[0]), UCS_ERR_BUSY);
        pair_progress(&pair);
        ck_assert_uint_gt(works_on[0].turn_count, before);
        ck_assert_uint_le(works_on[0].turn_count, before + 64);
    }
    ck_assert_uint_ge(works_on[1].turn_count, 100);
    receive = pair_receive(&pair, 1, in[0], BYTES, TAG);
    send    = pair_send(&pair, 0, out, BYTES, TAG);
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    works_on[0].is_over = works_on[1].is_over = true;
    pair_settle(&pair);
    ck_assert(ucp_ep_is_drained(pair.eps[0]));
    ck_assert_uint_eq(pair.eps[0]->short_bytes_end,
                      pair.eps[0]->config->short_bytes_end);
    pair_close(&pair);
}

static const struct test_case ep_queue_cases[] = {
    TEST(ep_queue__fast_path),
    TEST(ep_queue__answers_go_first),
    TEST(ep_queue__nothing_for_a_failed_endpoint),
    TEST(ep_queue__then_is_called_once),
    {0},
};

const struct test_suite ep_queue_suite = {.name  = "ep_queue",
                                          .cases = ep_queue_cases};

static const struct test_case bulk_cases[] = {TEST(bulk__gives_way), {0}};

const struct test_suite bulk_suite = {
    .name = "bulk", .cases = bulk_cases, .params = pair_transports};
