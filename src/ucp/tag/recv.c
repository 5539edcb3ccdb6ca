/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/tag/recv.c - from an arriving message to a receive. */
#include "ucp/tag/recv.h"

#include "ucp/tag/unexpected.h"

static inline void recv_set_info(struct ucp_request *req, uint64_t tag,
                                 size_t length)
{
    req->recv.info.sender_tag = tag;
    req->recv.info.length     = length;
}

void ucp_tag_recv_whole_slow(struct ucp_request *req, const uint8_t *data,
                             size_t length)
{
    ucs_status_t status = UCS_ERR_MESSAGE_TRUNCATED;

    if (ucs_likely((length <= req->dt.length) &&
                   (req->dt.dt_class == UCP_DT_CONTIG))) {
        memcpy(req->dt.contig, data, length);
        ucp_request_complete_recv(req, UCS_OK);
        return;
    }
    if (length <= req->dt.length) {
        status = ucp_dt_iter_unpack(&req->dt, 0, data, length);
    }
    ucp_dt_iter_cleanup(&req->dt);
    ucp_request_complete_recv(req, status);
}

ucs_status_t ucp_tag_recv_begin(struct ucp_request *req, uint64_t tag,
                                size_t length)
{
    recv_set_info(req, tag, length);
    req->recv.remaining = length;
    req->recv.status    = UCS_OK;
    req->recv.ep        = NULL;
    req->recv.id        = 0;
    req->recv.rndv      = NULL;
    return (length > req->dt.length) ? UCS_ERR_MESSAGE_TRUNCATED : UCS_OK;
}

bool ucp_tag_recv_piece(struct ucp_request *req, size_t offset,
                        const uint8_t *data, size_t length)
{
    ucs_status_t status;

    if (ucs_likely(req->recv.status == UCS_OK)) {
        status = ucp_dt_iter_unpack(&req->dt, offset, data, length);
        if (ucs_unlikely(status != UCS_OK)) {
            req->recv.status = status;
        }
    }
    req->recv.remaining -= length;
    return req->recv.remaining == 0;
}

void ucp_tag_recv_end(struct ucp_request *req, ucs_status_t status)
{
    struct ucp_ep *ep = req->recv.ep;

    if (ep != NULL) {
        ucs_list_remove(&req->recv.ep_link);
        req->recv.ep = NULL;
    }
    if (req->recv.id != 0) {
        ucsi_idmap_remove(&req->worker->ids, req->recv.id);
        req->recv.id = 0;
    }
    ucp_dt_iter_cleanup(&req->dt);
    ucp_request_complete_recv(req, status);
    if ((ep != NULL) && !ucs_queue_is_empty(&ep->messages) &&
        ucp_ep_is_settled(ep)) {
        ucp_ep_drain(ep); /* a flush to oneself */
    }
}

static void recv_start(struct ucp_request       *req,
                       const struct ucp_arrival *arrival,
                       enum ucp_unexpected_kind  kind)
{
    if (kind == UCP_UNEXPECTED_EAGER) {
        ucp_eager_recv_start(req, arrival);
    } else {
        ucp_rndv_recv_start(req, arrival);
    }
}

ucs_status_t ucp_tag_start_arrived(const struct ucp_arrival *arrival,
                                   enum ucp_unexpected_kind  kind)
{
    struct ucp_request *req = ucp_tag_recv_match(arrival->worker, arrival->tag);

    if (req == NULL) {
        return ucp_unexpected_store(arrival, kind);
    }
    recv_start(req, arrival, kind);
    return UCS_OK;
}

void ucp_tag_recv_unexpected(struct ucp_request    *req,
                             struct ucp_unexpected *unexpected)
{
    struct ucp_arrival arrival = {
        .worker      = req->worker,
        .ep          = unexpected->ep,
        .tag         = unexpected->match.exact.tag,
        .length      = unexpected->length,
        .data        = unexpected->data,
        .data_length = unexpected->data_length,
        .id          = unexpected->id,
        .candidate   = unexpected->candidate,
        .head_length = unexpected->head_length,
    };

    if (unexpected->kind == UCP_UNEXPECTED_WHOLE) {
        ucp_tag_recv_whole(req, arrival.tag, arrival.data, arrival.data_length);
    } else if (unexpected->failed != UCS_OK) {
        recv_set_info(req, arrival.tag, arrival.length);
        ucp_dt_iter_cleanup(&req->dt);
        ucp_request_complete_recv(req, unexpected->failed);
    } else {
        recv_start(req, &arrival, unexpected->kind);
    }
    ucp_unexpected_free(unexpected);
}
