/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_send.c - the window of segments. */
#include "uct/udp/udp_send.h"

#include "ucs/assert.h"
#include "uct/udp/udp_loss.h"
#include "uct/udp/udp_seq.h"

static struct udp_segment *send_segment(struct ucs_list *link)
{
    return ucs_container_of(link, struct udp_segment, link);
}

void udp_send_init(struct udp_send *send, uint32_t first)
{
    unsigned channel;

    *send = (struct udp_send){.first = first, .next = first, .limit = first};
    for (channel = 0; channel < UDP_CHANNEL_COUNT; ++channel) {
        ucs_list_init(&send->sent[channel]);
    }
    ucs_list_init(&send->lost);
}

struct udp_segment **udp_send_lend(struct udp_send     *send,
                                   struct udp_segment **ring, uint32_t count)
{
    struct udp_segment **before       = send->ring;
    uint32_t             before_count = send->ring_count, index, number;

    ucs_assert(count > before_count);
    for (index = 0; index < before_count; ++index) {
        number                     = send->first + index;
        ring[number & (count - 1)] = before[number & (before_count - 1)];
        before[number & (before_count - 1)] = NULL;
    }
    send->ring       = ring;
    send->ring_count = count;
    return before;
}

struct udp_segment **udp_send_return(struct udp_send *send)
{
    struct udp_segment **ring = send->ring;

    if (!udp_send_is_idle(send)) {
        return NULL;
    }
    send->ring       = NULL;
    send->ring_count = 0;
    return ring;
}

void udp_send_add(struct udp_send *send, struct udp_segment *segment)
{
    ucs_assert(udp_send_is_open(send, 0) && udp_send_fits(send));
    segment->number                       = send->next++;
    segment->attempt                      = 0;
    segment->state                        = UDP_SEGMENT_NEW;
    *udp_send_slot(send, segment->number) = segment;
}

/* Leave the list it is on. */
static void send_leave(struct udp_send *send, struct udp_segment *segment)
{
    if (segment->state == UDP_SEGMENT_NEW) {
        return;
    }
    ucs_list_remove(&segment->link);
    if (segment->state == UDP_SEGMENT_SENT) {
        send->flight_bytes -= udp_segment_bytes(segment);
        --send->flight_count;
    }
}

void udp_send_sent(struct udp_send *send, struct udp_segment *segment,
                   enum udp_channel channel, uint64_t now_ns)
{
    if (segment->state != UDP_SEGMENT_NEW) {
        ++segment->attempt;
    } else {
        segment->first_ns = now_ns;
    }
    send_leave(send, segment);
    if (send->flight_bytes == 0) {
        send->delivered_ns = now_ns; /* the clock of a new flight */
    }
    segment->state           = UDP_SEGMENT_SENT;
    segment->channel         = (uint8_t)channel;
    segment->order           = send->order[channel]++;
    segment->sent_ns         = now_ns;
    segment->delivered_bytes = send->delivered_bytes;
    segment->delivered_ns    = send->delivered_ns;
    send->flight_bytes += udp_segment_bytes(segment);
    ++send->flight_count;
    ucs_list_add_tail(&send->sent[channel], &segment->link);
}

void udp_send_reached(struct udp_send *send, const struct udp_segment *segment)
{
    uint32_t *reached = &send->reached[segment->channel];

    *reached         = udp_seq_max(*reached, segment->order + 1);
    send->reached_ns = ucs_max(send->reached_ns, segment->sent_ns);
}

unsigned udp_send_ack(struct udp_send *send, uint32_t from, uint32_t to,
                      struct ucs_list *acked)
{
    struct udp_segment *segment;
    unsigned            count = 0;

    if (udp_seq_is_before(from, send->first)) {
        from = send->first;
    }
    if (udp_seq_is_before(send->next, to)) {
        return 0; /* nobody can have got those */
    }
    for (; udp_seq_is_before(from, to); ++from) {
        segment = *udp_send_slot(send, from);
        if (segment == NULL) {
            continue;
        }
        *udp_send_slot(send, from) = NULL;
        send_leave(send, segment);
        send->delivered_bytes += udp_segment_bytes(segment);
        if (segment->attempt == 0) {
            udp_send_reached(send, segment);
        }
        ucs_list_add_tail(acked, &segment->link);
        ++count;
    }
    while ((send->first != send->next) &&
           (*udp_send_slot(send, send->first) == NULL)) {
        ++send->first;
    }
    return count;
}

/* Where in `lost` that number belongs: in front of what is returned. Mostly
 * they are lost in order, or the first ones again, so the nearer end is it. */
static struct ucs_list *send_find_place(struct udp_send *send, uint32_t number)
{
    struct ucs_list    *at;
    struct udp_segment *first, *last;

    if (ucs_list_is_empty(&send->lost)) {
        return &send->lost;
    }
    first = ucs_list_first(&send->lost, struct udp_segment, link);
    last  = ucs_list_last(&send->lost, struct udp_segment, link);
    if (udp_seq_distance(number, first->number) <
        udp_seq_distance(last->number, number)) {
        for (at = &first->link; at != &send->lost; at = at->next) {
            if (udp_seq_is_before(number, send_segment(at)->number)) {
                break;
            }
        }
        return at;
    }
    for (at = &last->link; at != &send->lost; at = at->prev) {
        if (udp_seq_is_before(send_segment(at)->number, number)) {
            break;
        }
    }
    return at->next;
}

void udp_send_lose(struct udp_send *send, struct udp_segment *segment)
{
    ucs_assert(segment->state == UDP_SEGMENT_SENT);
    send_leave(send, segment);
    segment->state = UDP_SEGMENT_LOST;
    ucs_list_add_before(send_find_place(send, segment->number), &segment->link);
}

size_t udp_send_find_lost(struct udp_send *send, uint64_t patience_ns)
{
    struct udp_segment *segment, *next;
    size_t              bytes = 0;
    unsigned            channel;

    for (channel = 0; channel < UDP_CHANNEL_COUNT; ++channel) {
        ucs_list_for_each_safe (segment, next, &send->sent[channel], link) {
            if ((udp_seq_distance(send->reached[channel], segment->order) <=
                 UDP_LOSS_ORDER_COUNT) &&
                (segment->sent_ns + patience_ns >= send->reached_ns)) {
                break;
            }
            bytes += udp_segment_bytes(segment);
            udp_send_lose(send, segment);
        }
    }
    return bytes;
}

struct udp_segment *udp_send_last(const struct udp_send *send)
{
    struct udp_segment *last = NULL, *segment;
    unsigned            channel;

    for (channel = 0; channel < UDP_CHANNEL_COUNT; ++channel) {
        if (ucs_list_is_empty(&send->sent[channel])) {
            continue;
        }
        segment = ucs_list_last(&send->sent[channel], struct udp_segment, link);
        if ((last == NULL) || (segment->sent_ns > last->sent_ns)) {
            last = segment;
        }
    }
    return last;
}

void udp_send_drain(struct udp_send *send, struct ucs_list *all)
{
    for (; send->first != send->next; ++send->first) {
        struct udp_segment *segment = *udp_send_slot(send, send->first);

        if (segment != NULL) {
            *udp_send_slot(send, send->first) = NULL;
            send_leave(send, segment);
            ucs_list_add_tail(all, &segment->link);
        }
    }
}
