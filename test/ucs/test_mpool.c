/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mpool.c - pool of elements of one size. */
#include "ucs/mpool.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ucs/random_model.h"
#include "ucs/suites.h"

static struct ucs_mpool pool;
static unsigned         init_count, cleanup_count;

static void count_init(struct ucs_mpool *owner, void *element)
{
    ck_assert_ptr_eq(owner, &pool);
    *(unsigned *)element = ++init_count;
}

static void count_cleanup(struct ucs_mpool *owner, void *element)
{
    (void)owner;
    (void)element;
    ++cleanup_count;
}

static void start(const struct ucs_mpool_params *params)
{
    ck_assert_int_eq(ucsi_mpool_init(&pool, params), UCS_OK);
}

static void init__refuses_bad_params(const struct test_param *param)
{
    static const struct ucs_mpool_params bad[] = {
        {.element_bytes = 0},
        {.element_bytes = SIZE_MAX},
        {.element_bytes = 8, .align_bytes = 4},
        {.element_bytes = 8, .align_bytes = 24},
        {.element_bytes = 8, .align_bytes = SIZE_MAX},
        {.element_bytes = 8, .align_offset_bytes = 4},
        {.element_bytes = 8, .align_offset_bytes = 16},
        {.element_bytes = 8, .element_count_max = UINT32_MAX},
    };
    size_t i;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(bad); ++i) {
        ck_assert_int_eq(ucsi_mpool_init(&pool, &bad[i]),
                         UCS_ERR_INVALID_PARAM);
    }
}

static void init__copies_the_name(const struct test_param *param)
{
    char                    name[] = "abc";
    struct ucs_mpool_params params = {.name = name, .element_bytes = 1};

    (void)param;
    start(&params);
    name[0] = 'x';
    ck_assert_str_eq(pool.params.name, "abc");
    ck_assert_uint_eq(ucsi_mpool_cleanup(&pool, true), 0);
}

static void get__aligned_where_asked(const struct test_param *param)
{
    static const size_t aligns[]  = {8, 16, 64, 4096};
    static const size_t offsets[] = {0, 8, 40, 72};
    uintptr_t           address;
    size_t              i, j;
    int                 k;

    (void)param;
    for (i = 0; i < UCS_ARRAY_COUNT(aligns); ++i) {
        for (j = 0; j < UCS_ARRAY_COUNT(offsets); ++j) {
            struct ucs_mpool_params params = {.element_bytes = 72,
                                              .chunk_count   = 3};

            params.align_bytes        = aligns[i];
            params.align_offset_bytes = offsets[j];
            start(&params);
            for (k = 0; k < 10; ++k) {
                address = (uintptr_t)ucs_mpool_get(&pool);
                ck_assert_uint_ne(address, 0);
                ck_assert_uint_eq((address + offsets[j]) % aligns[i], 0);
                memset((void *)address, k, 72);
            }
            ck_assert_uint_eq(ucsi_mpool_cleanup(&pool, false), 10);
        }
    }
}

static void get__last_put_comes_first(const struct test_param *param)
{
    struct ucs_mpool_params params = {.element_bytes = 24};
    void                   *first, *second;

    (void)param;
    start(&params);
    first  = ucs_mpool_get(&pool);
    second = ucs_mpool_get(&pool);
    ck_assert_ptr_ne(first, second);
    ck_assert_ptr_eq(ucs_mpool_of(first), &pool);
    ucs_mpool_put(first);
    ucs_mpool_put(second);
    ck_assert_ptr_eq(ucs_mpool_get(&pool), second);
    ck_assert_ptr_eq(ucs_mpool_get(&pool), first);
    ucs_mpool_put(first);
    ucs_mpool_put(second);
    ck_assert_uint_eq(ucsi_mpool_cleanup(&pool, true), 0);
}

static void get__bytes_survive_put(const struct test_param *param)
{
    struct ucs_mpool_params params = {.element_bytes = 64};
    char                   *element;
    int                     i;

    (void)param;
    start(&params);
    element = ucs_mpool_get(&pool);
    memset(element, 0x5a, 64);
    ucs_mpool_put(element);
    ck_assert_ptr_eq(ucs_mpool_get(&pool), element);
    for (i = 0; i < 64; ++i) {
        ck_assert_int_eq(element[i], 0x5a);
    }
    ucs_mpool_put(element);
    ck_assert_uint_eq(ucsi_mpool_cleanup(&pool, true), 0);
}

static void get__null_at_the_limit(const struct test_param *param)
{
    struct ucs_mpool_params params = {
        .element_bytes = 16, .chunk_count = 4, .element_count_max = 10};
    void *elements[10];
    int   i;

    (void)param;
    start(&params);
    for (i = 0; i < 10; ++i) {
        elements[i] = ucs_mpool_get(&pool);
        ck_assert_ptr_nonnull(elements[i]);
    }
    ck_assert_ptr_null(ucs_mpool_get(&pool));
    ucs_mpool_put(elements[3]);
    ck_assert_ptr_eq(ucs_mpool_get(&pool), elements[3]);
    ck_assert_ptr_null(ucs_mpool_get(&pool));
    ck_assert_uint_eq(ucsi_mpool_cleanup(&pool, false), 10);
}

static ucs_status_t refuse(struct ucs_mpool *owner, size_t size_bytes,
                           struct ucs_mpool_chunk *chunk)
{
    (void)owner;
    (void)size_bytes;
    (void)chunk;
    return UCS_ERR_NO_MEMORY;
}

static void get__null_without_memory(const struct test_param *param)
{
    static const struct ucs_mpool_chunk_ops ops = {refuse, NULL};
    struct ucs_mpool_params params = {.element_bytes = 16, .chunk_ops = &ops};

    (void)param;
    start(&params);
    ck_assert_ptr_null(ucs_mpool_get(&pool));
    ck_assert_int_eq(ucsi_mpool_reserve(&pool, 1), UCS_ERR_NO_MEMORY);
    ck_assert_uint_eq(ucsi_mpool_cleanup(&pool, true), 0);
}

static void element_init__once_for_each(const struct test_param *param)
{
    struct ucs_mpool_params params = {.element_bytes   = 8,
                                      .chunk_count     = 5,
                                      .element_init    = count_init,
                                      .element_cleanup = count_cleanup};
    void                   *element;
    int                     i;

    (void)param;
    start(&params);
    ck_assert_uint_eq(init_count, 0);
    for (i = 0; i < 20; ++i) {
        element = ucs_mpool_get(&pool);
        ck_assert_uint_eq(init_count, 5);
        ck_assert_uint_le(*(unsigned *)element, 5);
        ucs_mpool_put(element);
    }
    ck_assert_uint_eq(ucsi_mpool_cleanup(&pool, true), 0);
    ck_assert_uint_eq(cleanup_count, 5);
}

static void grow__doubles_within_bounds(const struct test_param *param)
{
    struct ucs_mpool_params params   = {.element_bytes = 1 << 20,
                                        .chunk_count   = 1};
    static const unsigned   counts[] = {1, 2, 4, 7, 10};
    size_t                  i;

    (void)param;
    start(&params);
    for (i = 0; i < UCS_ARRAY_COUNT(counts); ++i) {
        while (pool.element_count < counts[i]) {
            ck_assert_ptr_nonnull(ucs_mpool_get(&pool));
        }
        ck_assert_uint_eq(pool.element_count, counts[i]); /* by at most 4 MiB */
    }
    (void)ucsi_mpool_cleanup(&pool, false);
}

static void reserve__then_no_memory_is_needed(const struct test_param *param)
{
    struct ucs_mpool_params params = {
        .element_bytes = 100, .chunk_count = 4, .element_count_max = 1000};
    unsigned i;

    (void)param;
    start(&params);
    ck_assert_ptr_nonnull(ucs_mpool_get(&pool)); /* leaves 3 fresh ones */
    ck_assert_int_eq(ucsi_mpool_reserve(&pool, 1001), UCS_ERR_EXCEEDS_LIMIT);
    ck_assert_uint_eq(pool.element_count, 4);
    ck_assert_int_eq(ucsi_mpool_reserve(&pool, 500), UCS_OK);
    for (i = 1; i < 500; ++i) {
        ck_assert_ptr_nonnull(ucs_mpool_get(&pool));
    }
    ck_assert_uint_eq(pool.element_count, 500);
    ck_assert_uint_eq(ucsi_mpool_cleanup(&pool, false), 500);
}

/* 2 + 2 + 4 + 8 elements: one of the third chunk stays used, its chunk too,
 * and the first. */
static void trim__keeps_what_is_used(const struct test_param *param)
{
    struct ucs_mpool_params params = {.element_bytes = 100, .chunk_count = 2};
    void                   *elements[16], *used;
    unsigned                i;

    (void)param;
    start(&params);
    for (i = 0; i < 10; ++i) { /* the newest chunk has fresh ones */
        elements[i] = ucs_mpool_get(&pool);
    }
    ck_assert_uint_eq(pool.element_count, 16);
    used = elements[5];
    for (i = 0; i < 10; ++i) {
        if (elements[i] != used) {
            ucs_mpool_put(elements[i]);
        }
    }
    ck_assert_uint_gt(ucsi_mpool_trim(&pool), 900);
    ck_assert_uint_eq(pool.element_count, 6);
    ck_assert_uint_eq(ucsi_mpool_trim(&pool), 0);
    for (i = 0; i < 5; ++i) { /* all that are free, none twice */
        elements[i] = ucs_mpool_get(&pool);
        ck_assert_ptr_ne(elements[i], used);
        ck_assert_uint_eq(pool.element_count, 6);
    }
    ck_assert_ptr_nonnull(ucs_mpool_get(&pool)); /* grows as it did */
    ck_assert_uint_eq(pool.element_count, 12);
    ck_assert_uint_eq(ucsi_mpool_trim(&pool), 0);
    ck_assert_ptr_nonnull(ucs_mpool_get(&pool)); /* one of the fresh ones */
    ck_assert_uint_eq(pool.element_count, 12);
    ck_assert_uint_eq(ucsi_mpool_cleanup(&pool, false), 8);
}

static void trim__undoes_what_init_did(const struct test_param *param)
{
    struct ucs_mpool_params params = {.element_bytes   = 100,
                                      .chunk_count     = 2,
                                      .element_init    = count_init,
                                      .element_cleanup = count_cleanup};
    void                   *elements[4];
    unsigned                i;

    (void)param;
    init_count = cleanup_count = 0;
    start(&params);
    ck_assert_uint_eq(ucsi_mpool_trim(&pool), 0);
    for (i = 0; i < 4; ++i) {
        elements[i] = ucs_mpool_get(&pool);
    }
    for (i = 0; i < 4; ++i) {
        ucs_mpool_put(elements[i]);
    }
    ck_assert_uint_gt(ucsi_mpool_trim(&pool), 0);
    ck_assert_uint_eq(cleanup_count, 2);
    ck_assert_uint_eq(ucsi_mpool_cleanup(&pool, true), 0);
    ck_assert_uint_eq(cleanup_count, init_count);
}

/* Pages of a chunk that the kernel has had to provide. */
static unsigned resident_pages(void *memory, size_t size_bytes)
{
    static unsigned char map[1024];
    unsigned             count = 0;
    size_t               i;

    ck_assert_int_eq(mincore(memory, size_bytes, map), 0);
    for (i = 0; i < size_bytes / 4096; ++i) {
        count += map[i] & 1;
    }
    return count;
}

static void *chunk_memory;

static ucs_status_t map_chunk(struct ucs_mpool *owner, size_t size_bytes,
                              struct ucs_mpool_chunk *chunk)
{
    (void)owner;
    chunk->size_bytes = ucs_align_up(size_bytes, 4096);
    chunk->memory     = mmap(NULL, chunk->size_bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(chunk->memory, MAP_FAILED);
    chunk_memory = chunk->memory;
    return UCS_OK;
}

static void unmap_chunk(struct ucs_mpool *owner, struct ucs_mpool_chunk *chunk)
{
    (void)owner;
    ck_assert_int_eq(munmap(chunk->memory, chunk->size_bytes), 0);
    chunk_memory = NULL;
}

static void chunk__is_touched_on_first_use(const struct test_param *param)
{
    static const struct ucs_mpool_chunk_ops ops    = {map_chunk, unmap_chunk};
    struct ucs_mpool_params                 params = {
                        .element_bytes = 4096 - 8, .chunk_count = 100, .chunk_ops = &ops};
    unsigned before;

    (void)param;
    start(&params);
    ck_assert_int_eq(ucsi_mpool_reserve(&pool, 100), UCS_OK);
    before = resident_pages(chunk_memory, pool.chunks->size_bytes);
    ck_assert_uint_eq(before, 0);
    ck_assert_ptr_nonnull(ucs_mpool_get(&pool));
    ck_assert_ptr_nonnull(ucs_mpool_get(&pool));
    ck_assert_uint_le(resident_pages(chunk_memory, pool.chunks->size_bytes), 3);
    ck_assert_uint_eq(ucsi_mpool_cleanup(&pool, false), 2);
    ck_assert_ptr_null(chunk_memory);
}

static void cleanup__reports_leaks(const struct test_param *param)
{
    struct ucs_mpool_params params = {.name = "sieve", .element_bytes = 16};
    char                    text[256];
    int                     saved = dup(STDERR_FILENO);
    FILE                   *file  = tmpfile();

    (void)param;
    ck_assert_ptr_nonnull(file);
    start(&params);
    ck_assert_ptr_nonnull(ucs_mpool_get(&pool));
    ucs_mpool_put(ucs_mpool_get(&pool));
    ck_assert_ptr_nonnull(ucs_mpool_get(&pool));
    (void)dup2(fileno(file), STDERR_FILENO);
    ck_assert_uint_eq(ucsi_mpool_cleanup(&pool, true), 2);
    (void)dup2(saved, STDERR_FILENO);
    (void)close(saved);
    rewind(file);
    ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
    ck_assert_msg(strstr(text, "sieve: 2 ") != NULL, "%s", text);
    ck_assert_ptr_null(fgets(text, sizeof(text), file));
    (void)fclose(file);
}

/* In a child: does fn end it by a signal or a sanitizer's exit? */
static bool is_caught(void (*fn)(void))
{
    static const struct rlimit no_core = {0, 0};

    int   status;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        (void)setrlimit(RLIMIT_CORE, &no_core);
        (void)close(STDERR_FILENO);
        fn();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return !WIFEXITED(status) || (WEXITSTATUS(status) != 0);
}

static void put_twice(void)
{
    void *element = ucs_mpool_get(&pool);

    ucs_mpool_put(element);
    ucs_mpool_put(element);
}

static void write_free(void)
{
    char *volatile element = ucs_mpool_get(&pool);

    ucs_mpool_put(element);
    element[0] = 1;
}

static void put__twice_is_caught(const struct test_param *param)
{
    struct ucs_mpool_params params = {.element_bytes = 16};

    (void)param;
    start(&params);
    if (!UCS_ENABLE_ASSERT) {
        test_skip("this build has no assertions");
    }
    ck_assert(is_caught(put_twice));
    ck_assert_uint_eq(ucsi_mpool_cleanup(&pool, true), 0);
}

static void put__free_element_is_poisoned(const struct test_param *param)
{
    struct ucs_mpool_params params = {.element_bytes = 16};

    (void)param;
    if (!UCS_HAS_ASAN) {
        test_skip("this build has no AddressSanitizer");
    }
    start(&params);
    ck_assert(is_caught(write_free));
    ck_assert_uint_eq(ucsi_mpool_cleanup(&pool, true), 0);
    params.element_init = count_init;
    start(&params);
    ck_assert(!is_caught(write_free));
    ck_assert_uint_eq(ucsi_mpool_cleanup(&pool, true), 0);
}

static void random__like_what_was_written(const struct test_param *param)
{
    (void)param;
    run_random_model(model_mpool, 500);
}

static const struct test_case cases[] = {
    TEST(init__refuses_bad_params),
    TEST(init__copies_the_name),
    TEST(get__aligned_where_asked),
    TEST(get__last_put_comes_first),
    TEST(get__bytes_survive_put),
    TEST(get__null_at_the_limit),
    TEST(get__null_without_memory),
    TEST(element_init__once_for_each),
    TEST(grow__doubles_within_bounds),
    TEST(reserve__then_no_memory_is_needed),
    TEST(trim__keeps_what_is_used),
    TEST(trim__undoes_what_init_did),
    TEST(chunk__is_touched_on_first_use),
    TEST(cleanup__reports_leaks),
    TEST(put__twice_is_caught),
    TEST(put__free_element_is_poisoned),
    TEST(random__like_what_was_written),
    {0}};

const struct test_suite mpool_suite = {"mpool", cases, NULL, NULL, NULL};
