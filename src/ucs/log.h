/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/log.h - messages for people: one line each, one write each.
 *
 *   ucs_error("ep %p to %s: %m", ep, name);
 *
 *   [1763667252.123456] [host:4711:4712] sm_ep.c:88 UCX ERROR ep 0x... to ...
 *
 * A call below the level costs a load and a branch. The level comes from
 * UCX_LOG_LEVEL, read at the first message; a value that is no level is
 * ignored, as UCX does. Lines go to stderr, or to UCX_LOG_FILE: a path in
 * which %p is the process, %h the host, %t the time of opening in seconds
 * and %% a percent sign, or the words stdout and stderr. What files, prefixes
 * and programs say of both comes in through ucs/log_config.h.
 *
 * Threads: all of this from any thread, not from signal handlers. Logging
 * keeps errno. Not for the data path: counters are (ucs/counters.h). */
#ifndef UCS_LOG_H_
#define UCS_LOG_H_

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ucs/compiler.h"
#include "ucs/config/types.h"
#include "ucs/type/status.h"

enum ucs_log_limits {
    /* A longer line ends in "...". No more than PIPE_BUF, so that lines of
     * several processes in one pipe do not mix. */
    UCS_LOG_LINE_BYTES_MAX = 4096,
    /* Of messages that become part of another one. */
    UCS_LOG_CAUSE_BYTES_MAX = 512,
    /* One repeated message per call site in so many milliseconds. Guess. */
    UCS_LOG_REPEAT_MS = 1000
};

/* Names of the levels in order, as UCX_LOG_LEVEL takes them, then NULL. */
UCS_EXPORT extern const char *const ucsi_log_level_names[];

/* What is written: levels up to this one. Until the first message it is
 * UCS_LOG_LEVEL_LAST, which makes that message look up the setting. */
UCS_EXPORT extern atomic_int ucsi_log_level;

/* Gets each message instead of the file; `text` is the bare message, lent for
 * the call. Called on the thread that logs; must not log. */
typedef void (*ucs_log_handler_fn)(void *arg, ucs_log_level_t level,
                                   const char *file, unsigned line,
                                   const char *text);

struct ucs_log_handler {
    ucs_log_handler_fn fn;
    void              *arg;
};

/* Memory of a call site whose message may come often; zero to begin with. */
struct ucs_log_limit {
    _Atomic uint64_t quiet_until_ns;
    _Atomic uint64_t hidden_count;
};

/* Write one message. Use the macros below.
 * Control characters in the text are shown as '?': it may come from a peer. */
UCS_EXPORT UCS_PRINTF(4, 5) void ucsi_log(ucs_log_level_t level,
                                          const char *file, unsigned line,
                                          const char *format, ...);
UCS_EXPORT UCS_PRINTF(4, 0) void ucsi_log_va(ucs_log_level_t level,
                                             const char *file, unsigned line,
                                             const char *format, va_list args);

/* Like ucsi_log, but the text says how many such messages were left out. */
UCS_EXPORT UCS_PRINTF(5, 6) void ucsi_log_repeated(uint64_t        hidden_count,
                                                   ucs_log_level_t level,
                                                   const char     *file,
                                                   unsigned        line,
                                                   const char     *format, ...);

/* Look up the settings if nobody did, then compare. */
UCS_EXPORT bool ucsi_log_check(ucs_log_level_t level);

/* The one line that says that memory is short, at the place that noticed.
 * @param what  For what it was, "a worker".
 * @return UCS_ERR_NO_MEMORY. */
UCS_EXPORT ucs_status_t ucsi_no_memory_at(const char *file, unsigned line,
                                          const char *what, size_t size_bytes);
#define ucsi_no_memory(_what, _size_bytes)                                     \
    ucsi_no_memory_at(__FILE__, __LINE__, (_what), (_size_bytes))

/* Change the level for the whole process. */
UCS_EXPORT void ucsi_log_set_level(ucs_log_level_t level);

/* Find a level by its name, capital letters or not.
 * @return UCS_OK, or UCS_ERR_INVALID_PARAM: no such level, nothing set. */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_log_level_parse(const char *text, ucs_log_level_t *level_p);

/* Hand messages to `handler` (lent until replaced); NULL: to the file again.
 * @return the one before, NULL if none. */
UCS_EXPORT const struct ucs_log_handler *
ucsi_log_set_handler(const struct ucs_log_handler *handler);

/* Write to another place than UCX_LOG_FILE says; the same words. What is open
 * is replaced at once. Any thread. */
UCS_EXPORT void ucsi_log_set_file(const char *pattern);

/* Close UCX_LOG_FILE; the next message opens it again, under the name that
 * the variable, or ucsi_log_set_file(), has given then. No other thread may log
 * meanwhile. */
UCS_EXPORT void ucsi_log_close(void);

/* The errors and warnings that this thread logs, kept back for who called the
 * layer below and then says what follows from them: one line has both.
 *
 *   ucsi_log_cause_begin(&cause);
 *   status = open_it();
 *   ucsi_log_cause_end(&cause);
 *   ucs_warn("%s is left out: %s", name, ucsi_log_cause_text(&cause, status));
 *
 * On the stack; begin and end nest. What does not fit is cut. */
struct ucs_log_cause {
    struct ucs_log_cause *outer;
    char                  text[UCS_LOG_CAUSE_BYTES_MAX]; /* "" if none came */
};

UCS_EXPORT void ucsi_log_cause_begin(struct ucs_log_cause *cause);
UCS_EXPORT void ucsi_log_cause_end(struct ucs_log_cause *cause);

/* What was logged, with "; " between messages; if nothing was, the status in
 * words. Lent as long as the cause. */
UCS_EXPORT const char *ucsi_log_cause_text(const struct ucs_log_cause *cause,
                                           ucs_status_t                status);

/* May a message of this call site be written at `now_ns`? If so,
 * *hidden_count_p is how many were not since the last one. */
UCS_EXPORT bool ucsi_log_limit_pass(struct ucs_log_limit *limit,
                                    uint64_t now_ns, uint64_t *hidden_count_p);

/* The same with the clock's now. */
UCS_EXPORT bool ucsi_log_limit_pass_now(struct ucs_log_limit *limit,
                                        uint64_t             *hidden_count_p);

/* Is this level written? */
#define ucs_log_is_enabled(_level)                                             \
    (ucs_unlikely(                                                             \
         (int)(_level) <=                                                      \
         atomic_load_explicit(&ucsi_log_level, memory_order_relaxed)) &&       \
     ucsi_log_check(_level))

#define ucs_log(_level, ...)                                                   \
    do {                                                                       \
        if (ucs_log_is_enabled(_level)) {                                      \
            ucsi_log((_level), __FILE__, __LINE__, __VA_ARGS__);               \
        }                                                                      \
    } while (0)

#define ucs_log_limited(_level, ...)                                           \
    do {                                                                       \
        static struct ucs_log_limit _limit;                                    \
        uint64_t                    _hidden_count;                             \
        if (ucs_log_is_enabled(_level) &&                                      \
            ucsi_log_limit_pass_now(&_limit, &_hidden_count)) {                \
            ucsi_log_repeated(_hidden_count, (_level), __FILE__, __LINE__,     \
                              __VA_ARGS__);                                    \
        }                                                                      \
    } while (0)

#define ucs_error(...) ucs_log(UCS_LOG_LEVEL_ERROR, __VA_ARGS__)
#define ucs_warn(...)  ucs_log(UCS_LOG_LEVEL_WARN, __VA_ARGS__)
#define ucs_diag(...)  ucs_log(UCS_LOG_LEVEL_DIAG, __VA_ARGS__)
#define ucs_info(...)  ucs_log(UCS_LOG_LEVEL_INFO, __VA_ARGS__)
#define ucs_debug(...) ucs_log(UCS_LOG_LEVEL_DEBUG, __VA_ARGS__)
#define ucs_trace(...) ucs_log(UCS_LOG_LEVEL_TRACE, __VA_ARGS__)

/* For what a peer or a user can cause again and again. */
#define ucs_error_limited(...) ucs_log_limited(UCS_LOG_LEVEL_ERROR, __VA_ARGS__)
#define ucs_warn_limited(...)  ucs_log_limited(UCS_LOG_LEVEL_WARN, __VA_ARGS__)

#endif
