/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_sockets.c - the loops over bare sockets. They spin, as the
 * measured loops do. */
#include "tools/perf_sockets.h"
#include "tools/tool.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum perf_sockets_private {
    SOCKETS_BUFFER_BYTES   = 4 << 20, /* asked for; root gets it */
    SOCKETS_DATAGRAM_BYTES = 65536,
    SOCKETS_SEGMENT_COUNT  = 44,   /* packets of one call */
    SOCKETS_OVERHEAD       = 1024, /* the kernel's, per packet: at least */
    SOCKETS_LOST_NS        = 20000000,
    SOCKETS_POLL_MS        = 10,
};

/* This process's.
 * room_bytes  of the other side's receive buffer, near enough */
struct perf_sockets {
    struct perf_sockets_shared *shared;
    int                         udp, tcp;
    uint64_t                    room_bytes;
};

static size_t sockets_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* --------------------------------------------------------------------- open */

static bool sockets_failed(const struct perf_sockets *sockets)
{
    return atomic_load_explicit(&sockets->shared->failed,
                                memory_order_acquire) != 0;
}

/* Wait for what the other process writes. @return 0: it failed. */
static uint32_t sockets_await(struct perf_sockets *sockets,
                              _Atomic uint32_t    *word)
{
    uint32_t value;

    do {
        /* PORT: acquire, pairs with the other's release. */
        value = atomic_load_explicit(word, memory_order_acquire);
    } while ((value == 0) && !sockets_failed(sockets));
    return value;
}

/* @return the socket, bound to some port of loopback; below 0. */
static int sockets_bind(int type, _Atomic uint32_t *port_word)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t          bytes   = sizeof(address);
    int                fd      = socket(AF_INET, type | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if ((fd < 0) ||
        (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0) ||
        ((type == SOCK_STREAM) && (listen(fd, 1) != 0)) ||
        (getsockname(fd, (struct sockaddr *)&address, &bytes) != 0)) {
        return fd;
    }
    /* PORT: release, pairs with sockets_await(). */
    atomic_store_explicit(port_word, ntohs(address.sin_port),
                          memory_order_release);
    return fd;
}

static bool sockets_connect(int fd, uint32_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port   = htons((uint16_t)port)};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return (port != 0) &&
           (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
}

static bool sockets_open_udp(struct perf_sockets *sockets, bool first)
{
    _Atomic uint32_t *ports  = sockets->shared->udp_ports;
    int               wanted = SOCKETS_BUFFER_BYTES;
    int               on     = 1;
    int               got    = 0;
    socklen_t         bytes  = sizeof(got);

    sockets->udp = sockets_bind(SOCK_DGRAM, &ports[first ? 0 : 1]);
    if ((sockets->udp < 0) ||
        !sockets_connect(sockets->udp,
                         sockets_await(sockets, &ports[first ? 1 : 0]))) {
        return false;
    }
    /* A kernel may lack any of these; the stream is slower then. */
    (void)setsockopt(sockets->udp, SOL_SOCKET, SO_RCVBUF, &wanted,
                     sizeof(wanted));
    (void)setsockopt(sockets->udp, SOL_SOCKET, SO_RCVBUFFORCE, &wanted,
                     sizeof(wanted));
    (void)setsockopt(sockets->udp, IPPROTO_UDP, UDP_GRO, &on, sizeof(on));
    (void)getsockopt(sockets->udp, SOL_SOCKET, SO_RCVBUF, &got, &bytes);
    sockets->room_bytes = (uint64_t)got / 4;
    return true;
}

/* The server may have failed before it came. */
static int sockets_accept(struct perf_sockets *sockets, int listener)
{
    struct pollfd wait = {.fd = listener, .events = POLLIN};

    while (!sockets_failed(sockets)) {
        if (poll(&wait, 1, SOCKETS_POLL_MS) > 0) {
            return accept(listener, NULL, NULL);
        }
    }
    return -1;
}

static bool sockets_open_tcp(struct perf_sockets *sockets, bool first)
{
    int on = 1;
    int listener;

    if (first) {
        listener = sockets_bind(SOCK_STREAM, &sockets->shared->tcp_port);
        if (listener < 0) {
            return false;
        }
        sockets->tcp = sockets_accept(sockets, listener);
        close(listener);
    } else {
        sockets->tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (!sockets_connect(
                sockets->tcp,
                sockets_await(sockets, &sockets->shared->tcp_port))) {
            return false;
        }
    }
    return (sockets->tcp >= 0) &&
           (setsockopt(sockets->tcp, IPPROTO_TCP, TCP_NODELAY, &on,
                       sizeof(on)) == 0);
}

/* @return NULL: there are none. */
static struct perf_sockets *sockets_open(struct perf_node *node, bool first)
{
    struct perf_sockets *sockets = node->sockets;

    if (sockets == NULL) {
        sockets         = tool_calloc(1, sizeof(*sockets));
        sockets->shared = perf_limits_sockets(node->limits);
        sockets->udp = sockets->tcp = -1;
        node->sockets               = sockets;
        if (!sockets_open_udp(sockets, first) ||
            !sockets_open_tcp(sockets, first)) {
            atomic_store_explicit(&sockets->shared->failed, 1,
                                  memory_order_release);
        }
    }
    return sockets_failed(sockets) ? NULL : sockets;
}

void perf_sockets_close(struct perf_node *node)
{
    struct perf_sockets *sockets = node->sockets;

    if (sockets != NULL) {
        (void)((sockets->udp >= 0) && close(sockets->udp));
        (void)((sockets->tcp >= 0) && close(sockets->tcp));
        free(sockets);
        node->sockets = NULL;
    }
}

/* ---------------------------------------------------------------- ping-pong */

static void sockets_send_all(int fd, const uint8_t *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t sent = send(fd, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent > 0) {
            data += sent;
            bytes -= (size_t)sent;
        }
    }
}

static void sockets_recv_all(int fd, uint8_t *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t got = recv(fd, data, bytes, MSG_DONTWAIT);

        if (got > 0) {
            data += got;
            bytes -= (size_t)got;
        }
    }
}

static void sockets_ping(int fd, const struct perf_job *job,
                         struct perf_node *node, bool first)
{
    size_t   bytes = job->size_bytes;
    uint64_t i;

    for (i = 0; i < job->iterations; i++) {
        if (first) {
            sockets_send_all(fd, node->send_buffer, bytes);
        }
        sockets_recv_all(fd, node->recv_buffer, bytes);
        if (!first) {
            sockets_send_all(fd, node->send_buffer, bytes);
        }
    }
}

/* ------------------------------------------------------------------- stream */

static void sockets_stream_tcp(int fd, const struct perf_job *job,
                               struct perf_node *node, bool first)
{
    uint8_t  done = 1;
    uint64_t i;

    for (i = 0; i < job->iterations; i++) {
        if (first) {
            sockets_send_all(fd, node->send_buffer, job->size_bytes);
        } else {
            sockets_recv_all(fd, node->recv_buffer, job->size_bytes);
        }
    }
    if (first) {
        sockets_recv_all(fd, &done, 1);
    } else {
        sockets_send_all(fd, &done, 1);
    }
}

/* Wait until `bytes` more may be under way.
 * @param sent_p  All that was sent; what got lost is taken for arrived. */
static void sockets_wait_room(struct perf_sockets *sockets, uint64_t sent,
                              uint64_t *forgiven_p, uint64_t room)
{
    uint64_t begin_ns = tool_clock_ns();
    uint64_t arrived;

    do {
        /* ARRIVED: acquire, pairs with the receiver's release. */
        arrived = atomic_load_explicit(&sockets->shared->arrived,
                                       memory_order_acquire);
        if (tool_clock_ns() - begin_ns > SOCKETS_LOST_NS) {
            *forgiven_p = sent - arrived;
        }
    } while (sent - arrived > room + *forgiven_p);
}

/* @param piece_bytes  Of one call; the kernel cuts it into packets. */
static void sockets_send_udp(struct perf_sockets   *sockets,
                             const struct perf_job *job, struct perf_node *node,
                             size_t piece_bytes)
{
    uint64_t sent =
        atomic_load_explicit(&sockets->shared->arrived, memory_order_acquire);
    size_t   packet = sockets_min(piece_bytes, PERF_SOCKETS_PACKET_BYTES);
    uint64_t room = sockets->room_bytes * packet / (packet + SOCKETS_OVERHEAD);
    uint64_t forgiven = 0;
    uint64_t i;
    size_t   offset;

    for (i = 0; i < job->iterations; i++) {
        for (offset = 0; offset < job->size_bytes; offset += piece_bytes) {
            size_t  bytes = sockets_min(piece_bytes, job->size_bytes - offset);
            ssize_t done;

            sockets_wait_room(sockets, sent, &forgiven, room);
            do {
                done = send(sockets->udp, node->send_buffer + offset, bytes,
                            MSG_DONTWAIT);
            } while (done < 0);
            sent += bytes;
        }
    }
    /* END: release, pairs with the receiver's acquire. */
    atomic_store_explicit(&sockets->shared->end, sent, memory_order_release);
    sockets_wait_room(sockets, sent, &forgiven, 0);
}

/* Into one part of the buffer after the other, as messages are. */
static void sockets_recv_udp(struct perf_sockets *sockets,
                             struct perf_node *node, uint64_t begin)
{
    uint64_t arrived  = begin;
    uint64_t quiet_ns = 0;
    size_t   offset   = 0;
    uint64_t end;

    do {
        ssize_t got =
            recv(sockets->udp, node->recv_buffer + offset,
                 node->buffer_bytes - offset, MSG_DONTWAIT | MSG_TRUNC);

        end = atomic_load_explicit(&sockets->shared->end, memory_order_acquire);
        if (got > 0) {
            arrived += (uint64_t)got;
            offset += (size_t)got;
            offset   = (offset + SOCKETS_DATAGRAM_BYTES > node->buffer_bytes)
                           ? 0
                           : offset;
            quiet_ns = 0;
            atomic_store_explicit(&sockets->shared->arrived, arrived,
                                  memory_order_release);
        } else if (quiet_ns == 0) {
            quiet_ns = tool_clock_ns();
        } else if ((end > begin) &&
                   (tool_clock_ns() - quiet_ns > SOCKETS_LOST_NS)) {
            break; /* the rest was lost */
        }
    } while ((end == begin) || (arrived < end));
    atomic_store_explicit(&sockets->shared->arrived, end, memory_order_release);
}

/* @return whether the kernel cuts what is sent from now on; 0: not at all. */
static bool sockets_cut(const struct perf_sockets *sockets, int packet_bytes)
{
    return setsockopt(sockets->udp, IPPROTO_UDP, UDP_SEGMENT, &packet_bytes,
                      sizeof(packet_bytes)) == 0;
}

static void sockets_stream_udp(struct perf_sockets   *sockets,
                               const struct perf_job *job,
                               struct perf_node *node, bool first)
{
    size_t piece = PERF_SOCKETS_PACKET_BYTES;

    if (!first) {
        sockets_recv_udp(sockets, node,
                         atomic_load_explicit(&sockets->shared->arrived,
                                              memory_order_acquire));
        return;
    }
    if ((job->kind == PERF_JOB_UDP_SEGMENTS) &&
        sockets_cut(sockets, PERF_SOCKETS_PACKET_BYTES)) {
        piece *= SOCKETS_SEGMENT_COUNT;
    }
    sockets_send_udp(sockets, job, node, piece);
    (void)sockets_cut(sockets, 0);
}

void perf_sockets_run(struct perf_node *node, const struct perf_job *job,
                      bool first)
{
    struct perf_sockets *sockets = sockets_open(node, first);

    if (sockets == NULL) {
        return;
    }
    switch ((enum perf_job_kind)job->kind) {
    case PERF_JOB_UDP_PING:
        sockets_ping(sockets->udp, job, node, first);
        break;
    case PERF_JOB_TCP_PING:
        sockets_ping(sockets->tcp, job, node, first);
        break;
    case PERF_JOB_TCP_STREAM:
        sockets_stream_tcp(sockets->tcp, job, node, first);
        break;
    default:
        sockets_stream_udp(sockets, job, node, first);
        break;
    }
}
