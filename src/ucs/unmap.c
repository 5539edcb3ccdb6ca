/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/unmap.c - the ring behind ucs/unmap.h.
 *
 *   ticket t:     0   1   2   3   4 ...        slot t % 256
 *   slot.stamp:   0          never written
 *                 2 (t + 1)  holds the range of ticket t
 *                 odd        being written
 *
 * A writer draws a ticket, fills its slot, then moves the clock. A writer
 * that finds its slot in other hands, or fills it when 256 others have drawn
 * since (readers may have passed it over), says "all is gone"; it never
 * waits. */
#include "ucs/unmap.h"

struct unmap_slot {
    _Atomic uint64_t  stamp;
    _Atomic uintptr_t start;
    _Atomic uintptr_t end;
};

static struct unmap_slot unmap_ring[UCS_UNMAP_RING_COUNT];
static _Atomic uint64_t  unmap_tickets; /* drawn */
static _Atomic uint64_t  unmap_lost;    /* times that all was said to be gone */
static _Atomic bool      unmap_reported;

_Atomic uint64_t ucsi_unmap_clock;

static struct unmap_slot *slot_of(uint64_t ticket)
{
    return &unmap_ring[ticket % UCS_UNMAP_RING_COUNT];
}

static uint64_t stamp_of(uint64_t ticket)
{
    return 2 * (ticket + 1);
}

/* Fill the slot of a ticket. @return false: others have it. */
static bool slot_write(uint64_t ticket, uintptr_t start, uintptr_t end)
{
    struct unmap_slot *slot = slot_of(ticket);
    uint64_t stamp = atomic_load_explicit(&slot->stamp, memory_order_relaxed);

    /* BUSY: acquire, so that the range is not written before the stamp says
     * that it is not to be trusted. */
    if ((stamp & 1) || (stamp > stamp_of(ticket)) ||
        !atomic_compare_exchange_strong_explicit(
            &slot->stamp, &stamp, stamp | 1, memory_order_acquire,
            memory_order_relaxed)) {
        return false;
    }
    /* RANGE: release, pairs with AGAIN: who reads one of these words sees
     * that the slot was busy. */
    atomic_store_explicit(&slot->start, start, memory_order_release);
    atomic_store_explicit(&slot->end, end, memory_order_release);
    /* FULL: release, pairs with LOOK. */
    atomic_store_explicit(&slot->stamp, stamp_of(ticket), memory_order_release);
    return true;
}

/* Have so many drawn since that readers may not look at this ticket?
 * An addition, to see the last one drawn. PASSED: release, pairs with DRAWN: a
 * reader that counts tickets drawn after this look says "all is gone" after
 * the slot was filled. */
static bool is_passed_over(uint64_t ticket)
{
    return atomic_fetch_add_explicit(&unmap_tickets, 0, memory_order_acq_rel) -
               ticket >
           UCS_UNMAP_RING_COUNT;
}

void ucsi_unmap_tell(uintptr_t start, uintptr_t length)
{
    uintptr_t end =
        (length <= UINTPTR_MAX - start) ? start + length : UINTPTR_MAX;
    uint64_t ticket;

    if (length == 0) {
        return;
    }
    ticket = atomic_fetch_add_explicit(&unmap_tickets, 1, memory_order_relaxed);
    if (!slot_write(ticket, start, end) || is_passed_over(ticket)) {
        atomic_fetch_add_explicit(&unmap_lost, 1, memory_order_relaxed);
    }
    /* TOLD: release, pairs with NEWS. */
    atomic_fetch_add_explicit(&ucsi_unmap_clock, 1, memory_order_release);
}

void ucsi_unmap_set_reported(bool is_reported)
{
    atomic_store_explicit(&unmap_reported, is_reported, memory_order_relaxed);
    if (!is_reported) {
        ucsi_unmap_tell(0, UINTPTR_MAX); /* what follows is not seen */
    }
}

bool ucsi_unmap_is_reported(void)
{
    return atomic_load_explicit(&unmap_reported, memory_order_relaxed);
}

void ucsi_unmap_reader_init(struct ucs_unmap_reader *reader)
{
    /* The clock first: what moves it later is read again, not missed. */
    reader->clock =
        atomic_load_explicit(&ucsi_unmap_clock, memory_order_acquire);
    reader->lost = atomic_load_explicit(&unmap_lost, memory_order_relaxed);
    reader->next = atomic_load_explicit(&unmap_tickets, memory_order_relaxed);
}

/* Read one slot. @return false: its writer has not come so far. */
static bool slot_read(uint64_t ticket, ucs_unmap_fn fn, void *arg)
{
    struct unmap_slot *slot = slot_of(ticket);
    /* LOOK: acquire, pairs with FULL. */
    uint64_t  stamp = atomic_load_explicit(&slot->stamp, memory_order_acquire);
    uintptr_t start, end;

    if (stamp < stamp_of(ticket)) {
        return false;
    }
    /* AGAIN: acquire, pairs with RANGE of a writer that took the slot. */
    start = atomic_load_explicit(&slot->start, memory_order_acquire);
    end   = atomic_load_explicit(&slot->end, memory_order_acquire);
    if (atomic_load_explicit(&slot->stamp, memory_order_relaxed) !=
        stamp_of(ticket)) {
        start = 0; /* a later ticket's: ours is lost */
        end   = UINTPTR_MAX;
    }
    fn(arg, start, end);
    return true;
}

void ucsi_unmap_read(struct ucs_unmap_reader *reader, ucs_unmap_fn fn,
                     void *arg)
{
    /* NEWS: as in ucs_unmap_has_news(). Whoever moves it later is read at the
     * next call. */
    uint64_t clock =
        atomic_load_explicit(&ucsi_unmap_clock, memory_order_acquire);
    uint64_t lost = atomic_load_explicit(&unmap_lost, memory_order_relaxed);
    /* DRAWN: acquire, pairs with PASSED. */
    uint64_t end = atomic_load_explicit(&unmap_tickets, memory_order_acquire);
    bool     has_gap = false;

    if ((lost != reader->lost) || (end - reader->next > UCS_UNMAP_RING_COUNT)) {
        fn(arg, 0, UINTPTR_MAX);
    }
    if (end - reader->next > UCS_UNMAP_RING_COUNT) {
        reader->next = end - UCS_UNMAP_RING_COUNT;
    }
    for (uint64_t ticket = reader->next; ticket != end; ++ticket) {
        if (!slot_read(ticket, fn, arg)) {
            has_gap = true;
        }
        if (!has_gap) {
            reader->next = ticket + 1;
        }
    }
    reader->clock = clock;
    reader->lost  = lost;
}
