/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/entry/rkey.c - keys to memory: giving them away, taking them. */
#include "ucp/core/rkey.h"

#include <stdlib.h>
#include <string.h>

#include "ucp/core/worker.h"
#include "ucp/entry/op.h"
#include "ucs/log.h"

static ucs_status_t pack(const struct ucp_mem *mem, void **buffer_p,
                         size_t *size_p)
{
    uint8_t bytes[UCP_RKEY_BYTES_MAX];
    size_t  length = ucp_rkey_write(mem, bytes);
    void   *buffer = malloc(length);

    if (buffer == NULL) {
        return ucsi_no_memory("a packed key", length);
    }
    memcpy(buffer, bytes, length);
    *buffer_p = buffer;
    *size_p   = length;
    return UCS_OK;
}

ucs_status_t ucp_rkey_pack(ucp_context_h context, ucp_mem_h memh,
                           void **rkey_buffer_p, size_t *size_p)
{
    if (ucp_op_is_null(__func__, context, memh, rkey_buffer_p, size_p)) {
        return UCS_ERR_INVALID_PARAM;
    }
    return pack(memh, rkey_buffer_p, size_p);
}

void ucp_rkey_buffer_release(void *rkey_buffer)
{
    free(rkey_buffer);
}

ucs_status_t ucp_memh_pack(ucp_mem_h memh, const ucp_memh_pack_params_t *params,
                           void **buffer_p, size_t *buffer_size_p)
{
    if (ucp_op_is_null(__func__, memh, params, buffer_p, buffer_size_p)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if ((params->field_mask & UCP_MEMH_PACK_PARAM_FIELD_FLAGS) &&
        (params->flags & UCP_MEMH_PACK_FLAG_EXPORT)) {
        return UCS_ERR_UNSUPPORTED; /* and programs ask to find that out */
    }
    return pack(memh, buffer_p, buffer_size_p);
}

void ucp_memh_buffer_release(void                                   *buffer,
                             const ucp_memh_buffer_release_params_t *params)
{
    (void)params;
    free(buffer);
}

ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h ep, const void *rkey_buffer,
                                ucp_rkey_h *rkey_p)
{
    const uint8_t *bytes = (const uint8_t *)rkey_buffer;
    ucs_status_t   status;

    if (ucp_op_is_null(__func__, ep, rkey_buffer, rkey_p)) {
        return UCS_ERR_INVALID_PARAM;
    }
    ucp_worker_enter(ep->worker);
    status = ucp_rkey_open(ep, bytes, ucp_rkey_buffer_length(bytes), rkey_p);
    ucp_worker_leave(ep->worker);
    return status;
}

void ucp_rkey_destroy(ucp_rkey_h rkey)
{
    if (ucp_op_is_null(__func__, rkey)) {
        return;
    }
    ucp_rkey_close(rkey);
}

ucs_status_t ucp_rkey_ptr(ucp_rkey_h rkey, uint64_t raddr, void **addr_p)
{
    if (ucp_op_is_null(__func__, rkey, addr_p)) {
        return UCS_ERR_INVALID_PARAM;
    }
    return ucp_rkey_pointer(rkey, raddr, addr_p);
}

/* By the memory's name, which two keys of one handle share; then by what they
 * can be used with. */
ucs_status_t ucp_rkey_compare(ucp_worker_h worker, ucp_rkey_h rkey1,
                              ucp_rkey_h                       rkey2,
                              const ucp_rkey_compare_params_t *params,
                              int                             *result)
{
    if (ucp_op_is_null(__func__, worker, rkey1, rkey2, params, result)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (params->field_mask != 0) {
        ucs_error("ucp_rkey_compare: unknown field_mask 0x%lx",
                  (unsigned long)params->field_mask);
        return UCS_ERR_INVALID_PARAM;
    }
    *result = (rkey1->name > rkey2->name) - (rkey1->name < rkey2->name);
    if (*result == 0) {
        *result = (rkey1->key_count > rkey2->key_count) -
                  (rkey1->key_count < rkey2->key_count);
    }
    return UCS_OK;
}
