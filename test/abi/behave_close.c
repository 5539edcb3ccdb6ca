/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/behave_close.c - closing endpoints, and peers that are gone. */
#include "behave.h"

#include <string.h>

static const struct pair_options plain;

static char large[BEHAVE_LARGE];
static char large_in[BEHAVE_LARGE];
static char small[BEHAVE_SMALL] = {1, 2, 3};
static char small_in[BEHAVE_SMALL];

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

/* Only the side that closes progresses. */
static void close_alone(struct pair *pair, const char *name,
                        ucs_status_ptr_t request)
{
    struct pair alone = {.a = pair->a};

    must_ptr(request, name);
    fact_status(name, pump_request(&alone, request));
    pair->a.ep = NULL;
}

static ucs_status_ptr_t close_flags(ucp_ep_h ep, uint32_t flags,
                                    struct record *record)
{
    ucp_request_param_t param = param_send(record, 0);

    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = flags;
    return ucp_ep_close_nbx(ep, &param);
}

static void with_mode_none(void)
{
    struct pair pair;

    pair_open(&pair, &plain);
    fact_outcome("none.force_nb",
                 ucp_ep_close_nb(pair.a.ep, UCP_EP_CLOSE_MODE_FORCE));
    fact_outcome("none.force_nbx",
                 close_flags(pair.a.ep, UCP_EP_CLOSE_FLAG_FORCE, NULL));
    send_small(pair.a.ep, 0x11);
    fact_status("none.usable_after", recv_small(&pair, pair.b.worker, 0x11));

    /* What was sent before a close arrives, though the peer slept. */
    send_small(pair.a.ep, 0x12);
    close_alone(&pair, "none.flush_close_alone",
                ucp_ep_close_nb(pair.a.ep, UCP_EP_CLOSE_MODE_FLUSH));
    fact_status("none.arrives_after", recv_small(&pair, pair.b.worker, 0x12));

    /* The peer goes on sending to the closed side. */
    send_small(pair.b.ep, 0x13);
    fact_status("none.peer_sends_on", recv_small(&pair, pair.a.worker, 0x13));

    /* And a new endpoint works. */
    pair.a.ep = ep_open(pair.a.worker, pair.b.worker, &plain);
    send_small(pair.a.ep, 0x14);
    fact_status("none.new_endpoint", recv_small(&pair, pair.b.worker, 0x14));

    send_small(pair.a.ep, 0x15);
    close_alone(&pair, "none.disconnect", ucp_disconnect_nb(pair.a.ep));
    fact_status("none.disconnect_arrives",
                recv_small(&pair, pair.b.worker, 0x15));
    pair.a.ep = ep_open(pair.a.worker, pair.b.worker, &plain);
    send_small(pair.a.ep, 0x16);
    ucp_ep_destroy(pair.a.ep);
    fact_status("none.destroy_arrives", recv_small(&pair, pair.b.worker, 0x16));

    /* Never used. */
    pair.a.ep = ep_open(pair.a.worker, pair.b.worker, &plain);
    close_alone(&pair, "none.never_used", close_flags(pair.a.ep, 0, NULL));
    pair_close(&pair);
}

/* Close with a callback. */
static void with_callback(void)
{
    struct pair   pair;
    struct record record;
    void         *request;

    pair_open(&pair, &plain);
    send_small(pair.a.ep, 0x21);
    request = close_flags(pair.a.ep, 0, &record);
    must_ptr(request, "close");
    fact("callback.inside_call", "%d", record.calls);
    fact_status("callback.status", pump_request(&pair, request));
    fact("callback.consistent", "%d", record.calls == (request != NULL));
    pair.a.ep = NULL;
    fact_status("callback.arrives", recv_small(&pair, pair.b.worker, 0x21));
    pair_close(&pair);
}

/* The other worker is destroyed while this side has an endpoint to it. */
static void peer_worker_gone(void)
{
    struct pair  pair;
    ucs_status_t status;
    int          i;

    pair_open(&pair, &plain);
    send_small(pair.a.ep, 0x41);
    must(recv_small(&pair, pair.b.worker, 0x41), "recv");
    ep_shut(&pair, pair.b.ep);
    ucp_worker_destroy(pair.b.worker);
    ucp_cleanup(pair.b.context);
    pair.b.worker = NULL;
    for (i = 0; i < 20; ++i) { /* UCX hangs when its ring is full */
        ucs_status_ptr_t request =
            ucp_tag_send_nb(pair.a.ep, small, sizeof(small),
                            ucp_dt_make_contig(1), 0x42, on_send_nb);

        if (UCS_PTR_IS_PTR(request)) {
            ucp_request_free(request);
        }
        ucp_worker_progress(pair.a.worker);
    }
    fact("gone.sender_lives", "1");
    status = pump_request(&pair,
                          ucp_ep_close_nb(pair.a.ep, UCP_EP_CLOSE_MODE_FLUSH));
    fact("gone.close_ends", "%d", status != UCS_INPROGRESS);
    node_close(&pair.a);
}

/* A large send that nobody receives does not hold up a close. */
static void unmatched(void)
{
    struct pair         pair;
    struct record       sent;
    ucp_request_param_t param;
    void               *request;

    pair_open(&pair, &plain);
    send_small(pair.a.ep, 0x61);
    must(recv_small(&pair, pair.b.worker, 0x61), "recv");
    param   = param_send(&sent, 0);
    request = ucp_tag_send_nbx(pair.a.ep, large, sizeof(large), 0x62, &param);
    must_ptr(request, "send");
    pump_some(&pair);
    fact_status("unmatched.flush",
                pump_request(&pair, ucp_ep_flush_nb(pair.a.ep, 0, on_send_nb)));
    fact("unmatched.send_after_flush", "%d", sent.calls);
    fact_status(
        "unmatched.worker_flush",
        pump_request(&pair, ucp_worker_flush_nb(pair.a.worker, 0, on_send_nb)));
    must(pump_request(&pair,
                      ucp_tag_recv_nb(pair.b.worker, large_in, sizeof(large_in),
                                      ucp_dt_make_contig(1), 0x62, ~0ul,
                                      on_recv_nb)),
         "recv");
    pump_calls(&pair, &sent);
    fact_record("unmatched.received_after_flush", &sent);
    ucp_request_free(request);
    pair_close(&pair);
}

int main(void)
{
    with_mode_none();
    with_callback();
    peer_worker_gone();
    unmatched();
    fact("end", "1");
    return 0;
}
