/* SPDX-License-Identifier: BSD-3-Clause */
/* model_arena.c - the arena against a sorted list of what is used. */
#include "fuzz/models.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/tape.h"
#include "ucs/arena.h"
#include "ucs/assert.h"

enum {
    MEMORY_BYTES_MAX = 6000,
    PIECE_COUNT_MAX  = 200,
    HEAD_BYTES       = 16,
    PIECE_BYTES_MIN  = 32
};

/* taken  with its head, and a rest that was too small to stay free */
struct piece {
    uint8_t *bytes;
    size_t   size;
    size_t   taken;
    uint8_t  fill;
};

/* pieces  sorted by address */
struct model {
    struct ucs_arena arena;
    uint8_t         *memory;
    size_t           size;
    struct piece     pieces[PIECE_COUNT_MAX];
    unsigned         count;
};

/* What a piece takes, its head included. */
static size_t model_need(size_t size)
{
    size_t need = ucs_align_up(size + HEAD_BYTES, UCS_ARENA_ALIGN_BYTES);

    if (size > MEMORY_BYTES_MAX) {
        return SIZE_MAX;
    }
    return (need < PIECE_BYTES_MIN) ? PIECE_BYTES_MIN : need;
}

/* Memory between piece i - 1 and piece i, heads of free pieces included. */
static size_t model_hole(const struct model *model, unsigned i)
{
    uint8_t *begin = (uint8_t *)ucs_align_up((uintptr_t)model->memory, 16);
    uint8_t *end =
        (uint8_t *)(((uintptr_t)model->memory + model->size) & ~(uintptr_t)15) -
        HEAD_BYTES;

    if (i > 0) {
        begin = model->pieces[i - 1].bytes - HEAD_BYTES +
                model->pieces[i - 1].taken;
    }
    if (i < model->count) {
        end = model->pieces[i].bytes - HEAD_BYTES;
    }
    ucs_check(end >= begin);
    return (size_t)(end - begin);
}

static bool model_has_room(const struct model *model, size_t size)
{
    for (unsigned i = 0; i <= model->count; ++i) {
        if (model_hole(model, i) >= model_need(size)) {
            return true;
        }
    }
    return false;
}

static void model_insert(struct model *model, struct piece piece)
{
    unsigned i = model->count++;
    size_t   rest;

    for (; (i > 0) && (model->pieces[i - 1].bytes > piece.bytes); --i) {
        model->pieces[i] = model->pieces[i - 1];
    }
    model->pieces[i] = piece;
    ucs_check(piece.bytes >= model->memory);
    ucs_check(piece.bytes + piece.size <= model->memory + model->size);
    (void)model_hole(model, i); /* does not overlap its neighbours */
    rest = model_hole(model, i + 1);
    model->pieces[i].taken += (rest < PIECE_BYTES_MIN) ? rest : 0;
    memset(piece.bytes, piece.fill, piece.size);
}

static void model_alloc(struct model *model, size_t size, uint8_t fill)
{
    bool     has_room = model_has_room(model, size);
    uint8_t *bytes;

    if (model->count == PIECE_COUNT_MAX) {
        return;
    }
    bytes = ucsi_arena_alloc(&model->arena, size);
    ucs_check((bytes != NULL) == has_room);
    if (bytes != NULL) {
        ucs_check((uintptr_t)bytes % UCS_ARENA_ALIGN_BYTES == 0);
        model_insert(model,
                     (struct piece){bytes, size, model_need(size), fill});
    }
}

static void model_free(struct model *model, unsigned number)
{
    struct piece *piece;

    if (model->count == 0) {
        return;
    }
    piece = &model->pieces[number % model->count];
    for (size_t i = 0; i < piece->size; ++i) {
        ucs_check(piece->bytes[i] == piece->fill);
    }
    ucsi_arena_free(&model->arena, piece->bytes);
    --model->count;
    memmove(piece, piece + 1,
            sizeof(*piece) * (size_t)(model->pieces + model->count - piece));
}

void model_arena(const uint8_t *data, size_t size)
{
    struct tape  tape = {data, size, 0};
    struct model model;
    size_t       margin = tape_u8(&tape) % 16;
    uint8_t     *block;

    memset(&model, 0, sizeof(model));
    model.size = tape_u16(&tape) % MEMORY_BYTES_MAX;
    block      = malloc(model.size + margin + 1);
    ucs_check(block != NULL);
    model.memory = block + margin;
    if (ucsi_arena_init(&model.arena, model.memory, model.size) != UCS_OK) {
        ucs_check(model.size < PIECE_BYTES_MIN + HEAD_BYTES + 31);
        free(block);
        return;
    }
    ucs_check(model_has_room(&model, ucs_arena_capacity(&model.arena)));
    while (!tape_is_over(&tape)) {
        unsigned operation = tape_u8(&tape);

        if (operation < 150) {
            model_alloc(&model, tape_u16(&tape) % (1u << (operation % 14)),
                        (uint8_t)operation);
        } else if (operation < 250) {
            model_free(&model, tape_u16(&tape));
        } else {
            model_alloc(&model, (size_t)tape_scaled(&tape), 0);
        }
        ucs_check(model.arena.used_count == model.count);
    }
    while (model.count > 0) {
        model_free(&model, 0);
    }
    ucs_check(model.arena.used_bytes == 0);
    ucs_check(ucsi_arena_alloc(&model.arena,
                               ucs_arena_capacity(&model.arena)) != NULL);
    free(block);
}
