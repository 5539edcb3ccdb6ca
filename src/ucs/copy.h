/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/copy.h - copy a few bytes without a call.
 *
 *      |====first====|
 *              |====last====|     two moves that overlap copy any length
 *                                 between one and two times their size
 *
 * For what fits one cache line; a call of memcpy costs more than the bytes. */
#ifndef UCS_COPY_H_
#define UCS_COPY_H_

#include <string.h>

#include "ucs/compiler.h"

enum { UCS_COPY_SMALL_BYTES_MAX = 64 };

/* Copy length bytes, at most UCS_COPY_SMALL_BYTES_MAX. With length 0 the
 * pointers may be NULL. The two may not overlap. */
UCS_INLINE void ucs_copy_small(void *dest, const void *source, size_t length)
{
    uint8_t       *to   = dest;
    const uint8_t *from = source;

    if ((length >= 8) && (length <= 16)) {
        memcpy(to, from, 8);
        memcpy(to + length - 8, from + length - 8, 8);
    } else if (length > 16) {
        if (length > 32) {
            memcpy(to + 16, from + 16, 16);
            memcpy(to + length - 32, from + length - 32, 16);
        }
        memcpy(to, from, 16);
        memcpy(to + length - 16, from + length - 16, 16);
    } else if (length >= 4) {
        memcpy(to, from, 4);
        memcpy(to + length - 4, from + length - 4, 4);
    } else if (length > 0) {
        to[0]          = from[0];
        to[length / 2] = from[length / 2];
        to[length - 1] = from[length - 1];
    }
}

#endif
