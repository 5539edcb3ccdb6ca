/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/perf_sockets.c - opens the bare sockets and connects them. */
#include "tools/perf_sockets.h"
#include "tools/tool.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum perf_sockets_private {
    SOCKETS_BUFFER_BYTES = 4 << 20, /* asked for; root gets it */
    SOCKETS_CONNECT_S    = 5,
    SOCKETS_V4_BYTES     = 28, /* heads of IP and UDP in a packet */
    SOCKETS_V6_BYTES     = 48,
};

/* What each side says of its sockets; all 0: it has none. */
enum sockets_word {
    SOCKETS_UDP_PORT,
    SOCKETS_TCP_PORT,
    SOCKETS_ROOM_BYTES,
    SOCKETS_WORD_COUNT,
};

/* An address of one side. */
struct sockets_end {
    union {
        struct sockaddr     base;
        struct sockaddr_in  v4;
        struct sockaddr_in6 v6;
    } address;
    socklen_t bytes;
};

static in_port_t *sockets_port(struct sockets_end *end)
{
    return (end->address.base.sa_family == AF_INET6)
               ? &end->address.v6.sin6_port
               : &end->address.v4.sin_port;
}

typedef int (*sockets_name_fn)(int fd, struct sockaddr *address,
                               socklen_t *bytes);

static bool sockets_name(int fd, sockets_name_fn name, struct sockets_end *end)
{
    end->bytes = sizeof(end->address);
    return name(fd, &end->address.base, &end->bytes) == 0;
}

/* The end of the control connection, to which no port belongs yet. */
static bool sockets_control_end(int fd, sockets_name_fn name,
                                struct sockets_end *end)
{
    if (!sockets_name(fd, name, end)) {
        return false;
    }
    if (end->address.base.sa_family == AF_UNIX) {
        end->address.v4 = (struct sockaddr_in){.sin_family = AF_INET};
        end->address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        end->bytes                      = sizeof(end->address.v4);
    }
    *sockets_port(end) = 0;
    return true;
}

static bool sockets_are_same(const struct sockets_end *a,
                             const struct sockets_end *b)
{
    const struct sockaddr_in  *a4 = &a->address.v4, *b4 = &b->address.v4;
    const struct sockaddr_in6 *a6 = &a->address.v6, *b6 = &b->address.v6;

    if (a->address.base.sa_family != b->address.base.sa_family) {
        return false;
    }
    if (a->address.base.sa_family == AF_INET6) {
        return (a6->sin6_port == b6->sin6_port) &&
               (memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr)) ==
                0);
    }
    return (a4->sin_port == b4->sin_port) &&
           (a4->sin_addr.s_addr == b4->sin_addr.s_addr);
}

/* --------------------------------------------------------------------- open */

/* Bound to some port of that address. @return the port, or 0. */
static uint16_t sockets_bind(const struct sockets_end *mine, int type,
                             int *fd_p)
{
    struct sockets_end bound;

    *fd_p = socket(mine->address.base.sa_family, type | SOCK_CLOEXEC, 0);
    if ((*fd_p < 0) || (bind(*fd_p, &mine->address.base, mine->bytes) != 0) ||
        !sockets_name(*fd_p, getsockname, &bound)) {
        return 0;
    }
    return ntohs(*sockets_port(&bound));
}

static bool sockets_connect(int fd, const struct sockets_end *theirs,
                            uint64_t port)
{
    struct sockets_end end = *theirs;

    *sockets_port(&end) = htons((uint16_t)port);
    return connect(fd, &end.address.base, end.bytes) == 0;
}

/* @return how much its receive buffer holds, near enough. */
static uint64_t sockets_tune_udp(int fd)
{
    int       wanted = SOCKETS_BUFFER_BYTES;
    int       on     = 1;
    int       got    = 0;
    socklen_t bytes  = sizeof(got);

    /* A kernel may lack any of these; the stream is slower then. */
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof(wanted));
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof(wanted));
    (void)setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof(on));
    (void)getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &got, &bytes);
    return (uint64_t)got / 4;
}

/* What fits a packet of the path that a connected socket takes. */
static size_t sockets_packet_bytes(int fd, int family)
{
    bool      v6    = family == AF_INET6;
    int       heads = v6 ? SOCKETS_V6_BYTES : SOCKETS_V4_BYTES;
    int       mtu   = 0;
    socklen_t bytes = sizeof(mtu);

    (void)getsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_MTU : IP_MTU,
                     &mtu, &bytes);
    if (mtu <= 2 * heads) { /* it does not say: the least Ethernet has */
        mtu = PERF_SOCKETS_PACKET_BYTES;
    }
    return (mtu - heads < PERF_SOCKETS_PACKET_BYTES)
               ? (size_t)(mtu - heads)
               : (size_t)PERF_SOCKETS_PACKET_BYTES;
}

static bool sockets_tune_tcp(int fd)
{
    int on = 1;

    return setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0;
}

static void sockets_close_fd(int *fd_p)
{
    if (*fd_p >= 0) {
        close(*fd_p);
        *fd_p = -1;
    }
}

void perf_sockets_close(struct perf_node *node)
{
    if (node->sockets != NULL) {
        sockets_close_fd(&node->sockets->udp);
        sockets_close_fd(&node->sockets->tcp);
        free(node->sockets);
        node->sockets = NULL;
    }
}

/* What both sides end with. @param words  The other one's. */
static bool sockets_finish(struct perf_sockets      *sockets,
                           const struct sockets_end *theirs,
                           const uint64_t           *words)
{
    sockets->room_bytes = words[SOCKETS_ROOM_BYTES];
    if (!sockets_connect(sockets->udp, theirs, words[SOCKETS_UDP_PORT])) {
        return false;
    }
    sockets->packet_bytes =
        sockets_packet_bytes(sockets->udp, theirs->address.base.sa_family);
    return true;
}

/* This side's UDP socket, and the words of it but for the TCP port. */
static bool sockets_begin(struct perf_node         *node,
                          const struct sockets_end *mine,
                          uint64_t                  words[SOCKETS_WORD_COUNT])
{
    struct perf_sockets *sockets = tool_calloc(1, sizeof(*sockets));

    sockets->udp = sockets->tcp = -1;
    node->sockets               = sockets;
    words[SOCKETS_UDP_PORT]     = sockets_bind(mine, SOCK_DGRAM, &sockets->udp);
    if (words[SOCKETS_UDP_PORT] == 0) {
        return false;
    }
    words[SOCKETS_ROOM_BYTES] = sockets_tune_udp(sockets->udp);
    return true;
}

/* ------------------------------------------------------------------- client */

/* Strangers may have come first; the server is in the queue. */
static bool sockets_accept(struct perf_sockets *sockets, int listener,
                           struct sockets_end *theirs, uint64_t port)
{
    struct pollfd      wait = {.fd = listener, .events = POLLIN};
    struct sockets_end end;

    *sockets_port(theirs) = htons((uint16_t)port);
    while (poll(&wait, 1, SOCKETS_CONNECT_S * 1000) > 0) {
        sockets->tcp = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if ((sockets->tcp >= 0) &&
            sockets_name(sockets->tcp, getpeername, &end) &&
            sockets_are_same(&end, theirs)) {
            return sockets_tune_tcp(sockets->tcp);
        }
        sockets_close_fd(&sockets->tcp);
    }
    return false;
}

bool perf_sockets_offer(struct perf_node          *node,
                        const struct perf_control *control)
{
    uint64_t           mine[SOCKETS_WORD_COUNT]   = {0};
    uint64_t           theirs[SOCKETS_WORD_COUNT] = {0};
    int                listener                   = -1;
    struct sockets_end here, there;
    bool               ok;

    ok = sockets_control_end(control->fd, getsockname, &here) &&
         sockets_control_end(control->fd, getpeername, &there) &&
         sockets_begin(node, &here, mine);
    if (ok) {
        mine[SOCKETS_TCP_PORT] = sockets_bind(&here, SOCK_STREAM, &listener);
        ok = (mine[SOCKETS_TCP_PORT] != 0) && (listen(listener, 4) == 0);
    }
    if (!ok) {
        tool_note("no bare sockets here: %s", strerror(errno));
        memset(mine, 0, sizeof(mine));
    }
    if (!perf_control_send_words(control, PERF_MESSAGE_SOCKETS, mine,
                                 SOCKETS_WORD_COUNT) ||
        !perf_control_expect_words(control, PERF_MESSAGE_SOCKETS, theirs,
                                   SOCKETS_WORD_COUNT)) {
        sockets_close_fd(&listener);
        return false;
    }
    if (ok && (theirs[SOCKETS_TCP_PORT] == 0)) {
        tool_note("no bare sockets: the other process cannot connect them");
        ok = false;
    } else if (ok) {
        ok = sockets_accept(node->sockets, listener, &there,
                            theirs[SOCKETS_TCP_PORT]) &&
             sockets_finish(node->sockets, &there, theirs);
        if (!ok) {
            tool_note("no bare sockets: the other process does not reach them");
        }
    }
    sockets_close_fd(&listener);
    if (!ok) {
        perf_sockets_close(node);
    }
    return true;
}

/* ------------------------------------------------------------------- server */

/* From a port that the client is told, so that it knows us. */
static bool sockets_reach(struct perf_sockets      *sockets,
                          const struct sockets_end *here,
                          const struct sockets_end *there,
                          const uint64_t *theirs, uint64_t *mine)
{
    struct timeval limit = {.tv_sec = SOCKETS_CONNECT_S}, none = {0};

    mine[SOCKETS_TCP_PORT] = sockets_bind(here, SOCK_STREAM, &sockets->tcp);
    return (mine[SOCKETS_TCP_PORT] != 0) &&
           (setsockopt(sockets->tcp, SOL_SOCKET, SO_SNDTIMEO, &limit,
                       sizeof(limit)) == 0) &&
           sockets_connect(sockets->tcp, there, theirs[SOCKETS_TCP_PORT]) &&
           (setsockopt(sockets->tcp, SOL_SOCKET, SO_SNDTIMEO, &none,
                       sizeof(none)) == 0) &&
           sockets_tune_tcp(sockets->tcp) &&
           sockets_finish(sockets, there, theirs);
}

bool perf_sockets_answer(struct perf_node          *node,
                         const struct perf_control *control, const void *data,
                         size_t size_bytes)
{
    uint64_t           mine[SOCKETS_WORD_COUNT] = {0};
    uint64_t           theirs[SOCKETS_WORD_COUNT];
    struct sockets_end here, there;
    bool               ok;

    if (!perf_control_words(data, size_bytes, theirs, SOCKETS_WORD_COUNT)) {
        return false;
    }
    perf_sockets_close(node);
    ok = (theirs[SOCKETS_TCP_PORT] != 0) &&
         sockets_control_end(control->fd, getsockname, &here) &&
         sockets_control_end(control->fd, getpeername, &there) &&
         sockets_begin(node, &here, mine) &&
         sockets_reach(node->sockets, &here, &there, theirs, mine);
    if (!ok) {
        perf_sockets_close(node);
        memset(mine, 0, sizeof(mine));
    }
    return perf_control_send_words(control, PERF_MESSAGE_SOCKETS, mine,
                                   SOCKETS_WORD_COUNT);
}
