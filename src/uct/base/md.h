/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/md.h - what every transport does with the base of a memory
 * domain, and the sentence that says why something is not possible. */
#ifndef UCT_BASE_MD_H_
#define UCT_BASE_MD_H_

#include "uct/api/transport.h"

static inline void uct_md_init(struct uct_md           *md,
                               const struct uct_device *device)
{
    md->transport = device->transport;
    md->device    = *device;
}

/* Write a sentence that says why not; cut at UCT_REASON_BYTES_MAX.
 * @param reason  [UCT_REASON_BYTES_MAX], or NULL: nobody wants to know. */
UCS_EXPORT UCS_PRINTF(2, 3) void ucti_reason(char *reason, const char *format,
                                             ...);

#endif
