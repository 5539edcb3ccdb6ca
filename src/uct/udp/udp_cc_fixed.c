/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_cc_fixed.c - a window that stays as it is. */
#include "uct/udp/udp_congestion.h"

static void fixed_init(struct udp_cc *cc, uint64_t now_ns)
{
    (void)cc;
    (void)now_ns;
}

static void fixed_acked(struct udp_cc *cc, const struct udp_cc_sample *sample)
{
    (void)cc;
    (void)sample;
}

static void fixed_lost(struct udp_cc *cc, uint64_t lost_bytes, uint64_t now_ns)
{
    (void)cc;
    (void)lost_bytes;
    (void)now_ns;
}

static void fixed_timed_out(struct udp_cc *cc, uint64_t now_ns)
{
    (void)cc;
    (void)now_ns;
}

const struct udp_cc_ops udp_cc_fixed_ops = {
    .name      = "fixed",
    .init      = fixed_init,
    .acked     = fixed_acked,
    .lost      = fixed_lost,
    .timed_out = fixed_timed_out,
};
