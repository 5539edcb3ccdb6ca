/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/behave_match.c - which receive takes which message, and what is
 * told of it: order, masks, truncation, probe, synchronous sends. */
#include "behave.h"

#include <stdlib.h>
#include <string.h>

enum {
    MEDIUM  = 100 * 1000, /* several fragments, or a rendezvous */
    MIX_MAX = 12
};

static const ucp_tag_t exact = ~(ucp_tag_t)0;

static char large[BEHAVE_LARGE];
static char large_in[BEHAVE_LARGE + 64];

static void send_bytes(struct pair *pair, const void *bytes, size_t length,
                       ucp_tag_t tag)
{
    must_ptr(ucp_tag_send_nb(pair->a.ep, bytes, length, ucp_dt_make_contig(1),
                             tag, on_send_nb),
             "send");
}

static void send_number(struct pair *pair, ucp_tag_t tag, uint64_t number)
{
    static uint64_t numbers[64];
    static unsigned next;

    next          = (next + 1) % 64;
    numbers[next] = number;
    send_bytes(pair, &numbers[next], sizeof(number), tag);
}

static void *post(struct pair *pair, void *buffer, size_t length, ucp_tag_t tag,
                  ucp_tag_t mask, struct record *record)
{
    ucp_request_param_t param =
        param_recv(record, UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    void *request;

    request =
        ucp_tag_recv_nbx(pair->b.worker, buffer, length, tag, mask, &param);
    must_ptr(request, "recv");
    return request;
}

/* The oldest receive that matches wins, exact or wild. */
static void posted_order(struct pair *pair)
{
    static const struct {
        ucp_tag_t tag;
        ucp_tag_t mask;
    } posted[] = {
        {0x100, ~0ul}, {0, 0},         {0x100, ~0ul}, {0x100, 0xf00},
        {0x101, ~0ul}, {0x001, 0x00f}, {0x100, ~0ul}, {0, 0},
    };
    static const ucp_tag_t tags[] = {0x101, 0x100, 0x100, 0x201,
                                     0x101, 0x1ff, 0x100, 0x100};
    enum { COUNT = sizeof(tags) / sizeof(tags[0]) };
    struct record records[COUNT];
    uint64_t      numbers[COUNT];
    void         *requests[COUNT];
    char          text[128] = "";
    int           i;

    for (i = 0; i < COUNT; ++i) {
        numbers[i]  = 99;
        requests[i] = post(pair, &numbers[i], sizeof(numbers[i]), posted[i].tag,
                           posted[i].mask, &records[i]);
    }
    for (i = 0; i < COUNT; ++i) {
        send_number(pair, tags[i], (uint64_t)i);
    }
    pump_some(pair);
    for (i = 0; i < COUNT; ++i) {
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d ",
                 records[i].calls ? (int)numbers[i] : -1);
        ucp_request_cancel(pair->b.worker, requests[i]);
        ucp_request_free(requests[i]);
    }
    fact("posted.order", "%s", text);
    /* What is left, in order of arrival. */
    for (i = 0, text[0] = '\0'; i < COUNT; ++i) {
        ucp_tag_recv_info_t info;

        if (ucp_tag_probe_nb(pair->b.worker, 0, 0, 0, &info) == NULL) {
            break;
        }
        requests[i] =
            post(pair, &numbers[i], sizeof(numbers[i]), 0, 0, &records[i]);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d ",
                 (int)numbers[i]);
        ucp_request_free(requests[i]);
    }
    fact("posted.left", "%s", text);
}

/* Unexpected messages are searched in the order in which they came. */
static void unexpected_order(struct pair *pair)
{
    static const ucp_tag_t tags[] = {0x10, 0x21, 0x10, 0x32,
                                     0x21, 0x10, 0x43, 0x32};
    static const struct {
        ucp_tag_t tag;
        ucp_tag_t mask;
    } receives[] = {
        {0x21, ~0ul}, {0, 0},       {0x30, 0xf0}, {0x10, ~0ul},
        {0x01, 0x0f}, {0x40, 0xf0}, {0, 0},       {0, 0},
    };
    enum { COUNT = sizeof(tags) / sizeof(tags[0]) };
    struct record record;
    uint64_t      number;
    char          text[128] = "";
    int           i;

    for (i = 0; i < COUNT; ++i) {
        send_number(pair, tags[i], (uint64_t)i);
    }
    send_number(pair, 0xff, 99);
    pump_arrived(pair, 0xff);
    for (i = 0; i < COUNT; ++i) {
        void *request = post(pair, &number, sizeof(number), receives[i].tag,
                             receives[i].mask, &record);

        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d:0x%x ",
                 record.calls ? (int)number : -1,
                 (unsigned)record.info.sender_tag);
        ucp_request_free(request);
    }
    fact("unexpected.order", "%s", text);
    ucp_request_free(post(pair, &number, sizeof(number), 0, 0, &record));
    fact("unexpected.last", "%d", (int)number);
}

/* Small, medium and large ones with one tag match in the order sent. */
static void mixed_sizes(struct pair *pair, bool posted)
{
    static const size_t sizes[MIX_MAX] = {
        8, MEDIUM, 8, BEHAVE_LARGE, 0, 3000, MEDIUM, 20000, 8000, 8, 65536, 1};
    struct record records[MIX_MAX];
    void         *requests[MIX_MAX], *sends[MIX_MAX];
    char          text[256] = "";
    int           i;

    for (i = 0; posted && (i < MIX_MAX); ++i) {
        requests[i] =
            post(pair, large_in, sizeof(large_in), 0x300, exact, &records[i]);
    }
    for (i = 0; i < MIX_MAX; ++i) {
        sends[i] = ucp_tag_send_nb(pair->a.ep, large, sizes[i],
                                   ucp_dt_make_contig(1), 0x300, on_send_nb);
        must_ptr(sends[i], "send");
    }
    if (!posted) {
        pump_some(pair);
    }
    for (i = 0; i < MIX_MAX; ++i) {
        if (!posted) {
            requests[i] = post(pair, large_in, sizeof(large_in), 0x300, exact,
                               &records[i]);
        }
        pump_calls(pair, &records[i]);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%zu ",
                 records[i].info.length);
        ucp_request_free(requests[i]);
    }
    fact(posted ? "mixed.posted" : "mixed.unexpected", "%s", text);
    for (i = 0; i < MIX_MAX; ++i) {
        (void)pump_request(pair, sends[i]);
    }
}

static void truncate_one(struct pair *pair, const char *name, size_t sent_bytes,
                         size_t room, bool posted)
{
    char                key[64];
    struct record       record, sent;
    ucp_request_param_t param = param_send(&sent, UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
    void               *request, *send_request;
    size_t              i;
    bool                untouched = true;

    memset(large_in, 0x11, sizeof(large_in));
    if (posted) {
        request = post(pair, large_in, room, 0x400, exact, &record);
    }
    send_request =
        ucp_tag_send_nbx(pair->a.ep, large, sent_bytes, 0x400, &param);
    must_ptr(send_request, "send");
    if (!posted) {
        pump_arrived(pair, 0x400);
        request = post(pair, large_in, room, 0x400, exact, &record);
    }
    pump_calls(pair, &record);
    pump_calls(pair, &sent);
    snprintf(key, sizeof(key), "truncated.%s.recv", name);
    fact_recv_record(key, &record);
    snprintf(key, sizeof(key), "truncated.%s.send", name);
    fact_record(key, &sent);
    for (i = room; i < sizeof(large_in); ++i) {
        untouched = untouched && (large_in[i] == 0x11);
    }
    snprintf(key, sizeof(key), "truncated.%s.behind_untouched", name);
    fact(key, "%d", untouched);
    ucp_request_free(request);
    ucp_request_free(send_request);
}

static void truncation(struct pair *pair)
{
    ucp_request_param_t param;

    truncate_one(pair, "small.posted", 8, 4, true);
    truncate_one(pair, "small.unexpected", 8, 4, false);
    truncate_one(pair, "small.to_nothing", 8, 0, true);
    truncate_one(pair, "medium.posted", MEDIUM, 50000, true);
    truncate_one(pair, "medium.unexpected", MEDIUM, 50000, false);
    truncate_one(pair, "large.posted", BEHAVE_LARGE, 1000, true);
    truncate_one(pair, "large.unexpected", BEHAVE_LARGE, 1000, false);

    /* Without NO_IMM_CMPL the error is what the call returns. */
    send_number(pair, 0x401, 1);
    pump_arrived(pair, 0x401);
    param = param_recv(NULL, 0);
    fact_outcome(
        "truncated.at_once",
        ucp_tag_recv_nbx(pair->b.worker, large_in, 4, 0x401, exact, &param));
    send_number(pair, 0x402, 1);
    pump_some(pair);
    fact_status("truncated.next_is_fine",
                pump_request(pair, ucp_tag_recv_nb(pair->b.worker, large_in, 8,
                                                   ucp_dt_make_contig(1), 0x402,
                                                   exact, on_recv_nb)));
}

/* A message that a probe took out of the matching. */
static void probe_removed(struct pair *pair)
{
    ucp_tag_recv_info_t info   = {0};
    uint64_t            number = 0;
    ucp_tag_message_h   message;
    struct record       record;
    void               *request;

    message = ucp_tag_probe_nb(pair->b.worker, 0x501, exact, 1, &info);
    fact("probe.removed", "%d", message != NULL);
    fact("probe.removed_is_gone", "%d",
         ucp_tag_probe_nb(pair->b.worker, 0x501, exact, 0, &info) != NULL);
    request = post(pair, &number, sizeof(number), 0, 0, &record);
    fact("probe.removed_not_matched", "%d", (int)number);
    ucp_request_free(request);
    (void)pump_request(
        pair, ucp_tag_msg_recv_nb(pair->b.worker, &number, sizeof(number),
                                  ucp_dt_make_contig(1), message, on_recv_nb));
    fact("probe.removed_received", "%d", (int)number);

    /* A removed message that does not fit. */
    send_number(pair, 0x504, 9);
    pump_arrived(pair, 0x504);
    message = ucp_tag_probe_nb(pair->b.worker, 0x504, exact, 1, &info);
    fact_status("probe.removed_truncated",
                pump_request(pair, ucp_tag_msg_recv_nb(pair->b.worker, &number,
                                                       3, ucp_dt_make_contig(1),
                                                       message, on_recv_nb)));
}

static void probe_large(struct pair *pair)
{
    ucp_tag_recv_info_t info;
    ucp_tag_message_h   message;
    void               *send_request;

    /* Progress is the caller's: probing alone finds nothing new. */
    pattern_fill(large, sizeof(large), 5);
    send_request = ucp_tag_send_nb(pair->a.ep, large, sizeof(large),
                                   ucp_dt_make_contig(1), 0x505, on_send_nb);
    fact("probe.does_not_progress", "%d",
         ucp_tag_probe_nb(pair->b.worker, 0x505, exact, 0, &info) == NULL);
    pump_arrived(pair, 0x505);
    message = ucp_tag_probe_nb(pair->b.worker, 0x505, exact, 1, &info);
    fact("probe.large_info", "0x%llx %zu", (unsigned long long)info.sender_tag,
         info.length);
    fact_status("probe.large_received",
                pump_request(pair, ucp_tag_msg_recv_nb(pair->b.worker, large_in,
                                                       sizeof(large),
                                                       ucp_dt_make_contig(1),
                                                       message, on_recv_nb)));
    fact("probe.large_data", "%d", pattern_holds(large_in, sizeof(large), 5));
    (void)pump_request(pair, send_request);
}

static void probe(struct pair *pair)
{
    ucp_tag_recv_info_t info = {0};

    fact("probe.nothing", "%d",
         ucp_tag_probe_nb(pair->b.worker, 0, 0, 0, &info) != NULL);
    send_number(pair, 0x501, 7);
    send_number(pair, 0x502, 8);
    pump_arrived(pair, 0x502);
    fact("probe.finds", "%d",
         ucp_tag_probe_nb(pair->b.worker, 0x501, exact, 0, &info) != NULL);
    fact("probe.info", "0x%llx %zu", (unsigned long long)info.sender_tag,
         info.length);
    fact("probe.wild_finds_oldest", "0x%llx",
         (ucp_tag_probe_nb(pair->b.worker, 0, 0, 0, &info) != NULL)
             ? (unsigned long long)info.sender_tag
             : 0);
    fact("probe.masked", "0x%llx",
         (ucp_tag_probe_nb(pair->b.worker, 0x2, 0xf, 0, &info) != NULL)
             ? (unsigned long long)info.sender_tag
             : 0);
    fact("probe.other_tag", "%d",
         ucp_tag_probe_nb(pair->b.worker, 0x503, exact, 0, &info) != NULL);
    fact("probe.again", "%d",
         ucp_tag_probe_nb(pair->b.worker, 0x501, exact, 0, &info) != NULL);

    probe_removed(pair);
    probe_large(pair);
}

static void synchronous_one(struct pair *pair, const char *name, size_t length)
{
    char                key[64];
    struct record       sent, received;
    ucp_request_param_t param = param_send(&sent, 0);
    ucp_tag_message_h   message;
    ucp_tag_recv_info_t info;
    void               *request, *send_request;

    send_request =
        ucp_tag_send_sync_nbx(pair->a.ep, large, length, 0x601, &param);
    snprintf(key, sizeof(key), "sync.%s", name);
    fact_outcome(key, send_request);
    pump_arrived(pair, 0x601);
    pump_some(pair);
    snprintf(key, sizeof(key), "sync.%s.calls_before", name);
    fact(key, "%d", sent.calls);
    message = ucp_tag_probe_nb(pair->b.worker, 0x601, exact, 1, &info);
    pump_some(pair);
    snprintf(key, sizeof(key), "sync.%s.calls_after_probe", name);
    fact(key, "%d", sent.calls);
    must(pump_request(pair, ucp_tag_msg_recv_nb(
                                pair->b.worker, large_in, sizeof(large),
                                ucp_dt_make_contig(1), message, on_recv_nb)),
         "msg_recv");
    pump_calls(pair, &sent);
    snprintf(key, sizeof(key), "sync.%s.callback", name);
    fact_record(key, &sent);
    ucp_request_free(send_request);

    /* A receive waits already. */
    request = post(pair, large_in, sizeof(large), 0x602, exact, &received);
    memset(&behave_nb, 0, sizeof(behave_nb));
    send_request = ucp_tag_send_sync_nb(
        pair->a.ep, large, length, ucp_dt_make_contig(1), 0x602, on_send_nb);
    snprintf(key, sizeof(key), "sync.%s.posted", name);
    fact_outcome(key, send_request);
    pump_calls(pair, &received);
    pump_calls(pair, &behave_nb);
    snprintf(key, sizeof(key), "sync.%s.posted.callback", name);
    fact_record(key, &behave_nb);
    ucp_request_free(send_request);
    ucp_request_free(request);
}

static void zero_and_odd(struct pair *pair)
{
    struct record record;
    void         *request;

    request = post(pair, NULL, 0, 0x701, exact, &record);
    send_bytes(pair, NULL, 0, 0x701);
    pump_calls(pair, &record);
    fact_recv_record("zero.posted", &record);
    ucp_request_free(request);

    send_bytes(pair, NULL, 0, 0x702);
    pump_arrived(pair, 0x702);
    request = post(pair, NULL, 0, 0x702, exact, &record);
    pump_calls(pair, &record);
    fact_recv_record("zero.unexpected", &record);
    ucp_request_free(request);

    /* Ten bytes into elements of four. */
    send_bytes(pair, large, 10, 0x703);
    memset(&behave_nb, 0, sizeof(behave_nb));
    request = ucp_tag_recv_nb(pair->b.worker, large_in, 3,
                              ucp_dt_make_contig(4), 0x703, exact, on_recv_nb);
    pump_calls(pair, &behave_nb);
    fact_recv_record("odd.fits", &behave_nb);
    ucp_request_free(request);
    send_bytes(pair, large, 10, 0x704);
    memset(&behave_nb, 0, sizeof(behave_nb));
    request = ucp_tag_recv_nb(pair->b.worker, large_in, 2,
                              ucp_dt_make_contig(4), 0x704, exact, on_recv_nb);
    pump_calls(pair, &behave_nb);
    fact_recv_record("odd.too_long", &behave_nb);
    ucp_request_free(request);
}

int main(void)
{
    struct pair pair;

    pattern_fill(large, sizeof(large), 2);
    pair_open(&pair, NULL);
    posted_order(&pair);
    unexpected_order(&pair);
    mixed_sizes(&pair, true);
    mixed_sizes(&pair, false);
    truncation(&pair);
    probe(&pair);
    synchronous_one(&pair, "small", 8);
    synchronous_one(&pair, "zero", 0);
    synchronous_one(&pair, "medium", MEDIUM);
    synchronous_one(&pair, "large", BEHAVE_LARGE);
    zero_and_odd(&pair);
    pair_close(&pair);
    fact("end", "1");
    return 0;
}
