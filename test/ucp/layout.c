/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.c - random messages in memory, and a naive model of them. */
#include "ucp/layout.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD = 0xa5, IOV_COUNT_MAX = 100, MARGIN_BYTES = 32 };

uint8_t layout_byte(unsigned seed, size_t offset)
{
    return (uint8_t)(seed * 31 + offset * 7 + (offset >> 8) + (offset >> 16));
}

/* ---- a generic datatype that stores the message backwards ---- */

static void *backwards_start_pack(void *context, const void *buffer,
                                  size_t count)
{
    (void)buffer;
    (void)count;
    ++((struct layout *)context)->open_states;
    return context;
}

static void *backwards_start_unpack(void *context, void *buffer, size_t count)
{
    return backwards_start_pack(context, buffer, count);
}

static size_t backwards_size(void *state)
{
    return ((struct layout *)state)->length;
}

static size_t backwards_pack(void *state, size_t offset, void *dest,
                             size_t length)
{
    const struct layout *layout = state;

    length =
        (length > layout->pack_bytes_max) ? layout->pack_bytes_max : length;
    ck_assert_uint_le(offset + length, layout->length);
    for (size_t i = 0; i < length; ++i) {
        ((uint8_t *)dest)[i] = layout->memory[layout->where[offset + i]];
    }
    return length;
}

static ucs_status_t backwards_unpack(void *state, size_t offset,
                                     const void *source, size_t length)
{
    struct layout *layout = state;

    ck_assert_uint_le(offset + length, layout->length);
    for (size_t i = 0; i < length; ++i) {
        layout->memory[layout->where[offset + i]] =
            ((const uint8_t *)source)[i];
    }
    return UCS_OK;
}

static void backwards_finish(void *state)
{
    --((struct layout *)state)->open_states;
}

static const ucp_generic_dt_ops_t backwards_ops = {
    .start_pack   = backwards_start_pack,
    .start_unpack = backwards_start_unpack,
    .packed_size  = backwards_size,
    .pack         = backwards_pack,
    .unpack       = backwards_unpack,
    .finish       = backwards_finish,
};

/* ---- drawing ---- */

static void layout_alloc(struct layout *layout, size_t memory_bytes)
{
    layout->memory_bytes = memory_bytes + 2 * MARGIN_BYTES;
    layout->memory       = malloc(layout->memory_bytes);
    layout->where        = calloc(layout->length + 1, sizeof(size_t));
    ck_assert_ptr_nonnull(layout->memory);
    ck_assert_ptr_nonnull(layout->where);
    layout->buffer = layout->memory + MARGIN_BYTES;
}

static void draw_contig(struct layout *layout)
{
    layout_alloc(layout, layout->length);
    for (size_t i = 0; i < layout->length; ++i) {
        layout->where[i] = MARGIN_BYTES + i;
    }
    layout->datatype = ucp_dt_make_contig(1);
    layout->count    = layout->length;
}

static void draw_generic(struct layout *layout)
{
    draw_contig(layout);
    for (size_t i = 0; i < layout->length; ++i) {
        layout->where[i] = MARGIN_BYTES + layout->length - 1 - i;
    }
    layout->pack_bytes_max = 1 + test_random_below(20000);
    layout->count          = 1;
    ck_assert_int_eq(
        ucp_dt_create_generic(&backwards_ops, layout, &layout->datatype),
        UCS_OK);
}

/* Entries in order, with gaps; some empty; sometimes more than a lane takes. */
static void draw_iov(struct layout *layout)
{
    size_t at = MARGIN_BYTES, offset = 0;

    layout->count =
        1 + test_random_below((test_random_below(2) == 0) ? 10 : IOV_COUNT_MAX);
    layout->iov = calloc(layout->count, sizeof(*layout->iov));
    ck_assert_ptr_nonnull(layout->iov);
    layout_alloc(layout, layout->length + layout->count * 8);
    for (size_t i = 0; i < layout->count; ++i) {
        size_t left = layout->length - offset;
        size_t part = test_random_below(2 * layout->length / layout->count + 1);

        part                  = (part > left) ? left : part;
        part                  = (i == layout->count - 1) ? left : part;
        layout->iov[i].length = part;
        layout->iov[i].buffer = (part == 0) ? NULL : layout->memory + at;
        for (; part > 0; --part) {
            layout->where[offset++] = at++;
        }
        at += test_random_below(8);
    }
    layout->datatype = ucp_dt_make_iov();
    layout->buffer   = layout->iov;
}

void layout_of_pieces(struct layout *layout, const size_t *lengths,
                      size_t count)
{
    size_t at = MARGIN_BYTES;
    size_t i  = 0;

    memset(layout, 0, sizeof(*layout));
    layout->dt_class = UCP_DT_IOV;
    layout->count    = count;
    layout->iov      = calloc(count, sizeof(*layout->iov));
    ck_assert_ptr_nonnull(layout->iov);
    for (size_t entry = 0; entry < count; ++entry) {
        layout->length += lengths[entry];
    }
    layout_alloc(layout, layout->length + count * MARGIN_BYTES);
    for (size_t entry = 0; entry < count; ++entry) {
        size_t end = i + lengths[entry];

        layout->iov[entry].buffer =
            (lengths[entry] == 0) ? NULL : layout->memory + at;
        layout->iov[entry].length = lengths[entry];
        while (i < end) {
            layout->where[i++] = at++;
        }
        at += MARGIN_BYTES;
    }
    layout->datatype = ucp_dt_make_iov();
    layout->buffer   = layout->iov;
    layout_clear(layout);
}

void layout_of_iov(struct layout *layout, size_t length, size_t count)
{
    size_t *lengths = calloc(count, sizeof(*lengths));

    ck_assert_ptr_nonnull(lengths);
    for (size_t entry = 0; entry < count; ++entry) {
        lengths[entry] = length / count;
    }
    lengths[count - 1] += length % count;
    layout_of_pieces(layout, lengths, count);
    free(lengths);
}

void layout_of_strided(struct layout *layout, size_t block_bytes,
                       const causeway_dt_level_t *levels, unsigned level_count,
                       size_t extent_bytes, size_t count)
{
    size_t outer  = (level_count > 1) ? levels[1].count : 1;
    size_t step   = (level_count > 1) ? (size_t)levels[1].stride_bytes : 0;
    size_t extent = (extent_bytes != 0)
                        ? extent_bytes
                        : levels[level_count - 1].count *
                              (size_t)levels[level_count - 1].stride_bytes;
    size_t i      = 0;

    memset(layout, 0, sizeof(*layout));
    layout->dt_class = UCP_DT_STRIDED;
    layout->length   = count * outer * levels[0].count * block_bytes;
    layout->count    = count;
    layout_alloc(layout, count * extent + outer * step + block_bytes);
    for (size_t e = 0; e < count; ++e) {
        for (size_t row = 0; row < outer * levels[0].count; ++row) {
            size_t at = MARGIN_BYTES + e * extent +
                        row / levels[0].count * step +
                        row % levels[0].count * (size_t)levels[0].stride_bytes;

            for (size_t byte = 0; byte < block_bytes; ++byte) {
                layout->where[i++] = at + byte;
            }
        }
    }
    ck_assert_int_eq(causeway_dt_create_strided(block_bytes, levels,
                                                level_count, extent_bytes,
                                                &layout->datatype),
                     UCS_OK);
}

static void draw_strided(struct layout *layout, size_t length_min)
{
    static const size_t blocks[] = {1, 3, 4, 8, 16, 24, 100, 1024, 5000};
    causeway_dt_level_t levels[2];
    size_t   block_bytes = blocks[test_random_below(UCS_ARRAY_COUNT(blocks))];
    unsigned level_count = 1 + (unsigned)test_random_below(2);
    size_t   span        = block_bytes;
    size_t   packed      = block_bytes;
    size_t   extent;

    for (unsigned i = 0; i < level_count; ++i) {
        size_t gap = (test_random_below(3) == 0) ? 0 : test_random_below(span);

        levels[i].count        = 1 + test_random_below(12);
        levels[i].stride_bytes = (ptrdiff_t)(span + gap);
        span += (levels[i].count - 1) * (span + gap);
        packed *= levels[i].count;
    }
    extent = (test_random_below(2) == 0) ? 0 : span + test_random_below(20);
    layout_of_strided(layout, block_bytes, levels, level_count, extent,
                      (length_min + packed - 1) / packed);
}

void layout_draw(struct layout *layout, enum ucp_dt_class dt_class,
                 size_t length_min)
{
    memset(layout, 0, sizeof(*layout));
    layout->dt_class = dt_class;
    layout->length   = length_min;
    switch (dt_class) {
    case UCP_DT_CONTIG:
        draw_contig(layout);
        break;
    case UCP_DT_IOV:
        draw_iov(layout);
        break;
    case UCP_DT_GENERIC:
        draw_generic(layout);
        break;
    case UCP_DT_STRIDED:
        draw_strided(layout, length_min);
        break;
    case UCP_DT_CLASS_COUNT:
        ck_abort();
    }
    layout_clear(layout);
}

void layout_free(struct layout *layout)
{
    ck_assert_int_eq(layout->open_states, 0);
    ucp_dt_destroy(layout->datatype);
    free(layout->iov);
    free(layout->where);
    free(layout->memory);
}

void layout_clear(struct layout *layout)
{
    memset(layout->memory, GUARD, layout->memory_bytes);
}

void layout_fill(struct layout *layout, unsigned seed)
{
    layout_clear(layout);
    for (size_t i = 0; i < layout->length; ++i) {
        layout->memory[layout->where[i]] = layout_byte(seed, i);
    }
}

/* @return the first byte that is not as it should be, memory_bytes: none. */
static size_t layout_compare(const struct layout *layout, size_t length,
                             unsigned seed, uint8_t *expected)
{
    size_t i = 0;

    memset(expected, GUARD, layout->memory_bytes);
    for (; i < length; ++i) {
        expected[layout->where[i]] = layout_byte(seed, i);
    }
    for (i = 0;
         (i < layout->memory_bytes) && (layout->memory[i] == expected[i]);
         ++i) {
    }
    return i;
}

bool layout_differs(const struct layout *layout, size_t length, unsigned seed)
{
    uint8_t *expected = malloc(layout->memory_bytes);
    size_t   at;

    ck_assert_ptr_nonnull(expected);
    at = layout_compare(layout, length, seed, expected);
    free(expected);
    return at < layout->memory_bytes;
}

void layout_check(const struct layout *layout, size_t length, unsigned seed)
{
    uint8_t *expected = malloc(layout->memory_bytes);
    size_t   at;

    ck_assert_ptr_nonnull(expected);
    at = layout_compare(layout, length, seed, expected);
    if (at < layout->memory_bytes) {
        ck_abort_msg("class %d, %zu of %zu bytes: memory byte %zu is "
                     "0x%02x, not 0x%02x",
                     layout->dt_class, length, layout->length, at,
                     layout->memory[at], expected[at]);
    }
    free(expected);
}
