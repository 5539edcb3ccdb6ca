/* SPDX-License-Identifier: BSD-3-Clause */
/* test_buffered_pipeline.c - protocol 8, and buffered eager messages, arrow by
 * arrow, and broken. The sender's buffer is poison from the call on. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucp/api/causeway.h"
#include "ucp/breaks.h"
#include "ucp/suites.h"

static void small_bcopy(struct mock_setup *setup)
{
    setup->absent = (1u << MOCK_AM_SHORT) | (1u << MOCK_AM_ZCOPY);
    setup->devices[0].am.bcopy_bytes_max = 1024;
}

static const struct scenario buffered_scenarios[] = {
    {.name        = "buffered pipeline",
     .bytes       = 30000,
     .is_buffered = true,
     .env         = {"UCX_RNDV_THRESH", "0", "UCX_ZCOPY_THRESH", "inf"},
     .arrows      = {"S RNDV len=30000", "R ACK", "S FRAG am_bcopy x3"}},
    {.name        = "buffered pipeline, lent to the transport",
     .bytes       = 300000,
     .is_buffered = true,
     .env         = {"UCX_RNDV_THRESH", "0", "UCX_ZCOPY_THRESH", "1"},
     .arrows      = {"S RNDV len=300000", "R ACK", "S FRAG am_zcopy x5"}},
    {.name          = "buffered pipeline, unexpected, iov to iov",
     .bytes         = 30000,
     .is_buffered   = true,
     .receive_after = 1,
     .send_type     = UCP_DT_IOV,
     .receive_type  = UCP_DT_IOV,
     .env           = {"UCX_RNDV_THRESH", "0", "UCX_ZCOPY_THRESH", "1"},
     .arrows        = {"S RNDV len=30000", "R ACK", "S FRAG am_zcopy"}},
    {.name           = "buffered pipeline, truncated",
     .bytes          = 30000,
     .is_buffered    = true,
     .receive_bytes  = 20000,
     .receive_status = UCS_ERR_MESSAGE_TRUNCATED,
     .env            = {"UCX_RNDV_THRESH", "0", "UCX_ZCOPY_THRESH", "inf"},
     .arrows         = {"S RNDV len=30000", "R ABORT"}},
    {.name        = "buffered, immediate",
     .bytes       = 30,
     .is_buffered = true,
     .arrows      = {"S MATCH am_short bytes=38"}},
    {.name        = "buffered, never prepared",
     .bytes       = 4000,
     .is_buffered = true,
     .env         = {"UCX_ZCOPY_THRESH", "1", "UCX_RNDV_THRESH", "8000"},
     .arrows      = {"S MATCH am_bcopy bytes=4008"}},
    {.name          = "buffered, eager in fragments, unexpected",
     .bytes         = 4000,
     .is_buffered   = true,
     .receive_after = 2,
     .prepare       = small_bcopy,
     .env           = {"UCX_ZCOPY_THRESH", "inf", "UCX_RNDV_THRESH", "inf"},
     .arrows        = {"S FIRST am_bcopy len=4000", "S MORE am_bcopy x3"}},
    {0},
};

static void buffered__is_as_drawn(const struct test_param *param)
{
    scenarios_are_as_drawn(buffered_scenarios, param->value);
}

static void buffered__survives(const struct test_param *param)
{
    scenarios_survive(buffered_scenarios, param->value);
}

static const struct test_case buffered_cases[] = {
    TEST(buffered__is_as_drawn), TEST_TIMEOUT(buffered__survives, 120), {0}};

const struct test_suite buffered_pipeline_suite = {
    .name = "buffered_pipeline", .cases = buffered_cases, .params = play_wires};

/* ---- a receiver in another process, which is killed ---- */

enum { TAG = 3, DEATH_BYTES = 200000, DEATH_COUNT = 4 };

static void open_worker(ucp_context_h *context, ucp_worker_h *worker)
{
    ucp_params_t        params        = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                         .features   = UCP_FEATURE_TAG};
    ucp_worker_params_t worker_params = {.field_mask = 0};

    ck_assert_int_eq(ucp_init(&params, NULL, context), UCS_OK);
    ck_assert_int_eq(ucp_worker_create(*context, &worker_params, worker),
                     UCS_OK);
}

/* Tells its address, and does nothing more. */
_Noreturn static void receiver(int channel)
{
    ucp_context_h  context;
    ucp_worker_h   worker;
    ucp_address_t *address;
    size_t         length;

    open_worker(&context, &worker);
    if ((ucp_worker_get_address(worker, &address, &length) != UCS_OK) ||
        (write(channel, address, length) != (ssize_t)length)) {
        _exit(1);
    }
    for (;;) {
        (void)pause();
    }
}

static pid_t start_receiver(char *address, size_t size)
{
    int   channel[2];
    pid_t pid;

    ck_assert_int_eq(pipe(channel), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        receiver(channel[1]);
    }
    ck_assert_int_gt(read(channel[0], address, size), 0);
    (void)close(channel[0]);
    (void)close(channel[1]);
    return pid;
}

static int death_count;

static void receiver_died(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void)arg;
    (void)ep;
    ck_assert(UCS_STATUS_IS_ERR(status));
    ++death_count;
}

static bool is_dead(void *worker)
{
    (void)ucp_worker_progress(worker);
    return death_count > 0;
}

static void buffered__receiver_is_killed(const struct test_param *param)
{
    static char            room[DEATH_COUNT * (DEATH_BYTES + 64)];
    static char            bytes[DEATH_BYTES];
    char                   address[4096];
    pid_t                  pid    = start_receiver(address, sizeof(address));
    causeway_buffer_attr_t attr   = {.field_mask =
                                         CAUSEWAY_BUFFER_ATTR_FIELD_LOST};
    ucp_ep_params_t        params = {
               .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                             UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                             UCP_EP_PARAM_FIELD_ERR_HANDLER,
               .address     = (const ucp_address_t *)address,
               .err_mode    = UCP_ERR_HANDLING_MODE_PEER,
               .err_handler = {.cb = receiver_died},
    };
    ucp_context_h context;
    ucp_worker_h  worker;
    ucp_ep_h      ep;

    (void)param;
    open_worker(&context, &worker);
    ck_assert_int_eq(ucp_ep_create(worker, &params, &ep), UCS_OK);
    ck_assert_int_eq(causeway_worker_attach_buffer(worker, room, sizeof(room)),
                     UCS_OK);
    for (int i = 0; i < DEATH_COUNT; ++i) {
        ck_assert_ptr_null(causeway_tag_send_buffered_nbx(
            ep, bytes, sizeof(bytes), TAG, &pair_no_param));
    }
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_assert(test_wait_until(is_dead, worker, 10));
    ck_assert_int_eq(causeway_worker_query_buffer(worker, &attr), UCS_OK);
    ck_assert_uint_eq(attr.lost_count, DEATH_COUNT);
    ck_assert_uint_eq(attr.lost_bytes, DEATH_COUNT * DEATH_BYTES);
    ck_assert_int_eq(causeway_worker_detach_buffer(worker, NULL, NULL), UCS_OK);
    ck_assert_int_eq(death_count, 1);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}

static const struct test_case death_cases[] = {
    TEST(buffered__receiver_is_killed), {0}};

const struct test_suite buffered_death_suite = {.name  = "buffered_death",
                                                .cases = death_cases};
