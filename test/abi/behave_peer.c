/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/behave_peer.c - error mode PEER: forced close, a peer that is
 * killed, the error handler.
 *
 * UCX's shared memory does not offer this mode, so it runs over TCP there. */
#include "behave.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char large[BEHAVE_LARGE];
static char small[BEHAVE_SMALL] = {1, 2, 3};
static char small_in[BEHAVE_SMALL];

static struct {
    int          calls;
    void        *arg;
    ucp_ep_h     ep;
    ucs_status_t status;
} error;

static void on_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    ++error.calls;
    error.arg    = arg;
    error.ep     = ep;
    error.status = status;
}

static void send_small(ucp_ep_h ep, ucp_tag_t tag)
{
    must_ptr(ucp_tag_send_nb(ep, small, sizeof(small), ucp_dt_make_contig(1),
                             tag, on_send_nb),
             "send");
}

static ucs_status_t recv_small(struct pair *pair, ucp_worker_h worker,
                               ucp_tag_t tag)
{
    return pump_request(
        pair, ucp_tag_recv_nb(worker, small_in, sizeof(small_in),
                              ucp_dt_make_contig(1), tag, ~0ul, on_recv_nb));
}

static ucs_status_ptr_t close_flags(ucp_ep_h ep, uint32_t flags,
                                    struct record *record)
{
    ucp_request_param_t param = param_send(record, 0);

    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = flags;
    return ucp_ep_close_nbx(ep, &param);
}

static void with_mode_peer(void)
{
    struct pair_options options = {.err_mode = UCP_ERR_HANDLING_MODE_PEER};
    struct pair         pair;
    struct record       sent, received;
    ucp_request_param_t param;
    void               *request, *recv_request, *close_request;

    options.err_cb = on_error;
    memset(&error, 0, sizeof(error));
    pair_open(&pair, &options);
    send_small(pair.a.ep, 0x31);
    fact_status("peer.sends", recv_small(&pair, pair.b.worker, 0x31));

    /* Force with a send that waits for its receiver. */
    param   = param_send(&sent, 0);
    request = ucp_tag_send_nbx(pair.a.ep, large, sizeof(large), 0x32, &param);
    fact_outcome("peer.large_send", request);
    param         = param_recv(&received, 0);
    recv_request  = ucp_tag_recv_nbx(pair.a.worker, small_in, sizeof(small_in),
                                     0x33, ~0ul, &param);
    close_request = close_flags(pair.a.ep, UCP_EP_CLOSE_FLAG_FORCE, NULL);
    fact("peer.forced_inside", "%d", sent.calls);
    must(pump_request(&pair, close_request), "close");
    pair.a.ep = NULL;
    pump_calls(&pair, &sent);
    fact_record("peer.forced_send", &sent);
    ucp_request_free(request);
    fact("peer.receives_stay", "%d", received.calls);
    ucp_request_cancel(pair.a.worker, recv_request);
    ucp_request_free(recv_request);
    fact("peer.closer_is_not_called", "%d", error.calls);
    send_small(pair.b.ep, 0x34);
    fact_status("peer.sends_on", recv_small(&pair, pair.a.worker, 0x34));
    if (pair.b.ep != NULL) {
        (void)pump_request(
            &pair, close_flags(pair.b.ep, UCP_EP_CLOSE_FLAG_FORCE, NULL));
        pair.b.ep = NULL;
    }
    node_close(&pair.a);
    node_close(&pair.b);
}

/* The two ends of a connection with different modes, in both orders of making
 * them: each sends and receives. */
static void mixed_modes(const char *name, bool b_is_late)
{
    struct pair_options none = {.no_eps = true};
    struct pair_options peer = {.err_mode = UCP_ERR_HANDLING_MODE_PEER,
                                .err_cb   = on_error};
    char                key[64];
    struct pair         pair;

    memset(&error, 0, sizeof(error));
    memset(&pair, 0, sizeof(pair));
    node_open(&pair.a, &none);
    node_open(&pair.b, &none);
    pair.a.ep = ep_open(pair.a.worker, pair.b.worker, &peer);
    if (b_is_late) {
        send_small(pair.a.ep, 0x71);
        snprintf(key, sizeof(key), "%s.first", name);
        fact_status(key, recv_small(&pair, pair.b.worker, 0x71));
    }
    pair.b.ep = ep_open(pair.b.worker, pair.a.worker, &none);
    send_small(pair.b.ep, 0x72);
    snprintf(key, sizeof(key), "%s.to_peer", name);
    fact_status(key, recv_small(&pair, pair.a.worker, 0x72));
    send_small(pair.a.ep, 0x73);
    snprintf(key, sizeof(key), "%s.to_none", name);
    fact_status(key, recv_small(&pair, pair.b.worker, 0x73));
    snprintf(key, sizeof(key), "%s.force_of_none", name);
    fact_outcome(key, ucp_ep_close_nb(pair.b.ep, UCP_EP_CLOSE_MODE_FORCE));
    snprintf(key, sizeof(key), "%s.handler", name);
    fact(key, "%d", error.calls);
    (void)pump_request(&pair,
                       close_flags(pair.a.ep, UCP_EP_CLOSE_FLAG_FORCE, NULL));
    ep_shut(&pair, pair.b.ep);
    node_close(&pair.a);
    node_close(&pair.b);
}

static void modify(void)
{
    struct pair_options options = {.err_mode = UCP_ERR_HANDLING_MODE_PEER};
    struct pair         pair;
    ucp_ep_params_t     params;

    options.err_cb = on_error;
    pair_open(&pair, &options);
    memset(&params, 0xee, sizeof(params));
    params.field_mask =
        UCP_EP_PARAM_FIELD_USER_DATA | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.user_data      = &pair;
    params.err_handler.cb = on_error;
    fact_outcome("modify.user_data", ucp_ep_modify_nb(pair.a.ep, &params));
    send_small(pair.a.ep, 0x51);
    fact_status("modify.sends", recv_small(&pair, pair.b.worker, 0x51));
    (void)pump_request(&pair,
                       close_flags(pair.a.ep, UCP_EP_CLOSE_FLAG_FORCE, NULL));
    (void)pump_request(&pair,
                       close_flags(pair.b.ep, UCP_EP_CLOSE_FLAG_FORCE, NULL));
    node_close(&pair.a);
    node_close(&pair.b);
}

static void write_all(int fd, const void *bytes, size_t length)
{
    if (write(fd, bytes, length) != (ssize_t)length) {
        _exit(2);
    }
}

static void read_all(int fd, void *bytes, size_t length)
{
    if (recv(fd, bytes, length, MSG_WAITALL) != (ssize_t)length) {
        _exit(2);
    }
}

/* The peer: tells its address, receives one message, then waits for death. */
static void be_killed(int fd)
{
    struct pair_options options = {.no_eps = true};
    struct pair         pair;
    ucp_address_t      *address;
    size_t              length;

    memset(&pair, 0, sizeof(pair));
    node_open(&pair.a, &options);
    must(ucp_worker_get_address(pair.a.worker, &address, &length), "address");
    write_all(fd, &length, sizeof(length));
    write_all(fd, address, length);
    must(pump_request(&pair,
                      ucp_tag_recv_nb(pair.a.worker, small_in, sizeof(small_in),
                                      ucp_dt_make_contig(1), 0x61, ~0ul,
                                      on_recv_nb)),
         "recv");
    write_all(fd, "x", 1);
    for (;;) {
        pause();
    }
}

/* Who is told of the death. */
enum told { TOLD_NOBODY, TOLD_ARG, TOLD_USER_DATA };

static ucp_ep_h ep_to(int fd, ucp_worker_h worker, enum told told,
                      void *user_data)
{
    char            address[4096];
    size_t          length;
    ucp_ep_params_t params;
    ucp_ep_h        ep;

    read_all(fd, &length, sizeof(length));
    read_all(fd, address, length);
    memset(&params, 0xee, sizeof(params));
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                        UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
    params.address  = (void *)address;
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    if (told != TOLD_NOBODY) {
        params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLER;
        params.err_handler.cb  = on_error;
        params.err_handler.arg = small;
    }
    if (told == TOLD_USER_DATA) {
        params.field_mask |= UCP_EP_PARAM_FIELD_USER_DATA;
        params.user_data = user_data;
    }
    must(ucp_ep_create(worker, &params, &ep), "ep_create");
    return ep;
}

static const char *death_name(ucs_status_t status)
{
    /* Which of them depends on who notices first. */
    return ((status == UCS_ERR_CONNECTION_RESET) ||
            (status == UCS_ERR_ENDPOINT_TIMEOUT) ||
            (status == UCS_ERR_NOT_CONNECTED) ||
            (status == UCS_ERR_UNREACHABLE) || (status == UCS_ERR_IO_ERROR))
               ? "a failure of the peer"
               : ucs_status_string(status);
}

/* What still can be done with an endpoint whose peer failed. */
static void after_failure(struct pair *pair, ucp_ep_h ep, const char *name)
{
    char  key[64];
    void *request;

    snprintf(key, sizeof(key), "%s.send_after", name);
    request = ucp_tag_send_nb(ep, small, sizeof(small), ucp_dt_make_contig(1),
                              0x63, on_send_nb);
    fact(key, "%d", UCS_PTR_IS_ERR(request));
    snprintf(key, sizeof(key), "%s.ep_flush_fails", name);
    fact(key, "%d",
         pump_request(pair, ucp_ep_flush_nb(ep, 0, on_send_nb)) != UCS_OK);
    snprintf(key, sizeof(key), "%s.worker_flush", name);
    fact_status(key, pump_request(pair, ucp_worker_flush_nb(pair->a.worker, 0,
                                                            on_send_nb)));
    snprintf(key, sizeof(key), "%s.force_close", name);
    (void)pump_request(pair, close_flags(ep, UCP_EP_CLOSE_FLAG_FORCE, NULL));
    fact(key, "1");
    snprintf(key, sizeof(key), "%s.handler_once", name);
    fact(key, "%d", error.calls);
}

static void killed(const char *name, enum told told)
{
    struct pair_options options = {.no_eps = true};
    char                key[64];
    struct pair         pair;
    struct record       sent;
    ucp_request_param_t param;
    ucp_ep_h            ep;
    pid_t               child;
    time_t              end;
    void               *request;
    char                byte;
    int                 fds[2], wait_status;

    memset(&pair, 0, sizeof(pair));
    memset(&error, 0, sizeof(error));
    socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        close(fds[0]);
        be_killed(fds[1]);
    }
    close(fds[1]);
    node_open(&pair.a, &options);
    ep = ep_to(fds[0], pair.a.worker, told, &pair);
    send_small(ep, 0x61);
    for (end = time(NULL) + BEHAVE_TIMEOUT_S; time(NULL) < end;) {
        ucp_worker_progress(pair.a.worker);
        if (recv(fds[0], &byte, 1, MSG_DONTWAIT) == 1) {
            break;
        }
    }
    param   = param_send(&sent, 0);
    request = ucp_tag_send_nbx(ep, large, sizeof(large), 0x62, &param);
    must_ptr(request, "send");
    kill(child, SIGKILL);
    waitpid(child, &wait_status, 0);
    snprintf(key, sizeof(key), "%s.inside_nothing", name);
    fact(key, "%d", error.calls);
    for (end = time(NULL) + BEHAVE_TIMEOUT_S;
         (time(NULL) < end) && (((told != TOLD_NOBODY) && (error.calls == 0)) ||
                                (sent.calls == 0));) {
        ucp_worker_progress(pair.a.worker);
    }
    pump_some(&pair);
    snprintf(key, sizeof(key), "%s.handler", name);
    fact(key, "calls %d ep %d arg %d status %s", error.calls,
         (told == TOLD_NOBODY) || (error.ep == ep),
         error.arg == ((told == TOLD_NOBODY)      ? NULL
                       : (told == TOLD_USER_DATA) ? (void *)&pair
                                                  : (void *)small),
         death_name(error.status));
    snprintf(key, sizeof(key), "%s.send", name);
    fact(key, "calls %d failed %d", sent.calls, sent.status != UCS_OK);
    ucp_request_free(request);
    after_failure(&pair, ep, name);
    close(fds[0]);
    node_close(&pair.a);
}

int main(void)
{
    /* The processes are forked before the library is used. */
    killed("killed", TOLD_ARG);
    killed("killed_user_data", TOLD_USER_DATA);
    killed("killed_no_handler", TOLD_NOBODY);
    with_mode_peer();
    mixed_modes("mixed", false);
    mixed_modes("mixed_late", true);
    modify();
    fact("end", "1");
    return 0;
}
