/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_seq.h - numbers that wrap: which of two is the later one.
 *
 * Valid while the two are less than 2^31 apart; a window is 2^12. */
#ifndef UCT_UDP_SEQ_H_
#define UCT_UDP_SEQ_H_

#include "ucs/compiler.h"

/* How far `a` is behind `b`; negative when it comes before. */
UCS_INLINE int32_t udp_seq_distance(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

UCS_INLINE bool udp_seq_is_before(uint32_t a, uint32_t b)
{
    return udp_seq_distance(a, b) < 0;
}

/* The later of the two. */
UCS_INLINE uint32_t udp_seq_max(uint32_t a, uint32_t b)
{
    return udp_seq_is_before(a, b) ? b : a;
}

/* The number nearest to `around` with these low 16 bits. */
UCS_INLINE uint32_t udp_seq_widen(uint32_t around, uint16_t low)
{
    int16_t distance = (int16_t)(uint16_t)(low - (uint16_t)around);

    return around + (uint32_t)(int32_t)distance;
}

#endif
