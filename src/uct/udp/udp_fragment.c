/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_fragment.c - fragments become segments.
 *
 *     fragment   |==========|==========|==========|====|
 *     segments    head ext   head ext   head ext   head ext
 *     one send   [h|payload | h|payload | h|payload | h|p ]   UDP_SEGMENT
 *
 * Payload is gathered from user memory and stays there until it arrived. Only
 * what answers a GET is copied, because the region may be released. */
#include "uct/udp/udp_conn_parts.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/assert.h"
#include "uct/udp/udp_share.h"

enum { SEND_BATCH_COUNT = UDP_IO_SEGMENT_COUNT_MAX };

/* Segments that go out together. */
struct send_batch {
    struct iovec        iov[UDP_IO_IOV_COUNT_MAX];
    struct udp_segment *segments[SEND_BATCH_COUNT];
    unsigned            iov_count, count;
    size_t              bytes, packet_bytes;
};

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
    free(fragment->copy);
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
    if ((fragment->kind == UDP_KIND_DATA) ||
        (fragment->kind == UDP_KIND_RESULT)) {
        udp_share_remove(conn, UDP_SHARE_ANSWER);
        conn->refusal = (conn->refusal == fragment) ? NULL : conn->refusal;
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

bool udp_conn_is_app_limited(const struct udp_conn *conn)
{
    struct ucs_queue_elem     *elem = ucs_queue_head(&conn->fragments);
    const struct udp_fragment *head;

    if (elem == NULL) {
        return true;
    }
    head = ucs_container_of(elem, struct udp_fragment, queue);
    return (conn->fragment_count == 1) && (head->sent == send_travels(head));
}

/* Does somebody wait for the end of this one, and nothing behind it makes the
 * peer answer soon? */
static bool send_is_awaited(const struct udp_conn     *conn,
                            const struct udp_fragment *fragment)
{
    return (conn->fragment_count == 1) && ((fragment->kind == UDP_KIND_PUT) ||
                                           (fragment->kind == UDP_KIND_CHUNK) ||
                                           (fragment->kind == UDP_KIND_AM));
}

/* The next segment of a fragment, numbered and sealed. @return NULL: no
 * memory, or the bytes may not be read any more. */
static struct udp_segment *
send_next(struct udp_conn *conn, struct udp_fragment *fragment, size_t payload)
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
        fragment->status = UCS_ERR_INVALID_ADDR;
        ucs_mpool_put(segment);
        return NULL;
    }
    if (udp_fragment_is_refused(fragment)) {
        head.flags |= UDP_FLAG_REFUSED;
    }
    if (fragment->sent + payload == send_travels(fragment)) {
        head.flags |= UDP_FLAG_LAST;
        if (send_is_awaited(conn, fragment)) {
            head.flags |= UDP_FLAG_ACK_NOW;
        }
    }
    segment->fragment       = fragment;
    segment->payload_offset = fragment->sent;
    segment->payload_bytes  = copies ? 0 : (uint32_t)payload;
    segment->head_bytes     = (uint16_t)(head_bytes + (copies ? payload : 0));
    udp_segment_number(conn, segment, &head);
    udp_seal_put(&conn->seal, segment->bytes, head_bytes, head_bytes + payload);
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

static void send_batch_add(struct send_batch  *batch,
                           struct udp_segment *segment)
{
    struct iovec *iov = &batch->iov[batch->iov_count++];

    iov->iov_base = segment->bytes;
    iov->iov_len  = segment->head_bytes;
    if (segment->payload_bytes > 0) {
        batch->iov_count +=
            udp_fragment_slice(segment->fragment, segment->payload_offset,
                               segment->payload_bytes, iov + 1);
    }
    batch->segments[batch->count++] = segment;
    batch->bytes += udp_segment_bytes(segment);
}

/* Send what was gathered; what the socket does not take counts as lost. */
static void send_batch_go(struct udp_conn *conn, struct send_batch *batch,
                          enum udp_channel channel)
{
    unsigned index;
    size_t   went, end = 0;

    went = udp_conn_transmit(conn, channel, batch->iov, batch->iov_count,
                             (batch->count > 1) ? batch->packet_bytes : 0);
    for (index = 0; index < batch->count; ++index) {
        udp_segment_note(conn, batch->segments[index], channel);
    }
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
void udp_fragment_is_sent(struct udp_conn *conn, struct udp_fragment *fragment)
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
        /* In the place of the one that ends here. */
        udp_share_add(conn, UDP_SHARE_ANSWER);
        result->operation = fragment->operation;
        result->status    = UCS_ERR_INVALID_ADDR;
        udp_conn_queue_answer(conn, result);
    }
    udp_fragment_is_sent(conn, fragment);
    if (fragment->open_count == 0) {
        udp_conn_finish(fragment, UCS_OK);
    }
}

/* Where one long packet is all that a call takes, the last two are of equal
 * length: one is taken in while the other one travels. */
static size_t send_balance(size_t full, size_t rest)
{
    return ((full > UDP_IO_OUT_BYTES_MAX / 2) && (rest > full) &&
            (rest < 2 * full))
               ? (rest / 2 + 7) & ~(size_t)7
               : full;
}

/* Packets of the fragment at the head of the queue, as many as go at once.
 * @return bytes; 0: no more now. */
size_t udp_fragment_send(struct udp_conn *conn, struct udp_fragment *fragment)
{
    size_t              full = udp_conn_payload_bytes(conn, fragment->kind);
    struct send_batch   batch;
    struct udp_segment *segment = NULL;
    size_t              payload;

    if (fragment->kind == UDP_KIND_AM) {
        full = fragment->total; /* it fitted when it was accepted */
    } else {
        full = send_balance(full, send_travels(fragment) - fragment->sent);
    }
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
             send_batch_has_room(&batch) && udp_send_is_open(&conn->send, 0) &&
             (conn->send.flight_bytes + batch.bytes < conn->cc.window_bytes) &&
             (ucs_hotel_guest_count(&conn->env->hotel) + batch.count +
                  conn->env->bundle_count <
              conn->env->hotel.room_count));
    if (batch.count > 0) {
        send_batch_go(conn, &batch, udp_conn_channel(batch.bytes));
    }
    if (fragment->sent == send_travels(fragment) && (segment != NULL)) {
        udp_fragment_is_sent(conn, fragment);
    } else if ((fragment->kind == UDP_KIND_DATA) &&
               (fragment->status != UCS_OK)) {
        send_give_up(conn, fragment);
    }
    return batch.bytes;
}

/* Does another packet fit behind what is gathered, everywhere? */
static bool send_batch_may_grow(const struct udp_conn   *conn,
                                const struct send_batch *batch)
{
    const struct ucs_hotel *hotel = &conn->env->hotel;

    return send_batch_has_room(batch) &&
           (conn->send.flight_bytes + batch->bytes < conn->cc.window_bytes) &&
           (ucs_hotel_guest_count(hotel) + batch->count +
                conn->env->bundle_count <
            hotel->room_count);
}

/* A kernel that joins packets loses them together: so they go together
 * again. */
size_t udp_fragment_resend(struct udp_conn *conn)
{
    struct udp_segment *segment =
        ucs_list_first(&conn->send.lost, struct udp_segment, link);
    struct send_batch batch;

    batch.count = batch.iov_count = 0;
    batch.bytes                   = 0;
    batch.packet_bytes            = udp_segment_bytes(segment);
    if (batch.packet_bytes > conn->mtu.good_bytes) {
        return udp_conn_resend(conn, segment) ? batch.packet_bytes : 0;
    }
    ucs_list_for_each (segment, &conn->send.lost, link) {
        size_t bytes = udp_segment_bytes(segment);

        if ((bytes > batch.packet_bytes) ||
            ((batch.count > 0) && !send_batch_may_grow(conn, &batch))) {
            break;
        }
        udp_segment_again(conn, segment);
        send_batch_add(&batch, segment);
        if (bytes < batch.packet_bytes) {
            break; /* only the last one may be shorter */
        }
    }
    send_batch_go(conn, &batch, UDP_DATA);
    return batch.bytes;
}
