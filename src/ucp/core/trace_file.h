/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/trace_file.h - the file that all traced workers of a process share.
 *
 *   [
 *   {"ph":"M", ...},      who: process, host, which clock
 *   {"ph":"X", ...},      one event a line, times in microseconds
 *   {"ph":"X", ...}
 *   ]
 *
 * Chrome's trace event format, which Perfetto and chrome://tracing open. Each
 * write ends with the bracket and the next one begins on top of it, so the file
 * is whole at any time, killed processes included. A child of fork() has no
 * part in it. Threads: any; one lock. */
#ifndef UCP_CORE_TRACE_FILE_H_
#define UCP_CORE_TRACE_FILE_H_

#include "ucp/core/trace_event.h"

/* Have trace written to the file that pattern names; opened by the first one.
 * @param pattern  With %p, %h, %t: ucs/path.h.
 * @return false: it cannot be, one warning said why. */
bool ucp_trace_file_join(struct ucp_trace *trace, const char *pattern);

/* Write out and forget trace; the last one closes the file. */
void ucp_trace_file_leave(struct ucp_trace *trace);

/* Write out what was recorded; the array is empty then. */
void ucp_trace_file_write(struct ucp_trace *trace);

/* A new row of the picture, with that name.
 * @return its number. */
uint32_t ucp_trace_file_row(const char *name);

#endif
