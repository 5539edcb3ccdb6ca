/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_send.c - active messages into a peer's ring and chunks.
 *
 *   up to 56 bytes           one line: one transfer between the processors
 *   up to inline_bytes_max   several lines of the ring
 *   up to a chunk            a chunk, and one line with its number
 *
 * Everything is copied inside the call, so zcopy is done when it returns, and
 * what was accepted is visible to the peer. */
#include "uct/sm/sm.h"

#include <string.h>

#include "ucs/assert.h"
#include "ucs/copy.h"
#include "uct/base/iov.h"
#include "uct/base/pending.h"

/* Refuse, and remember what was missing. */
static ucs_status_t send_refuse(struct uct_sm_ep *ep, unsigned line_count,
                                bool is_chunk, unsigned flags)
{
    if (ucs_unlikely(uct_sm_ring_is_broken(&ep->peer->writer))) {
        uct_sm_peer_break(ep->peer, UCS_ERR_IO_ERROR);
        return UCS_ERR_IO_ERROR;
    }
    ep->wants_lines = (uint8_t)line_count;
    ep->wants_chunk = is_chunk;
    ep->wants_copy  = false;
    return uct_ep_refuse(&ep->base, flags);
}

/* What every operation begins with. */
static ucs_status_t send_prepare(struct uct_sm_ep *ep, unsigned flags)
{
    ucs_status_t status;

    if (ucs_unlikely(!ep->is_ready)) {
        status = uct_sm_ep_prepare(ep);
        if (status == UCS_ERR_WOULD_BLOCK) {
            return send_refuse(ep, 1, false, flags);
        }
        if (status != UCS_OK) {
            return status;
        }
    }
    if (uct_ep_must_wait(&ep->base, flags)) {
        return uct_ep_refuse(&ep->base, flags);
    }
    return UCS_OK;
}

/* A short message of any length, or one that meets an obstacle. */
static UCS_OUTLINE ucs_status_t short_any(struct uct_sm_ep *ep, uint8_t am_id,
                                          uint64_t header, const void *payload,
                                          size_t length, unsigned flags)
{
    struct uct_sm_peer *peer       = ep->peer;
    size_t              total      = length + sizeof(header);
    unsigned            line_count = uct_sm_record_lines(total);
    ucs_status_t        status;
    uint8_t            *data;

    status = send_prepare(ep, flags);
    if (ucs_unlikely(status != UCS_OK)) {
        return status;
    }
    if (ucs_unlikely(total > UCT_SM_SHORT_BYTES_MAX)) {
        return UCS_ERR_INVALID_PARAM;
    }
    data = uct_sm_ring_reserve(&peer->writer, line_count);
    if (ucs_unlikely(data == NULL)) {
        return send_refuse(ep, line_count, false, flags);
    }
    memcpy(data, &header, sizeof(header));
    if (length > 0) {
        memcpy(data + sizeof(header), payload, length);
    }
    uct_sm_ring_commit(&peer->writer,
                       ep->control |
                           uct_sm_control(UCT_SM_KIND_INLINE, am_id, 0, total),
                       line_count);
    uct_sm_doorbell_ring(peer);
    return UCS_OK;
}

ucs_status_t uct_sm_am_short(struct uct_ep *base, uint8_t am_id,
                             uint64_t header, const void *payload,
                             size_t length, unsigned flags)
{
    struct uct_sm_ep   *ep    = ucs_container_of(base, struct uct_sm_ep, base);
    struct uct_sm_peer *peer  = ep->peer;
    size_t              total = length + sizeof(header);
    uint8_t            *data;

    if (ucs_unlikely(!ep->is_ready ||
                     (base->pending_state != UCT_PENDING_NONE) ||
                     (total > UCT_SM_ONE_LINE_BYTES_MAX) ||
                     !uct_sm_ring_has_line(&peer->writer))) {
        return short_any(ep, am_id, header, payload, length, flags);
    }
    data = uct_sm_ring_next(&peer->writer);
    memcpy(data, &header, sizeof(header));
    ucs_copy_small(data + sizeof(header), payload, length);
    uct_sm_ring_commit(
        &peer->writer,
        ep->control | uct_sm_control(UCT_SM_KIND_INLINE, am_id, 0, total), 1);
    uct_sm_doorbell_ring(peer);
    return UCS_OK;
}

/* Where a longer message is packed.
 * chunk_index  UCT_SM_CHUNK_NONE: in the ring, at data
 * start        of the message in the chunk */
struct send_place {
    uint8_t *data;
    unsigned chunk_index;
    unsigned start;
    uint8_t *descriptor;
};

/* Find room for up to length_max bytes that begin with such a header. */
static ucs_status_t send_reserve(struct uct_sm_ep *ep, size_t length_max,
                                 size_t header_bytes, unsigned flags,
                                 struct send_place *place)
{
    struct uct_sm_peer *peer     = ep->peer;
    bool                is_chunk = length_max > peer->inline_bytes_max;
    unsigned line_count = is_chunk ? 1 : uct_sm_record_lines(length_max);
    uint8_t *data;

    if (ucs_unlikely(length_max > peer->mapping.pool.chunk_bytes)) {
        return UCS_ERR_INVALID_PARAM;
    }
    data = uct_sm_ring_reserve(&peer->writer, line_count);
    if (ucs_unlikely(data == NULL)) {
        return send_refuse(ep, line_count, is_chunk, flags);
    }
    place->chunk_index = UCT_SM_CHUNK_NONE;
    place->data        = data;
    if (is_chunk) {
        place->descriptor = data;
        place->chunk_index =
            uct_sm_chunk_take(&peer->mapping.pool, &peer->chunks);
        if (ucs_unlikely(place->chunk_index == UCT_SM_CHUNK_NONE)) {
            return send_refuse(ep, 1, true, flags);
        }
        if (ucs_unlikely(
                !uct_sm_chunk_back(&peer->mapping.pool, place->chunk_index))) {
            uct_sm_peer_break(peer, UCS_ERR_NO_MEMORY);
            return UCS_ERR_NO_MEMORY;
        }
        place->start = uct_sm_start(header_bytes);
        place->data =
            uct_sm_chunk_data(&peer->mapping.pool, place->chunk_index) +
            place->start;
    }
    return UCS_OK;
}

/* Make visible what was packed. */
static void send_commit(struct uct_sm_ep *ep, uint8_t am_id, size_t length,
                        const struct send_place *place)
{
    struct uct_sm_peer *peer       = ep->peer;
    enum uct_sm_kind    kind       = UCT_SM_KIND_INLINE;
    unsigned            line_count = 1;
    uint64_t            where;

    if (place->chunk_index == UCT_SM_CHUNK_NONE) {
        line_count = uct_sm_record_lines(length);
    } else {
        kind  = UCT_SM_KIND_CHUNK;
        where = uct_sm_place(place->chunk_index, place->start);
        memcpy(place->descriptor, &where, sizeof(where));
    }
    uct_sm_ring_commit(&peer->writer,
                       ep->control | uct_sm_control(kind, am_id, 0, length),
                       line_count);
    uct_sm_doorbell_ring(peer);
}

ssize_t uct_sm_am_bcopy(struct uct_ep *base, uint8_t am_id, uct_pack_fn pack,
                        void *arg, size_t length_max, unsigned flags)
{
    struct uct_sm_ep *ep = ucs_container_of(base, struct uct_sm_ep, base);
    struct send_place place;
    ucs_status_t      status;
    size_t            length;

    status = send_prepare(ep, flags);
    if (ucs_unlikely(status != UCS_OK)) {
        return status;
    }
    status = send_reserve(ep, length_max, uct_flag_header_bytes(flags), flags,
                          &place);
    if (ucs_unlikely(status != UCS_OK)) {
        return status;
    }
    length = pack(place.data, arg);
    ucs_assert(length <= length_max);
    send_commit(ep, am_id, length, &place);
    return (ssize_t)length;
}

ucs_status_t uct_sm_am_zcopy(struct uct_ep *base, uint8_t am_id,
                             const void *header, size_t header_length,
                             const struct uct_iov *iov, unsigned iov_count,
                             struct uct_req *req, unsigned flags)
{
    struct uct_sm_ep *ep     = ucs_container_of(base, struct uct_sm_ep, base);
    size_t            length = uct_iov_bytes(iov, iov_count);
    struct send_place place;
    ucs_status_t      status;

    (void)req; /* done inside the call */
    status = send_prepare(ep, flags);
    if (ucs_unlikely(status != UCS_OK)) {
        return status;
    }
    if (ucs_unlikely((header_length > UCT_SM_HEADER_BYTES_MAX) ||
                     (iov_count > UCT_SM_IOV_COUNT_MAX) ||
                     __builtin_add_overflow(length, header_length, &length))) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = send_reserve(ep, length, header_length, flags, &place);
    if (ucs_unlikely(status != UCS_OK)) {
        return status;
    }
    if (header_length > 0) {
        memcpy(place.data, header, header_length);
    }
    (void)uct_iov_gather(place.data + header_length, iov, iov_count);
    send_commit(ep, am_id, length, &place);
    return UCS_OK;
}

ucs_status_t uct_sm_ep_flush(struct uct_ep *base, struct uct_req *req,
                             unsigned flags)
{
    struct uct_sm_ep *ep = ucs_container_of(base, struct uct_sm_ep, base);

    (void)flags;
    /* Messages that were accepted lie in the peer's segment: done. */
    if ((ep->base.failed != UCS_OK) || uct_inflight_is_empty(&ep->inflight)) {
        return ep->base.failed;
    }
    if (req != NULL) {
        uct_inflight_add_finished(&ep->inflight, req);
    }
    return UCS_INPROGRESS;
}

bool uct_sm_send_close(struct uct_sm_ep *ep)
{
    struct uct_sm_peer *peer = ep->peer;

    if (uct_sm_ring_reserve(&peer->writer, 1) == NULL) {
        return false;
    }
    uct_sm_ring_commit(&peer->writer,
                       ep->control | uct_sm_control(UCT_SM_KIND_CLOSE, 0, 0, 0),
                       1);
    uct_sm_doorbell_ring(peer);
    return true;
}

static bool send_has_room(struct uct_ep *base)
{
    struct uct_sm_ep   *ep   = ucs_container_of(base, struct uct_sm_ep, base);
    struct uct_sm_peer *peer = ep->peer;

    switch (peer->state) {
    case UCT_SM_PEER_WAITING:
        return false;
    case UCT_SM_PEER_READY:
        break;
    case UCT_SM_PEER_NEW:
    case UCT_SM_PEER_GONE:
        return true; /* to attach, or to be told */
    }
    if (ep->wants_copy) {
        return peer->iface->copies.count < UCT_SM_COPY_COUNT_MAX;
    }
    return (uct_sm_ring_reserve(&peer->writer, ep->wants_lines) != NULL) &&
           (!ep->wants_chunk ||
            uct_sm_chunk_may_take(&peer->mapping.pool, &peer->chunks));
}

/* What they need is their peer's. */
enum uct_may_send uct_sm_may_send(struct uct_ep *base)
{
    return send_has_room(base) ? UCT_MAY_SEND_NOW : UCT_MAY_SEND_LATER;
}
