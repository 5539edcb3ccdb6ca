/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/worker.c - opening, polling and closing a worker. */
#include "ucp/core/worker.h"

#include <stdlib.h>

#include "ucp/core/flush.h"
#include "ucp/core/trace.h"
#include "ucp/core/worker_config.h"
#include "ucp/proto/layout.h"
#include "ucp/proto/rdma_shared.h"
#include "ucp/proto/rndv.h"
#include "ucp/tag/recv.h"
#include "ucp/wireup/lanes.h"
#include "ucp/wireup/peer.h"
#include "ucs/clock.h"
#include "ucs/log.h"
#include "ucs/random.h"
#include "ucs/strbuf.h"

enum worker_limit {
    WORKER_LEFT_OUT_BYTES_MAX = 2048,
    /* OpenUCX's first batch: programs construct objects in the user's bytes
     * of each request when a batch is added. */
    WORKER_REQUEST_CHUNK_COUNT = 128,
    /* A quiet interface whose poll is a system call is looked at so often. */
    WORKER_SLOW_POLL_CALLS    = 8,
    WORKER_SLOW_CALLS_MAX     = 128,
    WORKER_SLOW_QUIET_MAX     = 64, /* empty polls until it counts as quiet */
    WORKER_SLOW_POLL_NS       = 20000,
    WORKER_SLOW_POLL_NS_MAX   = 500000,
    WORKER_SLOW_SILENCE_PARTS = 16,
};

static const struct ucs_counter_desc worker_count_descs[] = {
    [UCP_COUNT_FRAGMENT_OUT] = {"rndv_fragment_out", "bytes sent by messages"},
    [UCP_COUNT_FRAGMENT_IN]  = {"rndv_fragment_in", "bytes that came so"},
    [UCP_COUNT_PUT_OUT]      = {"rndv_put_out", "bytes written by put"},
    [UCP_COUNT_PUT_IN]       = {"rndv_put_in", "bytes that the peer wrote"},
    [UCP_COUNT_GET_OUT]      = {"rndv_get_out", "bytes that the peer read"},
    [UCP_COUNT_GET_IN]       = {"rndv_get_in", "bytes read by get"},
    [UCP_COUNT_FALL_BACK]    = {"rndv_fall_back",
                                "messages not moved as proposed"},
};
static const struct ucs_counter_table worker_count_table = {
    "worker", worker_count_descs, UCP_COUNT_COUNT};

static void worker_request_init(struct ucs_mpool *pool, void *element)
{
    const struct ucp_context *context = pool->params.arg;

    context->options.request_init(ucp_request_pointer(element));
}

static void worker_request_cleanup(struct ucs_mpool *pool, void *element)
{
    const struct ucp_context *context = pool->params.arg;

    context->options.request_cleanup(ucp_request_pointer(element));
}

static ucs_status_t worker_init_pools(struct ucp_worker *worker)
{
    struct ucp_context     *context = worker->context;
    struct ucs_mpool_params params  = {
         .name = "requests",
         .element_bytes =
             sizeof(struct ucp_request) + context->options.request_bytes,
         .align_bytes = 16,
         .chunk_count = WORKER_REQUEST_CHUNK_COUNT,
         .arg         = context,
    };
    ucs_status_t status;

    if (context->options.request_init != NULL) {
        params.element_init = worker_request_init;
    }
    if (context->options.request_cleanup != NULL) {
        params.element_cleanup = worker_request_cleanup;
    }
    status = ucsi_mpool_init(&worker->requests, &params);
    if (status != UCS_OK) {
        return status;
    }
    status = ucp_ep_queues_init(worker);
    if (status != UCS_OK) {
        goto cleanup_requests;
    }
    status = ucp_rndv_pools_init(worker);
    if (status != UCS_OK) {
        goto cleanup_controls;
    }
    status = ucp_layout_pools_init(worker);
    if (status != UCS_OK) {
        goto cleanup_rndvs;
    }
    status = ucp_tag_queues_init(worker);
    if (status != UCS_OK) {
        goto cleanup_layouts;
    }
    ucsi_idmap_init(&worker->ids);
    ucsi_hash_init(&worker->peers, worker->id);
    return UCS_OK;

cleanup_layouts:
    ucp_layout_pools_cleanup(worker);
cleanup_rndvs:
    ucp_rndv_pools_cleanup(worker);
cleanup_controls:
    ucsi_mpool_cleanup(&worker->controls, false);
cleanup_requests:
    ucsi_mpool_cleanup(&worker->requests, false);
    return status;
}

static void worker_cleanup_pools(struct ucp_worker *worker)
{
    ucp_tag_queues_cleanup(worker);
    ucp_peers_cleanup(worker);
    ucsi_idmap_cleanup(&worker->ids);
    ucp_layout_pools_cleanup(worker);
    ucp_rndv_pools_cleanup(worker);
    ucsi_mpool_cleanup(&worker->controls, false);
    ucsi_mpool_cleanup(&worker->requests,
                       !worker->options.ignore_request_leak &&
                           ucs_log_is_enabled(UCS_LOG_LEVEL_WARN));
}

/* Interfaces are polled by progress in one of two ways. */
static void worker_add_to_poll(struct ucp_worker             *worker,
                               const struct ucp_worker_iface *wiface)
{
    if (wiface->attr.flags & UCT_IFACE_POLL_IS_SYSCALL) {
        worker->slow_wait_cycles = ucsi_clock_ns_to_cycles(WORKER_SLOW_POLL_NS);
        worker->slow_wait_cycles_max =
            ucsi_clock_ns_to_cycles(WORKER_SLOW_POLL_NS_MAX);
        worker->slow[worker->slow_count++] = (struct ucp_slow_iface){
            .iface       = wiface->iface,
            .quiet_count = WORKER_SLOW_QUIET_MAX,
            .wait_cycles = worker->slow_wait_cycles,
        };
        worker->slow_countdown = 1;
        worker->slow_calls     = 1;
    } else {
        worker->fast[worker->fast_count++] = wiface->iface;
    }
}

/* An open interface of that transport; NULL: none. */
static struct uct_iface *worker_neighbour(const struct ucp_worker    *worker,
                                          const struct uct_transport *transport)
{
    for (unsigned i = worker->iface_count; i > 0; --i) {
        if (worker->ifaces[i - 1].iface->transport == transport) {
            return worker->ifaces[i - 1].iface;
        }
    }
    return NULL;
}

/* A name and what was logged about it. */
static void worker_leave_out(struct ucs_strbuf   *left_out,
                             const struct uct_md *md, const char *cause)
{
    ucsi_strbuf_appendf(left_out, "%s%s/%s: %s",
                        (left_out->length > 0) ? "; " : "", md->transport->name,
                        md->device.name, cause);
}

static ucs_status_t worker_open_iface(struct ucp_worker *worker,
                                      struct uct_md     *md,
                                      struct ucs_strbuf *left_out)
{
    const struct ucp_context_config *config = &worker->context->config;
    struct ucp_worker_iface *wiface = &worker->ifaces[worker->iface_count];
    struct uct_iface_params  params = {
         .source_end     = ucp_peer_source_ended,
         .source_end_arg = worker,
         .config = ucp_transport_config_find(&worker->context->transports,
                                             md->transport),
         .names  = &config->transports,
         .wakeup = (worker->context->options.features & UCP_FEATURE_WAKEUP) != 0,
         .failure_bound_ns = config->failure_bound_peer_ns,
         .neighbour        = worker_neighbour(worker, md->transport),
    };
    uint8_t              address[UCT_ADDRESS_BYTES_MAX];
    struct ucs_log_cause cause;
    ucs_status_t         status;

    ucsi_log_cause_begin(&cause);
    status = ucti_iface_open(md, &params, &wiface->iface);
    ucsi_log_cause_end(&cause);
    if (status != UCS_OK) {
        worker_leave_out(left_out, md, ucsi_log_cause_text(&cause, status));
        return status;
    }
    if (cause.text[0] != '\0') {
        ucs_warn("%s/%s: %s", md->transport->name, md->device.name, cause.text);
    }
    wiface->worker = worker;
    wiface->iface->transport->iface_query(wiface->iface, &wiface->attr);
    wiface->iface->transport->iface_address(wiface->iface, address);
    wiface->name = ucp_lane_name(wiface->iface->transport->name, address,
                                 wiface->attr.address_bytes);
    ucp_protos_set_handlers(wiface->iface, wiface);
    ucp_peer_set_handler(wiface);
    ucp_trace_iface(wiface);
    worker_add_to_poll(worker, wiface);
    ++worker->iface_count;
    return UCS_OK;
}

static void worker_close_ifaces(struct ucp_worker *worker)
{
    while (worker->iface_count > 0) {
        ucti_iface_close(worker->ifaces[--worker->iface_count].iface);
    }
}

/* One line says what could not be opened, and why. */
static ucs_status_t worker_open_ifaces(struct ucp_worker *worker)
{
    ucs_status_t      status = UCS_ERR_NO_DEVICE;
    char              text[WORKER_LEFT_OUT_BYTES_MAX];
    struct ucs_strbuf left_out;

    ucs_strbuf_init(&left_out, text, sizeof(text));

    for (unsigned i = 0; i < worker->context->resource_count; ++i) {
        ucs_status_t opened = worker_open_iface(
            worker, worker->context->resources[i].md, &left_out);

        status = (worker->iface_count > 0) ? UCS_OK : opened;
    }
    if (left_out.length > 0) {
        ucs_log((status == UCS_OK) ? UCS_LOG_LEVEL_WARN : UCS_LOG_LEVEL_ERROR,
                "left out: %s", text);
    }
    return status;
}

static void worker_init_lock(struct ucp_worker *worker)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&worker->lock, &attr);
    pthread_mutexattr_destroy(&attr);
}

/* Names and secrets that nobody can guess. */
static ucs_status_t worker_draw_id(struct ucp_worker *worker)
{
    ucs_status_t status = ucsi_random_u64(&worker->id);

    return (status == UCS_OK)
               ? ucsi_random_bytes(worker->secret, sizeof(worker->secret))
               : status;
}

ucs_status_t ucp_worker_open(struct ucp_context              *context,
                             const struct ucp_worker_options *options,
                             struct ucp_worker              **worker_p)
{
    struct ucp_worker *worker = calloc(1, sizeof(*worker));
    ucs_status_t       status;

    if (worker == NULL) {
        return ucsi_no_memory("a worker", sizeof(*worker));
    }
    worker->context = context;
    worker->options = *options;
    if (worker->options.name[0] == '\0') {
        (void)snprintf(worker->options.name, sizeof(worker->options.name), "%p",
                       (void *)worker);
    }
    worker->is_multi = (options->thread_mode == UCS_THREAD_MODE_MULTI);
    worker->has_tag  = context->options.features & UCP_FEATURE_TAG;
    if (worker->is_multi) {
        ucp_reg_cache_share(&context->regs);
    }
    ucs_list_init(&worker->eps);
    ucs_list_init(&worker->ended);
    ucs_list_init(&worker->closes);
    ucs_list_init(&worker->shares);
    ucs_list_init(&worker->configs);
    worker_init_lock(worker);
    status = worker_draw_id(worker);
    if (status == UCS_OK) {
        status = worker_init_pools(worker);
    }
    if (status != UCS_OK) {
        goto free_worker;
    }
    ucp_trace_open(worker);
    status = worker_open_ifaces(worker);
    if (status != UCS_OK) {
        goto cleanup_pools;
    }
    status = ucp_wakeup_open(worker);
    if (status != UCS_OK) {
        goto close_ifaces;
    }
    ucsi_counters_add(&worker->counters, &worker_count_table,
                      worker->options.name, worker->counts);
    (void)atomic_fetch_add(&context->user_count, 1);
    *worker_p = worker;
    return UCS_OK;

close_ifaces:
    worker_close_ifaces(worker);
cleanup_pools:
    ucp_trace_close(worker);
    worker_cleanup_pools(worker);
free_worker:
    pthread_mutex_destroy(&worker->lock);
    free(worker);
    return status;
}

void ucp_worker_close(struct ucp_worker *worker)
{
    struct ucp_context *context = worker->context;
    struct ucp_ep      *ep;

    worker->is_closing = true;
    ucsi_counters_remove(&worker->counters);
    ucp_buffered_cleanup(worker);
    while (!ucs_list_is_empty(&worker->eps)) {
        ep = ucs_list_first(&worker->eps, struct ucp_ep, worker_link);
        ep->flags |= UCP_EP_CLOSING; /* no error handler any more */
        ucp_ep_end(ep, UCS_ERR_CANCELED);
    }
    ucp_eps_reap(worker);
    ucp_wakeup_close(worker);
    /* Stored messages may hold buffers of interfaces. */
    ucp_unexpected_drop_all(worker);
    worker_close_ifaces(worker);
    ucp_trace_close(worker);
    worker_cleanup_pools(worker);
    ucp_worker_configs_cleanup(worker);
    pthread_mutex_destroy(&worker->lock);
    free(worker);
    ucp_context_put(context);
}

/* One that is quiet is left alone for a sixteenth of its silence: so much
 * later, at most, is noticed what ends it. */
static unsigned slow_poll(const struct ucp_worker *worker,
                          struct ucp_slow_iface *slow, uint64_t now)
{
    unsigned count = uct_iface_progress(slow->iface);

    if (count > 0) {
        slow->quiet_count = 0;
        slow->wait_cycles = worker->slow_wait_cycles;
    } else if (slow->quiet_count < WORKER_SLOW_QUIET_MAX) {
        ++slow->quiet_count;
    } else {
        slow->wait_cycles += slow->wait_cycles / WORKER_SLOW_SILENCE_PARTS;
        slow->wait_cycles =
            ucs_min(slow->wait_cycles, worker->slow_wait_cycles_max);
    }
    slow->poll_cycles = now + slow->wait_cycles;
    return count;
}

/* How many calls until the next look: 8 while something has traffic, else as
 * many as fit between a quarter of WORKER_SLOW_POLL_NS and all of it, since
 * reading the clock costs as much as a tenth of a message. */
static unsigned slow_calls(struct ucp_worker *worker, bool is_quiet,
                           uint64_t now)
{
    uint64_t wait    = worker->slow_wait_cycles;
    uint64_t elapsed = now - worker->slow_look_cycles;
    unsigned calls   = worker->slow_calls;

    worker->slow_look_cycles = now;
    if (!is_quiet) {
        return WORKER_SLOW_POLL_CALLS;
    }
    if ((elapsed < wait / 4) && (calls < WORKER_SLOW_CALLS_MAX)) {
        return 2 * calls;
    }
    return ((elapsed > wait) && (calls > 1)) ? calls / 2 : calls;
}

/* Poll the interfaces whose progress is a system call: those that have
 * traffic with every look, the others by the clock; always if there are no
 * other interfaces. */
static UCS_OUTLINE unsigned worker_poll_slow(struct ucp_worker *worker)
{
    uint64_t now      = ucs_clock_cycles();
    bool     is_quiet = true;
    unsigned count    = 0;

    for (unsigned i = 0; i < worker->slow_count; ++i) {
        struct ucp_slow_iface *slow = &worker->slow[i];

        if ((worker->fast_count == 0) ||
            (slow->quiet_count < WORKER_SLOW_QUIET_MAX) ||
            (now >= slow->poll_cycles)) {
            count += slow_poll(worker, slow, now);
        }
        is_quiet = is_quiet && (slow->quiet_count == WORKER_SLOW_QUIET_MAX);
    }
    worker->slow_calls =
        (worker->fast_count > 0) ? slow_calls(worker, is_quiet, now) : 1;
    worker->slow_countdown = worker->slow_calls;
    return count;
}

/* A callback waits for something else: it never comes. */
static UCS_NOINLINE unsigned worker_refuse_poll(const struct ucp_worker *worker)
{
    ucs_error_limited("worker '%s': progress is called inside a callback; "
                      "nothing is done",
                      worker->options.name);
    return 0;
}

unsigned ucp_worker_poll(struct ucp_worker *worker)
{
    unsigned count = 0;

    if (ucs_unlikely(worker->is_inside)) {
        return worker_refuse_poll(worker);
    }
    worker->is_inside = true;
    for (unsigned i = 0; i < worker->fast_count; ++i) {
        if (!worker->fast[i]->is_idle) {
            count += uct_iface_progress(worker->fast[i]);
        }
    }
    if ((worker->slow_count > 0) && (--worker->slow_countdown == 0)) {
        count += worker_poll_slow(worker);
    }
    if (ucs_unlikely(!ucs_list_is_empty(&worker->closes))) {
        count += ucp_closes_look(worker, ucsi_clock_ns());
    }
    if (ucs_unlikely(!ucs_list_is_empty(&worker->shares))) {
        count += ucp_shares_look(worker);
    }
    if (ucs_unlikely(!ucs_list_is_empty(&worker->ended))) {
        ucp_eps_reap(worker);
    }
    worker->is_inside = false;
    return count;
}

void ucp_worker_drop(struct ucp_worker *worker, const struct ucp_ep *ep,
                     const char *what)
{
    char text[128] = "a stranger";

    ++worker->bad_ids;
    if (ucs_log_is_enabled(UCS_LOG_LEVEL_DIAG)) {
        if (ep != NULL) {
            (void)ucp_ep_describe(ep, text, sizeof(text));
        }
        ucs_log_limited(UCS_LOG_LEVEL_DIAG,
                        "%s of %s is dropped: late, repeated, or damaged", what,
                        text);
    }
}

struct ucp_request *ucp_worker_request_of_id(struct ucp_worker   *worker,
                                             const struct ucp_ep *ep,
                                             uint64_t             id)
{
    struct ucp_request  *req = ucs_idmap_get(&worker->ids, id);
    const struct ucp_ep *owner;

    if ((req == NULL) || (ep == NULL)) {
        return NULL;
    }
    owner = (req->flags & UCP_REQUEST_TAG_RECV) ? req->recv.ep : req->send.ep;
    return (owner == ep) ? req : NULL;
}
