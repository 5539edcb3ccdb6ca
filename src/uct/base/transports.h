/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/transports.h - the transports that are part of libuct. */
#ifndef UCT_BASE_TRANSPORTS_H_
#define UCT_BASE_TRANSPORTS_H_

#include "uct/api/transport.h"

/* NULL-terminated. */
extern const struct uct_transport *const uct_builtin_transports[];

#endif
