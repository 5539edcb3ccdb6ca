/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/entry/buffered.c - attaching the buffer of buffered sends, and getting
 * it back. The send itself is in tag_send.c. */
#include "ucp/core/buffered.h"

#include "ucp/api/causeway.h"
#include "ucp/entry/op.h"

ucs_status_t causeway_worker_attach_buffer(ucp_worker_h worker, void *buffer,
                                           size_t size_bytes)
{
    ucs_status_t status;

    if (ucp_op_is_null(__func__, worker, buffer)) {
        return UCS_ERR_INVALID_PARAM;
    }
    ucp_worker_enter(worker);
    status = ucp_buffered_attach(worker, buffer, size_bytes);
    ucp_worker_leave(worker);
    return status;
}

ucs_status_ptr_t
causeway_worker_detach_buffer_nbx(ucp_worker_h               worker,
                                  const ucp_request_param_t *param)
{
    ucs_status_ptr_t    result;
    ucs_status_t        status;
    struct ucp_request *req;

    if (ucp_op_is_null(__func__, worker, param)) {
        return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    }
    ucp_worker_enter(worker);
    status = ucp_op_request(worker, param, 0, &req);
    result = UCS_STATUS_PTR(status);
    if (status == UCS_OK) {
        result =
            ucp_op_finish_send(req, ucp_buffered_detach(worker, req), param);
    }
    ucp_worker_leave(worker);
    return result;
}

ucs_status_t causeway_worker_detach_buffer(ucp_worker_h worker, void **buffer_p,
                                           size_t *size_bytes_p)
{
    void        *buffer;
    size_t       size_bytes;
    ucs_status_t status;

    if (ucp_op_is_null(__func__, worker)) {
        return UCS_ERR_INVALID_PARAM;
    }
    ucp_worker_enter(worker);
    buffer     = worker->buffered.buffer;
    size_bytes = worker->buffered.size_bytes;
    ucp_worker_leave(worker);
    status = ucp_op_wait(
        worker, causeway_worker_detach_buffer_nbx(worker, &ucp_op_no_param));
    if (status != UCS_OK) {
        return status;
    }
    if (buffer_p != NULL) {
        *buffer_p = buffer;
    }
    if (size_bytes_p != NULL) {
        *size_bytes_p = size_bytes;
    }
    return UCS_OK;
}

ucs_status_t causeway_worker_query_buffer(ucp_worker_h            worker,
                                          causeway_buffer_attr_t *attr)
{
    const struct ucp_buffered *buffered;
    bool                       is_attached;

    if (ucp_op_is_null(__func__, worker, attr)) {
        return UCS_ERR_INVALID_PARAM;
    }
    ucp_worker_enter(worker);
    buffered    = &worker->buffered;
    is_attached = (buffered->buffer != NULL);
    if (attr->field_mask & CAUSEWAY_BUFFER_ATTR_FIELD_SIZE) {
        attr->size_bytes = is_attached ? buffered->size_bytes : 0;
    }
    if (attr->field_mask & CAUSEWAY_BUFFER_ATTR_FIELD_USED) {
        attr->used_bytes = is_attached ? buffered->arena.used_bytes : 0;
        attr->used_count = is_attached ? buffered->arena.used_count : 0;
    }
    if (attr->field_mask & CAUSEWAY_BUFFER_ATTR_FIELD_LOST) {
        attr->lost_count = buffered->lost_count;
        attr->lost_bytes = buffered->lost_bytes;
    }
    ucp_worker_leave(worker);
    return UCS_OK;
}
