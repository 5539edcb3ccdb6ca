/* SPDX-License-Identifier: BSD-3-Clause */
/* test_arrows_pipeline.c - protocol 4, Send/Receive Pipeline, and synchronous
 * messages, arrow by arrow, and broken. */
#include "ucp/breaks.h"
#include "ucp/suites.h"

#define SEND_ONLY "UCX_RNDV_SCHEME", "am"

static const struct scenario pipeline_scenarios[] = {
    {.name   = "pipeline",
     .bytes  = 30000,
     .env    = {"UCX_RNDV_THRESH", "0", "UCX_ZCOPY_THRESH", "inf", SEND_ONLY},
     .arrows = {"S RNDV len=30000", "R ACK", "S FRAG am_bcopy x3"}},
    {.name   = "pipeline, from the buffer",
     .bytes  = 300000,
     .env    = {"UCX_RNDV_THRESH", "0", "UCX_ZCOPY_THRESH", "1", SEND_ONLY},
     .arrows = {"S RNDV len=300000", "R ACK", "S FRAG am_zcopy x5"}},
    {.name          = "pipeline, unexpected",
     .bytes         = 30000,
     .receive_after = 1,
     .env    = {"UCX_RNDV_THRESH", "0", "UCX_ZCOPY_THRESH", "inf", SEND_ONLY},
     .arrows = {"S RNDV len=30000", "R ACK", "S FRAG am_bcopy x3"}},
    {.name         = "pipeline, iov to iov",
     .bytes        = 30000,
     .send_type    = UCP_DT_IOV,
     .receive_type = UCP_DT_IOV,
     .env    = {"UCX_RNDV_THRESH", "0", "UCX_ZCOPY_THRESH", "1", SEND_ONLY},
     .arrows = {"S RNDV len=30000", "R ACK", "S FRAG am_zcopy"}},
    {.name           = "pipeline, truncated",
     .bytes          = 30000,
     .receive_bytes  = 20000,
     .receive_status = UCS_ERR_MESSAGE_TRUNCATED,
     .env    = {"UCX_RNDV_THRESH", "0", "UCX_ZCOPY_THRESH", "inf", SEND_ONLY},
     .arrows = {"S RNDV len=30000", "R ABORT"}},
    {.name   = "pipeline, all in the start",
     .bytes  = 100,
     .env    = {"UCX_RNDV_THRESH", "0", "UCX_ZCOPY_THRESH", "inf", SEND_ONLY},
     .arrows = {"S RNDV len=100", "R ACK off=100 len=0"}},
    {.name    = "synchronous",
     .bytes   = 100,
     .is_sync = true,
     .arrows  = {"S RNDV len=100", "R ACK off=100 len=0"}},
    {.name          = "synchronous, empty, unexpected",
     .bytes         = 0,
     .is_sync       = true,
     .receive_after = 1,
     .arrows        = {"S RNDV len=0", "R ACK off=0 len=0"}},
    {.name         = "pipeline, generic to strided",
     .bytes        = 30000,
     .send_type    = UCP_DT_GENERIC,
     .receive_type = UCP_DT_STRIDED,
     .env    = {"UCX_RNDV_THRESH", "0", "UCX_ZCOPY_THRESH", "1", SEND_ONLY},
     .arrows = {"S RNDV len=30000", "R ACK", "S FRAG am_bcopy x3"}},
    {.name         = "pipeline, strided to generic",
     .bytes        = 30000,
     .send_type    = UCP_DT_STRIDED,
     .receive_type = UCP_DT_GENERIC,
     .env    = {"UCX_RNDV_THRESH", "0", "UCX_ZCOPY_THRESH", "1", SEND_ONLY},
     .arrows = {"S RNDV len=30000", "R ACK", "S FRAG am_bcopy x3"}},
    {0},
};

static void pipeline__is_as_drawn(const struct test_param *param)
{
    scenarios_are_as_drawn(pipeline_scenarios, param->value);
}

static void pipeline__survives(const struct test_param *param)
{
    scenarios_survive(pipeline_scenarios, param->value);
}

static const struct test_case pipeline_cases[] = {
    TEST(pipeline__is_as_drawn), TEST_TIMEOUT(pipeline__survives, 120), {0}};

const struct test_suite arrows_pipeline_suite = {
    .name = "arrows_pipeline", .cases = pipeline_cases, .params = play_wires};
