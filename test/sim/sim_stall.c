/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_stall.c - who looks whether an application calls, in virtual
 * time; linked in place of udp_stall_thread.c. A process that computes is
 * served by it; one that is stopped is not. One that sleeps is woken by its
 * timers, so nobody need look. While the helper rests, what wakes the process
 * wakes the helper. */
#include <stdlib.h>

#include "sim_world.h"
#include "uct/udp/udp.h"

struct stall_watch {
    struct sim_event  tick;
    struct ucs_list   link;
    struct sim_host  *host;
    struct udp_iface *iface;
};

static struct ucs_list stall_watches = UCS_LIST_INITIALIZER(stall_watches);

static void stall_set(struct stall_watch *watch, uint64_t after_ns)
{
    struct sim_net *net = &watch->host->world->net;

    if (!ucs_heap_node_is_in(&watch->tick.node) ||
        (net->now_ns + after_ns < watch->tick.node.key)) {
        sim_net_set(net, &watch->tick, net->now_ns + after_ns);
    }
}

static void stall_tick(struct sim_event *event)
{
    struct stall_watch *watch =
        ucs_container_of(event, struct stall_watch, tick);
    enum udp_stall_next next = UDP_STALL_TICK;

    if (!watch->host->is_computing) {
        return;
    }
    if (!watch->host->is_stopped) {
        watch->host->world->current = watch->host;
        watch->host->is_helped      = true;
        next                        = udp_stall_look(watch->iface);
        watch->host->is_helped      = false;
    }
    if (next != UDP_STALL_REST) {
        stall_set(watch, (next == UDP_STALL_BUSY) ? UDP_STALL_BUSY_NS
                                                  : UDP_STALL_TICK_NS);
    }
}

static bool stall_rests(struct stall_watch *watch)
{
    return atomic_load_explicit(&watch->iface->stall.rests,
                                memory_order_relaxed);
}

void sim_stall_begin(struct sim_host *host)
{
    struct stall_watch *watch;

    ucs_list_for_each (watch, &stall_watches, link) {
        if ((watch->host == host) && !stall_rests(watch)) {
            stall_set(watch, UDP_STALL_TICK_NS);
        }
    }
}

void sim_stall_fire(struct sim_host *host)
{
    struct stall_watch *watch;

    ucs_list_for_each (watch, &stall_watches, link) {
        if ((watch->host == host) && stall_rests(watch)) {
            stall_set(watch, 0);
        }
    }
}

void udp_stall_wake(void)
{
    sim_stall_begin(sim_world->current);
}

/* All chunks of a pool, or the first one, which it keeps. */
static size_t stall_chunk_bytes(const struct ucs_mpool *pool, bool only_first)
{
    const struct ucs_mpool_chunk *chunk;
    size_t                        bytes = 0;

    for (chunk = pool->chunks; chunk != NULL; chunk = chunk->next) {
        if (!only_first || (chunk->next == NULL)) {
            bytes += chunk->size_bytes;
        }
    }
    return bytes;
}

static size_t stall_pool_bytes(const struct stall_watch *watch, bool only_first)
{
    struct udp_env   *env = &watch->iface->env;
    struct ucs_mpool *pool;
    size_t            bytes = 0;

    for (unsigned i = 0; (pool = udp_env_pool(env, i)) != NULL; ++i) {
        bytes += stall_chunk_bytes(pool, only_first);
    }
    return bytes;
}

size_t sim_stall_pool_bytes_max(void)
{
    struct stall_watch *watch;
    size_t              most = 0;

    ucs_list_for_each (watch, &stall_watches, link) {
        most = ucs_max(most, stall_pool_bytes(watch, false));
    }
    return most;
}

size_t sim_stall_base_bytes(void)
{
    struct stall_watch *watch;
    size_t              bytes = 0;

    ucs_list_for_each (watch, &stall_watches, link) {
        bytes += stall_pool_bytes(watch, true);
    }
    return bytes;
}

ucs_status_t udp_stall_watch(struct udp_iface *iface)
{
    struct stall_watch *watch = calloc(1, sizeof(*watch));

    watch->host  = sim_world->current;
    watch->iface = iface;
    sim_event_init(&watch->tick, stall_tick);
    ucs_list_add_tail(&stall_watches, &watch->link);
    return UCS_OK;
}

void udp_stall_forget(struct udp_iface *iface)
{
    struct stall_watch *watch;

    ucs_list_for_each (watch, &stall_watches, link) {
        if (watch->iface == iface) {
            sim_net_unset(&sim_world->net, &watch->tick);
            ucs_list_remove(&watch->link);
            free(watch);
            return;
        }
    }
}
