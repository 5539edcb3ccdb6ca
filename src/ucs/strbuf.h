/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/strbuf.h - build a text piece by piece in an array of the caller's.
 *
 * What does not fit is cut off and remembered; the text always ends with NUL.
 * No allocation: for log lines, names and reports.
 *
 * Thread: none of its own. */
#ifndef UCS_STRBUF_H_
#define UCS_STRBUF_H_

#include <stdarg.h>

#include "ucs/compiler.h"

struct ucs_strbuf {
    char  *text;      /* the caller's array; ends with NUL */
    size_t size;      /* bytes of the array, at least 1 */
    size_t length;    /* characters of the text, without the NUL */
    bool   truncated; /* something did not fit; stays so */
};

/* Make an empty text in size bytes at array, lent while it is used. size is
 * at least 1. */
UCS_INLINE void ucs_strbuf_init(struct ucs_strbuf *strbuf, char *array,
                                size_t size)
{
    strbuf->text      = array;
    strbuf->size      = size;
    strbuf->length    = 0;
    strbuf->truncated = false;
    array[0]          = '\0';
}

/* Add a text; the front of it that fits. */
UCS_EXPORT void ucsi_strbuf_append(struct ucs_strbuf *strbuf, const char *text);

/* Add what printf would print. */
UCS_EXPORT UCS_PRINTF(2, 3) void ucsi_strbuf_appendf(struct ucs_strbuf *strbuf,
                                                     const char *format, ...);
UCS_EXPORT UCS_PRINTF(2, 0) void ucsi_strbuf_appendv(struct ucs_strbuf *strbuf,
                                                     const char        *format,
                                                     va_list arguments);

/* Add bytes as lower-case hexadecimal digits, two for each; whole bytes
 * only. */
UCS_EXPORT void ucsi_strbuf_append_hex(struct ucs_strbuf *strbuf,
                                       const void *bytes, size_t size_bytes);

/* Remove characters of the set, a string, from the end of the text. */
UCS_EXPORT void ucsi_strbuf_rtrim(struct ucs_strbuf *strbuf, const char *set);

#endif
