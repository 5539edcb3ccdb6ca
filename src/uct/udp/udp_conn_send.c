/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_conn_send.c - the way out: fragments become segments, segments
 * packets, and acknowledgements take them out again.
 *
 * Tiny packets go by the priority channel, the rest and everything that is
 * sent again by the data channel. Segments of one fragment go in batches, one
 * system call each (UDP_SEGMENT). */
#include "uct/udp/udp_conn.h"

#include <string.h>

#include "ucs/assert.h"
#include "ucs/clock.h"
#include "uct/udp/udp_seq.h"

enum {
    /* What the kernel charges a packet in a socket buffer besides its
     * bytes. */
    SEND_PACKET_CHARGE = 768,
    /* Timers are not that exact: send so much ahead. */
    SEND_PACE_AHEAD_NS = 50 * 1000,
    SEND_BATCH_COUNT   = 32,
};

/* Segments that go out together. */
struct send_batch {
    struct iovec        iov[UDP_IO_IOV_COUNT_MAX];
    struct udp_segment *segments[SEND_BATCH_COUNT];
    unsigned            iov_count, count;
    size_t              bytes, packet_bytes;
};

bool udp_conn_has_window(const struct udp_conn *conn)
{
    const struct udp_env  *env  = conn->env;
    const struct udp_send *send = &conn->send;

    return udp_send_is_open(send) && !env->is_blocked &&
           (send->flight_bytes < conn->cc.window_bytes) &&
           ((send->flight_count == 0) ||
            (send->flight_bytes +
                 (uint64_t)send->flight_count * SEND_PACKET_CHARGE <
             conn->peer_buffer_bytes)) &&
           (ucs_hotel_guest_count(&env->hotel) < env->hotel.room_count);
}

bool udp_conn_may_send(const struct udp_conn *conn)
{
    return udp_conn_is_open(conn) && ucs_queue_is_empty(&conn->fragments) &&
           udp_conn_has_window(conn);
}

size_t udp_conn_payload_bytes(const struct udp_conn *conn, unsigned kind)
{
    return (conn->mtu.good_bytes - UDP_HEAD_BYTES -
            udp_wire_extension_bytes(kind)) &
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

/* Bring a segment's head up to date. */
static void send_seal_segment(struct udp_conn *conn,
                              struct udp_segment *segment)
{
    struct udp_head head    = {.attempt = segment->attempt};
    size_t          covered = segment->head_bytes;

    send_fill(conn, &head);
    udp_wire_put_ack(segment->bytes, &head);
    if (segment->payload_bytes == 0) {
        covered = UDP_HEAD_BYTES +
                  udp_wire_extension_bytes(segment->bytes[14] & 31);
    }
    udp_seal_put(&conn->seal, segment->bytes, covered,
                 udp_segment_bytes(segment));
}

/* It is on its way, or will have been. */
static void send_note(struct udp_conn *conn, struct udp_segment *segment,
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
    segment->is_app_limited = ucs_queue_is_empty(&conn->fragments);
    udp_send_sent(&conn->send, segment, channel, env->now_ns);
    segment->room = ucsi_hotel_checkin(&env->hotel, segment, env->now_ns,
                                       udp_rtt_timeout_ns(&conn->rtt));
    ucs_assert(segment->room != UCS_HOTEL_NO_ROOM);
}

static void send_start_probe(struct udp_conn *conn)
{
    conn->probe_ns = conn->env->now_ns + udp_rtt_probe_ns(&conn->rtt);
    if (!ucs_timer_is_started(&conn->timer) ||
        (conn->probe_ns < conn->timer.deadline_ns)) {
        udp_conn_rearm(conn);
    }
}

static size_t send_transmit(struct udp_conn *conn, enum udp_channel channel,
                            const struct iovec *iov, unsigned iov_count,
                            size_t segment_bytes)
{
    struct udp_out out = {.to            = &conn->address[channel],
                          .channel       = channel,
                          .iov           = iov,
                          .iov_count     = iov_count,
                          .segment_bytes = segment_bytes,
                          .dont_fragment = true};

    if (conn->timeout_count > 2) {
        out.dont_fragment = false; /* rather in pieces than not at all */
    }
    return conn->env->ops->transmit(conn->env, &out);
}

/* A segment in order: the window has room for it. */
static void send_number(struct udp_conn *conn, struct udp_segment *segment,
                        struct udp_head *head)
{
    if (conn->send.ring == NULL) {
        conn->send.ring =
            (struct udp_segment **)ucs_mpool_get(&conn->env->rings);
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

    if (segment->payload_bytes > 0) {
        count += udp_fragment_slice(segment->fragment, segment->payload_offset,
                                    segment->payload_bytes, iov + 1);
    }
    send_note(conn, segment, channel);
    if (send_transmit(conn, channel, iov, count, 0) == 0) {
        udp_send_lose(&conn->send, segment);
        udp_conn_make_busy(conn);
        return false;
    }
    return true;
}

static enum udp_channel send_channel(size_t packet_bytes)
{
    return (packet_bytes <= UDP_SMALL_BYTES) ? UDP_PRIORITY : UDP_DATA;
}

void udp_conn_send_am(struct udp_conn *conn, struct udp_segment *segment,
                      unsigned am_id, unsigned flags, size_t length)
{
    struct udp_head head = {.kind  = UDP_KIND_AM,
                            .flags = (uint8_t)flags,
                            .am_id = (uint8_t)am_id};

    segment->fragment      = NULL;
    segment->payload_bytes = 0;
    segment->head_bytes    = (uint16_t)(UDP_HEAD_BYTES + length);
    send_number(conn, segment, &head);
    udp_seal_put(&conn->seal, segment->bytes, UDP_HEAD_BYTES,
                 segment->head_bytes);
    (void)send_one(conn, segment, send_channel(segment->head_bytes));
    send_start_probe(conn);
}

bool udp_conn_resend(struct udp_conn *conn, struct udp_segment *segment)
{
    ++segment->attempt;
    send_seal_segment(conn, segment);
    --segment->attempt; /* counted as it goes */
    udp_count(conn->env, UDP_COUNT_RESENT);
    return send_one(conn, segment, UDP_DATA);
}

/* ------------------------------------------------------- fragments */

struct udp_fragment *udp_fragment_new(struct udp_conn *conn, unsigned kind)
{
    struct udp_fragment *fragment =
        (struct udp_fragment *)ucs_mpool_get(&conn->env->fragments);

    if (fragment != NULL) {
        memset(fragment, 0, offsetof(struct udp_fragment, iov));
        fragment->conn = conn;
        fragment->kind = (uint8_t)kind;
        ucs_list_init(&fragment->link);
    }
    return fragment;
}

void udp_fragment_free(struct udp_fragment *fragment)
{
    if (fragment->buffer != NULL) {
        udp_env_unhold(fragment->buffer);
    }
    ucs_mpool_put(fragment);
}

unsigned udp_fragment_slice(const struct udp_fragment *fragment, size_t offset,
                            size_t length, struct iovec *iov)
{
    unsigned index = 0, count = 0;
    size_t   part;

    while ((index < fragment->iov_count) &&
           (offset >= fragment->iov[index].iov_len)) {
        offset -= fragment->iov[index].iov_len;
        ++index;
    }
    for (; (length > 0) && (index < fragment->iov_count); ++index) {
        part = ucs_min(length, fragment->iov[index].iov_len - offset);
        if (part > 0) {
            iov[count].iov_base =
                (uint8_t *)fragment->iov[index].iov_base + offset;
            iov[count].iov_len = part;
            ++count;
        }
        length -= part;
        offset = 0;
    }
    ucs_assert(length == 0);
    return count;
}

void udp_conn_finish(struct udp_fragment *fragment, ucs_status_t status)
{
    struct udp_conn *conn = fragment->conn;

    ucs_list_remove(&fragment->link); /* of operations, or on none */
    ucs_list_init(&fragment->link);
    if (fragment->waits_answer) {
        fragment->waits_answer = false;
        --conn->operation_count;
    }
    if (fragment->kind == UDP_KIND_FIN) {
        conn->is_fin_acked = true;
        udp_connect_closed(conn);
    }
    if (fragment->kind == UDP_KIND_DATA) {
        --conn->answer_count;
    }
    if (fragment->req == NULL) {
        udp_fragment_free(fragment);
        return;
    }
    fragment->status = status;
    ucs_queue_push(&conn->finished, &fragment->queue);
    udp_conn_notify(conn);
}

/* The extension of the segment that begins at fragment->sent. */
static size_t send_extension(struct udp_fragment *fragment, uint8_t *bytes)
{
    struct udp_access access = {.key       = fragment->key,
                                .address   = fragment->address,
                                .operation = fragment->operation,
                                .length    = fragment->total};
    struct udp_chunk  chunk  = {.message = fragment->message,
                                .offset  = fragment->sent,
                                .total   = fragment->total};
    struct udp_answer answer = {.operation = fragment->operation,
                                .status    = fragment->status,
                                .value     = fragment->sent};

    switch (fragment->kind) {
    case UDP_KIND_CHUNK:
        return udp_wire_put_chunk(bytes, &chunk);
    case UDP_KIND_PUT:
        access.address += fragment->sent;
        return udp_wire_put_access(bytes, &access);
    case UDP_KIND_GET:
        return udp_wire_put_access(bytes, &access);
    case UDP_KIND_ATOMIC:
        (void)udp_wire_put_access(bytes, &access);
        return udp_wire_put_word(bytes, &fragment->word);
    case UDP_KIND_RESULT:
        answer.value = fragment->address;
        return udp_wire_put_answer(bytes, &answer);
    case UDP_KIND_DATA:
        return udp_wire_put_answer(bytes, &answer);
    default:
        return 0;
    }
}

/* Bytes of the fragment's payload that travel; GET has a length but none. */
static size_t send_travels(const struct udp_fragment *fragment)
{
    return ((fragment->kind == UDP_KIND_GET) ||
            (fragment->kind == UDP_KIND_ATOMIC))
               ? 0
               : fragment->total;
}

/* The next segment of a fragment, numbered and sealed. @return NULL: no
 * memory, or the bytes may not be read any more. */
static struct udp_segment *send_next(struct udp_conn     *conn,
                                     struct udp_fragment *fragment,
                                     size_t               payload)
{
    struct udp_head head   = {.kind  = fragment->kind,
                              .flags = fragment->flags,
                              .am_id = fragment->am_id};
    bool            copies = (fragment->kind == UDP_KIND_DATA);
    size_t          head_bytes =
        UDP_HEAD_BYTES + udp_wire_extension_bytes(fragment->kind);
    struct udp_segment *segment =
        udp_env_segment(conn->env, head_bytes + (copies ? payload : 0));

    if (segment == NULL) {
        return NULL;
    }
    (void)send_extension(fragment, segment->bytes + UDP_HEAD_BYTES);
    if (copies &&
        !udp_rma_fill(fragment, segment, segment->bytes + head_bytes)) {
        ucs_mpool_put(segment);
        return NULL;
    }
    if (fragment->sent + payload == send_travels(fragment)) {
        head.flags |= UDP_FLAG_LAST;
    }
    segment->fragment       = fragment;
    segment->payload_offset = fragment->sent;
    segment->payload_bytes  = copies ? 0 : (uint32_t)payload;
    segment->head_bytes = (uint16_t)(head_bytes + (copies ? payload : 0));
    send_number(conn, segment, &head);
    udp_seal_put(&conn->seal, segment->bytes, head_bytes,
                 head_bytes + payload);
    fragment->sent += (uint32_t)payload;
    ++fragment->open_count;
    return segment;
}

/* A batch is full when another packet might not fit. */
static bool send_batch_has_room(const struct send_batch *batch)
{
    return (batch->count < SEND_BATCH_COUNT) &&
           (batch->iov_count + UDP_IOV_COUNT_MAX + 2 <= UDP_IO_IOV_COUNT_MAX) &&
           (batch->bytes + batch->packet_bytes <= UDP_IO_OUT_BYTES_MAX);
}

static void send_batch_add(struct send_batch *batch,
                           struct udp_segment *segment)
{
    struct iovec *iov = &batch->iov[batch->iov_count++];

    iov->iov_base = segment->bytes;
    iov->iov_len  = segment->head_bytes;
    if (segment->payload_bytes > 0) {
        batch->iov_count += udp_fragment_slice(
            segment->fragment, segment->payload_offset, segment->payload_bytes,
            iov + 1);
    }
    batch->segments[batch->count++] = segment;
    batch->bytes += udp_segment_bytes(segment);
}

/* Send what was gathered; what the socket does not take counts as lost. */
static void send_batch_go(struct udp_conn *conn, struct send_batch *batch)
{
    enum udp_channel channel = send_channel(batch->bytes);
    unsigned         index;
    size_t           went, end = 0;

    for (index = 0; index < batch->count; ++index) {
        send_note(conn, batch->segments[index], channel);
    }
    went = send_transmit(conn, channel, batch->iov, batch->iov_count,
                         (batch->count > 1) ? batch->packet_bytes : 0);
    for (index = 0; index < batch->count; ++index) {
        end += udp_segment_bytes(batch->segments[index]);
        if (end > went) {
            udp_send_lose(&conn->send, batch->segments[index]);
            udp_conn_make_busy(conn);
        }
    }
    conn->pace_ns = ucs_max(conn->pace_ns, conn->env->now_ns) +
                    udp_cc_pace_ns(&conn->cc, batch->bytes);
}

/* All of it is in segments: leave the queue. */
static void send_is_sent(struct udp_conn *conn, struct udp_fragment *fragment)
{
    (void)ucs_queue_pull(&conn->fragments);
    --conn->fragment_count;
    fragment->is_sent = true;
    if (fragment->kind == UDP_FRAGMENT_FLUSH) {
        fragment->flush_number = conn->send.next;
        ucs_queue_push(&conn->flushes, &fragment->queue);
    }
}

/* A fragment whose bytes cannot be read any more ends with a word why. */
static void send_give_up(struct udp_conn *conn, struct udp_fragment *fragment)
{
    struct udp_fragment *result = udp_fragment_new(conn, UDP_KIND_RESULT);

    if (result != NULL) {
        result->operation = fragment->operation;
        result->status    = UCS_ERR_INVALID_ADDR;
        udp_conn_queue_answer(conn, result);
    }
    send_is_sent(conn, fragment);
    if (fragment->open_count == 0) {
        udp_conn_finish(fragment, UCS_OK);
    }
}

/* Packets of the fragment at the head of the queue, as many as go at once.
 * @return bytes; 0: no more now. */
static size_t send_fragment(struct udp_conn *conn, struct udp_fragment *fragment)
{
    size_t full = udp_conn_payload_bytes(conn, fragment->kind);
    struct send_batch   batch;
    struct udp_segment *segment = NULL;
    size_t              payload;

    batch.count = batch.iov_count = 0;
    batch.bytes                   = 0;
    batch.packet_bytes =
        UDP_HEAD_BYTES + udp_wire_extension_bytes(fragment->kind) + full;
    do {
        payload = ucs_min(full, send_travels(fragment) - fragment->sent);
        segment = send_next(conn, fragment, payload);
        if (segment == NULL) {
            break;
        }
        send_batch_add(&batch, segment);
    } while ((fragment->sent < send_travels(fragment)) &&
             send_batch_has_room(&batch) && udp_send_is_open(&conn->send) &&
             (conn->send.flight_bytes + batch.bytes < conn->cc.window_bytes) &&
             (ucs_hotel_guest_count(&conn->env->hotel) + batch.count <
              conn->env->hotel.room_count));
    if (batch.count > 0) {
        send_batch_go(conn, &batch);
    }
    if (fragment->sent == send_travels(fragment) && (segment != NULL)) {
        send_is_sent(conn, fragment);
    } else if ((segment == NULL) && (fragment->kind == UDP_KIND_DATA)) {
        send_give_up(conn, fragment);
    }
    return batch.bytes;
}

static bool send_is_paced(const struct udp_conn *conn)
{
    return conn->pace_ns > conn->env->now_ns + SEND_PACE_AHEAD_NS;
}

static size_t send_lost(struct udp_conn *conn, size_t credit_bytes)
{
    struct udp_segment *segment;
    size_t              bytes = 0;

    while (!ucs_list_is_empty(&conn->send.lost) && (bytes < credit_bytes) &&
           !conn->env->is_blocked &&
           ((conn->send.flight_bytes < conn->cc.window_bytes) ||
            (conn->send.flight_count == 0)) &&
           (ucs_hotel_guest_count(&conn->env->hotel) <
            conn->env->hotel.room_count)) {
        segment =
            ucs_list_first(&conn->send.lost, struct udp_segment, link);
        bytes += udp_segment_bytes(segment);
        if (!udp_conn_resend(conn, segment)) {
            break;
        }
    }
    return bytes;
}

/* Flushes whose number everything before has arrived. */
static void send_end_flushes(struct udp_conn *conn)
{
    struct ucs_queue_elem *elem;
    struct udp_fragment   *fragment;

    while ((elem = ucs_queue_head(&conn->flushes)) != NULL) {
        fragment = ucs_container_of(elem, struct udp_fragment, queue);
        if (udp_seq_is_before(conn->send.first, fragment->flush_number)) {
            return;
        }
        (void)ucs_queue_pull(&conn->flushes);
        udp_conn_finish(fragment, UCS_OK);
    }
}

static struct udp_fragment *send_head(struct udp_conn *conn)
{
    struct ucs_queue_elem *elem = ucs_queue_head(&conn->fragments);

    return (elem == NULL)
               ? NULL
               : ucs_container_of(elem, struct udp_fragment, queue);
}

size_t udp_conn_pump(struct udp_conn *conn, size_t credit_bytes)
{
    size_t               bytes, part;
    struct udp_fragment *fragment;

    if (conn->state != UDP_CONN_OPEN) {
        return 0;
    }
    bytes = send_lost(conn, credit_bytes);
    while (((fragment = send_head(conn)) != NULL) && (bytes < credit_bytes)) {
        if (fragment->kind == UDP_FRAGMENT_FLUSH) {
            send_is_sent(conn, fragment);
            continue;
        }
        if (!udp_conn_has_window(conn) || send_is_paced(conn)) {
            break;
        }
        part = send_fragment(conn, fragment);
        bytes += part;
        if (part == 0) {
            break;
        }
    }
    send_end_flushes(conn);
    if (bytes > 0) {
        send_start_probe(conn);
    }
    if ((conn->env->is_blocked || (bytes >= credit_bytes)) &&
        ((send_head(conn) != NULL) || !ucs_list_is_empty(&conn->send.lost))) {
        udp_conn_make_busy(conn); /* another turn */
    } else if (send_is_paced(conn) && (send_head(conn) != NULL)) {
        udp_conn_rearm(conn);
    }
    return bytes;
}

void udp_conn_queue(struct udp_conn *conn, struct udp_fragment *fragment)
{
    ucs_queue_push(&conn->fragments, &fragment->queue);
    ++conn->fragment_count;
    (void)udp_conn_pump(conn, UDP_CREDIT_BYTES);
    udp_conn_make_busy(conn);
}

void udp_conn_queue_answer(struct udp_conn *conn, struct udp_fragment *answer)
{
    ucs_queue_push(&conn->fragments, &answer->queue);
    ++conn->fragment_count;
    udp_conn_make_busy(conn);
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
    return send_transmit(conn, send_channel(iov.iov_len), &iov, 1, 0) > 0;
}

void udp_conn_send_ack(struct udp_conn *conn)
{
    uint8_t bytes[UDP_HEAD_BYTES + UDP_RANGE_COUNT_MAX * UDP_RANGE_BYTES];
    struct udp_range ranges[UDP_RANGE_COUNT_MAX];
    unsigned         count  = udp_receive_ranges(&conn->receive, ranges);
    size_t           length = udp_wire_put_ranges(
        bytes + UDP_HEAD_BYTES, conn->receive.expected, ranges, count);

    (void)udp_conn_send_control(conn, bytes, UDP_KIND_ACK, length, length);
    udp_receive_told(&conn->receive);
}

void udp_conn_send_ping(struct udp_conn *conn, size_t packet_bytes)
{
    uint8_t bytes[UDP_PACKET_BYTES_MAX];
    size_t  length =
        (packet_bytes > UDP_HEAD_BYTES) ? packet_bytes - UDP_HEAD_BYTES : 0;

    memset(bytes + UDP_HEAD_BYTES, 0, length);
    conn->pinged_ns = conn->env->now_ns;
    (void)udp_conn_send_control(conn, bytes, UDP_KIND_PING, 0, length);
}

/* --------------------------------------------------- acknowledgements */

/* A segment arrived: its fragment may be through. */
static void send_arrived(struct udp_conn *conn, struct udp_segment *segment)
{
    struct udp_fragment *fragment = segment->fragment;

    if (segment->room != UCS_HOTEL_NO_ROOM) {
        (void)ucsi_hotel_checkout(&conn->env->hotel, segment->room);
    }
    ucs_mpool_put(segment);
    if ((fragment != NULL) && (--fragment->open_count == 0) &&
        fragment->is_sent && !fragment->waits_answer) {
        udp_conn_finish(fragment, (ucs_status_t)fragment->status);
    }
}

/* What the segment that arrived last says about the path. */
static void send_measure(struct udp_conn *conn, struct udp_segment *segment,
                         const struct udp_head *head,
                         struct udp_cc_sample  *sample)
{
    uint64_t now_ns   = conn->env->now_ns;
    uint64_t delay_ns = (uint64_t)head->delay_us * UCS_NS_PER_US;

    sample->prior_bytes    = segment->delivered_bytes;
    sample->is_app_limited = segment->is_app_limited;
    sample->interval_ns    = now_ns - segment->delivered_ns;
    sample->delivered_bytes =
        conn->send.delivered_bytes - segment->delivered_bytes;
    udp_send_reached(&conn->send, segment);
    udp_rtt_sample(&conn->rtt, now_ns - segment->sent_ns, delay_ns);
    sample->rtt_ns = conn->rtt.latest_ns;
}

/* Those that arrived leave; @return what they tell. */
static void send_take_out(struct udp_conn *conn, struct ucs_list *acked,
                          const struct udp_head *head)
{
    struct udp_cc_sample sample = {.now_ns = conn->env->now_ns};
    uint32_t             newest = udp_seq_widen(head->ack, head->newest);
    struct udp_segment  *segment, *next;
    size_t               lost_bytes;

    ucs_list_for_each_safe (segment, next, acked, link) {
        sample.acked_bytes += udp_segment_bytes(segment);
        if ((segment->number == newest) &&
            (segment->attempt == head->newest_attempt)) {
            send_measure(conn, segment, head, &sample);
        }
        send_arrived(conn, segment);
    }
    lost_bytes = udp_send_find_lost(&conn->send);
    if (lost_bytes > 0) {
        conn->cc.ops->lost(&conn->cc, lost_bytes, conn->env->now_ns);
    }
    conn->send.delivered_ns = conn->env->now_ns;
    sample.total_bytes      = conn->send.delivered_bytes;
    sample.flight_bytes     = conn->send.flight_bytes;
    conn->cc.ops->acked(&conn->cc, &sample);
}

void udp_conn_take_ack(struct udp_conn *conn, const struct udp_head *head,
                       const struct udp_range *ranges, unsigned range_count)
{
    struct ucs_list acked;
    unsigned        index, count;

    if (udp_seq_is_before(conn->send.next, head->ack)) {
        udp_count(conn->env, UDP_COUNT_BAD_PACKET);
        return;
    }
    udp_send_allow(&conn->send, head->ack + head->window);
    ucs_list_init(&acked);
    count = udp_send_ack(&conn->send, conn->send.first, head->ack, &acked);
    for (index = 0; index < range_count; ++index) {
        count += udp_send_ack(&conn->send, ranges[index].first,
                              ranges[index].end, &acked);
    }
    if (count > 0) {
        udp_rtt_arrived(&conn->rtt);
        conn->timeout_count = 0;
        conn->is_probed     = false;
        send_take_out(conn, &acked, head);
        conn->probe_ns = UINT64_MAX;
        if (!udp_send_is_idle(&conn->send)) {
            send_start_probe(conn);
        } else if (conn->send.ring != NULL) {
            ucs_mpool_put(conn->send.ring);
            conn->send.ring = NULL;
        }
    }
    send_end_flushes(conn);
    if (conn->is_fin_acked) {
        udp_connect_closed(conn);
    }
    if ((send_head(conn) != NULL) || !ucs_list_is_empty(&conn->send.lost)) {
        udp_conn_make_busy(conn);
    }
}
