/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/socket.c - the sockets of ucs/socket.h: one system call each, its errors
 * named with the peer, and the two loops that move whole buffers.
 *
 * socket(7), unix(7), connect(2), accept(2). */
#include "ucs/socket.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

#include "ucs/clock.h"
#include "ucs/fd.h"
#include "ucs/log.h"

enum {
    /* Descriptors in one message that are received in order to be closed. */
    SOCKET_FD_COUNT_MAX = 16
};

/* An address for a message, in the caller's memory. */
#define SOCKET_TEXT(_address)                                                  \
    ucsi_sockaddr_print(_address, (char[UCS_SOCKADDR_TEXT_BYTES_MAX]){0},      \
                        UCS_SOCKADDR_TEXT_BYTES_MAX)

ucs_status_t ucsi_socket_open(int family, int type, int *fd_p)
{
    int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0) {
        ucs_error("socket family %d type %d: %m", family, type);
        return ucsi_status_from_errno(errno);
    }
    *fd_p = fd;
    return UCS_OK;
}

ucs_status_t ucsi_socket_bind(int fd, const struct ucs_sockaddr *address)
{
    if (bind(fd, &address->base, address->size_bytes) != 0) {
        ucs_error("fd %d: bind to %s: %m", fd, SOCKET_TEXT(address));
        return ucsi_status_from_errno(errno);
    }
    return UCS_OK;
}

ucs_status_t ucsi_socket_listen(int fd, int backlog)
{
    if (listen(fd, backlog) != 0) {
        ucs_error("fd %d: listen, backlog %d: %m", fd, backlog);
        return ucsi_status_from_errno(errno);
    }
    return UCS_OK;
}

/* Errors of the one connection that was about to be taken: accept(2) says to
 * treat them like none waiting. */
static bool socket_is_transient(int error)
{
    static const int errors[] = {
        EAGAIN,      EINTR,     ECONNABORTED, ENETDOWN,     EPROTO,
        ENOPROTOOPT, EHOSTDOWN, ENONET,       EHOSTUNREACH, ENETUNREACH};
    size_t i;

    for (i = 0; i < UCS_ARRAY_COUNT(errors); ++i) {
        if (errors[i] == error) {
            return true;
        }
    }
    return false;
}

ucs_status_t ucsi_socket_accept(int fd, int *fd_p, struct ucs_sockaddr *peer_p)
{
    struct ucs_sockaddr peer = {.size_bytes = 0};
    int                 connected;

    peer.size_bytes = offsetof(struct ucs_sockaddr, size_bytes);
    connected =
        accept4(fd, &peer.base, &peer.size_bytes, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connected < 0) {
        if (socket_is_transient(errno)) {
            return UCS_ERR_WOULD_BLOCK;
        }
        /* Out of descriptors, mostly: it stays so for a while. */
        ucs_error_limited("fd %d: accept: %m; a peer waits%s", fd,
                          (errno == EMFILE) ? "; see `ulimit -n`" : "");
        return ucsi_status_from_errno(errno);
    }
    if (peer_p != NULL) {
        *peer_p = peer;
    }
    *fd_p = connected;
    return UCS_OK;
}

ucs_status_t ucsi_socket_connect(int fd, const struct ucs_sockaddr *address)
{
    if (connect(fd, &address->base, address->size_bytes) == 0) {
        return UCS_OK;
    }
    /* EINTR: it goes on in the background, as with EINPROGRESS. A unix
     * socket says EAGAIN when the listener's queue is full. */
    if ((errno == EINPROGRESS) || (errno == EINTR)) {
        return UCS_INPROGRESS;
    }
    if (errno == EAGAIN) {
        return UCS_ERR_WOULD_BLOCK;
    }
    ucs_error("fd %d: connect to %s: %m", fd, SOCKET_TEXT(address));
    return ucsi_status_from_errno(errno);
}

ucs_status_t ucsi_socket_connect_result(int                        fd,
                                        const struct ucs_sockaddr *address)
{
    struct pollfd poll_fd    = {.fd = fd, .events = POLLOUT};
    int           error      = 0;
    socklen_t     size_bytes = sizeof(error);

    if (poll(&poll_fd, 1, 0) == 0) {
        return UCS_INPROGRESS;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size_bytes) != 0) {
        error = errno;
    }
    if (error != 0) {
        errno = error;
        ucs_error("fd %d: connect to %s: %m", fd, SOCKET_TEXT(address));
    }
    return ucsi_status_from_errno(error);
}

typedef int (*socket_name_fn)(int fd, struct sockaddr *address,
                              socklen_t *size_bytes);

static ucs_status_t socket_name(int fd, socket_name_fn name, const char *what,
                                struct ucs_sockaddr *address_p)
{
    struct ucs_sockaddr address = {.size_bytes = 0};

    address.size_bytes = offsetof(struct ucs_sockaddr, size_bytes);
    if (name(fd, &address.base, &address.size_bytes) != 0) {
        ucs_error("fd %d: %s: %m", fd, what);
        return ucsi_status_from_errno(errno);
    }
    *address_p = address;
    return UCS_OK;
}

/* glibc declares both with a transparent union, so they are wrapped. */
static int socket_getsockname(int fd, struct sockaddr *address,
                              socklen_t *size_bytes)
{
    return getsockname(fd, address, size_bytes);
}

static int socket_getpeername(int fd, struct sockaddr *address,
                              socklen_t *size_bytes)
{
    return getpeername(fd, address, size_bytes);
}

ucs_status_t ucsi_socket_own_address(int fd, struct ucs_sockaddr *address_p)
{
    return socket_name(fd, socket_getsockname, "getsockname", address_p);
}

ucs_status_t ucsi_socket_peer_address(int fd, struct ucs_sockaddr *address_p)
{
    return socket_name(fd, socket_getpeername, "getpeername", address_p);
}

ucs_status_t ucsi_socket_set_option(int fd, int level, int option, int value,
                                    const char *name)
{
    if (setsockopt(fd, level, option, &value, sizeof(value)) != 0) {
        ucs_error("fd %d: setsockopt %s %d: %m", fd, name, value);
        return ucsi_status_from_errno(errno);
    }
    return UCS_OK;
}

/* ----------------------------------------------------------------- loops */

/* Wait for `events` until the deadline. */
static ucs_status_t socket_wait(int fd, short events, uint64_t deadline_ns)
{
    struct pollfd   poll_fd = {.fd = fd, .events = events};
    struct timespec left;
    uint64_t        now_ns = ucsi_clock_ns();
    int             count;

    if (now_ns >= deadline_ns) {
        return UCS_ERR_TIMED_OUT;
    }
    left  = ucs_clock_timespec(deadline_ns - now_ns);
    count = ppoll(&poll_fd, 1, (deadline_ns == UCS_NS_INFINITE) ? NULL : &left,
                  NULL);
    if ((count < 0) && (errno != EINTR)) {
        return ucsi_status_from_errno(errno);
    }
    return UCS_OK; /* ready, or to be tried again */
}

/* After a call that moved nothing: wait, or the status of its failure. */
static ucs_status_t socket_retry(int fd, short events, uint64_t deadline_ns)
{
    if (errno == EINTR) {
        return UCS_OK;
    }
    if (errno != EAGAIN) {
        return ucsi_status_from_errno(errno);
    }
    return socket_wait(fd, events, deadline_ns);
}

static ucs_status_t socket_loop_end(int fd, const char *verb, size_t done_bytes,
                                    size_t size_bytes, ucs_status_t status)
{
    if (status != UCS_OK) {
        ucs_error("fd %d: %s %zu of %zu bytes: %s", fd, verb, done_bytes,
                  size_bytes, ucs_status_string(status));
    }
    return status;
}

ucs_status_t ucsi_socket_send_all(int fd, const void *data, size_t size_bytes,
                                  uint64_t deadline_ns)
{
    const char  *bytes  = data;
    size_t       done   = 0;
    ucs_status_t status = UCS_OK;

    while ((done < size_bytes) && (status == UCS_OK)) {
        ssize_t sent = send(fd, bytes + done, size_bytes - done, MSG_NOSIGNAL);

        if (sent >= 0) {
            done += (size_t)sent;
        } else {
            status = socket_retry(fd, POLLOUT, deadline_ns);
        }
    }
    return socket_loop_end(fd, "sent", done, size_bytes, status);
}

ucs_status_t ucsi_socket_recv_all(int fd, void *data, size_t size_bytes,
                                  uint64_t deadline_ns)
{
    char        *bytes  = data;
    size_t       done   = 0;
    ucs_status_t status = UCS_OK;

    while ((done < size_bytes) && (status == UCS_OK)) {
        ssize_t got = recv(fd, bytes + done, size_bytes - done, 0);

        if (got > 0) {
            done += (size_t)got;
        } else if (got == 0) {
            status = UCS_ERR_CONNECTION_RESET;
        } else {
            status = socket_retry(fd, POLLIN, deadline_ns);
        }
    }
    return socket_loop_end(fd, "received", done, size_bytes, status);
}

/* ----------------------------------------------------------- unix sockets */

ucs_status_t ucsi_socket_peer_credentials(int fd, struct ucred *credentials_p)
{
    struct ucred credentials;
    socklen_t    size_bytes = sizeof(credentials);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size_bytes) !=
        0) {
        ucs_error("fd %d: getsockopt SO_PEERCRED: %m", fd);
        return ucsi_status_from_errno(errno);
    }
    *credentials_p = credentials;
    return UCS_OK;
}

ucs_status_t ucsi_socket_send_fd(int socket_fd, int fd, const void *data,
                                 size_t size_bytes)
{
    union {
        struct cmsghdr header;
        char           bytes[CMSG_SPACE(sizeof(int))];
    } control             = {.bytes = {0}};
    struct iovec  part    = {.iov_base = (void *)(uintptr_t)data,
                             .iov_len  = size_bytes};
    struct msghdr message = {.msg_iov        = &part,
                             .msg_iovlen     = 1,
                             .msg_control    = &control,
                             .msg_controllen = sizeof(control)};
    ssize_t       sent;

    if ((size_bytes == 0) || (size_bytes > UCS_SOCKET_FD_BYTES_MAX)) {
        ucs_error("fd %d: send of fd %d with %zu bytes: 1 to %d are possible",
                  socket_fd, fd, size_bytes, UCS_SOCKET_FD_BYTES_MAX);
        return UCS_ERR_INVALID_PARAM;
    }
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type  = SCM_RIGHTS;
    control.header.cmsg_len   = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
    do {
        sent = sendmsg(socket_fd, &message, MSG_NOSIGNAL);
    } while ((sent < 0) && (errno == EINTR));
    if (sent == (ssize_t)size_bytes) {
        return UCS_OK;
    }
    if ((sent < 0) && (errno == EAGAIN)) {
        return UCS_ERR_WOULD_BLOCK;
    }
    if (sent >= 0) {
        errno = EIO; /* a message of this size is never split */
    }
    ucs_error("fd %d: send of fd %d: %m", socket_fd, fd);
    return ucsi_status_from_errno(errno);
}

/* Take every descriptor out of a message; *fd_p is the first one, the others
 * are closed. @return how many there were. */
static unsigned socket_take_fds(struct msghdr *message, int *fd_p)
{
    struct cmsghdr *header;
    unsigned        count = 0;

    for (header = CMSG_FIRSTHDR(message); header != NULL;
         header = CMSG_NXTHDR(message, header)) {
        const unsigned char *data = CMSG_DATA(header);
        size_t               left;

        if ((header->cmsg_level != SOL_SOCKET) ||
            (header->cmsg_type != SCM_RIGHTS)) {
            continue;
        }
        for (left = header->cmsg_len - CMSG_LEN(0); left >= sizeof(int);
             left -= sizeof(int)) {
            int fd;

            memcpy(&fd, data, sizeof(fd));
            data += sizeof(fd);
            if (count++ == 0) {
                *fd_p = fd;
            } else {
                ucsi_fd_close(&fd);
            }
        }
    }
    return count;
}

ucs_status_t ucsi_socket_recv_fd(int socket_fd, int *fd_p, void *data,
                                 size_t size_bytes)
{
    union {
        struct cmsghdr header;
        char           bytes[CMSG_SPACE(sizeof(int) * SOCKET_FD_COUNT_MAX)];
    } control;
    struct iovec  part    = {.iov_base = data, .iov_len = size_bytes};
    struct msghdr message = {.msg_iov        = &part,
                             .msg_iovlen     = 1,
                             .msg_control    = &control,
                             .msg_controllen = sizeof(control)};
    unsigned      count;
    ssize_t       got;
    int           fd = -1;

    do {
        got = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
    } while ((got < 0) && (errno == EINTR));
    if (got < 0) {
        if (errno == EAGAIN) {
            return UCS_ERR_WOULD_BLOCK;
        }
        ucs_error("fd %d: receive of a descriptor: %m", socket_fd);
        return ucsi_status_from_errno(errno);
    }
    count = socket_take_fds(&message, &fd);
    if ((got == (ssize_t)size_bytes) && (count == 1) &&
        !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
        *fd_p = fd;
        return UCS_OK;
    }
    ucsi_fd_close(&fd);
    if ((got > 0) && (count == 0) && ((message.msg_flags & MSG_CTRUNC) != 0)) {
        ucs_error("fd %d: a descriptor came, and no number is free for it; see "
                  "`ulimit -n`",
                  socket_fd);
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    if ((got == 0) && (count == 0)) {
        ucs_error("fd %d: receive of a descriptor: the peer is gone",
                  socket_fd);
        return UCS_ERR_CONNECTION_RESET;
    }
    ucs_error("fd %d: received %zd bytes and %u descriptors instead of %zu "
              "and 1",
              socket_fd, got, count, size_bytes);
    return UCS_ERR_INVALID_PARAM;
}
