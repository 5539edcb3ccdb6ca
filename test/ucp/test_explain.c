/* SPDX-License-Identifier: BSD-3-Clause */
/* test_explain.c - src/ucp/proto/explain.c: the very words, for made-up
 * protocols and costs. Real endpoints: test_explain_ep.c. */
#include "ucp/proto/explain.h"

#include "lib/test.h"
#include "ucp/said.h"
#include "ucp/suites.h"

/* ------------------------------------------------------- made-up protocols */

static ucs_status_t offer_small(const struct ucp_query *query,
                                struct ucp_offer       *offer_p)
{
    (void)query;
    return ucp_offer_sizes(offer_p, 0, 99, ucs_linear(1e-6, 1e-8));
}

static ucs_status_t offer_any(const struct ucp_query *query,
                              struct ucp_offer       *offer_p)
{
    (void)query;
    return ucp_offer_sizes(offer_p, 0, SIZE_MAX, ucs_linear(2e-6, 1e-9));
}

static ucs_status_t offer_late(const struct ucp_query *query,
                               struct ucp_offer       *offer_p)
{
    (void)query;
    return ucp_offer_sizes(offer_p, 500, 1000, ucs_linear(4e-6, 1e-9));
}

static ucs_status_t offer_unset(const struct ucp_query *query,
                                struct ucp_offer       *offer_p)
{
    (void)query;
    return ucp_offer_sizes(offer_p, 10, 9, ucs_linear(0, 0));
}

static ucs_status_t offer_never(const struct ucp_query *query,
                                struct ucp_offer       *offer_p)
{
    return ucp_offer_refuse(offer_p, (query->mode == UCP_MODE_SYNC)
                                         ? "not in sync"
                                         : "the moon is \"full\"");
}

static const struct ucp_proto small = {.name    = "small",
                                       .summary = "for small ones",
                                       .setting = "UCX_SMALL",
                                       .offer   = offer_small};
static const struct ucp_proto any   = {
      .name = "any", .summary = "for all", .offer = offer_any};
static const struct ucp_proto late = {
    .name = "late", .summary = "", .setting = "UCX_LATE", .offer = offer_late};
static const struct ucp_proto unset = {.name    = "unset",
                                       .summary = "",
                                       .setting = "UCX_UNSET",
                                       .offer   = offer_unset};
static const struct ucp_proto never = {.name    = "never",
                                       .summary = "",
                                       .setting = "UCX_NEVER",
                                       .offer   = offer_never};

static ucs_status_t offer_pieces(const struct ucp_query *query,
                                 struct ucp_offer       *offer_p)
{
    (void)query;
    offer_p->piece_s = 2.048e-6;
    return ucp_offer_sizes(offer_p, 0, SIZE_MAX, ucs_linear(2e-6, 1e-9));
}

static const struct ucp_proto pieces = {
    .name = "pieces", .summary = "in them", .offer = offer_pieces};

static const struct ucp_proto *const in_pieces[] = {&pieces, NULL};

static const struct ucp_proto *const protos[] = {&small, &any,   &late,
                                                 &unset, &never, NULL};

static struct said said;

/* ------------------------------------------------------------------- words */

static void explain__words(const struct test_param *param)
{
    struct ucp_query   query = {.mode    = UCP_MODE_STANDARD,
                                .dt_kind = UCP_DT_CONTIG};
    struct ucp_explain explain;

    (void)param;
    ucp_explain_init(&explain, said_hear, &said);
    ucp_explain_query(&explain, protos, &query);
    ck_assert_str_eq(
        said.text,
        "tag send, standard, contig, host memory\n"
        "  0..99                small                  "
        "1.000 us + 10.000 ns/B; for small ones\n"
        "      not any                    dearer by 1.000 us at 0, "
        "0.109 us at 99\n"
        "      not late                   only from 500 on [UCX_LATE]\n"
        "      not unset                  refused: the thresholds leave no "
        "size for it [UCX_UNSET]\n"
        "      not never                  refused: the moon is \"full\"\n"
        "  100 or more          any                    "
        "2.000 us + 1.000 ns/B; for all\n"
        "      not small                  only up to 99 [UCX_SMALL]\n"
        "      not late                   dearer, only from 500 on [UCX_LATE]\n"
        "      not unset                  refused: the thresholds leave no "
        "size for it [UCX_UNSET]\n"
        "      not never                  refused: the moon is \"full\"\n");
}

static void explain__one_size(const struct test_param *param)
{
    struct ucp_query query = {.mode = UCP_MODE_STANDARD, .dt_kind = UCP_DT_IOV};
    struct ucp_explain explain;

    (void)param;
    ucp_explain_init(&explain, said_hear, &said);
    explain.has_bytes = true;
    explain.bytes     = 600;
    ucp_explain_query(&explain, protos, &query);
    ck_assert_str_eq(
        said.text,
        "tag send, standard, iov, host memory\n"
        "  600                  any                    "
        "2.000 us + 1.000 ns/B; for all\n"
        "      not small                  only up to 99 [UCX_SMALL]\n"
        "      not late                   dearer by 2.000 us at 600 "
        "[UCX_LATE]\n"
        "      not unset                  refused: the thresholds leave no "
        "size for it [UCX_UNSET]\n"
        "      not never                  refused: the moon is \"full\"\n");
}

static void explain__json(const struct test_param *param)
{
    struct ucp_query   query = {.mode    = UCP_MODE_STANDARD,
                                .dt_kind = UCP_DT_CONTIG};
    struct ucp_explain explain;

    (void)param;
    ucp_explain_init(&explain, said_hear, &said);
    explain.json      = true;
    explain.has_bytes = true;
    explain.bytes     = 600;
    ucp_explain_query(&explain, protos, &query);
#define AT_600                                                                 \
    "\"operation\":\"tag\",\"mode\":\"standard\",\"datatype\":\"contig\","     \
    "\"memory\":\"host\",\"bytes_first\":600,\"bytes_last\":600,"
    ck_assert_str_eq(
        said.text,
        "{\"record\":\"protocol\"," AT_600 "\"protocol\":\"any\","
        "\"summary\":\"for all\",\"base_s\":2e-06,\"per_byte_s\":1e-09}\n"
        "{\"record\":\"lost\"," AT_600 "\"protocol\":\"small\","
        "\"verdict\":\"size\",\"offer_first\":0,\"offer_last\":99,"
        "\"by_first_s\":null,\"by_last_s\":null,\"setting\":\"UCX_SMALL\"}\n"
        "{\"record\":\"lost\"," AT_600 "\"protocol\":\"late\","
        "\"verdict\":\"dearer\",\"offer_first\":500,\"offer_last\":1000,"
        "\"by_first_s\":2e-06,\"by_last_s\":2e-06,"
        "\"setting\":\"UCX_LATE\"}\n"
        "{\"record\":\"lost\"," AT_600 "\"protocol\":\"unset\","
        "\"verdict\":\"refused\","
        "\"reason\":\"the thresholds leave no size for it\","
        "\"setting\":\"UCX_UNSET\"}\n"
        "{\"record\":\"lost\"," AT_600 "\"protocol\":\"never\","
        "\"verdict\":\"refused\","
        "\"reason\":\"the moon is \\\"full\\\"\"}\n");
}

/* Data in pieces: what they cost is part of the line, and said. */
static void explain__pieces(const struct test_param *param)
{
    struct ucp_query query = {
        .mode = UCP_MODE_STANDARD, .dt_kind = UCP_DT_IOV, .piece_bytes = 1024};
    struct ucp_explain explain;

    (void)param;
    ucp_explain_init(&explain, said_hear, &said);
    explain.has_bytes   = true;
    explain.bytes       = 600;
    explain.piece_bytes = 1500; /* of the table for 1024 and more */
    ucp_explain_query(&explain, in_pieces, &query);
    ck_assert_str_eq(
        said.text, "tag send, standard, iov in pieces of 1500 bytes, host "
                   "memory\n"
                   "  600                  pieces                 "
                   "2.000 us + 3.000 ns/B, 2.048 us a piece in it; in them\n");
    memset(&said, 0, sizeof(said));
    explain.json = true;
    ucp_explain_query(&explain, in_pieces, &query);
    ck_assert_uint_eq(said_count(&said, "\"piece_bytes\":1500"), 1);
    ck_assert_uint_eq(said_count(&said, "\"piece_s\":2.048e-06"), 1);
    ck_assert_uint_eq(said_count(&said, "\"per_byte_s\":3e-09"), 1);
}

static void explain__same_answers_are_said_once(const struct test_param *param)
{
    struct ucp_query   query = {0};
    struct ucp_explain explain;

    (void)param;
    ucp_explain_init(&explain, said_hear, &said);
    ucp_explain_queries(&explain, protos, &query);
    ck_assert_uint_eq(said_count(&said, "  0..99 "),
                      2); /* sync has another reason */
    ck_assert_uint_eq(said_count(&said, ": as standard, contig\n"),
                      3 * UCP_DT_KIND_COUNT - 1);
    ck_assert_uint_eq(said_count(&said, ": as sync, contig\n"),
                      UCP_DT_KIND_COUNT - 1);
}

static void explain__pattern(const struct test_param *param)
{
    struct ucp_query   query = {0};
    struct ucp_explain explain;

    (void)param;
    ucp_explain_init(&explain, said_hear, &said);
    explain.title = "*ready, iov in*";
    ucp_explain_queries(&explain, protos, &query);
    ck_assert_uint_eq(said_count(&said, "tag send"), 1);
    ck_assert_uint_eq(said_count(&said, "  0..99 "), 1);
}

/* Protocols that leave sizes to nobody. */
static void explain__nobody(const struct test_param *param)
{
    static const struct ucp_proto *const few[] = {&small, NULL};
    struct ucp_query                     query = {0};
    struct ucp_explain                   explain;

    (void)param;
    ucp_explain_init(&explain, said_hear, &said);
    ucp_explain_query(&explain, few, &query);
    ck_assert_uint_eq(said_count(&said, "  100 and more: no protocol\n"), 1);
    ck_assert_uint_eq(
        said_count(&said, "not small                  only up to 99"), 1);
}

static void explain_setup(const struct test_param *param)
{
    (void)param;
    memset(&said, 0, sizeof(said));
}

static const struct test_case explain_cases[] = {
    TEST(explain__words),
    TEST(explain__one_size),
    TEST(explain__json),
    TEST(explain__pieces),
    TEST(explain__same_answers_are_said_once),
    TEST(explain__pattern),
    TEST(explain__nobody),
    {0},
};

const struct test_suite explain_suite = {
    .name = "explain", .cases = explain_cases, .setup = explain_setup};
