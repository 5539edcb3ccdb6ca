/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_io_direct.c - a second socket of a channel, on the same port and
 * connected to the peer that is talked to most.
 *
 *   shared    serves everybody; the kernel looks up the way for each packet
 *   direct    knows the way; the kernel prefers it for what its peer sends
 *
 * Opened when so many packets in a row went to one peer, given up when so many
 * in a row went to others, and at any error: the shared one serves its peer
 * too. What is given up is read to its end before it is closed. Both are on the
 * port of one process only while the second is bound: SO_REUSEPORT is taken
 * back at once, so that no other process can join. Where a kernel refuses any
 * of this, there is no second socket (docs/adr/0035). udp(7), socket(7). */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "uct/udp/udp_io_parts.h"

enum {
    DIRECT_OPEN_COUNT  = 512,     /* packets in a row to one peer */
    DIRECT_CLOSE_COUNT = 4096,    /* to others */
    DIRECT_RETRY_COUNT = 1 << 20, /* after a kernel has refused */
    DIRECT_ASK_OTHER   = 4,       /* receives, of which one begins elsewhere */
};

static bool direct_is_same(const struct ucs_sockaddr *a,
                           const struct ucs_sockaddr *b)
{
    return (a->size_bytes == b->size_bytes) &&
           (memcmp(&a->base, &b->base, a->size_bytes) == 0);
}

void io_direct_init(struct io_direct *direct, bool is_wanted)
{
    direct->fd   = -1;
    direct->left = is_wanted ? DIRECT_OPEN_COUNT : 0;
}

void io_direct_close(struct udp_io *io, struct io_channel *channel)
{
    struct io_direct *direct = &channel->direct;

    if (direct->fd >= 0) {
        io_remove_event(io, direct->fd);
        ucsi_fd_close(&direct->fd);
        direct->is_hot = direct->is_leaving = false;
        direct->left                        = DIRECT_OPEN_COUNT;
    }
}

void io_direct_leave(struct io_channel *channel)
{
    channel->direct.is_leaving = true;
    channel->has_hints         = true;
}

static bool direct_share_port(int fd, int value)
{
    return setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &value, sizeof(value)) == 0;
}

/* Bind to the shared socket's port and connect.
 * @return the descriptor; -1: not here. */
static int direct_connect(const struct udp_io     *io,
                          const struct io_channel *channel)
{
    const struct udp_socket *shared = &channel->socket;
    const struct io_direct  *direct = &channel->direct;
    enum udp_channel         index =
        (channel == &io->channels[UDP_DATA]) ? UDP_DATA : UDP_PRIORITY;
    int fd;

    if (!direct_share_port(shared->fd, 1)) {
        return -1;
    }
    fd = udp_socket_join(&io->params, index, &shared->address);
    (void)direct_share_port(shared->fd, 0);
    if ((fd >= 0) &&
        (!direct_share_port(fd, 0) ||
         (connect(fd, &direct->peer.base, direct->peer.size_bytes) != 0))) {
        ucsi_fd_close(&fd);
    }
    return fd;
}

static void direct_open(struct udp_io *io, struct io_channel *channel)
{
    struct io_direct *direct = &channel->direct;

    direct->fd = direct_connect(io, channel);
    if ((direct->fd >= 0) && io->is_attached &&
        (ucsi_event_set_add(&io->events, direct->fd, UCS_EVENT_READ, channel) !=
         UCS_OK)) {
        ucsi_fd_close(&direct->fd);
    }
    direct->left = (direct->fd >= 0) ? DIRECT_CLOSE_COUNT : DIRECT_RETRY_COUNT;
}

/* A packet goes to `to`: whose turn is it to have the socket?
 * @return whether it is for the peer of the one that is open. */
static bool direct_choose(struct udp_io *io, struct io_channel *channel,
                          const struct ucs_sockaddr *to)
{
    struct io_direct *direct = &channel->direct;
    bool              is_its = direct_is_same(&direct->peer, to);

    if (direct->fd >= 0) {
        if (is_its) {
            direct->left = DIRECT_CLOSE_COUNT;
        } else if (--direct->left == 0) {
            direct->left       = DIRECT_CLOSE_COUNT;
            direct->is_leaving = true;
        }
        return is_its && !direct->is_leaving;
    }
    if (!is_its) {
        direct->peer = *to;
        direct->left = ucs_max(direct->left, (unsigned)DIRECT_OPEN_COUNT);
    } else if (--direct->left == 0) {
        direct_open(io, channel);
    }
    return false; /* the next one */
}

static ssize_t direct_call(int fd, const struct udp_out *out)
{
    struct msghdr message = {.msg_iov    = (struct iovec *)(uintptr_t)out->iov,
                             .msg_iovlen = out->iov_count};

    return (out->iov_count == 1) ? io_sys_sendto(fd, out->iov[0].iov_base,
                                                 out->iov[0].iov_len, NULL, 0)
                                 : sendmsg(fd, &message, 0);
}

bool io_direct_send(struct udp_io *io, struct io_channel *channel,
                    struct udp_out *out)
{
    struct io_direct *direct = &channel->direct;
    ssize_t           sent;

    if ((direct->left == 0) || !direct_choose(io, channel, out->to) ||
        (out->segment_bytes != 0) || !out->dont_fragment ||
        (out->iov_count > UDP_IO_IOV_COUNT_MAX)) {
        return false;
    }
    sent = direct_call(direct->fd, out);
    if (sent >= 0) {
        out->sent_bytes = (size_t)sent;
        return true;
    }
    if ((errno != EAGAIN) && (errno != EINTR) && (errno != ENOBUFS) &&
        (errno != EPERM)) {
        io_direct_leave(channel);
    }
    return false; /* what it is, the shared one is told */
}

bool io_direct_is_next(struct io_direct *direct)
{
    bool other = ++direct->receive_count == DIRECT_ASK_OTHER;

    if (other) {
        direct->receive_count = 0;
    }
    return direct->is_hot != other;
}
