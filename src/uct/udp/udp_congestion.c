/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_congestion.c - which control. */
#include "uct/udp/udp_congestion.h"

#include "ucs/assert.h"
#include "uct/udp/udp_wire.h"

static const struct udp_cc_ops *const congestion_ops[UDP_CC_COUNT] = {
    [UDP_CC_RATE]  = &udp_cc_rate_ops,
    [UDP_CC_FIXED] = &udp_cc_fixed_ops,
};

void udp_cc_init(struct udp_cc *cc, enum udp_cc_kind kind,
                 uint64_t window_bytes, uint64_t now_ns)
{
    ucs_assert(kind < UDP_CC_COUNT);
    *cc = (struct udp_cc){.ops           = congestion_ops[kind],
                          .window_bytes  = window_bytes,
                          .segment_bytes = UDP_PACKET_BYTES_MIN};
    cc->ops->init(cc, now_ns);
}
