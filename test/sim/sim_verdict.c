/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_verdict.c - endpoints fail within their bound.
 *
 *   killed, stopped, cut        bound       slack   verdict
 *   |-------------------------->|---------->|       who waits still has failed
 *   '- the last packets of before arrive
 *
 * An endpoint that was made again begins when the one before it has ended: it
 * has as long as that one, and then as long for itself. */
#include "sim_verdict.h"

#include "sim_judge.h"
#include "ucs/clock.h"

/* Beyond the bound, for the last look. */
#define VERDICT_SLACK_NS (UINT64_C(1500) * UCS_NS_PER_MS)

static uint64_t verdict_patience_ns(const struct sim_plan *plan)
{
    return plan->bound_ns + VERDICT_SLACK_NS;
}

/* Is something away for so long that both looks come before its return? */
static bool verdict_is_long(const struct sim_plan *plan, uint64_t away_ns)
{
    return away_ns > verdict_patience_ns(plan) + plan->bound_ns;
}

/* Was its own process away? Time in which it did not run is nobody's silence;
 * who computes is told later. */
static bool verdict_excuses(const struct sim_plan *plan, unsigned host)
{
    for (unsigned i = 0; i < plan->fault_count; ++i) {
        if ((plan->faults[i].host == host) &&
            ((plan->faults[i].kind == SIM_STOP) ||
             (plan->faults[i].kind == SIM_COMPUTE))) {
            return true;
        }
    }
    return false;
}

static bool verdict_is_about(const struct load_verdict *verdict,
                             const struct load_flow    *flow)
{
    int from = (int)flow->from, to = (int)flow->to;

    if (verdict->life != 0) {
        return (to == verdict->host) && (flow->to_life == verdict->life);
    }
    return ((to == verdict->host) &&
            ((verdict->peer < 0) || (from == verdict->peer))) ||
           ((from == verdict->host) &&
            ((verdict->peer < 0) || (to == verdict->peer)));
}

/* Both processes are those of the beginning, and so is the endpoint; it has
 * something to send. */
static bool verdict_waits(const struct load_verdict *verdict,
                          const struct load_flow    *flow)
{
    const struct sim_host *hosts = verdict->load->world.hosts;
    const struct load_end *end = load_end(verdict->load, flow->from, flow->to);

    return !sim_judge_flow_is_over(flow) && (flow->sent < flow->count) &&
           (flow->status == UCS_OK) && (end->status == UCS_OK) &&
           (end->ep != NULL) && (end->since_ns <= verdict->begin_ns) &&
           (!end->is_again || verdict->is_last) && hosts[flow->to].is_up &&
           (hosts[flow->to].life == flow->to_life) &&
           (verdict->load->hosts[flow->from].closing != end) &&
           !verdict_excuses(verdict->load->plan, flow->from);
}

static void verdict_fire(struct sim_event *event)
{
    struct load_verdict *verdict =
        ucs_container_of(event, struct load_verdict, event);
    struct sim_load *load = verdict->load;

    for (unsigned i = 0; i < load->flow_count; ++i) {
        const struct load_flow *flow = load->flows[i];

        if (!verdict_is_about(verdict, flow)) {
            continue;
        }
        if ((verdict->life != 0) && !sim_judge_flow_is_over(flow)) {
            sim_fail("host %u died, and host %u still does not know", flow->to,
                     flow->from);
        } else if ((verdict->life == 0) && verdict_waits(verdict, flow)) {
            sim_fail("host %u is out of reach since %.6f s, and host %u still "
                     "waits",
                     flow->to, (double)verdict->begin_ns / UCS_NS_PER_S,
                     flow->from);
        }
    }
    if ((verdict->life == 0) && !verdict->is_last) {
        verdict->is_last = true;
        sim_net_set(&load->world.net, event,
                    load->world.net.now_ns + load->plan->bound_ns);
    }
}

static struct load_verdict *verdict_add(struct sim_load *load, int host,
                                        int peer, uint64_t begin_ns)
{
    struct load_verdict *verdict = &load->verdicts[load->verdict_count++];

    *verdict = (struct load_verdict){
        .load = load, .begin_ns = begin_ns, .host = host, .peer = peer};
    sim_event_init(&verdict->event, verdict_fire);
    sim_net_set(&load->world.net, &verdict->event,
                begin_ns + verdict_patience_ns(load->plan));
    return verdict;
}

/* When it goes on; never: at the end of time. */
static uint64_t verdict_back_ns(const struct sim_plan  *plan,
                                const struct sim_fault *stop)
{
    for (unsigned i = 0; i < plan->fault_count; ++i) {
        if ((plan->faults[i].kind == SIM_GO_ON) &&
            (plan->faults[i].host == stop->host)) {
            return plan->faults[i].when_ns;
        }
    }
    return UINT64_MAX;
}

void sim_verdict_begin(struct sim_load *load)
{
    const struct sim_plan *plan = load->plan;

    for (unsigned i = 0; i < plan->fault_count; ++i) {
        const struct sim_fault *fault = &plan->faults[i];

        if ((fault->kind == SIM_STOP) &&
            verdict_is_long(plan,
                            verdict_back_ns(plan, fault) - fault->when_ns)) {
            (void)verdict_add(load, (int)fault->host, -1,
                              load->begin_ns + fault->when_ns);
        }
    }
    for (unsigned i = 0; i < load->world.net.cut_count; ++i) {
        const struct sim_cut *cut = &load->world.net.cuts[i];

        if ((cut->rail < 0) &&
            verdict_is_long(plan, cut->end_ns - cut->begin_ns)) {
            (void)verdict_add(load, cut->a, cut->b, cut->begin_ns);
        }
    }
}

void sim_verdict_killed(struct sim_load *load, unsigned host)
{
    verdict_add(load, (int)host, -1, load->world.net.now_ns)->life =
        load->world.hosts[host].life;
}

void sim_verdict_cleanup(struct sim_load *load)
{
    for (unsigned i = 0; i < load->verdict_count; ++i) {
        sim_net_unset(&load->world.net, &load->verdicts[i].event);
    }
}
