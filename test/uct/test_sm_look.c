/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/test_sm_look.c - peers that are killed, at every stage. */
#include <signal.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucs/clock.h"
#include "uct/sm_stage.h"
#include "uct/suites.h"

static struct sm_end        end;
static struct sm_end *const ends[] = {&end, NULL};

static void look_setup(const struct test_param *param)
{
    (void)param;
    sm_end_open(&end, true);
}

static void look_teardown(const struct test_param *param)
{
    (void)param;
    sm_end_close(&end);
    ck_assert_uint_eq(end.kept_count, 0);
}

/* Send so many messages of a length, say so, wait to be killed. */
struct look_order {
    unsigned count;
    size_t   length;
    uint8_t  am_id;
};

static void look_send_and_wait(struct sm_end *child, struct uct_ep *ep,
                               int in_fd, int out_fd, void *arg)
{
    const struct look_order *order = arg;
    unsigned                 number;

    for (number = 0; number < order->count; ++number) {
        sm_stage_send_all(child, ep, order->am_id, number, order->length);
    }
    sm_step_tell(out_fd);
    sm_step_wait(in_fd);
}

static void
look__what_a_killed_peer_sent_comes_first(const struct test_param *param)
{
    struct look_order orders[] = {{1, 8, SM_STAGE_AM},
                                  {100, 8, SM_STAGE_AM},
                                  {12, 400, SM_STAGE_AM},
                                  {14, 20000, SM_STAGE_AM}};
    struct sm_process process;
    uint64_t          received = 0;
    unsigned          index;

    (void)param;
    for (index = 0; index < UCS_ARRAY_COUNT(orders); ++index) {
        sm_process_start(&process, &end, false, look_send_and_wait,
                         &orders[index]);
        sm_step_wait(process.from_fd);
        sm_process_kill(&process);
        sm_stage_until(ends, &end.ended[1], index + 1);
        received += orders[index].count;
        ck_assert_uint_eq(end.received, received);
        ck_assert_int_eq(end.end_status, UCS_ERR_CONNECTION_RESET);
    }
    /* All its chunks are free again. */
    ck_assert_uint_eq(uct_sm_pool_free_count(&end.sm->segment.pool),
                      end.sm->options.chunk_count);
    ck_assert_uint_eq(end.sm->channel_count, 0);
    ck_assert(ucs_list_is_empty(&end.sm->watches));
}

static void look__it_is_noticed_soon(const struct test_param *param)
{
    struct look_order order = {1, 8, SM_STAGE_AM};
    struct sm_process process;
    double            start;

    (void)param;
    sm_process_start(&process, &end, false, look_send_and_wait, &order);
    sm_step_wait(process.from_fd);
    sm_stage_until_received(&end, NULL, 1);
    sm_process_kill(&process);
    start = test_cpu_seconds();
    sm_stage_until(ends, &end.ended[1], 1);
    ck_assert_double_lt(test_cpu_seconds() - start, test_scaled_seconds(1));
}

static void look__every_endpoint_is_told_once(const struct test_param *param)
{
    struct look_order order = {1, 8, SM_STAGE_AM};
    struct sm_process process;
    struct uct_ep    *eps[3];
    unsigned          index;

    (void)param;
    sm_process_start(&process, &end, false, look_send_and_wait, &order);
    sm_step_wait(process.from_fd);
    for (index = 0; index < 3; ++index) {
        eps[index] = sm_end_connect_bytes(&end, process.address);
    }
    /* The third is not attached. */
    sm_stage_send_all(&end, eps[0], SM_STAGE_AM, 0, 8);
    sm_stage_send_all(&end, eps[1], SM_STAGE_AM, 0, 8);
    sm_process_kill(&process);
    sm_stage_until(ends, &end.errors, 3);
    sm_stage_progress_ms(&end, NULL, 50);
    ck_assert_uint_eq(end.errors, 3);
    ck_assert_int_eq(end.error_status, UCS_ERR_CONNECTION_RESET);
    for (index = 0; index < 3; ++index) {
        ck_assert_int_eq(sm_stage_send(eps[index], SM_STAGE_AM, 1, 8, 0),
                         UCS_ERR_CONNECTION_RESET);
        ck_assert_int_eq(
            sm_stage_send(eps[index], SM_STAGE_AM, 1, 8, UCT_FLAG_PENDING),
            UCS_ERR_CONNECTION_RESET);
        ucti_ep_destroy(eps[index]);
    }
}

static void look__killed_before_the_first_send(const struct test_param *param)
{
    struct look_order order = {0, 8, SM_STAGE_AM};
    struct sm_process process;

    (void)param;
    sm_process_start(&process, &end, false, look_send_and_wait, &order);
    sm_step_wait(process.from_fd);
    end.ep = sm_end_connect_bytes(&end, process.address);
    sm_process_kill(&process);
    ck_assert_int_eq(sm_stage_send(end.ep, SM_STAGE_AM, 0, 8, 0),
                     UCS_ERR_CONNECTION_RESET);
    sm_stage_until(ends, &end.errors, 1);
}

static void look__killed_while_our_ring_is_full(const struct test_param *param)
{
    struct look_order order = {0, 8, SM_STAGE_AM};
    struct sm_process process;
    uint64_t          number = 0;

    (void)param;
    sm_process_start(&process, &end, false, look_send_and_wait, &order);
    sm_step_wait(process.from_fd);
    end.ep = sm_end_connect_bytes(&end, process.address);
    while (sm_stage_send(end.ep, SM_STAGE_AM, number, 8, UCT_FLAG_PENDING) ==
           UCS_OK) {
        ++number;
    }
    sm_process_kill(&process);
    sm_stage_until(ends, &end.errors, 1);
    ck_assert_uint_eq(end.pendings, 0);
}

static void look__what_is_kept_stays_valid(const struct test_param *param)
{
    struct look_order order = {4, 20000, SM_STAGE_AM_KEEP};
    struct sm_process process;
    unsigned          index;

    (void)param;
    sm_process_start(&process, &end, false, look_send_and_wait, &order);
    sm_step_wait(process.from_fd);
    sm_stage_until_received(&end, NULL, 4);
    ck_assert_uint_eq(end.kept_count, 4);
    sm_process_kill(&process);
    sm_stage_until(ends, &end.ended[1], 1);
    ck_assert_uint_eq(uct_sm_pool_free_count(&end.sm->segment.pool),
                      end.sm->options.chunk_count - 4);
    for (index = 0; index < 4; ++index) {
        ck_assert(sm_stage_check(end.kept[index], 20000));
        uct_iface_release(end.iface, end.kept[index]);
    }
    end.kept_count = 0;
    ck_assert_uint_eq(uct_sm_pool_free_count(&end.sm->segment.pool),
                      end.sm->options.chunk_count);
}

static void look__a_sleeper_is_woken_by_a_death(const struct test_param *param)
{
    struct look_order order = {1, 8, SM_STAGE_AM};
    struct sm_process process;
    unsigned          turns;

    (void)param;
    sm_process_start(&process, &end, false, look_send_and_wait, &order);
    sm_step_wait(process.from_fd);
    sm_stage_until_received(&end, NULL, 1);
    while (uct_sm_transport.arm(end.iface) != UCS_OK) {
        (void)uct_iface_progress(end.iface);
    }
    ck_assert_int_eq(kill(process.pid, SIGKILL), 0);
    for (turns = 0; (end.ended[1] == 0) && (turns < 100); ++turns) {
        (void)sm_stage_sleep(&end);
    }
    ck_assert_uint_eq(end.ended[1], 1);
    sm_process_kill(&process);
}

/* The peer ends in order: no error, but later sends are refused. */
static void look_leave(struct sm_end *child, struct uct_ep *ep, int in_fd,
                       int out_fd, void *arg)
{
    sm_stage_send_all(child, ep, SM_STAGE_AM, 0, 8);
    (void)arg;
    sm_step_tell(out_fd);
    sm_step_wait(in_fd);
}

static void look__an_orderly_end_is_no_failure(const struct test_param *param)
{
    struct sm_process process;
    uint64_t          number = 1;

    (void)param;
    sm_process_start(&process, &end, false, look_leave, NULL);
    sm_step_wait(process.from_fd);
    end.ep = sm_end_connect_bytes(&end, process.address);
    sm_stage_send_all(&end, end.ep, SM_STAGE_AM, 0, 8);
    sm_step_tell(process.to_fd);
    sm_process_join(&process);
    sm_stage_until(ends, &end.ended[0], 1);
    sm_stage_progress_ms(&end, NULL, 30);
    ck_assert_uint_eq(end.ended[1], 0);
    ck_assert_uint_eq(end.errors, 0);
    /* Not for ever into a ring that nobody reads. */
    while (sm_stage_send(end.ep, SM_STAGE_AM, number, 8, 0) == UCS_OK) {
        ck_assert_uint_lt(number++, 1000);
    }
    ck_assert_int_eq(sm_stage_send(end.ep, SM_STAGE_AM, 0, 8, 0),
                     UCS_ERR_CONNECTION_RESET);
}

static const struct test_case look_cases[] = {
    TEST(look__what_a_killed_peer_sent_comes_first),
    TEST(look__it_is_noticed_soon),
    TEST(look__every_endpoint_is_told_once),
    TEST(look__killed_before_the_first_send),
    TEST(look__killed_while_our_ring_is_full),
    TEST(look__what_is_kept_stays_valid),
    TEST(look__a_sleeper_is_woken_by_a_death),
    TEST(look__an_orderly_end_is_no_failure),
    {0},
};

const struct test_suite sm_look_suite = {
    .name     = "sm_look",
    .cases    = look_cases,
    .setup    = look_setup,
    .teardown = look_teardown,
};
