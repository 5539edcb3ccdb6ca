/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/hash.h - map from 64-bit keys to pointers.
 *
 * Open addressing with linear probing: one array, a lookup is mostly one
 * cache line. Removal shifts the entries behind it back (Knuth 6.4 R), so
 * there are no tombstones and a map does not become slower with age.
 *
 *     | .. | A | B | C | .. |    A, B, C want A's place
 *     | .. | B | C | .. | .. |   after A is removed
 *
 * Thread: none of its own; the owner of the map serialises. */
#ifndef UCS_HASH_H_
#define UCS_HASH_H_

#include "ucs/compiler.h"
#include "ucs/type/status.h"

enum { UCS_HASH_COUNT_MAX = 1u << 30 }; /* entries at a time */

struct ucs_hash_entry {
    uint64_t key;
    void    *value; /* NULL: no entry */
};

struct ucs_hash {
    struct ucs_hash_entry *entries;
    size_t                 entry_count; /* places: a power of two, or 0 */
    size_t                 count;       /* places taken; at most 3/4 */
    uint64_t               seed;        /* mixed into each key */
};

/* Make an empty map. It allocates nothing before the first put.
 *
 * @param seed  0 for keys of our own making: the order of a walk is then the
 *              same in each process. A random number for keys that a stranger
 *              chooses, so that he cannot make them all collide. */
UCS_EXPORT void ucsi_hash_init(struct ucs_hash *hash, uint64_t seed);

/* Free the map. What the values point to is not touched. */
UCS_EXPORT void ucsi_hash_cleanup(struct ucs_hash *hash);

/* Set the value of a key; what was there is replaced. value is not NULL.
 *
 * @return UCS_OK; UCS_ERR_NO_MEMORY; UCS_ERR_EXCEEDS_LIMIT: the map holds
 *         UCS_HASH_COUNT_MAX entries. On errors nothing has changed. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_hash_put(struct ucs_hash *hash,
                                                   uint64_t key, void *value);

/* The value of a key; NULL if it has none. */
UCS_EXPORT void *ucsi_hash_get(const struct ucs_hash *hash, uint64_t key);

/* Remove a key. Returns the value it had; NULL if it had none. */
UCS_EXPORT void *ucsi_hash_remove(struct ucs_hash *hash, uint64_t key);

/* Entries in the map. */
UCS_EXPORT size_t ucsi_hash_count(const struct ucs_hash *hash);

/* Walk over the entries, in no order. *cursor_p is 0 at first. The map must
 * not change on the way.
 *
 * @param key_p  The entry's key; NULL if nobody wants it.
 * @return       The entry's value; NULL at the end. */
UCS_EXPORT void *ucsi_hash_next(const struct ucs_hash *hash, size_t *cursor_p,
                                uint64_t *key_p);

#endif
