/* SPDX-License-Identifier: BSD-3-Clause */
/* test_worker_config.c - src/ucp/core/worker_config.c: one table for all
 * endpoints over an interface, and it has a protocol for every size. */
#include "config.h"

#include "ucp/core/worker_config.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucs/log_capture.h"

static void worker_config__is_shared(const struct test_param *param)
{
    struct pair pair;
    ucp_ep_h    other;
    unsigned    ifaces[UCP_LANE_COUNT_MAX];

    pair_open_setup(&pair, param->value, 0, UCP_ERR_HANDLING_MODE_PEER);
    other = pair_connect(&pair, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_ptr_eq(other->config, pair.eps[0]->config);
    for (unsigned i = 0; i < other->config->lane_count; ++i) {
        ifaces[i] = other->config->lanes[i].iface_index;
    }
    ck_assert_ptr_eq(ucp_worker_ep_config(pair.workers[0], ifaces,
                                          other->config->lane_count),
                     other->config);
    ck_assert_ptr_null(ucp_ep_close_nbx(other, &pair_force_param));
    pair_close(&pair);
}

/* Whatever is sent, in whatever mode: a row, sizes that grow, the end. */
static void worker_config__covers_every_size(const struct test_param *param)
{
    const struct ucp_ep_config *config;
    struct pair                 pair;

    pair_open_setup(&pair, param->value, 0, UCP_ERR_HANDLING_MODE_PEER);
    config = pair.eps[0]->config;
    for (int mode = 0; mode < UCP_MODE_COUNT; ++mode) {
        for (int dt_kind = 0; dt_kind < UCP_DT_KIND_COUNT; ++dt_kind) {
            const struct ucp_select_row *row =
                config->select[mode][dt_kind][0].rows;

            for (; row->bytes_max != SIZE_MAX; ++row) {
                ck_assert_ptr_nonnull(row->proto);
                ck_assert_uint_lt(row->bytes_max, (row + 1)->bytes_max);
                ck_assert_ptr_ne(row->proto, (row + 1)->proto);
            }
            ck_assert_ptr_nonnull(row->proto);
        }
    }
    pair_close(&pair);
}

/* Whatever thresholds a user sets, every size has a protocol: the endpoint is
 * there, and messages around the threshold arrive. */
static void worker_config__any_threshold(const struct test_param *param)
{
    static const char *const rndv[]  = {"0",  "1",   "500", "8k",
                                        "9k", "64k", "1m",  "inf"};
    static const char *const zcopy[] = {"0", "1", "500", "20k", "inf"};
    static uint8_t           out[70000], in[70000];

    for (unsigned i = 0; i < UCS_ARRAY_COUNT(rndv) * UCS_ARRAY_COUNT(zcopy);
         ++i) {
        struct pair_setup setup = *(const struct pair_setup *)param->value;
        struct pair       pair;

        setup.rndv_threshold  = rndv[i % UCS_ARRAY_COUNT(rndv)];
        setup.zcopy_threshold = zcopy[i / UCS_ARRAY_COUNT(rndv)];
        pair_open_setup(&pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
        for (size_t length = 1; length <= sizeof(out); length += 17249) {
            void *receive = pair_receive(&pair, 1, in, length, 1);

            pattern_fill(out, length, i);
            ck_assert_int_eq(
                pair_wait(&pair, pair_send(&pair, 0, out, length, 1)), UCS_OK);
            ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
            pattern_check(in, length, i);
        }
        pair_close(&pair);
    }
}

/* The fast path goes exactly as far as the table says, and is closed where
 * settings want every message to ask first. */
static void worker_config__fast_path(const struct test_param *param)
{
    const struct ucp_ep_config *config;
    struct pair                 pair;

    pair_open_setup(&pair, param->value, 0, UCP_ERR_HANDLING_MODE_PEER);
    config = pair.eps[0]->config;
    if (config->short_bytes_end > 0) {
        const struct ucp_select_table *table =
            &config->select[UCP_MODE_STANDARD][UCP_DT_CONTIG][0];

        ck_assert_int_eq(
            ucp_select_lookup(table, config->short_bytes_end - 1)->direct,
            UCP_DIRECT_SHORT);
        ck_assert_int_ne(
            ucp_select_lookup(table, config->short_bytes_end)->direct,
            UCP_DIRECT_SHORT);
    }
    if (pair.contexts[0]->config.rndv_threshold.intra_bytes == 0) {
        ck_assert_uint_le(config->short_bytes_end, 1);
        ck_assert_uint_le(config->packed_bytes_end, 1);
    }
    pair_close(&pair);
}

/* ---- forced, and impossible ---- */

/* A transport, and why a lane of it cannot do what a scheme asks for; NULL: it
 * can. is_loop: both ends are one context. */
struct forced {
    const char *tls;
    const char *no_put;
    const char *no_get;
    const char *no_shared;
    bool        is_loop;
};

#define NO_SHARED "no lane has get and shared words"

static const struct forced forced_self = {"self", NULL, NULL, NO_SHARED, true};
static const struct forced forced_sm   = {.tls       = "sm",
                                          .no_put    = "no lane has put",
                                          .no_get    = "no lane has get",
                                          .no_shared = "no lane has get"};
static const struct forced forced_example = {.tls       = "example",
                                             .no_put    = "no lane has put",
                                             .no_get    = "no lane has get",
                                             .no_shared = "no lane has get"};
#ifdef HAVE_UDP
static const struct forced forced_udp = {.tls = "udp", .no_shared = NO_SHARED};
#endif

static const struct test_param forced_params[] = {{"self", &forced_self},
                                                  {"sm", &forced_sm},
                                                  {"example", &forced_example},
#ifdef HAVE_UDP
                                                  {"udp", &forced_udp},
#endif
                                                  {0}};

/* Every value of the setting, its protocol, and where the reason stands. */
static const struct {
    const char *value;
    const char *proto;
    size_t      reason;
} forced_schemes[] = {
    {.value = "auto"},
    {.value = "am"},
    {"put_zcopy", "rndv/rdma_put", offsetof(struct forced, no_put)},
    {"put_ppln", "rndv/rdma_pipeline", offsetof(struct forced, no_put)},
    {"get_zcopy", "rndv/rdma_get", offsetof(struct forced, no_get)},
    {"get_ppln", "rndv/rdma_get", offsetof(struct forced, no_get)},
    {"rkey_ptr", "rndv/rdma_get", offsetof(struct forced, no_get)},
    {"shared", "rndv/rdma_shared", offsetof(struct forced, no_shared)},
};

/* What is expected to be said; "": nothing. */
static void forced_line(const struct forced *forced, unsigned scheme,
                        char *line, size_t size)
{
    const char *reason = NULL;

    if (forced_schemes[scheme].proto != NULL) {
        memcpy(&reason, (const char *)forced + forced_schemes[scheme].reason,
               sizeof(reason));
    }
    line[0] = '\0';
    if (reason != NULL) {
        (void)snprintf(line, size,
                       "UCX_RNDV_SCHEME: %s cannot be used over %s: %s; the "
                       "next best is taken",
                       forced_schemes[scheme].proto, forced->tls, reason);
    }
}

static void forced_carry(struct pair *pair)
{
    static uint8_t out[70000], in[70000];
    void          *receive = pair_receive(pair, 1, in, sizeof(in), 1);

    pattern_fill(out, sizeof(out), 1);
    ck_assert_int_eq(pair_wait(pair, pair_send(pair, 0, out, sizeof(out), 1)),
                     UCS_OK);
    ck_assert_int_eq(pair_wait(pair, receive), UCS_OK);
    pattern_check(in, sizeof(in), 1);
}

/* Another worker of the first context makes its own table. */
static void forced_again(const struct pair *pair)
{
    const ucp_worker_params_t worker_params = {.field_mask = 0};
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_address_t  *address;
    ucp_worker_h    worker, peer;
    size_t          length;
    ucp_ep_h        ep;

    ck_assert_int_eq(
        ucp_worker_create(pair->contexts[0], &worker_params, &worker), UCS_OK);
    peer = pair->is_loop ? worker : pair->workers[1];
    ck_assert_int_eq(ucp_worker_get_address(peer, &address, &length), UCS_OK);
    params.address = address;
    ck_assert_int_eq(ucp_ep_create(worker, &params, &ep), UCS_OK);
    ck_assert_ptr_ne(ep->config, pair->eps[0]->config);
    ucp_worker_release_address(peer, address);
    ucp_worker_destroy(worker);
}

/* What is forced and cannot be is said, once for a context, with the setting,
 * the transport and the reason; messages go all the same. */
static void
worker_config__an_impossible_scheme_is_said(const struct test_param *param)
{
    const struct forced *forced = param->value;

    (void)setenv("UCX_SM_CMA", "n", 1);
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(forced_schemes); ++i) {
        const struct pair_setup setup = {.tls            = forced->tls,
                                         .rndv_threshold = "0",
                                         .rndv_scheme =
                                             forced_schemes[i].value};
        struct pair             pair;
        char                    line[160];

        forced_line(forced, i, line, sizeof(line));
        log_capture_start();
        pair_open_setup(&pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
        forced_carry(&pair);
        forced_again(&pair);
        (void)ucsi_log_set_handler(NULL);
        ck_assert_str_eq(log_captured.text, line);
        ck_assert_uint_eq(log_captured.count, (line[0] == '\0') ? 0
                                              : forced->is_loop ? 1
                                                                : 2);
        ck_assert((line[0] == '\0') ||
                  (log_captured.level == UCS_LOG_LEVEL_WARN));
        pair_close(&pair);
    }
}

static const char *name_for(const struct pair *pair, size_t bytes)
{
    const struct ucp_select_table *tables =
        pair->eps[0]->config->select[UCP_MODE_STANDARD][UCP_DT_CONTIG];

    return ucp_select_lookup(tables, bytes)->name;
}

static uint64_t bytes_by(const struct ucp_worker *worker, enum ucp_count what)
{
    return ucs_counter_get(&worker->counts[what]);
}

/* A message of the default settings, on which both ends may work: one end
 * sends, the other unpacks or reads, nobody puts, nobody falls back. */
static void check_both_ends_move(struct pair *pair)
{
    static uint8_t out[4 << 20], in[4 << 20];
    void          *receive = pair_receive(pair, 1, in, sizeof(in), 1);
    void          *send;

    pattern_fill(out, sizeof(out), 1);
    send = pair_send(pair, 0, out, sizeof(out), 1);
    for (int i = 0; (i < 1000) && ucs_list_is_empty(&pair->workers[1]->shares);
         ++i) {
        ucp_worker_progress(pair->workers[1]); /* until R has matched it */
    }
    ck_assert(!ucs_list_is_empty(&pair->workers[1]->shares));
    ck_assert_int_eq(pair_wait(pair, send), UCS_OK);
    ck_assert_int_eq(pair_wait(pair, receive), UCS_OK);
    pattern_check(in, sizeof(in), 1);
    ck_assert_uint_eq(bytes_by(pair->workers[0], UCP_COUNT_PUT_OUT), 0);
    ck_assert_uint_eq(bytes_by(pair->workers[1], UCP_COUNT_FALL_BACK), 0);
}

/* Whatever this machine's speeds are: where copies through chunks are faster
 * than those of one processor in the kernel, both ends move what is longer
 * than 1 MiB; where they are slower, R reads it. */
static void worker_config__large_ones_are_shared(const struct test_param *param)
{
    static const struct {
        const char *chunks, *cma;
        bool        is_shared;
    } machines[] = {{"6GBps", "4GBps", true},   {"12GBps", "7GBps", true},
                    {"20GBps", "14GBps", true}, {"50GBps", "14GBps", true},
                    {"7GBps", "28GBps", false}, {"2GBps", "10GBps", false}};

    static const struct pair_setup setup = {.tls = "sm"};

    (void)param;
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(machines); ++i) {
        struct pair pair;

        (void)setenv("UCX_SM_BW", machines[i].chunks, 1);
        (void)setenv("UCX_SM_CMA_BW", machines[i].cma, 1);
        pair_open_setup(&pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
        if (pair.eps[0]->config->lane.attr.get.zcopy_bytes_max == 0) {
            pair_close(&pair);
            test_skip("there is no get here");
        }
        ck_assert_str_ne(name_for(&pair, 512 << 10), "rndv/rdma_shared");
        for (size_t bytes = (1 << 20) + 1; bytes < SIZE_MAX / 4;
             bytes += bytes) {
            ck_assert_str_eq(name_for(&pair, bytes), machines[i].is_shared
                                                         ? "rndv/rdma_shared"
                                                         : "rndv/rdma_get");
        }
        if (machines[i].is_shared) {
            pair_meet(&pair);
            check_both_ends_move(&pair);
        }
        pair_close(&pair);
    }
}

static const struct test_case worker_config_cases[] = {
    TEST(worker_config__is_shared),
    TEST(worker_config__covers_every_size),
    TEST(worker_config__fast_path),
    {0},
};

static const struct test_case worker_threshold_cases[] = {
    TEST(worker_config__any_threshold),
    {0},
};

static const struct test_case worker_forced_cases[] = {
    TEST(worker_config__an_impossible_scheme_is_said),
    {0},
};

static const struct test_case worker_scheme_cases[] = {
    TEST(worker_config__large_ones_are_shared),
    {0},
};

const struct test_suite worker_forced_suite = {.name   = "worker_forced",
                                               .cases  = worker_forced_cases,
                                               .params = forced_params};

const struct test_suite worker_scheme_suite = {.name  = "worker_scheme",
                                               .cases = worker_scheme_cases};

const struct test_suite worker_threshold_suite = {.name = "worker_threshold",
                                                  .cases =
                                                      worker_threshold_cases,
                                                  .params = pair_transports};

const struct test_suite worker_config_suite = {.name   = "worker_config",
                                               .cases  = worker_config_cases,
                                               .params = pair_protocols};
