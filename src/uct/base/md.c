/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/md.c - memory domains: checks at the door, and reasons. */
#include "uct/base/md.h"

#include <stdarg.h>
#include <stdio.h>

#include "ucs/assert.h"
#include "uct/api/uct.h"

void ucti_reason(char *reason, const char *format, ...)
{
    va_list args;

    if (reason != NULL) {
        va_start(args, format);
        (void)vsnprintf(reason, UCT_REASON_BYTES_MAX, format, args);
        va_end(args);
    }
}

ucs_status_t ucti_md_open(const struct uct_device *device, struct uct_md **md_p)
{
    struct uct_md *md;
    ucs_status_t   status;

    if ((device == NULL) || (device->transport == NULL) || (md_p == NULL)) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = device->transport->md_open(device, &md);
    if (status == UCS_OK) {
        ucs_assert(md->transport == device->transport);
        *md_p = md;
    }
    return status;
}

void ucti_md_close(struct uct_md *md)
{
    md->transport->md_close(md);
}
