/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_socket.h - open a datagram socket as the transport wants it:
 * bound to a port of the range, buffers, marks, offload, errors told. What
 * moves packets is udp_io.c. udp(7), ip(7), ipv6(7). */
#ifndef UCT_UDP_SOCKET_H_
#define UCT_UDP_SOCKET_H_

#include "uct/udp/udp_io.h"

/* fd             owned by the caller
 * address        with the port
 * send_bytes     buffers as the kernel counts them
 * receive_bytes
 * send_segments  the kernel knows UDP_SEGMENT, and it is wanted
 * receive_segments  UDP_GRO is on: the data channel only, where there is bulk
 * receive_control   the kernel may say more of a packet than who sent it */
struct udp_socket {
    int                 fd;
    struct ucs_sockaddr address;
    size_t              send_bytes, receive_bytes;
    bool                send_segments, receive_segments, receive_control;
};

/* @return the statuses of udp_io_open(); logged, nothing is open. */
UCS_MUST_USE ucs_status_t udp_socket_open(const struct udp_io_params *params,
                                          enum udp_channel            channel,
                                          struct udp_socket          *socket_p);

/* Another socket on the port of a channel, which must allow it
 * (SO_REUSEPORT). @return the descriptor; -1: none. Not logged above debug. */
int udp_socket_join(const struct udp_io_params *params,
                    enum udp_channel            channel,
                    const struct ucs_sockaddr  *address);

/* Whether packets may be cut on their way from now on. */
UCS_MUST_USE ucs_status_t udp_socket_set_dont_fragment(int fd, int family,
                                                       bool dont_fragment);

#endif
