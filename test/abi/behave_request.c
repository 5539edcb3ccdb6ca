/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/behave_request.c - requests: memory, release, test, cancel. */
#include "behave.h"

#include <stdlib.h>
#include <string.h>

static char large[BEHAVE_LARGE];
static char large_in[BEHAVE_LARGE];

static size_t request_bytes(ucp_context_h context)
{
    ucp_context_attr_t attr;

    attr.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE;
    must(ucp_context_query(context, &attr), "ucp_context_query");
    return attr.request_size;
}

/* init runs when memory is made, not when it is used; what the caller wrote
 * into it stays. */
static void memory(void)
{
    char                in[BEHAVE_SMALL] = {0};
    struct pair         pair;
    struct record       record;
    ucp_request_param_t param;
    void               *request;
    void               *first = NULL;
    int                 inits, i;
    bool                survives = true;
    int                 reused   = 0;

    behave_inits = behave_cleanups = 0;
    pair_open(&pair, NULL);
    param   = param_recv(&record, 0);
    request = ucp_tag_recv_nbx(pair.b.worker, in, sizeof(in), 1, ~0ul, &param);
    fact_outcome("memory.recv", request);
    fact("memory.init_ran", "%d", behave_inits > 0);
    fact("memory.init_bytes", "%d", *(unsigned char *)request == 0x5a);
    fact("memory.aligned_8", "%d", ((uintptr_t)request % 8) == 0);
    memset(request, 0x77, BEHAVE_REQUEST_BYTES);
    first = request;
    ucp_request_cancel(pair.b.worker, request);
    ucp_request_free(request);

    inits = behave_inits;
    for (i = 0; i < 20; ++i) {
        param = param_recv(&record, 0);
        request =
            ucp_tag_recv_nbx(pair.b.worker, in, sizeof(in), 1, ~0ul, &param);
        if (request == first) {
            ++reused;
            survives =
                survives &&
                (((unsigned char *)request)[BEHAVE_REQUEST_BYTES - 1] == 0x77);
        }
        ucp_request_cancel(pair.b.worker, request);
        ucp_request_free(request);
    }
    fact("memory.init_per_operation", "%d", behave_inits - inits);
    fact("memory.reused", "%d", reused > 0);
    fact("memory.bytes_survive", "%d", survives);
    pair_close(&pair);
    fact("memory.cleanup_for_each_init", "%d", behave_cleanups == behave_inits);
}

/* request_size says what the library needs, without the caller's bytes. */
static void size(void)
{
    struct pair   pair;
    ucp_params_t  params;
    ucp_context_h other;

    pair_open(&pair, NULL);
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features   = UCP_FEATURE_TAG;
    must(ucp_init(&params, NULL, &other), "ucp_init");
    fact("size.without_callers_bytes", "%d",
         request_bytes(other) == request_bytes(pair.a.context));
    fact("size.multiple_of_8", "%d", (request_bytes(other) % 8) == 0);
    fact("size.positive", "%d", request_bytes(other) > 0);
    ucp_cleanup(other);
    pair_close(&pair);
}

/* Memory of the caller's, on the stack, without bytes behind the pointer. */
struct supplied {
    struct pair pair;
    void       *mine;
    char        in[BEHAVE_SMALL];
};

static void supplied_send(struct supplied *supplied, ucp_tag_t tag)
{
    static char out[BEHAVE_SMALL] = {1};

    must_ptr(ucp_tag_send_nb(supplied->pair.a.ep, out, sizeof(out),
                             ucp_dt_make_contig(1), tag, on_send_nb),
             "send");
}

static void *supplied_recv(struct supplied *supplied, ucp_tag_t tag,
                           struct record *record)
{
    ucp_request_param_t param = param_recv(record, UCP_OP_ATTR_FIELD_REQUEST);

    param.request = supplied->mine;
    return ucp_tag_recv_nbx(supplied->pair.b.worker, supplied->in,
                            sizeof(supplied->in), tag, ~0ul, &param);
}

static void supplied_test(struct supplied *supplied, const char *name)
{
    ucp_tag_recv_info_t info = {0};
    char                key[64];

    snprintf(key, sizeof(key), "supplied.%s.test", name);
    fact_status(key, ucp_request_test(supplied->mine, &info));
    snprintf(key, sizeof(key), "supplied.%s.info", name);
    fact(key, "0x%llx %zu", (unsigned long long)info.sender_tag, info.length);
    snprintf(key, sizeof(key), "supplied.%s.check", name);
    fact_status(key, ucp_request_check_status(supplied->mine));
    snprintf(key, sizeof(key), "supplied.%s.is_completed", name);
    fact(key, "%d", ucp_request_is_completed(supplied->mine) != 0);
}

static void supplied(void)
{
    uint64_t        memory[256]; /* aligned to 8 bytes, no more */
    struct supplied supplied;
    struct record   record;
    ucp_worker_h    worker;
    size_t          bytes;

    pair_open(&supplied.pair, NULL);
    worker = supplied.pair.b.worker;
    bytes  = request_bytes(supplied.pair.b.context);
    fact("supplied.fits", "%d", bytes <= sizeof(memory) - 16);
    supplied.mine = (char *)memory + bytes;

    /* The message is there already. */
    memset(memory, 0xcc, sizeof(memory));
    supplied_send(&supplied, 0x21);
    pump_arrived(&supplied.pair, 0x21);
    fact_outcome("supplied.at_once", supplied_recv(&supplied, 0x21, NULL));
    supplied_test(&supplied, "at_once");

    /* The message comes later. */
    memset(memory, 0xcc, sizeof(memory));
    fact("supplied.later.same_pointer", "%d",
         supplied_recv(&supplied, 0x22, &record) == supplied.mine);
    fact_status("supplied.later.check_before",
                ucp_request_check_status(supplied.mine));
    supplied_send(&supplied, 0x22);
    pump_calls(&supplied.pair, &record);
    fact_recv_record("supplied.later.callback", &record);
    fact("supplied.later.callback_pointer", "%d",
         record.request == supplied.mine);
    supplied_test(&supplied, "later");

    /* The nbr forms. */
    memset(memory, 0xcc, sizeof(memory));
    fact_status("supplied.recv_nbr",
                ucp_tag_recv_nbr(worker, supplied.in, sizeof(supplied.in),
                                 ucp_dt_make_contig(1), 0x23, ~0ul,
                                 supplied.mine));
    fact_status("supplied.recv_nbr.check",
                ucp_request_check_status(supplied.mine));
    ucp_request_cancel(worker, supplied.mine);
    fact_status("supplied.recv_nbr.cancelled",
                ucp_request_check_status(supplied.mine));
    fact("supplied.nothing_behind", "%d",
         (((unsigned char *)supplied.mine)[0] == 0xcc) &&
             (((unsigned char *)supplied.mine)[15] == 0xcc));
    pair_close(&supplied.pair);
}

static void send_large(struct pair *pair, ucp_tag_t tag, struct record *record,
                       void **request_p)
{
    ucp_request_param_t param = param_send(record, 0);

    *request_p =
        ucp_tag_send_nbx(pair->a.ep, large, sizeof(large), tag, &param);
    must_ptr(*request_p, "send_nbx");
}

/* Inside the callback. */
static void give_up_inside(struct pair *pair)
{
    struct record       sent, received;
    ucp_request_param_t param;
    void               *request;

    param                = param_recv(&received, 0);
    received.free_inside = true;
    (void)ucp_tag_recv_nbx(pair->b.worker, large_in, sizeof(large_in), 0x34,
                           ~0ul, &param);
    send_large(pair, 0x34, &sent, &request);
    sent.free_inside = true;
    pump_calls(pair, &sent);
    pump_calls(pair, &received);
    fact_record("free_inside.send", &sent);
    fact_recv_record("free_inside.recv", &received);
}

/* free silences the callback of an operation in flight, release keeps it. */
static void give_up(void)
{
    struct pair         pair;
    struct record       sent, received;
    ucp_request_param_t param;
    void               *request, *recv_request;

    pair_open(&pair, NULL);
    pattern_fill(large, sizeof(large), 1);

    send_large(&pair, 0x31, &sent, &request);
    fact_outcome("free.send", request);
    ucp_request_free(request);
    param        = param_recv(&received, 0);
    recv_request = ucp_tag_recv_nbx(pair.b.worker, large_in, sizeof(large_in),
                                    0x31, ~0ul, &param);
    pump_calls(&pair, &received);
    pump_some(&pair);
    fact("free.callback", "%d", sent.calls);
    fact("free.goes_on", "%d", pattern_holds(large_in, sizeof(large_in), 1));
    ucp_request_free(recv_request);

    memset(large_in, 0, sizeof(large_in));
    send_large(&pair, 0x32, &sent, &request);
    ucp_request_release(request);
    param        = param_recv(&received, 0);
    recv_request = ucp_tag_recv_nbx(pair.b.worker, large_in, sizeof(large_in),
                                    0x32, ~0ul, &param);
    pump_calls(&pair, &received);
    pump_calls(&pair, &sent);
    fact_record("release.callback", &sent);
    fact("release.callback_pointer", "%d", sent.request == request);
    fact("release.goes_on", "%d", pattern_holds(large_in, sizeof(large_in), 1));
    ucp_request_release(recv_request);

    /* A receive in flight, freed: the data still comes. */
    memset(large_in, 0, sizeof(large_in));
    param        = param_recv(&received, 0);
    recv_request = ucp_tag_recv_nbx(pair.b.worker, large_in, sizeof(large_in),
                                    0x33, ~0ul, &param);
    ucp_request_free(recv_request);
    send_large(&pair, 0x33, &sent, &request);
    pump_calls(&pair, &sent);
    pump_some(&pair);
    fact("free.recv_callback", "%d", received.calls);
    fact("free.recv_goes_on", "%d",
         pattern_holds(large_in, sizeof(large_in), 1));
    ucp_request_free(request);

    give_up_inside(&pair);
    pair_close(&pair);
}

static void test_and_query(void)
{
    ucp_tag_recv_info_t info = {0x99, 99};
    char                text[200];
    struct pair         pair;
    struct record       sent, received;
    ucp_request_param_t param;
    ucp_request_attr_t  attr;
    ucp_worker_attr_t   worker_attr;
    void               *request, *recv_request;

    pair_open(&pair, NULL);
    send_large(&pair, 0x41, &sent, &request);
    fact_status("test.send_before", ucp_request_test(request, &info));
    fact("test.send_is_completed", "%d",
         ucp_request_is_completed(request) != 0);
    attr.field_mask = UCP_REQUEST_ATTR_FIELD_STATUS;
    attr.status     = UCS_ERR_LAST;
    fact_status("query.call", ucp_request_query(request, &attr));
    fact_status("query.status_before", attr.status);

    param        = param_recv(&received, 0);
    recv_request = ucp_tag_recv_nbx(pair.b.worker, large_in, sizeof(large_in),
                                    0x41, ~0ul, &param);
    pump_calls(&pair, &received);
    pump_calls(&pair, &sent);
    fact_status("test.send_after", ucp_request_test(request, &info));
    fact_status("test.recv_after", ucp_request_test(recv_request, &info));
    fact("test.recv_info", "0x%llx %zu", (unsigned long long)info.sender_tag,
         info.length);
    fact_status("test.tag_recv",
                ucp_tag_recv_request_test(recv_request, &info));

    attr.field_mask = UCP_REQUEST_ATTR_FIELD_STATUS |
                      UCP_REQUEST_ATTR_FIELD_MEM_TYPE |
                      UCP_REQUEST_ATTR_FIELD_INFO_STRING |
                      UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE;
    text[0]                = '\0';
    attr.debug_string      = text;
    attr.debug_string_size = sizeof(text);
    fact_status("query.call_after", ucp_request_query(request, &attr));
    fact_status("query.status_after", attr.status);
    fact("query.mem_type", "%d", attr.mem_type);
    fact("query.text", "%d", text[0] != '\0');
    attr.field_mask = UCP_REQUEST_ATTR_FIELD_INFO_STRING;
    fact_status("query.text_without_size", ucp_request_query(request, &attr));
    worker_attr.field_mask = UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING;
    must(ucp_worker_query(pair.a.worker, &worker_attr), "worker_query");
    fact("query.max_text", "%zu", worker_attr.max_debug_string);
    fact("alloc", "%d", ucp_request_alloc(pair.a.worker) != NULL);
    ucp_request_free(request);
    ucp_request_free(recv_request);
    pair_close(&pair);
}

static void cancel_others(struct pair *pair)
{
    char                in[BEHAVE_SMALL], out[BEHAVE_SMALL] = {5};
    struct record       sent, received;
    ucp_request_param_t param;
    void               *request, *recv_request;

    send_large(pair, 0x52, &sent, &request);
    ucp_request_cancel(pair->a.worker, request);
    fact("cancel.send", "calls %d check %d", sent.calls,
         ucp_request_check_status(request));
    param        = param_recv(&received, 0);
    recv_request = ucp_tag_recv_nbx(pair->b.worker, large_in, sizeof(large_in),
                                    0x52, ~0ul, &param);
    pump_calls(pair, &received);
    pump_calls(pair, &sent);
    fact_record("cancel.send_ends", &sent);
    ucp_request_free(request);
    ucp_request_free(recv_request);

    /* Cancelled while others wait: only that one. */
    param = param_recv(&received, 0);
    request =
        ucp_tag_recv_nbx(pair->b.worker, in, sizeof(in), 0x53, ~0ul, &param);
    param         = param_recv(&sent, 0);
    param.cb.recv = on_recv;
    recv_request =
        ucp_tag_recv_nbx(pair->b.worker, in, sizeof(in), 0x53, ~0ul, &param);
    ucp_request_cancel(pair->b.worker, request);
    must_ptr(ucp_tag_send_nb(pair->a.ep, out, sizeof(out),
                             ucp_dt_make_contig(1), 0x53, on_send_nb),
             "send");
    pump_calls(pair, &sent);
    fact("cancel.first_of_two", "first %d second %d", received.status,
         sent.status);
    ucp_request_free(request);
    ucp_request_free(recv_request);
}

static void cancel(void)
{
    char                in[BEHAVE_SMALL], out[BEHAVE_SMALL] = {5};
    ucp_tag_recv_info_t info = {0};
    struct pair         pair;
    struct record       received;
    ucp_request_param_t param;
    void               *request;

    pair_open(&pair, NULL);
    param = param_recv(&received, 0);
    request =
        ucp_tag_recv_nbx(pair.b.worker, in, sizeof(in), 0x51, ~0ul, &param);
    ucp_request_cancel(pair.b.worker, request);
    fact("cancel.inside_call", "%d", received.calls);
    fact("cancel.callback", "status %d checked %d", received.status,
         received.checked);
    fact_status("cancel.check", ucp_request_check_status(request));
    ucp_request_cancel(pair.b.worker, request);
    fact("cancel.twice", "%d", received.calls);
    ucp_request_free(request);

    must_ptr(ucp_tag_send_nb(pair.a.ep, out, sizeof(out), ucp_dt_make_contig(1),
                             0x51, on_send_nb),
             "send");
    pump_arrived(&pair, 0x51);
    fact("cancel.message_stays", "%d",
         ucp_tag_probe_nb(pair.b.worker, 0x51, ~0ul, 0, &info) != NULL);
    param = param_recv(&received, UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    request =
        ucp_tag_recv_nbx(pair.b.worker, in, sizeof(in), 0x51, ~0ul, &param);
    ucp_request_cancel(pair.b.worker, request);
    fact_recv_record("cancel.completed", &received);
    ucp_request_free(request);

    cancel_others(&pair);
    pair_close(&pair);
}

int main(void)
{
    memory();
    size();
    supplied();
    give_up();
    test_and_query();
    cancel();
    fact("end", "1");
    return 0;
}
