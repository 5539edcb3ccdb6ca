/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_io.c - the two sockets: opened, closed, slept on. How packets go
 * out is udp_io_send.c, how they come in udp_io_receive.c. epoll(7),
 * timerfd_create(2). */
#include "uct/udp/udp_io.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "ucs/clock.h"
#include "ucs/log.h"
#include "ucs/netif.h"
#include "uct/udp/udp_io_parts.h"

enum {
    IO_IPV4_BYTES = 20 + 8, /* headers of IP, without options, and UDP */
    IO_IPV6_BYTES = 40 + 8,
    IO_SLEEP_MAX  = 32, /* that are slept on at a time */
};

#ifdef __SANITIZE_THREAD__
_Atomic unsigned io_packet_order;
#endif

static ucs_status_t io_channel_init(struct udp_io              *io,
                                    const struct udp_io_params *params,
                                    enum udp_channel            index)
{
    struct io_channel *channel = &io->channels[index];
    ucs_status_t       status;
    unsigned           i;

    status = udp_socket_open(params, index, &channel->socket);
    if (status != UCS_OK) {
        return status;
    }
    channel->dont_fragment = true;
    channel->slots         = calloc(UDP_IO_RECEIVE_COUNT_MAX, IO_SLOT_BYTES);
    if (channel->slots == NULL) {
        return ucsi_no_memory("receive buffers of udp",
                              (size_t)UDP_IO_RECEIVE_COUNT_MAX * IO_SLOT_BYTES);
    }
    for (i = 0; i < UDP_IO_RECEIVE_COUNT_MAX; ++i) {
        struct msghdr *message = &channel->messages[i].msg_hdr;

        channel->parts[i].iov_base = channel->slots + (size_t)i * IO_SLOT_BYTES;
        channel->parts[i].iov_len  = IO_SLOT_BYTES;
        message->msg_name          = &channel->addresses[i].base;
        message->msg_iov           = &channel->parts[i];
        message->msg_iovlen        = 1;
        message->msg_control       = &channel->controls[i];
        io_slot_reset(channel, i);
    }
    return UCS_OK;
}

static size_t io_device_mtu(const struct ucs_sockaddr *local)
{
    struct ucs_netif_list   list;
    const struct ucs_netif *netif;
    size_t                  mtu_bytes = 0;

    if (ucsi_netif_list_init(&list) != UCS_OK) {
        return 0;
    }
    netif = ucsi_netif_find_address(&list, local);
    if (netif != NULL) {
        mtu_bytes = netif->mtu_bytes;
    }
    ucsi_netif_list_cleanup(&list);
    return mtu_bytes;
}

void io_remove_event(struct udp_io *io, int fd)
{
    if (io->owner == getpid()) {
        ucsi_event_set_remove(&io->events, fd);
    }
}

void udp_io_detach(struct udp_io *io)
{
    enum udp_channel index;

    for (index = 0; index < UDP_CHANNEL_COUNT; ++index) {
        struct io_channel *channel = &io->channels[index];

        if (channel->direct.fd >= 0) {
            io_remove_event(io, channel->direct.fd);
        }
        io_remove_event(io, channel->socket.fd);
        channel->is_watched = false;
    }
    io->is_attached = false;
}

static ucs_status_t io_attach_socket(struct udp_io     *io,
                                     struct io_channel *channel, int fd)
{
    return (fd >= 0)
               ? ucsi_event_set_add(&io->events, fd, UCS_EVENT_READ, channel)
               : UCS_OK;
}

static ucs_status_t io_attach(struct udp_io *io)
{
    ucs_status_t     status = UCS_OK;
    enum udp_channel index;

    for (index = 0; (index < UDP_CHANNEL_COUNT) && (status == UCS_OK);
         ++index) {
        struct io_channel *channel = &io->channels[index];

        status = io_attach_socket(io, channel, channel->socket.fd);
        if (status == UCS_OK) {
            status = io_attach_socket(io, channel, channel->direct.fd);
        }
    }
    io->is_attached = (status == UCS_OK);
    if (!io->is_attached) {
        udp_io_detach(io);
    }
    return status;
}

static ucs_status_t io_init(struct udp_io              *io,
                            const struct udp_io_params *params)
{
    ucs_status_t     status;
    enum udp_channel index;

    status = ucsi_event_set_init(&io->events);
    if (status == UCS_OK) {
        status = ucsi_timerfd_open(&io->timer_fd);
    }
    if (status == UCS_OK) {
        status =
            ucsi_event_set_add(&io->events, io->timer_fd, UCS_EVENT_READ, NULL);
    }
    for (index = 0; (index < UDP_CHANNEL_COUNT) && (status == UCS_OK);
         ++index) {
        status = io_channel_init(io, params, index);
    }
    if (status == UCS_OK) {
        status = io_attach(io); /* a limit is met now, not at the first sleep */
    }
    io->timer_ns  = UCS_NS_INFINITE;
    io->mtu_bytes = io_device_mtu(&params->local);
    return status;
}

ucs_status_t udp_io_open(const struct udp_io_params *params,
                         struct udp_io             **io_p)
{
    struct udp_io *io = calloc(1, sizeof(*io));
    ucs_status_t   status;

    if (io == NULL) {
        return ucsi_no_memory("the sockets of udp", sizeof(*io));
    }
    io->events.fd                        = -1;
    io->timer_fd                         = -1;
    io->channels[UDP_PRIORITY].socket.fd = -1;
    io->channels[UDP_DATA].socket.fd     = -1;
    io->params                           = *params;
    io->owner                            = getpid();
    io_direct_init(&io->channels[UDP_PRIORITY].direct, params->direct);
    io_direct_init(&io->channels[UDP_DATA].direct, params->direct);
    status = io_init(io, params);
    if (status != UCS_OK) {
        udp_io_close(io);
        return status;
    }
    *io_p = io;
    return UCS_OK;
}

void udp_io_close(struct udp_io *io)
{
    enum udp_channel index;

    for (index = 0; index < UDP_CHANNEL_COUNT; ++index) {
        io_direct_close(io, &io->channels[index]);
        ucsi_fd_close(&io->channels[index].socket.fd);
        free(io->channels[index].slots);
    }
    ucsi_fd_close(&io->timer_fd);
    ucsi_event_set_cleanup(&io->events);
    free(io);
}

void udp_io_query(const struct udp_io *io, struct udp_io_attr *attr_p)
{
    const struct udp_socket *data = &io->channels[UDP_DATA].socket;
    enum udp_channel         index;

    for (index = 0; index < UDP_CHANNEL_COUNT; ++index) {
        attr_p->addresses[index]  = io->channels[index].socket.address;
        attr_p->fds[index]        = io->channels[index].socket.fd;
        attr_p->direct_fds[index] = io->channels[index].direct.fd;
    }
    attr_p->send_segments    = data->send_segments;
    attr_p->receive_segments = data->receive_segments;
    attr_p->receive_bytes    = data->receive_bytes;
    attr_p->send_bytes       = data->send_bytes;
    attr_p->mtu_bytes        = io->mtu_bytes;
    attr_p->header_bytes     = (data->address.base.sa_family == AF_INET)
                                   ? IO_IPV4_BYTES
                                   : IO_IPV6_BYTES;
    attr_p->dropped_count    = io->dropped_count;
}

/* ------------------------------------------------------------------- waking */

int udp_io_event_fd(const struct udp_io *io)
{
    return io->events.fd;
}

/* Watch for room where it was missing, nowhere else: a socket with room would
 * wake the sleeper at once. @param any_p  Set if one is watched. */
static ucs_status_t io_watch(struct udp_io *io, bool want_writable, bool *any_p)
{
    enum udp_channel index;
    ucs_status_t     status = UCS_OK;

    *any_p = false;
    for (index = 0; (index < UDP_CHANNEL_COUNT) && (status == UCS_OK);
         ++index) {
        struct io_channel *channel = &io->channels[index];
        bool               watch   = want_writable && channel->is_full;
        unsigned flags = UCS_EVENT_READ | (watch ? UCS_EVENT_WRITE : 0);

        *any_p = *any_p || watch;
        if (watch != channel->is_watched) {
            status = ucsi_event_set_modify(&io->events, channel->socket.fd,
                                           flags, channel);
            channel->is_watched = (status == UCS_OK) == watch;
        }
    }
    return status;
}

static ucs_status_t io_set_timer(struct udp_io *io, uint64_t deadline_ns)
{
    ucs_status_t status;

    if (deadline_ns == io->timer_ns) {
        return UCS_OK; /* if it went off, it is readable still */
    }
    status = ucsi_timerfd_arm(io->timer_fd, deadline_ns);
    if (status == UCS_OK) {
        io->timer_ns = deadline_ns;
    }
    return status;
}

ucs_status_t udp_io_arm(struct udp_io *io, uint64_t deadline_ns,
                        bool want_writable)
{
    struct ucs_event events[2 * UDP_CHANNEL_COUNT + 1];
    unsigned         count = 0;
    unsigned         i;
    bool             any = false;
    ucs_status_t     status;

    status = io->is_attached ? UCS_OK : io_attach(io);
    if (status == UCS_OK) {
        status = io_watch(io, want_writable, &any);
    }
    if (status == UCS_OK) {
        status = io_set_timer(io, deadline_ns);
    }
    if ((status == UCS_OK) && want_writable && !any) {
        return UCS_ERR_BUSY; /* there is room */
    }
    if (status == UCS_OK) {
        status = ucsi_event_set_wait(&io->events, events,
                                     UCS_ARRAY_COUNT(events), 0, &count);
    }
    for (i = 0; i < count; ++i) {
        struct io_channel *channel = events[i].user;

        if ((channel != NULL) && (events[i].flags & UCS_EVENT_ERROR)) {
            channel->has_hints = true;
        }
    }
    return ((status == UCS_OK) && (count > 0)) ? UCS_ERR_BUSY : status;
}

bool udp_io_sleep(struct udp_io *const *ios, unsigned count,
                  uint64_t timeout_ns)
{
    struct pollfd         fds[IO_SLEEP_MAX];
    const struct timespec timeout = ucs_clock_timespec(timeout_ns);
    unsigned              i;

    count = ucs_min(count, (unsigned)IO_SLEEP_MAX);
    for (i = 0; i < count; ++i) {
        fds[i] = (struct pollfd){.fd = ios[i]->events.fd, .events = POLLIN};
    }
    return (ppoll(fds, count, &timeout, NULL) >= 0) || (errno == EINTR);
}
