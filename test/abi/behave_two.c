/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/behave_two.c - two processes that tell one another their addresses
 * through a socket; the child sends what the parent checks and prints. */
#include "behave.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIZES = 15, BURST = 2000, UNEXPECTED = 5000, ADDRESS_MAX = 4096 };

static const size_t sizes[SIZES] = {
    0,    1,     8,     63,     200,    1000,    4096,        8192,
    8193, 20000, 65535, 100000, 300000, 1 << 20, BEHAVE_LARGE};

static char large[BEHAVE_LARGE];
static char large_in[BEHAVE_LARGE];

/* This process's node in a, and the socket to the other one. */
static struct pair me;
static int         wire;

static void put(const void *bytes, size_t length)
{
    if (write(wire, bytes, length) != (ssize_t)length) {
        _exit(2);
    }
}

static void get(void *bytes, size_t length)
{
    if (recv(wire, bytes, length, MSG_WAITALL) != (ssize_t)length) {
        _exit(2);
    }
}

/* Wait for the other process, progressing or not. */
static void meet(bool progress)
{
    time_t end  = time(NULL) + BEHAVE_TIMEOUT_S;
    char   byte = 0;

    put(&byte, 1);
    while (recv(wire, &byte, 1, progress ? MSG_DONTWAIT : 0) != 1) {
        ucp_worker_progress(me.a.worker);
        if (time(NULL) > end) {
            must(UCS_ERR_TIMED_OUT, "meet");
        }
    }
}

static void connect_both(void)
{
    struct pair_options options = {.no_eps = true};
    char                address[ADDRESS_MAX];
    ucp_address_t      *mine;
    ucp_ep_params_t     params;
    size_t              length;

    memset(&me, 0, sizeof(me));
    node_open(&me.a, &options);
    must(ucp_worker_get_address(me.a.worker, &mine, &length), "address");
    put(&length, sizeof(length));
    put(mine, length);
    ucp_worker_release_address(me.a.worker, mine);
    get(&length, sizeof(length));
    get(address, length);
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address    = (void *)address;
    must(ucp_ep_create(me.a.worker, &params, &me.a.ep), "ep_create");
}

static void send_wait(const void *bytes, size_t length, ucp_tag_t tag)
{
    must(pump_request(&me,
                      ucp_tag_send_nb(me.a.ep, bytes, length,
                                      ucp_dt_make_contig(1), tag, on_send_nb)),
         "send");
}

static ucs_status_t recv_wait(void *bytes, size_t length, ucp_tag_t tag)
{
    return pump_request(&me, ucp_tag_recv_nb(me.a.worker, bytes, length,
                                             ucp_dt_make_contig(1), tag, ~0ul,
                                             on_recv_nb));
}

/* ---------------------------------------------------------------- parts */

static void sizes_child(void)
{
    unsigned i;

    for (i = 0; i < SIZES; ++i) {
        pattern_fill(large, sizes[i], i);
        send_wait(large, sizes[i], 0x100 + i);
    }
    for (i = 0; i < SIZES; ++i) { /* and back */
        must(recv_wait(large_in, sizeof(large_in), 0x200 + i), "recv");
        if (!pattern_holds(large_in, sizes[i], i + 50)) {
            _exit(3);
        }
    }
}

static void sizes_parent(void)
{
    int      good = 0;
    unsigned i;

    for (i = 0; i < SIZES; ++i) {
        memset(large_in, 0, sizes[i]);
        good += (recv_wait(large_in, sizeof(large_in), 0x100 + i) == UCS_OK) &&
                pattern_holds(large_in, sizes[i], i);
    }
    fact("sizes.received", "%d", good);
    for (i = 0; i < SIZES; ++i) {
        pattern_fill(large, sizes[i], i + 50);
        send_wait(large, sizes[i], 0x200 + i);
    }
}

/* A sender that sends and then does nothing at all is heard at once. */
static void silent_child(void)
{
    uint64_t number = 4711;

    must_ptr(ucp_tag_send_nb(me.a.ep, &number, sizeof(number),
                             ucp_dt_make_contig(1), 0x300, on_send_nb),
             "send");
    meet(false);
}

static void silent_parent(void)
{
    uint64_t number = 0;

    fact_status("silent.status", recv_wait(&number, sizeof(number), 0x300));
    fact("silent.number", "%d", (int)number);
    meet(false);
}

/* Many messages in order, some of them before they are expected. */
static void order_child(void)
{
    uint64_t numbers[BURST];
    void    *requests[BURST];
    int      i;

    for (i = 0; i < BURST; ++i) {
        numbers[i]  = (uint64_t)i;
        requests[i] = ucp_tag_send_nb(me.a.ep, &numbers[i], sizeof(numbers[i]),
                                      ucp_dt_make_contig(1), 0x400, on_send_nb);
        must_ptr(requests[i], "send");
    }
    for (i = 0; i < BURST; ++i) {
        must(pump_request(&me, requests[i]), "send");
    }
    meet(true);
}

static void order_parent(void)
{
    int i, in_order = 0;

    for (i = 0; i < BURST; ++i) {
        uint64_t number = ~0ul;

        if (i % 100 == 0) {
            usleep(500); /* let some come unexpected */
        }
        must(recv_wait(&number, sizeof(number), 0x400), "recv");
        in_order += (number == (uint64_t)i);
    }
    fact("order.in_order", "%d", in_order);
    meet(true);
}

/* Messages that nobody waits for do not keep others from coming. */
static void unexpected_child(void)
{
    static uint64_t numbers[UNEXPECTED];
    static void    *requests[UNEXPECTED];
    int             i;

    for (i = 0; i < UNEXPECTED; ++i) {
        numbers[i]  = (uint64_t)i;
        requests[i] = ucp_tag_send_nb(me.a.ep, &numbers[i], sizeof(numbers[i]),
                                      ucp_dt_make_contig(1),
                                      0x10000 + (ucp_tag_t)i, on_send_nb);
        must_ptr(requests[i], "send");
    }
    send_wait(large, BEHAVE_LARGE, 0x500);
    for (i = 0; i < UNEXPECTED; ++i) {
        must(pump_request(&me, requests[i]), "send");
    }
    meet(true);
}

static void unexpected_parent(void)
{
    int i, good = 0;

    fact_status("unexpected.large_gets_through",
                recv_wait(large_in, sizeof(large_in), 0x500));
    for (i = UNEXPECTED - 1; i >= 0; --i) { /* last one first */
        uint64_t number = ~0ul;

        good += (recv_wait(&number, sizeof(number), 0x10000 + (ucp_tag_t)i) ==
                 UCS_OK) &&
                (number == (uint64_t)i);
    }
    fact("unexpected.all", "%d", good);
    meet(true);
}

/* Synchronous: ends after the match, not before. */
static void sync_child(void)
{
    struct record       record;
    ucp_request_param_t param = param_send(&record, 0);
    char                before;
    void               *request;

    request = ucp_tag_send_sync_nbx(me.a.ep, large, 100, 0x600, &param);
    must_ptr(request, "sync");
    meet(true); /* the parent has probed it and not received it */
    pump_some(&me);
    before = (char)record.calls;
    meet(true);
    pump_calls(&me, &record);
    ucp_request_free(request);
    put(&before, 1);
}

static void sync_parent(void)
{
    struct pair         self = {.b = me.a, .a = me.a};
    ucp_tag_recv_info_t info;
    char                before;

    pump_arrived(&self, 0x600);
    (void)ucp_tag_probe_nb(me.a.worker, 0x600, ~0ul, 0, &info);
    meet(true);
    meet(true);
    must(recv_wait(large_in, 100, 0x600), "recv");
    {
        time_t end = time(NULL) + BEHAVE_TIMEOUT_S;

        while ((recv(wire, &before, 1, MSG_DONTWAIT) != 1) &&
               (time(NULL) <= end)) {
            ucp_worker_progress(me.a.worker);
        }
    }
    fact("sync.ended_before_match", "%d", before);
}

/* The way MPICH ends: close, then a barrier without progress, then destroy. */
static void finish(bool prints)
{
    ucs_status_t status = pump_request(&me, ucp_disconnect_nb(me.a.ep));

    if (prints) {
        fact_status("finish.disconnect", status);
    }
    meet(false);
    node_close(&me.a);
    if (prints) {
        fact("finish.destroyed", "1");
    }
}

static void child(void)
{
    connect_both();
    sizes_child();
    silent_child();
    order_child();
    unexpected_child();
    sync_child();
    finish(false);
    _exit(0);
}

/* One process sends and leaves at once; the other is late. */
static void leave_early(void)
{
    int   fds[2], status;
    pid_t pid;

    socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        uint64_t number = 99;

        wire = fds[1];
        connect_both();
        send_wait(&number, sizeof(number), 0x700);
        meet(true); /* both are connected */
        send_wait(&number, sizeof(number), 0x701);
        (void)pump_request(&me, ucp_disconnect_nb(me.a.ep));
        node_close(&me.a);
        _exit(0);
    }
    wire = fds[0];
    {
        uint64_t number = 0;

        connect_both();
        must(recv_wait(&number, sizeof(number), 0x700), "recv");
        meet(true);
        waitpid(pid, &status, 0); /* it is gone before we look */
        number = 0;
        fact_status("early.status", recv_wait(&number, sizeof(number), 0x701));
        fact("early.number", "%d", (int)number);
        fact("early.exit", "%d", status);
        (void)pump_request(&me, ucp_disconnect_nb(me.a.ep));
        node_close(&me.a);
    }
}

int main(void)
{
    int   fds[2], status;
    pid_t pid;

    socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
    pid  = fork();
    wire = fds[pid == 0];
    close(fds[pid != 0]);
    if (pid == 0) {
        child();
    }
    connect_both();
    sizes_parent();
    silent_parent();
    order_parent();
    unexpected_parent();
    sync_parent();
    finish(true);
    waitpid(pid, &status, 0);
    fact("child.exit", "%d", status);
    leave_early();
    fact("end", "1");
    return 0;
}
