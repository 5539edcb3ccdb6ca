/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_loss.h - how long a round trip is, and so how long to wait.
 *
 * Smoothed as RFC 6298 says, with a floor of 1 ms because an answer here comes
 * from software that has other things to do. After the last segment of a burst
 * nothing follows that could tell of its loss; the tail-loss probe (RFC 8985,
 * RFC 9002 6.2) sends it once more long before the time-out.
 *
 * Pure: time is an argument. */
#ifndef UCT_UDP_LOSS_H_
#define UCT_UDP_LOSS_H_

#include "ucs/compiler.h"

/* A segment is lost when one sent so many later on its channel has arrived
 * (RFC 9002 6.1.1). */
enum {
    UDP_LOSS_ORDER_COUNT   = 3,
    UDP_LOSS_BACKOFF_MAX   = 16,
    UDP_LOSS_PATIENT_COUNT = 5, /* guess; at 10 % loss 1 in 100,000 */
};

#define UDP_RTO_FIRST_NS ((uint64_t)5 * 1000 * 1000)
#define UDP_RTO_MIN_NS   ((uint64_t)1000 * 1000)
#define UDP_RTO_MAX_NS   ((uint64_t)1000 * 1000 * 1000)
#define UDP_PROBE_MIN_NS ((uint64_t)200 * 1000)

/* min_ns   of all samples; UINT64_MAX: none yet
 * backoff  time-outs since the last segment arrived */
struct udp_rtt {
    uint64_t smoothed_ns, variance_ns;
    uint64_t min_ns;
    uint64_t latest_ns;
    unsigned backoff;
};

void udp_rtt_init(struct udp_rtt *rtt);

/* A segment was answered after sample_ns, of which the peer, as it says,
 * waited delay_ns. Believed only down to the shortest trip seen. */
void udp_rtt_sample(struct udp_rtt *rtt, uint64_t sample_ns, uint64_t delay_ns);

/* How long to wait before a segment counts as lost. */
uint64_t udp_rtt_timeout_ns(const struct udp_rtt *rtt);

/* A segment that was sent so long before one that arrived is lost. */
uint64_t udp_rtt_patience_ns(const struct udp_rtt *rtt);

/* How long to wait for anything before the last segment is sent again. */
uint64_t udp_rtt_probe_ns(const struct udp_rtt *rtt);

/* How often a wait has doubled after so many waits in vain. The first ones do
 * not double it: a path that loses one packet in ten would idle for many round
 * trips now and then; the window is one segment by then. A path that is dead
 * is asked more and more seldom. */
UCS_INLINE unsigned udp_loss_shift(unsigned count)
{
    return (count <= UDP_LOSS_PATIENT_COUNT) ? 0
                                             : count - UDP_LOSS_PATIENT_COUNT;
}

/* A segment timed out; something arrived. */
void            udp_rtt_timed_out(struct udp_rtt *rtt);
UCS_INLINE void udp_rtt_arrived(struct udp_rtt *rtt)
{
    rtt->backoff = 0;
}

#endif
