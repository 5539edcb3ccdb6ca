/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mem.c - src/ucp/core/mem.c, entry/mem.c: memory handles. */
#include "ucp/core/mem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucp/counting_md.h"
#include "ucp/suites.h"
#include "ucs/log_capture.h"

static ucp_context_h context;
static char          memory[8192];

static void open_context(bool is_shared)
{
    const ucp_params_t params = {
        .field_mask =
            UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED,
        .features          = UCP_FEATURE_TAG,
        .mt_workers_shared = is_shared,
    };

    ck_assert_int_eq(ucp_init(&params, NULL, &context), UCS_OK);
}

static void setup(const struct test_param *param)
{
    (void)param;
    open_context(false);
}

static void teardown(const struct test_param *param)
{
    (void)param;
    ucp_cleanup(context);
}

static ucs_status_t map(void *address, size_t length, unsigned flags,
                        ucp_mem_h *mem_p)
{
    const ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_FLAGS,
        .address = address,
        .length  = length,
        .flags   = flags,
    };

    return ucp_mem_map(context, &params, mem_p);
}

static ucp_mem_attr_t attr_of(ucp_mem_h mem)
{
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS |
                                         UCP_MEM_ATTR_FIELD_LENGTH |
                                         UCP_MEM_ATTR_FIELD_MEM_TYPE};

    ck_assert_int_eq(ucp_mem_query(mem, &attr), UCS_OK);
    ck_assert_int_eq(attr.mem_type, UCS_MEMORY_TYPE_HOST);
    return attr;
}

static void unmap(ucp_mem_h mem)
{
    ck_assert_int_eq(ucp_mem_unmap(context, mem), UCS_OK);
}

static void map__memory_of_the_user(const struct test_param *param)
{
    ucp_mem_h mem;

    (void)param;
    memory[17] = 'x';
    ck_assert_int_eq(map(memory + 1, 100, UCP_MEM_MAP_NONBLOCK, &mem), UCS_OK);
    ck_assert_ptr_eq(attr_of(mem).address, memory + 1);
    ck_assert_uint_eq(attr_of(mem).length, 100);
    unmap(mem);
    ck_assert_int_eq(memory[17], 'x');
}

/* Zeroed, writable, gone after unmap. */
static void map__allocates(const struct test_param *param)
{
    static const size_t lengths[] = {1, 4096, 10000, (3 << 20) + 1};

    (void)param;
    for (size_t i = 0; i < UCS_ARRAY_COUNT(lengths); ++i) {
        ucp_mem_h      mem;
        ucp_mem_attr_t attr;
        char          *bytes;

        ck_assert_int_eq(map(NULL, lengths[i], UCP_MEM_MAP_ALLOCATE, &mem),
                         UCS_OK);
        attr  = attr_of(mem);
        bytes = attr.address;
        ck_assert_uint_ge(attr.length, lengths[i]);
        ck_assert_int_eq(bytes[attr.length - 1], 0);
        memset(bytes, 1, attr.length);
        unmap(mem);
        ck_assert_int_ne(msync(bytes, 4096, MS_ASYNC), 0);
    }
}

static void map__allocates_at(const struct test_param *param)
{
    void *wish =
        mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ucp_mem_h mem;

    (void)param;
    /* A wish that cannot be granted is no error. */
    ck_assert_int_eq(map(memory, 8192, UCP_MEM_MAP_ALLOCATE, &mem), UCS_OK);
    ck_assert_ptr_ne(attr_of(mem).address, memory);
    unmap(mem);
    /* An order is: also over what is mapped there. */
    ck_assert_int_eq(
        map(wish, 8192, UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_FIXED, &mem),
        UCS_OK);
    ck_assert_ptr_eq(attr_of(mem).address, wish);
    *(char *)wish = 1;
    unmap(mem);
}

/* What was kept of memory that an order replaced is not found again. */
static void map__fixed_replaces_registrations(const struct test_param *param)
{
    struct uct_md *md = context->resources[0].md;
    void          *there =
        mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct ucp_reg *reg;
    ucp_mem_h       mem;

    (void)param;
    ck_assert(ucp_reg_is_possible(md));
    ucsi_unmap_set_reported(true);
    ck_assert_int_eq(
        ucp_reg_get(&context->regs, md, there, 100, UCT_ACCESS_LOCAL, &reg),
        UCS_OK);
    ucp_reg_put(reg);
    ck_assert_uint_eq(context->regs.kept_count, 1);
    ck_assert_int_eq(
        map(there, 8192, UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_FIXED, &mem),
        UCS_OK);
    unmap(mem);
    ck_assert_int_eq(
        ucp_reg_get(&context->regs, md, memory, 100, UCT_ACCESS_LOCAL, &reg),
        UCS_OK);
    ucp_reg_put(reg);
    ck_assert_uint_eq(context->regs.kept_count, 1);
    ucsi_unmap_set_reported(false);
}

static void map__nothing(const struct test_param *param)
{
    static const unsigned flags[] = {0, UCP_MEM_MAP_ALLOCATE};

    (void)param;
    for (size_t i = 0; i < UCS_ARRAY_COUNT(flags); ++i) {
        ucp_mem_h mem;

        ck_assert_int_eq(map(memory, 0, flags[i], &mem), UCS_OK);
        ck_assert_ptr_null(attr_of(mem).address);
        ck_assert_uint_eq(attr_of(mem).length, 0);
        unmap(mem);
    }
}

static void map__refuses(const struct test_param *param)
{
    static const struct {
        uintptr_t    address;
        size_t       length;
        unsigned     flags;
        ucs_status_t status;
    } rows[] = {
        {0, 100, 0, UCS_ERR_INVALID_PARAM},
        {0x1000, 100, UCP_MEM_MAP_FIXED, UCS_ERR_INVALID_PARAM},
        {0x1001, 100, UCP_MEM_MAP_FIXED | UCP_MEM_MAP_ALLOCATE,
         UCS_ERR_INVALID_PARAM},
        {0x1000, 100, UCP_MEM_MAP_LOCK | UCP_MEM_MAP_NONBLOCK,
         UCS_ERR_INVALID_PARAM},
        {0x1000, SIZE_MAX - 10, 0, UCS_ERR_INVALID_PARAM},
        {0, 100, UCP_MEM_MAP_FIXED | UCP_MEM_MAP_ALLOCATE, UCS_ERR_NO_MEMORY},
        {0, (size_t)1 << 60, UCP_MEM_MAP_ALLOCATE, UCS_ERR_NO_MEMORY},
        {0, SIZE_MAX - 10, UCP_MEM_MAP_ALLOCATE, UCS_ERR_NO_MEMORY},
    };
    ucp_mem_map_params_t none = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS};
    ucp_mem_h            mem  = NULL;

    (void)param;
    for (size_t i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        log_capture_start();
        ck_assert_int_eq(
            map((void *)rows[i].address, rows[i].length, rows[i].flags, &mem),
            rows[i].status);
        ck_assert_uint_eq(log_captured.count, 1);
    }
    ck_assert_int_eq(ucp_mem_map(context, &none, &mem), UCS_ERR_INVALID_PARAM);
    none.field_mask = UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER;
    ck_assert_int_eq(ucp_mem_map(context, &none, &mem), UCS_ERR_UNSUPPORTED);
    ck_assert_int_eq(ucp_mem_map(context, NULL, &mem), UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_mem_unmap(context, NULL), UCS_ERR_INVALID_PARAM);
    ck_assert_ptr_null(mem);
}

/* Types of other releases mean "find out"; devices' memory is not to be had. */
static void map__memory_types(const struct test_param *param)
{
    (void)param;
    for (int type = 0; type <= 12; ++type) {
        const ucp_mem_map_params_t params = {
            .field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                          UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                          UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
            .length      = 100,
            .flags       = UCP_MEM_MAP_ALLOCATE,
            .memory_type = (ucs_memory_type_t)type,
        };
        bool      is_foreign = (type >= 1) && (type <= 4);
        ucp_mem_h mem;

        ck_assert_int_eq(ucp_mem_map(context, &params, &mem),
                         is_foreign ? UCS_ERR_NO_MEMORY : UCS_OK);
        if (!is_foreign) {
            unmap(mem);
        }
    }
}

/* The same memory again and again, and pieces of it. */
static void map__overlapping(const struct test_param *param)
{
    ucp_mem_h mems[32];

    (void)param;
    for (unsigned i = 0; i < 32; ++i) {
        ck_assert_int_eq(map(memory + 100 * (i % 4), 4000, 0, &mems[i]),
                         UCS_OK);
    }
    for (unsigned i = 0; i < 32; ++i) {
        unmap(mems[(i * 7) % 32]);
    }
    ck_assert_uint_eq(context->regs.handles.count, 0);
}

/* Operations inside find the handle's registration and pay nothing. */
static void map__is_found_by_operations(const struct test_param *param)
{
    struct uct_md  *md = context->resources[0].md;
    struct ucp_reg *reg;
    ucp_mem_h       mem;

    (void)param;
    ck_assert_int_eq(map(memory, 4096, 0, &mem), UCS_OK);
    ck_assert_int_eq(ucp_reg_get(&context->regs, md, memory + 10, 100,
                                 UCT_ACCESS_LOCAL, &reg),
                     UCS_OK);
    ck_assert_ptr_eq(reg, mem->regs[0]);
    ucp_reg_put(reg);
    ck_assert_uint_eq(
        ucs_counter_get(&context->regs.counts[UCP_REG_COUNT_MISSES]), 0);
    unmap(mem);
}

/* A domain that refuses is left out; all refuse: that status. */
static void map__domain_refuses(const struct test_param *param)
{
    struct uct_md     *own = context->resources[0].md;
    struct counting_md full;
    ucp_mem_h          mem = NULL;

    (void)param;
    counting_md_init(&full);
    full.live_max               = 0;
    context->resources[0].md    = &full.base;
    context->regs.domains[0].md = &full.base;
    context->resource_count     = 1;
    ck_assert_int_eq(map(memory, 4096, 0, &mem), UCS_ERR_NO_MEMORY);
    ck_assert_int_eq(map(NULL, 4096, UCP_MEM_MAP_ALLOCATE, &mem),
                     UCS_ERR_NO_MEMORY);
    ck_assert_ptr_null(mem);
    full.live_max = 1;
    ck_assert_int_eq(map(memory, 4096, 0, &mem), UCS_OK);
    unmap(mem);
    ck_assert_uint_eq(full.live, 0);
    context->resources[0].md    = own;
    context->regs.domains[0].md = own;
    context->resource_count     = context->regs.domain_count;
}

static void query__keeps_to_the_mask(const struct test_param *param)
{
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_LENGTH,
                           .address    = memory};
    ucp_mem_h      mem;

    (void)param;
    ck_assert_int_eq(map(memory + 1, 4, 0, &mem), UCS_OK);
    ck_assert_int_eq(ucp_mem_query(mem, &attr), UCS_OK);
    ck_assert_uint_eq(attr.length, 4);
    ck_assert_ptr_eq(attr.address, memory);
    ck_assert_int_eq(ucp_mem_query(NULL, &attr), UCS_ERR_INVALID_PARAM);
    unmap(mem);
}

static void advise__arguments(const struct test_param *param)
{
    ucp_mem_advise_params_t advice = {.advice = UCP_MADV_WILLNEED};
    ucp_mem_h               mem;

    (void)param;
    ck_assert_int_eq(map(memory, 4096, 0, &mem), UCS_OK);
    for (unsigned mask = 0; mask < 8; ++mask) {
        advice.field_mask = mask;
        advice.address    = memory + 3;
        advice.length     = 4093;
        ck_assert_int_eq(ucp_mem_advise(context, mem, &advice),
                         (mask == 7) ? UCS_OK : UCS_ERR_INVALID_PARAM);
    }
    advice.length = 4094;
    ck_assert_int_eq(ucp_mem_advise(context, mem, &advice),
                     UCS_ERR_INVALID_PARAM);
    advice.address = (void *)((uintptr_t)memory - 1);
    advice.length  = 1;
    ck_assert_int_eq(ucp_mem_advise(context, mem, &advice),
                     UCS_ERR_INVALID_PARAM);
    unmap(mem);
}

static void print_info__sizes(const struct test_param *param)
{
    static const char *const sizes[] = {"1m", "0", "nonsense"};
    char                    *text    = NULL;
    size_t                   length;
    FILE                    *stream = open_memstream(&text, &length);

    (void)param;
    for (size_t i = 0; i < UCS_ARRAY_COUNT(sizes); ++i) {
        ucp_mem_print_info(sizes[i], context, stream);
    }
    (void)fclose(stream);
    ck_assert_ptr_nonnull(strstr(text, "1048576"));
    ck_assert_ptr_nonnull(strstr(text, "self/memory: registered"));
    ck_assert_ptr_nonnull(strstr(text, "'nonsense' is not a size"));
    free(text);
}

/* Handles that are left go with the context, and that is told. */
static void leftovers__are_released(const struct test_param *param)
{
    ucp_mem_h mem;

    (void)param;
    for (int i = 0; i < 3; ++i) {
        ck_assert_int_eq(map(NULL, 4096, UCP_MEM_MAP_ALLOCATE, &mem), UCS_OK);
    }
    log_capture_start();
    ucp_cleanup(context);
    ck_assert_uint_eq(log_captured.count, 1);
    ck_assert_ptr_nonnull(strstr(log_captured.text, "3 memory handles"));
    open_context(false);
}

static void *thread_run(void *arg)
{
    char *piece = (char *)arg;

    for (int i = 0; i < 500; ++i) {
        ucp_mem_h mem;

        ucs_check(map(piece, 1000 + (size_t)i, 0, &mem) == UCS_OK);
        ucs_check(ucp_mem_unmap(context, mem) == UCS_OK);
    }
    return NULL;
}

static void threads__share_a_context(const struct test_param *param)
{
    pthread_t threads[4];

    (void)param;
    ucp_cleanup(context);
    open_context(true);
    for (int i = 0; i < 4; ++i) {
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, thread_run, memory + 1000 * i),
            0);
    }
    for (int i = 0; i < 4; ++i) {
        (void)pthread_join(threads[i], NULL);
    }
}

static const struct test_case mem_cases[] = {
    TEST(map__memory_of_the_user),
    TEST(map__allocates),
    TEST(map__allocates_at),
    TEST(map__fixed_replaces_registrations),
    TEST(map__nothing),
    TEST(map__refuses),
    TEST(map__memory_types),
    TEST(map__overlapping),
    TEST(map__is_found_by_operations),
    TEST(map__domain_refuses),
    TEST(query__keeps_to_the_mask),
    TEST(advise__arguments),
    TEST(print_info__sizes),
    TEST(leftovers__are_released),
    TEST(threads__share_a_context),
    {0},
};

const struct test_suite mem_suite = {
    .name = "mem", .cases = mem_cases, .setup = setup, .teardown = teardown};
