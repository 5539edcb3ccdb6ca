/* SPDX-License-Identifier: BSD-3-Clause */
/* mock_memory.c - registration and keys. A key is a number that only the list
 * of live registrations can turn into memory; so one that was released is
 * found out at its next use.
 *
 *   packed key:  0 magic:4  4 device:4  8 key:8  16 check:8  24 unused:16 */
#include "mock/mock_private.h"

#include "ucs/bytes.h"

static struct mock_md *mock_md_of(struct uct_md *md)
{
    return ucs_container_of(md, struct mock_md, base);
}

static uint64_t mock_generation(const void *address, size_t length)
{
    return (mock_world.setup.generation == NULL)
               ? 0
               : mock_world.setup.generation(address, length);
}

bool mock_mem_is_stale(const struct mock_mem *mem)
{
    return mock_generation(mem->base.address, mem->base.length) !=
           mem->generation;
}

static void mock_pin(unsigned host, size_t length)
{
    struct mock_host *self = &mock_world.hosts[host];

    self->pinned_bytes += length;
    self->pinned_bytes_peak =
        ucs_max(self->pinned_bytes_peak, self->pinned_bytes);
}

static uint64_t mock_key_check(uint64_t key)
{
    return (key ^ MOCK_RKEY_MAGIC) * 0x9e3779b97f4a7c15ull;
}

ucs_status_t mock_mem_register(struct uct_md *base, void *address,
                               size_t length, unsigned access,
                               struct uct_mem **mem_p)
{
    struct mock_md          *md    = mock_md_of(base);
    const struct mock_fault *fault = mock_fault_hit(MOCK_REGISTER, md->host);
    struct mock_event        event = {.type    = MOCK_REGISTERED,
                                      .op      = MOCK_REGISTER,
                                      .device  = md->device,
                                      .from    = md->host,
                                      .to      = md->host,
                                      .length  = length,
                                      .address = (uintptr_t)address};
    struct mock_mem         *mem;

    if (fault != NULL) {
        return fault->status;
    }
    if (length + mock_world.hosts[md->host].pinned_bytes >
        mock_world.setup.pinned_bytes_max) {
        return UCS_ERR_NO_MEMORY;
    }
    mem = calloc(1, sizeof(*mem));
    if (mem == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    mock_pin(md->host, length);
    mock_clock_register(md->host, md->device, length);
    mem->base       = (struct uct_mem){base, address, length, access};
    mem->generation = mock_generation(address, length);
    mem->key        = mock_random();
    mem->number = event.number = ++mock_world.number;
    ucs_list_add_tail(&mock_world.mems, &mem->link);
    (void)mock_journal_add(&event);
    *mem_p = &mem->base;
    return UCS_OK;
}

/* Is it lent to something that goes on? */
static bool mock_mem_is_busy(const struct uct_mem *mem)
{
    const struct mock_item *item;
    unsigned                index;

    ucs_list_for_each (item, &mock_world.wire, link) {
        for (index = 0; item->is_lent && (index < item->iov_count); ++index) {
            if (item->iov[index].mem == mem) {
                return true;
            }
        }
    }
    return false;
}

void mock_mem_release(struct uct_mem *base)
{
    struct mock_mem  *mem   = ucs_container_of(base, struct mock_mem, base);
    struct mock_md   *md    = mock_md_of(base->md);
    struct mock_event event = {.type    = MOCK_RELEASED,
                               .op      = MOCK_REGISTER,
                               .number  = mem->number,
                               .device  = md->device,
                               .from    = md->host,
                               .to      = md->host,
                               .length  = base->length,
                               .address = (uintptr_t)base->address};

    if (mock_mem_is_busy(base)) {
        mock_bad("host %u released registration %lu while it is in use",
                 md->host, (unsigned long)mem->number);
    }
    (void)mock_journal_add(&event);
    mock_world.hosts[md->host].pinned_bytes -= base->length;
    ucs_list_remove(&mem->link);
    free(mem);
}

size_t mock_rkey_pack(const struct uct_mem *base, uint8_t *bytes)
{
    const struct mock_mem *mem = ucs_container_of(base, struct mock_mem, base);

    memset(bytes, 0, MOCK_RKEY_BYTES);
    ucs_put_le32(bytes, MOCK_RKEY_MAGIC);
    ucs_put_le32(bytes + 4, mock_md_of(base->md)->device);
    ucs_put_le64(bytes + 8, mem->key);
    ucs_put_le64(bytes + 16, mock_key_check(mem->key));
    return MOCK_RKEY_BYTES;
}

ucs_status_t mock_rkey_unpack(struct uct_md *base, const uint8_t *bytes,
                              size_t size_bytes, struct uct_rkey **rkey_p)
{
    struct mock_md          *md    = mock_md_of(base);
    const struct mock_fault *fault = mock_fault_hit(MOCK_UNPACK_KEY, md->host);
    struct mock_rkey        *rkey;
    uint64_t                 key;

    if (fault != NULL) {
        return fault->status;
    }
    if ((size_bytes != MOCK_RKEY_BYTES) ||
        (ucs_get_le32(bytes) != MOCK_RKEY_MAGIC) ||
        (ucs_get_le32(bytes + 4) != md->device)) {
        return UCS_ERR_INVALID_PARAM;
    }
    key = ucs_get_le64(bytes + 8);
    if (ucs_get_le64(bytes + 16) != mock_key_check(key)) {
        return UCS_ERR_INVALID_PARAM;
    }
    rkey = calloc(1, sizeof(*rkey));
    if (rkey == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    rkey->base.md = base;
    rkey->key     = key;
    *rkey_p       = &rkey->base;
    return UCS_OK;
}

void mock_rkey_release(struct uct_rkey *rkey)
{
    free(ucs_container_of(rkey, struct mock_rkey, base));
}

static bool mock_is_inside(const struct uct_mem *mem, uint64_t address,
                           size_t length)
{
    uint64_t start = (uintptr_t)mem->address;

    return (address >= start) && (length <= mem->length) &&
           (address - start <= mem->length - length);
}

const struct mock_mem *mock_mem_allows(uint64_t                 key,
                                       const struct mock_iface *owner,
                                       uint64_t address, size_t length,
                                       unsigned access)
{
    const struct mock_mem *mem;

    ucs_list_for_each (mem, &mock_world.mems, link) {
        if ((mem->key == key) && (mem->base.md == owner->base.md) &&
            (mem->base.access & access) &&
            mock_is_inside(&mem->base, address, length)) {
            return mem;
        }
    }
    return NULL;
}

/* By looking for it: the pointer may be one that was released. */
static bool mock_mem_is_live(const struct mock_iface *self,
                             const struct uct_iov    *iov)
{
    struct mock_mem *mem;

    ucs_list_for_each (mem, &mock_world.mems, link) {
        if ((&mem->base == iov->mem) && (mem->base.md == self->base.md)) {
            if (mock_mem_is_stale(mem)) {
                mock_bad("host %u uses registration %lu of memory that is gone",
                         self->host, (unsigned long)mem->number);
            }
            return mock_is_inside(&mem->base, (uintptr_t)iov->buffer,
                                  iov->length);
        }
    }
    return false;
}

bool mock_mem_covers(const struct mock_iface *self, const struct uct_iov *iov,
                     unsigned iov_count)
{
    unsigned index;

    for (index = 0; index < iov_count; ++index) {
        if ((iov[index].length > 0) && !mock_mem_is_live(self, &iov[index])) {
            return false;
        }
    }
    return true;
}
