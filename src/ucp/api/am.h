/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/am.h - active messages (part of ucp/api/ucp.h). */
#ifndef UCP_API_AM_H_
#define UCP_API_AM_H_

#include <ucp/api/request.h>
#include <ucp/api/ucp_def.h>

enum ucp_am_handler_param_field {
    UCP_AM_HANDLER_PARAM_FIELD_ID    = UCS_BIT(0),
    UCP_AM_HANDLER_PARAM_FIELD_FLAGS = UCS_BIT(1),
    UCP_AM_HANDLER_PARAM_FIELD_CB    = UCS_BIT(2),
    UCP_AM_HANDLER_PARAM_FIELD_ARG   = UCS_BIT(3)
};

enum ucp_am_cb_flags {
    UCP_AM_FLAG_WHOLE_MSG       = UCS_BIT(0), /* never in parts */
    UCP_AM_FLAG_PERSISTENT_DATA = UCS_BIT(1)  /* data can always be kept */
};

typedef struct ucp_am_handler_param {
    uint64_t               field_mask;
    unsigned               id;    /* 16 bits */
    uint32_t               flags; /* UCP_AM_FLAG_* */
    ucp_am_recv_callback_t cb;    /* NULL: no handler any more */
    void                  *arg;
} ucp_am_handler_param_t;

/* Flags of a send (ucp_request_param.flags). */
enum ucp_send_am_flags {
    UCP_AM_SEND_FLAG_REPLY       = UCS_BIT(0), /* tell an endpoint to answer */
    UCP_AM_SEND_FLAG_EAGER       = UCS_BIT(1),
    UCP_AM_SEND_FLAG_RNDV        = UCS_BIT(2),
    UCP_AM_SEND_FLAG_COPY_HEADER = UCS_BIT(3), /* header is lent for the call */
    UCP_AM_SEND_REPLY            = UCP_AM_SEND_FLAG_REPLY
};

/* Flags of the older callback (ucp_am_callback_t). */
enum ucp_cb_param_flags { UCP_CB_PARAM_FLAG_DATA = UCS_BIT(0) };

typedef enum {
    UCP_AM_RECV_ATTR_FIELD_REPLY_EP = UCS_BIT(0),  /* reply_ep is filled in */
    UCP_AM_RECV_ATTR_FLAG_DATA      = UCS_BIT(16), /* data may be kept */
    UCP_AM_RECV_ATTR_FLAG_RNDV      = UCS_BIT(17)  /* data is to be fetched */
} ucp_am_recv_attr_t;

struct ucp_am_recv_param {
    uint64_t recv_attr; /* UCP_AM_RECV_ATTR_* */
    ucp_ep_h reply_ep;  /* the endpoint this side has to the sender */
};

UCS_API_BEGIN

/* Set, replace or remove the handler of an id. */
ucs_status_t
ucp_worker_set_am_recv_handler(ucp_worker_h                  worker,
                               const ucp_am_handler_param_t *param);

/* Send a header of up to ucp_worker_attr.max_am_header bytes and data to the
 * peer's handler. Both are lent until the operation ends. */
ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void *header,
                                 size_t header_length, const void *buffer,
                                 size_t                     count,
                                 const ucp_request_param_t *param);

/* Receive the data that a handler was told of; data_desc is given. */
ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker, void *data_desc,
                                      void *buffer, size_t count,
                                      const ucp_request_param_t *param);

/* Release data that a handler kept by returning UCS_INPROGRESS. */
void ucp_am_data_release(ucp_worker_h worker, void *data);

UCS_API_END

#endif
