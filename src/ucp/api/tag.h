/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/tag.h - tagged messages (part of ucp/api/ucp.h).
 *
 * A message matches a receive when (message tag ^ receive tag) & mask is 0.
 * Of several receives the oldest takes it; of several messages of a sender
 * the oldest is taken. Messages of an endpoint match in the order they were
 * sent in. */
#ifndef UCP_API_TAG_H_
#define UCP_API_TAG_H_

#include <ucp/api/request.h>
#include <ucp/api/ucp_def.h>

struct ucp_tag_recv_info {
    ucp_tag_t sender_tag;
    size_t    length; /* bytes sent, also when more than there was room for */
};

UCS_API_BEGIN

/* Send count elements. The buffer is lent until the operation ends, which it
 * may before the receiver has matched it. Never calls back before it
 * returns, except with UCP_OP_ATTR_FLAG_NO_IMM_CMPL. */
ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer, size_t count,
                                  ucp_tag_t                  tag,
                                  const ucp_request_param_t *param);

/* The same, but it ends after the receiver has matched it; never at once. */
ucs_status_ptr_t ucp_tag_send_sync_nbx(ucp_ep_h ep, const void *buffer,
                                       size_t count, ucp_tag_t tag,
                                       const ucp_request_param_t *param);

/* Receive up to count elements; the buffer is lent until the operation ends.
 * UCS_ERR_MESSAGE_TRUNCATED: the message was longer; the buffer's content is
 * unspecified. */
ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void *buffer,
                                  size_t count, ucp_tag_t tag,
                                  ucp_tag_t                  tag_mask,
                                  const ucp_request_param_t *param);

/* Look for a message that no receive has taken; NULL if there is none. Does
 * not progress. With remove, the message is the caller's and must be received
 * with ucp_tag_msg_recv_nbx; without, the result only says "found". */
ucp_tag_message_h ucp_tag_probe_nb(ucp_worker_h worker, ucp_tag_t tag,
                                   ucp_tag_t tag_mask, int remove,
                                   ucp_tag_recv_info_t *info);

/* Receive a message that ucp_tag_probe_nb removed; message is given. */
ucs_status_ptr_t ucp_tag_msg_recv_nbx(ucp_worker_h worker, void *buffer,
                                      size_t count, ucp_tag_message_h message,
                                      const ucp_request_param_t *param);

/* UCS_INPROGRESS, or how the receive ended and what it received. */
ucs_status_t ucp_tag_recv_request_test(void                *request,
                                       ucp_tag_recv_info_t *info);

UCS_API_END

#endif
