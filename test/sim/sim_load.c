/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_load.c - flows between hosts, checked message by message. */
#include "sim_load.h"

#include "sim_crowd.h"
#include "sim_flow.h"
#include "sim_judge.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/clock.h"

enum {
    LOAD_POSTED_MAX = 4,   /* receives of a flow that wait at a time */
    LOAD_LIMIT_S    = 600, /* virtual: longer is a hang */
};

/* Beyond the bound, for the last look. */
#define LOAD_SLACK_NS (UINT64_C(1500) * UCS_NS_PER_MS)

/* ---- Hosts ---- */

static void end_failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    struct load_end *end = arg;

    (void)ep;
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
           (end->ep != NULL) && (flow->send_begun < flow->count) &&
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
    return moved;
}

static void load_connect(struct sim_load *load, unsigned host, unsigned peer)
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
    *end   = (struct load_end){.load = load, .host = host, .peer = peer};
    status = ucp_ep_create(load->world.hosts[host].worker, &params, &end->ep);
    if (status != UCS_OK) {
        sim_fail("host %u: ucp_ep_create to %u: %s", host, peer,
                 ucs_status_string(status));
        end->ep     = NULL;
        end->status = status;
    }
}

static void load_add_flow(struct sim_load *load, unsigned from, unsigned to)
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
}

static void load_start_host(struct sim_load *load, unsigned index)
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
}

/* Give up what an end still has, at once. */
static void load_drop_end(struct sim_load *load, struct load_end *end)
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
static void load_forget_ops(struct sim_load *load, unsigned host)
{
    struct load_op *op, *next;

    ucs_list_for_each_safe (op, next, &load->ops, link) {
        if ((op->is_send ? op->flow->from : op->flow->to) == host) {
            sim_op_free(op);
        }
    }
}

static void load_kill(struct sim_load *load, unsigned host)
{
    sim_host_kill(&load->world.hosts[host]);
    load_forget_ops(load, host);
    for (unsigned peer = 0; peer < load->plan->host_count; ++peer) {
        load_end(load, host, peer)->ep = NULL;
    }
}

static void load_restart(struct sim_load *load, unsigned host)
{
    load_start_host(load, host);
    for (unsigned peer = 0; peer < load->plan->host_count; ++peer) {
        if ((peer == host) || !load->world.hosts[peer].is_up) {
            continue;
        }
        load_drop_end(load, load_end(load, peer, host));
        load_connect(load, peer, host);
        load_connect(load, host, peer);
        load_add_flow(load, host, peer);
        load_add_flow(load, peer, host);
        sim_host_wake(&load->world.hosts[peer], load->world.net.now_ns);
    }
}

/* So long after a host died, whoever sends to it knows. */
static void load_verdict(struct sim_event *event)
{
    struct load_fault *item = ucs_container_of(event, struct load_fault, event);
    struct sim_load   *load = item->load;

    for (unsigned i = 0; i < load->flow_count; ++i) {
        if ((load->flows[i]->to == item->fault->host) &&
            (load->flows[i]->to_life == item->life) &&
            !sim_judge_flow_is_over(load->flows[i])) {
            sim_fail("host %u died, and host %u still does not know",
                     item->fault->host, load->flows[i]->from);
        }
    }
}

static void load_fault(struct sim_event *event)
{
    struct load_fault *item = ucs_container_of(event, struct load_fault, event);
    const struct sim_fault *fault = item->fault;
    struct sim_host        *host  = &item->load->world.hosts[fault->host];

    switch (fault->kind) {
    case SIM_STOP:
        sim_host_stop(host);
        break;
    case SIM_COMPUTE:
        sim_host_compute(host);
        break;
    case SIM_GO_ON:
        sim_host_go_on(host);
        break;
    case SIM_KILL:
        load_kill(item->load, fault->host);
        item->load->verdicts[item - item->load->faults].life = host->life;
        sim_net_set(&item->load->world.net,
                    &item->load->verdicts[item - item->load->faults].event,
                    item->load->world.net.now_ns + item->load->plan->bound_ns +
                        LOAD_SLACK_NS);
        break;
    case SIM_RESTART:
        load_restart(item->load, fault->host);
        break;
    case SIM_MTU:
        sim_trace("the path carries %zu bytes now", fault->value);
        item->load->world.net.weather.path_mtu = fault->value;
        break;
    }
}

void sim_load_run_until(struct sim_load *load,
                        bool (*is_over)(struct sim_load *), const char *what)
{
    uint64_t end_ns =
        load->world.net.now_ns + (uint64_t)LOAD_LIMIT_S * UCS_NS_PER_S;

    while (!load->world.has_failed && !is_over(load)) {
        sim_judge_check_idle(load);
        if (!sim_net_step(&load->world.net, end_ns)) {
            sim_fail("%s: nothing happens any more", what);
            sim_judge_say_what_waits(load);
        }
    }
}

/* ---- The end ---- */

static bool load_is_closed(struct sim_load *load)
{
    for (unsigned i = 0; i < load->end_count; ++i) {
        if ((load->ends[i].closing != NULL) &&
            (ucp_request_check_status(load->ends[i].closing) ==
             UCS_INPROGRESS)) {
            return false;
        }
    }
    return true;
}

/* Nobody is stopped or dies while all close; who is away comes back. */
static void load_end_faults(struct sim_load *load)
{
    for (unsigned i = 0; i < load->plan->fault_count; ++i) {
        if (load->plan->faults[i].kind != SIM_GO_ON) {
            sim_net_unset(&load->world.net, &load->faults[i].event);
        }
    }
}

static void load_close(struct sim_load *load)
{
    unsigned            count = load->end_count;
    ucp_request_param_t param = {.op_attr_mask = 0};
    struct load_end    *end;

    load_end_faults(load);
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
    load_for_pairs(load, are_neighbours, load_add_flow);
}

void sim_load_connect(struct sim_load *load, bool are_neighbours)
{
    load_for_pairs(load, are_neighbours, load_connect);
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
    load->world.net.weather    = plan->weather;
    load->end_count            = plan->is_star ? 3 * count : count * count;
    load->ends                 = calloc(load->end_count, sizeof(*load->ends));
    load->hosts                = calloc(count, sizeof(*load->hosts));
    for (unsigned i = 0; i < count; ++i) {
        ucs_list_init(&load->hosts[i].sending);
        ucs_list_init(&load->hosts[i].receiving);
    }
    ucs_list_init(&load->ops);
    for (unsigned i = 0; i < count; ++i) {
        load_start_host(load, i);
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
    for (unsigned i = 0; i < plan->fault_count; ++i) {
        load->faults[i].load  = load;
        load->faults[i].fault = &plan->faults[i];
        sim_event_init(&load->faults[i].event, load_fault);
        load->verdicts[i] = load->faults[i];
        sim_event_init(&load->verdicts[i].event, load_verdict);
        sim_net_set(&load->world.net, &load->faults[i].event,
                    load->begin_ns + plan->faults[i].when_ns);
    }
}

static void load_cleanup(struct sim_load *load)
{
    for (unsigned i = 0; i < load->plan->fault_count; ++i) {
        sim_net_unset(&load->world.net, &load->faults[i].event);
        sim_net_unset(&load->world.net, &load->verdicts[i].event);
    }
    for (unsigned i = 0; i < load->plan->host_count; ++i) {
        if (load->world.hosts[i].is_up) {
            load_cancel(load, i);
            sim_host_exit(&load->world.hosts[i]);
            load_forget_ops(load, i);
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
    bool            is_well;

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
    }
    is_well = !load.world.has_failed;
    if (is_well) {
        load_cleanup(&load);
    }
    return is_well; /* after a failure the process ends */
}
