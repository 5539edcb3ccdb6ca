/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_pieces.c - segments for which the path became too narrow.
 *
 *     segment of 2000 bytes, sent again    --> PIECE 0, PIECE 1152
 *     all pieces of one sending together   --> the packet, as if it had come
 *
 * A segment keeps its number and so its bytes; when the path shrinks below it
 * (a black hole, RFC 8899 4.4) it travels in pieces that every path carries.
 * They are not acknowledged: the segment is, or all of it comes again. The
 * receiver puts one segment at a time together. */
#include "uct/udp/udp_conn_parts.h"
#include "uct/udp/udp_share.h"

#include <string.h>

enum { PIECE_BYTES = 1152 };

/* The packet as it would have gone. @return its length. */
static size_t pieces_gather(const struct udp_segment *segment, uint8_t *packet)
{
    struct iovec iov[UDP_IOV_COUNT_MAX + 1];
    size_t       length = segment->head_bytes;
    unsigned     count  = 0, index;

    memcpy(packet, segment->bytes, segment->head_bytes);
    if (segment->payload_bytes > 0) {
        count = udp_fragment_slice(segment->fragment, segment->payload_offset,
                                   segment->payload_bytes, iov);
    }
    for (index = 0; index < count; ++index) {
        memcpy(packet + length, iov[index].iov_base, iov[index].iov_len);
        length += iov[index].iov_len;
    }
    return length;
}

void udp_pieces_send(struct udp_conn *conn, const struct udp_segment *segment)
{
    uint8_t          packet[UDP_PACKET_BYTES_MAX];
    uint8_t          bytes[UDP_PACKET_BYTES_MIN];
    size_t           length = pieces_gather(segment, packet);
    struct udp_piece piece  = {.number = segment->number,
                               .total  = (uint16_t)length};
    size_t           offset, part, covered;

    for (offset = 0; offset < length; offset += part) {
        part         = ucs_min(length - offset, (size_t)PIECE_BYTES);
        piece.offset = (uint16_t)offset;
        covered      = udp_wire_put_piece(bytes + UDP_HEAD_BYTES, &piece);
        memcpy(bytes + UDP_HEAD_BYTES + covered, packet + offset, part);
        (void)udp_conn_send_control(conn, bytes, UDP_KIND_PIECE, covered,
                                    covered + part);
    }
}

/* The first piece of a segment, or of another sending of it. */
static bool pieces_begin(struct udp_conn *conn, const struct udp_piece *piece)
{
    if ((conn->pieces != NULL) && (conn->pieces_number == piece->number) &&
        (conn->pieces->length == piece->total)) {
        return true;
    }
    if (conn->pieces == NULL) {
        conn->pieces = udp_share_hold(conn, UDP_PACKET_BYTES_MAX);
    }
    if (conn->pieces != NULL) {
        conn->pieces->length = piece->total;
        conn->pieces_number  = piece->number;
        conn->pieces_mask    = 0;
    }
    return conn->pieces != NULL;
}

static bool pieces_are_whole(const struct udp_conn *conn)
{
    unsigned count = (conn->pieces->length + PIECE_BYTES - 1) / PIECE_BYTES;

    return conn->pieces_mask == ((uint64_t)1 << count) - 1;
}

void udp_pieces_take(struct udp_conn *conn, const uint8_t *bytes, size_t length)
{
    size_t covered = UDP_HEAD_BYTES + udp_wire_extension_bytes(UDP_KIND_PIECE);
    struct udp_piece piece;
    struct udp_held *whole;
    struct udp_head  head;

    udp_wire_get_piece(bytes + UDP_HEAD_BYTES, &piece);
    length -= covered;
    if ((piece.total > UDP_PACKET_BYTES_MAX) || (piece.offset >= piece.total) ||
        (piece.offset % PIECE_BYTES != 0) ||
        (length !=
         ucs_min((size_t)piece.total - piece.offset, (size_t)PIECE_BYTES))) {
        udp_count(conn->env, UDP_COUNT_BAD_PACKET);
        return;
    }
    if (!pieces_begin(conn, &piece)) {
        return; /* no memory: it comes again */
    }
    memcpy(conn->pieces->bytes + piece.offset, bytes + covered, length);
    conn->pieces_mask |= (uint64_t)1 << (piece.offset / PIECE_BYTES);
    if (!pieces_are_whole(conn)) {
        return;
    }
    whole        = conn->pieces;
    conn->pieces = NULL;
    udp_share_release(conn, whole);
    /* Pieces of two sendings do not fit together: the tag tells. */
    if (udp_wire_get_head(whole->bytes, whole->length, &head) &&
        udp_kind_is_numbered(head.kind)) {
        udp_conn_take(conn, &head, whole->bytes, whole->length);
    }
    udp_env_unhold(whole);
}
