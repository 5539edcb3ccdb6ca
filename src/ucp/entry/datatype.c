/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/entry/datatype.c - datatypes that the user describes: by callbacks, or
 * by strides. */
#include <stdlib.h>

#include "ucp/dt/datatype.h"
#include "ucp/entry/op.h"
#include "ucs/log.h"

/* The class lives in the low bits of the address. */
static void *datatype_alloc(size_t size_bytes)
{
    enum { ALIGN_BYTES = UCP_DATATYPE_CLASS_MASK + 1 };

    return aligned_alloc(ALIGN_BYTES, ucs_align_up(size_bytes, ALIGN_BYTES));
}

ucs_status_t ucp_dt_create_generic(const ucp_generic_dt_ops_t *ops,
                                   void *context, ucp_datatype_t *datatype_p)
{
    struct ucp_dt_generic *dt;

    if (ucp_op_is_null(__func__, ops, datatype_p)) {
        return UCS_ERR_INVALID_PARAM;
    }
    dt = datatype_alloc(sizeof(*dt));
    if (dt == NULL) {
        return ucsi_no_memory("a generic datatype", sizeof(*dt));
    }
    dt->ops     = *ops;
    dt->context = context;
    *datatype_p = (ucp_datatype_t)(uintptr_t)dt | UCP_DATATYPE_GENERIC;
    return UCS_OK;
}

ucs_status_t causeway_dt_create_strided(size_t                     block_bytes,
                                        const causeway_dt_level_t *levels,
                                        unsigned                   level_count,
                                        size_t                     extent_bytes,
                                        ucp_datatype_t            *datatype_p)
{
    struct ucp_dt_strided *dt;
    ucs_status_t           status;

    if (ucp_op_is_null(__func__, datatype_p)) {
        return UCS_ERR_INVALID_PARAM;
    }
    dt = datatype_alloc(sizeof(*dt));
    if (dt == NULL) {
        return ucsi_no_memory("a strided datatype", sizeof(*dt));
    }
    status =
        ucp_dt_strided_init(dt, block_bytes, levels, level_count, extent_bytes);
    if (status != UCS_OK) {
        free(dt);
        return status;
    }
    *datatype_p = (ucp_datatype_t)(uintptr_t)dt | UCP_DATATYPE_STRIDED;
    return UCS_OK;
}

void ucp_dt_destroy(ucp_datatype_t datatype)
{
    ucp_datatype_t dt_class = datatype & UCP_DATATYPE_CLASS_MASK;

    if ((dt_class == UCP_DATATYPE_GENERIC) ||
        (dt_class == UCP_DATATYPE_STRIDED)) {
        free(ucp_dt_object(datatype));
    }
}

ucs_status_t ucp_dt_query(ucp_datatype_t datatype, ucp_datatype_attr_t *attr)
{
    size_t             count  = 1;
    const void        *buffer = NULL;
    struct ucp_dt_iter iter;
    ucs_status_t       status;

    if (ucp_op_is_null(__func__, attr)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (attr->field_mask & UCP_DATATYPE_ATTR_FIELD_COUNT) {
        count = attr->count;
    }
    if (attr->field_mask & UCP_DATATYPE_ATTR_FIELD_BUFFER) {
        buffer = attr->buffer;
    }
    if (!(attr->field_mask & UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE)) {
        return UCS_OK;
    }
    status = ucp_dt_iter_init_send(&iter, buffer, count, datatype);
    if (status == UCS_OK) {
        attr->packed_size = iter.length;
        ucp_dt_iter_cleanup(&iter);
    }
    return status;
}
