/* SPDX-License-Identifier: BSD-3-Clause */
/* test_self_am.c - sending from handlers, and destroying there. */
#include "uct/self/self.h"

#include "uct/self_stage.h"

static unsigned depth, depth_max;

static void am__is_handed_up_inside_the_call(const struct test_param *param)
{
    (void)param;
    ucti_iface_set_am(iface, AM_ID, count_message, NULL);
    ck_assert_int_eq(uct_ep_am_short(ep, AM_ID, 1, NULL, 0, 0), UCS_OK);
    ck_assert_uint_eq(received, 1);
    ck_assert_uint_eq(uct_iface_progress(iface), 0);
}

static size_t pack_four(void *dest, void *arg)
{
    memcpy(dest, arg, 4);
    return 4;
}

/* What is to come later is handed up by progress, and what handlers answer
 * too: who waits for the first comes there for the second. */
static ucs_status_t answer_once(void *arg, struct uct_source *source,
                                void *data, size_t length, unsigned flags)
{
    char four[] = "four";

    (void)arg;
    (void)source;
    (void)data;
    (void)length;
    (void)flags;
    if (++received == 1) {
        ck_assert_int_eq(uct_ep_am_bcopy(ep, AM_ID, pack_four, four, 4, 0), 4);
    }
    return UCS_OK;
}

static void am__later_with_its_answer(const struct test_param *param)
{
    char four[] = "four";

    (void)param;
    ucti_iface_set_am(iface, AM_ID, answer_once, NULL);
    ck_assert_int_eq(
        uct_ep_am_bcopy(ep, AM_ID, pack_four, four, 4, UCT_FLAG_LATER), 4);
    ck_assert_uint_eq(received, 0);
    ck_assert_uint_eq(uct_iface_progress(iface), 2);
    ck_assert_uint_eq(received, 2);
}

static ucs_status_t send_again(void *arg, struct uct_source *source, void *data,
                               size_t length, unsigned flags)
{
    (void)arg;
    (void)source;
    (void)data;
    (void)length;
    (void)flags;
    ++received;
    depth_max = ucs_max(depth_max, ++depth);
    if (received < 100000) {
        ck_assert_int_eq(uct_ep_am_short(ep, AM_ID, 1, NULL, 0, 0), UCS_OK);
    }
    --depth;
    return UCS_OK;
}

static void
am__a_handler_that_sends_does_not_recurse(const struct test_param *param)
{
    (void)param;
    ucti_iface_set_am(iface, AM_ID, send_again, NULL);
    ck_assert_int_eq(uct_ep_am_short(ep, AM_ID, 1, NULL, 0, 0), UCS_OK);
    while (received < 100000) {
        unsigned left = 100000 - received;

        ck_assert_uint_eq(uct_iface_progress(iface),
                          ucs_min(left, (unsigned)SELF_PROGRESS_MAX));
    }
    ck_assert_uint_eq(depth_max, 1);
}

static ucs_status_t destroy_sender(void *arg, struct uct_source *source,
                                   void *data, size_t length, unsigned flags)
{
    (void)arg;
    (void)source;
    (void)data;
    (void)length;
    (void)flags;
    ++received;
    ucti_ep_destroy(ep);
    ep = NULL;
    return UCS_OK;
}

static void destroy__inside_the_handler(const struct test_param *param)
{
    char four[] = "four";

    (void)param;
    ucti_iface_set_am(iface, AM_ID, destroy_sender, NULL);
    ck_assert_int_eq(uct_ep_am_short(ep, AM_ID, 1, NULL, 0, 0), UCS_OK);
    ck_assert_ptr_null(ep);
    ck_assert_uint_eq(ended, 0);
    ck_assert_uint_eq(uct_iface_progress(iface), 1);
    ck_assert_uint_eq(ended, 1);
    create_ep(&ep);
    ck_assert_int_eq(uct_ep_am_bcopy(ep, AM_ID, pack_four, four, 4, 0), 4);
    ck_assert_ptr_null(ep);
    (void)uct_iface_progress(iface);
    ck_assert_uint_eq(ended, 2);
}

static void
destroy__unused_endpoint_has_no_source(const struct test_param *param)
{
    (void)param;
    ucti_ep_destroy(ep);
    ep = NULL;
    (void)uct_iface_progress(iface);
    ck_assert_uint_eq(ended, 0);
}

static const struct test_case cases[] = {
    TEST(am__is_handed_up_inside_the_call),
    TEST(am__later_with_its_answer),
    TEST(am__a_handler_that_sends_does_not_recurse),
    TEST(destroy__inside_the_handler),
    TEST(destroy__unused_endpoint_has_no_source),
    {0}};

const struct test_suite self_am_suite = {
    .name = "self_am", .cases = cases, .setup = setup, .teardown = teardown};
