/* SPDX-License-Identifier: BSD-3-Clause */
/* test_odd.c - what no sane program does and the API allows: operations from
 * inside callbacks, everything empty, huge counts, many workers, forks,
 * threads that do everything at once. */
#include "ucp/api/ucp.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/test.h"
#include "ucp/pair.h"
#include "ucp/suites.h"
#include "ucs/compiler.h"
#include "ucs/log_capture.h"

enum { TAG = 3, LARGE = 200000, DEPTH = 200, THREADS = 4, ROUNDS = 200 };

static char in[LARGE], out[LARGE];

/* ---- inside callbacks ---- */

/* Each receive, when it ends, posts the next one and the send for it, asks and
 * opens and closes what there is, cancels another, and gives itself back. */
struct chain {
    struct pair pair;
    unsigned    left;
    unsigned    cancelled;
    ucp_ep_h    extra;
};

static void chain_cancelled(void *request, ucs_status_t status,
                            const ucp_tag_recv_info_t *info, void *arg)
{
    struct chain *chain = arg;

    (void)info;
    ck_assert_int_eq(status, UCS_ERR_CANCELED);
    ++chain->cancelled;
    ucp_request_free(request);
}

static void chain_step(void *request, ucs_status_t status,
                       const ucp_tag_recv_info_t *info, void *arg);

static void chain_post(struct chain *chain)
{
    ucp_request_param_t param = {
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.recv   = chain_step,
        .user_data = chain,
    };
    size_t length = (chain->left % 3 == 0) ? LARGE : 8;
    void  *receive, *send;

    receive = ucp_tag_recv_nbx(chain->pair.workers[1], in, LARGE, TAG,
                               UINT64_MAX, &param);
    ck_assert(UCS_PTR_IS_PTR(receive));
    send = pair_send(&chain->pair, 0, out, length, TAG);
    ck_assert(!UCS_PTR_IS_ERR(send));
    if (UCS_PTR_IS_PTR(send)) {
        ucp_request_free(send); /* goes on in silence */
    }
}

static void chain_step(void *request, ucs_status_t status,
                       const ucp_tag_recv_info_t *info, void *arg)
{
    struct chain       *chain = arg;
    ucp_request_param_t param = {
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.recv   = chain_cancelled,
        .user_data = chain,
    };
    ucp_worker_attr_t   attr = {.field_mask = UCP_WORKER_ATTR_FIELD_NAME};
    ucp_tag_recv_info_t probed;
    void               *other;

    ck_assert_int_eq(status, UCS_OK);
    ck_assert_uint_eq(info->sender_tag, TAG);
    ck_assert_int_eq(ucp_worker_query(chain->pair.workers[1], &attr), UCS_OK);
    ck_assert_ptr_null(ucp_tag_probe_nb(chain->pair.workers[1], TAG + 1,
                                        UINT64_MAX, 1, &probed));
    other = ucp_tag_recv_nbx(chain->pair.workers[1], in, 8, TAG + 2, UINT64_MAX,
                             &param);
    ucp_request_cancel(chain->pair.workers[1], other);
    if (chain->extra == NULL) {
        chain->extra =
            pair_connect(&chain->pair, 1, UCP_ERR_HANDLING_MODE_PEER);
    } else {
        ck_assert_ptr_null(ucp_ep_close_nbx(chain->extra, &pair_force_param));
        chain->extra = NULL;
    }
    ucp_request_free(request);
    if (--chain->left > 0) {
        chain_post(chain);
    }
}

static void odd__everything_inside_callbacks(const struct test_param *param)
{
    struct chain chain = {.left = DEPTH};

    pair_open(&chain.pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    chain_post(&chain);
    while (chain.left > 0) {
        pair_progress(&chain.pair);
    }
    ck_assert_uint_eq(chain.cancelled, DEPTH);
    pair_close(&chain.pair);
}

/* ---- sizes ---- */

/* Nothing at all, in every form; then every bit of a tag. */
static void odd__nothing_and_all_bits(const struct test_param *param)
{
    static const ucp_tag_t tags[] = {0, 1, UINT64_MAX, UINT64_MAX - 1,
                                     UINT64_C(1) << 63};
    ucp_request_param_t    iov    = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                     .datatype     = ucp_dt_make_iov()};
    ucp_request_param_t    empty  = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                     .datatype     = ucp_dt_make_contig(0)};
    struct pair            pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(tags); ++i) {
        void *receives[3], *works[3];

        receives[0] = ucp_tag_recv_nbx(pair.workers[1], NULL, 0, tags[i],
                                       UINT64_MAX, &iov);
        receives[1] = ucp_tag_recv_nbx(pair.workers[1], NULL, 77, tags[i],
                                       UINT64_MAX, &empty);
        receives[2] = ucp_tag_recv_nbx(pair.workers[1], NULL, 0, tags[i],
                                       UINT64_MAX, &pair_no_param);
        works[0]    = ucp_tag_send_nbx(pair.eps[0], NULL, 0, tags[i], &iov);
        works[1] =
            ucp_tag_send_sync_nbx(pair.eps[0], NULL, 1000, tags[i], &empty);
        works[2] =
            ucp_tag_send_nbx(pair.eps[0], NULL, 0, tags[i], &pair_no_param);
        for (int j = 0; j < 3; ++j) {
            ck_assert_int_eq(pair_wait(&pair, works[j]), UCS_OK);
            ck_assert_int_eq(pair_wait(&pair, receives[j]), UCS_OK);
        }
    }
    pair_close(&pair);
}

/* An iov of a hundred thousand entries, most of them empty; counts whose bytes
 * no address space has are refused on both sides. */
static void odd__huge_counts(const struct test_param *param)
{
    enum { ENTRIES = 100000 };
    ucp_request_param_t iov     = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                   .datatype     = ucp_dt_make_iov()};
    ucp_request_param_t large   = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE,
                                   .datatype = ucp_dt_make_contig(SIZE_MAX / 16)};
    ucp_dt_iov_t       *entries = calloc(ENTRIES, sizeof(*entries));
    struct pair         pair;
    void               *receive;

    ck_assert_ptr_nonnull(entries);
    pattern_fill(out, LARGE, 9);
    for (unsigned i = 0; i < ENTRIES; ++i) {
        entries[i].buffer = (i % 5 == 0) ? &out[i] : NULL;
        entries[i].length = (i % 5 == 0) ? 5 : 0;
    }
    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    receive = pair_receive(&pair, 1, in, LARGE, TAG);
    ck_assert_int_eq(pair_wait(&pair, ucp_tag_send_nbx(pair.eps[0], entries,
                                                       ENTRIES, TAG, &iov)),
                     UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    pattern_check(in, ENTRIES, 9);
    log_capture_start();
    ck_assert_int_eq(
        UCS_PTR_RAW_STATUS(ucp_tag_send_nbx(pair.eps[0], out, 17, TAG, &large)),
        UCS_ERR_INVALID_PARAM);
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(ucp_tag_recv_nbx(
                         pair.workers[1], in, 17, TAG, UINT64_MAX, &large)),
                     UCS_ERR_INVALID_PARAM);
    entries[0].length = entries[1].length = SIZE_MAX / 2 + 1;
    ck_assert_int_eq(UCS_PTR_RAW_STATUS(ucp_tag_send_nbx(pair.eps[0], entries,
                                                         ENTRIES, TAG, &iov)),
                     UCS_ERR_INVALID_PARAM);
    ck_assert_uint_eq(log_captured.count, 3);
    pair_close(&pair);
    free(entries);
}

static void odd__request_sizes(const struct test_param *param)
{
    static const size_t refused[] = {SIZE_MAX, SIZE_MAX - 7, SIZE_MAX / 2,
                                     (size_t)1 << 40, (16u << 20) + 1};
    ucp_params_t        params    = {
                  .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE,
                  .features = UCP_FEATURE_TAG,
    };
    struct pair_setup setup = *(const struct pair_setup *)param->value;
    ucp_context_h     context;
    struct pair       pair;
    void             *receive;

    log_capture_start();
    for (unsigned i = 0; i < UCS_ARRAY_COUNT(refused); ++i) {
        params.request_size = refused[i];
        ck_assert_int_eq(ucp_init(&params, NULL, &context),
                         UCS_ERR_INVALID_PARAM);
        ck_assert_uint_eq(log_captured.count, i + 1);
    }
    params.request_size = 100001;
    setup.context       = &params;
    pair_open_setup(&pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
    receive = pair_receive(&pair, 1, in, 8, TAG);
    memset(receive, 0xaa, params.request_size);
    ck_assert_int_eq(pair_wait(&pair, pair_send(&pair, 0, out, 8, TAG)),
                     UCS_OK);
    ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
    pair_close(&pair);
}

/* ---- processes, descriptors ---- */

/* Workers until there are no more descriptors: a status and a word; those
 * that were made work, and nothing is left behind. */
static void odd__workers_until_none_is_left(const struct test_param *param)
{
    enum { WORKERS = 1000 };
    ucp_worker_params_t worker_params = {.field_mask = 0};
    struct rlimit       files;
    ucp_worker_h       *workers = calloc(WORKERS, sizeof(*workers));
    struct pair         pair;
    unsigned            count  = 0;
    ucs_status_t        status = UCS_OK;

    ck_assert_ptr_nonnull(workers);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = ucs_min(files.rlim_max, (rlim_t)1024);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    pair_open(&pair, param, UCP_FEATURE_WAKEUP, UCP_ERR_HANDLING_MODE_PEER);
    log_capture_start();
    while ((count < WORKERS) && (status == UCS_OK)) {
        status = ucp_worker_create(pair.contexts[0], &worker_params,
                                   &workers[count]);
        count += (status == UCS_OK) ? 1 : 0;
    }
    /* One that speaks over interfaces has two sockets for each. */
    ck_assert_uint_ge(count, (strcmp(param->name, "udp") == 0) ? 50 : 100);
    ck_assert_uint_gt(log_captured.count + (status == UCS_OK), 0);
    for (unsigned i = 0; i < count; ++i) {
        ucp_worker_destroy(workers[i]);
    }
    free(workers);
    pair_meet(&pair);
    pair_close(&pair);
}

/* A child that only exits, and one that opens a context of its own, disturb
 * nothing. */
static void odd__forks(const struct test_param *param)
{
    /* The sanitizers' pthread_join() (gcc 12) takes a thread of the child for
     * the parent's at the same address, and waits for it for ever. */
    const bool  child_may = (strcmp(param->name, "udp") != 0);
    struct pair pair;

    pair_open(&pair, param, 0, UCP_ERR_HANDLING_MODE_PEER);
    pair_meet(&pair);
    for (int way = 0; way < 4; ++way) {
        void *receive = pair_receive(&pair, 1, in, LARGE, TAG);
        void *send    = pair_send(&pair, 0, out, LARGE, TAG);
        int   status;
        pid_t child = fork();

        ck_assert_int_ge(child, 0);
        if (child == 0) {
            if ((way % 2 == 1) && child_may) {
                struct pair own;

                pair_open(&own, param, 0, UCP_ERR_HANDLING_MODE_PEER);
                pair_meet(&own);
                pair_close(&own);
            }
            _exit(0);
        }
        if (way >= 2) {
            ck_assert_int_eq(waitpid(child, &status, 0), child);
        }
        ck_assert_int_eq(pair_wait(&pair, send), UCS_OK);
        ck_assert_int_eq(pair_wait(&pair, receive), UCS_OK);
        if (way < 2) {
            ck_assert_int_eq(waitpid(child, &status, 0), child);
        }
        ck_assert_msg(WIFEXITED(status) && (WEXITSTATUS(status) == 0),
                      "child: 0x%x", status);
        ck_assert_int_eq(pair.error_count[0] + pair.error_count[1], 0);
    }
    pair_close(&pair);
}

/* ---- threads ---- */

struct hammer {
    struct pair *pair;
    unsigned     number;
    atomic_uint *done;
};

static ucs_status_t hammer_wait(struct pair *pair, void *request)
{
    return pair_wait(pair, request);
}

/* Sends to itself over the shared endpoint, receives, probes, cancels, opens
 * and closes endpoints, asks for addresses: all on the same two workers. */
static void *hammer_thread(void *arg)
{
    struct hammer *hammer = arg;
    struct pair   *pair   = hammer->pair;
    char           mine[512], theirs[512];

    for (unsigned round = 0; round < ROUNDS; ++round) {
        ucp_tag_t           tag    = ((uint64_t)hammer->number << 32) | round;
        size_t              length = (round * 37) % sizeof(mine);
        ucp_tag_recv_info_t info;
        void               *receive, *send, *never;

        memset(mine, (int)(hammer->number * 31 + round), sizeof(mine));
        never   = pair_receive(pair, 1, theirs, sizeof(theirs), ~tag);
        receive = pair_receive(pair, 1, theirs, sizeof(theirs), tag);
        send    = (round % 2 == 0) ? pair_send(pair, 0, mine, length, tag)
                                   : pair_send_sync(pair, 0, mine, length, tag);
        (void)ucp_tag_probe_nb(pair->workers[1], tag, 0, 0, &info);
        ucp_request_cancel(pair->workers[1], never);
        if ((hammer_wait(pair, send) != UCS_OK) ||
            (hammer_wait(pair, receive) != UCS_OK) ||
            (hammer_wait(pair, never) != UCS_ERR_CANCELED) ||
            (memcmp(mine, theirs, length) != 0)) {
            ck_abort_msg("thread %u, round %u", hammer->number, round);
        }
        if (round % 8 == 0) {
            ucp_ep_h ep = pair_connect(pair, 0, UCP_ERR_HANDLING_MODE_PEER);

            (void)hammer_wait(pair, ucp_ep_flush_nbx(ep, &pair_no_param));
            (void)hammer_wait(pair, ucp_ep_close_nbx(ep, (round % 16 == 0)
                                                             ? &pair_force_param
                                                             : &pair_no_param));
            (void)hammer_wait(
                pair, ucp_worker_flush_nbx(pair->workers[0], &pair_no_param));
        }
    }
    atomic_fetch_add(hammer->done, 1);
    return NULL;
}

static void odd__threads_do_everything(const struct test_param *param)
{
    ucp_worker_params_t multi = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_MULTI,
    };
    struct pair_setup setup = *(const struct pair_setup *)param->value;
    struct hammer     hammers[THREADS];
    pthread_t         threads[THREADS];
    atomic_uint       done = 0;
    struct pair       pair;

    setup.worker = &multi;
    pair_open_setup(&pair, &setup, 0, UCP_ERR_HANDLING_MODE_PEER);
    for (unsigned i = 0; i < THREADS; ++i) {
        hammers[i] = (struct hammer){&pair, i + 1, &done};
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, hammer_thread, &hammers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; ++i) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    ck_assert_uint_eq(atomic_load(&done), THREADS);
    pair_close(&pair);
}

static const struct test_case odd_cases[] = {
    TEST(odd__everything_inside_callbacks),
    TEST(odd__nothing_and_all_bits),
    TEST(odd__huge_counts),
    TEST(odd__request_sizes),
    TEST(odd__workers_until_none_is_left),
    TEST(odd__forks),
    TEST_TIMEOUT(odd__threads_do_everything, 120),
    {0},
};

const struct test_suite odd_suite = {
    .name = "odd", .cases = odd_cases, .params = pair_transports};
