/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_verify.c - the checked loop: every byte of every message.
 *
 * Both sides send and receive at once, a window of messages each way, every
 * one in a slot of its own. The pattern depends on seed, sender, size and
 * number, so a lost, doubled, stale, swapped or torn message differs; the
 * canary behind each slot shows a write past the end. One tag for all: the
 * order of messages is checked too. */
#include "tools/perf_node.h"
#include "tools/tool.h"

#include <stdlib.h>
#include <string.h>

#define PERF_VERIFY_TAG UINT64_C(0x7665726966790000) /* "verify" */
#define PERF_VERIFY_SLOT_BYTES                                                 \
    (UINT64_C(64) << 20) /* all slots of one side                              \
                          */
#define PERF_CANARY 0xc5
/* UCX 1.13 does not tell length and tag of a receive that completes at once;
 * the content is checked all the same. */
#define PERF_INFO_UNKNOWN SIZE_MAX

struct perf_verify;

struct perf_slot {
    struct perf_verify *verify;
    uint64_t            message;
    bool                busy;
    ucp_tag_recv_info_t info; /* of an immediate receive */
    uint8_t            *data;
};

struct perf_verify {
    struct perf_node      *node;
    const struct perf_job *job;
    bool                   first;
    bool                   failed;
    uint64_t               sent; /* done */
    uint64_t               received;
    struct perf_slot      *out; /* [window] */
    struct perf_slot      *in;
};

/* SplitMix64's finaliser (Steele, Lea, Flood 2014): every bit counts. */
static uint64_t pattern_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t pattern_base(const struct perf_job *job, uint64_t message,
                             bool first)
{
    uint64_t base = pattern_mix(job->seed + (first ? 1 : 2));

    base = pattern_mix(base ^ job->size_bytes);
    return pattern_mix(base ^ message);
}

/* The next 8 bytes of a pattern. One multiplication: as fast as memory. */
static inline uint64_t pattern_next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return *state ^ (*state >> 29);
}

void perf_pattern_fill(const struct perf_job *job, uint64_t message, bool first,
                       uint8_t *data)
{
    uint64_t state = pattern_base(job, message, first);
    uint64_t left  = job->size_bytes;
    uint64_t word;

    for (; left >= sizeof(word); left -= sizeof(word)) {
        word = pattern_next(&state);
        memcpy(data, &word, sizeof(word));
        data += sizeof(word);
    }
    word = pattern_next(&state);
    memcpy(data, &word, left);
}

/* Say which byte differs; the caller knows that one of these does. */
static void pattern_report(struct perf_node *node, const struct perf_job *job,
                           uint64_t message, uint64_t offset,
                           const uint8_t found_wanted[2])
{
    bool last = message > UINT64_MAX / 2;

    snprintf(node->failure, sizeof(node->failure),
             "corrupt data: %s, %s %llu of %llu bytes, byte %llu is 0x%02x, "
             "expected 0x%02x (--seed %llu)",
             perf_test_name((enum perf_test)job->test),
             last ? "last message of repetition" : "message",
             (unsigned long long)(last ? ~message : message),
             (unsigned long long)job->size_bytes, (unsigned long long)offset,
             found_wanted[0], found_wanted[1], (unsigned long long)job->seed);
}

bool perf_pattern_check(struct perf_node *node, const struct perf_job *job,
                        uint64_t message, bool first, const uint8_t *data)
{
    uint64_t state = pattern_base(job, message, first);
    uint64_t offset, i, word;
    size_t   part;
    uint8_t  wanted[sizeof(word)];

    for (offset = 0; offset < job->size_bytes; offset += sizeof(word)) {
        word = pattern_next(&state);
        part = job->size_bytes - offset < sizeof(word)
                   ? job->size_bytes - offset
                   : sizeof(word);
        if (memcmp(data + offset, &word, part) == 0) {
            continue;
        }
        memcpy(wanted, &word, sizeof(word));
        for (i = 0; (i < part) && (data[offset + i] == wanted[i]); i++) {
            /* find it */
        }
        pattern_report(node, job, message, offset + i,
                       (uint8_t[2]){data[offset + i], wanted[i]});
        return false;
    }
    return true;
}

uint64_t perf_verify_window(uint64_t size_bytes, uint64_t window)
{
    uint64_t fit = PERF_VERIFY_SLOT_BYTES / (size_bytes + PERF_CANARY_BYTES);

    fit = fit > 0 ? fit : 1;
    return window < fit ? window : fit;
}

uint64_t perf_verify_buffer_bytes(uint64_t size_bytes, uint64_t window)
{
    return perf_verify_window(size_bytes, window) *
           (size_bytes + PERF_CANARY_BYTES);
}

/* Length, tag, content, canary of one received message. */
static bool verify_check(struct perf_verify        *verify,
                         const struct perf_slot    *slot,
                         const ucp_tag_recv_info_t *info)
{
    const struct perf_job *job  = verify->job;
    struct perf_node      *node = verify->node;
    uint64_t               i;

    if ((info->length != PERF_INFO_UNKNOWN) &&
        ((info->length != job->size_bytes) ||
         (info->sender_tag != PERF_VERIFY_TAG))) {
        snprintf(node->failure, sizeof(node->failure),
                 "wrong message: number %llu has %zu bytes and tag 0x%llx, "
                 "expected %llu bytes and tag 0x%llx",
                 (unsigned long long)slot->message, info->length,
                 (unsigned long long)info->sender_tag,
                 (unsigned long long)job->size_bytes,
                 (unsigned long long)PERF_VERIFY_TAG);
        return false;
    }
    if (!perf_pattern_check(node, job, slot->message, !verify->first,
                            slot->data)) {
        return false;
    }
    for (i = 0; i < PERF_CANARY_BYTES; i++) {
        if (slot->data[job->size_bytes + i] != PERF_CANARY) {
            snprintf(node->failure, sizeof(node->failure),
                     "message %llu of %llu bytes was written past its end, "
                     "at byte %llu",
                     (unsigned long long)slot->message,
                     (unsigned long long)job->size_bytes,
                     (unsigned long long)job->size_bytes + i);
            return false;
        }
    }
    return true;
}

/* [status] of a send or receive is known. */
static bool verify_status(struct perf_verify *verify, ucs_status_t status,
                          const char *what)
{
    if (status == UCS_OK) {
        return true;
    }
    snprintf(verify->node->failure, sizeof(verify->node->failure), "%s: %s",
             what, ucs_status_string(status));
    verify->failed = true;
    return false;
}

static void verify_note_received(struct perf_slot *slot, ucs_status_t status,
                                 const ucp_tag_recv_info_t *info)
{
    struct perf_verify *verify = slot->verify;

    slot->busy = false;
    verify->received++;
    /* The first failure is the one to tell. */
    if (!verify->failed && verify_status(verify, status, "receive") &&
        !verify_check(verify, slot, info)) {
        verify->failed = true;
    }
}

static void verify_note_sent(struct perf_slot *slot, ucs_status_t status)
{
    slot->busy = false;
    slot->verify->sent++;
    if (!slot->verify->failed) {
        (void)verify_status(slot->verify, status, "send");
    }
}

static void verify_received(void *request, ucs_status_t status,
                            const ucp_tag_recv_info_t *info, void *arg)
{
    verify_note_received(arg, status, info);
    ucp_request_free(request);
}

static void verify_sent(void *request, ucs_status_t status, void *arg)
{
    verify_note_sent(arg, status);
    ucp_request_free(request);
}

static void verify_post_receive(struct perf_verify *verify, uint64_t message)
{
    const struct perf_job *job   = verify->job;
    struct perf_slot      *slot  = &verify->in[message % job->window];
    ucp_request_param_t    param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                    UCP_OP_ATTR_FIELD_USER_DATA |
                                                    UCP_OP_ATTR_FIELD_RECV_INFO,
                                    .cb.recv            = verify_received,
                                    .user_data          = slot,
                                    .recv_info.tag_info = &slot->info};
    ucs_status_ptr_t       request;

    slot->message     = message;
    slot->busy        = true;
    slot->info.length = PERF_INFO_UNKNOWN;
    memset(slot->data + job->size_bytes, PERF_CANARY, PERF_CANARY_BYTES);
    request =
        ucp_tag_recv_nbx(verify->node->worker, slot->data, job->size_bytes,
                         PERF_VERIFY_TAG, UINT64_MAX, &param);
    if (!UCS_PTR_IS_PTR(request)) {
        verify_note_received(slot, UCS_PTR_STATUS(request), &slot->info);
    }
}

static void verify_post_send(struct perf_verify *verify, uint64_t message)
{
    const struct perf_job *job   = verify->job;
    struct perf_slot      *slot  = &verify->out[message % job->window];
    ucp_request_param_t    param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                    UCP_OP_ATTR_FIELD_USER_DATA,
                                    .cb.send   = verify_sent,
                                    .user_data = slot};
    ucs_status_ptr_t       request;

    slot->busy = true;
    perf_pattern_fill(job, message, verify->first, slot->data);
    if (job->test == PERF_TEST_SYNC) {
        request =
            ucp_tag_send_sync_nbx(verify->node->ep, slot->data, job->size_bytes,
                                  PERF_VERIFY_TAG, &param);
    } else {
        request = ucp_tag_send_nbx(verify->node->ep, slot->data,
                                   job->size_bytes, PERF_VERIFY_TAG, &param);
    }
    if (!UCS_PTR_IS_PTR(request)) {
        verify_note_sent(slot, UCS_PTR_STATUS(request));
    }
}

static void verify_loop(struct perf_verify *verify)
{
    const struct perf_job *job        = verify->job;
    struct perf_node      *node       = verify->node;
    uint64_t               to_receive = 0;
    uint64_t               to_send    = 0;
    bool                   posted;

    while (!verify->failed && ((verify->sent < job->iterations) ||
                               (verify->received < job->iterations))) {
        posted = false;
        while ((to_receive < job->iterations) &&
               !verify->in[to_receive % job->window].busy && !verify->failed) {
            verify_post_receive(verify, to_receive++);
            posted = true;
        }
        if ((to_send < job->iterations) &&
            !verify->out[to_send % job->window].busy) {
            verify_post_send(verify, to_send++);
            posted = true;
        }
        if ((ucp_worker_progress(node->worker) == 0) && !posted &&
            (node->sleep != PERF_SLEEP_NEVER) && !verify->failed &&
            ((verify->sent < job->iterations) ||
             (verify->received < job->iterations))) {
            perf_node_sleep(node);
        }
    }
}

static struct perf_slot *verify_slots(struct perf_verify *verify,
                                      uint8_t            *buffer)
{
    const struct perf_job *job   = verify->job;
    struct perf_slot      *slots = tool_calloc(job->window, sizeof(*slots));
    uint64_t               i;

    for (i = 0; i < job->window; i++) {
        slots[i].verify = verify;
        slots[i].data   = buffer + i * (job->size_bytes + PERF_CANARY_BYTES);
    }
    return slots;
}

bool perf_verify_run(struct perf_node *node, const struct perf_job *job,
                     bool first)
{
    struct perf_verify verify = {.node = node, .job = job, .first = first};

    verify.out = verify_slots(&verify, node->send_buffer);
    verify.in  = verify_slots(&verify, node->recv_buffer);
    verify_loop(&verify);
    if (!verify.failed) {
        /* Otherwise operations are under way that use the slots, and the
         * program ends. */
        free(verify.out);
        free(verify.in);
    }
    return !verify.failed;
}
