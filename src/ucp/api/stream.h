/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/stream.h - ordered bytes without boundaries (part of ucp.h). */
#ifndef UCP_API_STREAM_H_
#define UCP_API_STREAM_H_

#include <sys/types.h>

#include <ucp/api/request.h>
#include <ucp/api/ucp_def.h>

typedef enum {
    UCP_STREAM_RECV_FLAG_WAITALL = UCS_BIT(0) /* fill the whole buffer */
} ucp_stream_recv_flags_t;

typedef struct ucp_stream_poll_ep {
    ucp_ep_h ep;
    void    *user_data; /* of ucp_ep_params */
    unsigned flags;
    uint8_t  reserved[16];
} ucp_stream_poll_ep_t;

UCS_API_BEGIN

/* Send count elements; the buffer is lent until the operation ends. */
ucs_status_ptr_t ucp_stream_send_nbx(ucp_ep_h ep, const void *buffer,
                                     size_t                     count,
                                     const ucp_request_param_t *param);

/* Receive at least one element and up to count; *length is written only when
 * the call returns NULL. */
ucs_status_ptr_t ucp_stream_recv_nbx(ucp_ep_h ep, void *buffer, size_t count,
                                     size_t                    *length,
                                     const ucp_request_param_t *param);

/* Take a piece that has come, in the library's memory; NULL if none has.
 * ucp_stream_data_release gives it back. */
ucs_status_ptr_t ucp_stream_recv_data_nb(ucp_ep_h ep, size_t *length);
void             ucp_stream_data_release(ucp_ep_h ep, void *data);

/* UCS_INPROGRESS, or how the receive ended and with how many bytes. */
ucs_status_t ucp_stream_recv_request_test(void *request, size_t *length_p);

/* List up to max_eps endpoints with data; returns how many, or a status. */
ssize_t ucp_stream_worker_poll(ucp_worker_h          worker,
                               ucp_stream_poll_ep_t *poll_eps, size_t max_eps,
                               unsigned flags);

UCS_API_END

#endif
