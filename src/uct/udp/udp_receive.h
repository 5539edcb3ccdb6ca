/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_receive.h - the segments of one sender: which came, which is
 * next, what to acknowledge and when.
 *
 *      all before have come        window: ring of those that came early
 *     ------------------------ expected  .  early  early  .  early  .
 *                              ^ next is taken at once, then what it frees
 *
 * The ring holds one pointer for each early segment; it is lent by the owner
 * when the first one comes, replaced by a larger one when a segment comes that
 * is too early for it, and given back when none is left, so a connection in
 * order has none. What the pointers mean is the owner's business.
 *
 * An acknowledgement is due within UDP_ACK_DELAY_NS, so that it can ride on
 * data; at once after UDP_ACK_COUNT segments, and where the sender should know:
 * something is missing, something came twice, or it asked.
 *
 * Pure: no clock, no memory of its own. */
#ifndef UCT_UDP_RECEIVE_H_
#define UCT_UDP_RECEIVE_H_

#include "uct/udp/udp_wire.h"

enum udp_receive_limit {
    UDP_WINDOW_COUNT = 4096, /* segments of one connection on the way */
    UDP_RING_COUNT   = 64,   /* of the first ring of a window: most are short */
    UDP_ACK_COUNT    = 64,
    UDP_ACK_DELAY_NS = 50 * 1000,
};

enum udp_arrival {
    UDP_ARRIVAL_NEXT,   /* the expected one */
    UDP_ARRIVAL_EARLY,  /* others are missing before it */
    UDP_ARRIVAL_OLD,    /* it came before */
    UDP_ARRIVAL_BEYOND, /* outside of the window: drop it */
};

/* expected     every number before it has come
 * early_count  pointers in the ring
 * early_end    all that came early are before it
 * ring         [ring_count], by number; NULL: none was lent
 * owed_count   segments that came since the last acknowledgement
 * owed_ns      when the first of them came
 * is_urgent    acknowledge at once
 * newest*      the segment that came last */
struct udp_receive {
    uint32_t expected;
    uint32_t early_count;
    uint32_t early_end;
    uint32_t owed_count;
    uint64_t owed_ns;
    uint64_t newest_ns;
    uint32_t newest;
    uint8_t  newest_attempt;
    bool     is_urgent;
    uint32_t ring_count;
    void   **ring;
};

void udp_receive_init(struct udp_receive *receive, uint32_t first);

/* What a number means now; changes nothing. */
enum udp_arrival udp_receive_look(const struct udp_receive *receive,
                                  uint32_t                  number);

/* A segment came and is noted for the acknowledgement, whatever it was. */
void udp_receive_note(struct udp_receive *receive, const struct udp_head *head,
                      enum udp_arrival arrival, uint64_t now_ns);

/* The expected one was taken. */
UCS_INLINE void udp_receive_take(struct udp_receive *receive)
{
    ++receive->expected;
}

/* Is there a ring, and has it a place for that early number? */
UCS_INLINE bool udp_receive_fits(const struct udp_receive *receive,
                                 uint32_t                  number)
{
    return (receive->ring != NULL) &&
           (number - receive->expected < receive->ring_count);
}

UCS_INLINE void **udp_receive_slot(const struct udp_receive *receive,
                                   uint32_t                  number)
{
    return &receive->ring[number & (receive->ring_count - 1)];
}

/* Lend a ring of `count`, a power of two, all NULL: what the one before held
 * moves. @return the one before, all NULL; NULL: there was none. */
void **udp_receive_lend(struct udp_receive *receive, void **ring,
                        uint32_t count);

/* Keep an early one; it fits, and look() said EARLY. */
void udp_receive_keep(struct udp_receive *receive, uint32_t number,
                      void *early);

/* The expected one if it came early, left where it is; else NULL. */
void *udp_receive_early(const struct udp_receive *receive);

/* Forget that pointer: it will be taken. */
void udp_receive_pop(struct udp_receive *receive);

/* The ring, if it is empty and so can be given back; else NULL. */
void **udp_receive_return(struct udp_receive *receive);

/* Ranges behind `expected`. @param ranges_p  [UDP_RANGE_COUNT_MAX].
 * @return how many. */
unsigned udp_receive_ranges(const struct udp_receive *receive,
                            struct udp_range         *ranges_p);

/* When to acknowledge; UINT64_MAX: nothing is owed, 0: at once. */
uint64_t udp_receive_deadline_ns(const struct udp_receive *receive);

/* Fill ack, newest and delay of a head that goes out now: nothing is owed any
 * more, unless there is something that only ranges can say. */
void udp_receive_fill(struct udp_receive *receive, struct udp_head *head,
                      uint64_t now_ns);

/* The ranges went out too. */
UCS_INLINE void udp_receive_told(struct udp_receive *receive)
{
    receive->is_urgent  = false;
    receive->owed_count = 0;
}

#endif
