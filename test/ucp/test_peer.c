/* SPDX-License-Identifier: BSD-3-Clause */
/* test_peer.c - src/ucp/wireup/peer.c: the n-th endpoint of one side and the
 * n-th of the other are two ends of one connection, whoever comes first. */
#include "ucp/wireup/peer.h"

#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/inject.h"
#include "ucp/pair.h"
#include "ucp/suites.h"

enum { TAG = 8, EP_COUNT = 20, BYTES = 200000 };

static const struct pair_setup sm = {.tls = "sm"};
static char                    in[BYTES], out[BYTES];

static void peer_open(struct pair *pair)
{
    pair_open_setup(pair, &sm, 0, UCP_ERR_HANDLING_MODE_PEER);
}

static struct ucp_peer *peer_of(struct pair *pair, int side)
{
    struct ucp_peer *peer =
        ucsi_hash_get(&pair->workers[side]->peers, pair->workers[1 - side]->id);

    ck_assert_ptr_nonnull(peer);
    return peer;
}

static void exchange(struct pair *pair, ucp_ep_h ep, int to, size_t length)
{
    void *receive = pair_receive(pair, to, in, BYTES, TAG);

    ck_assert_int_eq(pair_wait(pair, ucp_tag_send_sync_nbx(ep, out, length, TAG,
                                                           &pair_no_param)),
                     UCS_OK);
    ck_assert_int_eq(pair_wait(pair, receive), UCS_OK);
}

/* Who sends first, in any order, makes no difference: an answer of endpoint n
 * comes out of endpoint n. */
static void peer__nth_pairs_with_nth(const struct test_param *param)
{
    ucp_ep_h    eps[2][EP_COUNT];
    struct pair pair;

    (void)param;
    peer_open(&pair);
    eps[0][0] = pair.eps[0];
    eps[1][0] = pair.eps[1];
    for (unsigned i = 1; i < EP_COUNT; ++i) {
        int side = (int)test_random_below(2);

        eps[side][i] = pair_connect(&pair, side, UCP_ERR_HANDLING_MODE_PEER);
        if (test_random_below(2) == 0) {
            exchange(&pair, eps[side][i], 1 - side, 100);
        }
        eps[1 - side][i] =
            pair_connect(&pair, 1 - side, UCP_ERR_HANDLING_MODE_PEER);
        exchange(&pair, eps[1 - side][i], side, BYTES);
        exchange(&pair, eps[side][i], 1 - side, BYTES);
    }
    for (unsigned i = 0; i < EP_COUNT; ++i) {
        exchange(&pair, eps[0][i], 1, 8);
        exchange(&pair, eps[1][i], 0, 8);
        for (int side = 0; side < 2; ++side) {
            ck_assert_uint_eq(eps[side][i]->index, i);
            ck_assert_ptr_nonnull(eps[side][i]->source);
            ck_assert_ptr_eq(peer_of(&pair, side)->eps[i], eps[side][i]);
        }
    }
    for (unsigned i = 1; i < EP_COUNT; ++i) {
        for (int side = 0; side < 2; ++side) {
            ck_assert_int_eq(pair_wait(&pair, ucp_ep_close_nbx(eps[side][i],
                                                               &pair_no_param)),
                             UCS_OK);
        }
    }
    pair_close(&pair);
}

/* The other side's message came first: an endpoint stands in, answers the
 * rendezvous, and becomes the user's. */
static void peer__stand_in_is_adopted(const struct test_param *param)
{
    struct ucp_ep *stand_in;
    struct pair    pair;

    (void)param;
    peer_open(&pair);
    ck_assert_int_eq(
        pair_wait(&pair, ucp_ep_close_nbx(pair.eps[1], &pair_no_param)),
        UCS_OK);
    pair.eps[1] = NULL;
    pair.eps[1] = pair_connect(&pair, 0, UCP_ERR_HANDLING_MODE_PEER);
    exchange(&pair, pair.eps[1], 1, BYTES); /* side 0's second */
    stand_in = peer_of(&pair, 1)->eps[1];
    ck_assert_ptr_nonnull(stand_in);
    ck_assert(!(stand_in->flags & UCP_EP_USER));
    ck_assert_int_eq(
        pair_wait(&pair, ucp_ep_close_nbx(pair.eps[0], &pair_no_param)),
        UCS_OK);
    pair.eps[0] = pair.eps[1];
    pair.eps[1] = pair_connect(&pair, 1, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_ptr_eq(pair.eps[1], stand_in);
    exchange(&pair, pair.eps[1], 0, BYTES);
    pair_close(&pair);
}

/* An endpoint that stood in has failed before the user makes his: he is told
 * once, by the next progress, unless he has closed it by then, or destroyed
 * the worker. */
static void peer__failed_before_the_user_had_it(const struct test_param *param)
{
    enum { PROGRESS, CLOSE, DESTROY, WAYS };

    (void)param;
    for (int way = 0; way < WAYS; ++way) {
        struct pair pair;
        ucp_ep_h    late, first;

        pair_open_setup(&pair, &sm, UCP_FEATURE_WAKEUP,
                        UCP_ERR_HANDLING_MODE_PEER);
        first       = pair.eps[0];
        pair.eps[0] = pair_connect(&pair, 0, UCP_ERR_HANDLING_MODE_PEER);
        exchange(&pair, pair.eps[0], 1, BYTES);
        ucp_ep_fail(peer_of(&pair, 1)->eps[1], UCS_ERR_CONNECTION_RESET);
        ck_assert_int_eq(pair.error_count[1], 0);
        late = pair_connect(&pair, 1, UCP_ERR_HANDLING_MODE_PEER);
        ck_assert_int_eq(pair.error_count[1], 0);
        ck_assert_int_eq(UCS_PTR_RAW_STATUS(ucp_tag_send_nbx(late, out, 8, TAG,
                                                             &pair_no_param)),
                         UCS_ERR_CONNECTION_RESET);
        ck_assert_int_eq(ucp_worker_arm(pair.workers[1]), UCS_ERR_BUSY);
        if (way == CLOSE) {
            ck_assert_int_eq(
                pair_wait(&pair, ucp_ep_close_nbx(late, &pair_no_param)),
                UCS_OK);
        }
        if (way != DESTROY) {
            pair_settle(&pair);
            ck_assert_int_eq(pair.error_count[1], way == PROGRESS);
            ck_assert(way != PROGRESS ||
                      (pair.error_status[1] == UCS_ERR_CONNECTION_RESET));
            /* The other endpoint goes on. */
            exchange(&pair, first, 1, BYTES);
            exchange(&pair, pair.eps[1], 0, BYTES);
        }
        pair_abandon(&pair);
        ck_assert_int_eq(pair.error_count[1], way == PROGRESS);
    }
}

/* Both announce before either has heard. */
static void peer__announcements_cross(const struct test_param *param)
{
    void       *sends[2], *receives[2];
    struct pair pair;

    (void)param;
    peer_open(&pair);
    for (int side = 0; side < 2; ++side) {
        sends[side]    = pair_send_sync(&pair, side, out, BYTES, TAG);
        receives[side] = pair_receive(&pair, side, in, BYTES, TAG);
    }
    for (int side = 0; side < 2; ++side) {
        ck_assert_int_eq(pair_wait(&pair, sends[side]), UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, receives[side]), UCS_OK);
        ck_assert_uint_eq(ucs_list_count(&pair.workers[side]->eps), 1);
    }
    pair_close(&pair);
}

/* A worker's announcement as bytes. */
static size_t announcement_of(struct pair *pair, int side, uint32_t index,
                              uint8_t *bytes)
{
    ucp_address_t *address;
    size_t         length;

    ck_assert_int_eq(
        ucp_worker_get_address(pair->workers[side], &address, &length), UCS_OK);
    ucs_put_le32(bytes, index);
    ucs_put_le32(bytes + 4, 0);
    memcpy(bytes + UCP_ANNOUNCE_HEAD_BYTES, address, length);
    ucp_worker_release_address(pair->workers[side], address);
    return UCP_ANNOUNCE_HEAD_BYTES + length;
}

/* Cut, changed, absurd: refused; nothing is left of it. */
static void peer__damaged_announcements(const struct test_param *param)
{
    uint8_t            bytes[UCP_ANNOUNCE_HEAD_BYTES + UCP_ADDRESS_BYTES_MAX];
    struct ucp_worker *worker;
    uint64_t           count = 0;
    struct pair        pair;
    size_t             length;

    (void)param;
    peer_open(&pair);
    worker = pair.workers[1];
    length = announcement_of(&pair, 0, 5, bytes);
    for (size_t cut = 0; cut < length; ++cut) {
        (void)inject(worker, NULL, UCP_AM_ANNOUNCE, bytes, cut);
        ck_assert_uint_eq(worker->bad_ids, ++count);
    }
    for (size_t at = UCP_ANNOUNCE_HEAD_BYTES; at < length; ++at) {
        bytes[at] ^= 0x10;
        (void)inject(worker, NULL, UCP_AM_ANNOUNCE, bytes, length);
        ck_assert_uint_eq(worker->bad_ids, ++count);
        bytes[at] ^= 0x10;
    }
    ucs_put_le32(bytes, UINT32_MAX);
    (void)inject(worker, NULL, UCP_AM_ANNOUNCE, bytes, length);
    ck_assert_uint_eq(worker->bad_ids, ++count);
    ucs_put_le32(bytes, UCP_PEER_EP_COUNT_MAX);
    (void)inject(worker, NULL, UCP_AM_ANNOUNCE, bytes, length);
    ck_assert_uint_eq(worker->bad_ids, ++count);
    ck_assert_uint_eq(ucs_list_count(&worker->eps), 1);
    ck_assert_uint_le(peer_of(&pair, 1)->ep_count, 2);
    exchange(&pair, pair.eps[0], 1, BYTES);
    pair_close(&pair);
}

/* The same number twice, or the source of an endpoint that has one. */
static void peer__repeated_announcement(const struct test_param *param)
{
    uint8_t     bytes[UCP_ANNOUNCE_HEAD_BYTES + UCP_ADDRESS_BYTES_MAX];
    struct pair pair;
    size_t      length;

    (void)param;
    peer_open(&pair);
    pair_meet(&pair);
    length = announcement_of(&pair, 0, 0, bytes);
    (void)inject(pair.workers[1], NULL, UCP_AM_ANNOUNCE, bytes, length);
    ck_assert_uint_eq(pair.workers[1]->bad_ids, 1);
    (void)inject(pair.workers[1], pair.eps[1], UCP_AM_ANNOUNCE, bytes, length);
    ck_assert_uint_eq(pair.workers[1]->bad_ids, 2);
    exchange(&pair, pair.eps[0], 1, BYTES);
    exchange(&pair, pair.eps[1], 0, BYTES);
    pair_close(&pair);
}

/* A worker id that is known, with another secret. */
static void peer__another_secret(const struct test_param *param)
{
    uint8_t bytes[UCP_ANNOUNCE_HEAD_BYTES + UCP_ADDRESS_BYTES_MAX];
    uint8_t forged[UCP_ANNOUNCE_HEAD_BYTES + UCP_ADDRESS_BYTES_MAX];
    char    reason[UCT_REASON_BYTES_MAX];
    struct ucp_address_view view;
    struct pair             pair;
    size_t                  length;

    (void)param;
    peer_open(&pair);
    length = announcement_of(&pair, 0, 3, bytes);
    ck_assert_int_eq(ucp_address_decode(bytes + UCP_ANNOUNCE_HEAD_BYTES,
                                        length - UCP_ANNOUNCE_HEAD_BYTES, &view,
                                        reason),
                     UCS_OK);
    view.secret[0] ^= 1;
    memcpy(forged, bytes, UCP_ANNOUNCE_HEAD_BYTES);
    length = ucp_address_encode(&view, forged + UCP_ANNOUNCE_HEAD_BYTES,
                                UCP_ADDRESS_BYTES_MAX);
    (void)inject(pair.workers[1], NULL, UCP_AM_ANNOUNCE, forged,
                 UCP_ANNOUNCE_HEAD_BYTES + length);
    ck_assert_uint_eq(pair.workers[1]->bad_ids, 1);
    exchange(&pair, pair.eps[0], 1, BYTES);
    pair_close(&pair);
}

/* Messages of one who has not said who he is. */
static void peer__not_announced(const struct test_param *param)
{
    static const uint8_t ids[] = {
        UCP_AM_EAGER, UCP_AM_EAGER_FIRST, UCP_AM_EAGER_MORE, UCP_AM_RNDV,
        UCP_AM_ACK,   UCP_AM_FRAG,        UCP_AM_ABORT};
    uint8_t     zeros[100] = {0};
    struct pair pair;

    (void)param;
    peer_open(&pair);
    for (unsigned i = 0; i < sizeof(ids); ++i) {
        (void)inject(pair.workers[0], NULL, ids[i], zeros, sizeof(zeros));
        ck_assert_uint_eq(pair.workers[0]->bad_ids, i + 1);
    }
    ck_assert_uint_eq(pair.workers[0]->tag.match.unexpected_count, 0);
    pair_close(&pair);
}

/* What arrives after the lane has failed, before the end of its source: a
 * message that would need an answer ends with the source. */
static void
peer__message_between_failure_and_end(const struct test_param *param)
{
    struct pair pair;
    void       *receives[2], *sends[2];

    (void)param;
    peer_open(&pair);
    pair_meet(&pair);
    receives[0] = pair_receive(&pair, 1, in, BYTES, TAG);
    for (int i = 0; i < 2; ++i) {
        sends[i] = pair_send_sync(&pair, 0, out, BYTES, TAG + (unsigned)i);
    }
    ucp_ep_fail(pair.eps[1], UCS_ERR_CONNECTION_RESET);
    worker_settle(pair.workers[1]); /* the two RNDV are handed up */
    ucp_worker_destroy(pair.workers[0]);
    ucp_cleanup(pair.contexts[0]);
    (void)sends;
    ck_assert(UCS_STATUS_IS_ERR(worker_wait(pair.workers[1], receives[0], 10)));
    ucp_request_free(receives[0]);
    receives[1] = pair_receive(&pair, 1, in, BYTES, TAG + 1);
    ck_assert(UCS_STATUS_IS_ERR(worker_wait(pair.workers[1], receives[1], 10)));
    ck_assert(!UCS_PTR_IS_PTR(receives[1]));
    ucp_worker_destroy(pair.workers[1]);
    ucp_cleanup(pair.contexts[1]);
}

/* Both sides make and close an endpoint again and again. */
static void peer__again_and_again(const struct test_param *param)
{
    enum { ROUNDS = 2000, BYTES_MAX = 2500 };
    size_t      before = 0, after;
    struct pair pair;

    (void)param;
    peer_open(&pair);
    for (unsigned i = 0; i < ROUNDS + 200; ++i) {
        if (i == 200) {
            before = test_heap_bytes();
        }
        exchange(&pair, pair.eps[0], 1, 100);
        exchange(&pair, pair.eps[1], 0, 100);
        for (int side = 0; side < 2; ++side) {
            ck_assert_int_eq(pair_wait(&pair, ucp_ep_close_nbx(pair.eps[side],
                                                               &pair_no_param)),
                             UCS_OK);
        }
        for (int side = 0; side < 2; ++side) {
            pair.eps[side] =
                pair_connect(&pair, side, UCP_ERR_HANDLING_MODE_PEER);
        }
    }
    after = test_heap_bytes();
    printf("%zu bytes stay of a connection that both have closed\n",
           (after - before) / ROUNDS);
    ck_assert_uint_le((after - before) / ROUNDS, BYTES_MAX);
    pair_close(&pair);
}

static const struct test_case peer_cases[] = {
    TEST(peer__nth_pairs_with_nth),
    TEST(peer__stand_in_is_adopted),
    TEST(peer__failed_before_the_user_had_it),
    TEST(peer__announcements_cross),
    TEST(peer__damaged_announcements),
    TEST(peer__repeated_announcement),
    TEST(peer__another_secret),
    TEST(peer__not_announced),
    TEST(peer__message_between_failure_and_end),
    TEST(peer__again_and_again),
    {0},
};

const struct test_suite peer_suite = {.name = "peer", .cases = peer_cases};
