/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/ucp_compat.h - the older forms of the calls, for programs that use
 * them. New programs use the one named in each comment.
 *
 * x_nb calls return what the nbx form returns; they have no flags, and the
 * tagged receives among them always return a request and always call back,
 * also before they return. */
#ifndef UCP_COMPAT_H_
#define UCP_COMPAT_H_

#include <ucp/api/listener.h>
#include <ucp/api/ucp_def.h>

enum ucp_ep_close_mode {
    UCP_EP_CLOSE_MODE_FORCE = 0,
    UCP_EP_CLOSE_MODE_FLUSH = 1
};

typedef enum {
    UCP_ATOMIC_POST_OP_ADD  = 0,
    UCP_ATOMIC_POST_OP_AND  = 1,
    UCP_ATOMIC_POST_OP_OR   = 2,
    UCP_ATOMIC_POST_OP_XOR  = 3,
    UCP_ATOMIC_POST_OP_LAST = 4
} ucp_atomic_post_op_t;

typedef enum {
    UCP_ATOMIC_FETCH_OP_FADD  = 0,
    UCP_ATOMIC_FETCH_OP_SWAP  = 1,
    UCP_ATOMIC_FETCH_OP_CSWAP = 2,
    UCP_ATOMIC_FETCH_OP_FAND  = 3,
    UCP_ATOMIC_FETCH_OP_FOR   = 4,
    UCP_ATOMIC_FETCH_OP_FXOR  = 5,
    UCP_ATOMIC_FETCH_OP_LAST  = 6
} ucp_atomic_fetch_op_t;

UCS_API_BEGIN

/* ucp_worker_query with UCP_WORKER_ATTR_FIELD_ADDRESS. */
ucs_status_t ucp_worker_get_address(ucp_worker_h    worker,
                                    ucp_address_t **address_p,
                                    size_t         *address_length_p);
/* ucp_worker_flush_nbx; the first one progresses until it is done. */
ucs_status_t     ucp_worker_flush(ucp_worker_h worker);
ucs_status_ptr_t ucp_worker_flush_nb(ucp_worker_h worker, unsigned flags,
                                     ucp_send_callback_t cb);

/* ucp_ep_close_nbx; mode is ucp_ep_close_mode. */
ucs_status_ptr_t ucp_ep_close_nb(ucp_ep_h ep, unsigned mode);
/* ucp_ep_close_nbx with flush; the first one progresses until it is done. */
void             ucp_ep_destroy(ucp_ep_h ep);
ucs_status_ptr_t ucp_disconnect_nb(ucp_ep_h ep);
/* Change user_data and error handler of an endpoint. */
ucs_status_ptr_t ucp_ep_modify_nb(ucp_ep_h ep, const ucp_ep_params_t *params);
/* ucp_ep_flush_nbx; the first one progresses until it is done. */
ucs_status_t     ucp_ep_flush(ucp_ep_h ep);
ucs_status_ptr_t ucp_ep_flush_nb(ucp_ep_h ep, unsigned flags,
                                 ucp_send_callback_t cb);

/* Nonzero once the operation ended (ucp_request_check_status). */
int ucp_request_is_completed(void *request);
/* Give up a request but keep its callback (ucp_request_free). */
void ucp_request_release(void *request);
/* ucp_request_check_status; fills info for tagged receives. */
ucs_status_t ucp_request_test(void *request, ucp_tag_recv_info_t *info);
/* Always NULL: use memory of your own (UCP_OP_ATTR_FIELD_REQUEST). */
void *ucp_request_alloc(ucp_worker_h worker);

/* ucp_tag_send_nbx and its relatives. The nbr forms use memory of the
 * caller's, as UCP_OP_ATTR_FIELD_REQUEST. */
ucs_status_ptr_t ucp_tag_send_nb(ucp_ep_h ep, const void *buffer, size_t count,
                                 ucp_datatype_t datatype, ucp_tag_t tag,
                                 ucp_send_callback_t cb);
ucs_status_t     ucp_tag_send_nbr(ucp_ep_h ep, const void *buffer, size_t count,
                                  ucp_datatype_t datatype, ucp_tag_t tag,
                                  void *req);
ucs_status_ptr_t ucp_tag_send_sync_nb(ucp_ep_h ep, const void *buffer,
                                      size_t count, ucp_datatype_t datatype,
                                      ucp_tag_t tag, ucp_send_callback_t cb);
ucs_status_ptr_t ucp_tag_recv_nb(ucp_worker_h worker, void *buffer,
                                 size_t count, ucp_datatype_t datatype,
                                 ucp_tag_t tag, ucp_tag_t tag_mask,
                                 ucp_tag_recv_callback_t cb);
ucs_status_t ucp_tag_recv_nbr(ucp_worker_h worker, void *buffer, size_t count,
                              ucp_datatype_t datatype, ucp_tag_t tag,
                              ucp_tag_t tag_mask, void *req);
ucs_status_ptr_t ucp_tag_msg_recv_nb(ucp_worker_h worker, void *buffer,
                                     size_t count, ucp_datatype_t datatype,
                                     ucp_tag_message_h       message,
                                     ucp_tag_recv_callback_t cb);

/* ucp_stream_send_nbx, ucp_stream_recv_nbx. */
ucs_status_ptr_t ucp_stream_send_nb(ucp_ep_h ep, const void *buffer,
                                    size_t count, ucp_datatype_t datatype,
                                    ucp_send_callback_t cb, unsigned flags);
ucs_status_ptr_t ucp_stream_recv_nb(ucp_ep_h ep, void *buffer, size_t count,
                                    ucp_datatype_t             datatype,
                                    ucp_stream_recv_callback_t cb,
                                    size_t *length, unsigned flags);

/* ucp_worker_set_am_recv_handler, ucp_am_send_nbx (always eager). */
ucs_status_t     ucp_worker_set_am_handler(ucp_worker_h worker, uint16_t id,
                                           ucp_am_callback_t cb, void *arg,
                                           uint32_t flags);
ucs_status_ptr_t ucp_am_send_nb(ucp_ep_h ep, uint16_t id, const void *buffer,
                                size_t count, ucp_datatype_t datatype,
                                ucp_send_callback_t cb, unsigned flags);

/* ucp_memh_pack without EXPORT, and its release. */
ucs_status_t ucp_rkey_pack(ucp_context_h context, ucp_mem_h memh,
                           void **rkey_buffer_p, size_t *size_p);
void         ucp_rkey_buffer_release(void *rkey_buffer);

/* ucp_put_nbx, ucp_get_nbx. The plain ones progress until done; the nbi ones
 * return UCS_OK or UCS_INPROGRESS, and a flush tells when they are done. */
ucs_status_t     ucp_put(ucp_ep_h ep, const void *buffer, size_t length,
                         uint64_t remote_addr, ucp_rkey_h rkey);
ucs_status_t     ucp_put_nbi(ucp_ep_h ep, const void *buffer, size_t length,
                             uint64_t remote_addr, ucp_rkey_h rkey);
ucs_status_ptr_t ucp_put_nb(ucp_ep_h ep, const void *buffer, size_t length,
                            uint64_t remote_addr, ucp_rkey_h rkey,
                            ucp_send_callback_t cb);
ucs_status_t     ucp_get(ucp_ep_h ep, void *buffer, size_t length,
                         uint64_t remote_addr, ucp_rkey_h rkey);
ucs_status_t     ucp_get_nbi(ucp_ep_h ep, void *buffer, size_t length,
                             uint64_t remote_addr, ucp_rkey_h rkey);
ucs_status_ptr_t ucp_get_nb(ucp_ep_h ep, void *buffer, size_t length,
                            uint64_t remote_addr, ucp_rkey_h rkey,
                            ucp_send_callback_t cb);

/* ucp_atomic_op_nbx; those named after a size progress until done. For CSWAP
 * value is what to compare with and *result has the new value. */
ucs_status_t     ucp_atomic_post(ucp_ep_h ep, ucp_atomic_post_op_t opcode,
                                 uint64_t value, size_t op_size,
                                 uint64_t remote_addr, ucp_rkey_h rkey);
ucs_status_ptr_t ucp_atomic_fetch_nb(ucp_ep_h ep, ucp_atomic_fetch_op_t opcode,
                                     uint64_t value, void *result,
                                     size_t op_size, uint64_t remote_addr,
                                     ucp_rkey_h rkey, ucp_send_callback_t cb);
ucs_status_t ucp_atomic_add32(ucp_ep_h ep, uint32_t add, uint64_t remote_addr,
                              ucp_rkey_h rkey);
ucs_status_t ucp_atomic_add64(ucp_ep_h ep, uint64_t add, uint64_t remote_addr,
                              ucp_rkey_h rkey);
ucs_status_t ucp_atomic_fadd32(ucp_ep_h ep, uint32_t add, uint64_t remote_addr,
                               ucp_rkey_h rkey, uint32_t *result);
ucs_status_t ucp_atomic_fadd64(ucp_ep_h ep, uint64_t add, uint64_t remote_addr,
                               ucp_rkey_h rkey, uint64_t *result);
ucs_status_t ucp_atomic_swap32(ucp_ep_h ep, uint32_t swap, uint64_t remote_addr,
                               ucp_rkey_h rkey, uint32_t *result);
ucs_status_t ucp_atomic_swap64(ucp_ep_h ep, uint64_t swap, uint64_t remote_addr,
                               ucp_rkey_h rkey, uint64_t *result);
ucs_status_t ucp_atomic_cswap32(ucp_ep_h ep, uint32_t compare, uint32_t swap,
                                uint64_t remote_addr, ucp_rkey_h rkey,
                                uint32_t *result);
ucs_status_t ucp_atomic_cswap64(ucp_ep_h ep, uint64_t compare, uint64_t swap,
                                uint64_t remote_addr, ucp_rkey_h rkey,
                                uint64_t *result);

UCS_API_END

#endif
