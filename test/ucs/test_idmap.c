/* SPDX-License-Identifier: BSD-3-Clause */
/* test_idmap.c - ids with generations. */
#include "ucs/idmap.h"

#include "ucs/random_model.h"
#include "ucs/suites.h"

static struct ucs_idmap map;
static char             objects[3];

static void setup(const struct test_param *param)
{
    (void)param;
    ucsi_idmap_init(&map);
}

static void teardown(const struct test_param *param)
{
    (void)param;
    ucsi_idmap_cleanup(&map);
}

static uint64_t add(void *pointer)
{
    uint64_t id = 0;

    ck_assert_int_eq(ucsi_idmap_add(&map, pointer, &id), UCS_OK);
    ck_assert_uint_ne(id, 0);
    return id;
}

static void empty__finds_nothing(const struct test_param *param)
{
    uint32_t cursor = 0;

    (void)param;
    ck_assert_ptr_null(ucs_idmap_get(&map, 0));
    ck_assert_ptr_null(ucs_idmap_get(&map, UINT64_MAX));
    ck_assert_ptr_null(ucsi_idmap_remove(&map, 1ull << 32));
    ck_assert_ptr_null(ucsi_idmap_next(&map, &cursor));
}

static void get__finds_what_was_added(const struct test_param *param)
{
    uint64_t first  = add(&objects[0]);
    uint64_t second = add(&objects[1]);

    (void)param;
    ck_assert_uint_ne(first, second);
    ck_assert_ptr_eq(ucs_idmap_get(&map, first), &objects[0]);
    ck_assert_ptr_eq(ucs_idmap_get(&map, second), &objects[1]);
    ck_assert_uint_eq(ucs_idmap_count(&map), 2);
}

static void get__forged_id(const struct test_param *param)
{
    uint64_t id = add(&objects[0]);

    (void)param;
    ck_assert_ptr_null(ucs_idmap_get(&map, id + (1ull << 32)));
    ck_assert_ptr_null(ucs_idmap_get(&map, id - (1ull << 32)));
    ck_assert_ptr_null(ucs_idmap_get(&map, id + 1)); /* a free slot */
    ck_assert_ptr_null(ucs_idmap_get(&map, id | UINT32_MAX));
    ck_assert_ptr_null(ucs_idmap_get(&map, 0));
}

static void remove__makes_the_id_stale(const struct test_param *param)
{
    uint64_t id = add(&objects[0]);
    unsigned i;

    (void)param;
    ck_assert_ptr_eq(ucsi_idmap_remove(&map, id), &objects[0]);
    ck_assert_ptr_null(ucs_idmap_get(&map, id));
    ck_assert_ptr_null(ucsi_idmap_remove(&map, id));
    ck_assert_uint_eq(ucs_idmap_count(&map), 0);
    for (i = 0; i < 1000; ++i) { /* the index is used again, the id is not */
        ck_assert_ptr_eq(ucsi_idmap_remove(&map, add(&objects[1])),
                         &objects[1]);
        ck_assert_ptr_null(ucs_idmap_get(&map, id));
    }
}

static void remove__index_is_reused_last(const struct test_param *param)
{
    uint32_t index = (uint32_t)add(&objects[0]);
    uint32_t i;

    (void)param;
    ck_assert_ptr_nonnull(ucsi_idmap_remove(&map, (1ull << 32) | index));
    for (i = 1; i < map.slot_count; ++i) {
        ck_assert_uint_ne((uint32_t)add(&objects[1]), index);
    }
    ck_assert_uint_eq((uint32_t)add(&objects[2]), index);
}

static void generation__skips_zero(const struct test_param *param)
{
    uint64_t id = add(&objects[0]);
    uint32_t i;

    (void)param;
    ck_assert_ptr_nonnull(ucsi_idmap_remove(&map, id));
    for (i = 0; i < map.slot_count; ++i) {
        map.slots[i].generation = UINT32_MAX; /* as after 2^32 uses */
    }
    for (i = 0; i < 2 * map.slot_count; ++i) {
        id = add(&objects[0]);
        ck_assert_uint_eq(id >> 32, (i < map.slot_count) ? UINT32_MAX : 1);
        ck_assert_ptr_nonnull(ucsi_idmap_remove(&map, id));
    }
}

static void grow__keeps_ids(const struct test_param *param)
{
    static uint64_t ids[5000];
    unsigned        i;

    (void)param;
    for (i = 0; i < 5000; ++i) {
        ids[i] = add(&objects[i % 3]);
    }
    for (i = 0; i < 5000; ++i) {
        if (ucs_idmap_get(&map, ids[i]) != &objects[i % 3]) {
            ck_abort_msg("id %llx", (unsigned long long)ids[i]);
        }
    }
}

static void next__may_remove_on_the_way(const struct test_param *param)
{
    uint32_t cursor = 0;
    uint64_t ids[3];
    int      i;

    (void)param;
    for (i = 0; i < 3; ++i) {
        ids[i] = add(&objects[i]);
    }
    for (i = 0; i < 3; ++i) {
        ck_assert_ptr_eq(ucsi_idmap_next(&map, &cursor), &objects[i]);
        ck_assert_ptr_nonnull(ucsi_idmap_remove(&map, ids[i]));
    }
    ck_assert_ptr_null(ucsi_idmap_next(&map, &cursor));
    ck_assert_uint_eq(ucs_idmap_count(&map), 0);
}

static void random__like_a_list(const struct test_param *param)
{
    (void)param;
    run_random_model(model_idmap, 500);
}

static const struct test_case cases[] = {TEST(empty__finds_nothing),
                                         TEST(get__finds_what_was_added),
                                         TEST(get__forged_id),
                                         TEST(remove__makes_the_id_stale),
                                         TEST(remove__index_is_reused_last),
                                         TEST(generation__skips_zero),
                                         TEST(grow__keeps_ids),
                                         TEST(next__may_remove_on_the_way),
                                         TEST(random__like_a_list),
                                         {0}};

const struct test_suite idmap_suite = {"idmap", cases, NULL, setup, teardown};
