/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/mem.h - memory that peers may reach (part of ucp/api/ucp.h). */
#ifndef UCP_API_MEM_H_
#define UCP_API_MEM_H_

#include <stdio.h>

#include <ucp/api/ucp_def.h>

enum ucp_mem_map_params_field {
    UCP_MEM_MAP_PARAM_FIELD_ADDRESS              = UCS_BIT(0),
    UCP_MEM_MAP_PARAM_FIELD_LENGTH               = UCS_BIT(1),
    UCP_MEM_MAP_PARAM_FIELD_FLAGS                = UCS_BIT(2),
    UCP_MEM_MAP_PARAM_FIELD_PROT                 = UCS_BIT(3),
    UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE          = UCS_BIT(4),
    UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER = UCS_BIT(5)
};

enum {
    UCP_MEM_MAP_NONBLOCK       = UCS_BIT(0), /* register lazily; a hint */
    UCP_MEM_MAP_ALLOCATE       = UCS_BIT(1), /* the library allocates */
    UCP_MEM_MAP_FIXED          = UCS_BIT(2), /* exactly at address */
    UCP_MEM_MAP_SYMMETRIC_RKEY = UCS_BIT(3), /* keys may be equal; a hint */
    UCP_MEM_MAP_LOCK           = UCS_BIT(4)  /* keep the pages in memory */
};

enum {
    UCP_MEM_MAP_PROT_LOCAL_READ   = UCS_BIT(0),
    UCP_MEM_MAP_PROT_LOCAL_WRITE  = UCS_BIT(1),
    UCP_MEM_MAP_PROT_REMOTE_READ  = UCS_BIT(8),
    UCP_MEM_MAP_PROT_REMOTE_WRITE = UCS_BIT(9)
};

typedef struct ucp_mem_map_params {
    uint64_t          field_mask;
    void             *address;
    size_t            length; /* bytes; 0 makes a handle to nothing */
    unsigned          flags;  /* UCP_MEM_MAP_* */
    unsigned          prot;   /* UCP_MEM_MAP_PROT_*; default all */
    ucs_memory_type_t memory_type;
    const void       *exported_memh_buffer; /* of ucp_memh_pack; lent */
} ucp_mem_map_params_t;

typedef enum ucp_mem_advice {
    UCP_MADV_NORMAL   = 0,
    UCP_MADV_WILLNEED = 1
} ucp_mem_advice_t;

enum ucp_mem_advise_params_field {
    UCP_MEM_ADVISE_PARAM_FIELD_ADDRESS = UCS_BIT(0),
    UCP_MEM_ADVISE_PARAM_FIELD_LENGTH  = UCS_BIT(1),
    UCP_MEM_ADVISE_PARAM_FIELD_ADVICE  = UCS_BIT(2)
};

typedef struct ucp_mem_advise_params {
    uint64_t         field_mask;
    void            *address;
    size_t           length;
    ucp_mem_advice_t advice;
} ucp_mem_advise_params_t;

enum ucp_memh_pack_params_field {
    UCP_MEMH_PACK_PARAM_FIELD_FLAGS = UCS_BIT(0)
};

enum ucp_memh_pack_flags {
    UCP_MEMH_PACK_FLAG_EXPORT = UCS_BIT(0) /* for another process's mem_map */
};

typedef struct ucp_memh_pack_params {
    uint64_t field_mask;
    uint64_t flags; /* UCP_MEMH_PACK_FLAG_* */
} ucp_memh_pack_params_t;

typedef struct ucp_memh_buffer_release_params {
    uint64_t field_mask; /* 0 */
} ucp_memh_buffer_release_params_t;

typedef struct ucp_rkey_compare_params {
    uint64_t field_mask; /* 0 */
} ucp_rkey_compare_params_t;

UCS_API_BEGIN

/* Make memory known: the caller's at address, or with UCP_MEM_MAP_ALLOCATE
 * new memory, whose address ucp_mem_query tells. ucp_mem_unmap undoes it. */
ucs_status_t ucp_mem_map(ucp_context_h               context,
                         const ucp_mem_map_params_t *params, ucp_mem_h *memh_p);
ucs_status_t ucp_mem_unmap(ucp_context_h context, ucp_mem_h memh);

/* Fill the fields of attr that attr->field_mask names. */
ucs_status_t ucp_mem_query(const ucp_mem_h memh, ucp_mem_attr_t *attr);

/* Allocate mem_size bytes ("1m"), print what that gave, and release them. */
void ucp_mem_print_info(const char *mem_size, ucp_context_h context,
                        FILE *stream);

/* Tell how the memory will be used; a hint. */
ucs_status_t ucp_mem_advise(ucp_context_h context, ucp_mem_h memh,
                            ucp_mem_advise_params_t *params);

/* Make the bytes that let a peer reach the memory, or import it (EXPORT).
 * ucp_memh_buffer_release frees them. */
ucs_status_t ucp_memh_pack(ucp_mem_h memh, const ucp_memh_pack_params_t *params,
                           void **buffer_p, size_t *buffer_size_p);
void         ucp_memh_buffer_release(void                                   *buffer,
                                     const ucp_memh_buffer_release_params_t *params);

/* Make a key of a peer's bytes, for use with this endpoint's peer only.
 * UCS_ERR_UNREACHABLE: no transport to it can use the key. */
ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h ep, const void *rkey_buffer,
                                ucp_rkey_h *rkey_p);
void         ucp_rkey_destroy(ucp_rkey_h rkey);

/* Give an address at which this process can load and store the peer's raddr.
 * UCS_ERR_UNREACHABLE: it cannot. */
ucs_status_t ucp_rkey_ptr(ucp_rkey_h rkey, uint64_t raddr, void **addr_p);

/* Order two keys of one worker: *result is below, equal to or above 0. */
ucs_status_t ucp_rkey_compare(ucp_worker_h worker, ucp_rkey_h rkey1,
                              ucp_rkey_h                       rkey2,
                              const ucp_rkey_compare_params_t *params,
                              int                             *result);

UCS_API_END

#endif
