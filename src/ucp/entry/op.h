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

/* One line says which argument is NULL, or that a request is none.
 * @param names  Of the arguments, with commas, as the call's source has them.
 * @param index  Of the one that is NULL. */
void ucp_op_say_null(const char *call, const char *names, unsigned index);
void ucp_op_say_no_request(const char *call, const void *request);

/* Is one of up to five arguments NULL that must not be? Then that is logged:
 *
 *   if (ucp_op_is_null(__func__, worker, param)) {
 *       return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
 *   } */
#define ucp_op_is_null(_call, ...)                                             \
    OP_IS_NULL(_call, #__VA_ARGS__, __VA_ARGS__, "", "", "", "", "")
#define OP_IS_NULL(_call, _names, _0, _1, _2, _3, _4, ...)                     \
    op_is_null(_call, _names, (struct op_args){{_0, _1, _2, _3, _4}})

struct op_args {
    const void *at[5];
};

static inline bool op_is_null(const char *call, const char *names,
                              struct op_args args)
{
    if (ucs_likely((args.at[0] != NULL) && (args.at[1] != NULL) &&
                   (args.at[2] != NULL) && (args.at[3] != NULL) &&
                   (args.at[4] != NULL))) {
        return false;
    }
    ucp_op_say_null(call, names,
                    (args.at[0] == NULL)   ? 0
                    : (args.at[1] == NULL) ? 1
                    : (args.at[2] == NULL) ? 2
                    : (args.at[3] == NULL) ? 3
                                           : 4);
    return true;
}

/* Is it a request? What a call returned may be NULL, or an error. */
static inline bool ucp_op_is_request(const char *call, const void *request)
{
    if (ucs_likely(UCS_PTR_IS_PTR(request))) {
        return true;
    }
    ucp_op_say_no_request(call, request);
    return false;
}

/* A parameter block without any field. */
extern const ucp_request_param_t ucp_op_no_param;

static inline ucp_datatype_t ucp_op_datatype(const ucp_request_param_t *param)
{
    return (param->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE)
               ? param->datatype
               : ucp_dt_make_contig(1);
}

/* A request with its flags set: the caller's memory, or one of the pool.
 * @return UCS_OK, UCS_ERR_NO_MEMORY; UCS_ERR_INVALID_PARAM: the caller's memory
 *         is none, one line says so. */
UCS_MUST_USE static inline ucs_status_t
ucp_op_request(struct ucp_worker *worker, const ucp_request_param_t *param,
               uint32_t flags, struct ucp_request **req_p)
{
    struct ucp_request *req;

    if (!(param->op_attr_mask & UCP_OP_ATTR_FIELD_REQUEST)) {
        *req_p = ucp_request_get(worker, flags);
        return (*req_p == NULL) ? UCS_ERR_NO_MEMORY : UCS_OK;
    }
    if (!ucp_op_is_request("UCP_OP_ATTR_FIELD_REQUEST", param->request)) {
        return UCS_ERR_INVALID_PARAM;
    }
    req = ucp_request_of(param->request);
    ucp_request_begin(req, flags | UCP_REQUEST_EXTERNAL);
    req->worker = worker;
    *req_p      = req;
    return UCS_OK;
}

/* What the user's callback gets. */
static inline void *ucp_op_user_data(const ucp_request_param_t *param)
{
    return (param->op_attr_mask & UCP_OP_ATTR_FIELD_USER_DATA)
               ? param->user_data
               : NULL;
}

/* From now on completing the request calls back; a callback that is NULL is
 * none. */
static inline void ucp_op_set_callback_send(struct ucp_request        *req,
                                            const ucp_request_param_t *param)
{
    if ((param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) &&
        ucs_likely(param->cb.send != NULL)) {
        req->cb.send   = param->cb.send;
        req->user_data = ucp_op_user_data(param);
        req->flags |= UCP_REQUEST_CALLBACK;
    }
}

static inline void ucp_op_set_callback_recv(struct ucp_request        *req,
                                            const ucp_request_param_t *param)
{
    if ((param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK) &&
        ucs_likely(param->cb.recv != NULL)) {
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
 * @param request  What a call returned.
 * @return how it ended; UCS_ERR_BUSY: not here, inside a callback; one line
 *         says so, the request goes on and tells nobody. */
ucs_status_t ucp_op_wait(struct ucp_worker *worker, ucs_status_ptr_t request);

#endif
