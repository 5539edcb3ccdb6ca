/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/entry/flush.c - flush and fence of workers, and the older forms. */
#include "ucp/core/flush.h"
#include "ucp/entry/op.h"

ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h               worker,
                                      const ucp_request_param_t *param)
{
    struct ucp_request *req;
    ucs_status_ptr_t    result;
    ucs_status_t        status;

    if (ucp_op_is_null(__func__, worker, param)) {
        return UCS_STATUS_PTR(UCS_ERR_INVALID_PARAM);
    }
    ucp_worker_enter(worker);
    status = ucp_op_request(worker, param, 0, &req);
    result = UCS_STATUS_PTR(status);
    if (status == UCS_OK) {
        ucp_dt_iter_init_contig(&req->dt, NULL, 0);
        result = ucp_op_finish_send(req, ucp_flush_worker(worker, req), param);
    }
    ucp_worker_leave(worker);
    return result;
}

static ucp_request_param_t flush_nb_param(ucp_send_callback_t cb)
{
    ucp_request_param_t param = {
        .op_attr_mask = (cb == NULL) ? 0 : UCP_OP_ATTR_FIELD_CALLBACK,
        /* the third argument is not looked at: tag_send.c */
        .cb.send = (ucp_send_nbx_callback_t)(void (*)(void))cb,
    };

    return param;
}

ucs_status_ptr_t ucp_worker_flush_nb(ucp_worker_h worker, unsigned flags,
                                     ucp_send_callback_t cb)
{
    ucp_request_param_t param = flush_nb_param(cb);

    (void)flags;
    return ucp_worker_flush_nbx(worker, &param);
}

ucs_status_ptr_t ucp_ep_flush_nb(ucp_ep_h ep, unsigned flags,
                                 ucp_send_callback_t cb)
{
    ucp_request_param_t param = flush_nb_param(cb);

    (void)flags;
    return ucp_ep_flush_nbx(ep, &param);
}

ucs_status_t ucp_worker_flush(ucp_worker_h worker)
{
    return ucp_op_wait(worker, ucp_worker_flush_nbx(worker, &ucp_op_no_param));
}

/* Puts, gets and atomics are not built yet: nothing can be out of order.
 * Messages of an endpoint are ordered anyway. */
ucs_status_t ucp_worker_fence(ucp_worker_h worker)
{
    return ucp_op_is_null(__func__, worker) ? UCS_ERR_INVALID_PARAM : UCS_OK;
}
