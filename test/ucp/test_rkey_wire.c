/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rkey_wire.c - src/ucp/core/rkey_wire.c: round trips, cuts, flips. */
#include "ucp/core/rkey_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucp/suites.h"
#include "ucs/bytes.h"
#include "ucs/checksum.h"

static const uint8_t key_bytes[UCT_RKEY_BYTES_MAX] = {1, 2, 3, 4, 5};

/* A key with entries of many sizes. */
static struct ucp_rkey_view view_of(unsigned key_count)
{
    static const char *const names[] = {"self", "sm", "a", "",
                                        "thirty-one characters, as many!"};
    struct ucp_rkey_view     view    = {.name      = 0x0123456789abcdefull,
                                        .key_count = key_count};

    for (unsigned i = 0; i < key_count; ++i) {
        snprintf(view.keys[i].transport, UCT_NAME_BYTES_MAX, "%s",
                 names[i % UCS_ARRAY_COUNT(names)]);
        view.keys[i].domain     = (uint8_t)i;
        view.keys[i].bytes      = key_bytes;
        view.keys[i].size_bytes = (i * 7) % 20;
    }
    return view;
}

/* Decode a copy that ends where it ends. */
static ucs_status_t decode(const uint8_t *bytes, size_t size,
                           struct ucp_rkey_view *view)
{
    uint8_t     *copy                         = malloc((size == 0) ? 1 : size);
    char         reason[UCT_REASON_BYTES_MAX] = "";
    ucs_status_t status;

    memcpy(copy, bytes, size);
    status = ucp_rkey_decode(copy, size, view, reason);
    if (status != UCS_OK) {
        ck_assert_int_eq(status, UCS_ERR_INVALID_PARAM);
        ck_assert_uint_gt(strlen(reason), 10);
    }
    free(copy);
    return status;
}

static void rkey_wire__round_trip(const struct test_param *param)
{
    uint8_t bytes[UCP_RKEY_BYTES_MAX];

    (void)param;
    for (unsigned count = 0; count <= 20; ++count) {
        struct ucp_rkey_view view = view_of(count), read;
        char                 reason[UCT_REASON_BYTES_MAX];
        size_t               length = ucp_rkey_encode(&view, bytes);

        ck_assert_uint_eq(ucp_rkey_buffer_length(bytes), length);
        ck_assert_int_eq(ucp_rkey_decode(bytes, length, &read, reason), UCS_OK);
        ck_assert_uint_eq(read.name, view.name);
        ck_assert_uint_eq(read.key_count, count);
        for (unsigned i = 0; i < count; ++i) {
            ck_assert_str_eq(read.keys[i].transport, view.keys[i].transport);
            ck_assert_uint_eq(read.keys[i].domain, i);
            ck_assert_uint_eq(read.keys[i].size_bytes, view.keys[i].size_bytes);
            ck_assert_int_eq(
                memcmp(read.keys[i].bytes, key_bytes, read.keys[i].size_bytes),
                0);
        }
    }
}

/* What does not fit is left out; the rest is whole. */
static void rkey_wire__too_many_keys(const struct test_param *param)
{
    struct ucp_rkey_view view = view_of(UCP_RKEY_KEY_COUNT_MAX), read;
    uint8_t              bytes[UCP_RKEY_BYTES_MAX];
    size_t               length;

    (void)param;
    for (unsigned i = 0; i < view.key_count; ++i) {
        view.keys[i].size_bytes = (i == 3) ? 1 : UCT_RKEY_BYTES_MAX;
    }
    length = ucp_rkey_encode(&view, bytes);
    ck_assert_uint_le(length, UCP_RKEY_BYTES_MAX);
    ck_assert_int_eq(decode(bytes, length, &read), UCS_OK);
    ck_assert_uint_ge(read.key_count, 5);
    ck_assert_uint_lt(read.key_count, 12);
}

static void rkey_wire__cut_anywhere(const struct test_param *param)
{
    struct ucp_rkey_view view = view_of(4), read;
    uint8_t              bytes[UCP_RKEY_BYTES_MAX];
    size_t               length = ucp_rkey_encode(&view, bytes);

    (void)param;
    for (size_t size = 0; size < length; ++size) {
        ck_assert_int_eq(decode(bytes, size, &read), UCS_ERR_INVALID_PARAM);
    }
}

static void rkey_wire__any_bit_flipped(const struct test_param *param)
{
    struct ucp_rkey_view view = view_of(4), read;
    uint8_t              bytes[UCP_RKEY_BYTES_MAX];
    size_t               length = ucp_rkey_encode(&view, bytes);

    (void)param;
    for (size_t bit = 0; bit < 8 * length; ++bit) {
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        ck_assert_int_eq(decode(bytes, length, &read), UCS_ERR_INVALID_PARAM);
        /* A changed head never makes us read further than the head. */
        if (bit < 8 * UCP_RKEY_HEAD_BYTES) {
            ck_assert_uint_eq(ucp_rkey_buffer_length(bytes),
                              UCP_RKEY_HEAD_BYTES);
        }
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    ck_assert_int_eq(decode(bytes, length, &read), UCS_OK);
}

/* Wrong counts and lengths behind right sums. */
static void rkey_wire__lies(const struct test_param *param)
{
    struct ucp_rkey_view view = view_of(3), read;
    uint8_t              bytes[UCP_RKEY_BYTES_MAX];
    size_t               length = ucp_rkey_encode(&view, bytes);

    (void)param;
    for (unsigned at = UCP_RKEY_HEADER_BYTES; at < length - 4; ++at) {
        uint8_t before = bytes[at];

        bytes[at] = 0xff;
        ucs_put_le32(bytes + length - 4, ucs_checksum32(bytes, length - 4));
        /* No crash; and what is accepted lies inside. */
        if (decode(bytes, length, &read) == UCS_OK) {
            ck_assert_uint_le(read.key_count, UCP_RKEY_KEY_COUNT_MAX);
        }
        bytes[at] = before;
    }
}

static const struct test_case rkey_wire_cases[] = {
    TEST(rkey_wire__round_trip),   TEST(rkey_wire__too_many_keys),
    TEST(rkey_wire__cut_anywhere), TEST(rkey_wire__any_bit_flipped),
    TEST(rkey_wire__lies),         {0},
};

const struct test_suite rkey_wire_suite = {.name  = "rkey_wire",
                                           .cases = rkey_wire_cases};
