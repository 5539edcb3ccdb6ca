/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_world.h - hosts with a process each, which have whole workers
 * and run in virtual time.
 *
 *   sim_net event --> socket of a host --> host wakes --> ucp_worker_progress
 *        ^                                     |            until nothing moves
 *        '-- packets, deadlines <-- arm <------'
 *
 * A process sleeps as a careful application does: it progresses until nothing
 * moves, arms, and sleeps until a packet or the deadline of a timer. So lost
 * wake-ups show as hangs. Some poll a while before they sleep. One world at a
 * time: the library asks the clock, for chance and for sockets without saying
 * on which host it is. */
#ifndef SIM_WORLD_H_
#define SIM_WORLD_H_

#include <stdio.h>
#include <ucp/api/ucp.h>

#include "sim_net.h"

struct sim_world;

/* first_port  of its sockets in this life; 0: new ones
 * is_up       it has a process
 * is_mute     the process is being killed: nothing it does is heard any more
 * is_stopped  its process does not run
 * is_computing  its application does not call the library
 * is_helped   the helper runs for it
 * step        the application: go on. @return did anything move? */
struct sim_host {
    struct sim_world *world;
    unsigned          index;
    unsigned          life; /* how often it was started */
    uint16_t          first_port, next_port;
    bool              is_up, is_mute, is_stopped, is_computing, is_helped;
    unsigned          quiet_count; /* polls in which nothing moved */
    unsigned          again_count; /* segments that it sent again */
    ucp_context_h     context;
    ucp_worker_h      worker;
    ucp_address_t    *address;
    size_t            address_bytes;
    struct sim_event  wake;
    bool (*step)(struct sim_host *self);
};

struct sim_world {
    struct sim_net    net;
    struct sim_host  *hosts;        /* [net.host_count] */
    struct sim_host  *current;      /* whose code runs */
    struct sim_random secrets;      /* what the library draws */
    uint64_t          wake_late_ns; /* a wake-up is late by up to this */
    unsigned          poll_count;   /* quiet polls before a process sleeps */
    unsigned          rail_count;   /* interfaces of each host */
    int               event_fd;     /* of all workers; nobody waits on it */
    bool              is_traced;
    bool              traces_packets;
    bool              is_fair;   /* nothing may be sent twice, */
    unsigned          again_max; /* but for so much of each host */
    bool              has_failed;
    uint64_t          seed;
};

extern struct sim_world *sim_world;

void sim_world_init(struct sim_world *world, unsigned host_count,
                    uint64_t seed);
/* All hosts are down. */
void sim_world_cleanup(struct sim_world *world);

/* Start a process on a host; its worker's address is in host->address.
 * @param settings  {name, value} pairs without UCX_, ends with NULL. */
void sim_host_start(struct sim_host *host, const char *const *settings);

/* The process ends as by kill -9: nobody hears of it. */
void sim_host_kill(struct sim_host *host);
/* It ends in order: the worker is destroyed. Close its endpoints first. */
void sim_host_exit(struct sim_host *host);

void sim_host_stop(struct sim_host *host);
void sim_host_compute(struct sim_host *host);
void sim_host_go_on(struct sim_host *host);

/* Let it run, now or at when_ns if that is earlier than what it waits for. */
void sim_host_wake(struct sim_host *host, uint64_t when_ns);

/* sim_stall.c: it computes now, so somebody else looks after its sockets. */
void sim_stall_begin(struct sim_host *host);
/* A packet or the deadline of a timer came meanwhile. */
void sim_stall_fire(struct sim_host *host);

/* The pools of an interface: of the one where they are largest now; and of all
 * the first chunks, which an interface keeps once it has them. */
size_t sim_stall_pool_bytes_max(void);
size_t sim_stall_base_bytes(void);

/* What went wrong; the seed is lost. */
void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line of the trace, if it is wanted. */
void sim_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
