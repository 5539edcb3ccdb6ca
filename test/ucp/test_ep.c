/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ep.c - src/ucp/core/ep.c, entry/ep.c: endpoints that fail, that lead
 * back to their own worker, and many of them. */
#include "ucp/core/worker.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucs/log_capture.h"
#include "ucp/told.h"

enum { TAG = 6, BYTES = 1000000 };

static char in[BYTES], out[BYTES];

/* One of everything is open when the endpoint fails: each ends once, with the
 * reason, and so does what comes later; the handler is called once. */
static void ep__failure_ends_everything(const struct test_param *param)
{
    struct told         told[3] = {{.count = 0}};
    ucp_request_param_t how     = told_send_param(&told[0], 0);
    struct pair         pair;
    void               *requests[3];

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    for (int i = 0; i < 3; ++i) {
        how         = told_send_param(&told[i], 0);
        requests[i] = ucp_tag_send_sync_nbx(pair.eps[0], out, BYTES, TAG, &how);
        ck_assert(UCS_PTR_IS_PTR(requests[i]));
    }
    ucp_request_free(requests[2]); /* silenced */
    ucp_ep_fail(pair.eps[0], UCS_ERR_ENDPOINT_TIMEOUT);
    ucp_ep_fail(pair.eps[0], UCS_ERR_IO_ERROR); /* told once only */
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(worker_wait(pair.workers[0], requests[i], 10),
                         UCS_ERR_ENDPOINT_TIMEOUT);
        ck_assert_uint_eq(told[i].count, 1);
        ck_assert_int_eq(told[i].status, UCS_ERR_ENDPOINT_TIMEOUT);
        ucp_request_free(requests[i]);
    }
    ck_assert_uint_eq(told[2].count, 0);
    ck_assert_int_eq(pair.error_count[0], 1);
    ck_assert_int_eq(pair.error_status[0], UCS_ERR_ENDPOINT_TIMEOUT);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(pair_send(&pair, 0, out, 8, TAG)),
                     UCS_ERR_ENDPOINT_TIMEOUT);
    ck_assert_int_eq(
        UCS_PTR_RAW_STATUS(pair_send_sync(&pair, 0, out, BYTES, TAG)),
        UCS_ERR_ENDPOINT_TIMEOUT);
    ck_assert_int_eq(ucp_ep_flush(pair.eps[0]), UCS_ERR_ENDPOINT_TIMEOUT);
    ck_assert_uint_eq(pair.workers[0]->ids.count, 0);
    ck_assert_int_eq(
        pair_wait(&pair, ucp_ep_close_nbx(pair.eps[0], &pair_no_param)),
        UCS_OK);
    pair_abandon(&pair);
}

/* Closing inside the error handler is a common pattern. */
static int close_count;

static void close_inside(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void)arg;
    ck_assert_int_eq(status, UCS_ERR_CONNECTION_RESET);
    ck_assert_ptr_null(ucp_ep_close_nbx(ep, &pair_force_param));
    ++close_count;
}

static void ep__close_inside_the_error_handler(const struct test_param *param)
{
    ucp_ep_params_t params = {
        .field_mask  = UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .err_handler = {.cb = close_inside},
    };
    struct pair pair;
    void       *send;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    ck_assert_ptr_null(ucp_ep_modify_nb(pair.eps[0], &params));
    send = pair_send_sync(&pair, 0, out, BYTES, TAG);
    ucp_ep_fail(pair.eps[0], UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(worker_wait(pair.workers[0], send, 10),
                     UCS_ERR_CONNECTION_RESET);
    ucp_request_free(send);
    ck_assert_int_eq(close_count, 1);
    pair_settle(&pair);
    pair_abandon(&pair);
}

/* In mode NONE the program is not told; its requests are. */
static void ep__mode_none_tells_requests_only(const struct test_param *param)
{
    struct pair pair;
    void       *send;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_NONE);
    send = pair_send_sync(&pair, 0, out, BYTES, TAG);
    ucp_ep_fail(pair.eps[0], UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(worker_wait(pair.workers[0], send, 10),
                     UCS_ERR_CONNECTION_RESET);
    ucp_request_free(send);
    ck_assert_int_eq(pair.error_count[0], 0);
    pair_abandon(&pair);
}

/* Each end of a connection has the mode that its user asked for. */
static void ep__modes_of_both_ends_may_differ(const struct test_param *param)
{
    struct pair pair;
    ucp_ep_h    peer, none;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    peer = pair_connect(&pair, 0, UCP_ERR_HANDLING_MODE_PEER);
    none = pair_connect(&pair, 1, UCP_ERR_HANDLING_MODE_NONE);
    ck_assert_int_eq(
        UCS_PTR_RAW_STATUS(ucp_ep_close_nbx(none, &pair_force_param)),
        UCS_ERR_INVALID_PARAM);
    ucp_ep_fail(none, UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(pair.error_count[0] + pair.error_count[1], 0);
    ucp_ep_fail(peer, UCS_ERR_CONNECTION_RESET);
    ck_assert_int_eq(pair.error_count[0] + pair.error_count[1], 1);
    ck_assert_int_eq(pair_wait(&pair, ucp_ep_close_nbx(none, &pair_no_param)),
                     UCS_OK);
    ck_assert_ptr_null(ucp_ep_close_nbx(peer, &pair_force_param));
    pair_abandon(&pair);
}

/* After close has begun the handler is not called. */
static void ep__no_error_after_close(const struct test_param *param)
{
    struct pair pair;
    void       *close;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    if (pair.is_loop) {
        pair_close(&pair);
        return; /* its lane is never full, so a close never waits */
    }
    for (int i = 0; ucp_ep_is_drained(pair.eps[0]); ++i) {
        void *send = pair_send(&pair, 0, out, 200, TAG);

        ck_assert_int_lt(i, 100000);
        if (UCS_PTR_IS_PTR(send)) {
            ucp_request_free(send);
        }
    }
    close = ucp_ep_close_nbx(pair.eps[0], &pair_no_param);
    ck_assert(UCS_PTR_IS_PTR(close));
    ucp_ep_fail(pair.eps[0], UCS_ERR_CONNECTION_RESET);
    ck_assert_int_ne(worker_wait(pair.workers[0], close, 10), UCS_INPROGRESS);
    ucp_request_free(close);
    ck_assert_int_eq(pair.error_count[0], 0);
    pair_abandon(&pair);
}

/* ---- a worker's endpoints to itself ---- */

struct loop {
    ucp_context_h  context;
    ucp_worker_h   worker;
    ucp_address_t *address;
};

static void loop_open(struct loop *loop, const char *tls)
{
    ucp_params_t        params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                  .features   = UCP_FEATURE_TAG};
    ucp_worker_params_t worker = {.field_mask = 0};
    size_t              length;

    (void)setenv("UCX_TLS", tls, 1);
    ck_assert_int_eq(ucp_init(&params, NULL, &loop->context), UCS_OK);
    ck_assert_int_eq(ucp_worker_create(loop->context, &worker, &loop->worker),
                     UCS_OK);
    ck_assert_int_eq(
        ucp_worker_get_address(loop->worker, &loop->address, &length), UCS_OK);
}

static ucp_ep_h loop_ep(struct loop *loop, unsigned flags)
{
    ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_FLAGS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
        .address  = loop->address,
        .flags    = flags,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
    };
    ucp_ep_h ep;

    ck_assert_int_eq(ucp_ep_create(loop->worker, &params, &ep), UCS_OK);
    return ep;
}

static void loop_close(struct loop *loop)
{
    ucp_worker_release_address(loop->worker, loop->address);
    ucp_worker_destroy(loop->worker);
    ucp_cleanup(loop->context);
}

static void loop_exchange(struct loop *loop, ucp_ep_h ep, size_t length)
{
    void *receive, *send;

    pattern_fill(out, length, (unsigned)length);
    receive = ucp_tag_recv_nbx(loop->worker, in, length, TAG, UINT64_MAX,
                               &pair_no_param);
    send    = ucp_tag_send_sync_nbx(ep, out, length, TAG, &pair_no_param);
    ck_assert_int_eq(worker_wait(loop->worker, send, 10), UCS_OK);
    ck_assert_int_eq(worker_wait(loop->worker, receive, 10), UCS_OK);
    ucp_request_free(send);
    ucp_request_free(receive);
    pattern_check(in, length, (unsigned)length);
}

/* Alone an endpoint is its own other end; with NO_LOOPBACK two neighbours
 * are one another's. */
static void ep__to_oneself(const struct test_param *param)
{
    static const char *const tls[] = {"self", "sm", "all"};
    struct loop              loop;

    (void)param;
    for (unsigned i = 0; i < 3; ++i) {
        ucp_ep_h eps[4];

        loop_open(&loop, tls[i]);
        for (unsigned j = 0; j < 4; ++j) {
            eps[j] =
                loop_ep(&loop, (j < 2) ? 0 : UCP_EP_PARAMS_FLAGS_NO_LOOPBACK);
        }
        for (unsigned j = 0; j < 4; ++j) {
            loop_exchange(&loop, eps[j], 8);
            loop_exchange(&loop, eps[j], BYTES);
        }
        ck_assert_ptr_eq(eps[0]->source->user, eps[0]);
        ck_assert_ptr_eq(eps[1]->source->user, eps[1]);
        ck_assert_ptr_ne(eps[2]->source, eps[3]->source);
        for (unsigned j = 0; j < 4; ++j) {
            void *close = ucp_ep_close_nbx(eps[j], &pair_no_param);

            ck_assert_int_eq(worker_wait(loop.worker, close, 10), UCS_OK);
            if (UCS_PTR_IS_PTR(close)) {
                ucp_request_free(close);
            }
        }
        worker_settle(loop.worker);
        loop_close(&loop);
    }
}

/* ---- many ---- */

/* What an endpoint costs, with its transport's part and, once it has sent,
 * the other side's end of it. */
static void ep__cost_of_a_thousand(const struct test_param *param)
{
    enum { COUNT = 1000 };
    static ucp_ep_h eps[COUNT];
    const size_t    bytes_max = (strcmp(param->name, "udp") == 0) ? 4096 : 1024;
    size_t          before, created, used;
    struct pair     pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_NONE);
    pair_meet(&pair);
    before = heap_bytes();
    for (unsigned i = 0; i < COUNT; ++i) {
        eps[i] = pair_connect(&pair, 0, UCP_ERR_HANDLING_MODE_NONE);
    }
    created = heap_bytes();
    for (unsigned i = 0; i < COUNT; ++i) {
        pair.eps[0] = eps[i];
        ck_assert_int_eq(pair_wait(&pair, pair_send(&pair, 0, out, 8, TAG)),
                         UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, pair_receive(&pair, 1, in, 8, TAG)),
                         UCS_OK);
    }
    used = heap_bytes();
    printf("%s: %zu bytes an endpoint, %zu with the other end\n", param->name,
           (created - before) / COUNT, (used - before) / COUNT);
    ck_assert_uint_gt(created, before);
    ck_assert_uint_le((created - before) / COUNT, bytes_max);
    ck_assert_uint_le((used - before) / COUNT, 2 * bytes_max);
    pair_abandon(&pair);
}

/* Pages of all memfds that this process has open, each counted once. */
static uint64_t shared_blocks(void)
{
    enum { FILES_MAX = 64 };
    ino_t          seen[FILES_MAX];
    unsigned       count  = 0;
    uint64_t       blocks = 0;
    DIR           *folder = opendir("/proc/self/fd");
    struct dirent *entry;

    ck_assert_ptr_nonnull(folder);
    while ((entry = readdir(folder)) != NULL) {
        char        target[64] = "";
        struct stat file;
        unsigned    i;

        if ((readlinkat(dirfd(folder), entry->d_name, target,
                        sizeof(target) - 1) < 0) ||
            (strncmp(target, "/memfd:", 7) != 0) ||
            (fstat((int)strtol(entry->d_name, NULL, 10), &file) != 0)) {
            continue;
        }
        for (i = 0; (i < count) && (seen[i] != file.st_ino); ++i) {
        }
        if (i == count) {
            ck_assert_uint_lt(count, FILES_MAX);
            seen[count++] = file.st_ino;
            blocks += (uint64_t)file.st_blocks;
        }
    }
    (void)closedir(folder);
    return blocks;
}

static void ep__unused_costs_no_shared_memory(const struct test_param *param)
{
    uint64_t    before;
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    before = shared_blocks();
    for (unsigned i = 0; i < 100; ++i) {
        (void)pair_connect(&pair, 0, UCP_ERR_HANDLING_MODE_NONE);
    }
    pair_settle(&pair);
    ck_assert_uint_eq(shared_blocks(), before);
    pair_meet(&pair);
    if (strcmp(param->name, "sm") == 0) {
        ck_assert_uint_gt(before, 0);
        ck_assert_uint_gt(shared_blocks(), before);
    }
    pair_abandon(&pair);
}

static void ep__query_and_print(const struct test_param *param)
{
    ucp_transport_entry_t entries[2] = {{0}};
    ucp_ep_attr_t         attr       = {
                      .field_mask = UCP_EP_ATTR_FIELD_NAME | UCP_EP_ATTR_FIELD_USER_DATA |
                                    UCP_EP_ATTR_FIELD_TRANSPORTS,
                      .transports = {.entries     = entries,
                                     .num_entries = 2,
                                     .entry_size  = sizeof(entries[0])},
    };
    char       *text = NULL;
    size_t      length;
    struct pair pair;
    FILE       *stream;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_int_eq(ucp_ep_query(pair.eps[0], &attr), UCS_OK);
    ck_assert_uint_gt(strlen(attr.name), 0);
    ck_assert_uint_eq(attr.transports.num_entries, 1);
    ck_assert_str_eq(entries[0].transport_name, param->name);
    attr.field_mask = UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR;
    ck_assert_int_eq(ucp_ep_query(pair.eps[0], &attr), UCS_ERR_NOT_CONNECTED);
    stream = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(stream);
    ucp_ep_print_info(pair.eps[0], stream);
    (void)fclose(stream);
    ck_assert_ptr_nonnull(strstr(text, "eager/"));
    free(text);
    pair_close(&pair);
}

static void ep__wrong_arguments(const struct test_param *param)
{
    static const uint64_t nonsense[64] = {0x0123456789abcdef};
    ucp_ep_params_t       params       = {.field_mask = 0};
    struct pair           pair;
    ucp_ep_h              ep;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_int_eq(ucp_ep_create(pair.workers[0], NULL, &ep),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(ucp_ep_create(pair.workers[0], &params, &ep),
                     UCS_ERR_INVALID_PARAM);
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    ck_assert_int_eq(ucp_ep_create(pair.workers[0], &params, &ep),
                     UCS_ERR_INVALID_PARAM);
    params.address = (const ucp_address_t *)nonsense;
    ck_assert_int_eq(ucp_ep_create(pair.workers[0], &params, &ep),
                     UCS_ERR_INVALID_ADDR);
    params.field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR;
    ck_assert_int_eq(ucp_ep_create(pair.workers[0], &params, &ep),
                     UCS_ERR_UNSUPPORTED);
    pair_close(&pair);
}

/* The address of a worker with any bit changed: one line, a status, nothing
 * behind the blob is read (AddressSanitizer), the worker goes on. */
static void ep__damaged_addresses(const struct test_param *param)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_worker_address_attr_t uid = {.field_mask = 0};
    ucp_address_t            *address;
    struct pair               pair;
    ucp_ep_h                  ep;
    size_t                    length;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    ck_assert_int_eq(ucp_worker_get_address(pair.workers[1], &address, &length),
                     UCS_OK);
    params.address = address;
    for (size_t bit = 0; bit < 8 * length; ++bit) {
        ((uint8_t *)address)[bit / 8] ^= (uint8_t)(1 << (bit % 8));
        log_capture_start();
        ck_assert_int_eq(ucp_ep_create(pair.workers[0], &params, &ep),
                         UCS_ERR_INVALID_ADDR);
        ck_assert_uint_eq(log_captured.count, 1);
        ck_assert_int_eq(ucp_worker_address_query(address, &uid),
                         UCS_ERR_INVALID_ADDR);
        ((uint8_t *)address)[bit / 8] ^= (uint8_t)(1 << (bit % 8));
    }
    ucp_worker_release_address(pair.workers[1], address);
    pair_meet(&pair);
    pair_close(&pair);
}

static const struct test_case ep_cases[] = {
    TEST(ep__failure_ends_everything),
    TEST(ep__close_inside_the_error_handler),
    TEST(ep__mode_none_tells_requests_only),
    TEST(ep__modes_of_both_ends_may_differ),
    TEST(ep__no_error_after_close),
    TEST(ep__cost_of_a_thousand),
    TEST(ep__unused_costs_no_shared_memory),
    TEST(ep__query_and_print),
    TEST(ep__wrong_arguments),
    TEST(ep__damaged_addresses),
    {0},
};

const struct test_suite ep_suite = {
    .name = "ep", .cases = ep_cases, .params = pair_transports};

static const struct test_case loop_cases[] = {
    TEST(ep__to_oneself),
    {0},
};

const struct test_suite ep_loop_suite = {.name  = "ep_loop",
                                         .cases = loop_cases};
