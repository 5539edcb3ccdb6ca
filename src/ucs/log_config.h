/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/log_config.h - the settings of logging as a table: UCX_LOG_LEVEL and
 * UCX_LOG_FILE from ucx.conf files, the environment, an application's prefix,
 * and a program's changes.
 *
 * log.c itself looks only at the environment, at the first message: reading
 * settings may log. What a configuration says is applied when it is read. */
#ifndef UCS_LOG_CONFIG_H_
#define UCS_LOG_CONFIG_H_

#include "ucs/compiler.h"
#include "ucs/config.h"

/* level  enum ucs_log_level
 * file   as UCX_LOG_FILE; "": stderr */
struct ucs_log_config {
    struct ucs_config_base base;
    int                    level;
    char                  *file;
};

UCS_EXPORT extern const struct ucs_config_table ucsi_log_config_table;

/* Make these the settings of the process, save those that are only defaults,
 * and those that come from a weaker place (ucs/config.h) than what holds now.
 * Thread: any. */
UCS_EXPORT void ucsi_log_config_apply(const struct ucs_log_config *config);

#endif
