/* SPDX-License-Identifier: BSD-3-Clause */
/* test_registration.c - what protocols 5 to 7 register, and for how long, on
 * the mock: a transport that needs it, counts it, and knows when the memory
 * under a registration is another one. */
#include <stdlib.h>
#include <string.h>

#include "ucp/area.h"
#include "ucp/core/worker.h"
#include "ucp/pair.h"
#include "ucp/play.h"
#include "ucp/suites.h"

enum {
    TAG   = 3,
    PAGES = 24, /* of one buffer */
    BYTES = PAGES * AREA_PAGE_BYTES - 100,
};

static const struct test_param schemes[] = {
    {.name = "get", .value = "get_zcopy"},
    {.name = "put", .value = "put_zcopy"},
    {.name = "pipeline", .value = "put_ppln"},
    {0},
};

static struct pair                pair;
static const struct mock_control *mock;

static struct ucp_reg_cache *cache_of(int side)
{
    return &pair.contexts[side]->regs;
}

static uint64_t count(int side, enum ucp_reg_count what)
{
    return ucs_counter_get(&cache_of(side)->counts[what]);
}

static void open_pair(const struct test_param *param, bool is_reported)
{
    struct pair_setup setup = {
        .tls = "mock", .rndv_threshold = "0", .rndv_scheme = param->value};

    (void)setenv("UCX_RNDV_FRAG_SIZE", "20000", 0);
    (void)setenv("UCX_RNDV_PIPELINE_SEND_LENGTH", "5000", 1);
    mock = play_mock();
    mock->reset();
    mock->setup->generation = area_generation;
    /* Rather eager, so that fragments are few when they are needed. */
    mock->setup->devices[0].am.bcopy_bytes_max = 16 << 10;
    pair_open_setup(&pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    for (int side = 0; side < 2; ++side) {
        memset(cache_of(side)->counts, 0, sizeof(cache_of(side)->counts));
    }
    area_open(is_reported);
    mock->forget_events();
}

static void close_pair(void)
{
    ck_assert_str_eq(mock->bad(), "");
    pair_close(&pair);
    ck_assert_uint_eq(mock->mem_count(0) + mock->mem_count(1), 0);
    mock->reset();
    area_close();
}

/* Registrations in the journal. */
static unsigned registered(void)
{
    unsigned count = 0;

    for (unsigned i = 0; i < mock->event_count(); ++i) {
        count += (mock->event(i)->type == MOCK_REGISTERED);
    }
    return count;
}

static uint64_t fragment_bytes(void)
{
    return ucs_counter_get(&pair.workers[0]->counts[UCP_COUNT_FRAGMENT_OUT]);
}

/* One message from there at S to there at R; its bytes are right. */
static void transfer_memory(uint8_t *from, uint8_t *to, size_t bytes)
{
    static unsigned seed;
    void           *send, *receive;

    ++seed;
    pattern_fill(from, bytes, seed);
    memset(to, 0, bytes);
    receive = pair_receive(&pair, 1, to, bytes, TAG);
    send    = pair_send(&pair, 0, from, bytes, TAG);
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    pattern_check(to, bytes, seed);
    ck_assert_str_eq(mock->bad(), "");
}

static void transfer_bytes(unsigned from, unsigned to, size_t bytes)
{
    transfer_memory(area_page(from), area_page(to), bytes);
}

static void transfer(unsigned from, unsigned to)
{
    transfer_bytes(from, to, BYTES);
}

/* ---- how long ---- */

/* Nobody tells of unmaps: for the message, or the piece. */
static void plain__lasts_one_message(const struct test_param *param)
{
    unsigned first;

    open_pair(param, false);
    transfer(0, PAGES);
    first = registered();
    ck_assert_uint_ge(first, 2);
    for (unsigned i = 2; i < 5; ++i) {
        transfer(0, PAGES);
        ck_assert_uint_eq(registered(), i * first);
        ck_assert_uint_eq(mock->pinned_bytes(0) + mock->pinned_bytes(1), 0);
    }
    ck_assert_uint_eq(count(0, UCP_REG_COUNT_HITS), 0);
    ck_assert_uint_eq(count(0, UCP_REG_COUNT_MISSES) +
                          count(1, UCP_REG_COUNT_MISSES),
                      4 * first);
    close_pair();
}

static void reported__is_kept(const struct test_param *param)
{
    unsigned first;

    open_pair(param, true);
    transfer(0, PAGES);
    first = registered();
    for (unsigned i = 0; i < 5; ++i) {
        transfer(0, PAGES);
    }
    ck_assert_uint_eq(registered(), first);
    for (int side = 0; side < 2; ++side) {
        ck_assert_uint_eq(mock->pinned_bytes(side), cache_of(side)->kept_bytes);
        ck_assert_uint_eq(count(side, UCP_REG_COUNT_HITS),
                          5 * count(side, UCP_REG_COUNT_MISSES));
    }
    close_pair();
}

static ucp_mem_h map(int side, unsigned page, unsigned count)
{
    const ucp_mem_map_params_t params = {
        .field_mask =
            UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = area_page(page),
        .length  = (size_t)count * AREA_PAGE_BYTES,
    };
    ucp_mem_h mem;

    ck_assert_int_eq(ucp_mem_map(pair.contexts[side], &params, &mem), UCS_OK);
    return mem;
}

static void unmap(int side, ucp_mem_h mem)
{
    ck_assert_int_eq(ucp_mem_unmap(pair.contexts[side], mem), UCS_OK);
}

/* Memory that the user mapped: nothing is registered any more, with the
 * handle given and without. */
static void mapped__registers_nothing(const struct test_param *param)
{
    ucp_request_param_t with = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH};
    ucp_mem_h           mems[2];
    void               *requests[2];

    open_pair(param, false);
    mems[0] = map(0, 0, PAGES);
    mems[1] = map(1, PAGES, PAGES);
    ck_assert_uint_eq(registered(), 2);
    for (unsigned i = 0; i < 3; ++i) {
        transfer(0, PAGES);
        with.memh   = mems[1];
        requests[1] = ucp_tag_recv_nbx(pair.workers[1], area_page(PAGES), BYTES,
                                       TAG, UINT64_MAX, &with);
        with.memh   = mems[0];
        requests[0] =
            ucp_tag_send_nbx(pair.eps[0], area_page(0), BYTES, TAG, &with);
        ck_assert_int_eq(pair_wait(&pair, requests[0]), UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, requests[1]), UCS_OK);
    }
    ck_assert_uint_eq(registered(), 2);
    for (int side = 0; side < 2; ++side) {
        ck_assert_uint_eq(count(side, UCP_REG_COUNT_MISSES), 0);
        ck_assert_uint_ge(count(side, UCP_REG_COUNT_HITS), 6);
        unmap(side, mems[side]);
    }
    ck_assert_uint_eq(mock->mem_count(0) + mock->mem_count(1), 0);
    close_pair();
}

/* Mapped, unmapped, other pages there, mapped: each handle is its own. */
static void mapped__comes_again(const struct test_param *param)
{
    open_pair(param, false);
    for (int way = 0; way < AREA_WAY_COUNT; ++way) {
        ucp_mem_h mems[2] = {map(0, 0, PAGES), map(1, PAGES, PAGES)};

        transfer(0, PAGES);
        for (int side = 0; side < 2; ++side) {
            unmap(side, mems[side]);
        }
        area_remap(0, 2 * PAGES, way);
        transfer(0, PAGES);
    }
    close_pair();
}

/* ---- memory that goes ---- */

static void memory_comes_again(const struct test_param *param, bool is_reported)
{
    open_pair(param, is_reported);
    for (int way = 0; way < AREA_WAY_COUNT; ++way) {
        for (unsigned i = 0; i < 4; ++i) {
            transfer(0, PAGES);
            transfer(0, PAGES);
            area_remap((i & 1) ? PAGES : 0, PAGES, way);
            area_remap((i & 1) ? 5 : PAGES + 7, 1 + (i & 2), way); /* inside */
        }
    }
    if (is_reported) {
        ck_assert_uint_gt(count(0, UCP_REG_COUNT_REPORTS), 0);
        ck_assert_uint_gt(count(0, UCP_REG_COUNT_HITS), 0);
    }
    close_pair();
}

static void plain__memory_comes_again(const struct test_param *param)
{
    memory_comes_again(param, false);
}

static void reported__memory_comes_again(const struct test_param *param)
{
    memory_comes_again(param, true);
}

/* Buffers from malloc, freed, and given again at the same address. */
static void reported__malloc_gives_it_again(const struct test_param *param)
{
    enum { BUFFER_BYTES = 300000, ROUNDS = 30 };
    unsigned same = 0;

    open_pair(param, true);
    for (unsigned i = 0; i < ROUNDS; ++i) {
        size_t   bytes = BUFFER_BYTES + (i % 3) * AREA_PAGE_BYTES;
        uint8_t *from  = area_malloc(bytes);
        uint8_t *to    = area_malloc(bytes);

        same += (area_generation(from, bytes) > 0);
        transfer_memory(from, to, bytes);
        transfer_memory(from, to, bytes);
        area_free(from);
        area_free(to);
    }
    if (!UCS_HAS_ASAN && !UCS_HAS_TSAN) {
        ck_assert_uint_gt(same, 0); /* else it shows nothing */
    }
    ck_assert_uint_ge(count(0, UCP_REG_COUNT_HITS), ROUNDS);
    close_pair();
}

/* An allocator inside the library unmaps and tells: while memory is
 * registered, and while operations are given to the transport. */
static void reported__inside_the_library(const struct test_param *param)
{
    open_pair(param, true);
    mock->setup->generation = area_generation_noisy;
    for (unsigned i = 0; i < 300; ++i) {
        transfer(0, PAGES);
        if (i % 16 == 0) {
            area_remap(0, 2 * PAGES, AREA_MMAP);
        }
    }
    ck_assert_uint_gt(count(0, UCP_REG_COUNT_HITS), 0);
    close_pair();
}

/* A runtime that promises to tell and does not: the mock finds it out. So
 * these tests can fail. */
static void reported__by_a_liar(const struct test_param *param)
{
    void *send, *receive;

    open_pair(param, true);
    transfer(0, PAGES);
    area_forget_to_tell();
    area_remap(0, 2 * PAGES, AREA_MUNMAP);
    receive = pair_receive(&pair, 1, area_page(PAGES), BYTES, TAG);
    send    = pair_send(&pair, 0, area_page(0), BYTES, TAG);
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    ck_assert_ptr_nonnull(strstr(mock->bad(), "gone"));
    pair_close(&pair);
    mock->reset();
    area_close();
}

/* Is a put or get of the message on its way? */
static bool is_moving(void)
{
    for (unsigned i = 0; i < mock->event_count(); ++i) {
        if ((mock->event(i)->type == MOCK_PUT) ||
            (mock->event(i)->type == MOCK_GET)) {
            return true;
        }
    }
    return false;
}

/* Both buffers go while the transport has them, which is the user's fault:
 * the message ends, and the next one registers what is there then. */
static void reported__under_a_message(const struct test_param *param)
{
    void *send, *receive;

    (void)setenv("UCX_RNDV_FRAG_SIZE", "1m", 1); /* one piece */
    open_pair(param, true);
    mock->setup->is_held = true;
    receive              = pair_receive(&pair, 1, area_page(PAGES), BYTES, TAG);
    send                 = pair_send(&pair, 0, area_page(0), BYTES, TAG);
    pair_settle(&pair);
    while (!is_moving()) {
        ck_assert(mock->deliver(mock->next(MOCK_OLDEST)));
        pair_settle(&pair);
    }
    area_remap(0, 2 * PAGES, AREA_MUNMAP);
    mock->setup->is_held = false;
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
    ck_assert_str_eq(mock->bad(), "");
    transfer(0, PAGES);
    for (int side = 0; side < 2; ++side) {
        ck_assert_uint_eq(count(side, UCP_REG_COUNT_MISSES), 2);
        ck_assert_uint_eq(mock->mem_count(side), 1);
    }
    close_pair();
}

/* ---- limits ---- */

/* Many buffers under a limit: between messages never more than it allows. */
static void limits__of_what_is_kept(const struct test_param *param)
{
    enum { BUFFER_COUNT = 8, LIMIT = 3 * PAGES * AREA_PAGE_BYTES };

    (void)setenv("UCX_RCACHE_MAX_SIZE", "294912", 1);
    open_pair(param, true);
    ck_assert_uint_eq(cache_of(0)->limits.bytes_max, LIMIT);
    for (unsigned i = 0; i < 5 * BUFFER_COUNT; ++i) {
        transfer(PAGES * (i % BUFFER_COUNT), PAGES * (BUFFER_COUNT + i % 3));
        ck_assert_uint_le(mock->pinned_bytes(0), LIMIT);
        ck_assert_uint_eq(mock->pinned_bytes(0), cache_of(0)->kept_bytes);
    }
    /* S has too many, R has not. */
    ck_assert_uint_eq(count(0, UCP_REG_COUNT_HITS), 0);
    ck_assert_uint_gt(count(0, UCP_REG_COUNT_EVICTED), 0);
    ck_assert_uint_gt(count(1, UCP_REG_COUNT_HITS), 0);
    ck_assert_uint_eq(count(1, UCP_REG_COUNT_EVICTED), 0);
    close_pair();
}

/* The device takes one buffer: the one before must make room. It takes none:
 * the message goes without. */
static void limits__of_the_device(const struct test_param *param)
{
    open_pair(param, true);
    mock->setup->pinned_bytes_max = PAGES * AREA_PAGE_BYTES;
    for (unsigned i = 0; i < 6; ++i) {
        transfer(PAGES * (i % 3), PAGES * (3 + i % 2));
        ck_assert_uint_le(mock->pinned_bytes_peak(0), PAGES * AREA_PAGE_BYTES);
    }
    ck_assert_uint_gt(count(0, UCP_REG_COUNT_EVICTED), 0);
    ck_assert_uint_le(fragment_bytes(), 6 * 5000);
    mock->setup->pinned_bytes_max = 1000;
    for (unsigned i = 0; i < 3; ++i) {
        transfer(PAGES * (6 + i), PAGES * (9 + i));
    }
    ck_assert_uint_ge(fragment_bytes(), 3 * (BYTES - 20000));
    ck_assert_uint_eq(pair.error_count[0] + pair.error_count[1], 0);
    close_pair();
}

enum { SLOT_COUNT = 12, SLOT_PAGES = 32 };

static void soak(const struct test_param *param, bool is_reported)
{
    ucp_mem_h mems[SLOT_COUNT] = {NULL};

    (void)setenv("UCX_RCACHE_MAX_REGIONS", "9", 1);
    open_pair(param, is_reported);
    for (unsigned i = 0; i < 400; ++i) {
        unsigned from = 2 * (unsigned)test_random_below(SLOT_COUNT / 2);
        unsigned to   = from ^ (1 + 2 * (unsigned)test_random_below(2));
        unsigned slot = (unsigned)test_random_below(SLOT_COUNT);
        int      side = slot & 1;

        transfer_bytes(from * SLOT_PAGES, (to % SLOT_COUNT) * SLOT_PAGES,
                       1 + test_random_below(SLOT_PAGES * AREA_PAGE_BYTES));
        switch (test_random_below(3)) {
        case 0: /* mapped by its user, or no more */
            if (mems[slot] == NULL) {
                mems[slot] = map(side, slot * SLOT_PAGES, SLOT_PAGES);
            } else {
                unmap(side, mems[slot]);
                mems[slot] = NULL;
            }
            break;
        case 1:
            if (mems[slot] == NULL) {
                unsigned page = (unsigned)test_random_below(SLOT_PAGES);
                unsigned count =
                    1 + (unsigned)test_random_below(SLOT_PAGES - page);

                area_remap(slot * SLOT_PAGES + page, count,
                           (enum area_way)test_random_below(AREA_WAY_COUNT));
            }
            break;
        default:
            break;
        }
    }
    for (unsigned slot = 0; slot < SLOT_COUNT; ++slot) {
        if (mems[slot] != NULL) {
            unmap(slot & 1, mems[slot]);
        }
    }
    close_pair();
}

static void plain__anything(const struct test_param *param)
{
    soak(param, false);
}

static void reported__anything(const struct test_param *param)
{
    soak(param, true);
}

/* ---- another thread ---- */

static void reported__by_another_thread(const struct test_param *param)
{
    open_pair(param, true);
    area_thread_start(SLOT_PAGES);
    for (unsigned i = 0; i < 300; ++i) {
        unsigned slot = 2 * (i % (SLOT_COUNT / 2));

        area_thread_wait(slot);
        area_thread_wait(slot + 1);
        transfer(slot * SLOT_PAGES, (slot + 1) * SLOT_PAGES);
        transfer(slot * SLOT_PAGES, (slot + 1) * SLOT_PAGES);
        area_thread_give(slot + i % 2);
    }
    area_thread_stop();
    ck_assert_uint_gt(count(0, UCP_REG_COUNT_HITS), 0);
    close_pair();
}

static const struct test_case registration_cases[] = {
    TEST(plain__lasts_one_message),
    TEST(reported__is_kept),
    TEST(mapped__registers_nothing),
    TEST(mapped__comes_again),
    TEST(plain__memory_comes_again),
    TEST(reported__memory_comes_again),
    TEST(reported__malloc_gives_it_again),
    TEST(reported__inside_the_library),
    TEST(reported__by_a_liar),
    TEST(reported__under_a_message),
    TEST(limits__of_what_is_kept),
    TEST(limits__of_the_device),
    TEST(plain__anything),
    TEST(reported__anything),
    TEST(reported__by_another_thread),
    {0}};

const struct test_suite registration_suite = {
    .name = "registration", .cases = registration_cases, .params = schemes};
