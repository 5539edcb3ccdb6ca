/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/config/types.h - types of settings (part of the compatible API). */
#ifndef UCS_CONFIG_TYPES_H_
#define UCS_CONFIG_TYPES_H_

#include <sys/socket.h>

#include <ucs/sys/compiler_def.h>

/* How much is logged: a level and all before it. */
typedef enum {
    UCS_LOG_LEVEL_FATAL       = 0,
    UCS_LOG_LEVEL_ERROR       = 1,
    UCS_LOG_LEVEL_WARN        = 2,
    UCS_LOG_LEVEL_DIAG        = 3,
    UCS_LOG_LEVEL_INFO        = 4,
    UCS_LOG_LEVEL_DEBUG       = 5,
    UCS_LOG_LEVEL_TRACE       = 6,
    UCS_LOG_LEVEL_TRACE_REQ   = 7,
    UCS_LOG_LEVEL_TRACE_DATA  = 8,
    UCS_LOG_LEVEL_TRACE_ASYNC = 9,
    UCS_LOG_LEVEL_TRACE_FUNC  = 10,
    UCS_LOG_LEVEL_TRACE_POLL  = 11,
    UCS_LOG_LEVEL_LAST        = 12,
    UCS_LOG_LEVEL_PRINT       = 13 /* always printed */
} ucs_log_level_t;

/* Who drives asynchronous events. */
typedef enum {
    UCS_ASYNC_MODE_SIGNAL          = 0,
    UCS_ASYNC_MODE_THREAD          = 1,
    UCS_ASYNC_MODE_THREAD_SPINLOCK = UCS_ASYNC_MODE_THREAD,
    UCS_ASYNC_MODE_THREAD_MUTEX    = 2,
    UCS_ASYNC_MODE_POLL            = 3,
    UCS_ASYNC_MODE_LAST            = 4
} ucs_async_mode_t;

typedef enum ucs_ternary_auto_value {
    UCS_NO           = 0,
    UCS_YES          = 1,
    UCS_TRY          = 2,
    UCS_AUTO         = 3,
    UCS_TERNARY_LAST = 4
} ucs_ternary_auto_value_t;

typedef enum ucs_on_off_auto_value {
    UCS_CONFIG_OFF         = 0,
    UCS_CONFIG_ON          = 1,
    UCS_CONFIG_AUTO        = 2,
    UCS_CONFIG_ON_OFF_LAST = 3
} ucs_on_off_auto_value_t;

/* What happens on a fatal signal. */
typedef enum {
    UCS_HANDLE_ERROR_BACKTRACE = 0,
    UCS_HANDLE_ERROR_FREEZE    = 1,
    UCS_HANDLE_ERROR_DEBUG     = 2,
    UCS_HANDLE_ERROR_NONE      = 3,
    UCS_HANDLE_ERROR_LAST      = 4
} ucs_handle_error_t;

/* What a configuration print contains. */
typedef enum {
    UCS_CONFIG_PRINT_CONFIG          = UCS_BIT(0), /* NAME=value lines */
    UCS_CONFIG_PRINT_HEADER          = UCS_BIT(1), /* the title */
    UCS_CONFIG_PRINT_DOC             = UCS_BIT(2), /* what each means */
    UCS_CONFIG_PRINT_HIDDEN          = UCS_BIT(3), /* also the rare ones */
    UCS_CONFIG_PRINT_COMMENT_DEFAULT = UCS_BIT(4)  /* '#' before defaults */
} ucs_config_print_flags_t;

#define UCS_CONFIG_ARRAY_FIELD(_type, _name)                                   \
    struct {                                                                   \
        _type   *_name;                                                        \
        unsigned count;                                                        \
        unsigned pad;                                                          \
    }
#define UCS_CONFIG_STRING_ARRAY_FIELD(_name)                                   \
    UCS_CONFIG_ARRAY_FIELD(char *, _name)

typedef UCS_CONFIG_STRING_ARRAY_FIELD(names) ucs_config_names_array_t;

typedef enum {
    UCS_CONFIG_ALLOW_LIST_ALLOW_ALL = 0,
    UCS_CONFIG_ALLOW_LIST_ALLOW     = 1,
    UCS_CONFIG_ALLOW_LIST_NEGATE    = 2
} ucs_config_allow_list_mode_t;

typedef struct {
    ucs_config_names_array_t     array;
    ucs_config_allow_list_mode_t mode;
} ucs_config_allow_list_t;

/* A socket address; addr points to addrlen bytes that the caller owns. */
typedef struct ucs_sock_addr {
    const struct sockaddr *addr;
    socklen_t              addrlen;
} ucs_sock_addr_t;

/* A program's view of the log settings (start of ucs_global_opts). */
typedef struct ucs_log_component_config {
    ucs_log_level_t log_level;
    char            name[16];    /* component, in front of each line */
    const char     *file_filter; /* shell pattern of source files, or NULL */
} ucs_log_component_config_t;

UCS_API_BEGIN

/* Names of ucs_async_mode_t, then NULL. */
extern const char *ucs_async_mode_names[];

UCS_API_END

#endif
