/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_crowd.c - what an endpoint costs that does nothing any more. */
#include "sim_crowd.h"

#include <malloc.h>
#include <sys/resource.h>

#include "sim_judge.h"
#include "ucp/core/worker.h"
#include "ucs/clock.h"

enum { CROWD_IDLE_BYTES_MAX = 4096 };

/* Until what was sent has arrived; and until interfaces have noticed that
 * nothing is sent: a second, and the next sign of life. */
#define CROWD_CALM_NS (UINT64_C(200) * UCS_NS_PER_MS)
#define CROWD_REST_NS (UINT64_C(3) * UCS_NS_PER_S)

static void crowd_rest(struct sim_load *load, uint64_t rest_ns)
{
    uint64_t end_ns = load->world.net.now_ns + rest_ns;

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

/* All that the heap holds and has mapped, but for those, and for what an
 * interface has once, however many peers there are. What the simulator itself
 * has does not change meanwhile. */
static size_t crowd_bytes(const struct sim_load *load)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd - crowd_operation_bytes(load) -
           sim_stall_base_bytes();
}

void sim_crowd_run(struct sim_load *load)
{
    unsigned      first = load->flow_count;
    size_t        before, burst, bytes, most;
    struct rusage usage = {.ru_maxrss = 0};

    crowd_rest(load, CROWD_REST_NS);
    sim_load_add_flows(load, false);
    before = crowd_bytes(load);
    sim_load_connect(load, false);
    sim_load_run_until(load, sim_judge_is_over, "the crowd");
    crowd_rest(load, CROWD_CALM_NS);
    burst = (crowd_bytes(load) - before) / (load->flow_count - first);
    most  = sim_stall_pool_bytes_max();
    crowd_rest(load, CROWD_REST_NS);
    bytes = (crowd_bytes(load) - before) / (load->flow_count - first);
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("sim: %u hosts, %u endpoints: %zu bytes for an idle one (%zu just "
           "after the burst; pools of an interface up to %zu KiB); %llu "
           "packets, %llu s of processor, %ld MiB\n",
           load->plan->host_count, load->flow_count, bytes, burst, most / 1024,
           (unsigned long long)load->world.net.sent_count,
           (unsigned long long)usage.ru_utime.tv_sec, usage.ru_maxrss / 1024);
    if (bytes > CROWD_IDLE_BYTES_MAX) {
        sim_fail("an idle endpoint costs %zu bytes", bytes);
    }
}
