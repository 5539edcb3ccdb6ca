/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/config.h - settings: a table describes the fields of a struct, and from
 * it come reading, changing, printing and the error messages.
 *
 *   default < ucx.conf files < UCX_NAME < <app>_UCX_NAME < ucsi_config_set
 *
 * A table of the prefix "TCP_" with an entry "NODELAY" is the setting
 * UCX_TCP_NODELAY; with the family "NET_" also UCX_NET_NODELAY, which is
 * weaker. Every value knows where it comes from.
 *
 * Threads: one per options struct. Reading the environment while another
 * thread changes it is undefined, as with getenv(3). */
#ifndef UCS_CONFIG_H_
#define UCS_CONFIG_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ucs/compiler.h"
#include "ucs/config/types.h"
#include "ucs/type/status.h"

enum ucs_config_limits {
    /* Longest value, with its NUL. Longer ones are refused. */
    UCS_CONFIG_VALUE_BYTES_MAX = 4096,
    /* Longest name with its prefixes and its NUL; table names are checked. */
    UCS_CONFIG_NAME_BYTES_MAX = 128,
    /* Most items of a list. */
    UCS_CONFIG_LIST_COUNT_MAX = 1024
};

/* What an entry's field is, and how its text looks. Words are the same in
 * large and small letters. */
enum ucs_config_type {
    UCS_CONFIG_TYPE_STRING,      /* char *, never NULL, owned by the options */
    UCS_CONFIG_TYPE_BOOL,        /* bool: y yes on 1, n no off 0 */
    UCS_CONFIG_TYPE_TERNARY,     /* int, UCS_NO...UCS_AUTO: bool's, try, auto */
    UCS_CONFIG_TYPE_ON_OFF_AUTO, /* int, UCS_CONFIG_OFF...: bool's, auto, try */
    UCS_CONFIG_TYPE_UINT,        /* unsigned; inf, auto: the two macros below */
    UCS_CONFIG_TYPE_INT,         /* int */
    UCS_CONFIG_TYPE_DOUBLE,      /* double */
    UCS_CONFIG_TYPE_SIZE,        /* size_t, bytes: ucs/units.h */
    UCS_CONFIG_TYPE_TIME,        /* uint64_t, nanoseconds: ucs/units.h */
    UCS_CONFIG_TYPE_BANDWIDTH,   /* uint64_t, bytes per second: ucs/units.h */
    UCS_CONFIG_TYPE_ENUM,        /* int, the index in type_arg: const char
                                  *const [], NULL at the end */
    UCS_CONFIG_TYPE_LIST,        /* struct ucs_config_list */
    UCS_CONFIG_TYPE_RANGE,       /* struct ucs_config_range: a-b, or a */
    UCS_CONFIG_TYPE_BITMAP,      /* uint64_t, names of type_arg as ENUM, with
                                    commas; bit index is the name's index */
    UCS_CONFIG_TYPE_THRESHOLD,   /* struct ucs_config_threshold: a size, or
                                    intra:size,inter:size */
    UCS_CONFIG_TYPE_LAST
};

#define UCS_CONFIG_UINT_INF  UINT32_MAX
#define UCS_CONFIG_UINT_AUTO (UINT32_MAX - 1)

/* Ours, beside UCX's print flags: say where each value comes from. */
#define UCS_CONFIG_PRINT_ORIGIN (1u << 16)

/* Comma list. is_excluded: it began with '^', so all but these. */
struct ucs_config_list {
    char   **names; /* [count], each owned */
    unsigned count;
    bool     is_excluded;
};

struct ucs_config_range {
    uint64_t first;
    uint64_t last; /* not below first */
};

/* A limit between protocols, for peers on this host and on others. */
struct ucs_config_threshold {
    size_t intra_bytes;
    size_t inter_bytes;
};

/* What a number of type UINT, SIZE, TIME or BANDWIDTH, or both ends of a RANGE,
 * may be. inf and auto are numbers too, the largest.
 * multiple_of  0: any */
struct ucs_config_bounds {
    uint64_t min, max;
    uint64_t multiple_of;
};

enum ucs_config_entry_flag {
    UCS_CONFIG_ENTRY_HIDDEN = 1 << 0 /* printed only with PRINT_HIDDEN */
};

struct ucs_config_entry {
    const char          *name; /* NULL ends the table */
    const char          *default_text;
    size_t               offset; /* of the field in the options */
    enum ucs_config_type type;
    const void          *type_arg; /* names of ENUM and BITMAP, else NULL */
    const char          *doc;      /* one sentence */
    unsigned             flags;    /* enum ucs_config_entry_flag */
    const struct ucs_config_bounds *bounds; /* NULL: whatever fits the field */
};

enum ucs_config_table_flag {
    /* A bad value counts as absent and is not reported: UCX's behaviour for
     * its process-wide settings. */
    UCS_CONFIG_TABLE_IGNORE_BAD = 1 << 0
};

struct ucs_config_table {
    const char                    *title;
    const char                    *prefix; /* "" or for example "TCP_" */
    const struct ucs_config_entry *entries;
    size_t                         struct_bytes; /* of the options */
    unsigned                       flags; /* enum ucs_config_table_flag */
    /* More prefixes, NULL at the end, each stronger than the one before and
     * weaker than `prefix`; NULL: none. */
    const char *const *families;
};

/* Where the values come from; one per options struct. */
struct ucs_config_origins;

/* What every options struct begins with. Zero it before the first use; an
 * options struct that is zero can be released. */
struct ucs_config_base {
    struct ucs_config_origins *origins;
};

enum ucs_config_origin {
    UCS_CONFIG_ORIGIN_DEFAULT,
    UCS_CONFIG_ORIGIN_FILE,
    UCS_CONFIG_ORIGIN_ENVIRONMENT,
    UCS_CONFIG_ORIGIN_MODIFIED
};

/* Fill an options struct.
 *
 * @param app_prefix  The application's prefix ("MPI"), or NULL.
 * @param options     [struct_bytes], begins with struct ucs_config_base; what
 *                    was in it is overwritten, not released.
 * @return UCS_OK, release it later;
 *         UCS_ERR_INVALID_PARAM  a value is bad (logged: the variable, the
 *                                value, the grammar), nothing to release;
 *         UCS_ERR_NO_MEMORY      the same. */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_config_read(const struct ucs_config_table *table, const char *app_prefix,
                 void *options);

/* Make `copy` an options struct of its own with the values and origins of
 * `options`. @return UCS_OK; UCS_ERR_NO_MEMORY: nothing to release. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_config_copy(
    const struct ucs_config_table *table, const void *options, void *copy);

/* Free what the options own and zero them. */
UCS_EXPORT void ucsi_config_release(const struct ucs_config_table *table,
                                    void                          *options);

/* Change one value.
 *
 * @param name  With the table's prefix or one of its families, without UCX_.
 * @return UCS_OK;
 *         UCS_ERR_NO_ELEM        no such name (not logged), nothing changed;
 *         UCS_ERR_INVALID_PARAM  a bad value (logged), nothing changed;
 *         UCS_ERR_NO_MEMORY      nothing changed. */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_config_set(const struct ucs_config_table *table, void *options,
                const char *name, const char *value);

/* Write one value as text that ucsi_config_set takes back.
 * UCS_CONFIG_VALUE_BYTES_MAX are enough.
 * @return UCS_OK; UCS_ERR_NO_ELEM; UCS_ERR_BUFFER_TOO_SMALL: nothing useful
 *         is in `text`. */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_config_get_text(const struct ucs_config_table *table, const void *options,
                     const char *name, char *text, size_t text_bytes);

/* Where a value comes from: *origin_p, and *where_p: "path:line", the
 * variable's name, or "" (lent until the value changes).
 * @return UCS_OK; UCS_ERR_NO_ELEM. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_config_get_origin(
    const struct ucs_config_table *table, const void *options, const char *name,
    enum ucs_config_origin *origin_p, const char **where_p);

/* Print the options as lines UCX_NAME=value.
 *
 * With PRINT_CONFIG alone there is nothing else: no comment, no blank line,
 * and no value with '=' or a control character (such an entry is left out),
 * because programs parse this. The other flags add comments for people.
 *
 * @param title  For PRINT_HEADER; NULL: the table's.
 * @param flags  ucs_config_print_flags_t and UCS_CONFIG_PRINT_ORIGIN. */
UCS_EXPORT void ucsi_config_print(FILE                          *stream,
                                  const struct ucs_config_table *table,
                                  const void *options, const char *title,
                                  unsigned flags);

/* Warn once per process, in one line, about variables of the environment that
 * begin with UCX_ (or <app_prefix>_UCX_) and that neither the tables nor UCX
 * know, with the name that was probably meant. UCX_WARN_UNUSED_ENV_VARS=n
 * keeps it quiet.
 *
 * @param tables  NULL at the end. */
UCS_EXPORT void
ucsi_config_warn_unknown(const struct ucs_config_table *const *tables,
                         const char                           *app_prefix);

/* Whether UCX knows a setting of that name (without UCX_), so that it is
 * accepted although it may mean nothing here. */
UCS_EXPORT bool ucsi_config_is_ucx_name(const char *name);

#endif
