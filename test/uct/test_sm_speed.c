/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/test_sm_speed.c - figures for the cost model: sane, quick, the same
 * for everybody in the process, and what the settings say. */
#include "uct/sm/sm_speed.h"

#include <stdlib.h>

#include "ucs/clock.h"
#include "ucs/units.h"
#include "uct/sm_stage.h"
#include "uct/suites.h"

static const struct uct_sm_options options_auto = {.chunk_Bps = UCS_UNITS_AUTO,
                                                   .cma_Bps   = UCS_UNITS_AUTO};

static void speed__is_that_of_a_machine(const struct test_param *param)
{
    uint64_t            begin_ns = ucsi_clock_ns();
    struct uct_sm_speed speed    = uct_sm_speed(&options_auto);
    uint64_t            spent_ns = ucsi_clock_ns() - begin_ns;

    (void)param;
    ck_assert_double_gt(speed.chunk_Bps, 1e7); /* also under sanitizers */
    ck_assert_double_lt(speed.chunk_Bps, 1e12);
    ck_assert_double_gt(speed.cma_Bps, 1e7);
    ck_assert_double_lt(speed.cma_Bps, 1e12);
    ck_assert_double_ge(speed.cma_overhead_s, 0);
    ck_assert_double_lt(speed.cma_overhead_s, 1e-3);
    ck_assert_double_lt((double)spent_ns / 1e9, test_scaled_seconds(1));
}

static void speed__is_measured_once(const struct test_param *param)
{
    struct uct_sm_speed first = uct_sm_speed(&options_auto);
    struct uct_sm_speed again = uct_sm_speed(&options_auto);

    (void)param;
    ck_assert(first.chunk_Bps == again.chunk_Bps);
    ck_assert(first.cma_Bps == again.cma_Bps);
    ck_assert(first.cma_overhead_s == again.cma_overhead_s);
}

static void speed__settings_override(const struct test_param *param)
{
    struct uct_sm_options options = {.chunk_Bps = 5, .cma_Bps = 7};
    struct uct_sm_speed   speed   = uct_sm_speed(&options);

    (void)param;
    ck_assert(speed.chunk_Bps == 5);
    ck_assert(speed.cma_Bps == 7);
    options.cma_Bps = UCS_UNITS_AUTO;
    speed           = uct_sm_speed(&options);
    ck_assert(speed.chunk_Bps == 5);
    ck_assert(speed.cma_Bps == uct_sm_speed(&options_auto).cma_Bps);
    options.chunk_Bps = 0; /* nothing is divided by it */
    ck_assert(uct_sm_speed(&options).chunk_Bps > 0);
}

static void speed__is_in_the_cost_model(const struct test_param *param)
{
    struct sm_end end;

    (void)param;
    ck_assert_int_eq(setenv("UCX_SM_BW", "3GBs", 1), 0);
    ck_assert_int_eq(setenv("UCX_SM_CMA_BW", "2GBs", 1), 0);
    sm_end_open(&end, false);
    ck_assert(end.attr.cost.bandwidth_Bps == 3.0 * (1 << 30));
    if (end.attr.get.zcopy_bytes_max > 0) {
        ck_assert(end.attr.get_cost.bandwidth_Bps == 2.0 * (1 << 30));
    }
    sm_end_close(&end);
}

static const struct test_case speed_cases[] = {
    TEST(speed__is_that_of_a_machine),
    TEST(speed__is_measured_once),
    TEST(speed__settings_override),
    TEST(speed__is_in_the_cost_model),
    {0},
};

const struct test_suite sm_speed_suite = {.name  = "sm_speed",
                                          .cases = speed_cases};
