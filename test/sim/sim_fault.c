/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_fault.c - processes stop, compute, die and come back; endpoints
 * are closed and opened again. */
#include "sim_fault.h"

#include "sim_rma.h"
#include "sim_verdict.h"

static void fault_kill(struct sim_load *load, unsigned host)
{
    sim_rma_close(load, host);
    sim_host_kill(&load->world.hosts[host]);
    load->hosts[host].closing = NULL;
    sim_load_forget_ops(load, host);
    for (unsigned peer = 0; peer < load->plan->host_count; ++peer) {
        load_end(load, host, peer)->ep = NULL;
    }
}

/* Its peer is another process now. */
static void fault_forget_close(struct sim_load *load, struct load_end *end)
{
    load->world.current = &load->world.hosts[end->host];
    if (load->hosts[end->host].closing == end) {
        load->hosts[end->host].closing = NULL;
        if (end->closing != NULL) {
            ucp_request_free(end->closing);
            end->closing = NULL;
        }
    }
}

static void fault_restart(struct sim_load *load, unsigned host)
{
    sim_load_start_host(load, host);
    for (unsigned peer = 0; peer < load->plan->host_count; ++peer) {
        if ((peer == host) || !load->world.hosts[peer].is_up) {
            continue;
        }
        fault_forget_close(load, load_end(load, peer, host));
        sim_load_drop_end(load, load_end(load, peer, host));
        sim_load_join(load, peer, host);
        sim_load_join(load, host, peer);
        sim_load_add_flow(load, host, peer);
        sim_load_add_flow(load, peer, host);
        sim_host_wake(&load->world.hosts[peer], load->world.net.now_ns);
    }
}

/* An orderly close in the middle of traffic: nothing more is begun; when all
 * that was has completed, though it need not have left, the endpoint is closed;
 * then one made anew says the rest. The peer talks on meanwhile. */
static void fault_close(struct sim_load *load, unsigned host, unsigned peer)
{
    struct load_end *end = load_end(load, host, peer);

    if (load->world.hosts[host].is_up && (end->ep != NULL) &&
        (end->status == UCS_OK) && (load->hosts[host].closing == NULL)) {
        sim_trace("host %u: closes its endpoint to %u", host, peer);
        load->hosts[host].closing = end;
        sim_host_wake(&load->world.hosts[host], load->world.net.now_ns);
    }
}

/* Has anything begun that is not complete? A close would take it back. */
static bool fault_is_busy(const struct sim_load *load,
                          const struct load_end *end)
{
    for (unsigned i = 0; i < load->flow_count; ++i) {
        const struct load_flow *flow = load->flows[i];

        if ((flow->from == end->host) && (flow->to == end->peer) &&
            (flow->from_life == load->world.hosts[end->host].life) &&
            (flow->status == UCS_OK) &&
            ((flow->rma.pending > 0) || (flow->send_begun != flow->sent))) {
            return true;
        }
    }
    return false;
}

/* @return did the close begin? */
static bool fault_begin_close(struct sim_load *load, struct load_end *end)
{
    ucp_request_param_t param = {.op_attr_mask = 0};
    void               *request;

    if (fault_is_busy(load, end)) {
        return false;
    }
    request      = ucp_ep_close_nbx(end->ep, &param);
    end->ep      = NULL;
    end->closing = UCS_PTR_IS_PTR(request) ? request : NULL;
    return true;
}

/* Nobody says anything more to a peer that is gone. */
static void fault_end_close(struct sim_load *load, struct load_end *end)
{
    if (end->closing != NULL) {
        ucp_request_free(end->closing);
        end->closing = NULL;
    }
    load->hosts[end->host].closing = NULL;
    if ((end->status == UCS_OK) && load->world.hosts[end->peer].is_up) {
        sim_trace("host %u: a new endpoint to %u", end->host, end->peer);
        sim_load_join(load, end->host, end->peer);
        end->is_again = true;
        for (unsigned i = 0; i < load->flow_count; ++i) {
            if ((load->flows[i]->from == end->host) &&
                (load->flows[i]->to == end->peer)) {
                sim_flow_ready(load->flows[i]);
            }
        }
    }
}

bool sim_fault_step(struct sim_load *load, struct sim_host *host)
{
    struct load_end *end = load->hosts[host->index].closing;

    if (end == NULL) {
        return false;
    }
    if (end->ep != NULL) {
        return fault_begin_close(load, end);
    }
    if ((end->closing != NULL) &&
        (ucp_request_check_status(end->closing) == UCS_INPROGRESS)) {
        return false;
    }
    fault_end_close(load, end);
    return true;
}

static void fault_fire(struct sim_event *event)
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
        fault_kill(item->load, fault->host);
        sim_verdict_killed(item->load, fault->host);
        break;
    case SIM_RESTART:
        fault_restart(item->load, fault->host);
        break;
    case SIM_MTU:
        sim_trace("the path carries %zu bytes now", fault->value);
        item->load->world.net.weather.path_mtu = fault->value;
        break;
    case SIM_REOPEN:
        fault_close(item->load, fault->host, (unsigned)fault->value);
        break;
    }
}

void sim_fault_begin(struct sim_load *load)
{
    const struct sim_plan *plan = load->plan;

    for (unsigned i = 0; i < plan->fault_count; ++i) {
        load->faults[i].load  = load;
        load->faults[i].fault = &plan->faults[i];
        sim_event_init(&load->faults[i].event, fault_fire);
        sim_net_set(&load->world.net, &load->faults[i].event,
                    load->begin_ns + plan->faults[i].when_ns);
    }
    sim_verdict_begin(load);
}

/* Nobody is stopped or dies while all close; who is away comes back. */
void sim_fault_end(struct sim_load *load)
{
    for (unsigned i = 0; i < load->plan->fault_count; ++i) {
        if (load->plan->faults[i].kind != SIM_GO_ON) {
            sim_net_unset(&load->world.net, &load->faults[i].event);
        }
    }
    for (unsigned i = 0; i < load->plan->host_count; ++i) {
        load->hosts[i].closing = NULL; /* its end is closed, or is closing */
    }
}

void sim_fault_cleanup(struct sim_load *load)
{
    for (unsigned i = 0; i < load->plan->fault_count; ++i) {
        sim_net_unset(&load->world.net, &load->faults[i].event);
    }
    sim_verdict_cleanup(load);
}
