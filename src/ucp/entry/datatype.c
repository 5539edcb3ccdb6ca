/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/entry/datatype.c - datatypes that the user describes by callbacks. */
#include <stdlib.h>

#include "ucp/dt/datatype.h"
#include "ucs/log.h"

ucs_status_t ucp_dt_create_generic(const ucp_generic_dt_ops_t *ops,
                                   void *context, ucp_datatype_t *datatype_p)
{
    struct ucp_dt_generic *dt;

    if ((ops == NULL) || (datatype_p == NULL)) {
        ucs_error("generic datatype: ops or datatype_p is NULL");
        return UCS_ERR_INVALID_PARAM;
    }
    /* The class lives in the low bits of the address. */
    dt = aligned_alloc(UCP_DATATYPE_CLASS_MASK + 1,
                       ucs_align_up(sizeof(*dt), UCP_DATATYPE_CLASS_MASK + 1));
    if (dt == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    dt->ops     = *ops;
    dt->context = context;
    *datatype_p = (ucp_datatype_t)(uintptr_t)dt | UCP_DATATYPE_GENERIC;
    return UCS_OK;
}

void ucp_dt_destroy(ucp_datatype_t datatype)
{
    if ((datatype & UCP_DATATYPE_CLASS_MASK) == UCP_DATATYPE_GENERIC) {
        free(ucp_dt_to_generic(datatype));
    }
}

ucs_status_t ucp_dt_query(ucp_datatype_t datatype, ucp_datatype_attr_t *attr)
{
    bool   has_count = (attr->field_mask & UCP_DATATYPE_ATTR_FIELD_COUNT) != 0;
    size_t count     = has_count ? attr->count : 1;
    const void *buffer = (attr->field_mask & UCP_DATATYPE_ATTR_FIELD_BUFFER) ?
                                 attr->buffer :
                                 NULL;
    struct ucp_dt_iter iter;
    ucs_status_t       status;

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
