/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/dt/strided.c - equal blocks at equal distances. */
#include "ucp/dt/strided.h"

#include <string.h>

#include "ucs/log.h"

/* A level: its stride leaves room for the one below, of span_bytes.
 * @param span_p  In: of the level below. Out: of this one. */
static ucs_status_t strided_check_level(const causeway_dt_level_t *level,
                                        unsigned index, size_t *span_p)
{
    size_t stride_bytes = (size_t)level->stride_bytes;
    size_t last_bytes;

    if ((level->count == 0) || (level->stride_bytes < 0)) {
        ucs_error("strided datatype, level %u: count %zu, stride %td: a count "
                  "of 0 and negative strides are not supported",
                  index, level->count, level->stride_bytes);
        return UCS_ERR_INVALID_PARAM;
    }
    if ((level->count > 1) && (stride_bytes < *span_p)) {
        ucs_error("strided datatype, level %u: a stride of %td bytes is less "
                  "than the %zu that each piece spans: pieces would overlap or "
                  "interleave",
                  index, level->stride_bytes, *span_p);
        return UCS_ERR_INVALID_PARAM;
    }
    if (__builtin_mul_overflow(level->count - 1, stride_bytes, &last_bytes) ||
        __builtin_add_overflow(last_bytes, *span_p, span_p)) {
        ucs_error("strided datatype, level %u: %zu pieces %td bytes apart do "
                  "not fit an address space",
                  index, level->count, level->stride_bytes);
        return UCS_ERR_INVALID_PARAM;
    }
    return UCS_OK;
}

/* Where the next element begins. The default goes on with the pattern. */
static ucs_status_t strided_check_extent(const causeway_dt_level_t *last,
                                         size_t span_bytes, size_t *extent_p)
{
    size_t natural;

    if (__builtin_mul_overflow(last->count, (size_t)last->stride_bytes,
                               &natural)) {
        natural = span_bytes;
    }
    if (*extent_p == 0) {
        *extent_p = ucs_max(natural, span_bytes);
    }
    if (*extent_p < span_bytes) {
        ucs_error("strided datatype: an extent of %zu bytes is less than the "
                  "%zu that an element spans: elements would overlap or "
                  "interleave",
                  *extent_p, span_bytes);
        return UCS_ERR_INVALID_PARAM;
    }
    return UCS_OK;
}

/* Pieces that touch are one piece. */
static void strided_merge(struct ucp_dt_strided *dt)
{
    struct ucp_dt_strided_level *levels = dt->levels;

    for (unsigned i = 0; i < UCP_DT_STRIDED_LEVEL_COUNT; ++i) {
        if ((levels[0].count > 1) &&
            (levels[0].stride_bytes > dt->block_bytes)) {
            break;
        }
        dt->block_bytes *= levels[0].count;
        levels[0]              = levels[1];
        levels[1].count        = 1;
        levels[1].stride_bytes = 0;
    }
    dt->level_bytes  = dt->block_bytes * levels[0].count;
    dt->packed_bytes = dt->level_bytes * levels[1].count;
}

ucs_status_t ucp_dt_strided_init(struct ucp_dt_strided *dt, size_t block_bytes,
                                 const causeway_dt_level_t *levels,
                                 unsigned level_count, size_t extent_bytes)
{
    size_t       span_bytes = block_bytes;
    ucs_status_t status;

    if ((block_bytes == 0) || (levels == NULL) || (level_count == 0) ||
        (level_count > UCP_DT_STRIDED_LEVEL_COUNT)) {
        ucs_error("strided datatype: blocks of %zu bytes, %u levels; blocks "
                  "have at least 1 byte, and there are 1 to %d levels",
                  block_bytes, level_count, UCP_DT_STRIDED_LEVEL_COUNT);
        return UCS_ERR_INVALID_PARAM;
    }
    for (unsigned i = 0; i < UCP_DT_STRIDED_LEVEL_COUNT; ++i) {
        dt->levels[i] = (struct ucp_dt_strided_level){.count = 1};
    }
    for (unsigned i = 0; i < level_count; ++i) {
        status = strided_check_level(&levels[i], i, &span_bytes);
        if (status != UCS_OK) {
            return status;
        }
        dt->levels[i].count        = levels[i].count;
        dt->levels[i].stride_bytes = (size_t)levels[i].stride_bytes;
    }
    status = strided_check_extent(&levels[level_count - 1], span_bytes,
                                  &extent_bytes);
    if (status != UCS_OK) {
        return status;
    }
    dt->block_bytes  = block_bytes;
    dt->extent_bytes = extent_bytes;
    strided_merge(dt);
    return UCS_OK;
}

/* a * b + c; false: it does not fit. */
static bool strided_place(size_t a, size_t b, size_t c, size_t *sum_p)
{
    return !__builtin_mul_overflow(a, b, sum_p) &&
           !__builtin_add_overflow(*sum_p, c, sum_p);
}

bool ucp_dt_strided_adopt(struct ucp_dt_strided *dt, uint64_t base,
                          size_t length)
{
    size_t span_bytes = dt->block_bytes;

    if ((dt->block_bytes == 0) ||
        !strided_place(dt->levels[0].count, dt->block_bytes, 0,
                       &dt->level_bytes) ||
        !strided_place(dt->levels[1].count, dt->level_bytes, 0,
                       &dt->packed_bytes) ||
        (dt->packed_bytes == 0)) {
        return false;
    }
    for (unsigned i = 0; i < UCP_DT_STRIDED_LEVEL_COUNT; ++i) {
        if (!strided_place(dt->levels[i].count - 1, dt->levels[i].stride_bytes,
                           span_bytes, &span_bytes)) {
            return false;
        }
    }
    return strided_place((length - 1) / dt->packed_bytes, dt->extent_bytes,
                         span_bytes, &span_bytes) &&
           (base != 0) && (span_bytes <= UINTPTR_MAX - base);
}

struct uct_iov ucp_dt_strided_span(const struct ucp_dt_strided *dt, void *base,
                                   size_t offset, size_t length)
{
    struct ucp_dt_strided_cursor first, last;
    char                        *start;

    ucp_dt_strided_seek(dt, base, offset, &first);
    ucp_dt_strided_seek(dt, base, offset + length - 1, &last);
    start = first.block + first.inner;
    return (struct uct_iov){
        .buffer = start,
        .length = (size_t)(last.block + last.inner + 1 - start),
    };
}

/* So many bytes further. The place may be in a peer's memory, as the peer says
 * it: no pointer of ours, and it may wrap; whoever uses it checks. */
static inline char *strided_at(const void *from, size_t bytes)
{
    return (char *)((uintptr_t)from + bytes);
}

void ucp_dt_strided_seek(const struct ucp_dt_strided *dt, void *base,
                         size_t offset, struct ucp_dt_strided_cursor *cursor)
{
    const struct ucp_dt_strided_level *levels  = dt->levels;
    size_t                             element = offset / dt->packed_bytes;
    size_t                             index_0;

    offset -= element * dt->packed_bytes;
    cursor->index_1 = offset / dt->level_bytes;
    offset -= cursor->index_1 * dt->level_bytes;
    index_0         = offset / dt->block_bytes;
    cursor->inner   = offset - index_0 * dt->block_bytes;
    cursor->left    = levels[0].count - index_0;
    cursor->start_1 = strided_at(base, element * dt->extent_bytes);
    cursor->start_0 =
        strided_at(cursor->start_1, cursor->index_1 * levels[1].stride_bytes);
    cursor->block =
        strided_at(cursor->start_0, index_0 * levels[0].stride_bytes);
}

/* The blocks of this level 0 are behind: on to the next one. */
static void strided_next_level(const struct ucp_dt_strided  *dt,
                               struct ucp_dt_strided_cursor *cursor)
{
    if (++cursor->index_1 < dt->levels[1].count) {
        cursor->start_0 =
            strided_at(cursor->start_0, dt->levels[1].stride_bytes);
    } else {
        cursor->index_1 = 0;
        cursor->start_1 = strided_at(cursor->start_1, dt->extent_bytes);
        cursor->start_0 = cursor->start_1;
    }
    cursor->left  = dt->levels[0].count;
    cursor->block = cursor->start_0;
}

/* count whole blocks are behind; at most those that are left. */
static inline void strided_skip(const struct ucp_dt_strided  *dt,
                                struct ucp_dt_strided_cursor *cursor,
                                size_t                        count)
{
    cursor->inner = 0;
    cursor->left -= count;
    if (cursor->left > 0) {
        cursor->block =
            strided_at(cursor->block, count * dt->levels[0].stride_bytes);
    } else {
        strided_next_level(dt, cursor);
    }
}

struct uct_iov ucp_dt_strided_next(const struct ucp_dt_strided  *dt,
                                   struct ucp_dt_strided_cursor *cursor,
                                   size_t                        length_max)
{
    struct uct_iov piece = {
        .buffer = strided_at(cursor->block, cursor->inner),
        .length = ucs_min(dt->block_bytes - cursor->inner, length_max),
    };

    cursor->inner += piece.length;
    if (cursor->inner == dt->block_bytes) {
        strided_skip(dt, cursor, 1);
    }
    return piece;
}

/* One step: the rest of a block, or as many whole blocks as there are and fit;
 * *count_p is how many. @return their bytes. */
static size_t strided_step(const struct ucp_dt_strided        *dt,
                           const struct ucp_dt_strided_cursor *cursor,
                           size_t length, size_t *count_p)
{
    *count_p = 1;
    if ((cursor->inner > 0) || (length < dt->block_bytes)) {
        return ucs_min(dt->block_bytes - cursor->inner, length);
    }
    *count_p = ucs_min(length / dt->block_bytes, cursor->left);
    return *count_p * dt->block_bytes;
}

/* Copy count blocks that lie at two distances. The compiler makes one loop for
 * each size that is known: small blocks are what strided data is made of. */
UCS_INLINE void strided_copy_blocks(char *dest, size_t dest_stride,
                                    const char *source, size_t source_stride,
                                    size_t block_bytes, size_t count)
{
    for (; count > 0; --count) {
        memcpy(dest, source, block_bytes);
        dest += dest_stride;
        source += source_stride;
    }
}

static void strided_copy(char *dest, size_t dest_stride, const char *source,
                         size_t source_stride, size_t block_bytes, size_t count)
{
    switch (block_bytes) {
    case 4:
        strided_copy_blocks(dest, dest_stride, source, source_stride, 4, count);
        break;
    case 8:
        strided_copy_blocks(dest, dest_stride, source, source_stride, 8, count);
        break;
    case 16:
        strided_copy_blocks(dest, dest_stride, source, source_stride, 16,
                            count);
        break;
    default:
        strided_copy_blocks(dest, dest_stride, source, source_stride,
                            block_bytes, count);
        break;
    }
}

/* A step was made: the cursor follows. */
static void strided_advance(const struct ucp_dt_strided  *dt,
                            struct ucp_dt_strided_cursor *cursor, size_t bytes,
                            size_t count)
{
    if (cursor->inner + bytes < dt->block_bytes) {
        cursor->inner += bytes;
    } else {
        strided_skip(dt, cursor, count);
    }
}

void ucp_dt_strided_pack(const struct ucp_dt_strided *dt, void *base,
                         size_t offset, void *dest, size_t length)
{
    struct ucp_dt_strided_cursor cursor;
    char                        *at = dest;
    size_t                       bytes, count;

    ucp_dt_strided_seek(dt, base, offset, &cursor);
    for (; length > 0; length -= bytes, at += bytes) {
        bytes = strided_step(dt, &cursor, length, &count);
        strided_copy(at, bytes / count, cursor.block + cursor.inner,
                     dt->levels[0].stride_bytes, bytes / count, count);
        strided_advance(dt, &cursor, bytes, count);
    }
}

void ucp_dt_strided_unpack(const struct ucp_dt_strided *dt, void *base,
                           size_t offset, const void *source, size_t length)
{
    struct ucp_dt_strided_cursor cursor;
    const char                  *at = source;
    size_t                       bytes, count;

    ucp_dt_strided_seek(dt, base, offset, &cursor);
    for (; length > 0; length -= bytes, at += bytes) {
        bytes = strided_step(dt, &cursor, length, &count);
        strided_copy(cursor.block + cursor.inner, dt->levels[0].stride_bytes,
                     at, bytes / count, bytes / count, count);
        strided_advance(dt, &cursor, bytes, count);
    }
}
