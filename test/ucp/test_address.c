/* SPDX-License-Identifier: BSD-3-Clause */
/* test_address.c - src/ucp/wireup/address.c: round trips, cuts, flips. */
#include "ucp/wireup/address.h"

#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/suites.h"

static size_t address_sample(uint8_t *bytes, size_t size_bytes)
{
    static const uint8_t    entry_bytes[] = {1, 2, 3, 4, 5, 6, 7};
    struct ucp_address_view view          = {
                 .worker_id   = 0x1122334455667788,
                 .secret      = "fifteen letters",
                 .name        = "a worker",
                 .entry_count = 2,
                 .entries     = {{"red", 0, entry_bytes, sizeof(entry_bytes)},
                                 {"green", 3, entry_bytes, 0}},
    };

    return ucp_address_encode(&view, bytes, size_bytes);
}

static void decode__gives_back_what_was_encoded(const struct test_param *param)
{
    uint8_t                 bytes[UCP_ADDRESS_BYTES_MAX];
    char                    reason[UCT_REASON_BYTES_MAX];
    size_t                  length = address_sample(bytes, sizeof(bytes));
    struct ucp_address_view view;

    (void)param;
    ck_assert_uint_gt(length, 0);
    ck_assert_uint_eq(address_sample(NULL, 0), length);
    ck_assert_uint_eq(ucp_address_length(bytes), length);
    ck_assert_int_eq(ucp_address_decode(bytes, length, &view, reason), UCS_OK);
    ck_assert_uint_eq(view.worker_id, 0x1122334455667788);
    ck_assert_str_eq(view.name, "a worker");
    ck_assert_str_eq((const char *)view.secret, "fifteen letters");
    ck_assert_uint_eq(view.entry_count, 2);
    ck_assert_str_eq(view.entries[0].transport, "red");
    ck_assert_uint_eq(view.entries[0].size_bytes, 7);
    ck_assert_uint_eq(view.entries[0].bytes[6], 7);
    ck_assert_uint_eq(view.entries[0].domain, 0);
    ck_assert_str_eq(view.entries[1].transport, "green");
    ck_assert_uint_eq(view.entries[1].domain, 3);
    ck_assert_uint_eq(view.entries[1].size_bytes, 0);
}

static void encode__refuses_what_does_not_fit(const struct test_param *param)
{
    uint8_t bytes[UCP_ADDRESS_BYTES_MAX];
    size_t  length = address_sample(NULL, 0);

    (void)param;
    for (size_t room = 0; room < length; ++room) {
        uint8_t *exact = malloc((room == 0) ? 1 : room);

        ck_assert_uint_eq(address_sample(exact, room), 0);
        free(exact);
    }
    ck_assert_uint_eq(address_sample(bytes, length), length);
}

/* On the heap, so that AddressSanitizer sees a read past the end. */
static ucs_status_t decode_copy(const uint8_t *bytes, size_t length)
{
    char                    reason[UCT_REASON_BYTES_MAX] = "";
    uint8_t                *copy = malloc((length == 0) ? 1 : length);
    struct ucp_address_view view;
    ucs_status_t            status;

    memcpy(copy, bytes, length);
    status = ucp_address_decode(copy, length, &view, reason);
    if ((status != UCS_OK) && (reason[0] == '\0')) {
        ck_abort_msg("refused without a reason");
    }
    free(copy);
    return status;
}

static void decode__refuses_every_cut(const struct test_param *param)
{
    uint8_t bytes[UCP_ADDRESS_BYTES_MAX];
    size_t  length = address_sample(bytes, sizeof(bytes));

    (void)param;
    for (size_t cut = 0; cut < length; ++cut) {
        ck_assert_int_eq(decode_copy(bytes, cut), UCS_ERR_INVALID_ADDR);
    }
}

static void decode__refuses_every_flipped_bit(const struct test_param *param)
{
    uint8_t bytes[UCP_ADDRESS_BYTES_MAX];
    size_t  length = address_sample(bytes, sizeof(bytes));

    (void)param;
    for (size_t bit = 0; bit < 8 * length; ++bit) {
        bytes[bit / 8] ^= (uint8_t)(1 << (bit % 8));
        ck_assert_int_eq(decode_copy(bytes, length), UCS_ERR_INVALID_ADDR);
        bytes[bit / 8] ^= (uint8_t)(1 << (bit % 8));
    }
}

/* A blob of unknown length, as ucp_ep_create() gets it: whatever one bit of it
 * does, nothing behind the blob is read. */
static void
length__of_a_damaged_head_is_not_followed(const struct test_param *param)
{
    uint8_t bytes[UCP_ADDRESS_BYTES_MAX];
    size_t  length = address_sample(bytes, sizeof(bytes));

    (void)param;
    for (size_t bit = 0; bit < 8 * UCP_ADDRESS_HEAD_BYTES; ++bit) {
        bytes[bit / 8] ^= (uint8_t)(1 << (bit % 8));
        ck_assert_uint_eq(ucp_address_length(bytes), UCP_ADDRESS_HEAD_BYTES);
        bytes[bit / 8] ^= (uint8_t)(1 << (bit % 8));
    }
    for (unsigned wrong = 0; wrong <= UINT16_MAX; ++wrong) {
        bytes[4] = (uint8_t)wrong;
        bytes[5] = (uint8_t)(wrong >> 8);
        if ((wrong != length) && ((wrong ^ length) <= UINT8_MAX)) {
            ck_assert_uint_eq(ucp_address_length(bytes),
                              UCP_ADDRESS_HEAD_BYTES);
        }
    }
}

/* Another release: the reason says so, whatever else its blob holds. */
static void decode__names_another_version(const struct test_param *param)
{
    uint8_t                 bytes[UCP_ADDRESS_BYTES_MAX];
    char                    reason[UCT_REASON_BYTES_MAX] = "";
    struct ucp_address_view view;

    (void)param;
    (void)address_sample(bytes, sizeof(bytes));
    bytes[2] += 1;
    ck_assert_int_eq(
        ucp_address_decode(bytes, UCP_ADDRESS_HEAD_BYTES, &view, reason),
        UCS_ERR_INVALID_ADDR);
    ck_assert_ptr_nonnull(strstr(reason, "version 4"));
    ck_assert_ptr_nonnull(strstr(reason, "same release"));
}

static void decode__survives_garbage(const struct test_param *param)
{
    uint8_t bytes[256];

    (void)param;
    for (int round = 0; round < 20000; ++round) {
        size_t length = test_random_below(sizeof(bytes));

        for (size_t i = 0; i < length; ++i) {
            bytes[i] = (uint8_t)test_random();
        }
        bytes[0] = 'C';
        bytes[1] = 'w';
        if (decode_copy(bytes, length) == UCS_OK) {
            ck_abort_msg("garbage of %zu bytes was taken", length);
        }
    }
}

static const struct test_case address_cases[] = {
    TEST(decode__gives_back_what_was_encoded),
    TEST(encode__refuses_what_does_not_fit),
    TEST(decode__refuses_every_cut),
    TEST(decode__refuses_every_flipped_bit),
    TEST(length__of_a_damaged_head_is_not_followed),
    TEST(decode__names_another_version),
    TEST(decode__survives_garbage),
    {0},
};

const struct test_suite address_suite = {.name  = "address",
                                         .cases = address_cases};
