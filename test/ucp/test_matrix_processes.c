/* SPDX-License-Identifier: BSD-3-Clause */
/* test_matrix_processes.c - the protocols forced between two processes, over
 * one to four devices of a transport, and counted. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ucp/api/causeway.h"
#include "ucp/matrix.h"
#include "ucp/proto/rdma.h"
#include "ucp/suites.h"
#ifdef HAVE_UDP
#include "uct/udp/udp.h"
#endif

enum { TAG = 1 };

static const struct test_param process_columns[] = {
    COLUMN(sm, EAGER, 1),
    COLUMN(sm, SEND, 1),
    COLUMN(sm, PUT, 1),
    COLUMN(sm, GET, 1),
    COLUMN(sm, SHARED, 1),
    COLUMN(sm, PIPELINE, 1),
    COLUMN(sm, BUFFERED, 1),
    COLUMN(example, EAGER, 1),
    COLUMN(example, SEND, 1),
    COLUMN(example, SEND, 2),
    COLUMN(example, SEND, 3),
    COLUMN(example, SEND, 4),
    COLUMN(example, BUFFERED, 4),
#ifdef HAVE_UDP
    COLUMN(udp, EAGER, 1),
    COLUMN(udp, BUFFERED, 3),
    COLUMN(udp, BUFFERED, 4),
    COLUMN(udp, SEND, 1),
    COLUMN(udp, SEND, 2),
    COLUMN(udp, SEND, 3),
    COLUMN(udp, SEND, 4),
    COLUMN(udp, PUT, 1),
    COLUMN(udp, PUT, 2),
    COLUMN(udp, PUT, 3),
    COLUMN(udp, PUT, 4),
    COLUMN(udp, GET, 1),
    COLUMN(udp, GET, 2),
    COLUMN(udp, GET, 3),
    COLUMN(udp, GET, 4),
    COLUMN(udp, PIPELINE, 1),
    COLUMN(udp, PIPELINE, 2),
    COLUMN(udp, PIPELINE, 3),
    COLUMN(udp, PIPELINE, 4),
#endif
    {0},
};

static const size_t process_lengths[] = {0,     1,     1000,   8159,   8160,
                                         8161,  19999, 20001,  79999,  80001,
                                         88160, 88161, 300001, 3000001};

enum { PROCESS_BYTES = 3000001 };

static uint8_t process_bytes[PROCESS_BYTES];

/* One process: one worker, one endpoint. */
struct end {
    ucp_context_h context;
    ucp_worker_h  worker;
    ucp_ep_h      ep;
};

static void end_connect(struct end *end, int channel)
{
    uint8_t         theirs[4096];
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                              .address    = (ucp_address_t *)(void *)theirs};
    ucp_address_t  *ours;
    size_t          length;

    ck_assert_int_eq(ucp_worker_get_address(end->worker, &ours, &length),
                     UCS_OK);
    ck_assert_int_eq(write(channel, ours, length), (ssize_t)length);
    ucp_worker_release_address(end->worker, ours);
    ck_assert_int_gt(read(channel, theirs, sizeof(theirs)), 0);
    ck_assert_int_eq(ucp_ep_create(end->worker, &params, &end->ep), UCS_OK);
}

static void end_open(struct end *end, const struct column *column, int channel)
{
    const ucp_params_t        params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                        .features   = UCP_FEATURE_TAG};
    const ucp_worker_params_t worker_params = {.field_mask = 0};
    const struct pair_setup   setup         = column_setup(column);

    column_set_env(column);
    (void)setenv("UCX_TLS", column->tls, 1);
    (void)setenv("UCX_MODULE_DIR", EXAMPLE_MODULE_DIR, 1);
    (void)setenv("UCX_RNDV_THRESH", setup.rndv_threshold, 1);
    ck_assert_int_eq(ucp_init(&params, NULL, &end->context), UCS_OK);
    ck_assert_int_eq(
        ucp_worker_create(end->context, &worker_params, &end->worker), UCS_OK);
    end_connect(end, channel);
}

static void end_wait(struct end *end, void *request)
{
    ck_assert_int_eq(worker_wait(end->worker, request, 60), UCS_OK);
    if (UCS_PTR_IS_PTR(request)) {
        ucp_request_free(request);
    }
}

static void end_receive(struct end *end, void *buffer, size_t length)
{
    end_wait(end, ucp_tag_recv_nbx(end->worker, buffer, length, TAG, UINT64_MAX,
                                   &pair_no_param));
}

static void end_close(struct end *end)
{
    end_wait(end, ucp_ep_close_nbx(end->ep, &pair_no_param));
    ucp_worker_destroy(end->worker);
    ucp_cleanup(end->context);
}

/* Did anything go over that lane? Fragments are announced, puts are not. */
static bool process_used(const struct ucp_ep_lane *lane)
{
#ifdef HAVE_UDP
    const struct uct_ep *ep = lane->uct_ep;

    if (strcmp(ep->transport->name, "udp") == 0) {
        return ucs_container_of(ep, struct udp_ep, base)
                   ->conn->send.delivered_bytes > 0;
    }
#endif
    return lane->is_used;
}

/* Who sends data, or reads it, does so over every rail. */
static void process_check_rails(const struct end    *end,
                                const struct column *column)
{
    for (unsigned i = 1; i < column->rails; ++i) {
        ck_assert(process_used(&end->ep->lanes[i]));
    }
}

/* R: checks each message, and says so. */
static void process_of_r(const struct column *column, int channel)
{
    struct end end;
    uint8_t    word = 1;

    end_open(&end, column, channel);
    end_receive(&end, &word, 1);
    end_wait(&end, ucp_tag_send_nbx(end.ep, &word, 1, TAG, &pair_no_param));
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(process_lengths); ++i) {
        end_receive(&end, process_bytes, process_lengths[i]);
        pattern_check(process_bytes, process_lengths[i], i);
        end_wait(&end, ucp_tag_send_nbx(end.ep, &word, 1, TAG, &pair_no_param));
    }
    if (column->kind == GET) {
        process_check_rails(&end, column);
    }
    end_close(&end);
    _exit(0);
}

/* S: sends one, and looks at what its worker counted. */
static void process_send(struct end *end, const struct column *column,
                         size_t length, unsigned seed)
{
    struct moved before = moved_out(end->worker);
    uint8_t      word;
    void        *send;

    pattern_fill(process_bytes, length, seed);
    send = (column->kind == BUFFERED)
               ? causeway_tag_send_buffered_nbx(end->ep, process_bytes, length,
                                                TAG, &pair_no_param)
               : ucp_tag_send_nbx(end->ep, process_bytes, length, TAG,
                                  &pair_no_param);
    end_wait(end, send);
    end_receive(end, &word, 1);
    check_moved(column->kind, moved_since(moved_out(end->worker), before),
                length, first_of(column->kind, end->ep));
}

static bool process_can(const struct end *end, enum kind kind)
{
    switch (kind) {
    case PUT:
    case PIPELINE:
        return ucp_rdma_own_lanes(end->ep, UCP_RDMA_PUT) != 0;
    case GET:
    case SHARED:
        return ucp_rdma_peer_lanes(end->ep, UCP_RDMA_GET) != 0;
    case EAGER:
    case SEND:
    case BUFFERED:
        break;
    }
    return true;
}

static void process_of_s(const struct column *column, int channel)
{
    static uint8_t room[MATRIX_ROOM];
    struct end     end;
    uint8_t        word = 0;
    bool           can;

    end_open(&end, column, channel);
    end_wait(&end, ucp_tag_send_nbx(end.ep, &word, 1, TAG, &pair_no_param));
    end_receive(&end, &word, 1);
    can = process_can(&end, column->kind);
    if (column->kind == BUFFERED) {
        ck_assert_int_eq(
            causeway_worker_attach_buffer(end.worker, room, MATRIX_ROOM),
            UCS_OK);
    }
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(process_lengths); ++i) {
        struct column carried = *column;

        carried.kind = can ? column->kind : SEND;
        process_send(&end, &carried, process_lengths[i], i);
    }
    if (column->kind != GET) {
        process_check_rails(&end, column);
    }
    end_close(&end);
    if (!can) {
        test_skip("the kernel forbids put and get between these processes");
    }
}

/* So many interfaces, and no others, for both processes. */
static void process_network(unsigned rails)
{
    char names[64] = "", command[200];

    test_netns();
    for (unsigned i = 0; i < rails; ++i) {
        size_t used = strlen(names);

        (void)snprintf(names + used, sizeof(names) - used, "%srail%u",
                       (i > 0) ? "," : "", i);
        (void)snprintf(command, sizeof(command),
                       "ip link add rail%u type veth peer name tail%u && "
                       "ip link set tail%u up && ip link set rail%u up && "
                       "ip address add 10.9.%u.1/24 dev rail%u",
                       i, i, i, i, i, i);
        test_netns_run(command);
    }
    (void)setenv("UCX_NET_DEVICES", names, 1);
}

static void processes__every_size(const struct test_param *param)
{
    const struct column *column = param->value;
    int                  pipe[2], status;
    pid_t                pid;

    if (strcmp(column->tls, "udp") == 0) {
        process_network(column->rails);
    }
    ck_assert_int_eq(
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pipe), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        process_of_r(param->value, pipe[1]);
    }
    (void)close(pipe[1]);
    process_of_s(param->value, pipe[0]);
    (void)close(pipe[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

static const struct test_case process_cases[] = {
    TEST_TIMEOUT(processes__every_size, 120),
    {0},
};

const struct test_suite matrix_processes_suite = {.name   = "matrix_processes",
                                                  .cases  = process_cases,
                                                  .params = process_columns};
