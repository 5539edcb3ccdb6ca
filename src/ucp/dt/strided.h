/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/dt/strided.h - equal blocks at equal distances.
 *
 *   level 0   [block]....[block]....[block]       count 3, stride_bytes apart
 *   level 1   [level 0]................[level 0]  count 2
 *   element   both levels; a message has elements, extent_bytes apart
 *
 * Nothing overlaps and nothing interleaves, so memory and packed form have the
 * same order. A position is found by division, whatever was asked before:
 * fragments may come in any order and cost the same. Pure. */
#ifndef UCP_DT_STRIDED_H_
#define UCP_DT_STRIDED_H_

#include "ucp/api/causeway.h"
#include "ucs/compiler.h"
#include "uct/api/uct_def.h"

enum { UCP_DT_STRIDED_LEVEL_COUNT = CAUSEWAY_DT_LEVEL_COUNT_MAX };

/* count         pieces of the level below (of blocks for level 0), at least 1
 * stride_bytes  from one to the next */
struct ucp_dt_strided_level {
    size_t count;
    size_t stride_bytes;
};

/* What causeway_dt_create_strided() made; the user's handle is its address | 1.
 * level_bytes   packed bytes of a level 0
 * packed_bytes  of an element */
struct ucp_dt_strided {
    size_t                      block_bytes;
    size_t                      level_bytes;
    size_t                      packed_bytes;
    size_t                      extent_bytes;
    struct ucp_dt_strided_level levels[UCP_DT_STRIDED_LEVEL_COUNT];
};

/* Where a walk stands.
 * block   the block's first byte
 * inner   bytes of it that are behind
 * left    blocks of this level 0 from here on */
struct ucp_dt_strided_cursor {
    char  *block;
    size_t inner;
    size_t left;
    size_t index_1; /* of this level 0 in its level 1 */
    char  *start_0; /* first block of this level 0 */
    char  *start_1; /* first block of the element */
};

/* Describe a layout; levels that touch become larger blocks.
 * @param levels  [level_count] borrowed.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM with one line: nothing in it,
 *         negative, overlapping or interleaving strides, too large. */
UCS_MUST_USE ucs_status_t ucp_dt_strided_init(struct ucp_dt_strided *dt,
                                              size_t block_bytes,
                                              const causeway_dt_level_t *levels,
                                              unsigned level_count,
                                              size_t   extent_bytes);

/* A layout whose block, extent and levels came from a peer: is a message of
 * length bytes in an address space that begins there? Sets the rest of it.
 * @param length  Not 0. */
UCS_MUST_USE bool ucp_dt_strided_adopt(struct ucp_dt_strided *dt, uint64_t base,
                                       size_t length);

/* The memory from the first byte of [offset, offset + length) of a message to
 * its last, gaps and all. @param length  Not 0. */
struct uct_iov ucp_dt_strided_span(const struct ucp_dt_strided *dt, void *base,
                                   size_t offset, size_t length);

/* Stand at an offset of the packed form of a message that begins at base. */
void ucp_dt_strided_seek(const struct ucp_dt_strided *dt, void *base,
                         size_t offset, struct ucp_dt_strided_cursor *cursor);

/* The memory at the cursor up to the end of its block, at most length_max
 * bytes of it; moves on. There is some. */
struct uct_iov ucp_dt_strided_next(const struct ucp_dt_strided  *dt,
                                   struct ucp_dt_strided_cursor *cursor,
                                   size_t                        length_max);

/* Copy length bytes of the packed form from offset on: out of the message at
 * base, or into it. */
void ucp_dt_strided_pack(const struct ucp_dt_strided *dt, void *base,
                         size_t offset, void *dest, size_t length);
void ucp_dt_strided_unpack(const struct ucp_dt_strided *dt, void *base,
                           size_t offset, const void *source, size_t length);

#endif
