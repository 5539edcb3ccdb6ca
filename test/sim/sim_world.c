/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_world.c - processes on hosts: they start, run, sleep, stop,
 * die. */
#include "sim_world.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ucs/clock.h"

enum {
    /* Calls of progress at one moment before something is said to spin. */
    WORLD_SPIN_MAX = 100000,
    WORLD_POLL_NS  = 2 * 1000,
};

struct sim_world *sim_world;

void sim_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr,
            "seed %llu, at %.6f s: ", (unsigned long long)sim_world->seed,
            (double)sim_world->net.now_ns / UCS_NS_PER_S);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    sim_world->has_failed = true;
}

void sim_trace(const char *format, ...)
{
    va_list args;

    if (!sim_world->is_traced) {
        return;
    }
    va_start(args, format);
    printf("%12.6f ", (double)sim_world->net.now_ns / UCS_NS_PER_S);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
}

/* Progress, and the application, until nothing moves. @return did anything? */
static bool host_run_down(struct sim_host *host)
{
    unsigned spins = 0;
    bool     moved, has_moved = false;

    do {
        moved = (ucp_worker_progress(host->worker) != 0);
        moved = ((host->step != NULL) && host->step(host)) || moved;
        has_moved |= moved;
        if (++spins == WORLD_SPIN_MAX) {
            sim_fail("host %u spins: progress always says that something "
                     "moved",
                     host->index);
            break;
        }
    } while (moved && !host->world->has_failed);
    return has_moved;
}

static void host_run(struct sim_event *event)
{
    struct sim_host *host = ucs_container_of(event, struct sim_host, wake);
    ucs_status_t     status;
    unsigned         tries = 0;
    bool             moved;

    if (host->is_up && host->is_computing) {
        sim_stall_fire(host);
    }
    if (!host->is_up || host->is_stopped || host->is_computing) {
        return;
    }
    host->world->current = host;
    do {
        moved             = host_run_down(host);
        host->quiet_count = moved ? 0 : host->quiet_count + 1;
        if (host->quiet_count < host->world->poll_count) {
            sim_host_wake(host, host->world->net.now_ns + WORLD_POLL_NS);
            return;
        }
        status = ucp_worker_arm(host->worker);
        if (++tries == WORLD_SPIN_MAX) {
            sim_fail("host %u spins: arm is always busy", host->index);
        }
    } while ((status == UCS_ERR_BUSY) && !host->world->has_failed);
    if ((status != UCS_OK) && !host->world->has_failed) {
        sim_fail("host %u: ucp_worker_arm: %s", host->index,
                 ucs_status_string(status));
    }
}

void sim_world_init(struct sim_world *world, unsigned host_count, uint64_t seed)
{
    memset(world, 0, sizeof(*world));
    sim_world            = world;
    world->seed          = seed;
    world->secrets.state = ~seed;
    world->hosts         = calloc(host_count, sizeof(*world->hosts));
    world->event_fd      = epoll_create1(EPOLL_CLOEXEC);
    sim_net_init(&world->net, host_count, seed);
    for (unsigned i = 0; i < host_count; ++i) {
        world->hosts[i].world = world;
        world->hosts[i].index = i;
        sim_event_init(&world->hosts[i].wake, host_run);
    }
}

void sim_world_cleanup(struct sim_world *world)
{
    for (unsigned i = 0; i < world->net.host_count; ++i) {
        sim_net_unset(&world->net, &world->hosts[i].wake);
    }
    sim_net_cleanup(&world->net);
    free(world->hosts);
    (void)close(world->event_fd);
}

static void host_check(const char *what, ucs_status_t status)
{
    if (status != UCS_OK) {
        sim_fail("%s: %s", what, ucs_status_string(status));
        abort(); /* the set-up is wrong, not the protocol */
    }
}

void sim_host_start(struct sim_host *host, const char *const *settings)
{
    ucp_params_t        params        = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                         .features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP};
    ucp_worker_params_t worker_params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_EVENT_FD,
        .event_fd   = host->world->event_fd,
    };
    ucp_config_t *config;

    host->world->current = host;
    host->is_up          = true;
    host->is_mute        = false;
    host->next_port      = host->first_port;
    ++host->life;
    host_check("ucp_config_read", ucp_config_read(NULL, NULL, &config));
    for (; *settings != NULL; settings += 2) {
        host_check(settings[0],
                   ucp_config_modify(config, settings[0], settings[1]));
    }
    host_check("ucp_init", ucp_init(&params, config, &host->context));
    ucp_config_release(config);
    host_check("ucp_worker_create",
               ucp_worker_create(host->context, &worker_params, &host->worker));
    host_check("ucp_worker_get_address",
               ucp_worker_get_address(host->worker, &host->address,
                                      &host->address_bytes));
    sim_trace("host %u starts, life %u", host->index, host->life);
    sim_host_wake(host, host->world->net.now_ns);
}

void sim_host_exit(struct sim_host *host)
{
    sim_trace("host %u ends%s", host->index, host->is_mute ? ": killed" : "");
    host->world->current = host;
    ucp_worker_release_address(host->worker, host->address);
    ucp_worker_destroy(host->worker);
    ucp_cleanup(host->context);
    sim_net_unset(&host->world->net, &host->wake);
    host->is_up = false;
}

void sim_host_kill(struct sim_host *host)
{
    host->is_mute = true;
    sim_host_exit(host);
}

void sim_host_stop(struct sim_host *host)
{
    sim_trace("host %u stops", host->index);
    host->is_stopped = true;
}

void sim_host_compute(struct sim_host *host)
{
    sim_trace("host %u computes", host->index);
    host->is_computing = true;
    sim_stall_begin(host);
}

void sim_host_go_on(struct sim_host *host)
{
    sim_trace("host %u goes on", host->index);
    host->is_stopped   = false;
    host->is_computing = false;
    sim_host_wake(host, host->world->net.now_ns);
}

void sim_host_wake(struct sim_host *host, uint64_t when_ns)
{
    when_ns += sim_random_below(&host->world->net.random,
                                host->world->wake_late_ns + 1);
    if (!ucs_heap_node_is_in(&host->wake.node) ||
        (when_ns < host->wake.node.key)) {
        sim_net_set(&host->world->net, &host->wake, when_ns);
    }
}
