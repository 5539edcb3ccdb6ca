/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_doorbell.c - who looks where, and who sleeps.
 *
 * A receiver looks at a few rings by itself: their entries say polled. After
 * a message to any other channel the sender sets its bit in the doorbell,
 * which the receiver looks at too; after that it looks whether the receiver
 * sleeps, and wakes it. A receiver that goes to sleep just stops polling, so
 * there is one rule for the busy and the sleeping:
 *
 *   sender                             receiver
 *   1 store the message                a store polled = 0
 *   2 load polled; if 0:               b membarrier
 *   3   set bit, fence                 c load the ring once more
 *   4   load asleep; if 1: wake        d (asleep = 1 before b) load the bits
 *
 * Either 2 sees a, or c sees 1; either 4 sees asleep, or d sees 3. The sender
 * has no fence between 1 and 2: membarrier makes the kernel run one on every
 * processor where a registered process runs (sm_barrier). If the receiver
 * cannot do that, or the sender is not registered, the sender fences
 * (must_fence).
 *
 * Room is the same the other way round: the sleeper is the sender, it stores
 * room_wanted, calls membarrier, looks for room once more. */
#include "uct/sm/sm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ucs/log.h"
#include "uct/base/pending.h"
#include "uct/sm/sm_barrier.h"
#include "uct/sm/sm_socket.h"

/* ThreadSanitizer does not know fences, and need not: everything that is read
 * is also published by a release. */
static void doorbell_fence(void)
{
#if UCS_HAS_TSAN && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
    atomic_thread_fence(memory_order_seq_cst);
#if UCS_HAS_TSAN && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

/* Order all that others did before against all that we do from here on. */
static void doorbell_barrier(const struct uct_sm_iface *iface)
{
    if (!iface->segment.header->identity.needs_fence) {
        uct_sm_barrier_call();
    }
    doorbell_fence();
}

/* ---- The bell: a pipe that wakes a sleeper ---- */

/* Open the bell of a process. The number may mean another process by now: that
 * it was ours is sure when ours still lives afterwards. */
static int bell_open(struct uct_sm_iface       *iface,
                     const struct uct_sm_watch *watch, int32_t pid,
                     int32_t bell_fd)
{
    struct stat status;
    char        path[64];
    int         bell;

    (void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid,
                   (int)bell_fd);
    /* For reading too: a pipe without a reader would be a SIGPIPE. */
    bell = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if ((bell < 0) && ((errno == EMFILE) || (errno == ENFILE))) {
        uct_sm_bells_drop(iface);
        bell = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    }
    if (bell < 0) {
        return -1;
    }
    if ((fstat(bell, &status) != 0) || !S_ISFIFO(status.st_mode) ||
        ((watch != NULL) && !uct_sm_watch_is_alive(watch))) {
        ucsi_fd_close(&bell);
        errno = ESRCH;
    }
    return bell;
}

/* Wake a process through its bell. watch may be NULL: it is ourselves. */
static void bell_wake(struct uct_sm_iface *iface, int *bell_p,
                      const struct uct_sm_watch *watch, int32_t pid,
                      int32_t bell_fd)
{
    if (*bell_p < 0) {
        *bell_p = bell_open(iface, watch, pid, bell_fd);
    }
    /* A full pipe rings already. */
    if ((*bell_p < 0) || ((write(*bell_p, "", 1) != 1) && (errno != EAGAIN))) {
        if ((watch == NULL) || uct_sm_watch_is_alive(watch)) {
            ucs_warn_limited("sm: process %d sleeps and cannot be woken: %m",
                             (int)pid);
        }
    }
}

void uct_sm_bells_drop(struct uct_sm_iface *iface)
{
    struct uct_sm_peer *peer;
    unsigned            index;

    for (index = 0; index < UCT_SM_BUCKET_COUNT; ++index) {
        ucs_list_for_each (peer, &iface->peers[index], link) {
            ucsi_fd_close(&peer->bell);
        }
    }
    for (index = 0; index < iface->channel_room; ++index) {
        if (iface->channels[index] != NULL) {
            ucsi_fd_close(&iface->channels[index]->bell);
        }
    }
}

/* ---- The sender ---- */

void uct_sm_doorbell_ring_slow(struct uct_sm_peer *peer)
{
    struct uct_sm_header *header = peer->mapping.header;
    unsigned              index  = peer->mapping.channel_index;

    if (peer->must_fence) {
        doorbell_fence();
        if (atomic_load_explicit(&peer->mapping.entry->polled,
                                 memory_order_relaxed)) {
            return;
        }
    }
    /* BIT, then SUM: release, pair with ANSWER: the message is in the ring,
     * the bit in its word. */
    uct_sm_doorbell_set(header, index);
    /* Pairs with the barrier in arm. */
    doorbell_fence();
    if (!atomic_load_explicit(&header->asleep, memory_order_relaxed) ||
        !atomic_exchange_explicit(&header->asleep, 0, memory_order_relaxed)) {
        return;
    }
    if (peer->socket != NULL) {
        uct_sm_socket_wake(peer->socket);
        return;
    }
    bell_wake(peer->iface, &peer->bell, peer->watch, peer->address.pid,
              atomic_load_explicit(&header->bell_fd, memory_order_relaxed));
}

/* ---- The receiver ---- */

void uct_sm_poll_add(struct uct_sm_iface *iface, struct uct_sm_channel *channel)
{
    if (channel->is_polled || (channel->failed != UCS_OK) ||
        (iface->polled_count >= iface->options.poll_channels)) {
        return;
    }
    iface->polled[iface->polled_count++] = channel;
    channel->is_polled                   = true;
    channel->is_active                   = true;
    atomic_store_explicit(&channel->entry->polled, 1, memory_order_relaxed);
}

void uct_sm_poll_remove(struct uct_sm_iface   *iface,
                        struct uct_sm_channel *channel)
{
    unsigned index;

    if (!channel->is_polled) {
        return;
    }
    for (index = 0; iface->polled[index] != channel; ++index) {
    }
    iface->polled[index] = iface->polled[--iface->polled_count];
    channel->is_polled   = false;
    atomic_store_explicit(&channel->entry->polled, 0, memory_order_relaxed);
}

/* Read a channel that rang. If there is more than one batch, it rings again
 * by our own hand. */
static unsigned doorbell_answer_one(struct uct_sm_iface *iface, unsigned index)
{
    struct uct_sm_channel *channel;
    bool                   is_empty;
    unsigned               count;

    channel = (index < iface->channel_room) ? iface->channels[index] : NULL;
    if (channel == NULL) {
        channel = uct_sm_channel_meet(iface, index);
        if (channel == NULL) {
            return 0;
        }
    }
    uct_sm_poll_add(iface, channel);
    count = uct_sm_channel_drain(iface, channel, &is_empty);
    if (!is_empty && !channel->is_polled) {
        uct_sm_doorbell_set(iface->segment.header, index);
    }
    if ((count == 0) && !channel->is_active) {
        return 0;
    }
    if ((atomic_load_explicit(&channel->entry->state, memory_order_relaxed) &
         0xff) == UCT_SM_CHANNEL_CLOSED) {
        uct_sm_look_soon(iface); /* it left in order */
    }
    return count;
}

unsigned uct_sm_doorbell_answer(struct uct_sm_iface *iface)
{
    struct uct_sm_header *header = iface->segment.header;
    unsigned              count  = 0;
    uint64_t              words, bits;
    unsigned              word_index;

    /* ANSWER: acquire, pairs with BIT and SUM. */
    words = atomic_exchange_explicit(&header->bell_summary, 0,
                                     memory_order_acquire);
    for (; words != 0; words &= words - 1) {
        word_index = (unsigned)__builtin_ctzll(words);
        bits       = atomic_exchange_explicit(&header->bell[word_index], 0,
                                              memory_order_acquire);
        for (; bits != 0; bits &= bits - 1) {
            count += doorbell_answer_one(
                iface, word_index * 64 + (unsigned)__builtin_ctzll(bits));
        }
    }
    return count;
}

void uct_sm_poll_sweep(struct uct_sm_iface *iface)
{
    struct uct_sm_channel *channel;
    unsigned               idle_count = 0;
    unsigned               index;

    if (iface->polled_count > 1) {
        for (index = 0; index < iface->polled_count; ++index) {
            channel = iface->polled[index];
            if (!channel->is_active) {
                atomic_store_explicit(&channel->entry->polled, 0,
                                      memory_order_relaxed);
                ++idle_count;
            }
        }
    }
    if (idle_count > 0) {
        doorbell_barrier(iface);
    }
    for (index = iface->polled_count; index-- > 0;) {
        channel = iface->polled[index];
        if (channel->is_active || (idle_count == 0)) {
            channel->is_active = false;
        } else if (uct_sm_ring_look(&channel->reader) == 0) {
            uct_sm_poll_remove(iface, channel);
        } else {
            atomic_store_explicit(&channel->entry->polled, 1,
                                  memory_order_relaxed);
        }
    }
}

/* ---- Sleep ---- */

void uct_sm_room_made_slow(struct uct_sm_iface *iface)
{
    struct uct_sm_header  *header = iface->segment.header;
    struct uct_sm_channel *channel;
    unsigned               index;

    if (iface->must_fence) {
        doorbell_fence();
    }
    /* WANTS: acquire, pairs with WANT: the entry says so too. */
    if (!atomic_load_explicit(&header->room_wanted, memory_order_relaxed) ||
        !atomic_exchange_explicit(&header->room_wanted, 0,
                                  memory_order_acquire)) {
        return;
    }
    for (index = 0; index < iface->channel_room; ++index) {
        channel = iface->channels[index];
        if ((channel == NULL) ||
            !atomic_exchange_explicit(&channel->entry->room_wanted, 0,
                                      memory_order_relaxed)) {
            continue;
        }
        if (channel->socket != NULL) {
            uct_sm_socket_wake(channel->socket);
        } else {
            bell_wake(iface, &channel->bell, channel->watch,
                      channel->sender.pid,
                      atomic_load_explicit(&channel->entry->bell_fd,
                                           memory_order_relaxed));
        }
    }
}

/* Ask a peer to wake us when it has made room. */
static void doorbell_want_room(struct uct_sm_peer *peer)
{
    if (peer->state != UCT_SM_PEER_READY) {
        return;
    }
    atomic_store_explicit(&peer->mapping.entry->room_wanted, 1,
                          memory_order_relaxed);
    /* WANT: release, pairs with WANTS. */
    atomic_store_explicit(&peer->mapping.header->room_wanted, 1,
                          memory_order_release);
}

/* Do it for all that something waits for. */
static void doorbell_want_rooms(struct uct_sm_iface *iface)
{
    struct uct_sm_peer *peer;
    struct uct_ep      *ep;
    unsigned            index;

    ucs_list_for_each (ep, &iface->base.pending, pending_link) {
        doorbell_want_room(ucs_container_of(ep, struct uct_sm_ep, base)->peer);
    }
    for (index = 0; (iface->closing_count > 0) && (index < UCT_SM_BUCKET_COUNT);
         ++index) {
        ucs_list_for_each (peer, &iface->peers[index], link) {
            if (!ucs_list_is_empty(&peer->closing)) {
                doorbell_want_room(peer);
            }
        }
    }
}

/* Is there room for one of those that wait? */
static bool doorbell_has_room(struct uct_sm_iface *iface)
{
    struct uct_sm_peer *peer;
    struct uct_ep      *ep;
    unsigned            index;

    ucs_list_for_each (ep, &iface->base.pending, pending_link) {
        if (uct_sm_may_send(ep) == UCT_MAY_SEND_NOW) {
            return true;
        }
    }
    for (index = 0; (iface->closing_count > 0) && (index < UCT_SM_BUCKET_COUNT);
         ++index) {
        ucs_list_for_each (peer, &iface->peers[index], link) {
            if (!ucs_list_is_empty(&peer->closing) &&
                (uct_sm_ring_reserve(&peer->writer, 1) != NULL)) {
                return true;
            }
        }
    }
    return false;
}

static bool doorbell_has_messages(const struct uct_sm_iface *iface)
{
    unsigned index;

    for (index = 0; index < iface->polled_count; ++index) {
        if (uct_sm_ring_look(&iface->polled[index]->reader) != 0) {
            return true;
        }
    }
    return atomic_load_explicit(&iface->segment.header->bell_summary,
                                memory_order_relaxed) != 0;
}

static void doorbell_set_polled(struct uct_sm_iface *iface, uint32_t polled)
{
    unsigned index;

    for (index = 0; index < iface->polled_count; ++index) {
        atomic_store_explicit(&iface->polled[index]->entry->polled, polled,
                              memory_order_relaxed);
    }
}

void uct_sm_disarm(struct uct_sm_iface *iface)
{
    iface->is_armed = false;
    atomic_store_explicit(&iface->segment.header->asleep, 0,
                          memory_order_relaxed);
    doorbell_set_polled(iface, 1);
}

ucs_status_t uct_sm_arm(struct uct_iface *base)
{
    struct uct_sm_iface *iface = uct_sm_iface_of(base);
    char                 bytes[64];

    if (iface->bell[0] < 0) {
        return UCS_ERR_UNSUPPORTED; /* opened without wakeup */
    }
    if (iface->is_armed) {
        uct_sm_disarm(iface);
    }
    if (iface->look_wanted || !ucs_list_is_empty(&iface->copies.eps) ||
        doorbell_has_messages(iface)) {
        return UCS_ERR_BUSY;
    }
    while (read(iface->bell[0], bytes, sizeof(bytes)) > 0) {
    }
    doorbell_set_polled(iface, 0);
    doorbell_want_rooms(iface);
    atomic_store_explicit(&iface->segment.header->asleep, 1,
                          memory_order_relaxed);
    doorbell_barrier(iface);
    iface->is_armed = true;
    if (doorbell_has_messages(iface) || doorbell_has_room(iface)) {
        uct_sm_disarm(iface);
        return UCS_ERR_BUSY;
    }
    iface->look_in_calls = 1; /* the first call of progress disarms */
    return UCS_OK;
}

int uct_sm_event_fd(struct uct_iface *base)
{
    return uct_sm_iface_of(base)->events.fd;
}

/* The bell rang: read it empty, the rest is done by progress. */
static void bell_ready(struct uct_sm_iface *iface, struct uct_sm_event *event)
{
    char bytes[64];

    (void)event;
    while (read(iface->bell[0], bytes, sizeof(bytes)) > 0) {
    }
}

ucs_status_t uct_sm_bell_open(struct uct_sm_iface *iface)
{
    ucs_status_t status;

    if (pipe2(iface->bell, O_CLOEXEC | O_NONBLOCK) != 0) {
        iface->bell[0] = iface->bell[1] = -1;
        ucs_error("sm: pipe2: %m; see `ulimit -n`");
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    iface->bell_event.ready = bell_ready;
    status = ucsi_event_set_add(&iface->events, iface->bell[0], UCS_EVENT_READ,
                                &iface->bell_event);
    if (status != UCS_OK) {
        uct_sm_bell_close(iface);
        return status;
    }
    atomic_store_explicit(&iface->segment.header->bell_fd, iface->bell[1],
                          memory_order_relaxed);
    return UCS_OK;
}

void uct_sm_bell_close(struct uct_sm_iface *iface)
{
    ucsi_fd_close(&iface->bell[0]);
    ucsi_fd_close(&iface->bell[1]);
}
