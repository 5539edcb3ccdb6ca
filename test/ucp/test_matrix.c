/* SPDX-License-Identifier: BSD-3-Clause */
/* test_matrix.c - every protocol forced over every transport that can carry
 * it, on one, two and four rails: sizes around every threshold, every class of
 * data to every class, and counters that say that this protocol carried the
 * bytes. A fall-back is a failure where none is expected. */
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucp/api/causeway.h"
#include "ucp/core/worker.h"
#include "ucp/layout.h"
#include "ucp/pair.h"
#include "ucp/play.h"
#include "ucp/proto/rdma.h"
#include "ucp/suites.h"

enum kind { EAGER, SEND, PUT, GET, PIPELINE, BUFFERED };

enum {
    PIECE = 20000, /* UCX_RNDV_FRAG_SIZE */
    TAIL  = 6000,  /* UCX_RNDV_PIPELINE_SEND_LENGTH */
    ROOM  = 4 << 20,
    TAG   = 1,
};

/* A column of the matrix. */
struct column {
    const char *tls;
    enum kind   kind;
    unsigned    rails;
};

#define COLUMN(_tls, _kind, _rails)                                            \
    {                                                                          \
        .name = #_tls "_" #_kind "_" #_rails, .value = &(const struct column)  \
        {                                                                      \
#_tls, _kind, _rails                                               \
        }                                                                      \
    }

static const struct test_param columns[] = {
    COLUMN(self, EAGER, 1),
    COLUMN(self, SEND, 1),
    COLUMN(self, PUT, 1),
    COLUMN(self, GET, 1),
    COLUMN(self, PIPELINE, 1),
    COLUMN(self, BUFFERED, 1),
    COLUMN(sm, EAGER, 1),
    COLUMN(sm, SEND, 1),
    COLUMN(sm, PUT, 1),
    COLUMN(sm, GET, 1),
    COLUMN(sm, PIPELINE, 1),
    COLUMN(sm, BUFFERED, 1),
    COLUMN(example, EAGER, 1),
    COLUMN(example, SEND, 1),
    COLUMN(example, SEND, 2),
    COLUMN(example, SEND, 4),
    COLUMN(example, BUFFERED, 1),
    COLUMN(example, BUFFERED, 4),
    COLUMN(mock, EAGER, 1),
    COLUMN(mock, SEND, 1),
    COLUMN(mock, SEND, 2),
    COLUMN(mock, SEND, 4),
    COLUMN(mock, PUT, 1),
    COLUMN(mock, PUT, 2),
    COLUMN(mock, PUT, 4),
    COLUMN(mock, GET, 1),
    COLUMN(mock, GET, 2),
    COLUMN(mock, GET, 4),
    COLUMN(mock, PIPELINE, 1),
    COLUMN(mock, PIPELINE, 2),
    COLUMN(mock, PIPELINE, 4),
    COLUMN(mock, BUFFERED, 4),
    {0},
};

static void column_set(const char *name, unsigned value)
{
    char text[16];

    (void)snprintf(text, sizeof(text), "%u", value);
    (void)setenv(name, text, 1);
}

static void column_set_env(const struct column *column)
{
    static const char *const schemes[] = {[SEND]     = "am",
                                          [PUT]      = "put_zcopy",
                                          [GET]      = "get_zcopy",
                                          [PIPELINE] = "put_ppln"};

    if ((column->kind != EAGER) && (column->kind != BUFFERED)) {
        (void)setenv("UCX_RNDV_SCHEME", schemes[column->kind], 1);
    }
    column_set("UCX_MAX_RNDV_RAILS", column->rails);
    column_set("UCX_EXAMPLE_DEVICES", column->rails);
    column_set("UCX_RNDV_FRAG_SIZE", PIECE);
    column_set("UCX_RNDV_PIPELINE_SEND_LENGTH", TAIL);
    (void)setenv("UCX_MIN_RNDV_CHUNK_SIZE", "4k", 1);
}

static struct pair_setup column_setup(const struct column *column)
{
    return (struct pair_setup){
        .tls            = column->tls,
        .rndv_threshold = (column->kind == EAGER) ? "inf" : "0",
    };
}

/* ---- what must have carried a message ---- */

static uint64_t count(const struct ucp_worker *worker, enum ucp_count what)
{
    return ucs_counter_get(&worker->counts[what]);
}

/* Bytes of one message, by the way they moved. */
struct moved {
    uint64_t fragments;
    uint64_t puts;
    uint64_t gets;
};

static struct moved moved_out(const struct ucp_worker *worker)
{
    return (struct moved){count(worker, UCP_COUNT_FRAGMENT_OUT),
                          count(worker, UCP_COUNT_PUT_OUT),
                          count(worker, UCP_COUNT_GET_OUT)};
}

static struct moved moved_in(const struct ucp_worker *worker)
{
    return (struct moved){count(worker, UCP_COUNT_FRAGMENT_IN),
                          count(worker, UCP_COUNT_PUT_IN),
                          count(worker, UCP_COUNT_GET_IN)};
}

static struct moved moved_since(struct moved now, struct moved before)
{
    return (struct moved){now.fragments - before.fragments,
                          now.puts - before.puts, now.gets - before.gets};
}

/* @param length  Of the message. @param first  What its start may carry. */
static void check_moved(enum kind kind, struct moved moved, size_t length,
                        size_t first)
{
    uint64_t rest = (length > first) ? length - first : 0;

    switch (kind) {
    case EAGER:
        ck_assert_uint_eq(moved.fragments + moved.puts + moved.gets, 0);
        break;
    case PUT:
        ck_assert_uint_eq(moved.puts, length);
        ck_assert_uint_eq(moved.fragments + moved.gets, 0);
        break;
    case GET:
        ck_assert_uint_eq(moved.gets, length);
        ck_assert_uint_eq(moved.fragments + moved.puts, 0);
        break;
    case PIPELINE:
        ck_assert_uint_eq(moved.fragments, (rest < TAIL) ? rest : TAIL);
        ck_assert_uint_eq(moved.puts, rest - moved.fragments);
        ck_assert_uint_eq(moved.gets, 0);
        break;
    case SEND:
    case BUFFERED:
        ck_assert_uint_eq(moved.fragments, rest);
        ck_assert_uint_eq(moved.puts + moved.gets, 0);
        break;
    }
}

/* Which protocol carries that data, if `kind` is asked for. */
static enum kind kind_of(enum kind kind, const struct layout *from,
                         const struct layout *to)
{
    bool is_rdma = (kind == PUT) || (kind == GET) || (kind == PIPELINE);
    bool is_contig =
        (from->dt_class == UCP_DT_CONTIG) && (to->dt_class == UCP_DT_CONTIG);

    return (is_rdma && !is_contig) ? SEND : kind;
}

/* What comes with the start: all that fits for those that send, nothing for
 * those that only put or get. */
static size_t first_of(enum kind kind, const struct ucp_ep *ep)
{
    return ((kind == PUT) || (kind == GET))
               ? 0
               : ep->config->lane.attr.am.bcopy_bytes_max - UCP_WIRE_RNDV_BYTES;
}

/* ---- every class to every class ---- */

static void *matrix_receive(struct pair *pair, const struct layout *to)
{
    ucp_request_param_t how = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                               .datatype     = to->datatype};

    return ucp_tag_recv_nbx(pair->workers[1], to->buffer, to->count, TAG,
                            UINT64_MAX, &how);
}

static void *matrix_send(struct pair *pair, enum kind kind,
                         const struct layout *from)
{
    ucp_request_param_t how = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                               .datatype     = from->datatype};
    ucp_ep_h            ep  = pair->eps[0];

    if (kind == BUFFERED) {
        return causeway_tag_send_buffered_nbx(ep, from->buffer, from->count,
                                              TAG, &how);
    }
    if ((kind != EAGER) && (test_random_below(2) == 0)) {
        return ucp_tag_send_sync_nbx(ep, from->buffer, from->count, TAG, &how);
    }
    return ucp_tag_send_nbx(ep, from->buffer, from->count, TAG, &how);
}

static void matrix_carry(struct pair *pair, enum kind kind, struct layout *from,
                         struct layout *to, unsigned round)
{
    struct moved out      = moved_out(pair->workers[0]);
    struct moved in       = moved_in(pair->workers[1]);
    bool         is_first = test_random_below(2) == 0;
    enum kind    carrier = (from->length == 0) ? kind : kind_of(kind, from, to);
    size_t       first   = first_of(kind, pair->eps[0]);
    void        *send, *receive = NULL;

    layout_fill(from, round);
    if (is_first) {
        receive = matrix_receive(pair, to);
    }
    do { /* the attached buffer may be full of what is being sent */
        send = matrix_send(pair, kind, from);
        pair_progress(pair);
    } while (UCS_PTR_STATUS(send) == UCS_ERR_NO_RESOURCE);
    if (!is_first) {
        receive = matrix_receive(pair, to);
    }
    ck_assert_int_eq(pair_wait(pair, send), UCS_OK);
    ck_assert_int_eq(pair_wait(pair, receive), UCS_OK);
    layout_check(to, from->length, round);
    /* A sender whose data is not contiguous proposes to send at once. */
    if ((carrier == SEND) && (from->dt_class != UCP_DT_CONTIG)) {
        first = first_of(SEND, pair->eps[0]);
    }
    check_moved(carrier, moved_since(moved_out(pair->workers[0]), out),
                from->length, first);
    check_moved(carrier, moved_since(moved_in(pair->workers[1]), in),
                from->length, first);
}

static void matrix_open(struct pair *pair, const struct column *column)
{
    static uint8_t    room[ROOM];
    struct pair_setup setup = column_setup(column);

    column_set_env(column);
    if (strcmp(column->tls, "mock") == 0) {
        play_mock()->reset();
        play_mock()->setup->device_count = column->rails;
    }
    pair_open_setup(pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(pair);
    ck_assert_uint_eq(pair->eps[0]->config->lane_count, column->rails);
    if (column->kind == BUFFERED) {
        ck_assert_int_eq(
            causeway_worker_attach_buffer(pair->workers[0], room, ROOM),
            UCS_OK);
    }
    if (((column->kind == PUT) || (column->kind == PIPELINE) ||
         (column->kind == GET)) &&
        (pair->eps[0]->config->lane.attr.get.zcopy_bytes_max == 0)) {
        pair_close(pair);
        test_skip("there is no put or get here");
    }
}

static void matrix_close(struct pair *pair, const struct column *column)
{
    unsigned sides = pair->is_loop ? 1 : 2;

    for (unsigned side = 0; side < sides; ++side) {
        pair_settle(pair);
        ck_assert_uint_eq(pair->workers[side]->bad_ids, 0);
        ck_assert_uint_eq(pair->workers[side]->ids.count, 0);
    }
    /* What all those bytes were for: each rail has had some. */
    for (unsigned i = 1; (i < column->rails) && (column->kind == SEND); ++i) {
        ck_assert(pair->eps[0]->lanes[i].is_used);
    }
    if (column->kind == BUFFERED) {
        void *detach =
            causeway_worker_detach_buffer_nbx(pair->workers[0], &pair_no_param);

        ck_assert_int_eq(pair_wait(pair, detach), UCS_OK);
    }
    pair_close(pair);
    if (strcmp(column->tls, "mock") == 0) {
        ck_assert_str_eq(play_mock()->bad(), "");
    }
}

static void matrix__every_class_to_every_class(const struct test_param *param)
{
    const struct column *column = param->value;
    struct pair          pair;
    size_t               start;
    unsigned             round = 0;

    matrix_open(&pair, column);
    start                  = first_of(SEND, pair.eps[0]);
    const size_t lengths[] = {0,
                              1,
                              40,
                              500,
                              start - 1,
                              start,
                              start + 1,
                              PIECE,
                              PIECE + 1,
                              start + TAIL,
                              70000,
                              4 * PIECE,
                              4 * PIECE + 1,
                              start + 4 * PIECE,
                              300001};

    for (size_t i = 0; i < UCS_ARRAY_COUNT(lengths); ++i) {
        for (int both = 0; both < UCP_DT_CLASS_COUNT * UCP_DT_CLASS_COUNT;
             ++both, ++round) {
            struct layout from, to;

            layout_draw(&from, (enum ucp_dt_class)(both / UCP_DT_CLASS_COUNT),
                        lengths[i]);
            layout_draw(&to, (enum ucp_dt_class)(both % UCP_DT_CLASS_COUNT),
                        from.length);
            matrix_carry(&pair, column->kind, &from, &to, round);
            layout_free(&from);
            layout_free(&to);
        }
    }
    matrix_close(&pair, column);
}

static const struct test_case dt_matrix_cases[] = {
    TEST_TIMEOUT(matrix__every_class_to_every_class, 120),
    {0},
};

const struct test_suite dt_matrix_suite = {
    .name = "dt_matrix", .cases = dt_matrix_cases, .params = columns};

/* ---- between two processes ---- */

static const struct test_param process_columns[] = {
    COLUMN(sm, EAGER, 1),         COLUMN(sm, SEND, 1),
    COLUMN(sm, PUT, 1),           COLUMN(sm, GET, 1),
    COLUMN(sm, PIPELINE, 1),      COLUMN(sm, BUFFERED, 1),
    COLUMN(example, EAGER, 1),    COLUMN(example, SEND, 1),
    COLUMN(example, SEND, 2),     COLUMN(example, SEND, 4),
    COLUMN(example, BUFFERED, 4), {0},
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
    static uint8_t room[ROOM];
    struct end     end;
    uint8_t        word = 0;
    bool           can;

    end_open(&end, column, channel);
    end_wait(&end, ucp_tag_send_nbx(end.ep, &word, 1, TAG, &pair_no_param));
    end_receive(&end, &word, 1);
    can = process_can(&end, column->kind);
    if (column->kind == BUFFERED) {
        ck_assert_int_eq(causeway_worker_attach_buffer(end.worker, room, ROOM),
                         UCS_OK);
    }
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(process_lengths); ++i) {
        struct column carried = *column;

        carried.kind = can ? column->kind : SEND;
        process_send(&end, &carried, process_lengths[i], i);
    }
    for (unsigned i = 1; i < column->rails; ++i) {
        ck_assert(end.ep->lanes[i].is_used);
    }
    end_close(&end);
    if (!can) {
        test_skip("the kernel forbids put and get between these processes");
    }
}

static void processes__every_size(const struct test_param *param)
{
    int   pipe[2], status;
    pid_t pid;

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
