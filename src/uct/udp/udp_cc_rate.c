/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_cc_rate.c - congestion control by delivery rate and shortest
 * round trip.
 *
 *   start-up --rate grows no more--> drain --queue is gone--> steady
 *      ^ pace 2.9 x                  pace 0.35 x              pace 1.25, 0.75,
 * 1 x 6 |   ^ 10 s without a shorter   | round trip: 4 packets    | for 200 ms:
 * probe -------'
 *
 * Loss does not count, but for a time-out: then nothing is known until
 * something arrives. Source: draft-cardwell-iccrg-bbr-congestion-control-00;
 * the windowed maximum is one slot per round trip. */
#include "uct/udp/udp_congestion.h"

enum rate_state { RATE_STARTUP, RATE_DRAIN, RATE_STEADY, RATE_PROBE };

enum {
    RATE_PERCENT_STARTUP = 289,
    RATE_PERCENT_DRAIN   = 35,
    RATE_PERCENT_WINDOW  = 200,
    RATE_PHASE_COUNT     = 8,
    RATE_FULL_ROUNDS     = 3,
    RATE_SEGMENTS_MIN    = 4,
    RATE_SEGMENTS_FIRST  = 32,
    RATE_SEGMENT_BYTES   = 8968, /* longer ones count as so long */
    RATE_CAUTIOUS_BYTES  = 4800, /* after a time-out: a few packets ask */
};

#define RATE_RTT_LIFE_NS (10 * 1000000000ull)
#define RATE_PROBE_NS    (200 * 1000000ull)
/* So much beyond the model: acks come in heaps when the peer is software, some
 * delays of an acknowledgement apart. */
#define RATE_EXTRA_BYTES (64 * 1024ull)
#define RATE_EXTRA_NS    (200 * 1000ull)
/* Where those alone fill a queue for longer than this, fewer: a slow path is
 * shared, and everybody's extra bytes wait in the same queue. A process that
 * is not scheduled now and then makes a queue of some ms, too. */
#define RATE_QUEUE_NS (10 * 1000000ull)
/* No pacing beyond 10 GB/s, and none below so many bytes on the way. */
#define RATE_PACE_MAX_BPS 10000000000ull

static const uint16_t rate_phase_percent[RATE_PHASE_COUNT] = {
    125, 75, 100, 100, 100, 100, 100, 100};

static uint64_t rate_segments(const struct udp_cc *cc, unsigned count)
{
    return (uint64_t)count *
           ucs_min(cc->segment_bytes, (uint32_t)RATE_SEGMENT_BYTES);
}

static void rate_init(struct udp_cc *cc, uint64_t now_ns)
{
    struct udp_cc_rate *rate = &cc->of.rate;

    rate->min_rtt_ns    = UINT64_MAX;
    rate->min_rtt_at_ns = now_ns;
    rate->phase_ns      = now_ns;
    rate->state         = RATE_STARTUP;
    cc->window_bytes    = rate_segments(cc, RATE_SEGMENTS_FIRST);
}

/* Bytes that the path holds when nothing waits; 0: not known. */
static uint64_t rate_path_bytes(const struct udp_cc_rate *rate)
{
    if ((rate->rate_max_Bps == 0) || (rate->min_rtt_ns == UINT64_MAX)) {
        return 0;
    }
    return (uint64_t)((double)rate->rate_max_Bps * (double)rate->min_rtt_ns *
                      1e-9);
}

static uint64_t rate_extra_bytes(const struct udp_cc_rate *rate)
{
    uint64_t extra = RATE_EXTRA_BYTES + (uint64_t)((double)rate->rate_max_Bps *
                                                   RATE_EXTRA_NS * 1e-9);
    uint64_t queue_ns = (rate->smooth_rtt_ns > rate->min_rtt_ns)
                            ? rate->smooth_rtt_ns - rate->min_rtt_ns
                            : 0;

    return (queue_ns <= RATE_QUEUE_NS) ? extra
                                       : extra * RATE_QUEUE_NS / queue_ns;
}

static void rate_take_rtt(struct udp_cc_rate         *rate,
                          const struct udp_cc_sample *sample)
{
    if (sample->rtt_ns == 0) {
        return;
    }
    rate->smooth_rtt_ns = (rate->smooth_rtt_ns == 0)
                              ? sample->rtt_ns
                              : (7 * rate->smooth_rtt_ns + sample->rtt_ns) / 8;
    if (sample->rtt_ns <= rate->min_rtt_ns) {
        rate->min_rtt_ns    = sample->rtt_ns;
        rate->min_rtt_at_ns = sample->now_ns;
    } else if ((rate->state != RATE_PROBE) &&
               (sample->now_ns - rate->min_rtt_at_ns > RATE_RTT_LIFE_NS)) {
        rate->state         = RATE_PROBE;
        rate->phase_ns      = sample->now_ns;
        rate->min_rtt_ns    = sample->rtt_ns;
        rate->min_rtt_at_ns = sample->now_ns;
    }
}

static void rate_new_round(struct udp_cc_rate *rate, bool is_app_limited)
{
    uint64_t best = 0;
    unsigned index;

    ++rate->round;
    rate->rate_Bps[rate->round % UDP_CC_ROUND_COUNT] = 0;
    for (index = 0; index < UDP_CC_ROUND_COUNT; ++index) {
        best = ucs_max(best, rate->rate_Bps[index]);
    }
    rate->rate_max_Bps = best;
    if ((rate->state != RATE_STARTUP) || is_app_limited) {
        return;
    }
    if (best >= rate->full_Bps + rate->full_Bps / 4) {
        rate->full_Bps   = best;
        rate->full_count = 0;
    } else if (++rate->full_count >= RATE_FULL_ROUNDS) {
        rate->state = RATE_DRAIN;
    }
}

/* @return false: the sample was limited by the sender and says less than is
 *         known already. */
static void rate_take_rate(struct udp_cc_rate         *rate,
                           const struct udp_cc_sample *sample)
{
    uint64_t *best = &rate->rate_Bps[rate->round % UDP_CC_ROUND_COUNT];
    uint64_t  Bps;

    if (sample->interval_ns == 0) {
        return;
    }
    Bps = (uint64_t)((double)sample->delivered_bytes * 1e9 /
                     (double)sample->interval_ns);
    if (sample->is_app_limited && (Bps < rate->rate_max_Bps)) {
        /* What was known stays known: the round tells nothing. */
        *best = ucs_max(*best, rate->rate_max_Bps);
        return;
    }
    *best              = ucs_max(*best, Bps);
    rate->rate_max_Bps = ucs_max(rate->rate_max_Bps, Bps);
}

static void rate_step(struct udp_cc_rate         *rate,
                      const struct udp_cc_sample *sample)
{
    switch ((enum rate_state)rate->state) {
    case RATE_STARTUP:
        break;
    case RATE_DRAIN:
        if (sample->flight_bytes <= rate_path_bytes(rate)) {
            rate->state    = RATE_STEADY;
            rate->phase    = 2;
            rate->phase_ns = sample->now_ns;
        }
        break;
    case RATE_STEADY:
        if (sample->now_ns - rate->phase_ns > rate->min_rtt_ns) {
            rate->phase    = (uint8_t)((rate->phase + 1) % RATE_PHASE_COUNT);
            rate->phase_ns = sample->now_ns;
        }
        break;
    case RATE_PROBE:
        if (sample->now_ns - rate->phase_ns > RATE_PROBE_NS) {
            rate->state    = RATE_STEADY;
            rate->phase    = 0;
            rate->phase_ns = sample->now_ns;
        }
        break;
    }
}

static unsigned rate_pace_percent(const struct udp_cc_rate *rate)
{
    switch ((enum rate_state)rate->state) {
    case RATE_STARTUP:
        return RATE_PERCENT_STARTUP;
    case RATE_DRAIN:
        return RATE_PERCENT_DRAIN;
    case RATE_PROBE:
        return 100;
    case RATE_STEADY:
        break;
    }
    return rate_phase_percent[rate->phase];
}

/* Draw the conclusions. */
static void rate_set(struct udp_cc *cc)
{
    const struct udp_cc_rate *rate    = &cc->of.rate;
    uint64_t                  path    = rate_path_bytes(rate);
    uint64_t                  minimum = rate_segments(cc, RATE_SEGMENTS_MIN);
    unsigned percent = (rate->state == RATE_STARTUP) ? RATE_PERCENT_STARTUP
                                                     : RATE_PERCENT_WINDOW;

    if (path == 0) {
        return;
    }
    if (rate->state == RATE_PROBE) {
        cc->window_bytes = ucs_max(minimum, path / 2);
    } else {
        cc->window_bytes =
            ucs_max(minimum, path * percent / 100 + rate_extra_bytes(rate));
    }
    cc->pace_Bps = rate->rate_max_Bps * rate_pace_percent(rate) / 100;
    if (cc->pace_Bps > RATE_PACE_MAX_BPS) {
        cc->pace_Bps = 0;
    }
}

static void rate_acked(struct udp_cc *cc, const struct udp_cc_sample *sample)
{
    struct udp_cc_rate *rate = &cc->of.rate;

    rate->is_cautious = false;
    rate_take_rtt(rate, sample);
    rate_take_rate(rate, sample);
    if (sample->prior_bytes >= rate->round_end_bytes) {
        rate->round_end_bytes = sample->total_bytes;
        rate_new_round(rate, sample->is_app_limited);
        rate_take_rate(rate, sample);
    }
    rate_step(rate, sample);
    rate_set(cc);
}

static void rate_lost(struct udp_cc *cc, uint64_t lost_bytes, uint64_t now_ns)
{
    (void)cc;
    (void)lost_bytes;
    (void)now_ns;
}

static void rate_timed_out(struct udp_cc *cc, uint64_t now_ns)
{
    (void)now_ns;
    /* The second in vain: one at a time. */
    cc->window_bytes        = cc->of.rate.is_cautious ? 1 : RATE_CAUTIOUS_BYTES;
    cc->of.rate.is_cautious = true;
}

const struct udp_cc_ops udp_cc_rate_ops = {
    .name      = "rate",
    .init      = rate_init,
    .acked     = rate_acked,
    .lost      = rate_lost,
    .timed_out = rate_timed_out,
};
