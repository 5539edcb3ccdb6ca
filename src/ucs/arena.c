/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/arena.c - pieces of different sizes out of one block. */
#include "ucs/arena.h"

#include <string.h>

#include "ucs/assert.h"

/* prev_bytes   of the piece before, 0: this is the first
 * bytes        of this piece with its head, a multiple of 16; bit 0: used
 * link         in arena->free_pieces; a used piece has the user's bytes here */
struct arena_piece {
    size_t          prev_bytes;
    size_t          bytes;
    struct ucs_list link;
};

enum {
    ARENA_HEAD_BYTES      = offsetof(struct arena_piece, link),
    ARENA_PIECE_BYTES_MIN = sizeof(struct arena_piece),
    ARENA_USED            = 1,
    ARENA_POISON          = 0xdb,
};
_Static_assert(offsetof(struct arena_piece, link) == UCS_ARENA_ALIGN_BYTES,
               "the user's bytes are aligned as the pieces are");
_Static_assert(sizeof(struct arena_piece) % UCS_ARENA_ALIGN_BYTES == 0,
               "pieces are multiples of the alignment");

static size_t piece_bytes(const struct arena_piece *piece)
{
    return piece->bytes & ~(size_t)ARENA_USED;
}

static bool piece_is_used(const struct arena_piece *piece)
{
    return (piece->bytes & ARENA_USED) != 0;
}

static struct arena_piece *piece_next(struct arena_piece *piece)
{
    return (struct arena_piece *)(void *)((char *)piece + piece_bytes(piece));
}

static struct arena_piece *piece_prev(struct arena_piece *piece)
{
    return (struct arena_piece *)(void *)((char *)piece - piece->prev_bytes);
}

/* Set the size of a free piece; the one behind it learns it, too. */
static void piece_resize(struct arena_piece *piece, size_t bytes)
{
    piece->bytes                  = bytes;
    piece_next(piece)->prev_bytes = bytes;
}

ucs_status_t ucsi_arena_init(struct ucs_arena *arena, void *memory,
                             size_t size_bytes)
{
    uintptr_t begin = ucs_align_up((uintptr_t)memory, UCS_ARENA_ALIGN_BYTES);
    uintptr_t end   = ((uintptr_t)memory + size_bytes) &
                    ~(uintptr_t)(UCS_ARENA_ALIGN_BYTES - 1);
    struct arena_piece *piece = (struct arena_piece *)begin;

    if ((size_bytes < UCS_ARENA_OVERHEAD_BYTES) ||
        (end - begin < ARENA_PIECE_BYTES_MIN + ARENA_HEAD_BYTES)) {
        return UCS_ERR_BUFFER_TOO_SMALL;
    }
    arena->first      = (char *)begin;
    arena->size_bytes = end - begin - ARENA_HEAD_BYTES;
    arena->used_count = 0;
    arena->used_bytes = 0;
    piece->prev_bytes = 0;
    piece_resize(piece, arena->size_bytes);
    piece_next(piece)->bytes = ARENA_USED; /* the end: joins with nobody */
    ucs_list_init(&arena->free_pieces);
    ucs_list_add_head(&arena->free_pieces, &piece->link);
    return UCS_OK;
}

/* Take a free piece; what is more than needed stays free, in its place. */
static void piece_take(struct ucs_arena *arena, struct arena_piece *piece,
                       size_t bytes)
{
    size_t              rest_bytes = piece->bytes - bytes;
    struct arena_piece *rest;

    if (rest_bytes >= ARENA_PIECE_BYTES_MIN) {
        piece->bytes     = bytes;
        rest             = piece_next(piece);
        rest->prev_bytes = bytes;
        piece_resize(rest, rest_bytes);
        ucs_list_add_before(&piece->link, &rest->link);
    }
    ucs_list_remove(&piece->link);
    arena->used_bytes += piece->bytes;
    ++arena->used_count;
    piece->bytes |= ARENA_USED;
}

void *ucsi_arena_alloc(struct ucs_arena *arena, size_t size_bytes)
{
    struct arena_piece *piece;
    size_t              bytes;

    if (size_bytes > arena->size_bytes) {
        return NULL; /* the sum below would be small again */
    }
    bytes = ucs_align_up(size_bytes + ARENA_HEAD_BYTES, UCS_ARENA_ALIGN_BYTES);
    bytes = ucs_max(bytes, (size_t)ARENA_PIECE_BYTES_MIN);
    ucs_list_for_each (piece, &arena->free_pieces, link) {
        if (piece->bytes >= bytes) {
            piece_take(arena, piece, bytes);
            return &piece->link;
        }
    }
    return NULL;
}

/* Whoever reads a piece that was freed shall notice. */
static void arena_poison(struct arena_piece *piece)
{
#if UCS_ENABLE_ASSERT
    memset(&piece->link, ARENA_POISON, piece_bytes(piece) - ARENA_HEAD_BYTES);
#else
    (void)piece;
#endif
}

void ucsi_arena_free(struct ucs_arena *arena, void *memory)
{
    struct arena_piece *piece =
        ucs_container_of(memory, struct arena_piece, link);
    struct arena_piece *next, *prev;
    size_t              bytes = piece_bytes(piece);

    ucs_assertv(piece_is_used(piece), "piece %p is free", memory);
    arena_poison(piece);
    arena->used_bytes -= bytes;
    --arena->used_count;
    next = piece_next(piece);
    if (!piece_is_used(next)) {
        ucs_list_remove(&next->link);
        bytes += next->bytes;
    }
    prev = piece_prev(piece);
    if ((piece->prev_bytes != 0) && !piece_is_used(prev)) {
        ucs_list_remove(&prev->link);
        bytes += prev->bytes;
        piece = prev;
    }
    piece_resize(piece, bytes);
    ucs_list_add_head(&arena->free_pieces, &piece->link);
}
