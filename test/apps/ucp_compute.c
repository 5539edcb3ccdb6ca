/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * S sends 64 MiB and then computes, without any call of UCP. R must not need
 * it: R has all before the computing ends, and as soon as if it had read S's
 * memory itself.
 *
 *   S                                     R
 *   |<== process_vm_readv ================|  "alone": how long that takes here
 *   |---- ucp_tag_send_nbx -------------->|
 *   | compute, until R says "done"        |  progress, until it is received
 *   |<--- "done", the time -(a socket)----|
 *
 * The order of events decides; the times are compared within one try, and one
 * of several tries must show it: others use these processors, too.
 *
 *   ucp_compute    the protocol is set by UCX_RNDV_SCHEME
 */
#include "ucp_util.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define LENGTH      ((size_t)64 << 20)
#define ADDRESS_MAX 4096
#define TRY_COUNT   200 /* a crowded machine needs some */
/* what asking first and telling afterwards may cost beside reading */
#define SLACK_FACTOR  1.1
#define SLACK_SECONDS 0.001
/* R has this long; if it needs S, it never ends */
#define COMPUTE_SECONDS 20.0

enum { ORDER_READ, ORDER_RECEIVE, ORDER_END };

/* What S asks of R. */
struct order {
    int      kind;
    uint64_t seed;
    void    *buffer; /* S's */
};

/* What R answers. */
struct answer {
    int    is_good;
    double time; /* READ: how long, RECEIVE: when it was there */
};

/* ---- R ---- */

static struct answer read_alone(const struct order *order, char *data)
{
    struct iovec  mine = {data, LENGTH}, theirs = {order->buffer, LENGTH};
    double        begin  = uu_now();
    ssize_t       length = process_vm_readv(getppid(), &mine, 1, &theirs, 1, 0);
    struct answer answer = {length == (ssize_t)LENGTH, uu_now() - begin};

    return answer;
}

static struct answer receive(int channel, struct uu_node *node,
                             const struct order *order, char *data)
{
    void         *request = uu_receive(node, data, LENGTH, 1);
    int           posted  = 1;
    struct answer answer  = {0, 0};

    if (uu_put(channel, &posted, sizeof(posted)) != 0) {
        return answer;
    }
    answer.is_good = uu_wait(node, request, COMPUTE_SECONDS) == UCS_OK;
    answer.time    = uu_now();
    (void)order;
    return answer;
}

static int child(int channel, void *arg)
{
    char           address[ADDRESS_MAX], *data = malloc(LENGTH);
    struct order   order;
    struct answer  answer;
    struct uu_node node;
    struct uu_link link;
    int            good;

    (void)arg;
    if (data == NULL || uu_open(&node, UCP_FEATURE_TAG) != 0 ||
        uu_put(channel, node.address, node.length) != 0 ||
        uu_get(channel, address, sizeof(address)) <= 0 ||
        uu_connect(&node, address, 0, &link) != UCS_OK) {
        return 3;
    }
    memset(data, 0, LENGTH); /* the pages are there before anything counts */
    for (;;) {
        if (uu_get(channel, &order, sizeof(order)) != sizeof(order)) {
            return 4;
        }
        if (order.kind == ORDER_END) {
            break;
        }
        answer = (order.kind == ORDER_READ)
                     ? read_alone(&order, data)
                     : receive(channel, &node, &order, data);
        if (uu_put(channel, &answer, sizeof(answer)) != 0) {
            return 5;
        }
        if (order.kind == ORDER_RECEIVE) {
            good = !uu_differs(data, LENGTH, order.seed);
            if (uu_put(channel, &good, sizeof(good)) != 0) {
                return 6;
            }
        }
    }
    uu_disconnect(&node, &link, 0);
    uu_close(&node);
    free(data);
    return 0;
}

/* ---- S ---- */

/* Compute until R says something. @return 0: it says nothing. */
static int compute(int channel)
{
    struct pollfd   entry = {.fd = channel, .events = POLLIN};
    double          until = uu_now() + COMPUTE_SECONDS;
    volatile double sum   = 0;

    while (uu_now() < until) {
        for (int i = 0; i < 10000; i++) {
            sum += 1.0 / (i + 1);
        }
        if (poll(&entry, 1, 0) != 0) {
            return 1;
        }
    }
    return 0;
}

/* How long R needs to read by itself; below 0: it may not. */
static double alone(const struct uu_child *r, char *data)
{
    struct order  order  = {ORDER_READ, 0, data};
    struct answer answer = {0, 0};

    if (uu_put(r->channel, &order, sizeof(order)) != 0 ||
        !compute(r->channel) ||
        uu_get(r->channel, &answer, sizeof(answer)) <= 0 || !answer.is_good) {
        return -1;
    }
    return answer.time;
}

/* How long after the call R has it all; below 0: not while we compute. */
static double message(const struct uu_child *r, struct uu_node *node,
                      struct uu_link *link, char *data, uint64_t seed)
{
    struct order  order  = {ORDER_RECEIVE, seed, data};
    struct answer answer = {0, 0};
    int           posted, good = 0, was_in_time;
    double        begin;
    void         *request;

    uu_fill(data, LENGTH, seed);
    if (uu_put(r->channel, &order, sizeof(order)) != 0 ||
        uu_get(r->channel, &posted, sizeof(posted)) <= 0) {
        return -1;
    }
    begin       = uu_now();
    request     = uu_send(link, data, LENGTH, 1);
    was_in_time = compute(r->channel);
    uu_check(uu_wait(node, request, UU_SECONDS) == UCS_OK, "the send");
    if (uu_get(r->channel, &answer, sizeof(answer)) <= 0 ||
        uu_get(r->channel, &good, sizeof(good)) <= 0) {
        return -1;
    }
    uu_check(!answer.is_good || good, "the data is wrong");
    return (was_in_time && answer.is_good) ? answer.time - begin : -1;
}

static void tries(const struct uu_child *r, struct uu_node *node,
                  struct uu_link *link, char *data)
{
    double reading = 0, took = 0;

    uu_check(message(r, node, link, data, 1) >= 0,
             "R did not receive while S computed");
    for (uint64_t i = 2; i < 2 + TRY_COUNT; i++) {
        reading = alone(r, data);
        took    = message(r, node, link, data, i);
        uu_check(took >= 0, "R did not receive while S computed");
        if (took < 0) {
            return;
        }
        fprintf(stderr, "# reading %.3f ms, the message %.3f ms\n",
                reading * 1e3, took * 1e3);
        if (took <= reading * SLACK_FACTOR + SLACK_SECONDS) {
            return;
        }
    }
    uu_check(0, "reading takes %.3f ms, the message %.3f ms", reading * 1e3,
             took * 1e3);
}

int main(void)
{
    struct uu_child r    = uu_fork(child, NULL);
    struct order    end  = {ORDER_END, 0, NULL};
    char           *data = malloc(LENGTH);
    char            address[ADDRESS_MAX];
    struct uu_node  node;
    struct uu_link  link;
    int             code;

    if (data == NULL || uu_open(&node, UCP_FEATURE_TAG) != 0) {
        uu_kill(&r);
        return 2;
    }
    memset(data, 0, LENGTH);
    if (uu_get(r.channel, address, sizeof(address)) <= 0 ||
        uu_put(r.channel, node.address, node.length) != 0 ||
        uu_connect(&node, address, 0, &link) != UCS_OK) {
        uu_kill(&r);
        uu_notok("compute", "the processes do not meet");
        return uu_end();
    }
    if (alone(&r, data) < 0) {
        uu_skip("compute", "R may not read S's memory (CMA)");
    } else {
        tries(&r, &node, &link, data);
        uu_result("compute");
    }
    (void)uu_put(r.channel, &end, sizeof(end));
    uu_disconnect(&node, &link, 0);
    code = uu_join(&r);
    if (code != 0) {
        uu_notok("compute__end", "the other process ended with %d", code);
    }
    uu_close(&node);
    free(data);
    return uu_end();
}
