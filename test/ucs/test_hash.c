/* SPDX-License-Identifier: BSD-3-Clause */
/* test_hash.c - map from 64-bit keys to pointers. */
#include "ucs/hash.h"

#include "ucs/random_model.h"
#include "ucs/suites.h"

static struct ucs_hash hash;
static char            objects[2];

static void setup(const struct test_param *param)
{
    (void)param;
    ucsi_hash_init(&hash, 0);
}

static void teardown(const struct test_param *param)
{
    (void)param;
    ucsi_hash_cleanup(&hash);
}

static void put(uint64_t key, void *value)
{
    ck_assert_int_eq(ucsi_hash_put(&hash, key, value), UCS_OK);
}

static void empty__has_nothing(const struct test_param *param)
{
    size_t cursor = 0;

    (void)param;
    ck_assert_ptr_null(ucsi_hash_get(&hash, 0));
    ck_assert_ptr_null(ucsi_hash_remove(&hash, 0));
    ck_assert_uint_eq(ucsi_hash_count(&hash), 0);
    ck_assert_ptr_null(ucsi_hash_next(&hash, &cursor, NULL));
}

static void put__any_key(const struct test_param *param)
{
    (void)param;
    put(0, &objects[0]);
    put(UINT64_MAX, &objects[1]);
    ck_assert_ptr_eq(ucsi_hash_get(&hash, 0), &objects[0]);
    ck_assert_ptr_eq(ucsi_hash_get(&hash, UINT64_MAX), &objects[1]);
    ck_assert_ptr_null(ucsi_hash_get(&hash, 1));
    ck_assert_uint_eq(ucsi_hash_count(&hash), 2);
}

static void put__replaces(const struct test_param *param)
{
    (void)param;
    put(7, &objects[0]);
    put(7, &objects[1]);
    ck_assert_ptr_eq(ucsi_hash_get(&hash, 7), &objects[1]);
    ck_assert_uint_eq(ucsi_hash_count(&hash), 1);
}

static void remove__gives_the_value_once(const struct test_param *param)
{
    (void)param;
    put(7, &objects[0]);
    ck_assert_ptr_eq(ucsi_hash_remove(&hash, 7), &objects[0]);
    ck_assert_ptr_null(ucsi_hash_remove(&hash, 7));
    ck_assert_ptr_null(ucsi_hash_get(&hash, 7));
    ck_assert_uint_eq(ucsi_hash_count(&hash), 0);
}

/* Many keys, put and removed again and again: places do not run out, as they
 * would with tombstones, and the array does not grow. */
static void remove__leaves_no_trace(const struct test_param *param)
{
    size_t   entry_count;
    uint64_t key;

    (void)param;
    for (key = 0; key < 12; ++key) {
        put(key, &objects[0]);
    }
    entry_count = hash.entry_count;
    for (key = 12; key < 10000; ++key) {
        ck_assert_ptr_eq(ucsi_hash_remove(&hash, key - 12), &objects[0]);
        put(key, &objects[0]);
    }
    ck_assert_uint_eq(hash.entry_count, entry_count);
    ck_assert_uint_eq(ucsi_hash_count(&hash), 12);
}

static void grow__keeps_all(const struct test_param *param)
{
    uint64_t key;

    (void)param;
    for (key = 0; key < 5000; ++key) {
        put(key << 40, &objects[key % 2]);
    }
    ck_assert_uint_eq(ucsi_hash_count(&hash), 5000);
    for (key = 0; key < 5000; ++key) {
        if (ucsi_hash_get(&hash, key << 40) != &objects[key % 2]) {
            ck_abort_msg("key %llu", (unsigned long long)key);
        }
    }
    ck_assert_ptr_null(ucsi_hash_get(&hash, 5000ull << 40));
}

/* Another seed spreads the same keys another way. */
static void seed__changes_the_order(const struct test_param *param)
{
    size_t          cursor = 0, other_cursor = 0;
    unsigned        differ_count = 0;
    struct ucs_hash other;
    uint64_t        key, other_key;

    (void)param;
    ucsi_hash_init(&other, 0x1234567812345678);
    for (key = 0; key < 500; ++key) {
        put(key, &objects[0]);
        ck_assert_int_eq(ucsi_hash_put(&other, key, &objects[0]), UCS_OK);
    }
    while (ucsi_hash_next(&hash, &cursor, &key) != NULL) {
        ck_assert_ptr_nonnull(
            ucsi_hash_next(&other, &other_cursor, &other_key));
        differ_count += (key != other_key);
    }
    ck_assert_uint_gt(differ_count, 400);
    ucsi_hash_cleanup(&other);
}

static void random__like_an_array(const struct test_param *param)
{
    (void)param;
    run_random_model(model_hash, 1000);
}

static const struct test_case cases[] = {TEST(empty__has_nothing),
                                         TEST(put__any_key),
                                         TEST(put__replaces),
                                         TEST(remove__gives_the_value_once),
                                         TEST(remove__leaves_no_trace),
                                         TEST(grow__keeps_all),
                                         TEST(seed__changes_the_order),
                                         TEST(random__like_an_array),
                                         {0}};

const struct test_suite hash_suite = {"hash", cases, NULL, setup, teardown};
