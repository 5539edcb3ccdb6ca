/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_loss.c - round trips and time-outs. */
#include "uct/udp/udp_loss.h"

enum {
    LOSS_GRAIN_NS = 50 * 1000,
    /* One channel may be looked at so much later than the other. */
    LOSS_CHANNELS_NS = 100 * 1000,
};

void udp_rtt_init(struct udp_rtt *rtt)
{
    *rtt = (struct udp_rtt){.min_ns = UINT64_MAX};
}

void udp_rtt_sample(struct udp_rtt *rtt, uint64_t sample_ns, uint64_t delay_ns)
{
    uint64_t difference_ns;

    rtt->min_ns = ucs_min(rtt->min_ns, sample_ns);
    if (sample_ns >= rtt->min_ns + delay_ns) {
        sample_ns -= delay_ns;
    }
    rtt->latest_ns = sample_ns;
    if (rtt->smoothed_ns == 0) {
        rtt->smoothed_ns = sample_ns + 1; /* 0 means none */
        rtt->variance_ns = sample_ns / 2;
        return;
    }
    difference_ns    = (rtt->smoothed_ns > sample_ns)
                           ? rtt->smoothed_ns - sample_ns
                           : sample_ns - rtt->smoothed_ns;
    rtt->variance_ns = (3 * rtt->variance_ns + difference_ns) / 4;
    rtt->smoothed_ns = (7 * rtt->smoothed_ns + sample_ns + 7) / 8;
}

uint64_t udp_rtt_timeout_ns(const struct udp_rtt *rtt)
{
    uint64_t timeout_ns = UDP_RTO_FIRST_NS;

    if (rtt->smoothed_ns != 0) {
        timeout_ns = rtt->smoothed_ns +
                     ucs_max(4 * rtt->variance_ns, (uint64_t)LOSS_GRAIN_NS);
    }
    timeout_ns = ucs_max(timeout_ns, UDP_RTO_MIN_NS);
    timeout_ns = ucs_min(timeout_ns, UDP_RTO_MAX_NS);
    return ucs_min(timeout_ns << udp_loss_shift(rtt->backoff), UDP_RTO_MAX_NS);
}

uint64_t udp_rtt_patience_ns(const struct udp_rtt *rtt)
{
    uint64_t longest_ns = ucs_max(rtt->smoothed_ns, rtt->latest_ns);

    return longest_ns + longest_ns / 4 + LOSS_CHANNELS_NS;
}

uint64_t udp_rtt_probe_ns(const struct udp_rtt *rtt)
{
    uint64_t probe_ns = 2 * rtt->smoothed_ns;

    if (probe_ns == 0) {
        return udp_rtt_timeout_ns(rtt);
    }
    return ucs_max(probe_ns, UDP_PROBE_MIN_NS) << udp_loss_shift(rtt->backoff);
}

void udp_rtt_timed_out(struct udp_rtt *rtt)
{
    if (rtt->backoff < UDP_LOSS_BACKOFF_MAX) {
        ++rtt->backoff;
    }
}
