/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/test_sm_chunk.c - who has a chunk, and how it comes back. */
#include "uct/sm/sm_chunk.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "lib/test.h"
#include "uct/suites.h"

enum { CHUNK_COUNT = 64, CHUNK_BYTES = 4096 };

static uint8_t                  chunk_memory[CHUNK_COUNT * CHUNK_BYTES];
static struct uct_sm_chunk_word chunk_words[CHUNK_COUNT];
static _Atomic uint64_t         chunk_hints[UCT_SM_HINT_WORD_COUNT];
static struct uct_sm_pool       pool;
static const uint64_t           none_kept[UCT_SM_HINT_WORD_COUNT];

static void chunk_setup(const struct test_param *param)
{
    unsigned index;

    (void)param;
    memset(chunk_words, 0, sizeof(chunk_words));
    for (index = 0; index < UCT_SM_HINT_WORD_COUNT; ++index) {
        atomic_store(&chunk_hints[index], 0);
    }
    pool = (struct uct_sm_pool){
        .base        = chunk_memory,
        .words       = chunk_words,
        .hints       = chunk_hints,
        .chunk_count = CHUNK_COUNT,
        .chunk_bytes = CHUNK_BYTES,
    };
    uct_sm_pool_init(&pool);
}

static void
chunk__held_ones_come_back_to_the_sender(const struct test_param *param)
{
    struct uct_sm_chunk_user user;
    unsigned                 first, free_count;

    (void)param;
    uct_sm_chunk_user_init(&user, &pool, 0);
    ck_assert_uint_gt(user.held_max, 0);
    first = uct_sm_chunk_take(&pool, &user);
    ck_assert_uint_lt(first, CHUNK_COUNT);
    ck_assert(uct_sm_chunk_is_sent(&pool, first, 0));
    ck_assert(!uct_sm_chunk_is_sent(&pool, first, 1));
    free_count = uct_sm_pool_free_count(&pool);
    ck_assert_uint_eq(free_count, CHUNK_COUNT - 1);
    uct_sm_chunk_release(&pool, first);
    /* Not the pool's: the sender's. */
    ck_assert_uint_eq(uct_sm_pool_free_count(&pool), free_count);
    ck_assert(!uct_sm_chunk_is_sent(&pool, first, 0));
    ck_assert_uint_eq(uct_sm_chunk_take(&pool, &user), first);
}

static void chunk__one_sender_cannot_have_all(const struct test_param *param)
{
    struct uct_sm_chunk_user greedy, other;
    unsigned                 count = 0;

    (void)param;
    uct_sm_chunk_user_init(&greedy, &pool, 0);
    uct_sm_chunk_user_init(&other, &pool, 1);
    while (uct_sm_chunk_take(&pool, &greedy) != UCT_SM_CHUNK_NONE) {
        ++count;
    }
    ck_assert_uint_eq(count, greedy.held_max + greedy.taken_max);
    ck_assert(!uct_sm_chunk_may_take(&pool, &greedy));
    ck_assert(uct_sm_chunk_may_take(&pool, &other));
    ck_assert_uint_ne(uct_sm_chunk_take(&pool, &other), UCT_SM_CHUNK_NONE);
}

static void
chunk__all_senders_hold_less_than_half(const struct test_param *param)
{
    struct uct_sm_chunk_user user;
    unsigned                 held_count = 0;
    unsigned                 index;

    (void)param;
    for (index = 0; index < 1000; ++index) {
        uct_sm_chunk_user_init(&user, &pool, index);
        held_count += user.held_max;
        ck_assert_uint_gt(user.taken_max, 0);
    }
    ck_assert_uint_lt(held_count, CHUNK_COUNT / 2);
}

static void
chunk__taken_ones_go_back_to_the_pool(const struct test_param *param)
{
    struct uct_sm_chunk_user user;
    unsigned                 round, index;

    (void)param;
    uct_sm_chunk_user_init(&user, &pool, 500);
    ck_assert_uint_eq(user.held_max, 0);
    /* Many more than the limit, one after the other. */
    for (round = 0; round < 1000; ++round) {
        index = uct_sm_chunk_take(&pool, &user);
        ck_assert_uint_ne(index, UCT_SM_CHUNK_NONE);
        ck_assert_uint_eq(uct_sm_pool_free_count(&pool), CHUNK_COUNT - 1);
        uct_sm_chunk_release(&pool, index);
        ck_assert_uint_eq(uct_sm_pool_free_count(&pool), CHUNK_COUNT);
    }
}

static void
chunk__a_dead_senders_chunks_come_back(const struct test_param *param)
{
    struct uct_sm_chunk_user dead, alive;
    uint64_t                 kept[UCT_SM_HINT_WORD_COUNT] = {0};
    unsigned                 kept_index, alive_index;

    (void)param;
    uct_sm_chunk_user_init(&dead, &pool, 0);
    uct_sm_chunk_user_init(&alive, &pool, 1);
    kept_index  = uct_sm_chunk_take(&pool, &dead);
    alive_index = uct_sm_chunk_take(&pool, &alive);
    (void)uct_sm_chunk_take(&pool, &dead);
    (void)uct_sm_chunk_take(&pool, &dead);
    kept[kept_index / 64] |= UINT64_C(1) << (kept_index % 64);
    /* Killed between the hint and the word: the hint alone is lost. */
    atomic_fetch_and(&chunk_hints[0], ~(UINT64_C(1) << 40));
    ck_assert_uint_eq(uct_sm_pool_reclaim(&pool, 0, kept), 2);
    ck_assert_uint_eq(uct_sm_pool_free_count(&pool), CHUNK_COUNT - 2);
    ck_assert(atomic_load(&chunk_hints[0]) & (UINT64_C(1) << 40));
    ck_assert(uct_sm_chunk_is_sent(&pool, alive_index, 1));
    /* The next one with that number does not get what is still kept. */
    ck_assert(!uct_sm_chunk_is_sent(&pool, kept_index, 0));
    uct_sm_chunk_release(&pool, kept_index);
    ck_assert_uint_eq(uct_sm_pool_free_count(&pool), CHUNK_COUNT - 1);
    ck_assert_uint_eq(uct_sm_pool_reclaim(&pool, 1, none_kept), 1);
    ck_assert_uint_eq(uct_sm_pool_free_count(&pool), CHUNK_COUNT);
}

static void chunk__false_hints_do_no_harm(const struct test_param *param)
{
    struct uct_sm_chunk_user user;
    unsigned                 index;

    (void)param;
    for (index = 0; index < CHUNK_COUNT; ++index) {
        atomic_store(&chunk_words[index].word, 7);
    }
    for (index = 0; index < UCT_SM_HINT_WORD_COUNT; ++index) {
        atomic_store(&chunk_hints[index], UINT64_MAX);
    }
    uct_sm_chunk_user_init(&user, &pool, 0);
    ck_assert_uint_eq(uct_sm_chunk_take(&pool, &user), UCT_SM_CHUNK_NONE);
}

static void
chunk__numbers_from_outside_are_checked(const struct test_param *param)
{
    (void)param;
    ck_assert(!uct_sm_chunk_is_sent(&pool, CHUNK_COUNT, 0));
    ck_assert(!uct_sm_chunk_is_sent(&pool, UINT32_MAX, 0));
    ck_assert(!uct_sm_chunk_is_sent(&pool, 0, 0)); /* free */
}

/* Two senders and one reader in threads: a chunk has one user at a time. */
struct chunk_worker {
    unsigned channel_index;
    unsigned round_count;
};

static void *chunk_use_all(void *arg)
{
    const struct chunk_worker *worker = arg;
    struct uct_sm_chunk_user   user;
    unsigned                   round, index;
    uint8_t                   *data;

    uct_sm_chunk_user_init(&user, &pool, worker->channel_index);
    for (round = 0; round < worker->round_count;) {
        index = uct_sm_chunk_take(&pool, &user);
        if (index == UCT_SM_CHUNK_NONE) {
            (void)sched_yield();
            continue;
        }
        data = uct_sm_chunk_data(&pool, index);
        memset(data, (int)worker->channel_index, 64);
        if ((data[0] != worker->channel_index) ||
            (data[63] != worker->channel_index)) {
            ck_abort_msg("chunk %u has two users", index);
        }
        uct_sm_chunk_release(&pool, index);
        ++round;
    }
    return NULL;
}

static void chunk__two_threads(const struct test_param *param)
{
    /* Far beyond the first few channels: nothing is held, all is taken. */
    struct chunk_worker workers[2] = {{100, 100000}, {101, 100000}};
    pthread_t           thread;

    (void)param;
    ck_assert_int_eq(pthread_create(&thread, NULL, chunk_use_all, &workers[0]),
                     0);
    (void)chunk_use_all(&workers[1]);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_uint_eq(uct_sm_pool_free_count(&pool), CHUNK_COUNT);
}

static const struct test_case chunk_cases[] = {
    TEST(chunk__held_ones_come_back_to_the_sender),
    TEST(chunk__one_sender_cannot_have_all),
    TEST(chunk__all_senders_hold_less_than_half),
    TEST(chunk__taken_ones_go_back_to_the_pool),
    TEST(chunk__a_dead_senders_chunks_come_back),
    TEST(chunk__false_hints_do_no_harm),
    TEST(chunk__numbers_from_outside_are_checked),
    TEST(chunk__two_threads),
    {0},
};

const struct test_suite sm_chunk_suite = {
    .name  = "sm_chunk",
    .cases = chunk_cases,
    .setup = chunk_setup,
};
