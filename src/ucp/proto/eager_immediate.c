/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/eager_immediate.c - protocol 1, Eager Send (Immediate): the
 * message goes inline, straight from the call. Also the receiver of MATCH for
 * all eager protocols.
 *
 *     S                                 R
 *     |==== MATCH{tag} + data =========>|     am_short
 *
 * Chosen when the message fits what the transport takes inline. The buffer is
 * free at once. The fast path in entry/tag_send.c is this protocol for
 * standard contiguous messages on a ready endpoint. */
#include "ucp/proto/eager.h"

#include "ucp/tag/recv.h"
#include "ucp/tag/unexpected.h"

/* Larger inline messages of other datatypes are packed on the stack. */
enum { IMMEDIATE_PACK_BYTES_MAX = 512 };

static ucs_status_t immediate_offer(const struct ucp_query *query,
                                    struct ucp_offer       *offer_p)
{
    const struct uct_iface_attr *attr = &query->lane->attr;
    size_t                       max  = attr->am.short_bytes_max;

    if (query->lane->transport->am_short == NULL) {
        return ucp_offer_refuse(offer_p, "the message lane has no am_short");
    }
    if (query->mode == UCP_MODE_SYNC) {
        return ucp_offer_refuse(offer_p, ucp_eager_sync_reason);
    }
    if (query->dt_kind != UCP_DT_CONTIG) {
        max = ucs_min(max, (size_t)IMMEDIATE_PACK_BYTES_MAX);
    }
    offer_p->piece_s = ucp_pack_piece_s;
    if (ucp_offer_sizes(offer_p, 0, ucs_min(max, ucp_eager_bytes_max(query)),
                        ucs_linear(attr->cost.latency_s + attr->cost.overhead_s,
                                   ucp_am_byte_s(attr, 2))) != UCS_OK) {
        return UCS_ERR_UNSUPPORTED;
    }
    return ucp_eager_leave_zcopy(query, offer_p);
}

static ucs_status_t immediate_step(struct ucp_request *req)
{
    struct uct_ep     *lane = req->send.ep->message_ep;
    struct ucp_dt_iter iter = req->dt; /* for when there is no room after all */
    uint8_t            packed[IMMEDIATE_PACK_BYTES_MAX];
    size_t             length;

    if (req->dt.dt_class == UCP_DT_CONTIG) {
        return uct_ep_am_short(lane, UCP_AM_EAGER, ucs_le64_(req->send.tag),
                               req->dt.contig, req->dt.length,
                               UCT_FLAG_PENDING);
    }
    if (lane->pending_state == UCT_PENDING_WAITS) {
        return UCS_ERR_WOULD_BLOCK; /* a user's pack runs only once */
    }
    length = ucp_dt_iter_pack(&iter, packed, sizeof(packed));
    return uct_ep_am_short(lane, UCP_AM_EAGER, ucs_le64_(req->send.tag), packed,
                           length, UCT_FLAG_PENDING);
}

/* Nobody waits for it, or it is not well formed. */
static UCS_OUTLINE ucs_status_t immediate_store(struct ucp_worker_iface *wiface,
                                                struct uct_source       *source,
                                                uint8_t *bytes, size_t length,
                                                unsigned flags)
{
    struct ucp_arrival arrival = {
        .worker      = wiface->worker,
        .iface       = wiface->iface,
        .ep          = source->user,
        .tag         = ucs_get_le64(bytes),
        .length      = length - UCP_WIRE_EAGER_BYTES,
        .data        = bytes + UCP_WIRE_EAGER_BYTES,
        .data_length = length - UCP_WIRE_EAGER_BYTES,
        .base        = bytes,
        .am_flags    = flags,
    };

    return ucp_unexpected_store(&arrival, UCP_UNEXPECTED_WHOLE);
}

/* The receives that wait have several masks, or it is not well formed. */
static UCS_OUTLINE ucs_status_t immediate_receive_any(
    struct ucp_worker_iface *wiface, struct uct_source *source, uint8_t *bytes,
    size_t length, unsigned flags)
{
    struct ucp_request *req;
    uint64_t            tag;

    if ((length < UCP_WIRE_EAGER_BYTES) || (source->user == NULL)) {
        ++wiface->worker->bad_ids;
        return UCS_OK;
    }
    tag = ucs_get_le64(bytes);
    req = ucp_tag_recv_match(wiface->worker, tag);
    if (req == NULL) {
        return immediate_store(wiface, source, bytes, length, flags);
    }
    ucp_tag_recv_whole(req, tag, bytes + UCP_WIRE_EAGER_BYTES,
                       length - UCP_WIRE_EAGER_BYTES);
    return UCS_OK;
}

static ucs_status_t immediate_receive(void *arg, struct uct_source *source,
                                      void *data, size_t length, unsigned flags)
{
    struct ucp_worker_iface *wiface = arg;
    struct ucp_tag_match    *match  = &wiface->worker->tag.match;
    uint8_t                 *bytes  = data;
    struct ucp_tag_expected *expected;
    uint64_t                 tag;

    if (ucs_unlikely((length < UCP_WIRE_EAGER_BYTES) ||
                     (source->user == NULL) ||
                     !ucp_tag_match_is_plain(match))) {
        return immediate_receive_any(wiface, source, data, length, flags);
    }
    tag      = ucs_get_le64(bytes);
    expected = ucp_tag_match_arrived_plain(match, tag);
    if (ucs_unlikely(expected == NULL)) {
        return immediate_store(wiface, source, bytes, length, flags);
    }
    ucp_tag_recv_whole(
        ucs_container_of(expected, struct ucp_request, recv.expected), tag,
        bytes + UCP_WIRE_EAGER_BYTES, length - UCP_WIRE_EAGER_BYTES);
    return UCS_OK;
}

static const struct ucp_handler immediate_handlers[] = {
    {UCP_AM_EAGER, immediate_receive},
    {0, NULL},
};

const struct ucp_proto ucp_eager_immediate_proto = {
    .name     = "eager/immediate",
    .summary  = "inline, straight from the call",
    .setting  = "UCX_RNDV_THRESH",
    .offer    = immediate_offer,
    .step     = immediate_step,
    .abort    = ucp_eager_abort,
    .direct   = UCP_DIRECT_SHORT,
    .handlers = immediate_handlers,
};
