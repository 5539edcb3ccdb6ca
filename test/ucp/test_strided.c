/* SPDX-License-Identifier: BSD-3-Clause */
/* test_strided.c - src/ucp/dt/strided.c and the one iterator over all classes:
 * against a naive model, and over every protocol, each class on each side. */
#include "ucp/dt/strided.h"

#include <stdlib.h>

#include "lib/test.h"
#include "ucp/layout.h"
#include "ucp/pair.h"
#include "ucp/suites.h"

enum { DRAW_COUNT = 200, LENGTH_MAX = 3000 };

/* ---- creation ---- */

static void create__refuses_bad_layouts(const struct test_param *param)
{
    static const struct {
        size_t              block_bytes;
        causeway_dt_level_t levels[3];
        unsigned            level_count;
        size_t              extent_bytes;
    } bad[] = {
        {0, {{2, 8}}, 1, 0},  /* empty blocks */
        {8, {{0, 8}}, 1, 0},  /* none of them */
        {8, {{2, 16}}, 0, 0}, /* no level */
        {8, {{2, 8}, {2, 16}, {2, 32}}, 3, 0},
        {8, {{2, -8}}, 1, 0}, /* negative */
        {8, {{2, 7}}, 1, 0},  /* overlap */
        {8, {{2, 0}}, 1, 0},
        {8, {{3, 16}, {2, 39}}, 2, 0}, /* interleave: 40 are spanned */
        {8, {{3, 16}, {2, -40}}, 2, 0},
        {8, {{3, 16}}, 1, 39},       /* elements overlap */
        {8, {{SIZE_MAX, 16}}, 1, 0}, /* too large */
        {8, {{2, 16}, {SIZE_MAX / 2, 24}}, 2, 0},
        {SIZE_MAX, {{2, PTRDIFF_MAX}}, 1, 0},
    };
    ucp_datatype_t datatype = 77;

    (void)param;
    for (size_t i = 0; i < UCS_ARRAY_COUNT(bad); ++i) {
        ck_assert_msg(
            causeway_dt_create_strided(bad[i].block_bytes, bad[i].levels,
                                       bad[i].level_count, bad[i].extent_bytes,
                                       &datatype) == UCS_ERR_INVALID_PARAM,
            "row %zu", i);
    }
    ck_assert_uint_eq(datatype, 77);
    ck_assert_int_eq(causeway_dt_create_strided(8, NULL, 1, 0, &datatype),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(causeway_dt_create_strided(8, bad[0].levels, 1, 0, NULL),
                     UCS_ERR_INVALID_PARAM);
}

static void create__one_piece_needs_no_stride(const struct test_param *param)
{
    static const causeway_dt_level_t one = {1, 0};
    struct ucp_dt_strided            dt;

    (void)param;
    ck_assert_int_eq(ucp_dt_strided_init(&dt, 24, &one, 1, 0), UCS_OK);
    ck_assert_uint_eq(dt.packed_bytes, 24);
    ck_assert_uint_eq(dt.extent_bytes, 24);
}

/* Whole rows of a matrix are one block. */
static void create__touching_pieces_become_one(const struct test_param *param)
{
    static const causeway_dt_level_t levels[] = {{10, 8}, {5, 80}};
    static const causeway_dt_level_t gaps[]   = {{10, 8}, {5, 100}};
    struct ucp_dt_strided            dt;

    (void)param;
    ck_assert_int_eq(ucp_dt_strided_init(&dt, 8, levels, 2, 0), UCS_OK);
    ck_assert_uint_eq(dt.block_bytes, 400);
    ck_assert_uint_eq(dt.extent_bytes, 400);
    ck_assert_int_eq(ucp_dt_strided_init(&dt, 8, gaps, 2, 0), UCS_OK);
    ck_assert_uint_eq(dt.block_bytes, 80);
    ck_assert_uint_eq(dt.packed_bytes, 400);
    ck_assert_uint_eq(dt.extent_bytes, 500);
}

/* ---- handles ---- */

static void handle__query_and_limits(const struct test_param *param)
{
    static const causeway_dt_level_t level = {4, 100};
    ucp_datatype_attr_t              attr  = {.field_mask =
                                                  UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE |
                                                  UCP_DATATYPE_ATTR_FIELD_COUNT,
                                              .count = 7};
    struct ucp_dt_iter               iter;
    ucp_datatype_t                   datatype;

    (void)param;
    ck_assert_int_eq(causeway_dt_create_strided(24, &level, 1, 0, &datatype),
                     UCS_OK);
    ck_assert_uint_eq(datatype & UCP_DATATYPE_CLASS_MASK, UCP_DATATYPE_STRIDED);
    ck_assert_int_eq(ucp_dt_query(datatype, &attr), UCS_OK);
    ck_assert_uint_eq(attr.packed_size, 7 * 4 * 24);
    attr.field_mask = UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE;
    ck_assert_int_eq(ucp_dt_query(datatype, &attr), UCS_OK);
    ck_assert_uint_eq(attr.packed_size, 4 * 24);
    ck_assert_int_eq(
        ucp_dt_iter_init_send(&iter, &iter, SIZE_MAX / 300, datatype),
        UCS_ERR_INVALID_PARAM);
    ucp_dt_destroy(datatype);
}

static void handle__missing_buffer_is_refused(const struct test_param *param)
{
    static const struct pair_setup   self  = {.tls = "self"};
    static const causeway_dt_level_t level = {4, 100};
    ucp_request_param_t how = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE};
    struct pair         pair;

    (void)param;
    pair_open_setup(&pair, &self, 0, UCP_ERR_HANDLING_MODE_NONE);
    ck_assert_int_eq(
        causeway_dt_create_strided(24, &level, 1, 0, &how.datatype), UCS_OK);
    ck_assert_int_eq(
        UCS_PTR_RAW_STATUS(ucp_tag_send_nbx(pair.eps[0], NULL, 1, 1, &how)),
        UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(ucp_tag_recv_nbx(pair.workers[0], NULL,
                                                         1, 1, 0, &how)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(
        pair_wait(&pair, ucp_tag_send_nbx(pair.eps[0], NULL, 0, 1, &how)),
        UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, ucp_tag_recv_nbx(pair.workers[0], NULL, 0,
                                                       1, 0, &how)),
                     UCS_OK);
    ucp_dt_destroy(how.datatype);
    pair_close(&pair);
}

/* ---- the iterator against the model ---- */

static void draw(struct layout *layout, int round)
{
    layout_draw(layout, (enum ucp_dt_class)(round % UCP_DT_CLASS_COUNT),
                1 + test_random_below(LENGTH_MAX));
    layout_fill(layout, (unsigned)round);
}

static void iter__packs_in_parts(const struct test_param *param)
{
    (void)param;
    for (int round = 0; round < DRAW_COUNT; ++round) {
        struct layout      layout;
        struct ucp_dt_iter iter;
        uint8_t           *packed;
        size_t             done = 0;

        draw(&layout, round);
        packed = malloc(layout.length);
        ck_assert_int_eq(ucp_dt_iter_init_send(&iter, layout.buffer,
                                               layout.count, layout.datatype),
                         UCS_OK);
        ck_assert_uint_eq(iter.length, layout.length);
        while (done < layout.length) {
            size_t part = ucp_dt_iter_pack(
                &iter, packed + done, 1 + test_random_below(LENGTH_MAX / 4));

            ck_assert_uint_gt(part, 0);
            done += part;
            ck_assert_uint_eq(iter.offset, done);
        }
        for (size_t i = 0; i < done; ++i) {
            if (packed[i] != layout_byte((unsigned)round, i)) {
                ck_abort_msg("class %d, byte %zu", layout.dt_class, i);
            }
        }
        ucp_dt_iter_cleanup(&iter);
        free(packed);
        layout_free(&layout);
    }
}

/* Fragments in any order, each once. */
static void unpack_shuffled(struct ucp_dt_iter *iter, const uint8_t *packed,
                            size_t length)
{
    size_t starts[LENGTH_MAX * 20], ends[LENGTH_MAX * 20];
    size_t count = 0;

    for (size_t offset = 0; offset < length; ++count) {
        size_t part = 1 + test_random_below(LENGTH_MAX / 8);

        starts[count] = offset;
        ends[count]   = offset =
            (part > length - offset) ? length : offset + part;
    }
    for (; count > 0; --count) {
        size_t i = test_random_below(count);

        ck_assert_int_eq(ucp_dt_iter_unpack(iter, starts[i], packed + starts[i],
                                            ends[i] - starts[i]),
                         UCS_OK);
        starts[i] = starts[count - 1];
        ends[i]   = ends[count - 1];
    }
}

static void iter__unpacks_in_any_order(const struct test_param *param)
{
    (void)param;
    for (int round = 0; round < DRAW_COUNT; ++round) {
        struct layout      layout;
        struct ucp_dt_iter iter;
        uint8_t           *packed;
        size_t             length;

        draw(&layout, round);
        layout_clear(&layout);
        length = layout.length - test_random_below(layout.length / 2 + 1);
        packed = malloc(length);
        for (size_t i = 0; i < length; ++i) {
            packed[i] = layout_byte((unsigned)round, i);
        }
        ck_assert_int_eq(ucp_dt_iter_init_recv(&iter, layout.buffer,
                                               layout.count, layout.datatype),
                         UCS_OK);
        unpack_shuffled(&iter, packed, length);
        ucp_dt_iter_cleanup(&iter);
        layout_check(&layout, length, (unsigned)round);
        free(packed);
        layout_free(&layout);
    }
}

static void check_pieces(const struct layout *layout, size_t offset,
                         const struct uct_iov *pieces, unsigned count)
{
    for (unsigned i = 0; i < count; ++i) {
        const uint8_t *bytes = pieces[i].buffer;

        ck_assert_uint_gt(pieces[i].length, 0);
        for (size_t byte = 0; byte < pieces[i].length; ++byte) {
            if (bytes + byte != layout->memory + layout->where[offset]) {
                ck_abort_msg("class %d, offset %zu", layout->dt_class, offset);
            }
            ++offset;
        }
    }
}

static void iter__pieces_lie_where_the_bytes_are(const struct test_param *param)
{
    enum { PIECE_COUNT = 5 };

    (void)param;
    for (int round = 0; round < DRAW_COUNT; ++round) {
        struct layout      layout;
        struct ucp_dt_iter iter;
        struct uct_iov     pieces[PIECE_COUNT];

        draw(&layout, round);
        ck_assert_int_eq(ucp_dt_iter_init_send(&iter, layout.buffer,
                                               layout.count, layout.datatype),
                         UCS_OK);
        while ((iter.offset < iter.length) &&
               (layout.dt_class != UCP_DT_GENERIC)) {
            unsigned count  = 1 + (unsigned)test_random_below(PIECE_COUNT);
            size_t   offset = iter.offset;
            size_t   most   = 1 + test_random_below(LENGTH_MAX);
            unsigned used   = count;
            size_t   bytes  = ucp_dt_iter_pieces(&iter, most, pieces, &used);

            ck_assert_uint_gt(bytes, 0);
            ck_assert_uint_le(bytes, most);
            ck_assert_uint_le(used, count);
            ck_assert_uint_eq(iter.offset, offset + bytes);
            check_pieces(&layout, offset, pieces, used);
        }
        ucp_dt_iter_cleanup(&iter);
        layout_free(&layout);
    }
}

/* Few or large pieces are worth showing, many small ones are not. */
static void iter__says_what_is_coarse(const struct test_param *param)
{
    static const causeway_dt_level_t fine[]   = {{100, 16}};
    static const causeway_dt_level_t coarse[] = {{100, 4096}};
    struct layout                    layout;
    struct ucp_dt_iter               iter;

    (void)param;
    for (int i = 0; i < 3; ++i) {
        layout_of_strided(&layout, (i == 1) ? 2048 : 8,
                          (i == 1) ? coarse : fine, 1, 0, (i == 2) ? 0 : 1);
        ck_assert_int_eq(ucp_dt_iter_init_send(&iter, layout.buffer,
                                               layout.count, layout.datatype),
                         UCS_OK);
        ck_assert_uint_eq(ucp_dt_iter_piece_count(&iter), (i == 2) ? 0 : 100);
        ck_assert_int_eq(ucp_dt_iter_is_coarse(&iter, 16), i != 0);
        ck_assert(ucp_dt_iter_is_coarse(&iter, 100));
        layout_free(&layout);
    }
}

static const struct test_case strided_cases[] = {
    TEST(create__refuses_bad_layouts),
    TEST(create__one_piece_needs_no_stride),
    TEST(create__touching_pieces_become_one),
    TEST(handle__query_and_limits),
    TEST(handle__missing_buffer_is_refused),
    TEST(iter__packs_in_parts),
    TEST(iter__unpacks_in_any_order),
    TEST(iter__pieces_lie_where_the_bytes_are),
    TEST(iter__says_what_is_coarse),
    {0},
};

const struct test_suite strided_suite = {.name  = "strided",
                                         .cases = strided_cases};
