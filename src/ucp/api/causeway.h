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

/* ---- explaining: why messages go the way they go ---- */

enum causeway_explain_field {
    CAUSEWAY_EXPLAIN_FIELD_MODE     = 1 << 0,
    CAUSEWAY_EXPLAIN_FIELD_DATATYPE = 1 << 1,
    CAUSEWAY_EXPLAIN_FIELD_BYTES    = 1 << 2,
    CAUSEWAY_EXPLAIN_FIELD_FLAGS    = 1 << 3
};

enum causeway_explain_flag {
    CAUSEWAY_EXPLAIN_FLAG_JSON = 1 << 0 /* one JSON object a line */
};

/* What to explain; without a field: all of that kind.
 * mode      "standard", "sync", "ready", "buffered"
 * datatype  "contig", "iov", "generic", "strided"
 * bytes     only messages of this size */
typedef struct causeway_explain_params {
    uint64_t    field_mask;
    const char *mode;
    const char *datatype;
    size_t      bytes;
    unsigned    flags;
} causeway_explain_params_t;

/* Write to stream which lanes an endpoint has, why each other interface was
 * refused and which setting would change it, what each side may do to the
 * other one's memory, the protocol for each range of sizes with its cost, and
 * why each other protocol lost. docs/guides/explain.md shows how to read it.
 * @param params  NULL: everything, as text.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM: no such mode or datatype, one line
 *         says so; UCS_ERR_UNREACHABLE: the endpoint has no lane, which is
 *         explained; UCS_ERR_NO_MEMORY. */
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
