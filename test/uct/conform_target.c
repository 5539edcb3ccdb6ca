/* SPDX-License-Identifier: BSD-3-Clause */
/* conform_target.c - a remote region with its key, and operations on it. */

#include <stdio.h>

#include "uct/conform_rma.h"

/* Skip where this interface never can, or these two processes may not: not
 * here, but elsewhere (contrib/update-conformance). */
static void target_need(struct target *target, enum uct_cap cap)
{
    const struct uct_iface_attr *attr   = &target->world.here->attr;
    const struct uct_op_limits  *limits = &attr->put;
    unsigned                     right  = UCT_RIGHT_PUT;
    char                         reason[UCT_REASON_BYTES_MAX];

    if (cap == UCT_CAP_ATOMIC) {
        return;
    }
    if (cap > UCT_CAP_PUT_ZCOPY) {
        limits = &attr->get;
        right  = UCT_RIGHT_GET;
    }
    if (limits->zcopy_bytes_max + limits->bcopy_bytes_max == 0) {
        world_close(&target->world);
        test_skip("%s", ucti_cap_name(cap));
    }
    world_send(&target->world, target->lane, LANE_BCOPY, AM_COUNT, 0);
    if (!(target->lane->ep->rights & right)) {
        (void)snprintf(reason, sizeof(reason), "%s",
                       target->lane->ep->rights_reason);
        world_close(&target->world);
        test_skip("not here: %s", reason);
    }
}

void target_open(struct target *target, const struct test_param *param,
                 enum uct_cap cap, unsigned access)
{
    struct rpc rpc = {.op = RPC_REGION, .a = access};

    world_need(param, cap);
    memset(target, 0, sizeof(*target));
    world_open(&target->world, param, false);
    target->lane = world_lane(&target->world);
    target_need(target, cap);
    world_rpc(&target->world, &rpc);
    conform_must(rpc.status, "register");
    target->address = rpc.a;
    ck_assert_uint_le(rpc.size_bytes, UCT_RKEY_BYTES_MAX);
    target->rkey_bytes = rpc.size_bytes;
    memcpy(target->rkey_packed, rpc.bytes, rpc.size_bytes);
    conform_must(target->world.here->tl->rkey_unpack(target->world.here->md,
                                                     rpc.bytes, rpc.size_bytes,
                                                     &target->rkey),
                 "unpack the key");
    if (target->world.here->tl->mem_register != NULL) {
        conform_must(target->world.here->tl->mem_register(
                         target->world.here->md, target->local,
                         sizeof(target->local), UCT_ACCESS_LOCAL,
                         &target->local_mem),
                     "register locally");
    }
}

void target_close(struct target *target)
{
    const struct uct_transport *tl = target->world.here->tl;

    tl->rkey_release(target->rkey);
    if (target->local_mem != NULL) {
        tl->mem_release(target->local_mem);
    }
    world_close(&target->world);
}

void target_read(struct target *target, uint64_t offset, void *bytes,
                 size_t size_bytes)
{
    struct rpc rpc = {.op = RPC_REGION_READ, .a = offset};
    size_t     part;

    while (size_bytes > 0) {
        part           = ucs_min(size_bytes, sizeof(rpc.bytes));
        rpc.op         = RPC_REGION_READ;
        rpc.a          = offset;
        rpc.size_bytes = part;
        world_rpc(&target->world, &rpc);
        memcpy(bytes, rpc.bytes, part);
        bytes = (uint8_t *)bytes + part;
        offset += part;
        size_bytes -= part;
    }
}

void target_write(struct target *target, uint64_t offset, const void *bytes,
                  size_t size_bytes)
{
    struct rpc rpc;
    size_t     part;

    while (size_bytes > 0) {
        part           = ucs_min(size_bytes, sizeof(rpc.bytes));
        rpc.op         = RPC_REGION_WRITE;
        rpc.a          = offset;
        rpc.size_bytes = part;
        memcpy(rpc.bytes, bytes, part);
        world_rpc(&target->world, &rpc);
        bytes = (const uint8_t *)bytes + part;
        offset += part;
        size_bytes -= part;
    }
}

static void on_target(struct uct_req *req)
{
    struct target *target = ucs_container_of(req, struct target, req);

    ++target->done;
    target->status = req->status;
}

ucs_status_t target_wait(struct target *target, ucs_status_t status)
{
    unsigned steps = 0;

    while ((status == UCS_INPROGRESS) && (target->done == 0) &&
           (++steps < 10000000)) {
        world_step(&target->world);
    }
    if (status == UCS_INPROGRESS) {
        ck_assert_uint_eq(target->done, 1);
        status = target->status;
    }
    return status;
}

struct uct_req *target_req(struct target *target)
{
    target->req.cb = on_target;
    target->done   = 0;
    return &target->req;
}

/* Everything before is done at the target. */
void target_flush(struct target *target)
{
    ucs_status_t status;

    do {
        status = uct_ep_flush(target->lane->ep, target_req(target), 0);
        if (status == UCS_ERR_WOULD_BLOCK) {
            world_step(&target->world);
        }
    } while (status == UCS_ERR_WOULD_BLOCK);
    conform_must(target_wait(target, status), "flush");
}
