/* SPDX-License-Identifier: BSD-3-Clause */
/* ucs/unmap.h - memory that went away: told by who sees it, read by who keeps
 * something about it.
 *
 *   runtime (Open MPI) -> ucm_vm_munmap() -> ucsi_unmap_tell() -> ring
 *        each cache, before its next look-up: ucsi_unmap_read() <---'
 *
 * Causeway hooks no allocator. Where the program's runtime does, and says so
 * with ucm_set_external_event(), what is kept beyond one operation can be
 * dropped in time. The runtime tells before it unmaps, or after, but before
 * its caller can map anything else there.
 *
 * The ring has many writers and any number of readers, each with a place of
 * its own. Who falls too far behind is told that everything went. */
#ifndef UCS_UNMAP_H_
#define UCS_UNMAP_H_

#include <stdatomic.h>
#include <stdint.h>

#include "ucs/compiler.h"

enum { UCS_UNMAP_RING_COUNT = 256 }; /* a power of two; guess */

/* What a writer changes with every call: a reader that finds it as it left it
 * has nothing to read. */
UCS_EXPORT extern _Atomic uint64_t ucsi_unmap_clock;

/* A reader's place. */
struct ucs_unmap_reader {
    uint64_t clock; /* ucsi_unmap_clock when it read last */
    uint64_t next;  /* the ticket to read next */
    uint64_t lost;  /* how often all were told to drop everything */
};

/* From now on the program tells all that it unmaps, or no longer does. */
UCS_EXPORT void ucsi_unmap_set_reported(bool is_reported);

/* Is all that this program unmaps being told? */
UCS_EXPORT bool ucsi_unmap_is_reported(void);

/* [start, start + length) goes away. Lock-free, no allocation: any thread,
 * also inside munmap, an allocator, or a signal handler. */
UCS_EXPORT void ucsi_unmap_tell(uintptr_t start, uintptr_t length);

/* Begin to read: what was told before does not matter. */
UCS_EXPORT void ucsi_unmap_reader_init(struct ucs_unmap_reader *reader);

/* Is there anything new? The call of the data path. */
UCS_INLINE bool ucs_unmap_has_news(const struct ucs_unmap_reader *reader)
{
    /* NEWS: acquire, pairs with TOLD: the ticket was drawn before. */
    return ucs_unlikely(
        atomic_load_explicit(&ucsi_unmap_clock, memory_order_acquire) !=
        reader->clock);
}

/* [start, end) went away. 0, UINTPTR_MAX: everything. */
typedef void (*ucs_unmap_fn)(void *arg, uintptr_t start, uintptr_t end);

/* Read what is new. A range may come more than once. */
UCS_EXPORT void ucsi_unmap_read(struct ucs_unmap_reader *reader,
                                ucs_unmap_fn fn, void *arg);

#endif
