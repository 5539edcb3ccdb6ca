/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_rights.c - what an endpoint says that it may do, it may; what it
 * says that the peer may, the peer says too; words that both ends reach. */

#include "uct/conform_rma.h"

#define RIGHTS_ALL (UCT_RIGHT_PUT | UCT_RIGHT_GET | UCT_RIGHT_ATOMIC)

static bool is_known(struct world *world, uint64_t unused)
{
    (void)unused;
    return (world->here->lanes[0].ep->peer_rights & UCT_RIGHT_KNOWN) != 0;
}

static void rights__known_with_the_first_message(const struct test_param *param)
{
    const struct uct_iface_attr *attr;
    struct world                 world;
    struct lane                 *lane;
    struct uct_ep               *ep;

    world_open(&world, param, false);
    attr = &world.here->attr;
    lane = world_lane(&world);
    ep   = lane->ep;
    ck_assert((ep->rights & UCT_RIGHT_KNOWN) || !(ep->rights & RIGHTS_ALL));
    ck_assert_ptr_nonnull(ep->rights_reason);
    world_send(&world, lane, LANE_BCOPY, AM_COUNT, 0);
    ck_assert(ep->rights & UCT_RIGHT_KNOWN);
    if (attr->put.zcopy_bytes_max + attr->put.bcopy_bytes_max == 0) {
        ck_assert(!(ep->rights & UCT_RIGHT_PUT));
    }
    if (attr->get.zcopy_bytes_max + attr->get.bcopy_bytes_max == 0) {
        ck_assert(!(ep->rights & UCT_RIGHT_GET));
    }
    if ((ep->rights & RIGHTS_ALL) != RIGHTS_ALL) {
        ck_assert((ep->rights & UCT_RIGHT_PUT) ||
                  (ep->rights_reason[0] != '\0'));
    }
    world_wait_count(&world, 1);
    world_close(&world);
}

/* One message from there. */
static void send_back(struct world *world, unsigned lane)
{
    const struct lane_load load = {
        .kinds = LANE_BCOPY, .am_id = AM_COUNT, .count = 1};
    struct rpc rpc = {.op = RPC_LOAD, .a = lane};

    memcpy(rpc.bytes, &load, sizeof(load));
    world_rpc(world, &rpc);
    conform_must(rpc.status, "send back");
}

static void rights__each_end_knows_the_others(const struct test_param *param)
{
    struct rpc     rpc = {.op = RPC_RIGHTS};
    struct world   world;
    struct uct_ep *ep;
    struct lane   *lane;
    unsigned       back;

    world_open(&world, param, false);
    lane = world_lane(&world);
    ep   = lane->ep;
    back = world_lane_back(&world);
    world_send(&world, lane, LANE_BCOPY, AM_COUNT, 0);
    send_back(&world, back);
    world_wait_count(&world, 1);
    if (!world_wait(&world, is_known, 0, 20)) {
        ck_abort_msg("the peer's rights are not known");
    }
    rpc.a = back;
    world_rpc(&world, &rpc);
    ck_assert_uint_eq(rpc.a & 0xff, ep->peer_rights);
    ck_assert_uint_eq(rpc.a >> 8, ep->rights);
    world_close(&world);
}

/* Without the right: an answer, and nothing happens. */
static void rights__without_it_is_refused(const struct test_param *param)
{
    struct rpc       rpc  = {.op = RPC_REGION, .a = UCT_ACCESS_ALL};
    uint8_t          byte = 1;
    struct uct_iov   iov  = {&byte, 1, NULL};
    struct uct_rkey *rkey;
    struct world     world;
    struct lane     *lane;
    struct uct_ep   *ep;

    world_need(param, UCT_CAP_PUT_ZCOPY);
    world_open(&world, param, false);
    lane = world_lane(&world);
    ep   = lane->ep;
    world_send(&world, lane, LANE_BCOPY, AM_COUNT, 0);
    if (ep->rights & UCT_RIGHT_PUT) {
        world_close(&world);
        test_skip("has the right");
    }
    world_rpc(&world, &rpc);
    conform_must(rpc.status, "register");
    conform_must(ep->transport->rkey_unpack(world.here->md, rpc.bytes,
                                            rpc.size_bytes, &rkey),
                 "unpack the key");
    ck_assert_int_eq(
        ep->transport->put_zcopy(
            ep,
            &(const struct uct_rma){
                &iov, &(const struct uct_remote){rpc.a, iov.length, rkey}, 1,
                1},
            NULL, 0),
        UCS_ERR_UNSUPPORTED);
    rpc = (struct rpc){.op = RPC_REGION_READ, .size_bytes = 1};
    world_rpc(&world, &rpc);
    ck_assert_uint_eq(rpc.bytes[0], 0);
    ck_assert_int_eq(ep->failed, UCS_OK);
    ep->transport->rkey_release(rkey);
    world_close(&world);
}

static void claims__both_ends_reach_one_word(const struct test_param *param)
{
    _Atomic uint64_t *mine, *theirs;
    struct uct_iface *iface;
    struct world      world;
    struct lane      *lane;
    uint64_t          name;

    world_open(&world, param, false);
    if ((world.here->iface->claims.count == 0) || (world.there == NULL)) {
        bool is_there = (world.there != NULL);

        world_close(&world);
        test_skip(is_there ? "claims" : "one process only");
    }
    lane = world_lane(&world);
    ck_assert_ptr_null(ucti_ep_claim(lane->ep, 0));
    world_send(&world, lane, LANE_BCOPY, AM_COUNT, 0);
    iface = world.there->iface;
    ck_assert(ucti_claim_get(iface, &name));
    mine   = ucti_iface_claim(iface, name);
    theirs = ucti_ep_claim(lane->ep, name);
    ck_assert_ptr_nonnull(theirs);
    atomic_fetch_add(theirs, 5);
    ck_assert_uint_eq((uint32_t)atomic_load(mine), 5);
    ck_assert(uct_claim_is_current(name, atomic_load(mine)));
    ucti_claim_put(iface, name);
    ck_assert_uint_eq(atomic_load(theirs), 0);
    ck_assert_ptr_null(ucti_ep_claim(lane->ep, lane->ep->claim_count));
    world_close(&world);
}

static const struct test_case cases[] = {
    TEST(rights__known_with_the_first_message),
    TEST(rights__each_end_knows_the_others),
    TEST(rights__without_it_is_refused),
    TEST(claims__both_ends_reach_one_word),
    {0}};

struct test_suite conform_rights_suite = {.name  = "conform_rights",
                                          .cases = cases};
