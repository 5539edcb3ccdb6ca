/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_sockets.h - what bare sockets on loopback can do, between the two
 * measuring processes: the limit of the network transports.
 *
 *   ping-pong   one datagram, or so many bytes of TCP, there and back
 *   stream      datagrams of an Ethernet packet, one system call each or cut by
 *               the kernel (UDP_SEGMENT, UDP_GRO); bytes of TCP
 *
 * UDP has no flow control: the receiver counts in shared memory, the sender
 * keeps less under way than the receive buffer holds. */
#ifndef CAUSEWAY_TOOL_PERF_SOCKETS_H_
#define CAUSEWAY_TOOL_PERF_SOCKETS_H_

#include "tools/perf_node.h"

#include <stdatomic.h>

enum perf_sockets_limit {
    PERF_SOCKETS_PACKET_BYTES = 1472, /* of UDP in an Ethernet packet */
};

/* Both processes'. Zero at first.
 * udp_ports  of client and server
 * tcp_port   the client listens
 * failed     there are no sockets here: neither side uses them
 * arrived    bytes of all UDP streams so far; the receiver's
 * end        the same when the stream under way is over; the sender's */
struct perf_sockets_shared {
    _Alignas(128) _Atomic uint32_t udp_ports[2];
    _Atomic uint32_t tcp_port;
    _Atomic uint32_t failed;
    _Alignas(128) _Atomic uint64_t arrived;
    _Alignas(128) _Atomic uint64_t end;
};

/* Do one side of a job of PERF_JOB_UDP_PING and following; opens the sockets
 * the first time. Where there are none it does nothing and shared->failed is
 * set. */
void perf_sockets_run(struct perf_node *node, const struct perf_job *job,
                      bool first);
void perf_sockets_close(struct perf_node *node);

/* perf_socket_rows.c: one trial of each kind of socket that the row can be
 * compared with, values[PERF_RAW_COUNT] in its unit; 0: none. */
struct perf_client;
bool perf_socket_rows_trial(struct perf_client    *client,
                            const struct perf_row *row, double *values);

#endif
