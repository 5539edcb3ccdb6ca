/* SPDX-License-Identifier: BSD-3-Clause */
/* test_matrix.c - every protocol forced over every transport that can carry
 * it, on one to four rails: sizes around every threshold, every class of
 * data to every class, and counters that say that this protocol carried the
 * bytes. A fall-back is a failure where none is expected. */
#include "config.h"

#include "ucp/api/causeway.h"
#include "ucp/layout.h"
#include "ucp/matrix.h"
#include "ucp/play.h"
#include "ucp/suites.h"

enum { TAG = 1 };

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
    COLUMN(sm, SHARED, 1),
    COLUMN(sm, PIPELINE, 1),
    COLUMN(sm, BUFFERED, 1),
    COLUMN(example, EAGER, 1),
    COLUMN(example, SEND, 1),
    COLUMN(example, SEND, 2),
    COLUMN(example, SEND, 3),
    COLUMN(example, SEND, 4),
    COLUMN(example, BUFFERED, 1),
    COLUMN(example, BUFFERED, 3),
    COLUMN(example, BUFFERED, 4),
    COLUMN(mock, EAGER, 1),
    COLUMN(mock, SEND, 1),
    COLUMN(mock, SEND, 2),
    COLUMN(mock, SEND, 3),
    COLUMN(mock, SEND, 4),
    COLUMN(mock, PUT, 1),
    COLUMN(mock, PUT, 2),
    COLUMN(mock, PUT, 3),
    COLUMN(mock, PUT, 4),
    COLUMN(mock, GET, 1),
    COLUMN(mock, GET, 2),
    COLUMN(mock, GET, 3),
    COLUMN(mock, GET, 4),
    COLUMN(mock, SHARED, 1),
    COLUMN(mock, PIPELINE, 1),
    COLUMN(mock, PIPELINE, 2),
    COLUMN(mock, PIPELINE, 3),
    COLUMN(mock, PIPELINE, 4),
    COLUMN(mock, BUFFERED, 1),
    COLUMN(mock, BUFFERED, 3),
    COLUMN(mock, BUFFERED, 4),
#ifdef HAVE_UDP
    COLUMN(udp, EAGER, 1),
    COLUMN(udp, SEND, 1),
    COLUMN(udp, PUT, 1),
    COLUMN(udp, GET, 1),
    COLUMN(udp, PIPELINE, 1),
    COLUMN(udp, BUFFERED, 1),
#endif
    {0},
};

static bool is_rdma(enum kind kind)
{
    return (kind == PUT) || (kind == GET) || (kind == SHARED) ||
           (kind == PIPELINE);
}

static bool is_of(enum ucp_dt_class dt_class, const struct layout *from,
                  const struct layout *to)
{
    return (from->dt_class == dt_class) || (to->dt_class == dt_class);
}

/* Data in pieces goes by put or get, or in fragments where the sender or the
 * receiver finds its pieces too small (rdma_check.c says which when); generic
 * data always in fragments. Here: every byte once, and by nothing else. */
static bool may_be_mixed(enum kind kind, const struct layout *from,
                         const struct layout *to)
{
    return is_rdma(kind) && (from->length > 0) &&
           ((from->dt_class != UCP_DT_CONTIG) ||
            (to->dt_class != UCP_DT_CONTIG));
}

static void check_mixed(enum kind kind, struct moved moved, size_t length,
                        bool is_generic, const struct ucp_ep *ep)
{
    uint64_t total = moved.fragments + moved.puts + moved.gets;
    size_t   first = ucs_min(length, first_of(SEND, ep));

    /* SHARED is for contiguous data: others go the best way there is. */
    ck_assert((kind == SHARED) ||
              (((kind == GET) ? moved.puts : moved.gets) == 0));
    ck_assert(!is_generic || (total == moved.fragments));
    ck_assert_msg((total == length) || (total == length - first) ||
                      ((kind == SHARED) && (total > length - first) &&
                       (total <= length - first + MATRIX_HEAD)),
                  "%zu bytes, %lu moved", length, (unsigned long)total);
}

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
    size_t       first    = first_of(kind, pair->eps[0]);
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
    out = moved_since(moved_out(pair->workers[0]), out);
    in  = moved_since(moved_in(pair->workers[1]), in);
    if (may_be_mixed(kind, from, to)) {
        bool is_generic = is_of(UCP_DT_GENERIC, from, to);

        check_mixed(kind, out, from->length, is_generic, pair->eps[0]);
        check_mixed(kind, in, from->length, is_generic, pair->eps[0]);
    } else {
        check_moved(kind, out, from->length, first);
        check_moved(kind, in, from->length, first);
    }
}

static void matrix_open(struct pair *pair, const struct column *column)
{
    static uint8_t    room[MATRIX_ROOM];
    struct pair_setup setup = column_setup(column);

    column_set_env(column);
    if (strcmp(column->tls, "mock") == 0) {
        play_mock()->reset();
        play_mock()->setup->device_count = column->rails;
        if (column->kind == SHARED) {
            play_mock()->setup->devices[0].flags |= UCT_IFACE_CLAIMS;
        }
    }
    pair_open_setup(pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(pair);
    ck_assert_uint_eq(pair->eps[0]->config->lane_count, column->rails);
    if (column->kind == BUFFERED) {
        ck_assert_int_eq(
            causeway_worker_attach_buffer(pair->workers[0], room, MATRIX_ROOM),
            UCS_OK);
    }
    if (is_rdma(column->kind) &&
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
                              MATRIX_PIECE,
                              MATRIX_PIECE + 1,
                              start + MATRIX_TAIL,
                              70000,
                              4 * MATRIX_PIECE,
                              4 * MATRIX_PIECE + 1,
                              start + 4 * MATRIX_PIECE,
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
