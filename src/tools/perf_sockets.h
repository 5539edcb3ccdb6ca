/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_sockets.h - what bare sockets can do between the two measuring
 * processes: the limit of the network transports.
 *
 *   ping-pong   one datagram, or so many bytes of TCP, there and back
 *   stream      datagrams of an Ethernet packet, one system call each or cut by
 *               the kernel (UDP_SEGMENT, UDP_GRO); bytes of TCP
 *
 * They connect the two addresses of the control connection, or loopback where
 * that has none. UDP loses, and has no flow control; for both there are words
 * over the TCP socket, seldom:
 *
 *   sender    ==== datagrams ====>   receiver
 *             ---- all that was sent: the job is over ---->
 *             <--- bytes so far; at the end, that it is ---  */
#ifndef CAUSEWAY_TOOL_PERF_SOCKETS_H_
#define CAUSEWAY_TOOL_PERF_SOCKETS_H_

#include "tools/perf_node.h"

enum perf_sockets_limit {
    PERF_SOCKETS_PACKET_BYTES = 1472, /* of UDP in an Ethernet packet */
};

/* This process's.
 * udp, tcp       connected; tcp -1: something failed, neither is used
 * packet_bytes   of UDP that fit the path, at most PERF_SOCKETS_PACKET_BYTES
 * room_bytes     of the other side's receive buffer, near enough
 * arrived_bytes  of what this side sent in the last job */
struct perf_sockets {
    int      udp, tcp;
    size_t   packet_bytes;
    uint64_t room_bytes;
    uint64_t arrived_bytes;
};

/* The client's and the server's half of connecting: ports go over the control
 * connection. Without sockets node->sockets stays NULL on both sides, and the
 * client says why.
 * @return false: the control connection failed, an error was printed. */
bool perf_sockets_offer(struct perf_node          *node,
                        const struct perf_control *control);
bool perf_sockets_answer(struct perf_node          *node,
                         const struct perf_control *control, const void *data,
                         size_t size_bytes);
void perf_sockets_close(struct perf_node *node);

/* perf_socket_loops.c: do one side of a job of PERF_JOB_UDP_PING and following;
 * nothing where tcp is -1. */
void perf_sockets_run(struct perf_node *node, const struct perf_job *job,
                      bool first);

/* perf_socket_rows.c: one trial of each kind of socket that the row can be
 * compared with, values[PERF_RAW_COUNT] in its unit; 0: none. */
struct perf_client;
bool perf_socket_rows_trial(struct perf_client    *client,
                            const struct perf_row *row, double *values);

#endif
