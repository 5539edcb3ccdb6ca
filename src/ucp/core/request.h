/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/request.h - one operation that was not finished inside its call.
 *
 *        struct ucp_request          user's request_size bytes
 *   ----|---------------------------|--------------------------|
 *                                   ^ the pointer that the user has
 *
 *            get                 complete()
 *   free --------> in progress -------------> completed
 *    ^                 | release()                | release()
 *    |                 v        complete()        v
 *    '------------- (RELEASED) ---------------> free
 *
 * Completing stores the flag, then the status, then calls back, then puts the
 * object back if it was released before. The status is what other threads
 * look at without the worker's lock: see ucp_request_status(). Inside the
 * callback the user may release it: then it goes back at once and is not
 * touched again. The user's bytes survive from one use to the next (ucp-api
 * facts 3 and 5).
 *
 * A caller may bring its own memory (EXTERNAL), aligned to 8 bytes only. */
#ifndef UCP_CORE_REQUEST_H_
#define UCP_CORE_REQUEST_H_

#include <stdatomic.h>

#include "ucp/api/ucp.h"
#include "ucp/dt/datatype.h"
#include "ucp/tag/match.h"
#include "ucs/mpool.h"
#include "ucs/queue.h"
#include "uct/api/uct_def.h"

struct ucp_worker;
struct ucp_ep;
struct ucp_proto;
struct ucp_rndv;

enum ucp_request_flag {
    UCP_REQUEST_COMPLETED  = 1 << 0,
    UCP_REQUEST_RELEASED   = 1 << 1,  /* back to the pool when completed */
    UCP_REQUEST_CALLBACK   = 1 << 2,  /* cb is set */
    UCP_REQUEST_EXTERNAL   = 1 << 3,  /* the caller's memory */
    UCP_REQUEST_TAG_RECV   = 1 << 4,  /* recv is in use, else send */
    UCP_REQUEST_EXPECTED   = 1 << 5,  /* waits in the matching queue */
    UCP_REQUEST_SYNC       = 1 << 6,  /* completes after the match */
    UCP_REQUEST_QUEUED     = 1 << 7,  /* in one of its endpoint's queues */
    UCP_REQUEST_ON_EP_LIST = 1 << 8,  /* in ep->requests: waits for the peer */
    UCP_REQUEST_OURS       = 1 << 9,  /* cb is not the user's */
    UCP_REQUEST_TRACED     = 1 << 15, /* its end goes into the trace */
};

enum {
    /* Bytes that a protocol may use in a request. */
    UCP_PROTO_STATE_BYTES = 80,
};

/* ep        where to
 * proto     how; its step() goes on with the request
 * queue     link in one of the endpoint's queues
 * ep_link   link in ep->requests while the peer's word is awaited
 * id        of this request in messages, 0: none
 * state     the protocol's own */
struct ucp_request_send {
    struct ucp_ep          *ep;
    const struct ucp_proto *proto;
    struct ucs_queue_elem   queue;
    struct ucs_list         ep_link;
    uint64_t                id;
    uint64_t                tag;
    _Alignas(8) uint8_t state[UCP_PROTO_STATE_BYTES];
};

/* expected   place in the matching queue
 * info       what the user asks for: sender's tag, full length
 * remaining  bytes of the message that have not come
 * ep         whose message it is, once several fragments come
 * id         of this request in messages, 0: none
 * rndv       how the message comes, if it asked first; else NULL
 * status     first error of an unpack function */
struct ucp_request_recv {
    struct ucp_tag_expected expected;
    ucp_tag_recv_info_t     info;
    size_t                  remaining;
    struct ucp_ep          *ep;
    struct ucs_list         ep_link;
    uint64_t                id;
    struct ucp_rndv        *rndv;
    ucs_status_t            status;
};

struct ucp_request {
    uint32_t             flags; /* enum ucp_request_flag */
    _Atomic ucs_status_t status;
    union {
        ucp_send_nbx_callback_t     send;
        ucp_tag_recv_nbx_callback_t tag_recv;
    } cb;
    void              *user_data;
    struct ucp_worker *worker;
    struct ucp_dt_iter dt;
    union {
        struct ucp_request_send send;
        struct ucp_request_recv recv;
    };
};

_Static_assert(sizeof(struct ucp_request) % 8 == 0,
               "the user's bytes follow and are aligned to 8");

static inline struct ucp_request *ucp_request_of(void *user_pointer)
{
    return (struct ucp_request *)user_pointer - 1;
}

static inline void *ucp_request_pointer(struct ucp_request *req)
{
    return req + 1;
}

/* UCS_INPROGRESS, or how it ended; in UCS_THREAD_MODE_MULTI any thread asks,
 * without the lock. DONE: acquire, pairs with FINISH: then the data and
 * recv.info are there, too. */
static inline ucs_status_t ucp_request_status(const struct ucp_request *req)
{
    return atomic_load_explicit(&req->status, memory_order_acquire);
}

/* A request begins: nobody else has it yet. */
static inline void ucp_request_begin(struct ucp_request *req, uint32_t flags)
{
    req->flags = flags;
    atomic_store_explicit(&req->status, UCS_INPROGRESS, memory_order_relaxed);
}

/* It is over; flags is req->flags. Another thread that sees it may reuse
 * memory of its own at once: without a callback nothing of req is touched
 * afterwards. */
static inline void ucp_request_finish(struct ucp_request *req, uint32_t flags,
                                      ucs_status_t status)
{
    req->flags =
        (flags | UCP_REQUEST_COMPLETED) & ~(uint32_t)UCP_REQUEST_EXPECTED;
    /* FINISH: release, pairs with DONE. */
    atomic_store_explicit(&req->status, status, memory_order_release);
}

/* Give a request back to where it came from. */
static inline void ucp_request_put(struct ucp_request *req)
{
    if (!(req->flags & UCP_REQUEST_EXTERNAL)) {
        ucs_mpool_put(req);
    }
}

/* Write the end of a request into the trace (core/trace.h). */
void ucp_trace_request_end(struct ucp_request *req, ucs_status_t status);

/* Complete a send-like request. */
static inline void ucp_request_complete_send(struct ucp_request *req,
                                             ucs_status_t        status)
{
    uint32_t flags = req->flags;

    if (ucs_unlikely(flags & UCP_REQUEST_TRACED)) {
        ucp_trace_request_end(req, status);
        flags = req->flags;
    }
    ucp_request_finish(req, flags, status);
    if (flags & UCP_REQUEST_CALLBACK) {
        req->cb.send(ucp_request_pointer(req), status, req->user_data);
    }
    if (flags & UCP_REQUEST_RELEASED) {
        ucp_request_put(req);
    }
}

/* Complete a tag receive; recv.info is set. */
static inline void ucp_request_complete_recv(struct ucp_request *req,
                                             ucs_status_t        status)
{
    uint32_t flags = req->flags;

    ucp_request_finish(req, flags, status);
    if (flags & UCP_REQUEST_CALLBACK) {
        req->cb.tag_recv(ucp_request_pointer(req), status, &req->recv.info,
                         req->user_data);
    }
    if (flags & UCP_REQUEST_RELEASED) {
        ucp_request_put(req);
    }
}

/* The user is done with the handle; the operation goes on if it is not
 * complete. With silence the callback will not be called. */
void ucp_request_release_handle(struct ucp_request *req, bool silence);

/* Take a receive that nobody has matched out of the queue and complete it
 * with UCS_ERR_CANCELED, callback inside; nothing for any other request. */
void ucp_request_cancel_unmatched(struct ucp_request *req);

#endif
