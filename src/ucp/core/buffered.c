/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/buffered.c - messages that go on when their call is over. */
#include "ucp/core/buffered.h"

#include "ucp/api/causeway.h"
#include "ucp/core/worker.h"
#include "ucs/log.h"

_Static_assert((int)CAUSEWAY_BUFFERED_OVERHEAD_BYTES >=
                   (int)UCS_ARENA_OVERHEAD_BYTES,
               "what the header promises per message is enough");

ucs_status_t ucp_buffered_attach(struct ucp_worker *worker, void *buffer,
                                 size_t size_bytes)
{
    struct ucp_buffered *buffered = &worker->buffered;
    ucs_status_t         status;

    if (buffered->buffer != NULL) {
        ucs_error("worker '%s': a buffer of %zu bytes is attached already",
                  worker->options.name, buffered->size_bytes);
        return UCS_ERR_ALREADY_EXISTS;
    }
    status = ucsi_arena_init(&buffered->arena, buffer, size_bytes);
    if (status != UCS_OK) {
        ucs_error("worker '%s': an attached buffer of %zu bytes holds no "
                  "message; each takes %d bytes more than its data",
                  worker->options.name, size_bytes,
                  CAUSEWAY_BUFFERED_OVERHEAD_BYTES);
        return status;
    }
    buffered->buffer     = buffer;
    buffered->size_bytes = size_bytes;
    return UCS_OK;
}

static ucs_status_t detach_abort(struct ucp_request *req, ucs_status_t status)
{
    (void)req;
    (void)status;
    return UCS_OK;
}

/* Never stepped: the last piece that is freed ends it. */
static const struct ucp_proto detach_proto = {
    .name    = "buffered/detach",
    .summary = "wait until the attached buffer is drained",
    .abort   = detach_abort,
};

ucs_status_t ucp_buffered_detach(struct ucp_worker  *worker,
                                 struct ucp_request *req)
{
    struct ucp_buffered *buffered = &worker->buffered;

    req->send.proto = &detach_proto;
    req->send.tag   = 0;
    ucp_dt_iter_init_contig(&req->dt, buffered->buffer, 0);
    if (buffered->buffer == NULL) {
        return UCS_ERR_NO_ELEM;
    }
    if (buffered->detach != NULL) {
        return UCS_ERR_BUSY;
    }
    if (buffered->arena.used_count > 0) {
        buffered->detach = req;
        return UCS_INPROGRESS;
    }
    buffered->buffer = NULL;
    return UCS_OK;
}

void ucp_buffered_cleanup(struct ucp_worker *worker)
{
    struct ucp_request *detach = worker->buffered.detach;

    worker->buffered.detach = NULL;
    worker->buffered.buffer = NULL;
    if (detach != NULL) {
        detach->flags &= ~(uint32_t)UCP_REQUEST_CALLBACK;
        ucp_request_complete_send(detach, UCS_ERR_CANCELED);
    }
}

ucs_status_t ucp_buffered_reserve(struct ucp_worker *worker, size_t length,
                                  void **piece_p)
{
    struct ucp_buffered *buffered = &worker->buffered;
    void                *piece;

    if ((buffered->buffer == NULL) || (buffered->detach != NULL)) {
        ucs_error_limited("worker '%s': buffered send without an attached "
                          "buffer",
                          worker->options.name);
        return UCS_ERR_NO_ELEM;
    }
    piece = ucsi_arena_alloc(&buffered->arena, length);
    if (piece != NULL) {
        *piece_p = piece;
        return UCS_OK;
    }
    if (length <= ucs_arena_capacity(&buffered->arena)) {
        return UCS_ERR_NO_RESOURCE;
    }
    ucs_error_limited("worker '%s': a buffered message of %zu bytes does not "
                      "fit the attached buffer of %zu bytes",
                      worker->options.name, length, buffered->size_bytes);
    return UCS_ERR_EXCEEDS_LIMIT;
}

void ucp_buffered_release(struct ucp_worker *worker, void *piece)
{
    struct ucp_buffered *buffered = &worker->buffered;
    struct ucp_request  *detach   = buffered->detach;

    ucsi_arena_free(&buffered->arena, piece);
    if ((detach != NULL) && (buffered->arena.used_count == 0)) {
        buffered->detach = NULL;
        buffered->buffer = NULL;
        ucp_request_complete_send(detach, UCS_OK);
    }
}

/* Its sender was told that all is well, so somebody else must hear of a loss:
 * of a dead peer the endpoint's error handler, of the rest the log. */
static void buffered_lost(struct ucp_request *req, ucs_status_t status)
{
    struct ucp_buffered *buffered = &req->worker->buffered;
    char                 text[128];

    ++buffered->lost_count;
    buffered->lost_bytes += req->dt.length;
    if (req->send.ep->failed == UCS_OK) {
        ucs_warn("a buffered message of %zu bytes, tag 0x%lx, to %s is lost: "
                 "%s",
                 req->dt.length, (unsigned long)req->send.tag,
                 ucp_ep_describe(req->send.ep, text, sizeof(text)),
                 ucs_status_string(status));
    }
}

static void buffered_done(void *request, ucs_status_t status, void *piece)
{
    struct ucp_request *req = ucp_request_of(request);

    if (status != UCS_OK) {
        buffered_lost(req, status);
    }
    ucp_buffered_release(req->worker, piece);
}

void ucp_buffered_capture(struct ucp_request *req, void *piece)
{
    struct ucp_dt_iter user   = req->dt;
    size_t             offset = user.offset;
    size_t             length = user.length;

    (void)ucp_dt_iter_pack(&user, (char *)piece + offset, length - offset);
    ucp_dt_iter_cleanup(&user);
    ucp_dt_iter_init_contig(&req->dt, piece, length);
    req->dt.offset = offset;
    req->cb.send   = buffered_done;
    req->user_data = piece;
    req->flags |= UCP_REQUEST_CALLBACK | UCP_REQUEST_RELEASED;
}
