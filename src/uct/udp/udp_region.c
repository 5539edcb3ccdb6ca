/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_region.c - domains, regions, keys. */
#include "uct/udp/udp_region.h"

#include <stdlib.h>

#include "ucs/bytes.h"
#include "ucs/random.h"
#include "uct/base/md.h"

struct udp_mem {
    struct uct_mem base;
    uint64_t       key;
};

static struct udp_md *region_md(struct uct_md *md)
{
    return ucs_container_of(md, struct udp_md, base);
}

ucs_status_t udp_md_open(const struct uct_device *device, struct uct_md **md_p)
{
    struct udp_md *md = malloc(sizeof(*md));

    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    uct_md_init(&md->base, device);
    (void)pthread_mutex_init(&md->lock, NULL);
    ucsi_hash_init(&md->regions, 0);
    *md_p = &md->base;
    return UCS_OK;
}

void udp_md_close(struct uct_md *base)
{
    struct udp_md *md = region_md(base);

    ucsi_hash_cleanup(&md->regions);
    (void)pthread_mutex_destroy(&md->lock);
    free(md);
}

static ucs_status_t region_add(struct udp_md *md, struct udp_mem *mem)
{
    ucs_status_t status;

    do {
        status = ucsi_random_u64(&mem->key);
        if (status != UCS_OK) {
            return status;
        }
    } while (mem->key == 0);
    (void)pthread_mutex_lock(&md->lock);
    status = ucsi_hash_put(&md->regions, mem->key, mem);
    (void)pthread_mutex_unlock(&md->lock);
    return status;
}

ucs_status_t udp_mem_register(struct uct_md *base, void *address, size_t length,
                              unsigned access, struct uct_mem **mem_p)
{
    struct udp_mem *mem;
    ucs_status_t    status;

    if ((address == NULL) || (length == 0) || (access & ~UCT_ACCESS_ALL) ||
        (length > UINTPTR_MAX - (uintptr_t)address)) {
        return UCS_ERR_INVALID_PARAM;
    }
    mem = malloc(sizeof(*mem));
    if (mem == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    mem->base.md      = base;
    mem->base.address = address;
    mem->base.length  = length;
    mem->base.access  = access;
    mem->key          = 0;
    /* What nobody may touch from outside needs no key. */
    if (access & ~(unsigned)UCT_ACCESS_LOCAL) {
        status = region_add(region_md(base), mem);
        if (status != UCS_OK) {
            free(mem);
            return status;
        }
    }
    *mem_p = &mem->base;
    return UCS_OK;
}

void udp_mem_release(struct uct_mem *base)
{
    struct udp_mem *mem = ucs_container_of(base, struct udp_mem, base);
    struct udp_md  *md  = region_md(base->md);

    if (mem->key != 0) {
        (void)pthread_mutex_lock(&md->lock);
        (void)ucsi_hash_remove(&md->regions, mem->key);
        (void)pthread_mutex_unlock(&md->lock);
    }
    free(mem);
}

size_t udp_rkey_pack(const struct uct_mem *base, uint8_t *bytes)
{
    const struct udp_mem *mem = ucs_container_of(base, struct udp_mem, base);

    bytes[0] = UDP_RKEY_VERSION;
    bytes[1] = (uint8_t)base->access;
    ucs_put_le64(bytes + 2, mem->key);
    ucs_put_le64(bytes + 10, (uintptr_t)base->address);
    ucs_put_le64(bytes + 18, base->length);
    return UDP_RKEY_BYTES;
}

ucs_status_t udp_rkey_unpack(struct uct_md *md, const uint8_t *bytes,
                             size_t size_bytes, struct uct_rkey **rkey_p)
{
    struct udp_rkey *rkey;

    if ((size_bytes != UDP_RKEY_BYTES) || (bytes[0] != UDP_RKEY_VERSION) ||
        (bytes[1] & ~UCT_ACCESS_ALL)) {
        return UCS_ERR_INVALID_PARAM;
    }
    rkey = malloc(sizeof(*rkey));
    if (rkey == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    rkey->base.md = md;
    rkey->access  = bytes[1];
    rkey->key     = ucs_get_le64(bytes + 2);
    rkey->address = ucs_get_le64(bytes + 10);
    rkey->length  = ucs_get_le64(bytes + 18);
    *rkey_p       = &rkey->base;
    return UCS_OK;
}

void udp_rkey_release(struct uct_rkey *rkey)
{
    free(ucs_container_of(rkey, struct udp_rkey, base));
}

/* Is [address, address + length) inside? Nothing may overflow. */
static bool region_has(uint64_t begin, uint64_t bytes, uint64_t address,
                       uint64_t length)
{
    return (address >= begin) && (address - begin <= bytes) &&
           (length <= bytes - (address - begin));
}

ucs_status_t udp_rkey_check(const struct uct_rkey *base, uint64_t address,
                            size_t length, unsigned right)
{
    const struct udp_rkey *rkey = ucs_container_of(base, struct udp_rkey, base);

    return ((rkey->access & right) &&
            region_has(rkey->address, rkey->length, address, length))
               ? UCS_OK
               : UCS_ERR_INVALID_ADDR;
}

void *udp_region_enter(struct udp_md *md, const struct udp_access *access,
                       size_t length, unsigned right)
{
    const struct udp_mem *mem;

    (void)pthread_mutex_lock(&md->lock);
    mem = (const struct udp_mem *)ucsi_hash_get(&md->regions, access->key);
    if ((mem != NULL) && (mem->base.access & right) &&
        region_has((uintptr_t)mem->base.address, mem->base.length,
                   access->address, length)) {
        return (void *)(uintptr_t)access->address;
    }
    (void)pthread_mutex_unlock(&md->lock);
    return NULL;
}

void udp_region_leave(struct udp_md *md)
{
    (void)pthread_mutex_unlock(&md->lock);
}
