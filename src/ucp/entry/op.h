/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/entry/op.h - what all calls that start an operation share: reading
 * ucp_request_param_t, finding memory for the request, and what the call
 * returns.
 *
 *   done inside the call   NULL or an error pointer, no callback; with
 *                          NO_IMM_CMPL the callback, then the request
 *   else                   the request; the callback comes from progress */
#ifndef UCP_ENTRY_OP_H_
#define UCP_ENTRY_OP_H_

#include "ucp/core/worker.h"

/* Is one of two arguments NULL that must not be? Then that is logged. Calls of
 * the data path do not ask. */
bool ucp_op_is_null(const char *call, const void *one, const void *other);

/* A parameter block without any field. */
extern const ucp_request_param_t ucp_op_no_param;

static inline ucp_datatype_t ucp_op_datatype(const ucp_request_param_t *param)
{
    return (param->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE)
               ? param->datatype
               : ucp_dt_make_contig(1);
}

/* A request with its flags set: the caller's memory, or one of the pool.
 * @return NULL when memory is short. */
static inline struct ucp_request *
ucp_op_request(struct ucp_worker *worker, const ucp_request_param_t *param,
               uint32_t flags)
{
    struct ucp_request *req;

    if (!(param->op_attr_mask & UCP_OP_ATTR_FIELD_REQUEST)) {
        return ucp_request_get(worker, flags);
    }
    req = ucp_request_of(param->request);
    ucp_request_begin(req, flags | UCP_REQUEST_EXTERNAL);
    req->worker = worker;
    return req;
}

/* What the user's callback gets. */
static inline void *ucp_op_user_data(const ucp_request_param_t *param)
{
    return (param->op_attr_mask & UCP_OP_ATTR_FIELD_USER_DATA)
               ? param->user_data
               : NULL;
}

/* From now on completing the request calls back. */
static inline void ucp_op_set_callback_send(struct ucp_request        *req,
                                            const ucp_request_param_t *param)
{
    if (param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) {
        req->cb.send   = param->cb.send;
        req->user_data = ucp_op_user_data(param);
        req->flags |= UCP_REQUEST_CALLBACK;
    }
}

static inline void ucp_op_set_callback_recv(struct ucp_request        *req,
                                            const ucp_request_param_t *param)
{
    if (param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) {
        req->cb.tag_recv = param->cb.recv;
        req->user_data   = ucp_op_user_data(param);
        req->flags |= UCP_REQUEST_CALLBACK;
    }
}

/* What a send-like call returns after its first attempt said `status`. The
 * request is complete, or given back, or in progress with its callback. */
ucs_status_ptr_t ucp_op_finish_send(struct ucp_request        *req,
                                    ucs_status_t               status,
                                    const ucp_request_param_t *param);

/* Run progress until a request is complete, and give it back.
 * @param request  What a call returned. */
ucs_status_t ucp_op_wait(struct ucp_worker *worker, ucs_status_ptr_t request);

#endif
