/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rdma_get.c - src/ucp/proto/rdma_get.c, protocol 6: forced, counted, and
 * cut at each arrow. */
#include "ucp/rdma_check.h"

#include "ucp/suites.h"

static const struct rdma_check check = {
    .scheme   = "get_zcopy",
    .out      = UCP_COUNT_GET_OUT,
    .in       = UCP_COUNT_GET_IN,
    .is_mixed = false,
};

static void rdma_get__carries_every_size(const struct test_param *param)
{
    rdma_check_sizes(&check, param);
}

static void rdma_get__every_pair_of_datatypes(const struct test_param *param)
{
    rdma_check_datatypes(&check, param);
}

static void rdma_get__small_pieces_fall_back(const struct test_param *param)
{
    rdma_check_small_pieces(&check, param);
}

static void rdma_get__lists_of_any_length(const struct test_param *param)
{
    rdma_check_long_lists(&check, param);
}

static void rdma_get__random_layouts(const struct test_param *param)
{
    rdma_check_random(&check, param);
}

static void rdma_get__truncated_pieces(const struct test_param *param)
{
    rdma_check_too_small(&check, param);
}

static void rdma_get__truncated(const struct test_param *param)
{
    rdma_check_truncated(&check, param);
}

static void rdma_get__close_at_each_arrow(const struct test_param *param)
{
    rdma_check_close(&check, param);
}

static void rdma_get__failure_at_each_arrow(const struct test_param *param)
{
    rdma_check_failure(&check, param);
}

static void rdma_get__refused_once(const struct test_param *param)
{
    rdma_check_refused(&check, param);
}

static void rdma_get__many_at_a_time(const struct test_param *param)
{
    rdma_check_many(&check, param);
}

static const struct test_case rdma_get_cases[] = {
    TEST(rdma_get__carries_every_size),
    TEST(rdma_get__every_pair_of_datatypes),
    TEST(rdma_get__small_pieces_fall_back),
    TEST(rdma_get__lists_of_any_length),
    TEST(rdma_get__random_layouts),
    TEST(rdma_get__truncated_pieces),
    TEST(rdma_get__truncated),
    TEST(rdma_get__close_at_each_arrow),
    TEST(rdma_get__failure_at_each_arrow),
    TEST(rdma_get__refused_once),
    TEST(rdma_get__many_at_a_time),
    {0},
};

const struct test_suite rdma_get_suite = {
    .name = "rdma_get", .cases = rdma_get_cases, .params = rdma_params};
