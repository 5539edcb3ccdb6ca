/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/complete.c - completions in order.
 *
 * A callback may free its req, add operations and destroy the endpoint, so
 * each req leaves the queue before its callback runs, and the queue is looked
 * at again only if it is still there. */
#include "uct/base/complete.h"

#include "ucs/assert.h"

static struct uct_req *inflight_head(struct uct_inflight *inflight)
{
    struct ucs_queue_elem *elem = ucs_queue_head(&inflight->reqs);

    return (elem == NULL) ? NULL
                          : ucs_container_of(elem, struct uct_req, queue);
}

/* Complete from the head while the head has finished. */
static bool inflight_drain(struct uct_inflight *inflight)
{
    bool            is_destroyed = false;
    bool           *outer_p      = inflight->destroyed_p;
    struct uct_req *req          = inflight_head(inflight);

    inflight->destroyed_p = &is_destroyed;
    while ((req != NULL) && (req->status != UCS_INPROGRESS)) {
        ucs_queue_pull(&inflight->reqs);
        req->cb(req);
        if (is_destroyed) {
            if (outer_p != NULL) {
                *outer_p = true;
            }
            return false;
        }
        req = inflight_head(inflight);
    }
    inflight->destroyed_p = outer_p;
    return true;
}

bool ucti_inflight_finish(struct uct_inflight *inflight, struct uct_req *req,
                          ucs_status_t status)
{
    ucs_assert(status != UCS_INPROGRESS);
    req->status = status;
    return inflight_drain(inflight);
}

bool ucti_inflight_finish_all(struct uct_inflight *inflight,
                              ucs_status_t         status)
{
    struct uct_req *req;

    ucs_assert(UCS_STATUS_IS_ERR(status));
    ucs_queue_for_each (req, &inflight->reqs, queue) {
        if (req->status == UCS_INPROGRESS) {
            req->status = status;
        }
    }
    return inflight_drain(inflight);
}

void ucti_inflight_cleanup(struct uct_inflight *inflight)
{
    if (inflight->destroyed_p != NULL) {
        *inflight->destroyed_p = true;
        inflight->destroyed_p  = NULL;
    }
    /* Nothing is accepted while the endpoint goes away, so this ends. */
    while (!uct_inflight_is_empty(inflight)) {
        (void)ucti_inflight_finish_all(inflight, UCS_ERR_CANCELED);
    }
}
