/* SPDX-License-Identifier: BSD-3-Clause */
/* test_eager.c - src/ucp/proto/eager.c: how settings limit eager messages, on
 * this host and to others. */
#include "ucp/proto/eager.h"

#include <stdlib.h>

#include "lib/test.h"
#include "ucp/core/config.h"
#include "ucp/pair.h"
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

/* A lane of 1 GB/s with messages of 10,000 bytes. */
static struct ucp_query query_of_lane(unsigned flags)
{
    lane.attr = (struct uct_iface_attr){
        .am    = {.bcopy_bytes_max = 10000},
        .cost  = {.latency_s = 1e-6, .overhead_s = 1e-7, .bandwidth_Bps = 1e9},
        .flags = flags};
    config.rndv_fragment_bytes = 1000000;
    config.rndv_depth          = 4;
    return (struct ucp_query){.lane = &lane, .config = &config};
}

static double offered_s(const struct ucp_offer *offer, size_t bytes)
{
    return ucs_linear_cost(ucsi_piecewise_at(&offer->cost, bytes),
                           (double)bytes);
}

static void eager__copies_of_a_lane_that_copies(const struct test_param *param)
{
    struct ucp_query query = query_of_lane(0);

    (void)param;
    ck_assert_double_eq_tol(ucp_am_byte_s(&lane.attr, 2),
                            1e-9 + 2 * ucp_copy_s_per_byte, 1e-15);
    query = query_of_lane(UCT_IFACE_ZCOPY_COPIES);
    ck_assert_double_eq_tol(ucp_am_byte_s(&lane.attr, 1), 2e-9, 1e-15);
    ck_assert_double_eq_tol(ucp_am_byte_s(&lane.attr, 2), 2e-9, 1e-15);
    ck_assert_double_eq_tol(ucp_am_byte_s(&lane.attr, 3),
                            2e-9 + ucp_copy_s_per_byte, 1e-15);
    (void)query;
}

/* The first fragment as one message, then only the slowest stage. */
static void eager__fragments_overlap(const struct test_param *param)
{
    static const unsigned flags[] = {0, UCT_IFACE_ZCOPY_COPIES};

    (void)param;
    for (unsigned i = 0; i < 2; ++i) {
        struct ucp_query query = query_of_lane(flags[i]);
        struct ucp_offer offer, later, three;
        double           one_s, step_s;

        ck_assert_int_eq(ucp_offer_fragments(&query, 0, SIZE_MAX, 2, &offer),
                         UCS_OK);
        one_s = offered_s(&offer, 9968);
        ck_assert_double_eq_tol(
            one_s, 3.6e-6 + 9968 * ucp_am_byte_s(&lane.attr, 2), 1e-12);
        step_s = offered_s(&offer, 9969) - one_s;
        ck_assert(step_s > 0 && step_s < 1e-8);
        step_s = offered_s(&offer, 1009968) - offered_s(&offer, 9968);
        /* Stream, overheads, and a quarter of a window's attention. */
        ck_assert_double_eq_tol(step_s, 1e-3 + 1000000 * 2e-7 / 9968 + 0.25e-6,
                                1e-8);
        /* The same line when only long ones are offered. */
        ck_assert_int_eq(
            ucp_offer_fragments(&query, 20000, SIZE_MAX, 2, &later), UCS_OK);
        ck_assert(isinf(offered_s(&later, 19999)));
        ck_assert(offered_s(&later, 30000) == offered_s(&offer, 30000));
        ck_assert_int_eq(ucp_offer_fragments(&query, 0, SIZE_MAX, 3, &three),
                         UCS_OK);
        ck_assert(offered_s(&three, 1000) > offered_s(&offer, 1000));
        ck_assert(offered_s(&three, 50000) > offered_s(&offer, 50000));
        ck_assert_int_eq(ucp_offer_fragments(&query, 1, 0, 2, &offer),
                         UCS_ERR_UNSUPPORTED);
        ck_assert_int_eq(ucp_offer_fragments(&query, 0, 0, 2, &offer), UCS_OK);
        ck_assert(isinf(offered_s(&offer, 1)));
    }
}

/* What the machine can do decides, no size is built in. */
static const struct ucp_proto *chosen(const char *chunks, const char *cma,
                                      size_t bytes)
{
    static const struct pair_setup setup = {
        .tls = "sm", .rndv_threshold = "auto", .zcopy_threshold = "auto"};
    const struct ucp_proto *proto;
    struct pair             pair;

    ck_assert_int_eq(setenv("UCX_SM_BW", chunks, 1), 0);
    ck_assert_int_eq(setenv("UCX_SM_CMA_BW", cma, 1), 0);
    pair_open_setup(&pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    if (!(pair.eps[0]->message_ep->rights & UCT_RIGHT_GET)) {
        test_skip("no CMA here");
    }
    proto = ucp_select_lookup(
        &pair.eps[0]->config->select[UCP_MODE_STANDARD][UCP_DT_CONTIG][0],
        bytes);
    pair_close(&pair);
    return proto;
}

static void eager__speed_of_the_machine_decides(const struct test_param *param)
{
    const size_t mib = 1 << 20;

    (void)param;
    ck_assert_str_eq(chosen("1GBs", "20GBs", mib)->name, "rndv/rdma_get");
    ck_assert_str_eq(chosen("20GBs", "1GBs", mib)->name, "rndv/pipeline_send");
    /* As fast, and the sender need not come back for it. */
    ck_assert_str_eq(chosen("20GBs", "1GBs", 64 * mib)->name,
                     "rndv/rdma_shared");
    ck_assert_str_eq(chosen("10GBs", "11GBs", 64 * mib)->name, "rndv/rdma_get");
    ck_assert_str_eq(chosen("1GBs", "20GBs", 64)->name, "eager/immediate");
    /* Not worth a round trip. */
    ck_assert_str_eq(chosen("20GBs", "1GBs", 131072)->name, "eager/allocated");
    ck_assert_str_eq(chosen("20GBs", "1GBs", 131073)->name,
                     "rndv/pipeline_send");
    ck_assert_str_eq(chosen("1GBs", "20GBs", 65536)->name, "rndv/rdma_get");
}

static const struct test_case eager_cases[] = {
    TEST(eager__threshold_of_the_side),        TEST(eager__auto_zero_and_never),
    TEST(eager__copies_of_a_lane_that_copies), TEST(eager__fragments_overlap),
    TEST(eager__speed_of_the_machine_decides), {0},
};

const struct test_suite eager_suite = {.name = "eager", .cases = eager_cases};
