/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_rma.c - put and get; see sm_rma.h for how they go on.
 *
 * A number of a process may become another one's. So before bytes move, the
 * peer's segment must say that its owner is there, its pidfd must not have
 * fired, and, once a millisecond, its segment's id is read from its memory:
 * that finds a process that ended, one that took its number, and one that
 * became another program. */
#include "uct/sm/sm_rma.h"

#include <errno.h>

#include "ucs/clock.h"
#include "ucs/log.h"
#include "uct/base/iov.h"
#include "uct/base/pending.h"
#include "uct/sm/sm.h"
#include "uct/sm/sm_key.h"

/* A part of an operation: [length] bytes from `skip` on. */
struct rma_part {
    bool                  is_put;
    const struct uct_rma *rma;
    size_t                skip;
    size_t                length;
};

/* Is the peer there, and the one that it was? */
static ucs_status_t rma_confirm(struct uct_sm_peer *peer)
{
    ucs_status_t status;
    uint64_t     now_ns;

    if (peer->is_broken) {
        return peer->failed;
    }
    if ((atomic_load_explicit(&peer->mapping.header->alive,
                              memory_order_relaxed) != UCT_SM_ALIVE) ||
        ((peer->watch != NULL) && peer->watch->is_dead)) {
        uct_sm_look_soon(peer->iface); /* tells an orderly end from a death */
        return UCS_ERR_CONNECTION_RESET;
    }
    now_ns = ucsi_clock_ns();
    if (ucs_likely(now_ns - peer->confirmed_ns < UCT_SM_CONFIRM_NS)) {
        return UCS_OK;
    }
    status = uct_sm_peer_identify(peer);
    if (status == UCS_OK) {
        peer->confirmed_ns = now_ns;
    }
    return status;
}

/* What went wrong, told to those whom it concerns. */
static ucs_status_t rma_failed(struct uct_sm_peer *peer, ucs_status_t status,
                               const struct rma_part *part)
{
    switch (status) {
    case UCS_ERR_CONNECTION_RESET:
        if (atomic_load_explicit(&peer->mapping.header->alive,
                                 memory_order_relaxed) == UCT_SM_ALIVE) {
            uct_sm_peer_break(peer, status);
        }
        break;
    case UCS_ERR_UNSUPPORTED:
        uct_sm_rights_lose(peer, errno);
        break;
    case UCS_ERR_INVALID_ADDR:
        ucs_error("sm: %zu bytes %s process %d, from 0x%llx on: a page is "
                  "not mapped there, or not here",
                  part->length, part->is_put ? "to" : "from",
                  (int)peer->address.pid,
                  (unsigned long long)part->rma->remote->address);
        break;
    default:
        break;
    }
    return status;
}

/* The part of a piece that lies in [*skip_p, *skip_p + *left_p) of the
 * pieces from this one on; both go on behind it.
 * @return is there any? */
static bool rma_clip(struct iovec *piece, size_t *skip_p, size_t *left_p)
{
    if (*skip_p >= piece->iov_len) {
        *skip_p -= piece->iov_len;
        return false;
    }
    piece->iov_base = (char *)piece->iov_base + *skip_p;
    piece->iov_len  = ucs_min(piece->iov_len - *skip_p, *left_p);
    *left_p -= piece->iov_len;
    *skip_p = 0;
    return true;
}

/* The pieces of a part, as the kernel wants them: here, and there. */
static struct uct_sm_pieces rma_local(const struct rma_part *part,
                                      struct iovec          *pieces)
{
    const struct uct_rma *rma  = part->rma;
    size_t                skip = part->skip, left = part->length;
    unsigned              count = 0;
    unsigned              index;

    for (index = 0; (index < rma->iov_count) && (left > 0); ++index) {
        pieces[count].iov_base = rma->iov[index].buffer;
        pieces[count].iov_len  = rma->iov[index].length;
        count += rma_clip(&pieces[count], &skip, &left);
    }
    return (struct uct_sm_pieces){pieces, count};
}

static struct uct_sm_pieces rma_remote(const struct rma_part *part,
                                       struct iovec          *pieces)
{
    const struct uct_rma *rma  = part->rma;
    size_t                skip = part->skip, left = part->length;
    unsigned              count = 0;
    unsigned              index;

    for (index = 0; (index < rma->remote_count) && (left > 0); ++index) {
        pieces[count].iov_base = (void *)(uintptr_t)rma->remote[index].address;
        pieces[count].iov_len  = rma->remote[index].length;
        count += rma_clip(&pieces[count], &skip, &left);
    }
    return (struct uct_sm_pieces){pieces, count};
}

/* Copy a part, now. */
static ucs_status_t rma_copy(struct uct_sm_peer    *peer,
                             const struct rma_part *part)
{
    struct iovec           local[UCT_SM_RMA_IOV_COUNT_MAX];
    struct iovec           remote[UCT_SM_RMA_IOV_COUNT_MAX];
    struct uct_sm_transfer transfer = {
        .is_put = part->is_put,
        .pid    = peer->address.pid,
        .local  = rma_local(part, local),
        .remote = rma_remote(part, remote),
    };
    ucs_status_t status = rma_confirm(peer);

    if (ucs_likely(status == UCS_OK)) {
        status = uct_sm_cma_copy(&transfer);
    }
    return ucs_likely(status == UCS_OK) ? UCS_OK
                                        : rma_failed(peer, status, part);
}

/* May every remote piece be accessed so? */
static bool rma_is_allowed(const struct uct_sm_peer *peer,
                           const struct uct_rma *rma, enum uct_access access)
{
    unsigned index;

    for (index = 0; index < rma->remote_count; ++index) {
        const struct uct_remote *remote = &rma->remote[index];
        const struct uct_sm_key *key    = uct_sm_key_of(remote->rkey);

        if (!uct_sm_key_allows(key, remote->address, remote->length, access) ||
            !uct_sm_key_is_of(key, &peer->address)) {
            return false;
        }
    }
    return true;
}

/* What every operation begins with. */
static ucs_status_t rma_begin(struct uct_sm_ep *ep, const struct uct_rma *rma,
                              bool is_put, unsigned flags)
{
    unsigned     right = is_put ? UCT_RIGHT_PUT : UCT_RIGHT_GET;
    ucs_status_t status;

    if (!rma_is_allowed(ep->peer, rma,
                        is_put ? UCT_ACCESS_REMOTE_WRITE
                               : UCT_ACCESS_REMOTE_READ)) {
        return UCS_ERR_INVALID_ADDR;
    }
    ep->wants_copy = true;
    if (ucs_unlikely(!ep->is_ready)) {
        status = uct_sm_ep_prepare(ep);
        if (status == UCS_ERR_WOULD_BLOCK) {
            return uct_ep_refuse(&ep->base, flags);
        }
        if (status != UCS_OK) {
            return status;
        }
    }
    if (ucs_unlikely(!(ep->base.rights & right))) {
        return UCS_ERR_UNSUPPORTED;
    }
    if (uct_ep_must_wait(&ep->base, flags)) {
        return uct_ep_refuse(&ep->base, flags);
    }
    return UCS_OK;
}

/* ---- operations in progress ---- */

void uct_sm_copies_init(struct uct_sm_copies *copies)
{
    struct ucs_mpool_params params = {
        .name              = "sm copies",
        .element_bytes     = sizeof(struct uct_sm_copy),
        .chunk_count       = 8,
        .element_count_max = UCT_SM_COPY_COUNT_MAX,
    };

    ucs_list_init(&copies->eps);
    copies->count = 0;
    ucs_check(ucsi_mpool_init(&copies->pool, &params) == UCS_OK);
}

void uct_sm_copies_cleanup(struct uct_sm_copies *copies)
{
    ucs_assert(ucs_list_is_empty(&copies->eps));
    (void)ucsi_mpool_cleanup(&copies->pool, true);
}

/* It completes: its memory first, the caller may start the next. */
static void copy_completed(struct uct_req *req)
{
    struct uct_sm_copy *copy   = ucs_container_of(req, struct uct_sm_copy, req);
    struct uct_req     *user   = copy->user;
    ucs_status_t        status = req->status;

    --copy->iface->copies.count;
    ucs_mpool_put(copy);
    if (user != NULL) {
        user->status = status;
        user->cb(user);
    }
}

static struct uct_sm_copy *copy_get(struct uct_sm_ep *ep)
{
    struct uct_sm_iface *iface = ep->peer->iface;
    struct uct_sm_copy  *copy;

    copy = ucs_mpool_get(&iface->copies.pool);
    if (copy != NULL) {
        ++iface->copies.count;
        copy->iface  = iface;
        copy->req.cb = copy_completed;
    }
    return copy;
}

static void copies_start(struct uct_sm_ep *ep)
{
    if (!ep->is_copying) {
        ep->is_copying = true;
        ucs_list_add_tail(&ep->peer->iface->copies.eps, &ep->copying_link);
    }
}

void uct_sm_copies_stop(struct uct_sm_ep *ep)
{
    if (ep->is_copying) {
        ep->is_copying = false;
        ucs_list_remove(&ep->copying_link);
    }
}

/* Accept an operation of which `done` bytes are copied. */
static void copy_add(struct uct_sm_ep *ep, struct uct_sm_copy *copy,
                     const struct rma_part *part, struct uct_req *req)
{
    const struct uct_rma *rma = part->rma;

    copy->user   = req;
    copy->done   = part->skip;
    copy->length = part->length;
    copy->is_put = part->is_put;
    memcpy(copy->iov, rma->iov, rma->iov_count * sizeof(*rma->iov));
    memcpy(copy->remote, rma->remote, rma->remote_count * sizeof(*rma->remote));
    copy->rma = (struct uct_rma){copy->iov, copy->remote, rma->iov_count,
                                 rma->remote_count};
    uct_inflight_add(&ep->inflight, &copy->req);
    copies_start(ep);
}

/* One piece of the first operation of this endpoint.
 * @return UCS_INPROGRESS: there is more of it. */
static ucs_status_t copy_step(struct uct_sm_ep *ep, struct uct_sm_copy *copy)
{
    struct rma_part part = {
        .is_put = copy->is_put,
        .rma    = &copy->rma,
        .skip   = copy->done,
        .length =
            ucs_min(copy->length - copy->done, (size_t)UCT_SM_PIECE_BYTES),
    };
    ucs_status_t status = rma_copy(ep->peer, &part);

    if (status != UCS_OK) {
        return status;
    }
    copy->done += part.length;
    return (copy->done == copy->length) ? UCS_OK : UCS_INPROGRESS;
}

unsigned uct_sm_copies_progress(struct uct_sm_iface *iface)
{
    struct uct_sm_ep *ep =
        ucs_list_first(&iface->copies.eps, struct uct_sm_ep, copying_link);
    struct uct_sm_copy *copy = ucs_container_of(
        ucs_queue_first(&ep->inflight.reqs), struct uct_sm_copy, req.queue);
    ucs_status_t status;

    /* What is finished was called back at once, so the first is a copy. */
    ucs_assert(copy->req.status == UCS_INPROGRESS);
    ucs_list_remove(&ep->copying_link);
    ucs_list_add_tail(&iface->copies.eps, &ep->copying_link);
    status = copy_step(ep, copy);
    if (status == UCS_INPROGRESS) {
        return 1;
    }
    if (status == UCS_ERR_CONNECTION_RESET) {
        uct_sm_copies_stop(ep); /* the look completes what is in flight */
        return 1;
    }
    if (ucti_inflight_finish(&ep->inflight, &copy->req, status) &&
        uct_inflight_is_empty(&ep->inflight)) {
        uct_sm_copies_stop(ep);
    }
    return 1;
}

/* ---- the contract ---- */

ucs_status_t uct_sm_put_short(struct uct_ep *base, const void *buffer,
                              size_t length, uint64_t remote_address,
                              const struct uct_rkey *rkey, unsigned flags)
{
    struct uct_sm_ep       *ep = ucs_container_of(base, struct uct_sm_ep, base);
    const struct uct_remote remote = {remote_address, length, rkey};
    /* Only read. */
    const struct uct_iov  iov  = {.buffer = (void *)(uintptr_t)buffer,
                                  .length = length};
    const struct uct_rma  rma  = {&iov, &remote, 1, 1};
    const struct rma_part part = {
        .is_put = true, .rma = &rma, .length = length};
    ucs_status_t status;

    if (length > UCT_SM_RMA_SHORT_BYTES_MAX) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = rma_begin(ep, &rma, true, flags);
    if ((status != UCS_OK) || (length == 0)) {
        return status;
    }
    return rma_copy(ep->peer, &part);
}

ssize_t uct_sm_put_bcopy(struct uct_ep *base, uct_pack_fn pack, void *arg,
                         size_t length_max, uint64_t remote_address,
                         const struct uct_rkey *rkey, unsigned flags)
{
    struct uct_sm_ep       *ep = ucs_container_of(base, struct uct_sm_ep, base);
    const struct uct_remote remote = {remote_address, length_max, rkey};
    uint8_t                 bytes[UCT_SM_RMA_SHORT_BYTES_MAX];
    struct uct_iov          iov  = {.buffer = bytes};
    const struct uct_rma    rma  = {&iov, &remote, 1, 1};
    struct rma_part         part = {.is_put = true, .rma = &rma};
    ucs_status_t            status;

    if (length_max > sizeof(bytes)) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = rma_begin(ep, &rma, true, flags);
    if (status != UCS_OK) {
        return status;
    }
    iov.length = part.length = pack(bytes, arg);
    ucs_assert(iov.length <= length_max);
    status = (iov.length > 0) ? rma_copy(ep->peer, &part) : UCS_OK;
    return (status == UCS_OK) ? (ssize_t)iov.length : (ssize_t)status;
}

/* Begin a put or get of any length; part->skip is 0. */
static ucs_status_t rma_start(struct uct_sm_ep *ep, struct rma_part *part,
                              struct uct_req *req, unsigned flags)
{
    bool                is_first = uct_inflight_is_empty(&ep->inflight);
    struct rma_part     piece    = *part;
    struct uct_sm_copy *copy     = NULL;
    ucs_status_t        status;

    if (ucs_likely(is_first && (part->length <= UCT_SM_PIECE_BYTES))) {
        return (part->length > 0) ? rma_copy(ep->peer, part) : UCS_OK;
    }
    copy = copy_get(ep);
    if (copy == NULL) {
        return uct_ep_refuse(&ep->base, flags);
    }
    if (is_first) {
        piece.length = UCT_SM_PIECE_BYTES;
        status       = rma_copy(ep->peer, &piece);
        if (status != UCS_OK) {
            --ep->peer->iface->copies.count;
            ucs_mpool_put(copy);
            return status;
        }
        part->skip = piece.length;
    }
    copy_add(ep, copy, part, req);
    return UCS_INPROGRESS;
}

static ucs_status_t rma_zcopy(struct uct_ep *base, bool is_put,
                              const struct uct_rma *rma, struct uct_req *req,
                              unsigned flags)
{
    struct uct_sm_ep *ep   = ucs_container_of(base, struct uct_sm_ep, base);
    struct rma_part   part = {.is_put = is_put,
                              .rma    = rma,
                              .length = uct_iov_bytes(rma->iov, rma->iov_count)};
    ucs_status_t      status;

    if ((rma->iov_count > UCT_SM_RMA_IOV_COUNT_MAX) ||
        (rma->remote_count > UCT_SM_RMA_IOV_COUNT_MAX) ||
        (uct_remote_bytes(rma) != part.length)) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = rma_begin(ep, rma, is_put, flags);
    return (status == UCS_OK) ? rma_start(ep, &part, req, flags) : status;
}

ucs_status_t uct_sm_put_zcopy(struct uct_ep *ep, const struct uct_rma *rma,
                              struct uct_req *req, unsigned flags)
{
    return rma_zcopy(ep, true, rma, req, flags);
}

ucs_status_t uct_sm_get_zcopy(struct uct_ep *ep, const struct uct_rma *rma,
                              struct uct_req *req, unsigned flags)
{
    return rma_zcopy(ep, false, rma, req, flags);
}

ucs_status_t uct_sm_get_bcopy(struct uct_ep *ep, void *buffer, size_t length,
                              uint64_t               remote_address,
                              const struct uct_rkey *rkey, struct uct_req *req,
                              unsigned flags)
{
    const struct uct_iov    iov    = {.buffer = buffer, .length = length};
    const struct uct_remote remote = {remote_address, length, rkey};
    const struct uct_rma    rma    = {&iov, &remote, 1, 1};

    return rma_zcopy(ep, false, &rma, req, flags);
}
