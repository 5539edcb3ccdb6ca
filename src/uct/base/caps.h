/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/caps.h - what a transport can, as words. */
#ifndef UCT_BASE_CAPS_H_
#define UCT_BASE_CAPS_H_

#include "uct/api/transport.h"

/* The optional abilities of a transport: what is NULL in its struct. */
enum uct_cap {
    UCT_CAP_AM_SHORT,
    UCT_CAP_AM_ZCOPY,
    UCT_CAP_PUT_SHORT,
    UCT_CAP_PUT_BCOPY,
    UCT_CAP_PUT_ZCOPY,
    UCT_CAP_GET_BCOPY,
    UCT_CAP_GET_ZCOPY,
    UCT_CAP_ATOMIC,
    UCT_CAP_KEEP,
    UCT_CAP_WAKEUP,
    UCT_CAP_COUNT
};

/* "am_short" and so on; static. */
UCS_EXPORT const char *ucti_cap_name(enum uct_cap cap);

UCS_EXPORT bool ucti_transport_can(const struct uct_transport *transport,
                                   enum uct_cap                cap);

/* Describe an interface: one "name: value" per line, for `causeway info`.
 * @param text  [text_bytes], always terminated.
 * @return bytes that the whole text has, without NUL: more than fit, then it
 *         was cut. */
UCS_EXPORT size_t ucti_caps_text(const struct uct_transport  *transport,
                                 const struct uct_iface_attr *attr, char *text,
                                 size_t text_bytes);

#endif
