/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/idmap.h - numbers that stand for pointers, for use in messages.
 *
 *     id:  63 ....... 32 31 ........ 0
 *          | generation |   index    |
 *
 * An id names one pointer from add to remove and nothing ever after: the
 * generation of an index changes with each use (it is reused after 2^32 - 1
 * of them, and free indices are reused oldest first). An id that is stale, or
 * made up by a peer, finds NULL or an object that is in the map; it is no
 * proof of anything. No id is 0.
 *
 * Thread: none of its own; the owner of the map serialises. */
#ifndef UCS_IDMAP_H_
#define UCS_IDMAP_H_

#include "ucs/compiler.h"
#include "ucs/type/status.h"

enum { UCS_IDMAP_COUNT_MAX = 1u << 30 }; /* pointers at a time */

struct ucs_idmap_slot {
    void    *pointer;         /* NULL: the slot is free */
    uint32_t generation;      /* of the id in use, or of the next; never 0 */
    uint32_t free_index_next; /* the slot freed after this one */
};

struct ucs_idmap {
    struct ucs_idmap_slot *slots;
    uint32_t               slot_count;       /* slots that exist */
    uint32_t               count;            /* slots in use */
    uint32_t               free_index_first; /* if count < slot_count: the */
    uint32_t               free_index_last;  /* slots freed first and last */
};

/* Make an empty map. It allocates nothing before the first add. */
UCS_EXPORT void ucsi_idmap_init(struct ucs_idmap *map);

/* Free the map. What the pointers point to is not touched. */
UCS_EXPORT void ucsi_idmap_cleanup(struct ucs_idmap *map);

/* Give a pointer, which is not NULL, an id. Constant time, but for growth.
 *
 * @param id_p  Set on success only.
 * @return UCS_OK; UCS_ERR_NO_MEMORY; UCS_ERR_EXCEEDS_LIMIT: the map holds
 *         UCS_IDMAP_COUNT_MAX pointers. On errors nothing has changed. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_idmap_add(struct ucs_idmap *map,
                                                    void             *pointer,
                                                    uint64_t         *id_p);

/* Forget an id. Constant time.
 *
 * @return Its pointer; NULL if the id is not in the map. */
UCS_EXPORT void *ucsi_idmap_remove(struct ucs_idmap *map, uint64_t id);

/* Walk over the pointers, in the order of their indices. *cursor_p is 0 at
 * first. Pointers may be removed on the way; one added may be missed.
 *
 * @return The next pointer; NULL at the end. */
UCS_EXPORT void *ucsi_idmap_next(const struct ucs_idmap *map,
                                 uint32_t               *cursor_p);

/* Pointers in the map. */
UCS_INLINE uint32_t ucs_idmap_count(const struct ucs_idmap *map)
{
    return map->count;
}

/* Find the pointer of an id. Any id may be asked for, whoever made it.
 *
 * @return NULL if the id is not in the map. */
UCS_INLINE void *ucs_idmap_get(const struct ucs_idmap *map, uint64_t id)
{
    uint32_t                     index = (uint32_t)id;
    const struct ucs_idmap_slot *slot;

    if (ucs_unlikely(index >= map->slot_count)) {
        return NULL;
    }
    slot = &map->slots[index];
    return ucs_likely(slot->generation == (uint32_t)(id >> 32)) ? slot->pointer
                                                                : NULL;
}

#endif
