/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/test_sm_send.c - every length, every operation, and refusals. */
#include <sys/syscall.h>

#include "lib/test.h"
#include "uct/sm_stage.h"
#include "uct/suites.h"

static struct sm_end sender, receiver;

static void send_setup(const struct test_param *param)
{
    (void)param;
    sm_end_open(&sender, false);
    sm_end_open(&receiver, false);
    sender.ep = sm_end_connect(&sender, &receiver);
}

static void send_teardown(const struct test_param *param)
{
    (void)param;
    sm_end_close(&sender);
    sm_end_close(&receiver);
}

static void send__every_length_by_short(const struct test_param *param)
{
    uint64_t number = 0;
    size_t   length;

    (void)param;
    for (length = 8; length <= 8 + sender.attr.am.short_bytes_max; ++length) {
        ck_assert_int_eq(
            sm_stage_short(sender.ep, SM_STAGE_AM, number++, length, 0),
            UCS_OK);
        sm_stage_until_received(&receiver, NULL, number);
    }
    ck_assert_int_eq(uct_ep_am_short(sender.ep, SM_STAGE_AM, 0, receiver.kept,
                                     sender.attr.am.short_bytes_max + 1, 0),
                     UCS_ERR_INVALID_PARAM);
}

static void send__lengths_up_to_a_chunk(const struct test_param *param)
{
    uint64_t number = 0;
    size_t   length = 8;

    (void)param;
    while (length <= sender.attr.am.bcopy_bytes_max) {
        ck_assert_int_eq(
            sm_stage_bcopy(sender.ep, SM_STAGE_AM, number++, length, 0),
            UCS_OK);
        ck_assert_int_eq(
            sm_stage_zcopy(sender.ep, SM_STAGE_AM, number++, length, 0),
            UCS_OK);
        sm_stage_until_received(&receiver, NULL, number);
        length += (length < 2100) ? 1 : 997;
    }
    ck_assert_int_eq(sm_stage_bcopy(sender.ep, SM_STAGE_AM, number++,
                                    sender.attr.am.bcopy_bytes_max, 0),
                     UCS_OK);
    sm_stage_until_received(&receiver, NULL, number);
    ck_assert_int_eq(sm_stage_bcopy(sender.ep, SM_STAGE_AM, number,
                                    sender.attr.am.bcopy_bytes_max + 1, 0),
                     UCS_ERR_INVALID_PARAM);
}

/* Empty messages have no number: count them only. */
static ucs_status_t send_on_empty(void *arg, struct uct_source *source,
                                  void *data, size_t length, unsigned flags)
{
    (void)source;
    (void)data;
    (void)flags;
    ck_assert_uint_eq(length, 0);
    ++*(unsigned *)arg;
    return UCS_OK;
}

/* What follows the header begins a line. */
static ucs_status_t send_on_aligned(void *arg, struct uct_source *source,
                                    void *data, size_t length, unsigned flags)
{
    unsigned *header_bytes = arg;

    (void)source;
    (void)flags;
    ck_assert_uint_eq(length, 3000);
    ck_assert_uint_eq((uintptr_t)data % 8, 0);
    ck_assert_uint_eq(((uintptr_t)data + *header_bytes) % UCT_SM_LINE_BYTES, 0);
    *header_bytes = 0;
    return UCS_OK;
}

static size_t send_pack_3000(void *dest, void *arg)
{
    (void)arg;
    memset(dest, 1, 3000);
    return 3000;
}

static void
send__what_follows_a_header_begins_a_line(const struct test_param *param)
{
    uint8_t        bytes[3000] = {0};
    struct uct_iov iov         = {.buffer = bytes};
    unsigned       header_bytes, expected;

    (void)param;
    ucti_iface_set_am(receiver.iface, 9, send_on_aligned, &expected);
    for (header_bytes = 8; header_bytes <= 128; header_bytes += 8) {
        expected = header_bytes;
        ck_assert_int_eq(uct_ep_am_bcopy(sender.ep, 9, send_pack_3000, NULL,
                                         3000, UCT_FLAG_HEADER(header_bytes)),
                         3000);
        sm_stage_progress(&receiver, NULL, 1);
        ck_assert_uint_eq(expected, 0);
        expected   = header_bytes;
        iov.length = sizeof(bytes) - header_bytes;
        ck_assert_int_eq(uct_ep_am_zcopy(sender.ep, 9, bytes, header_bytes,
                                         &iov, 1, NULL, 0),
                         UCS_OK);
        sm_stage_progress(&receiver, NULL, 1);
        ck_assert_uint_eq(expected, 0);
    }
}

static size_t send_pack_nothing(void *dest, void *arg)
{
    (void)dest;
    ++*(unsigned *)arg;
    return 0;
}

static void send__nothing_is_a_message(const struct test_param *param)
{
    unsigned received = 0, packed = 0;

    (void)param;
    ucti_iface_set_am(receiver.iface, 9, send_on_empty, &received);
    ck_assert_int_eq(
        uct_ep_am_bcopy(sender.ep, 9, send_pack_nothing, &packed, 0, 0), 0);
    ck_assert_int_eq(
        uct_ep_am_bcopy(sender.ep, 9, send_pack_nothing, &packed, 30000, 0), 0);
    ck_assert_int_eq(uct_ep_am_zcopy(sender.ep, 9, NULL, 0, NULL, 0, NULL, 0),
                     UCS_OK);
    sm_stage_progress(&receiver, NULL, 10);
    ck_assert_uint_eq(received, 3);
    ck_assert_uint_eq(packed, 2);
}

static void send__refused_packs_nothing(const struct test_param *param)
{
    unsigned packed = 0;
    uint64_t number = 0;

    (void)param;
    while (sm_stage_short(sender.ep, SM_STAGE_AM, number, 8, 0) == UCS_OK) {
        ++number;
    }
    ck_assert_uint_ge(number, 100);
    ck_assert_int_eq(
        uct_ep_am_bcopy(sender.ep, 9, send_pack_nothing, &packed, 0, 0),
        UCS_ERR_WOULD_BLOCK);
    ck_assert_int_eq(
        uct_ep_am_bcopy(sender.ep, 9, send_pack_nothing, &packed, 30000, 0),
        UCS_ERR_WOULD_BLOCK);
    ck_assert_uint_eq(packed, 0);
    sm_stage_until_received(&receiver, NULL, number);
}

static void
send__pending_is_called_when_there_is_room(const struct test_param *param)
{
    uint64_t number = 0;

    (void)param;
    while (sm_stage_short(sender.ep, SM_STAGE_AM, number, 8,
                          UCT_FLAG_PENDING) == UCS_OK) {
        ++number;
    }
    sm_stage_progress(&sender, NULL, 1000);
    ck_assert_uint_eq(sender.pendings, 0);
    sm_stage_until_received(&receiver, NULL, number);
    sm_stage_progress(&sender, NULL, 2);
    ck_assert_uint_eq(sender.pendings, 1);
    sm_stage_progress(&sender, NULL, 1000);
    ck_assert_uint_eq(sender.pendings, 1);
}

static void send__pending_waits_for_a_chunk(const struct test_param *param)
{
    uint64_t number = 0;

    (void)param;
    while (sm_stage_bcopy(sender.ep, SM_STAGE_AM, number, 20000,
                          UCT_FLAG_PENDING) == UCS_OK) {
        ++number;
    }
    ck_assert_uint_lt(number, 64);
    sm_stage_progress(&sender, NULL, 1000);
    ck_assert_uint_eq(sender.pendings, 0);
    sm_stage_until_received(&receiver, NULL, number);
    sm_stage_progress(&sender, NULL, 2);
    ck_assert_uint_eq(sender.pendings, 1);
}

static void send__a_short_message_passes_when_chunks_are_used_up(
    const struct test_param *param)
{
    uint64_t number = 0;

    (void)param;
    while (sm_stage_bcopy(sender.ep, SM_STAGE_AM, number, 20000, 0) == UCS_OK) {
        ++number;
    }
    ck_assert_int_eq(sm_stage_short(sender.ep, SM_STAGE_AM, number++, 8, 0),
                     UCS_OK);
    sm_stage_until_received(&receiver, NULL, number);
}

static void send__flush_needs_nobody(const struct test_param *param)
{
    (void)param;
    ck_assert_int_eq(sm_stage_short(sender.ep, SM_STAGE_AM, 0, 8, 0), UCS_OK);
    ck_assert_int_eq(uct_ep_flush(sender.ep, NULL, 0), UCS_OK);
}

/* Lengths and operations at random, many times the ring and the pool. */
static void send__random_mix_keeps_order(const struct test_param *param)
{
    uint64_t     number = 0;
    ucs_status_t status;
    size_t       length;

    (void)param;
    while (number < 20000) {
        length = 8 + test_random_below((test_random_below(8) == 0)
                                           ? sender.attr.am.bcopy_bytes_max - 7
                                           : 600);
        switch (test_random_below(3)) {
        case 0:
            length = (length > UCT_SM_SHORT_BYTES_MAX) ? 64 : length;
            status = sm_stage_short(sender.ep, SM_STAGE_AM, number, length, 0);
            break;
        case 1:
            status = sm_stage_bcopy(sender.ep, SM_STAGE_AM, number, length, 0);
            break;
        default:
            status = sm_stage_zcopy(sender.ep, SM_STAGE_AM, number, length, 0);
            break;
        }
        if (status == UCS_OK) {
            ++number;
        } else {
            ck_assert_int_eq(status, UCS_ERR_WOULD_BLOCK);
            (void)uct_iface_progress(receiver.iface);
        }
    }
    sm_stage_until_received(&receiver, NULL, number);
}

/* A call fails with a reason, and the endpoint; nobody gets SIGBUS. */
static void send__without_memory_for_a_chunk(const struct test_param *param)
{
    struct sm_end *const both[] = {&sender, &receiver, NULL};

    (void)param;
    sm_stage_send_all(&sender, sender.ep, SM_STAGE_AM, 0, 8);
    sm_stage_until_received(&receiver, NULL, 1);
    if (sender.sm->segment.pool.backed[0] != 0) {
        test_skip("before Linux 5.14");
    }
    sm_stage_forbid(SYS_madvise, SYS_madvise);
    ck_assert_int_eq(sm_stage_bcopy(sender.ep, SM_STAGE_AM, 1, 20000, 0),
                     UCS_ERR_NO_MEMORY);
    sm_stage_until(both, &sender.errors, 1);
    ck_assert_int_eq(sender.error_status, UCS_ERR_NO_MEMORY);
}

static const struct test_case send_cases[] = {
    TEST(send__every_length_by_short),
    TEST(send__lengths_up_to_a_chunk),
    TEST(send__what_follows_a_header_begins_a_line),
    TEST(send__nothing_is_a_message),
    TEST(send__refused_packs_nothing),
    TEST(send__pending_is_called_when_there_is_room),
    TEST(send__pending_waits_for_a_chunk),
    TEST(send__a_short_message_passes_when_chunks_are_used_up),
    TEST(send__flush_needs_nobody),
    TEST(send__random_mix_keeps_order),
    TEST(send__without_memory_for_a_chunk),
    {0},
};

const struct test_suite sm_send_suite = {
    .name     = "sm_send",
    .cases    = send_cases,
    .setup    = send_setup,
    .teardown = send_teardown,
};
