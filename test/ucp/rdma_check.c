/* SPDX-License-Identifier: BSD-3-Clause */
/* rdma_check.c - what holds for each protocol that moves by put or get. */
#include "config.h"

#include "ucp/rdma_check.h"

#include <stdlib.h>
#include <string.h>

#include "ucp/inject.h"
#include "ucp/play.h"

enum { TAG = 77, BYTES_MAX = 3000000, MANY = 40 };

static const struct pair_setup over_self = {.tls            = "self",
                                            .rndv_threshold = "0"};
static const struct pair_setup over_sm   = {.tls = "sm", .rndv_threshold = "0"};
static const struct pair_setup over_mock = {.tls            = "mock",
                                            .rndv_threshold = "0"};
#ifdef HAVE_UDP
static const struct pair_setup over_udp = {.tls = "udp", .rndv_threshold = "0"};
#endif

const struct test_param rdma_params[] = {
    {.name = "self", .value = &over_self},
    {.name = "sm", .value = &over_sm},
    {.name = "mock", .value = &over_mock},
#ifdef HAVE_UDP
    {.name = "udp", .value = &over_udp},
#endif
    {0},
};

static uint8_t out[BYTES_MAX], in[BYTES_MAX];

/* Can this transport do it here at all? Where the kernel forbids reading the
 * other process, sm has neither put nor get. */
static bool is_carried(const struct pair *pair)
{
    const struct ucp_lane_model *lane = &pair->eps[0]->config->lane;

    return (lane->attr.get.zcopy_bytes_max > 0) &&
           (lane->attr.put.zcopy_bytes_max > 0);
}

void rdma_open_unmet(struct pair *pair, const struct rdma_check *check,
                     const struct test_param *param)
{
    play_mock()->reset();
    (void)setenv("UCX_RNDV_SCHEME", check->scheme, 1);
    (void)setenv("UCX_RNDV_FRAG_SIZE", "100000", 1);
    pair_open(pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    if (!is_carried(pair)) {
        pair_close(pair);
        test_skip("there is no put or get here");
    }
}

void rdma_open(struct pair *pair, const struct rdma_check *check,
               const struct test_param *param)
{
    rdma_open_unmet(pair, check, param);
    pair_meet(pair);
}

uint64_t rdma_count(const struct pair *pair, int side, enum ucp_count what)
{
    return ucs_counter_get(&pair->workers[side]->counts[what]);
}

static uint64_t fragment_bytes(const struct pair *pair)
{
    return rdma_count(pair, 0, UCP_COUNT_FRAGMENT_OUT);
}

/* One message; @return the receive's status. */
static ucs_status_t transfer(struct pair *pair, size_t length, size_t room,
                             bool is_posted_first, bool is_sync)
{
    void        *send, *receive = NULL;
    ucs_status_t status;

    pattern_fill(out, length, (unsigned)length);
    memset(in, 0, room);
    if (is_posted_first) {
        receive = pair_receive(pair, 1, in, room, TAG);
    }
    send = is_sync ? pair_send_sync(pair, 0, out, length, TAG)
                   : pair_send(pair, 0, out, length, TAG);
    if (!is_posted_first) {
        pair_settle(pair);
        receive = pair_receive(pair, 1, in, room, TAG);
    }
    status = pair_wait(pair, receive);
    ck_assert_int_eq(pair_wait(pair, send), UCS_OK);
    if (status == UCS_OK) {
        pattern_check(in, length, (unsigned)length);
    }
    return status;
}

void rdma_check_clean(const struct pair *pair)
{
    for (int side = 0; side < 2; ++side) {
        ck_assert_uint_eq(pair->workers[side]->bad_ids, 0);
        ck_assert_uint_eq(pair->workers[side]->ids.count, 0);
    }
}

void rdma_check_sizes(const struct rdma_check *check,
                      const struct test_param *param)
{
    static const size_t sizes[] = {1,      2,      100,    8191,   8192,
                                   8193,   65535,  65536,  99999,  100000,
                                   100001, 131072, 500001, 2999999};
    uint64_t            before_out, before_in, fragments;
    struct pair         pair;

    rdma_open(&pair, check, param);
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(sizes); ++i) {
        for (int how = 0; how < 4; ++how) {
            before_out = rdma_count(&pair, 0, check->out);
            before_in  = rdma_count(&pair, 1, check->in);
            fragments  = fragment_bytes(&pair);
            ck_assert_int_eq(
                transfer(&pair, sizes[i], sizes[i] + i % 2, how & 1, how & 2),
                UCS_OK);
            if (!check->is_mixed) {
                ck_assert_uint_eq(rdma_count(&pair, 0, check->out) - before_out,
                                  sizes[i]);
                ck_assert_uint_eq(rdma_count(&pair, 1, check->in) - before_in,
                                  sizes[i]);
                ck_assert_uint_eq(fragment_bytes(&pair), fragments);
            } else if (sizes[i] > 400000) {
                ck_assert_uint_gt(rdma_count(&pair, 0, check->out) - before_out,
                                  sizes[i] / 4);
                ck_assert_uint_gt(fragment_bytes(&pair), fragments);
            }
        }
    }
    /* Nothing at all is no message for put or get. */
    ck_assert_int_eq(transfer(&pair, 0, 10, true, true), UCS_OK);
    ck_assert_uint_eq(rdma_count(&pair, 0, UCP_COUNT_FALL_BACK), 0);
    rdma_check_clean(&pair);
    pair_close(&pair);
}

void rdma_check_truncated(const struct rdma_check *check,
                          const struct test_param *param)
{
    struct pair pair;

    rdma_open(&pair, check, param);
    for (int how = 0; how < 2; ++how) {
        ck_assert_int_eq(transfer(&pair, 200000, 199999, how, how),
                         UCS_ERR_MESSAGE_TRUNCATED);
        ck_assert_int_eq(transfer(&pair, 200000, 200000, how, how), UCS_OK);
    }
    rdma_check_clean(&pair);
    pair_close(&pair);
}

/* Over a real network the last word of a close takes its time. */
static bool has_no_ids(void *arg)
{
    struct pair *pair = arg;

    pair_settle(pair);
    return (pair->workers[0]->ids.count == 0) &&
           (pair->workers[1]->ids.count == 0);
}

/* Closed by flush before, between and after each side's progress; the message
 * arrives whole or both ends hear of it. */
void rdma_check_close(const struct rdma_check *check,
                      const struct test_param *param)
{
    for (int arrows = 0; arrows < 6; ++arrows) {
        const ucp_request_param_t *how =
            (arrows < 3) ? &pair_no_param : &pair_force_param;
        struct pair  pair;
        void        *send, *receive, *close;
        ucs_status_t send_status, status;

        rdma_open(&pair, check, param);
        pattern_fill(out, BYTES_MAX, 9);
        send    = pair_send(&pair, 0, out, BYTES_MAX, TAG);
        receive = pair_receive(&pair, 1, in, BYTES_MAX, TAG);
        for (int i = 0; i < arrows % 3; ++i) {
            ucp_worker_progress(pair.workers[1 - i]);
        }
        close = ucp_ep_close_nbx(pair.eps[0], how);
        ck_assert_int_eq(pair_wait(&pair, close), UCS_OK);
        pair.eps[0] = NULL;
        if (pair.is_loop) {
            pair.eps[1] = NULL;
        }
        send_status = pair_wait(&pair, send);
        ck_assert(test_wait_until(has_no_ids, &pair, 10));
        status = UCS_PTR_IS_PTR(receive) ? ucp_request_check_status(receive)
                                         : UCS_PTR_RAW_STATUS(receive);
        if (status == UCS_INPROGRESS) { /* it never matched */
            ck_assert_int_ne(send_status, UCS_OK);
            ucp_request_cancel(pair.workers[1], receive);
            status = ucp_request_check_status(receive);
        }
        if (UCS_PTR_IS_PTR(receive)) {
            ucp_request_free(receive);
        }
        if (status == UCS_OK) {
            pattern_check(in, BYTES_MAX, 9);
        }
        ck_assert_msg((status == UCS_OK) || (send_status != UCS_OK) ||
                          (how == &pair_force_param),
                      "arrows %d: send %d, receive %d", arrows, send_status,
                      status);
        pair_close(&pair);
    }
}

/* The peer is gone: nothing of it stays, whatever had arrived. */
void rdma_check_failure(const struct rdma_check *check,
                        const struct test_param *param)
{
    for (int arrows = 0; arrows < 6; ++arrows) {
        int          side = arrows / 3;
        struct pair  pair;
        void        *send, *receive;
        ucs_status_t status;

        rdma_open(&pair, check, param);
        send    = pair_send(&pair, 0, out, BYTES_MAX, TAG);
        receive = pair_receive(&pair, 1, in, BYTES_MAX, TAG);
        for (int i = 0; i < arrows % 3; ++i) {
            ucp_worker_progress(pair.workers[1 - i]);
        }
        ucp_ep_fail(pair.eps[side], UCS_ERR_ENDPOINT_TIMEOUT);
        if (side == 0) {
            status = UCS_PTR_IS_PTR(send) ? ucp_request_check_status(send)
                                          : UCS_PTR_RAW_STATUS(send);
            /* In progress: the transport has a piece of the buffer. */
            ck_assert_msg((status == UCS_OK) || (status == UCS_INPROGRESS) ||
                              (status == UCS_ERR_ENDPOINT_TIMEOUT),
                          "status %d", status);
            if (!pair.is_loop) {
                ck_assert_uint_eq(pair.workers[0]->ids.count, 0);
            }
        }
        (void)receive;
        pair_abandon(&pair);
    }
}

/* Many at a time, both ways, all sizes. */
void rdma_check_many(const struct rdma_check *check,
                     const struct test_param *param)
{
    enum { PART = BYTES_MAX / MANY };
    void       *sends[MANY], *receives[MANY];
    struct pair pair;

    rdma_open(&pair, check, param);
    pattern_fill(out, BYTES_MAX, 4);
    memset(in, 0, BYTES_MAX);
    for (int i = 0; i < MANY; ++i) {
        size_t length = 1 + test_random_below(PART);
        int    side   = pair.is_loop ? 0 : i & 1;

        sends[i]    = pair_send(&pair, side, out + i * PART, length, i);
        receives[i] = pair_receive(&pair, 1 - side, in + i * PART, PART, i);
    }
    for (int i = 0; i < MANY; ++i) {
        ck_assert_int_eq(pair_wait(&pair, sends[i]), UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, receives[i]), UCS_OK);
    }
    for (int i = 0; i < MANY; ++i) {
        for (size_t j = 0; (j < PART) && (in[i * PART + j] != 0); ++j) {
            ck_assert_int_eq(in[i * PART + j], out[i * PART + j]);
        }
    }
    rdma_check_clean(&pair);
    pair_close(&pair);
}

/* One message over that endpoint; it goes by RDMA. */
static void transfer_by(struct pair *pair, ucp_ep_h ep,
                        const struct rdma_check *check)
{
    enum { BYTES = 300000 };
    uint64_t before  = rdma_count(pair, 0, check->out);
    void    *receive = pair_receive(pair, 1, in, BYTES, TAG);
    void    *send;

    pattern_fill(out, BYTES, 5);
    send = ucp_tag_send_nbx(ep, out, BYTES, TAG, &pair_no_param);
    if (check->is_alone) {
        ck_assert_int_eq(worker_wait(pair->workers[1], receive, 20), UCS_OK);
    }
    ck_assert_int_eq(pair_wait(pair, send), UCS_OK);
    ck_assert_int_eq(pair_wait(pair, receive), UCS_OK);
    pattern_check(in, BYTES, 5);
    ck_assert_uint_gt(rdma_count(pair, 0, check->out) - before, BYTES / 4);
}

/* Another endpoint to the same peer: it was not refused there, so S proposes
 * it, and R allows it. */
static void check_not_refused(struct pair *pair, const struct rdma_check *check)
{
    uint64_t fall_backs = rdma_count(pair, 0, UCP_COUNT_FALL_BACK);
    uint8_t  refused    = pair->eps[0]->refused;
    ucp_ep_h other      = pair_connect(pair, 0, UCP_ERR_HANDLING_MODE_PEER);

    transfer_by(pair, other, check);
    ck_assert_uint_eq(other->refused, 0);
    ck_assert_uint_eq(pair->eps[0]->refused, refused);
    ck_assert_uint_eq(rdma_count(pair, 0, UCP_COUNT_FALL_BACK), fall_backs);
    ck_assert_uint_eq(rdma_count(pair, 1, UCP_COUNT_FALL_BACK), 1);
    ck_assert_int_eq(pair_wait(pair, ucp_ep_close_nbx(other, &pair_no_param)),
                     UCS_OK);
}

/* R sees that it may not, whatever S believed: it asks for fragments, and S
 * does not propose it again on this endpoint, but does on another one. */
void rdma_check_refused(const struct rdma_check *check,
                        const struct test_param *param)
{
    enum { BYTES = 300000 };
    struct pair pair;
    uint64_t    met_bytes;

    rdma_open(&pair, check, param);
    met_bytes = rdma_count(&pair, 0, check->out);
    if (pair.is_loop) {
        pair_close(&pair);
        test_skip("one endpoint for both ends");
    }
    for (unsigned i = 0; i < ucp_ep_lane_count(pair.eps[1]); ++i) {
        pair.eps[1]->lanes[i].uct_ep->rights      = UCT_RIGHT_KNOWN;
        pair.eps[1]->lanes[i].uct_ep->peer_rights = UCT_RIGHT_KNOWN;
    }
    for (unsigned round = 0; round < 3; ++round) {
        ck_assert_int_eq(transfer(&pair, BYTES, BYTES, round % 2 == 0, false),
                         UCS_OK);
        ck_assert_uint_ne(pair.eps[0]->refused, 0);
        ck_assert_uint_eq(rdma_count(&pair, 1, UCP_COUNT_FALL_BACK), 1);
        ck_assert_uint_eq(rdma_count(&pair, 0, UCP_COUNT_FALL_BACK), round);
    }
    ck_assert_uint_eq(rdma_count(&pair, 0, check->out), met_bytes);
    ck_assert_uint_eq(pair.eps[1]->refused, 0);
    check_not_refused(&pair, check);
    rdma_check_clean(&pair);
    pair_close(&pair);
}
