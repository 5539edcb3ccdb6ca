/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_net.h - the network: hosts with an interface on each of one or
 * two rails, and on each rail a switch that behaves as badly as its settings
 * say.
 *
 *   send --> queue of the sender's interface --> cut? lost? too long?
 *            rate, finite                         |
 *                                                 v
 *            socket of the receiver <-- delay + jitter, twice, out of order
 *            finite
 *
 * Pure: virtual time, seeded chance. It knows packets, not what is in them. */
#ifndef SIM_NET_H_
#define SIM_NET_H_

#include <stddef.h>

#include "sim_event.h"
#include "sim_random.h"
#include "ucs/list.h"
#include "ucs/queue.h"
#include "ucs/socket.h"

enum {
    SIM_NET_CUT_COUNT_MAX = 8,
    SIM_PACKET_BYTES_MAX  = 9000,
    SIM_RAIL_COUNT_MAX    = 2, /* networks beside one another */
};

/* How the network behaves; the same for all pairs of hosts.
 * *_ppm           in a million packets
 * delay_ns        one way; jitter_ns is added, uniform from 0
 * reorder_ns      what a reordered packet is late in addition
 * rate_Bps        of each interface; 0: no limit
 * queue_bytes     of each interface; what does not fit is dropped
 * device_mtu      what an interface carries, IP header included
 * path_mtu        what the switch carries: longer ones vanish
 * tells_mtu       it says so (ICMP) instead of only dropping them
 * block_ppm       of sends that find the socket full
 * receive_bytes   of a socket */
struct sim_weather {
    uint32_t loss_ppm, duplicate_ppm, reorder_ppm, mark_ppm, block_ppm;
    uint64_t delay_ns, jitter_ns, reorder_ns;
    uint64_t rate_Bps;
    size_t   queue_bytes, receive_bytes;
    size_t   device_mtu, path_mtu;
    bool     tells_mtu;
};

/* No packet passes between two hosts; b < 0: between a and all others. On one
 * rail; rail < 0: on all. */
struct sim_cut {
    uint64_t begin_ns, end_ns;
    int      a, b, rail;
};

struct sim_packet {
    struct sim_event      event;
    struct ucs_queue_elem queue;
    struct sim_net       *net;
    struct ucs_sockaddr   from;
    unsigned              host, rail; /* where to */
    uint16_t              port;
    bool                  is_marked;
    size_t                length;
    uint8_t bytes[SIM_PACKET_BYTES_MAX] __attribute__((aligned(8)));
};

/* arrived   called when a packet was queued
 * too_long  called, if the weather tells_mtu, when a packet of it vanished on
 *           the way to `to` */
struct sim_socket {
    struct ucs_list     link;
    struct ucs_sockaddr address;
    struct ucs_queue    packets;
    size_t              waiting_bytes;
    void (*arrived)(struct sim_socket *self);
    void (*too_long)(struct sim_socket *self, const struct ucs_sockaddr *to);
};

/* interface_free_ns  when the interface has sent what is queued */
struct sim_net_host {
    struct ucs_list sockets;
    uint64_t        interface_free_ns;
    uint16_t        next_port;
};

struct sim_net {
    struct ucs_heap      events;
    uint64_t             now_ns;
    struct sim_random    random;
    struct sim_weather   weather;
    struct sim_cut       cuts[SIM_NET_CUT_COUNT_MAX];
    unsigned             cut_count;
    unsigned             host_count;
    struct sim_net_host *hosts; /* [host_count] of rail 0, then of rail 1 */
    size_t               flying_count; /* packets */
    uint64_t             sent_count, lost_count, sent_bytes;
    uint64_t             last_packet_ns; /* when one last flew */
};

void sim_net_init(struct sim_net *net, unsigned host_count, uint64_t seed);
/* All sockets are closed; packets on their way are dropped. */
void sim_net_cleanup(struct sim_net *net);

/* The address of a host on a rail, port 0; which host has an address, or -1;
 * and on which rail that is. */
struct ucs_sockaddr sim_net_address(unsigned host, unsigned rail);
int                 sim_net_host(const struct ucs_sockaddr *address);
unsigned            sim_net_rail(const struct ucs_sockaddr *address);

/* @param local  Of a host on a rail; port 0: one that was never in use. */
void sim_socket_open(struct sim_net *net, struct sim_socket *sock,
                     const struct ucs_sockaddr *local);
void sim_socket_close(struct sim_net *net, struct sim_socket *sock);
/* @return the oldest packet, given; NULL: none. */
struct sim_packet *sim_socket_take(struct sim_socket *sock);

/* Send one packet.
 * @param may_cut  The switch may cut it into fragments, as IP does: it is lost
 *                 when one of them is.
 * @return UCS_OK, though it may never arrive;
 * UCS_ERR_WOULD_BLOCK; UCS_ERR_EXCEEDS_LIMIT: longer than the interface
 * takes; UCS_ERR_UNREACHABLE: no such address on that rail. */
ucs_status_t sim_net_send(struct sim_net *net, struct sim_socket *from,
                          const struct ucs_sockaddr *to, const void *bytes,
                          size_t length, bool may_cut);

/* Would a packet from a to b on that rail be stopped by a cut now? */
bool sim_net_is_cut(const struct sim_net *net, unsigned a, unsigned b,
                    unsigned rail);

void sim_net_set(struct sim_net *net, struct sim_event *event,
                 uint64_t when_ns);
void sim_net_unset(struct sim_net *net, struct sim_event *event);

/* Let the next event happen. @return false: there is none, or it comes after
 * end_ns: the time is end_ns now. */
bool sim_net_step(struct sim_net *net, uint64_t end_ns);

#endif
