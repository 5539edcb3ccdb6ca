/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/test_sm_peer.c - what endpoints to one peer share, and callbacks
 * that pull the rug away. */
#include <string.h>

#include "lib/test.h"
#include "uct/sm_stage.h"
#include "uct/suites.h"

enum { PEER_EP_COUNT = 20 };

static struct sm_end        a, b;
static struct sm_end *const only_a[] = {&a, NULL};
static struct uct_ep       *eps[PEER_EP_COUNT];
static unsigned             peer_errors;

static void peer_setup(const struct test_param *param)
{
    (void)param;
    sm_end_open(&a, false);
    sm_end_open(&b, false);
    memset(eps, 0, sizeof(eps));
    peer_errors = 0;
}

static void peer_teardown(const struct test_param *param)
{
    (void)param;
    sm_end_close(&a);
    sm_end_close(&b);
}

static struct uct_sm_peer *peer_of(const struct uct_ep *ep)
{
    return ucs_container_of(ep, struct uct_sm_ep, base)->peer;
}

static void peer__endpoints_share_one_channel(const struct test_param *param)
{
    unsigned index;

    (void)param;
    for (index = 0; index < PEER_EP_COUNT; ++index) {
        eps[index] = sm_end_connect(&a, &b);
        sm_stage_send_all(&a, eps[index], SM_STAGE_AM, 0, 8);
        ck_assert_ptr_eq(peer_of(eps[index]), peer_of(eps[0]));
    }
    sm_stage_until_received(&b, NULL, PEER_EP_COUNT);
    ck_assert_uint_eq(b.sm->channel_count, 1);
    ck_assert_uint_eq(b.sm->channels[0]->source_room, 32);
    for (index = 0; index < PEER_EP_COUNT; ++index) {
        ucti_ep_destroy(eps[index]);
    }
    /* The last one gone: the channel is given back. */
    sm_stage_progress_ms(&a, &b, 40);
    ck_assert_uint_eq(b.sm->channel_count, 0);
    ck_assert_uint_eq(b.ended[0], PEER_EP_COUNT);
}

static void
peer__two_interfaces_have_two_channels(const struct test_param *param)
{
    struct sm_end c;

    (void)param;
    sm_end_open(&c, false);
    a.ep = sm_end_connect(&a, &b);
    c.ep = sm_end_connect(&c, &b);
    sm_stage_send_all(&a, a.ep, SM_STAGE_AM, 0, 8);
    sm_stage_send_all(&c, c.ep, SM_STAGE_AM, 0, 8);
    sm_stage_until_received(&b, NULL, 2);
    ck_assert_uint_eq(b.sm->channel_count, 2);
    sm_end_close(&c);
}

/* The first that is told destroys all, itself included. */
static void peer_on_error_destroy(struct uct_ep *ep, ucs_status_t status)
{
    unsigned index;

    (void)ep;
    ck_assert_int_eq(status, UCS_ERR_IO_ERROR);
    ++peer_errors;
    for (index = 0; index < PEER_EP_COUNT; ++index) {
        if (eps[index] != NULL) {
            ucti_ep_destroy(eps[index]);
            eps[index] = NULL;
        }
    }
}

static void peer_connect_all(uct_error_fn error)
{
    uint8_t              address[UCT_ADDRESS_BYTES_MAX];
    struct uct_ep_params params = {.address       = address,
                                   .address_bytes = UCT_SM_ADDRESS_BYTES,
                                   .error         = error};
    unsigned             index;

    uct_sm_transport.iface_address(b.iface, address);
    for (index = 0; index < PEER_EP_COUNT; ++index) {
        ck_assert_int_eq(ucti_ep_create(a.iface, &params, &eps[index]), UCS_OK);
        sm_stage_send_all(&a, eps[index], SM_STAGE_AM, 0, 8);
    }
}

static void
peer__an_error_callback_may_destroy_all(const struct test_param *param)
{
    (void)param;
    peer_connect_all(peer_on_error_destroy);
    uct_sm_peer_break(peer_of(eps[0]), UCS_ERR_IO_ERROR);
    sm_stage_until(only_a, &peer_errors, 1);
    sm_stage_progress_ms(&a, NULL, 30);
    ck_assert_uint_eq(peer_errors, 1);
    ck_assert_uint_eq(a.iface->ep_count, 0);
}

/* Each destroys another one, and makes a new one. */
static void peer_on_error_replace(struct uct_ep *ep, ucs_status_t status)
{
    unsigned index;

    (void)status;
    ++peer_errors;
    for (index = 0; (index < PEER_EP_COUNT) &&
                    ((eps[index] == ep) || (eps[index] == NULL));
         ++index) {
    }
    if (index < PEER_EP_COUNT) {
        ucti_ep_destroy(eps[index]);
        eps[index] = NULL;
    }
    if (a.ep == NULL) {
        a.ep = sm_end_connect(&a, &a);
    }
}

static void
peer__an_error_callback_may_destroy_others(const struct test_param *param)
{
    unsigned index;

    (void)param;
    peer_connect_all(peer_on_error_replace);
    uct_sm_peer_break(peer_of(eps[0]), UCS_ERR_IO_ERROR);
    sm_stage_until(only_a, &peer_errors, 2);
    sm_stage_progress_ms(&a, NULL, 30);
    for (index = 0; index < PEER_EP_COUNT; ++index) {
        if (eps[index] != NULL) {
            ck_assert_int_eq(sm_stage_send(eps[index], SM_STAGE_AM, 1, 8, 0),
                             UCS_ERR_IO_ERROR);
            ucti_ep_destroy(eps[index]);
        }
    }
    ck_assert_ptr_nonnull(a.ep);
    sm_stage_send_all(&a, a.ep, SM_STAGE_AM, 0, 8);
    sm_stage_until_received(&a, NULL, 1);
}

static void peer__one_that_left_is_not_an_error(const struct test_param *param)
{
    (void)param;
    a.ep = sm_end_connect(&a, &b);
    sm_stage_send_all(&a, a.ep, SM_STAGE_AM, 0, 8);
    sm_end_close(&b);
    sm_stage_progress_ms(&a, NULL, 40);
    ck_assert_uint_eq(a.errors, 0);
    ck_assert_int_eq(sm_stage_send(a.ep, SM_STAGE_AM, 1, 8, 0),
                     UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(uct_ep_flush(a.ep, NULL, 0), UCS_ERR_CONNECTION_RESET);
    sm_end_open(&b, false);
}

static void
peer__one_that_left_serves_those_that_wait(const struct test_param *param)
{
    uint64_t number = 0;

    (void)param;
    a.ep = sm_end_connect(&a, &b);
    while (sm_stage_send(a.ep, SM_STAGE_AM, number, 8, UCT_FLAG_PENDING) ==
           UCS_OK) {
        ++number;
    }
    sm_end_close(&b);
    sm_stage_until(only_a, &a.pendings, 1);
    ck_assert_int_eq(sm_stage_send(a.ep, SM_STAGE_AM, number, 8, 0),
                     UCS_ERR_CONNECTION_RESET);
    sm_end_open(&b, false);
}

static const struct test_case peer_cases[] = {
    TEST(peer__endpoints_share_one_channel),
    TEST(peer__two_interfaces_have_two_channels),
    TEST(peer__an_error_callback_may_destroy_all),
    TEST(peer__an_error_callback_may_destroy_others),
    TEST(peer__one_that_left_is_not_an_error),
    TEST(peer__one_that_left_serves_those_that_wait),
    {0},
};

const struct test_suite sm_peer_suite = {
    .name     = "sm_peer",
    .cases    = peer_cases,
    .setup    = peer_setup,
    .teardown = peer_teardown,
};
