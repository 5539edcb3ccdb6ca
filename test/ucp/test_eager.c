/* SPDX-License-Identifier: BSD-3-Clause */
/* test_eager.c - src/ucp/proto/eager.c: how settings limit eager messages, on
 * this host and to others. */
#include "ucp/proto/eager.h"

#include "lib/test.h"
#include "ucp/core/config.h"
#include "ucp/suites.h"

static struct ucp_lane_model     lane;
static struct ucp_context_config config;

static struct ucp_query query_with(size_t intra, size_t inter, bool is_intra)
{
    config.rndv_threshold.intra_bytes  = intra;
    config.rndv_threshold.inter_bytes  = inter;
    config.zcopy_threshold.intra_bytes = intra;
    config.zcopy_threshold.inter_bytes = inter;
    lane.attr.flags                    = is_intra ? UCT_IFACE_INTRA_NODE : 0;
    return (struct ucp_query){.lane = &lane, .config = &config};
}

static void eager__threshold_of_the_side(const struct test_param *param)
{
    struct ucp_query near = query_with(1000, 2000, true);

    (void)param;
    ck_assert_uint_eq(ucp_rndv_threshold(&near), 1000);
    ck_assert_uint_eq(ucp_zcopy_threshold(&near), 1000);
    ck_assert_uint_eq(ucp_eager_bytes_max(&near), 999);
    near = query_with(1000, 2000, false);
    ck_assert_uint_eq(ucp_rndv_threshold(&near), 2000);
    ck_assert_uint_eq(ucp_zcopy_threshold(&near), 2000);
    ck_assert_uint_eq(ucp_eager_bytes_max(&near), 1999);
}

static void eager__auto_zero_and_never(const struct test_param *param)
{
    struct ucp_query query = query_with(UCS_UNITS_AUTO, 0, true);

    (void)param;
    ck_assert_uint_eq(ucp_eager_bytes_max(&query), SIZE_MAX);
    ck_assert_uint_eq(ucp_zcopy_threshold(&query), 0); /* by cost */
    lane.attr.flags |= UCT_IFACE_ZCOPY_COPIES;
    ck_assert_uint_eq(ucp_zcopy_threshold(&query), SIZE_MAX);
    query = query_with(0, 0, true);
    ck_assert_uint_eq(ucp_eager_bytes_max(&query), 0);
    query = query_with(SIZE_MAX, 0, true);
    ck_assert_uint_eq(ucp_eager_bytes_max(&query), SIZE_MAX);
}

static const struct test_case eager_cases[] = {
    TEST(eager__threshold_of_the_side),
    TEST(eager__auto_zero_and_never),
    {0},
};

const struct test_suite eager_suite = {.name = "eager", .cases = eager_cases};
