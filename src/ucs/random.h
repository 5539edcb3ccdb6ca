/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/random.h - numbers that nobody can guess: secrets, keys, ids.
 *
 * Only random.c asks the kernel for them, so that a simulation can replace it
 * as it replaces the clock. Each call is a system call: for when something is
 * created, not for the data path. Any thread. Source: getrandom(2). */
#ifndef UCS_RANDOM_H_
#define UCS_RANDOM_H_

#include <stddef.h>
#include <stdint.h>

#include "ucs/compiler.h"
#include "ucs/type/status.h"

/* Fill [size_bytes] with random bytes. Waits only while the host, just booted,
 * has no randomness yet.
 * @return UCS_OK; an error of the kernel (logged): the bytes are worth nothing
 *         then and may not be used. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_random_bytes(void  *bytes,
                                                       size_t size_bytes);

/* One random number; the same answers. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_random_u64(uint64_t *value_p);

#endif
