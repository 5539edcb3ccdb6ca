/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_io.c - uct/udp/udp_io.h on the simulated network; linked in
 * place of udp_io*.c and udp_socket.c.
 *
 * Packets of one sender that wait together are joined sometimes, as UDP_GRO
 * does; sends stop in the middle sometimes, as a full socket does. */
#include <stdlib.h>
#include <string.h>

#include "sim_world.h"
#include "uct/udp/udp_io.h"
#include "uct/udp/udp_wire.h"

enum {
    IO_LENT_MAX     = 64, /* packets handed out until the next receive */
    IO_JOIN_PPM     = 500000,
    IO_HEADER_BYTES = 28,
    IO_HINT_MAX     = 4,
    IO_BLOCKED_NS   = 50 * 1000, /* a full socket has room again */
};

/* lent    packets whose bytes the last receive handed out
 * is_full a send was refused and nobody was told of room yet */
struct io_channel {
    struct sim_socket  sock;
    struct udp_io     *io;
    struct sim_packet *lent[IO_LENT_MAX];
    unsigned           lent_count;
};

struct udp_io {
    struct io_channel    channels[UDP_CHANNEL_COUNT];
    struct sim_host     *host;
    struct udp_io_params params;
    struct sim_event     alarm;
    struct udp_hint      hints[IO_HINT_MAX];
    unsigned             hint_count;
    bool                 is_full;
};

/* Where packets are joined. Who receives is through with them before another
 * host runs. */
static uint8_t io_joined[UDP_CHANNEL_COUNT][UDP_IO_OUT_BYTES_MAX + 64]
    __attribute__((aligned(64)));

static struct io_channel *io_channel(struct sim_socket *sock)
{
    return ucs_container_of(sock, struct io_channel, sock);
}

static void io_wake(struct udp_io *io)
{
    sim_host_wake(io->host, io->host->world->net.now_ns);
}

static void io_arrived(struct sim_socket *sock)
{
    io_wake(io_channel(sock)->io);
}

static void io_too_long(struct sim_socket *sock, const struct ucs_sockaddr *to)
{
    struct udp_io *io = io_channel(sock)->io;

    if (io->hint_count < IO_HINT_MAX) {
        io->hints[io->hint_count++] = (struct udp_hint){
            .to        = *to,
            .status    = UCS_ERR_EXCEEDS_LIMIT,
            .mtu_bytes = io->host->world->net.weather.path_mtu,
        };
        io_wake(io);
    }
}

static void io_alarm(struct sim_event *event)
{
    io_wake(ucs_container_of(event, struct udp_io, alarm));
}

ucs_status_t udp_io_open(const struct udp_io_params *params,
                         struct udp_io             **io_p)
{
    struct udp_io      *io    = calloc(1, sizeof(*io));
    struct sim_host    *host  = sim_world->current;
    struct ucs_sockaddr local = params->local;

    io->host   = host;
    io->params = *params;
    sim_event_init(&io->alarm, io_alarm);
    for (unsigned i = 0; i < UDP_CHANNEL_COUNT; ++i) {
        struct io_channel *channel = &io->channels[i];

        channel->io            = io;
        channel->sock.arrived  = io_arrived;
        channel->sock.too_long = io_too_long;
        ucsi_sockaddr_set_port(&local,
                               (host->first_port == 0) ? 0 : host->next_port++);
        sim_socket_open(&host->world->net, &channel->sock, &local);
    }
    *io_p = io;
    return UCS_OK;
}

static void io_take_back(struct io_channel *channel)
{
    while (channel->lent_count > 0) {
        free(channel->lent[--channel->lent_count]);
    }
}

void udp_io_close(struct udp_io *io)
{
    for (unsigned i = 0; i < UDP_CHANNEL_COUNT; ++i) {
        io_take_back(&io->channels[i]);
        sim_socket_close(&io->host->world->net, &io->channels[i].sock);
    }
    sim_net_unset(&io->host->world->net, &io->alarm);
    free(io);
}

void udp_io_query(const struct udp_io *io, struct udp_io_attr *attr_p)
{
    const struct sim_weather *weather = &io->host->world->net.weather;

    *attr_p = (struct udp_io_attr){
        .send_segments    = true,
        .receive_segments = true,
        .receive_bytes    = weather->receive_bytes,
        .send_bytes       = weather->queue_bytes,
        .mtu_bytes        = weather->device_mtu,
        .header_bytes     = IO_HEADER_BYTES,
    };
    for (unsigned i = 0; i < UDP_CHANNEL_COUNT; ++i) {
        attr_p->addresses[i] = io->channels[i].sock.address;
        attr_p->fds[i]       = -1;
    }
}

/* ---- Sending ---- */

/* Copy [length] of the pieces from `offset` on. */
static void io_gather(const struct udp_out *out, size_t offset, uint8_t *bytes,
                      size_t length)
{
    for (unsigned i = 0; (i < out->iov_count) && (length > 0); ++i) {
        size_t count = out->iov[i].iov_len;

        if (offset >= count) {
            offset -= count;
            continue;
        }
        count = ucs_min(count - offset, length);
        memcpy(bytes, (const uint8_t *)out->iov[i].iov_base + offset, count);
        bytes += count;
        length -= count;
        offset = 0;
    }
}

static size_t io_length(const struct udp_out *out)
{
    size_t length = 0;

    for (unsigned i = 0; i < out->iov_count; ++i) {
        length += out->iov[i].iov_len;
    }
    return length;
}

/* A line of the trace for a packet that is sent. */
static void io_trace(const struct udp_io *io, const struct udp_out *out,
                     const uint8_t *bytes, size_t length)
{
    static const char *const kinds[UDP_KIND_COUNT] = {
        [UDP_KIND_AM] = "AM",         [UDP_KIND_CHUNK] = "CHUNK",
        [UDP_KIND_PUT] = "PUT",       [UDP_KIND_GET] = "GET",
        [UDP_KIND_DATA] = "DATA",     [UDP_KIND_ATOMIC] = "ATOMIC",
        [UDP_KIND_RESULT] = "RESULT", [UDP_KIND_FIN] = "FIN",
        [UDP_KIND_ACK] = "ACK",       [UDP_KIND_PING] = "PING",
        [UDP_KIND_PONG] = "PONG",     [UDP_KIND_PIECE] = "PIECE",
        [UDP_KIND_RESET] = "RESET",   [UDP_KIND_HELLO] = "HELLO",
        [UDP_KIND_COOKIE] = "COOKIE", [UDP_KIND_CONNECT] = "CONNECT",
        [UDP_KIND_ACCEPT] = "ACCEPT",
    };
    struct udp_head head;

    if (!udp_wire_get_head(bytes, length, &head)) {
        sim_trace("%u -> %d: %zu bytes", io->host->index, sim_net_host(out->to),
                  length);
        return;
    }
    sim_trace("%u -> %d: %s %u.%u, %zu bytes, to %08x, ack %u, window %u",
              io->host->index, sim_net_host(out->to), kinds[head.kind],
              head.number, head.attempt, length, head.to, head.ack,
              head.window);
}

/* In fair weather who sends a segment again is too impatient, or was not told
 * in time that it came. */
static void io_check_fair(const struct udp_io *io, const struct udp_out *out,
                          const uint8_t *bytes, size_t length)
{
    struct udp_head head;

    if (udp_wire_get_head(bytes, length, &head) &&
        udp_kind_is_numbered(head.kind) && (head.attempt > 0) &&
        (++io->host->again_count > io->host->world->again_max)) {
        sim_fail("%u -> %d: segment %u is sent again, the %u. time that one "
                 "is, and nothing was lost",
                 io->host->index, sim_net_host(out->to), head.number,
                 io->host->again_count);
    }
}

static ucs_status_t io_send_one(struct udp_io *io, struct udp_out *out)
{
    struct sim_net    *net     = &io->host->world->net;
    struct io_channel *channel = &io->channels[out->channel];
    size_t             length  = io_length(out);
    uint8_t            bytes[SIM_PACKET_BYTES_MAX];
    ucs_status_t       status;

    if ((length > UDP_IO_OUT_BYTES_MAX) ||
        (out->iov_count > UDP_IO_IOV_COUNT_MAX)) {
        return UCS_ERR_INVALID_PARAM;
    }
    do {
        size_t count = length - out->sent_bytes;

        if (out->segment_bytes != 0) {
            count = ucs_min(count, out->segment_bytes);
        }
        if (count > sizeof(bytes)) {
            return UCS_ERR_EXCEEDS_LIMIT;
        }
        io_gather(out, out->sent_bytes, bytes, count);
        status = io->host->is_mute
                     ? UCS_OK
                     : sim_net_send(net, &channel->sock, out->to, bytes, count,
                                    !out->dont_fragment);
        if (status != UCS_OK) {
            io->is_full = io->is_full || (status == UCS_ERR_WOULD_BLOCK);
            return status;
        }
        if (io->host->world->traces_packets) {
            io_trace(io, out, bytes, count);
        }
        if (io->host->world->is_fair) {
            io_check_fair(io, out, bytes, count);
        }
        out->sent_bytes += count;
    } while (out->sent_bytes < length);
    return UCS_OK;
}

unsigned udp_io_send(struct udp_io *io, struct udp_out *out, unsigned count,
                     ucs_status_t *status_p)
{
    unsigned sent;

    *status_p = UCS_OK;
    for (sent = 0; sent < count; ++sent) {
        *status_p = io_send_one(io, &out[sent]);
        if (*status_p != UCS_OK) {
            break;
        }
    }
    return sent;
}

/* ---- Receiving ---- */

static bool io_may_join(const struct io_channel *channel,
                        const struct udp_in     *in)
{
    const struct sim_packet *next;

    if (ucs_queue_is_empty(&channel->sock.packets) ||
        (channel->lent_count == IO_LENT_MAX)) {
        return false;
    }
    next = ucs_container_of(ucs_queue_head(&channel->sock.packets),
                            struct sim_packet, queue);
    return (next->length <= in->segment_bytes) &&
           (in->length % in->segment_bytes == 0) &&
           (in->length + next->length <= UDP_IO_OUT_BYTES_MAX) &&
           (ucsi_sockaddr_compare(&next->from, in->from) == 0) &&
           (next->is_marked == in->congestion_marked);
}

static void io_join(struct io_channel *channel, struct udp_in *in)
{
    uint8_t           *joined = io_joined[channel - channel->io->channels];
    struct sim_packet *next;

    memcpy(joined, in->data, in->length);
    in->data = joined;
    while (io_may_join(channel, in)) {
        next = sim_socket_take(&channel->sock);
        memcpy(in->data + in->length, next->bytes, next->length);
        in->length += next->length;
        channel->lent[channel->lent_count++] = next;
    }
}

unsigned udp_io_receive(struct udp_io *io, enum udp_channel index,
                        struct udp_in *in, unsigned room)
{
    struct io_channel *channel = &io->channels[index];
    bool               joined  = !io->params.segmentation;
    unsigned           count   = 0;
    struct sim_packet *packet;

    io_take_back(channel);
    room = ucs_min(room, (unsigned)UDP_IO_RECEIVE_COUNT_MAX);
    while ((count < room) && (channel->lent_count < IO_LENT_MAX) &&
           ((packet = sim_socket_take(&channel->sock)) != NULL)) {
        channel->lent[channel->lent_count++] = packet;
        in[count]                            = (struct udp_in){
                                       .from          = &packet->from,
                                       .data          = packet->bytes,
                                       .length        = packet->length,
                                       .segment_bytes = packet->length,
                                       .congestion_marked =
                                           packet->is_marked && io->params.ecn && (index == UDP_DATA),
        };
        if (!joined && (packet->length > 0) &&
            sim_random_chance(&io->host->world->net.random, IO_JOIN_PPM)) {
            io_join(channel, &in[count]);
            joined = true; /* there is one buffer to join in */
        }
        ++count;
    }
    return count;
}

bool udp_io_next_hint(struct udp_io *io, struct udp_hint *hint_p)
{
    if (io->hint_count == 0) {
        return false;
    }
    *hint_p = io->hints[--io->hint_count];
    return true;
}

/* ---- Waking ---- */

/* Nobody waits on it in virtual time. */
int udp_io_event_fd(const struct udp_io *io)
{
    (void)io;
    return -1;
}

ucs_status_t udp_io_arm(struct udp_io *io, uint64_t deadline_ns,
                        bool want_writable)
{
    struct sim_net *net = &io->host->world->net;

    if ((io->hint_count > 0) || (deadline_ns <= net->now_ns) ||
        !ucs_queue_is_empty(&io->channels[UDP_PRIORITY].sock.packets) ||
        !ucs_queue_is_empty(&io->channels[UDP_DATA].sock.packets)) {
        return UCS_ERR_BUSY;
    }
    if (want_writable && io->is_full) {
        io->is_full = false;
        deadline_ns = ucs_min(deadline_ns, net->now_ns + IO_BLOCKED_NS);
    }
    if (deadline_ns == UINT64_MAX) {
        sim_net_unset(net, &io->alarm);
    } else {
        sim_net_set(net, &io->alarm, deadline_ns);
    }
    return UCS_OK;
}

void udp_io_detach(struct udp_io *io)
{
    (void)io;
}

bool udp_io_sleep(struct udp_io *const *ios, unsigned count,
                  uint64_t timeout_ns)
{
    (void)ios;
    (void)count;
    (void)timeout_ns;
    return false;
}
