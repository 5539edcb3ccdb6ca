/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/listener.h - client and server (part of ucp/api/ucp.h). */
#ifndef UCP_API_LISTENER_H_
#define UCP_API_LISTENER_H_

#include <ucp/api/ucp_def.h>

enum ucp_listener_params_field {
    UCP_LISTENER_PARAM_FIELD_SOCK_ADDR      = UCS_BIT(0),
    UCP_LISTENER_PARAM_FIELD_ACCEPT_HANDLER = UCS_BIT(1),
    UCP_LISTENER_PARAM_FIELD_CONN_HANDLER   = UCS_BIT(2)
};

/* Older form: the endpoint is made by the library. */
typedef struct ucp_listener_accept_handler {
    ucp_listener_accept_callback_t cb;
    void                          *arg;
} ucp_listener_accept_handler_t;

typedef struct ucp_listener_params {
    uint64_t                      field_mask;
    ucs_sock_addr_t               sockaddr;       /* port 0: any free one */
    ucp_listener_accept_handler_t accept_handler; /* this one, */
    ucp_listener_conn_handler_t   conn_handler;   /* or this one */
} ucp_listener_params_t;

enum ucp_listener_attr_field { UCP_LISTENER_ATTR_FIELD_SOCKADDR = UCS_BIT(0) };

typedef struct ucp_listener_attr {
    uint64_t                field_mask;
    struct sockaddr_storage sockaddr; /* with the real port */
} ucp_listener_attr_t;

enum ucp_conn_request_attr_field {
    UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ADDR = UCS_BIT(0),
    UCP_CONN_REQUEST_ATTR_FIELD_CLIENT_ID   = UCS_BIT(1)
};

typedef struct ucp_conn_request_attr {
    uint64_t                field_mask;
    struct sockaddr_storage client_address;
    uint64_t                client_id; /* if the client sends it */
} ucp_conn_request_attr_t;

UCS_API_BEGIN

/* Listen on a socket address; the handler is called from the worker's
 * progress. UCS_ERR_BUSY: the port is taken. */
ucs_status_t ucp_listener_create(ucp_worker_h                 worker,
                                 const ucp_listener_params_t *params,
                                 ucp_listener_h              *listener_p);

/* Stop listening; what was not delivered is rejected. */
void ucp_listener_destroy(ucp_listener_h listener);

/* Fill the fields of attr that attr->field_mask names. */
ucs_status_t ucp_listener_query(ucp_listener_h       listener,
                                ucp_listener_attr_t *attr);
ucs_status_t ucp_conn_request_query(ucp_conn_request_h       conn_request,
                                    ucp_conn_request_attr_t *attr);

/* Refuse a client, which learns UCS_ERR_REJECTED; conn_request is given. */
ucs_status_t ucp_listener_reject(ucp_listener_h     listener,
                                 ucp_conn_request_h conn_request);

UCS_API_END

#endif
