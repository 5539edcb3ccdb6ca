/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/ep.h - endpoints (part of ucp/api/ucp.h). */
#ifndef UCP_API_EP_H_
#define UCP_API_EP_H_

#include <stdio.h>

#include <ucp/api/request.h>
#include <ucp/api/ucp_def.h>

enum ucp_ep_params_field {
    UCP_EP_PARAM_FIELD_REMOTE_ADDRESS    = UCS_BIT(0),
    UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE = UCS_BIT(1),
    UCP_EP_PARAM_FIELD_ERR_HANDLER       = UCS_BIT(2),
    UCP_EP_PARAM_FIELD_USER_DATA         = UCS_BIT(3),
    UCP_EP_PARAM_FIELD_SOCK_ADDR         = UCS_BIT(4),
    UCP_EP_PARAM_FIELD_FLAGS             = UCS_BIT(5),
    UCP_EP_PARAM_FIELD_CONN_REQUEST      = UCS_BIT(6),
    UCP_EP_PARAM_FIELD_NAME              = UCS_BIT(7),
    UCP_EP_PARAM_FIELD_LOCAL_SOCK_ADDR   = UCS_BIT(8)
};

enum ucp_ep_params_flags_field {
    UCP_EP_PARAMS_FLAGS_CLIENT_SERVER = UCS_BIT(0), /* connect to sockaddr */
    UCP_EP_PARAMS_FLAGS_NO_LOOPBACK   = UCS_BIT(1), /* a worker's two own ends
                                                       are two endpoints */
    UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID = UCS_BIT(2)
};

typedef enum {
    UCP_EP_CLOSE_FLAG_FORCE = UCS_BIT(0) /* drop what is open */
} ucp_ep_close_flags_t;

enum ucp_ep_attr_field {
    UCP_EP_ATTR_FIELD_NAME            = UCS_BIT(0),
    UCP_EP_ATTR_FIELD_LOCAL_SOCKADDR  = UCS_BIT(1),
    UCP_EP_ATTR_FIELD_REMOTE_SOCKADDR = UCS_BIT(2),
    UCP_EP_ATTR_FIELD_TRANSPORTS      = UCS_BIT(3),
    UCP_EP_ATTR_FIELD_USER_DATA       = UCS_BIT(4)
};

/* A transport that an endpoint uses; the names are the library's. */
typedef struct ucp_transport_entry {
    const char *transport_name;
    const char *device_name;
} ucp_transport_entry_t;

typedef struct ucp_transports {
    ucp_transport_entry_t *entries;     /* the caller's array */
    unsigned               num_entries; /* in: its length; out: how many */
    size_t                 entry_size;  /* in: bytes of an entry */
} ucp_transports_t;

typedef struct ucp_ep_attr {
    uint64_t                field_mask; /* UCP_EP_ATTR_FIELD_* */
    char                    name[UCP_ENTITY_NAME_MAX];
    struct sockaddr_storage local_sockaddr;
    struct sockaddr_storage remote_sockaddr;
    ucp_transports_t        transports;
    void                   *user_data;
} ucp_ep_attr_t;

typedef enum ucp_ep_perf_param_field {
    UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE = UCS_BIT(0)
} ucp_ep_perf_param_field_t;

typedef struct {
    uint64_t field_mask;
    size_t   message_size; /* bytes */
} ucp_ep_evaluate_perf_param_t;

typedef enum ucp_ep_perf_attr_field {
    UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME = UCS_BIT(0)
} ucp_ep_perf_attr_field_t;

typedef struct {
    uint64_t field_mask;
    double   estimated_time; /* seconds */
} ucp_ep_evaluate_perf_attr_t;

UCS_API_BEGIN

/* Create an endpoint to a worker address, a listener's socket address or a
 * connection request. Does not wait for the peer; operations may be posted at
 * once. UCS_ERR_UNREACHABLE: no transport of both sides connects them. */
ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t *params,
                           ucp_ep_h *ep_p);

/* Close an endpoint: flush it, or with UCP_EP_CLOSE_FLAG_FORCE in
 * param->flags (error mode PEER only) cancel what is open. The handle is dead
 * when the call returns, its error handler is not called again, and the
 * request ends without the peer's help. */
ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h                   ep,
                                  const ucp_request_param_t *param);

/* Flush: the operation ends when all before it on this endpoint have: sends
 * need nothing more from this side, puts and atomics are done in the peer's
 * memory, gets have arrived. */
ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h                   ep,
                                  const ucp_request_param_t *param);

/* Fill the fields of attr that attr->field_mask names. UCS_ERR_NOT_CONNECTED:
 * socket addresses were asked of an endpoint made from a worker address. */
ucs_status_t ucp_ep_query(ucp_ep_h ep, ucp_ep_attr_t *attr);

/* Print the endpoint for a person. */
void ucp_ep_print_info(ucp_ep_h ep, FILE *stream);

/* Estimate what a message would take. */
ucs_status_t ucp_ep_evaluate_perf(ucp_ep_h                            ep,
                                  const ucp_ep_evaluate_perf_param_t *param,
                                  ucp_ep_evaluate_perf_attr_t        *attr);

UCS_API_END

#endif
