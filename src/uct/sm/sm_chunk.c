/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_chunk.c - take from the shared pool, and get back what a channel
 * had when it ended. */
#include "uct/sm/sm_chunk.h"

#include <string.h>

#include "ucs/assert.h"

void uct_sm_pool_init(struct uct_sm_pool *pool)
{
    unsigned index;

    for (index = 0; index < pool->chunk_count; ++index) {
        uct_sm_chunk_hint(pool, index);
    }
}

void uct_sm_chunk_user_init(struct uct_sm_chunk_user *user,
                            const struct uct_sm_pool *pool,
                            unsigned                  channel_index)
{
    memset(user, 0, sizeof(*user));
    user->channel_index = channel_index;
    /* All that hold, hold less than half of the pool: a quarter the first
     * few, another 3/16 those after them. */
    if (channel_index < pool->chunk_count / (4 * UCT_SM_HELD_COUNT_MAX)) {
        user->held_max = UCT_SM_HELD_COUNT_MAX;
    } else if (channel_index < pool->chunk_count / 8) {
        user->held_max = UCT_SM_HELD_COUNT_MAX / 4;
    }
    user->taken_max = ucs_max(1u, pool->chunk_count / 8);
}

/* Forget what the reader has given back meanwhile. */
static void chunk_user_look(const struct uct_sm_pool *pool,
                            struct uct_sm_chunk_user *user)
{
    unsigned word_index, chunk_index;
    uint64_t bits;

    for (word_index = 0; word_index < UCT_SM_HINT_WORD_COUNT; ++word_index) {
        for (bits = user->taken[word_index]; bits != 0; bits &= bits - 1) {
            chunk_index = word_index * 64 + (unsigned)__builtin_ctzll(bits);
            if (atomic_load_explicit(&pool->words[chunk_index].word,
                                     memory_order_relaxed) !=
                user->channel_index + 1) {
                user->taken[word_index] &= ~(bits & -bits);
                --user->taken_count;
            }
        }
    }
}

/* Take the chunk of a hint, if it is free. */
static bool chunk_take_hint(struct uct_sm_pool *pool, unsigned chunk_index,
                            uint32_t mine)
{
    uint64_t bit  = UINT64_C(1) << (chunk_index % 64);
    uint32_t free = 0;
    uint64_t before;

    before = atomic_fetch_and_explicit(&pool->hints[chunk_index / 64], ~bit,
                                       memory_order_relaxed);
    if (!(before & bit) || (chunk_index >= pool->chunk_count)) {
        return false;
    }
    /* TAKE: acquire, pairs with FREE. */
    return atomic_compare_exchange_strong_explicit(
        &pool->words[chunk_index].word, &free, mine, memory_order_acquire,
        memory_order_relaxed);
}

static unsigned chunk_take_any(struct uct_sm_pool *pool, uint32_t mine)
{
    unsigned tries = 0;
    unsigned word_index, chunk_index;
    uint64_t bits;

    for (word_index = 0; word_index * 64 < pool->chunk_count; ++word_index) {
        bits = atomic_load_explicit(&pool->hints[word_index],
                                    memory_order_relaxed);
        while ((bits != 0) && (tries++ < 2 * UCT_SM_CHUNK_COUNT_MAX)) {
            chunk_index = word_index * 64 + (unsigned)__builtin_ctzll(bits);
            if (chunk_take_hint(pool, chunk_index, mine)) {
                return chunk_index;
            }
            bits = atomic_load_explicit(&pool->hints[word_index],
                                        memory_order_relaxed);
        }
    }
    return UCT_SM_CHUNK_NONE;
}

unsigned uct_sm_chunk_take_slow(struct uct_sm_pool       *pool,
                                struct uct_sm_chunk_user *user)
{
    bool     is_held = user->held_count < user->held_max;
    uint32_t mine =
        (user->channel_index + 1) | (is_held ? (uint32_t)UCT_SM_CHUNK_HELD : 0);
    unsigned chunk_index;
    uint64_t bit;

    if (!is_held && (user->taken_count >= user->taken_max)) {
        chunk_user_look(pool, user);
        if (user->taken_count >= user->taken_max) {
            return UCT_SM_CHUNK_NONE;
        }
    }
    chunk_index = chunk_take_any(pool, mine);
    if (chunk_index == UCT_SM_CHUNK_NONE) {
        return UCT_SM_CHUNK_NONE;
    }
    bit = UINT64_C(1) << (chunk_index % 64);
    if (user->taken[chunk_index / 64] & bit) {
        user->taken[chunk_index / 64] &= ~bit; /* had been given back */
        --user->taken_count;
    }
    if (is_held) {
        user->held[user->held_count++] = (uint16_t)chunk_index;
    } else {
        user->taken[chunk_index / 64] |= bit;
        ++user->taken_count;
    }
    return chunk_index;
}

bool uct_sm_chunk_may_take(const struct uct_sm_pool *pool,
                           struct uct_sm_chunk_user *user)
{
    unsigned index;

    for (index = 0; index < user->held_count; ++index) {
        if (atomic_load_explicit(&pool->words[user->held[index]].word,
                                 memory_order_relaxed) &
            UCT_SM_CHUNK_RETURNED) {
            return true;
        }
    }
    if (user->held_count == user->held_max) {
        if (user->taken_count >= user->taken_max) {
            chunk_user_look(pool, user);
        }
        if (user->taken_count >= user->taken_max) {
            return false;
        }
    }
    for (index = 0; index * 64 < pool->chunk_count; ++index) {
        if (atomic_load_explicit(&pool->hints[index], memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

unsigned uct_sm_pool_reclaim(struct uct_sm_pool *pool, unsigned channel_index,
                             const uint64_t *kept)
{
    unsigned freed_count = 0;
    unsigned index;
    uint32_t word;

    for (index = 0; index < pool->chunk_count; ++index) {
        /* The sender's last stores came before its end was seen. */
        word = atomic_load_explicit(&pool->words[index].word,
                                    memory_order_acquire);
        if (word == 0) {
            uct_sm_chunk_hint(pool, index);
            continue;
        }
        if ((word & UCT_SM_CHUNK_OWNER_MASK) != channel_index + 1) {
            continue;
        }
        if (kept[index / 64] & (UINT64_C(1) << (index % 64))) {
            atomic_store_explicit(&pool->words[index].word, UCT_SM_CHUNK_ORPHAN,
                                  memory_order_relaxed);
            continue;
        }
        /* FREE, as in release. */
        atomic_store_explicit(&pool->words[index].word, 0,
                              memory_order_release);
        uct_sm_chunk_hint(pool, index);
        ++freed_count;
    }
    return freed_count;
}

unsigned uct_sm_pool_free_count(const struct uct_sm_pool *pool)
{
    unsigned free_count = 0;
    unsigned index;

    for (index = 0; index < pool->chunk_count; ++index) {
        free_count += (atomic_load_explicit(&pool->words[index].word,
                                            memory_order_relaxed) == 0);
    }
    return free_count;
}
