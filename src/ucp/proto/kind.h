/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/kind.h - what data counts as when a protocol is chosen: a kind, and
 * for data in pieces the length of a piece. */
#ifndef UCP_PROTO_KIND_H_
#define UCP_PROTO_KIND_H_

#include "ucp/dt/datatype.h"

/* The kinds: a class of datatypes each, but UCP_DT_IOV is an iov or a strided
 * type with so few entries that one message of the lane takes them, an iov with
 * more is long, and a strided type with more is UCP_DT_STRIDED: registered
 * once. */
enum {
    UCP_DT_IOV_LONG   = UCP_DT_CLASS_COUNT,
    UCP_DT_KIND_COUNT = UCP_DT_CLASS_COUNT + 1
};

/* Does data of this kind lie in pieces? */
static inline bool ucp_dt_kind_has_pieces(int dt_kind)
{
    return (dt_kind == UCP_DT_IOV) || (dt_kind == UCP_DT_STRIDED) ||
           (dt_kind == UCP_DT_IOV_LONG);
}

/* Data in pieces has a table for each length of a piece: 64 KiB or more, 16 KiB
 * or more, and so on; the last one is for all that is shorter, and counts as
 * 64 bytes. */
enum {
    UCP_PIECES_COUNT     = 6,
    UCP_PIECES_BYTES_MAX = 65536,
};

/* The bytes that a piece has in the n-th of those tables. */
static inline size_t ucp_pieces_bytes(unsigned index)
{
    return (size_t)UCP_PIECES_BYTES_MAX >> (2 * index);
}

/* The table for pieces of so many bytes on average; 0: one block. */
static inline unsigned ucp_pieces_index(size_t piece_bytes)
{
    unsigned index = 0;

    while ((piece_bytes > 0) && (index < UCP_PIECES_COUNT - 1) &&
           (piece_bytes < ucp_pieces_bytes(index))) {
        ++index;
    }
    return index;
}

#endif
