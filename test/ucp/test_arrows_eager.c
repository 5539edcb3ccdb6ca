/* SPDX-License-Identifier: BSD-3-Clause */
/* test_arrows_eager.c - protocols 1 to 3, arrow by arrow, and broken. */
#include "ucp/breaks.h"
#include "ucp/suites.h"

static void no_short(struct mock_setup *setup)
{
    setup->absent = 1u << MOCK_AM_SHORT;
}

/* What is lent costs nothing more: by cost, nothing is copied that need not. */
static void free_registration(struct mock_setup *setup)
{
    setup->devices[0].cost.register_base_s     = 0;
    setup->devices[0].cost.register_per_byte_s = 0;
}

static void small_bcopy(struct mock_setup *setup)
{
    setup->absent = (1u << MOCK_AM_SHORT) | (1u << MOCK_AM_ZCOPY);
    setup->devices[0].am.bcopy_bytes_max = 1024;
}

static const struct scenario eager_scenarios[] = {
    {.name   = "immediate",
     .bytes  = 100,
     .arrows = {"S MATCH am_short bytes=108"}},
    {.name   = "immediate, empty",
     .bytes  = 0,
     .arrows = {"S MATCH am_short bytes=8"}},
    {.name          = "immediate, unexpected",
     .bytes         = 100,
     .receive_after = 1,
     .arrows        = {"S MATCH am_short bytes=108"}},
    {.name           = "immediate, truncated",
     .bytes          = 100,
     .receive_bytes  = 50,
     .receive_status = UCS_ERR_MESSAGE_TRUNCATED,
     .arrows         = {"S MATCH am_short bytes=108"}},
    {.name         = "immediate, iov to iov",
     .bytes        = 100,
     .send_type    = UCP_DT_IOV,
     .receive_type = UCP_DT_IOV,
     .arrows       = {"S MATCH am_short bytes=108"}},
    {.name    = "prepared",
     .bytes   = 4000,
     .prepare = free_registration,
     .env     = {"UCX_ZCOPY_THRESH", "1", "UCX_RNDV_THRESH", "8000"},
     .arrows  = {"S MATCH am_zcopy bytes=4008"}},
    {.name      = "prepared, iov",
     .bytes     = 4000,
     .send_type = UCP_DT_IOV,
     .prepare   = free_registration,
     .env       = {"UCX_ZCOPY_THRESH", "1", "UCX_RNDV_THRESH", "8000"},
     .arrows    = {"S MATCH am_zcopy bytes=4008"}},
    {.name          = "prepared, unexpected",
     .bytes         = 4000,
     .receive_after = 1,
     .prepare       = free_registration,
     .env           = {"UCX_ZCOPY_THRESH", "1", "UCX_RNDV_THRESH", "8000"},
     .arrows        = {"S MATCH am_zcopy bytes=4008"}},
    {.name    = "allocated",
     .bytes   = 4000,
     .prepare = no_short,
     .env     = {"UCX_ZCOPY_THRESH", "inf", "UCX_RNDV_THRESH", "8000"},
     .arrows  = {"S MATCH am_bcopy bytes=4008"}},
    {.name    = "allocated, in fragments",
     .bytes   = 4000,
     .prepare = small_bcopy,
     .env     = {"UCX_ZCOPY_THRESH", "inf", "UCX_RNDV_THRESH", "inf"},
     .arrows  = {"S FIRST am_bcopy len=4000 bytes=1024",
                 "S MORE am_bcopy off=1000 bytes=1024",
                 "S MORE am_bcopy off=2008 bytes=1024",
                 "S MORE am_bcopy off=3016 bytes=1000"}},
    {.name          = "allocated, in fragments, unexpected",
     .bytes         = 4000,
     .receive_after = 2,
     .prepare       = small_bcopy,
     .env           = {"UCX_ZCOPY_THRESH", "inf", "UCX_RNDV_THRESH", "inf"},
     .arrows        = {"S FIRST am_bcopy len=4000", "S MORE am_bcopy x3"}},
    {.name         = "allocated, generic to strided",
     .bytes        = 4000,
     .send_type    = UCP_DT_GENERIC,
     .receive_type = UCP_DT_STRIDED,
     .env          = {"UCX_ZCOPY_THRESH", "1", "UCX_RNDV_THRESH", "8000"},
     .arrows       = {"S MATCH am_bcopy bytes=4008"}},
    {.name         = "allocated, in fragments, strided to generic",
     .bytes        = 4000,
     .send_type    = UCP_DT_STRIDED,
     .receive_type = UCP_DT_GENERIC,
     .prepare      = small_bcopy,
     .env          = {"UCX_ZCOPY_THRESH", "inf", "UCX_RNDV_THRESH", "inf"},
     .arrows       = {"S FIRST am_bcopy len=4000", "S MORE am_bcopy x3"}},
    {0},
};

static void eager__is_as_drawn(const struct test_param *param)
{
    scenarios_are_as_drawn(eager_scenarios, param->value);
}

static void eager__survives(const struct test_param *param)
{
    scenarios_survive(eager_scenarios, param->value);
}

static const struct test_case eager_cases[] = {
    TEST(eager__is_as_drawn), TEST_TIMEOUT(eager__survives, 120), {0}};

const struct test_suite arrows_eager_suite = {
    .name = "arrows_eager", .cases = eager_cases, .params = play_wires};
