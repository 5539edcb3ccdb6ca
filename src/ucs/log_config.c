/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/log_config.c - from the table's values to the log. */
#include "ucs/log_config.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "ucs/compat.h"
#include "ucs/log.h"

static const struct ucs_config_entry log_config_entries[] = {
    {.name         = "LOG_LEVEL",
     .default_text = "warn",
     .offset       = offsetof(struct ucs_log_config, level),
     .type         = UCS_CONFIG_TYPE_ENUM,
     .type_arg     = ucsi_log_level_names,
     .doc          = "Messages up to this level are written; for the whole "
                     "process."},
    {.name         = "LOG_FILE",
     .default_text = "",
     .offset       = offsetof(struct ucs_log_config, file),
     .type         = UCS_CONFIG_TYPE_STRING,
     .doc          = "Where messages go: a path (%p process, %h host, %t "
                     "time), stdout, or stderr."},
    {0},
};

const struct ucs_config_table ucsi_log_config_table = {
    .title        = "Log",
    .prefix       = "",
    .entries      = log_config_entries,
    .struct_bytes = sizeof(struct ucs_log_config),
    .flags        = UCS_CONFIG_TABLE_IGNORE_BAD,
};

/* From where the process has its level and its file. */
static atomic_int level_origin = UCS_CONFIG_ORIGIN_DEFAULT;
static atomic_int file_origin  = UCS_CONFIG_ORIGIN_DEFAULT;

/* Does a setting count, coming from where it does? Then that is noted. */
static bool log_config_counts(const struct ucs_log_config *config,
                              const char *name, atomic_int *holds)
{
    enum ucs_config_origin origin;
    const char            *where;
    int now = atomic_load_explicit(holds, memory_order_relaxed);

    if ((ucsi_config_get_origin(&ucsi_log_config_table, config, name, &origin,
                                &where) != UCS_OK) ||
        (origin == UCS_CONFIG_ORIGIN_DEFAULT) || ((int)origin < now)) {
        return false;
    }
    /* Who runs a set-user-id program does not choose its files. */
    if ((origin == UCS_CONFIG_ORIGIN_ENVIRONMENT) &&
        (secure_getenv(where) == NULL)) {
        return false;
    }
    atomic_store_explicit(holds, (int)origin, memory_order_relaxed);
    return true;
}

void ucsi_log_config_apply(const struct ucs_log_config *config)
{
    if (log_config_counts(config, "LOG_FILE", &file_origin)) {
        ucsi_log_set_file(config->file);
    }
    if (log_config_counts(config, "LOG_LEVEL", &level_origin)) {
        ucsi_log_set_level((ucs_log_level_t)config->level);
        ucsi_compat_refresh((ucs_log_level_t)config->level);
    }
}
