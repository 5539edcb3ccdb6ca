/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_io_receive.c - packets come in, and what the network says about
 * those that went out. udp(7), ip(7), recvmmsg(2), RFC 3168. */
#include "uct/udp/udp_io.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>

#include "uct/udp/udp_io_parts.h"

enum {
    IO_HINT_BYTES = 256, /* control data of a hint */
    IO_ECN_MASK   = 3,
    IO_ECN_CE     = 3,
};

/* IPv4 has it in one byte; IPv6 in an int, of the host's order. */
static bool io_is_traffic_class(const struct cmsghdr *header)
{
    return ((header->cmsg_level == IPPROTO_IP) &&
            (header->cmsg_type == IP_TOS)) ||
           ((header->cmsg_level == IPPROTO_IPV6) &&
            (header->cmsg_type == IPV6_TCLASS));
}

static unsigned io_traffic_class(const struct cmsghdr *header)
{
    int value = 0;

    if (header->cmsg_level == IPPROTO_IP) {
        return *CMSG_DATA(header);
    }
    memcpy(&value, CMSG_DATA(header), sizeof(value));
    return (unsigned)value;
}

static void io_in_fill(struct io_channel *channel, unsigned index,
                       struct udp_in *in)
{
    struct msghdr  *message = &channel->messages[index].msg_hdr;
    struct cmsghdr *header;
    int             value = 0;

    channel->addresses[index].size_bytes = message->msg_namelen;
    in->from                             = &channel->addresses[index];
    in->data                             = channel->parts[index].iov_base;
    in->length                           = channel->messages[index].msg_len;
    in->segment_bytes                    = in->length;
    in->congestion_marked                = false;
    for (header = CMSG_FIRSTHDR(message); header != NULL;
         header = CMSG_NXTHDR(message, header)) {
        if ((header->cmsg_level == IPPROTO_UDP) &&
            (header->cmsg_type == UDP_GRO)) {
            memcpy(&value, CMSG_DATA(header), sizeof(value));
            in->segment_bytes = ((value > 0) && ((size_t)value < in->length))
                                    ? (size_t)value
                                    : in->length;
        } else if (io_is_traffic_class(header)) {
            in->congestion_marked =
                (io_traffic_class(header) & IO_ECN_MASK) == IO_ECN_CE;
        }
    }
    io_slot_reset(channel, index);
}

/* One packet. @return its length, or below 0 and errno. */
static ssize_t io_recv_one(struct io_channel *channel, bool is_direct)
{
    struct msghdr *message = &channel->messages[0].msg_hdr;
    int            fd = is_direct ? channel->direct.fd : channel->socket.fd;

    if (channel->socket.receive_control) {
        return io_sys_recvmsg(fd, message);
    }
    /* The kernel has nothing to say beside it. The direct socket, too, has
     * packets of others: those that came before it was connected. */
    message->msg_controllen = 0;
    return io_sys_recvfrom(fd, channel->parts[0].iov_base,
                           channel->parts[0].iov_len, message->msg_name,
                           &message->msg_namelen);
}

/* One packet, or several; both answer how many, or below 0 and errno. */
static int io_recv(struct io_channel *channel, bool is_direct, unsigned room)
{
    ssize_t got;

    if (room > 1) {
        return io_sys_recvmmsg(is_direct ? channel->direct.fd
                                         : channel->socket.fd,
                               channel->messages, room);
    }
    got = io_recv_one(channel, is_direct);
    if (got < 0) {
        return -1;
    }
    channel->messages[0].msg_len = (unsigned)got;
    return 1;
}

/* Ask one of a channel's sockets. @return how many; 0: nothing waits. */
static unsigned io_ask(struct udp_io *io, struct io_channel *channel,
                       bool is_direct, unsigned room)
{
    unsigned attempts = IO_ATTEMPTS;
    int      got;

    /* Not "nothing waits": an error of a packet that was sent. */
    while (((got = io_recv(channel, is_direct, room)) < 0) &&
           (errno != EAGAIN) && (--attempts > 0)) {
        if ((errno != EINTR) && is_direct) {
            io_direct_leave(channel);
        } else if (errno != EINTR) {
            channel->has_hints = true;
        }
    }
    if ((got < 0) && is_direct && channel->direct.is_leaving &&
        !channel->has_hints) {
        io_direct_close(io, channel);
    }
    return (got > 0) ? (unsigned)got : 0;
}

/* The one that gave something last, mostly, and now and then the other. */
static unsigned io_ask_both(struct udp_io *io, struct io_channel *channel,
                            unsigned room)
{
    bool     is_direct = io_direct_is_next(&channel->direct);
    bool     is_hot    = is_direct == channel->direct.is_hot;
    unsigned got       = io_ask(io, channel, is_direct, room);

    if ((got == 0) && !is_hot) {
        is_direct = !is_direct && (channel->direct.fd >= 0);
        got       = io_ask(io, channel, is_direct, room);
    }
    if (got > 0) {
        channel->direct.is_hot = is_direct;
    }
    return got;
}

unsigned udp_io_receive(struct udp_io *io, enum udp_channel index,
                        struct udp_in *in, unsigned room)
{
    struct io_channel *channel = &io->channels[index];
    unsigned           got, i;

    room = ucs_min(room, (unsigned)UDP_IO_RECEIVE_COUNT_MAX);
    if (room == 0) {
        return 0;
    }
    if (!channel->is_busy) {
        room = 1;
    }
    if (channel->direct.fd >= 0) {
        got = io_ask_both(io, channel, room);
    } else {
        got = io_ask(io, channel, false, room);
    }
    channel->is_busy = (got > 0);
    io_order_received();
    for (i = 0; i < got; ++i) {
        io_in_fill(channel, i, &in[i]);
    }
    return got;
}

/* --------------------------------------------------------------------- hints
 */

static const struct sock_extended_err *io_find_error(struct msghdr *message)
{
    struct cmsghdr *header;

    for (header = CMSG_FIRSTHDR(message); header != NULL;
         header = CMSG_NXTHDR(message, header)) {
        if (((header->cmsg_level == IPPROTO_IP) &&
             (header->cmsg_type == IP_RECVERR)) ||
            ((header->cmsg_level == IPPROTO_IPV6) &&
             (header->cmsg_type == IPV6_RECVERR))) {
            return (const void *)CMSG_DATA(header);
        }
    }
    return NULL;
}

/* @return false: the error queue is empty. */
static bool io_take_hint(int fd, struct udp_hint *hint)
{
    union {
        struct cmsghdr header;
        char           bytes[IO_HINT_BYTES];
    } control;
    const struct sock_extended_err *error;
    struct msghdr                   message = {
                          .msg_name    = &hint->to.base,
                          .msg_namelen = offsetof(struct ucs_sockaddr, size_bytes),
                          .msg_control    = &control,
                          .msg_controllen = sizeof(control),
    };

    memset(hint, 0, sizeof(*hint));
    if (recvmsg(fd, &message, MSG_ERRQUEUE) < 0) {
        return false;
    }
    hint->to.size_bytes = message.msg_namelen;
    error               = io_find_error(&message);
    if (error == NULL) {
        hint->status = UCS_ERR_IO_ERROR;
        return true;
    }
    hint->is_local = (error->ee_origin == SO_EE_ORIGIN_LOCAL);
    hint->status   = ucsi_status_from_errno((int)error->ee_errno);
    if (error->ee_errno == EMSGSIZE) {
        hint->status    = UCS_ERR_EXCEEDS_LIMIT;
        hint->mtu_bytes = error->ee_info;
    }
    return true;
}

bool udp_io_next_hint(struct udp_io *io, struct udp_hint *hint_p)
{
    enum udp_channel index;

    for (index = 0; index < UDP_CHANNEL_COUNT; ++index) {
        struct io_channel *channel = &io->channels[index];

        if (ucs_unlikely(channel->has_hints)) {
            channel->has_hints = ((channel->direct.fd >= 0) &&
                                  io_take_hint(channel->direct.fd, hint_p)) ||
                                 io_take_hint(channel->socket.fd, hint_p);
            if (channel->has_hints) {
                return true;
            }
        }
    }
    return false;
}
