/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_address.c - attributes, addresses, who reaches whom; addresses come
 * from outside and may be anything. */

#include "uct/conform.h"

static bool has_cap(const struct world *world, enum uct_cap cap)
{
    return ucti_transport_can(world->param->transport, cap);
}

/* An absent function has no limit; a present one has. */
static void check_limit(bool is_there, size_t bytes, const char *what)
{
    ck_assert_msg(is_there == (bytes > 0), "%s: there %d, limit %zu", what,
                  is_there, bytes);
}

/* The limits of put or get; an interface may have none although the
 * transport has the functions, but then none at all. */
static void check_rma_limits(const struct world *world, enum uct_cap first,
                             const struct uct_op_limits *limits)
{
    bool is_put = (first == UCT_CAP_PUT_SHORT);

    if ((limits->short_bytes_max | limits->bcopy_bytes_max |
         limits->zcopy_bytes_max | limits->iov_count_max |
         limits->remote_count_max) == 0) {
        return;
    }
    check_limit(is_put && has_cap(world, UCT_CAP_PUT_SHORT),
                limits->short_bytes_max, "put_short");
    check_limit(has_cap(world, is_put ? UCT_CAP_PUT_BCOPY : UCT_CAP_GET_BCOPY),
                limits->bcopy_bytes_max, "put_bcopy, get_bcopy");
    check_limit(has_cap(world, is_put ? UCT_CAP_PUT_ZCOPY : UCT_CAP_GET_ZCOPY),
                limits->zcopy_bytes_max, "put_zcopy, get_zcopy");
    check_limit(has_cap(world, is_put ? UCT_CAP_PUT_ZCOPY : UCT_CAP_GET_ZCOPY),
                limits->iov_count_max, "put_zcopy, get_zcopy iov");
    check_limit(has_cap(world, is_put ? UCT_CAP_PUT_ZCOPY : UCT_CAP_GET_ZCOPY),
                limits->remote_count_max, "put_zcopy, get_zcopy remote");
}

static void query__limits_fit_the_functions(const struct test_param *param)
{
    const struct uct_iface_attr *attr;
    struct world                 world;

    world_open(&world, param, false);
    attr = &world.here->attr;
    ck_assert_uint_ge(attr->address_bytes, 1);
    ck_assert_uint_le(attr->address_bytes, UCT_ADDRESS_BYTES_MAX);
    ck_assert_uint_ge(attr->am.bcopy_bytes_max, 512);
    check_limit(has_cap(&world, UCT_CAP_AM_ZCOPY), attr->am.zcopy_bytes_max,
                "am_zcopy");
    check_limit(has_cap(&world, UCT_CAP_AM_ZCOPY), attr->am.iov_count_max,
                "am_zcopy iov");
    check_rma_limits(&world, UCT_CAP_PUT_SHORT, &attr->put);
    check_rma_limits(&world, UCT_CAP_GET_BCOPY, &attr->get);
    ck_assert(has_cap(&world, UCT_CAP_AM_SHORT) ||
              (attr->am.short_bytes_max == 0));
    ck_assert(attr->am_zcopy_header_bytes_max <= attr->am.zcopy_bytes_max);
    world_close(&world);
}

static void check_rma_cost(const struct uct_op_limits *limits,
                           const struct uct_rma_cost  *cost)
{
    if ((limits->bcopy_bytes_max | limits->zcopy_bytes_max) == 0) {
        ck_assert(cost->bandwidth_Bps == 0);
        return;
    }
    ck_assert(cost->bandwidth_Bps > 1e6);
    ck_assert((cost->latency_s >= 0) && (cost->latency_s < 1));
    ck_assert((cost->overhead_s > 0) && (cost->overhead_s < 1));
}

static void query__costs_are_costs(const struct test_param *param)
{
    const struct uct_cost *cost;
    struct world           world;

    world_open(&world, param, false);
    cost = &world.here->attr.cost;
    ck_assert(cost->bandwidth_Bps > 1e6);
    ck_assert((cost->latency_s >= 0) && (cost->latency_s < 1));
    ck_assert((cost->overhead_s > 0) && (cost->overhead_s < 1));
    ck_assert((cost->register_base_s >= 0) && (cost->register_base_s < 1));
    ck_assert((cost->register_per_byte_s >= 0) &&
              (cost->register_per_byte_s < 1e-6));
    check_rma_cost(&world.here->attr.put, &world.here->attr.put_cost);
    check_rma_cost(&world.here->attr.get, &world.here->attr.get_cost);
    world_close(&world);
}

static void devices__more_or_less_room(const struct test_param *param)
{
    const struct conform_param *conform = param->value;
    struct uct_device           devices[64];
    char                        reason[UCT_REASON_BYTES_MAX] = "";
    unsigned                    none = 0, count = 64;

    conform->transport->devices(NULL, devices, &count, reason);
    conform->transport->devices(NULL, NULL, &none, reason);
    ck_assert_uint_eq(none, count);
    ck_assert((count > 0) || (reason[0] != '\0'));
    if (count > 0) {
        ck_assert_ptr_eq(devices[0].transport, conform->transport);
        ck_assert_uint_gt(strlen(devices[0].name), 0);
    }
}

static void address__stays_the_same(const struct test_param *param)
{
    uint8_t      again[UCT_ADDRESS_BYTES_MAX + 1];
    struct world world;
    struct host *here;

    world_open(&world, param, false);
    here = world.here;
    memset(again, 0x77, sizeof(again));
    here->tl->iface_address(here->iface, again);
    ck_assert_mem_eq(again, here->address, here->attr.address_bytes);
    ck_assert_int_eq(again[here->attr.address_bytes], 0x77);
    world_close(&world);
}

static void address__of_two_interfaces_differ(const struct test_param *param)
{
    struct rpc   rpc = {.op = RPC_ADDRESS};
    struct world world;

    world_open(&world, param, false);
    if (world.here->attr.flags & UCT_IFACE_SELF_ONLY) {
        struct host *other = calloc(1, sizeof(*other));
        char         reason[UCT_REASON_BYTES_MAX];

        conform_must(host_open(other, world.param, false, reason), "open");
        host_answer(other, &rpc);
        host_close(other);
        free(other);
    } else {
        world_rpc(&world, &rpc);
    }
    ck_assert_uint_eq(rpc.size_bytes, world.here->attr.address_bytes);
    ck_assert_mem_ne(rpc.bytes, world.here->address, rpc.size_bytes);
    world_close(&world);
}

static void reach__the_other_side(const struct test_param *param)
{
    char         reason[UCT_REASON_BYTES_MAX] = "";
    struct rpc   rpc                          = {.op = RPC_ADDRESS};
    struct world world;

    world_open(&world, param, false);
    world_rpc(&world, &rpc);
    ck_assert_msg(world.here->tl->iface_reach(world.here->iface, rpc.bytes,
                                              rpc.size_bytes, reason) == UCS_OK,
                  "%s", reason);
    conform_must(world.here->tl->iface_reach(world.here->iface, rpc.bytes,
                                             rpc.size_bytes, NULL),
                 "reach without a reason");
    if (world.here->tl->iface_rank != NULL) {
        ck_assert_uint_ne(world.here->tl->iface_rank(world.here->iface,
                                                     rpc.bytes, rpc.size_bytes,
                                                     reason),
                          UINT64_MAX);
        ck_assert_msg(reason[0] != '\0', "a rank without a reason");
    }
    world_close(&world);
}

/* Whatever an address says, the answer is a status and a reason, and what
 * can be created can be destroyed. Copied to its end of a page-less heap
 * block, so that a sanitizer sees a read behind it. */
static void try_address(struct world *world, const uint8_t *bytes,
                        size_t size_bytes)
{
    struct host         *here                         = world->here;
    char                 reason[UCT_REASON_BYTES_MAX] = "";
    uint8_t             *exact  = malloc(size_bytes + (size_bytes == 0));
    struct uct_ep_params params = {.address       = exact,
                                   .address_bytes = size_bytes};
    struct uct_ep       *ep;
    ucs_status_t         status;

    memcpy(exact, bytes, size_bytes);
    status = here->tl->iface_reach(here->iface, exact, size_bytes, reason);
    if (status != UCS_OK) {
        ck_assert((status == UCS_ERR_INVALID_ADDR) ||
                  (status == UCS_ERR_UNREACHABLE));
        ck_assert_msg(reason[0] != '\0', "refused without a reason");
        ck_assert(memchr(reason, '\0', sizeof(reason)) != NULL);
    }
    status = ucti_ep_create(here->iface, &params, &ep);
    if (status == UCS_OK) {
        (void)uct_iface_progress(here->iface);
        ucti_ep_destroy(ep);
    }
    (void)uct_iface_progress(here->iface);
    free(exact);
}

static void reach__address_cut_at_every_byte(const struct test_param *param)
{
    struct rpc   rpc = {.op = RPC_ADDRESS};
    struct world world;
    size_t       bytes;

    world_open(&world, param, false);
    world_rpc(&world, &rpc);
    for (bytes = 0; bytes < rpc.size_bytes; ++bytes) {
        try_address(&world, rpc.bytes, bytes);
        ck_assert_int_eq(world.here->tl->iface_reach(world.here->iface,
                                                     rpc.bytes, bytes, NULL),
                         UCS_ERR_INVALID_ADDR);
    }
    world_close(&world);
}

static void reach__every_bit_flipped(const struct test_param *param)
{
    struct rpc   rpc = {.op = RPC_ADDRESS};
    struct world world;
    size_t       bit;

    world_open(&world, param, false);
    world_rpc(&world, &rpc);
    for (bit = 0; bit < rpc.size_bytes * 8; ++bit) {
        rpc.bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        try_address(&world, rpc.bytes, rpc.size_bytes);
        rpc.bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    try_address(&world, rpc.bytes, rpc.size_bytes);
    world_close(&world);
}

static void reach__random_bytes(const struct test_param *param)
{
    uint8_t      bytes[UCT_ADDRESS_BYTES_MAX];
    struct world world;
    unsigned     round;
    size_t       index, size_bytes;

    world_open(&world, param, false);
    for (round = 0; round < 500; ++round) {
        size_bytes = test_random_below(sizeof(bytes) + 1);
        for (index = 0; index < size_bytes; ++index) {
            bytes[index] = (uint8_t)test_random();
        }
        try_address(&world, bytes, size_bytes);
    }
    world_close(&world);
}

static const struct test_case cases[] = {
    TEST(query__limits_fit_the_functions),
    TEST(query__costs_are_costs),
    TEST(devices__more_or_less_room),
    TEST(address__stays_the_same),
    TEST(address__of_two_interfaces_differ),
    TEST(reach__the_other_side),
    TEST(reach__address_cut_at_every_byte),
    TEST(reach__every_bit_flipped),
    TEST(reach__random_bytes),
    {0}};

struct test_suite conform_address_suite = {.name  = "conform_address",
                                           .cases = cases};
