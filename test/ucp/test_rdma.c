/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rdma.c - src/ucp/proto/rdma.c: what pieces of memory cost a put or get,
 * and which protocol an iov therefore takes; on a made-up network whose get is
 * five times as fast as its messages. */
#include "ucp/proto/rdma.h"

#include "lib/test.h"
#include "ucp/core/config.h"
#include "ucp/suites.h"

enum { MIB = 1 << 20 };

static void something(void)
{
}

/* Only their presence is looked at. */
#define PRESENT(_field)                                                        \
    ._field = (__typeof__(((struct uct_transport *)0)->_field))something

static const struct uct_transport network = {
    .name = "network",
    PRESENT(am_bcopy),
    PRESENT(put_zcopy),
    PRESENT(get_zcopy),
    PRESENT(rkey_pack),
    PRESENT(rkey_unpack),
    PRESENT(mem_register),
};

static const struct ucp_context_config config = {
    .rndv_threshold      = {UCS_UNITS_AUTO, UCS_UNITS_AUTO},
    .zcopy_threshold     = {UCS_UNITS_AUTO, UCS_UNITS_AUTO},
    .rndv_fragment_bytes = 512 << 10,
    .rndv_depth          = 4,
};

static struct ucp_lane_row row;
static struct ucp_query    query;

static void setup(const struct test_param *param)
{
    const struct uct_op_limits limits = {.zcopy_bytes_max  = SIZE_MAX,
                                         .iov_count_max    = 16,
                                         .remote_count_max = 16};

    (void)param;
    row = (struct ucp_lane_row){
        .model = {
            .transport = &network,
            .attr      = {
                     .am       = {.bcopy_bytes_max = 8192},
                     .put      = limits,
                     .get      = limits,
                     .cost     = {.latency_s       = 1e-6,
                                  .overhead_s      = 100e-9,
                                  .bandwidth_Bps   = 5e9,
                                  .register_base_s = 200e-9},
                     .put_cost = {.overhead_s = 400e-9, .bandwidth_Bps = 25e9},
                     .get_cost = {.overhead_s = 400e-9, .bandwidth_Bps = 25e9}}}};
    query = (struct ucp_query){.mode      = UCP_MODE_STANDARD,
                               .dt_kind   = UCP_DT_IOV_LONG,
                               .lane      = &row.model,
                               .rows      = &row,
                               .row_count = 1,
                               .scheme    = UCP_RNDV_SCHEME_AUTO,
                               .config    = &config};
}

/* Who carries a message of that length, in pieces of so many bytes? */
static const char *winner(size_t bytes, size_t piece_bytes)
{
    struct ucp_select_table table;

    query.piece_bytes = piece_bytes;
    ck_assert_int_eq(ucp_select(ucp_protos, &query, &table), UCS_OK);
    return ucp_select_lookup(&table, bytes)->name;
}

/* 64 pieces of 1 MiB are described, 16384 are packed; and once packing wins it
 * goes on to win. */
static void rdma__short_pieces_are_packed(const struct test_param *param)
{
    bool was_packed = false;

    (void)param;
    ck_assert_str_eq(winner(MIB, 0), "rndv/rdma_get");
    ck_assert_str_eq(winner(MIB, MIB / 64), "rndv/rdma_get");
    ck_assert_str_eq(winner(MIB, MIB / 16384), "rndv/pipeline_send");
    for (unsigned i = 0; i < UCP_PIECES_COUNT; ++i) {
        bool is_packed =
            strcmp(winner(MIB, ucp_pieces_bytes(i)), "rndv/pipeline_send") == 0;

        ck_assert(is_packed || !was_packed);
        was_packed = is_packed;
    }
}

/* An operation that takes one piece costs its overhead for each. */
static void rdma__limits_of_lists_count(const struct test_param *param)
{
    const uint32_t lanes = 1;
    double         many_s, one_s;

    (void)param;
    many_s = ucp_rdma_piece_cost(&query, lanes, UCP_RDMA_GET);
    row.model.attr.get.remote_count_max = 1;
    one_s = ucp_rdma_piece_cost(&query, lanes, UCP_RDMA_GET);
    ck_assert(fabs(one_s - many_s - 400e-9 * 15 / 16) < 1e-12);
    ck_assert(fabs(ucp_rdma_piece_cost(&query, lanes, UCP_RDMA_PUT) - many_s) <
              1e-12);
    row.model.attr.get_cost.overhead_s  = 4e-6; /* a system call each */
    row.model.attr.put_cost.overhead_s  = 4e-6;
    row.model.attr.put.remote_count_max = 1;
    ck_assert_str_eq(winner(MIB, MIB / 64), "rndv/pipeline_send");
    row.model.attr.get.remote_count_max = 16;
    ck_assert_str_eq(winner(MIB, MIB / 64), "rndv/rdma_get");
}

/* Registering each piece at both ends; inside a node at one. */
static void rdma__registrations_count(const struct test_param *param)
{
    double far_s, near_s;

    (void)param;
    far_s                = ucp_rdma_piece_cost(&query, 1, UCP_RDMA_PUT);
    row.model.attr.flags = UCT_IFACE_INTRA_NODE;
    near_s               = ucp_rdma_piece_cost(&query, 1, UCP_RDMA_PUT);
    ck_assert(fabs(far_s - near_s - 200e-9) < 1e-12);
}

/* Strided data is registered once, however many pieces it has: where that is
 * dear, it is read, and an iov of the same pieces is packed. */
static void
rdma__strided_data_is_registered_once(const struct test_param *param)
{
    double list_s, pattern_s;

    (void)param;
    list_s        = ucp_rdma_piece_cost(&query, 1, UCP_RDMA_GET);
    query.dt_kind = UCP_DT_STRIDED;
    pattern_s     = ucp_rdma_piece_cost(&query, 1, UCP_RDMA_GET);
    ck_assert(fabs(list_s - pattern_s - 2 * 200e-9) < 1e-12);
    row.model.attr.cost.register_base_s = 20e-6;
    ck_assert_str_eq(winner(MIB, MIB / 64), "rndv/rdma_get");
    query.dt_kind = UCP_DT_IOV_LONG;
    ck_assert_str_eq(winner(MIB, MIB / 64), "rndv/pipeline_send");
}

/* Who is forced stays, whatever the pieces. */
static void rdma__forced_is_forced(const struct test_param *param)
{
    (void)param;
    query.scheme = UCP_RNDV_SCHEME_GET;
    ck_assert_str_eq(winner(MIB, 64), "rndv/rdma_get");
    query.scheme = UCP_RNDV_SCHEME_PUT;
    ck_assert_str_eq(winner(MIB, 64), "rndv/rdma_put");
    query.scheme = UCP_RNDV_SCHEME_PIPELINE;
    ck_assert_str_eq(winner(MIB, 64), "rndv/rdma_pipeline");
}

static const struct test_case rdma_cases[] = {
    TEST(rdma__short_pieces_are_packed),
    TEST(rdma__limits_of_lists_count),
    TEST(rdma__registrations_count),
    TEST(rdma__strided_data_is_registered_once),
    TEST(rdma__forced_is_forced),
    {0},
};

const struct test_suite rdma_suite = {
    .name = "rdma", .cases = rdma_cases, .setup = setup};
