/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rdma_pipeline.c - src/ucp/proto/rdma_pipeline.c, protocol 7: forced,
 * counted, and cut at each arrow. */
#include "ucp/rdma_check.h"

#include "ucp/suites.h"

static const struct rdma_check check = {
    .scheme   = "put_ppln",
    .out      = UCP_COUNT_PUT_OUT,
    .in       = UCP_COUNT_PUT_IN,
    .is_mixed = true,
};

static void rdma_pipeline__carries_every_size(const struct test_param *param)
{
    rdma_check_sizes(&check, param);
}

static void
rdma_pipeline__every_pair_of_datatypes(const struct test_param *param)
{
    rdma_check_datatypes(&check, param);
}

static void
rdma_pipeline__small_pieces_fall_back(const struct test_param *param)
{
    rdma_check_small_pieces(&check, param);
}

static void rdma_pipeline__lists_of_any_length(const struct test_param *param)
{
    rdma_check_long_lists(&check, param);
}

static void rdma_pipeline__random_layouts(const struct test_param *param)
{
    rdma_check_random(&check, param);
}

static void rdma_pipeline__truncated_pieces(const struct test_param *param)
{
    rdma_check_too_small(&check, param);
}

static void rdma_pipeline__truncated(const struct test_param *param)
{
    rdma_check_truncated(&check, param);
}

static void rdma_pipeline__close_at_each_arrow(const struct test_param *param)
{
    rdma_check_close(&check, param);
}

static void rdma_pipeline__failure_at_each_arrow(const struct test_param *param)
{
    rdma_check_failure(&check, param);
}

static void rdma_pipeline__refused_once(const struct test_param *param)
{
    rdma_check_refused(&check, param);
}

static void rdma_pipeline__many_at_a_time(const struct test_param *param)
{
    rdma_check_many(&check, param);
}

static const struct test_case rdma_pipeline_cases[] = {
    TEST(rdma_pipeline__carries_every_size),
    TEST(rdma_pipeline__every_pair_of_datatypes),
    TEST(rdma_pipeline__small_pieces_fall_back),
    TEST(rdma_pipeline__lists_of_any_length),
    TEST(rdma_pipeline__random_layouts),
    TEST(rdma_pipeline__truncated_pieces),
    TEST(rdma_pipeline__truncated),
    TEST(rdma_pipeline__close_at_each_arrow),
    TEST(rdma_pipeline__failure_at_each_arrow),
    TEST(rdma_pipeline__refused_once),
    TEST(rdma_pipeline__many_at_a_time),
    {0},
};

const struct test_suite rdma_pipeline_suite = {.name   = "rdma_pipeline",
                                               .cases  = rdma_pipeline_cases,
                                               .params = rdma_params};
