/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/module.h - transports that live in files of their own. */
#ifndef UCT_BASE_MODULE_H_
#define UCT_BASE_MODULE_H_

#include <stdbool.h>
#include <stddef.h>

#include "uct/api/transport.h"

enum uct_module_limit {
    UCT_MODULE_COUNT_MAX        = 32,   /* files looked at; guess */
    UCT_MODULE_REPORT_BYTES_MAX = 4096, /* longer reports are cut */
};

/* What a folder gave.
 * transports  [count]
 * report      a line for each file that was refused */
struct uct_module_list {
    const struct uct_transport *transports[UCT_MODULE_COUNT_MAX];
    unsigned                    count;
    char                        report[UCT_MODULE_REPORT_BYTES_MAX];
};

/* Load causeway_uct_*.so of a folder, in the order of their names; no other
 * file is opened. A folder that is not there is an empty one. Files stay
 * loaded for the life of the process.
 * @param known  NULL-terminated: transports whose names are taken. */
void uct_modules_load(const char                        *folder,
                      const struct uct_transport *const *known,
                      struct uct_module_list            *list);

/* Is this a whole transport: are the functions there that every one must
 * have, and the pairs complete?
 * @param reason  [UCT_REASON_BYTES_MAX], set when not. */
bool uct_transport_check(const struct uct_transport *transport, char *reason);

#endif
