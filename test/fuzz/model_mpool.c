/* SPDX-License-Identifier: BSD-3-Clause */
/* model_mpool.c - the pool against what was written into its elements. */
#include "fuzz/models.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/tape.h"
#include "ucs/assert.h"
#include "ucs/mpool.h"

enum { ELEMENT_COUNT_MAX = 300, ELEMENT_BYTES_MAX = 400 };

/* An element that was seen at least once. */
struct seen {
    uint8_t *element;
    uint8_t  fill; /* all its bytes hold this */
    bool     is_used;
};

struct model {
    struct ucs_mpool        pool;
    struct ucs_mpool_params params;
    struct seen             seen[ELEMENT_COUNT_MAX];
    unsigned                seen_count;
    unsigned                used_count;
    unsigned                init_count;
    unsigned                chunk_count;
    unsigned                alloc_failures; /* how many allocs are to fail */
    unsigned                memory_offset;  /* spoils the chunk's alignment */
    size_t                  spare_bytes;    /* a chunk has more than asked */
};

static ucs_status_t model_alloc(struct ucs_mpool *pool, size_t size_bytes,
                                struct ucs_mpool_chunk *chunk)
{
    struct model *model = pool->params.arg;

    if (model->alloc_failures > 0) {
        --model->alloc_failures;
        return UCS_ERR_NO_MEMORY;
    }
    chunk->size_bytes = size_bytes + model->spare_bytes;
    chunk->handle     = malloc(chunk->size_bytes + model->memory_offset);
    ucs_check(chunk->handle != NULL);
    chunk->memory = (char *)chunk->handle + model->memory_offset;
    ++model->chunk_count;
    return UCS_OK;
}

static void model_release(struct ucs_mpool *pool, struct ucs_mpool_chunk *chunk)
{
    struct model *model = pool->params.arg;

    --model->chunk_count;
    free(chunk->handle);
}

static void model_element_init(struct ucs_mpool *pool, void *element)
{
    struct model           *model = pool->params.arg;
    struct ucs_mpool_chunk *chunk = pool->chunks;
    char                   *end   = (char *)chunk->memory + chunk->size_bytes;

    ucs_check((char *)element >= (char *)chunk->memory + 8);
    ucs_check((char *)element + pool->params.element_bytes <= end);
    memset(element, 1, pool->params.element_bytes);
    ++model->init_count;
}

static void model_element_cleanup(struct ucs_mpool *pool, void *element)
{
    struct model *model = pool->params.arg;

    (void)element;
    --model->init_count;
}

static bool model_holds(const struct model *model, const struct seen *seen)
{
    size_t i;

    for (i = 0; i < model->params.element_bytes; ++i) {
        if (seen->element[i] != seen->fill) {
            return false;
        }
    }
    return true;
}

/* The record of an element; a new one for one never seen. */
static struct seen *model_find(struct model *model, uint8_t *element)
{
    size_t       bytes = model->params.element_bytes;
    struct seen *seen;

    for (seen = model->seen; seen < model->seen + model->seen_count; ++seen) {
        if (seen->element == element) {
            ucs_check(!seen->is_used);
            return seen;
        }
        ucs_check((element >= seen->element + bytes + 8) ||
                  (seen->element >= element + bytes + 8));
    }
    ucs_check(model->seen_count < model->params.element_count_max);
    seen->element = element;
    seen->fill    = 1;
    ++model->seen_count;
    if (model->params.element_init == NULL) {
        memset(element, 1, bytes);
    }
    return seen;
}

static void model_get(struct model *model, uint8_t fill)
{
    unsigned     failures = model->alloc_failures;
    uint8_t     *element  = ucs_mpool_get(&model->pool);
    struct seen *seen;

    if (element == NULL) {
        ucs_check((model->used_count == model->params.element_count_max) ||
                  (model->alloc_failures < failures));
        return;
    }
    ucs_check(ucs_mpool_of(element) == &model->pool);
    ucs_check(((uintptr_t)element + model->params.align_offset_bytes) %
                  model->params.align_bytes ==
              0);
    seen = model_find(model, element);
    ucs_check(model_holds(model, seen));
    memset(element, fill, model->params.element_bytes);
    seen->fill    = fill;
    seen->is_used = true;
    ++model->used_count;
}

static void model_put(struct model *model, unsigned number)
{
    struct seen *seen;

    if (model->seen_count == 0) {
        return;
    }
    seen = &model->seen[number % model->seen_count];
    if (seen->is_used) {
        ucs_check(model_holds(model, seen));
        ucs_mpool_put(seen->element);
        seen->is_used = false;
        --model->used_count;
    }
}

static void model_reserve(struct model *model, unsigned count)
{
    unsigned     failures = model->alloc_failures;
    ucs_status_t status   = ucsi_mpool_reserve(&model->pool, count);

    if (count > model->params.element_count_max) {
        ucs_check(status == UCS_ERR_EXCEEDS_LIMIT);
    } else if (model->alloc_failures < failures) {
        ucs_check(status == UCS_ERR_NO_MEMORY);
    } else {
        ucs_check(status == UCS_OK);
        ucs_check(model->pool.element_count >= count);
    }
}

static bool model_is_there(const struct model *model, const char *element)
{
    const struct ucs_mpool_chunk *chunk;

    for (chunk = model->pool.chunks; chunk != NULL; chunk = chunk->next) {
        if ((element >= (const char *)chunk->memory) &&
            (element < (const char *)chunk->memory + chunk->size_bytes)) {
            return true;
        }
    }
    return false;
}

/* What is free may be gone. */
static void model_trim(struct model *model)
{
    unsigned before = model->pool.element_count, count = 0;
    size_t   bytes = ucsi_mpool_trim(&model->pool);

    ucs_check((bytes > 0) == (model->pool.element_count < before));
    ucs_check(model->pool.element_count >= model->used_count);
    for (unsigned i = 0; i < model->seen_count; ++i) {
        const struct seen *seen = &model->seen[i];

        ucs_check(!seen->is_used || model_holds(model, seen));
        if (seen->is_used || model_is_there(model, (char *)seen->element)) {
            model->seen[count++] = *seen;
        }
    }
    model->seen_count = count;
}

static void model_start(struct model *model, struct tape *tape)
{
    static const struct ucs_mpool_chunk_ops ops = {model_alloc, model_release};
    struct ucs_mpool_params                *params = &model->params;

    memset(model, 0, sizeof(*model));
    params->element_bytes = 1 + tape_u16(tape) % ELEMENT_BYTES_MAX;
    params->align_bytes   = 8u << (tape_u8(tape) % 8);
    params->align_offset_bytes =
        8 * (tape_u8(tape) % (1 + params->element_bytes / 8));
    params->chunk_count       = 1 + tape_u8(tape) % 40;
    params->element_count_max = 1 + tape_u16(tape) % ELEMENT_COUNT_MAX;
    params->chunk_ops         = &ops;
    params->arg               = model;
    if (tape_u8(tape) % 2 == 0) {
        params->element_init    = model_element_init;
        params->element_cleanup = model_element_cleanup;
    }
    model->memory_offset = tape_u8(tape);
    model->spare_bytes   = tape_u16(tape) % 4096;
    ucs_check(ucsi_mpool_init(&model->pool, params) == UCS_OK);
}

void model_mpool(const uint8_t *data, size_t size)
{
    struct tape         tape = {data, size, 0};
    static struct model model;

    model_start(&model, &tape);
    while (!tape_is_over(&tape)) {
        unsigned operation = tape_u8(&tape);

        if (operation < 140) {
            model_get(&model, (uint8_t)operation);
        } else if (operation < 250) {
            model_put(&model, tape_u16(&tape));
        } else if (operation == 252) {
            model_trim(&model);
        } else if (operation < 252) {
            model_reserve(&model, tape_u16(&tape) % (2 * ELEMENT_COUNT_MAX));
        } else {
            model.alloc_failures = operation % 3;
        }
        ucs_check(model.pool.element_count <= model.params.element_count_max);
    }
    ucs_check(ucsi_mpool_cleanup(&model.pool, false) == model.used_count);
    ucs_check(model.chunk_count == 0);
    ucs_check(model.init_count == 0);
}
