/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_socket.c - one socket, set up. What only makes it better (marks,
 * hints, offload, larger buffers) may be missing in a kernel: that is noted at
 * debug level and done without. */
#include "uct/udp/udp_socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>

#include "ucs/fd.h"
#include "ucs/log.h"
#include "ucs/random.h"

enum {
    SOCKET_ECT_0 = 2, /* RFC 3168: this packet may be marked */
};

/* An option that may fail. */
static bool socket_try(int fd, int level, int option, int value,
                       const char *name)
{
    if (setsockopt(fd, level, option, &value, sizeof(value)) == 0) {
        return true;
    }
    ucs_debug("udp fd %d: without %s: %m", fd, name);
    return false;
}

static size_t socket_buffer(int fd, int option)
{
    int       value = 0;
    socklen_t bytes = sizeof(value);

    return (getsockopt(fd, SOL_SOCKET, option, &value, &bytes) == 0)
               ? (size_t)value
               : 0;
}

/* Who may, gets more than the host's limit (net.core.rmem_max). */
static void socket_set_buffers(int fd, const struct udp_io_params *params)
{
    int receive_bytes = (int)ucs_min(params->receive_bytes, (size_t)INT32_MAX);
    int send_bytes    = (int)ucs_min(params->send_bytes, (size_t)INT32_MAX);

    if ((receive_bytes > 0) && !socket_try(fd, SOL_SOCKET, SO_RCVBUFFORCE,
                                           receive_bytes, "SO_RCVBUFFORCE")) {
        (void)socket_try(fd, SOL_SOCKET, SO_RCVBUF, receive_bytes, "SO_RCVBUF");
    }
    if ((send_bytes > 0) && !socket_try(fd, SOL_SOCKET, SO_SNDBUFFORCE,
                                        send_bytes, "SO_SNDBUFFORCE")) {
        (void)socket_try(fd, SOL_SOCKET, SO_SNDBUF, send_bytes, "SO_SNDBUF");
    }
}

static void socket_set_ecn(int fd, int family)
{
    if (family == AF_INET) {
        (void)(socket_try(fd, IPPROTO_IP, IP_RECVTOS, 1, "IP_RECVTOS") &&
               socket_try(fd, IPPROTO_IP, IP_TOS, SOCKET_ECT_0, "IP_TOS"));
    } else {
        (void)(socket_try(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1,
                          "IPV6_RECVTCLASS") &&
               socket_try(fd, IPPROTO_IPV6, IPV6_TCLASS, SOCKET_ECT_0,
                          "IPV6_TCLASS"));
    }
}

static void socket_set_errors(int fd, int family)
{
    if (family == AF_INET) {
        (void)socket_try(fd, IPPROTO_IP, IP_RECVERR, 1, "IP_RECVERR");
    } else {
        (void)socket_try(fd, IPPROTO_IPV6, IPV6_RECVERR, 1, "IPV6_RECVERR");
    }
}

/* PROBE: never cut, and whatever the kernel believes of the path; the path's
 * MTU is found out by packets of our own (RFC 8899). */
ucs_status_t udp_socket_set_dont_fragment(int fd, int family,
                                          bool dont_fragment)
{
    int value = dont_fragment ? IP_PMTUDISC_PROBE : IP_PMTUDISC_DONT;
    int level = IPPROTO_IP, option = IP_MTU_DISCOVER;

    if (family == AF_INET6) {
        level  = IPPROTO_IPV6;
        option = IPV6_MTU_DISCOVER;
        value  = dont_fragment ? IPV6_PMTUDISC_PROBE : IPV6_PMTUDISC_DONT;
    }
    if (setsockopt(fd, level, option, &value, sizeof(value)) != 0) {
        return ucsi_status_from_errno(errno);
    }
    return UCS_OK;
}

static void socket_set_segments(struct udp_socket *socket,
                                enum udp_channel   channel)
{
    int       value = 0;
    socklen_t bytes = sizeof(value);

    socket->send_segments =
        getsockopt(socket->fd, IPPROTO_UDP, UDP_SEGMENT, &value, &bytes) == 0;
    if (channel == UDP_DATA) {
        socket->receive_segments =
            socket_try(socket->fd, IPPROTO_UDP, UDP_GRO, 1, "UDP_GRO");
    }
}

/* @return errno of the bind. */
static int socket_try_bind(int fd, const struct ucs_sockaddr *local,
                           uint16_t port)
{
    struct ucs_sockaddr address = *local;

    ucsi_sockaddr_set_port(&address, port);
    return (bind(fd, &address.base, address.size_bytes) == 0) ? 0 : errno;
}

static ucs_status_t socket_bind(int fd, const struct udp_io_params *params)
{
    unsigned     count = (unsigned)params->port_max - params->port_min + 1;
    uint64_t     first = 0;
    int          error = EADDRINUSE;
    unsigned     i;
    char         text[UCS_SOCKADDR_TEXT_BYTES_MAX];
    ucs_status_t status;

    if (count > 1) {
        /* Many workers begin at different places. */
        status = ucsi_random_u64(&first);
        if (status != UCS_OK) {
            return status;
        }
    }
    for (i = 0; (i < count) && (error == EADDRINUSE); ++i) {
        error =
            socket_try_bind(fd, &params->local,
                            (uint16_t)(params->port_min + (first + i) % count));
    }
    if (error != 0) {
        errno = error;
        ucs_error("udp fd %d: bind to %s, UCX_UDP_PORT_RANGE=%u-%u: %m; a "
                  "device takes two ports",
                  fd, ucsi_sockaddr_print(&params->local, text, sizeof(text)),
                  params->port_min, params->port_max);
    }
    return ucsi_status_from_errno(error);
}

static ucs_status_t socket_set_up(struct udp_socket          *socket,
                                  const struct udp_io_params *params,
                                  enum udp_channel            channel)
{
    int          family = params->local.base.sa_family;
    ucs_status_t status;

    if (family == AF_INET6) {
        status = ucsi_socket_set_option(socket->fd, IPPROTO_IPV6, IPV6_V6ONLY,
                                        1, "IPV6_V6ONLY");
        if (status != UCS_OK) {
            return status;
        }
    }
    status = udp_socket_set_dont_fragment(socket->fd, family, true);
    if (status != UCS_OK) {
        ucs_error("udp fd %d: MTU_DISCOVER: %m", socket->fd);
        return status;
    }
    socket_set_buffers(socket->fd, params);
    socket_set_errors(socket->fd, family);
    if (params->ecn && (channel == UDP_DATA)) {
        socket_set_ecn(socket->fd, family);
    }
    if (params->segmentation) {
        socket_set_segments(socket, channel);
    }
    socket->receive_control =
        socket->receive_segments || (params->ecn && (channel == UDP_DATA));
    status = socket_bind(socket->fd, params);
    return (status != UCS_OK)
               ? status
               : ucsi_socket_own_address(socket->fd, &socket->address);
}

ucs_status_t udp_socket_open(const struct udp_io_params *params,
                             enum udp_channel            channel,
                             struct udp_socket          *socket_p)
{
    struct udp_socket socket = {.fd = -1};
    int               family = params->local.base.sa_family;
    ucs_status_t      status;

    if ((family != AF_INET) && (family != AF_INET6)) {
        ucs_error("udp: address family %d is neither IPv4 nor IPv6", family);
        return UCS_ERR_INVALID_ADDR;
    }
    if ((params->port_min > params->port_max) ||
        ((params->port_min == 0) && (params->port_max != 0))) {
        ucs_error("udp: %u to %u are no range of ports", params->port_min,
                  params->port_max);
        return UCS_ERR_INVALID_PARAM;
    }
    status = ucsi_socket_open(family, SOCK_DGRAM, &socket.fd);
    if (status != UCS_OK) {
        return status;
    }
    status = socket_set_up(&socket, params, channel);
    if (status != UCS_OK) {
        ucsi_fd_close(&socket.fd);
        return status;
    }
    socket.send_bytes    = socket_buffer(socket.fd, SO_SNDBUF);
    socket.receive_bytes = socket_buffer(socket.fd, SO_RCVBUF);
    *socket_p            = socket;
    return UCS_OK;
}
