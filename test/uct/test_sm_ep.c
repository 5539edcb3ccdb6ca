/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/test_sm_ep.c - birth, cost and end of endpoints. */
#include <malloc.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "uct/sm_stage.h"
#include "uct/suites.h"

static struct sm_end        a, b;
static struct sm_end *const both[] = {&a, &b, NULL};

static void ep_setup(const struct test_param *param)
{
    (void)param;
    sm_end_open(&a, false);
    sm_end_open(&b, false);
}

static void ep_teardown(const struct test_param *param)
{
    (void)param;
    sm_end_close(&a);
    sm_end_close(&b);
}

static void ep__unused_costs_no_shared_memory(const struct test_param *param)
{
    (void)param;
    a.ep = sm_end_connect(&a, &b);
    sm_stage_progress_ms(&a, &b, 30);
    ck_assert_uint_eq(atomic_load(&b.sm->segment.header->claim_count), 0);
    ucti_ep_destroy(a.ep);
    a.ep = NULL;
    sm_stage_progress_ms(&a, &b, 30);
    ck_assert_uint_eq(atomic_load(&b.sm->segment.header->claim_count), 0);
    ck_assert_uint_eq(b.ended[0] + b.ended[1], 0);
}

static void ep__many_to_one_peer_are_cheap(const struct test_param *param)
{
    struct uct_ep *eps[SM_STAGE_EP_MAX];
    size_t         before, after;
    unsigned       index;

    (void)param;
    a.ep = sm_end_connect(&a, &b);
    sm_stage_send_all(&a, a.ep, SM_STAGE_AM, 0, 8);
    before = mallinfo2().uordblks;
    for (index = 0; index < SM_STAGE_EP_MAX; ++index) {
        eps[index] = sm_end_connect(&a, &b);
    }
    for (index = 0; index < SM_STAGE_EP_MAX; ++index) {
        sm_stage_send_all(&a, eps[index], SM_STAGE_AM, 0, 8);
        (void)uct_iface_progress(b.iface);
    }
    after = mallinfo2().uordblks;
    sm_stage_until_received(&b, &a, 1 + SM_STAGE_EP_MAX);
    ck_assert_uint_eq(b.sm->channel_count, 1);
    /* The sources of b are counted too. mallinfo is 0 under sanitizers. */
    ck_assert_uint_le((after - before) / SM_STAGE_EP_MAX, 300);
    for (index = 0; index < SM_STAGE_EP_MAX; ++index) {
        ucti_ep_destroy(eps[index]);
        (void)uct_iface_progress(b.iface);
    }
    sm_stage_until(both, &b.ended[0], SM_STAGE_EP_MAX);
    ck_assert_uint_eq(b.ended[1], 0);
}

static void ep__each_is_a_source_of_its_own(const struct test_param *param)
{
    struct uct_ep *other = NULL;
    unsigned       index;

    (void)param;
    a.ep  = sm_end_connect(&a, &b);
    other = sm_end_connect(&a, &b);
    /* Each source expects its own numbers from 0. */
    for (index = 0; index < 10; ++index) {
        sm_stage_send_all(&a, a.ep, SM_STAGE_AM, index, 8);
        sm_stage_send_all(&a, other, SM_STAGE_AM, index, 8);
    }
    sm_stage_until_received(&b, &a, 20);
    ucti_ep_destroy(other);
    sm_stage_until(both, &b.ended[0], 1);
    sm_stage_send_all(&a, a.ep, SM_STAGE_AM, 10, 8);
    sm_stage_until_received(&b, &a, 21);
}

static void ep__its_number_is_used_again(const struct test_param *param)
{
    struct uct_ep *ep;
    unsigned       index;

    (void)param;
    a.ep = sm_end_connect(&a, &b);
    sm_stage_send_all(&a, a.ep, SM_STAGE_AM, 0, 8);
    for (index = 0; index < 1000; ++index) {
        ep = sm_end_connect(&a, &b);
        sm_stage_send_all(&a, ep, SM_STAGE_AM, 0, 8);
        ucti_ep_destroy(ep);
        (void)uct_iface_progress(b.iface);
    }
    sm_stage_until(both, &b.ended[0], 1000);
    ck_assert_uint_le(
        a.sm->peers[b.sm->address.segment_id % 256].next ==
                &a.sm->peers[b.sm->address.segment_id % 256]
            ? 0
            : ucs_list_first(&a.sm->peers[b.sm->address.segment_id % 256],
                             struct uct_sm_peer, link)
                  ->index_count,
        2);
}

static void
ep__its_end_comes_behind_its_messages(const struct test_param *param)
{
    uint64_t number = 0;

    (void)param;
    a.ep = sm_end_connect(&a, &b);
    /* The ring is full: the end has to wait for room. */
    while (sm_stage_send(a.ep, SM_STAGE_AM, number, 8, 0) == UCS_OK) {
        ++number;
    }
    ucti_ep_destroy(a.ep);
    a.ep = NULL;
    ck_assert_uint_eq(a.sm->closing_count, 1);
    sm_stage_until(both, &b.ended[0], 1);
    ck_assert_uint_eq(b.received, number);
    ck_assert_uint_eq(a.sm->closing_count, 0);
}

static void ep__close_needs_no_help(const struct test_param *param)
{
    uint64_t number = 0;

    (void)param;
    a.ep = sm_end_connect(&a, &b);
    while (sm_stage_send(a.ep, SM_STAGE_AM, number, 8, 0) == UCS_OK) {
        ++number;
    }
    /* The whole interface leaves, b has not looked yet. */
    sm_end_close(&a);
    while (b.ended[0] == 0) {
        (void)uct_iface_progress(b.iface);
    }
    ck_assert_uint_eq(b.received, number);
    ck_assert_uint_eq(b.ended[1], 0);
    sm_end_open(&a, false);
}

static void ep__to_the_own_interface(const struct test_param *param)
{
    uint64_t number;

    (void)param;
    a.ep = sm_end_connect(&a, &a);
    for (number = 0; number < 1000; ++number) {
        sm_stage_send_all(&a, a.ep, SM_STAGE_AM, number, 8 + number * 20);
    }
    sm_stage_until_received(&a, NULL, 1000);
}

static void ep__a_bad_address_is_refused(const struct test_param *param)
{
    uint8_t              address[UCT_ADDRESS_BYTES_MAX];
    struct uct_ep_params params = {.address       = address,
                                   .address_bytes = UCT_SM_ADDRESS_BYTES};
    struct uct_ep       *ep;

    (void)param;
    uct_sm_transport.iface_address(b.iface, address);
    params.address_bytes = UCT_SM_ADDRESS_BYTES - 1;
    ck_assert_int_eq(ucti_ep_create(a.iface, &params, &ep),
                     UCS_ERR_INVALID_ADDR);
    params.address_bytes = UCT_SM_ADDRESS_BYTES;
    address[5] ^= 1; /* the host */
    ck_assert_int_eq(ucti_ep_create(a.iface, &params, &ep),
                     UCS_ERR_UNREACHABLE);
}

/* A child that ends in order, destructors and all, disturbs nobody. */
static void ep__a_forked_child_disturbs_nobody(const struct test_param *param)
{
    int   status = 1;
    pid_t child;

    (void)param;
    a.ep = sm_end_connect(&a, &b);
    b.ep = sm_end_connect(&b, &a);
    sm_stage_send_all(&a, a.ep, SM_STAGE_AM, 0, 20000);
    sm_stage_send_all(&b, b.ep, SM_STAGE_AM, 0, 20000);
    sm_stage_until_received(&b, &a, 1);
    child = fork();
    if (child == 0) {
        sm_end_close(&a);
        sm_end_close(&b);
        exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    sm_stage_send_all(&a, a.ep, SM_STAGE_AM, 1, 20000);
    sm_stage_send_all(&b, b.ep, SM_STAGE_AM, 1, 20000);
    sm_stage_until_received(&b, &a, 2);
    sm_stage_until_received(&a, &b, 2);
    ck_assert_uint_eq(a.ended[0] + a.ended[1] + b.ended[0] + b.ended[1], 0);
}

static const struct test_case ep_cases[] = {
    TEST(ep__unused_costs_no_shared_memory),
    TEST(ep__many_to_one_peer_are_cheap),
    TEST(ep__each_is_a_source_of_its_own),
    TEST(ep__its_number_is_used_again),
    TEST(ep__its_end_comes_behind_its_messages),
    TEST(ep__close_needs_no_help),
    TEST(ep__to_the_own_interface),
    TEST(ep__a_bad_address_is_refused),
    TEST(ep__a_forked_child_disturbs_nobody),
    {0},
};

const struct test_suite sm_ep_suite = {
    .name     = "sm_ep",
    .cases    = ep_cases,
    .setup    = ep_setup,
    .teardown = ep_teardown,
};
