/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_am.c - active messages and flush.
 *
 *   short, bcopy   one packet: sent inside the call, or refused
 *   bcopy, longer  a copy, in chunks
 *   zcopy          gathered from user memory, kept until acknowledged */
#include <string.h>

#include "uct/base/iov.h"
#include "uct/base/pending.h"
#include "uct/udp/udp.h"
#include "uct/udp/udp_bundle.h"

/* A copy is cheaper than a completion, for which the peer must answer. */
enum { AM_COPY_BYTES_MAX = 8192 + 256 };

static struct udp_iface *am_iface(const struct uct_ep *ep)
{
    return udp_iface_of(ep->iface);
}

static unsigned am_flags(unsigned flags)
{
    return (flags & UCT_FLAG_ANY_ORDER) ? UDP_FLAG_ANY_ORDER : 0;
}

static void am_pack_short(uint8_t *bytes, uint64_t header, const void *payload,
                          size_t length)
{
    memcpy(bytes, &header, sizeof(header));
    if (length > 0) {
        memcpy(bytes + sizeof(header), payload, length);
    }
}

static ucs_status_t am_short_inside(struct udp_ep *ep, uint8_t am_id,
                                    uint64_t header, const void *payload,
                                    size_t length, unsigned flags)
{
    size_t              bytes  = sizeof(header) + length;
    ucs_status_t        status = udp_ep_begin(ep, flags, false);
    struct udp_segment *segment;
    uint8_t            *next;

    if (ucs_unlikely(status != UCS_OK)) {
        return status;
    }
    if (!(flags & UCT_FLAG_ANY_ORDER)) {
        next = udp_bundle_add(ep->conn, am_id, bytes);
        if (next != NULL) {
            am_pack_short(next, header, payload, length);
            return UCS_OK;
        }
    }
    segment = udp_env_segment(ep->conn->env, UDP_HEAD_BYTES + bytes);
    if (ucs_unlikely(segment == NULL)) {
        return uct_ep_refuse(&ep->base, flags);
    }
    am_pack_short(segment->bytes + UDP_HEAD_BYTES, header, payload, length);
    udp_conn_send_am(ep->conn, segment, am_id, am_flags(flags), bytes);
    return UCS_OK;
}

ucs_status_t udp_am_short(struct uct_ep *base, uint8_t am_id, uint64_t header,
                          const void *payload, size_t length, unsigned flags)
{
    struct udp_iface *iface = am_iface(base);
    ucs_status_t      status;

    ucs_assert(am_id < UCT_AM_ID_COUNT);
    if (ucs_unlikely(length > UDP_SHORT_BYTES_MAX)) {
        return UCS_ERR_INVALID_PARAM;
    }
    udp_enter(iface);
    status =
        am_short_inside(udp_ep_of(base), am_id, header, payload, length, flags);
    udp_leave(iface);
    return status;
}

/* Longer than a packet of this path: a copy of ours, in chunks. */
static ssize_t am_bcopy_chunks(struct udp_ep *ep, uint8_t am_id,
                               uct_pack_fn pack, void *arg, unsigned flags)
{
    struct udp_conn     *conn     = ep->conn;
    struct udp_fragment *fragment = udp_fragment_new(conn, UDP_KIND_CHUNK);
    struct udp_held     *buffer = udp_env_hold(conn->env, UDP_BCOPY_BYTES_MAX);
    ssize_t              length;

    if ((fragment == NULL) || (buffer == NULL)) {
        if (fragment != NULL) {
            udp_fragment_free(fragment);
        }
        if (buffer != NULL) {
            udp_env_unhold(buffer);
        }
        return uct_ep_refuse(&ep->base, flags);
    }
    length              = (ssize_t)pack(buffer->bytes, arg);
    fragment->buffer    = buffer;
    fragment->am_id     = am_id;
    fragment->message   = conn->message++;
    fragment->total     = (uint32_t)length;
    fragment->iov[0]    = (struct iovec){buffer->bytes, (size_t)length};
    fragment->iov_count = 1;
    udp_conn_queue(conn, fragment);
    return length;
}

static ssize_t am_bcopy_inside(struct udp_ep *ep, uint8_t am_id,
                               uct_pack_fn pack, void *arg, size_t length_max,
                               unsigned flags)
{
    ucs_status_t        status = udp_ep_begin(ep, flags, false);
    struct udp_segment *segment;
    size_t              length;

    if (ucs_unlikely(status != UCS_OK)) {
        return status;
    }
    if (length_max > udp_conn_payload_bytes(ep->conn, UDP_KIND_AM)) {
        return am_bcopy_chunks(ep, am_id, pack, arg, flags);
    }
    segment = udp_env_segment(ep->conn->env, UDP_HEAD_BYTES + length_max);
    if (ucs_unlikely(segment == NULL)) {
        return uct_ep_refuse(&ep->base, flags);
    }
    length = pack(segment->bytes + UDP_HEAD_BYTES, arg);
    ucs_assert(length <= length_max);
    udp_conn_send_am(ep->conn, segment, am_id, am_flags(flags), length);
    return (ssize_t)length;
}

ssize_t udp_am_bcopy(struct uct_ep *base, uint8_t am_id, uct_pack_fn pack,
                     void *arg, size_t length_max, unsigned flags)
{
    struct udp_iface *iface = am_iface(base);
    ssize_t           length;

    ucs_assert(am_id < UCT_AM_ID_COUNT);
    if (ucs_unlikely(length_max > UDP_BCOPY_BYTES_MAX)) {
        return UCS_ERR_INVALID_PARAM;
    }
    udp_enter(iface);
    length =
        am_bcopy_inside(udp_ep_of(base), am_id, pack, arg, length_max, flags);
    udp_leave(iface);
    return length;
}

/* ----------------------------------------------------------------- zcopy */

struct am_zcopy {
    const void           *header;
    size_t                header_length;
    const struct uct_iov *iov;
    unsigned              iov_count;
    size_t                total;
};

static ssize_t am_zcopy_copy(struct udp_ep *ep, uint8_t am_id,
                             const struct am_zcopy *zcopy, unsigned flags)
{
    struct udp_segment *segment;
    uint8_t            *bytes;
    ucs_status_t        status = udp_ep_begin(ep, flags, false);

    if (status != UCS_OK) {
        return status;
    }
    segment = udp_env_segment(ep->conn->env, UDP_HEAD_BYTES + zcopy->total);
    if (segment == NULL) {
        return uct_ep_refuse(&ep->base, flags);
    }
    bytes = segment->bytes + UDP_HEAD_BYTES;
    if (zcopy->header_length > 0) {
        memcpy(bytes, zcopy->header, zcopy->header_length);
    }
    (void)uct_iov_gather(bytes + zcopy->header_length, zcopy->iov,
                         zcopy->iov_count);
    udp_conn_send_am(ep->conn, segment, am_id, am_flags(flags), zcopy->total);
    return UCS_OK;
}

static ucs_status_t am_zcopy_lend(struct udp_ep *ep, uint8_t am_id,
                                  const struct am_zcopy *zcopy,
                                  struct uct_req *req, unsigned flags)
{
    ucs_status_t         status = udp_ep_begin(ep, flags, true);
    struct udp_conn     *conn   = ep->conn; /* the first message may choose */
    struct udp_fragment *fragment;

    if (status != UCS_OK) {
        return status;
    }
    fragment = udp_fragment_new(conn, UDP_KIND_CHUNK);
    if (fragment == NULL) {
        return uct_ep_refuse(&ep->base, flags);
    }
    if (zcopy->total <= udp_conn_payload_bytes(conn, UDP_KIND_CHUNK)) {
        fragment->kind  = UDP_KIND_AM; /* one packet; less path, more room */
        fragment->flags = (uint8_t)am_flags(flags);
    } else {
        fragment->message = conn->message++;
    }
    fragment->am_id = am_id;
    fragment->total = (uint32_t)zcopy->total;
    if (zcopy->header_length > 0) {
        memcpy(fragment->header, zcopy->header, zcopy->header_length);
        fragment->iov[0] =
            (struct iovec){fragment->header, zcopy->header_length};
        fragment->iov_count = 1;
    }
    udp_fragment_take_iov(fragment, zcopy->iov, zcopy->iov_count);
    udp_ep_lend(ep, fragment, req);
    udp_conn_queue(conn, fragment);
    return UCS_INPROGRESS;
}

ucs_status_t udp_am_zcopy(struct uct_ep *base, uint8_t am_id,
                          const void *header, size_t header_length,
                          const struct uct_iov *iov, unsigned iov_count,
                          struct uct_req *req, unsigned flags)
{
    struct udp_ep  *ep    = udp_ep_of(base);
    struct am_zcopy zcopy = {header, header_length, iov, iov_count, 0};
    ucs_status_t    status;

    ucs_assert(am_id < UCT_AM_ID_COUNT);
    if ((iov_count > UDP_IOV_COUNT_MAX) || (header_length > UDP_HEADER_BYTES)) {
        return UCS_ERR_INVALID_PARAM;
    }
    zcopy.total = uct_iov_bytes(iov, iov_count);
    if (zcopy.total > UDP_ZCOPY_BYTES_MAX - header_length) {
        return UCS_ERR_INVALID_PARAM;
    }
    zcopy.total += header_length;
    udp_enter(am_iface(base));
    if ((zcopy.total > AM_COPY_BYTES_MAX) ||
        (zcopy.total > udp_conn_payload_bytes(ep->conn, UDP_KIND_AM))) {
        status = am_zcopy_lend(ep, am_id, &zcopy, req, flags);
    } else {
        status = (ucs_status_t)am_zcopy_copy(ep, am_id, &zcopy, flags);
        if ((status == UCS_OK) && (req != NULL) &&
            !uct_inflight_is_empty(&ep->inflight)) {
            uct_inflight_add_finished(&ep->inflight, req);
            status = UCS_INPROGRESS;
        }
    }
    udp_leave(am_iface(base));
    return status;
}

/* ----------------------------------------------------------------- flush */

static ucs_status_t am_flush_inside(struct udp_ep *ep, struct uct_req *req,
                                    unsigned flags)
{
    struct udp_conn     *conn = ep->conn;
    struct udp_fragment *fragment;

    udp_env_catch_up(conn->env);
    if (ep->base.failed != UCS_OK) {
        return ep->base.failed;
    }
    if (uct_ep_must_wait(&ep->base, flags)) {
        return uct_ep_refuse(&ep->base, flags);
    }
    if (udp_conn_has_settled(conn) && uct_inflight_is_empty(&ep->inflight)) {
        return UCS_OK;
    }
    if (req == NULL) {
        return UCS_INPROGRESS;
    }
    fragment = udp_fragment_new(conn, UDP_FRAGMENT_FLUSH);
    if (fragment == NULL) {
        return uct_ep_refuse(&ep->base, flags);
    }
    udp_ep_lend(ep, fragment, req);
    udp_conn_queue(conn, fragment);
    return UCS_INPROGRESS;
}

ucs_status_t udp_ep_flush(struct uct_ep *base, struct uct_req *req,
                          unsigned flags)
{
    struct udp_iface *iface = am_iface(base);
    ucs_status_t      status;

    udp_enter(iface);
    status = am_flush_inside(udp_ep_of(base), req, flags);
    udp_leave(iface);
    return status;
}
