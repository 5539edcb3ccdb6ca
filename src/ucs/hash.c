/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/hash.c - open addressing with linear probing. */
#include "ucs/hash.h"

#include <stdlib.h>

#include "ucs/assert.h"
#include "ucs/log.h"

enum { UCS_HASH_ENTRY_COUNT_FIRST = 16 };

/* Spread a key over all bits: the finalizer of MurmurHash3 (Appleby, public
 * domain), a bijection. */
static uint64_t hash_mix(uint64_t bits)
{
    bits ^= bits >> 33;
    bits *= 0xff51afd7ed558ccdull;
    bits ^= bits >> 33;
    bits *= 0xc4ceb9fe1a85ec53ull;
    bits ^= bits >> 33;
    return bits;
}

/* Where a key would like to be. The seed goes in twice: xor alone would let
 * keys that collide under one seed collide under all. */
static size_t hash_home(const struct ucs_hash *hash, uint64_t key)
{
    uint64_t mixed = hash_mix(hash_mix(key ^ hash->seed) + hash->seed);

    return (size_t)mixed & (hash->entry_count - 1);
}

static size_t hash_behind(const struct ucs_hash *hash, size_t index)
{
    return (index + 1) & (hash->entry_count - 1);
}

/* The place of a key, or the free one where it would go. The map has places
 * and not all are taken. */
static size_t hash_find(const struct ucs_hash *hash, uint64_t key)
{
    size_t index = hash_home(hash, key);

    while ((hash->entries[index].value != NULL) &&
           (hash->entries[index].key != key)) {
        index = hash_behind(hash, index);
    }
    return index;
}

void ucsi_hash_init(struct ucs_hash *hash, uint64_t seed)
{
    hash->entries     = NULL;
    hash->entry_count = 0;
    hash->count       = 0;
    hash->seed        = seed;
}

void ucsi_hash_cleanup(struct ucs_hash *hash)
{
    free(hash->entries);
    ucsi_hash_init(hash, hash->seed);
}

/* Move all entries to an array of twice the size. */
static ucs_status_t hash_grow(struct ucs_hash *hash)
{
    struct ucs_hash old = *hash;
    size_t          entry_count =
        ucs_max(2 * hash->entry_count, (size_t)UCS_HASH_ENTRY_COUNT_FIRST);
    struct ucs_hash_entry *entries;
    size_t                 index;

    if (hash->count >= UCS_HASH_COUNT_MAX) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    entries = calloc(entry_count, sizeof(*entries));
    if (entries == NULL) {
        return ucsi_no_memory("a hash table", entry_count * sizeof(*entries));
    }
    hash->entries     = entries;
    hash->entry_count = entry_count;
    for (index = 0; index < old.entry_count; ++index) {
        if (old.entries[index].value != NULL) {
            entries[hash_find(hash, old.entries[index].key)] =
                old.entries[index];
        }
    }
    free(old.entries);
    return UCS_OK;
}

ucs_status_t ucsi_hash_put(struct ucs_hash *hash, uint64_t key, void *value)
{
    struct ucs_hash_entry *entry;
    ucs_status_t           status;

    ucs_assert(value != NULL);
    if (hash->entry_count > 0) {
        entry = &hash->entries[hash_find(hash, key)];
        if (entry->value != NULL) {
            entry->value = value;
            return UCS_OK;
        }
    }
    if (4 * (hash->count + 1) > 3 * hash->entry_count) {
        status = hash_grow(hash);
        if (status != UCS_OK) {
            return status;
        }
    }
    entry        = &hash->entries[hash_find(hash, key)];
    entry->key   = key;
    entry->value = value;
    ++hash->count;
    return UCS_OK;
}

void *ucsi_hash_get(const struct ucs_hash *hash, uint64_t key)
{
    if (hash->count == 0) {
        return NULL;
    }
    return hash->entries[hash_find(hash, key)].value;
}

/* Fill the hole at index: an entry behind it that would rather be there, or
 * before, moves in and leaves the next hole; a free place ends it. */
static void hash_close_hole(struct ucs_hash *hash, size_t hole)
{
    size_t mask  = hash->entry_count - 1;
    size_t index = hash_behind(hash, hole);
    size_t from_home, from_hole;

    while (hash->entries[index].value != NULL) {
        from_home = (index - hash_home(hash, hash->entries[index].key)) & mask;
        from_hole = (index - hole) & mask;
        if (from_home >= from_hole) {
            hash->entries[hole] = hash->entries[index];
            hole                = index;
        }
        index = hash_behind(hash, index);
    }
    hash->entries[hole].value = NULL;
}

void *ucsi_hash_remove(struct ucs_hash *hash, uint64_t key)
{
    size_t index;
    void  *value;

    if (hash->count == 0) {
        return NULL;
    }
    index = hash_find(hash, key);
    value = hash->entries[index].value;
    if (value != NULL) {
        hash_close_hole(hash, index);
        --hash->count;
    }
    return value;
}

size_t ucsi_hash_count(const struct ucs_hash *hash)
{
    return hash->count;
}

void *ucsi_hash_next(const struct ucs_hash *hash, size_t *cursor_p,
                     uint64_t *key_p)
{
    const struct ucs_hash_entry *entry;

    while (*cursor_p < hash->entry_count) {
        entry = &hash->entries[(*cursor_p)++];
        if (entry->value != NULL) {
            if (key_p != NULL) {
                *key_p = entry->key;
            }
            return entry->value;
        }
    }
    return NULL;
}
