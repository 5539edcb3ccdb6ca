/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/entry/tag_recv.c - receiving tagged messages, and looking for them. */
#include "ucp/entry/op.h"
#include "ucp/tag/recv.h"
#include "ucs/log.h"

/* A receive that is done inside its call: tell what came and how. */
static ucs_status_ptr_t recv_done(struct ucp_request        *req,
                                  const ucp_request_param_t *param)
{
    ucs_status_t status = ucp_request_status(req);

    if ((param->op_attr_mask & UCP_OP_ATTR_FIELD_RECV_INFO) &&
        (param->recv_info.tag_info != NULL)) {
        *param->recv_info.tag_info = req->recv.info;
    }
    ucp_request_put(req);
    return UCS_STATUS_PTR(status);
}

/* Receive a stored message. With NO_IMM_CMPL the callback may run in here and
 * the user may give the request back in it: it is not looked at afterwards. */
static ucs_status_ptr_t recv_stored(struct ucp_request        *req,
                                    struct ucp_unexpected     *unexpected,
                                    const ucp_request_param_t *param)
{
    if (param->op_attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL) {
        ucp_op_set_callback_recv(req, param);
        ucp_tag_recv_unexpected(req, unexpected);
        return ucp_request_pointer(req);
    }
    ucp_tag_recv_unexpected(req, unexpected);
    if (req->flags & UCP_REQUEST_COMPLETED) {
        return recv_done(req, param);
    }
    ucp_op_set_callback_recv(req, param);
    return ucp_request_pointer(req);
}

/* A request whose datatype iterator is ready, or an error. */
static ucs_status_t recv_prepare(struct ucp_worker *worker, void *buffer,
                                 size_t count, const ucp_request_param_t *param,
                                 struct ucp_request **req_p)
{
    ucp_datatype_t      datatype = ucp_op_datatype(param);
    struct ucp_request *req;
    ucs_status_t        status;

    if (ucs_unlikely(ucp_dt_lacks_buffer(buffer, count, datatype))) {
        ucs_error("tag receive: buffer is NULL with a count of %zu", count);
        return UCS_ERR_INVALID_PARAM;
    }
    status = ucp_op_request(worker, param, UCP_REQUEST_TAG_RECV, &req);
    if (ucs_unlikely(status != UCS_OK)) {
        return status;
    }
    if (ucs_likely(datatype == ucp_dt_make_contig(1))) {
        ucp_dt_iter_init_contig(&req->dt, buffer, count);
        status = UCS_OK;
    } else {
        status = ucp_dt_iter_init_recv(&req->dt, buffer, count, datatype);
        if (status != UCS_OK) {
            ucp_request_put(req);
        }
    }
    *req_p = req;
    return status;
}

static ucs_status_t recv_check(const struct ucp_worker *worker)
{
    if (ucs_likely(worker->has_tag)) {
        return UCS_OK;
    }
    ucs_error("tag receive: the context was made without UCP_FEATURE_TAG");
    return UCS_ERR_INVALID_PARAM;
}

/* Any receive. */
static UCS_OUTLINE ucs_status_ptr_t recv_any(struct ucp_worker *worker,
                                             void *buffer, size_t count,
                                             ucp_tag_t tag, ucp_tag_t mask,
                                             const ucp_request_param_t *param)
{
    struct ucp_tag_match      *match  = &worker->tag.match;
    ucs_status_t               status = recv_check(worker);
    struct ucp_tag_unexpected *stored;
    struct ucp_request        *req;

    if (ucs_unlikely(status != UCS_OK)) {
        return UCS_STATUS_PTR(status);
    }
    stored = ucp_tag_match_find(match, tag, mask);
    if ((stored == NULL) &&
        (param->op_attr_mask & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL)) {
        return UCS_STATUS_PTR(UCS_ERR_NO_RESOURCE);
    }
    status = recv_prepare(worker, buffer, count, param, &req);
    if (ucs_unlikely(status != UCS_OK)) {
        return UCS_STATUS_PTR(status);
    }
    if (stored != NULL) {
        ucp_tag_match_remove(match, stored);
        return recv_stored(
            req, ucs_container_of(stored, struct ucp_unexpected, match), param);
    }
    req->flags |= UCP_REQUEST_EXPECTED;
    ucp_op_set_callback_recv(req, param);
    ucp_tag_match_expect(match, &req->recv.expected, tag, mask);
    return ucp_request_pointer(req);
}

/* The frequent receive: contiguous, and no message is stored, so that it can
 * only wait. What is not so goes to recv_any() before anything is done; no
 * other function is called. */
UCS_INLINE ucs_status_ptr_t recv_post(struct ucp_worker *worker, void *buffer,
                                      size_t count, ucp_tag_t tag,
                                      ucp_tag_t                  mask,
                                      const ucp_request_param_t *param)
{
    uint32_t              attr   = param->op_attr_mask;
    struct ucp_tag_match *match  = &worker->tag.match;
    uint32_t              flags  = UCP_REQUEST_TAG_RECV | UCP_REQUEST_EXPECTED;
    size_t                length = count;
    struct ucp_request   *req;

    if (ucs_unlikely((match->unexpected_count > 0) || !worker->has_tag ||
                     (buffer == NULL) ||
                     (attr & UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL) ||
                     !ucp_tag_match_is_class0(match, mask))) {
        return recv_any(worker, buffer, count, tag, mask, param);
    }
    if ((attr & UCP_OP_ATTR_FIELD_DATATYPE) &&
        ucs_unlikely(!ucp_dt_contig_length(param->datatype, count, &length))) {
        return recv_any(worker, buffer, count, tag, mask, param);
    }
    if (attr & UCP_OP_ATTR_FIELD_REQUEST) {
        if (ucs_unlikely(!UCS_PTR_IS_PTR(param->request))) {
            return recv_any(worker, buffer, count, tag, mask, param);
        }
        req = ucp_request_of(param->request);
        flags |= UCP_REQUEST_EXTERNAL;
    } else if (ucs_likely(!ucs_mpool_is_slow(&worker->requests))) {
        req = ucs_mpool_get(&worker->requests);
    } else {
        return recv_any(worker, buffer, count, tag, mask, param);
    }
    if ((attr & UCP_OP_ATTR_FIELD_CALLBACK) &&
        ucs_likely(param->cb.recv != NULL)) {
        req->cb.tag_recv = param->cb.recv;
        req->user_data   = ucp_op_user_data(param);
        flags |= UCP_REQUEST_CALLBACK;
    }
    ucp_request_begin(req, flags);
    req->worker = worker;
    ucp_dt_iter_init_contig(&req->dt, buffer, length);
    ucp_tag_match_expect_class0(match, &req->recv.expected, tag, mask);
    return ucp_request_pointer(req);
}

static UCS_OUTLINE ucs_status_ptr_t
recv_with_lock(struct ucp_worker *worker, void *buffer, size_t count,
               ucp_tag_t tag, ucp_tag_t mask, const ucp_request_param_t *param)
{
    ucs_status_ptr_t result;

    ucp_worker_enter(worker);
    result = recv_post(worker, buffer, count, tag, mask, param);
    ucp_worker_leave(worker);
    return result;
}

ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void *buffer,
                                  size_t count, ucp_tag_t tag,
                                  ucp_tag_t                  tag_mask,
                                  const ucp_request_param_t *param)
{
    if (ucp_op_is_null(__func__, worker, param)) {
        return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    }
    if (ucs_unlikely(worker->is_multi)) {
        return recv_with_lock(worker, buffer, count, tag, tag_mask, param);
    }
    return recv_post(worker, buffer, count, tag, tag_mask, param);
}

ucp_tag_message_h ucp_tag_probe_nb(ucp_worker_h worker, ucp_tag_t tag,
                                   ucp_tag_t tag_mask, int remove,
                                   ucp_tag_recv_info_t *info)
{
    struct ucp_unexpected     *unexpected = NULL;
    struct ucp_tag_unexpected *stored;

    if (ucp_op_is_null(__func__, worker, info)) {
        return NULL;
    }
    ucp_worker_enter(worker);
    stored = ucp_tag_match_find(&worker->tag.match, tag, tag_mask);
    if (stored != NULL) {
        unexpected = ucs_container_of(stored, struct ucp_unexpected, match);
        info->sender_tag = unexpected->match.exact.tag;
        info->length     = unexpected->length;
        if (remove) {
            ucp_tag_match_remove(&worker->tag.match, stored);
            unexpected->is_probed = true;
        }
    }
    ucp_worker_leave(worker);
    return (ucp_tag_message_h)(void *)unexpected;
}

ucs_status_ptr_t ucp_tag_msg_recv_nbx(ucp_worker_h worker, void *buffer,
                                      size_t count, ucp_tag_message_h message,
                                      const ucp_request_param_t *param)
{
    struct ucp_unexpected *unexpected = (void *)message;
    ucs_status_ptr_t       result;
    struct ucp_request    *req;
    ucs_status_t           status;

    if (ucp_op_is_null(__func__, worker, param)) {
        return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    }
    if ((unexpected == NULL) || !unexpected->is_probed) {
        ucs_error("message receive: %p was not taken out by "
                  "ucp_tag_probe_nb(remove)",
                  (void *)message);
        return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    }
    ucp_worker_enter(worker);
    status = recv_prepare(worker, buffer, count, param, &req);
    result = (status == UCS_OK) ? recv_stored(req, unexpected, param)
                                : UCS_STATUS_PTR(status);
    ucp_worker_leave(worker);
    return result;
}

/* The older forms always return a request and call back without user_data;
 * see send_nb_param() in tag_send.c. */
static ucp_request_param_t recv_nb_param(ucp_datatype_t          datatype,
                                         ucp_tag_recv_callback_t cb)
{
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE |
                        UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        .cb.recv  = (ucp_tag_recv_nbx_callback_t)(void (*)(void))cb,
        .datatype = datatype,
    };

    if (cb == NULL) {
        param.op_attr_mask &= ~(uint32_t)UCP_OP_ATTR_FIELD_CALLBACK;
    }
    return param;
}

ucs_status_ptr_t ucp_tag_recv_nb(ucp_worker_h worker, void *buffer,
                                 size_t count, ucp_datatype_t datatype,
                                 ucp_tag_t tag, ucp_tag_t tag_mask,
                                 ucp_tag_recv_callback_t cb)
{
    ucp_request_param_t param = recv_nb_param(datatype, cb);

    return ucp_tag_recv_nbx(worker, buffer, count, tag, tag_mask, &param);
}

ucs_status_ptr_t ucp_tag_msg_recv_nb(ucp_worker_h worker, void *buffer,
                                     size_t count, ucp_datatype_t datatype,
                                     ucp_tag_message_h       message,
                                     ucp_tag_recv_callback_t cb)
{
    ucp_request_param_t param = recv_nb_param(datatype, cb);

    return ucp_tag_msg_recv_nbx(worker, buffer, count, message, &param);
}

ucs_status_t ucp_tag_recv_nbr(ucp_worker_h worker, void *buffer, size_t count,
                              ucp_datatype_t datatype, ucp_tag_t tag,
                              ucp_tag_t tag_mask, void *req)
{
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REQUEST |
                        UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
        .datatype = datatype,
        .request  = req,
    };
    ucs_status_ptr_t result =
        ucp_tag_recv_nbx(worker, buffer, count, tag, tag_mask, &param);

    return UCS_PTR_IS_ERR(result) ? UCS_PTR_RAW_STATUS(result) : UCS_OK;
}
