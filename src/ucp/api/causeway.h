/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/causeway.h - what Causeway has and UCX does not. A program that
 * includes it does not run on UCX: the linker says so. All names begin with
 * causeway_; handles, statuses and parameters are UCX's (docs/adr/0015). */
#ifndef UCP_API_CAUSEWAY_H_
#define UCP_API_CAUSEWAY_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <ucp/api/ucp.h>

#define CAUSEWAY 1

/* ---- strided datatypes: UCP_DATATYPE_STRIDED ---- */

enum { CAUSEWAY_DT_LEVEL_COUNT_MAX = 2 };

/* Equal pieces at equal distances.
 * count         of the level below (of blocks for level 0), at least 1
 * stride_bytes  from the begin of one to the begin of the next; not negative,
 *               and no less than a piece spans */
typedef struct causeway_dt_level {
    size_t    count;
    ptrdiff_t stride_bytes;
} causeway_dt_level_t;

/* ---- buffered sends ---- */

enum {
    /* What a message takes of the attached buffer beside its packed data: a
     * buffer holds messages as long as these sums do not exceed its size,
     * counted from empty. After messages went in another order than they came
     * in, room may be there but not in one piece. */
    CAUSEWAY_BUFFERED_OVERHEAD_BYTES = 64
};

enum causeway_buffer_attr_field {
    CAUSEWAY_BUFFER_ATTR_FIELD_SIZE = UCS_BIT(0),
    CAUSEWAY_BUFFER_ATTR_FIELD_USED = UCS_BIT(1),
    CAUSEWAY_BUFFER_ATTR_FIELD_LOST = UCS_BIT(2)
};

/* size_bytes        of the attached buffer, 0: none
 * used_bytes/count  what waits in it; bytes with overhead
 * lost_count/bytes  messages, since the worker was created, that their
 *                   receiver will not get although their send returned NULL:
 *                   the peer died, or the endpoint was closed before a match */
typedef struct causeway_buffer_attr {
    uint64_t field_mask;
    size_t   size_bytes;
    size_t   used_bytes;
    size_t   used_count;
    uint64_t lost_count;
    uint64_t lost_bytes;
} causeway_buffer_attr_t;

UCS_API_BEGIN

/* Make a datatype of blocks at equal distances: a column of a matrix is one
 * level, a face of a cube two.
 *
 *   4 rows of a matrix of doubles, 3 columns wide, in rows of 100:
 *   block_bytes 3 * 8, levels {{4, 100 * 8}}
 *
 * A message of count elements has them extent_bytes apart; 0: the pattern goes
 * on, level_count's last count times its stride. Use it on either side, with
 * any datatype on the other; release it with ucp_dt_destroy().
 * @param levels  [level_count] innermost first; borrowed.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM: empty blocks or levels, negative
 *         strides, pieces that overlap or interleave, a size beyond the
 *         address space (one line says which); UCS_ERR_NO_MEMORY. */
ucs_status_t causeway_dt_create_strided(size_t                     block_bytes,
                                        const causeway_dt_level_t *levels,
                                        unsigned                   level_count,
                                        size_t                     extent_bytes,
                                        ucp_datatype_t            *datatype_p);

/* ---- modes of sending ---- */

/* Send as ucp_tag_send_nbx(), and promise that the receive is posted already.
 * It may not be there: then the message waits for it like any other. */
ucs_status_ptr_t causeway_tag_send_ready_nbx(ucp_ep_h ep, const void *buffer,
                                             size_t count, ucp_tag_t tag,
                                             const ucp_request_param_t *param);

/* Send out of the buffer that is attached to the worker: the operation is over
 * when the call is, and the user's buffer is free. What the transport does not
 * take inside the call is copied into the attached buffer first. Room for the
 * whole message and CAUSEWAY_BUFFERED_OVERHEAD_BYTES is asked for even if the
 * transport would take it all.
 * @return NULL (a complete request with UCP_OP_ATTR_FLAG_NO_IMM_CMPL), or,
 *         with nothing sent: UCS_ERR_NO_RESOURCE (no room now),
 *         UCS_ERR_EXCEEDS_LIMIT (larger than the buffer), UCS_ERR_NO_ELEM (no
 *         buffer is attached), or what ucp_tag_send_nbx() may return.
 * If the peer dies later, the endpoint's error handler tells, and the message
 * is counted as lost. Closing the endpoint takes back what its receiver has
 * not matched: detach first. */
ucs_status_ptr_t
causeway_tag_send_buffered_nbx(ucp_ep_h ep, const void *buffer, size_t count,
                               ucp_tag_t tag, const ucp_request_param_t *param);

/* Lend a buffer to buffered sends of all endpoints of a worker, until it is
 * detached or the worker is destroyed.
 * @param buffer  [size_bytes] of any alignment.
 * @return UCS_OK; UCS_ERR_ALREADY_EXISTS: one is attached;
 *         UCS_ERR_BUFFER_TOO_SMALL: not even an empty message fits;
 *         UCS_ERR_INVALID_PARAM: NULL. */
ucs_status_t causeway_worker_attach_buffer(ucp_worker_h worker, void *buffer,
                                           size_t size_bytes);

/* Take the buffer back when it is drained: when its messages are sent, which
 * for large ones is after their match, or lost. Until then it takes no more.
 * @return NULL: it is; a request, which completes when it is; or
 *         UCS_ERR_NO_ELEM: none is attached; UCS_ERR_BUSY: another call waits
 *         for that. */
ucs_status_ptr_t
causeway_worker_detach_buffer_nbx(ucp_worker_h               worker,
                                  const ucp_request_param_t *param);

/* The same, and progress the worker until then.
 * @param buffer_p, size_bytes_p  Set to what was attached; may be NULL. */
ucs_status_t causeway_worker_detach_buffer(ucp_worker_h worker, void **buffer_p,
                                           size_t *size_bytes_p);

/* Fill the fields of attr that attr->field_mask names. */
ucs_status_t causeway_worker_query_buffer(ucp_worker_h            worker,
                                          causeway_buffer_attr_t *attr);

/* ---- explaining: why messages go the way they go ---- */

enum causeway_explain_field {
    CAUSEWAY_EXPLAIN_FIELD_MODE          = 1 << 0,
    CAUSEWAY_EXPLAIN_FIELD_DATATYPE      = 1 << 1,
    CAUSEWAY_EXPLAIN_FIELD_BYTES         = 1 << 2,
    CAUSEWAY_EXPLAIN_FIELD_FLAGS         = 1 << 3,
    CAUSEWAY_EXPLAIN_FIELD_OPERATION     = 1 << 4,
    CAUSEWAY_EXPLAIN_FIELD_MEMORY        = 1 << 5,
    CAUSEWAY_EXPLAIN_FIELD_RECV_DATATYPE = 1 << 6,
    CAUSEWAY_EXPLAIN_FIELD_PIECE_BYTES   = 1 << 7
};

enum causeway_explain_flag {
    CAUSEWAY_EXPLAIN_FLAG_JSON = 1 << 0 /* one JSON object a line */
};

/* What to explain; without a field: all of that kind.
 * mode           "standard", "sync", "ready", "buffered"
 * datatype       "contig", "iov", "generic", "strided"; "iov-long": with more
 *                entries than the lane takes at once
 * bytes          only messages of this size
 * operation      "tag", which also is meant without it; "am", "stream", "put",
 *                "get", "atomic" once libucp does them
 * memory         "host", which also is meant without it, or "mapped"
 * recv_datatype  of the receiver, who has the final word; without it, that is
 *                left open
 * piece_bytes    what a piece of an iov or of strided data has on average;
 *                without it, or 0: 4096 */
typedef struct causeway_explain_params {
    uint64_t    field_mask;
    const char *mode;
    const char *datatype;
    size_t      bytes;
    unsigned    flags;
    const char *operation;
    const char *memory;
    const char *recv_datatype;
    size_t      piece_bytes;
} causeway_explain_params_t;

/* Write to stream which lanes an endpoint has, why each other interface was
 * refused and which setting would change it, what each side may do to the
 * other one's memory, the protocol for each range of sizes with its cost, and
 * why each other protocol lost. docs/guides/explain.md shows how to read it.
 * @param params  NULL: everything, as text.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM: no such mode, datatype, operation or
 *         memory, one line says so; UCS_ERR_UNSUPPORTED: an operation that
 *         libucp does not do yet, likewise; UCS_ERR_UNREACHABLE: the endpoint
 * has no lane, which is explained; UCS_ERR_NO_MEMORY. */
ucs_status_t causeway_ep_explain(ucp_ep_h                         ep,
                                 const causeway_explain_params_t *params,
                                 FILE                            *stream);

/* The same for an endpoint that this worker would make to that address. None
 * is made, so what each side may do to the other's memory is not known.
 * @param address  [length] of any worker, borrowed; need not live.
 * @return as above; UCS_ERR_INVALID_ADDR: no address of Causeway. */
ucs_status_t causeway_address_explain(ucp_worker_h                     worker,
                                      const ucp_address_t             *address,
                                      size_t                           length,
                                      const causeway_explain_params_t *params,
                                      FILE                            *stream);

UCS_API_END

#endif
