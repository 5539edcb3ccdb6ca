/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/entry/op.c - what all calls that start an operation share. */
#include "ucp/entry/op.h"

#include <string.h>

#include "ucs/log.h"

UCS_NOINLINE void ucp_op_say_null(const char *call, const char *names,
                                  unsigned index)
{
    for (; index > 0; --index) {
        names = strchr(names, ',') + 2;
    }
    ucs_error("%s: %.*s is NULL", call, (int)strcspn(names, ","), names);
}

UCS_NOINLINE void ucp_op_say_no_request(const char *call, const void *request)
{
    if (request == NULL) {
        ucs_error("%s: the request is NULL: what it was for is done", call);
    } else {
        ucs_error("%s: this is no request, but the error \"%s\"", call,
                  ucs_status_string(UCS_PTR_RAW_STATUS(request)));
    }
}

const ucp_request_param_t ucp_op_no_param = {0};

ucs_status_ptr_t ucp_op_finish_send(struct ucp_request        *req,
                                    ucs_status_t               status,
                                    const ucp_request_param_t *param)
{
    uint32_t mask = param->op_attr_mask;

    if (status == UCS_INPROGRESS) {
        if (ucs_unlikely(req->flags & UCP_REQUEST_COMPLETED)) {
            status =
                ucp_request_status(req); /* by a loop back into ourselves */
        } else {
            ucp_op_set_callback_send(req, param);
            return ucp_request_pointer(req);
        }
    }
    if ((mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL) && (status == UCS_OK)) {
        ucp_op_set_callback_send(req, param);
        ucp_request_complete_send(req, status);
        return ucp_request_pointer(req);
    }
    ucp_request_finish(req, req->flags, status);
    ucp_request_put(req);
    return UCS_STATUS_PTR(status);
}

/* Is this thread inside a callback of the worker? Others wait at the lock. */
static bool op_is_inside(struct ucp_worker *worker)
{
    bool is_inside;

    ucp_worker_enter(worker);
    is_inside = worker->is_inside;
    ucp_worker_leave(worker);
    return is_inside;
}

ucs_status_t ucp_op_wait(struct ucp_worker *worker, ucs_status_ptr_t request)
{
    ucs_status_t status;

    if (!UCS_PTR_IS_PTR(request)) {
        return UCS_PTR_RAW_STATUS(request);
    }
    if (op_is_inside(worker)) {
        ucs_error("a call that waits was made inside a callback of worker "
                  "'%s'; what it began goes on",
                  worker->options.name);
        ucp_request_free(request);
        return UCS_ERR_BUSY;
    }
    while ((status = ucp_request_status(ucp_request_of(request))) ==
           UCS_INPROGRESS) {
        ucp_worker_progress(worker);
    }
    ucp_request_free(request);
    return status;
}
