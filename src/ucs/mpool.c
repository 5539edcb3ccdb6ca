/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/mpool.c - chunks of a pool: how it grows and how it ends. */
#include "ucs/mpool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/log.h"

enum {
    UCS_MPOOL_LINK_BYTES          = sizeof(uintptr_t),
    UCS_MPOOL_CHUNK_COUNT_DEFAULT = 64,
    /* Larger elements are not what a pool is for; keeps sums from wrapping. */
    UCS_MPOOL_ELEMENT_BYTES_MAX = 1u << 30
};
_Static_assert(UCS_MPOOL_LINK_BYTES == 8, "alignments are multiples of a link");

static ucs_status_t mpool_heap_alloc(struct ucs_mpool *pool, size_t size_bytes,
                                     struct ucs_mpool_chunk *chunk)
{
    chunk->memory     = malloc(size_bytes);
    chunk->size_bytes = size_bytes;
    return (chunk->memory == NULL) ? ucsi_no_memory(pool->name, size_bytes)
                                   : UCS_OK;
}

static void mpool_heap_release(struct ucs_mpool       *pool,
                               struct ucs_mpool_chunk *chunk)
{
    (void)pool;
    free(chunk->memory);
}

static const struct ucs_mpool_chunk_ops mpool_heap_ops = {
    .alloc   = mpool_heap_alloc,
    .release = mpool_heap_release,
};

static bool mpool_params_are_valid(const struct ucs_mpool_params *params)
{
    size_t align_bytes = params->align_bytes;

    return (params->element_bytes >= 1) &&
           (params->element_bytes <= UCS_MPOOL_ELEMENT_BYTES_MAX) &&
           ((align_bytes & (align_bytes - 1)) == 0) &&
           (align_bytes >= UCS_MPOOL_LINK_BYTES) &&
           (align_bytes <= UCS_MPOOL_ELEMENT_BYTES_MAX) &&
           ((params->align_offset_bytes % UCS_MPOOL_LINK_BYTES) == 0) &&
           (params->align_offset_bytes <= params->element_bytes) &&
           (params->element_count_max <= UCS_MPOOL_ELEMENT_COUNT_MAX);
}

ucs_status_t ucsi_mpool_init(struct ucs_mpool              *pool,
                             const struct ucs_mpool_params *params)
{
    struct ucs_mpool_params full = *params;

    if (full.align_bytes == 0) {
        full.align_bytes = UCS_MPOOL_LINK_BYTES;
    }
    if (full.element_count_max == 0) {
        full.element_count_max = UCS_MPOOL_ELEMENT_COUNT_MAX;
    }
    if (full.chunk_count == 0) {
        full.chunk_count = UCS_MPOOL_CHUNK_COUNT_DEFAULT;
    }
    if (full.chunk_ops == NULL) {
        full.chunk_ops = &mpool_heap_ops;
    }
    if (!mpool_params_are_valid(&full)) {
        return UCS_ERR_INVALID_PARAM;
    }

    memset(pool, 0, sizeof(*pool));
    (void)snprintf(pool->name, sizeof(pool->name), "%s",
                   (full.name == NULL) ? "unnamed" : full.name);
    full.name              = pool->name;
    pool->params           = full;
    pool->free_link        = UCS_MPOOL_LINK_END;
    pool->chunk_count_next = full.chunk_count;
    pool->stride_bytes = ucs_align_up(full.element_bytes + UCS_MPOOL_LINK_BYTES,
                                      full.align_bytes);
    return UCS_OK;
}

/* Where the first element lies: behind a link, and aligned where asked. */
static char *mpool_element_first(const struct ucs_mpool *pool, char *memory)
{
    size_t    offset_bytes = pool->params.align_offset_bytes;
    uintptr_t lowest       = (uintptr_t)memory + UCS_MPOOL_LINK_BYTES;
    uintptr_t aligned =
        ucs_align_up(lowest + offset_bytes, pool->params.align_bytes) -
        offset_bytes;

    return memory + (aligned - (uintptr_t)memory);
}

/* Lay elements into the memory of a chunk, as many as fit, up to count_max. */
static void mpool_chunk_divide(const struct ucs_mpool *pool,
                               struct ucs_mpool_chunk *chunk,
                               unsigned                count_max)
{
    char  *first      = mpool_element_first(pool, chunk->memory);
    char  *end        = (char *)chunk->memory + chunk->size_bytes;
    size_t left_bytes = (size_t)(end - first);
    size_t count      = 0;

    /* The last element needs no room for the link of another one. */
    if (left_bytes >= pool->params.element_bytes) {
        count =
            1 + (left_bytes - pool->params.element_bytes) / pool->stride_bytes;
    }
    chunk->element_first = first;
    chunk->element_count = (unsigned)ucs_min(count, (size_t)count_max);
}

/* Poison or prepare the elements of the newest chunk. A heap chunk is not
 * written here unless element_init does. */
static void mpool_chunk_prepare(struct ucs_mpool       *pool,
                                struct ucs_mpool_chunk *chunk)
{
    char    *element = chunk->element_first;
    unsigned i;

    for (i = 0; i < chunk->element_count; ++i, element += pool->stride_bytes) {
        if (pool->params.element_init != NULL) {
            pool->params.element_init(pool, element);
        } else if (UCS_HAS_ASAN) {
            ucs_mpool_poison_(pool, element);
        } else {
            return;
        }
    }
}

/* Fresh elements lie in the newest chunk only: make the rest of it free
 * before another one comes. */
static void mpool_fresh_to_free(struct ucs_mpool *pool)
{
    uintptr_t *link;

    while (pool->fresh_count > 0) {
        link            = ucs_mpool_link_(pool->fresh_next);
        *link           = pool->free_link;
        pool->free_link = (uintptr_t)link | 1;
        pool->fresh_next += pool->stride_bytes;
        --pool->fresh_count;
    }
}

/* The chunk after this one doubles the pool, within bounds. */
static unsigned mpool_count_next(const struct ucs_mpool *pool)
{
    size_t count_max = UCS_MPOOL_GROWN_CHUNK_BYTES_MAX / pool->stride_bytes;

    return (unsigned)ucs_max((size_t)pool->params.chunk_count,
                             ucs_min((size_t)pool->element_count, count_max));
}

/* Add a chunk of about count elements, at least one.
 * @return UCS_OK; UCS_ERR_EXCEEDS_LIMIT: no element may be added;
 *         UCS_ERR_NO_MEMORY. */
static ucs_status_t mpool_grow(struct ucs_mpool *pool, unsigned count)
{
    unsigned room = pool->params.element_count_max - pool->element_count;
    struct ucs_mpool_chunk *chunk;
    size_t                  size_bytes;
    ucs_status_t            status;

    count = ucs_min(count, room);
    if (count == 0) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    chunk = calloc(1, sizeof(*chunk));
    if (chunk == NULL) {
        return ucsi_no_memory(pool->name, sizeof(*chunk));
    }
    size_bytes = UCS_MPOOL_LINK_BYTES + pool->params.align_bytes +
                 count * pool->stride_bytes;
    status = pool->params.chunk_ops->alloc(pool, size_bytes, chunk);
    if (status != UCS_OK) {
        free(chunk);
        return status;
    }

    ucs_check(chunk->size_bytes >= size_bytes);
    mpool_fresh_to_free(pool);
    /* What is left of the room for alignment is no element. */
    mpool_chunk_divide(pool, chunk,
                       (chunk->size_bytes > size_bytes) ? room : count);
    chunk->next       = pool->chunks;
    pool->chunks      = chunk;
    pool->fresh_next  = chunk->element_first;
    pool->fresh_count = chunk->element_count;
    pool->element_count += chunk->element_count;
    pool->chunk_count_next = mpool_count_next(pool);
    mpool_chunk_prepare(pool, chunk);
    return UCS_OK;
}

ucs_status_t ucsi_mpool_reserve(struct ucs_mpool *pool, unsigned count)
{
    ucs_status_t status = UCS_OK;

    if (count > pool->params.element_count_max) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    while ((status == UCS_OK) && (pool->element_count < count)) {
        status = mpool_grow(pool, count - pool->element_count);
    }
    return status;
}

void *ucsi_mpool_get_slow(struct ucs_mpool *pool)
{
    char *element;

    if ((pool->fresh_count == 0) &&
        (mpool_grow(pool, pool->chunk_count_next) != UCS_OK)) {
        return NULL;
    }
    element = pool->fresh_next;
    pool->fresh_next += pool->stride_bytes;
    --pool->fresh_count;
    *ucs_mpool_link_(element) = (uintptr_t)pool;
    ucs_mpool_unpoison_(pool, element);
    return element;
}

/* How many elements of a chunk are used. The last fresh_count of them were
 * never got: their links hold nothing yet. */
static unsigned mpool_chunk_used(const struct ucs_mpool       *pool,
                                 const struct ucs_mpool_chunk *chunk,
                                 unsigned                      fresh_count)
{
    char    *element    = chunk->element_first;
    unsigned used_count = 0, i;

    for (i = 0; i < chunk->element_count - fresh_count;
         ++i, element += pool->stride_bytes) {
        used_count += (*ucs_mpool_link_(element) & 1) == 0;
    }
    return used_count;
}

/* Undo mpool_chunk_prepare. */
static void mpool_chunk_finish(struct ucs_mpool       *pool,
                               struct ucs_mpool_chunk *chunk)
{
    char    *element = chunk->element_first;
    unsigned i;

    for (i = 0; i < chunk->element_count; ++i, element += pool->stride_bytes) {
        ucs_mpool_unpoison_(pool, element);
        if (pool->params.element_cleanup != NULL) {
            pool->params.element_cleanup(pool, element);
        }
    }
}

/* The free elements of a chunk that stays. */
static void mpool_chunk_list(struct ucs_mpool             *pool,
                             const struct ucs_mpool_chunk *chunk,
                             unsigned                      fresh_count)
{
    char      *element = chunk->element_first;
    uintptr_t *link;
    unsigned   i;

    for (i = 0; i < chunk->element_count - fresh_count;
         ++i, element += pool->stride_bytes) {
        link = ucs_mpool_link_(element);
        if (*link & 1) {
            *link           = pool->free_link;
            pool->free_link = (uintptr_t)link | 1;
        }
    }
}

/* Take a chunk out, which is the newest or behind `newer`. */
static void mpool_chunk_drop(struct ucs_mpool       *pool,
                             struct ucs_mpool_chunk *newer,
                             struct ucs_mpool_chunk *chunk)
{
    struct ucs_mpool_chunk *newest = pool->chunks;

    pool->chunks = chunk; /* as element_cleanup and release expect */
    mpool_chunk_finish(pool, chunk);
    pool->params.chunk_ops->release(pool, chunk);
    pool->chunks = newest;
    if (newer == NULL) {
        pool->chunks      = chunk->next;
        pool->fresh_count = 0; /* only the newest chunk has any */
    } else {
        newer->next = chunk->next;
    }
    pool->element_count -= chunk->element_count;
    free(chunk);
}

size_t ucsi_mpool_trim(struct ucs_mpool *pool)
{
    struct ucs_mpool_chunk *newer = NULL, *chunk, *next;
    size_t                  bytes = 0;
    unsigned                fresh_count;

    pool->free_link = UCS_MPOOL_LINK_END;
    for (chunk = pool->chunks; chunk != NULL; chunk = next) {
        next        = chunk->next;
        fresh_count = (newer == NULL) ? pool->fresh_count : 0;
        if ((next != NULL) &&
            (mpool_chunk_used(pool, chunk, fresh_count) == 0)) {
            bytes += chunk->size_bytes;
            mpool_chunk_drop(pool, newer, chunk);
        } else {
            mpool_chunk_list(pool, chunk, fresh_count);
            newer = chunk;
        }
    }
    pool->chunk_count_next = mpool_count_next(pool);
    return bytes;
}

unsigned ucsi_mpool_cleanup(struct ucs_mpool *pool, bool report_leaks)
{
    unsigned                leak_count = 0;
    struct ucs_mpool_chunk *chunk;

    while ((chunk = pool->chunks) != NULL) {
        leak_count += mpool_chunk_used(pool, chunk, pool->fresh_count);
        mpool_chunk_drop(pool, NULL, chunk);
    }
    if (report_leaks && (leak_count > 0)) {
        ucs_warn("mpool %s: %u elements were not put back", pool->params.name,
                 leak_count);
    }
    pool->free_link = UCS_MPOOL_LINK_END;
    return leak_count;
}
