/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_peer.c - an interface that we send to, from the first endpoint to
 * the last record of the last one. */
#include "uct/sm/sm.h"

#include <stdlib.h>
#include <unistd.h>

#include "ucs/log.h"
#include "uct/base/ep.h"
#include "uct/sm/sm_barrier.h"
#include "uct/sm/sm_socket.h"

/* For peers that need a fence before the doorbell is decided: never polled,
 * as far as the quick path sees. */
static const _Atomic uint32_t peer_never_polled;

struct uct_sm_peer *uct_sm_peer_find(struct uct_sm_iface *iface,
                                     uint64_t             segment_id)
{
    struct uct_sm_peer *peer;

    ucs_list_for_each (peer, &iface->peers[segment_id % UCT_SM_BUCKET_COUNT],
                       link) {
        if (peer->address.segment_id == segment_id) {
            return peer;
        }
    }
    return NULL;
}

struct uct_sm_peer *uct_sm_peer_get(struct uct_sm_iface         *iface,
                                    const struct uct_sm_address *address)
{
    struct uct_sm_peer *peer = uct_sm_peer_find(iface, address->segment_id);

    if (peer != NULL) {
        return peer;
    }
    if (posix_memalign((void **)&peer, UCT_SM_LINE_BYTES, sizeof(*peer)) != 0) {
        return NULL;
    }
    memset(peer, 0, sizeof(*peer));
    peer->iface   = iface;
    peer->state   = UCT_SM_PEER_NEW;
    peer->bell    = -1;
    peer->address = *address;
    ucs_list_init(&peer->eps);
    ucs_list_init(&peer->closing);
    ucs_list_add_tail(&iface->peers[address->segment_id % UCT_SM_BUCKET_COUNT],
                      &peer->link);
    return peer;
}

/* Do others' barriers order what we send, or do we fence? */
static void peer_order(struct uct_sm_peer *peer)
{
    enum uct_sm_barrier_state state = uct_sm_barrier_state();
    struct uct_sm_mapping    *map   = &peer->mapping;

    if (state == UCT_SM_BARRIER_IMPOSSIBLE) {
        atomic_store_explicit(&map->header->fence_wanted, 1,
                              memory_order_relaxed);
    }
    peer->must_fence = (state != UCT_SM_BARRIER_REACHES_US) ||
                       map->header->identity.needs_fence;
    peer->polled_p =
        peer->must_fence ? &peer_never_polled : &map->entry->polled;
}

void uct_sm_peers_order(struct uct_sm_iface *iface)
{
    struct uct_sm_peer *peer;
    unsigned            index;

    for (index = 0; index < UCT_SM_BUCKET_COUNT; ++index) {
        ucs_list_for_each (peer, &iface->peers[index], link) {
            if (peer->is_mapped) {
                peer_order(peer);
            }
        }
    }
}

ucs_status_t uct_sm_peer_map(struct uct_sm_peer *peer, int fd,
                             const struct uct_sm_identity *identity)
{
    struct uct_sm_iface   *iface  = peer->iface;
    struct uct_sm_mapping *map    = &peer->mapping;
    struct uct_sm_sender   sender = {
          .segment_id       = iface->address.segment_id,
          .process_start    = iface->address.process_start,
          .pid_namespace_id = iface->address.pid_namespace,
          .pid              = iface->address.pid,
          .by_socket        = (peer->socket != NULL),
    };
    ucs_status_t status;

    if (identity->segment_id != peer->address.segment_id) {
        return UCS_ERR_UNREACHABLE; /* another one took its number */
    }
    uct_sm_rights_probe(peer, identity);
    sender.rights = peer->rights;
    status        = uct_sm_mapping_open(map, fd, identity, &sender);
    if (status != UCS_OK) {
        return status;
    }
    atomic_store_explicit(&map->entry->bell_fd, iface->bell[1],
                          memory_order_relaxed);
    peer->is_mapped = true;
    peer_order(peer);
    uct_sm_ring_writer_init(&peer->writer, map->ring,
                            &map->entry->read_position);
    uct_sm_chunk_user_init(&peer->chunks, &map->pool, map->channel_index);
    /* A chunk that is held is quicker than many lines of the ring; one that
     * must be taken from the pool every time is not. */
    peer->inline_bytes_max = (peer->chunks.held_max > 0)
                                 ? (size_t)UCT_SM_SHORT_BYTES_MAX
                                 : (size_t)UCT_SM_RECORD_BYTES_MAX;
    peer->state            = UCT_SM_PEER_READY;
    uct_sm_rights_ask(peer);
    uct_sm_doorbell_ring_slow(peer); /* the owner meets us, and watches us */
    return UCS_OK;
}

/* Choose the index under which the receiver knows an endpoint. */
static ucs_status_t peer_take_index(struct uct_sm_peer *peer, uint32_t *index_p)
{
    uint32_t *indexes;
    uint32_t  room;

    if (peer->free_count > 0) {
        *index_p = peer->free_indexes[--peer->free_count];
        return UCS_OK;
    }
    if (peer->index_count == UCT_SM_SOURCE_COUNT_MAX) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    if (peer->index_count == peer->free_room) {
        /* Room to give every index back, so that closing cannot fail. */
        room    = (peer->free_room == 0) ? 4 : 2 * peer->free_room;
        indexes = realloc(peer->free_indexes, room * sizeof(*indexes));
        if (indexes == NULL) {
            return ucsi_no_memory("numbers of endpoints",
                                  room * sizeof(*indexes));
        }
        peer->free_indexes = indexes;
        peer->free_room    = room;
    }
    *index_p = peer->index_count++;
    return UCS_OK;
}

ucs_status_t uct_sm_ep_prepare(struct uct_sm_ep *ep)
{
    struct uct_sm_peer *peer = ep->peer;
    ucs_status_t        status;
    uint32_t            index = 0;

    if (ep->base.failed != UCS_OK) {
        return ep->base.failed;
    }
    if (peer->state == UCT_SM_PEER_NEW) {
        status = uct_sm_attach(peer);
        if (status != UCS_OK) {
            return status;
        }
    }
    if (peer->state == UCT_SM_PEER_WAITING) {
        return UCS_ERR_WOULD_BLOCK;
    }
    if (peer->state == UCT_SM_PEER_GONE) {
        return peer->failed;
    }
    status = peer_take_index(peer, &index);
    if (status != UCS_OK) {
        return status;
    }
    ep->control  = uct_sm_control(0, 0, index, 0);
    ep->is_ready = true;
    uct_sm_rights_show(ep);
    return UCS_OK;
}

void uct_sm_peer_break(struct uct_sm_peer *peer, ucs_status_t status)
{
    if (!peer->is_broken && (peer->state != UCT_SM_PEER_GONE)) {
        peer->is_broken = true;
        peer->failed    = status;
        uct_sm_look_soon(peer->iface);
    }
}

/* Free endpoints whose end need not be sent any more. */
static void peer_drop_closing(struct uct_sm_peer *peer)
{
    struct uct_sm_ep *ep, *next;

    ucs_list_for_each_safe (ep, next, &peer->closing, link) {
        --peer->iface->closing_count;
        ucs_list_remove(&ep->link);
        free(ep);
    }
}

void uct_sm_peer_gone(struct uct_sm_peer *peer, ucs_status_t status,
                      bool is_orderly)
{
    struct ucs_list   todo;
    struct uct_sm_ep *ep;

    if (peer->state == UCT_SM_PEER_GONE) {
        return;
    }
    if (peer->state == UCT_SM_PEER_WAITING) {
        --peer->iface->waiting_count;
    }
    peer->state              = UCT_SM_PEER_GONE;
    peer->failed             = status;
    peer->iface->reap_wanted = true;
    peer_drop_closing(peer);
    /* A callback may destroy any endpoint, and create new ones. */
    ucs_list_init(&todo);
    ucs_list_splice_tail(&todo, &peer->eps);
    while (!ucs_list_is_empty(&todo)) {
        ep = ucs_list_first(&todo, struct uct_sm_ep, link);
        ucs_list_remove(&ep->link);
        ucs_list_add_tail(&peer->eps, &ep->link);
        ep->is_ready = false;
        uct_sm_copies_stop(ep);
        if (!is_orderly) {
            (void)ucti_ep_fail(&ep->base, &ep->inflight, status);
        } else if (ep->base.failed == UCS_OK) {
            ep->base.failed = status;
            (void)ucti_inflight_finish_all(&ep->inflight, status);
        }
    }
}

/* Send the ends that did not fit. */
static void peer_flush_closing(struct uct_sm_peer *peer)
{
    struct uct_sm_ep *ep, *next;

    ucs_list_for_each_safe (ep, next, &peer->closing, link) {
        if (!uct_sm_send_close(ep)) {
            return;
        }
        peer->free_indexes[peer->free_count++] =
            uct_sm_control_source(ep->control);
        --peer->iface->closing_count;
        ucs_list_remove(&ep->link);
        free(ep);
    }
}

static void peer_look(struct uct_sm_peer *peer)
{
    if (peer->is_broken) {
        uct_sm_peer_gone(peer, peer->failed, false);
        return;
    }
    if ((peer->state == UCT_SM_PEER_WAITING) && peer->socket->is_hung_up) {
        uct_sm_peer_gone(peer, UCS_ERR_CONNECTION_RESET, false);
        return;
    }
    if (peer->state != UCT_SM_PEER_READY) {
        return;
    }
    if (atomic_load_explicit(&peer->mapping.header->alive,
                             memory_order_relaxed) != UCT_SM_ALIVE) {
        uct_sm_peer_gone(peer, UCS_ERR_CONNECTION_RESET, true);
    } else if (atomic_load_explicit(&peer->mapping.entry->refused,
                                    memory_order_relaxed)) {
        uct_sm_peer_gone(peer, UCS_ERR_IO_ERROR, false);
    } else if (((peer->watch != NULL) && peer->watch->is_dead) ||
               ((peer->socket != NULL) && peer->socket->is_hung_up)) {
        uct_sm_peer_gone(peer, UCS_ERR_CONNECTION_RESET, false);
    } else {
        peer_flush_closing(peer);
    }
}

void uct_sm_peers_look(struct uct_sm_iface *iface)
{
    struct uct_sm_peer *peer;
    unsigned            index;

    for (index = 0; index < UCT_SM_BUCKET_COUNT; ++index) {
        /* Callbacks add peers at the end, and remove none. */
        ucs_list_for_each (peer, &iface->peers[index], link) {
            peer_look(peer);
        }
    }
}

/* Leave a peer's channel in order and forget the peer. */
static void peer_destroy(struct uct_sm_peer *peer)
{
    struct uct_sm_iface *iface = peer->iface;

    peer_drop_closing(peer);
    if (peer->state == UCT_SM_PEER_WAITING) {
        --iface->waiting_count;
    }
    if (peer->is_mapped && iface->is_child) {
        uct_sm_mapping_close(&peer->mapping);
    } else if (peer->is_mapped) {
        /* LEFT: release, pairs with LEAVES in sm_channel.c: all we sent is
         * in the ring. */
        atomic_store_explicit(&peer->mapping.entry->state,
                              (uint64_t)(uint32_t)iface->address.pid << 8 |
                                  UCT_SM_CHANNEL_CLOSED,
                              memory_order_release);
        uct_sm_doorbell_ring_slow(peer);
        uct_sm_mapping_close(&peer->mapping);
    }
    ucsi_fd_close(&peer->bell);
    if (peer->watch != NULL) {
        uct_sm_watch_put(iface, peer->watch);
    }
    uct_sm_socket_detach(peer);
    ucs_list_remove(&peer->link);
    free(peer->free_indexes);
    free(peer);
}

void uct_sm_peers_reap(struct uct_sm_iface *iface, bool is_closing)
{
    struct uct_sm_peer *peer, *next;
    unsigned            index;

    iface->reap_wanted = false;
    for (index = 0; index < UCT_SM_BUCKET_COUNT; ++index) {
        ucs_list_for_each_safe (peer, next, &iface->peers[index], link) {
            if (is_closing || (ucs_list_is_empty(&peer->eps) &&
                               ucs_list_is_empty(&peer->closing))) {
                peer_destroy(peer);
            }
        }
    }
}
