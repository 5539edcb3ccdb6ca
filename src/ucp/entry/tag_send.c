/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/entry/tag_send.c - sending tagged messages.
 *
 * Contiguous messages that the transport takes at once, on an endpoint where
 * nothing waits, go straight to it (protocols 1 and 3 without their request);
 * everything else makes a request and looks up its protocol. */
#include "ucp/api/causeway.h"
#include "ucp/core/buffered.h"
#include "ucp/entry/op.h"
#include "ucp/proto/wire.h"
#include "ucs/bytes.h"
#include "ucs/log.h"

/* What the data counts as when a protocol is chosen. */
static int send_kind(const struct ucp_ep *ep, const struct ucp_request *req)
{
    unsigned count_max = ucs_min((unsigned)UCP_IOV_COUNT_MAX,
                                 ep->config->lane.attr.am.iov_count_max);

    switch (req->dt.dt_class) {
    case UCP_DT_IOV:
    case UCP_DT_STRIDED:
        if (ucp_dt_iter_piece_count(&req->dt) <= count_max) {
            return UCP_DT_IOV;
        }
        return (req->dt.dt_class == UCP_DT_IOV) ? UCP_DT_IOV_LONG
                                                : UCP_DT_STRIDED;
    case UCP_DT_CONTIG:
    case UCP_DT_GENERIC:
    case UCP_DT_CLASS_COUNT:
        break;
    }
    return (int)req->dt.dt_class;
}

/* The table for pieces of that length. */
static unsigned send_pieces(const struct ucp_request *req)
{
    return (req->dt.dt_class == UCP_DT_CONTIG)
               ? 0
               : ucp_pieces_index(ucp_dt_iter_piece_bytes(&req->dt));
}

static ucs_status_t send_check(const struct ucp_ep *ep, const void *buffer,
                               size_t count, ucp_datatype_t datatype)
{
    if (!(ep->worker->context->options.features & UCP_FEATURE_TAG)) {
        ucs_error("tag send: the context was made without UCP_FEATURE_TAG");
        return UCS_ERR_INVALID_PARAM;
    }
    if (ucp_dt_lacks_buffer(buffer, count, datatype)) {
        ucs_error("tag send: buffer is NULL with a count of %zu", count);
        return UCS_ERR_INVALID_PARAM;
    }
    return ep->failed;
}

/* Choose a protocol and begin. @return as ucp_ep_submit(). */
static ucs_status_t send_start(struct ucp_request *req, struct ucp_ep *ep,
                               ucp_tag_t tag, enum ucp_mode mode)
{
    req->send.ep    = ep;
    req->send.tag   = tag;
    req->send.id    = 0;
    req->send.proto = ucp_select_lookup(
        &ep->config->select[mode][send_kind(ep, req)][send_pieces(req)],
        req->dt.length);
    return ucp_ep_submit(ep, req);
}

static UCS_OUTLINE ucs_status_ptr_t
send_request(struct ucp_ep *ep, const void *buffer, size_t count, ucp_tag_t tag,
             const ucp_request_param_t *param, enum ucp_mode mode)
{
    ucp_datatype_t      datatype = ucp_op_datatype(param);
    ucs_status_t        status   = send_check(ep, buffer, count, datatype);
    struct ucp_request *req;

    if (status != UCS_OK) {
        return UCS_STATUS_PTR(status);
    }
    status =
        ucp_op_request(ep->worker, param,
                       (mode == UCP_MODE_SYNC) ? UCP_REQUEST_SYNC : 0, &req);
    if (status != UCS_OK) {
        return UCS_STATUS_PTR(status);
    }
    status = ucp_dt_iter_init_send(&req->dt, buffer, count, datatype);
    if (status != UCS_OK) {
        ucp_request_put(req);
        return UCS_STATUS_PTR(status);
    }
    status = send_start(req, ep, tag, mode);
    if (status != UCS_INPROGRESS) {
        ucp_dt_iter_cleanup(&req->dt);
    }
    return ucp_op_finish_send(req, status, param);
}

/* Is it one piece of memory, and may the call complete it? Then no request is
 * needed if the transport takes it. */
UCS_INLINE bool send_is_plain(const void *buffer, size_t count,
                              const ucp_request_param_t *param,
                              size_t                    *length_p)
{
    uint32_t mask = param->op_attr_mask;

    *length_p = count;
    if ((mask & UCP_OP_ATTR_FIELD_DATATYPE) &&
        ucs_unlikely(!ucp_dt_contig_length(param->datatype, count, length_p))) {
        return false;
    }
    return (buffer != NULL) && !(mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL);
}

/* The message goes inline, or UCS_ERR_WOULD_BLOCK: it needs a request. */
UCS_INLINE ucs_status_t send_inline(struct ucp_ep *ep, const void *buffer,
                                    size_t count, ucp_tag_t tag,
                                    const ucp_request_param_t *param)
{
    size_t length;

    if (!send_is_plain(buffer, count, param, &length) ||
        (length >= ep->short_bytes_end)) {
        return UCS_ERR_WOULD_BLOCK;
    }
    return uct_ep_am_short(ep->message_ep, UCP_AM_EAGER, ucs_le64_(tag), buffer,
                           length, 0);
}

/* A contiguous message on its way into the transport's buffer. */
struct send_contig {
    uint64_t    tag;
    const void *buffer;
    size_t      length;
};

static size_t send_pack_contig(void *dest, void *arg)
{
    const struct send_contig *contig = arg;

    ucs_put_le64(dest, contig->tag);
    memcpy((uint8_t *)dest + UCP_WIRE_EAGER_BYTES, contig->buffer,
           contig->length);
    return UCP_WIRE_EAGER_BYTES + contig->length;
}

/* Protocol 3 without its request. @return false: it needs one. */
static bool send_packed(struct ucp_ep *ep, const void *buffer, size_t count,
                        ucp_tag_t tag, const ucp_request_param_t *param)
{
    struct send_contig contig = {.tag = tag, .buffer = buffer};

    if (!send_is_plain(buffer, count, param, &contig.length) ||
        (ep->short_bytes_end == 0) || (contig.length < ep->short_bytes_end) ||
        (contig.length >= ep->config->packed_bytes_end)) {
        return false;
    }
    return uct_ep_am_bcopy(ep->message_ep, UCP_AM_EAGER, send_pack_contig,
                           &contig, UCP_WIRE_EAGER_BYTES + contig.length,
                           UCT_FLAG_HEADER(UCP_WIRE_EAGER_BYTES)) >= 0;
}

/* With FORCE_IMM_CMPL a message goes inline or not at all; the first one of
 * an endpoint waits for its announcement only. */
static UCS_NOINLINE ucs_status_ptr_t
send_at_once(struct ucp_ep *ep, const void *buffer, size_t count, ucp_tag_t tag,
             const ucp_request_param_t *param)
{
    ucs_status_t status = send_check(ep, buffer, count, ucp_op_datatype(param));

    if (status != UCS_OK) {
        return UCS_STATUS_PTR(status);
    }
    if (!(ep->flags & UCP_EP_ANNOUNCED)) {
        ucp_ep_drain(ep);
        if (send_inline(ep, buffer, count, tag, param) == UCS_OK) {
            return NULL;
        }
    }
    return UCS_STATUS_PTR(UCS_ERR_NO_RESOURCE);
}

/* What does not go inline. */
static UCS_OUTLINE ucs_status_ptr_t send_other(struct ucp_ep *ep,
                                               const void *buffer, size_t count,
                                               ucp_tag_t                  tag,
                                               const ucp_request_param_t *param,
                                               enum ucp_mode              mode)
{
    if (send_packed(ep, buffer, count, tag, param)) {
        return NULL;
    }
    return (param->op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL)
               ? send_at_once(ep, buffer, count, tag, param)
               : send_request(ep, buffer, count, tag, param, mode);
}

static UCS_OUTLINE ucs_status_ptr_t send_with_lock(
    struct ucp_ep *ep, const void *buffer, size_t count, ucp_tag_t tag,
    const ucp_request_param_t *param, enum ucp_mode mode)
{
    ucs_status_ptr_t result = NULL;

    ucp_worker_enter(ep->worker);
    if (send_inline(ep, buffer, count, tag, param) != UCS_OK) {
        result = send_other(ep, buffer, count, tag, param, mode);
    }
    ucp_worker_leave(ep->worker);
    return result;
}

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer, size_t count,
                                  ucp_tag_t                  tag,
                                  const ucp_request_param_t *param)
{
    if (ucp_op_is_null(__func__, ep, param)) {
        return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    }
    if (ucs_unlikely(ep->worker->is_multi)) {
        return send_with_lock(ep, buffer, count, tag, param, UCP_MODE_STANDARD);
    }
    if (ucs_likely(send_inline(ep, buffer, count, tag, param) == UCS_OK)) {
        return NULL;
    }
    return send_other(ep, buffer, count, tag, param, UCP_MODE_STANDARD);
}

ucs_status_ptr_t ucp_tag_send_sync_nbx(ucp_ep_h ep, const void *buffer,
                                       size_t count, ucp_tag_t tag,
                                       const ucp_request_param_t *param)
{
    ucs_status_ptr_t result;

    if (ucp_op_is_null(__func__, ep, param)) {
        return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    }
    ucp_worker_enter(ep->worker);
    result = send_request(ep, buffer, count, tag, param, UCP_MODE_SYNC);
    ucp_worker_leave(ep->worker);
    return result;
}

ucs_status_ptr_t causeway_tag_send_ready_nbx(ucp_ep_h ep, const void *buffer,
                                             size_t count, ucp_tag_t tag,
                                             const ucp_request_param_t *param)
{
    if (ucp_op_is_null(__func__, ep, param)) {
        return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    }
    return send_with_lock(ep, buffer, count, tag, param, UCP_MODE_READY);
}

/* Send req's message as far as the transport takes it, and capture the rest;
 * either way it is done with the user's buffer.
 * @return UCS_OK, or why nothing was sent. */
static ucs_status_t send_captured(struct ucp_request *req, struct ucp_ep *ep,
                                  ucp_tag_t tag)
{
    void        *piece;
    ucs_status_t status;

    status = ucp_buffered_reserve(ep->worker, req->dt.length, &piece);
    if (status == UCS_OK) {
        status = send_start(req, ep, tag, UCP_MODE_BUFFERED);
        if ((status == UCS_INPROGRESS) &&
            !(req->flags & UCP_REQUEST_COMPLETED)) {
            ucp_buffered_capture(req, piece);
            return UCS_OK;
        }
        ucp_buffered_release(ep->worker, piece);
    }
    if (status == UCS_INPROGRESS) {
        status = ucp_request_status(req); /* by a loop back into ourselves */
    }
    ucp_dt_iter_cleanup(&req->dt);
    ucp_request_put(req);
    return status;
}

/* The user's request is complete when the call is over; another one, of the
 * worker's own, carries the message. */
static ucs_status_ptr_t send_buffered(struct ucp_ep *ep, const void *buffer,
                                      size_t count, ucp_tag_t tag,
                                      const ucp_request_param_t *param)
{
    ucp_datatype_t      datatype = ucp_op_datatype(param);
    ucs_status_t        status   = send_check(ep, buffer, count, datatype);
    struct ucp_request *user, *req;

    if (status != UCS_OK) {
        return UCS_STATUS_PTR(status);
    }
    status = ucp_op_request(ep->worker, param, 0, &user);
    if (status != UCS_OK) {
        return UCS_STATUS_PTR(status);
    }
    req = ucp_request_get(ep->worker, 0);
    if (req == NULL) {
        status = UCS_ERR_NO_MEMORY;
        goto put_user;
    }
    status = ucp_dt_iter_init_send(&req->dt, buffer, count, datatype);
    if (status != UCS_OK) {
        goto put_both;
    }
    ucp_dt_iter_init_contig(&user->dt, NULL, req->dt.length);
    user->send.tag   = tag;
    user->send.proto = ucp_select_lookup(
        &ep->config->select[UCP_MODE_BUFFERED][UCP_DT_CONTIG][0],
        req->dt.length);
    status = send_captured(req, ep, tag);
    return ucp_op_finish_send(user, status, param);

put_both:
    ucp_request_put(req);
put_user:
    ucp_request_put(user);
    return UCS_STATUS_PTR(status);
}

ucs_status_ptr_t
causeway_tag_send_buffered_nbx(ucp_ep_h ep, const void *buffer, size_t count,
                               ucp_tag_t tag, const ucp_request_param_t *param)
{
    ucs_status_ptr_t result;

    if (ucp_op_is_null(__func__, ep, param)) {
        return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    }
    ucp_worker_enter(ep->worker);
    result = send_buffered(ep, buffer, count, tag, param);
    ucp_worker_leave(ep->worker);
    return result;
}

/* The older forms have a callback without user_data: it is called through
 * the newer type, whose last argument it does not look at (ucp-api 4.2). */
static ucp_request_param_t send_nb_param(ucp_datatype_t      datatype,
                                         ucp_send_callback_t cb)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_CALLBACK,
        .cb.send      = (ucp_send_nbx_callback_t)(void (*)(void))cb,
        .datatype     = datatype,
    };

    if (cb == NULL) {
        param.op_attr_mask &= ~(uint32_t)UCP_OP_ATTR_FIELD_CALLBACK;
    }
    return param;
}

ucs_status_ptr_t ucp_tag_send_nb(ucp_ep_h ep, const void *buffer, size_t count,
                                 ucp_datatype_t datatype, ucp_tag_t tag,
                                 ucp_send_callback_t cb)
{
    ucp_request_param_t param = send_nb_param(datatype, cb);

    return ucp_tag_send_nbx(ep, buffer, count, tag, &param);
}

ucs_status_ptr_t ucp_tag_send_sync_nb(ucp_ep_h ep, const void *buffer,
                                      size_t count, ucp_datatype_t datatype,
                                      ucp_tag_t tag, ucp_send_callback_t cb)
{
    ucp_request_param_t param = send_nb_param(datatype, cb);

    return ucp_tag_send_sync_nbx(ep, buffer, count, tag, &param);
}

ucs_status_t ucp_tag_send_nbr(ucp_ep_h ep, const void *buffer, size_t count,
                              ucp_datatype_t datatype, ucp_tag_t tag, void *req)
{
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REQUEST,
        .datatype     = datatype,
        .request      = req,
    };
    ucs_status_ptr_t result = ucp_tag_send_nbx(ep, buffer, count, tag, &param);

    return UCS_PTR_STATUS(result); /* a macro that looks twice */
}
