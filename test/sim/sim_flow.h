/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_flow.h - messages between two hosts, checked one by one. */
#ifndef SIM_FLOW_H_
#define SIM_FLOW_H_

#include "sim_plan.h"
#include "sim_world.h"
#include "ucs/list.h"
#include "uct/api/transport.h"

struct sim_load;

enum { LOAD_RMA_COUNT = 3 }; /* of a kind at a time */

/* Puts, gets and atomics of a flow (sim_rma.c).
 * link     in load_host.rmas until all rounds are over
 * offset   of its bytes in the target's memory
 * step     of this round; pending: its operations
 * sum      of all that was added there */
struct load_rma {
    struct ucs_list link;
    bool            is_listed, has_failed;
    unsigned        round, step, pending;
    size_t          offset;
    uint64_t        sum;
    uint64_t        results[LOAD_RMA_COUNT];
};

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
    struct load_rma  rma;
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

/* One end towards one peer; made at since_ns. is_again: after one that was
 * closed, whose end it waits for. */
struct load_end {
    struct sim_load *load;
    unsigned         host, peer;
    uint64_t         since_ns;
    bool             is_again;
    ucp_ep_h         ep;
    ucs_status_t     status;
    void            *closing;
};

/* What an application has on a host.
 * sending, receiving  flows that can go on; rmas: some day
 * closing      its end that is closed and made anew; NULL: none
 * memory       [memory_bytes] for others to put and get, memory_used of them
 *              given to flows; mems, keys: on each rail. gone_keys: to memory
 *              that was there */
struct load_host {
    struct ucs_list  sending, receiving, rmas;
    struct load_end *closing;
    uint8_t         *memory;
    size_t           memory_bytes, memory_used;
    struct uct_mem  *mems[SIM_RAIL_COUNT_MAX];
    uint8_t          keys[SIM_RAIL_COUNT_MAX][UCT_RKEY_BYTES_MAX];
    uint8_t          gone_keys[SIM_RAIL_COUNT_MAX][UCT_RKEY_BYTES_MAX];
    size_t           key_bytes;
};

struct load_fault {
    struct sim_event        event;
    struct sim_load        *load;
    const struct sim_fault *fault;
};

/* A moment of which something is true (sim_verdict.c).
 * host      is away since begin_ns, or cut off from peer; peer < 0: from all
 * life      of the host that was killed; 0: it lives
 * is_last   those that wait for the end of another one must know now, too */
struct load_verdict {
    struct sim_event event;
    struct sim_load *load;
    uint64_t         begin_ns;
    int              host, peer;
    unsigned         life;
    bool             is_last;
};

enum { LOAD_VERDICT_COUNT_MAX = SIM_FAULT_COUNT_MAX + SIM_NET_CUT_COUNT_MAX };

struct sim_load {
    struct sim_world       world;
    const struct sim_plan *plan;
    struct load_flow     **flows;
    unsigned               flow_count, over_count; /* the first are over */
    struct load_host      *hosts;
    struct load_end       *ends;                    /* [end_count] */
    unsigned               end_count, closed_count; /* as over_count */
    struct ucs_list        ops;
    struct load_fault      faults[SIM_FAULT_COUNT_MAX];
    struct load_verdict    verdicts[LOAD_VERDICT_COUNT_MAX];
    unsigned               verdict_count;
    uint64_t               begin_ns;
    uint64_t               step_count;
    size_t                 pool_bytes_max; /* of an interface */
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

/* The library calls the application of a host: fail if the helper is inside. */
void sim_flow_called(const struct sim_load *load, unsigned host);

/* Was it given up, by us or with the worker, or has its peer died? */
bool sim_flow_may_end(const struct load_flow *flow);

/* sim_load.c: one of each; a process; what is left of its own */
void sim_load_add_flow(struct sim_load *load, unsigned from, unsigned to);
void sim_load_join(struct sim_load *load, unsigned host, unsigned peer);
void sim_load_start_host(struct sim_load *load, unsigned index);
/* Give up what an end still has, at once. */
void sim_load_drop_end(struct sim_load *load, struct load_end *end);
/* What a process that is gone had begun. Its requests went with its worker. */
void sim_load_forget_ops(struct sim_load *load, unsigned host);
/* sim_load.c: flows, and endpoints, between neighbours or between all others */
void sim_load_add_flows(struct sim_load *load, bool are_neighbours);
void sim_load_connect(struct sim_load *load, bool are_neighbours);
void sim_load_run_until(struct sim_load *load,
                        bool (*is_over)(struct sim_load *), const char *what);

#endif
