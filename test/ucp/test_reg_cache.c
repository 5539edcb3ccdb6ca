/* SPDX-License-Identifier: BSD-3-Clause */
/* test_reg_cache.c - src/ucp/core/reg_cache.c, over a domain that counts and
 * that remembers which memory a registration stood for. */
#include "ucp/core/reg_cache.h"

#include <pthread.h>
#include <sys/mman.h>

#include "lib/test.h"
#include "ucm/api/ucm.h"
#include "ucp/counting_md.h"
#include "ucp/suites.h"
#include "ucs/assert.h"

enum { PAGE = 4096, AREA_PAGES = 64 };

/* ---- The cache, and memory ---- */

static struct counting_md   md, md_other;
static struct ucp_reg_cache cache;
static char                *area; /* AREA_PAGES pages */

static void open_cache(size_t bytes_max, size_t count_max, bool is_enabled)
{
    const struct ucp_reg_limits limits = {.is_enabled = is_enabled,
                                          .bytes_max  = bytes_max,
                                          .count_max  = count_max};

    md       = (struct counting_md){.base     = {.transport = &counting_transport},
                                    .live_max = UINT32_MAX};
    md_other = md;
    ck_assert_int_eq(ucp_reg_cache_init(&cache, &limits), UCS_OK);
    ucp_reg_cache_add_domain(&cache, &md.base);
    ucp_reg_cache_add_domain(&cache, &md_other.base);
    area = mmap(NULL, AREA_PAGES * PAGE, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(area, MAP_FAILED);
}

static void close_cache(void)
{
    ucp_reg_cache_cleanup(&cache);
    ck_assert_uint_eq(md.live, 0);
    ck_assert_uint_eq(md_other.live, 0);
    (void)munmap(area, AREA_PAGES * PAGE);
    ucsi_unmap_set_reported(false);
}

static struct ucp_reg *get_with(const void *address, size_t length,
                                unsigned access)
{
    struct ucp_reg *reg = NULL;

    ck_assert_int_eq(
        ucp_reg_get(&cache, &md.base, address, length, access, &reg), UCS_OK);
    ck_assert_uint_le((uintptr_t)reg->mem->address, (uintptr_t)address);
    ck_assert_uint_ge((uintptr_t)reg->mem->address + reg->mem->length,
                      (uintptr_t)address + length);
    ck_assert_uint_eq(reg->mem->access & access, access);
    return reg;
}

static struct ucp_reg *get(const void *address, size_t length)
{
    return get_with(address, length, UCT_ACCESS_LOCAL);
}

/* One operation on that memory. */
static void use(const void *address, size_t length)
{
    ucp_reg_put(get(address, length));
}

/* What another thread may do while memory is registered. */
static void unmap_and_look(struct counting_md *counting)
{
    counting->on_register = NULL;
    ucm_vm_munmap(area, PAGE);
    use(area + 8 * PAGE, PAGE);
}

/* ---- Where nothing tells of unmaps ---- */

static void plain__lasts_one_operation(const struct test_param *param)
{
    struct ucp_reg *a, *b;

    (void)param;
    open_cache(SIZE_MAX, SIZE_MAX, true);
    a = get(area, PAGE);
    b = get(area, PAGE);
    ck_assert_uint_eq(md.live, 2);
    ucp_reg_put(a);
    ucp_reg_put(b);
    ck_assert_uint_eq(md.live, 0);
    ck_assert_uint_eq(ucs_counter_get(&cache.counts[UCP_REG_COUNT_MISSES]), 2);
    close_cache();
}

/* ---- Inside memory handles ---- */

static void handle__keeps_what_lies_inside(const struct test_param *param)
{
    struct ucs_range range;

    (void)param;
    open_cache(SIZE_MAX, SIZE_MAX, true);
    range.start = (uintptr_t)area;
    range.end   = range.start + 4 * PAGE;
    ucp_reg_cache_add_handle(&cache, &range);
    use(area, PAGE);
    use(area + 10, 20); /* inside the first */
    ck_assert_uint_eq(md.registered, 1);
    use(area + 3 * PAGE, PAGE + 1); /* one byte too far */
    ck_assert_uint_eq(md.live, 1);
    ucp_reg_cache_remove_handle(&cache, &range);
    ck_assert_uint_eq(md.live, 0);
    use(area, PAGE);
    ck_assert_uint_eq(md.live, 0);
    close_cache();
}

/* Two handles over the same memory: the end of one takes what it touches, and
 * the other one keeps again. */
static void handle__two_over_the_same_memory(const struct test_param *param)
{
    struct ucs_range a, b;

    (void)param;
    open_cache(SIZE_MAX, SIZE_MAX, true);
    a.start = (uintptr_t)area;
    a.end   = a.start + PAGE;
    b       = a;
    ucp_reg_cache_add_handle(&cache, &a);
    ucp_reg_cache_add_handle(&cache, &b);
    use(area, PAGE);
    ucp_reg_cache_remove_handle(&cache, &a);
    ck_assert_uint_eq(md.live, 0);
    use(area, PAGE);
    ck_assert_uint_eq(md.live, 1);
    ucp_reg_cache_remove_handle(&cache, &b);
    ck_assert_uint_eq(md.live, 0);
    close_cache();
}

/* In use when its memory goes: the user still has it, nobody else finds it,
 * and it is released with its last user. */
static void handle__ends_under_an_operation(const struct test_param *param)
{
    struct ucs_range range;
    struct ucp_reg  *reg;

    (void)param;
    open_cache(SIZE_MAX, SIZE_MAX, true);
    range.start = (uintptr_t)area;
    range.end   = range.start + PAGE;
    ucp_reg_cache_add_handle(&cache, &range);
    reg = get(area, PAGE);
    ucp_reg_cache_remove_handle(&cache, &range);
    ck_assert_uint_eq(md.live, 1);
    use(area, PAGE);
    ck_assert_uint_eq(md.registered, 2);
    ucp_reg_put(reg);
    ck_assert_uint_eq(md.live, 0);
    close_cache();
}

/* The handle's own registration: exact, found, not evicted, not counted. */
static void own__is_found_until_disowned(const struct test_param *param)
{
    struct ucp_reg *own, *reg;

    (void)param;
    open_cache(PAGE, 1, true);
    ck_assert_int_eq(ucp_reg_own(&cache, &md.base, area, 8 * PAGE,
                                 UCT_ACCESS_LOCAL | UCT_ACCESS_REMOTE_READ,
                                 &own),
                     UCS_OK);
    reg = get(area + 1, 8 * PAGE - 1);
    ck_assert_ptr_eq(reg, own);
    ck_assert_uint_eq(cache.kept_bytes, 0);
    /* Rights that it has not are registered apart. */
    ucp_reg_put(get_with(area, 10, UCT_ACCESS_REMOTE_WRITE));
    ck_assert_uint_eq(md.registered, 2);
    ucp_reg_disown(own);
    ck_assert_uint_eq(md.live, 1); /* reg is still used */
    ucp_reg_put(reg);
    ck_assert_uint_eq(md.live, 0);
    close_cache();
}

/* Memory of a handle that went all the same: operations register what is there
 * now; the handle keeps what it has. What was told before is another's. */
static void own__is_not_found_after_a_report(const struct test_param *param)
{
    struct ucp_reg *own;

    (void)param;
    open_cache(SIZE_MAX, SIZE_MAX, true);
    ucm_vm_munmap(area, PAGE);
    ck_assert_int_eq(
        ucp_reg_own(&cache, &md.base, area, PAGE, UCT_ACCESS_LOCAL, &own),
        UCS_OK);
    use(area, PAGE);
    ck_assert_uint_eq(md.registered, 1);
    ucm_vm_munmap(area, PAGE);
    use(area, PAGE);
    ck_assert_uint_eq(md.registered, 2);
    ck_assert_uint_eq(md.live, 1);
    ucp_reg_disown(own);
    ck_assert_uint_eq(md.live, 0);
    close_cache();
}

/* Goes while it is being registered, and another thread has read that: it
 * serves the operation, and is not kept. */
static void reported__while_registering(const struct test_param *param)
{
    struct ucp_reg *reg;

    (void)param;
    open_cache(SIZE_MAX, SIZE_MAX, true);
    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    md.on_register = unmap_and_look;
    reg            = get(area, PAGE);
    ck_assert_uint_eq(md.registered, 2); /* and what unmap_and_look() did */
    ucp_reg_put(reg);
    ck_assert_uint_eq(md.live, 1);
    use(area, PAGE);
    ck_assert_uint_eq(md.registered, 3);
    close_cache();
}

/* ---- Where the runtime reports unmaps ---- */

static void reported__is_kept(const struct test_param *param)
{
    (void)param;
    open_cache(SIZE_MAX, SIZE_MAX, true);
    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    for (int i = 0; i < 100; ++i) {
        use(area, PAGE);
    }
    ck_assert_uint_eq(md.registered, 1);
    ck_assert_uint_eq(ucs_counter_get(&cache.counts[UCP_REG_COUNT_HITS]), 99);
    close_cache();
}

/* Freed and mapped again at the same address: never the old registration. */
static void reported__memory_mapped_again(const struct test_param *param)
{
    (void)param;
    open_cache(SIZE_MAX, SIZE_MAX, true);
    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    for (unsigned i = 1; i <= 10; ++i) {
        use(area, PAGE);
        use(area + 2 * PAGE, PAGE);
        ck_assert_uint_eq(md.registered, 1 + i);
        ucm_vm_munmap(area, PAGE);
        ck_assert_ptr_eq(mmap(area, PAGE, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                         area);
    }
    ck_assert_uint_eq(ucs_counter_get(&cache.counts[UCP_REG_COUNT_REPORTS]), 9);
    close_cache();
}

/* What a report touches goes, the neighbours stay; in every domain. */
static void reported__only_what_is_touched(const struct test_param *param)
{
    struct ucp_reg *other;

    (void)param;
    open_cache(SIZE_MAX, SIZE_MAX, true);
    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    for (unsigned i = 0; i < 8; ++i) {
        use(area + i * PAGE, PAGE);
    }
    ck_assert_int_eq(ucp_reg_get(&cache, &md_other.base, area, 8 * PAGE,
                                 UCT_ACCESS_LOCAL, &other),
                     UCS_OK);
    ucp_reg_put(other);
    ucm_vm_munmap(area + 2 * PAGE + 1, PAGE); /* parts of pages 2 and 3 */
    use(area, PAGE);
    ck_assert_uint_eq(md.live, 6);
    ck_assert_uint_eq(md_other.live, 0);
    ck_assert_uint_eq(ucs_counter_get(&cache.counts[UCP_REG_COUNT_REPORTS]), 3);
    close_cache();
}

/* In use while it is reported: not found again, released at its end. */
static void reported__under_an_operation(const struct test_param *param)
{
    struct ucp_reg *reg;

    (void)param;
    open_cache(SIZE_MAX, SIZE_MAX, true);
    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    reg = get(area, PAGE);
    ucm_vm_munmap(area, PAGE);
    use(area, PAGE);
    ck_assert_uint_eq(md.registered, 2);
    ck_assert_uint_eq(md.live, 2);
    ucp_reg_put(reg);
    ck_assert_uint_eq(md.live, 1);
    close_cache();
}

/* More reports than the ring holds: all is dropped. */
static void reported__too_many(const struct test_param *param)
{
    (void)param;
    open_cache(SIZE_MAX, SIZE_MAX, true);
    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    use(area, PAGE);
    for (unsigned i = 0; i < 2 * UCS_UNMAP_RING_COUNT; ++i) {
        ucm_vm_munmap(area + 8 * PAGE, PAGE);
    }
    use(area, PAGE);
    ck_assert_uint_eq(md.registered, 2);
    close_cache();
}

static void reported__ends(const struct test_param *param)
{
    (void)param;
    open_cache(SIZE_MAX, SIZE_MAX, true);
    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    use(area, PAGE);
    ucm_unset_external_event(UCM_EVENT_VM_UNMAPPED);
    use(area, PAGE);
    ck_assert_uint_eq(md.registered, 2);
    ck_assert_uint_eq(md.live, 0);
    close_cache();
}

static void reported__but_disabled(const struct test_param *param)
{
    (void)param;
    open_cache(SIZE_MAX, SIZE_MAX, false);
    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    use(area, PAGE);
    ck_assert_uint_eq(md.live, 0);
    close_cache();
}

/* ---- Limits ---- */

static void limits__count_oldest_first(const struct test_param *param)
{
    (void)param;
    open_cache(SIZE_MAX, 3, true);
    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    for (unsigned i = 0; i < 3; ++i) {
        use(area + i * PAGE, PAGE);
    }
    use(area, PAGE);            /* now page 1 is the oldest */
    use(area + 3 * PAGE, PAGE); /* takes its place */
    ck_assert_uint_eq(md.live, 3);
    ck_assert_uint_eq(md.registered, 4);
    use(area, PAGE);
    use(area + 2 * PAGE, PAGE);
    ck_assert_uint_eq(md.registered, 4);
    use(area + PAGE, PAGE);
    ck_assert_uint_eq(md.registered, 5);
    ck_assert_uint_eq(ucs_counter_get(&cache.counts[UCP_REG_COUNT_EVICTED]), 2);
    close_cache();
}

static void limits__bytes(const struct test_param *param)
{
    (void)param;
    open_cache(4 * PAGE, SIZE_MAX, true);
    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    use(area, 2 * PAGE);
    use(area + 2 * PAGE, 2 * PAGE);
    ck_assert_uint_eq(md.bytes, 4 * PAGE);
    use(area + 8 * PAGE, 3 * PAGE);
    ck_assert_uint_eq(md.bytes, 3 * PAGE);
    use(area, 5 * PAGE); /* more than the limit: one operation */
    ck_assert_uint_le(md.bytes, 4 * PAGE);
    ck_assert_uint_le(cache.kept_bytes, 4 * PAGE);
    close_cache();
}

/* What is in use is not evicted; the new one is then not kept. */
static void limits__all_in_use(const struct test_param *param)
{
    struct ucp_reg *a, *b;

    (void)param;
    open_cache(SIZE_MAX, 1, true);
    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    a = get(area, PAGE);
    b = get(area + PAGE, PAGE);
    ucp_reg_put(b);
    ck_assert_uint_eq(md.live, 1);
    ck_assert_ptr_eq(get(area, PAGE), a);
    ucp_reg_put(a);
    ucp_reg_put(a);
    ck_assert_uint_eq(md.live, 1);
    close_cache();
}

/* The domain is full: what nobody uses makes room; else the error is ours. */
static void limits__of_the_domain(const struct test_param *param)
{
    struct ucp_reg *regs[2], *none = NULL;

    (void)param;
    open_cache(SIZE_MAX, SIZE_MAX, true);
    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    md.live_max = 2;
    use(area, PAGE);
    use(area + PAGE, PAGE);
    regs[0] = get(area + 2 * PAGE, PAGE);
    regs[1] = get(area + 3 * PAGE, PAGE);
    ck_assert_int_eq(
        ucp_reg_get(&cache, &md.base, area, PAGE, UCT_ACCESS_LOCAL, &none),
        UCS_ERR_NO_MEMORY);
    ck_assert_ptr_null(none);
    ucp_reg_put(regs[0]);
    ucp_reg_put(regs[1]);
    close_cache();
}

/* ---- Threads ---- */

static void *thread_run(void *arg)
{
    unsigned seed = *(unsigned *)arg;

    for (unsigned i = 0; i < 3000; ++i) {
        unsigned        page, count;
        struct ucp_reg *reg = NULL;

        seed  = seed * 1664525 + 1013904223; /* Knuth's LCG */
        page  = (seed >> 16) % (AREA_PAGES - 4);
        count = 1 + ((seed >> 24) % 4);
        ucs_check(ucp_reg_get(&cache, &md.base, area + page * PAGE,
                              count * PAGE, UCT_ACCESS_LOCAL, &reg) == UCS_OK);
        ucs_check((char *)reg->mem->address <= area + page * PAGE);
        if (seed % 64 == 0) {
            ucm_vm_munmap(area + page * PAGE, PAGE);
        }
        ucp_reg_put(reg);
    }
    return NULL;
}

static void threads__share(const struct test_param *param)
{
    pthread_t threads[4];
    unsigned  seeds[4];

    (void)param;
    open_cache(SIZE_MAX, 20, true);
    ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    ucp_reg_cache_share(&cache);
    for (unsigned i = 0; i < 4; ++i) {
        seeds[i] = (unsigned)test_random();
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, thread_run, &seeds[i]), 0);
    }
    for (unsigned i = 0; i < 4; ++i) {
        (void)pthread_join(threads[i], NULL);
    }
    ck_assert_uint_le(md.live, 20);
    ck_assert_uint_eq(md.live, cache.kept_count);
    close_cache();
}

static const struct test_case reg_cache_cases[] = {
    TEST(plain__lasts_one_operation),
    TEST(handle__keeps_what_lies_inside),
    TEST(handle__two_over_the_same_memory),
    TEST(handle__ends_under_an_operation),
    TEST(own__is_found_until_disowned),
    TEST(own__is_not_found_after_a_report),
    TEST(reported__while_registering),
    TEST(reported__is_kept),
    TEST(reported__memory_mapped_again),
    TEST(reported__only_what_is_touched),
    TEST(reported__under_an_operation),
    TEST(reported__too_many),
    TEST(reported__ends),
    TEST(reported__but_disabled),
    TEST(limits__count_oldest_first),
    TEST(limits__bytes),
    TEST(limits__all_in_use),
    TEST(limits__of_the_domain),
    TEST(threads__share),
    {0},
};

const struct test_suite reg_cache_suite = {.name  = "reg_cache",
                                           .cases = reg_cache_cases};
