/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mock.c - the mock does what a test tells it to: its own wire, faults
 * and complaints. That it is a transport at all shows uct_conform. */
#include <string.h>

#include "mock/stage.h"

/* ---- the wire ---- */

static void wire__holds_until_delivered(const struct test_param *param)
{
    struct stage stage;

    (void)param;
    stage_open(&stage);
    ck_assert_int_eq(stage_send(&stage, 'a', 0), UCS_OK);
    ck_assert_int_eq(stage_send(&stage, 'b', 0), UCS_OK);
    stage_progress(&stage);
    ck_assert_str_eq(stage.text, "");
    stage_deliver(&stage, MOCK_OLDEST);
    ck_assert_str_eq(stage.text, "a");
    stage_deliver(&stage, MOCK_OLDEST);
    ck_assert_str_eq(stage.text, "ab");
    ck_assert_uint_eq(stage.mock->next(MOCK_OLDEST), 0);
    ck_assert(!stage.mock->deliver(12345678));
    stage_close(&stage);
}

static void wire__order_holds_what_must_wait(const struct test_param *param)
{
    struct stage stage;
    uint64_t     second;

    (void)param;
    stage_open(&stage);
    (void)stage_send(&stage, 'a', 0);
    (void)stage_send(&stage, 'b', 0);
    (void)stage_send(&stage, 'c', UCT_FLAG_ANY_ORDER);
    second = stage.mock->event(1)->number;
    ck_assert(stage.mock->deliver(second)); /* behind a: it must wait */
    stage_progress(&stage);
    ck_assert_str_eq(stage.text, "");
    ck_assert(stage.mock->deliver(stage.mock->event(2)->number));
    stage_progress(&stage);
    ck_assert_str_eq(stage.text, "c");
    stage_deliver(&stage, MOCK_OLDEST);
    ck_assert_str_eq(stage.text, "cab");
    stage_close(&stage);
}

static void wire__puts_before_messages(const struct test_param *param)
{
    for (int before = 0; before < 2; ++before) {
        struct stage stage;

        (void)param;
        stage_open(&stage);
        stage.mock->setup->devices[0].flags =
            before ? UCT_IFACE_PUT_BEFORE_AM : 0;
        stage.here[0] = 9;
        ck_assert_int_eq(stage_put(&stage), UCS_INPROGRESS);
        (void)stage_send(&stage, 'a', 0);
        stage_progress(&stage);
        ck_assert_uint_eq(stage.done, 1); /* locally; it has not arrived */
        ck_assert_uint_eq(stage.there[0], 0);
        stage_deliver(&stage, MOCK_PUTS_LAST);
        ck_assert_str_eq(stage.text, before ? "" : "a");
        ck_assert_uint_eq(stage.there[0], before ? 9 : 0);
        stage_deliver(&stage, MOCK_PUTS_LAST);
        ck_assert_str_eq(stage.text, "a");
        ck_assert_uint_eq(stage.there[0], 9);
        stage_close(&stage);
    }
}

static void wire__flush_waits_for_puts(const struct test_param *param)
{
    struct stage   stage;
    struct uct_req flush = {.cb = stage_on_done};

    (void)param;
    stage_open(&stage);
    ck_assert_int_eq(stage_put(&stage), UCS_INPROGRESS);
    stage_progress(&stage);
    ck_assert_uint_eq(stage.done, 1);
    ck_assert_int_eq(uct_ep_flush(stage.ep, &flush, 0), UCS_INPROGRESS);
    stage_progress(&stage);
    ck_assert_uint_eq(stage.done, 1);
    stage_deliver(&stage, MOCK_OLDEST);
    ck_assert_uint_eq(stage.done, 2);
    ck_assert_int_eq(uct_ep_flush(stage.ep, &flush, 0), UCS_OK);
    stage_close(&stage);
}

static void wire__says_what_was_never_sent(const struct test_param *param)
{
    struct stage stage;
    uint64_t     channel;

    (void)param;
    stage_open(&stage);
    (void)stage_send(&stage, 'a', 0);
    channel = stage.mock->event(0)->channel;
    ck_assert(stage.mock->inject(channel, 1, STAGE_AM_ID, "x", 1));
    ck_assert(stage.mock->inject(0, 1, STAGE_AM_ID, "y", 1));
    ck_assert(!stage.mock->inject(channel + 1000, 1, STAGE_AM_ID, "z", 1));
    stage_progress(&stage);
    ck_assert_str_eq(stage.text, "xy");
    ck_assert_uint_eq(stage.ended, 1); /* the stranger */
    stage_close(&stage);
}

static void wire__changes_what_is_on_the_way(const struct test_param *param)
{
    struct stage stage;
    uint64_t     number;

    (void)param;
    stage_open(&stage);
    stage.mock->setup->is_held = true;
    (void)stage_send(&stage, 'a', 0);
    number = stage.mock->event(0)->number;
    ck_assert(stage.mock->change(number, "z"));
    ck_assert(!stage.mock->change(number + 1000, "y"));
    stage_deliver(&stage, MOCK_OLDEST);
    ck_assert_str_eq(stage.text, "z");
    ck_assert(!stage.mock->change(number, "x"));
    stage_close(&stage);
}

/* ---- what goes wrong ---- */

static void fault__hits_the_nth(const struct test_param *param)
{
    const struct mock_fault fault = {.op     = MOCK_AM_BCOPY,
                                     .host   = 0,
                                     .first  = 2,
                                     .count  = 1,
                                     .status = UCS_ERR_WOULD_BLOCK};
    struct stage            stage;
    unsigned                id;

    (void)param;
    stage_open(&stage);
    id = stage.mock->fault(&fault);
    ck_assert_int_eq(stage_send(&stage, 'a', 0), UCS_OK);
    ck_assert_uint_eq(stage.mock->fault_hits(id), 0);
    ck_assert_int_eq(stage_send(&stage, 'b', UCT_FLAG_PENDING),
                     UCS_ERR_WOULD_BLOCK);
    ck_assert_uint_eq(stage.mock->fault_hits(id), 1);
    stage_progress(&stage);
    ck_assert_uint_eq(stage.pending, 1);
    ck_assert_int_eq(stage_send(&stage, 'c', 0), UCS_OK);
    stage_close(&stage);
}

static void fault__of_a_put_comes_late(const struct test_param *param)
{
    const struct mock_fault fault = {.op     = MOCK_PUT_ZCOPY,
                                     .host   = 0,
                                     .first  = 1,
                                     .count  = 1,
                                     .status = UCS_ERR_IO_ERROR,
                                     .late   = true};
    struct stage            stage;

    (void)param;
    stage_open(&stage);
    stage.here[0] = 9;
    (void)stage.mock->fault(&fault);
    ck_assert_int_eq(stage_put(&stage), UCS_INPROGRESS);
    stage_deliver(&stage, MOCK_OLDEST);
    ck_assert_uint_eq(stage.done, 1);
    ck_assert_int_eq(stage.done_status, UCS_ERR_IO_ERROR);
    ck_assert_uint_eq(stage.there[0], 0);
    stage_close(&stage);
}

static void host__has_no_room(const struct test_param *param)
{
    struct stage stage;

    (void)param;
    stage_open(&stage);
    stage.mock->block(0, true);
    ck_assert_int_eq(stage_send(&stage, 'a', UCT_FLAG_PENDING),
                     UCS_ERR_WOULD_BLOCK);
    stage_progress(&stage);
    ck_assert_uint_eq(stage.pending, 0);
    stage.mock->block(0, false);
    stage_progress(&stage);
    ck_assert_uint_eq(stage.pending, 1);
    stage_close(&stage);
}

/* What was delivered comes, the rest is lost; then the end is told. */
static void host__dies(const struct test_param *param)
{
    for (unsigned host = 0; host < 2; ++host) {
        struct stage stage;

        (void)param;
        stage_open(&stage);
        (void)stage_send(&stage, 'a', 0);
        (void)stage_send(&stage, 'b', 0);
        ck_assert(stage.mock->deliver(stage.mock->next(MOCK_OLDEST)));
        stage.mock->kill(host);
        stage_progress(&stage);
        ck_assert_str_eq(stage.text, (host == 0) ? "a" : "");
        ck_assert_uint_eq(stage.ended, (host == 0) ? 1 : 0);
        ck_assert_uint_eq(stage.errors, (host == 0) ? 0 : 1);
        ck_assert_int_eq(stage_send(&stage, 'c', 0), UCS_ERR_CONNECTION_RESET);
        stage_close(&stage);
    }
}

static void bad__lent_bytes_changed(const struct test_param *param)
{
    struct stage stage;

    (void)param;
    stage_open(&stage);
    ck_assert_int_eq(stage_put(&stage), UCS_INPROGRESS);
    ck_assert_str_eq(stage.mock->bad(), "");
    stage.here[5] ^= 1;
    stage_progress(&stage);
    ck_assert_ptr_nonnull(strstr(stage.mock->bad(), "changed"));
    stage_close(&stage);
}

static const struct test_case mock_cases[] = {
    TEST(wire__holds_until_delivered),
    TEST(wire__order_holds_what_must_wait),
    TEST(wire__puts_before_messages),
    TEST(wire__flush_waits_for_puts),
    TEST(wire__says_what_was_never_sent),
    TEST(wire__changes_what_is_on_the_way),
    TEST(fault__hits_the_nth),
    TEST(fault__of_a_put_comes_late),
    TEST(host__has_no_room),
    TEST(host__dies),
    TEST(bad__lent_bytes_changed),
    {0}};

static const struct test_suite mock_suite = {.name  = "mock",
                                             .cases = mock_cases};

int main(int argc, char **argv)
{
    static const struct test_suite *const suites[] = {&mock_suite,
                                                      &mock_memory_suite, NULL};

    return test_main(argc, argv, suites);
}
