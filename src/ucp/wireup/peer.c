/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/wireup/peer.c - pairing the endpoints of two workers. */
#include "ucp/wireup/peer.h"

#include <stdlib.h>

#include "ucp/wireup/self_address.h"
#include "ucs/bytes.h"
#include "ucs/log.h"

static ucs_status_t peer_create(struct ucp_worker *worker, const uint8_t *bytes,
                                size_t                         size_bytes,
                                const struct ucp_address_view *view,
                                struct ucp_peer              **peer_p)
{
    size_t view_bytes = offsetof(struct ucp_address_view, entries) +
                        view->entry_count * sizeof(view->entries[0]);
    size_t           peer_bytes = offsetof(struct ucp_peer, view) + view_bytes;
    struct ucp_peer *peer       = calloc(1, peer_bytes);
    ptrdiff_t        shift;
    ucs_status_t     status;

    if (peer == NULL) {
        return ucsi_no_memory("a peer", peer_bytes);
    }
    peer->address = malloc(size_bytes);
    if (peer->address == NULL) {
        free(peer);
        return ucsi_no_memory("a peer's address", size_bytes);
    }
    memcpy(peer->address, bytes, size_bytes);
    peer->id = view->worker_id;
    memcpy(&peer->view, view, view_bytes);
    for (unsigned i = 0; i < view->entry_count; ++i) {
        shift                       = view->entries[i].bytes - bytes;
        peer->view.entries[i].bytes = peer->address + shift;
    }
    status = ucsi_hash_put(&worker->peers, peer->id, peer);
    if (status != UCS_OK) {
        free(peer->address);
        free(peer);
        return status;
    }
    *peer_p = peer;
    return UCS_OK;
}

ucs_status_t ucp_peer_get(struct ucp_worker *worker, const uint8_t *bytes,
                          size_t size_bytes, struct ucp_address_view *view_p,
                          struct ucp_peer **peer_p)
{
    char             reason[UCT_REASON_BYTES_MAX];
    struct ucp_peer *peer;
    ucs_status_t     status;

    status = ucp_address_decode(bytes, size_bytes, view_p, reason);
    if (status != UCS_OK) {
        ucs_error("worker address of %zu bytes: %s", size_bytes, reason);
        return status;
    }
    peer = ucsi_hash_get(&worker->peers, view_p->worker_id);
    if (peer == NULL) {
        return peer_create(worker, bytes, size_bytes, view_p, peer_p);
    }
    if (memcmp(peer->view.secret, view_p->secret, sizeof(view_p->secret)) !=
        0) {
        ucs_error("worker address: worker %016lx is known with another secret; "
                  "refused",
                  (unsigned long)view_p->worker_id);
        return UCS_ERR_INVALID_ADDR;
    }
    *peer_p = peer;
    return UCS_OK;
}

void ucp_peers_cleanup(struct ucp_worker *worker)
{
    size_t           cursor = 0;
    uint64_t         id;
    struct ucp_peer *peer;

    while ((peer = ucsi_hash_next(&worker->peers, &cursor, &id)) != NULL) {
        free(peer->eps);
        free(peer->address);
        free(peer);
    }
    ucsi_hash_cleanup(&worker->peers);
}

/* Make room for an endpoint of that number. */
static ucs_status_t peer_reserve(struct ucp_peer *peer, uint32_t index)
{
    uint32_t        count = index + 1;
    struct ucp_ep **eps;

    if (index >= UCP_PEER_EP_COUNT_MAX) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    if (count <= peer->ep_count) {
        return UCS_OK;
    }
    count = ucs_max(count, 2 * peer->ep_count);
    eps   = realloc(peer->eps, count * sizeof(*eps));
    if (eps == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    memset(eps + peer->ep_count, 0, (count - peer->ep_count) * sizeof(*eps));
    peer->eps      = eps;
    peer->ep_count = count;
    return UCS_OK;
}

ucs_status_t ucp_peer_make_user_ep(struct ucp_worker             *worker,
                                   struct ucp_peer               *peer,
                                   const struct ucp_address_view *view,
                                   const struct ucp_ep_options   *options,
                                   struct ucp_ep                **ep_p)
{
    uint32_t       index  = peer->user_count;
    ucs_status_t   status = peer_reserve(peer, index);
    struct ucp_ep *ep;

    if (status != UCS_OK) {
        ucs_error("worker '%s': no endpoint number %u: %s", peer->view.name,
                  index, ucs_status_string(status));
        return status;
    }
    ep = peer->eps[index];
    if (ep == NULL) {
        status = ucp_ep_open(worker, peer, view, index, &ep);
        if (status == UCS_OK) {
            peer->eps[index] = ep;
        } else if (status != UCS_ERR_NO_MEMORY) {
            ucp_ep_end(ep, status);
        }
    } else {
        status = (view->entry_count == 0) ? UCS_ERR_UNREACHABLE : UCS_OK;
        status = (ep->message_ep == NULL) ? ep->failed : status;
    }
    if (status == UCS_OK) {
        status = ucp_ep_set_options(ep, options);
    }
    if (status != UCS_OK) {
        return status;
    }
    ++peer->user_count;
    ep->flags |= UCP_EP_USER;
    *ep_p = ep;
    if (ep->failed != UCS_OK) {
        ucp_ep_report_later(ep); /* it failed while nobody had it */
    }
    return UCS_OK;
}

void ucp_peer_remove_ep(struct ucp_peer *peer, struct ucp_ep *ep)
{
    if ((ep->index < peer->ep_count) && (peer->eps[ep->index] == ep)) {
        peer->eps[ep->index] = NULL;
    }
}

void ucp_peer_stand_in(struct ucp_ep *gone, struct uct_source *source)
{
    struct ucp_peer *peer = gone->peer;
    struct ucp_ep   *ep   = NULL;
    ucs_status_t     status;

    status = ucp_ep_open(gone->worker, peer, &peer->view, gone->index, &ep);
    if (status != UCS_OK) {
        ucs_diag("worker '%s', endpoint %u is closed, and what it still sends "
                 "is lost: %s",
                 peer->view.name, gone->index, ucs_status_string(status));
    }
    if (ep == NULL) {
        return;
    }
    ep->flags |= UCP_EP_FOLLOWS;
    /* The rest of an eager message belongs to nobody now, but it comes. */
    ep->eager              = gone->eager;
    ep->eager.recv         = NULL;
    ep->eager.unexpected   = NULL;
    ep->source             = source;
    source->user           = ep;
    peer->eps[gone->index] = ep;
    ucp_peer_rails_move(gone, ep);
}

void ucp_peer_gone(const struct ucp_ep *gone)
{
    struct ucp_ep *ep = gone->peer->eps[gone->index];

    if ((ep != NULL) && (ep->flags & UCP_EP_FOLLOWS)) {
        ep->flags &= (uint16_t)~UCP_EP_FOLLOWS;
        if (!ucp_ep_is_drained(ep)) {
            ucp_ep_drain(ep);
        }
    }
}

/* What announce_pack needs. */
struct announcement {
    const struct ucp_ep *ep;
    uint8_t              address[UCP_ADDRESS_BYTES_MAX];
    size_t               address_bytes;
};

static size_t announce_pack(void *dest, void *arg)
{
    const struct announcement *announcement = arg;
    uint8_t                   *bytes        = dest;

    ucs_put_le32(bytes, announcement->ep->index);
    ucs_put_le32(bytes + 4, 0);
    memcpy(bytes + UCP_ANNOUNCE_HEAD_BYTES, announcement->address,
           announcement->address_bytes);
    return UCP_ANNOUNCE_HEAD_BYTES + announcement->address_bytes;
}

ucs_status_t ucp_peer_announce(struct ucp_ep *ep)
{
    struct announcement announcement = {.ep = ep};
    ssize_t             packed;

    announcement.address_bytes = ucp_worker_address_encode(
        ep->worker, false, announcement.address, sizeof(announcement.address));
    if (announcement.address_bytes == 0) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    packed = uct_ep_am_bcopy(
        ep->message_ep, UCP_AM_ANNOUNCE, announce_pack, &announcement,
        UCP_ANNOUNCE_HEAD_BYTES + announcement.address_bytes, UCT_FLAG_PENDING);
    return (packed < 0) ? (ucs_status_t)packed : UCS_OK;
}

/* An endpoint to oneself is its own other end, or the neighbour's if loops
 * are not wanted (UCP_EP_PARAMS_FLAGS_NO_LOOPBACK). */
static uint32_t peer_other_end(const struct ucp_worker *worker,
                               const struct ucp_peer *peer, uint32_t index)
{
    bool is_crossed = (peer->id == worker->id) && (index < peer->ep_count) &&
                      (peer->eps[index] != NULL) &&
                      peer->eps[index]->options.no_loopback;

    return is_crossed ? index ^ 1 : index;
}

struct ucp_ep *ucp_peer_find_ep(const struct ucp_worker *worker,
                                const struct ucp_peer *peer, uint32_t index)
{
    index = peer_other_end(worker, peer, index);
    return (index < peer->ep_count) ? peer->eps[index] : NULL;
}

/* The peer's end is over: what it began and did not finish fails. */
static void peer_end(struct ucp_ep *ep)
{
    ucp_peer_rails_drop(ep);
    ucp_ep_peer_closed(ep);
    if (!(ep->flags & UCP_EP_USER)) {
        ucp_ep_end(ep, UCS_ERR_CONNECTION_RESET);
    }
}

/* Our end of the peer's index-th endpoint; an internal one if there is none. */
static struct ucp_ep *announce_find_ep(struct ucp_worker *worker,
                                       struct ucp_peer *peer, uint32_t index)
{
    struct ucp_ep *ep = ucp_peer_find_ep(worker, peer, index);

    if ((ep != NULL) && (ep->rails != NULL) && ep->rails->has_ended) {
        peer_end(ep); /* the one before: nobody waits for its rails */
    }
    index = peer_other_end(worker, peer, index);
    if (peer_reserve(peer, index) != UCS_OK) {
        return NULL;
    }
    if (peer->eps[index] == NULL) {
        ep = NULL;
        if (ucp_ep_open(worker, peer, &peer->view, index, &ep) != UCS_OK) {
            ucs_debug("no way back to worker '%s': it is only heard",
                      peer->view.name);
        }
        peer->eps[index] = ep;
    }
    return peer->eps[index];
}

/* A word about a rail. @return false: it is none. */
static bool announce_of_rail(struct ucp_worker *worker,
                             struct uct_source *source, const uint8_t *bytes,
                             size_t length)
{
    uint8_t flag = (length < UCP_ANNOUNCE_HEAD_BYTES) ? 0 : bytes[4];
    bool    is_heard;

    if ((length == UCP_ANNOUNCE_RAIL_BYTES) && (flag == UCP_ANNOUNCE_RAIL)) {
        is_heard = (source->user == NULL) &&
                   ucp_peer_rail_announced(worker, source, bytes);
    } else if ((length == UCP_ANNOUNCE_HEAD_BYTES) &&
               (flag == UCP_ANNOUNCE_USED)) {
        is_heard =
            (source->user != NULL) && ucp_peer_rail_used(source->user, bytes);
    } else {
        return false;
    }
    if (!is_heard) { /* of one that we have given up, mostly */
        ++worker->bad_ids;
        ucs_diag("a rail of an endpoint that is not known here, or not any "
                 "more, is not heard");
    }
    return true;
}

/* A peer that gave us up while we did not run (stopped, cut off) may come back
 * before we know: its end of the old connection is gone, ours ends within its
 * bound and fails the endpoint. Until then the old source keeps its place: who
 * repeats an announcement must not be able to end what works. */
static void announce_refuse(struct ucp_worker *worker, const struct ucp_ep *ep,
                            size_t length)
{
    ++worker->bad_ids;
    if (ep != NULL) {
        ucs_diag("worker '%s' announces its endpoint %u once more: not heard, "
                 "what it said before has not ended here",
                 ep->peer->view.name, ep->index);
        return;
    }
    ucs_error_limited("an announcement of %zu bytes is refused: damaged, "
                      "repeated, or without memory; its sender is not heard",
                      length);
}

static ucs_status_t announce_receive(void *arg, struct uct_source *source,
                                     void *data, size_t length, unsigned flags)
{
    struct ucp_worker      *worker = ((struct ucp_worker_iface *)arg)->worker;
    const uint8_t          *bytes  = data;
    struct ucp_address_view view;
    struct ucp_peer        *peer;
    struct ucp_ep          *ep = NULL;

    (void)flags;
    if (announce_of_rail(worker, source, data, length)) {
        return UCS_OK;
    }
    /* The number first: a refused announcement leaves nothing behind. */
    if ((length > UCP_ANNOUNCE_HEAD_BYTES) && (source->user == NULL) &&
        (ucs_get_le32(bytes) < UCP_PEER_EP_COUNT_MAX) &&
        (ucp_peer_get(worker, bytes + UCP_ANNOUNCE_HEAD_BYTES,
                      length - UCP_ANNOUNCE_HEAD_BYTES, &view,
                      &peer) == UCS_OK)) {
        ep = announce_find_ep(worker, peer, ucs_get_le32(bytes));
    }
    if ((ep == NULL) || (ep->source != NULL)) {
        announce_refuse(worker, ep, length);
        return UCS_OK;
    }
    ep->source   = source;
    source->user = ep;
    ep->flags &= (uint16_t)~UCP_EP_PEER_LEFT;
    return UCS_OK;
}

void ucp_peer_set_handler(struct ucp_worker_iface *wiface)
{
    ucti_iface_set_am(wiface->iface, UCP_AM_ANNOUNCE, announce_receive, wiface);
}

void ucp_peer_source_ended(void *arg, struct uct_source *source,
                           ucs_status_t status)
{
    struct ucp_ep *ep = source->user;

    (void)arg;
    if (ep == NULL) {
        return;
    }
    source->user = NULL;
    if (ep->source == source) {
        ep->source = NULL;
    }
    if (status == UCS_OK) {
        ep->flags |= UCP_EP_PEER_LEFT;
    } else {
        ucp_ep_fail(ep, status);
    }
    /* The lane may have failed before: what came since then ends here. */
    if (!ucp_peer_rails_wait(ep, source)) {
        peer_end(ep);
    }
}
