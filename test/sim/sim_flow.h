/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_flow.h - messages between two hosts, checked one by one. */
#ifndef SIM_FLOW_H_
#define SIM_FLOW_H_

#include "sim_plan.h"
#include "sim_world.h"
#include "ucs/list.h"

struct sim_load;

/* sent, received  completed; *_begun: started
 * status          of the sender's endpoint
 * *_link          in the list of its host while something can be begun */
struct load_flow {
    struct sim_load *load;
    struct ucs_list  send_link, receive_link;
    bool             may_send, may_receive;
    unsigned         from, to, from_life, to_life;
    uint32_t         id;
    unsigned         count, send_begun, sent, receive_begun, received;
    uint64_t         received_bytes, received_ns; /* and when the last came */
    ucs_status_t     status;
};

/* An operation; buffer is [length]. */
struct load_op {
    struct ucs_list   link;
    struct load_flow *flow;
    unsigned          number;
    bool              is_send;
    size_t            length;
    uint8_t          *buffer;
    void             *request;
};

/* One end towards one peer. */
struct load_end {
    struct sim_load *load;
    unsigned         host, peer;
    ucp_ep_h         ep;
    ucs_status_t     status;
    void            *closing;
};

/* Flows of a host that can go on. */
struct load_host {
    struct ucs_list sending, receiving;
};

struct load_fault {
    struct sim_event        event;
    struct sim_load        *load;
    const struct sim_fault *fault;
    unsigned                life; /* that ended */
};

struct sim_load {
    struct sim_world       world;
    const struct sim_plan *plan;
    struct load_flow     **flows;
    unsigned               flow_count, over_count; /* the first are over */
    struct load_host      *hosts;
    struct load_end       *ends; /* [end_count] */
    unsigned               end_count;
    struct ucs_list        ops;
    struct load_fault      faults[SIM_FAULT_COUNT_MAX];
    struct load_fault      verdicts[SIM_FAULT_COUNT_MAX];
    uint64_t               begin_ns;
};

static inline struct load_end *load_end(struct sim_load *load, unsigned host,
                                        unsigned peer)
{
    unsigned count = load->plan->host_count;

    if (load->plan->is_star) { /* host 0's; theirs; those of neighbours */
        return &load->ends[(host == 0)   ? peer
                           : (peer == 0) ? count + host
                                         : 2 * count + host];
    }
    return &load->ends[host * count + peer];
}

/* Something changed: let its host look whether it can go on. */
void sim_flow_ready(struct load_flow *flow);

/* Begin the next message, or the next receive; the call checks what came. */
void sim_flow_send(struct load_flow *flow, ucp_ep_h ep);
void sim_flow_receive(struct load_flow *flow, ucp_worker_h worker);

void sim_op_free(struct load_op *op);

/* sim_load.c: flows, and endpoints, between neighbours or between all others */
void sim_load_add_flows(struct sim_load *load, bool are_neighbours);
void sim_load_connect(struct sim_load *load, bool are_neighbours);
void sim_load_run_until(struct sim_load *load,
                        bool (*is_over)(struct sim_load *), const char *what);

#endif
