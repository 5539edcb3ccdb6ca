/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_plan.h - what a seed means: how many hosts, which weather, who
 * says what to whom, and what goes wrong when.
 *
 * A plan is mild if nothing in it may make an endpoint fail: at most 10 % of
 * packets are lost, nobody dies, and no cut of all rails and no stop lasts as
 * long as the bound after which a silent peer is dead. It is fair if nothing at
 * all goes wrong: then nothing may be sent twice. */
#ifndef SIM_PLAN_H_
#define SIM_PLAN_H_

#include "sim_net.h"

enum sim_fault_kind {
    SIM_STOP,    /* the process does not run, */
    SIM_COMPUTE, /* or only its application does not call, */
    SIM_GO_ON,   /* until here */
    SIM_KILL,    /* it is gone, */
    SIM_RESTART, /* and another one is started on the host */
    SIM_MTU,     /* the switch carries `value` bytes from now on */
    SIM_REOPEN,  /* the endpoint to host `value` is closed and made anew */
};

struct sim_fault {
    uint64_t            when_ns; /* after the begin */
    enum sim_fault_kind kind;
    unsigned            host;
    size_t              value;
};

enum { SIM_FAULT_COUNT_MAX = 8 };

/* bound_ns      a silent peer is dead after it
 * is_star       all speak with host 0 only
 * segment_count of an interface of the others; 0: the default
 * goodput_Bps   must arrive in each direction; 0: nothing is asked
 * same_ports    a process started again has the ports of the one before
 * message_count of each flow; there is one between each pair of hosts, each
 *               way
 * bytes_max     of a message
 * again_max     segments that each host may send again in a fair plan
 * poll_count    a process polls so often in vain before it sleeps
 * window        messages of a flow that are on their way at a time
 * rail_count    interfaces of each host
 * rma_count     rounds of puts, gets and atomics of each flow, of up to
 * rma_bytes     each */
struct sim_plan {
    uint64_t           seed;
    bool               is_mild, is_fair, is_star;
    unsigned           again_max;
    unsigned           host_count;
    struct sim_weather weather;
    uint64_t           wake_late_ns;
    uint64_t           bound_ns;
    bool               same_ports, encrypts;
    unsigned           segment_count;
    uint64_t           goodput_Bps;
    unsigned           message_count, window, poll_count;
    unsigned           rail_count, rma_count;
    size_t             rma_bytes;
    size_t             bytes_max;
    struct sim_cut     cuts[SIM_NET_CUT_COUNT_MAX];
    unsigned           cut_count;
    struct sim_fault   faults[SIM_FAULT_COUNT_MAX];
    unsigned           fault_count;
};

void sim_plan_make(struct sim_plan *plan, uint64_t seed);
/* Many hosts, each pair with a few messages, or `is_star`; a little goes
 * wrong. */
void sim_plan_make_crowd(struct sim_plan *plan, uint64_t seed,
                         unsigned host_count, bool is_star);
/* Two hosts with much to say over a long path that loses 1 %: what arrives in
 * each direction is compared with what TCP could do there. */
void sim_plan_make_goodput(struct sim_plan *plan, uint64_t seed);
void sim_plan_print(const struct sim_plan *plan);

/* May an endpoint between these two fail? Only if the plan says so. */
bool sim_plan_may_fail(const struct sim_plan *plan, unsigned a, unsigned b);

#endif
