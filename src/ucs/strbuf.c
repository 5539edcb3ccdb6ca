/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/strbuf.c - bounded string builder. */
#include "ucs/strbuf.h"

#include <stdio.h>
#include <string.h>

/* Room for further characters. */
static size_t strbuf_room(const struct ucs_strbuf *strbuf)
{
    return strbuf->size - strbuf->length - 1;
}

void ucsi_strbuf_append(struct ucs_strbuf *strbuf, const char *text)
{
    size_t length = strlen(text);

    if (length > strbuf_room(strbuf)) {
        length            = strbuf_room(strbuf);
        strbuf->truncated = true;
    }
    memcpy(strbuf->text + strbuf->length, text, length);
    strbuf->length += length;
    strbuf->text[strbuf->length] = '\0';
}

void ucsi_strbuf_appendv(struct ucs_strbuf *strbuf, const char *format,
                         va_list arguments)
{
    size_t room = strbuf_room(strbuf);
    int    added =
        vsnprintf(strbuf->text + strbuf->length, room + 1, format, arguments);

    if (added < 0) { /* not printable (e.g. a wide character): add nothing */
        strbuf->text[strbuf->length] = '\0';
        strbuf->truncated            = true;
    } else if ((size_t)added > room) {
        strbuf->length += room;
        strbuf->truncated = true;
    } else {
        strbuf->length += (size_t)added;
    }
}

void ucsi_strbuf_appendf(struct ucs_strbuf *strbuf, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    ucsi_strbuf_appendv(strbuf, format, arguments);
    va_end(arguments);
}

void ucsi_strbuf_append_hex(struct ucs_strbuf *strbuf, const void *bytes,
                            size_t size_bytes)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t    *byte     = bytes;
    const uint8_t    *end      = byte + size_bytes;

    for (; (byte < end) && (strbuf_room(strbuf) >= 2); ++byte) {
        strbuf->text[strbuf->length++] = digits[*byte >> 4];
        strbuf->text[strbuf->length++] = digits[*byte & 0xf];
    }
    strbuf->text[strbuf->length] = '\0';
    strbuf->truncated |= (byte < end);
}

void ucsi_strbuf_rtrim(struct ucs_strbuf *strbuf, const char *set)
{
    while ((strbuf->length > 0) &&
           (strchr(set, strbuf->text[strbuf->length - 1]) != NULL)) {
        --strbuf->length;
    }
    strbuf->text[strbuf->length] = '\0';
}
