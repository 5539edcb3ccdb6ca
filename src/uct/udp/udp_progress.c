/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_progress.c - receive, take a turn, tell the application.
 *
 *   progress:  inbox --> handlers
 *              sockets --> packets --> handlers
 *              turn: time-outs, timers, sends, acknowledgements
 *              notified --> completions, failures, ends
 *              endpoints that wait for room
 *
 * Connections are freed only here, when nothing above them is on the stack. */
#include <string.h>

#include "ucs/clock.h"
#include "uct/base/am.h"
#include "uct/base/ep.h"
#include "uct/base/pending.h"
#include "uct/udp/udp.h"

enum {
    PROGRESS_SKIP_COUNT = 16,  /* polls in which one socket is asked */
    PROGRESS_SKIP_BULK  = 4,   /* the same while bulk comes; and packets */
    PROGRESS_BULK_COUNT = 256, /* polls after the last packet of bulk */
    PROGRESS_OPENING_NS = 250 * 1000 * 1000, /* after a question was sent */
};

/* ---------------------------------------------------------- ops of env */

static size_t progress_send(struct udp_env *env, struct udp_io *io,
                            struct udp_out *out)
{
    size_t       bytes = 0;
    ucs_status_t status;
    unsigned     index;

    if (ucs_likely(udp_io_send(io, out, 1, &status) == 1)) {
        return out->sent_bytes;
    }
    if (status == UCS_ERR_WOULD_BLOCK) {
        env->is_blocked = true;
        return out->sent_bytes;
    }
    env->is_too_long |= (status == UCS_ERR_EXCEEDS_LIMIT);
    for (index = 0; index < out->iov_count; ++index) {
        bytes += out->iov[index].iov_len;
    }
    return bytes; /* lost on the way: time-outs see to it */
}

static size_t progress_transmit(struct udp_env *env, struct udp_out *out)
{
    return progress_send(env, udp_iface_of_env(env)->io, out);
}

static size_t progress_detour(struct udp_env *env, struct udp_env *by,
                              struct udp_out *out)
{
    struct udp_iface *iface = udp_iface_of_env(env);
    struct udp_iface *other = udp_iface_of_env(by);
    size_t            bytes = 0;

    if (udp_enter_beside(iface, other)) {
        bytes = progress_send(env, other->io, out);
        udp_leave_beside(iface, other);
    } else {
        env->is_blocked = true; /* another time */
    }
    return bytes;
}

static bool progress_has_room(struct udp_env *env, size_t length)
{
    struct udp_iface *iface = udp_iface_of_env(env);

    return iface->is_direct || ((iface->inbox_count < UDP_INBOX_COUNT_MAX) &&
                                udp_env_can_hold(env, length));
}

static void progress_end_source(struct udp_iface *iface, struct udp_conn *conn)
{
    if (conn->has_source && !conn->is_source_ended) {
        conn->is_source_ended = true;
        uct_iface_end_source(&iface->base, &conn->source,
                             conn->has_peer_fin ? UCS_OK : conn->status);
    }
}

/* The endpoint that the peer makes after one says nothing before we have
 * acknowledged the end of that one; who is told must not hear it first. */
static void progress_end_others(struct udp_iface *iface)
{
    struct udp_conn *conn;

    ucs_queue_for_each (conn, &iface->notified, notify_link) {
        if (conn->has_peer_fin && (conn->inbox_count == 0)) {
            progress_end_source(iface, conn);
        }
    }
}

static void progress_deliver(struct udp_iface *iface, struct udp_conn *conn,
                             unsigned am_id, uint8_t *data, size_t length)
{
    if (ucs_unlikely(!conn->has_source)) {
        progress_end_others(iface);
        conn->has_source = true;
    }
    (void)uct_iface_deliver(&iface->base, am_id, &conn->source, data, length,
                            0);
}

/* Later: into the inbox. */
static void progress_keep(struct udp_iface *iface, struct udp_conn *conn,
                          unsigned am_id, struct udp_held *held)
{
    if (held == NULL) {
        udp_conn_fail(conn, UCS_ERR_NO_MEMORY); /* it is acknowledged already */
        return;
    }
    held->conn  = conn;
    held->am_id = (uint8_t)am_id;
    ucs_queue_push(&iface->inbox, &held->queue);
    ++conn->inbox_count;
    ++iface->inbox_count;
    iface->env.window =
        (iface->inbox_count < UDP_INBOX_COUNT_MAX)
            ? (uint16_t)(UDP_INBOX_COUNT_MAX - iface->inbox_count)
            : 0;
}

static struct udp_held *progress_copy(struct udp_env *env, const uint8_t *data,
                                      size_t length)
{
    struct udp_held *held = udp_env_hold(env, length);

    if (held != NULL) {
        memcpy(held->bytes, data, length);
        held->length = (uint32_t)length;
    }
    return held;
}

static void progress_message(struct udp_env *env, struct udp_conn *conn,
                             unsigned am_id, struct udp_held *held,
                             uint8_t *data, size_t length)
{
    struct udp_iface *iface = udp_iface_of_env(env);

    if (ucs_unlikely(!iface->is_direct)) {
        progress_keep(iface, conn, am_id,
                      (held != NULL) ? held : progress_copy(env, data, length));
        return;
    }
    if (ucs_unlikely((uintptr_t)data % 8 != 0)) {
        held = progress_copy(env, data, length); /* the kernel joined packets */
        data = (held != NULL) ? held->bytes : data;
    }
    progress_deliver(iface, conn, am_id, data, length);
    if (held != NULL) {
        udp_env_unhold(held);
    }
}

static void progress_notify(struct udp_env *env, struct udp_conn *conn)
{
    ucs_queue_push(&udp_iface_of_env(env)->notified, &conn->notify_link);
}

static void *progress_region_enter(struct udp_env          *env,
                                   const struct udp_access *access,
                                   size_t length, unsigned right)
{
    struct udp_iface *iface = udp_iface_of_env(env);

    return udp_region_enter(
        ucs_container_of(iface->base.md, struct udp_md, base), access, length,
        right);
}

static void progress_region_leave(struct udp_env *env)
{
    struct udp_iface *iface = udp_iface_of_env(env);

    udp_region_leave(ucs_container_of(iface->base.md, struct udp_md, base));
}

const struct udp_env_ops udp_iface_ops = {
    .transmit     = progress_transmit,
    .detour       = progress_detour,
    .has_room     = progress_has_room,
    .message      = progress_message,
    .notify       = progress_notify,
    .region_enter = progress_region_enter,
    .region_leave = progress_region_leave,
};

/* ------------------------------------------------------------ receiving */

/* Packets that the kernel joined are cut again. */
static unsigned progress_cut(struct udp_iface *iface, const struct udp_in *in)
{
    size_t   offset, part;
    unsigned count = 0;

    for (offset = 0; offset < in->length; offset += part) {
        part = ucs_min(in->segment_bytes, in->length - offset);
        udp_peers_packet(iface, in->from, in->data + offset, part);
        ++count;
    }
    return count;
}

static unsigned progress_channel(struct udp_iface *iface,
                                 enum udp_channel  channel)
{
    struct udp_in in[UDP_RECEIVE_COUNT];
    unsigned count = udp_io_receive(iface->io, channel, in, UDP_RECEIVE_COUNT);
    unsigned index, packets = 0;

    for (index = 0; index < count; ++index) {
        packets += progress_cut(iface, &in[index]);
    }
    if (channel == UDP_DATA) {
        iface->bulk_count = (count > 0)               ? PROGRESS_BULK_COUNT
                            : (iface->bulk_count > 0) ? iface->bulk_count - 1
                                                      : 0;
    }
    return packets;
}

/* The answer to a handshake comes on the priority channel; bulk that is read
 * before it is for nobody yet, and would have to come again. */
static bool progress_is_opening(const struct udp_env *env)
{
    return (env->asking_count > 0) &&
           (env->now_ns - env->asked_ns < PROGRESS_OPENING_NS);
}

/* A socket that has nothing costs as much to ask as a whole message of shared
 * memory. So of the two the one that is expected to have something is asked
 * first. The data channel, while no bulk comes, and an interface that nobody
 * uses are asked now and then. */
static unsigned progress_sockets(struct udp_iface *iface)
{
    bool             is_bulk = (iface->bulk_count > 0);
    bool             opens   = progress_is_opening(&iface->env);
    enum udp_channel first   = (is_bulk && !opens) ? UDP_DATA : UDP_PRIORITY;
    bool             is_due  = (++iface->skip_count >=
                   (is_bulk ? PROGRESS_SKIP_BULK : PROGRESS_SKIP_COUNT)) ||
                  opens;
    unsigned count = 0;

    if (is_due || !ucs_list_is_empty(&iface->all)) {
        count = progress_channel(iface, first);
    }
    if (opens && (count >= UDP_RECEIVE_COUNT)) {
        return count; /* the answer may be behind what others said */
    }
    /* Who has taken much has time for the other one. */
    if (is_due ||
        (is_bulk && ((count == 0) || (count >= PROGRESS_SKIP_BULK)))) {
        iface->skip_count = 0;
        count += progress_channel(iface, (first == UDP_DATA) ? UDP_PRIORITY
                                                             : UDP_DATA);
    }
    return count;
}

/* --------------------------------------------------------------- telling */

/* What waited goes first. */
static unsigned progress_inbox(struct udp_iface *iface)
{
    struct ucs_queue_elem *elem;
    struct udp_held       *held;
    struct udp_conn       *conn;
    unsigned               count = 0;

    while ((elem = ucs_queue_pull(&iface->inbox)) != NULL) {
        held = ucs_container_of(elem, struct udp_held, queue);
        conn = held->conn;
        progress_deliver(iface, conn, held->am_id, held->data, held->length);
        udp_env_unhold(held);
        --conn->inbox_count;
        --iface->inbox_count;
        ++count;
    }
    if (count > 0) {
        iface->env.window = UDP_WINDOW_COUNT;
        ucs_list_for_each (conn, &iface->all, link) {
            udp_env_reopen(&iface->env, conn);
        }
    }
    return count;
}

/* Its endpoint may have waited for that. */
static void progress_opened(struct udp_iface      *iface,
                            const struct udp_conn *conn)
{
    struct udp_ep *ep = (struct udp_ep *)conn->user;

    if ((conn->state == UDP_CONN_OPEN) && (ep != NULL) && ep->is_opening) {
        ep->is_opening = false;
        uct_pending_move(&ep->base, &iface->base.pending);
    }
}

static void progress_finish(struct udp_conn *conn)
{
    struct ucs_queue_elem *elem;
    struct udp_fragment   *fragment;

    while ((elem = ucs_queue_pull(&conn->finished)) != NULL) {
        fragment = ucs_container_of(elem, struct udp_fragment, queue);
        if ((conn->user == NULL) ||
            !udp_ep_finished((struct udp_ep *)conn->user, fragment)) {
            continue; /* destroyed: it has taken the others back */
        }
    }
}

/* The endpoint has failed: operations say so before the first completion is
 * called back. What went through before keeps its status. */
static void progress_fail(struct udp_conn *conn, struct udp_ep *ep)
{
    struct ucs_queue_elem *elem;
    struct udp_fragment   *fragment;

    while ((elem = ucs_queue_pull(&conn->finished)) != NULL) {
        fragment = ucs_container_of(elem, struct udp_fragment, queue);
        fragment->req->status = (ucs_status_t)fragment->status;
        if (fragment->req != &fragment->own) {
            udp_fragment_free(fragment);
        }
    }
    (void)ucti_ep_fail(&ep->base, &ep->inflight, conn->status);
}

/* One connection has something to tell. */
static void progress_tell(struct udp_iface *iface, struct udp_conn *conn)
{
    struct udp_ep *ep;

    if (conn->state != UDP_CONN_FAILED) {
        progress_opened(iface, conn);
        progress_finish(conn);
    }
    if (conn->state == UDP_CONN_FAILED) {
        ep = (struct udp_ep *)conn->user;
        if (ep != NULL) {
            progress_fail(conn, ep);
        }
        progress_end_source(iface, conn);
    } else if (conn->has_peer_fin) {
        progress_end_source(iface, conn);
    }
    conn->is_over |= (conn->state == UDP_CONN_FAILED);
    if (conn->is_over && (conn->user == NULL) && !conn->needs_notify) {
        udp_peers_free(iface, conn);
    }
}

static unsigned progress_notified(struct udp_iface *iface)
{
    struct ucs_queue_elem *elem;
    struct udp_conn       *conn;
    unsigned               count = 0;

    while ((elem = ucs_queue_pull(&iface->notified)) != NULL) {
        conn = ucs_container_of(elem, struct udp_conn, notify_link);
        conn->needs_notify = false;
        progress_tell(iface, conn);
        ++count;
    }
    return count;
}

unsigned udp_iface_serve(struct udp_iface *iface)
{
    unsigned count;

    iface->env.now_ns = ucsi_clock_ns();
    count             = progress_channel(iface, UDP_PRIORITY);
    count += progress_channel(iface, UDP_DATA);
    udp_iface_hints(iface);
    return count + udp_env_turn(&iface->env);
}

/* Until its connection is open, or the handshake has failed, an endpoint waits
 * on a list of its own: thousands may. */
static enum uct_may_send progress_may_send(struct uct_ep *base)
{
    struct udp_ep *ep = udp_ep_of(base);

    if ((ep->conn->state == UDP_CONN_HELLO) ||
        (ep->conn->state == UDP_CONN_CONNECT)) {
        ep->is_opening = true;
        uct_pending_move(base, &udp_iface_of(base->iface)->opening);
        return UCT_MAY_SEND_LATER;
    }
    return udp_ep_may_send(base);
}

unsigned udp_progress(struct uct_iface *base)
{
    struct udp_iface *iface = udp_iface_of(base);
    unsigned          count = 0;
    bool              may_return;

    udp_enter(iface);
    /* Relaxed: the helper only wants to see it move. */
    atomic_store_explicit(
        &iface->poll_count,
        atomic_load_explicit(&iface->poll_count, memory_order_relaxed) + 1,
        memory_order_relaxed);
    if ((iface->detach_count > 0) && (--iface->detach_count == 0)) {
        udp_iface_detach(iface);
    }
    iface->env.now_ns = ucsi_clock_ns();
    iface->is_direct  = true;
    iface->is_armed   = false;
    if (!ucs_list_is_empty(&iface->env.bundles)) {
        udp_env_send_bundles(&iface->env);
    }
    if (ucs_unlikely(!ucs_queue_is_empty(&iface->inbox))) {
        count += progress_inbox(iface);
    }
    may_return           = (iface->env.deferred == NULL);
    iface->env.may_defer = may_return;
    count += progress_sockets(iface);
    iface->env.may_defer = false;
    if ((iface->env.deferred != NULL) && may_return && (count == 1)) {
        iface->is_direct = false;
        udp_leave(iface);
        return count; /* the next turn is near: only one is left out */
    }
    udp_iface_hints(iface);
    count += udp_env_turn(&iface->env);
    if (!ucs_queue_is_empty(&iface->notified)) {
        count += progress_notified(iface);
    }
    if (uct_iface_has_pending(base)) {
        count += ucti_pending_serve(base, progress_may_send);
        udp_env_send_bundles(&iface->env);
    }
    iface->is_direct = false;
    udp_leave(iface);
    return count;
}
