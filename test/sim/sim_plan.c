/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_plan.c - from a seed to a plan. */
#include "sim_plan.h"

#include <stdio.h>
#include <string.h>

#include "ucs/clock.h"

enum {
    PLAN_MILD_LOSS_PPM = 100000, /* 10 % */
    PLAN_FAIR_EVERY    = 16,
    PLAN_CROWD_COUNT   = 1000,    /* hosts that are enough by themselves */
    PLAN_SLOW_NS       = 2000000, /* one way */
    PLAN_AGAIN_COUNT   = 80,
};

static uint64_t pick(struct sim_random *random, const uint64_t *values,
                     size_t count)
{
    return values[sim_random_below(random, count)];
}

#define PICK(_random, ...)                                                     \
    pick(_random, (const uint64_t[]){__VA_ARGS__},                             \
         sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void plan_weather(struct sim_plan *plan, struct sim_random *random)
{
    struct sim_weather *weather = &plan->weather;

    weather->loss_ppm = (uint32_t)PICK(random, 0, 0, 1000, 10000, 50000, 100000,
                                       100000, 200000, 300000);
    weather->duplicate_ppm = (uint32_t)PICK(random, 0, 0, 1000, 50000, 300000);
    weather->reorder_ppm   = (uint32_t)PICK(random, 0, 0, 1000, 50000, 300000);
    weather->mark_ppm      = (uint32_t)PICK(random, 0, 0, 0, 10000, 300000);
    weather->block_ppm     = (uint32_t)PICK(random, 0, 0, 1000, 200000);
    weather->delay_ns =
        PICK(random, 1, 10, 50, 200, 1000, 20000) * UCS_NS_PER_US;
    weather->jitter_ns  = sim_random_below(random, 2 * weather->delay_ns);
    weather->reorder_ns = 4 * weather->delay_ns;
    weather->rate_Bps =
        PICK(random, 0, 0, 1000000, 12500000, 125000000, 1250000000);
    weather->queue_bytes   = PICK(random, 16, 64, 256, 1024) * 1024;
    weather->receive_bytes = PICK(random, 32, 208, 208, 4096) * 1024;
    weather->device_mtu    = PICK(random, 1280, 1500, 1500, 9000);
    weather->path_mtu =
        (size_t)PICK(random, weather->device_mtu, weather->device_mtu, 1280);
    weather->tells_mtu = sim_random_below(random, 2) == 0;
    plan->wake_late_ns = PICK(random, 0, 0, 10, 1000) * UCS_NS_PER_US;
}

static void plan_add_fault(struct sim_plan *plan, enum sim_fault_kind kind,
                           unsigned host, uint64_t when_ns, size_t value)
{
    if (plan->fault_count < SIM_FAULT_COUNT_MAX) {
        plan->faults[plan->fault_count++] = (struct sim_fault){
            .when_ns = when_ns, .kind = kind, .host = host, .value = value};
    }
}

/* How long something is away: shorter than the bound, or much longer. */
static uint64_t plan_away_ns(const struct sim_plan *plan,
                             struct sim_random *random, bool is_long)
{
    return is_long
               ? 3 * plan->bound_ns + sim_random_below(random, plan->bound_ns)
               : 1 + sim_random_below(random, plan->bound_ns / 2);
}

static void plan_cuts(struct sim_plan *plan, struct sim_random *random,
                      uint64_t spread_ns)
{
    unsigned count = (unsigned)PICK(random, 0, 0, 1, 2);

    for (unsigned i = 0; i < count; ++i) {
        struct sim_cut *cut = &plan->cuts[plan->cut_count++];
        bool is_long = !plan->is_mild && (sim_random_below(random, 3) == 0);

        cut->rail     = -1;
        cut->a        = (int)sim_random_below(random, plan->host_count);
        cut->b        = (int)sim_random_below(random, plan->host_count + 1) - 1;
        cut->begin_ns = sim_random_below(random, spread_ns);
        cut->end_ns   = cut->begin_ns + plan_away_ns(plan, random, is_long);
    }
}

/* One of them is enough: what one does to the other is not foreseen. */
static void plan_faults(struct sim_plan *plan, struct sim_random *random,
                        uint64_t spread_ns)
{
    unsigned host    = (unsigned)sim_random_below(random, plan->host_count);
    uint64_t when_ns = sim_random_below(random, spread_ns);
    uint64_t away_ns;

    if (sim_random_below(random, 4) == 0) {
        plan_add_fault(
            plan, SIM_MTU, 0, when_ns,
            (size_t)PICK(random, 1280, 1400, plan->weather.device_mtu));
    }
    switch (sim_random_below(random, plan->is_mild ? 4 : 6)) {
    case 1: /* who computes is not dead, however long */
        away_ns = plan_away_ns(plan, random, true);
        plan_add_fault(plan, SIM_COMPUTE, host, when_ns, 0);
        plan_add_fault(plan, SIM_GO_ON, host, when_ns + away_ns, 0);
        break;
    case 0:
    case 4:
        away_ns = plan_away_ns(plan, random, !plan->is_mild);
        plan_add_fault(plan, SIM_STOP, host, when_ns, 0);
        plan_add_fault(plan, SIM_GO_ON, host, when_ns + away_ns, 0);
        break;
    case 5:
        away_ns = sim_random_below(random, 2 * plan->bound_ns);
        plan_add_fault(plan, SIM_KILL, host, when_ns, 0);
        if (sim_random_below(random, 3) != 0) {
            plan_add_fault(plan, SIM_RESTART, host, when_ns + away_ns, 0);
        }
        break;
    default:
        break;
    }
}

/* One of two rails is cut, for a while or for good: nobody may care. */
static void plan_cut_rail(struct sim_plan *plan, struct sim_random *random,
                          uint64_t spread_ns)
{
    struct sim_cut *cut = &plan->cuts[plan->cut_count++];

    cut->rail     = (int)sim_random_below(random, SIM_RAIL_COUNT_MAX);
    cut->a        = (int)sim_random_below(random, plan->host_count);
    cut->b        = -1;
    cut->begin_ns = sim_random_below(random, spread_ns);
    cut->end_ns   = cut->begin_ns + plan_away_ns(plan, random, true);
}

/* What came after seeds had a meaning has a chance of its own, so that the
 * weather of a seed stays what it was. */
static void plan_more(struct sim_plan *plan, uint64_t spread_ns)
{
    struct sim_random random = {.state = ~plan->seed};

    plan->rma_count  = (unsigned)PICK(&random, 0, 0, 0, 0, 0, 4, 4, 12);
    plan->rma_bytes  = (size_t)PICK(&random, 64, 64, 3200, 40000);
    plan->rail_count = (unsigned)PICK(&random, 1, 1, 1, 2);
    if ((plan->rail_count > 1) && !plan->is_fair) {
        plan_cut_rail(plan, &random, spread_ns);
    }
    if (sim_random_below(&random, 4) == 0) {
        unsigned host = (unsigned)sim_random_below(&random, plan->host_count);
        unsigned step =
            1 + (unsigned)sim_random_below(&random, plan->host_count - 1);

        plan_add_fault(plan, SIM_REOPEN, host,
                       sim_random_below(&random, spread_ns),
                       (host + step) % plan->host_count);
    }
}

/* Nothing is lost, late or too much. */
static void plan_make_fair(struct sim_plan *plan, struct sim_random *random)
{
    plan->is_fair      = true;
    plan->is_mild      = true;
    plan->wake_late_ns = 0;
    plan->weather      = (struct sim_weather){
             .delay_ns      = PICK(random, 1, 10, 50, 200, 20000) * UCS_NS_PER_US,
             .receive_bytes = (size_t)4096 * 1024,
             .device_mtu    = plan->weather.device_mtu,
             .path_mtu      = plan->weather.device_mtu,
             .tells_mtu     = true,
    };
}

/* Where the way is longer than the first time-out, all that goes before its
 * length is known goes several times: about 30 segments of a connection. */
static void plan_allow_again(struct sim_plan *plan)
{
    if (plan->weather.delay_ns > PLAN_SLOW_NS) {
        plan->again_max =
            PLAN_AGAIN_COUNT * (plan->host_count - 1) * plan->rail_count;
    }
}

void sim_plan_make(struct sim_plan *plan, uint64_t seed)
{
    struct sim_random random = {.state = seed};
    uint64_t          spread_ns;

    memset(plan, 0, sizeof(*plan));
    plan->seed       = seed;
    plan->bound_ns   = 5ull * UCS_NS_PER_S; /* error mode PEER */
    plan->host_count = (unsigned)PICK(&random, 2, 2, 2, 3, 4);
    plan_weather(plan, &random);
    plan->is_mild = (plan->weather.loss_ppm <= PLAN_MILD_LOSS_PPM) &&
                    (sim_random_below(&random, 2) == 0);
    if (sim_random_below(&random, PLAN_FAIR_EVERY) == 0) {
        plan_make_fair(plan, &random);
    }
    plan->poll_count    = (unsigned)PICK(&random, 0, 0, 0, 400);
    plan->encrypts      = sim_random_below(&random, 6) == 0;
    plan->same_ports    = sim_random_below(&random, 2) == 0;
    plan->window        = (unsigned)PICK(&random, 1, 4, 16);
    plan->bytes_max     = (size_t)PICK(&random, 64, 3000, 20000, 200000);
    plan->message_count = (unsigned)PICK(&random, 3, 10, 40) *
                          ((plan->bytes_max < 10000) ? 3u : 1u);
    spread_ns = PICK(&random, 1, 10, 100, 1000) * UCS_NS_PER_MS;
    if (!plan->is_fair) {
        plan_cuts(plan, &random, spread_ns);
        plan_faults(plan, &random, spread_ns);
    }
    plan_more(plan, spread_ns);
    plan_allow_again(plan);
}

void sim_plan_make_crowd(struct sim_plan *plan, uint64_t seed,
                         unsigned host_count, bool is_star)
{
    *plan = (struct sim_plan){
        .seed          = seed,
        .is_mild       = true,
        .is_star       = is_star,
        .host_count    = host_count,
        .rail_count    = 1,
        .segment_count = 64,
        .weather       = {.loss_ppm      = 1000,
                          .duplicate_ppm = 1000,
                          .reorder_ppm   = 1000,
                          .delay_ns      = 50 * UCS_NS_PER_US,
                          .jitter_ns     = 20 * UCS_NS_PER_US,
                          .reorder_ns    = 200 * UCS_NS_PER_US,
                          .rate_Bps      = 1250000000,
                          .queue_bytes   = (size_t)16 << 20,
                          .receive_bytes = (size_t)4 << 20,
                          .device_mtu    = 1500,
                          .path_mtu      = 1500,
                          .tells_mtu     = true},
        .bound_ns      = 5ull * UCS_NS_PER_S,
        .message_count = (host_count < PLAN_CROWD_COUNT) ? 2 : 1,
        .window        = 2,
        .bytes_max     = 64,
    };
}

void sim_plan_make_goodput(struct sim_plan *plan, uint64_t seed)
{
    *plan = (struct sim_plan){
        .seed          = seed,
        .is_mild       = true,
        .host_count    = 2,
        .rail_count    = 1,
        .weather       = {.loss_ppm      = 10000,
                          .delay_ns      = 1000 * UCS_NS_PER_US,
                          .rate_Bps      = 1250000000,
                          .queue_bytes   = (size_t)1 << 20,
                          .receive_bytes = (size_t)4 << 20,
                          .device_mtu    = 1500,
                          .path_mtu      = 1500,
                          .tells_mtu     = true},
        .bound_ns      = 5ull * UCS_NS_PER_S,
        .message_count = 100,
        .window        = 16,
        .bytes_max     = 1000000,
        /* Three times what loss leaves to TCP (Mathis and others 1997):
         * 1.22 * 1448 B / (2 ms * sqrt(0.01)) = 8.8 MB/s. */
        .goodput_Bps = 26500000,
    };
}

void sim_plan_print(const struct sim_plan *plan)
{
    static const char *const  kinds[] = {"stop",    "compute", "go on", "kill",
                                         "restart", "mtu",     "reopen"};
    const struct sim_weather *w       = &plan->weather;

    printf("seed %llu: %s, %u hosts, %u messages of up to %zu bytes each way, "
           "window %u, poll %u%s%s\n",
           (unsigned long long)plan->seed,
           plan->is_fair   ? "fair"
           : plan->is_mild ? "mild"
                           : "harsh",
           plan->host_count, plan->message_count, plan->bytes_max, plan->window,
           plan->poll_count, plan->encrypts ? ", encrypted" : "",
           plan->same_ports ? ", same ports" : "");
    printf("  %u rails, %u rounds of puts, gets, atomics of up to %zu bytes\n",
           plan->rail_count, plan->rma_count, plan->rma_bytes);
    printf("  ppm: loss %u, duplicate %u, reorder %u, mark %u, block %u\n",
           w->loss_ppm, w->duplicate_ppm, w->reorder_ppm, w->mark_ppm,
           w->block_ppm);
    printf("  us: delay %llu, jitter %llu, reordered %llu, wake late %llu\n",
           (unsigned long long)w->delay_ns / 1000,
           (unsigned long long)w->jitter_ns / 1000,
           (unsigned long long)w->reorder_ns / 1000,
           (unsigned long long)plan->wake_late_ns / 1000);
    printf("  bytes: rate %llu, queue %zu, socket %zu, mtu %zu, path %zu%s\n",
           (unsigned long long)w->rate_Bps, w->queue_bytes, w->receive_bytes,
           w->device_mtu, w->path_mtu, w->tells_mtu ? " (told)" : "");
    for (unsigned i = 0; i < plan->cut_count; ++i) {
        printf("  cut %d - %d, rail %d, from %.6f to %.6f s\n", plan->cuts[i].a,
               plan->cuts[i].b, plan->cuts[i].rail,
               (double)plan->cuts[i].begin_ns / UCS_NS_PER_S,
               (double)plan->cuts[i].end_ns / UCS_NS_PER_S);
    }
    for (unsigned i = 0; i < plan->fault_count; ++i) {
        printf("  %s host %u, %zu, at %.6f s\n", kinds[plan->faults[i].kind],
               plan->faults[i].host, plan->faults[i].value,
               (double)plan->faults[i].when_ns / UCS_NS_PER_S);
    }
}

static bool cut_touches(const struct sim_cut *cut, unsigned a, unsigned b)
{
    return (cut->b < 0) ? (cut->a == (int)a) || (cut->a == (int)b)
                        : (((cut->a == (int)a) && (cut->b == (int)b)) ||
                           ((cut->a == (int)b) && (cut->b == (int)a)));
}

bool sim_plan_may_fail(const struct sim_plan *plan, unsigned a, unsigned b)
{
    uint64_t away_ns = 0;

    if (plan->is_mild) {
        return false;
    }
    if (plan->weather.loss_ppm > PLAN_MILD_LOSS_PPM) {
        return true;
    }
    for (unsigned i = 0; i < plan->cut_count; ++i) {
        if ((plan->cuts[i].rail < 0) && cut_touches(&plan->cuts[i], a, b)) {
            away_ns += plan->cuts[i].end_ns - plan->cuts[i].begin_ns;
        }
    }
    for (unsigned i = 0; i < plan->fault_count; ++i) {
        const struct sim_fault *fault = &plan->faults[i];

        if ((fault->kind != SIM_MTU) && (fault->kind != SIM_REOPEN) &&
            ((fault->host == a) || (fault->host == b))) {
            return true;
        }
    }
    return away_ns > plan->bound_ns / 2;
}
