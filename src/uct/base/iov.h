/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/iov.h - for transports: walk the pieces of a message. */
#ifndef UCT_BASE_IOV_H_
#define UCT_BASE_IOV_H_

#include <string.h>

#include "ucs/compiler.h"
#include "uct/api/uct_def.h"

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
