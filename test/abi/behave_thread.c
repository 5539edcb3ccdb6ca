/* SPDX-License-Identifier: BSD-3-Clause */
/* test/abi/behave_thread.c - thread modes: what is granted, and that it
 * holds. */
#include "behave.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 4, MESSAGES = 500 };

static ucs_thread_mode_t granted(ucs_thread_mode_t asked)
{
    struct pair_options options = {.thread_mode = asked, .no_eps = true};
    ucp_worker_attr_t   attr;
    struct node         node;

    node_open(&node, &options);
    attr.field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE;
    must(ucp_worker_query(node.worker, &attr), "worker_query");
    node_close(&node);
    return attr.thread_mode;
}

/* One worker, entered by one thread after another. */
static struct pair  turns;
static int          turn_ok;
static ucs_status_t turn_status;

static void *take_turn(void *arg)
{
    uint64_t out = (uint64_t)(uintptr_t)arg, in = 0;

    must_ptr(ucp_tag_send_nb(turns.a.ep, &out, sizeof(out),
                             ucp_dt_make_contig(1), out, on_send_nb),
             "send");
    turn_status = pump_request(
        &turns, ucp_tag_recv_nb(turns.b.worker, &in, sizeof(in),
                                ucp_dt_make_contig(1), out, ~0ul, on_recv_nb));
    turn_ok += (turn_status == UCS_OK) && (in == out);
    return NULL;
}

static void by_turns(const char *name, ucs_thread_mode_t mode)
{
    struct pair_options options = {.thread_mode = mode};
    pthread_t           thread;
    uintptr_t           i;

    turn_ok = 0;
    pair_open(&turns, &options);
    for (i = 1; i <= THREADS; ++i) {
        pthread_create(&thread, NULL, take_turn, (void *)i);
        pthread_join(thread, NULL);
    }
    (void)take_turn((void *)i);
    fact(name, "%d", turn_ok);
    pair_close(&turns);
}

/* All at once: each thread sends to itself by tag through shared workers. */
static struct pair shared;
static int         good[THREADS];

static void *all_at_once(void *arg)
{
    uintptr_t           index = (uintptr_t)arg;
    ucp_request_param_t param;
    int                 i;

    memset(&param, 0, sizeof(param));
    for (i = 0; i < MESSAGES; ++i) {
        uint64_t tag = (index << 32) | (uint64_t)i, in = 0;
        uint64_t out  = tag * 3;
        void    *recv = ucp_tag_recv_nbx(shared.b.worker, &in, sizeof(in), tag,
                                         ~0ul, &param);
        void    *send =
            ucp_tag_send_nbx(shared.a.ep, &out, sizeof(out), tag, &param);

        must_ptr(recv, "recv");
        must_ptr(send, "send");
        if ((pump_request(&shared, recv) == UCS_OK) &&
            (pump_request(&shared, send) == UCS_OK) && (in == out)) {
            ++good[index];
        }
    }
    return NULL;
}

static void multi(void)
{
    struct pair_options options = {.thread_mode = UCS_THREAD_MODE_MULTI};
    pthread_t           threads[THREADS];
    uintptr_t           i;
    int                 sum = 0;

    pair_open(&shared, &options);
    for (i = 0; i < THREADS; ++i) {
        pthread_create(&threads[i], NULL, all_at_once, (void *)i);
    }
    for (i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
        sum += good[i];
    }
    fact("multi.messages", "%d", sum);
    pair_close(&shared);
}

/* Contexts of their own in threads of their own. */
static void *own_pair(void *arg)
{
    uint64_t    in = 0, out = 7;
    struct pair pair;

    pair_open(&pair, NULL);
    must_ptr(ucp_tag_send_nbx(pair.a.ep, &out, sizeof(out), 1,
                              &(ucp_request_param_t){0}),
             "send");
    must(pump_request(&pair,
                      ucp_tag_recv_nbx(
                          pair.b.worker, &in, sizeof(in), 1, ~0ul,
                          &(ucp_request_param_t){
                              .op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL})),
         "recv");
    *(int *)arg = (in == out);
    pair_close(&pair);
    return NULL;
}

static void own_contexts(void)
{
    pthread_t threads[THREADS];
    int       ok[THREADS] = {0}, i, sum = 0;

    for (i = 0; i < THREADS; ++i) {
        pthread_create(&threads[i], NULL, own_pair, &ok[i]);
    }
    for (i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
        sum += ok[i];
    }
    fact("own_contexts", "%d", sum);
}

/* With mt_workers_shared the calls of a context come from any thread. */
static ucp_context_h common;

static void *map_and_pack(void *arg)
{
    static char          memory[THREADS][4096];
    uintptr_t            index  = (uintptr_t)arg;
    ucp_mem_map_params_t params = {.field_mask =
                                       UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                                       UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = memory[index],
                                   .length  = sizeof(memory[index])};
    void                *key;
    size_t               length;
    ucp_mem_h            mem;

    for (int i = 0; i < MESSAGES; ++i) {
        must(ucp_mem_map(common, &params, &mem), "mem_map");
        must(ucp_rkey_pack(common, mem, &key, &length), "rkey_pack");
        ucp_rkey_buffer_release(key);
        must(ucp_mem_unmap(common, mem), "mem_unmap");
        ++good[index];
    }
    return NULL;
}

static void shared_context(void)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES |
                                         UCP_PARAM_FIELD_MT_WORKERS_SHARED,
                           .features          = UCP_FEATURE_RMA,
                           .mt_workers_shared = 1};
    pthread_t    threads[THREADS];
    uintptr_t    i;
    int          sum = 0;

    must(ucp_init(&params, NULL, &common), "init");
    memset(good, 0, sizeof(good));
    for (i = 0; i < THREADS; ++i) {
        pthread_create(&threads[i], NULL, map_and_pack, (void *)i);
    }
    for (i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
        sum += good[i];
    }
    fact("shared_context.maps", "%d", sum);
    ucp_cleanup(common);
}

int main(void)
{
    fact("granted.single", "%d", granted(UCS_THREAD_MODE_SINGLE));
    fact("granted.serialized", "%d", granted(UCS_THREAD_MODE_SERIALIZED));
    fact("granted.multi", "%d", granted(UCS_THREAD_MODE_MULTI));
    by_turns("turns.serialized", UCS_THREAD_MODE_SERIALIZED);
    by_turns("turns.single", UCS_THREAD_MODE_SINGLE); /* as Open MPI does */
    multi();
    own_contexts();
    shared_context();
    fact("end", "1");
    return 0;
}
