/* SPDX-License-Identifier: BSD-3-Clause */
/* test_unmap.c - reports of memory that went away. */
#include "ucs/unmap.h"

#include <pthread.h>

#include "lib/test.h"
#include "ucs/suites.h"

enum { SEEN_MAX = 4096, THREAD_COUNT = 4, REPORT_COUNT = 20000 };

/* What a reader was told. */
struct seen {
    unsigned  count;
    bool      all;
    uintptr_t starts[SEEN_MAX];
    uintptr_t ends[SEEN_MAX];
};

static struct ucs_unmap_reader reader;
static struct seen             seen;

static void setup(const struct test_param *param)
{
    (void)param;
    seen.count = 0;
    seen.all   = false;
    ucsi_unmap_reader_init(&reader);
}

static void on_unmap(void *arg, uintptr_t start, uintptr_t end)
{
    struct seen *told = (struct seen *)arg;

    if ((start == 0) && (end == UINTPTR_MAX)) {
        told->all = true;
    } else if (told->count < SEEN_MAX) {
        told->starts[told->count] = start;
        told->ends[told->count]   = end;
        ++told->count;
    }
}

static void read_all(void)
{
    ucsi_unmap_read(&reader, on_unmap, &seen);
}

static void tell__in_order_once(const struct test_param *param)
{
    (void)param;
    ck_assert(!ucs_unmap_has_news(&reader));
    ucsi_unmap_tell(0x1000, 0x100);
    ucsi_unmap_tell(0x2000, 1);
    ck_assert(ucs_unmap_has_news(&reader));
    read_all();
    ck_assert_uint_eq(seen.count, 2);
    ck_assert_uint_eq(seen.starts[0], 0x1000);
    ck_assert_uint_eq(seen.ends[0], 0x1100);
    ck_assert_uint_eq(seen.starts[1], 0x2000);
    ck_assert(!ucs_unmap_has_news(&reader));
    read_all();
    ck_assert_uint_eq(seen.count, 2);
    ck_assert(!seen.all);
}

static void tell__nothing_and_too_much(const struct test_param *param)
{
    (void)param;
    ucsi_unmap_tell(0x1000, 0);
    ck_assert(!ucs_unmap_has_news(&reader));
    ucsi_unmap_tell(UINTPTR_MAX - 10, 100); /* would wrap */
    read_all();
    ck_assert_uint_eq(seen.count, 1);
    ck_assert_uint_eq(seen.ends[0], UINTPTR_MAX);
}

/* As many as the ring holds are all there; one more, and all is gone. */
static void tell__as_many_as_the_ring_holds(const struct test_param *param)
{
    (void)param;
    for (unsigned i = 0; i < UCS_UNMAP_RING_COUNT; ++i) {
        ucsi_unmap_tell(0x1000 + i, 1);
    }
    read_all();
    ck_assert_uint_eq(seen.count, UCS_UNMAP_RING_COUNT);
    ck_assert(!seen.all);
    for (unsigned i = 0; i < UCS_UNMAP_RING_COUNT + 1; ++i) {
        ucsi_unmap_tell(0x1000 + i, 1);
    }
    read_all();
    ck_assert(seen.all);
    ck_assert(!ucs_unmap_has_news(&reader));
}

/* Readers do not take from one another. */
static void read__each_has_a_place(const struct test_param *param)
{
    struct ucs_unmap_reader other = reader;
    static struct seen      other_seen;

    (void)param;
    ucsi_unmap_tell(0x1000, 1);
    read_all();
    ucsi_unmap_tell(0x2000, 1);
    ucsi_unmap_read(&other, on_unmap, &other_seen);
    ck_assert_uint_eq(other_seen.count, 2);
    read_all();
    ck_assert_uint_eq(seen.count, 2);
}

/* Who no longer reports leaves nothing to be relied on. */
static void reported__end_takes_all(const struct test_param *param)
{
    (void)param;
    ck_assert(!ucsi_unmap_is_reported());
    ucsi_unmap_set_reported(true);
    ck_assert(ucsi_unmap_is_reported());
    ck_assert(!ucs_unmap_has_news(&reader));
    ucsi_unmap_set_reported(false);
    ck_assert(!ucsi_unmap_is_reported());
    read_all();
    ck_assert(seen.all);
}

/* Threads tell ranges; what they had told before a read, that read or one
 * before it said: the range, or "all". */
struct teller {
    pthread_t        thread;
    uintptr_t        start; /* base of its ranges */
    _Atomic uint32_t begun; /* how many it has begun to tell */
    _Atomic uint32_t told;  /* how many it has told */
};

static void *teller_run(void *arg)
{
    struct teller *teller = (struct teller *)arg;

    for (uint32_t i = 0; i < REPORT_COUNT; ++i) {
        atomic_store_explicit(&teller->begun, i + 1, memory_order_release);
        ucsi_unmap_tell(teller->start + i, 1);
        atomic_store_explicit(&teller->told, i + 1, memory_order_release);
    }
    return NULL;
}

static struct teller tellers[THREAD_COUNT];
static bool          heard[THREAD_COUNT][REPORT_COUNT];
/* "All" was said when so many had begun; it may stand for one of them that is
 * told a moment later. */
static uint32_t covered[THREAD_COUNT];

static void on_race(void *arg, uintptr_t start, uintptr_t end)
{
    uint32_t thread = (uint32_t)(start >> 32);

    (void)arg;
    if ((start == 0) && (end == UINTPTR_MAX)) {
        for (unsigned i = 0; i < THREAD_COUNT; ++i) {
            covered[i] =
                atomic_load_explicit(&tellers[i].begun, memory_order_acquire);
        }
        return;
    }
    if ((end != start + 1) || (thread - 1 >= THREAD_COUNT) ||
        ((uint32_t)start >= REPORT_COUNT)) {
        ck_abort_msg("torn: [%zx, %zx)", (size_t)start, (size_t)end);
    }
    heard[thread - 1][(uint32_t)start] = true;
}

/* Of those [begin, end) that a thread told. */
static void check_heard(unsigned thread, uint32_t begin, uint32_t end)
{
    for (uint32_t i = ucs_max(begin, covered[thread]); i < end; ++i) {
        if (!heard[thread][i]) {
            ck_abort_msg("thread %u: report %u is missing", thread, i);
        }
    }
}

static void race__nothing_is_missed(const struct test_param *param)
{
    uint32_t told[THREAD_COUNT];
    uint32_t checked[THREAD_COUNT] = {0};
    bool     is_done               = false;

    (void)param;
    for (unsigned i = 0; i < THREAD_COUNT; ++i) {
        tellers[i].start = (uintptr_t)(i + 1) << 32;
        ck_assert_int_eq(
            pthread_create(&tellers[i].thread, NULL, teller_run, &tellers[i]),
            0);
    }
    while (!is_done) {
        is_done = true;
        for (unsigned i = 0; i < THREAD_COUNT; ++i) {
            told[i] =
                atomic_load_explicit(&tellers[i].told, memory_order_acquire);
            is_done = is_done && (told[i] == REPORT_COUNT);
        }
        ucsi_unmap_read(&reader, on_race, NULL);
        for (unsigned i = 0; i < THREAD_COUNT; ++i) {
            check_heard(i, checked[i], told[i]);
            checked[i] = told[i];
        }
    }
    for (unsigned i = 0; i < THREAD_COUNT; ++i) {
        (void)pthread_join(tellers[i].thread, NULL);
    }
}

static const struct test_case unmap_cases[] = {
    TEST(tell__in_order_once),
    TEST(tell__nothing_and_too_much),
    TEST(tell__as_many_as_the_ring_holds),
    TEST(read__each_has_a_place),
    TEST(reported__end_takes_all),
    TEST(race__nothing_is_missed),
    {0},
};

const struct test_suite unmap_suite = {
    .name = "unmap", .cases = unmap_cases, .setup = setup};
