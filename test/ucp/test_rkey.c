/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rkey.c - src/ucp/core/rkey.c, entry/rkey.c: keys given and taken, and
 * what a transport does with them. */
#include "ucp/core/rkey.h"

#include <stdio.h>
#include <string.h>

#include "ucp/core/worker.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucs/log_capture.h"

enum { BYTES = 1000 };

static const struct test_param self_param = {
    .name = "self", .value = &(const struct pair_setup){.tls = "self"}};

static struct pair pair;
static char        memory[BYTES];

static void setup(const struct test_param *param)
{
    (void)param;
    pair_open(&pair, &self_param, UCP_FEATURE_RMA, UCP_ERR_HANDLING_MODE_NONE);
}

static void teardown(const struct test_param *param)
{
    (void)param;
    pair_close(&pair);
}

static ucp_mem_h map(void *address, size_t length, unsigned prot)
{
    const ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                      UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_PROT,
        .address = address,
        .length  = length,
        .prot    = prot,
    };
    ucp_mem_h mem;

    ck_assert_int_eq(ucp_mem_map(pair.contexts[0], &params, &mem), UCS_OK);
    return mem;
}

static void unmap(ucp_mem_h mem)
{
    ck_assert_int_eq(ucp_mem_unmap(pair.contexts[0], mem), UCS_OK);
}

/* The key of a handle, taken by our own endpoint. */
static ucp_rkey_h key_of(ucp_mem_h mem)
{
    ucp_rkey_h rkey;
    void      *buffer;
    size_t     size;

    ck_assert_int_eq(ucp_rkey_pack(pair.contexts[0], mem, &buffer, &size),
                     UCS_OK);
    ck_assert_uint_le(size, 256);
    ck_assert_int_eq(ucp_ep_rkey_unpack(pair.eps[0], buffer, &rkey), UCS_OK);
    ucp_rkey_buffer_release(buffer);
    return rkey;
}

static ucs_status_t put(ucp_rkey_h rkey, uint64_t address, size_t length)
{
    static const char      data[BYTES];
    struct uct_ep         *ep  = pair.eps[0]->message_ep;
    const struct uct_rkey *key = ucp_rkey_for(rkey, pair.eps[0], 0);

    return ep->transport->put_short(ep, data, length, address, key, 0);
}

static ucs_status_t get(ucp_rkey_h rkey, uint64_t address, size_t length)
{
    static char            data[BYTES];
    struct uct_ep         *ep  = pair.eps[0]->message_ep;
    const struct uct_rkey *key = ucp_rkey_for(rkey, pair.eps[0], 0);

    return ep->transport->get_bcopy(ep, data, length, address, key, NULL, 0);
}

/* Inside: OK; one byte outside: not. And not at all after unmap. */
static void rkey__bounds(const struct test_param *param)
{
    ucp_mem_h  mem  = map(memory + 10, 100, UCP_MEM_MAP_PROT_REMOTE_WRITE);
    ucp_rkey_h rkey = key_of(mem);
    uint64_t   base = (uintptr_t)memory + 10;

    (void)param;
    ck_assert_int_eq(put(rkey, base, 100), UCS_OK);
    ck_assert_int_eq(put(rkey, base + 99, 1), UCS_OK);
    ck_assert_int_eq(put(rkey, base, 101), UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(put(rkey, base - 1, 1), UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(put(rkey, UINT64_MAX - 10, 100), UCS_ERR_INVALID_ADDR);
    unmap(mem);
    ck_assert_int_eq(put(rkey, base, 100), UCS_ERR_INVALID_ADDR);
    ucp_rkey_destroy(rkey);
}

static void rkey__rights(const struct test_param *param)
{
    static const struct {
        unsigned prot;
        bool     put, get;
    } rows[] = {
        {UCP_MEM_MAP_PROT_REMOTE_READ, false, true},
        {UCP_MEM_MAP_PROT_REMOTE_WRITE, true, false},
        {UCP_MEM_MAP_PROT_REMOTE_READ | UCP_MEM_MAP_PROT_REMOTE_WRITE, true,
         true},
        {UCP_MEM_MAP_PROT_LOCAL_READ, false, false},
        {0, false, false},
    };

    (void)param;
    for (size_t i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        ucp_mem_h  mem  = map(memory, BYTES, rows[i].prot);
        ucp_rkey_h rkey = key_of(mem);
        uint64_t   base = (uintptr_t)memory;

        ck_assert_int_eq(put(rkey, base, 8),
                         rows[i].put ? UCS_OK : UCS_ERR_INVALID_ADDR);
        ck_assert_int_eq(get(rkey, base, 8),
                         rows[i].get ? UCS_OK : UCS_ERR_INVALID_ADDR);
        ucp_rkey_destroy(rkey);
        unmap(mem);
    }
}

/* Two handles over the same memory have rights of their own, also when an
 * operation's registration lies between them. */
static void rkey__rights_of_overlapping_handles(const struct test_param *param)
{
    struct ucp_reg_cache *regs = &pair.contexts[0]->regs;
    struct uct_md        *md   = pair.contexts[0]->resources[0].md;
    ucp_mem_h       open = map(memory, BYTES, UCP_MEM_MAP_PROT_REMOTE_WRITE);
    ucp_mem_h       shut = map(memory, BYTES, UCP_MEM_MAP_PROT_REMOTE_READ);
    ucp_rkey_h      key_open = key_of(open), key_shut = key_of(shut);
    struct ucp_reg *reg;

    (void)param;
    ck_assert_int_eq(ucp_reg_get(regs, md, memory, BYTES, UCT_ACCESS_ALL, &reg),
                     UCS_OK);
    ucp_reg_put(reg);
    ck_assert_int_eq(put(key_open, (uintptr_t)memory, 8), UCS_OK);
    ck_assert_int_eq(put(key_shut, (uintptr_t)memory, 8), UCS_ERR_INVALID_ADDR);
    unmap(open);
    ck_assert_int_eq(put(key_open, (uintptr_t)memory, 8), UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(get(key_shut, (uintptr_t)memory, 8), UCS_OK);
    unmap(shut);
    ucp_rkey_destroy(key_open);
    ucp_rkey_destroy(key_shut);
}

static void rkey__pointer(const struct test_param *param)
{
    ucp_mem_h  mem     = map(memory, BYTES, UCP_MEM_MAP_PROT_REMOTE_READ);
    ucp_rkey_h rkey    = key_of(mem);
    uint64_t   base    = (uintptr_t)memory;
    void      *pointer = NULL;

    (void)param;
    ck_assert_int_eq(ucp_rkey_ptr(rkey, base + 5, &pointer), UCS_OK);
    ck_assert_ptr_eq(pointer, memory + 5);
    ck_assert_int_eq(ucp_rkey_ptr(rkey, base + BYTES - 1, &pointer), UCS_OK);
    pointer = NULL;
    ck_assert_int_eq(ucp_rkey_ptr(rkey, base + BYTES, &pointer),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(ucp_rkey_ptr(rkey, base - 1, &pointer),
                     UCS_ERR_INVALID_ADDR);
    ck_assert_ptr_null(pointer);
    unmap(mem);
    ck_assert_int_eq(ucp_rkey_ptr(rkey, base, &pointer), UCS_ERR_UNREACHABLE);
    ucp_rkey_destroy(rkey);
}

/* Length 0: a key to nothing, which is taken. */
static void rkey__of_nothing(const struct test_param *param)
{
    ucp_mem_h  mem  = map(NULL, 0, 0);
    ucp_rkey_h rkey = key_of(mem);
    void      *pointer;

    (void)param;
    ck_assert_uint_eq(rkey->key_count, 0);
    ck_assert_int_eq(ucp_rkey_ptr(rkey, 0, &pointer), UCS_ERR_UNREACHABLE);
    ucp_rkey_destroy(rkey);
    unmap(mem);
}

/* Bytes that are no key: a status and one line. */
static void rkey__garbage(const struct test_param *param)
{
    static const uint8_t garbage[3][8] = {
        {0},
        {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
        {'C', 'k', 1, 1, 0xff, 0x03, 0, 0},
    };
    ucp_rkey_h rkey = NULL;

    (void)param;
    for (unsigned i = 0; i < 3; ++i) {
        log_capture_start();
        ck_assert_int_eq(ucp_ep_rkey_unpack(pair.eps[0], garbage[i], &rkey),
                         UCS_ERR_INVALID_PARAM);
        ck_assert_uint_eq(log_captured.count, 1);
        ck_assert_ptr_null(rkey);
    }
}

/* A key of transports that no lane has, and one that the transport refuses. */
static void rkey__unreachable(const struct test_param *param)
{
    static const uint8_t nonsense[3] = {9, 9, 9};
    struct ucp_rkey_view view        = {.name = 1, .key_count = 2};
    uint8_t              bytes[UCP_RKEY_BYTES_MAX];
    ucp_rkey_h           rkey = NULL;

    (void)param;
    for (unsigned i = 0; i < 2; ++i) {
        snprintf(view.keys[i].transport, UCT_NAME_BYTES_MAX, "%s",
                 (i == 0) ? "strange" : "self");
        view.keys[i].bytes      = nonsense;
        view.keys[i].size_bytes = sizeof(nonsense);
    }
    (void)ucp_rkey_encode(&view, bytes);
    ck_assert_int_eq(ucp_ep_rkey_unpack(pair.eps[0], bytes, &rkey),
                     UCS_ERR_UNREACHABLE);
    ck_assert_ptr_null(rkey);
}

static void rkey__compare(const struct test_param *param)
{
    const ucp_rkey_compare_params_t same = {0}, unknown = {.field_mask = 1};
    ucp_mem_h    a = map(memory, BYTES, 0), b = map(memory, BYTES, 0);
    ucp_rkey_h   a1 = key_of(a), a2 = key_of(a), b1 = key_of(b);
    ucp_worker_h worker = pair.workers[0];
    int          result = 7, back = 7;

    (void)param;
    ck_assert_int_eq(ucp_rkey_compare(worker, a1, a2, &same, &result), UCS_OK);
    ck_assert_int_eq(result, 0);
    ck_assert_int_eq(ucp_rkey_compare(worker, a1, b1, &same, &result), UCS_OK);
    ck_assert_int_eq(ucp_rkey_compare(worker, b1, a1, &same, &back), UCS_OK);
    ck_assert_int_ne(result, 0);
    ck_assert_int_eq(result, -back);
    ck_assert_int_eq(ucp_rkey_compare(worker, a1, a2, &unknown, &result),
                     UCS_ERR_INVALID_PARAM);
    ucp_rkey_destroy(a1);
    ucp_rkey_destroy(a2);
    ucp_rkey_destroy(b1);
    unmap(a);
    unmap(b);
}

/* Without EXPORT it is the same as ucp_rkey_pack; with it, not to be had. */
static void rkey__memh_pack(const struct test_param *param)
{
    ucp_memh_pack_params_t params = {.field_mask =
                                         UCP_MEMH_PACK_PARAM_FIELD_FLAGS};
    ucp_mem_h  mem = map(memory, BYTES, UCP_MEM_MAP_PROT_REMOTE_READ);
    ucp_rkey_h rkey;
    void      *buffer;
    size_t     size;

    (void)param;
    ck_assert_int_eq(ucp_memh_pack(mem, &params, &buffer, &size), UCS_OK);
    ck_assert_int_eq(ucp_ep_rkey_unpack(pair.eps[0], buffer, &rkey), UCS_OK);
    ucp_rkey_destroy(rkey);
    ucp_memh_buffer_release(buffer, NULL);
    params.flags = UCP_MEMH_PACK_FLAG_EXPORT;
    ck_assert_int_eq(ucp_memh_pack(mem, &params, &buffer, &size),
                     UCS_ERR_UNSUPPORTED);
    unmap(mem);
}

/* The memory of another context, over shared memory: the key is taken and
 * moves bytes inside its bounds; a pointer is not to be had. */
static void rkey__of_another_context(const struct test_param *param)
{
    static const struct pair_setup sm = {.tls = "sm"};
    static struct pair             two;
    const ucp_mem_map_params_t     params = {
            .field_mask =
                UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
            .address = memory,
            .length  = 100,
    };
    char                   data[101];
    const struct uct_rkey *key;
    struct uct_ep         *ep;
    ucp_rkey_h             rkey;
    ucp_mem_h              mem;
    void                  *buffer, *pointer;
    size_t                 size;
    ucs_status_t           status;

    (void)param;
    pair_open_setup(&two, &sm, UCP_FEATURE_RMA, UCP_ERR_HANDLING_MODE_NONE);
    pair_meet(&two);
    pattern_fill(memory, BYTES, 5);
    ck_assert_int_eq(ucp_mem_map(two.contexts[1], &params, &mem), UCS_OK);
    ck_assert_int_eq(ucp_rkey_pack(two.contexts[1], mem, &buffer, &size),
                     UCS_OK);
    ck_assert_uint_le(size, 256);
    ck_assert_int_eq(ucp_ep_rkey_unpack(two.eps[0], buffer, &rkey), UCS_OK);
    ucp_rkey_buffer_release(buffer);
    ck_assert_int_eq(ucp_rkey_ptr(rkey, (uintptr_t)memory, &pointer),
                     UCS_ERR_UNREACHABLE);
    ep  = two.eps[0]->message_ep;
    key = ucp_rkey_for(rkey, two.eps[0], 0);
    do {
        pair_progress(&two);
        status = ep->transport->get_bcopy(ep, data, 100, (uintptr_t)memory, key,
                                          NULL, 0);
    } while (status == UCS_ERR_WOULD_BLOCK);
    if (status != UCS_ERR_UNSUPPORTED) { /* the kernel may forbid it */
        ck_assert_int_eq(status, UCS_OK);
        pattern_check(data, 100, 5);
        ck_assert_int_eq(ep->transport->get_bcopy(
                             ep, data, 101, (uintptr_t)memory, key, NULL, 0),
                         UCS_ERR_INVALID_ADDR);
    }
    ucp_rkey_destroy(rkey);
    ck_assert_int_eq(ucp_mem_unmap(two.contexts[1], mem), UCS_OK);
    pair_close(&two);
}

/* ---- stale, forged, damaged ---- */

/* A key of memory that was mapped, unmapped and mapped again is not that of
 * the new handle: its transport's name is another. */
static void rkey__stale(const struct test_param *param)
{
    ucp_mem_h  old      = map(memory, BYTES, UCP_MEM_MAP_PROT_REMOTE_WRITE);
    ucp_rkey_h old_rkey = key_of(old), rkey;
    ucp_mem_h  mem;

    (void)param;
    unmap(old);
    mem  = map(memory, BYTES, UCP_MEM_MAP_PROT_REMOTE_WRITE);
    rkey = key_of(mem);
    ck_assert_int_eq(put(old_rkey, (uintptr_t)memory, 8), UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(put(rkey, (uintptr_t)memory, 8), UCS_OK);
    ucp_rkey_destroy(old_rkey);
    ucp_rkey_destroy(rkey);
    unmap(mem);
}

/* A liar mends head and checksum after each bit that he flips in self's key:
 * no such key opens anything. */
static void rkey__forged(const struct test_param *param)
{
    ucp_mem_h mem = map(memory, BYTES, UCP_MEM_MAP_PROT_REMOTE_WRITE);
    uint8_t   bytes[UCP_RKEY_BYTES_MAX], key[UCT_RKEY_BYTES_MAX];
    char      reason[UCT_REASON_BYTES_MAX];
    struct ucp_rkey_view view;
    ucp_rkey_h           rkey;

    (void)param;
    ck_assert_int_eq(
        ucp_rkey_decode(bytes, ucp_rkey_write(mem, bytes), &view, reason),
        UCS_OK);
    ck_assert_uint_eq(view.key_count, 1);
    memcpy(key, view.keys[0].bytes, view.keys[0].size_bytes);
    view.keys[0].bytes = key;
    for (size_t bit = 0; bit < 8 * view.keys[0].size_bytes; ++bit) {
        key[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        (void)ucp_rkey_encode(&view, bytes);
        if (ucp_ep_rkey_unpack(pair.eps[0], bytes, &rkey) == UCS_OK) {
            ck_assert_int_eq(put(rkey, (uintptr_t)memory, 8),
                             UCS_ERR_INVALID_ADDR);
            ucp_rkey_destroy(rkey);
        }
        key[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    unmap(mem);
}

static const struct test_case rkey_cases[] = {
    TEST(rkey__bounds),
    TEST(rkey__rights),
    TEST(rkey__rights_of_overlapping_handles),
    TEST(rkey__pointer),
    TEST(rkey__of_nothing),
    TEST(rkey__garbage),
    TEST(rkey__unreachable),
    TEST(rkey__compare),
    TEST(rkey__memh_pack),
    TEST(rkey__of_another_context),
    TEST(rkey__stale),
    TEST(rkey__forged),
    {0},
};

const struct test_suite rkey_suite = {
    .name = "rkey", .cases = rkey_cases, .setup = setup, .teardown = teardown};
