/* SPDX-License-Identifier: BSD-3-Clause */
/* test_death.c - two processes and one context: messages between them, the
 * other one killed at every stage, and limits of the system that are met.
 *
 *   survivor (the test's process) ---- victim (forked before ucp_init)
 *             '------- another worker of its own, which goes on */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucp/core/worker.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucs/log_capture.h"

enum { TAG = 21, LARGE = 4 << 20, COUNT = 40 };

/* How far the two are when one is killed. */
enum stage {
    BEFORE_ANNOUNCE, /* neither has sent anything */
    ANNOUNCED,
    EAGER_TO_VICTIM,   /* it does not read: the lane is full */
    EAGER_FROM_VICTIM, /* some are here, more are on the way */
    RNDV_ASKED,        /* nobody has answered our RNDV */
    RNDV_RUNNING,      /* fragments go, and stop */
    RNDV_FROM_VICTIM,
    WHILE_CLOSING,
    STAGE_COUNT
};

static const struct test_param death_params[] = {
    {"before_announce", NULL},
    {"announced", NULL},
    {"eager_to_victim", NULL},
    {"eager_from_victim", NULL},
    {"rndv_asked", NULL},
    {"rndv_running", NULL},
    {"rndv_from_victim", NULL},
    {"while_closing", NULL},
    {0},
};

struct side {
    ucp_context_h context;
    ucp_worker_h  worker;
    ucp_ep_h      ep;
    int           channel;
    int           error_count;
    ucs_status_t  error;
};

static void side_failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct side *side = arg;

    ck_assert_ptr_eq(ep, side->ep);
    ++side->error_count;
    side->error = status;
}

static void put(int channel, const void *bytes, size_t length)
{
    ck_assert_int_eq(send(channel, bytes, length, MSG_NOSIGNAL),
                     (ssize_t)length);
}

/* Open a context and a worker, exchange addresses, make an endpoint. */
static void side_open(struct side *side, int channel)
{
    ucp_params_t        params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                  .features   = UCP_FEATURE_TAG};
    ucp_worker_params_t worker = {.field_mask = 0};
    ucp_ep_params_t     ep     = {
                .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                              UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                              UCP_EP_PARAM_FIELD_ERR_HANDLER,
                .err_mode    = UCP_ERR_HANDLING_MODE_PEER,
                .err_handler = {.cb = side_failed, .arg = side},
    };
    char           bytes[4096];
    ucp_address_t *address;
    size_t         length;

    memset(side, 0, sizeof(*side));
    side->channel = channel;
    ck_assert_int_eq(ucp_init(&params, NULL, &side->context), UCS_OK);
    ck_assert_int_eq(ucp_worker_create(side->context, &worker, &side->worker),
                     UCS_OK);
    ck_assert_int_eq(ucp_worker_get_address(side->worker, &address, &length),
                     UCS_OK);
    put(channel, address, length);
    ucp_worker_release_address(side->worker, address);
    ck_assert_int_gt(recv(channel, bytes, sizeof(bytes), 0), 0);
    ep.address = (const ucp_address_t *)bytes;
    ck_assert_int_eq(ucp_ep_create(side->worker, &ep, &side->ep), UCS_OK);
}

static void *side_send(struct side *side, const void *bytes, size_t length)
{
    return ucp_tag_send_nbx(side->ep, bytes, length, TAG, &pair_no_param);
}

static void *side_receive(struct side *side, void *bytes, size_t length,
                          ucp_tag_t tag)
{
    return ucp_tag_recv_nbx(side->worker, bytes, length, tag, UINT64_MAX,
                            &pair_no_param);
}

static void side_wait(struct side *side, void *request)
{
    ck_assert_int_eq(worker_wait(side->worker, request, 20), UCS_OK);
    if (UCS_PTR_IS_PTR(request)) {
        ucp_request_free(request);
    }
}

/* Wait until the other side says a word, and go on meanwhile. */
static void side_hear(struct side *side)
{
    struct pollfd poll_fd = {.fd = side->channel, .events = POLLIN};
    char          word;

    while (poll(&poll_fd, 1, 0) == 0) {
        ucp_worker_progress(side->worker);
    }
    ck_assert_int_eq(recv(side->channel, &word, 1, 0), 1);
}

static void side_close(struct side *side)
{
    ucp_worker_destroy(side->worker);
    ucp_cleanup(side->context);
    ck_assert_int_eq(close(side->channel), 0);
}

static void exchange_first(struct side *side)
{
    uint64_t word    = 1;
    void    *receive = side_receive(side, &word, 8, 1);

    side_wait(side, ucp_tag_send_nbx(side->ep, &word, 8, 1, &pair_no_param));
    side_wait(side, receive);
}

/* ---- the other process: does its part, then waits to be killed ---- */

_Noreturn static void victim(int channel, enum stage stage)
{
    static uint8_t bytes[LARGE];
    void          *receive;
    struct side    side;

    side_open(&side, channel);
    if (stage != BEFORE_ANNOUNCE) {
        exchange_first(&side);
    }
    if (stage == EAGER_FROM_VICTIM) {
        for (int i = 0; i < 1000; ++i) {
            (void)side_send(&side, bytes, 1000);
        }
    } else if (stage == RNDV_RUNNING) {
        receive = side_receive(&side, bytes, LARGE, TAG);
        while (ucp_request_of(receive)->recv.id == 0) {
            ucp_worker_progress(side.worker); /* until it has answered */
        }
    } else if (stage == RNDV_FROM_VICTIM) {
        (void)side_send(&side, bytes, LARGE);
    }
    put(channel, "r", 1);
    for (;;) {
        (void)pause();
    }
}

static pid_t victim_start(enum stage stage, int *channel_p)
{
    int   pipe[2];
    pid_t pid;

    ck_assert_int_eq(
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pipe), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        (void)close(pipe[0]);
        victim(pipe[1], stage);
    }
    ck_assert_int_eq(close(pipe[1]), 0);
    *channel_p = pipe[0];
    return pid;
}

static void victim_kill(pid_t pid)
{
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* ---- the survivor ---- */

static bool has_failed(void *arg)
{
    struct side *side = arg;

    ucp_worker_progress(side->worker);
    return side->error_count > 0;
}

static enum stage stage_of(const struct test_param *param)
{
    return (enum stage)(param - death_params);
}

/* What the survivor has under way. @return how many requests. */
static unsigned start_work(struct side *side, enum stage stage, void **work)
{
    static uint8_t out[LARGE], in[LARGE];
    unsigned       count = 0;

    switch (stage) {
    case EAGER_TO_VICTIM:
    case WHILE_CLOSING:
        while (ucp_ep_is_drained(side->ep)) {
            void *send = side_send(side, out, 1000);

            ck_assert(!UCS_PTR_IS_ERR(send));
            if (UCS_PTR_IS_PTR(send)) {
                work[count++] = send;
            }
        }
        break;
    case RNDV_ASKED:
    case RNDV_RUNNING:
        work[count++] = side_send(side, out, LARGE);
        break;
    case EAGER_FROM_VICTIM:
        for (; count < COUNT; ++count) {
            work[count] = side_receive(side, in, LARGE, TAG + 1);
            if (count % 2 == 0) {
                ucp_request_cancel(side->worker, work[count]);
            }
        }
        break;
    case RNDV_FROM_VICTIM:
        work[count++] = side_receive(side, in, LARGE, TAG);
        break;
    case BEFORE_ANNOUNCE:
    case ANNOUNCED:
    case STAGE_COUNT:
        break;
    }
    return count;
}

/* Two workers of the survivor that have nothing to do with it. */
static void others_exchange(struct pair *others)
{
    uint64_t word = 3;

    ck_assert_int_eq(pair_wait(others, pair_send(others, 0, &word, 8, 1)),
                     UCS_OK);
    ck_assert_int_eq(pair_wait(others, pair_receive(others, 1, &word, 8, 1)),
                     UCS_OK);
}

static void check_work(struct side *side, enum stage stage, void **work,
                       unsigned count)
{
    for (unsigned i = 0; i < count; ++i) {
        ucs_status_t status;

        if (stage == EAGER_FROM_VICTIM) { /* of nobody: still waits */
            ucp_request_cancel(side->worker, work[i]);
        }
        status = worker_wait(side->worker, work[i], 5);
        ck_assert_msg((status != UCS_INPROGRESS), "request %u goes on", i);
        ck_assert_msg((stage == EAGER_TO_VICTIM) || (stage == WHILE_CLOSING) ||
                          UCS_STATUS_IS_ERR(status),
                      "request %u: %s", i, ucs_status_string(status));
        if (UCS_PTR_IS_PTR(work[i])) {
            ucp_request_free(work[i]);
        }
    }
}

/* How the survivor hears of it. */
static void check_noticed(struct side *side, enum stage stage, void *close)
{
    if (stage == WHILE_CLOSING) {
        ck_assert_int_ne(worker_wait(side->worker, close, 5), UCS_INPROGRESS);
        ucp_request_free(close);
        ck_assert_int_eq(side->error_count, 0);
    } else if (stage == BEFORE_ANNOUNCE) {
        /* Nothing was exchanged: sending finds it out. */
        uint64_t word = 1;
        void    *send = side_send(side, &word, 8);

        (void)worker_wait(side->worker, send, 5);
        if (UCS_PTR_IS_PTR(send)) {
            ucp_request_free(send);
        }
    } else {
        ck_assert(test_wait_until(has_failed, side, 5));
        ck_assert(UCS_STATUS_IS_ERR(side->error));
    }
}

static void death__at_each_stage(const struct test_param *param)
{
    static const struct pair_setup sm    = {.tls = "sm"};
    enum stage                     stage = stage_of(param);
    static void                   *work[20000];
    struct pair                    others;
    struct side                    side;
    unsigned                       count;
    void                          *close = NULL;
    int                            channel;
    pid_t                          pid;

    (void)setenv("UCX_TLS", "sm", 1);
    (void)setenv("UCX_SM_CHUNK_COUNT", "16", 1);
    pid = victim_start(stage, &channel);
    side_open(&side, channel);
    pair_open_setup(&others, &sm, 0, UCP_ERR_HANDLING_MODE_PEER);
    if (stage != BEFORE_ANNOUNCE) {
        exchange_first(&side);
    }
    count = (stage == RNDV_RUNNING) ? start_work(&side, stage, work) : 0;
    side_hear(&side);
    count = (stage != RNDV_RUNNING) ? start_work(&side, stage, work) : count;
    if (stage == WHILE_CLOSING) {
        close = ucp_ep_close_nbx(side.ep, &pair_no_param);
        ck_assert(UCS_PTR_IS_PTR(close));
    }
    victim_kill(pid);
    others_exchange(&others);
    check_noticed(&side, stage, close);
    check_work(&side, stage, work, count);
    worker_settle(side.worker);
    ck_assert_int_le(side.error_count, 1);
    if (stage != WHILE_CLOSING) {
        close = ucp_ep_close_nbx(side.ep, &pair_force_param);
        ck_assert_ptr_null(close);
    }
    ck_assert_uint_eq(side.worker->ids.count, 0);
    others_exchange(&others);
    ck_assert_int_eq(others.error_count[0] + others.error_count[1], 0);
    pair_close(&others);
    side_close(&side);
}

static const struct test_case death_cases[] = {
    TEST(death__at_each_stage),
    {0},
};

const struct test_suite death_suite = {
    .name = "death", .cases = death_cases, .params = death_params};

/* Between processes, without a death. */
static void other_echoes(int channel)
{
    static uint8_t bytes[LARGE];
    struct side    side;

    side_open(&side, channel);
    for (int i = 0; i < 300; ++i) {
        ucp_tag_recv_info_t info;
        ucp_request_param_t how = {.op_attr_mask = UCP_OP_ATTR_FIELD_RECV_INFO,
                                   .recv_info.tag_info = &info};
        void               *receive =
            ucp_tag_recv_nbx(side.worker, bytes, LARGE, TAG, UINT64_MAX, &how);

        ck_assert_int_eq(worker_wait(side.worker, receive, 20), UCS_OK);
        if (receive != NULL) {
            ck_assert_int_eq(ucp_request_test(receive, &info), UCS_OK);
            ucp_request_free(receive);
        }
        side_wait(&side, side_send(&side, bytes, info.length));
    }
    side_wait(&side, ucp_ep_close_nbx(side.ep, &pair_no_param));
    side_close(&side);
    _exit(0);
}

static void processes__every_byte_comes_back(const struct test_param *param)
{
    static uint8_t out[LARGE], in[LARGE];
    int            pipe[2], status;
    struct side    side;
    pid_t          pid;

    (void)param;
    (void)setenv("UCX_TLS", "sm", 1);
    ck_assert_int_eq(
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pipe), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        (void)close(pipe[0]);
        other_echoes(pipe[1]);
    }
    ck_assert_int_eq(close(pipe[1]), 0);
    side_open(&side, pipe[0]);
    for (unsigned i = 0; i < 300; ++i) {
        size_t length  = test_random_below(1u << (4 + test_random_below(19)));
        void  *receive = side_receive(&side, in, length, TAG);

        pattern_fill(out, length, i);
        side_wait(&side, side_send(&side, out, length));
        side_wait(&side, receive);
        pattern_check(in, length, i);
    }
    side_wait(&side, ucp_ep_close_nbx(side.ep, &pair_no_param));
    ck_assert_int_eq(side.error_count, 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    side_close(&side);
}

/* Lower a limit more and more: opening works or says why, and leaves nothing
 * behind (the runner looks for descriptors and memory). */
static void limits__descriptors(const struct test_param *param)
{
    ucp_params_t        params        = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                         .features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP};
    ucp_worker_params_t worker_params = {.field_mask = 0};
    struct rlimit       before, limit;
    bool                fits = false;

    (void)param;
    (void)setenv("UCX_TLS", "sm", 1);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    for (limit.rlim_cur = 3; limit.rlim_cur < 64; ++limit.rlim_cur) {
        ucp_context_h context = NULL;
        ucp_worker_h  worker  = NULL;
        ucs_status_t  status;

        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
        log_capture_start();
        status = ucp_init(&params, NULL, &context);
        if (status == UCS_OK) {
            status = ucp_worker_create(context, &worker_params, &worker);
        }
        ck_assert_msg((status == UCS_OK) || (log_captured.count > 0),
                      "%s, and not a word", ucs_status_string(status));
        if (status == UCS_OK) {
            fits = true;
            ucp_worker_destroy(worker);
        }
        if (context != NULL) {
            ucp_cleanup(context);
        }
    }
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert(fits); /* at the end there were enough */
}

/* No address space for the shared memory: a status and a word, no crash. */
static void limits__memory(const struct test_param *param)
{
    ucp_params_t        params        = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                         .features   = UCP_FEATURE_TAG};
    ucp_worker_params_t worker_params = {.field_mask = 0};
    ucp_context_h       context;
    ucp_worker_h        worker;
    ucs_status_t        status;

    (void)param;
    (void)setenv("UCX_TLS", "sm", 1);
    (void)setenv("UCX_SM_CHUNK_SIZE", "16m", 1);
    (void)setenv("UCX_SM_CHUNK_COUNT", "2000000", 1);
    log_capture_start();
    status = ucp_init(&params, NULL, &context);
    if (status == UCS_OK) {
        status = ucp_worker_create(context, &worker_params, &worker);
        ck_assert_int_ne(status, UCS_OK);
        ucp_cleanup(context);
    }
    ck_assert(UCS_STATUS_IS_ERR(status));
    ck_assert_uint_gt(log_captured.count, 0);
}

static const struct test_case processes_cases[] = {
    TEST_TIMEOUT(processes__every_byte_comes_back, 60),
    TEST(limits__descriptors),
    TEST(limits__memory),
    {0},
};

const struct test_suite processes_suite = {.name  = "processes",
                                           .cases = processes_cases};
