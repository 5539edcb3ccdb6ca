/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_segment.c - memfd, seals, pages, claims. */
#include "uct/sm/sm_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ucs/log.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* Linux 6.3 */
#endif

enum { SEGMENT_SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

void uct_sm_layout_init(struct uct_sm_layout *layout, size_t chunk_count,
                        size_t chunk_bytes)
{
    layout->directory = UCT_SM_PAGE_BYTES;
    layout->words     = layout->directory +
                    UCT_SM_CHANNEL_COUNT_MAX * sizeof(struct uct_sm_entry);
    layout->chunks =
        layout->words +
        ucs_align_up(chunk_count * sizeof(struct uct_sm_chunk_word),
                     UCT_SM_PAGE_BYTES);
    layout->rings = layout->chunks +
                    ucs_align_up(chunk_count * uct_sm_chunk_stride(chunk_bytes),
                                 (size_t)UCT_SM_PAGE_BYTES);
    layout->end =
        layout->rings + (size_t)UCT_SM_CHANNEL_COUNT_MAX * UCT_SM_RING_BYTES;
}

bool uct_sm_identity_is_ok(const struct uct_sm_identity *identity)
{
    return (identity->magic == UCT_SM_MAGIC) &&
           (identity->layout_version == UCT_SM_LAYOUT_VERSION) &&
           (identity->chunk_count >= 1) &&
           (identity->chunk_count <= UCT_SM_CHUNK_COUNT_MAX) &&
           (identity->chunk_bytes >= UCT_SM_PAGE_BYTES) &&
           (identity->chunk_bytes <= UCT_SM_CHUNK_BYTES_MAX) &&
           (identity->chunk_bytes % UCT_SM_PAGE_BYTES == 0);
}

static ucs_status_t segment_no_memory(size_t length)
{
    ucs_error("sm: %zu bytes of shared memory cannot be allocated: %m; the "
              "limit is the memory of this host or container, "
              "UCX_SM_CHUNK_COUNT makes the need smaller",
              length);
    return UCS_ERR_NO_MEMORY;
}

/* Allocate [offset, offset + length), whole pages. */
static ucs_status_t segment_allocate(int fd, size_t offset, size_t length)
{
    int result;

    do {
        result = fallocate(fd, 0, (off_t)offset, (off_t)length);
    } while ((result != 0) && (errno == EINTR));
    if (result == 0) {
        return UCS_OK;
    }
    return segment_no_memory(length);
}

/* A file longer than RLIMIT_FSIZE is not refused but a signal. */
static bool segment_may_be_long(size_t length)
{
    struct rlimit limit;

    if ((getrlimit(RLIMIT_FSIZE, &limit) != 0) ||
        (limit.rlim_cur == RLIM_INFINITY) || (limit.rlim_cur >= length)) {
        return true;
    }
    ucs_error("sm: a segment of %zu bytes is longer than a file may be; see "
              "`ulimit -f`",
              length);
    return false;
}

static int segment_create_fd(void)
{
    int fd = memfd_create("causeway-sm",
                          MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

    if ((fd < 0) && (errno == EINVAL)) { /* older than Linux 6.3 */
        fd = memfd_create("causeway-sm", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    }
    return fd;
}

static void segment_fill(struct uct_sm_segment        *segment,
                         const struct uct_sm_identity *identity)
{
    segment->header  = (void *)segment->base;
    segment->entries = (void *)(segment->base + segment->layout.directory);
    segment->pool    = (struct uct_sm_pool){
           .base        = segment->base + segment->layout.chunks,
           .words       = (void *)(segment->base + segment->layout.words),
           .hints       = segment->header->hint,
           .chunk_count = identity->chunk_count,
           .chunk_bytes = identity->chunk_bytes,
    };
    uct_sm_pool_init(&segment->pool);
    atomic_init(&segment->header->bell_fd, -1);
    atomic_init(&segment->header->alive, UCT_SM_ALIVE);
    /* Nobody knows of the segment before this process tells them. */
    segment->header->identity                = *identity;
    segment->header->identity.magic          = UCT_SM_MAGIC;
    segment->header->identity.layout_version = UCT_SM_LAYOUT_VERSION;
    segment->header->identity.owner_address  = (uintptr_t)segment->base;
}

ucs_status_t uct_sm_segment_open(struct uct_sm_segment        *segment,
                                 const struct uct_sm_identity *identity)
{
    struct uct_sm_layout *layout = &segment->layout;
    ucs_status_t          status = UCS_ERR_NO_MEMORY;

    uct_sm_layout_init(layout, identity->chunk_count, identity->chunk_bytes);
    if (!segment_may_be_long(layout->end)) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    segment->fd = segment_create_fd();
    if (segment->fd < 0) {
        ucs_error("sm: memfd_create: %m; see `ulimit -n` if there are too "
                  "many open files");
        return (errno == ENOMEM) ? UCS_ERR_NO_MEMORY : UCS_ERR_EXCEEDS_LIMIT;
    }
    if ((fchmod(segment->fd, S_IRUSR | S_IWUSR) != 0) ||
        (ftruncate(segment->fd, (off_t)layout->end) != 0) ||
        (fcntl(segment->fd, F_ADD_SEALS, SEGMENT_SEALS) != 0)) {
        ucs_error("sm: a segment of %zu bytes cannot be set up: %m",
                  layout->end);
        status = UCS_ERR_IO_ERROR;
        goto close_fd;
    }
    status = segment_allocate(segment->fd, 0, UCT_SM_PAGE_BYTES);
    if (status != UCS_OK) {
        goto close_fd;
    }
    status = segment_allocate(segment->fd, layout->words,
                              layout->chunks - layout->words);
    if (status != UCS_OK) {
        goto close_fd;
    }
    segment->base = mmap(NULL, layout->end, PROT_READ | PROT_WRITE, MAP_SHARED,
                         segment->fd, 0);
    if (segment->base == MAP_FAILED) {
        ucs_error("sm: mmap of %zu bytes: %m; see `ulimit -v`", layout->end);
        status = UCS_ERR_NO_MEMORY;
        goto close_fd;
    }
    segment_fill(segment, identity);
    return UCS_OK;

close_fd:
    (void)close(segment->fd);
    return status;
}

void uct_sm_segment_close(struct uct_sm_segment *segment)
{
    (void)munmap(segment->base, segment->layout.end);
    (void)close(segment->fd);
}

ucs_status_t uct_sm_layout_allocate_entry(const struct uct_sm_layout *layout,
                                          int fd, unsigned channel_index)
{
    size_t offset =
        layout->directory + channel_index * sizeof(struct uct_sm_entry);

    return segment_allocate(fd, offset - offset % UCT_SM_PAGE_BYTES,
                            UCT_SM_PAGE_BYTES);
}

ucs_status_t uct_sm_layout_allocate_channel(const struct uct_sm_layout *layout,
                                            int fd, unsigned channel_index)
{
    return segment_allocate(
        fd, layout->rings + (size_t)channel_index * UCT_SM_RING_BYTES,
        UCT_SM_RING_BYTES);
}

ucs_status_t uct_sm_pool_prepare(struct uct_sm_pool         *pool,
                                 const struct uct_sm_layout *layout, int fd)
{
    ucs_status_t status;

    /* A page that has memory anyway shows whether the kernel can do it. */
    if (madvise(pool->words, UCT_SM_PAGE_BYTES, MADV_POPULATE_WRITE) == 0) {
        return UCS_OK;
    }
    /* Allocating again what is there costs a millisecond, looking does not. */
    if (lseek(fd, (off_t)layout->chunks, SEEK_HOLE) < (off_t)layout->rings) {
        status = segment_allocate(fd, layout->chunks,
                                  layout->rings - layout->chunks);
        if (status != UCS_OK) {
            return status;
        }
    }
    memset(pool->backed, 0xff, sizeof(pool->backed));
    return UCS_OK;
}

bool uct_sm_chunk_back_slow(struct uct_sm_pool *pool, unsigned chunk_index)
{
    uint8_t *chunk = uct_sm_chunk_data(pool, chunk_index);
    uint8_t *first = chunk - (uintptr_t)chunk % UCT_SM_PAGE_BYTES;
    size_t   length =
        (size_t)(chunk - first) + uct_sm_chunk_stride(pool->chunk_bytes);

    if (madvise(first, length, MADV_POPULATE_WRITE) != 0) {
        (void)segment_no_memory(length);
        return false;
    }
    pool->backed[chunk_index / 64] |= UINT64_C(1) << (chunk_index % 64);
    return true;
}

ucs_status_t uct_sm_segment_identify(int fd, struct uct_sm_identity *identity_p)
{
    struct uct_sm_identity identity;
    struct uct_sm_layout   layout;
    struct stat            stat;
    int                    seals;

    if ((fstat(fd, &stat) != 0) || !S_ISREG(stat.st_mode)) {
        return UCS_ERR_INVALID_ADDR;
    }
    seals = fcntl(fd, F_GET_SEALS);
    if ((seals < 0) || ((seals & SEGMENT_SEALS) != SEGMENT_SEALS)) {
        return UCS_ERR_INVALID_ADDR;
    }
    if (pread(fd, &identity, sizeof(identity), 0) !=
        (ssize_t)sizeof(identity)) {
        return UCS_ERR_INVALID_ADDR;
    }
    if (!uct_sm_identity_is_ok(&identity)) {
        return UCS_ERR_INVALID_ADDR;
    }
    uct_sm_layout_init(&layout, identity.chunk_count, identity.chunk_bytes);
    if ((size_t)stat.st_size != layout.end) {
        return UCS_ERR_INVALID_ADDR;
    }
    *identity_p = identity;
    return UCS_OK;
}

/* Make entry `index` ours, if it is free. The ring is all zero then. */
static bool mapping_try_claim(struct uct_sm_mapping *mapping, unsigned index,
                              const struct uct_sm_sender *sender)
{
    struct uct_sm_entry *entry =
        (struct uct_sm_entry *)(void *)(mapping->base +
                                        mapping->layout.directory) +
        index;
    /* The pid of another namespace says nothing here. */
    uint64_t pid = sender->by_socket ? 0 : (uint64_t)(uint32_t)sender->pid << 8;
    uint64_t state       = UCT_SM_CHANNEL_FREE;
    uint32_t entry_count = atomic_load_explicit(&mapping->header->entry_count,
                                                memory_order_relaxed);

    /* CLAIM: acquire, pairs with GIVE BACK in sm_channel.c: the ring was
     * cleared. */
    if (!atomic_compare_exchange_strong_explicit(
            &entry->state, &state, pid | UCT_SM_CHANNEL_CLAIMED,
            memory_order_acquire, memory_order_relaxed)) {
        return false;
    }
    while ((entry_count <= index) &&
           !atomic_compare_exchange_weak_explicit(
               &mapping->header->entry_count, &entry_count, index + 1,
               memory_order_relaxed, memory_order_relaxed)) {
    }
    (void)atomic_fetch_add_explicit(&mapping->header->claim_count, 1,
                                    memory_order_relaxed);
    atomic_store_explicit(&entry->room_wanted, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->bell_fd, -1, memory_order_relaxed);
    entry->sender = *sender;
    /* FILLED: release, pairs with MEET in sm_channel.c: the owner sees who. */
    atomic_store_explicit(&entry->state, pid | UCT_SM_CHANNEL_OPEN,
                          memory_order_release);
    mapping->entry         = entry;
    mapping->channel_index = index;
    return true;
}

/* Find a free channel, allocate its pages, claim it. */
static ucs_status_t mapping_claim(struct uct_sm_mapping *mapping, int fd,
                                  const struct uct_sm_sender *sender)
{
    unsigned page_entries =
        UCT_SM_PAGE_BYTES / (unsigned)sizeof(struct uct_sm_entry);
    struct uct_sm_entry *entries =
        (void *)(mapping->base + mapping->layout.directory);
    ucs_status_t status;
    unsigned     index;

    status = uct_sm_pool_prepare(&mapping->pool, &mapping->layout, fd);
    if (status != UCS_OK) {
        return status;
    }
    for (index = 0; index < UCT_SM_CHANNEL_COUNT_MAX; ++index) {
        if (index % page_entries == 0) {
            status = uct_sm_layout_allocate_entry(&mapping->layout, fd, index);
            if (status != UCS_OK) {
                return status;
            }
        }
        if (atomic_load_explicit(&entries[index].state, memory_order_relaxed) !=
            UCT_SM_CHANNEL_FREE) {
            continue;
        }
        status = uct_sm_layout_allocate_channel(&mapping->layout, fd, index);
        if (status != UCS_OK) {
            return status;
        }
        if (mapping_try_claim(mapping, index, sender)) {
            return UCS_OK;
        }
    }
    ucs_error("sm: process %d has %d senders already, its limit",
              (int)mapping->identity.pid, (int)UCT_SM_CHANNEL_COUNT_MAX);
    return UCS_ERR_EXCEEDS_LIMIT;
}

static void *mapping_map(int fd, size_t offset, size_t length)
{
    void *base = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                      (off_t)offset);

    if (base == MAP_FAILED) {
        ucs_error("sm: mmap of %zu bytes of another process's segment: %m; "
                  "see `ulimit -v` and sysctl vm.max_map_count",
                  length);
        return NULL;
    }
    return base;
}

ucs_status_t uct_sm_mapping_open(struct uct_sm_mapping *mapping, int fd,
                                 const struct uct_sm_identity *identity,
                                 const struct uct_sm_sender   *sender)
{
    struct uct_sm_layout *layout = &mapping->layout;
    ucs_status_t          status;

    mapping->identity = *identity;
    uct_sm_layout_init(layout, identity->chunk_count, identity->chunk_bytes);
    mapping->base = mapping_map(fd, 0, layout->rings);
    if (mapping->base == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    mapping->header = (void *)mapping->base;
    mapping->pool   = (struct uct_sm_pool){
          .base        = mapping->base + layout->chunks,
          .words       = (void *)(mapping->base + layout->words),
          .hints       = mapping->header->hint,
          .chunk_count = identity->chunk_count,
          .chunk_bytes = identity->chunk_bytes,
    };
    if (atomic_load_explicit(&mapping->header->alive, memory_order_relaxed) !=
        UCT_SM_ALIVE) {
        status = UCS_ERR_CONNECTION_RESET;
        goto unmap_base;
    }
    status = mapping_claim(mapping, fd, sender);
    if (status != UCS_OK) {
        goto unmap_base;
    }
    mapping->ring = mapping_map(
        fd, layout->rings + (size_t)mapping->channel_index * UCT_SM_RING_BYTES,
        UCT_SM_RING_BYTES);
    if (mapping->ring == NULL) {
        status = UCS_ERR_NO_MEMORY;
        goto leave_channel;
    }
    return UCS_OK;

leave_channel:
    /* Nothing was sent. The owner finds it with its next look (claim_count),
     * or when it meets the next sender. */
    atomic_store_explicit(&mapping->entry->state,
                          (uint64_t)(uint32_t)sender->pid << 8 |
                              UCT_SM_CHANNEL_CLOSED,
                          memory_order_release);
unmap_base:
    (void)munmap(mapping->base, layout->rings);
    return status;
}

void uct_sm_mapping_close(struct uct_sm_mapping *mapping)
{
    (void)munmap(mapping->ring, UCT_SM_RING_BYTES);
    (void)munmap(mapping->base, mapping->layout.rings);
}
