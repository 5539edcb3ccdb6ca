/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/device/ucp_host.h - the host's part of communication that a GPU
 * starts. Here so that programs build; Causeway has no such device, the
 * calls say UCS_ERR_UNSUPPORTED. The list of memory that API 1.20 could
 * create was withdrawn in 1.21 and is not declared. */
#ifndef UCP_API_DEVICE_UCP_HOST_H_
#define UCP_API_DEVICE_UCP_HOST_H_

#include <ucp/api/ucp_def.h>

enum ucp_device_counter_params_field {
    UCP_DEVICE_COUNTER_PARAMS_FIELD_MEM_TYPE = UCS_BIT(0),
    UCP_DEVICE_COUNTER_PARAMS_FIELD_MEMH     = UCS_BIT(1)
};

typedef struct ucp_device_counter_params {
    uint64_t          field_mask;
    ucs_memory_type_t mem_type;
    ucp_mem_h         memh; /* of the memory around the counter */
} ucp_device_counter_params_t;

UCS_API_BEGIN

/* Release a list; does nothing with NULL. */
void ucp_device_mem_list_release(ucp_device_mem_list_handle_h handle);

/* Set a counter in device memory to 0, and read it. */
ucs_status_t ucp_device_counter_init(ucp_worker_h                       worker,
                                     const ucp_device_counter_params_t *params,
                                     void *counter_ptr);
uint64_t     ucp_device_counter_read(ucp_worker_h                       worker,
                                     const ucp_device_counter_params_t *params,
                                     void *counter_ptr);

UCS_API_END

#endif
