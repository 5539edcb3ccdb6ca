/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/test_sm_address.c - bytes out, bytes in, and bytes from anywhere. */
#include "uct/sm/sm_address.h"

#include <string.h>
#include <unistd.h>

#include "lib/test.h"
#include "uct/suites.h"

static struct uct_sm_address address_sample(void)
{
    struct uct_sm_address address = {.flags      = UCT_SM_ADDRESS_PROC,
                                     .segment_id = 0x123456789abcdef0,
                                     .fd         = 17};

    uct_sm_address_self(&address);
    return address;
}

static void address__survives_the_way(const struct test_param *param)
{
    struct uct_sm_address address = address_sample();
    struct uct_sm_address decoded;
    uint8_t               bytes[UCT_SM_ADDRESS_BYTES];

    (void)param;
    uct_sm_address_encode(&address, bytes);
    ck_assert_int_eq(uct_sm_address_decode(bytes, sizeof(bytes), &decoded),
                     UCS_OK);
    ck_assert_uint_eq(decoded.flags, address.flags);
    ck_assert_uint_eq(decoded.host_id, address.host_id);
    ck_assert_uint_eq(decoded.segment_id, address.segment_id);
    ck_assert_uint_eq(decoded.process_start, address.process_start);
    ck_assert_int_eq(decoded.pid, address.pid);
    ck_assert_int_eq(decoded.fd, address.fd);
    ck_assert_uint_eq(decoded.uid, address.uid);
    ck_assert_uint_eq(decoded.pid_namespace, address.pid_namespace);
    ck_assert_uint_eq(decoded.net_namespace, address.net_namespace);
}

static void address__cut_or_long_is_refused(const struct test_param *param)
{
    struct uct_sm_address address = address_sample();
    uint8_t               bytes[UCT_SM_ADDRESS_BYTES + 1];
    struct uct_sm_address decoded;
    size_t                length;

    (void)param;
    uct_sm_address_encode(&address, bytes);
    for (length = 0; length <= sizeof(bytes); ++length) {
        ck_assert_int_eq(
            uct_sm_address_decode(bytes, length, &decoded),
            (length == UCT_SM_ADDRESS_BYTES) ? UCS_OK : UCS_ERR_INVALID_ADDR);
    }
}

static void address__another_version_is_refused(const struct test_param *param)
{
    struct uct_sm_address address = address_sample();
    uint8_t               bytes[UCT_SM_ADDRESS_BYTES];
    struct uct_sm_address decoded;

    (void)param;
    uct_sm_address_encode(&address, bytes);
    ++bytes[0];
    ck_assert_int_eq(uct_sm_address_decode(bytes, sizeof(bytes), &decoded),
                     UCS_ERR_INVALID_ADDR);
}

static void
address__numbers_that_cannot_be_are_refused(const struct test_param *param)
{
    struct uct_sm_address address = address_sample();
    struct uct_sm_address decoded;
    uint8_t               bytes[UCT_SM_ADDRESS_BYTES];

    (void)param;
    address.pid = -1;
    uct_sm_address_encode(&address, bytes);
    ck_assert_int_eq(uct_sm_address_decode(bytes, sizeof(bytes), &decoded),
                     UCS_ERR_INVALID_ADDR);
    address    = address_sample();
    address.fd = -1;
    uct_sm_address_encode(&address, bytes);
    ck_assert_int_eq(uct_sm_address_decode(bytes, sizeof(bytes), &decoded),
                     UCS_ERR_INVALID_ADDR);
}

static void address__self_knows_this_process(const struct test_param *param)
{
    struct uct_sm_address address = address_sample();

    (void)param;
    ck_assert_int_eq(address.pid, getpid());
    ck_assert_uint_ne(address.process_start, 0);
    ck_assert_uint_ne(address.pid_namespace, 0);
    ck_assert_uint_eq(address.process_start, uct_sm_process_start(getpid()));
    ck_assert_uint_ne(address.process_start, uct_sm_process_start(1));
    ck_assert_uint_eq(uct_sm_process_start(INT32_MAX), 0);
}

static const struct test_case address_cases[] = {
    TEST(address__survives_the_way),
    TEST(address__cut_or_long_is_refused),
    TEST(address__another_version_is_refused),
    TEST(address__numbers_that_cannot_be_are_refused),
    TEST(address__self_knows_this_process),
    {0},
};

const struct test_suite sm_address_suite = {
    .name  = "sm_address",
    .cases = address_cases,
};
