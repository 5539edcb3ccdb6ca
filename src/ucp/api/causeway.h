/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/causeway.h - what Causeway has and UCX does not. A program that
 * includes it does not run on UCX: the linker says so. All names begin with
 * causeway_; handles, statuses and parameters are UCX's (docs/adr/0015). */
#ifndef UCP_API_CAUSEWAY_H_
#define UCP_API_CAUSEWAY_H_

#include <stddef.h>

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

UCS_API_END

#endif
