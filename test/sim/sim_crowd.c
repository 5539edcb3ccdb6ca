/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_crowd.c - what an endpoint costs that does nothing any more. */
#include "sim_crowd.h"

#include <malloc.h>

#include "sim_judge.h"
#include "ucp/core/worker.h"
#include "ucs/clock.h"

enum { CROWD_IDLE_BYTES_MAX = 4096 };

#define CROWD_REST_NS (UINT64_C(200) * UCS_NS_PER_MS)

static void crowd_rest(struct sim_load *load)
{
    uint64_t end_ns = load->world.net.now_ns + CROWD_REST_NS;

    while (sim_net_step(&load->world.net, end_ns)) {
    }
    load->world.net.last_packet_ns = load->world.net.now_ns;
}

/* What operations of the application ever needed at a time. */
static size_t crowd_operation_bytes(const struct sim_load *load)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < load->plan->host_count; ++i) {
        const struct ucp_worker *worker  = load->world.hosts[i].worker;
        const struct ucs_mpool  *pools[] = {
             &worker->requests, &worker->tag.pools[0], &worker->tag.pools[1]};

        for (unsigned k = 0; k < UCS_ARRAY_COUNT(pools); ++k) {
            bytes += pools[k]->element_count * pools[k]->stride_bytes;
        }
    }
    return bytes;
}

void sim_crowd_run(struct sim_load *load)
{
    unsigned first = load->flow_count;
    size_t   bytes, most;

    crowd_rest(load);
    sim_load_add_flows(load, false);
    bytes = mallinfo2().uordblks - crowd_operation_bytes(load);
    sim_load_connect(load, false);
    sim_load_run_until(load, sim_judge_is_over, "the crowd");
    crowd_rest(load);
    bytes = mallinfo2().uordblks - crowd_operation_bytes(load) - bytes;
    bytes /= load->flow_count - first;
    (void)sim_stall_pool_bytes(&most);
    printf("sim: %u hosts, %u endpoints: %zu bytes for an idle one; pools of "
           "an interface up to %zu KiB; %llu packets\n",
           load->plan->host_count, load->flow_count, bytes, most / 1024,
           (unsigned long long)load->world.net.sent_count);
    if (bytes > CROWD_IDLE_BYTES_MAX) {
        sim_fail("an idle endpoint costs %zu bytes", bytes);
    }
}
