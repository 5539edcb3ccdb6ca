/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_send.h - the window: segments that were sent and are not
 * acknowledged yet.
 *
 *      number:   first ......................... next    limit
 *                  |  acked  sent  lost  sent  |  free  |
 *      ring  --->  segment or NULL, by number
 *      sent[channel] --> in the order of their last sending --> newest
 *      lost          --> to be sent again, oldest first
 *
 * A segment keeps its number when it is sent again. Loss is seen by order of
 * sending on one channel, since the two channels overtake one another.
 *
 * Pure: no clock, no memory of its own. The ring is lent by the owner when
 * there is something to send. */
#ifndef UCT_UDP_SEND_H_
#define UCT_UDP_SEND_H_

#include "ucs/list.h"
#include "uct/udp/udp_io.h"
#include "uct/udp/udp_receive.h"
#include "uct/udp/udp_wire.h"

struct udp_conn;
struct udp_fragment;

enum udp_segment_state { UDP_SEGMENT_NEW, UDP_SEGMENT_SENT, UDP_SEGMENT_LOST };

/* One packet that must arrive.
 * first_ns   when it was sent first; sent_ns: last
 * order      of its last sending, on its channel
 * delivered  bytes that had arrived, and when the last of them, as it was sent
 * room       in the hotel
 * head_bytes of bytes[]; what follows in the packet is the fragment's
 * payload_*  what of the fragment it carries; 0 bytes: all is in bytes[] */
struct udp_segment {
    struct ucs_list      link;
    struct udp_conn     *conn;
    struct udp_fragment *fragment;
    uint64_t             first_ns, sent_ns;
    uint64_t             delivered_bytes, delivered_ns;
    uint32_t             number, order, room;
    uint32_t             payload_offset, payload_bytes;
    uint16_t             head_bytes;
    uint8_t              channel, state, attempt;
    bool                 is_app_limited;
    uint8_t              bytes[] UCS_ALIGNED(8);
};

/* limit       the peer takes numbers before it
 * order       of the next sending
 * reached     the latest order that arrived, plus one
 * reached_ns  when the latest of all that arrived was sent
 * flight_*    sent, not acknowledged, not given up
 * delivered_* all bytes that ever arrived, and when the last did
 * ring        [ring_count], by number; NULL: none was lent */
struct udp_send {
    uint32_t             first, next, limit;
    uint32_t             order[UDP_CHANNEL_COUNT];
    uint32_t             reached[UDP_CHANNEL_COUNT];
    uint64_t             reached_ns;
    uint64_t             flight_bytes;
    uint32_t             flight_count;
    uint64_t             delivered_bytes, delivered_ns;
    struct ucs_list      sent[UDP_CHANNEL_COUNT];
    struct ucs_list      lost;
    uint32_t             ring_count;
    struct udp_segment **ring;
};

void udp_send_init(struct udp_send *send, uint32_t first);

/* Everything was acknowledged. */
UCS_INLINE bool udp_send_is_idle(const struct udp_send *send)
{
    return send->first == send->next;
}

/* May one more number be used, behind `reserved` others? There must be a
 * ring in which it fits. */
UCS_INLINE bool udp_send_is_open(const struct udp_send *send, unsigned reserved)
{
    uint32_t next = send->next + reserved;

    return ((int32_t)(send->limit - next) > 0) &&
           (next - send->first < UDP_WINDOW_COUNT);
}

UCS_INLINE size_t udp_segment_bytes(const struct udp_segment *segment)
{
    return (size_t)segment->head_bytes + segment->payload_bytes;
}

/* Is there a ring, and has it a place for the next number? */
UCS_INLINE bool udp_send_fits(const struct udp_send *send)
{
    return (send->ring != NULL) &&
           (send->next - send->first < send->ring_count);
}

/* The segment of a number in the window; NULL: it has arrived. */
UCS_INLINE struct udp_segment **udp_send_slot(const struct udp_send *send,
                                              uint32_t               number)
{
    return &send->ring[number & (send->ring_count - 1)];
}

/* Lend a ring of `count`, a power of two, all NULL: what the one before held
 * moves. @return the one before, all NULL; NULL: there was none. */
struct udp_segment **udp_send_lend(struct udp_send     *send,
                                   struct udp_segment **ring, uint32_t count);

/* The ring, if the window is idle, so it can be given back; else NULL. */
struct udp_segment **udp_send_return(struct udp_send *send);

/* Give a new segment its number. */
void udp_send_add(struct udp_send *send, struct udp_segment *segment);

/* It goes out now on that channel: the first time, or after it was lost, or
 * as a probe while it is on its way. */
void udp_send_sent(struct udp_send *send, struct udp_segment *segment,
                   enum udp_channel channel, uint64_t now_ns);

/* The peer takes numbers before `limit`; it never takes back. */
UCS_INLINE void udp_send_allow(struct udp_send *send, uint32_t limit)
{
    if ((int32_t)(limit - send->limit) > 0) {
        send->limit = limit;
    }
}

/* Numbers [from, to) have arrived: move those that are news to `acked`.
 * Numbers that were never sent are ignored. @return how many. */
unsigned udp_send_ack(struct udp_send *send, uint32_t from, uint32_t to,
                      struct ucs_list *acked);

/* It is known that this very sending of it has arrived. */
void udp_send_reached(struct udp_send *send, const struct udp_segment *segment);

/* Move to `lost` what others overtook: some on its channel, or one on any that
 * was sent patience_ns later (RFC 9002 6.1). @return bytes that are lost now.
 */
size_t udp_send_find_lost(struct udp_send *send, uint64_t patience_ns);

/* This one did not arrive in time; it is on its way no more. `lost` is in order
 * of the numbers: where one goes at a time the peer needs the first one most,
 * and may have others that it has no room to tell of. */
void udp_send_lose(struct udp_send *send, struct udp_segment *segment);

/* The segment that was sent last; NULL: none is on its way. */
struct udp_segment *udp_send_last(const struct udp_send *send);

/* Take out all segments, to `all`: the connection is no more. */
void udp_send_drain(struct udp_send *send, struct ucs_list *all);

#endif
