/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_conn_send.c - the way out: one segment, one packet.
 *
 * Tiny packets go by the priority channel, the rest and everything that is
 * sent again by the data channel: what was lost in a crowd must not crowd out
 * acknowledgements. */
#include "uct/udp/udp_bundle.h"
#include "uct/udp/udp_conn_parts.h"

#include <string.h>

#include "ucs/assert.h"
#include "ucs/clock.h"

enum {
    /* What the kernel charges a packet in a socket buffer besides its
     * bytes. */
    SEND_PACKET_CHARGE = 768,
    SEND_FLAGS_OFFSET  = 15, /* in a head */
};

bool udp_conn_has_window(const struct udp_conn *conn)
{
    const struct udp_env  *env  = conn->env;
    const struct udp_send *send = &conn->send;

    /* What is gathered has its number still before it. */
    return udp_send_is_open(send, conn->bundle != NULL) &&
           udp_env_may_send(env) && udp_conn_may_crowd(conn) &&
           ((send->flight_count == 0) ||
            (send->flight_bytes +
                 (uint64_t)send->flight_count * SEND_PACKET_CHARGE <
             conn->peer_buffer_bytes));
}

bool udp_conn_may_send(const struct udp_conn *conn)
{
    return udp_conn_is_open(conn) && ucs_queue_is_empty(&conn->fragments) &&
           udp_conn_has_window(conn);
}

size_t udp_conn_payload_bytes(const struct udp_conn *conn, unsigned kind)
{
    size_t packet_bytes = conn->mtu.good_bytes;

    if (kind == UDP_KIND_DATA) { /* copied */
        packet_bytes = ucs_min(packet_bytes, (size_t)UDP_LARGE_BYTES);
    }
    return (packet_bytes - UDP_HEAD_BYTES - udp_wire_extension_bytes(kind)) &
           ~(size_t)7;
}

void udp_conn_make_busy(struct udp_conn *conn)
{
    if (!conn->is_busy) {
        conn->is_busy = true;
        ucs_list_add_tail(&conn->env->busy, &conn->busy_link);
    }
}

/* What every packet that leaves says about the other direction. */
static void send_fill(struct udp_conn *conn, struct udp_head *head)
{
    head->to       = conn->peer_id;
    head->window   = conn->env->window;
    conn->was_shut = (head->window == 0);
    udp_receive_fill(&conn->receive, head, conn->env->now_ns);
}

static bool send_is_bundle(const struct udp_segment *segment)
{
    return (udp_wire_kind(segment->bytes) == UDP_KIND_AM) &&
           (segment->bytes[SEND_FLAGS_OFFSET] & UDP_FLAG_BUNDLE);
}

/* Bring a segment's head up to date. */
static void send_seal_segment(struct udp_conn    *conn,
                              struct udp_segment *segment)
{
    struct udp_head head    = {.attempt = segment->attempt};
    size_t          covered = segment->head_bytes;

    send_fill(conn, &head);
    udp_wire_put_ack(segment->bytes, &head);
    if ((segment->fragment != NULL) &&
        udp_fragment_is_refused(segment->fragment)) {
        segment->bytes[SEND_FLAGS_OFFSET] |= UDP_FLAG_REFUSED;
    }
    if ((segment->payload_bytes == 0) && !send_is_bundle(segment)) {
        covered = UDP_HEAD_BYTES +
                  udp_wire_extension_bytes(udp_wire_kind(segment->bytes));
    }
    udp_seal_put(&conn->seal, segment->bytes, covered,
                 udp_segment_bytes(segment));
}

/* It is on its way, or will have been. */
void udp_segment_note(struct udp_conn *conn, struct udp_segment *segment,
                      enum udp_channel channel)
{
    struct udp_env *env = conn->env;

    if ((segment->state != UDP_SEGMENT_NEW) &&
        (segment->room != UCS_HOTEL_NO_ROOM)) {
        (void)ucsi_hotel_checkout(&env->hotel, segment->room);
    }
    if (udp_send_is_idle(&conn->send) || (conn->probe_ns == UINT64_MAX)) {
        conn->is_probed = false;
    }
    segment->is_app_limited = udp_conn_is_app_limited(conn);
    udp_send_sent(&conn->send, segment, channel, env->now_ns);
    ++env->sent_count;
    segment->room = ucsi_hotel_checkin(&env->hotel, segment, env->now_ns,
                                       udp_rtt_timeout_ns(&conn->rtt));
    ucs_assert(segment->room != UCS_HOTEL_NO_ROOM);
}

void udp_conn_start_probe(struct udp_conn *conn)
{
    conn->probe_ns = conn->env->now_ns + udp_rtt_probe_ns(&conn->rtt);
    if (!ucs_timer_is_started(&conn->timer) ||
        (conn->probe_ns < conn->timer.deadline_ns)) {
        udp_conn_rearm(conn);
    }
}

size_t udp_conn_transmit(struct udp_conn *conn, enum udp_channel channel,
                         const struct iovec *iov, unsigned iov_count,
                         size_t segment_bytes)
{
    struct udp_out out = {.to            = &conn->address[channel],
                          .channel       = channel,
                          .iov           = iov,
                          .iov_count     = iov_count,
                          .segment_bytes = segment_bytes,
                          .dont_fragment = true};

    if (ucs_unlikely(conn->crypt != NULL) &&
        (udp_wire_kind((const uint8_t *)iov->iov_base) < UDP_KIND_HELLO)) {
        return udp_conn_transmit_sealed(conn, &out);
    }
    return udp_conn_emit(conn, &out);
}

/* The first ring is short, the second is for the whole window. */
static void send_lend_ring(struct udp_conn *conn)
{
    unsigned count =
        (conn->send.ring == NULL) ? UDP_RING_COUNT : UDP_WINDOW_COUNT;
    void **before = (void **)udp_send_lend(
        &conn->send, (struct udp_segment **)udp_env_ring(conn->env, count),
        count);

    if (before != NULL) {
        ucs_mpool_put(before);
    }
}

/* A segment in order: the window has room for it. */
void udp_segment_number(struct udp_conn *conn, struct udp_segment *segment,
                        struct udp_head *head)
{
    if (ucs_unlikely(!udp_send_fits(&conn->send))) {
        send_lend_ring(conn);
    }
    segment->conn = conn;
    segment->room = UCS_HOTEL_NO_ROOM;
    udp_send_add(&conn->send, segment);
    head->number = segment->number;
    send_fill(conn, head);
    udp_wire_put_head(segment->bytes, head);
}

/* Out with one segment; if the socket is full it counts as lost. */
static bool send_one(struct udp_conn *conn, struct udp_segment *segment,
                     enum udp_channel channel)
{
    struct iovec iov[UDP_IOV_COUNT_MAX + 2] = {
        {segment->bytes, segment->head_bytes}};
    unsigned count = 1;
    size_t   went;

    if (segment->payload_bytes > 0) {
        count += udp_fragment_slice(segment->fragment, segment->payload_offset,
                                    segment->payload_bytes, iov + 1);
    }
    went = udp_conn_transmit(conn, channel, iov, count, 0);
    udp_segment_note(conn, segment, channel); /* while it travels */
    if (went == 0) {
        udp_send_lose(&conn->send, segment);
        udp_conn_make_busy(conn);
        return false;
    }
    return true;
}

void udp_conn_send_am(struct udp_conn *conn, struct udp_segment *segment,
                      unsigned am_id, unsigned flags, size_t length)
{
    struct udp_head head = {
        .kind = UDP_KIND_AM, .flags = (uint8_t)flags, .am_id = (uint8_t)am_id};

    udp_bundle_go(conn);
    segment->fragment      = NULL;
    segment->payload_bytes = 0;
    segment->head_bytes    = (uint16_t)(UDP_HEAD_BYTES + length);
    udp_segment_number(conn, segment, &head);
    udp_seal_put(&conn->seal, segment->bytes,
                 (flags & UDP_FLAG_BUNDLE) ? segment->head_bytes
                                           : UDP_HEAD_BYTES,
                 segment->head_bytes);
    (void)send_one(conn, segment, udp_conn_channel(segment->head_bytes));
    udp_conn_start_probe(conn);
}

void udp_segment_again(struct udp_conn *conn, struct udp_segment *segment)
{
    ++segment->attempt;
    send_seal_segment(conn, segment);
    --segment->attempt; /* counted as it goes */
    udp_count(conn->env, UDP_COUNT_RESENT);
}

bool udp_conn_resend(struct udp_conn *conn, struct udp_segment *segment)
{
    udp_segment_again(conn, segment);
    if (udp_segment_bytes(segment) <= conn->mtu.good_bytes) {
        return send_one(conn, segment, UDP_DATA);
    }
    udp_segment_note(conn, segment, UDP_DATA);
    udp_pieces_send(conn, segment);
    return true;
}

/* ---------------------------------------------- outside of the order */

bool udp_conn_send_control(struct udp_conn *conn, uint8_t *bytes, unsigned kind,
                           size_t covered, size_t length)
{
    struct udp_head head = {.kind = (uint8_t)kind, .number = conn->number++};
    struct iovec    iov  = {bytes, UDP_HEAD_BYTES + length};
    bool            is_early = (kind >= UDP_KIND_HELLO);

    send_fill(conn, &head);
    udp_wire_put_head(bytes, &head);
    udp_seal_put(is_early ? &conn->handshake : &conn->seal, bytes,
                 UDP_HEAD_BYTES + covered, UDP_HEAD_BYTES + length);
    return udp_conn_transmit(conn, udp_conn_channel(iov.iov_len), &iov, 1, 0) >
           0;
}

void udp_conn_send_ack(struct udp_conn *conn)
{
    uint8_t bytes[UDP_HEAD_BYTES + UDP_RANGE_COUNT_MAX * UDP_RANGE_BYTES];
    struct udp_range ranges[UDP_RANGE_COUNT_MAX];
    unsigned         count  = udp_receive_ranges(&conn->receive, ranges);
    size_t           length = udp_wire_put_ranges(bytes + UDP_HEAD_BYTES,
                                                  conn->receive.expected, ranges, count);

    (void)udp_conn_send_control(conn, bytes, UDP_KIND_ACK, length, length);
    udp_receive_told(&conn->receive);
}

void udp_conn_send_ping(struct udp_conn *conn, size_t packet_bytes)
{
    uint8_t bytes[UDP_PACKET_BYTES_MAX];
    size_t  length = udp_wire_extension_bytes(UDP_KIND_PONG);

    if (packet_bytes > UDP_HEAD_BYTES + length) {
        length = packet_bytes - UDP_HEAD_BYTES;
    }
    memset(bytes + UDP_HEAD_BYTES, 0, length);
    (void)udp_conn_send_control(conn, bytes, UDP_KIND_PING, 0, length);
}
