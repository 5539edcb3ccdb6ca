/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_io_send.c - packets go out, in one of four ways, the later ones
 * for what the earlier ones could not do:
 *
 *   to the busy peer   io_direct_send   send on its own socket
 *   several packets    io_send_batch    sendmmsg, stops at the first error
 *   one packet, or     io_send_single   sendto, sendmsg; errors are understood
 * here one to be cut one to be cut,     io_send_pieces   sendmsg for each
 * packet by no kernel
 *
 * An error that a system call returns may be of a packet sent long before
 * (IP_RECVERR): it is told once, so the call is made again, and what it says
 * then is its own. udp(7), ip(7), sendmmsg(2). */
#include "uct/udp/udp_io.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>

#include "uct/udp/udp_io_parts.h"

/* The bytes of it; above the limit: too many. */
static size_t io_out_bytes(const struct udp_out *out)
{
    size_t   bytes = 0;
    unsigned i;

    for (i = 0; i < out->iov_count; ++i) {
        if (out->iov[i].iov_len > UDP_IO_OUT_BYTES_MAX - bytes) {
            return UDP_IO_OUT_BYTES_MAX + 1;
        }
        bytes += out->iov[i].iov_len;
    }
    return bytes;
}

static bool io_out_is_cut(const struct udp_out *out, size_t bytes)
{
    return (out->segment_bytes != 0) && (bytes > out->segment_bytes);
}

static bool io_out_is_legal(const struct udp_out *out, size_t bytes)
{
    return (bytes <= UDP_IO_OUT_BYTES_MAX) &&
           (out->iov_count <= UDP_IO_IOV_COUNT_MAX) &&
           (!io_out_is_cut(out, bytes) ||
            (bytes <= out->segment_bytes * UDP_IO_SEGMENT_COUNT_MAX));
}

/* What the kernel needs to send `out` in one call. */
static void io_message_fill(struct msghdr *message, union io_control *control,
                            const struct udp_out *out, bool is_cut)
{
    uint16_t segment_bytes = (uint16_t)out->segment_bytes;

    memset(message, 0, sizeof(*message));
    message->msg_name    = (void *)(uintptr_t)&out->to->base;
    message->msg_namelen = out->to->size_bytes;
    message->msg_iov     = (struct iovec *)(uintptr_t)out->iov;
    message->msg_iovlen  = out->iov_count;
    if (is_cut) {
        memset(control, 0, sizeof(*control)); /* its padding, for valgrind */
        control->header.cmsg_level = IPPROTO_UDP;
        control->header.cmsg_type  = UDP_SEGMENT;
        control->header.cmsg_len   = CMSG_LEN(sizeof(segment_bytes));
        memcpy(CMSG_DATA(&control->header), &segment_bytes,
               sizeof(segment_bytes));
        message->msg_control    = control;
        message->msg_controllen = CMSG_SPACE(sizeof(segment_bytes));
    }
}

/* The plain case without a struct that the kernel must fetch. */
static ssize_t io_call(const struct io_channel *channel,
                       const struct msghdr     *message)
{
    if ((message->msg_iovlen == 1) && (message->msg_controllen == 0)) {
        return io_sys_sendto(channel->socket.fd, message->msg_iov[0].iov_base,
                             message->msg_iov[0].iov_len, message->msg_name,
                             message->msg_namelen);
    }
    return sendmsg(channel->socket.fd, message, 0);
}

/* Send one message.
 * @return UCS_OK: it went, or was dropped on its way out; else its own
 *         failure, and what errno says of it. */
static ucs_status_t io_sendmsg(struct udp_io *io, struct io_channel *channel,
                               const struct msghdr *message)
{
    unsigned attempt = 0;

    while (io_call(channel, message) < 0) {
        if (errno == EAGAIN) {
            channel->is_full = true;
            return UCS_ERR_WOULD_BLOCK;
        }
        /* A full queue of the device; a rule of the firewall. */
        if ((errno == ENOBUFS) || (errno == EPERM)) {
            ++io->dropped_count;
            return UCS_OK;
        }
        if (errno != EINTR) {
            channel->has_hints = true;
            ++attempt;
        }
        if (attempt == IO_ATTEMPTS) {
            return (errno == EMSGSIZE) ? UCS_ERR_EXCEEDS_LIMIT
                                       : ucsi_status_from_errno(errno);
        }
    }
    channel->is_full = false;
    return UCS_OK;
}

/* The part of `out` from `offset` on, [bytes] of it.
 * @return how many pieces. */
static unsigned io_slice(const struct udp_out *out, size_t offset, size_t bytes,
                         struct iovec *slice)
{
    unsigned count = 0;
    unsigned i;

    for (i = 0; (i < out->iov_count) && (bytes > 0); ++i) {
        size_t skip = ucs_min(offset, out->iov[i].iov_len);
        size_t take = ucs_min(bytes, out->iov[i].iov_len - skip);

        offset -= skip;
        bytes -= take;
        if (take > 0) {
            slice[count].iov_base = (char *)out->iov[i].iov_base + skip;
            slice[count].iov_len  = take;
            ++count;
        }
    }
    return count;
}

/* Cut it here. sent_bytes goes on with each packet that went. */
static ucs_status_t io_send_pieces(struct udp_io     *io,
                                   struct io_channel *channel,
                                   struct udp_out *out, size_t bytes)
{
    struct iovec  slice[UDP_IO_IOV_COUNT_MAX];
    struct msghdr message;

    io_message_fill(&message, NULL, out, false);
    message.msg_iov = slice;
    while (out->sent_bytes < bytes) {
        size_t piece = ucs_min(out->segment_bytes, bytes - out->sent_bytes);
        ucs_status_t status;

        message.msg_iovlen = io_slice(out, out->sent_bytes, piece, slice);
        status             = io_sendmsg(io, channel, &message);
        if (status != UCS_OK) {
            return status;
        }
        out->sent_bytes += piece;
    }
    return UCS_OK;
}

/* The answers of kernels and devices that cannot cut; some are also those of
 * a packet that is too long. */
static bool io_is_refusal(int error)
{
    return (error == EIO) || (error == EINVAL) || (error == EMSGSIZE) ||
           (error == EOPNOTSUPP) || (error == ENOPROTOOPT);
}

static ucs_status_t io_send_single(struct udp_io     *io,
                                   struct io_channel *channel,
                                   struct udp_out    *out)
{
    size_t           bytes  = io_out_bytes(out);
    bool             is_cut = io_out_is_cut(out, bytes);
    union io_control control;
    struct msghdr    message;
    ucs_status_t     status;

    if (!io_out_is_legal(out, bytes)) {
        return UCS_ERR_INVALID_PARAM;
    }
    if (is_cut && (!channel->socket.send_segments || (out->sent_bytes > 0))) {
        return io_send_pieces(io, channel, out, bytes);
    }
    io_message_fill(&message, &control, out, is_cut);
    status = io_sendmsg(io, channel, &message);
    if ((status != UCS_OK) && is_cut && io_is_refusal(errno) &&
        (status != UCS_ERR_WOULD_BLOCK)) {
        status = io_send_pieces(io, channel, out, bytes);
        /* Each packet alone is fine: it is the cutting that is refused. */
        channel->socket.send_segments = (status != UCS_OK);
    }
    if (status == UCS_OK) {
        out->sent_bytes = bytes;
    }
    return status;
}

static ucs_status_t io_set_dont_fragment(struct io_channel *channel,
                                         bool               dont_fragment)
{
    ucs_status_t status = udp_socket_set_dont_fragment(
        channel->socket.fd, channel->socket.address.base.sa_family,
        dont_fragment);

    if (status == UCS_OK) {
        channel->dont_fragment = dont_fragment;
    }
    return status;
}

/* Send, from the start of `out`, what one sendmmsg can: the same channel, the
 * same dont_fragment, nothing that has to be cut here.
 * @return how many went; 0: let the first one go alone. */
static unsigned io_send_batch(struct udp_io *io, struct io_channel *channel,
                              struct udp_out *out, unsigned count)
{
    unsigned limit = ucs_min(count, (unsigned)IO_SEND_MAX);
    unsigned room;
    unsigned i;
    int      sent;

    for (room = 0; room < limit; ++room) {
        size_t bytes  = io_out_bytes(&out[room]);
        bool   is_cut = io_out_is_cut(&out[room], bytes);

        if ((out[room].channel != out[0].channel) ||
            (out[room].dont_fragment != channel->dont_fragment) ||
            (is_cut &&
             (!channel->socket.send_segments || (out[room].sent_bytes > 0))) ||
            !io_out_is_legal(&out[room], bytes)) {
            break;
        }
        io_message_fill(&io->batch[room].msg_hdr, &io->batch_controls[room],
                        &out[room], is_cut);
    }
    if (room < 2) {
        return 0;
    }
    sent = sendmmsg(channel->socket.fd, io->batch, room, 0);
    if (sent <= 0) {
        return 0;
    }
    channel->is_full = false;
    for (i = 0; (int)i < sent; ++i) {
        out[i].sent_bytes = io->batch[i].msg_len;
    }
    return (unsigned)sent;
}

unsigned udp_io_send(struct udp_io *io, struct udp_out *out, unsigned count,
                     ucs_status_t *status_p)
{
    unsigned done = 0;

    *status_p = UCS_OK;
    io_order_sent();
    while (done < count) {
        struct io_channel *channel = &io->channels[out[done].channel];
        unsigned           sent    = 0;

        if (io_direct_send(io, channel, &out[done])) {
            ++done;
            continue;
        }
        if (ucs_unlikely(out[done].dont_fragment != channel->dont_fragment)) {
            *status_p = io_set_dont_fragment(channel, out[done].dont_fragment);
        }
        if ((count - done > 1) && (*status_p == UCS_OK)) {
            sent = io_send_batch(io, channel, &out[done], count - done);
        }
        if ((sent == 0) && (*status_p == UCS_OK)) {
            *status_p = io_send_single(io, channel, &out[done]);
            sent      = 1;
        }
        if (*status_p != UCS_OK) {
            break;
        }
        done += sent;
    }
    return done;
}
