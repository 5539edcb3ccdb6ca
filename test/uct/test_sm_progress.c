/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/test_sm_progress.c - handing up, and what the user keeps. */
#include <string.h>

#include "lib/test.h"
#include "uct/sm_stage.h"
#include "uct/suites.h"

static struct sm_end sender, other, receiver;

static void progress_setup(const struct test_param *param)
{
    (void)param;
    sm_end_open(&receiver, false);
    sm_end_open(&sender, false);
    sm_end_open(&other, false);
    sender.ep = sm_end_connect(&sender, &receiver);
    other.ep  = sm_end_connect(&other, &receiver);
}

static void progress_teardown(const struct test_param *param)
{
    (void)param;
    sm_end_close(&sender);
    sm_end_close(&other);
    sm_end_close(&receiver);
}

static void keep_release_all(void)
{
    while (receiver.kept_count > 0) {
        uct_iface_release(receiver.iface, receiver.kept[--receiver.kept_count]);
    }
}

static void keep__stays_as_it_was(const struct test_param *param)
{
    uint64_t number;

    (void)param;
    for (number = 0; number < 3; ++number) {
        /* At three places in their chunks. */
        ck_assert_int_eq(sm_stage_bcopy(sender.ep, SM_STAGE_AM_KEEP, number,
                                        30000, UCT_FLAG_HEADER(8 * number)),
                         UCS_OK);
    }
    sm_stage_until_received(&receiver, NULL, 3);
    ck_assert_uint_eq(receiver.kept_count, 3);
    for (; number < 500; ++number) {
        sm_stage_send_all(&sender, sender.ep, SM_STAGE_AM, number, 30000);
        (void)uct_iface_progress(receiver.iface);
    }
    sm_stage_until_received(&receiver, NULL, 500);
    for (number = 0; number < 3; ++number) {
        ck_assert(sm_stage_check(receiver.kept[number], 30000));
    }
    keep_release_all();
}

static void keep__short_ones_are_never_kept(const struct test_param *param)
{
    uint64_t number = 0;
    size_t   length;

    (void)param;
    for (length = 8; length < receiver.sm->options.chunk_bytes / 8;
         length += 100) {
        sm_stage_send_all(&sender, sender.ep, SM_STAGE_AM_KEEP, number++,
                          length);
        (void)uct_iface_progress(receiver.iface);
    }
    sm_stage_until_received(&receiver, NULL, number);
    ck_assert_uint_eq(receiver.kept_count, 0);
}

/* However many are kept: both senders and both sizes still get through. */
static void keep__never_stops_the_others(const struct test_param *param)
{
    uint64_t number;

    (void)param;
    for (number = 0; number < 3000; ++number) {
        sm_stage_send_all(&sender, sender.ep, SM_STAGE_AM_KEEP, number, 20000);
        (void)uct_iface_progress(receiver.iface);
    }
    sm_stage_until_received(&receiver, NULL, 3000);
    ck_assert_uint_gt(receiver.kept_count, 0);
    ck_assert_uint_le(receiver.kept_count,
                      receiver.sm->options.chunk_count / 8);
    for (number = 0; number < 1000; ++number) {
        sm_stage_send_all(&other, other.ep, SM_STAGE_AM_KEEP, number,
                          (number % 2) ? 20000 : 8);
        (void)uct_iface_progress(receiver.iface);
    }
    sm_stage_until_received(&receiver, NULL, 4000);
    sm_stage_send_all(&sender, sender.ep, SM_STAGE_AM, 3000, 8);
    sm_stage_until_received(&receiver, NULL, 4001);
    keep_release_all();
    ck_assert_uint_eq(receiver.sm->kept_count, 0);
}

static void keep__a_release_is_room(const struct test_param *param)
{
    uint64_t number = 0;

    (void)param;
    while (receiver.kept_count < receiver.sm->options.chunk_count / 16) {
        sm_stage_send_all(&sender, sender.ep, SM_STAGE_AM_KEEP, number++,
                          20000);
        (void)uct_iface_progress(receiver.iface);
    }
    while (sm_stage_send(sender.ep, SM_STAGE_AM, number, 20000,
                         UCT_FLAG_PENDING) == UCS_OK) {
        ++number;
    }
    sm_stage_progress(&sender, NULL, 100);
    ck_assert_uint_eq(sender.pendings, 0);
    keep_release_all();
    sm_stage_progress(&sender, NULL, 2);
    ck_assert_uint_eq(sender.pendings, 1);
    sm_stage_until_received(&receiver, NULL, number);
}

/* A handler that sends: the answer is visible to the peer at once. */
struct progress_echo {
    struct uct_ep *ep;
    unsigned       count;
};

static ucs_status_t progress_on_echo(void *arg, struct uct_source *source,
                                     void *data, size_t length, unsigned flags)
{
    struct progress_echo *echo = arg;

    (void)source;
    (void)data;
    (void)flags;
    ck_assert_uint_eq(length, 8);
    if (sm_stage_send(echo->ep, SM_STAGE_AM, echo->count, 8, 0) == UCS_OK) {
        ++echo->count;
    }
    return UCS_OK;
}

static void progress__a_handler_may_send(const struct test_param *param)
{
    struct progress_echo echo = {0};
    uint64_t             number;

    (void)param;
    echo.ep = sm_end_connect(&receiver, &sender);
    ucti_iface_set_am(receiver.iface, 9, progress_on_echo, &echo);
    for (number = 0; number < 100; ++number) {
        sm_stage_send_all(&sender, sender.ep, 9, number, 8);
    }
    while (echo.count < 100) {
        (void)uct_iface_progress(receiver.iface);
    }
    sm_stage_until_received(&sender, NULL, 100);
    ucti_ep_destroy(echo.ep);
}

/* A handler that destroys the endpoint over which answers go. */
static ucs_status_t progress_on_destroy(void *arg, struct uct_source *source,
                                        void *data, size_t length,
                                        unsigned flags)
{
    struct progress_echo *echo = arg;

    (void)source;
    (void)data;
    (void)length;
    (void)flags;
    if (echo->ep != NULL) {
        ucti_ep_destroy(echo->ep);
        echo->ep = NULL;
    }
    return UCS_OK;
}

static void progress__a_handler_may_destroy(const struct test_param *param)
{
    struct progress_echo echo = {0};

    (void)param;
    echo.ep = sm_end_connect(&receiver, &sender);
    sm_stage_send_all(&receiver, echo.ep, SM_STAGE_AM, 0, 8);
    ucti_iface_set_am(receiver.iface, 9, progress_on_destroy, &echo);
    sm_stage_send_all(&sender, sender.ep, 9, 0, 8);
    sm_stage_send_all(&sender, sender.ep, 9, 1, 8);
    sm_stage_progress(&receiver, &sender, 1000);
    ck_assert_ptr_null(echo.ep);
    ck_assert_uint_eq(sender.received, 1);
    ck_assert_uint_eq(sender.ended[0], 1);
}

/* ADR 40: what waits after silence comes one, two, four at a time. */
static void progress__begins_with_one(const struct test_param *param)
{
    uint64_t number = 0;
    unsigned burst, index;

    (void)param;
    sm_stage_send_all(&sender, sender.ep, SM_STAGE_AM, number++, 8);
    sm_stage_until_received(&receiver, NULL, number);
    for (burst = 0; burst < 3; ++burst) {
        for (index = 0; index < 10; ++index) {
            ck_assert_int_eq(
                sm_stage_send(sender.ep, SM_STAGE_AM, number++, 8, 0), UCS_OK);
        }
        ck_assert_uint_eq(uct_iface_progress(receiver.iface), 1);
        ck_assert_uint_eq(uct_iface_progress(receiver.iface), 2);
        ck_assert_uint_eq(uct_iface_progress(receiver.iface), 4);
        ck_assert_uint_eq(uct_iface_progress(receiver.iface), 3);
        ck_assert_uint_eq(uct_iface_progress(receiver.iface), 0);
    }
    ck_assert_uint_eq(receiver.received, number);
}

static void progress__counts_what_it_did(const struct test_param *param)
{
    (void)param;
    sm_stage_progress_ms(&receiver, NULL, 20);
    ck_assert_uint_eq(uct_iface_progress(receiver.iface), 0);
    sm_stage_send_all(&sender, sender.ep, SM_STAGE_AM, 0, 8);
    sm_stage_send_all(&other, other.ep, SM_STAGE_AM, 0, 8);
    ck_assert_uint_eq(uct_iface_progress(receiver.iface), 2);
}

static const struct test_case progress_cases[] = {
    TEST(keep__stays_as_it_was),
    TEST(keep__short_ones_are_never_kept),
    TEST(keep__never_stops_the_others),
    TEST(keep__a_release_is_room),
    TEST(progress__a_handler_may_send),
    TEST(progress__a_handler_may_destroy),
    TEST(progress__begins_with_one),
    TEST(progress__counts_what_it_did),
    {0},
};

const struct test_suite sm_progress_suite = {
    .name     = "sm_progress",
    .cases    = progress_cases,
    .setup    = progress_setup,
    .teardown = progress_teardown,
};
