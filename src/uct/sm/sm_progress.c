/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_progress.c - hand up what is in our rings.
 *
 *   every call      the polled channels, one line of the doorbell
 *   now and then    a look at everything else (sm_look.c)
 *
 * What a sender wrote is loaded once and checked: a record that breaks the
 * rules ends its channel, with one line, and nothing else. */
#include "uct/sm/sm.h"

#include "uct/base/am.h"
#include "uct/base/pending.h"

enum progress_fetch_limit {
    /* A message of up to so many bytes is fetched whole ... */
    PROGRESS_FETCH_ALL_BYTES_MAX = 8192 + 64,
    /* ... and of a longer one the beginning: the rest is copied so fast that
     * asking for it early only takes time. */
    PROGRESS_FETCH_LINE_COUNT_MAX = 64,
};

/* Ask for a message's lines all at once. Whoever takes it reads the header
 * first, and decides by it where the rest goes: the rest would cross after it
 * (1 KiB one way, far: 610 -> 480 ns; 8 KiB: 1265 -> 1075). */
UCS_INLINE void progress_fetch(const uint8_t *data, size_t length)
{
    unsigned line_count =
        (length <= PROGRESS_FETCH_ALL_BYTES_MAX)
            ? (unsigned)((length + UCT_SM_LINE_BYTES - 1) / UCT_SM_LINE_BYTES)
            : (unsigned)PROGRESS_FETCH_LINE_COUNT_MAX;
    unsigned line;

    for (line = 0; line < line_count; ++line) {
        ucs_prefetch(data + (size_t)line * UCT_SM_LINE_BYTES);
    }
}

/* May the user keep this chunk? A quarter of the pool is kept at most, half
 * of what one sender may use: both go on receiving. */
static unsigned progress_keep_flag(const struct uct_sm_iface   *iface,
                                   const struct uct_sm_channel *channel,
                                   size_t                       length)
{
    const struct uct_sm_pool *pool = &iface->segment.pool;

    return ((iface->kept_count < pool->chunk_count / 4) &&
            (channel->kept_count < pool->chunk_count / 16) &&
            (length >= pool->chunk_bytes / UCT_SM_KEEP_PART))
               ? UCT_AM_MAY_KEEP
               : 0;
}

/* A message in a chunk. @return false: the channel is broken. */
static bool progress_chunk(struct uct_sm_iface   *iface,
                           struct uct_sm_channel *channel, uint64_t control,
                           struct uct_source *source)
{
    struct uct_sm_pool *pool   = &iface->segment.pool;
    size_t              length = uct_sm_control_length(control);
    uint8_t            *data;
    uint64_t            where, start;
    unsigned            chunk_index;
    ucs_status_t        status;

    memcpy(&where, uct_sm_ring_payload(&channel->reader), sizeof(where));
    chunk_index = (uint32_t)where;
    start       = where >> 32;
    if (ucs_unlikely(
            (start >= UCT_SM_CHUNK_MARGIN_BYTES) || (start % 8 != 0) ||
            (length > pool->chunk_bytes) ||
            !uct_sm_chunk_is_sent(pool, chunk_index, channel->index))) {
        uct_sm_channel_break(iface, channel, "a chunk that is not its own");
        return false;
    }
    if (ucs_unlikely(!uct_sm_chunk_back(pool, chunk_index))) {
        uct_sm_channel_break(iface, channel, "a chunk without memory");
        return false;
    }
    data = uct_sm_chunk_data(pool, chunk_index) + start;
    progress_fetch(data, length);
    status = uct_iface_deliver(&iface->base, uct_sm_control_am_id(control),
                               source, data, length,
                               progress_keep_flag(iface, channel, length));
    if (status == UCS_INPROGRESS) {
        iface->kept[chunk_index / 64] |= UINT64_C(1) << (chunk_index % 64);
        iface->kept_by[chunk_index] = (uint16_t)(channel->index + 1);
        ++iface->kept_count;
        ++channel->kept_count;
    } else {
        uct_sm_chunk_release(pool, chunk_index);
    }
    return true;
}

/* A message of one line from a source that is known: most of all messages.
 * @return false: it is something else, nothing is done. */
UCS_INLINE bool progress_line(struct uct_sm_iface         *iface,
                              const struct uct_sm_channel *channel,
                              uint64_t control, void *payload)
{
    size_t             length = uct_sm_control_length(control);
    uint32_t           index  = uct_sm_control_source(control);
    struct uct_source *source;

    if (ucs_unlikely((uct_sm_control_kind(control) != UCT_SM_KIND_INLINE) ||
                     (length > UCT_SM_ONE_LINE_BYTES_MAX) ||
                     (index >= channel->source_room))) {
        return false;
    }
    source = channel->sources[index];
    if (ucs_unlikely(source == NULL)) {
        return false;
    }
    (void)uct_iface_deliver(&iface->base, uct_sm_control_am_id(control), source,
                            payload, length, 0);
    return true;
}

/* A message in the ring. @return as below. */
static unsigned progress_inline(struct uct_sm_iface   *iface,
                                struct uct_sm_channel *channel,
                                uint64_t               control)
{
    size_t             length     = uct_sm_control_length(control);
    unsigned           line_count = uct_sm_record_lines(length);
    uint32_t           index      = uct_sm_control_source(control);
    struct uct_source *source;
    uint8_t           *payload;

    if (ucs_unlikely((length > UCT_SM_RECORD_BYTES_MAX) ||
                     (line_count > uct_sm_ring_lines_left(&channel->reader)))) {
        uct_sm_channel_break(iface, channel, "a record that is too long");
        return 0;
    }
    source = uct_sm_channel_source(channel, index);
    if (source == NULL) {
        uct_sm_channel_no_source(iface, channel, index);
        return 0;
    }
    payload = uct_sm_ring_payload(&channel->reader);
    progress_fetch(payload, length);
    (void)uct_iface_deliver(&iface->base, uct_sm_control_am_id(control), source,
                            payload, length, 0);
    return line_count;
}

/* Any record. @return how many lines to step over; 0: the channel is
 * broken. */
static UCS_OUTLINE unsigned progress_other(struct uct_sm_iface   *iface,
                                           struct uct_sm_channel *channel,
                                           uint64_t               control)
{
    struct uct_source *source;

    switch (uct_sm_control_kind(control)) {
    case UCT_SM_KIND_INLINE:
        return progress_inline(iface, channel, control);
    case UCT_SM_KIND_PADDING:
        return uct_sm_ring_lines_left(&channel->reader);
    case UCT_SM_KIND_CLOSE:
        uct_sm_channel_close_source(iface, channel,
                                    uct_sm_control_source(control));
        return 1;
    case UCT_SM_KIND_CHUNK:
        source = uct_sm_channel_source(channel, uct_sm_control_source(control));
        if (ucs_unlikely(source == NULL)) {
            uct_sm_channel_no_source(iface, channel,
                                     uct_sm_control_source(control));
            return 0;
        }
        return progress_chunk(iface, channel, control, source) ? 1 : 0;
    default:
        uct_sm_channel_break(iface, channel, "a record of no known kind");
        return 0;
    }
}

/* Hand up from a ring that is not empty: one message when it was empty before,
 * and while it does not become so twice as many with each call. Whoever waits
 * for any of several requests so sees the first that is done (ADR 40). */
static unsigned progress_records(struct uct_sm_iface   *iface,
                                 struct uct_sm_channel *channel,
                                 uint64_t               control)
{
    struct uct_sm_ring_reader *reader = &channel->reader;
    unsigned                   count  = 0;
    unsigned                   line_count;

    channel->is_active = true;
    do {
        uct_sm_ring_fetch(reader->lines, reader->position + UCT_SM_READ_AHEAD,
                          1);
        line_count = 1;
        if (ucs_unlikely(!progress_line(iface, channel, control,
                                        uct_sm_ring_payload(reader)))) {
            line_count = progress_other(iface, channel, control);
            if (line_count == 0) {
                return count;
            }
        }
        ++count;
        if (uct_sm_ring_advance(reader, line_count)) {
            uct_sm_room_made(iface);
        }
        control = uct_sm_ring_look(reader);
    } while ((control != 0) && (count < channel->batch_count));
    channel->batch_count = (control == 0)
                               ? 1
                               : ucs_min(2 * channel->batch_count,
                                         (unsigned)UCT_SM_BATCH_COUNT_MAX);
    if (reader->published != reader->position) {
        uct_sm_ring_publish(reader);
        uct_sm_room_made(iface);
    }
    return count;
}

unsigned uct_sm_channel_drain(struct uct_sm_iface   *iface,
                              struct uct_sm_channel *channel, bool *is_empty_p)
{
    uint64_t control;
    unsigned count;

    *is_empty_p = true;
    if (channel->failed != UCS_OK) {
        return 0;
    }
    control = uct_sm_ring_look(&channel->reader);
    if (control == 0) {
        return 0;
    }
    count       = progress_records(iface, channel, control);
    *is_empty_p = (channel->failed != UCS_OK) ||
                  (uct_sm_ring_look(&channel->reader) == 0);
    return count;
}

unsigned uct_sm_progress(struct uct_iface *base)
{
    struct uct_sm_iface   *iface = uct_sm_iface_of(base);
    unsigned               count = 0;
    struct uct_sm_channel *channel;
    uint64_t               control;
    unsigned               index;

    for (index = 0; index < iface->polled_count; ++index) {
        channel = iface->polled[index];
        control = uct_sm_ring_look(&channel->reader);
        if (control != 0) {
            count += progress_records(iface, channel, control);
        }
    }
    /* RUNG, first half: only a hint; the exchange in answer acquires. */
    if (ucs_unlikely(atomic_load_explicit(&iface->segment.header->bell_summary,
                                          memory_order_relaxed) != 0)) {
        count += uct_sm_doorbell_answer(iface);
    }
    if (ucs_unlikely(!ucs_list_is_empty(&iface->copies.eps))) {
        count += uct_sm_copies_progress(iface);
    }
    if (ucs_unlikely(uct_iface_has_pending(base))) {
        count += ucti_pending_serve(base, uct_sm_may_send);
    }
    if (ucs_unlikely(--iface->look_in_calls == 0)) {
        count += uct_sm_look(iface);
    }
    return count;
}

void uct_sm_am_release(struct uct_iface *base, void *data)
{
    struct uct_sm_iface *iface  = uct_sm_iface_of(base);
    struct uct_sm_pool  *pool   = &iface->segment.pool;
    size_t               offset = (size_t)((uint8_t *)data - pool->base);
    unsigned             chunk_index =
        (unsigned)(offset / uct_sm_chunk_stride(pool->chunk_bytes));
    uint64_t bit = UINT64_C(1) << (chunk_index % 64);
    unsigned by;

    ucs_assert((chunk_index < pool->chunk_count) &&
               (iface->kept[chunk_index / 64] & bit));
    by = iface->kept_by[chunk_index];
    iface->kept[chunk_index / 64] &= ~bit;
    --iface->kept_count;
    if (by != UCT_SM_CHUNK_ORPHAN) {
        --iface->channels[by - 1]->kept_count;
    }
    uct_sm_chunk_release(pool, chunk_index);
    uct_sm_room_made(iface);
}
