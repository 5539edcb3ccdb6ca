/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/hotel.c - rooms in a timing wheel.
 *
 * A room hangs at the level of the highest digit (of 6 bits) in which its end
 * differs from the current tick, in the slot of that digit. So every slot in
 * use lies ahead of the current digit of its level and in the same turn of
 * it, and all of level l comes before all of level l + 1. Reaching the first
 * tick of a slot brings its rooms at least one level down. */
#include "ucs/hotel.h"

#include <stdlib.h>
#include <string.h>

enum { HOTEL_DIGIT_BITS = 6, HOTEL_DIGIT_MASK = UCS_HOTEL_SLOT_COUNT - 1 };
_Static_assert(UCS_HOTEL_SLOT_COUNT == 1 << HOTEL_DIGIT_BITS,
               "a digit selects a slot");
_Static_assert(UCS_HOTEL_LEVEL_COUNT *HOTEL_DIGIT_BITS >= 64,
               "digits for any tick");

#define HOTEL_TICK_NEVER UINT64_MAX

/* log2 of the tick, rounded up. At least 1: so ticks have 63 bits, and no
 * sum of them wraps. */
static unsigned hotel_tick_shift(uint64_t tick_ns)
{
    return (tick_ns <= 2) ? 1 : 64 - (unsigned)__builtin_clzll(tick_ns - 1);
}

ucs_status_t ucsi_hotel_init(struct ucs_hotel              *hotel,
                             const struct ucs_hotel_params *params)
{
    uint32_t room;
    size_t   slot;

    if ((params->room_count == 0) || (params->evict == NULL) ||
        (params->room_count > UCS_HOTEL_ROOM_COUNT_MAX) ||
        (params->tick_ns == 0) ||
        (hotel_tick_shift(params->tick_ns) > UCS_HOTEL_TICK_SHIFT_MAX)) {
        return UCS_ERR_INVALID_PARAM;
    }
    memset(hotel, 0, sizeof(*hotel));
    hotel->rooms = calloc(params->room_count, sizeof(*hotel->rooms));
    if (hotel->rooms == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    for (room = 0; room < params->room_count; ++room) {
        hotel->rooms[room].next = room + 1;
    }
    hotel->rooms[params->room_count - 1].next = UCS_HOTEL_NO_ROOM;
    for (slot = 0; slot < UCS_ARRAY_COUNT(hotel->slots); ++slot) {
        hotel->slots[slot] = UCS_HOTEL_NO_ROOM;
    }
    hotel->room_count = params->room_count;
    hotel->tick_shift = hotel_tick_shift(params->tick_ns);
    hotel->tick       = params->now_ns >> hotel->tick_shift;
    hotel->horizon    = hotel->tick;
    hotel->evict      = params->evict;
    hotel->arg        = params->arg;
    return UCS_OK;
}

void ucsi_hotel_cleanup(struct ucs_hotel *hotel)
{
    ucs_assert(!hotel->is_running);
    free(hotel->rooms);
    hotel->rooms       = NULL;
    hotel->room_count  = 0;
    hotel->guest_count = 0;
}

/* Where a room that ends in end_tick hangs. The current tick itself belongs
 * to the current slot of level 0. */
static uint32_t hotel_slot_of(const struct ucs_hotel *hotel, uint64_t end_tick)
{
    uint64_t differs = end_tick ^ hotel->tick;
    uint32_t level =
        (differs == 0)
            ? 0
            : (63 - (uint32_t)__builtin_clzll(differs)) / HOTEL_DIGIT_BITS;

    return level * UCS_HOTEL_SLOT_COUNT +
           (uint32_t)((end_tick >> (level * HOTEL_DIGIT_BITS)) &
                      HOTEL_DIGIT_MASK);
}

/* Note in the map of its level that a slot has rooms, or none. */
static void hotel_mark(struct ucs_hotel *hotel, uint32_t slot, bool has_rooms)
{
    uint64_t *map = &hotel->maps[slot / UCS_HOTEL_SLOT_COUNT];
    uint64_t  bit = 1ull << (slot % UCS_HOTEL_SLOT_COUNT);

    *map = has_rooms ? (*map | bit) : (*map & ~bit);
}

/* Hang a room behind the others of its slot. */
static void hotel_hang(struct ucs_hotel *hotel, uint32_t room_index)
{
    struct ucs_hotel_room *room  = &hotel->rooms[room_index];
    uint32_t               slot  = hotel_slot_of(hotel, room->end_tick);
    uint32_t               first = hotel->slots[slot];

    room->slot = slot;
    room->next = UCS_HOTEL_NO_ROOM;
    if (first == UCS_HOTEL_NO_ROOM) {
        room->prev         = room_index;
        hotel->slots[slot] = room_index;
        hotel_mark(hotel, slot, true);
    } else {
        room->prev                    = hotel->rooms[first].prev;
        hotel->rooms[room->prev].next = room_index;
        hotel->rooms[first].prev      = room_index;
    }
}

/* Take a room off its slot. */
static void hotel_unhang(struct ucs_hotel *hotel, uint32_t room_index)
{
    struct ucs_hotel_room *room  = &hotel->rooms[room_index];
    uint32_t              *first = &hotel->slots[room->slot];
    uint32_t               behind;

    if (*first == room_index) {
        *first = room->next;
    } else {
        hotel->rooms[room->prev].next = room->next;
    }
    if (*first == UCS_HOTEL_NO_ROOM) {
        hotel_mark(hotel, room->slot, false);
        return;
    }
    behind = (room->next == UCS_HOTEL_NO_ROOM) ? *first : room->next;
    hotel->rooms[behind].prev = room->prev;
}

/* The first tick that begins at or after a time that may be beyond the end
 * of counting. */
static uint64_t hotel_tick_after(const struct ucs_hotel *hotel, uint64_t now_ns,
                                 uint64_t stay_ns)
{
    uint64_t mask = (1ull << hotel->tick_shift) - 1;
    uint64_t end_ns =
        (stay_ns > UINT64_MAX - now_ns) ? UINT64_MAX : now_ns + stay_ns;

    return (end_ns >> hotel->tick_shift) + ((end_ns & mask) != 0);
}

uint32_t ucsi_hotel_checkin(struct ucs_hotel *hotel, void *guest,
                            uint64_t now_ns, uint64_t stay_ns)
{
    uint64_t               end_tick = hotel_tick_after(hotel, now_ns, stay_ns);
    uint32_t               index    = hotel->free_room;
    struct ucs_hotel_room *room;

    ucs_assert(guest != NULL);
    if (index == UCS_HOTEL_NO_ROOM) {
        return UCS_HOTEL_NO_ROOM;
    }
    room             = &hotel->rooms[index];
    hotel->free_room = room->next;
    room->guest      = guest;
    room->end_tick   = ucs_max(end_tick, hotel->horizon + 1);
    ++hotel->guest_count;
    hotel_hang(hotel, index);
    return index;
}

void *ucsi_hotel_checkout(struct ucs_hotel *hotel, uint32_t room_index)
{
    struct ucs_hotel_room *room = &hotel->rooms[room_index];
    void                  *guest;

    ucs_assert(room_index < hotel->room_count);
    ucs_assert(room->guest != NULL);
    guest = room->guest;
    hotel_unhang(hotel, room_index);
    room->guest      = NULL;
    room->next       = hotel->free_room;
    hotel->free_room = room_index;
    --hotel->guest_count;
    return guest;
}

/* The next slot that has rooms, as its number and the tick with which it
 * begins: the lowest level's, see the top of this file. */
static uint32_t hotel_next(const struct ucs_hotel *hotel, uint64_t *tick_p)
{
    uint32_t level = 0;
    uint64_t digit, turn;
    unsigned shift;

    while (hotel->maps[level] == 0) {
        if (++level == UCS_HOTEL_LEVEL_COUNT) {
            *tick_p = HOTEL_TICK_NEVER;
            return 0;
        }
    }
    digit   = (uint64_t)__builtin_ctzll(hotel->maps[level]);
    shift   = level * HOTEL_DIGIT_BITS;
    turn    = (hotel->tick >> shift) & ~(uint64_t)HOTEL_DIGIT_MASK;
    *tick_p = (turn | digit) << shift;
    return level * UCS_HOTEL_SLOT_COUNT + (uint32_t)digit;
}

/* The current tick is the first one of a slot: hang its rooms anew. */
static void hotel_move_down(struct ucs_hotel *hotel, uint32_t slot)
{
    uint32_t room = hotel->slots[slot];
    uint32_t next;

    hotel->slots[slot] = UCS_HOTEL_NO_ROOM;
    hotel_mark(hotel, slot, false);
    for (; room != UCS_HOTEL_NO_ROOM; room = next) {
        next = hotel->rooms[room].next;
        hotel_hang(hotel, room);
    }
}

/* Evict who is in the slot of the current tick. Newcomers go elsewhere. */
static unsigned hotel_evict_current(struct ucs_hotel *hotel, uint64_t now_ns)
{
    const uint32_t *first = &hotel->slots[hotel->tick & HOTEL_DIGIT_MASK];
    unsigned        count = 0;
    uint32_t        room;

    while ((room = *first) != UCS_HOTEL_NO_ROOM) {
        ++count;
        hotel->evict(hotel, room, ucsi_hotel_checkout(hotel, room), now_ns);
    }
    return count;
}

unsigned ucsi_hotel_run(struct ucs_hotel *hotel, uint64_t now_ns)
{
    uint64_t target = now_ns >> hotel->tick_shift;
    unsigned count  = 0;
    uint32_t slot;
    uint64_t tick;

    ucs_assert(!hotel->is_running);
    if (target <= hotel->tick) {
        return 0;
    }
    hotel->is_running = true;
    hotel->horizon    = target;
    for (slot = hotel_next(hotel, &tick); tick <= target;
         slot = hotel_next(hotel, &tick)) {
        hotel->tick = tick;
        if (slot >= UCS_HOTEL_SLOT_COUNT) {
            hotel_move_down(hotel, slot);
        }
        count += hotel_evict_current(hotel, now_ns);
    }
    hotel->tick       = target;
    hotel->is_running = false;
    return count;
}

uint64_t ucsi_hotel_deadline_ns(const struct ucs_hotel *hotel)
{
    uint64_t tick;

    (void)hotel_next(hotel, &tick);
    return (tick > (UINT64_MAX >> hotel->tick_shift))
               ? UINT64_MAX
               : tick << hotel->tick_shift;
}
