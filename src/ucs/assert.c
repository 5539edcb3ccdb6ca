/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/assert.c - the end of a process that broke a promise.
 *
 * Writes with one system call from the stack: the heap, stdio and the log
 * may be what is broken. */
#include "ucs/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UCS_ASSERT_LINE_BYTES_MAX = 1024 };

static void assert_write(char *line, size_t size)
{
    size_t  length = strnlen(line, size - 2);
    ssize_t written;

    line[length] = '\n';
    written      = write(STDERR_FILENO, line, length + 1);
    (void)written; /* there is nobody left to tell */
}

void ucsi_assert_failed(const char *expression, const char *file, int line)
{
    char text[UCS_ASSERT_LINE_BYTES_MAX];

    (void)snprintf(text, sizeof(text), "%s:%d: assertion failed: %s", file,
                   line, expression);
    assert_write(text, sizeof(text));
    abort();
}

void ucsi_assert_failed_because(const char *expression, const char *file,
                                int line, const char *format, ...)
{
    char    text[UCS_ASSERT_LINE_BYTES_MAX];
    size_t  length;
    va_list arguments;

    (void)snprintf(text, sizeof(text), "%s:%d: assertion failed: %s: ", file,
                   line, expression);
    length = strnlen(text, sizeof(text));
    va_start(arguments, format);
    (void)vsnprintf(text + length, sizeof(text) - length, format, arguments);
    va_end(arguments);
    assert_write(text, sizeof(text));
    abort();
}
