/* SPDX-License-Identifier: BSD-3-Clause */
/* test_buffered_pipeline.c - protocol 8, and buffered eager messages, arrow by
 * arrow, and broken. The sender's buffer is poison from the call on. */
#include "lib/test.h"
#include "ucp/breaks.h"
#include "ucp/suites.h"

static void small_bcopy(struct mock_setup *setup)
{
    setup->absent = (1u << MOCK_AM_SHORT) | (1u << MOCK_AM_ZCOPY);
    setup->devices[0].am.bcopy_bytes_max = 1024;
}

static const struct scenario buffered_scenarios[] = {
    {.name        = "buffered pipeline",
     .bytes       = 30000,
     .is_buffered = true,
     .env         = {"UCX_RNDV_THRESH", "0", "UCX_ZCOPY_THRESH", "inf"},
     .arrows      = {"S RNDV len=30000", "R ACK", "S FRAG +"}},
    {.name        = "buffered pipeline, lent to the transport",
     .bytes       = 300000,
     .is_buffered = true,
     .env         = {"UCX_RNDV_THRESH", "0", "UCX_ZCOPY_THRESH", "1"},
     .arrows      = {"S RNDV len=300000", "R ACK", "S FRAG +"}},
    {.name          = "buffered pipeline, unexpected, iov to iov",
     .bytes         = 30000,
     .is_buffered   = true,
     .receive_after = 1,
     .send_type     = UCP_DT_IOV,
     .receive_type  = UCP_DT_IOV,
     .env           = {"UCX_RNDV_THRESH", "0", "UCX_ZCOPY_THRESH", "1"},
     .arrows        = {"S RNDV len=30000", "R ACK", "S FRAG +"}},
    {.name           = "buffered pipeline, truncated",
     .bytes          = 30000,
     .is_buffered    = true,
     .receive_bytes  = 20000,
     .receive_status = UCS_ERR_MESSAGE_TRUNCATED,
     .env            = {"UCX_RNDV_THRESH", "0", "UCX_ZCOPY_THRESH", "inf"},
     .arrows         = {"S RNDV len=30000", "R ABORT"}},
    {.name        = "buffered, immediate",
     .bytes       = 30,
     .is_buffered = true,
     .arrows      = {"S MATCH bytes=38"}},
    {.name        = "buffered, never prepared",
     .bytes       = 4000,
     .is_buffered = true,
     .env         = {"UCX_ZCOPY_THRESH", "1", "UCX_RNDV_THRESH", "8000"},
     .arrows      = {"S MATCH bytes=4008"}},
    {.name          = "buffered, eager in fragments, unexpected",
     .bytes         = 4000,
     .is_buffered   = true,
     .receive_after = 2,
     .prepare       = small_bcopy,
     .env           = {"UCX_ZCOPY_THRESH", "inf", "UCX_RNDV_THRESH", "inf"},
     .arrows        = {"S FIRST len=4000", "S MORE x3"}},
    {0},
};

static void buffered__is_as_drawn(const struct test_param *param)
{
    scenarios_are_as_drawn(buffered_scenarios, param->value);
}

static void buffered__survives(const struct test_param *param)
{
    scenarios_survive(buffered_scenarios, param->value);
}

static const struct test_case buffered_cases[] = {
    TEST(buffered__is_as_drawn), TEST_TIMEOUT(buffered__survives, 120), {0}};

const struct test_suite buffered_pipeline_suite = {
    .name = "buffered_pipeline", .cases = buffered_cases, .params = play_wires};
