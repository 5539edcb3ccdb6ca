/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/self/self_md.c - the memory domain: regions by random 64-bit keys.
 *
 * No memory is reached by a bare address: every put, get and atomic looks its
 * key up, so a key of a region that was released finds nothing. */
#include "uct/self/self.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/random.h"
#include "uct/base/md.h"

static struct self_md *self_md_of(const struct uct_md *md)
{
    return ucs_container_of(md, struct self_md, base);
}

ucs_status_t self_md_open(const struct uct_device *device, struct uct_md **md_p)
{
    struct self_md *self = calloc(1, sizeof(*self));

    if (self == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    uct_md_init(&self->base, device);
    (void)pthread_mutex_init(&self->lock, NULL);
    ucsi_hash_init(&self->regions, 0);
    *md_p = &self->base;
    return UCS_OK;
}

void self_md_close(struct uct_md *md)
{
    struct self_md *self = self_md_of(md);

    ucs_assert(ucsi_hash_count(&self->regions) == 0);
    ucsi_hash_cleanup(&self->regions);
    (void)pthread_mutex_destroy(&self->lock);
    free(self);
}

/* Give the region a key that no other one has. */
static ucs_status_t self_region_add(struct self_md *self, struct self_mem *mem)
{
    ucs_status_t status;

    (void)pthread_mutex_lock(&self->lock);
    do {
        status = ucsi_random_u64(&mem->key);
    } while ((status == UCS_OK) &&
             (ucsi_hash_get(&self->regions, mem->key) != NULL));
    if (status == UCS_OK) {
        status = ucsi_hash_put(&self->regions, mem->key, mem);
    }
    (void)pthread_mutex_unlock(&self->lock);
    return status;
}

ucs_status_t self_mem_register(struct uct_md *md, void *address, size_t length,
                               unsigned access, struct uct_mem **mem_p)
{
    struct self_mem *mem;
    ucs_status_t     status;

    if ((address == NULL) || (length == 0) || (access & ~UCT_ACCESS_ALL) ||
        (length > UINTPTR_MAX - (uintptr_t)address)) {
        return UCS_ERR_INVALID_PARAM;
    }
    mem = malloc(sizeof(*mem));
    if (mem == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    mem->base.md      = md;
    mem->base.address = address;
    mem->base.length  = length;
    mem->base.access  = access;
    status            = self_region_add(self_md_of(md), mem);
    if (status != UCS_OK) {
        free(mem);
        return status;
    }
    *mem_p = &mem->base;
    return UCS_OK;
}

void self_mem_release(struct uct_mem *base)
{
    struct self_mem *mem  = ucs_container_of(base, struct self_mem, base);
    struct self_md  *self = self_md_of(base->md);

    (void)pthread_mutex_lock(&self->lock);
    (void)ucsi_hash_remove(&self->regions, mem->key);
    (void)pthread_mutex_unlock(&self->lock);
    free(mem);
}

size_t self_rkey_pack(const struct uct_mem *base, uint8_t *bytes)
{
    const struct self_mem *mem = ucs_container_of(base, struct self_mem, base);

    bytes[0] = SELF_RKEY_VERSION;
    memcpy(bytes + 1, &mem->key, sizeof(mem->key));
    return SELF_RKEY_BYTES;
}

ucs_status_t self_rkey_unpack(struct uct_md *md, const uint8_t *bytes,
                              size_t size_bytes, struct uct_rkey **rkey_p)
{
    struct self_rkey *rkey;

    if ((size_bytes != SELF_RKEY_BYTES) || (bytes[0] != SELF_RKEY_VERSION)) {
        return UCS_ERR_INVALID_PARAM;
    }
    rkey = malloc(sizeof(*rkey));
    if (rkey == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    rkey->base.md = md;
    memcpy(&rkey->key, bytes + 1, sizeof(rkey->key));
    *rkey_p = &rkey->base;
    return UCS_OK;
}

void self_rkey_release(struct uct_rkey *base)
{
    free(ucs_container_of(base, struct self_rkey, base));
}

/* Is [address, address + length) inside the region? Nothing may overflow:
 * address is the caller's peer's. */
static bool self_region_has(const struct uct_mem *mem, uint64_t address,
                            size_t length)
{
    uint64_t offset = address - (uintptr_t)mem->address;

    return (address >= (uintptr_t)mem->address) && (offset <= mem->length) &&
           (length <= mem->length - offset);
}

ucs_status_t self_region_check(const struct uct_rkey *base, uint64_t address,
                               size_t length, unsigned access)
{
    const struct self_rkey *rkey =
        ucs_container_of(base, struct self_rkey, base);
    struct self_md  *self = self_md_of(base->md);
    struct self_mem *mem;
    bool             is_allowed;

    (void)pthread_mutex_lock(&self->lock);
    mem        = (struct self_mem *)ucsi_hash_get(&self->regions, rkey->key);
    is_allowed = (mem != NULL) && ((mem->base.access & access) == access) &&
                 self_region_has(&mem->base, address, length);
    (void)pthread_mutex_unlock(&self->lock);
    return is_allowed ? UCS_OK : UCS_ERR_INVALID_ADDR;
}
