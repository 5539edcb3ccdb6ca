/* SPDX-License-Identifier: BSD-3-Clause */
/* test_select.c - src/ucp/proto/select.c: the lower envelope, row by row. */
#include "ucp/proto/proto.h"

#include <string.h>

#include "lib/test.h"
#include "ucp/suites.h"

/* Three made-up protocols: cheap to start, then cheap per byte, then any
 * size. */
static ucs_status_t offer_small(const struct ucp_query *query,
                                struct ucp_offer       *offer_p)
{
    (void)query;
    return ucp_offer_sizes(offer_p, 0, 100, ucs_linear(1e-6, 1e-8));
}

static ucs_status_t offer_medium(const struct ucp_query *query,
                                 struct ucp_offer       *offer_p)
{
    (void)query;
    return ucp_offer_sizes(offer_p, 10, 10000, ucs_linear(1.5e-6, 1e-10));
}

static ucs_status_t offer_large(const struct ucp_query *query,
                                struct ucp_offer       *offer_p)
{
    (void)query;
    return ucp_offer_sizes(offer_p, 0, SIZE_MAX, ucs_linear(1e-5, 1e-10));
}

static ucs_status_t offer_none(const struct ucp_query *query,
                               struct ucp_offer       *offer_p)
{
    (void)query;
    return ucp_offer_refuse(offer_p, "none of it");
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
        const struct ucp_proto *got    = ucp_select_lookup(&table, bytes);
        const struct ucp_proto *best   = NULL;
        double                  best_s = 1e9, got_s = 1e9;

        for (int i = 1; i < 4; ++i) {
            struct ucp_offer offer;
            double           cost;

            ck_assert(protos[i]->offer(&query, &offer) == UCS_OK);
            cost  = ucs_linear_cost(ucsi_piecewise_at(&offer.cost, bytes),
                                    (double)bytes);
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

/* Packs: 10 ns a piece. Describes: cheaper for each byte, 1 us a piece. */
static ucs_status_t offer_packed(const struct ucp_query *query,
                                 struct ucp_offer       *offer_p)
{
    (void)query;
    offer_p->piece_s = 1e-8;
    return ucp_offer_sizes(offer_p, 0, SIZE_MAX, ucs_linear(1e-6, 3e-10));
}

static ucs_status_t offer_described(const struct ucp_query *query,
                                    struct ucp_offer       *offer_p)
{
    (void)query;
    offer_p->piece_s = 1e-6;
    return ucp_offer_sizes(offer_p, 1, SIZE_MAX, ucs_linear(2e-6, 1e-10));
}

static const struct ucp_proto packed    = {.name  = "packed",
                                           .offer = offer_packed};
static const struct ucp_proto described = {.name  = "described",
                                           .offer = offer_described};

/* The winner is the cheaper one for that length and those pieces. */
static void select__pieces_cost(const struct test_param *param)
{
    const struct ucp_proto *const protos[] = {&packed, &described, NULL};
    enum { BYTES = 1 << 20 };

    (void)param;
    for (unsigned i = 0; i < UCP_PIECES_COUNT + 1; ++i) {
        /* In one block at last. */
        size_t piece       = (i < UCP_PIECES_COUNT) ? ucp_pieces_bytes(i) : 0;
        double count       = (piece > 0) ? (double)BYTES / (double)piece : 0;
        double packed_s    = 1e-6 + 3e-10 * BYTES + count * 1e-8;
        double described_s = 2e-6 + 1e-10 * BYTES + count * 1e-6;
        struct ucp_query query = {.dt_kind = UCP_DT_IOV, .piece_bytes = piece};
        struct ucp_select_table table;

        ck_assert_int_eq(ucp_select(protos, &query, &table), UCS_OK);
        ck_assert_ptr_eq(ucp_select_lookup(&table, BYTES),
                         (packed_s < described_s) ? &packed : &described);
    }
    ck_assert_uint_eq(ucp_pieces_bytes(UCP_PIECES_COUNT - 1), 64);
}

/* A piece is never taken for a longer one, but for the shortest. */
static void select__tables_of_pieces(const struct test_param *param)
{
    (void)param;
    ck_assert_uint_eq(ucp_pieces_index(0), 0);
    for (size_t bytes = 1; bytes < 200000; bytes += 1 + bytes / 300) {
        unsigned index = ucp_pieces_index(bytes);

        ck_assert_uint_lt(index, UCP_PIECES_COUNT);
        ck_assert((ucp_pieces_bytes(index) <= bytes) ||
                  (index == UCP_PIECES_COUNT - 1));
        ck_assert((index == 0) || (bytes < ucp_pieces_bytes(index - 1)));
    }
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

static void select__a_refusal_has_a_reason(const struct test_param *param)
{
    struct ucp_query query = {.mode = UCP_MODE_STANDARD};
    struct ucp_offer offer = {0};

    (void)param;
    ck_assert_int_eq(none.offer(&query, &offer), UCS_ERR_UNSUPPORTED);
    ck_assert_str_eq(offer.reason, "none of it");
    ck_assert_int_eq(ucp_offer_sizes(&offer, 5, 4, ucs_linear(0, 0)),
                     UCS_ERR_UNSUPPORTED);
    ck_assert(strstr(offer.reason, "threshold") != NULL);
    ck_assert_int_eq(ucp_offer_sizes(&offer, 4, 4, ucs_linear(1, 0)), UCS_OK);
    ck_assert(isinf(ucsi_piecewise_at(&offer.cost, 3).base_s));
    ck_assert(!isinf(ucsi_piecewise_at(&offer.cost, 4).base_s));
    ck_assert(isinf(ucsi_piecewise_at(&offer.cost, 5).base_s));
}

static const struct test_case select_cases[] = {
    TEST(select__cheapest_at_every_size), TEST(select__pieces_cost),
    TEST(select__tables_of_pieces),       TEST(select__reports_a_hole),
    TEST(select__a_refusal_has_a_reason), {0},
};

const struct test_suite select_suite = {.name  = "select",
                                        .cases = select_cases};
