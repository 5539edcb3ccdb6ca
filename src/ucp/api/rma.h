/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/rma.h - a peer's memory: put, get, atomics (part of ucp.h). */
#ifndef UCP_API_RMA_H_
#define UCP_API_RMA_H_

#include <ucp/api/request.h>
#include <ucp/api/ucp_def.h>

typedef enum {
    UCP_ATOMIC_OP_ADD   = 0,
    UCP_ATOMIC_OP_SWAP  = 1,
    UCP_ATOMIC_OP_CSWAP = 2,
    UCP_ATOMIC_OP_AND   = 3,
    UCP_ATOMIC_OP_OR    = 4,
    UCP_ATOMIC_OP_XOR   = 5,
    UCP_ATOMIC_OP_LAST  = 6
} ucp_atomic_op_t;

UCS_API_BEGIN

/* Write count elements to remote_addr of the peer. Ends when the buffer may
 * be reused; a flush tells when the data is there. */
ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, const void *buffer, size_t count,
                             uint64_t remote_addr, ucp_rkey_h rkey,
                             const ucp_request_param_t *param);

/* Read count elements; ends when they are in the buffer. */
ucs_status_ptr_t ucp_get_nbx(ucp_ep_h ep, void *buffer, size_t count,
                             uint64_t remote_addr, ucp_rkey_h rkey,
                             const ucp_request_param_t *param);

/* Combine the value at buffer into the peer's 4 or 8 bytes (param->datatype:
 * ucp_dt_make_contig of 4 or 8; count 1; remote_addr aligned). buffer is read
 * during the call. With a reply_buffer the old value is fetched into it. For
 * CSWAP buffer has the value to compare with and reply_buffer the new one. */
ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h ep, ucp_atomic_op_t opcode,
                                   const void *buffer, size_t count,
                                   uint64_t remote_addr, ucp_rkey_h rkey,
                                   const ucp_request_param_t *param);

UCS_API_END

#endif
