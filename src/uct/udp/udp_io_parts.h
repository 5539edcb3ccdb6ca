/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_io_parts.h - what udp_io.c, udp_io_send.c and udp_io_receive.c
 * share, and nobody else sees. */
#ifndef UCT_UDP_IO_PARTS_H_
#define UCT_UDP_IO_PARTS_H_

#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ucs/fd.h"
#include "uct/udp/udp_io.h"
#include "uct/udp/udp_socket.h"

enum {
    /* Any packet fits. The rest puts the slots' first lines, where the
     * headers are, into different sets of the caches. */
    IO_SLOT_BYTES    = 65536 + 3 * UCS_CACHE_LINE_BYTES,
    IO_CONTROL_BYTES = CMSG_SPACE(sizeof(int)) * 2, /* segment size, TOS */
    IO_SEND_MAX      = 32, /* packets of one sendmmsg; guess */
    IO_ATTEMPTS      = 2,  /* of one call that may tell another's error */
};

union io_control {
    struct cmsghdr header; /* for its alignment */
    char           bytes[IO_CONTROL_BYTES];
};

/* A channel's socket for the peer that gets most of its packets.
 * fd             -1: none
 * peer           whom it is connected to; without one, who got the last packet
 * left           packets to others until it is closed; without one, packets
 *                to this peer until one is opened; 0: never
 * receive_count  receives since the other socket was asked first
 * is_hot         it gave the last packet, not the shared one
 * is_leaving     it sends no more, and is closed when all it has is read */
struct io_direct {
    int                 fd;
    struct ucs_sockaddr peer;
    unsigned            left, receive_count;
    bool                is_hot, is_leaving;
};

/* One socket, and perhaps a direct one.
 * dont_fragment  as the socket is set
 * is_full        the last send found no room
 * is_watched     the event set waits for room
 * is_busy        the last receive found something
 * has_hints      there may be something in the error queue
 * slots          [UDP_IO_RECEIVE_COUNT_MAX][IO_SLOT_BYTES] */
struct io_channel {
    struct udp_socket   socket;
    struct io_direct    direct;
    bool                dont_fragment;
    bool                is_full;
    bool                is_watched;
    bool                is_busy;
    bool                has_hints;
    uint8_t            *slots;
    struct mmsghdr      messages[UDP_IO_RECEIVE_COUNT_MAX];
    struct iovec        parts[UDP_IO_RECEIVE_COUNT_MAX];
    union io_control    controls[UDP_IO_RECEIVE_COUNT_MAX];
    struct ucs_sockaddr addresses[UDP_IO_RECEIVE_COUNT_MAX];
};

/* is_attached  the sockets are in the event set: who polls does without
 * owner        who opened it; a child has the same event set, not one like it
 */
struct udp_io {
    struct io_channel    channels[UDP_CHANNEL_COUNT];
    struct ucs_event_set events;
    bool                 is_attached;
    pid_t                owner;
    int                  timer_fd;
    uint64_t             timer_ns; /* as it is set */
    size_t               mtu_bytes;
    uint64_t             dropped_count;
    struct udp_io_params params;
    struct mmsghdr       batch[IO_SEND_MAX];
    union io_control     batch_controls[IO_SEND_MAX];
};

/* Take a socket out of the event set; a child leaves its parent's there. */
void io_remove_event(struct udp_io *io, int fd);

void io_direct_init(struct io_direct *direct, bool is_wanted);
void io_direct_close(struct udp_io *io, struct io_channel *channel);

/* It told an error: of something that was sent before, mostly. */
void io_direct_leave(struct io_channel *channel);

/* Send by the direct socket, if it is there and this is for its peer; and note
 * whom packets go to. @return false: the shared one has to. */
bool io_direct_send(struct udp_io *io, struct io_channel *channel,
                    struct udp_out *out);

/* Whether the direct socket, which is open, is to be asked first. */
bool io_direct_is_next(struct io_direct *direct);

/* The calls of the data path. These sockets never block, so nobody need be
 * cancelled in them; libc's own functions prepare for that wherever there is a
 * second thread, which costs a hundredth of a message each time. As send(2),
 * recvfrom(2), recvmsg(2), recvmmsg(2). */
static inline ssize_t io_sys_sendto(int fd, const void *bytes, size_t length,
                                    const void *address,
                                    socklen_t   address_bytes)
{
    return syscall(SYS_sendto, fd, bytes, length, 0, address, address_bytes);
}

static inline ssize_t io_sys_recvfrom(int fd, void *bytes, size_t room,
                                      void *address, socklen_t *address_bytes)
{
    return syscall(SYS_recvfrom, fd, bytes, room, 0, address, address_bytes);
}

static inline ssize_t io_sys_recvmsg(int fd, struct msghdr *message)
{
    return syscall(SYS_recvmsg, fd, message, 0);
}

static inline int io_sys_recvmmsg(int fd, struct mmsghdr *messages,
                                  unsigned count)
{
    return (int)syscall(SYS_recvmmsg, fd, messages, count, 0, NULL);
}

/* What a packet tells of was written before it was sent: the kernel keeps that
 * order between threads of one process, ThreadSanitizer does not know it. */
#ifdef __SANITIZE_THREAD__
extern _Atomic unsigned io_packet_order;

static inline void io_order_sent(void)
{
    atomic_fetch_add_explicit(&io_packet_order, 1, memory_order_release);
}

static inline void io_order_received(void)
{
    (void)atomic_load_explicit(&io_packet_order, memory_order_acquire);
}
#else
static inline void io_order_sent(void)
{
}

static inline void io_order_received(void)
{
}
#endif

/* The kernel writes over both with each packet. */
static inline void io_slot_reset(struct io_channel *channel, unsigned index)
{
    struct msghdr *message = &channel->messages[index].msg_hdr;

    message->msg_namelen    = offsetof(struct ucs_sockaddr, size_bytes);
    message->msg_controllen = IO_CONTROL_BYTES;
}

#endif
