/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_chunk.h - the bulk buffers of a segment: messages that are too
 * long for a ring. The owner of the segment reads from them, all senders
 * share them.
 *
 *                 take (compare and swap)          message
 *      0: free ------------------------> mine ----------------> reader
 *        ^                                |                        |
 *        '---------- release -------------+--- or, for a HELD one -'
 *                                         v
 *                                 mine, RETURNED: the same sender's again
 *
 * One word per chunk decides who has it, and taking it is one atomic step, so
 * whatever a sender was doing when it was killed, the owner finds its chunks
 * and frees them. A bit map of hints says where free ones probably are; it
 * prefers low numbers, which are in the cache.
 *
 * A sender may hold a few chunks for good. They come back to it with a plain
 * store of the reader, so a steady stream of messages needs no locked
 * operation. All others go back to the pool.
 *
 * Limits, so that one sender cannot use up a pool: chunks in use by a channel
 * (the sender keeps to it), and chunks that the reader's user keeps
 * (sm_progress.c).
 *
 * Pure: memory that is given, no allocation, no system call. */
#ifndef UCT_SM_CHUNK_H_
#define UCT_SM_CHUNK_H_

#include "uct/sm/sm_wire.h"

/* A chunk's word: 0 when free, else channel index + 1 and flags. */
enum uct_sm_chunk_flag {
    UCT_SM_CHUNK_OWNER_MASK = 0xffff,
    /* The owner of the segment itself: its channel has ended. */
    UCT_SM_CHUNK_ORPHAN   = 0xffff,
    UCT_SM_CHUNK_HELD     = 1 << 16, /* goes back to the sender */
    UCT_SM_CHUNK_RETURNED = 1 << 17, /* and is there */
};

enum uct_sm_chunk_limit {
    UCT_SM_HELD_COUNT_MAX = 8, /* 1 KiB: 46 ns a message, 55 with 4 */
    UCT_SM_CHUNK_NONE     = UINT16_MAX,
};

/* A pool as one process sees it. base, words and hints are shared; the rest
 * was checked when the segment was mapped.
 * backed  a bit for each chunk that this process knows to have memory */
struct uct_sm_pool {
    uint8_t                  *base;
    struct uct_sm_chunk_word *words;
    _Atomic uint64_t         *hints;
    unsigned                  chunk_count;
    uint32_t                  chunk_bytes;
    uint64_t                  backed[UCT_SM_HINT_WORD_COUNT];
};

/* What one sender has of a pool.
 * channel_index  whose
 * held_count     entries of held
 * held_max       how many it may hold
 * taken_count    bits set in taken: chunks in use, or given back meanwhile
 * taken_max      how many it may use besides those held
 * held, taken    chunk numbers; a bit for each chunk */
struct uct_sm_chunk_user {
    unsigned channel_index;
    unsigned held_count;
    unsigned held_max;
    unsigned taken_count;
    unsigned taken_max;
    uint16_t held[UCT_SM_HELD_COUNT_MAX];
    uint64_t taken[UCT_SM_HINT_WORD_COUNT];
};

static inline uint8_t *uct_sm_chunk_data(const struct uct_sm_pool *pool,
                                         unsigned                  chunk_index)
{
    return pool->base +
           (size_t)chunk_index * uct_sm_chunk_stride(pool->chunk_bytes);
}

/* The owner, before anyone else sees the pool: all chunks are free. */
void uct_sm_pool_init(struct uct_sm_pool *pool);

/* Begin with nothing. A large share of the pool stays for everybody: held_max
 * is 0 for a channel_index beyond the first few. */
void uct_sm_chunk_user_init(struct uct_sm_chunk_user *user,
                            const struct uct_sm_pool *pool,
                            unsigned                  channel_index);

/* The slow half of take. */
unsigned uct_sm_chunk_take_slow(struct uct_sm_pool       *pool,
                                struct uct_sm_chunk_user *user);

/* Take a chunk.
 * @return its number; UCT_SM_CHUNK_NONE: the pool is empty, or this sender
 *         has as many as it may have. */
static inline unsigned uct_sm_chunk_take(struct uct_sm_pool       *pool,
                                         struct uct_sm_chunk_user *user)
{
    uint32_t          mine = (user->channel_index + 1) | UCT_SM_CHUNK_HELD;
    _Atomic uint32_t *word;
    unsigned          slot;

    for (slot = 0; slot < user->held_count; ++slot) {
        word = &pool->words[user->held[slot]].word;
        /* AGAIN: acquire, pairs with RETURN: the reader is done. */
        if (atomic_load_explicit(word, memory_order_acquire) ==
            (mine | UCT_SM_CHUNK_RETURNED)) {
            /* The reader sees it with the message that names the chunk. */
            atomic_store_explicit(word, mine, memory_order_relaxed);
            return user->held[slot];
        }
    }
    return uct_sm_chunk_take_slow(pool, user);
}

/* Will take probably find one? */
bool uct_sm_chunk_may_take(const struct uct_sm_pool *pool,
                           struct uct_sm_chunk_user *user);

/* The reader: is this chunk the sender's, who may name it in a message? */
static inline bool uct_sm_chunk_is_sent(const struct uct_sm_pool *pool,
                                        unsigned                  chunk_index,
                                        unsigned                  channel_index)
{
    uint32_t word;

    if (chunk_index >= pool->chunk_count) {
        return false;
    }
    word = atomic_load_explicit(&pool->words[chunk_index].word,
                                memory_order_relaxed);
    return (word & ~(uint32_t)UCT_SM_CHUNK_HELD) == channel_index + 1;
}

/* Put a free chunk on the list of hints. */
static inline void uct_sm_chunk_hint(struct uct_sm_pool *pool,
                                     unsigned            chunk_index)
{
    /* Only a hint; FREE below orders the contents. */
    atomic_fetch_or_explicit(&pool->hints[chunk_index / 64],
                             UINT64_C(1) << (chunk_index % 64),
                             memory_order_relaxed);
}

/* The reader is done with a chunk. */
static inline void uct_sm_chunk_release(struct uct_sm_pool *pool,
                                        unsigned            chunk_index)
{
    _Atomic uint32_t *word  = &pool->words[chunk_index].word;
    uint32_t          value = atomic_load_explicit(word, memory_order_relaxed);

    if (ucs_likely(value & UCT_SM_CHUNK_HELD)) {
        /* RETURN: release, pairs with AGAIN. */
        atomic_store_explicit(word, value | UCT_SM_CHUNK_RETURNED,
                              memory_order_release);
        return;
    }
    /* FREE: release, pairs with TAKE in sm_chunk.c. */
    atomic_store_explicit(word, 0, memory_order_release);
    uct_sm_chunk_hint(pool, chunk_index);
}

/* The owner: a channel has ended and its messages were read. Free what its
 * sender had; what is in `kept` (a bit for each chunk) is freed when it is
 * released. Also finds what a killed sender had taken from the hints only.
 * @return how many were freed. */
unsigned uct_sm_pool_reclaim(struct uct_sm_pool *pool, unsigned channel_index,
                             const uint64_t *kept);

/* Count the free chunks; for tests and reports. */
unsigned uct_sm_pool_free_count(const struct uct_sm_pool *pool);

#endif
