/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_key.c - regions, and keys to them. */
#include "uct/sm/sm_key.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "ucs/bytes.h"
#include "ucs/log.h"
#include "ucs/random.h"
#include "uct/base/md.h"

/* self       who we are: pid, start and namespace of it
 * name_seed  random; names are its successors, mixed */
struct sm_md {
    struct uct_md         base;
    struct uct_sm_address self;
    _Atomic uint64_t      name_seed;
};

struct sm_mem {
    struct uct_mem base;
    uint64_t       name;
};

struct sm_rkey {
    struct uct_rkey   base;
    struct uct_sm_key key;
};

/* splitmix64: different for different input. */
static uint64_t key_mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

/* FNV-1a, folded to 32 bits. */
static uint32_t key_check(const uint8_t *bytes, size_t size_bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    size_t   index;

    for (index = 0; index < size_bytes; ++index) {
        hash = (hash ^ bytes[index]) * UINT64_C(0x100000001b3);
    }
    return (uint32_t)(hash ^ (hash >> 32));
}

void uct_sm_key_encode(const struct uct_sm_key *key, uint8_t *bytes)
{
    struct ucs_writer writer;

    ucs_writer_init(&writer, bytes, UCT_SM_KEY_BYTES);
    ucs_write_u8(&writer, UCT_SM_KEY_VERSION);
    ucs_write_u8(&writer, key->access);
    ucs_write_le64(&writer, key->name);
    ucs_write_le64(&writer, key->address);
    ucs_write_le64(&writer, key->length);
    ucs_write_le64(&writer, key->process_start);
    ucs_write_le32(&writer, (uint32_t)key->pid);
    ucs_write_le32(&writer, key->pid_namespace);
    ucs_write_le32(&writer, key_check(bytes, UCT_SM_KEY_BYTES - 4));
}

ucs_status_t uct_sm_key_decode(const uint8_t *bytes, size_t size_bytes,
                               struct uct_sm_key *key_p)
{
    struct uct_sm_key key;
    struct ucs_reader reader;
    uint8_t           version;
    uint32_t          check;

    ucs_reader_init(&reader, bytes, size_bytes);
    version           = ucs_read_u8(&reader);
    key.access        = ucs_read_u8(&reader);
    key.name          = ucs_read_le64(&reader);
    key.address       = ucs_read_le64(&reader);
    key.length        = ucs_read_le64(&reader);
    key.process_start = ucs_read_le64(&reader);
    key.pid           = (int32_t)ucs_read_le32(&reader);
    key.pid_namespace = ucs_read_le32(&reader);
    check             = ucs_read_le32(&reader);
    if (!ucs_read_ok(&reader) || (ucs_read_left(&reader) != 0) ||
        (version != UCT_SM_KEY_VERSION) ||
        (check != key_check(bytes, UCT_SM_KEY_BYTES - 4)) ||
        (key.access & ~(unsigned)UCT_ACCESS_ALL) ||
        (key.length > UINT64_MAX - key.address) || (key.pid <= 0)) {
        return UCS_ERR_INVALID_PARAM;
    }
    *key_p = key;
    return UCS_OK;
}

bool uct_sm_key_allows(const struct uct_sm_key *key, uint64_t address,
                       size_t length, unsigned access)
{
    uint64_t offset = address - key->address;

    return ((key->access & access) == access) && (address >= key->address) &&
           (offset <= key->length) && (length <= key->length - offset);
}

bool uct_sm_key_is_of(const struct uct_sm_key     *key,
                      const struct uct_sm_address *address)
{
    return (key->pid == address->pid) &&
           (key->process_start == address->process_start) &&
           (key->pid_namespace == address->pid_namespace);
}

const struct uct_sm_key *uct_sm_key_of(const struct uct_rkey *rkey)
{
    return &ucs_container_of(rkey, struct sm_rkey, base)->key;
}

ucs_status_t uct_sm_md_open(const struct uct_device *device,
                            struct uct_md          **md_p)
{
    struct sm_md *md   = calloc(1, sizeof(*md));
    uint64_t      seed = 0;
    ucs_status_t  status;

    if (md == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = ucsi_random_u64(&seed);
    if (status != UCS_OK) {
        free(md);
        return status;
    }
    uct_md_init(&md->base, device);
    uct_sm_address_self(&md->self);
    atomic_init(&md->name_seed, seed);
    *md_p = &md->base;
    return UCS_OK;
}

void uct_sm_md_close(struct uct_md *base)
{
    free(ucs_container_of(base, struct sm_md, base));
}

ucs_status_t uct_sm_mem_register(struct uct_md *base, void *address,
                                 size_t length, unsigned access,
                                 struct uct_mem **mem_p)
{
    struct sm_md  *md = ucs_container_of(base, struct sm_md, base);
    struct sm_mem *mem;

    if ((address == NULL) || (length == 0) || (access & ~UCT_ACCESS_ALL) ||
        (length > UINTPTR_MAX - (uintptr_t)address)) {
        return UCS_ERR_INVALID_PARAM;
    }
    mem = malloc(sizeof(*mem));
    if (mem == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    mem->base = (struct uct_mem){
        .md = base, .address = address, .length = length, .access = access};
    /* Nothing else is published by it. */
    mem->name = key_mix(atomic_fetch_add_explicit(
        &md->name_seed, UINT64_C(0x9e3779b97f4a7c15), memory_order_relaxed));
    *mem_p    = &mem->base;
    return UCS_OK;
}

void uct_sm_mem_release(struct uct_mem *base)
{
    free(ucs_container_of(base, struct sm_mem, base));
}

size_t uct_sm_rkey_pack(const struct uct_mem *base, uint8_t *bytes)
{
    const struct sm_mem *mem = ucs_container_of(base, struct sm_mem, base);
    const struct sm_md  *md  = ucs_container_of(base->md, struct sm_md, base);
    struct uct_sm_key    key = {
           .access        = (uint8_t)base->access,
           .name          = mem->name,
           .address       = (uintptr_t)base->address,
           .length        = base->length,
           .process_start = md->self.process_start,
           .pid           = md->self.pid,
           .pid_namespace = md->self.pid_namespace,
    };

    uct_sm_key_encode(&key, bytes);
    return UCT_SM_KEY_BYTES;
}

ucs_status_t uct_sm_rkey_unpack(struct uct_md *md, const uint8_t *bytes,
                                size_t size_bytes, struct uct_rkey **rkey_p)
{
    struct uct_sm_key key;
    struct sm_rkey   *rkey;
    ucs_status_t      status;

    status = uct_sm_key_decode(bytes, size_bytes, &key);
    if (status != UCS_OK) {
        return status;
    }
    rkey = malloc(sizeof(*rkey));
    if (rkey == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    rkey->base.md = md;
    rkey->key     = key;
    *rkey_p       = &rkey->base;
    return UCS_OK;
}

void uct_sm_rkey_release(struct uct_rkey *base)
{
    free(ucs_container_of(base, struct sm_rkey, base));
}
