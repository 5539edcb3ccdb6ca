/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_segment.h - make the segment of an interface; map another one's.
 *
 * A memfd, sealed against any change of its size, so nobody who maps it can be
 * hurt by another one cutting it. A page is allocated (fallocate) before
 * anyone touches it, so no access runs out of memory: whoever needs a page and
 * cannot have it gets UCS_ERR_NO_MEMORY. Nothing has a name in a file system,
 * and everything is gone with the last process that has it open.
 *
 * Chunks get theirs when they are first used (docs/adr/0039): a worker that is
 * sent short messages only needs none. */
#ifndef UCT_SM_SEGMENT_H_
#define UCT_SM_SEGMENT_H_

#include "ucs/type/status.h"
#include "uct/sm/sm_chunk.h"
#include "uct/sm/sm_ring.h"

/* Where the parts begin, in bytes; follows from the identity alone. */
struct uct_sm_layout {
    size_t directory;
    size_t words;
    size_t chunks;
    size_t rings;
    size_t end;
};

/* The owner's view: all of it.
 * fd  the memfd; others open it through /proc or get it over the socket */
struct uct_sm_segment {
    int                   fd;
    uint8_t              *base;
    struct uct_sm_layout  layout;
    struct uct_sm_header *header;
    struct uct_sm_entry  *entries; /* [UCT_SM_CHANNEL_COUNT_MAX] */
    struct uct_sm_pool    pool;
};

/* A sender's view: everything but the rings, and one ring.
 * identity  copied and checked */
struct uct_sm_mapping {
    struct uct_sm_identity identity;
    struct uct_sm_layout   layout;
    uint8_t               *base; /* [layout.rings] */
    uint8_t               *ring; /* [UCT_SM_RING_BYTES] */
    struct uct_sm_header  *header;
    struct uct_sm_entry   *entry;
    unsigned               channel_index;
    struct uct_sm_pool     pool;
};

/* Is this the identity of a segment that this code can use? */
bool uct_sm_identity_is_ok(const struct uct_sm_identity *identity);

void uct_sm_layout_init(struct uct_sm_layout *layout, size_t chunk_count,
                        size_t chunk_bytes);

/* Make a segment without channels. The identity's magic and version are
 * filled in here.
 * @return UCS_OK; UCS_ERR_NO_MEMORY, UCS_ERR_EXCEEDS_LIMIT,
 *         UCS_ERR_IO_ERROR: logged, nothing to close. */
UCS_MUST_USE ucs_status_t uct_sm_segment_open(
    struct uct_sm_segment *segment, const struct uct_sm_identity *identity);

void uct_sm_segment_close(struct uct_sm_segment *segment);

/* Allocate the pages of a channel's entry, or of its ring.
 * @return UCS_OK; UCS_ERR_NO_MEMORY: logged. */
UCS_MUST_USE ucs_status_t uct_sm_layout_allocate_entry(
    const struct uct_sm_layout *layout, int fd, unsigned channel_index);
UCS_MUST_USE ucs_status_t uct_sm_layout_allocate_channel(
    const struct uct_sm_layout *layout, int fd, unsigned channel_index);

/* Before a pool is used. Where the kernel cannot give memory to single chunks
 * (before Linux 5.14), allocate them all.
 * @return UCS_OK; UCS_ERR_NO_MEMORY: logged. */
UCS_MUST_USE ucs_status_t uct_sm_pool_prepare(
    struct uct_sm_pool *pool, const struct uct_sm_layout *layout, int fd);

/* The slow half of uct_sm_chunk_back. */
UCS_MUST_USE bool uct_sm_chunk_back_slow(struct uct_sm_pool *pool,
                                         unsigned            chunk_index);

/* Before a chunk is first touched: see that it has memory.
 * @return false: there is none, logged. */
UCS_MUST_USE static inline bool uct_sm_chunk_back(struct uct_sm_pool *pool,
                                                  unsigned chunk_index)
{
    return ucs_likely(pool->backed[chunk_index / 64] >> (chunk_index % 64) &
                      1) ||
           uct_sm_chunk_back_slow(pool, chunk_index);
}

/* Read and check the identity of an open descriptor: size, seals, contents.
 * @return UCS_OK; UCS_ERR_INVALID_ADDR: not a segment of ours, not logged. */
UCS_MUST_USE ucs_status_t
uct_sm_segment_identify(int fd, struct uct_sm_identity *identity_p);

/* Map a segment that was identified and claim a channel in it.
 * @param sender  Who we are: goes into the channel's entry.
 * @return UCS_OK, the descriptor may be closed;
 *         UCS_ERR_NO_MEMORY (logged), UCS_ERR_EXCEEDS_LIMIT: all channels are
 *         used (logged), UCS_ERR_CONNECTION_RESET: the owner has left;
 *         nothing is mapped. */
UCS_MUST_USE ucs_status_t uct_sm_mapping_open(
    struct uct_sm_mapping *mapping, int fd,
    const struct uct_sm_identity *identity, const struct uct_sm_sender *sender);

/* Unmap; the channel stays as it is. */
void uct_sm_mapping_close(struct uct_sm_mapping *mapping);

static inline uint8_t *uct_sm_segment_ring(const struct uct_sm_segment *segment,
                                           unsigned channel_index)
{
    return segment->base + segment->layout.rings +
           (size_t)channel_index * UCT_SM_RING_BYTES;
}

#endif
