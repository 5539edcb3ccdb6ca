/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_judge.c - what must not happen, looked at from outside. */
#include "sim_judge.h"

#include <stdio.h>
#include <string.h>

#include "sim_rma.h"
#include "ucs/clock.h"
#include "ucs/log.h"

enum {
    JUDGE_IDLE_TRIPS  = 10,
    JUDGE_TICK_MS     = 1, /* of timers: a trip counts as so much at least */
    JUDGE_POOLS_EVERY = 64,
    JUDGE_POOL_BASE_BYTES = 4 << 20,
    JUDGE_POOL_SHARE      = 8,
    JUDGE_SMALL_BYTES     = 700,      /* messages of one small element */
    JUDGE_ELEMENT_BYTES   = 9 * 1024, /* of a larger one that is kept whole */
    JUDGE_ELEMENT_SHARE   = 4,        /* each way, in chunks that double */
};

bool sim_judge_flow_is_over(const struct load_flow *flow)
{
    struct sim_load       *load = flow->load;
    const struct sim_host *from = &load->world.hosts[flow->from];
    const struct sim_host *to   = &load->world.hosts[flow->to];
    const struct load_end *end  = load_end(load, flow->from, flow->to);

    if ((flow->sent == flow->count) && (flow->received == flow->count) &&
        sim_rma_is_over(flow)) {
        return true;
    }
    if (!from->is_up || (from->life != flow->from_life)) {
        return true; /* nobody is there to be told */
    }
    if (!to->is_up || (to->life != flow->to_life)) {
        return (end->status != UCS_OK) || (flow->status != UCS_OK) ||
               (flow->sent == flow->count) || (to->life != flow->to_life);
    }
    return (end->status != UCS_OK) ||
           (load_end(load, flow->to, flow->from)->status != UCS_OK);
}

bool sim_judge_is_over(struct sim_load *load)
{
    while ((load->over_count < load->flow_count) &&
           sim_judge_flow_is_over(load->flows[load->over_count])) {
        ++load->over_count;
    }
    return load->over_count == load->flow_count;
}

void sim_judge_check_idle(const struct sim_load *load)
{
    const struct sim_net     *net     = &load->world.net;
    const struct sim_weather *weather = &net->weather;
    uint64_t trip_ns = 2 * (weather->delay_ns + weather->jitter_ns +
                            weather->reorder_ns + load->plan->wake_late_ns);

    if (weather->rate_Bps != 0) { /* a full queue is part of the trip */
        trip_ns += weather->queue_bytes * UCS_NS_PER_S / weather->rate_Bps;
    }
    trip_ns = ucs_max(trip_ns, (uint64_t)JUDGE_TICK_MS * UCS_NS_PER_MS);
    if (load->plan->is_mild && (load->plan->fault_count == 0) &&
        (load->plan->cut_count == 0) && (net->flying_count == 0) &&
        (net->now_ns - net->last_packet_ns > JUDGE_IDLE_TRIPS * trip_ns)) {
        sim_fail("no packet for %.3f ms, %.1f round trips, and messages wait",
                 (double)(net->now_ns - net->last_packet_ns) / UCS_NS_PER_MS,
                 (double)(net->now_ns - net->last_packet_ns) / (double)trip_ns);
    }
}

void sim_judge_check_goodput(const struct sim_load *load)
{
    for (unsigned i = 0; i < load->flow_count; ++i) {
        const struct load_flow *flow = load->flows[i];
        double seconds = (double)(flow->received_ns - load->begin_ns) * 1e-9;
        double Bps     = (double)flow->received_bytes / seconds;

        printf("sim: %u -> %u: %.1f MB in %.3f s: %.1f MB/s\n", flow->from,
               flow->to, (double)flow->received_bytes * 1e-6, seconds,
               Bps * 1e-6);
        if (Bps < (double)load->plan->goodput_Bps) {
            sim_fail("flow %u -> %u: less than %.1f MB/s", flow->from, flow->to,
                     (double)load->plan->goodput_Bps * 1e-6);
        }
    }
}

void sim_judge_note_pools(struct sim_load *load)
{
    if ((load->plan->segment_count == 0) && /* a crowd looks itself */
        (++load->step_count % JUDGE_POOLS_EVERY == 0)) {
        load->pool_bytes_max =
            ucs_max(load->pool_bytes_max, sim_stall_pool_bytes_max());
    }
}

void sim_judge_check_pools(const struct sim_load *load)
{
    const struct sim_plan *plan = load->plan;
    size_t                 kept, most;

    if (plan->segment_count != 0) {
        return; /* a crowd says it itself */
    }
    /* Who sends without asking is done when it is on its way: the window does
     * not bound what waits for an application that does not call. */
    kept = (plan->bytes_max <= JUDGE_SMALL_BYTES)
               ? 0
               : (size_t)plan->message_count * JUDGE_ELEMENT_BYTES;
    most = JUDGE_POOL_BASE_BYTES +
           (plan->host_count - 1) *
               (kept * JUDGE_ELEMENT_SHARE +
                (plan->window * plan->bytes_max + 3 * plan->rma_bytes) *
                    JUDGE_POOL_SHARE);
    if (load->pool_bytes_max > most) {
        sim_fail("the pools of an interface grew to %zu bytes, beyond %zu",
                 load->pool_bytes_max, most);
    }
}

void sim_judge_say_what_waits(const struct sim_load *load)
{
    for (unsigned i = 0; i < load->flow_count; ++i) {
        const struct load_flow *flow = load->flows[i];

        if (!sim_judge_flow_is_over(flow)) {
            sim_fail("flow %u -> %u hangs: %u begun, %u sent, %u received "
                     "of %u; rma: round %u, step %u, %u pending",
                     flow->from, flow->to, flow->send_begun, flow->sent,
                     flow->received, flow->count, flow->rma.round,
                     flow->rma.step, flow->rma.pending);
        }
    }
}

/* Requests are the application's, and who is killed frees none. */
static void judge_log(void *arg, ucs_log_level_t level, const char *file,
                      unsigned line, const char *text)
{
    (void)arg;
    if (strncmp(text, "mpool requests:", strlen("mpool requests:")) == 0) {
        return;
    }
    if (strncmp(text, "mpool ", strlen("mpool ")) == 0) {
        sim_fail("%s", text);
        return;
    }
    fprintf(stderr, "%s:%u %s %s\n", file, line, ucsi_log_level_names[level],
            text);
}

void sim_judge_listen(void)
{
    static const struct ucs_log_handler handler = {judge_log, NULL};

    (void)ucsi_log_set_handler(&handler);
}
