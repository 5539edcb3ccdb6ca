/* SPDX-License-Identifier: BSD-3-Clause */
/* test_self_rma.c - what only one process can ask: overlap. */
#include "uct/self/self.h"

#include "uct/self_stage.h"

static void put__source_and_target_may_overlap(const struct test_param *param)
{
    char                 text[] = "abcdefgh";
    struct uct_iov       iov    = {.buffer = text, .length = 6};
    uint8_t              bytes[UCT_RKEY_BYTES_MAX];
    struct uct_mem      *mem;
    struct uct_rkey     *rkey;
    struct uct_remote    remote = {.length = 6};
    const struct uct_rma rma    = {&iov, &remote, 1, 1};

    (void)param;
    ck_assert_int_eq(self_mem_register(md, text, 8, UCT_ACCESS_ALL, &mem),
                     UCS_OK);
    ck_assert_int_eq(
        self_rkey_unpack(md, bytes, self_rkey_pack(mem, bytes), &rkey), UCS_OK);
    remote.address = (uintptr_t)text + 2;
    remote.rkey    = rkey;
    ck_assert_int_eq(self_put_zcopy(ep, &rma, NULL, 0), UCS_OK);
    ck_assert_str_eq(text, "ababcdef");
    iov.buffer     = text + 2;
    remote.address = (uintptr_t)text;
    ck_assert_int_eq(self_get_zcopy(ep, &rma, NULL, 0), UCS_OK);
    ck_assert_str_eq(text, "abababcd");
    self_rkey_release(rkey);
    self_mem_release(mem);
}

static void atomic__checks_its_arguments(const struct test_param *param)
{
    uint64_t          word   = 0;
    struct uct_atomic atomic = {.op = UCT_ATOMIC_ADD, .size_bytes = 8};
    uint8_t           bytes[UCT_RKEY_BYTES_MAX];
    struct uct_mem   *mem;
    struct uct_rkey  *rkey;

    (void)param;
    ck_assert_int_eq(self_mem_register(md, &word, 8, UCT_ACCESS_ALL, &mem),
                     UCS_OK);
    ck_assert_int_eq(
        self_rkey_unpack(md, bytes, self_rkey_pack(mem, bytes), &rkey), UCS_OK);
    ck_assert_int_eq(
        self_atomic(ep, &atomic, (uintptr_t)&word + 4, rkey, NULL, 0),
        UCS_ERR_INVALID_PARAM);
    atomic.size_bytes = 2;
    ck_assert_int_eq(self_atomic(ep, &atomic, (uintptr_t)&word, rkey, NULL, 0),
                     UCS_ERR_INVALID_PARAM);
    atomic.size_bytes = 4;
    atomic.op         = UCT_ATOMIC_COUNT;
    ck_assert_int_eq(self_atomic(ep, &atomic, (uintptr_t)&word, rkey, NULL, 0),
                     UCS_ERR_INVALID_PARAM);
    self_rkey_release(rkey);
    self_mem_release(mem);
}

static const struct test_case cases[] = {
    TEST(put__source_and_target_may_overlap),
    TEST(atomic__checks_its_arguments),
    {0}};

const struct test_suite self_rma_suite = {
    .name = "self_rma", .cases = cases, .setup = setup, .teardown = teardown};
