/* SPDX-License-Identifier: BSD-3-Clause */
/* test_explain_ep.c - src/ucp/core/explain.c, entry/explain.c: what is said of
 * real endpoints agrees with the tables that they use. What messages then do:
 * test_explain_trace.c. */
#include "ucp/core/explain.h"

#include <stdlib.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucp/api/causeway.h"
#include "ucp/pair.h"
#include "ucp/said.h"
#include "ucp/suites.h"
#include "ucp/trace_lines.h"
#include "ucs/log.h"

static struct said said;

static void hear_log(void *arg, ucs_log_level_t level, const char *file,
                     unsigned line, const char *text)
{
    (void)file;
    (void)line;
    if (level == UCS_LOG_LEVEL_PRINT) {
        said_hear(arg, text);
    }
}

/* What a stream got. */
static void explain_ep(ucp_ep_h ep, const causeway_explain_params_t *params)
{
    char  *text   = NULL;
    size_t length = 0;
    FILE  *stream = open_memstream(&text, &length);

    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(causeway_ep_explain(ep, params, stream), UCS_OK);
    (void)fclose(stream);
    ck_assert_uint_lt(length, sizeof(said.text));
    memcpy(said.text, text, length + 1);
    free(text);
}

/* The protocol that JSON lines name for a size. */
static void explained_protocol(ucp_ep_h ep, const char *mode, size_t bytes,
                               char *protocol)
{
    causeway_explain_params_t params = {
        .field_mask =
            CAUSEWAY_EXPLAIN_FIELD_MODE | CAUSEWAY_EXPLAIN_FIELD_DATATYPE |
            CAUSEWAY_EXPLAIN_FIELD_BYTES | CAUSEWAY_EXPLAIN_FIELD_FLAGS,
        .mode     = mode,
        .datatype = "contig",
        .bytes    = bytes,
        .flags    = CAUSEWAY_EXPLAIN_FLAG_JSON,
    };
    const char *at;

    explain_ep(ep, &params);
    ck_assert_uint_eq(said_count(&said, "\"record\":\"protocol\""), 1);
    at = strstr(said.text, "\"record\":\"protocol\"");
    trace_text(at, "protocol", protocol, 32);
}

/* What is explained is what the tables say, at every threshold and beside. */
static void explain__agrees_with_the_tables(const struct test_param *param)
{
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_NONE);
    for (int mode = 0; mode < UCP_MODE_COUNT; ++mode) {
        const struct ucp_select_row *row =
            pair.eps[0]->config->select[mode][UCP_DT_CONTIG][0].rows;
        char protocol[32];

        for (;; ++row) {
            explained_protocol(pair.eps[0], ucp_mode_names[mode],
                               row->bytes_max, protocol);
            ck_assert_str_eq(protocol, row->proto->name);
            if (row->bytes_max == SIZE_MAX) {
                break;
            }
            explained_protocol(pair.eps[0], ucp_mode_names[mode],
                               row->bytes_max + 1, protocol);
            ck_assert_str_eq(protocol, row[1].proto->name);
        }
    }
    pair_close(&pair);
}

static void explain__candidates_and_rights(const struct test_param *param)
{
    struct pair pair;

    (void)param;
    (void)setenv("UCX_TLS", "self,sm", 1);
    (void)unsetenv("UCX_MODULE_DIR");
    pair_open_setup(&pair, &(const struct pair_setup){.tls = "self,sm"}, 0,
                    UCP_ERR_HANDLING_MODE_NONE);
    pair_meet(&pair);
    explain_ep(pair.eps[0], NULL);
    ck_assert_uint_eq(said_count(&said, "  lane 0  "), 1);
    ck_assert_uint_eq(said_count(&said, "  taken    "), 1);
    ck_assert_uint_eq(said_count(&said, "  rights   "), 2);
    ck_assert_uint_ge(said_count(&said, "  refused  "),
                      1); /* self, between two */
    pair_close(&pair);
}

/* A transport that is not wanted is named, with the setting. */
static void explain__left_out(const struct test_param *param)
{
    struct pair pair;

    (void)param;
    pair_open_setup(&pair, &(const struct pair_setup){.tls = "sm"}, 0,
                    UCP_ERR_HANDLING_MODE_NONE);
    explain_ep(pair.eps[0], NULL);
    ck_assert_uint_eq(
        said_count(&said, "  left out self: not in UCX_TLS [UCX_TLS]"), 1);
    pair_close(&pair);
}

static void explain__bad_questions(const struct test_param *param)
{
    causeway_explain_params_t mode = {.field_mask = CAUSEWAY_EXPLAIN_FIELD_MODE,
                                      .mode       = "quick"};
    causeway_explain_params_t datatype = {
        .field_mask = CAUSEWAY_EXPLAIN_FIELD_DATATYPE, .datatype = ""};
    struct ucs_log_handler quiet = {hear_log, &said};
    ucp_address_t         *address;
    size_t                 length;
    struct pair            pair;
    FILE                  *stream = tmpfile();

    ck_assert_ptr_nonnull(stream);
    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_NONE);
    (void)ucsi_log_set_handler(&quiet);
    ck_assert_int_eq(causeway_ep_explain(pair.eps[0], &mode, stream),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(causeway_ep_explain(pair.eps[0], &datatype, stream),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_worker_get_address(pair.workers[1], &address, &length),
                     UCS_OK);
    for (size_t cut = 0; cut < length; ++cut) {
        ck_assert_int_eq(causeway_address_explain(pair.workers[0], address, cut,
                                                  NULL, stream),
                         UCS_ERR_INVALID_ADDR);
    }
    ck_assert_int_eq(ftell(stream), 0);
    ck_assert_int_eq(causeway_address_explain(pair.workers[0], address, length,
                                              NULL, stream),
                     UCS_OK);
    ck_assert_int_gt(ftell(stream), 0);
    (void)ucsi_log_set_handler(NULL);
    ucp_worker_release_address(pair.workers[1], address);
    (void)fclose(stream);
    pair_close(&pair);
}

/* An address that cannot be reached is explained, too. */
static void explain__unreachable(const struct test_param *param)
{
    struct ucp_address_view view = {.entry_count = 1, .name = "far"};
    struct ucp_explain      explain;
    struct pair             pair;

    (void)snprintf(view.entries[0].transport, sizeof(view.entries[0].transport),
                   "carrier_pigeon");
    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_NONE);
    ucp_explain_init(&explain, said_hear, &said);
    ck_assert_int_eq(ucp_explain_peer(&explain, pair.workers[0], &view, NULL),
                     UCS_ERR_UNREACHABLE);
    ck_assert_uint_ge(said_count(&said, "carrier_pigeon"), 1);
    ck_assert_uint_eq(said_count(&said, "no lane"), 1);
    pair_close(&pair);
}

/* UCX_PROTO_INFO: once for a configuration, however many endpoints; a value
 * that is neither y nor n is a pattern. */
static void explain__at_run_time(const struct test_param *param)
{
    static const struct row {
        const char *value;
        unsigned    peers, titles;
    } rows[]                       = {{"n", 0, 0},
                                      {"y", 2, 2 * UCP_MODE_COUNT * UCP_DT_KIND_COUNT},
                                      {"*sync, iov in*", 2, 2}};
    struct ucs_log_handler handler = {hear_log, &said};

    (void)ucsi_log_set_handler(&handler);
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(rows); ++i) {
        struct pair pair;
        ucp_ep_h    second;

        said.length  = 0;
        said.text[0] = '\0';
        (void)setenv("UCX_PROTO_INFO", rows[i].value, 1);
        pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_NONE);
        second = pair_connect(&pair, 0, UCP_ERR_HANDLING_MODE_NONE);
        ck_assert_int_eq(
            pair_wait(&pair, ucp_ep_close_nbx(second, &pair_no_param)), UCS_OK);
        pair_close(&pair);
        ck_assert_uint_eq(said_count(&said, "' to worker '"), rows[i].peers);
        ck_assert_uint_eq(said_count(&said, "tag send, "), rows[i].titles);
    }
    (void)ucsi_log_set_handler(NULL);
}

static void explain_setup(const struct test_param *param)
{
    (void)param;
    memset(&said, 0, sizeof(said));
}

static const struct test_case explain_sm_cases[] = {
    TEST(explain__candidates_and_rights), TEST(explain__left_out),
    TEST(explain__bad_questions),         TEST(explain__unreachable),
    TEST(explain__at_run_time),           {0},
};

static const struct test_param explain_sm[] = {
    {.name = "sm", .value = &(const struct pair_setup){.tls = "sm"}},
    {0},
};

const struct test_suite explain_sm_suite = {.name   = "explain_sm",
                                            .cases  = explain_sm_cases,
                                            .params = explain_sm,
                                            .setup  = explain_setup};

static const struct test_case explain_real_cases[] = {
    TEST(explain__agrees_with_the_tables),
    {0},
};

const struct test_suite explain_real_suite = {.name   = "explain_real",
                                              .cases  = explain_real_cases,
                                              .params = pair_protocols,
                                              .setup  = explain_setup};
