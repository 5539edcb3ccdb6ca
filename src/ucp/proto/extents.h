/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/extents.h - parts of a message: ranges of bytes in order, apart
 * from one another.
 *
 *   0      4096     8192                 65536
 *   |.......========........=============|       two extents
 *
 * A rendezvous keeps what was not asked for yet, and what was and has not
 * moved (rndv.h), so each byte is asked for once and comes once, in whatever
 * order. Elements come from a pool. A set is bounded: a peer that asks for
 * every other byte does not take memory without end. */
#ifndef UCP_PROTO_EXTENTS_H_
#define UCP_PROTO_EXTENTS_H_

#include "ucs/compiler.h"
#include "ucs/list.h"
#include "ucs/mpool.h"

enum {
    /* Extents in one set; an honest peer makes no more than it has pieces
     * under way (guess). */
    UCP_EXTENT_COUNT_MAX = 4096,
};

/* [offset, end), not empty. */
struct ucp_extent {
    struct ucs_list link;
    size_t          offset;
    size_t          end;
};

/* bytes  of all extents together */
struct ucp_extents {
    struct ucs_mpool *pool; /* of struct ucp_extent */
    struct ucs_list   list;
    size_t            bytes;
    unsigned          count;
};

void ucp_extents_init(struct ucp_extents *set, struct ucs_mpool *pool);
void ucp_extents_cleanup(struct ucp_extents *set);

/* Add [offset, end), of which nothing is in the set; may be empty.
 * @return UCS_OK, UCS_ERR_NO_MEMORY, UCS_ERR_EXCEEDS_LIMIT. */
UCS_MUST_USE ucs_status_t ucp_extents_add(struct ucp_extents *set,
                                          size_t offset, size_t end);

/* Take [offset, end) out, which is in the set; may be empty. From the front
 * or the back of an extent that needs no memory.
 * @return as ucp_extents_add(). */
UCS_MUST_USE ucs_status_t ucp_extents_remove(struct ucp_extents *set,
                                             size_t offset, size_t end);

/* Is all of [offset, end) in the set? Not for empty ranges. */
bool ucp_extents_have(const struct ucp_extents *set, size_t offset, size_t end);

/* The lowest; NULL: the set is empty. */
static inline const struct ucp_extent *
ucp_extents_first(const struct ucp_extents *set)
{
    return ucs_list_is_empty(&set->list)
               ? NULL
               : ucs_list_first(&set->list, struct ucp_extent, link);
}

#endif
