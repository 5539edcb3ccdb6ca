/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/entry/unsupported.c - the exported calls that are not built yet.
 *
 * They are here so that programs load: each says UCS_ERR_UNSUPPORTED (as a
 * status or as an error pointer) or does nothing if it returns nothing. Who
 * builds one deletes it here. Nothing else may come in. */
#include "ucp/api/ucp.h"
#include "ucp/api/device/ucp_host.h"

/* All arguments of the call are passed on, which is their only use. */
static ucs_status_t unsupported(const char *function, ...)
{
    (void)function;
    return UCS_ERR_UNSUPPORTED;
}

static ucs_status_ptr_t unsupported_ptr(const char *function, ...)
{
    return UCS_STATUS_PTR(unsupported(function));
}

/* Estimates. */

ucs_status_t ucp_ep_evaluate_perf(ucp_ep_h                            ep,
                                  const ucp_ep_evaluate_perf_param_t *param,
                                  ucp_ep_evaluate_perf_attr_t        *attr)
{
    return unsupported(__func__, ep, param, attr);
}

/* Client and server. */

ucs_status_t ucp_listener_create(ucp_worker_h                 worker,
                                 const ucp_listener_params_t *params,
                                 ucp_listener_h              *listener_p)
{
    return unsupported(__func__, worker, params, listener_p);
}

void ucp_listener_destroy(ucp_listener_h listener)
{
    (void)unsupported(__func__, listener);
}

ucs_status_t ucp_listener_query(ucp_listener_h       listener,
                                ucp_listener_attr_t *attr)
{
    return unsupported(__func__, listener, attr);
}

ucs_status_t ucp_listener_reject(ucp_listener_h     listener,
                                 ucp_conn_request_h conn_request)
{
    return unsupported(__func__, listener, conn_request);
}

ucs_status_t ucp_conn_request_query(ucp_conn_request_h       conn_request,
                                    ucp_conn_request_attr_t *attr)
{
    return unsupported(__func__, conn_request, attr);
}

/* Active messages. */

ucs_status_t ucp_worker_set_am_recv_handler(ucp_worker_h worker,
                                            const ucp_am_handler_param_t *param)
{
    return unsupported(__func__, worker, param);
}

ucs_status_t ucp_worker_set_am_handler(ucp_worker_h worker, uint16_t id,
                                       ucp_am_callback_t cb, void *arg,
                                       uint32_t flags)
{
    return unsupported(__func__, worker, id, cb, arg, flags);
}

ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void *header,
                                 size_t header_length, const void *buffer,
                                 size_t count, const ucp_request_param_t *param)
{
    return unsupported_ptr(__func__, ep, id, header, header_length, buffer,
                           count, param);
}

ucs_status_ptr_t ucp_am_send_nb(ucp_ep_h ep, uint16_t id, const void *buffer,
                                size_t count, ucp_datatype_t datatype,
                                ucp_send_callback_t cb, unsigned flags)
{
    return unsupported_ptr(__func__, ep, id, buffer, count, datatype, cb,
                           flags);
}

ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker, void *data_desc,
                                      void *buffer, size_t count,
                                      const ucp_request_param_t *param)
{
    return unsupported_ptr(__func__, worker, data_desc, buffer, count, param);
}

void ucp_am_data_release(ucp_worker_h worker, void *data)
{
    (void)unsupported(__func__, worker, data);
}

/* Streams. */

ucs_status_ptr_t ucp_stream_send_nbx(ucp_ep_h ep, const void *buffer,
                                     size_t                     count,
                                     const ucp_request_param_t *param)
{
    return unsupported_ptr(__func__, ep, buffer, count, param);
}

ucs_status_ptr_t ucp_stream_send_nb(ucp_ep_h ep, const void *buffer,
                                    size_t count, ucp_datatype_t datatype,
                                    ucp_send_callback_t cb, unsigned flags)
{
    return unsupported_ptr(__func__, ep, buffer, count, datatype, cb, flags);
}

ucs_status_ptr_t ucp_stream_recv_nbx(ucp_ep_h ep, void *buffer, size_t count,
                                     size_t                    *length,
                                     const ucp_request_param_t *param)
{
    return unsupported_ptr(__func__, ep, buffer, count, length, param);
}

ucs_status_ptr_t ucp_stream_recv_nb(ucp_ep_h ep, void *buffer, size_t count,
                                    ucp_datatype_t             datatype,
                                    ucp_stream_recv_callback_t cb,
                                    size_t *length, unsigned flags)
{
    return unsupported_ptr(__func__, ep, buffer, count, datatype, cb, length,
                           flags);
}

ucs_status_ptr_t ucp_stream_recv_data_nb(ucp_ep_h ep, size_t *length)
{
    return unsupported_ptr(__func__, ep, length);
}

void ucp_stream_data_release(ucp_ep_h ep, void *data)
{
    (void)unsupported(__func__, ep, data);
}

ucs_status_t ucp_stream_recv_request_test(void *request, size_t *length_p)
{
    return unsupported(__func__, request, length_p);
}

ssize_t ucp_stream_worker_poll(ucp_worker_h          worker,
                               ucp_stream_poll_ep_t *poll_eps, size_t max_eps,
                               unsigned flags)
{
    return unsupported(__func__, worker, poll_eps, max_eps, flags);
}

/* Put and get. */

ucs_status_t ucp_put(ucp_ep_h ep, const void *buffer, size_t length,
                     uint64_t remote_addr, ucp_rkey_h rkey)
{
    return unsupported(__func__, ep, buffer, length, remote_addr, rkey);
}

ucs_status_t ucp_put_nbi(ucp_ep_h ep, const void *buffer, size_t length,
                         uint64_t remote_addr, ucp_rkey_h rkey)
{
    return unsupported(__func__, ep, buffer, length, remote_addr, rkey);
}

ucs_status_ptr_t ucp_put_nb(ucp_ep_h ep, const void *buffer, size_t length,
                            uint64_t remote_addr, ucp_rkey_h rkey,
                            ucp_send_callback_t cb)
{
    return unsupported_ptr(__func__, ep, buffer, length, remote_addr, rkey, cb);
}

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, const void *buffer, size_t count,
                             uint64_t remote_addr, ucp_rkey_h rkey,
                             const ucp_request_param_t *param)
{
    return unsupported_ptr(__func__, ep, buffer, count, remote_addr, rkey,
                           param);
}

ucs_status_t ucp_get(ucp_ep_h ep, void *buffer, size_t length,
                     uint64_t remote_addr, ucp_rkey_h rkey)
{
    return unsupported(__func__, ep, buffer, length, remote_addr, rkey);
}

ucs_status_t ucp_get_nbi(ucp_ep_h ep, void *buffer, size_t length,
                         uint64_t remote_addr, ucp_rkey_h rkey)
{
    return unsupported(__func__, ep, buffer, length, remote_addr, rkey);
}

ucs_status_ptr_t ucp_get_nb(ucp_ep_h ep, void *buffer, size_t length,
                            uint64_t remote_addr, ucp_rkey_h rkey,
                            ucp_send_callback_t cb)
{
    return unsupported_ptr(__func__, ep, buffer, length, remote_addr, rkey, cb);
}

ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep, void *buffer, size_t count,
                             uint64_t remote_addr, ucp_rkey_h rkey,
                             const ucp_request_param_t *param)
{
    return unsupported_ptr(__func__, ep, buffer, count, remote_addr, rkey,
                           param);
}

/* Atomics. */

ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h ep, ucp_atomic_op_t opcode,
                                   const void *buffer, size_t count,
                                   uint64_t remote_addr, ucp_rkey_h rkey,
                                   const ucp_request_param_t *param)
{
    return unsupported_ptr(__func__, ep, opcode, buffer, count, remote_addr,
                           rkey, param);
}

ucs_status_t ucp_atomic_post(ucp_ep_h ep, ucp_atomic_post_op_t opcode,
                             uint64_t value, size_t op_size,
                             uint64_t remote_addr, ucp_rkey_h rkey)
{
    return unsupported(__func__, ep, opcode, value, op_size, remote_addr, rkey);
}

ucs_status_ptr_t ucp_atomic_fetch_nb(ucp_ep_h ep, ucp_atomic_fetch_op_t opcode,
                                     uint64_t value, void *result,
                                     size_t op_size, uint64_t remote_addr,
                                     ucp_rkey_h rkey, ucp_send_callback_t cb)
{
    return unsupported_ptr(__func__, ep, opcode, value, result, op_size,
                           remote_addr, rkey, cb);
}

ucs_status_t ucp_atomic_add32(ucp_ep_h ep, uint32_t add, uint64_t remote_addr,
                              ucp_rkey_h rkey)
{
    return unsupported(__func__, ep, add, remote_addr, rkey);
}

ucs_status_t ucp_atomic_add64(ucp_ep_h ep, uint64_t add, uint64_t remote_addr,
                              ucp_rkey_h rkey)
{
    return unsupported(__func__, ep, add, remote_addr, rkey);
}

ucs_status_t ucp_atomic_fadd32(ucp_ep_h ep, uint32_t add, uint64_t remote_addr,
                               ucp_rkey_h rkey, uint32_t *result)
{
    return unsupported(__func__, ep, add, remote_addr, rkey, result);
}

ucs_status_t ucp_atomic_fadd64(ucp_ep_h ep, uint64_t add, uint64_t remote_addr,
                               ucp_rkey_h rkey, uint64_t *result)
{
    return unsupported(__func__, ep, add, remote_addr, rkey, result);
}

ucs_status_t ucp_atomic_swap32(ucp_ep_h ep, uint32_t swap, uint64_t remote_addr,
                               ucp_rkey_h rkey, uint32_t *result)
{
    return unsupported(__func__, ep, swap, remote_addr, rkey, result);
}

ucs_status_t ucp_atomic_swap64(ucp_ep_h ep, uint64_t swap, uint64_t remote_addr,
                               ucp_rkey_h rkey, uint64_t *result)
{
    return unsupported(__func__, ep, swap, remote_addr, rkey, result);
}

ucs_status_t ucp_atomic_cswap32(ucp_ep_h ep, uint32_t compare, uint32_t swap,
                                uint64_t remote_addr, ucp_rkey_h rkey,
                                uint32_t *result)
{
    return unsupported(__func__, ep, compare, swap, remote_addr, rkey, result);
}

ucs_status_t ucp_atomic_cswap64(ucp_ep_h ep, uint64_t compare, uint64_t swap,
                                uint64_t remote_addr, ucp_rkey_h rkey,
                                uint64_t *result)
{
    return unsupported(__func__, ep, compare, swap, remote_addr, rkey, result);
}

/* Device. */

void ucp_device_mem_list_release(ucp_device_mem_list_handle_h handle)
{
    (void)unsupported(__func__, handle);
}

ucs_status_t ucp_device_counter_init(ucp_worker_h                       worker,
                                     const ucp_device_counter_params_t *params,
                                     void *counter_ptr)
{
    return unsupported(__func__, worker, params, counter_ptr);
}

uint64_t ucp_device_counter_read(ucp_worker_h                       worker,
                                 const ucp_device_counter_params_t *params,
                                 void                              *counter_ptr)
{
    (void)unsupported(__func__, worker, params, counter_ptr);
    return 0;
}

/* Newer than API 1.20, so no public header declares them. */
UCS_API_BEGIN
ucs_status_t ucp_device_local_mem_list_create(const void *params,
                                              void      **list_p);
ucs_status_t ucp_device_remote_mem_list_create(const void *params,
                                               void      **list_p);
uint32_t     ucp_device_get_mem_list_length(const void *list);
UCS_API_END

ucs_status_t ucp_device_local_mem_list_create(const void *params, void **list_p)
{
    return unsupported(__func__, params, list_p);
}

ucs_status_t ucp_device_remote_mem_list_create(const void *params,
                                               void      **list_p)
{
    return unsupported(__func__, params, list_p);
}

uint32_t ucp_device_get_mem_list_length(const void *list)
{
    (void)unsupported(__func__, list);
    return 0;
}
