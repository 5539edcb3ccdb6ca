/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/ucp_def.h - handles, callbacks and the types that several parts of
 * the API share. Programs include ucp/api/ucp.h. */
#ifndef UCP_DEF_H_
#define UCP_DEF_H_

#include <stddef.h>
#include <stdint.h>

#include <ucs/config/types.h>
#include <ucs/memory/memory_type.h>
#include <ucs/type/status.h>

/* Handles. All are opaque; who creates one releases it. */
typedef struct ucp_context  *ucp_context_h; /* devices, memory, settings */
typedef struct ucp_config    ucp_config_t;  /* settings before a context */
typedef struct ucp_worker   *ucp_worker_h;  /* one progress engine */
typedef struct ucp_ep       *ucp_ep_h;      /* one peer, seen by one worker */
typedef struct ucp_address   ucp_address_t; /* a worker's address, as bytes */
typedef struct ucp_mem      *ucp_mem_h;     /* memory known to a context */
typedef struct ucp_rkey     *ucp_rkey_h;    /* the right to a peer's memory */
typedef struct ucp_listener *ucp_listener_h;
typedef struct ucp_conn_request *ucp_conn_request_h;
typedef struct ucp_recv_desc    *ucp_tag_message_h; /* a probed message */
typedef struct ucp_device_mem_list_handle *ucp_device_mem_list_handle_h;

typedef uint64_t ucp_tag_t;
typedef uint64_t ucp_datatype_t; /* see ucp_dt_make_contig and the like */

typedef struct ucp_tag_recv_info ucp_tag_recv_info_t;
typedef struct ucp_am_recv_param ucp_am_recv_param_t;

#define UCP_ENTITY_NAME_MAX 32 /* bytes of a name, with its 0 */

/* What an endpoint does when its peer fails. */
typedef enum {
    UCP_ERR_HANDLING_MODE_NONE = 0, /* operations fail, nothing is reported */
    UCP_ERR_HANDLING_MODE_PEER = 1  /* and the error handler is called once */
} ucp_err_handling_mode_t;

/* Callbacks. They run inside ucp_worker_progress, or inside the call that
 * posts the operation where that call says so; they may post operations but
 * not call progress or anything that waits. */

/* Set up, tear down the caller's part of a request: once in the life of that
 * memory, not once an operation. */
typedef void (*ucp_request_init_callback_t)(void *request);
typedef void (*ucp_request_cleanup_callback_t)(void *request);

/* An operation that sends ended. */
typedef void (*ucp_send_nbx_callback_t)(void *request, ucs_status_t status,
                                        void *user_data);
/* A tagged receive ended; tag_info is valid during the call. */
typedef void (*ucp_tag_recv_nbx_callback_t)(void *request, ucs_status_t status,
                                            const ucp_tag_recv_info_t *tag_info,
                                            void *user_data);
/* A stream receive ended with length bytes. */
typedef void (*ucp_stream_recv_nbx_callback_t)(void        *request,
                                               ucs_status_t status,
                                               size_t length, void *user_data);
/* ucp_am_recv_data_nbx ended with length bytes. */
typedef void (*ucp_am_recv_data_nbx_callback_t)(void        *request,
                                                ucs_status_t status,
                                                size_t length, void *user_data);

/* An active message came. header is lent for the call; data too, unless
 * param says UCP_AM_RECV_ATTR_FLAG_DATA and UCS_INPROGRESS is returned. */
typedef ucs_status_t (*ucp_am_recv_callback_t)(
    void *arg, const void *header, size_t header_length, void *data,
    size_t length, const ucp_am_recv_param_t *param);

/* The peer of ep failed. Called at most once an endpoint, never after close
 * began; arg is ucp_ep_params.user_data if given, else ucp_err_handler.arg. */
typedef void (*ucp_err_handler_cb_t)(void *arg, ucp_ep_h ep,
                                     ucs_status_t status);
typedef struct ucp_err_handler {
    ucp_err_handler_cb_t cb;
    void                *arg;
} ucp_err_handler_t;

/* A client asks for a connection: answer with ucp_ep_create or
 * ucp_listener_reject, now or later. */
typedef void (*ucp_listener_conn_callback_t)(ucp_conn_request_h conn_request,
                                             void              *arg);
typedef struct ucp_listener_conn_handler {
    ucp_listener_conn_callback_t cb;
    void                        *arg;
} ucp_listener_conn_handler_t;

/* The callback types of the older calls (ucp_compat.h). */
typedef void (*ucp_send_callback_t)(void *request, ucs_status_t status);
typedef void (*ucp_tag_recv_callback_t)(void *request, ucs_status_t status,
                                        ucp_tag_recv_info_t *info);
typedef void (*ucp_stream_recv_callback_t)(void *request, ucs_status_t status,
                                           size_t length);
typedef void (*ucp_listener_accept_callback_t)(ucp_ep_h ep, void *arg);
typedef ucs_status_t (*ucp_am_callback_t)(void *arg, void *data, size_t length,
                                          ucp_ep_h reply_ep, unsigned flags);

/* What wakes a worker that sleeps (ucp_worker_params.events). */
typedef enum ucp_wakeup_event_types {
    UCP_WAKEUP_RMA      = UCS_BIT(0),
    UCP_WAKEUP_AMO      = UCS_BIT(1),
    UCP_WAKEUP_TAG_SEND = UCS_BIT(2),
    UCP_WAKEUP_TAG_RECV = UCS_BIT(3),
    UCP_WAKEUP_TX       = UCS_BIT(10), /* any send */
    UCP_WAKEUP_RX       = UCS_BIT(11), /* any receive */
    UCP_WAKEUP_EDGE     = UCS_BIT(16)  /* the descriptor is edge triggered */
} ucp_wakeup_event_t;

/* Arguments of ucp_ep_create; field_mask has UCP_EP_PARAM_FIELD_* bits. */
typedef struct ucp_ep_params {
    uint64_t                field_mask;
    const ucp_address_t    *address;  /* of the peer's worker; lent */
    ucp_err_handling_mode_t err_mode; /* default NONE */
    ucp_err_handler_t       err_handler;
    void                   *user_data;
    unsigned                flags;        /* UCP_EP_PARAMS_FLAGS_* */
    ucs_sock_addr_t         sockaddr;     /* of a listener; lent */
    ucp_conn_request_h      conn_request; /* given */
    const char             *name;         /* lent */
    ucs_sock_addr_t         local_sockaddr;
} ucp_ep_params_t;

/* Arguments and answer of ucp_mem_query; UCP_MEM_ATTR_FIELD_* bits. */
typedef struct ucp_mem_attr {
    uint64_t          field_mask;
    void             *address;
    size_t            length; /* at least what was asked for */
    ucs_memory_type_t mem_type;
} ucp_mem_attr_t;

enum ucp_mem_attr_field {
    UCP_MEM_ATTR_FIELD_ADDRESS  = UCS_BIT(0),
    UCP_MEM_ATTR_FIELD_LENGTH   = UCS_BIT(1),
    UCP_MEM_ATTR_FIELD_MEM_TYPE = UCS_BIT(2)
};

#endif
