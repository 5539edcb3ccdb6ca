/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mock_memory.c - registrations of the mock, the memory under them, what
 * they cost. */
#include <string.h>

#include "mock/stage.h"

static void bad__memory_not_registered(const struct test_param *param)
{
    struct stage         stage;
    uint8_t              other[8] = {0};
    const struct uct_iov iov      = {other, sizeof(other), NULL};
    struct uct_remote    remote   = {.length = sizeof(other)};
    const struct uct_rma rma      = {&iov, &remote, 1, 1};

    (void)param;
    stage_open(&stage);
    remote.address = (uintptr_t)stage.there;
    remote.rkey    = stage.rkey;
    ck_assert_int_eq(stage.tl->put_zcopy(stage.ep, &rma, NULL, 0),
                     UCS_INPROGRESS);
    ck_assert_ptr_nonnull(strstr(stage.mock->bad(), "not registered"));
    stage_progress(&stage);
    stage_close(&stage);
}

/* The peer released what a put is on the way to: the put fails. */
static void memory__released_is_out_of_reach(const struct test_param *param)
{
    struct stage stage;

    (void)param;
    stage_open(&stage);
    stage.mock->setup->completes_late = true;
    stage.here[0]                     = 9;
    ck_assert_int_eq(stage_put(&stage), UCS_INPROGRESS);
    stage.tl->mem_release(stage.remote);
    stage.remote = NULL;
    stage_deliver(&stage, MOCK_OLDEST);
    ck_assert_int_eq(stage.done_status, UCS_ERR_INVALID_ADDR);
    ck_assert_uint_eq(stage.there[0], 0);
    ck_assert_int_eq(stage_put(&stage), UCS_ERR_INVALID_ADDR);
    ck_assert_uint_eq(stage.mock->mem_count(0), 1);
    ck_assert_uint_eq(stage.mock->mem_count(1), 0);
    stage_close(&stage);
}

/* ---- memory that goes ---- */

static uint64_t generation_here, generation_there;

static uint64_t generation(const void *address, size_t length)
{
    const uint8_t *first = address;

    (void)length;
    return ((first >= on_stage->here) && (first < on_stage->here + STAGE_BYTES))
               ? generation_here
               : generation_there;
}

/* What a registration stood for is gone: neither end may use it. */
static void memory__stale_is_found_out(const struct test_param *param)
{
    (void)param;
    for (int side = 0; side < 2; ++side) {
        struct stage stage;

        stage_open(&stage);
        stage.mock->setup->generation = generation;
        stage.tl->mem_release(stage.local);
        stage.tl->mem_release(stage.remote);
        stage.tl->rkey_release(stage.rkey);
        stage_expose(&stage);
        ck_assert_int_eq(stage_put(&stage), UCS_INPROGRESS);
        ck_assert_str_eq(stage.mock->bad(), "");
        *((side == 0) ? &generation_here : &generation_there) += 1;
        ck_assert_int_eq(stage_put(&stage), UCS_INPROGRESS);
        ck_assert_ptr_nonnull(strstr(stage.mock->bad(), "is gone"));
        stage_progress(&stage);
        stage_close(&stage);
    }
}

/* Unmapped while a put is on its way: the bytes go to the old pages. */
static void
memory__old_pages_take_what_is_on_its_way(const struct test_param *param)
{
    struct stage stage;

    (void)param;
    stage_open(&stage);
    stage.mock->setup->generation = generation;
    stage.tl->mem_release(stage.remote);
    stage.tl->mem_release(stage.local);
    stage.tl->rkey_release(stage.rkey);
    stage_expose(&stage);
    stage.here[0] = 9;
    ck_assert_int_eq(stage_put(&stage), UCS_INPROGRESS);
    ++generation_there;
    stage_deliver(&stage, MOCK_OLDEST);
    ck_assert_int_eq(stage.done_status, UCS_OK);
    ck_assert_uint_eq(stage.there[0], 0);
    ck_assert_str_eq(stage.mock->bad(), "");
    stage_close(&stage);
}

static void memory__only_so_much_is_pinned(const struct test_param *param)
{
    struct uct_mem *mem = NULL;
    struct stage    stage;

    (void)param;
    stage_open(&stage);
    ck_assert_uint_eq(stage.mock->pinned_bytes(0), STAGE_BYTES);
    stage.mock->setup->pinned_bytes_max = STAGE_BYTES + 10;
    ck_assert_int_eq(stage.tl->mem_register(stage.mds[0], stage.there, 11,
                                            UCT_ACCESS_LOCAL, &mem),
                     UCS_ERR_NO_MEMORY);
    ck_assert_int_eq(stage.tl->mem_register(stage.mds[0], stage.there, 10,
                                            UCT_ACCESS_LOCAL, &mem),
                     UCS_OK);
    stage.tl->mem_release(mem);
    ck_assert_uint_eq(stage.mock->pinned_bytes(0), STAGE_BYTES);
    ck_assert_uint_eq(stage.mock->pinned_bytes_peak(0), STAGE_BYTES + 10);
    stage.mock->forget_events();
    ck_assert_uint_eq(stage.mock->pinned_bytes_peak(0), STAGE_BYTES);
    stage_close(&stage);
}

/* ---- the clock ---- */

static bool is_near(double a, double b)
{
    return (a - b < 1e-12) && (b - a < 1e-12);
}

/* Two puts follow one another on the link; a message comes behind them; the
 * processor of the target only sees the message. */
static void clock__of_a_link(const struct test_param *param)
{
    const double latency = 1e-6, overhead = 100e-9;
    const double bytes_s = STAGE_BYTES / 10e9;
    struct stage stage;

    (void)param;
    stage_open(&stage);
    stage.mock->setup->completes_late = true;
    stage.mock->restart_clock();
    ck_assert_int_eq(stage_put(&stage), UCS_INPROGRESS);
    ck_assert_int_eq(stage_put(&stage), UCS_INPROGRESS);
    ck_assert(is_near(stage.mock->now_s(0), 2 * overhead));
    ck_assert_int_eq(stage_send(&stage, 'a', 0), UCS_OK);
    stage_deliver(&stage, MOCK_EARLIEST);
    ck_assert_uint_eq(stage.done, 1);
    ck_assert(is_near(stage.mock->now_s(0), overhead + bytes_s + latency));
    ck_assert(is_near(stage.mock->now_s(1), 0));
    stage_deliver(&stage, MOCK_EARLIEST);
    stage_deliver(&stage, MOCK_EARLIEST);
    /* 300 ns until it is given to the link, which is free then. */
    ck_assert(is_near(stage.mock->now_s(1),
                      3 * overhead + 1 / 10e9 + latency + overhead));
    stage_close(&stage);
}

/* Registering takes the processor's time: what is sent after it is later. */
static void clock__of_a_registration(const struct test_param *param)
{
    struct uct_mem *mem;
    struct stage    stage;

    (void)param;
    stage_open(&stage);
    stage.mock->setup->devices[0].cost.register_base_s     = 5e-6;
    stage.mock->setup->devices[0].cost.register_per_byte_s = 1e-9;
    stage.mock->restart_clock();
    ck_assert_int_eq(stage.tl->mem_register(stage.mds[0], stage.here, 1000,
                                            UCT_ACCESS_LOCAL, &mem),
                     UCS_OK);
    ck_assert(is_near(stage.mock->now_s(0), 6e-6));
    ck_assert(is_near(stage.mock->now_s(1), 0));
    stage.tl->mem_release(mem);
    stage_close(&stage);
}

static const struct test_case mock_memory_cases[] = {
    TEST(bad__memory_not_registered),
    TEST(memory__released_is_out_of_reach),
    TEST(memory__stale_is_found_out),
    TEST(memory__old_pages_take_what_is_on_its_way),
    TEST(memory__only_so_much_is_pinned),
    TEST(clock__of_a_link),
    TEST(clock__of_a_registration),
    {0}};

const struct test_suite mock_memory_suite = {.name  = "mock_memory",
                                             .cases = mock_memory_cases};
