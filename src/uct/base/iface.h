/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/iface.h - for transports: the base of an interface. */
#ifndef UCT_BASE_IFACE_H_
#define UCT_BASE_IFACE_H_

#include "ucs/assert.h"
#include "uct/api/transport.h"

/* Fill the base. Every message is dropped and counted until
 * ucti_iface_set_am() is called.
 * @param params  Copied; a failure bound of 0 becomes the default. */
UCS_EXPORT void ucti_iface_init(struct uct_iface *iface, struct uct_md *md,
                                const struct uct_iface_params *params);

/* The last thing that iface_close() does to the base. */
static inline void uct_iface_cleanup(struct uct_iface *iface)
{
    ucs_assert(iface->ep_count == 0);
    ucs_assert(ucs_list_is_empty(&iface->pending));
}

#endif
