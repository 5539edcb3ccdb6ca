/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/worker.h - workers, sleeping, flush (part of ucp/api/ucp.h). */
#ifndef UCP_API_WORKER_H_
#define UCP_API_WORKER_H_

#include <stdio.h>

#include <ucp/api/request.h>
#include <ucp/api/ucp_def.h>
#include <ucs/type/cpu_set.h>
#include <ucs/type/thread_mode.h>

enum ucp_worker_params_field {
    UCP_WORKER_PARAM_FIELD_THREAD_MODE  = UCS_BIT(0),
    UCP_WORKER_PARAM_FIELD_CPU_MASK     = UCS_BIT(1),
    UCP_WORKER_PARAM_FIELD_EVENTS       = UCS_BIT(2),
    UCP_WORKER_PARAM_FIELD_USER_DATA    = UCS_BIT(3),
    UCP_WORKER_PARAM_FIELD_EVENT_FD     = UCS_BIT(4),
    UCP_WORKER_PARAM_FIELD_FLAGS        = UCS_BIT(5),
    UCP_WORKER_PARAM_FIELD_NAME         = UCS_BIT(6),
    UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT = UCS_BIT(7),
    UCP_WORKER_PARAM_FIELD_CLIENT_ID    = UCS_BIT(8)
};

typedef enum {
    UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK = UCS_BIT(0) /* no warning at destroy */
} ucp_worker_flags_t;

typedef struct ucp_worker_params {
    uint64_t          field_mask;   /* UCP_WORKER_PARAM_FIELD_* */
    ucs_thread_mode_t thread_mode;  /* default SINGLE */
    ucs_cpu_set_t     cpu_mask;     /* where the worker will run; a hint */
    unsigned          events;       /* UCP_WAKEUP_*; default all */
    void             *user_data;    /* of the event_fd: epoll_data.ptr */
    int               event_fd;     /* an epoll descriptor to add to; lent */
    uint64_t          flags;        /* UCP_WORKER_FLAG_* */
    const char       *name;         /* lent */
    size_t            am_alignment; /* of the data of active messages */
    uint64_t          client_id;    /* told to a listener that asks for it */
} ucp_worker_params_t;

enum ucp_worker_attr_field {
    UCP_WORKER_ATTR_FIELD_THREAD_MODE     = UCS_BIT(0),
    UCP_WORKER_ATTR_FIELD_ADDRESS         = UCS_BIT(1),
    UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS   = UCS_BIT(2),
    UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER   = UCS_BIT(3),
    UCP_WORKER_ATTR_FIELD_NAME            = UCS_BIT(4),
    UCP_WORKER_ATTR_FIELD_MAX_INFO_STRING = UCS_BIT(5)
};

typedef enum {
    UCP_WORKER_ADDRESS_FLAG_NET_ONLY = UCS_BIT(0) /* only between hosts */
} ucp_worker_address_flags_t;

typedef struct ucp_worker_attr {
    uint64_t          field_mask; /* UCP_WORKER_ATTR_FIELD_* */
    ucs_thread_mode_t thread_mode;
    uint32_t          address_flags; /* in: UCP_WORKER_ADDRESS_FLAG_* */
    ucp_address_t    *address;       /* ucp_worker_release_address frees it */
    size_t            address_length;
    size_t            max_am_header;
    char              name[UCP_ENTITY_NAME_MAX];
    size_t            max_debug_string; /* for ucp_request_query */
} ucp_worker_attr_t;

enum ucp_worker_address_attr_field {
    UCP_WORKER_ADDRESS_ATTR_FIELD_UID = UCS_BIT(0)
};

typedef struct ucp_worker_address_attr {
    uint64_t field_mask;
    uint64_t worker_uid; /* differs between any two workers */
} ucp_worker_address_attr_t;

UCS_API_BEGIN

/* Create a worker. A lower thread mode than asked for may be granted: query
 * it. */
ucs_status_t ucp_worker_create(ucp_context_h              context,
                               const ucp_worker_params_t *params,
                               ucp_worker_h              *worker_p);

/* Destroy a worker and what is left of its endpoints; operations that are
 * still open end without their callbacks. Needs nothing of any peer. Inside a
 * callback of the worker it does nothing, and says so. */
void ucp_worker_destroy(ucp_worker_h worker);

/* Fill the fields of attr that attr->field_mask names. */
ucs_status_t ucp_worker_query(ucp_worker_h worker, ucp_worker_attr_t *attr);

/* Print the worker for a person. */
void ucp_worker_print_info(ucp_worker_h worker, FILE *stream);

/* Release an address that ucp_worker_query or ucp_worker_get_address gave. */
void ucp_worker_release_address(ucp_worker_h worker, ucp_address_t *address);

/* Tell about the worker that an address names; address is lent. */
ucs_status_t ucp_worker_address_query(ucp_address_t             *address,
                                      ucp_worker_address_attr_t *attr);

/* Move everything on as far as it goes without waiting, and run callbacks.
 * Returns how much happened, 0 if nothing. Inside a callback nothing happens
 * and one line says so; calls that wait return UCS_ERR_BUSY there. */
unsigned ucp_worker_progress(ucp_worker_h worker);

/* Sleeping needs UCP_FEATURE_WAKEUP, else UCS_ERR_INVALID_PARAM. The pattern:
 * progress until it returns 0; ucp_worker_arm; on UCS_OK poll the descriptor,
 * on UCS_ERR_BUSY progress again. */

/* Give the descriptor that becomes readable; it stays the worker's.
 * UCS_ERR_UNSUPPORTED: the worker uses the caller's event_fd. */
ucs_status_t ucp_worker_get_efd(ucp_worker_h worker, int *fd);
ucs_status_t ucp_worker_arm(ucp_worker_h worker);
/* Arm and sleep; returns UCS_OK also when there was no need to sleep. */
ucs_status_t ucp_worker_wait(ucp_worker_h worker);
/* Pause until the word at address may have changed. */
void ucp_worker_wait_mem(ucp_worker_h worker, void *address);
/* Wake a thread that sleeps, or that is about to. Any thread may call. */
ucs_status_t ucp_worker_signal(ucp_worker_h worker);

/* Let later operations take effect at a peer only after the earlier puts and
 * atomics, and after the earlier gets have arrived here. */
ucs_status_t ucp_worker_fence(ucp_worker_h worker);

/* Flush all endpoints (see ucp_ep_flush_nbx); succeeds though one failed. */
ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h               worker,
                                      const ucp_request_param_t *param);

UCS_API_END

#endif
