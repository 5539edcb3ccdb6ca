/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rdma_shared.c - src/ucp/proto/rdma_shared.c: who moves which part, shown
 * by counters, with a sender that comes always, never, or now and then; and
 * what happens when it is cut. */
#include "ucp/proto/rdma_shared.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "ucp/inject.h"
#include "ucp/rdma_check.h"
#include "ucp/suites.h"
#include "ucs/clock.h"

enum { TAG = 78, BYTES = 3000001, PATIENCE_NS = 20000 };

static const struct pair_setup over_sm = {.tls = "sm", .rndv_threshold = "0"};

static const struct test_param shared_params[] = {
    {.name = "sm", .value = &over_sm}, {0}};

static const struct rdma_check shared = {.scheme   = "shared",
                                         .out      = UCP_COUNT_GET_OUT,
                                         .in       = UCP_COUNT_GET_IN,
                                         .is_mixed = true,
                                         .is_alone = true};

static uint8_t out[BYTES], in[BYTES];

/* Bytes of one message, by the way they moved. */
struct parts {
    uint64_t sent, read, told, came;
};

static struct parts parts_of(const struct pair *pair)
{
    return (struct parts){
        .sent = rdma_count(pair, 0, UCP_COUNT_FRAGMENT_OUT),
        .read = rdma_count(pair, 1, UCP_COUNT_GET_IN),
        .told = rdma_count(pair, 0, UCP_COUNT_GET_OUT),
        .came = rdma_count(pair, 1, UCP_COUNT_FRAGMENT_IN),
    };
}

/* Progress of one side for a while. */
static void look(const struct pair *pair, int side, uint64_t ns)
{
    uint64_t end_ns = ucsi_clock_ns() + ns;

    do {
        (void)ucp_worker_progress(pair->workers[side]);
    } while (ucsi_clock_ns() < end_ns);
}

static bool is_done(void *request)
{
    return !UCS_PTR_IS_PTR(request) ||
           (ucp_request_check_status(request) != UCS_INPROGRESS);
}

/* R is alone until it is done, 20 s at most. */
static void look_alone(const struct pair *pair, void *receive)
{
    ck_assert(worker_wait(pair->workers[1], receive, 20) != UCS_INPROGRESS);
}

static void begin_in(struct pair *pair, void **send_p, void **receive_p)
{
    pattern_fill(out, BYTES, 1);
    memset(in, 0, BYTES);
    *receive_p = pair_receive(pair, 1, in, BYTES, TAG);
    *send_p    = pair_send(pair, 0, out, BYTES, TAG);
    ck_assert(UCS_PTR_IS_PTR(*send_p));
}

static void begin(struct pair *pair, const struct test_param *param,
                  void **send_p, void **receive_p)
{
    rdma_open(pair, &shared, param);
    begin_in(pair, send_p, receive_p);
}

static void check_and_close(struct pair *pair)
{
    pattern_check(in, BYTES, 1);
    for (int side = 0; side < 2; ++side) {
        ck_assert_uint_eq(pair->workers[side]->bad_ids, 0);
        ck_assert_uint_eq(pair->workers[side]->ids.count, 0);
        ck_assert(ucs_list_is_empty(&pair->workers[side]->shares));
        ck_assert_uint_eq(rdma_count(pair, side, UCP_COUNT_FALL_BACK), 0);
    }
    ck_assert_uint_eq(pair->eps[0]->lanes[0].uct_ep->iface->claims.used, 0);
    pair_close(pair);
}

/* S computes, and is told at the end: R reads all that did not come with the
 * start. */
static void r_reads_all(struct pair *pair, void *send, void *receive)
{
    struct parts parts;

    look_alone(pair, receive);
    ck_assert_int_eq(pair_wait(pair, receive), UCS_OK);
    ck_assert(!is_done(send)); /* it was not told */
    ck_assert_int_eq(pair_wait(pair, send), UCS_OK);
    parts = parts_of(pair);
    ck_assert_uint_eq(parts.sent, 0);
    ck_assert_uint_gt(parts.read, BYTES - 40000);
    ck_assert_uint_eq(parts.told, parts.read);
}

static void
shared__a_sender_that_computes_delays_nobody(const struct test_param *param)
{
    struct pair pair;
    void       *send, *receive;

    begin(&pair, param, &send, &receive);
    r_reads_all(&pair, send, receive);
    check_and_close(&pair);
}

/* R has never sent anything to S, so it does not reach the word, and S
 * computes: R reads all by itself. */
static void
shared__the_first_message_of_all_needs_no_sender(const struct test_param *param)
{
    struct pair  pair;
    struct parts parts;
    void        *send, *receive;

    rdma_open_unmet(&pair, &shared, param);
    begin_in(&pair, &send, &receive);
    look_alone(&pair, receive);
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    parts = parts_of(&pair);
    ck_assert_uint_eq(parts.sent, 0);
    ck_assert_uint_eq(parts.told, parts.read);
    check_and_close(&pair);
}

/* Both are there: nothing is read, what comes is faster. */
static void
shared__a_sender_that_is_there_sends_all(const struct test_param *param)
{
    uint64_t     end_ns = ucsi_clock_ns() + (uint64_t)2e9;
    struct pair  pair;
    struct parts parts;
    void        *send, *receive;

    begin(&pair, param, &send, &receive);
    while (!is_done(receive) && (ucsi_clock_ns() < end_ns)) {
        pair_progress(&pair);
    }
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    parts = parts_of(&pair);
    /* A machine that stops us for some microseconds makes R read a piece. */
    ck_assert_uint_gt(parts.sent, 0);
    ck_assert_uint_eq(parts.sent, parts.came);
    ck_assert_uint_eq(parts.told, parts.read);
    check_and_close(&pair);
}

/* R reads from the back, S comes in the middle of it and sends the rest. */
static void shared__both_move_a_part(const struct test_param *param)
{
    struct pair  pair;
    struct parts parts;
    void        *send, *receive;

    begin(&pair, param, &send, &receive);
    while (parts_of(&pair).read < BYTES / 4) {
        (void)ucp_worker_progress(pair.workers[1]);
    }
    ck_assert(!is_done(receive));
    (void)ucp_worker_progress(
        pair.workers[0]); /* S claims what it has room for */
    ck_assert_uint_gt(parts_of(&pair).sent, 0);
    look(&pair, 1, PATIENCE_NS); /* R unpacks that, then reads again */
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    parts = parts_of(&pair);
    ck_assert_uint_gt(parts.read, BYTES / 4 - 1);
    ck_assert_uint_gt(parts.sent, 0);
    ck_assert_uint_eq(parts.sent, parts.came);
    ck_assert_uint_eq(parts.told, parts.read);
    ck_assert_uint_lt(BYTES - parts.sent - parts.read, 40000); /* the start */
    check_and_close(&pair);
}

/* In random turns, many sizes: each byte once, all of them right. */
static void shared__random_turns(const struct test_param *param)
{
    struct pair  pair;
    void        *send, *receive;
    struct parts before, after;

    rdma_open(&pair, &shared, param);
    for (int round = 0; round < 60; ++round) {
        size_t length = 1 + test_random_below(BYTES);

        pattern_fill(out, length, (unsigned)round);
        memset(in, 0, length);
        before  = parts_of(&pair);
        receive = pair_receive(&pair, 1, in, length, TAG);
        send    = pair_send(&pair, 0, out, length, TAG);
        while (!is_done(receive) || !is_done(send)) {
            look(&pair, (int)test_random_below(2), test_random_below(30000));
        }
        ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
        pattern_check(in, length, (unsigned)round);
        after = parts_of(&pair);
        ck_assert_uint_eq(after.sent - before.sent, after.came - before.came);
        ck_assert_uint_eq(after.told - before.told, after.read - before.read);
        ck_assert_uint_le(after.sent - before.sent + after.read - before.read,
                          length);
    }
    ck_assert_uint_eq(pair.workers[0]->bad_ids + pair.workers[1]->bad_ids, 0);
    ck_assert_uint_eq(pair.eps[0]->lanes[0].uct_ep->iface->claims.used, 0);
    pair_close(&pair);
}

/* More messages at a time than there are words. */
static void shared__more_messages_than_words(const struct test_param *param)
{
    enum { MANY = UCT_CLAIM_COUNT_MAX + 16, LENGTH = 37000 };
    void       *sends[MANY], *receives[MANY];
    struct pair pair;

    _Static_assert(MANY * LENGTH <= BYTES, "they fit");
    rdma_open(&pair, &shared, param);
    pattern_fill(out, LENGTH, 3);
    memset(in, 0, sizeof(in));
    for (int i = 0; i < MANY; ++i) {
        sends[i] = pair_send(&pair, 0, out, LENGTH, TAG + (ucp_tag_t)i);
    }
    for (int i = 0; i < MANY; ++i) {
        receives[i] =
            pair_receive(&pair, 1, in + i * LENGTH, LENGTH, TAG + (ucp_tag_t)i);
    }
    for (int i = 0; i < MANY; ++i) {
        ck_assert_int_eq(pair_wait(&pair, receives[i]), UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, sends[i]), UCS_OK);
        pattern_check(in + i * LENGTH, LENGTH, 3);
    }
    pattern_fill(in, BYTES, 1); /* what is looked at in the end */
    check_and_close(&pair);
}

/* All words are in use: the receiver reads by itself, so also this sender may
 * compute. */
static void shared__no_word_is_left(const struct test_param *param)
{
    uint64_t          names[UCT_CLAIM_COUNT_MAX];
    unsigned          count = 0;
    struct uct_iface *iface;
    struct pair       pair;
    void             *send, *receive;

    rdma_open(&pair, &shared, param);
    iface = pair.eps[0]->lanes[0].uct_ep->iface;
    while ((count < UCT_CLAIM_COUNT_MAX) &&
           ucti_claim_get(iface, &names[count])) {
        ++count;
    }
    ck_assert_uint_eq(count, iface->claims.count);
    begin_in(&pair, &send, &receive);
    r_reads_all(&pair, send, receive);
    while (count > 0) {
        ucti_claim_put(iface, names[--count]);
    }
    check_and_close(&pair);
}

/* ---- sleeping ---- */

static void open_to_sleep(struct pair *pair, const struct test_param *param)
{
    (void)setenv("UCX_RNDV_SCHEME", shared.scheme, 1);
    pair_open(pair, param, UCP_FEATURE_WAKEUP, UCP_ERR_HANDLING_MODE_PEER);
    if (pair->eps[0]->config->lane.attr.get.zcopy_bytes_max == 0) {
        pair_close(pair);
        test_skip("there is no get here");
    }
    pair_meet(pair);
}

static bool is_awake(const struct pair *pair, int side, int timeout_ms)
{
    struct pollfd poll_fd = {.events = POLLIN};

    ck_assert_int_eq(ucp_worker_get_efd(pair->workers[side], &poll_fd.fd),
                     UCS_OK);
    return poll(&poll_fd, 1, timeout_ms) == 1;
}

/* While R might read, it does not sleep. When S has claimed the rest, it does,
 * and the fragments wake it. */
static void shared__sleeps_when_all_is_claimed(const struct test_param *param)
{
    struct pair       pair;
    struct ucp_share *share;
    void             *send, *receive;
    ucs_status_t      status;
    uint64_t          value;

    open_to_sleep(&pair, param);
    begin_in(&pair, &send, &receive);
    while (ucs_list_is_empty(&pair.workers[1]->shares)) {
        pair_progress(&pair);
    }
    share = ucs_list_first(&pair.workers[1]->shares, struct ucp_share, link);
    ck_assert(ucp_shares_have_work(pair.workers[1]));
    ck_assert_int_eq(ucp_worker_arm(pair.workers[1]), UCS_ERR_BUSY);
    value = atomic_load(share->word);
    /* As if S had them all. */
    atomic_store(share->word, ((value >> 16) << 16) + share->count -
                                  ((uint32_t)value >> 16));
    do {
        worker_settle(pair.workers[1]);
        status = ucp_worker_arm(pair.workers[1]);
    } while (status == UCS_ERR_BUSY);
    ck_assert_int_eq(status, UCS_OK);
    ck_assert(!is_done(receive));
    ck_assert(!is_awake(&pair, 1, 0));
    atomic_store(share->word, value); /* S claims them now, and sends */
    while (parts_of(&pair).sent == 0) {
        (void)ucp_worker_progress(pair.workers[0]);
    }
    ck_assert(is_awake(&pair, 1, 20000));
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    check_and_close(&pair);
}

/* Both sleep whenever they may, in random turns: one of them always wakes. */
static void shared__nobody_sleeps_for_ever(const struct test_param *param)
{
    struct pair pair;
    void       *send, *receive;

    open_to_sleep(&pair, param);
    for (int round = 0; round < 30; ++round) {
        bool sleeps[2] = {false, false};

        begin_in(&pair, &send, &receive);
        while (!is_done(receive) || !is_done(send)) {
            int side = (int)test_random_below(2);

            if (sleeps[side] && !is_awake(&pair, side, 0)) {
                ck_assert(!sleeps[1 - side] || is_awake(&pair, 1 - side, 0) ||
                          is_awake(&pair, side, 20000));
                continue;
            }
            look(&pair, side, test_random_below(20000));
            while (ucp_worker_progress(pair.workers[side]) > 0) {
            }
            sleeps[side] = ucp_worker_arm(pair.workers[side]) == UCS_OK;
        }
        ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
        pattern_check(in, BYTES, 1);
    }
    check_and_close(&pair);
}

/* S closes while R reads: R's receive fails, nothing is left. */
static void shared__closed_in_the_middle(const struct test_param *param)
{
    struct pair pair;
    void       *send, *receive, *close;

    begin(&pair, param, &send, &receive);
    while (parts_of(&pair).read < BYTES / 4) {
        (void)ucp_worker_progress(pair.workers[1]);
    }
    close       = ucp_ep_close_nbx(pair.eps[0], &pair_force_param);
    pair.eps[0] = NULL;
    (void)pair_wait(&pair, close);
    ck_assert_int_ne(pair_wait(&pair, send), UCS_OK);
    ck_assert_int_ne(pair_wait(&pair, receive), UCS_OK);
    ck_assert(ucs_list_is_empty(&pair.workers[1]->shares));
    pair_close(&pair);
}

/* A peer that counts in the word what it did not do gets nothing twice. */
static void shared__a_word_that_lies(const struct test_param *param)
{
    struct pair       pair;
    struct ucp_share *share;
    void             *send, *receive;
    uint64_t          value;

    begin(&pair, param, &send, &receive);
    (void)ucp_worker_progress(pair.workers[1]);
    ck_assert(!ucs_list_is_empty(&pair.workers[1]->shares));
    share = ucs_list_first(&pair.workers[1]->shares, struct ucp_share, link);
    value = atomic_load(share->word);
    /* All but one unit are S's, who knows nothing of it. */
    atomic_store(share->word, value + share->count - 1);
    look(&pair, 1, 10 * PATIENCE_NS);
    ck_assert_uint_le(parts_of(&pair).read, share->unit);
    ck_assert(!is_done(receive));
    /* Another use: R lets it be. */
    atomic_store(share->word, value + (UINT64_C(1) << 32));
    look(&pair, 1, 10 * PATIENCE_NS);
    ck_assert(!is_done(receive));
    atomic_store(share->word, value);
    ck_assert_int_ne(ucp_request_check_status(send), UCS_OK);
    pair_abandon(&pair);
}

static void shared__every_size(const struct test_param *param)
{
    static const size_t sizes[] = {1,      100,    32000,  32700,  32736, 33000,
                                   65535,  65536,  98271,  98272,  98273, 98304,
                                   131072, 163808, 500001, 2999999};
    struct pair         pair;
    void               *send, *receive;

    rdma_open(&pair, &shared, param);
    for (unsigned i = 0; i < 2 * UCS_ARRAY_COUNT(sizes); ++i) {
        size_t length = sizes[i / 2];

        pattern_fill(out, length, i);
        memset(in, 0, length);
        receive = pair_receive(&pair, 1, in, length, TAG);
        send    = (i & 1) ? pair_send_sync(&pair, 0, out, length, TAG)
                          : pair_send(&pair, 0, out, length, TAG);
        if (i & 1) {
            look_alone(&pair, receive);
        }
        ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
        pattern_check(in, length, i);
    }
    pair_close(&pair);
}

/* R cannot read into pieces: it asks for fragments, as of protocol 4. */
static void shared__a_receiver_in_pieces(const struct test_param *param)
{
    ucp_dt_iov_t        iov[2]    = {{in, 100000}, {in + 100000, 200000}};
    ucp_request_param_t param_iov = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                     .datatype     = UCP_DATATYPE_IOV};
    struct pair         pair;
    void               *send, *receive;

    rdma_open(&pair, &shared, param);
    pattern_fill(out, 300000, 9);
    memset(in, 0, 300000);
    receive =
        ucp_tag_recv_nbx(pair.workers[1], iov, 2, TAG, UINT64_MAX, &param_iov);
    send = pair_send(&pair, 0, out, 300000, TAG);
    look(&pair, 1, 10 * PATIENCE_NS);
    ck_assert(!is_done(receive)); /* S has to come */
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    pattern_check(in, 300000, 9);
    ck_assert_uint_eq(rdma_count(&pair, 1, UCP_COUNT_FALL_BACK), 1);
    ck_assert_uint_eq(parts_of(&pair).read, 0);
    ck_assert_uint_eq(pair.eps[0]->lanes[0].uct_ep->iface->claims.used, 0);
    pair_close(&pair);
}

static void shared__truncated(const struct test_param *param)
{
    rdma_check_truncated(&shared, param);
}

static void shared__refused_once(const struct test_param *param)
{
    rdma_check_refused(&shared, param);
}

static const struct test_case shared_cases[] = {
    TEST(shared__the_first_message_of_all_needs_no_sender),
    TEST(shared__a_sender_that_computes_delays_nobody),
    TEST(shared__a_sender_that_is_there_sends_all),
    TEST(shared__both_move_a_part),
    TEST(shared__random_turns),
    TEST(shared__more_messages_than_words),
    TEST(shared__no_word_is_left),
    TEST(shared__sleeps_when_all_is_claimed),
    TEST(shared__nobody_sleeps_for_ever),
    TEST(shared__closed_in_the_middle),
    TEST(shared__a_word_that_lies),
    TEST(shared__every_size),
    TEST(shared__a_receiver_in_pieces),
    TEST(shared__truncated),
    TEST(shared__refused_once),
    {0},
};

const struct test_suite rdma_shared_suite = {
    .name = "rdma_shared", .cases = shared_cases, .params = shared_params};
