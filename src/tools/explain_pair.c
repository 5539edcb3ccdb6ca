/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/explain_pair.c - two workers in two processes that have met.
 *
 *   parent                         child
 *   open                           open
 *     |<------- addresses, socket ------>|
 *     |======== one message each =======>|
 *   explain                        progress until the socket is closed */
#include "tools/explain.h"

#include "tools/tool.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

enum {
    PAIR_TAG           = 1,
    PAIR_ADDRESS_BYTES = 4096, /* the most that an address has */
};

static const uint64_t pair_patience_ns = 20ull * 1000 * 1000 * 1000;

bool explain_side_open(struct explain_side *side, const char *name)
{
    ucp_params_t        params        = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                         .features   = UCP_FEATURE_TAG};
    ucp_worker_params_t worker_params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_NAME, .name = name};
    ucs_status_t status;

    status = ucp_init_version(TOOL_UCP_API_MAJOR, TOOL_UCP_API_MINOR, &params,
                              NULL, &side->context);
    if (status != UCS_OK) {
        tool_error("ucp_init: %s", ucs_status_string(status));
        return false;
    }
    status = ucp_worker_create(side->context, &worker_params, &side->worker);
    if (status != UCS_OK) {
        tool_error("ucp_worker_create: %s", ucs_status_string(status));
        ucp_cleanup(side->context);
        return false;
    }
    return true;
}

void explain_side_close(struct explain_side *side)
{
    ucp_worker_destroy(side->worker);
    ucp_cleanup(side->context);
}

static bool pair_send_address(const struct explain_side *side, int fd)
{
    ucp_address_t *address;
    size_t         length;
    ssize_t        sent;

    if (ucp_worker_get_address(side->worker, &address, &length) != UCS_OK) {
        return false;
    }
    sent = send(fd, address, length, MSG_NOSIGNAL);
    ucp_worker_release_address(side->worker, address);
    return sent == (ssize_t)length;
}

/* Make an endpoint to whoever is at the other end of fd. */
static bool pair_connect(const struct explain_side *side, int fd,
                         ucp_ep_h *ep_p)
{
    static uint8_t  bytes[PAIR_ADDRESS_BYTES];
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
        .address    = (const ucp_address_t *)(void *)bytes,
    };
    ucs_status_t status;

    if (!pair_send_address(side, fd) ||
        (recv(fd, bytes, sizeof(bytes), 0) <= 0)) {
        tool_error("the two processes cannot exchange their addresses");
        return false;
    }
    status = ucp_ep_create(side->worker, &params, ep_p);
    if (status != UCS_OK) {
        tool_error("ucp_ep_create: %s", ucs_status_string(status));
    }
    return status == UCS_OK;
}

/* Progress until a request is complete; it is given back. */
static bool pair_wait(const struct explain_side *side, void *request)
{
    uint64_t     end_ns = tool_clock_ns() + pair_patience_ns;
    ucs_status_t status = UCS_INPROGRESS;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_RAW_STATUS(request) == UCS_OK;
    }
    while ((status == UCS_INPROGRESS) && (tool_clock_ns() < end_ns)) {
        ucp_worker_progress(side->worker);
        status = ucp_request_check_status(request);
    }
    ucp_request_free(request);
    return status == UCS_OK;
}

/* A message each way: from then on both know what they may do. */
static bool pair_meet(const struct explain_side *side, ucp_ep_h ep)
{
    static char         out[8], in[8];
    ucp_request_param_t param = {.op_attr_mask = 0};
    void *receive = ucp_tag_recv_nbx(side->worker, in, sizeof(in), PAIR_TAG,
                                     UINT64_MAX, &param);
    void *send    = ucp_tag_send_nbx(ep, out, sizeof(out), PAIR_TAG, &param);
    bool  met     = pair_wait(side, send);

    met = pair_wait(side, receive) && met;
    if (!met) {
        tool_error("the two processes cannot exchange a message");
    }
    return met;
}

/* The child: be there until the parent has closed its socket. */
static bool pair_serve(int fd)
{
    struct pollfd       parent = {.fd = fd, .events = POLLIN};
    struct explain_side side;
    ucp_ep_h            ep;

    if (!explain_side_open(&side, "child") || !pair_connect(&side, fd, &ep) ||
        !pair_meet(&side, ep)) {
        return false;
    }
    while (poll(&parent, 1, 1) == 0) {
        while (ucp_worker_progress(side.worker) > 0) {
        }
    }
    return true;
}

static bool pair_explain(int fd, const causeway_explain_params_t *params)
{
    __typeof__(&causeway_ep_explain) explain =
        EXPLAIN_FIND(causeway_ep_explain);
    struct explain_side side;
    ucs_status_t        status;
    ucp_ep_h            ep;
    bool                met;

    if (!explain_side_open(&side, "parent")) {
        return false;
    }
    met = pair_connect(&side, fd, &ep) && pair_meet(&side, ep);
    if (met) {
        status = explain(ep, params, stdout);
        met    = (status == UCS_OK);
        if (!met) {
            tool_error("%s", ucs_status_string(status));
        }
    }
    explain_side_close(&side);
    return met;
}

bool explain_pair(const causeway_explain_params_t *params)
{
    int   fds[2];
    pid_t child;
    bool  done;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
        tool_error("socketpair: %m");
        return false;
    }
    (void)fflush(NULL);
    child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)close(fds[0]);
        _exit(pair_serve(fds[1]) ? TOOL_EXIT_OK : TOOL_EXIT_FAILED);
    }
    (void)close(fds[1]);
    if (child < 0) {
        tool_error("fork: %m");
        (void)close(fds[0]);
        return false;
    }
    done = pair_explain(fds[0], params);
    (void)close(fds[0]);
    while ((waitpid(child, NULL, 0) < 0) && (errno == EINTR)) {
    }
    return done;
}
