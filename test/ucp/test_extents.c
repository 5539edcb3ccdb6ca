/* SPDX-License-Identifier: BSD-3-Clause */
/* test_extents.c - src/ucp/proto/extents.c: against a byte for each byte, and
 * its limits. */
#include "ucp/proto/extents.h"

#include <string.h>

#include "lib/test.h"
#include "ucp/suites.h"

enum { BYTES = 200 };

static struct ucs_mpool   pool;
static struct ucp_extents set;

static void extents_setup(const struct test_param *param)
{
    const struct ucs_mpool_params params = {
        .name = "extents", .element_bytes = sizeof(struct ucp_extent)};

    (void)param;
    ck_assert_int_eq(ucsi_mpool_init(&pool, &params), UCS_OK);
    ucp_extents_init(&set, &pool);
}

static void extents_teardown(const struct test_param *param)
{
    (void)param;
    ucp_extents_cleanup(&set);
    ck_assert_uint_eq(set.count, 0);
    ucsi_mpool_cleanup(&pool, true); /* it reports what was not given back */
}

/* Sorted, apart, not empty, counted; and the bytes of the model. */
static void check(const bool *model)
{
    const struct ucp_extent *extent;
    size_t                   at = 0, bytes = 0;
    unsigned                 count = 0;

    ucs_list_for_each (extent, &set.list, link) {
        ck_assert((count == 0) || (extent->offset > at));
        ck_assert_uint_lt(extent->offset, extent->end);
        for (; at < extent->offset; ++at) {
            ck_assert(!model[at]);
        }
        for (; at < extent->end; ++at, ++bytes) {
            ck_assert(model[at]);
        }
        ++count;
    }
    for (; at < BYTES; ++at) {
        ck_assert(!model[at]);
    }
    ck_assert_uint_eq(set.bytes, bytes);
    ck_assert_uint_eq(set.count, count);
}

static bool model_is(const bool *model, size_t offset, size_t end, bool value)
{
    for (; offset < end; ++offset) {
        if (model[offset] != value) {
            return false;
        }
    }
    return true;
}

static void extents__as_the_model(const struct test_param *param)
{
    bool model[BYTES] = {false};

    (void)param;
    for (int i = 0; i < 5000; ++i) {
        size_t offset = test_random_below(BYTES);
        size_t end    = offset + test_random_below(BYTES - offset + 1);

        if (end > offset) {
            ck_assert_int_eq(ucp_extents_have(&set, offset, end),
                             model_is(model, offset, end, true));
        }
        if (model_is(model, offset, end, false)) {
            ck_assert_int_eq(ucp_extents_add(&set, offset, end), UCS_OK);
            memset(model + offset, true, end - offset);
        } else if (model_is(model, offset, end, true)) {
            ck_assert_int_eq(ucp_extents_remove(&set, offset, end), UCS_OK);
            memset(model + offset, false, end - offset);
        }
        check(model);
    }
}

/* Every other byte: no more than a set may hold, and it stays as it was. */
static void extents__bounded(const struct test_param *param)
{
    size_t offset = 0;

    (void)param;
    for (int i = 0; i < UCP_EXTENT_COUNT_MAX; ++i, offset += 10) {
        ck_assert_int_eq(ucp_extents_add(&set, offset, offset + 5), UCS_OK);
    }
    ck_assert_int_eq(ucp_extents_add(&set, offset, offset + 5),
                     UCS_ERR_EXCEEDS_LIMIT);
    ck_assert_int_eq(ucp_extents_remove(&set, 1, 2), UCS_ERR_EXCEEDS_LIMIT);
    ck_assert_uint_eq(set.bytes, 5 * UCP_EXTENT_COUNT_MAX);
    ck_assert_int_eq(ucp_extents_remove(&set, 0, 2), UCS_OK);
    ck_assert_int_eq(ucp_extents_add(&set, offset - 5, offset), UCS_OK);
    ck_assert_uint_eq(ucp_extents_first(&set)->offset, 2);
}

static const struct test_case extents_cases[] = {
    TEST(extents__as_the_model), TEST(extents__bounded), {0}};

const struct test_suite extents_suite = {.name     = "extents",
                                         .cases    = extents_cases,
                                         .setup    = extents_setup,
                                         .teardown = extents_teardown};
