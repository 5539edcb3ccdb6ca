/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/complete.h - for transports: the operations of one endpoint that
 * are in flight, completed in the order in which they were accepted.
 *
 *      accepted ->  [ in progress | finished | in progress ]
 *                     ^ head: only it may complete
 *
 * An operation that finishes early waits for those before it. A transport
 * whose operation got no req from the caller (req == NULL) adds one of its
 * own, whose cb gives its memory back. A flush is a req that finishes at once
 * and so completes after all that was accepted before it.
 *
 * Thread: the worker's. */
#ifndef UCT_BASE_COMPLETE_H_
#define UCT_BASE_COMPLETE_H_

#include "uct/api/uct_def.h"

/* reqs         struct uct_req; status UCS_INPROGRESS until it finished
 * destroyed_p  set to true when cleanup runs inside a completion; or NULL */
struct uct_inflight {
    struct ucs_queue reqs;
    bool            *destroyed_p;
};

static inline void uct_inflight_init(struct uct_inflight *inflight)
{
    ucs_queue_init(&inflight->reqs);
    inflight->destroyed_p = NULL;
}

/* May an operation that finished inside its call return UCS_OK? Only if
 * nothing earlier is in flight. */
static inline bool uct_inflight_is_empty(const struct uct_inflight *inflight)
{
    return ucs_queue_is_empty(&inflight->reqs);
}

/* The operation was accepted and is in progress. */
static inline void uct_inflight_add(struct uct_inflight *inflight,
                                    struct uct_req      *req)
{
    req->status = UCS_INPROGRESS;
    ucs_queue_push(&inflight->reqs, &req->queue);
}

/* The operation was accepted and finished at once, with UCS_OK, but earlier
 * ones are in flight: it completes with the last of them. */
static inline void uct_inflight_add_finished(struct uct_inflight *inflight,
                                             struct uct_req      *req)
{
    req->status = UCS_OK;
    ucs_queue_push(&inflight->reqs, &req->queue);
}

/* An operation finished. Calls back all that may complete now, so call it
 * from progress only.
 * @return false when a callback destroyed the endpoint: do not touch it. */
UCS_EXPORT bool ucti_inflight_finish(struct uct_inflight *inflight,
                                     struct uct_req *req, ucs_status_t status);

/* Complete everything, in order: with `status` what is in progress, with its
 * own status what finished already. Operations that callbacks add stay.
 * @return false when a callback destroyed the endpoint. */
UCS_EXPORT bool ucti_inflight_finish_all(struct uct_inflight *inflight,
                                         ucs_status_t         status);

/* Complete everything with UCS_ERR_CANCELED: part of ep_destroy(). */
UCS_EXPORT void ucti_inflight_cleanup(struct uct_inflight *inflight);

#endif
