/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_receive.c - order, duplicates, acknowledgements. */
#include "uct/udp/udp_receive.h"

#include "ucs/assert.h"
#include "ucs/clock.h"
#include "uct/udp/udp_seq.h"

void udp_receive_init(struct udp_receive *receive, uint32_t first)
{
    *receive = (struct udp_receive){
        .expected = first, .early_end = first, .newest = first - 1};
}

enum udp_arrival udp_receive_look(const struct udp_receive *receive,
                                  uint32_t                  number)
{
    int32_t distance = udp_seq_distance(number, receive->expected);

    if (ucs_likely(distance == 0)) {
        return UDP_ARRIVAL_NEXT;
    }
    if (distance < 0) {
        return UDP_ARRIVAL_OLD;
    }
    if (distance >= UDP_WINDOW_COUNT) {
        return UDP_ARRIVAL_BEYOND;
    }
    if (udp_receive_fits(receive, number) &&
        (*udp_receive_slot(receive, number) != NULL)) {
        return UDP_ARRIVAL_OLD;
    }
    return UDP_ARRIVAL_EARLY;
}

void udp_receive_note(struct udp_receive *receive, const struct udp_head *head,
                      enum udp_arrival arrival, uint64_t now_ns)
{
    receive->newest         = head->number;
    receive->newest_attempt = head->attempt;
    receive->newest_ns      = now_ns;
    if (receive->owed_count++ == 0) {
        receive->owed_ns = now_ns;
    }
    if ((arrival != UDP_ARRIVAL_NEXT) || (receive->early_count > 0) ||
        (head->flags & UDP_FLAG_ACK_NOW)) {
        receive->is_urgent = true;
    }
}

void **udp_receive_lend(struct udp_receive *receive, void **ring,
                        uint32_t count)
{
    void   **before       = receive->ring;
    uint32_t before_count = receive->ring_count, index, number;

    ucs_assert(count > before_count);
    for (index = 0; index < before_count; ++index) {
        number                     = receive->expected + index;
        ring[number & (count - 1)] = before[number & (before_count - 1)];
        before[number & (before_count - 1)] = NULL;
    }
    receive->ring       = ring;
    receive->ring_count = count;
    return before;
}

void udp_receive_keep(struct udp_receive *receive, uint32_t number, void *early)
{
    ucs_assert(early != NULL);
    ucs_assert(*udp_receive_slot(receive, number) == NULL);
    *udp_receive_slot(receive, number) = early;
    receive->early_end                 = (receive->early_count == 0)
                                             ? number + 1
                                             : udp_seq_max(receive->early_end, number + 1);
    ++receive->early_count;
}

void *udp_receive_early(const struct udp_receive *receive)
{
    return (receive->early_count == 0)
               ? NULL
               : *udp_receive_slot(receive, receive->expected);
}

void udp_receive_pop(struct udp_receive *receive)
{
    ucs_assert(udp_receive_early(receive) != NULL);
    *udp_receive_slot(receive, receive->expected) = NULL;
    --receive->early_count;
}

void **udp_receive_return(struct udp_receive *receive)
{
    void **ring = receive->ring;

    if ((ring == NULL) || (receive->early_count > 0)) {
        return NULL;
    }
    receive->ring       = NULL;
    receive->ring_count = 0;
    return ring;
}

unsigned udp_receive_ranges(const struct udp_receive *receive,
                            struct udp_range         *ranges_p)
{
    unsigned count = 0;
    bool     is_in = false;
    uint32_t number;

    if (receive->early_count == 0) {
        return 0;
    }
    for (number = receive->expected + 1; number != receive->early_end;
         ++number) {
        bool is_there = (*udp_receive_slot(receive, number) != NULL);

        if (is_there && !is_in) {
            if (count == UDP_RANGE_COUNT_MAX) {
                break;
            }
            ranges_p[count++].first = number;
        }
        if (is_there) {
            ranges_p[count - 1].end = number + 1;
        }
        is_in = is_there;
    }
    return count;
}

uint64_t udp_receive_deadline_ns(const struct udp_receive *receive)
{
    if (receive->is_urgent || (receive->owed_count >= UDP_ACK_COUNT)) {
        return 0;
    }
    return (receive->owed_count == 0) ? UINT64_MAX
                                      : receive->owed_ns + UDP_ACK_DELAY_NS;
}

void udp_receive_fill(struct udp_receive *receive, struct udp_head *head,
                      uint64_t now_ns)
{
    uint64_t delay_us = (now_ns - receive->newest_ns) / UCS_NS_PER_US;

    head->ack            = receive->expected;
    head->newest         = (uint16_t)receive->newest;
    head->newest_attempt = receive->newest_attempt;
    head->delay_us       = (uint16_t)ucs_min(delay_us, (uint64_t)UINT16_MAX);
    if (receive->early_count == 0) {
        udp_receive_told(receive);
    }
}
