/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/hotel.h - many time-outs of which few expire: retransmission.
 *
 * The idea is Open MPI's (opal_hotel): a guest checks in to a room with a
 * length of stay and gets the room's number; whoever knows the number checks
 * it out; a guest who overstays is evicted, by a call. The number of rooms is
 * fixed, so is the memory. Here each guest has a stay of its own.
 *
 * Rooms hang in a timing wheel (Varghese and Lauck 1987) of 11 levels with
 * 64 slots each, found by the digits of the tick in which the stay ends:
 *
 *     level 0    64 slots of 1 tick     <- evicted from here
 *     level 1    64 slots of 64 ticks   <- moved down when their time comes
 *     level 2    64 slots of 4096 ticks
 *     ...        and so on: any stay has its place
 *
 * A map of one bit per slot finds the next one that is not empty, so silence
 * costs nothing, however long. Check-in and check-out are constant time; a
 * guest of n ticks moves down at most log64(n) times on its way to eviction.
 *
 * No guest is evicted before its stay ends; it may be one tick later, plus
 * what passes until run is called. Stays that end in the same tick are ended
 * in the order of check-in.
 *
 * Times are nanoseconds of one clock of the owner's choice. Pure: no system
 * call, no allocation but in init.
 *
 * Thread: none of its own; the owner of the hotel serialises. */
#ifndef UCS_HOTEL_H_
#define UCS_HOTEL_H_

#include "ucs/assert.h"
#include "ucs/compiler.h"
#include "ucs/type/status.h"

enum ucs_hotel_limit {
    UCS_HOTEL_LEVEL_COUNT    = 11,      /* 11 times 6 bits hold any tick */
    UCS_HOTEL_SLOT_COUNT     = 64,      /* of a level: the bits of its map */
    UCS_HOTEL_ROOM_COUNT_MAX = 1 << 24, /* a guess; 32 bytes each */
    UCS_HOTEL_TICK_SHIFT_MAX = 40       /* a tick is at most 18 minutes */
};

/* "No room": the answer when all are taken. */
#define UCS_HOTEL_NO_ROOM UINT32_MAX

struct ucs_hotel;

/* A guest's stay has ended: the room is free, the guest is the owner's again.
 * May check guests in and out (also the same guest again); may not call run.
 * @param now_ns  What the owner gave to run. */
typedef void (*ucs_hotel_evict_fn)(struct ucs_hotel *hotel, uint32_t room,
                                   void *guest, uint64_t now_ns);

struct ucs_hotel_params {
    uint32_t room_count; /* 1 to UCS_HOTEL_ROOM_COUNT_MAX */
    /* Precision: rounded up to a power of two, 2 to 2^40. */
    uint64_t           tick_ns;
    uint64_t           now_ns; /* the time of the first day */
    ucs_hotel_evict_fn evict;
    void              *arg; /* in hotel->arg, yours */
};

struct ucs_hotel_room {
    void    *guest;    /* NULL: the room is free */
    uint64_t end_tick; /* the guest is evicted in this tick */
    uint32_t prev;     /* room before this one in its slot; the first's: last */
    uint32_t next;     /* room behind it in its slot, or among the free ones */
    uint32_t slot;     /* where it hangs: level * UCS_HOTEL_SLOT_COUNT + slot */
};

struct ucs_hotel {
    struct ucs_hotel_room *rooms;
    uint32_t               room_count;
    uint32_t               guest_count;
    uint32_t               free_room;  /* the first free one, or NO_ROOM */
    unsigned               tick_shift; /* log2 of the tick in ns */
    uint64_t               tick;       /* all before, and this one, is done */
    uint64_t               horizon;    /* check-ins stay beyond this tick */
    bool                   is_running;
    ucs_hotel_evict_fn     evict;
    void                  *arg;
    /* Bit s of level l: the slot has rooms. */
    uint64_t maps[UCS_HOTEL_LEVEL_COUNT];
    /* The room that came first to each slot, or NO_ROOM. */
    uint32_t slots[UCS_HOTEL_LEVEL_COUNT * UCS_HOTEL_SLOT_COUNT];
};

/* Build a hotel without guests. params is borrowed.
 *
 * @return UCS_OK; UCS_ERR_INVALID_PARAM: params are out of bounds;
 *         UCS_ERR_NO_MEMORY. */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucsi_hotel_init(struct ucs_hotel *hotel, const struct ucs_hotel_params *params);

/* Close a hotel. Guests who are still in are forgotten, not evicted. */
UCS_EXPORT void ucsi_hotel_cleanup(struct ucs_hotel *hotel);

/* Give a guest, not NULL, a room from now_ns on for stay_ns. The guest is
 * lent until it is checked out or evicted.
 *
 * A stay that has ended already, or that is given to by evict, lasts until
 * the first run in a later tick.
 *
 * @return The room; UCS_HOTEL_NO_ROOM when all are taken. */
UCS_EXPORT UCS_MUST_USE uint32_t ucsi_hotel_checkin(struct ucs_hotel *hotel,
                                                    void             *guest,
                                                    uint64_t          now_ns,
                                                    uint64_t          stay_ns);

/* End the stay in a room that is taken. Returns the guest. */
UCS_EXPORT void *ucsi_hotel_checkout(struct ucs_hotel *hotel, uint32_t room);

/* Evict all guests whose stay has ended at now_ns. A now_ns before that of an
 * earlier run is harmless.
 *
 * @return How many were evicted. */
UCS_EXPORT unsigned ucsi_hotel_run(struct ucs_hotel *hotel, uint64_t now_ns);

/* When to run next: no guest is evicted before. With stays above 64 ticks
 * this may be early, and a run then evicts nobody and brings a later answer.
 * UINT64_MAX: the hotel is empty. */
UCS_EXPORT uint64_t ucsi_hotel_deadline_ns(const struct ucs_hotel *hotel);

/* The guest in a room; NULL if the room is free. */
UCS_INLINE void *ucs_hotel_guest(const struct ucs_hotel *hotel, uint32_t room)
{
    ucs_assert(room < hotel->room_count);
    return hotel->rooms[room].guest;
}

/* Guests in the hotel. */
UCS_INLINE uint32_t ucs_hotel_guest_count(const struct ucs_hotel *hotel)
{
    return hotel->guest_count;
}

#endif
