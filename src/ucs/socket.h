/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/socket.h - addresses and stream sockets: TCP and unix.
 *
 * Sockets made here are CLOEXEC and non-blocking. What fails is logged here,
 * once, with descriptor, peer and cause; callers pass the status on. Where no
 * other status is named, it is that of ucsi_status_from_errno (ucs/fd.h). */
#ifndef UCS_SOCKET_H_
#define UCS_SOCKET_H_

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "ucs/compiler.h"
#include "ucs/type/status.h"

enum ucs_socket_limits {
    /* Enough for every address in print, with its NUL. */
    UCS_SOCKADDR_TEXT_BYTES_MAX = 160,
    /* Most bytes that go along with a descriptor. */
    UCS_SOCKET_FD_BYTES_MAX = 256
};

/* An IPv4, IPv6 or unix address with its length. Unused bytes are zero. */
struct ucs_sockaddr {
    union {
        struct sockaddr     base;
        struct sockaddr_in  inet;
        struct sockaddr_in6 inet6;
        struct sockaddr_un  unix_name;
    };
    socklen_t size_bytes;
};

/* ------------------------------------------------------------- addresses */

/* Bytes that an address of this family has. @return UCS_OK;
 * UCS_ERR_INVALID_ADDR: not a family of ours (not logged). */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_sockaddr_size(const struct sockaddr *address, size_t *size_bytes_p);

/* Take over an address of at most `size_bytes`; what follows it is ignored.
 * @return UCS_OK; UCS_ERR_INVALID_ADDR: no family of ours, or too short (not
 *         logged: it may come from a peer). */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_sockaddr_copy(
    const void *address, size_t size_bytes, struct ucs_sockaddr *copy_p);

/* Parse "1.2.3.4:80", "[fe80::1%eth0]:80", "1.2.3.4", "::1" or "*:80".
 * Does no look-up of names. @param port_default  Where the text has none.
 * @return UCS_OK; UCS_ERR_INVALID_ADDR (not logged). */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_sockaddr_parse(
    const char *text, uint16_t port_default, struct ucs_sockaddr *address_p);

/* The same with host names too; may block for as long as the resolver does.
 * @return UCS_OK; UCS_ERR_INVALID_ADDR: bad text or no such host (logged). */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_sockaddr_resolve(
    const char *text, uint16_t port_default, struct ucs_sockaddr *address_p);

/* A name in the abstract namespace of unix sockets: it is in no folder and
 * goes away with its socket. @return UCS_ERR_INVALID_ADDR: too long. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_sockaddr_abstract(
    const void *name, size_t name_bytes, struct ucs_sockaddr *address_p);

/* Write an address, as ucsi_sockaddr_parse takes it if it is IP. Anything may
 * be given; what does not fit is cut. @return text. */
UCS_EXPORT char *ucsi_sockaddr_print(const struct ucs_sockaddr *address,
                                     char *text, size_t text_bytes);

/* Some total order: family, host, port, scope; 0: equal. */
UCS_EXPORT int ucsi_sockaddr_compare(const struct ucs_sockaddr *a,
                                     const struct ucs_sockaddr *b);

/* The port, in the host's byte order; 0 for unix addresses. */
UCS_EXPORT uint16_t ucsi_sockaddr_port(const struct ucs_sockaddr *address);
/* Set it; nothing happens to a unix address. */
UCS_EXPORT void ucsi_sockaddr_set_port(struct ucs_sockaddr *address,
                                       uint16_t             port);

/* --------------------------------------------------------------- sockets */

/* @param type  SOCK_STREAM, SOCK_DGRAM or SOCK_SEQPACKET. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_socket_open(int family, int type,
                                                      int *fd_p);

/* @return UCS_OK; UCS_ERR_BUSY: another one has the address (logged). */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_socket_bind(int fd, const struct ucs_sockaddr *address);

UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_socket_listen(int fd, int backlog);

/* Take one connection. @param peer_p  NULL: not wanted.
 * @return UCS_OK, *fd_p is owned by the caller;
 *         UCS_ERR_WOULD_BLOCK: none waits (not logged). */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_socket_accept(int fd, int *fd_p, struct ucs_sockaddr *peer_p);

/* Begin to connect. @return UCS_OK: connected; UCS_INPROGRESS: wait until fd
 * is writable, then ask ucsi_socket_connect_result; UCS_ERR_WOULD_BLOCK: the
 * queue of a unix listener is full, again later (not logged). */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_socket_connect(int fd, const struct ucs_sockaddr *address);

/* How connecting ended. @param address  For the message.
 * @return UCS_OK; UCS_INPROGRESS: not yet; UCS_ERR_REJECTED: nobody listens;
 *         UCS_ERR_UNREACHABLE; UCS_ERR_TIMED_OUT; errors are logged. */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_socket_connect_result(int fd, const struct ucs_sockaddr *address);

/* The address that fd is bound to, and the one that it is connected to. */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_socket_own_address(int fd, struct ucs_sockaddr *address_p);
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_socket_peer_address(int fd, struct ucs_sockaddr *address_p);

/* Set an option that is an int. @param name  Of the option, for the message. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_socket_set_option(int fd, int level,
                                                            int         option,
                                                            int         value,
                                                            const char *name);

/* Send or receive all of [size_bytes], waiting until `deadline_ns` (of
 * ucsi_clock_ns; UCS_NS_INFINITE). For set-up, not for the data path.
 * @return UCS_OK; UCS_ERR_TIMED_OUT; UCS_ERR_CONNECTION_RESET: the peer ended
 *         it; on an error an unknown part was moved. Logged. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_socket_send_all(int         fd,
                                                          const void *data,
                                                          size_t   size_bytes,
                                                          uint64_t deadline_ns);
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_socket_recv_all(int fd, void *data,
                                                          size_t   size_bytes,
                                                          uint64_t deadline_ns);

/* ----------------------------------------------------------- unix sockets */

/* Who made the other end (SO_PEERCRED): the kernel's word, as of connect. */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_socket_peer_credentials(int fd, struct ucred *credentials_p);

/* Send one descriptor with [size_bytes] of data, 1 to UCS_SOCKET_FD_BYTES_MAX.
 * The caller keeps its own copy. @return UCS_OK, all of it;
 * UCS_ERR_WOULD_BLOCK: nothing was sent (not logged). */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_socket_send_fd(int socket_fd, int fd,
                                                         const void *data,
                                                         size_t size_bytes);

/* Receive exactly one descriptor, CLOEXEC, with exactly [size_bytes] of data.
 * @return UCS_OK, *fd_p is owned by the caller;
 *         UCS_ERR_WOULD_BLOCK: nothing waits (not logged);
 *         UCS_ERR_CONNECTION_RESET: the peer is gone;
 *         UCS_ERR_EXCEEDS_LIMIT: this process has too many open;
 *         UCS_ERR_INVALID_PARAM: something else was sent; it was dropped and
 *         every descriptor in it closed. */
UCS_EXPORT UCS_MUST_USE ucs_status_t ucsi_socket_recv_fd(int  socket_fd,
                                                         int *fd_p, void *data,
                                                         size_t size_bytes);

#endif
