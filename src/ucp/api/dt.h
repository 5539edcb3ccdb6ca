/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/dt.h - datatypes: how a buffer is laid out (part of ucp/api/ucp.h).
 *
 * A datatype is a number. Contiguous: element size times 8; a message's count
 * is elements. Iov: 2; buffer points to ucp_dt_iov_t, count is how many.
 * Generic: a pointer to the library's copy of the callbacks, plus 7. */
#ifndef UCP_API_DT_H_
#define UCP_API_DT_H_

#include <ucp/api/ucp_def.h>

enum ucp_dt_type {
    UCP_DATATYPE_CONTIG     = 0,
    UCP_DATATYPE_STRIDED    = 1,
    UCP_DATATYPE_IOV        = 2,
    UCP_DATATYPE_GENERIC    = 7,
    UCP_DATATYPE_SHIFT      = 3,
    UCP_DATATYPE_CLASS_MASK = 7
};

#define ucp_dt_make_contig(_elem_size)                                         \
    (((ucp_datatype_t)(_elem_size) << UCP_DATATYPE_SHIFT) | UCP_DATATYPE_CONTIG)
#define ucp_dt_make_iov() ((ucp_datatype_t)UCP_DATATYPE_IOV)

/* A piece of an iov buffer; the array is lent until the operation ends. */
typedef struct ucp_dt_iov {
    void  *buffer;
    size_t length; /* bytes */
} ucp_dt_iov_t;

/* Callbacks of a generic datatype. Each operation makes one state (start_*)
 * and ends it (finish) exactly once, also when it fails or is cancelled.
 * They are called with the worker held and must not call into the library. */
typedef struct ucp_generic_dt_ops {
    /* Begin to read from buffer, or to write to it; returns the state. */
    void *(*start_pack)(void *context, const void *buffer, size_t count);
    void *(*start_unpack)(void *context, void *buffer, size_t count);
    /* Bytes of the whole message, or room for it. */
    size_t (*packed_size)(void *state);
    /* Write up to max_length bytes of the message at offset to dest; returns
     * how many, fewer only where the caller can cut. */
    size_t (*pack)(void *state, size_t offset, void *dest, size_t max_length);
    /* Take length bytes of the message at offset; offsets may come in any
     * order. An error becomes the receive's status. */
    ucs_status_t (*unpack)(void *state, size_t offset, const void *src,
                           size_t length);
    void (*finish)(void *state);
} ucp_generic_dt_ops_t;

enum ucp_datatype_attr_field {
    UCP_DATATYPE_ATTR_FIELD_PACKED_SIZE = UCS_BIT(0),
    UCP_DATATYPE_ATTR_FIELD_BUFFER      = UCS_BIT(1),
    UCP_DATATYPE_ATTR_FIELD_COUNT       = UCS_BIT(2)
};

typedef struct ucp_datatype_attr {
    uint64_t    field_mask;
    size_t      packed_size; /* out: bytes of a message */
    const void *buffer;      /* in; iov needs it */
    size_t      count;       /* in; default 1 */
} ucp_datatype_attr_t;

UCS_API_BEGIN

/* Make a datatype of callbacks; ops is copied, context is passed to the
 * start callbacks. ucp_dt_destroy releases it. */
ucs_status_t ucp_dt_create_generic(const ucp_generic_dt_ops_t *ops,
                                   void *context, ucp_datatype_t *datatype_p);

/* Release a generic datatype that no operation uses; others need none. */
void ucp_dt_destroy(ucp_datatype_t datatype);

/* Fill the output fields of attr that attr->field_mask names. */
ucs_status_t ucp_dt_query(ucp_datatype_t datatype, ucp_datatype_attr_t *attr);

UCS_API_END

#endif
