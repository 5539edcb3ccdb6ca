/* SPDX-License-Identifier: BSD-3-Clause */
/* test_self_iface.c - the bounded queue, the address, sleep. */
#include "uct/self/self.h"

#include <poll.h>

#include "uct/self_stage.h"

static unsigned accepted;

static ucs_status_t send_until_refused(void *arg, struct uct_source *source,
                                       void *data, size_t length,
                                       unsigned flags)
{
    (void)arg;
    (void)source;
    (void)data;
    (void)length;
    (void)flags;
    if (++received > 1) {
        return UCS_OK;
    }
    while (uct_ep_am_short(ep, AM_ID, accepted, NULL, 0, UCT_FLAG_PENDING) ==
           UCS_OK) {
        ++accepted;
        ck_assert_uint_lt(accepted, 10000);
    }
    return UCS_OK;
}

static void queue__is_bounded(const struct test_param *param)
{
    (void)param;
    ucti_iface_set_am(iface, AM_ID, send_until_refused, NULL);
    ck_assert_int_eq(uct_ep_am_short(ep, AM_ID, 1, NULL, 0, 0), UCS_OK);
    ck_assert_uint_eq(accepted, 256); /* UCX_SELF_BUFFER_COUNT */
    ck_assert_int_eq(uct_ep_am_short(ep, AM_ID, 1, NULL, 0, 0),
                     UCS_ERR_WOULD_BLOCK);
    ck_assert_uint_eq(pending_calls, 0);
    ck_assert_uint_eq(uct_iface_progress(iface), SELF_PROGRESS_MAX + 1);
    ck_assert_uint_eq(pending_calls, 1);
    while (uct_iface_progress(iface) != 0) {
    }
    ck_assert_uint_eq(received, 256 + 1);
}

static bool is_readable(void)
{
    struct pollfd fd = {.fd     = iface->transport->event_fd(iface),
                        .events = POLLIN};

    return poll(&fd, 1, 0) == 1;
}

/* Another thread may send while one sleeps, and self hands up inside that
 * call: the sleeper must look. */
static void
arm__wakes_for_what_is_handed_up_meanwhile(const struct test_param *param)
{
    (void)param;
    ucti_iface_set_am(iface, AM_ID, count_message, NULL);
    ck_assert_int_eq(iface->transport->arm(iface), UCS_OK);
    ck_assert(!is_readable());
    ck_assert_int_eq(uct_ep_am_short(ep, AM_ID, 1, NULL, 0, 0), UCS_OK);
    ck_assert_uint_eq(received, 1);
    ck_assert(is_readable());
    ck_assert_int_eq(iface->transport->arm(iface), UCS_OK);
    ck_assert(!is_readable());
}

static void
address__of_another_interface_is_unreachable(const struct test_param *param)
{
    uint8_t bytes[SELF_ADDRESS_BYTES];
    char    reason[UCT_REASON_BYTES_MAX] = "";

    (void)param;
    iface->transport->iface_address(iface, bytes);
    bytes[SELF_ADDRESS_BYTES - 1] ^= 1;
    ck_assert_int_eq(
        iface->transport->iface_reach(iface, bytes, sizeof(bytes), reason),
        UCS_ERR_UNREACHABLE);
    ck_assert_ptr_nonnull(strstr(reason, "only its own"));
    bytes[0] = SELF_ADDRESS_VERSION + 1;
    ck_assert_int_eq(
        iface->transport->iface_reach(iface, bytes, sizeof(bytes), reason),
        UCS_ERR_INVALID_ADDR);
}

static const struct test_case cases[] = {
    TEST(queue__is_bounded),
    TEST(address__of_another_interface_is_unreachable),
    TEST(arm__wakes_for_what_is_handed_up_meanwhile),
    {0}};

const struct test_suite self_iface_suite = {
    .name = "self_iface", .cases = cases, .setup = setup, .teardown = teardown};
