/* SPDX-License-Identifier: BSD-3-Clause */
/* test_udp_loss.c - round trips and what follows from them. */
#include "uct/udp/udp_loss.h"

#include "ucs/clock.h"
#include "uct/suites.h"

static struct udp_rtt rtt;

static void setup(const struct test_param *param)
{
    (void)param;
    udp_rtt_init(&rtt);
}

static void timeout__before_anything_is_known(const struct test_param *param)
{
    (void)param;
    ck_assert_uint_eq(udp_rtt_timeout_ns(&rtt), UDP_RTO_FIRST_NS);
    ck_assert_uint_eq(udp_rtt_probe_ns(&rtt), UDP_RTO_FIRST_NS);
}

static void timeout__has_a_floor(const struct test_param *param)
{
    unsigned index;

    (void)param;
    for (index = 0; index < 100; ++index) {
        udp_rtt_sample(&rtt, 10 * UCS_NS_PER_US, 0);
    }
    ck_assert_uint_eq(udp_rtt_timeout_ns(&rtt), UDP_RTO_MIN_NS);
    ck_assert_uint_eq(udp_rtt_probe_ns(&rtt), UDP_PROBE_MIN_NS);
}

static void timeout__follows_the_path(const struct test_param *param)
{
    unsigned index;

    (void)param;
    for (index = 0; index < 200; ++index) {
        udp_rtt_sample(&rtt, 40 * UCS_NS_PER_MS, 0);
    }
    ck_assert_uint_ge(udp_rtt_timeout_ns(&rtt), 40 * UCS_NS_PER_MS);
    ck_assert_uint_le(udp_rtt_timeout_ns(&rtt), 42 * UCS_NS_PER_MS);
    ck_assert_uint_ge(udp_rtt_probe_ns(&rtt), 79 * UCS_NS_PER_MS);
}

static void timeout__doubles_and_is_bounded(const struct test_param *param)
{
    unsigned index;
    uint64_t before_ns;

    (void)param;
    udp_rtt_sample(&rtt, 10 * UCS_NS_PER_MS, 0);
    before_ns = udp_rtt_timeout_ns(&rtt);
    for (index = 0; index < UDP_LOSS_PATIENT_COUNT; ++index) {
        udp_rtt_timed_out(&rtt);
        ck_assert_uint_eq(udp_rtt_timeout_ns(&rtt), before_ns);
    }
    udp_rtt_timed_out(&rtt);
    ck_assert_uint_eq(udp_rtt_timeout_ns(&rtt), 2 * before_ns);
    for (index = 0; index < 100; ++index) {
        udp_rtt_timed_out(&rtt);
    }
    ck_assert_uint_eq(udp_rtt_timeout_ns(&rtt), UDP_RTO_MAX_NS);
    udp_rtt_arrived(&rtt);
    ck_assert_uint_eq(udp_rtt_timeout_ns(&rtt), before_ns);
}

/* What the peer says of its delay is believed to the shortest trip only. */
static void sample__delay_is_taken_off(const struct test_param *param)
{
    (void)param;
    udp_rtt_sample(&rtt, 100, 0);
    udp_rtt_sample(&rtt, 180, 50);
    ck_assert_uint_eq(rtt.latest_ns, 130);
    udp_rtt_sample(&rtt, 120, 50);
    ck_assert_uint_eq(rtt.latest_ns, 120);
    ck_assert_uint_eq(rtt.min_ns, 100);
}

static const struct test_case cases[] = {
    TEST(timeout__before_anything_is_known),
    TEST(timeout__has_a_floor),
    TEST(timeout__follows_the_path),
    TEST(timeout__doubles_and_is_bounded),
    TEST(sample__delay_is_taken_off),
    {0}};

const struct test_suite udp_loss_suite = {
    .name = "udp_loss", .cases = cases, .setup = setup};
