/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/worker.h - one progress engine: its interfaces, the matching
 * queues, its endpoints.
 *
 * Thread: one at a time, from changing threads. In UCS_THREAD_MODE_MULTI
 * every public call holds `lock` (recursive: callbacks call in again); it is
 * not held while sleeping, and not taken by ucp_worker_signal(). */
#ifndef UCP_CORE_WORKER_H_
#define UCP_CORE_WORKER_H_

#include <pthread.h>

#include "ucp/core/buffered.h"
#include "ucp/core/context.h"
#include "ucp/core/ep.h"
#include "ucp/tag/match.h"
#include "ucs/counters.h"
#include "ucs/hash.h"
#include "ucs/idmap.h"
#include "ucs/mpool.h"

enum { UCP_UNEXPECTED_POOL_COUNT = 3 };

/* What the user wants (read from ucp_worker_params_t in entry/worker.c). */
struct ucp_worker_options {
    ucs_thread_mode_t thread_mode;
    int               event_fd; /* -1: our own */
    void             *event_data;
    bool              edge_triggered;
    bool              ignore_request_leak;
    char              name[UCP_ENTITY_NAME_MAX];
};

/* An interface of this worker; arg of all message handlers.
 * name  a hash of transport and address: how peers name this lane */
struct ucp_worker_iface {
    struct ucp_worker    *worker;
    struct uct_iface     *iface;
    struct uct_iface_attr attr;
    uint32_t              name;
};

/* An interface whose progress is a system call: polled rarely.
 * quiet_count  empty polls in a row, until it counts as quiet
 * wait_cycles  between polls while it is quiet
 * poll_cycles  when it is polled next then */
struct ucp_slow_iface {
    struct uct_iface *iface;
    unsigned          quiet_count;
    uint64_t          wait_cycles, poll_cycles;
};

/* epoll_fd   readable when a sleeper must wake; -1: no wakeup feature
 * signal_fd  an eventfd that ucp_worker_signal() writes
 * timer_fd   when the closes are looked at; -1: none has waited yet */
struct ucp_wakeup {
    int epoll_fd;
    int signal_fd;
    int timer_fd;
};

struct ucp_tag_queues {
    struct ucp_tag_match match;
    struct ucs_mpool     pools[UCP_UNEXPECTED_POOL_COUNT];
};

/* What a worker counts: bytes of messages that asked first, by the way they
 * moved; and messages that did not go as their sender proposed. */
enum ucp_count {
    UCP_COUNT_FRAGMENT_OUT,
    UCP_COUNT_FRAGMENT_IN,
    UCP_COUNT_PUT_OUT,
    UCP_COUNT_PUT_IN,
    UCP_COUNT_GET_OUT,
    UCP_COUNT_GET_IN,
    UCP_COUNT_FALL_BACK,
    UCP_COUNT_COUNT
};

/* is_inside     progress runs, so what calls now is a callback
 * fast, slow    interfaces by how progress polls them
 * slow_countdown  calls until the slow ones are looked at, of slow_calls; the
 *                 last time was slow_look_cycles
 * slow_wait_cycles  between two polls of one that begins to be quiet;
 *                 slow_wait_cycles_max: of one that is
 * requests      pool: struct ucp_request and the user's bytes
 * ids           requests that a peer may name
 * peers         by worker id: struct ucp_peer
 * ended         endpoints without a user, freed outside of callbacks; and
 *               those whose user is told there that they had failed before
 * closes        of endpoints, that wait for their peer; looked at then
 * shares        receives that read where nothing comes (rdma_shared.h)
 * bad_ids       messages with a late or forged id, dropped
 * trace         what each message did (trace.h), NULL: not written */
struct ucp_worker {
    bool                      is_multi;
    bool                      has_tag; /* UCP_FEATURE_TAG */
    bool                      is_inside;
    bool                      is_closing; /* completions do not call back */
    unsigned                  fast_count;
    unsigned                  slow_count;
    unsigned                  slow_countdown, slow_calls;
    uint64_t                  slow_look_cycles;
    uint64_t                  slow_wait_cycles, slow_wait_cycles_max;
    struct uct_iface         *fast[UCP_DEVICE_COUNT_MAX];
    struct ucp_tag_queues     tag;
    struct ucs_mpool          requests;
    struct ucs_mpool          controls;
    struct ucs_mpool          rndvs;      /* struct ucp_rndv */
    struct ucs_mpool          pieces;     /* struct ucp_piece */
    struct ucs_mpool          layouts;    /* struct ucp_layout */
    struct ucs_mpool          regs;       /* struct ucp_regs */
    struct ucs_mpool          extents;    /* struct ucp_extent */
    struct ucs_mpool          share_pool; /* struct ucp_share */
    struct ucs_idmap          ids;
    struct ucp_context       *context;
    struct ucp_worker_options options;
    pthread_mutex_t           lock;
    uint64_t                  id;
    uint64_t                  secret[2];
    struct ucs_hash           peers;
    struct ucs_list           eps;
    struct ucs_list           configs;
    struct ucp_wakeup         wakeup;
    unsigned                  iface_count;
    struct ucp_worker_iface   ifaces[UCP_DEVICE_COUNT_MAX];
    struct ucp_slow_iface     slow[UCP_DEVICE_COUNT_MAX];
    struct ucs_list           ended;
    struct ucs_list           closes;
    uint64_t                  closes_look_ns;
    struct ucs_list           shares;
    uint64_t                  bad_ids;
    struct ucs_counters       counters;
    struct ucs_counter        counts[UCP_COUNT_COUNT];
    struct ucp_buffered       buffered;
    struct ucp_trace         *trace;
};

UCS_MUST_USE ucs_status_t ucp_worker_open(
    struct ucp_context *context, const struct ucp_worker_options *options,
    struct ucp_worker **worker_p);
void ucp_worker_close(struct ucp_worker *worker);

/* Run every interface once.
 * @return how many events were handled. */
unsigned ucp_worker_poll(struct ucp_worker *worker);

/* The tables of an endpoint with lanes over those interfaces.
 * @return NULL when memory is short. */
const struct ucp_ep_config *ucp_worker_ep_config(struct ucp_worker *worker,
                                                 const unsigned *iface_indices,
                                                 unsigned        count);

/* A message makes no sense: late, damaged or forged. It is dropped, counted,
 * and named in one line.
 * @param ep    Who it claims to be from, or NULL.
 * @param what  "an ACK". */
void ucp_worker_drop(struct ucp_worker *worker, const struct ucp_ep *ep,
                     const char *what);

/* The request that a message names.
 * @return NULL, counted, when the id is stale, forged, or not of that ep. */
struct ucp_request *ucp_worker_request_of_id(struct ucp_worker   *worker,
                                             const struct ucp_ep *ep,
                                             uint64_t             id);

static inline void ucp_worker_count(struct ucp_worker *worker,
                                    enum ucp_count what, uint64_t add)
{
    ucs_counter_add(&worker->counts[what], add);
}

/* Sleeping: wakeup.c; the worker has UCP_FEATURE_WAKEUP. */
UCS_MUST_USE ucs_status_t ucp_wakeup_open(struct ucp_worker *worker);
void                      ucp_wakeup_close(struct ucp_worker *worker);
UCS_MUST_USE ucs_status_t ucp_wakeup_arm(struct ucp_worker *worker);
UCS_MUST_USE ucs_status_t ucp_wakeup_wait(struct ucp_worker *worker);
UCS_MUST_USE ucs_status_t ucp_wakeup_signal(struct ucp_worker *worker);

/* Entering and leaving a public call. */
UCS_INLINE void ucp_worker_enter(struct ucp_worker *worker)
{
    if (ucs_unlikely(worker->is_multi)) {
        pthread_mutex_lock(&worker->lock);
    }
}

UCS_INLINE void ucp_worker_leave(struct ucp_worker *worker)
{
    if (ucs_unlikely(worker->is_multi)) {
        pthread_mutex_unlock(&worker->lock);
    }
}

/* A request with its flags set anew, or NULL when memory is short. */
UCS_INLINE struct ucp_request *ucp_request_get(struct ucp_worker *worker,
                                               uint32_t           flags)
{
    struct ucp_request *req = ucs_mpool_get(&worker->requests);

    if (ucs_likely(req != NULL)) {
        ucp_request_begin(req, flags);
        req->worker = worker;
    }
    return req;
}

/* A worker that is being destroyed tells nobody: what the user's callbacks
 * would touch may be gone. Called before a request completes that the end of
 * its endpoint may complete. */
static inline void ucp_request_hush(struct ucp_request *req)
{
    if (req->worker->is_closing && !(req->flags & UCP_REQUEST_OURS)) {
        req->flags &= ~(uint32_t)UCP_REQUEST_CALLBACK;
    }
}

#endif
