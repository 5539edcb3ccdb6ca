/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_load.c - flows between hosts, checked message by message. */
#include "sim_load.h"

#include "sim_crowd.h"
#include "sim_fault.h"
#include "sim_flow.h"
#include "sim_judge.h"
#include "sim_rma.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/clock.h"

enum {
    LOAD_POSTED_MAX = 4,   /* receives of a flow that wait at a time */
    LOAD_LIMIT_S    = 600, /* virtual: longer is a hang */
};

/* ---- Hosts ---- */

static void end_failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct load_end *end = arg;

    (void)ep;
    sim_flow_called(end->load, end->host);
    sim_trace("host %u: peer %u failed: %s", end->host, end->peer,
              ucs_status_string(status));
    if (end->status != UCS_OK) {
        sim_fail("host %u: peer %u failed twice", end->host, end->peer);
    } else if (!sim_plan_may_fail(end->load->plan, end->host, end->peer)) {
        sim_fail("host %u: peer %u failed: %s", end->host, end->peer,
                 ucs_status_string(status));
    }
    end->status = status;
}

/* @return was anything begun? */
static bool flow_go_on_sending(struct load_flow *flow)
{
    struct load_end *end   = load_end(flow->load, flow->from, flow->to);
    unsigned         begun = flow->send_begun;

    while ((flow->status == UCS_OK) && (end->status == UCS_OK) &&
           (end->ep != NULL) &&
           (flow->load->hosts[flow->from].closing != end) &&
           (flow->send_begun < flow->count) &&
           (flow->send_begun - flow->sent < flow->load->plan->window)) {
        sim_flow_send(flow, end->ep);
    }
    return flow->send_begun != begun;
}

static bool flow_go_on_receiving(struct load_flow *flow, ucp_worker_h worker)
{
    unsigned begun = flow->receive_begun;

    while ((flow->receive_begun < flow->count) &&
           (flow->receive_begun - flow->received < LOAD_POSTED_MAX)) {
        sim_flow_receive(flow, worker);
    }
    return flow->receive_begun != begun;
}

static bool host_step(struct sim_host *host)
{
    struct sim_load *load =
        ucs_container_of(host->world, struct sim_load, world);
    struct load_host *own   = &load->hosts[host->index];
    bool              moved = false;
    struct load_flow *flow;

    while (!ucs_list_is_empty(&own->sending)) {
        flow = ucs_list_first(&own->sending, struct load_flow, send_link);
        ucs_list_remove(&flow->send_link);
        flow->may_send = false;
        moved |= (flow->from_life == host->life) && flow_go_on_sending(flow);
    }
    while (!ucs_list_is_empty(&own->receiving)) {
        flow = ucs_list_first(&own->receiving, struct load_flow, receive_link);
        ucs_list_remove(&flow->receive_link);
        flow->may_receive = false;
        moved |= (flow->to_life == host->life) &&
                 flow_go_on_receiving(flow, host->worker);
    }
    moved |= sim_rma_step(load, host);
    moved |= sim_fault_step(load, host);
    return moved;
}

void sim_load_join(struct sim_load *load, unsigned host, unsigned peer)
{
    struct load_end *end    = load_end(load, host, peer);
    ucp_ep_params_t  params = {
         .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                       UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                       UCP_EP_PARAM_FIELD_ERR_HANDLER,
         .address         = load->world.hosts[peer].address,
         .err_mode        = UCP_ERR_HANDLING_MODE_PEER,
         .err_handler.cb  = end_failed,
         .err_handler.arg = end,
    };
    ucs_status_t status;

    load->world.current = &load->world.hosts[host];
    *end                = (struct load_end){.load     = load,
                                            .host     = host,
                                            .peer     = peer,
                                            .since_ns = load->world.net.now_ns};
    status = ucp_ep_create(load->world.hosts[host].worker, &params, &end->ep);
    if (status != UCS_OK) {
        sim_fail("host %u: ucp_ep_create to %u: %s", host, peer,
                 ucs_status_string(status));
        end->ep     = NULL;
        end->status = status;
    }
}

void sim_load_add_flow(struct sim_load *load, unsigned from, unsigned to)
{
    struct load_flow *flow = calloc(1, sizeof(*flow));

    *flow = (struct load_flow){
        .load      = load,
        .id        = load->flow_count,
        .from      = from,
        .to        = to,
        .from_life = load->world.hosts[from].life,
        .to_life   = load->world.hosts[to].life,
        .count     = load->plan->message_count,
    };
    load->flows =
        realloc(load->flows, (load->flow_count + 1) * sizeof(*load->flows));
    load->flows[load->flow_count++] = flow;
    sim_flow_ready(flow);
    sim_rma_begin(flow);
}

void sim_load_start_host(struct sim_load *load, unsigned index)
{
    const struct sim_plan *plan = load->plan;
    struct sim_host       *host = &load->world.hosts[index];
    bool is_small = (plan->segment_count != 0) && (!plan->is_star || index > 0);
    const char *const settings[] = {"TLS",
                                    "udp",
                                    "NET_ENCRYPT",
                                    plan->encrypts ? "y" : "n",
                                    is_small ? "UDP_SEGMENT_COUNT" : NULL,
                                    "64",
                                    NULL};

    host->step = host_step;
    if (plan->same_ports) {
        host->first_port = 7000;
    }
    sim_host_start(host, settings);
    sim_rma_open(load, index);
}

/* Give up what an end still has, at once. */
void sim_load_drop_end(struct sim_load *load, struct load_end *end)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags        = UCP_EP_CLOSE_FLAG_FORCE};
    void               *request;

    if (end->ep == NULL) {
        return;
    }
    load->world.current = &load->world.hosts[end->host];
    request             = ucp_ep_close_nbx(end->ep, &param);
    if (UCS_PTR_IS_PTR(request)) {
        ucp_request_free(request);
    }
    end->ep = NULL;
}

/* What a process that is gone had begun. Its requests went with its worker. */
void sim_load_forget_ops(struct sim_load *load, unsigned host)
{
    struct load_op *op, *next;

    ucs_list_for_each_safe (op, next, &load->ops, link) {
        if ((op->is_send ? op->flow->from : op->flow->to) == host) {
            sim_op_free(op);
        }
    }
}

void sim_load_run_until(struct sim_load *load,
                        bool (*is_over)(struct sim_load *), const char *what)
{
    uint64_t end_ns =
        load->world.net.now_ns + (uint64_t)LOAD_LIMIT_S * UCS_NS_PER_S;

    while (!load->world.has_failed && !is_over(load)) {
        sim_judge_check_idle(load);
        sim_judge_note_pools(load);
        if (!sim_net_step(&load->world.net, end_ns)) {
            sim_fail("%s: nothing happens any more", what);
            sim_judge_say_what_waits(load);
        }
    }
}

/* ---- The end ---- */

static bool load_is_closed(struct sim_load *load)
{
    while ((load->closed_count < load->end_count) &&
           ((load->ends[load->closed_count].closing == NULL) ||
            (ucp_request_check_status(load->ends[load->closed_count].closing) !=
             UCS_INPROGRESS))) {
        ++load->closed_count;
    }
    return load->closed_count == load->end_count;
}

static void load_close(struct sim_load *load)
{
    unsigned            count = load->end_count;
    ucp_request_param_t param = {.op_attr_mask = 0};
    struct load_end    *end;

    sim_fault_end(load);
    for (unsigned i = 0; i < count; ++i) {
        end = &load->ends[i];
        if (end->ep != NULL) {
            load->world.current = &load->world.hosts[end->host];
            end->closing        = ucp_ep_close_nbx(end->ep, &param);
            end->closing = UCS_PTR_IS_PTR(end->closing) ? end->closing : NULL;
            end->ep      = NULL; /* nothing is sent on it any more */
            sim_host_wake(&load->world.hosts[end->host],
                          load->world.net.now_ns);
        }
    }
    sim_load_run_until(load, load_is_closed, "closing");
    for (unsigned i = 0; i < count; ++i) {
        if (load->ends[i].closing != NULL) {
            ucp_request_free(load->ends[i].closing);
        }
    }
}

/* Receives whose messages will not come. */
static void load_cancel(struct sim_load *load, unsigned host)
{
    struct load_op *op, *next;

    load->world.current = &load->world.hosts[host];
    ucs_list_for_each_safe (op, next, &load->ops, link) {
        if (!op->is_send && (op->flow->to == host) && (op->request != NULL)) {
            ucp_request_cancel(load->world.hosts[host].worker, op->request);
        }
    }
    while (ucp_worker_progress(load->world.hosts[host].worker) != 0) {
    }
}

/* Of a crowd, first neighbours meet, then all others; else all are others. */
static bool load_is_pair(const struct sim_plan *plan, bool are_neighbours,
                         unsigned from, unsigned to)
{
    if ((from == to) ||
        (plan->is_star && !are_neighbours && (from != 0) && (to != 0))) {
        return false;
    }
    return (plan->segment_count == 0) ? !are_neighbours
                                      : ((from ^ to) == 1) == are_neighbours;
}

static void load_for_pairs(struct sim_load *load, bool are_neighbours,
                           void (*call)(struct sim_load *load, unsigned from,
                                        unsigned to))
{
    unsigned count = load->plan->host_count;

    for (unsigned i = 0; i < count * count; ++i) {
        if (load_is_pair(load->plan, are_neighbours, i / count, i % count)) {
            call(load, i / count, i % count);
        }
    }
}

void sim_load_add_flows(struct sim_load *load, bool are_neighbours)
{
    load_for_pairs(load, are_neighbours, sim_load_add_flow);
}

void sim_load_connect(struct sim_load *load, bool are_neighbours)
{
    load_for_pairs(load, are_neighbours, sim_load_join);
    for (unsigned i = 0; i < load->plan->host_count; ++i) {
        sim_host_wake(&load->world.hosts[i], load->world.net.now_ns);
    }
}

static void load_setup(struct sim_load *load, const struct sim_plan *plan,
                       enum sim_trace trace)
{
    unsigned count = plan->host_count;

    sim_world_init(&load->world, count, plan->seed);
    load->world.is_traced      = trace >= SIM_TRACE_EVENTS;
    load->world.traces_packets = trace >= SIM_TRACE_PACKETS;
    load->plan                 = plan;
    load->world.wake_late_ns   = plan->wake_late_ns;
    load->world.poll_count     = plan->poll_count;
    load->world.is_fair        = plan->is_fair;
    load->world.again_max      = plan->again_max;
    load->world.rail_count     = plan->rail_count;
    load->world.net.weather    = plan->weather;
    load->end_count            = plan->is_star ? 3 * count : count * count;
    load->ends                 = calloc(load->end_count, sizeof(*load->ends));
    load->hosts                = calloc(count, sizeof(*load->hosts));
    for (unsigned i = 0; i < count; ++i) {
        ucs_list_init(&load->hosts[i].sending);
        ucs_list_init(&load->hosts[i].receiving);
        ucs_list_init(&load->hosts[i].rmas);
    }
    ucs_list_init(&load->ops);
    for (unsigned i = 0; i < count; ++i) {
        sim_load_start_host(load, i);
    }
    sim_load_add_flows(load, plan->segment_count != 0);
    sim_load_connect(load, plan->segment_count != 0);
    load->begin_ns = load->world.net.now_ns;
    for (unsigned i = 0; i < plan->cut_count; ++i) {
        load->world.net.cuts[i] = plan->cuts[i];
        load->world.net.cuts[i].begin_ns += load->begin_ns;
        load->world.net.cuts[i].end_ns += load->begin_ns;
        load->world.net.cut_count = i + 1;
    }
    sim_fault_begin(load);
}

static void load_cleanup(struct sim_load *load)
{
    sim_fault_cleanup(load);
    for (unsigned i = 0; i < load->plan->host_count; ++i) {
        if (load->world.hosts[i].is_up) {
            load_cancel(load, i);
            sim_rma_close(load, i);
            sim_host_exit(&load->world.hosts[i]);
            sim_load_forget_ops(load, i);
        }
    }
    for (unsigned i = 0; i < load->flow_count; ++i) {
        free(load->flows[i]);
    }
    free(load->flows);
    free(load->ends);
    free(load->hosts);
    sim_world_cleanup(&load->world);
}

bool sim_load_run(const struct sim_plan *plan, enum sim_trace trace)
{
    struct sim_load load = {.flow_count = 0};

    sim_judge_listen();
    load_setup(&load, plan, trace);
    sim_load_run_until(&load, sim_judge_is_over, "the flows");
    if (!load.world.has_failed && (plan->segment_count != 0)) {
        sim_crowd_run(&load);
    }
    if (!load.world.has_failed && (plan->goodput_Bps != 0)) {
        sim_judge_check_goodput(&load);
    }
    if (!load.world.has_failed) {
        load_close(&load);
        sim_rma_check(&load);
        sim_judge_check_pools(&load);
    }
    if (!load.world.has_failed) {
        load_cleanup(&load);
    }
    return !load.world.has_failed; /* after a failure the process ends */
}
