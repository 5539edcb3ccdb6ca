/* SPDX-License-Identifier: BSD-3-Clause */
/* test_select.c - src/ucp/proto/select.c: the lower envelope, row by row. */
#include "ucp/proto/proto.h"

#include "lib/test.h"
#include "ucp/suites.h"

/* Three made-up protocols: cheap to start, then cheap per byte, then any
 * size. */
static ucs_status_t offer_small(const struct ucp_query *query,
                                struct ucp_offer       *offer_p)
{
    (void)query;
    *offer_p = (struct ucp_offer){
            .bytes_max = 100, .base_s = 1e-6, .per_byte_s = 1e-8};
    return UCS_OK;
}

static ucs_status_t offer_medium(const struct ucp_query *query,
                                 struct ucp_offer       *offer_p)
{
    (void)query;
    *offer_p = (struct ucp_offer){.bytes_min  = 10,
                                  .bytes_max  = 10000,
                                  .base_s     = 1.5e-6,
                                  .per_byte_s = 1e-10};
    return UCS_OK;
}

static ucs_status_t offer_large(const struct ucp_query *query,
                                struct ucp_offer       *offer_p)
{
    (void)query;
    *offer_p = (struct ucp_offer){
            .bytes_max = SIZE_MAX, .base_s = 1e-5, .per_byte_s = 1e-10};
    return UCS_OK;
}

static ucs_status_t offer_none(const struct ucp_query *query,
                               struct ucp_offer       *offer_p)
{
    (void)query;
    (void)offer_p;
    return UCS_ERR_UNSUPPORTED;
}

static const struct ucp_proto small  = {.name = "small", .offer = offer_small};
static const struct ucp_proto medium = {.name  = "medium",
                                        .offer = offer_medium};
static const struct ucp_proto large  = {.name = "large", .offer = offer_large};
static const struct ucp_proto none   = {.name = "none", .offer = offer_none};

static void select__cheapest_at_every_size(const struct test_param *param)
{
    const struct ucp_proto *const protos[] = {&none, &large, &medium, &small,
                                              NULL};
    struct ucp_query              query    = {.mode = UCP_MODE_STANDARD};
    struct ucp_select_table       table;

    (void)param;
    ck_assert_int_eq(ucp_select(protos, &query, &table), UCS_OK);
    for (size_t bytes = 0; bytes < 20000; ++bytes) {
        const struct ucp_proto *got  = ucp_select_lookup(&table, bytes);
        const struct ucp_proto *best = NULL;
        double                  best_s = 1e9, got_s = 1e9;

        for (int i = 1; i < 4; ++i) {
            struct ucp_offer offer = {0};
            double           cost;

            ck_assert(protos[i]->offer(&query, &offer) == UCS_OK);
            cost = offer.base_s + (double)bytes * offer.per_byte_s;
            if ((bytes < offer.bytes_min) || (bytes > offer.bytes_max)) {
                continue;
            }
            got_s = (protos[i] == got) ? cost : got_s;
            if (cost < best_s) {
                best_s = cost;
                best   = protos[i];
            }
        }
        if (got_s > best_s * 1.000001) {
            ck_abort_msg("%zu bytes: %s, but %s is cheaper", bytes, got->name,
                         best->name);
        }
    }
    ck_assert_ptr_eq(ucp_select_lookup(&table, SIZE_MAX), &large);
}

static void select__reports_a_hole(const struct test_param *param)
{
    const struct ucp_proto *const protos[] = {&small, &medium, NULL};
    const struct ucp_proto *const nobody[] = {&none, NULL};
    struct ucp_query              query    = {.mode = UCP_MODE_STANDARD};
    struct ucp_select_table       table;

    (void)param;
    ck_assert_int_eq(ucp_select(protos, &query, &table), UCS_ERR_UNSUPPORTED);
    ck_assert_int_eq(ucp_select(nobody, &query, &table), UCS_ERR_UNSUPPORTED);
}

static const struct test_case select_cases[] = {
        TEST(select__cheapest_at_every_size),
        TEST(select__reports_a_hole),
        {0},
};

const struct test_suite select_suite = {.name  = "select",
                                        .cases = select_cases};
