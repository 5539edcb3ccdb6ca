/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_rma.c - rounds of puts, gets and atomics. */
#include "sim_rma.h"

#include <stdlib.h>
#include <string.h>

#include "ucp/core/ep.h"
#include "ucp/core/worker.h"

enum {
    RMA_COUNTER_BYTES = 64,
    RMA_FLOWS_MAX     = 16, /* to a host, of all lives and endpoints */
};

enum rma_step { RMA_PUTS, RMA_FLUSH, RMA_GETS, RMA_ADDS, RMA_STEP_COUNT };

/* An operation; it frees itself.
 * rkey     NULL: of none
 * is_gone  a put that must be refused
 * bytes    [length] what is put, or got */
struct rma_op {
    struct uct_req    req;
    struct load_flow *flow;
    struct uct_rkey  *rkey;
    unsigned          step, slot;
    bool              is_gone;
    size_t            length;
    uint8_t           bytes[];
};

/* ---- The model ---- */

static uint64_t rma_chance(const struct load_flow *flow, unsigned slot)
{
    struct sim_random random = {
        .state = flow->load->plan->seed ^ ((uint64_t)flow->id << 40) ^
                 ((uint64_t)flow->rma.round << 8) ^ (slot + 1)};

    return sim_random_next(&random);
}

static unsigned rma_count(const struct load_flow *flow)
{
    return 1 + (unsigned)(rma_chance(flow, LOAD_RMA_COUNT) % LOAD_RMA_COUNT);
}

/* Does one more put of this round go where nothing is? Not in a fair plan: it
 * is sent twice. */
static bool rma_has_gone(const struct load_flow *flow)
{
    return !flow->load->plan->is_fair &&
           ((rma_chance(flow, LOAD_RMA_COUNT) >> 32) % 4 == 0);
}

static size_t rma_length(const struct load_flow *flow, unsigned slot)
{
    return 1 + rma_chance(flow, slot) % flow->load->plan->rma_bytes;
}

/* What is added is small, so that sums stay readable; never 0. */
static uint64_t rma_operand(const struct load_flow *flow, unsigned slot)
{
    return 1 + (rma_chance(flow, slot) >> 40);
}

static void rma_fill(const struct load_flow *flow, unsigned slot,
                     uint8_t *bytes, size_t length)
{
    struct sim_random random = {.state = ~rma_chance(flow, slot)};

    sim_random_fill(&random, bytes, length);
}

/* Where a slot lies in the target's memory. */
static size_t rma_slot(const struct load_flow *flow, unsigned slot)
{
    return flow->rma.offset + RMA_COUNTER_BYTES +
           slot * flow->load->plan->rma_bytes;
}

static struct load_host *rma_target(const struct load_flow *flow)
{
    return &flow->load->hosts[flow->to];
}

static bool rma_peer_lives(const struct load_flow *flow)
{
    const struct sim_host *to = &flow->load->world.hosts[flow->to];

    return to->is_up && (to->life == flow->to_life);
}

/* ---- Memory ---- */

static unsigned rma_rail(const struct uct_md *md)
{
    return (unsigned)(md->device.name[3] - '0'); /* sim0, sim1 */
}

/* Register, on one rail; and once more, for a key to nothing. */
static void rma_register(struct load_host *own, struct uct_md *md)
{
    const struct uct_transport *transport = md->transport;
    unsigned                    rail      = rma_rail(md);
    struct uct_mem             *gone;

    if ((transport->mem_register(md, own->memory, own->memory_bytes,
                                 UCT_ACCESS_ALL, &own->mems[rail]) != UCS_OK) ||
        (transport->mem_register(md, own->memory, own->memory_bytes,
                                 UCT_ACCESS_ALL, &gone) != UCS_OK)) {
        sim_fail("no memory can be registered");
        return;
    }
    own->key_bytes = transport->rkey_pack(own->mems[rail], own->keys[rail]);
    (void)transport->rkey_pack(gone, own->gone_keys[rail]);
    transport->mem_release(gone);
}

void sim_rma_open(struct sim_load *load, unsigned host)
{
    const struct ucp_worker *worker = load->world.hosts[host].worker;
    struct load_host        *own    = &load->hosts[host];

    if (load->plan->rma_count == 0) {
        return;
    }
    own->memory_used = 0;
    own->memory_bytes =
        RMA_FLOWS_MAX *
        (RMA_COUNTER_BYTES + LOAD_RMA_COUNT * load->plan->rma_bytes);
    own->memory = calloc(1, own->memory_bytes);
    for (unsigned i = 0; i < worker->iface_count; ++i) {
        rma_register(own, worker->ifaces[i].iface->md);
    }
}

void sim_rma_close(struct sim_load *load, unsigned host)
{
    struct load_host *own = &load->hosts[host];

    for (unsigned rail = 0; rail < SIM_RAIL_COUNT_MAX; ++rail) {
        if (own->mems[rail] != NULL) {
            own->mems[rail]->md->transport->mem_release(own->mems[rail]);
            own->mems[rail] = NULL;
        }
    }
    free(own->memory);
    own->memory = NULL;
}

void sim_rma_begin(struct load_flow *flow)
{
    struct load_host *target = rma_target(flow);

    if (flow->load->plan->rma_count == 0) {
        return;
    }
    flow->rma.offset = target->memory_used;
    target->memory_used +=
        RMA_COUNTER_BYTES + LOAD_RMA_COUNT * flow->load->plan->rma_bytes;
    if (target->memory_used > target->memory_bytes) {
        sim_fail("too many flows to host %u", flow->to);
        return;
    }
    flow->rma.is_listed = true;
    ucs_list_add_tail(&flow->load->hosts[flow->from].rmas, &flow->rma.link);
}

/* ---- Rounds ---- */

bool sim_rma_is_over(const struct load_flow *flow)
{
    return (flow->rma.pending == 0) &&
           (flow->rma.has_failed ||
            (flow->rma.round == flow->load->plan->rma_count));
}

static void rma_check_bytes(const struct load_flow *flow, unsigned slot,
                            const uint8_t *bytes, const char *what)
{
    size_t   length   = rma_length(flow, slot);
    uint8_t *expected = malloc(length);

    rma_fill(flow, slot, expected, length);
    if (memcmp(expected, bytes, length) != 0) {
        sim_fail("flow %u -> %u, round %u, slot %u: %zu bytes %s are wrong",
                 flow->from, flow->to, flow->rma.round, slot, length, what);
    }
    free(expected);
}

/* The counter, where it lies. */
static void rma_check_counter(const struct load_flow *flow)
{
    uint64_t counter;

    memcpy(&counter, rma_target(flow)->memory + flow->rma.offset,
           sizeof(counter));
    if (counter != flow->rma.sum) {
        sim_fail("flow %u -> %u, round %u: the counter is %llu, added were "
                 "%llu",
                 flow->from, flow->to, flow->rma.round,
                 (unsigned long long)counter,
                 (unsigned long long)flow->rma.sum);
    }
}

/* What the adds of this round fetched must be sums, one after the other. */
static void rma_check_adds(struct load_flow *flow)
{
    unsigned count = rma_count(flow), left = count, slot;

    for (unsigned is_used = 0; left > 0; --left) {
        for (slot = 0; slot < count; ++slot) {
            if (!(is_used & (1u << slot)) &&
                (flow->rma.results[slot] == flow->rma.sum)) {
                break;
            }
        }
        if (slot == count) {
            sim_fail("flow %u -> %u, round %u: no add fetched %llu", flow->from,
                     flow->to, flow->rma.round,
                     (unsigned long long)flow->rma.sum);
            return;
        }
        is_used |= 1u << slot;
        flow->rma.sum += rma_operand(flow, slot);
    }
    rma_check_counter(flow);
}

static void rma_end_step(struct load_flow *flow)
{
    struct load_rma *rma = &flow->rma;

    if ((rma->step == RMA_FLUSH) && rma_peer_lives(flow)) {
        for (unsigned slot = 0; slot < rma_count(flow); ++slot) {
            rma_check_bytes(flow, slot,
                            rma_target(flow)->memory + rma_slot(flow, slot),
                            "that were put");
        }
    } else if ((rma->step == RMA_ADDS) && rma_peer_lives(flow)) {
        rma_check_adds(flow);
    }
    if (++rma->step == RMA_STEP_COUNT) {
        rma->step = RMA_PUTS;
        ++rma->round;
    }
}

static void rma_check_op(const struct rma_op *op, ucs_status_t status)
{
    struct load_flow *flow = op->flow;

    if (op->is_gone && (status == UCS_OK)) {
        sim_fail("flow %u -> %u, round %u: a put of %zu bytes to memory that "
                 "is gone went well",
                 flow->from, flow->to, flow->rma.round, op->length);
    } else if ((status == UCS_OK) && (op->step == RMA_GETS)) {
        rma_check_bytes(flow, op->slot, op->bytes, "that were got");
    } else if ((status != UCS_OK) &&
               !(op->is_gone && (status == UCS_ERR_INVALID_ADDR))) {
        flow->rma.has_failed = true;
        if (!sim_flow_may_end(flow)) {
            sim_fail("flow %u -> %u, round %u, step %u: %s", flow->from,
                     flow->to, flow->rma.round, op->step,
                     ucs_status_string(status));
        }
    }
}

static void rma_op_free(struct rma_op *op)
{
    if (op->rkey != NULL) {
        op->rkey->md->transport->rkey_release(op->rkey);
    }
    memset(op->bytes, 0xdd, op->length); /* it is the application's again */
    free(op);
}

static void rma_finish(struct rma_op *op, ucs_status_t status)
{
    struct load_flow *flow = op->flow;

    sim_trace("flow %u -> %u: round %u, step %u, %zu bytes: %s", flow->from,
              flow->to, flow->rma.round, op->step, op->length,
              ucs_status_string(status));
    rma_check_op(op, status);
    rma_op_free(op);
    if ((--flow->rma.pending == 0) && !flow->rma.has_failed) {
        rma_end_step(flow);
    }
}

static void rma_done(struct uct_req *req)
{
    struct rma_op *op = ucs_container_of(req, struct rma_op, req);

    sim_flow_called(op->flow->load, op->flow->from);
    rma_finish(op, req->status);
}

static struct rma_op *rma_op_new(struct load_flow *flow, unsigned slot,
                                 size_t length)
{
    struct rma_op *op = calloc(1, sizeof(*op) + length);

    op->req.cb = rma_done;
    op->flow   = flow;
    op->step   = flow->rma.step;
    op->slot   = slot;
    op->length = length;
    return op;
}

/* Puts and gets of a slot; slot LOAD_RMA_COUNT is nowhere. */
static ucs_status_t rma_move(struct uct_ep *ep, struct rma_op *op)
{
    const struct load_flow *flow = op->flow;
    struct uct_iov          iov  = {.buffer = op->bytes, .length = op->length};
    struct uct_remote       remote = {.address =
                                          (uintptr_t)rma_target(flow)->memory +
                                          rma_slot(flow, op->is_gone ? 0 : op->slot),
                                      .length = op->length,
                                      .rkey   = op->rkey};
    struct uct_rma          rma    = {
                    .iov = &iov, .remote = &remote, .iov_count = 1, .remote_count = 1};

    if (op->step == RMA_GETS) {
        return ep->transport->get_zcopy(ep, &rma, &op->req, 0);
    }
    rma_fill(flow, op->slot, op->bytes, op->length);
    return ep->transport->put_zcopy(ep, &rma, &op->req, 0);
}

static ucs_status_t rma_start(struct uct_ep *ep, struct rma_op *op)
{
    struct load_flow *flow   = op->flow;
    struct uct_atomic atomic = {.op         = UCT_ATOMIC_ADD,
                                .size_bytes = sizeof(uint64_t),
                                .operand    = rma_operand(flow, op->slot),
                                .result     = &flow->rma.results[op->slot]};

    switch (op->step) {
    case RMA_FLUSH:
        return ep->transport->ep_flush(ep, &op->req, 0);
    case RMA_ADDS:
        return ep->transport->atomic(
            ep, &atomic, (uintptr_t)rma_target(flow)->memory + flow->rma.offset,
            op->rkey, &op->req, 0);
    default:
        return rma_move(ep, op);
    }
}

/* One operation. @return false: there is no room now; what was begun of the
 * step stays, the step waits for it and comes again. */
static bool rma_issue(struct load_flow *flow, struct uct_ep *ep, unsigned slot,
                      bool is_gone)
{
    const struct load_host *target = rma_target(flow);
    unsigned                rail   = rma_rail(ep->iface->md);
    bool moves = (flow->rma.step == RMA_PUTS) || (flow->rma.step == RMA_GETS);
    struct rma_op *op =
        rma_op_new(flow, slot, moves ? rma_length(flow, slot) : 0);
    ucs_status_t status;

    op->is_gone = is_gone;
    status      = ep->transport->rkey_unpack(
             ep->iface->md, is_gone ? target->gone_keys[rail] : target->keys[rail],
             target->key_bytes, &op->rkey);
    if (status == UCS_OK) {
        status = rma_start(ep, op);
    }
    if (status == UCS_ERR_WOULD_BLOCK) {
        rma_op_free(op);
        return false;
    }
    ++flow->rma.pending;
    if (status != UCS_INPROGRESS) {
        rma_finish(op, status);
    }
    return true;
}

/* The next step of a flow of which nothing is on its way. All of a step fits
 * in the queue of an endpoint once the first one does. */
static bool rma_go_on(struct load_flow *flow)
{
    const struct load_end *end   = load_end(flow->load, flow->from, flow->to);
    unsigned               step  = flow->rma.step;
    unsigned               count = (step == RMA_FLUSH) ? 1 : rma_count(flow);
    struct uct_ep         *ep;

    if ((flow->rma.pending > 0) || sim_rma_is_over(flow) || (end->ep == NULL) ||
        (end->status != UCS_OK) ||
        (flow->load->hosts[flow->from].closing == end) ||
        !rma_peer_lives(flow)) {
        return false;
    }
    ep = end->ep->message_ep;
    if ((ep == NULL) || (ep->failed != UCS_OK)) {
        return false;
    }
    ++flow->rma.pending; /* the step itself */
    for (unsigned slot = 0; slot < count; ++slot) {
        if (!rma_issue(flow, ep, slot, false)) {
            if (slot > 0) {
                sim_fail("flow %u -> %u: no room for three operations",
                         flow->from, flow->to);
            }
            --flow->rma.pending;
            return false;
        }
    }
    if ((step == RMA_PUTS) && rma_has_gone(flow)) {
        (void)rma_issue(flow, ep, 0, true);
    }
    if ((--flow->rma.pending == 0) && !flow->rma.has_failed) {
        rma_end_step(flow);
    }
    return true;
}

bool sim_rma_step(struct sim_load *load, struct sim_host *host)
{
    struct load_flow *flow, *next;
    bool              moved = false;

    ucs_list_for_each_safe (flow, next, &load->hosts[host->index].rmas,
                            rma.link) {
        if ((flow->from_life != host->life) || sim_rma_is_over(flow)) {
            ucs_list_remove(&flow->rma.link);
            flow->rma.is_listed = false;
        } else {
            moved |= rma_go_on(flow);
        }
    }
    return moved;
}

void sim_rma_check(const struct sim_load *load)
{
    for (unsigned i = 0; i < load->flow_count; ++i) {
        const struct load_flow *flow = load->flows[i];

        if ((load->plan->rma_count > 0) && rma_peer_lives(flow) &&
            !flow->rma.has_failed && (flow->rma.step != RMA_ADDS)) {
            rma_check_counter(flow);
        }
    }
}
