/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/arena.h - pieces of different sizes out of one block of memory that
 * somebody lends.
 *
 *   |head|used    |head|free          |head|used |head|free ........ |end|
 *                       ^ links                        ^ links
 *
 * A head holds its piece's size and that of the piece before it, so a piece
 * that is freed finds its neighbours and joins those that are free. The first
 * free piece that fits is cut. What was freed last is looked at first: pieces
 * that come and go in turn use the same memory again. Everything lies in the
 * block; nothing else is allocated.
 *
 * From empty, pieces fit as long as their sizes, each with
 * UCS_ARENA_OVERHEAD_BYTES, sum up to the size of the block.
 *
 * Thread: none of its own; the owner serialises. */
#ifndef UCS_ARENA_H_
#define UCS_ARENA_H_

#include "ucs/compiler.h"
#include "ucs/list.h"
#include "ucs/type/status.h"

enum ucs_arena_limit {
    UCS_ARENA_ALIGN_BYTES    = 16,
    UCS_ARENA_OVERHEAD_BYTES = 64,
};

/* first        of all pieces; NULL: no memory
 * size_bytes   of all pieces, heads included
 * free_pieces  link of each free piece
 * used_count   pieces that are not freed
 * used_bytes   of those, heads included */
struct ucs_arena {
    char           *first;
    size_t          size_bytes;
    struct ucs_list free_pieces;
    size_t          used_count;
    size_t          used_bytes;
};

/* Begin with all of memory free. It is lent until the arena is forgotten;
 * there is nothing to clean up.
 * @param memory  [size_bytes] of any alignment.
 * @return UCS_OK; UCS_ERR_BUFFER_TOO_SMALL: not even an empty piece fits. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_arena_init(struct ucs_arena *arena,
                                                     void             *memory,
                                                     size_t size_bytes);

/* A piece of size_bytes, aligned to UCS_ARENA_ALIGN_BYTES.
 * @return NULL: there is no room. */
UCS_EXPORT UCS_MUST_USE void *ucsi_arena_alloc(struct ucs_arena *arena,
                                               size_t            size_bytes);

/* Give a piece back. */
UCS_EXPORT void ucsi_arena_free(struct ucs_arena *arena, void *piece);

/* Bytes of the largest piece that an arena without any other could give. */
static inline size_t ucs_arena_capacity(const struct ucs_arena *arena)
{
    return arena->size_bytes - UCS_ARENA_ALIGN_BYTES;
}

#endif
