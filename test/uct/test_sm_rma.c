/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sm_rma.c - put and get between processes: lengths around a piece,
 * order, keys that are not right, ends in the middle. */
#include "uct/sm/sm_rma.h"

#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "uct/sm/sm_key.h"
#include "uct/sm_region.h"
#include "uct/suites.h"

/* ---- lengths ---- */

/* The target does nothing for it: it waits in read(). */
static void get__lengths_around_a_piece(const struct test_param *param)
{
    static const size_t lengths[] = {
        0, 1, 8, 4096, 8191, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 17};
    uint8_t           *expected = malloc(REGION_BYTES);
    struct region_pair pair;
    ucs_status_t       status;
    unsigned           index;

    (void)param;
    region_pair_open(&pair, false);
    sm_stage_fill(expected, REGION_BYTES, 1);
    for (index = 0; index < UCS_ARRAY_COUNT(lengths); ++index) {
        memset(pair.local, 0xee, REGION_BYTES);
        region_done.count = 0;
        status = region_pair_get(&pair, 64, lengths[index], region_track(0));
        ck_assert_int_eq(status,
                         (lengths[index] > PIECE) ? UCS_INPROGRESS : UCS_OK);
        if (status == UCS_INPROGRESS) {
            ck_assert_uint_eq(region_done.count, 0);
            region_until_done(&pair, 1);
            ck_assert_int_eq(region_done.status[0], UCS_OK);
        }
        ck_assert_mem_eq(pair.local + 64, expected + 64, lengths[index]);
        ck_assert_uint_eq(pair.local[63], 0xee);
        ck_assert_uint_eq(pair.local[64 + lengths[index]], 0xee);
    }
    free(expected);
    region_pair_close(&pair);
}

/* All of it, in pieces of odd lengths, by all ways. */
static void put__everything_by_all_ways(const struct test_param *param)
{
    struct uct_iov     iov[UCT_SM_RMA_IOV_COUNT_MAX];
    size_t             offset = UCT_SM_RMA_SHORT_BYTES_MAX;
    struct uct_remote  remote = {0};
    struct uct_rma     rma    = {iov, &remote, UCT_SM_RMA_IOV_COUNT_MAX, 1};
    struct region_pair pair;
    unsigned           index;

    (void)param;
    region_pair_open(&pair, false);
    sm_stage_fill(pair.local, REGION_BYTES, 2);
    ck_assert_int_eq(uct_sm_put_short(pair.end.ep, pair.local, offset,
                                      pair.region.address, pair.rkey, 0),
                     UCS_OK);
    for (index = 0; index < UCT_SM_RMA_IOV_COUNT_MAX; ++index) {
        size_t length = (index % 5 == 4) ? 0 : 1 + 4099 * (index % 7);

        iov[index] = (struct uct_iov){(length > 0) ? pair.local + offset : NULL,
                                      length, NULL};
        offset += length;
    }
    remote.address = pair.region.address + UCT_SM_RMA_SHORT_BYTES_MAX;
    remote.length  = offset - UCT_SM_RMA_SHORT_BYTES_MAX;
    remote.rkey    = pair.rkey;
    ck_assert_int_eq(uct_sm_put_zcopy(pair.end.ep, &rma, region_track(0), 0),
                     UCS_INPROGRESS);
    iov[0] = (struct uct_iov){pair.local + offset, REGION_BYTES - offset, NULL};
    remote.address = pair.region.address + offset;
    remote.length  = REGION_BYTES - offset;
    rma.iov_count  = 1;
    ck_assert_int_eq(uct_sm_put_zcopy(pair.end.ep, &rma, region_track(1), 0),
                     UCS_INPROGRESS);
    memset(iov, 0, sizeof(iov)); /* borrowed for the call */
    memset(&remote, 0, sizeof(remote));
    ck_assert_int_eq(uct_ep_flush(pair.end.ep, region_track(2), 0),
                     UCS_INPROGRESS);
    region_until_done(&pair, 3);
    for (index = 0; index < 3; ++index) {
        ck_assert_uint_eq(region_done.number[index], index);
        ck_assert_int_eq(region_done.status[index], UCS_OK);
    }
    ck_assert_int_eq(uct_ep_flush(pair.end.ep, region_track(2), 0), UCS_OK);
    region_tell(&pair, 'c');
    region_pair_close(&pair);
}

/* ---- order and turns ---- */

static void progress__one_piece_a_call(const struct test_param *param)
{
    struct region_pair pair;
    unsigned           calls = 0;

    (void)param;
    region_pair_open(&pair, false);
    ck_assert_int_eq(region_pair_get(&pair, 0, REGION_BYTES, region_track(0)),
                     UCS_INPROGRESS);
    while (region_done.count == 0) {
        (void)uct_iface_progress(pair.end.iface);
        ++calls;
        ck_assert_uint_lt(calls, 1000);
    }
    /* One inside the call of get. */
    ck_assert_uint_eq(calls, REGION_BYTES / PIECE - 1);
    region_pair_close(&pair);
}

static void order__short_ones_wait_for_long_ones(const struct test_param *param)
{
    struct region_pair pair;
    unsigned           index;

    (void)param;
    region_pair_open(&pair, false);
    ck_assert_int_eq(region_pair_get(&pair, 0, 2 * PIECE, region_track(0)),
                     UCS_INPROGRESS);
    ck_assert_int_eq(region_pair_get(&pair, 2 * PIECE, 8, region_track(1)),
                     UCS_INPROGRESS);
    ck_assert_int_eq(region_pair_get(&pair, 3 * PIECE, 3 * PIECE, NULL),
                     UCS_INPROGRESS);
    ck_assert_int_eq(uct_ep_flush(pair.end.ep, region_track(2), 0),
                     UCS_INPROGRESS);
    region_until_done(&pair, 3);
    for (index = 0; index < 3; ++index) {
        ck_assert_uint_eq(region_done.number[index], index);
    }
    ck_assert_int_eq(region_pair_get(&pair, 0, 8, region_track(3)), UCS_OK);
    ck_assert_uint_eq(region_done.count, 3);
    region_pair_close(&pair);
}

static void turns__endpoints_share_progress(const struct test_param *param)
{
    struct region_pair pair;
    struct uct_ep     *first, *second;

    (void)param;
    region_pair_open(&pair, false);
    first  = pair.end.ep;
    second = sm_end_connect_bytes(&pair.end, pair.process.address);
    ck_assert_int_eq(region_pair_get(&pair, 0, REGION_BYTES, region_track(0)),
                     UCS_INPROGRESS);
    pair.end.ep = second;
    ck_assert_int_eq(region_pair_get(&pair, 0, 2 * PIECE, region_track(1)),
                     UCS_INPROGRESS);
    pair.end.ep = first;
    region_until_done(&pair, 2);
    ck_assert_uint_eq(region_done.number[0], 1);
    ck_assert_uint_eq(region_done.number[1], 0);
    ucti_ep_destroy(second);
    region_pair_close(&pair);
}

static void
refuse__when_too_many_are_in_progress(const struct test_param *param)
{
    struct uct_iov       iov;
    struct uct_remote    remote;
    const struct uct_rma rma = {&iov, &remote, 1, 1};
    struct region_pair   pair;
    unsigned             count = 0;
    ucs_status_t         status;

    (void)param;
    region_pair_open(&pair, false);
    iov    = (struct uct_iov){pair.local, 2 * PIECE, NULL};
    remote = (struct uct_remote){pair.region.address, 2 * PIECE, pair.rkey};
    for (;;) {
        status = uct_sm_get_zcopy(pair.end.ep, &rma, region_track(count),
                                  UCT_FLAG_PENDING);
        if (status != UCS_INPROGRESS) {
            break;
        }
        iov.length = remote.length = 8; /* those behind it are short */
        ++count;
    }
    ck_assert_int_eq(status, UCS_ERR_WOULD_BLOCK);
    ck_assert_uint_eq(count, UCT_SM_COPY_COUNT_MAX);
    ck_assert_uint_eq(pair.end.pendings, 0);
    region_until_done(&pair, count);
    sm_stage_progress(&pair.end, NULL, 2);
    ck_assert_uint_eq(pair.end.pendings, 1);
    region_pair_close(&pair);
}

static void arm__is_busy_while_pieces_are_left(const struct test_param *param)
{
    struct region_pair pair;

    (void)param;
    region_pair_open(&pair, true);
    ck_assert_int_eq(region_pair_get(&pair, 0, 2 * PIECE, region_track(0)),
                     UCS_INPROGRESS);
    sm_stage_progress(&pair.end, NULL, 0);
    ck_assert_int_eq(uct_sm_arm(pair.end.iface), UCS_ERR_BUSY);
    region_until_done(&pair, 1);
    region_pair_close(&pair);
}

/* ---- keys ---- */

static void key__bounds_and_strangers(const struct test_param *param)
{
    uint8_t            bytes[UCT_SM_KEY_BYTES], byte = 0;
    struct uct_sm_key  key;
    struct uct_rkey   *forged;
    struct uct_mem    *mem;
    struct region_pair pair;

    (void)param;
    region_pair_open(&pair, false);
    ck_assert_int_eq(region_pair_get(&pair, REGION_BYTES - 8, 8, NULL), UCS_OK);
    ck_assert_int_eq(region_pair_get(&pair, REGION_BYTES - 7, 8, NULL),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(region_pair_get(&pair, (size_t)-1, 1, NULL),
                     UCS_ERR_INVALID_ADDR);
    /* Ours opens nothing there, whatever lies at that address. */
    ck_assert_int_eq(
        uct_sm_mem_register(pair.end.md, &byte, 1, UCT_ACCESS_ALL, &mem),
        UCS_OK);
    (void)uct_sm_rkey_pack(mem, bytes);
    ck_assert_int_eq(
        uct_sm_rkey_unpack(pair.end.md, bytes, UCT_SM_KEY_BYTES, &forged),
        UCS_OK);
    ck_assert_int_eq(
        uct_sm_put_short(pair.end.ep, &byte, 1, (uintptr_t)&byte, forged, 0),
        UCS_ERR_INVALID_ADDR);
    uct_sm_rkey_release(forged);
    uct_sm_mem_release(mem);
    /* One that had the same number before. */
    ck_assert_int_eq(
        uct_sm_key_decode(pair.region.bytes, UCT_SM_KEY_BYTES, &key), UCS_OK);
    --key.process_start;
    uct_sm_key_encode(&key, bytes);
    ck_assert_int_eq(
        uct_sm_rkey_unpack(pair.end.md, bytes, UCT_SM_KEY_BYTES, &forged),
        UCS_OK);
    ck_assert_int_eq(
        uct_sm_put_short(pair.end.ep, &byte, 1, pair.region.address, forged, 0),
        UCS_ERR_INVALID_ADDR);
    uct_sm_rkey_release(forged);
    ck_assert_int_eq(pair.end.ep->failed, UCS_OK);
    region_pair_close(&pair);
}

static void fault__unmapped_memory_is_an_answer(const struct test_param *param)
{
    struct region_pair pair;

    (void)param;
    region_pair_open(&pair, false);
    region_tell(&pair, 'u');
    ck_assert_int_eq(region_pair_get(&pair, REGION_BYTES / 2 - 8, 16, NULL),
                     UCS_ERR_INVALID_ADDR);
    /* In the middle: the pieces before it come. */
    ck_assert_int_eq(region_pair_get(&pair, 0, REGION_BYTES, region_track(0)),
                     UCS_INPROGRESS);
    ck_assert_int_eq(region_pair_get(&pair, 0, 8, region_track(1)),
                     UCS_INPROGRESS);
    region_until_done(&pair, 2);
    ck_assert_int_eq(region_done.status[0], UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(region_done.status[1], UCS_OK);
    ck_assert(pair.local[REGION_BYTES / 2 - 1] != 0);
    ck_assert_int_eq(pair.end.ep->failed, UCS_OK);
    region_pair_close(&pair);
}

/* ---- ends ---- */

static void destroy__cancels_what_is_in_progress(const struct test_param *param)
{
    struct region_pair pair;
    unsigned           index;

    (void)param;
    region_pair_open(&pair, false);
    for (index = 0; index < 3; ++index) {
        ck_assert_int_eq(
            region_pair_get(&pair, 0, REGION_BYTES, region_track(index)),
            UCS_INPROGRESS);
    }
    (void)uct_iface_progress(pair.end.iface);
    ucti_ep_destroy(pair.end.ep);
    pair.end.ep = NULL;
    ck_assert_uint_eq(region_done.count, 3);
    for (index = 0; index < 3; ++index) {
        ck_assert_uint_eq(region_done.number[index], index);
        ck_assert_int_eq(region_done.status[index], UCS_ERR_CANCELED);
    }
    sm_stage_progress(&pair.end, NULL, 10);
    ck_assert_uint_eq(pair.end.sm->copies.count, 0);
    region_pair_close(&pair);
}

static void killed__in_the_middle(const struct test_param *param)
{
    struct region_pair pair;
    unsigned           index;

    (void)param;
    region_pair_open(&pair, false);
    ck_assert_int_eq(region_pair_get(&pair, 0, REGION_BYTES, region_track(0)),
                     UCS_INPROGRESS);
    ck_assert_int_eq(region_pair_get(&pair, 0, 8, region_track(1)),
                     UCS_INPROGRESS);
    (void)uct_iface_progress(pair.end.iface);
    sm_process_kill(&pair.process);
    region_until_done(&pair, 2);
    for (index = 0; index < 2; ++index) {
        ck_assert_int_eq(region_done.status[index], UCS_ERR_CONNECTION_RESET);
    }
    sm_stage_progress_ms(&pair.end, NULL, 30);
    ck_assert_uint_eq(pair.end.errors, 1);
    ck_assert_int_eq(pair.end.error_status, UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(region_pair_get(&pair, 0, 8, NULL),
                     UCS_ERR_CONNECTION_RESET);
    region_pair_free(&pair);
}

/* Nobody has noticed yet: the operation itself does. */
static void killed__the_next_operation_says_so(const struct test_param *param)
{
    struct region_pair pair;

    (void)param;
    region_pair_open(&pair, false);
    ck_assert_int_eq(region_pair_get(&pair, 0, 8, NULL), UCS_OK);
    sm_process_kill(&pair.process);
    ck_assert_int_eq(region_pair_get(&pair, 0, 8, NULL),
                     UCS_ERR_CONNECTION_RESET);
    sm_stage_progress_ms(&pair.end, NULL, 30);
    ck_assert_uint_eq(pair.end.errors, 1);
    region_pair_free(&pair);
}

static void left__in_order_in_the_middle(const struct test_param *param)
{
    struct region_pair pair;

    (void)param;
    region_pair_open(&pair, false);
    ck_assert_int_eq(region_pair_get(&pair, 0, REGION_BYTES, region_track(0)),
                     UCS_INPROGRESS);
    region_tell(&pair, 'l');
    region_until_done(&pair, 1);
    ck_assert_int_eq(region_done.status[0], UCS_ERR_CONNECTION_RESET);
    ck_assert_uint_eq(pair.end.errors, 0);
    sm_step_tell(pair.process.to_fd);
    sm_process_join(&pair.process);
    region_pair_free(&pair);
}

/* The number of the process is another one's now: nothing may be written. */
static void confirm__another_process_is_not_touched(const struct test_param *p)
{
    struct region_pair  pair;
    struct uct_sm_peer *peer;
    uint8_t             before[64];
    int32_t             pid;

    (void)p;
    region_pair_open(&pair, false);
    ck_assert_int_eq(region_pair_get(&pair, 0, 64, NULL), UCS_OK);
    memcpy(before, pair.local, sizeof(before));
    peer = ucs_container_of(pair.end.ep, struct uct_sm_ep, base)->peer;
    pid  = peer->address.pid;
    /* As if we had become it: our memory has no such segment. */
    peer->confirmed_ns    = 0;
    peer->segment_address = (uintptr_t)pair.local;
    memset(pair.local, 0x77, sizeof(before));
    ck_assert_int_eq(uct_sm_put_short(pair.end.ep, pair.local, 64,
                                      pair.region.address, pair.rkey, 0),
                     UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(peer->address.pid, pid);
    sm_stage_progress_ms(&pair.end, NULL, 30);
    ck_assert_uint_eq(pair.end.errors, 1);
    region_pair_close(&pair);
}

static const struct test_case cases[] = {
    TEST(get__lengths_around_a_piece),
    TEST(put__everything_by_all_ways),
    TEST(progress__one_piece_a_call),
    TEST(order__short_ones_wait_for_long_ones),
    TEST(turns__endpoints_share_progress),
    TEST(refuse__when_too_many_are_in_progress),
    TEST(arm__is_busy_while_pieces_are_left),
    TEST(key__bounds_and_strangers),
    TEST(fault__unmapped_memory_is_an_answer),
    TEST(destroy__cancels_what_is_in_progress),
    TEST(killed__in_the_middle),
    TEST(killed__the_next_operation_says_so),
    TEST(left__in_order_in_the_middle),
    TEST(confirm__another_process_is_not_touched),
    {0}};

const struct test_suite sm_rma_suite = {.name = "sm_rma", .cases = cases};
