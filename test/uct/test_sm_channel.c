/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/test_sm_channel.c - senders come and go, and some break the
 * rules. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/test.h"
#include "uct/sm_stage.h"
#include "uct/suites.h"

static struct sm_end        good, bad, receiver;
static struct sm_end *const all[] = {&receiver, &good, &bad, NULL};

static void channel_setup(const struct test_param *param)
{
    (void)param;
    sm_end_open(&receiver, false);
    sm_end_open(&good, false);
    sm_end_open(&bad, false);
    good.ep = sm_end_connect(&good, &receiver);
    bad.ep  = sm_end_connect(&bad, &receiver);
    sm_stage_send_all(&good, good.ep, SM_STAGE_AM, 0, 8);
    sm_stage_send_all(&bad, bad.ep, SM_STAGE_AM, 0, 8);
    sm_stage_until_received(&receiver, NULL, 2);
}

static void channel_teardown(const struct test_param *param)
{
    (void)param;
    sm_end_close(&good);
    sm_end_close(&bad);
    sm_end_close(&receiver);
}

static struct uct_sm_peer *channel_peer(const struct sm_end *end)
{
    return ucs_container_of(end->ep, struct uct_sm_ep, base)->peer;
}

/* Put a record into the ring as a sender would who means harm. */
static void channel_inject(uint64_t control, uint64_t first_word)
{
    struct uct_sm_peer *peer = channel_peer(&bad);
    uint8_t            *data = uct_sm_ring_reserve(&peer->writer, 1);

    ck_assert_ptr_nonnull(data);
    memcpy(data, &first_word, sizeof(first_word));
    uct_sm_ring_commit(&peer->writer, control, 1);
    uct_sm_doorbell_ring(peer);
}

/* The bad one is told, and its source ends; the good one goes on. */
static void channel_expect_broken(void)
{
    unsigned number;

    sm_stage_until(all, &bad.errors, 1);
    ck_assert_int_eq(bad.error_status, UCS_ERR_IO_ERROR);
    ck_assert_int_eq(sm_stage_send(bad.ep, SM_STAGE_AM, 0, 8, 0),
                     UCS_ERR_IO_ERROR);
    ucti_ep_destroy(bad.ep);
    bad.ep = NULL;
    sm_stage_until(all, &receiver.ended[1], 1);
    ck_assert_int_eq(receiver.end_status, UCS_ERR_IO_ERROR);
    for (number = 1; number < 200; ++number) {
        sm_stage_send_all(&good, good.ep, SM_STAGE_AM, number, 8 + number * 9);
        (void)uct_iface_progress(receiver.iface);
    }
    sm_stage_until_received(&receiver, NULL, 2 + 199);
    ck_assert_uint_eq(good.errors, 0);
}

static void broken__a_kind_that_is_none(const struct test_param *param)
{
    (void)param;
    channel_inject(uct_sm_control(UCT_SM_KIND_COUNT, 0, 0, 8), 0);
    channel_expect_broken();
}

static void broken__longer_than_a_record(const struct test_param *param)
{
    (void)param;
    channel_inject(uct_sm_control(UCT_SM_KIND_INLINE, SM_STAGE_AM, 0,
                                  UCT_SM_RECORD_BYTES_MAX + 1),
                   0);
    channel_expect_broken();
}

static void broken__longer_than_any_memory(const struct test_param *param)
{
    (void)param;
    channel_inject(
        uct_sm_control(UCT_SM_KIND_INLINE, SM_STAGE_AM, 0, UCT_SM_LENGTH_MAX),
        0);
    channel_expect_broken();
}

static void broken__a_chunk_that_is_not_there(const struct test_param *param)
{
    (void)param;
    channel_inject(uct_sm_control(UCT_SM_KIND_CHUNK, SM_STAGE_AM, 0, 100),
                   UINT64_MAX);
    channel_expect_broken();
}

static void broken__a_chunk_of_another_sender(const struct test_param *param)
{
    struct uct_sm_peer *peer = channel_peer(&good);
    unsigned index = uct_sm_chunk_take(&peer->mapping.pool, &peer->chunks);

    (void)param;
    channel_inject(uct_sm_control(UCT_SM_KIND_CHUNK, SM_STAGE_AM, 0, 100),
                   index);
    channel_expect_broken();
}

static void broken__a_chunk_that_is_too_short(const struct test_param *param)
{
    struct uct_sm_peer *peer = channel_peer(&bad);
    unsigned index = uct_sm_chunk_take(&peer->mapping.pool, &peer->chunks);

    (void)param;
    channel_inject(uct_sm_control(UCT_SM_KIND_CHUNK, SM_STAGE_AM, 0,
                                  peer->mapping.pool.chunk_bytes + 1),
                   index);
    channel_expect_broken();
}

/* A message that begins there in a chunk of the sender's own. */
static void channel_inject_start(unsigned start)
{
    struct uct_sm_peer *peer = channel_peer(&bad);
    unsigned index = uct_sm_chunk_take(&peer->mapping.pool, &peer->chunks);

    channel_inject(uct_sm_control(UCT_SM_KIND_CHUNK, SM_STAGE_AM, 0, 100),
                   uct_sm_place(index, start));
    channel_expect_broken();
}

static void broken__a_start_behind_the_margin(const struct test_param *param)
{
    (void)param;
    channel_inject_start(UCT_SM_CHUNK_MARGIN_BYTES);
}

static void broken__a_start_far_away(const struct test_param *param)
{
    (void)param;
    channel_inject_start(UINT32_MAX & ~7u);
}

static void broken__a_start_that_is_not_aligned(const struct test_param *param)
{
    (void)param;
    channel_inject_start(4);
}

static void broken__a_source_index_out_of_range(const struct test_param *param)
{
    (void)param;
    channel_inject(uct_sm_control(UCT_SM_KIND_INLINE, SM_STAGE_AM,
                                  UCT_SM_SOURCE_INDEX_MAX, 8),
                   0);
    channel_expect_broken();
}

static void
broken__the_end_of_no_source_is_nothing(const struct test_param *param)
{
    (void)param;
    channel_inject(uct_sm_control(UCT_SM_KIND_CLOSE, 0, 12345, 0), 0);
    sm_stage_send_all(&bad, bad.ep, SM_STAGE_AM, 1, 8);
    sm_stage_until_received(&receiver, NULL, 3);
    ck_assert_uint_eq(receiver.ended[0] + receiver.ended[1], 0);
}

static void
broken__an_id_that_nobody_knows_is_dropped(const struct test_param *param)
{
    (void)param;
    channel_inject(uct_sm_control(UCT_SM_KIND_INLINE, 31, 0, 8), 0);
    sm_stage_send_all(&bad, bad.ep, SM_STAGE_AM, 1, 8);
    sm_stage_until_received(&receiver, NULL, 3);
    ck_assert_uint_eq(receiver.iface->am_dropped_count, 1);
}

static void broken__a_reader_that_says_nonsense(const struct test_param *param)
{
    uint64_t     number = 1;
    ucs_status_t status;

    (void)param;
    atomic_store(&channel_peer(&bad)->mapping.entry->read_position, UINT64_C(1)
                                                                        << 60);
    do {
        status = sm_stage_send(bad.ep, SM_STAGE_AM, number++, 8, 0);
        ck_assert_uint_lt(number, 1000);
    } while (status == UCS_OK);
    ck_assert_int_eq(status, UCS_ERR_IO_ERROR);
    while (bad.errors == 0) {
        (void)uct_iface_progress(bad.iface);
    }
    ck_assert_int_eq(bad.error_status, UCS_ERR_IO_ERROR);
}

/* Random words where control words are: whatever happens, the others go on. */
static void broken__noise_hurts_nobody_else(const struct test_param *param)
{
    struct uct_sm_peer *peer   = channel_peer(&bad);
    uint64_t            number = 1;
    unsigned            round, line;

    (void)param;
    for (round = 0; round < 2000; ++round) {
        line = (unsigned)test_random_below(UCT_SM_RING_LINE_COUNT);
        atomic_store(uct_sm_ring_word(peer->mapping.ring, line),
                     (test_random() & ~UINT64_C(0xff)) |
                         (0x80 + test_random_below(3)));
        sm_stage_send_all(&good, good.ep, SM_STAGE_AM, number++, 8 + round * 3);
        sm_stage_until_received(&receiver, &good, 1 + number);
        if (receiver.ended[1] > 0) {
            break;
        }
        receiver.received = 1 + number; /* noise may have been a message */
    }
    ck_assert_uint_eq(good.errors, 0);
}

/* More senders, one after the other, than there are channels. */
static void
come_and_go__more_often_than_channels(const struct test_param *param)
{
    struct uct_ep *ep;
    unsigned       round;

    (void)param;
    for (round = 0; round < 5000; ++round) {
        ep = sm_end_connect(&good, &bad);
        sm_stage_send_all(&good, ep, SM_STAGE_AM, 0, (round % 2) ? 8 : 3000);
        ucti_ep_destroy(ep);
        (void)uct_iface_progress(good.iface); /* leaves the channel */
        while (bad.ended[0] <= round) {
            (void)uct_iface_progress(bad.iface);
        }
    }
    ck_assert_uint_eq(bad.received, 5000);
    sm_stage_progress_ms(&bad, &good, 30);
    ck_assert_uint_le(bad.sm->channel_count, 1);
    ck_assert_uint_le(bad.sm->channel_room, 64);
}

static void
come_and_go__a_claim_that_never_rang_is_found(const struct test_param *param)
{
    struct uct_sm_identity identity;
    struct uct_sm_mapping  mapping;
    struct uct_sm_sender   sender = {
          .segment_id       = 4711,
          .process_start    = 1, /* no process of ours */
          .pid_namespace_id = receiver.sm->address.pid_namespace,
          .pid              = 1 << 22,
    };

    (void)param;
    ck_assert_int_eq(
        uct_sm_segment_identify(receiver.sm->segment.fd, &identity), UCS_OK);
    ck_assert_int_eq(uct_sm_mapping_open(&mapping, receiver.sm->segment.fd,
                                         &identity, &sender),
                     UCS_OK);
    uct_sm_mapping_close(&mapping);
    ck_assert_uint_eq(
        atomic_load(
            &receiver.sm->segment.entries[mapping.channel_index].state) &
            0xff,
        UCT_SM_CHANNEL_OPEN);
    sm_stage_progress_ms(&receiver, NULL, 50);
    ck_assert_uint_eq(
        atomic_load(&receiver.sm->segment.entries[mapping.channel_index].state),
        UCT_SM_CHANNEL_FREE);
    /* Killed before it was complete. */
    atomic_store(&receiver.sm->segment.entries[mapping.channel_index].state,
                 UINT64_C(4194304) << 8 | UCT_SM_CHANNEL_CLAIMED);
    (void)atomic_fetch_add(&receiver.sm->segment.header->claim_count, 1);
    sm_stage_progress_ms(&receiver, NULL, 50);
    ck_assert_uint_eq(
        atomic_load(&receiver.sm->segment.entries[mapping.channel_index].state),
        UCT_SM_CHANNEL_FREE);
}

static const struct test_case channel_cases[] = {
    TEST(broken__a_kind_that_is_none),
    TEST(broken__longer_than_a_record),
    TEST(broken__longer_than_any_memory),
    TEST(broken__a_chunk_that_is_not_there),
    TEST(broken__a_chunk_of_another_sender),
    TEST(broken__a_chunk_that_is_too_short),
    TEST(broken__a_start_behind_the_margin),
    TEST(broken__a_start_far_away),
    TEST(broken__a_start_that_is_not_aligned),
    TEST(broken__a_source_index_out_of_range),
    TEST(broken__the_end_of_no_source_is_nothing),
    TEST(broken__an_id_that_nobody_knows_is_dropped),
    TEST(broken__a_reader_that_says_nonsense),
    TEST(broken__noise_hurts_nobody_else),
    TEST(come_and_go__more_often_than_channels),
    TEST(come_and_go__a_claim_that_never_rang_is_found),
    {0},
};

const struct test_suite sm_channel_suite = {
    .name     = "sm_channel",
    .cases    = channel_cases,
    .setup    = channel_setup,
    .teardown = channel_teardown,
};
