/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/iov.h - for transports: walk the pieces of a message. */
#ifndef UCT_BASE_IOV_H_
#define UCT_BASE_IOV_H_

#include <string.h>

#include "ucs/compiler.h"
#include "uct/api/rma.h"

/* Sum of the lengths; SIZE_MAX when it does not fit. */
static inline size_t uct_iov_bytes(const struct uct_iov *iov, unsigned count)
{
    size_t   bytes = 0;
    unsigned index;

    for (index = 0; index < count; ++index) {
        if (ucs_unlikely(
                __builtin_add_overflow(bytes, iov[index].length, &bytes))) {
            return SIZE_MAX;
        }
    }
    return bytes;
}

/* The same of the remote side of an operation. */
static inline size_t uct_remote_bytes(const struct uct_rma *rma)
{
    size_t   bytes = 0;
    unsigned index;

    for (index = 0; index < rma->remote_count; ++index) {
        if (ucs_unlikely(__builtin_add_overflow(
                bytes, rma->remote[index].length, &bytes))) {
            return SIZE_MAX;
        }
    }
    return bytes;
}

/* A place in the remote side of an operation.
 * index   the piece
 * inner   bytes of it that are behind */
struct uct_remote_cursor {
    const struct uct_rma *rma;
    unsigned              index;
    size_t                inner;
};

/* The remote memory at the cursor, at most length_max bytes; moves on. There
 * are some left; empty pieces are passed over. */
static inline struct uct_remote
uct_remote_next(struct uct_remote_cursor *cursor, size_t length_max)
{
    const struct uct_remote *piece = &cursor->rma->remote[cursor->index];
    struct uct_remote        next;

    while (cursor->inner == piece->length) {
        piece         = &cursor->rma->remote[++cursor->index];
        cursor->inner = 0;
    }
    next = *piece;
    next.address += cursor->inner;
    next.length = ucs_min(piece->length - cursor->inner, length_max);
    cursor->inner += next.length;
    return next;
}

/* Copy the pieces one behind the other to dest; @return bytes copied. Empty
 * pieces may have no buffer. */
static inline size_t uct_iov_gather(void *dest, const struct uct_iov *iov,
                                    unsigned count)
{
    char    *next = (char *)dest;
    unsigned index;

    for (index = 0; index < count; ++index) {
        if (iov[index].length != 0) {
            memcpy(next, iov[index].buffer, iov[index].length);
            next += iov[index].length;
        }
    }
    return (size_t)(next - (char *)dest);
}

/* Copy source to the pieces, which are uct_iov_bytes() long together. */
static inline void uct_iov_scatter(const struct uct_iov *iov, unsigned count,
                                   const void *source)
{
    const char *next = (const char *)source;
    unsigned    index;

    for (index = 0; index < count; ++index) {
        if (iov[index].length != 0) {
            memcpy(iov[index].buffer, next, iov[index].length);
            next += iov[index].length;
        }
    }
}

#endif
