/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_congestion.c - the controls on a modelled path: one queue with a
 * rate, a delay and random loss. */
#include "uct/udp/udp_congestion.h"

#include "uct/suites.h"

enum { PACKET = 1200 };

/* A bulk flow for so long: packets leave as window and pace allow, pass the
 * bottleneck one by one, and come back.
 * @return bytes per second that arrived. */
struct path {
    uint64_t rate_Bps, delay_ns;
    unsigned loss; /* per thousand */
};

enum { QUEUE_COUNT = 1 << 16 };

struct flow {
    uint64_t sent_ns, back_ns, prior_bytes, prior_ns;
    bool     is_lost;
};

static struct flow flows[QUEUE_COUNT];

static void take_back(struct udp_cc *cc, const struct flow *flow,
                      uint64_t *flight, uint64_t *total, uint64_t *total_ns)
{
    struct udp_cc_sample sample = {.now_ns      = flow->back_ns,
                                   .acked_bytes = PACKET};

    *flight -= PACKET;
    if (flow->is_lost) {
        cc->ops->lost(cc, PACKET, flow->back_ns);
        return;
    }
    *total += PACKET;
    sample.rtt_ns          = flow->back_ns - flow->sent_ns;
    sample.prior_bytes     = flow->prior_bytes;
    sample.total_bytes     = *total;
    sample.delivered_bytes = *total - flow->prior_bytes;
    sample.interval_ns     = flow->back_ns - flow->prior_ns;
    sample.flight_bytes    = *flight;
    *total_ns              = flow->back_ns;
    cc->ops->acked(cc, &sample);
}

static double run(struct udp_cc *cc, const struct path *path, double seconds)
{
    uint64_t now = 1000000000ull, end = now + (uint64_t)(seconds * 1e9);
    uint64_t begin = now, link = now, pace = now, flight = 0, total = 0;
    uint64_t total_ns = now, wire_ns = PACKET * 1000000000ull / path->rate_Bps;
    unsigned head = 0, tail = 0;

    udp_cc_init(cc, UDP_CC_RATE, 0, now);
    while (now < end) {
        if ((flight < cc->window_bytes) && (pace <= now) &&
            (tail - head < QUEUE_COUNT)) {
            struct flow *flow = &flows[tail++ % QUEUE_COUNT];

            link  = ucs_max(link, now) + wire_ns;
            *flow = (struct flow){now, link + path->delay_ns, total, total_ns,
                                  test_random_below(1000) < path->loss};
            flight += PACKET;
            pace = ucs_max(pace, now) + udp_cc_pace_ns(cc, PACKET);
        } else {
            uint64_t back =
                (tail == head) ? UINT64_MAX : flows[head % QUEUE_COUNT].back_ns;

            now = (flight < cc->window_bytes) ? ucs_min(back, pace) : back;
            if (now == back) {
                take_back(cc, &flows[head++ % QUEUE_COUNT], &flight, &total,
                          &total_ns);
            }
        }
    }
    return (double)total * 1e9 / (double)(end - begin);
}

static void rate__fills_the_path(const struct test_param *param)
{
    static const struct path paths[] = {
        {12500000, 1000000, 0}, /* 100 Mbit/s, 1 ms */
        {125000000, 200000, 0}, /* 1 Gbit/s, 0.2 ms */
        {1250000, 20000000, 0}, /* 10 Mbit/s, 20 ms */
    };
    struct udp_cc cc;
    unsigned      index;
    double        rate;

    (void)param;
    for (index = 0; index < UCS_ARRAY_COUNT(paths); ++index) {
        rate = run(&cc, &paths[index], 3);
        ck_assert_double_gt(rate, 0.85 * (double)paths[index].rate_Bps);
    }
}

static void rate__random_loss_costs_what_is_lost(const struct test_param *param)
{
    const struct path path = {12500000, 1000000, 10};
    struct udp_cc     cc;

    (void)param;
    ck_assert_double_gt(run(&cc, &path, 3), 0.8 * 12500000);
}

/* The queue before the bottleneck stays within two paths and the heap. */
static void rate__keeps_the_queue_short(const struct test_param *param)
{
    const struct path path = {12500000, 10000000, 0};
    struct udp_cc     cc;

    (void)param;
    (void)run(&cc, &path, 3);
    ck_assert_uint_le(cc.window_bytes, 3 * 125000 + 65536);
}

static void rate__timeout_begins_small(const struct test_param *param)
{
    const struct path path = {12500000, 10000000, 0};
    struct udp_cc     cc;

    (void)param;
    (void)run(&cc, &path, 1);
    cc.ops->timed_out(&cc, 5000000000ull);
    ck_assert_uint_le(cc.window_bytes, 8 * cc.segment_bytes);
    cc.ops->timed_out(&cc, 6000000000ull);
    ck_assert_uint_le(cc.window_bytes, cc.segment_bytes); /* one at a time */
}

static void fixed__stays(const struct test_param *param)
{
    struct udp_cc_sample sample = {.acked_bytes = 5};
    struct udp_cc        cc;

    (void)param;
    udp_cc_init(&cc, UDP_CC_FIXED, 12345, 0);
    cc.ops->acked(&cc, &sample);
    cc.ops->lost(&cc, 5, 0);
    cc.ops->timed_out(&cc, 0);
    ck_assert_uint_eq(cc.window_bytes, 12345);
    ck_assert_uint_eq(udp_cc_pace_ns(&cc, 1000000), 0);
}

static const struct test_case cases[] = {
    TEST(rate__fills_the_path),
    TEST(rate__random_loss_costs_what_is_lost),
    TEST(rate__keeps_the_queue_short),
    TEST(rate__timeout_begins_small),
    TEST(fixed__stays),
    {0}};

const struct test_suite udp_congestion_suite = {.name  = "udp_congestion",
                                                .cases = cases};
