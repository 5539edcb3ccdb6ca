/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/config_file.h - settings that come from ucx.conf files.
 *
 *   # comment
 *   UCX_TLS = sm,tcp
 *
 * A line is a comment (# or ; in front), blank, or NAME=value; white space
 * around both is dropped. What follows a line "[...]" is for particular
 * machines and is passed over up to the line "[]" or the end. Anything else
 * is a bad line: the file's first one is reported with its number. */
#ifndef UCS_CONFIG_FILE_H_
#define UCS_CONFIG_FILE_H_

#include <stddef.h>

#include "ucs/compiler.h"
#include "ucs/type/status.h"

enum ucs_config_file_limits {
    UCS_CONFIG_FILE_BYTES_MAX    = 256 * 1024,
    UCS_CONFIG_SETTING_COUNT_MAX = 4096 /* of all files together */
};

struct ucs_config_setting {
    char *name; /* owned; the value lies behind it */
    char *value;
    char *where; /* owned: "path:line" */
};

/* Settings in the order of reading: the last of a name counts. */
struct ucs_config_store {
    struct ucs_config_setting *settings; /* [count] */
    unsigned                   count;
};

/* Add what `bytes` of [size_bytes] say. Any bytes are safe.
 * @param path  Only for messages and `where`.
 * @return UCS_OK, bad lines or not; UCS_ERR_EXCEEDS_LIMIT (logged): what came
 *         before the limit is in the store; UCS_ERR_NO_MEMORY: the same. */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_config_store_parse(struct ucs_config_store *store, const char *path,
                        const char *bytes, size_t size_bytes);

/* Add what a file says.
 * @return as above; UCS_ERR_NO_ELEM: there is no such file (not logged);
 *         UCS_ERR_IO_ERROR, UCS_ERR_INVALID_PARAM (logged): it cannot be
 *         read, or is not a plain file. */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_config_store_load(struct ucs_config_store *store, const char *path);

/* The setting of that name that counts, or NULL. Lent. */
UCS_EXPORT const struct ucs_config_setting *
ucsi_config_store_find(const struct ucs_config_store *store, const char *name);

/* Free all; the store is empty then. A zeroed store is empty. */
UCS_EXPORT void ucsi_config_store_cleanup(struct ucs_config_store *store);

/* The settings of this process, read by the first call from, weakest first:
 *   <sysconfdir>/ucx/ucx.conf
 *   <folder of this library>/../etc/ucx/ucx.conf
 *   $HOME/ucx.conf  $UCX_CONFIG_DIR/ucx.conf  ./ucx.conf
 * A set-user-id program reads only the first two. Any thread. */
UCS_EXPORT const struct ucs_config_store *ucsi_config_files(void);

#endif
