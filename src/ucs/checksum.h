/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/checksum.h - a sum over bytes that finds accidents, not forgery. */
#ifndef UCS_CHECKSUM_H_
#define UCS_CHECKSUM_H_

#include <stddef.h>
#include <stdint.h>

#include "ucs/compiler.h"

/* Fowler-Noll-Vo 1a, 32 bits: each step is a bijection of the state, so a
 * change of one byte always shows. */
UCS_INLINE uint32_t ucs_checksum32(const uint8_t *bytes, size_t size_bytes)
{
    uint32_t sum = 2166136261u;

    for (size_t i = 0; i < size_bytes; ++i) {
        sum = (sum ^ bytes[i]) * 16777619u;
    }
    return sum;
}

#endif
