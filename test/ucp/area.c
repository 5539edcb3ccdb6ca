/* SPDX-License-Identifier: BSD-3-Clause */
/* area.c - memory that comes and goes at the same addresses. */
#include "ucp/area.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "ucm/api/ucm.h"
#include "ucs/assert.h"

enum { AREA_BYTES = AREA_PAGE_BYTES * AREA_PAGE_COUNT };

static uint8_t         *area;
static bool             area_tells;
static _Atomic uint64_t area_generations[AREA_PAGE_COUNT];

static void map_at(void *address, size_t length, int flags)
{
    void *memory = mmap(address, length, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

    ucs_check(memory == address);
}

void area_open(bool is_reported)
{
    area = mmap(NULL, AREA_BYTES, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ucs_check(area != MAP_FAILED);
    area_tells = is_reported;
    if (is_reported) {
        ucm_set_external_event(UCM_EVENT_VM_UNMAPPED);
    }
}

void area_close(void)
{
    ucm_unset_external_event(UCM_EVENT_VM_UNMAPPED);
    (void)munmap(area, AREA_BYTES);
}

void area_forget_to_tell(void)
{
    area_tells = false;
}

uint8_t *area_page(unsigned page)
{
    ucs_check(page < AREA_PAGE_COUNT);
    return area + (size_t)page * AREA_PAGE_BYTES;
}

static void change(uint8_t *start, size_t length, enum area_way way)
{
    void *moved;

    switch (way) {
    case AREA_MUNMAP:
        ucs_check(munmap(start, length) == 0);
        map_at(start, length, MAP_FIXED_NOREPLACE);
        break;
    case AREA_MMAP:
        map_at(start, length, MAP_FIXED);
        break;
    case AREA_MREMAP:
        moved =
            mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ucs_check(moved != MAP_FAILED);
        ucs_check(mremap(start, length, length, MREMAP_MAYMOVE | MREMAP_FIXED,
                         moved) == moved);
        map_at(start, length, MAP_FIXED_NOREPLACE);
        (void)munmap(moved, length);
        break;
    case AREA_DONTNEED:
        ucs_check(madvise(start, length, MADV_DONTNEED) == 0);
        break;
    case AREA_WAY_COUNT:
        break;
    }
}

void area_remap(unsigned page, unsigned count, enum area_way way)
{
    uint8_t *start  = area_page(page);
    size_t   length = (size_t)count * AREA_PAGE_BYTES;

    ucs_check(page + count <= AREA_PAGE_COUNT);
    if (area_tells) {
        ucm_vm_munmap(start, length);
    }
    for (unsigned i = page; i < page + count; ++i) {
        /* Who uses the pages next gets them from us. */
        atomic_fetch_add_explicit(&area_generations[i], 1,
                                  memory_order_relaxed);
    }
    change(start, length, way);
}

/* ---- malloc ---- */

enum { HEAP_RANGE_COUNT = 64, HEAP_BYTES_MIN = 256 << 10 };

/* Ranges that malloc gave, and how often each was freed. */
struct heap_range {
    uintptr_t start;
    uintptr_t end;
    uint64_t  generation;
};

static struct heap_range heap_ranges[HEAP_RANGE_COUNT];

/* The range's entry, or a free one. */
static struct heap_range *heap_find(uintptr_t start, uintptr_t end)
{
    struct heap_range *range = heap_ranges;

    while ((range->end != 0) &&
           ((range->start != start) || (range->end != end))) {
        ++range;
        ucs_check(range < heap_ranges + HEAP_RANGE_COUNT);
    }
    return range;
}

uint8_t *area_malloc(size_t bytes)
{
    uint8_t *memory;

    ucs_check(bytes >= HEAP_BYTES_MIN);
    (void)mallopt(M_MMAP_THRESHOLD, HEAP_BYTES_MIN / 2); /* and it stays */
    memory = malloc(bytes);
    ucs_check(memory != NULL);
    return memory;
}

void area_free(uint8_t *memory)
{
    uintptr_t mask  = AREA_PAGE_BYTES - 1;
    uintptr_t start = (uintptr_t)memory & ~mask;
    uintptr_t end =
        ((uintptr_t)memory + malloc_usable_size(memory) + mask) & ~mask;
    struct heap_range *range = heap_find(start, end);

    range->start = start;
    range->end   = end;
    ++range->generation;
    if (area_tells) {
        ucm_vm_munmap((void *)start, end - start);
    }
    free(memory);
}

static uint64_t heap_generation(uintptr_t address, size_t length)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < HEAP_RANGE_COUNT; ++i) {
        if ((heap_ranges[i].start < address + length) &&
            (heap_ranges[i].end > address)) {
            sum += heap_ranges[i].generation;
        }
    }
    return sum;
}

uint64_t area_generation_noisy(const void *address, size_t length)
{
    static unsigned turn;

    area_remap(AREA_PAGE_COUNT - 1 - ++turn % 8, 1, AREA_DONTNEED);
    return area_generation(address, length);
}

uint64_t area_generation(const void *address, size_t length)
{
    uintptr_t offset = (uintptr_t)address - (uintptr_t)area;
    uint64_t  sum    = heap_generation((uintptr_t)address, length);

    for (uintptr_t page = offset / AREA_PAGE_BYTES;
         (page < AREA_PAGE_COUNT) &&
         (page <= (offset + length - 1) / AREA_PAGE_BYTES);
         ++page) {
        sum +=
            atomic_load_explicit(&area_generations[page], memory_order_relaxed);
    }
    return sum;
}

/* ---- the thread ---- */

/* is_given  slots that are the thread's
 * must_end  when it has none left */
struct recycler {
    pthread_t       thread;
    pthread_mutex_t lock;
    pthread_cond_t  change;
    unsigned        slot_pages;
    bool            is_given[AREA_PAGE_COUNT];
    bool            must_end;
};

static struct recycler recycler = {.lock   = PTHREAD_MUTEX_INITIALIZER,
                                   .change = PTHREAD_COND_INITIALIZER};

/* The next slot, -1: the end. With the lock, which waiting gives away. */
static int recycler_next(void)
{
    for (;;) {
        for (int slot = 0; slot < AREA_PAGE_COUNT; ++slot) {
            if (recycler.is_given[slot]) {
                return slot;
            }
        }
        if (recycler.must_end) {
            return -1;
        }
        pthread_cond_wait(&recycler.change, &recycler.lock);
    }
}

static void *recycler_run(void *arg)
{
    enum { OWN_PAGES = 8, REPORTS_FEW = 3, REPORTS_MANY = 300 };
    unsigned turn = 0;
    int      slot;

    (void)arg;
    pthread_mutex_lock(&recycler.lock);
    while ((slot = recycler_next()) >= 0) {
        unsigned reports = (++turn % 8 == 0) ? REPORTS_MANY : REPORTS_FEW;

        pthread_mutex_unlock(&recycler.lock);
        for (unsigned i = 0; i < reports; ++i) {
            area_remap(AREA_PAGE_COUNT - 1 - i % OWN_PAGES, 1, AREA_DONTNEED);
        }
        area_remap((unsigned)slot * recycler.slot_pages, recycler.slot_pages,
                   (turn % 2) ? AREA_MMAP : AREA_DONTNEED);
        pthread_mutex_lock(&recycler.lock);
        recycler.is_given[slot] = false;
        pthread_cond_broadcast(&recycler.change);
    }
    pthread_mutex_unlock(&recycler.lock);
    return NULL;
}

void area_thread_start(unsigned slot_pages)
{
    recycler.slot_pages = slot_pages;
    recycler.must_end   = false;
    ucs_check(pthread_create(&recycler.thread, NULL, recycler_run, NULL) == 0);
}

void area_thread_give(unsigned slot)
{
    pthread_mutex_lock(&recycler.lock);
    recycler.is_given[slot] = true;
    pthread_cond_broadcast(&recycler.change);
    pthread_mutex_unlock(&recycler.lock);
}

void area_thread_wait(unsigned slot)
{
    pthread_mutex_lock(&recycler.lock);
    while (recycler.is_given[slot]) {
        pthread_cond_wait(&recycler.change, &recycler.lock);
    }
    pthread_mutex_unlock(&recycler.lock);
}

void area_thread_stop(void)
{
    pthread_mutex_lock(&recycler.lock);
    recycler.must_end = true;
    pthread_cond_broadcast(&recycler.change);
    pthread_mutex_unlock(&recycler.lock);
    (void)pthread_join(recycler.thread, NULL);
}
