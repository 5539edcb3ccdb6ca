/* SPDX-License-Identifier: BSD-3-Clause */
/* test_arrows_rdma.c - protocols 5 to 7, arrow by arrow, and broken: with and
 * without PUT_BEFORE_AM, on one to four rails, with receivers that cannot. */
#include "ucp/breaks.h"
#include "ucp/suites.h"

/* Rails of 10 GB/s each, and a fall-back that takes few fragments. */
static void rails(struct mock_setup *setup, unsigned count, unsigned flags)
{
    setup->device_count = count;
    for (unsigned i = 0; i < MOCK_DEVICE_COUNT_MAX; ++i) {
        setup->devices[i].flags              = flags;
        setup->devices[i].am.bcopy_bytes_max = 32 << 10;
    }
}

static void one_rail(struct mock_setup *setup)
{
    rails(setup, 1, UCT_IFACE_PUT_BEFORE_AM);
}

static void one_rail_unordered(struct mock_setup *setup)
{
    rails(setup, 1, 0);
}

static void two_rails(struct mock_setup *setup)
{
    rails(setup, 2, UCT_IFACE_PUT_BEFORE_AM);
}

static void four_rails_unordered(struct mock_setup *setup)
{
    rails(setup, 4, 0);
}

static void shared_words(struct mock_setup *setup)
{
    rails(setup, 1, UCT_IFACE_PUT_BEFORE_AM | UCT_IFACE_CLAIMS);
}

static void no_memory_keys(struct mock_setup *setup)
{
    one_rail(setup);
    setup->absent = 1u << MOCK_REGISTER;
}

/* A message has room for 13 runs, 32 + 8 + 13 * (16 + 1 + 40) bytes; they are
 * worth it because registration costs nothing. */
static void small_messages(struct mock_setup *setup)
{
    one_rail(setup);
    for (unsigned i = 0; i < MOCK_DEVICE_COUNT_MAX; ++i) {
        setup->devices[i].am.bcopy_bytes_max   = 800;
        setup->devices[i].cost.register_base_s = 0;
    }
}

static void puts_only(struct mock_setup *setup)
{
    one_rail(setup);
    setup->absent = 1u << MOCK_GET_ZCOPY;
}

#define RNDV  "UCX_RNDV_THRESH", "0"
#define GET   RNDV, "UCX_RNDV_SCHEME", "get_zcopy"
#define PUT   RNDV, "UCX_RNDV_SCHEME", "put_zcopy"
#define PPLN  RNDV, "UCX_RNDV_SCHEME", "put_ppln"
#define RAILS "UCX_MAX_RNDV_RAILS", "4", "UCX_MIN_RNDV_CHUNK_SIZE", "4k"

enum { BYTES = 60000 };

static const struct scenario get_scenarios[] = {
    {.name    = "get",
     .bytes   = BYTES,
     .prepare = one_rail,
     .env     = {GET},
     .arrows  = {"S RGET len=60000", "R get bytes=60000", "R FIN"}},
    {.name          = "get, unexpected",
     .bytes         = BYTES,
     .receive_after = 1,
     .prepare       = one_rail,
     .env           = {GET},
     .arrows        = {"S RGET", "R get", "R FIN"}},
    {.name    = "get, two rails",
     .bytes   = BYTES,
     .prepare = two_rails,
     .env     = {GET, RAILS},
     .arrows  = {"S RGET", "R get lane=0", "R get lane=1", "R FIN"}},
    {.name    = "get, four rails",
     .bytes   = BYTES,
     .prepare = four_rails_unordered,
     .env     = {GET, RAILS},
     .arrows  = {"S RGET", "R get x4", "R FIN"}},
    {.name           = "get, truncated",
     .bytes          = BYTES,
     .receive_bytes  = 1000,
     .receive_status = UCS_ERR_MESSAGE_TRUNCATED,
     .prepare        = one_rail,
     .env            = {GET},
     .arrows         = {"S RGET", "R ABORT"}},
    {.name         = "get, into pieces",
     .bytes        = BYTES,
     .receive_type = UCP_DT_IOV,
     .prepare      = one_rail,
     .env          = {GET},
     .arrows       = {"S RGET", "R get bytes=60000", "R FIN"}},
    /* The mock takes 4 remote pieces in an operation. */
    {.name      = "get, out of pieces",
     .bytes     = BYTES,
     .send_type = UCP_DT_IOV,
     .prepare   = one_rail,
     .env       = {GET},
     .arrows = {"S RGET", "R get bytes=48000", "R get bytes=12000", "R FIN"}},
    {.name         = "get, out of blocks into pieces, two rails",
     .bytes        = BYTES,
     .send_type    = UCP_DT_STRIDED,
     .receive_type = UCP_DT_IOV,
     .block_bytes  = 10000,
     .prepare      = two_rails,
     .env          = {GET, RAILS},
     .arrows       = {"S RGET", "R get +", "R FIN"}},
    {.name         = "get, into blocks that are too small",
     .bytes        = BYTES,
     .receive_type = UCP_DT_STRIDED,
     .prepare      = one_rail,
     .env          = {GET},
     .arrows       = {"S RGET", "R ACK len=60000", "S FRAG"}},
    {.name      = "get, out of blocks that are too small",
     .bytes     = BYTES,
     .send_type = UCP_DT_STRIDED,
     .prepare   = one_rail,
     .env       = {GET},
     .arrows    = {"S RNDV", "R ACK", "S FRAG"}},
    {.name        = "get, out of more pieces than a message can name",
     .bytes       = BYTES,
     .send_type   = UCP_DT_IOV,
     .piece_count = 20,
     .prepare     = small_messages,
     .env         = {GET},
     .arrows = {"S RGET", "R ACK off=39000 len=21000", "R get x4", "S FRAG",
                "R FIN"}},
    {.name         = "get, to a generic receiver, two rails",
     .bytes        = BYTES,
     .receive_type = UCP_DT_GENERIC,
     .prepare      = two_rails,
     .env          = {GET, RAILS},
     .arrows       = {"S RGET", "R ACK", "S FRAG +"}},
    {.name    = "get, which nobody can",
     .bytes   = BYTES,
     .prepare = no_memory_keys,
     .env     = {GET},
     .arrows  = {"S RNDV", "R ACK", "S FRAG"}},
    {0},
};

static const struct scenario put_scenarios[] = {
    {.name    = "put",
     .bytes   = BYTES,
     .prepare = one_rail,
     .env     = {PUT},
     .arrows  = {"S RNDV", "R PUT off=0 len=60000", "S put bytes=60000",
                 "S FIN"}},
    {.name    = "put, not before messages",
     .bytes   = BYTES,
     .prepare = one_rail_unordered,
     .env     = {PUT},
     .arrows  = {"S RNDV", "R PUT", "S put", "S FIN"}},
    {.name          = "put, unexpected",
     .bytes         = BYTES,
     .receive_after = 1,
     .prepare       = puts_only,
     .env           = {PUT},
     .arrows        = {"S RNDV", "R PUT", "S put", "S FIN"}},
    {.name    = "put, two rails",
     .bytes   = BYTES,
     .prepare = two_rails,
     .env     = {PUT, RAILS},
     .arrows  = {"S RNDV", "R PUT x2", "S put|FIN x4"}},
    {.name    = "put, four rails, not before messages",
     .bytes   = BYTES,
     .prepare = four_rails_unordered,
     .env     = {PUT, RAILS},
     .arrows  = {"S RNDV", "R PUT x4", "S put|FIN x8"}},
    {.name           = "put, truncated",
     .bytes          = BYTES,
     .receive_bytes  = 1000,
     .receive_status = UCS_ERR_MESSAGE_TRUNCATED,
     .prepare        = one_rail,
     .env            = {PUT},
     .arrows         = {"S RNDV", "R ABORT"}},
    {.name         = "put, into pieces",
     .bytes        = BYTES,
     .receive_type = UCP_DT_IOV,
     .prepare      = one_rail,
     .env          = {PUT},
     .arrows       = {"S RNDV", "R PUT off=0 len=60000", "S put bytes=48000",
                      "S put bytes=12000", "S FIN"}},
    {.name         = "put, out of pieces into blocks, not before messages",
     .bytes        = BYTES,
     .send_type    = UCP_DT_IOV,
     .receive_type = UCP_DT_STRIDED,
     .block_bytes  = 30000,
     .prepare      = one_rail_unordered,
     .env          = {PUT},
     .arrows       = {"S RNDV", "R PUT off=0 len=60000", "S put bytes=60000",
                      "S FIN"}},
    {.name         = "put, out of blocks into pieces, two rails",
     .bytes        = BYTES,
     .send_type    = UCP_DT_STRIDED,
     .receive_type = UCP_DT_IOV,
     .block_bytes  = 10000,
     .prepare      = two_rails,
     .env          = {PUT, RAILS},
     .arrows       = {"S RNDV", "R PUT x2", "S put|FIN +"}},
    {.name         = "put, into more pieces than a message can name",
     .bytes        = BYTES,
     .receive_type = UCP_DT_IOV,
     .piece_count  = 20,
     .prepare      = small_messages,
     .env          = {PUT},
     .arrows = {"S RNDV", "R PUT off=0 len=39000", "R PUT off=39000 len=21000",
                "S put|FIN x8"}},
    {.name         = "put, to a strided receiver",
     .bytes        = BYTES,
     .receive_type = UCP_DT_STRIDED,
     .prepare      = one_rail_unordered,
     .env          = {PUT},
     .arrows       = {"S RNDV", "R ACK", "S FRAG"}},
    {0},
};

#define SHARED RNDV, "UCX_RNDV_SCHEME", "shared"

enum { SHARED_BYTES = 200000 }; /* the first data and three units */

static const struct scenario shared_scenarios[] = {
    {.name     = "shared, S computes",
     .bytes    = SHARED_BYTES,
     .is_alone = true,
     .prepare  = shared_words,
     .env      = {SHARED},
     .arrows   = {"S RGET len=200000", "R ACK", "R get x3", "R FIN"}},
    {.name          = "shared, S computes, unexpected",
     .bytes         = SHARED_BYTES,
     .is_alone      = true,
     .receive_after = 1,
     .prepare       = shared_words,
     .env           = {SHARED},
     .arrows        = {"S RGET", "R ACK", "R get x3", "R FIN"}},
    {.name    = "shared, S is there",
     .bytes   = SHARED_BYTES,
     .prepare = shared_words,
     .env     = {SHARED},
     .arrows  = {"S RGET len=200000", "R ACK", "S FRAG x3"}},
    {.name           = "shared, truncated",
     .bytes          = SHARED_BYTES,
     .receive_bytes  = 1000,
     .receive_status = UCS_ERR_MESSAGE_TRUNCATED,
     .prepare        = shared_words,
     .env            = {SHARED},
     .arrows         = {"S RGET", "R ABORT"}},
    {.name         = "shared, into pieces",
     .bytes        = SHARED_BYTES,
     .receive_type = UCP_DT_IOV,
     .prepare      = shared_words,
     .env          = {SHARED},
     .arrows       = {"S RGET", "R ACK", "S FRAG x3"}},
    {0},
};

#define PIECES                                                                 \
    PPLN, "UCX_RNDV_FRAG_SIZE", "8k", "UCX_RNDV_PIPELINE_SEND_LENGTH", "6000"

static const struct scenario pipeline_scenarios[] = {
    {.name    = "pieces",
     .bytes   = BYTES,
     .prepare = one_rail,
     .env     = {PIECES},
     .arrows  = {"S RNDV", "R ACK len=6000", "R PUT x3", "S FRAG|put|FIN x7"}},
    {.name    = "pieces, not before messages",
     .bytes   = BYTES,
     .prepare = one_rail_unordered,
     .env     = {PIECES},
     .arrows  = {"S RNDV", "R ACK len=6000", "R PUT x3", "S FRAG|put|FIN x7"}},
    {.name    = "pieces, four rails",
     .bytes   = BYTES,
     .prepare = four_rails_unordered,
     .env     = {PIECES, RAILS},
     .arrows  = {"S RNDV", "R ACK len=6000", "R PUT x3", "S FRAG|put|FIN x7"}},
    {.name         = "pieces, between an iov and blocks",
     .bytes        = BYTES,
     .send_type    = UCP_DT_IOV,
     .receive_type = UCP_DT_STRIDED,
     .block_bytes  = 10000,
     .prepare      = one_rail,
     .env          = {PIECES},
     .arrows = {"S RNDV", "R ACK len=6000", "R PUT x3", "S FRAG|put|FIN x7"}},
    {.name         = "pieces, between blocks and an iov, four rails",
     .bytes        = BYTES,
     .send_type    = UCP_DT_STRIDED,
     .receive_type = UCP_DT_IOV,
     .block_bytes  = 10000,
     .prepare      = four_rails_unordered,
     .env          = {PIECES, RAILS},
     .arrows = {"S RNDV", "R ACK len=6000", "R PUT x3", "S FRAG|put|FIN x7"}},
    {.name         = "pieces, to a generic receiver",
     .bytes        = BYTES,
     .receive_type = UCP_DT_GENERIC,
     .prepare      = one_rail,
     .env          = {PIECES},
     .arrows       = {"S RNDV", "R ACK", "S FRAG"}},
    {0},
};

static void rdma_get__is_as_drawn(const struct test_param *param)
{
    scenarios_are_as_drawn(get_scenarios, param->value);
}

static void rdma_get__survives(const struct test_param *param)
{
    scenarios_survive(get_scenarios, param->value);
}

static void rdma_shared__is_as_drawn(const struct test_param *param)
{
    scenarios_are_as_drawn(shared_scenarios, param->value);
}

static void rdma_shared__survives(const struct test_param *param)
{
    scenarios_survive(shared_scenarios, param->value);
}

static void rdma_put__is_as_drawn(const struct test_param *param)
{
    scenarios_are_as_drawn(put_scenarios, param->value);
}

static void rdma_put__survives(const struct test_param *param)
{
    scenarios_survive(put_scenarios, param->value);
}

static void rdma_pipeline__is_as_drawn(const struct test_param *param)
{
    scenarios_are_as_drawn(pipeline_scenarios, param->value);
}

static void rdma_pipeline__survives(const struct test_param *param)
{
    scenarios_survive(pipeline_scenarios, param->value);
}

static const struct test_case rdma_cases[] = {
    TEST(rdma_get__is_as_drawn),
    TEST_TIMEOUT(rdma_get__survives, 120),
    TEST(rdma_shared__is_as_drawn),
    TEST_TIMEOUT(rdma_shared__survives, 120),
    TEST(rdma_put__is_as_drawn),
    TEST_TIMEOUT(rdma_put__survives, 120),
    TEST(rdma_pipeline__is_as_drawn),
    TEST_TIMEOUT(rdma_pipeline__survives, 120),
    {0}};

const struct test_suite arrows_rdma_suite = {
    .name = "arrows_rdma", .cases = rdma_cases, .params = play_wires};
