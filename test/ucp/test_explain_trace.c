/* SPDX-License-Identifier: BSD-3-Clause */
/* test_explain_trace.c - what explain says of a message, and what the trace of
 * that very message shows: every mode, every pair of datatypes, sizes around
 * the thresholds; over each transport, with each protocol forced, and with
 * what is forced forbidden.
 *
 *   explain: winner, and who goes on in its place     a message, alone
 *      "rndv/rdma_get", then "rndv/pipeline_send"     [RGET].. [FRAG]..
 *
 * The start of the message belongs to the winner, or, where the sender falls
 * back, to protocol 4; each byte behind it to whoever goes on. The sender of
 * protocol 7 cannot tell a fall-back from its own tail: there only FRAG may
 * follow. Explain knows how short the sender's pieces are, not the receiver's:
 * where those are in pieces, protocol 4 is right for the rest as well. */
#include <stdlib.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucp/api/causeway.h"
#include "ucp/core/ep.h"
#include "ucp/layout.h"
#include "ucp/pair.h"
#include "ucp/proto/explain.h"
#include "ucp/suites.h"
#include "ucp/trace_lines.h"

enum {
    TAG          = 9,
    BUFFER_BYTES = 4 << 20, /* attached, for all buffered messages */
    LABEL_BYTES  = 128,
    MEET_COUNT   = 2, /* messages of pair_meet() */
};

static const size_t sizes[] = {0, 1, 100, 500, 9000, 33000, 140000};

/* What was said of a message.
 * start  whose the first message of it is; rest: whose all bytes behind are
 * has_pieces  at the receiver */
struct saying {
    bool has_pieces;
    char label[LABEL_BYTES];
    char start[32];
    char rest[32];
};

/* A datatype of the sender, and the class that explain knows it by.
 * draw  of so many bytes */
struct shape {
    const char *name;
    const char *said_as;
    void (*draw)(struct layout *layout, size_t bytes);
    size_t piece_count;
};

static void draw_contig(struct layout *layout, size_t bytes)
{
    layout_draw(layout, UCP_DT_CONTIG, bytes);
}

/* Of several pieces: at least so many bytes, the next multiple. */
static void draw_few(struct layout *layout, size_t bytes)
{
    layout_of_iov(layout, ucs_align_up(bytes, 2), 2);
}

static void draw_many(struct layout *layout, size_t bytes)
{
    layout_of_iov(layout, ucs_align_up(bytes, 64), 64);
}

static void draw_tiny(struct layout *layout, size_t bytes)
{
    layout_of_iov(layout, ucs_align_up(bytes, 256), 256);
}

static void draw_generic(struct layout *layout, size_t bytes)
{
    layout_draw(layout, UCP_DT_GENERIC, bytes);
}

static void draw_strided(struct layout *layout, size_t bytes)
{
    size_t                    block = ucs_align_up(bytes, 64) / 64;
    const causeway_dt_level_t level = {.count        = 64,
                                       .stride_bytes = (ptrdiff_t)block + 7};

    layout_of_strided(layout, block, &level, 1, 0, 1);
}

static const struct shape shapes[] = {
    {"contig", "contig", draw_contig, 1},
    {"few", "iov", draw_few, 2},
    {"many", "iov-long", draw_many, 64},
    {"tiny", "iov-long", draw_tiny, 256},
    {"generic", "generic", draw_generic, 1},
    {"strided", "strided", draw_strided, 64},
};

static const char *const recv_names[] = {"contig", "iov", "generic", "strided"};

/* The receiver's: any will do that is of the class. */
static void draw_recv(struct layout *layout, unsigned dt_class, size_t bytes)
{
    static void (*const draw[])(struct layout * layout, size_t bytes) = {
        draw_contig, draw_few, draw_generic, draw_strided};

    draw[dt_class](layout, bytes);
}

/* Ask. Text of the winner, and of who goes on. */
static void ask(ucp_ep_h ep, const causeway_explain_params_t *params,
                struct saying *saying)
{
    char       *text   = NULL;
    size_t      length = 0;
    FILE       *stream = open_memstream(&text, &length);
    const char *at, *then;
    char        who[16] = "";

    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(causeway_ep_explain(ep, params, stream), UCS_OK);
    (void)fclose(stream);
    at = strstr(text, "\"record\":\"protocol\"");
    ck_assert_ptr_nonnull(at);
    trace_text(at, "protocol", saying->start, sizeof(saying->start));
    memcpy(saying->rest, saying->start, sizeof(saying->rest));
    then = strstr(at, "\"record\":\"then\"");
    if (then != NULL) {
        trace_text(then, "protocol", saying->rest, sizeof(saying->rest));
        trace_text(then, "who", who, sizeof(who));
    }
    if (strcmp(who, "sender") == 0) {
        memcpy(saying->start, saying->rest, sizeof(saying->start));
    }
    free(text);
}

typedef ucs_status_ptr_t (*send_fn)(ucp_ep_h ep, const void *buffer,
                                    size_t count, ucp_tag_t tag,
                                    const ucp_request_param_t *param);

static const send_fn sends[UCP_MODE_COUNT] = {
    [UCP_MODE_STANDARD] = ucp_tag_send_nbx,
    [UCP_MODE_SYNC]     = ucp_tag_send_sync_nbx,
    [UCP_MODE_READY]    = causeway_tag_send_ready_nbx,
    [UCP_MODE_BUFFERED] = causeway_tag_send_buffered_nbx,
};

static ucp_request_param_t param_of(const struct layout *layout)
{
    return (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                 .datatype     = layout->datatype};
}

/* Say, and do. */
static void one_message(struct pair *pair, const struct shape *shape,
                        unsigned recv_class, unsigned mode, size_t bytes,
                        struct saying *saying)
{
    struct layout       from, to;
    ucp_request_param_t send_param, recv_param;
    void               *receive, *send;

    shape->draw(&from, bytes);
    draw_recv(&to, recv_class, from.length);
    layout_fill(&from, 1);
    layout_clear(&to);
    ask(pair->eps[0],
        &(const causeway_explain_params_t){
            .field_mask =
                CAUSEWAY_EXPLAIN_FIELD_MODE | CAUSEWAY_EXPLAIN_FIELD_DATATYPE |
                CAUSEWAY_EXPLAIN_FIELD_BYTES | CAUSEWAY_EXPLAIN_FIELD_FLAGS |
                CAUSEWAY_EXPLAIN_FIELD_RECV_DATATYPE |
                CAUSEWAY_EXPLAIN_FIELD_PIECE_BYTES |
                CAUSEWAY_EXPLAIN_FIELD_OPERATION,
            .mode          = ucp_mode_names[mode],
            .datatype      = shape->said_as,
            .bytes         = from.length,
            .flags         = CAUSEWAY_EXPLAIN_FLAG_JSON,
            .operation     = "tag",
            .recv_datatype = recv_names[recv_class],
            .piece_bytes   = from.length / shape->piece_count,
        },
        saying);
    saying->has_pieces =
        (recv_class == UCP_DT_IOV) || (recv_class == UCP_DT_STRIDED);
    (void)snprintf(saying->label, sizeof(saying->label),
                   "%s, %s to %s, %zu bytes", ucp_mode_names[mode], shape->name,
                   recv_names[recv_class], from.length);
    send_param = param_of(&from);
    recv_param = param_of(&to);
    receive    = ucp_tag_recv_nbx(pair->workers[1], to.buffer, to.count, TAG,
                                  UINT64_MAX, &recv_param);
    send = sends[mode](pair->eps[0], from.buffer, from.count, TAG, &send_param);
    ck_assert_msg(pair_wait(pair, send) == UCS_OK, "%s", saying->label);
    ck_assert_msg(pair_wait(pair, receive) == UCS_OK, "%s", saying->label);
    layout_check(&to, from.length, 1);
    pair_settle(pair);
    layout_free(&from);
    layout_free(&to);
}

static int compare_times(const void *a, const void *b)
{
    const struct trace_line *left = a, *right = b;

    return (left->ts > right->ts) - (left->ts < right->ts);
}

/* A line that says who moved bytes of a message, or began it. */
static bool line_counts(const struct trace_line *line)
{
    bool is_send = (strcmp(line->cat, "send") == 0);

    return (line->ph == 'X') && (strcmp(line->name, "ANNOUNCE") != 0) &&
           (strcmp(line->result, "no room") != 0) &&
           ((is_send && (line->has_tag || (line->bytes > 0))) ||
            ((strcmp(line->cat, "remote") == 0) && (line->bytes > 0)));
}

/* A fragment of protocol 7, where protocol 4 was said to go on. */
static bool is_fragment_of_7(const struct saying     *saying,
                             const struct trace_line *line)
{
    return (strcmp(line->name, "FRAG") == 0) &&
           (strcmp(line->protocol, "rndv/rdma_pipeline") == 0) &&
           (strcmp(saying->start, "rndv/rdma_pipeline") == 0) &&
           (strcmp(saying->rest, "rndv/pipeline_send") == 0);
}

/* R's pieces are too short to be worth describing, of a message that explain
 * gives to RDMA. */
static bool is_packed_anyway(const struct saying     *saying,
                             const struct trace_line *line)
{
    return saying->has_pieces && !line->has_tag &&
           (strncmp(saying->start, "rndv/rdma_", 10) == 0) &&
           (strcmp(line->protocol, "rndv/pipeline_send") == 0);
}

/* Messages went one after the other: between two starts is all of one. */
static void compare(struct trace_lines *all, const struct saying *sayings,
                    unsigned count)
{
    const struct saying *saying = sayings - 1;
    unsigned             starts = 0;

    qsort(all->lines, all->count, sizeof(*all->lines), compare_times);
    for (unsigned i = 0; i < all->count; ++i) {
        const struct trace_line *line = &all->lines[i];
        const char              *said;

        if (!line_counts(line)) {
            continue;
        }
        if (line->has_tag) {
            ++starts;
            ck_assert_uint_le(starts, count);
            ++saying;
        }
        ck_assert_uint_gt(starts, 0);
        said = line->has_tag ? saying->start : saying->rest;
        if (*said == '\0') {
            continue;
        }
        ck_assert_msg((strcmp(said, line->protocol) == 0) ||
                          is_fragment_of_7(saying, line) ||
                          is_packed_anyway(saying, line),
                      "%s: %s was said, %s did %s", saying->label, said,
                      line->protocol, line->name);
    }
    ck_assert_uint_eq(starts, count);
}

/* One size, every mode and pair of datatypes; only contiguous data can be so
 * small that pieces of it are empty. @return how many messages. */
static unsigned messages_of_size(struct pair *pair, size_t bytes,
                                 struct saying *sayings)
{
    unsigned shape_count = (bytes < 64) ? 1 : UCS_ARRAY_COUNT(shapes);
    unsigned recv_count  = (bytes < 64) ? 1 : UCP_DT_CLASS_COUNT;
    unsigned count       = 0;

    for (unsigned mode = 0; mode < UCP_MODE_COUNT; ++mode) {
        for (unsigned n = 0; n < shape_count * recv_count; ++n) {
            one_message(pair, &shapes[n / recv_count], n % recv_count, mode,
                        bytes, &sayings[count++]);
        }
    }
    return count;
}

static unsigned all_messages(struct pair *pair, struct saying *sayings)
{
    unsigned count = 0;

    for (unsigned i = 0; i < UCS_ARRAY_COUNT(sizes); ++i) {
        count += messages_of_size(pair, sizes[i], sayings + count);
    }
    return count;
}

/* @param prepare  What is done with the endpoints when they have met; NULL. */
static void say_and_do(const struct test_param *param,
                       void (*prepare)(struct pair *pair))
{
    struct saying *sayings =
        calloc(UCS_ARRAY_COUNT(sizes) * UCS_ARRAY_COUNT(shapes) *
                       UCP_MODE_COUNT * UCP_DT_CLASS_COUNT +
                   MEET_COUNT,
               sizeof(*sayings));
    void              *buffer = malloc(BUFFER_BYTES);
    struct trace_lines all;
    struct pair        pair;
    char               path[64];
    unsigned           count = 0;

    ck_assert(sayings != NULL && buffer != NULL);
    (void)snprintf(path, sizeof(path), "/tmp/ucp_test_explain.%d",
                   (int)getpid());
    (void)setenv("UCX_TRACE_FILE", path, 1);
    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_NONE);
    ck_assert_int_eq(
        causeway_worker_attach_buffer(pair.workers[0], buffer, BUFFER_BYTES),
        UCS_OK);
    if (prepare != NULL) {
        pair_meet(&pair); /* of these nothing was said */
        pair_settle(&pair);
        count = MEET_COUNT;
        prepare(&pair);
    }
    count += all_messages(&pair, sayings + count);
    ck_assert_int_eq(causeway_worker_detach_buffer(pair.workers[0], NULL, NULL),
                     UCS_OK);
    pair_close(&pair);
    all = trace_lines_load(path);
    (void)unlink(path);
    compare(&all, sayings, count);
    trace_lines_free(&all);
    free(buffer);
    free(sayings);
}

static void explain__agrees_with_the_trace(const struct test_param *param)
{
    say_and_do(param, NULL);
}

/* What is forced is forbidden: the next best goes, and is said. */
static void explain__forced_and_forbidden(const struct test_param *param)
{
    (void)setenv("UCX_SM_CMA", "n", 1);
    say_and_do(param, NULL);
}

static void take_rights(struct pair *pair)
{
    pair->eps[0]->message_ep->rights      = UCT_RIGHT_KNOWN;
    pair->eps[0]->message_ep->peer_rights = UCT_RIGHT_KNOWN;
}

/* The transport can, but the kernel does not let these two: the sender knows
 * and does not propose it. */
static void explain__without_rights(const struct test_param *param)
{
    say_and_do(param, take_rights);
}

/* R answered that it never will. */
static void refuse(struct pair *pair)
{
    pair->eps[0]->refused = 0xff;
}

static void explain__refused_before(const struct test_param *param)
{
    say_and_do(param, refuse);
}

static const struct test_case trace_cases[] = {
    TEST_TIMEOUT(explain__agrees_with_the_trace, 120),
    {0},
};

const struct test_suite explain_trace_suite = {
    .name = "explain_trace", .cases = trace_cases, .params = pair_protocols};

#define FORBIDDEN(_name, _scheme, _threshold)                                  \
    {                                                                          \
        .name = _name, .value = &(const struct pair_setup)                     \
        {                                                                      \
            .tls = "sm", .rndv_threshold = _threshold, .rndv_scheme = _scheme  \
        }                                                                      \
    }

static const struct test_param forbidden[] = {
    FORBIDDEN("put", "put_zcopy", "0"), FORBIDDEN("put_8k", "put_zcopy", "8k"),
    FORBIDDEN("get", "get_zcopy", "0"), FORBIDDEN("put_ppln", "put_ppln", "0"),
    FORBIDDEN("shared", "shared", "0"), {0},
};

static const struct test_case forbidden_cases[] = {
    TEST(explain__forced_and_forbidden),
    TEST(explain__without_rights),
    TEST(explain__refused_before),
    {0},
};

const struct test_suite explain_forbidden_suite = {
    .name = "explain_forbidden", .cases = forbidden_cases, .params = forbidden};
