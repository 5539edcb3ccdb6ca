/* SPDX-License-Identifier: BSD-3-Clause */
/* test/bench/match.c - what a receive costs while 100,000 unexpected messages
 * wait, against an empty queue.
 *
 * A worker sends to itself. Messages of the background have tags of class 1,
 * each its own; measured ones are of class 2. Only the receive calls are
 * timed: what they find has arrived before.
 *
 *   exact    the one tag, all bits
 *   absent   a tag that nobody sent: searched, posted, canceled
 *   masked   any tag of class 2
 *   wild     any message: the oldest, so one of the background */
#include "bench.h"

#include <stdbool.h>
#include <string.h>

enum match_count {
    MATCH_BACKGROUND = 100000,
    MATCH_BATCH      = 200,
    MATCH_ROUNDS     = 15,
};

#define MATCH_CLASS(_class, _number)                                           \
    (((uint64_t)(_class) << 32) | (uint64_t)(_number))
#define MATCH_CLASS_MASK UINT64_C(0xffffffff00000000)

struct match {
    ucp_worker_h worker;
    ucp_ep_h     ep;
    uint64_t     next; /* number of the next message of a class */
};

enum match_kind { MATCH_EXACT, MATCH_ABSENT, MATCH_MASKED, MATCH_WILD };

static void match_send(struct match *match, unsigned class_number,
                       unsigned count)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    uint64_t            data  = 0;
    unsigned            i;

    for (i = 0; i < count; i++) {
        bench_finish(match->worker,
                     ucp_tag_send_nbx(match->ep, &data, sizeof(data),
                                      MATCH_CLASS(class_number, match->next++),
                                      &param),
                     "send");
    }
    while (ucp_worker_progress(match->worker) != 0) {
        /* all have arrived */
    }
}

/* Receive messages of the class until none is left. */
static void match_drain(struct match *match, uint64_t tag, uint64_t mask)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    ucp_tag_recv_info_t info;
    uint64_t            data;

    while (ucp_tag_probe_nb(match->worker, tag, mask, 0, &info) != NULL) {
        bench_finish(match->worker,
                     ucp_tag_recv_nbx(match->worker, &data, sizeof(data), tag,
                                      mask, &param),
                     "drain");
    }
}

/* One batch. @return ns per receive */
static double match_batch(struct match *match, enum match_kind kind)
{
    static ucs_status_ptr_t requests[MATCH_BATCH];
    static uint64_t         data[MATCH_BATCH];
    ucp_request_param_t     param = {.op_attr_mask = 0};
    uint64_t                first = match->next;
    uint64_t                mask  = kind == MATCH_MASKED ? MATCH_CLASS_MASK
                                    : kind == MATCH_WILD ? 0
                                                         : UINT64_MAX;
    uint64_t                begin_ns, spent_ns;
    unsigned                i;

    if (kind != MATCH_ABSENT) {
        match_send(match, 2, MATCH_BATCH);
    }
    begin_ns = bench_clock_ns();
    for (i = 0; i < MATCH_BATCH; i++) {
        requests[i] = ucp_tag_recv_nbx(
            match->worker, &data[i], sizeof(data[i]),
            MATCH_CLASS(kind == MATCH_ABSENT ? 3 : 2, first + i), mask, &param);
    }
    spent_ns = bench_clock_ns() - begin_ns;
    for (i = 0; i < MATCH_BATCH; i++) {
        if ((kind == MATCH_ABSENT) && UCS_PTR_IS_PTR(requests[i])) {
            ucp_request_cancel(match->worker, requests[i]);
            while (ucp_request_check_status(requests[i]) == UCS_INPROGRESS) {
                ucp_worker_progress(match->worker);
            }
            ucp_request_free(requests[i]);
        } else {
            bench_finish(match->worker, requests[i], "receive");
        }
    }
    return (double)spent_ns / MATCH_BATCH;
}

static double match_measure(struct match *match, enum match_kind kind,
                            bool background)
{
    double   values[MATCH_ROUNDS];
    unsigned i;

    for (i = 0; i < MATCH_ROUNDS; i++) {
        values[i] = match_batch(match, kind);
        if (kind == MATCH_WILD) {
            /* They took the oldest; put things back as they were. */
            match_drain(match, MATCH_CLASS(2, 0), MATCH_CLASS_MASK);
            if (background) {
                match_send(match, 1, MATCH_BATCH);
            }
        }
    }
    return bench_median(values, MATCH_ROUNDS);
}

static void match_measure_all(struct match *match, bool background)
{
    static const char *const names[] = {"exact", "absent", "masked", "wild"};
    unsigned                 kind;

    for (kind = 0; kind < 4; kind++) {
        printf("match_%s_%s %.1f ns\n", names[kind],
               background ? "100000" : "empty",
               match_measure(match, (enum match_kind)kind, background));
        fflush(stdout);
    }
}

int main(void)
{
    struct match        match     = {.next = 0};
    ucp_ep_params_t     ep_params = {.field_mask =
                                         UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_request_param_t param     = {.op_attr_mask = 0};
    ucp_context_h       context;
    ucp_address_t      *address;
    size_t              address_bytes;

    bench_open(&context, &match.worker);
    bench_check(ucp_worker_get_address(match.worker, &address, &address_bytes),
                "ucp_worker_get_address");
    ep_params.address = address;
    bench_check(ucp_ep_create(match.worker, &ep_params, &match.ep),
                "ucp_ep_create");
    match_measure_all(&match, false);
    match_send(&match, 1, MATCH_BACKGROUND);
    match_measure_all(&match, true);
    match_drain(&match, 0, 0);
    bench_finish(match.worker, ucp_ep_close_nbx(match.ep, &param), "close");
    ucp_worker_release_address(match.worker, address);
    ucp_worker_destroy(match.worker);
    ucp_cleanup(context);
    return 0;
}
