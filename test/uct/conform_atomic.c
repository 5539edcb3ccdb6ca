/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_atomic.c - every operation, both sizes, with and without fetch, and
 * many at once from several endpoints. */

#include "uct/conform_rma.h"

static ucs_status_t do_atomic(struct target *target, struct lane *lane,
                              const struct uct_atomic *atomic, uint64_t offset)
{
    ucs_status_t status;

    do {
        status = target->world.here->tl->atomic(
            lane->ep, atomic, target->address + offset, target->rkey,
            target_req(target), 0);
        if (status == UCS_ERR_WOULD_BLOCK) {
            world_step(&target->world);
        }
    } while (status == UCS_ERR_WOULD_BLOCK);
    return target_wait(target, status);
}

static uint64_t expected_value(const struct uct_atomic *atomic, uint64_t old)
{
    switch (atomic->op) {
    case UCT_ATOMIC_ADD:
        return old + atomic->operand;
    case UCT_ATOMIC_AND:
        return old & atomic->operand;
    case UCT_ATOMIC_OR:
        return old | atomic->operand;
    case UCT_ATOMIC_XOR:
        return old ^ atomic->operand;
    case UCT_ATOMIC_SWAP:
        return atomic->operand;
    case UCT_ATOMIC_CSWAP:
        return (old == atomic->compare) ? atomic->operand : old;
    case UCT_ATOMIC_COUNT:
        break;
    }
    return 0;
}

/* One word between two guards. */
static void try_one(struct target *target, enum uct_atomic_op op,
                    unsigned size_bytes, bool is_fetching)
{
    uint64_t mask            = (size_bytes == 8) ? UINT64_MAX : UINT32_MAX;
    uint64_t old             = test_random() & mask;
    uint64_t result[2]       = {0x5555555555555555ull, 0x5555555555555555ull};
    uint64_t words[3]        = {~0ull, 0, ~0ull};
    uint64_t value           = 0;
    struct uct_atomic atomic = {.op         = op,
                                .size_bytes = size_bytes,
                                .operand    = test_random() & mask,
                                .compare    = old,
                                .result     = is_fetching ? &result[0] : NULL};

    if (test_random_below(2) == 0) {
        atomic.compare = (old + 1) & mask; /* CSWAP fails */
    }
    memcpy(&words[1], &old, 8);
    target_write(target, 0, words, sizeof(words));
    conform_must(do_atomic(target, target->lane, &atomic, 8), "atomic");
    target_flush(target);
    target_read(target, 0, words, sizeof(words));
    memcpy(&value, &words[1], size_bytes);
    ck_assert_uint_eq(value, expected_value(&atomic, old) & mask);
    ck_assert_uint_eq(words[0], ~0ull);
    ck_assert_uint_eq(words[2], ~0ull);
    if (size_bytes == 4) {
        ck_assert_uint_eq(words[1] >> 32, 0); /* the bytes behind */
    }
    if (is_fetching) {
        value = 0;
        memcpy(&value, &result[0], size_bytes);
        ck_assert_uint_eq(value, old);
        ck_assert_uint_eq(result[1], 0x5555555555555555ull);
    }
}

static void atomic__every_operation(const struct test_param *param)
{
    struct target target;
    unsigned      op, round;

    target_open(&target, param, UCT_CAP_ATOMIC, UCT_ACCESS_ALL);
    for (round = 0; round < 20; ++round) {
        for (op = 0; op < UCT_ATOMIC_COUNT; ++op) {
            try_one(&target, (enum uct_atomic_op)op, 4, false);
            try_one(&target, (enum uct_atomic_op)op, 4, true);
            try_one(&target, (enum uct_atomic_op)op, 8, false);
            try_one(&target, (enum uct_atomic_op)op, 8, true);
        }
    }
    target_close(&target);
}

/* Four endpoints add and fetch; every old value comes once, the sum is
 * exact. */
static void atomic__fetched_values_are_distinct(const struct test_param *param)
{
    enum { ROUNDS = 500, LANES = 4 };
    static bool       seen[ROUNDS * LANES];
    struct target     target;
    struct lane      *lanes[LANES];
    uint64_t          old = 0, sum = 0;
    struct uct_atomic atomic = {
        .op = UCT_ATOMIC_ADD, .size_bytes = 8, .operand = 1, .result = &old};
    unsigned round, index;

    memset(seen, 0, sizeof(seen));
    target_open(&target, param, UCT_CAP_ATOMIC, UCT_ACCESS_ALL);
    for (index = 0; index < LANES; ++index) {
        lanes[index] = world_lane(&target.world);
    }
    for (round = 0; round < ROUNDS; ++round) {
        for (index = 0; index < LANES; ++index) {
            conform_must(do_atomic(&target, lanes[index], &atomic, 0), "add");
            ck_assert_uint_lt(old, ROUNDS * LANES);
            ck_assert(!seen[old]);
            seen[old] = true;
        }
    }
    target_flush(&target);
    target_read(&target, 0, &sum, sizeof(sum));
    ck_assert_uint_eq(sum, ROUNDS * LANES);
    target_close(&target);
}

static void atomic__checks_alignment_and_bounds(const struct test_param *param)
{
    struct target     target;
    struct uct_atomic atomic = {.op = UCT_ATOMIC_ADD, .size_bytes = 8};

    target_open(&target, param, UCT_CAP_ATOMIC, UCT_ACCESS_ALL);
    ck_assert_int_eq(do_atomic(&target, target.lane, &atomic, 4),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(
        do_atomic(&target, target.lane, &atomic, CONFORM_REGION_BYTES),
        UCS_ERR_INVALID_ADDR);
    ck_assert_int_eq(do_atomic(&target, target.lane, &atomic, (uint64_t)-8),
                     UCS_ERR_INVALID_ADDR);
    target_close(&target);
}

static void atomic__needs_its_right(const struct test_param *param)
{
    struct target     target;
    struct uct_atomic atomic = {.op = UCT_ATOMIC_ADD, .size_bytes = 8};

    target_open(&target, param, UCT_CAP_ATOMIC,
                UCT_ACCESS_REMOTE_READ | UCT_ACCESS_REMOTE_WRITE);
    ck_assert_int_eq(do_atomic(&target, target.lane, &atomic, 0),
                     UCS_ERR_INVALID_ADDR);
    target_close(&target);
}

static const struct test_case cases[] = {
    TEST(atomic__every_operation),
    TEST(atomic__fetched_values_are_distinct),
    TEST(atomic__checks_alignment_and_bounds),
    TEST(atomic__needs_its_right),
    {0}};

struct test_suite conform_atomic_suite = {.name  = "conform_atomic",
                                          .cases = cases};
