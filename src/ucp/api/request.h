/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/request.h - parameters of an operation, and the request it may
 * leave behind (part of ucp/api/ucp.h).
 *
 * A request pointer is the start of the caller's ucp_params.request_size
 * bytes; the library's own part lies before it. The caller's bytes survive
 * free and reuse. */
#ifndef UCP_API_REQUEST_H_
#define UCP_API_REQUEST_H_

#include <ucp/api/ucp_def.h>

typedef enum {
    UCP_OP_ATTR_FIELD_REQUEST      = UCS_BIT(0),
    UCP_OP_ATTR_FIELD_CALLBACK     = UCS_BIT(1),
    UCP_OP_ATTR_FIELD_USER_DATA    = UCS_BIT(2),
    UCP_OP_ATTR_FIELD_DATATYPE     = UCS_BIT(3),
    UCP_OP_ATTR_FIELD_FLAGS        = UCS_BIT(4),
    UCP_OP_ATTR_FIELD_REPLY_BUFFER = UCS_BIT(5),
    UCP_OP_ATTR_FIELD_MEMORY_TYPE  = UCS_BIT(6),
    UCP_OP_ATTR_FIELD_RECV_INFO    = UCS_BIT(7),
    UCP_OP_ATTR_FIELD_MEMH         = UCS_BIT(8),

    /* Always return a request, and call back even if it is done at once:
     * then before the call returns. */
    UCP_OP_ATTR_FLAG_NO_IMM_CMPL = UCS_BIT(16),
    /* End locally as early as possible; a hint. */
    UCP_OP_ATTR_FLAG_FAST_CMPL = UCS_BIT(17),
    /* Be done at once, or fail with UCS_ERR_NO_RESOURCE. */
    UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL = UCS_BIT(18),
    /* Many more sends follow; a hint. */
    UCP_OP_ATTR_FLAG_MULTI_SEND = UCS_BIT(19)
} ucp_op_attr_t;

typedef struct {
    uint32_t op_attr_mask; /* UCP_OP_ATTR_*; a zeroed mask means "plain" */
    uint32_t flags;        /* of the operation, as the call says */
    void    *request;      /* memory of the caller's for the request, with
                              ucp_context_attr.request_size bytes before it;
                              lent until the operation ends, never freed */
    union {
        ucp_send_nbx_callback_t         send;
        ucp_tag_recv_nbx_callback_t     recv;
        ucp_stream_recv_nbx_callback_t  recv_stream;
        ucp_am_recv_data_nbx_callback_t recv_am;
    } cb;
    ucp_datatype_t    datatype;     /* default: bytes */
    void             *user_data;    /* for the callback */
    void             *reply_buffer; /* of an atomic that fetches */
    ucs_memory_type_t memory_type;  /* of the buffer; a hint */
    union {
        size_t              *length;
        ucp_tag_recv_info_t *tag_info;
    } recv_info;    /* out, when a receive is done at once */
    ucp_mem_h memh; /* of the buffer; a hint */
} ucp_request_param_t;

typedef enum {
    UCP_REQUEST_ATTR_FIELD_INFO_STRING      = UCS_BIT(0),
    UCP_REQUEST_ATTR_FIELD_INFO_STRING_SIZE = UCS_BIT(1),
    UCP_REQUEST_ATTR_FIELD_STATUS           = UCS_BIT(2),
    UCP_REQUEST_ATTR_FIELD_MEM_TYPE         = UCS_BIT(3)
} ucp_req_attr_field;

typedef struct {
    uint64_t          field_mask;
    char             *debug_string;      /* in: where to write */
    size_t            debug_string_size; /* in: bytes there */
    ucs_status_t      status;
    ucs_memory_type_t mem_type;
} ucp_request_attr_t;

UCS_API_BEGIN

/* UCS_INPROGRESS, or how the operation ended. Does not progress. */
ucs_status_t ucp_request_check_status(void *request);

/* Fill the fields of attr that attr->field_mask names. */
ucs_status_t ucp_request_query(void *request, ucp_request_attr_t *attr);

/* Give up a request. An operation that still runs goes on, but its callback
 * is not called. Legal inside the callback. */
void ucp_request_free(void *request);

/* Take back a tagged receive that nothing has matched: it ends with
 * UCS_ERR_CANCELED, callback included, before the call returns. On any other
 * request nothing happens. */
void ucp_request_cancel(ucp_worker_h worker, void *request);

UCS_API_END

#endif
