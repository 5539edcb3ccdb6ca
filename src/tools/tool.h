/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/tool.h - what all subcommands share: messages, exit codes, clocks.
 *
 * The command may run on a libucp that is not ours, so nothing here and
 * nothing in perf_* uses more than the public UCP API and libc. */
#ifndef CAUSEWAY_TOOL_H_
#define CAUSEWAY_TOOL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TOOL_PRINTF(_format_index, _first_index)                               \
    __attribute__((format(printf, _format_index, _first_index)))
#define TOOL_ARRAY_COUNT(_array) (sizeof(_array) / sizeof((_array)[0]))

/* The oldest API that has what the command calls. ucp_init() would name that
 * of our headers, and an older libucp would warn on standard output. */
enum tool_ucp_api { TOOL_UCP_API_MAJOR = 1, TOOL_UCP_API_MINOR = 10 };

enum tool_exit {
    TOOL_EXIT_OK     = 0,
    TOOL_EXIT_FAILED = 1, /* what was asked for failed */
    TOOL_EXIT_USAGE  = 2, /* it was not understood; nothing was done */
};

/* One subcommand; argv[0] is its name. */
typedef int (*tool_main_fn)(int argc, char **argv);

int tool_perf_main(int argc, char **argv);
int tool_explain_main(int argc, char **argv);
int tool_info_main(int argc, char **argv);
int tool_run_main(int argc, char **argv);
int tool_trace_main(int argc, char **argv);

/* The version of this command (not of the libucp it runs on). */
const char *tool_version(void);

/* Name that starts every message, "perf" for example. Borrowed. */
void tool_set_name(const char *name);

/* Print "causeway <name>: <message>" and a newline on standard error. */
void tool_error(const char *format, ...) TOOL_PRINTF(1, 2);

/* The same without the word error's weight: a remark, not a failure. */
void tool_note(const char *format, ...) TOOL_PRINTF(1, 2);

/* Monotonic clock. */
uint64_t tool_clock_ns(void);
/* CPU time that this process has used, all threads, user and system. */
uint64_t tool_cpu_ns(void);

/* Zeroed memory or the end of the program; a tool has no better answer. */
void *tool_calloc(size_t count, size_t size_bytes);

/* The file that holds the function called [symbol], as the loader sees it.
 * @return its path, never freed, or "?" if there is no such function. */
const char *tool_library_of(const char *symbol);

/* The path of this program itself; "" if the kernel does not say. */
const char *tool_self_path(void);

#endif
