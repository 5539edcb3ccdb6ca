/* SPDX-License-Identifier: BSD-3-Clause */
/* test_peer_rails.c - src/ucp/wireup/peer_rails.c: whose a rail is, and when
 * the end of an endpoint with rails has come. */
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/core/worker.h"
#include "ucp/pair.h"
#include "ucp/play.h"
#include "ucp/suites.h"
#include "ucp/wireup/peer.h"
#include "ucs/bytes.h"

enum { TAG = 6, BYTES = 300000 };

static uint8_t out[BYTES], in[BYTES];

static const struct mock_control *open_rails(struct pair *pair, unsigned count)
{
    static const struct pair_setup setup = {
        .tls = "mock", .rndv_threshold = "0", .zcopy_threshold = "inf"};
    const struct mock_control *mock = play_mock();

    mock->reset();
    mock->setup->device_count = count;
    (void)setenv("UCX_RNDV_SCHEME", "am", 1);
    (void)setenv("UCX_MAX_RNDV_RAILS", "4", 1);
    pair_open_setup(pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(pair);
    pattern_fill(out, BYTES, 3);
    memset(in, 0, BYTES);
    return mock;
}

/* The next thing on the wire that the message lane carries, 0: none. */
static uint64_t next_of_message_lane(const struct mock_control *mock)
{
    for (unsigned i = 0; i < mock->event_count(); ++i) {
        const struct mock_event *event = mock->event(i);

        if ((event->type == MOCK_AM) && (event->device == 0) &&
            mock->deliver(event->number)) {
            return event->number;
        }
    }
    return 0;
}

/* S closes, and its message lane ends at R, while fragments are on their way
 * over the rail: R gets them all the same. */
static void rails__the_end_waits_for_them(const struct test_param *param)
{
    struct pair                pair;
    const struct mock_control *mock = open_rails(&pair, 2);
    void                      *send, *receive, *close;

    (void)param;
    mock->setup->room    = 1000;
    mock->setup->is_held = true;
    receive              = pair_receive(&pair, 1, in, BYTES, TAG);
    send                 = pair_send(&pair, 0, out, BYTES, TAG);
    while (ucp_request_check_status(send) == UCS_INPROGRESS) {
        pair_settle(&pair);
        ck_assert_uint_ne(next_of_message_lane(mock), 0);
    }
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    close       = ucp_ep_close_nbx(pair.eps[0], &pair_no_param);
    pair.eps[0] = NULL;
    ck_assert_int_eq(pair_wait(&pair, close), UCS_OK);
    ucp_worker_destroy(pair.workers[0]);
    ucp_cleanup(pair.contexts[0]);
    pair.workers[0] = NULL;
    do {
        worker_settle(pair.workers[1]);
    } while (next_of_message_lane(mock) != 0);
    worker_settle(pair.workers[1]);
    ck_assert_ptr_null(pair.eps[1]->source); /* that lane has ended */
    ck_assert_int_eq(ucp_request_check_status(receive), UCS_INPROGRESS);
    mock->setup->is_held = false;
    ck_assert_int_eq(worker_wait(pair.workers[1], receive, 10), UCS_OK);
    ucp_request_free(receive);
    pattern_check(in, BYTES, 3);
    worker_settle(pair.workers[1]);
    ck_assert_ptr_null(pair.eps[1]->rails);
    ucp_worker_destroy(pair.workers[1]);
    ucp_cleanup(pair.contexts[1]);
}

/* What R does not get in this way fails as ever: S is killed. */
static void rails__a_death_does_not_wait(const struct test_param *param)
{
    struct pair                pair;
    const struct mock_control *mock = open_rails(&pair, 3);
    void                      *receive;

    (void)param;
    mock->setup->is_held = true;
    receive              = pair_receive(&pair, 1, in, BYTES, TAG);
    (void)pair_send(&pair, 0, out, BYTES, TAG);
    for (int i = 0; i < 6; ++i) {
        pair_settle(&pair);
        (void)next_of_message_lane(mock);
    }
    mock->kill(0);
    worker_settle(pair.workers[1]);
    ck_assert_int_ne(ucp_request_check_status(receive), UCS_INPROGRESS);
    ck_assert_int_ne(ucp_request_check_status(receive), UCS_OK);
    ucp_request_free(receive);
    mock->setup->is_held = false;
    pair_abandon(&pair);
}

/* A stranger's word about a rail, with something wrong in it. */
static void rails__strangers_are_refused(const struct test_param *param)
{
    static const uint32_t flags[] = {
        1,              /* lane 0 has no rail */
        1 | (9u << 8),  /* there are not so many lanes */
        1 | (1u << 8),  /* right, but the secret is not */
        1 | (1u << 8),  /* nor is there such a worker */
        1 | (1u << 8)}; /* nor such an endpoint */
    struct pair                pair;
    const struct mock_control *mock = open_rails(&pair, 2);
    struct ucp_worker         *s = pair.workers[0], *r = pair.workers[1];

    (void)param;
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(flags); ++i) {
        uint8_t  bytes[UCP_ANNOUNCE_RAIL_BYTES];
        uint64_t before = r->bad_ids;

        ucs_put_le32(bytes, (i == 4) ? 77 : 0);
        ucs_put_le32(bytes + 4, flags[i]);
        ucs_put_le64(bytes + 8, s->id + (i == 3));
        memcpy(bytes + 16, s->secret, sizeof(s->secret));
        bytes[20] ^= (i == 2);
        ck_assert(mock->inject(0, 1, UCP_AM_ANNOUNCE, bytes, sizeof(bytes)));
        pair_settle(&pair);
        ck_assert_uint_eq(r->bad_ids, before + 1);
    }
    pair_close(&pair);
}

static const struct test_case rails_cases[] = {
    TEST(rails__the_end_waits_for_them),
    TEST(rails__a_death_does_not_wait),
    TEST(rails__strangers_are_refused),
    {0},
};

const struct test_suite peer_rails_suite = {.name  = "peer_rails",
                                            .cases = rails_cases};
