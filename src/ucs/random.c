/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/random.c - getrandom(2) until all bytes are there. */
#include "ucs/random.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/types.h>

#include "ucs/fd.h"
#include "ucs/log.h"

ucs_status_t ucsi_random_bytes(void *bytes, size_t size_bytes)
{
    uint8_t *at   = bytes;
    size_t   left = size_bytes;

    while (left > 0) {
        ssize_t got = getrandom(at, left, 0);

        if (got > 0) {
            at += got;
            left -= (size_t)got;
        } else if ((got < 0) && (errno != EINTR)) {
            ucs_error("getrandom of %zu bytes: %m", size_bytes);
            return ucsi_status_from_errno(errno);
        }
    }
    return UCS_OK;
}

ucs_status_t ucsi_random_u64(uint64_t *value_p)
{
    uint64_t     value  = 0;
    ucs_status_t status = ucsi_random_bytes(&value, sizeof(value));

    if (status == UCS_OK) {
        *value_p = value;
    }
    return status;
}
