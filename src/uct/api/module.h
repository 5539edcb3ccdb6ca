/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/api/module.h - a transport in a file of its own: what the file exports.
 * The loader is uct/base/module.c, an example contrib/example-transport. */
#ifndef UCT_API_MODULE_H_
#define UCT_API_MODULE_H_

#include "uct/api/transport.h"

/* What a module file causeway_uct_<name>.so exports, under the one name
 * `causeway_uct_module`. Nothing behind struct_bytes is read before magic,
 * abi_number and struct_bytes match. */
enum {
    UCT_MODULE_MAGIC      = 0x43575554, /* "CWUT" */
    UCT_MODULE_ABI_NUMBER = 5,
};

struct uct_module {
    uint32_t                    magic;
    uint32_t                    abi_number;
    uint32_t                    struct_bytes; /* sizeof(struct uct_transport) */
    const char                 *name;
    const struct uct_transport *transport;
};

#endif
