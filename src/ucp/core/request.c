/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/request.c - giving requests back and cancelling them. */
#include "ucp/core/request.h"

#include "ucp/core/worker.h"

void ucp_request_release_handle(struct ucp_request *req, bool silence)
{
    if (req->flags & UCP_REQUEST_COMPLETED) {
        ucp_request_put(req);
        return;
    }
    if (silence) {
        req->flags &= ~(uint32_t)UCP_REQUEST_CALLBACK;
    }
    req->flags |= UCP_REQUEST_RELEASED;
}

void ucp_request_cancel_unmatched(struct ucp_request *req)
{
    if (!(req->flags & UCP_REQUEST_EXPECTED)) {
        return;
    }
    req->flags &= ~(uint32_t)UCP_REQUEST_EXPECTED;
    ucp_tag_match_unexpect(&req->worker->tag.match, &req->recv.expected);
    ucp_dt_iter_cleanup(&req->dt);
    req->recv.info = (ucp_tag_recv_info_t){0};
    ucp_request_complete_recv(req, UCS_ERR_CANCELED);
}
