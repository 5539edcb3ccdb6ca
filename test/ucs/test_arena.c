/* SPDX-License-Identifier: BSD-3-Clause */
/* test_arena.c - pieces of different sizes out of one block. */
#include "ucs/arena.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/random_model.h"
#include "ucs/suites.h"

enum { BLOCK_BYTES = 4096 };

static struct ucs_arena arena;
static _Alignas(16) char block[BLOCK_BYTES + 16];

static void start(size_t shift, size_t size)
{
    ck_assert_int_eq(ucsi_arena_init(&arena, block + shift, size), UCS_OK);
}

static void init__refuses_what_holds_nothing(const struct test_param *param)
{
    (void)param;
    for (size_t size = 0; size < UCS_ARENA_OVERHEAD_BYTES; ++size) {
        ck_assert_int_eq(ucsi_arena_init(&arena, block, size),
                         UCS_ERR_BUFFER_TOO_SMALL);
    }
    ck_assert_int_eq(ucsi_arena_init(&arena, NULL, 0),
                     UCS_ERR_BUFFER_TOO_SMALL);
    for (size_t shift = 0; shift < 16; ++shift) {
        start(shift, UCS_ARENA_OVERHEAD_BYTES);
        ck_assert_ptr_nonnull(ucsi_arena_alloc(&arena, 0));
        ck_assert_ptr_null(ucsi_arena_alloc(&arena, 0));
    }
}

/* Every size of the first up to all there is; then one byte more. */
static void alloc__up_to_the_last_byte(const struct test_param *param)
{
    size_t capacity;
    void  *piece;

    (void)param;
    start(3, 1000);
    capacity = ucs_arena_capacity(&arena);
    for (size_t size = 0; size <= capacity; ++size) {
        piece = ucsi_arena_alloc(&arena, size);
        ck_assert_ptr_nonnull(piece);
        memset(piece, 0xff, size);
        ck_assert_uint_eq(arena.used_count, 1);
        ucsi_arena_free(&arena, piece);
        ck_assert_uint_eq(arena.used_bytes, 0);
    }
    ck_assert_ptr_null(ucsi_arena_alloc(&arena, capacity + 1));
    ck_assert_ptr_null(ucsi_arena_alloc(&arena, SIZE_MAX));
    ck_assert_ptr_null(ucsi_arena_alloc(&arena, SIZE_MAX - 16));
}

/* What a program counts on: sizes with the overhead sum up to the block. */
static void alloc__the_promised_sum_fits(const struct test_param *param)
{
    (void)param;
    for (int round = 0; round < 500; ++round) {
        size_t sizes[200];
        size_t count = 0, sum = 0;

        for (; count < 200; ++count) {
            sizes[count] = test_random_below(1 + test_random_below(300));
            sum += sizes[count] + UCS_ARENA_OVERHEAD_BYTES;
            if (sum > BLOCK_BYTES) {
                sum -= sizes[count] + UCS_ARENA_OVERHEAD_BYTES;
                break;
            }
        }
        start(test_random_below(16), sum);
        for (size_t i = 0; i < count; ++i) {
            ck_assert_ptr_nonnull(ucsi_arena_alloc(&arena, sizes[i]));
        }
    }
}

/* In turn: the memory that was freed last is used again. */
static void alloc__uses_warm_memory_again(const struct test_param *param)
{
    void *keep, *first;

    (void)param;
    start(0, BLOCK_BYTES);
    keep  = ucsi_arena_alloc(&arena, 100);
    first = ucsi_arena_alloc(&arena, 100);
    for (int i = 0; i < 100; ++i) {
        ucsi_arena_free(&arena, first);
        ck_assert_ptr_eq(ucsi_arena_alloc(&arena, 100), first);
    }
    ucsi_arena_free(&arena, keep);
}

/* Freed in any order, three neighbours are one again. */
static void free__joins_neighbours(const struct test_param *param)
{
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    (void)param;
    for (size_t order = 0; order < UCS_ARRAY_COUNT(orders); ++order) {
        void *pieces[3];

        start(0, BLOCK_BYTES);
        for (int i = 0; i < 3; ++i) {
            pieces[i] = ucsi_arena_alloc(&arena, BLOCK_BYTES / 3 - 64);
            ck_assert_ptr_nonnull(pieces[i]);
        }
        ck_assert_ptr_null(ucsi_arena_alloc(&arena, BLOCK_BYTES / 2));
        for (int i = 0; i < 3; ++i) {
            ucsi_arena_free(&arena, pieces[orders[order][i]]);
        }
        ck_assert_ptr_nonnull(
            ucsi_arena_alloc(&arena, ucs_arena_capacity(&arena)));
    }
}

static void random__agrees_with_the_model(const struct test_param *param)
{
    (void)param;
    run_random_model(model_arena, 3000);
}

static const struct test_case arena_cases[] = {
    TEST(init__refuses_what_holds_nothing),
    TEST(alloc__up_to_the_last_byte),
    TEST(alloc__the_promised_sum_fits),
    TEST(alloc__uses_warm_memory_again),
    TEST(free__joins_neighbours),
    TEST(random__agrees_with_the_model),
    {0},
};

const struct test_suite arena_suite = {.name = "arena", .cases = arena_cases};
