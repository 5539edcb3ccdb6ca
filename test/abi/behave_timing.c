/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/behave_timing.c - what a call returns and when it calls back. */
#include "behave.h"

#include <string.h>

static char large[BEHAVE_LARGE];
static char large_in[BEHAVE_LARGE];
static char small[BEHAVE_SMALL] = {1, 2, 3, 4, 5, 6, 7, 8};
static char small_in[BEHAVE_SMALL];

static void send_small(struct pair *pair, ucp_tag_t tag)
{
    must_ptr(ucp_tag_send_nb(pair->a.ep, small, sizeof(small),
                             ucp_dt_make_contig(1), tag, on_send_nb),
             "send");
}

/* Let the small messages before be out of the way: connections stand. */
static void warm_up(struct pair *pair)
{
    ucp_tag_recv_info_t info;

    send_small(pair, 0x1);
    pump_arrived(pair, 0x1);
    must(pump_request(pair,
                      ucp_tag_msg_recv_nb(
                          pair->b.worker, small_in, sizeof(small_in),
                          ucp_dt_make_contig(1),
                          ucp_tag_probe_nb(pair->b.worker, 0x1, ~0ul, 1, &info),
                          on_recv_nb)),
         "msg_recv");
    pump_some(pair);
}

static void drain(struct pair *pair, ucp_tag_t tag)
{
    struct record       record;
    ucp_request_param_t param =
        param_recv(&record, UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    void *request;

    request = ucp_tag_recv_nbx(pair->b.worker, large_in, sizeof(large_in), tag,
                               ~0ul, &param);
    pump_calls(pair, &record);
    ucp_request_free(request);
}

static void sends_small(struct pair *pair)
{
    struct record       record;
    ucp_request_param_t param;
    void               *request;

    param   = param_send(&record, 0);
    request = ucp_tag_send_nbx(pair->a.ep, small, sizeof(small), 0x11, &param);
    fact_outcome("send.small", request);
    fact("send.small.calls_inside", "%d", record.calls);
    pump_arrived(pair, 0x11);
    pump_some(pair);
    fact("send.small.calls_later", "%d", record.calls);
    drain(pair, 0x11);

    param   = param_send(&record, UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    request = ucp_tag_send_nbx(pair->a.ep, small, sizeof(small), 0x12, &param);
    fact_outcome("send.small.no_imm", request);
    fact("send.small.no_imm.calls_inside", "%d", record.calls);
    fact("send.small.no_imm.pointer", "%d", record.request == request);
    fact_status("send.small.no_imm.check", ucp_request_check_status(request));
    ucp_request_free(request);
    pump_some(pair);
    fact("send.small.no_imm.calls_later", "%d", record.calls);
    drain(pair, 0x12);

    memset(&behave_nb, 0, sizeof(behave_nb));
    request = ucp_tag_send_nb(pair->a.ep, small, sizeof(small),
                              ucp_dt_make_contig(1), 0x13, on_send_nb);
    fact_outcome("send_nb.small", request);
    fact("send_nb.small.calls", "%d", behave_nb.calls);
    drain(pair, 0x13);
}

static void sends_large(struct pair *pair)
{
    struct record       record;
    ucp_request_param_t param;
    void               *request;

    param   = param_send(&record, 0);
    request = ucp_tag_send_nbx(pair->a.ep, large, sizeof(large), 0x14, &param);
    fact_outcome("send.large", request);
    fact("send.large.calls_inside", "%d", record.calls);
    fact_status("send.large.check", ucp_request_check_status(request));
    drain(pair, 0x14);
    pump_calls(pair, &record);
    fact_record("send.large.callback", &record);
    fact("send.large.pointer", "%d", record.request == request);
    ucp_request_free(request);

    memset(&behave_nb, 0, sizeof(behave_nb));
    request = ucp_tag_send_nb(pair->a.ep, large, sizeof(large),
                              ucp_dt_make_contig(1), 0x15, on_send_nb);
    fact_outcome("send_nb.large", request);
    fact("send_nb.large.calls_inside", "%d", behave_nb.calls);
    drain(pair, 0x15);
    pump_calls(pair, &behave_nb);
    fact_record("send_nb.large.callback", &behave_nb);
    ucp_request_free(request);
}

static void sends_hinted(struct pair *pair)
{
    struct record       record;
    ucp_request_param_t param;
    void               *request;

    /* Without a callback. */
    param   = param_send(NULL, 0);
    request = ucp_tag_send_nbx(pair->a.ep, large, sizeof(large), 0x16, &param);
    drain(pair, 0x16);
    fact_status("send.no_callback", pump_request(pair, request));

    param   = param_send(NULL, UCP_OP_ATTR_FLAG_FAST_CMPL);
    request = ucp_tag_send_nbx(pair->a.ep, small, sizeof(small), 0x17, &param);
    fact_outcome("send.fast_cmpl", request);
    drain(pair, 0x17);
    param   = param_send(NULL, UCP_OP_ATTR_FLAG_MULTI_SEND);
    request = ucp_tag_send_nbx(pair->a.ep, small, sizeof(small), 0x18, &param);
    must_ptr(request, "multi send");
    drain(pair, 0x18);
    fact_status("send.multi_send", pump_request(pair, request));

    param   = param_send(&record, UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
    request = ucp_tag_send_nbx(pair->a.ep, small, sizeof(small), 0x19, &param);
    fact_outcome("send.force_imm.small", request);
    drain(pair, 0x19);
}

static void receives_there(struct pair *pair)
{
    ucp_tag_recv_info_t info;
    struct record       record;
    ucp_request_param_t param;
    void               *request;

    /* The message is there. */
    send_small(pair, 0x21);
    pump_arrived(pair, 0x21);
    param   = param_recv(&record, 0);
    request = ucp_tag_recv_nbx(pair->b.worker, small_in, sizeof(small_in), 0x21,
                               ~0ul, &param);
    fact_outcome("recv.there", request);
    fact("recv.there.calls", "%d", record.calls);

    send_small(pair, 0x22);
    pump_arrived(pair, 0x22);
    memset(&info, 0, sizeof(info));
    param                    = param_recv(&record, UCP_OP_ATTR_FIELD_RECV_INFO);
    param.recv_info.tag_info = &info;
    request = ucp_tag_recv_nbx(pair->b.worker, small_in, sizeof(small_in), 0x22,
                               ~0ul, &param);
    fact_outcome("recv.there.with_info", request);
    fact("recv.there.info", "0x%llx %zu", (unsigned long long)info.sender_tag,
         info.length);

    send_small(pair, 0x23);
    pump_arrived(pair, 0x23);
    param   = param_recv(&record, UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    request = ucp_tag_recv_nbx(pair->b.worker, small_in, sizeof(small_in), 0x23,
                               ~0ul, &param);
    fact_outcome("recv.there.no_imm", request);
    fact_recv_record("recv.there.no_imm.inside", &record);
    fact("recv.there.no_imm.pointer", "%d", record.request == request);
    ucp_request_free(request);

    send_small(pair, 0x24);
    pump_arrived(pair, 0x24);
    memset(&behave_nb, 0, sizeof(behave_nb));
    request = ucp_tag_recv_nb(pair->b.worker, small_in, sizeof(small_in),
                              ucp_dt_make_contig(1), 0x24, ~0ul, on_recv_nb);
    fact_outcome("recv_nb.there", request);
    fact_recv_record("recv_nb.there.inside", &behave_nb);
    ucp_request_free(request);

    /* The callback gives the request up inside the call. */
    send_small(pair, 0x25);
    pump_arrived(pair, 0x25);
    param              = param_recv(&record, UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    record.free_inside = true;
    request = ucp_tag_recv_nbx(pair->b.worker, small_in, sizeof(small_in), 0x25,
                               ~0ul, &param);
    fact_outcome("recv.there.freed_inside", request);
    fact("recv.there.freed_inside.pointer", "%d", record.request == request);
}

/* It comes later. */
static void receives_later(struct pair *pair)
{
    struct record       record;
    ucp_request_param_t param;
    void               *request;

    param   = param_recv(&record, 0);
    request = ucp_tag_recv_nbx(pair->b.worker, small_in, sizeof(small_in), 0x26,
                               ~0ul, &param);
    fact_outcome("recv.later", request);
    fact("recv.later.calls_inside", "%d", record.calls);
    send_small(pair, 0x26);
    pump_calls(pair, &record);
    fact_recv_record("recv.later.callback", &record);
    fact("recv.later.data", "%d", memcmp(small, small_in, sizeof(small)) == 0);
    ucp_request_free(request);

    memset(&behave_nb, 0, sizeof(behave_nb));
    request = ucp_tag_recv_nb(pair->b.worker, small_in, sizeof(small_in),
                              ucp_dt_make_contig(1), 0x27, ~0ul, on_recv_nb);
    fact("recv_nb.later.calls_inside", "%d", behave_nb.calls);
    send_small(pair, 0x27);
    pump_calls(pair, &behave_nb);
    fact_recv_record("recv_nb.later.callback", &behave_nb);
    ucp_request_free(request);
}

static void receives_forced(struct pair *pair)
{
    struct record       record;
    ucp_request_param_t param;
    void               *request;

    param   = param_recv(&record, UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
    request = ucp_tag_recv_nbx(pair->b.worker, small_in, sizeof(small_in), 0x28,
                               ~0ul, &param);
    fact_outcome("recv.force_imm.nothing_there", request);
    send_small(pair, 0x28);
    pump_arrived(pair, 0x28);
    param   = param_recv(&record, UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL);
    request = ucp_tag_recv_nbx(pair->b.worker, small_in, sizeof(small_in), 0x28,
                               ~0ul, &param);
    fact_outcome("recv.force_imm.there", request);
}

/* Probed messages. */
static void receives_probed(struct pair *pair)
{
    ucp_tag_recv_info_t info;
    ucp_tag_message_h   message;
    struct record       record;
    ucp_request_param_t param;
    void               *request;

    send_small(pair, 0x29);
    pump_arrived(pair, 0x29);
    message = ucp_tag_probe_nb(pair->b.worker, 0x29, ~0ul, 1, &info);
    param   = param_recv(&record, 0);
    request = ucp_tag_msg_recv_nbx(pair->b.worker, small_in, sizeof(small_in),
                                   message, &param);
    fact_outcome("msg_recv", request);
    fact("msg_recv.calls", "%d", record.calls);

    send_small(pair, 0x2a);
    pump_arrived(pair, 0x2a);
    message = ucp_tag_probe_nb(pair->b.worker, 0x2a, ~0ul, 1, &info);
    memset(&behave_nb, 0, sizeof(behave_nb));
    request = ucp_tag_msg_recv_nb(pair->b.worker, small_in, sizeof(small_in),
                                  ucp_dt_make_contig(1), message, on_recv_nb);
    fact_outcome("msg_recv_nb", request);
    fact_recv_record("msg_recv_nb.inside", &behave_nb);
    ucp_request_free(request);
}

/* A large message that waits is received later, whatever the form. */
static void large_receives(struct pair *pair)
{
    struct record       record, sent;
    ucp_request_param_t param;
    ucp_tag_recv_info_t info;
    void               *request, *send_request;

    pattern_fill(large, sizeof(large), 3);
    param = param_send(&sent, 0);
    send_request =
        ucp_tag_send_nbx(pair->a.ep, large, sizeof(large), 0x31, &param);
    pump_arrived(pair, 0x31);
    param   = param_recv(&record, 0);
    request = ucp_tag_recv_nbx(pair->b.worker, large_in, sizeof(large_in), 0x31,
                               ~0ul, &param);
    must_ptr(request, "recv");
    fact_outcome("recv.large", request);
    fact("recv.large.calls_inside", "%d", record.calls);
    pump_calls(pair, &record);
    pump_calls(pair, &sent);
    fact_recv_record("recv.large.callback", &record);
    fact("recv.large.data", "%d", pattern_holds(large_in, sizeof(large_in), 3));
    ucp_request_free(request);
    ucp_request_free(send_request);

    memset(large_in, 0, sizeof(large_in));
    param = param_send(&sent, 0);
    send_request =
        ucp_tag_send_nbx(pair->a.ep, large, sizeof(large), 0x32, &param);
    pump_arrived(pair, 0x32);
    memset(&behave_nb, 0, sizeof(behave_nb));
    request = ucp_tag_msg_recv_nb(
        pair->b.worker, large_in, sizeof(large_in), ucp_dt_make_contig(1),
        ucp_tag_probe_nb(pair->b.worker, 0x32, ~0ul, 1, &info), on_recv_nb);
    fact_outcome("msg_recv_nb.large", request);
    fact("msg_recv_nb.large.info", "0x%llx %zu",
         (unsigned long long)info.sender_tag, info.length);
    pump_calls(pair, &behave_nb);
    pump_calls(pair, &sent);
    fact_recv_record("msg_recv_nb.large.callback", &behave_nb);
    fact("msg_recv_nb.large.data", "%d",
         pattern_holds(large_in, sizeof(large_in), 3));
    ucp_request_free(request);
    ucp_request_free(send_request);
}

static void flushes(struct pair *pair)
{
    struct record       record;
    ucp_request_param_t param;

    pump_some(pair);
    param = param_send(&record, 0);
    fact_outcome("flush.ep.nothing", ucp_ep_flush_nbx(pair->a.ep, &param));
    fact("flush.ep.nothing.calls", "%d", record.calls);
    fact_outcome("flush.worker.nothing",
                 ucp_worker_flush_nbx(pair->a.worker, &param));
    fact_outcome("flush.ep_nb.nothing",
                 ucp_ep_flush_nb(pair->a.ep, 0, on_send_nb));
    fact_outcome("flush.worker_nb.nothing",
                 ucp_worker_flush_nb(pair->a.worker, 0, on_send_nb));
    fact_status("flush.ep_blocking", ucp_ep_flush(pair->a.ep));
    fact_status("flush.worker_blocking", ucp_worker_flush(pair->a.worker));
    fact_status("fence", ucp_worker_fence(pair->a.worker));
}

/* A callback posts the next operation; a message to oneself is received
 * inside the call that sends it. */
static struct {
    struct pair *pair;
    ucp_ep_h     self;
    int          received;
    bool         in_send;
    int          received_in_send;
} chain;

static void on_chain(void *request, ucs_status_t status,
                     const ucp_tag_recv_info_t *info, void *user_data)
{
    ucp_request_param_t param;

    (void)status;
    (void)info;
    (void)user_data;
    ucp_request_free(request);
    ++chain.received;
    chain.received_in_send += chain.in_send;
    if (chain.received < 5) {
        param         = param_recv(NULL, UCP_OP_ATTR_FIELD_CALLBACK);
        param.cb.recv = on_chain;
        must_ptr(ucp_tag_recv_nbx(chain.pair->b.worker, small_in,
                                  sizeof(small_in), 0x41, ~0ul, &param),
                 "recv in callback");
        must_ptr(ucp_tag_send_nb(chain.pair->b.ep, small, sizeof(small),
                                 ucp_dt_make_contig(1), 0x42, on_send_nb),
                 "send in callback");
    }
}

static void callbacks_post(struct pair *pair)
{
    ucp_tag_recv_info_t info;
    ucp_request_param_t param;
    int                 i;

    memset(&chain, 0, sizeof(chain));
    chain.pair    = pair;
    param         = param_recv(NULL, UCP_OP_ATTR_FIELD_CALLBACK);
    param.cb.recv = on_chain;
    must_ptr(ucp_tag_recv_nbx(pair->b.worker, small_in, sizeof(small_in), 0x41,
                              ~0ul, &param),
             "recv");
    for (i = 0; i < 5; ++i) {
        send_small(pair, 0x41);
    }
    for (i = 0; (i < 1000) && (chain.received < 5); ++i) {
        pump_some(pair);
    }
    fact("callback_posts.received", "%d", chain.received);
    for (i = 0; ucp_tag_probe_nb(pair->a.worker, 0x42, ~0ul, 0, &info) != NULL;
         ++i) {
        param = param_recv(NULL, 0);
        must_ptr(ucp_tag_recv_nbx(pair->a.worker, small_in, sizeof(small_in),
                                  0x42, ~0ul, &param),
                 "recv");
    }
    fact("callback_posts.answers", "%d", i);
}

/* A program whose receives are done may never call again: the send must not
 * need another call. */
static void large_to_self(struct pair *pair, ucp_ep_h self)
{
    ucp_request_param_t param = param_recv(NULL, 0);
    ucs_status_ptr_t    receive, send;
    int                 calls = 0;

    receive = ucp_tag_recv_nbx(pair->b.worker, large_in, sizeof(large_in), 0x52,
                               ~0ul, &param);
    send    = ucp_tag_send_nbx(self, large, sizeof(large), 0x52, &param);
    must_ptr(receive, "recv");
    must_ptr(send, "send");
    fact_outcome("self.large.send", send);
    fact_outcome("self.large.receive", receive);
    while ((ucp_request_check_status(receive) == UCS_INPROGRESS) &&
           (++calls < 100000)) {
        (void)ucp_worker_progress(pair->b.worker);
    }
    fact_status("self.large.receive.check", ucp_request_check_status(receive));
    fact_status("self.large.send_with_receive", ucp_request_check_status(send));
    pump_some(pair);
    ucp_request_free(receive);
    ucp_request_free(send);
}

static void to_self(struct pair *pair)
{
    static const struct pair_options options;
    ucp_request_param_t              param;

    memset(&chain, 0, sizeof(chain));
    chain.pair     = pair;
    chain.received = 4; /* the next is the last */
    chain.self     = ep_open(pair->b.worker, pair->b.worker, &options);
    param          = param_recv(NULL, UCP_OP_ATTR_FIELD_CALLBACK);
    param.cb.recv  = on_chain;
    must_ptr(ucp_tag_recv_nbx(pair->b.worker, small_in, sizeof(small_in), 0x51,
                              ~0ul, &param),
             "recv");
    chain.in_send = true;
    fact_outcome("self.send",
                 ucp_tag_send_nb(chain.self, small, sizeof(small),
                                 ucp_dt_make_contig(1), 0x51, on_send_nb));
    chain.in_send = false;
    pump_some(pair);
    fact("self.received", "%d", chain.received - 4);
    fact("self.received_inside_send", "%d", chain.received_in_send);
    large_to_self(pair, chain.self);
    ep_shut(pair, chain.self);
}

int main(void)
{
    struct pair pair;

    pair_open(&pair, NULL);
    warm_up(&pair);
    sends_small(&pair);
    sends_large(&pair);
    sends_hinted(&pair);
    receives_there(&pair);
    receives_later(&pair);
    receives_forced(&pair);
    receives_probed(&pair);
    large_receives(&pair);
    flushes(&pair);
    callbacks_post(&pair);
    to_self(&pair);
    pair_close(&pair);
    fact("end", "1");
    return 0;
}
