/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/am.h - for transports: hand messages up, and the end of those who
 * sent them. */
#ifndef UCT_BASE_AM_H_
#define UCT_BASE_AM_H_

#include "ucs/assert.h"
#include "uct/api/transport.h"

/* Hand one message up. An id that is out of range or that nobody receives is
 * dropped and counted: am_id may come from the peer unchecked.
 * @param data   [length], 8-byte aligned, writable by the handler.
 * @param flags  enum uct_am_flag.
 * @return UCS_OK: the buffer is the transport's again. UCS_INPROGRESS, only
 *         with UCT_AM_MAY_KEEP: it is the handler's until am_release(). */
static inline ucs_status_t uct_iface_deliver(struct uct_iface  *iface,
                                             unsigned           am_id,
                                             struct uct_source *source,
                                             void *data, size_t length,
                                             unsigned flags)
{
    const struct uct_am_entry *entry;
    ucs_status_t               status;

    if (ucs_unlikely(am_id >= UCT_AM_ID_COUNT)) {
        ++iface->am_dropped_count;
        return UCS_OK;
    }
    entry  = &iface->am[am_id];
    status = entry->fn(entry->arg, source, data, length, flags);
    ucs_assert((status == UCS_OK) ||
               ((status == UCS_INPROGRESS) && (flags & UCT_AM_MAY_KEEP)));
    return status;
}

/* Report the end of a source, after its last message; once. The caller frees
 * it afterwards. */
static inline void uct_iface_end_source(struct uct_iface  *iface,
                                        struct uct_source *source,
                                        ucs_status_t       status)
{
    if (iface->params.source_end != NULL) {
        iface->params.source_end(iface->params.source_end_arg, source, status);
    }
}

#endif
