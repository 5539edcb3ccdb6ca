/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/rkey_wire.h - the right to a piece of memory as bytes.
 *
 *    0  magic 'C' 'k'      2  version 1     3  keys:1
 *    4  length of all:2    6  check of the bytes before (FNV-1a, folded):2
 *    8  name of the memory:8 (0: there is none, length 0)
 *   16  for each key
 *          length of the transport's name:1, name
 *          which of the owner's domains of that transport:1, as in addresses
 *          length:1, key as the transport wrote it
 *       at the end a checksum:4 (FNV-1a) over everything before
 *
 * Little endian, any alignment, pure. The checksum finds accidents; against
 * forgery stands that a transport's key is a random name, which its owner
 * looks up and checks against bounds and rights. */
#ifndef UCP_CORE_RKEY_WIRE_H_
#define UCP_CORE_RKEY_WIRE_H_

#include "ucp/api/ucp.h"
#include "uct/api/uct_def.h"

enum ucp_rkey_limit {
    UCP_RKEY_HEAD_BYTES    = 8, /* they say whether the rest is there */
    UCP_RKEY_HEADER_BYTES  = 16,
    UCP_RKEY_BYTES_MAX     = 1024, /* Open MPI's slots for dynamic windows */
    UCP_RKEY_KEY_COUNT_MAX = 64,
};

/* One transport's key; bytes is lent by whoever has the buffer. */
struct ucp_rkey_wire_key {
    char           transport[UCT_NAME_BYTES_MAX];
    uint8_t        domain;
    const uint8_t *bytes;
    size_t         size_bytes;
};

struct ucp_rkey_view {
    uint64_t                 name;
    unsigned                 key_count;
    struct ucp_rkey_wire_key keys[UCP_RKEY_KEY_COUNT_MAX];
};

/* Write a key. Those that no longer fit in UCP_RKEY_BYTES_MAX are left out.
 * @param bytes  [UCP_RKEY_BYTES_MAX]. @return its length. */
size_t ucp_rkey_encode(const struct ucp_rkey_view *view, uint8_t *bytes);

/* The length that a buffer says it has, at most UCP_RKEY_BYTES_MAX; not a key:
 * UCP_RKEY_HEAD_BYTES. Reads only that many. */
size_t ucp_rkey_buffer_length(const uint8_t *bytes);

/* Read a key; the view lends from bytes.
 * @return UCS_OK; UCS_ERR_INVALID_PARAM: no key, cut, or changed, with a
 *         sentence in reason [UCT_REASON_BYTES_MAX]. */
UCS_MUST_USE ucs_status_t ucp_rkey_decode(const uint8_t        *bytes,
                                          size_t                size_bytes,
                                          struct ucp_rkey_view *view_p,
                                          char                 *reason);

#endif
