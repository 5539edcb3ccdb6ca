/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/assert.h - promises that our own code makes to itself.
 *
 * A broken promise is a bug of ours: the expression and its place are printed
 * to standard error and the process aborts. What a peer, a file or a user
 * gets wrong is never asserted; it is checked and answered with a status.
 *
 * ucs_assert is active where the build defines UCS_ENABLE_ASSERT to 1
 * (--enable-debug, --with-sanitizer). Elsewhere its expression is compiled
 * and not evaluated, so it may have no side effects. */
#ifndef UCS_ASSERT_H_
#define UCS_ASSERT_H_

#include "ucs/compiler.h"

#ifndef UCS_ENABLE_ASSERT
#define UCS_ENABLE_ASSERT 0
#endif

/* Always checked: for what must hold in release builds too, off the data
 * path. */
#define ucs_check(_condition)                                                  \
    (ucs_likely(_condition)                                                    \
         ? (void)0                                                             \
         : ucsi_assert_failed(#_condition, __FILE__, __LINE__))

#if UCS_ENABLE_ASSERT
#define ucs_assert(_condition) ucs_check(_condition)
/* The same with a sentence: printf format and arguments. */
#define ucs_assertv(_condition, ...)                                           \
    (ucs_likely(_condition)                                                    \
         ? (void)0                                                             \
         : ucsi_assert_failed_because(#_condition, __FILE__, __LINE__,         \
                                      __VA_ARGS__))
#else
#define ucs_assert(_condition) ((void)sizeof((_condition) ? 1 : 0))
#define ucs_assertv(_condition, ...)                                           \
    ((void)(sizeof((_condition) ? 1 : 0) +                                     \
            sizeof(ucs_assert_format_(__VA_ARGS__))))

/* Never called: lets the compiler see the format and use its arguments. */
UCS_PRINTF(1, 2) int ucs_assert_format_(const char *format, ...);
#endif

/* Print the expression and its place to standard error, then abort.
 *
 * Thread: any. Allocates nothing. */
UCS_EXPORT UCS_NORETURN void ucsi_assert_failed(const char *expression,
                                                const char *file, int line);

/* The same, followed by a sentence that says more. */
UCS_EXPORT UCS_NORETURN UCS_PRINTF(4, 5) void ucsi_assert_failed_because(
    const char *expression, const char *file, int line, const char *format,
    ...);

#endif
