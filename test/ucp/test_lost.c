/* SPDX-License-Identifier: BSD-3-Clause */
/* test_lost.c - three processes: the test, a survivor in error mode NONE with
 * a receive that waits, and a victim that is killed or leaves. */
#include "config.h"

#include "ucp/core/lost.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucp/core/worker.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucs/clock.h"

enum { WENT_ON = 7, STILL_WAITS = 8, WAIT_SECONDS = 20 };

/* is_killed  the victim; else it leaves in order
 * is_lost    that is said
 * must_end   and the survivor ends by it */
struct scene {
    const char *tls, *action;
    bool        is_killed, is_lost, must_end;
};

static const struct scene killed = {"sm", "abort", true, false, false};
static const struct scene leaves = {"sm", "abort", false, false, false};
#ifdef HAVE_UDP
static const struct scene silent        = {"udp", "abort", true, true, true};
static const struct scene silent_told   = {"udp", "error", true, true, false};
static const struct scene leaves_by_udp = {"udp", "abort", false, false, false};
#endif

static const struct test_param lost_params[] = {
    {"killed", &killed},
    {"leaves", &leaves},
#ifdef HAVE_UDP
    {"silent", &silent},
    {"silent_and_told", &silent_told},
    {"leaves_by_udp", &leaves_by_udp},
#endif
    {0}};

struct side {
    ucp_context_h context;
    ucp_worker_h  worker;
    ucp_ep_h      ep;
};

static void side_open(struct side *side, int channel)
{
    ucp_params_t        params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                  .features   = UCP_FEATURE_TAG};
    ucp_worker_params_t worker = {.field_mask = 0};
    ucp_ep_params_t     ep = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_address_t      *address;
    char                bytes[4096];
    size_t              length;

    ck_assert_int_eq(ucp_init(&params, NULL, &side->context), UCS_OK);
    ck_assert_int_eq(ucp_worker_create(side->context, &worker, &side->worker),
                     UCS_OK);
    ck_assert_int_eq(ucp_worker_get_address(side->worker, &address, &length),
                     UCS_OK);
    ck_assert_int_eq(send(channel, address, length, MSG_NOSIGNAL),
                     (ssize_t)length);
    ucp_worker_release_address(side->worker, address);
    ck_assert_int_gt(recv(channel, bytes, sizeof(bytes), 0), 0);
    ep.address = (const ucp_address_t *)bytes;
    ck_assert_int_eq(ucp_ep_create(side->worker, &ep, &side->ep), UCS_OK);
}

static void side_exchange(struct side *side)
{
    static uint64_t out     = 1, in;
    void           *receive = ucp_tag_recv_nbx(side->worker, &in, sizeof(in), 1,
                                               UINT64_MAX, &pair_no_param);
    void           *send =
        ucp_tag_send_nbx(side->ep, &out, sizeof(out), 1, &pair_no_param);

    ck_assert_int_eq(worker_wait(side->worker, send, WAIT_SECONDS), UCS_OK);
    ck_assert_int_eq(worker_wait(side->worker, receive, WAIT_SECONDS), UCS_OK);
}

_Noreturn static void victim(int channel, bool is_killed)
{
    struct side side;

    side_open(&side, channel);
    side_exchange(&side);
    while (is_killed) {
        (void)pause();
    }
    ucp_worker_destroy(side.worker);
    ucp_cleanup(side.context);
    _exit(0);
}

/* The peer's messages have ended, or it was said that it is lost. */
static bool survivor_knows(void *arg)
{
    struct side *side = arg;

    (void)ucp_worker_progress(side->worker);
    return (side->ep->source == NULL) || (side->ep->flags & UCP_EP_LOST);
}

_Noreturn static void survivor(int channel, pid_t other, bool is_killed)
{
    static uint64_t word;
    struct side     side;

    side_open(&side, channel);
    side_exchange(&side);
    (void)ucp_tag_recv_nbx(side.worker, &word, sizeof(word), 2, UINT64_MAX,
                           &pair_no_param);
    if (is_killed) {
        ck_assert_int_eq(kill(other, SIGKILL), 0);
    }
    _exit(test_wait_until(survivor_knows, &side, WAIT_SECONDS) ? WENT_ON
                                                               : STILL_WAITS);
}

static pid_t start(int channel, int not_mine, int error_fd, pid_t other,
                   bool is_killed)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid != 0) {
        return pid;
    }
    (void)close(not_mine);
    if (error_fd < 0) {
        victim(channel, is_killed);
    }
    (void)dup2(error_fd, STDERR_FILENO);
    (void)dup2(error_fd, STDOUT_FILENO);
    survivor(channel, other, is_killed);
}

static void read_all(int fd, char *text, size_t size)
{
    size_t  length = 0;
    ssize_t count;

    while ((count = read(fd, text + length, size - 1 - length)) > 0) {
        length += (size_t)count;
    }
    text[length] = '\0';
}

static void lost__ends_who_handles_no_errors(const struct test_param *param)
{
    const struct scene *scene = param->value;
    int                 between[2], said[2], status;
    pid_t               other, pid;
    char                text[8192];

    (void)setenv("UCX_TLS", scene->tls, 1);
    (void)setenv("UCX_LOST_PEER", scene->action, 1);
    (void)setenv("UCX_FAILURE_BOUND_PEER", "1s", 1);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, between), 0);
    ck_assert_int_eq(pipe(said), 0);
    other = start(between[1], between[0], -1, 0, scene->is_killed);
    pid   = start(between[0], between[1], said[1], other, scene->is_killed);
    (void)close(between[0]);
    (void)close(between[1]);
    (void)close(said[1]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(waitpid(other, NULL, 0), other);
    read_all(said[0], text, sizeof(text));
    (void)close(said[0]);
    if (scene->must_end) {
        ck_assert_msg(WIFSIGNALED(status) && (WTERMSIG(status) == SIGABRT),
                      "status %x: %s", status, text);
        ck_assert_ptr_nonnull(strstr(text, "UCX_LOST_PEER"));
    } else {
        ck_assert_msg(WIFEXITED(status) && (WEXITSTATUS(status) == WENT_ON),
                      "status %x: %s", status, text);
    }
    ck_assert_msg((strstr(text, "the peer is lost") != NULL) == scene->is_lost,
                  "said: %s", text);
}

static const struct test_case cases[] = {
    TEST_TIMEOUT(lost__ends_who_handles_no_errors, 90), {0}};

const struct test_suite lost_suite = {
    .name = "lost", .cases = cases, .params = lost_params};
