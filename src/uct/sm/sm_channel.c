/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_channel.c - a sender of ours, from its first message to the end
 * of its last source. */
#include "uct/sm/sm.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "ucs/log.h"
#include "uct/base/am.h"
#include "uct/sm/sm_barrier.h"
#include "uct/sm/sm_socket.h"

/* Make room for channel `index`. */
static bool channel_room(struct uct_sm_iface *iface, unsigned index)
{
    struct uct_sm_channel **channels;
    unsigned                room = ucs_max(8u, iface->channel_room);

    if (index < iface->channel_room) {
        return true;
    }
    while (room <= index) {
        room *= 2;
    }
    channels = realloc(iface->channels, room * sizeof(struct uct_sm_channel *));
    if (channels == NULL) {
        return false;
    }
    memset(&channels[iface->channel_room], 0,
           (room - iface->channel_room) * sizeof(struct uct_sm_channel *));
    iface->channels     = channels;
    iface->channel_room = room;
    return true;
}

/* Who is it, and how is its end noticed? */
static void channel_watch(struct uct_sm_iface   *iface,
                          struct uct_sm_channel *channel)
{
    const struct uct_sm_sender *sender  = &channel->sender;
    bool                        is_dead = false;

    if (sender->by_socket) {
        channel->socket  = uct_sm_socket_get(iface, sender->segment_id);
        channel->is_dead = (channel->socket == NULL);
        return;
    }
    if ((sender->pid == iface->address.pid) ||
        (sender->pid_namespace_id != iface->address.pid_namespace)) {
        return; /* ourselves; or we cannot know */
    }
    channel->watch =
        uct_sm_watch_get(iface, sender->pid, sender->process_start, &is_dead);
    channel->is_dead = is_dead;
}

/* Memory is short: the sender rings once only, so ring again for it. */
static struct uct_sm_channel *channel_meet_later(struct uct_sm_iface *iface,
                                                 unsigned             index)
{
    ucs_error_limited("sm: no memory to receive over channel %u: it waits",
                      index);
    uct_sm_doorbell_set(iface->segment.header, index);
    return NULL;
}

void uct_sm_channels_order(struct uct_sm_iface *iface)
{
    iface->must_fence =
        (uct_sm_barrier_state() != UCT_SM_BARRIER_REACHES_US) ||
        atomic_load_explicit(&iface->segment.header->fence_wanted,
                             memory_order_relaxed);
}

struct uct_sm_channel *uct_sm_channel_meet(struct uct_sm_iface *iface,
                                           unsigned             index)
{
    struct uct_sm_segment *segment = &iface->segment;
    struct uct_sm_entry   *entry   = &segment->entries[index];
    struct uct_sm_channel *channel;
    uint64_t               state;

    if (!channel_room(iface, index) ||
        (uct_sm_layout_allocate_entry(&segment->layout, segment->fd, index) !=
         UCS_OK)) {
        return channel_meet_later(iface, index);
    }
    /* MEET: acquire, pairs with FILLED and LEFT. */
    state = atomic_load_explicit(&entry->state, memory_order_acquire) & 0xff;
    if ((state != UCT_SM_CHANNEL_OPEN) && (state != UCT_SM_CHANNEL_CLOSED)) {
        return NULL;
    }
    /* What the sender should have allocated: our accesses cannot fail. */
    if ((uct_sm_pool_prepare(&segment->pool, &segment->layout, segment->fd) !=
         UCS_OK) ||
        (uct_sm_layout_allocate_channel(&segment->layout, segment->fd, index) !=
         UCS_OK)) {
        return channel_meet_later(iface, index);
    }
    if (posix_memalign((void **)&channel, UCT_SM_LINE_BYTES,
                       sizeof(*channel)) != 0) {
        return channel_meet_later(iface, index);
    }
    uct_sm_channels_order(iface);
    memset(channel, 0, sizeof(*channel));
    channel->index       = index;
    channel->entry       = entry;
    channel->bell        = -1;
    channel->sender      = entry->sender;
    channel->batch_count = 1;
    uct_sm_ring_reader_init(&channel->reader,
                            uct_sm_segment_ring(&iface->segment, index),
                            &entry->read_position);
    channel_watch(iface, channel);
    iface->channels[index] = channel;
    ++iface->channel_count;
    uct_sm_rights_told(iface, &channel->sender);
    return channel;
}

struct uct_source *uct_sm_channel_source(struct uct_sm_channel *channel,
                                         uint32_t               index)
{
    struct uct_source **sources;
    uint32_t            room = ucs_max(UINT32_C(4), channel->source_room);

    if (index >= UCT_SM_SOURCE_COUNT_MAX) {
        return NULL;
    }
    if (index >= channel->source_room) {
        while (room <= index) {
            room *= 2;
        }
        sources = realloc(channel->sources, room * sizeof(*sources));
        if (sources == NULL) {
            return NULL;
        }
        memset(&sources[channel->source_room], 0,
               (room - channel->source_room) * sizeof(*sources));
        channel->sources     = sources;
        channel->source_room = room;
    }
    if (channel->sources[index] == NULL) {
        channel->sources[index] = calloc(1, sizeof(struct uct_source));
    }
    return channel->sources[index];
}

void uct_sm_channel_no_source(struct uct_sm_iface   *iface,
                              struct uct_sm_channel *channel, uint32_t index)
{
    uct_sm_channel_break(iface, channel,
                         (index < UCT_SM_SOURCE_COUNT_MAX)
                             ? "more endpoints than there is memory for"
                             : "a bad source index");
}

/* status UCS_INPROGRESS: our interface is closed, nobody is told. */
static void channel_end_source(struct uct_sm_iface   *iface,
                               struct uct_sm_channel *channel, uint32_t index,
                               ucs_status_t status)
{
    struct uct_source *source = channel->sources[index];

    channel->sources[index] = NULL;
    if (status != UCS_INPROGRESS) {
        uct_iface_end_source(&iface->base, source, status);
    }
    free(source);
}

void uct_sm_channel_close_source(struct uct_sm_iface   *iface,
                                 struct uct_sm_channel *channel, uint32_t index)
{
    /* One that never sent anything has no object. */
    if ((index < channel->source_room) && (channel->sources[index] != NULL)) {
        channel_end_source(iface, channel, index, UCS_OK);
    }
}

void uct_sm_channel_break(struct uct_sm_iface   *iface,
                          struct uct_sm_channel *channel, const char *what)
{
    if (channel->failed != UCS_OK) {
        return;
    }
    ucs_error("sm: process %d sent %s; its channel %u is closed",
              (int)channel->sender.pid, what, channel->index);
    channel->failed = UCS_ERR_IO_ERROR;
    atomic_store_explicit(&channel->entry->refused, 1, memory_order_relaxed);
    uct_sm_look_soon(iface);
}

/* Let the next sender have the channel. */
static void channel_give_back(struct uct_sm_iface *iface, unsigned index)
{
    struct uct_sm_entry *entry = &iface->segment.entries[index];

    memset(uct_sm_segment_ring(&iface->segment, index), 0, UCT_SM_RING_BYTES);
    memset(&entry->sender, 0, sizeof(entry->sender));
    atomic_store_explicit(&entry->read_position, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->polled, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->refused, 0, memory_order_relaxed);
    /* GIVE BACK: release, pairs with CLAIM in sm_segment.c. */
    atomic_store_explicit(&entry->state, UCT_SM_CHANNEL_FREE,
                          memory_order_release);
}

/* Chunks that the user keeps belong to nobody's channel from here on. */
static void channel_orphan_kept(struct uct_sm_iface         *iface,
                                const struct uct_sm_channel *channel)
{
    unsigned index;

    for (index = 0; index < iface->segment.pool.chunk_count; ++index) {
        if (iface->kept_by[index] == channel->index + 1) {
            iface->kept_by[index] = UCT_SM_CHUNK_ORPHAN;
        }
    }
}

static void channel_free(struct uct_sm_iface   *iface,
                         struct uct_sm_channel *channel)
{
    if (channel->watch != NULL) {
        uct_sm_watch_put(iface, channel->watch);
    }
    if (channel->socket != NULL) {
        uct_sm_socket_put(iface, channel->socket);
    }
    ucsi_fd_close(&channel->bell);
    free(channel->sources);
    free(channel);
}

/* The sources end, the memory is free again. Callbacks run. */
static void channel_end(struct uct_sm_iface   *iface,
                        struct uct_sm_channel *channel, ucs_status_t status)
{
    uint32_t index;

    if (!iface->is_child) {
        uct_sm_poll_remove(iface, channel);
    }
    iface->channels[channel->index] = NULL;
    --iface->channel_count;
    for (index = 0; index < channel->source_room; ++index) {
        if (channel->sources[index] != NULL) {
            channel_end_source(iface, channel, index, status);
        }
    }
    if (!iface->is_child) {
        channel_orphan_kept(iface, channel);
        (void)uct_sm_pool_reclaim(&iface->segment.pool, channel->index,
                                  iface->kept);
        channel_give_back(iface, channel->index);
        uct_sm_room_made(iface);
    }
    channel_free(iface, channel);
}

static unsigned channel_look(struct uct_sm_iface   *iface,
                             struct uct_sm_channel *channel)
{
    bool is_dead = channel->is_dead ||
                   ((channel->watch != NULL) && channel->watch->is_dead) ||
                   ((channel->socket != NULL) && channel->socket->is_hung_up);
    bool     is_empty;
    bool     has_left;
    unsigned count;

    /* LEAVES: acquire, pairs with LEFT: all that was sent is in the ring. */
    has_left =
        (atomic_load_explicit(&channel->entry->state, memory_order_acquire) &
         0xff) == UCT_SM_CHANNEL_CLOSED;
    if (!is_dead && !has_left && (channel->failed == UCS_OK)) {
        return 0;
    }
    count = uct_sm_channel_drain(iface, channel, &is_empty);
    if (!is_empty) {
        uct_sm_look_soon(iface); /* the rest, before its end */
        return count;
    }
    if (channel->failed != UCS_OK) {
        /* While the sender is there, the ring stays its. */
        if (is_dead || has_left) {
            channel_end(iface, channel, channel->failed);
        }
        return count;
    }
    channel_end(iface, channel, has_left ? UCS_OK : UCS_ERR_CONNECTION_RESET);
    return count + 1;
}

/* Meet senders that claimed a channel and never rang; forget those that died
 * in between. */
static void channels_look_claims(struct uct_sm_iface *iface)
{
    uint32_t claim_count = atomic_load_explicit(
        &iface->segment.header->claim_count, memory_order_relaxed);
    bool     is_settled = true;
    uint32_t entry_count;
    unsigned index;
    uint64_t state;

    if (claim_count == iface->claim_count_seen) {
        return;
    }
    entry_count = atomic_load_explicit(&iface->segment.header->entry_count,
                                       memory_order_relaxed);
    entry_count = ucs_min(entry_count, (uint32_t)UCT_SM_CHANNEL_COUNT_MAX);
    for (index = 0; index < entry_count; ++index) {
        if ((index < iface->channel_room) && (iface->channels[index] != NULL)) {
            continue;
        }
        if (uct_sm_channel_meet(iface, index) != NULL) {
            continue;
        }
        state = atomic_load_explicit(&iface->segment.entries[index].state,
                                     memory_order_relaxed);
        /* Without a pid: it rings when it is complete. */
        if (((state & 0xff) != UCT_SM_CHANNEL_CLAIMED) || (state >> 8 == 0)) {
            continue;
        }
        if ((kill((pid_t)(state >> 8), 0) != 0) && (errno == ESRCH)) {
            channel_give_back(iface, index);
        } else {
            is_settled = false;
        }
    }
    if (is_settled) {
        iface->claim_count_seen = claim_count;
    }
}

unsigned uct_sm_channels_look(struct uct_sm_iface *iface)
{
    unsigned count = 0;
    unsigned index;

    channels_look_claims(iface);
    for (index = 0; index < iface->channel_room; ++index) {
        if (iface->channels[index] != NULL) {
            count += channel_look(iface, iface->channels[index]);
        }
    }
    return count;
}

void uct_sm_channels_cleanup(struct uct_sm_iface *iface)
{
    unsigned index;

    for (index = 0; index < iface->channel_room; ++index) {
        if (iface->channels[index] != NULL) {
            channel_end(iface, iface->channels[index], UCS_INPROGRESS);
        }
    }
    free(iface->channels);
}
