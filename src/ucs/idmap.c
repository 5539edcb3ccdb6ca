/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/idmap.c - ids with generations: a growing array of slots and a queue of
 * free ones, linked by index so that the array may move. */
#include "ucs/idmap.h"

#include <stdlib.h>

#include "ucs/assert.h"
#include "ucs/log.h"

enum { UCS_IDMAP_SLOT_COUNT_FIRST = 64 };

void ucsi_idmap_init(struct ucs_idmap *map)
{
    map->slots            = NULL;
    map->slot_count       = 0;
    map->count            = 0;
    map->free_index_first = 0;
    map->free_index_last  = 0;
}

void ucsi_idmap_cleanup(struct ucs_idmap *map)
{
    free(map->slots);
    ucsi_idmap_init(map);
}

/* Double a map that has no free slot. */
static ucs_status_t idmap_grow(struct ucs_idmap *map)
{
    uint32_t slot_count =
        ucs_max(2 * map->slot_count, (uint32_t)UCS_IDMAP_SLOT_COUNT_FIRST);
    struct ucs_idmap_slot *slots;
    uint32_t               index;

    if (map->slot_count >= UCS_IDMAP_COUNT_MAX) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    slots = realloc(map->slots, slot_count * sizeof(*slots));
    if (slots == NULL) {
        return ucsi_no_memory("a table of ids", slot_count * sizeof(*slots));
    }
    for (index = map->slot_count; index < slot_count; ++index) {
        slots[index].pointer         = NULL;
        slots[index].generation      = 1;
        slots[index].free_index_next = index + 1;
    }
    map->free_index_first = map->slot_count;
    map->free_index_last  = slot_count - 1;
    map->slots            = slots;
    map->slot_count       = slot_count;
    return UCS_OK;
}

ucs_status_t ucsi_idmap_add(struct ucs_idmap *map, void *pointer,
                            uint64_t *id_p)
{
    struct ucs_idmap_slot *slot;
    ucs_status_t           status;
    uint32_t               index;

    ucs_assert(pointer != NULL);
    if (map->count == map->slot_count) {
        status = idmap_grow(map);
        if (status != UCS_OK) {
            return status;
        }
    }
    index                 = map->free_index_first;
    slot                  = &map->slots[index];
    map->free_index_first = slot->free_index_next;
    slot->pointer         = pointer;
    ++map->count;
    *id_p = ((uint64_t)slot->generation << 32) | index;
    return UCS_OK;
}

void *ucsi_idmap_remove(struct ucs_idmap *map, uint64_t id)
{
    void                  *pointer = ucs_idmap_get(map, id);
    uint32_t               index   = (uint32_t)id;
    struct ucs_idmap_slot *slot;

    if (pointer == NULL) {
        return NULL;
    }
    slot          = &map->slots[index];
    slot->pointer = NULL;
    slot->generation =
        (slot->generation == UINT32_MAX) ? 1 : slot->generation + 1;
    if (map->count == map->slot_count) {
        map->free_index_first = index;
    } else {
        map->slots[map->free_index_last].free_index_next = index;
    }
    map->free_index_last = index;
    --map->count;
    return pointer;
}

void *ucsi_idmap_next(const struct ucs_idmap *map, uint32_t *cursor_p)
{
    while (*cursor_p < map->slot_count) {
        void *pointer = map->slots[(*cursor_p)++].pointer;

        if (pointer != NULL) {
            return pointer;
        }
    }
    return NULL;
}
