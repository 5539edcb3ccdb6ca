/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/eager_prepared.c - protocol 2, Eager Send (Prepared): the
 * transport reads the user's buffer; nothing is copied on this side.
 *
 *     S                                 R
 *     |==== MATCH{tag} + data =========>|     am_zcopy
 *     | local completion: S is done     |
 *
 * Chosen when sending from the buffer is cheaper than copying out of it. The
 * buffer is lent until the transport's completion. An iov with more entries
 * than the lane takes is selected as if it had to be packed (tag_send.c), so
 * it never comes here; strided data of few blocks comes as an iov. Fails with
 * the endpoint. */
#include "ucp/proto/eager.h"

/* request  to find the request from the transport's completion
 * base     the transport's completion */
struct prepared_state {
    struct uct_req      base;
    struct ucp_request *request;
};
_Static_assert(sizeof(struct prepared_state) <= UCP_PROTO_STATE_BYTES,
               "a protocol's state must fit the request's slot");

static struct prepared_state *prepared_state(struct ucp_request *req)
{
    return (struct prepared_state *)(void *)req->send.state;
}

const char ucp_eager_zcopy_reason[] = "UCX_ZCOPY_THRESH gives these sizes to "
                                      "eager/prepared";

/* NULL: it can carry messages of some sizes. */
static const char *prepared_refusal(const struct ucp_query *query)
{
    const struct uct_iface_attr *attr = &query->lane->attr;

    if ((query->lane->transport->am_zcopy == NULL) ||
        (attr->am_zcopy_header_bytes_max < UCP_WIRE_EAGER_BYTES) ||
        (attr->am.zcopy_bytes_max <= UCP_WIRE_EAGER_BYTES)) {
        return "the message lane has no am_zcopy";
    }
    if (ucp_zcopy_threshold(query) == SIZE_MAX) {
        return "the message lane copies anyway, or UCX_ZCOPY_THRESH is inf";
    }
    if (query->mode == UCP_MODE_SYNC) {
        return ucp_eager_sync_reason;
    }
    if (query->mode == UCP_MODE_BUFFERED) {
        return "a buffered send does not lend the buffer";
    }
    if ((query->dt_kind == UCP_DT_GENERIC) ||
        (query->dt_kind == UCP_DT_STRIDED) ||
        (query->dt_kind == UCP_DT_IOV_LONG)) {
        return "the data must be packed";
    }
    return NULL;
}

static size_t prepared_bytes_first(const struct ucp_query *query)
{
    return ucs_max((size_t)1, ucp_zcopy_threshold(query));
}

static size_t prepared_bytes_last(const struct ucp_query *query)
{
    return ucs_min(query->lane->attr.am.zcopy_bytes_max - UCP_WIRE_EAGER_BYTES,
                   ucp_eager_bytes_max(query));
}

ucs_status_t ucp_eager_leave_zcopy(const struct ucp_query *query,
                                   struct ucp_offer       *offer_p)
{
    if (!ucp_zcopy_is_forced(query) || (prepared_refusal(query) != NULL) ||
        (prepared_bytes_first(query) > prepared_bytes_last(query))) {
        return UCS_OK;
    }
    return ucsi_piecewise_set(&offer_p->cost, prepared_bytes_first(query),
                              prepared_bytes_last(query), UCS_LINEAR_NEVER);
}

static ucs_status_t prepared_offer(const struct ucp_query *query,
                                   struct ucp_offer       *offer_p)
{
    const struct uct_iface_attr *attr   = &query->lane->attr;
    const char                  *reason = prepared_refusal(query);

    if (reason != NULL) {
        return ucp_offer_refuse(offer_p, reason);
    }
    offer_p->piece_s = ucp_pack_piece_s;
    return ucp_offer_sizes(
        offer_p, prepared_bytes_first(query), prepared_bytes_last(query),
        ucs_linear(attr->cost.latency_s + 2 * attr->cost.overhead_s +
                       attr->cost.register_base_s,
                   ucp_am_byte_s(attr, 1) + attr->cost.register_per_byte_s));
}

static void prepared_done(struct uct_req *self)
{
    struct prepared_state *state =
        ucs_container_of(self, struct prepared_state, base);
    struct ucp_request *req = state->request;

    ucp_dt_iter_cleanup(&req->dt);
    ucp_request_hush(req);
    ucp_request_complete_send(req, self->status);
}

static ucs_status_t prepared_step(struct ucp_request *req)
{
    struct ucp_ep         *ep    = req->send.ep;
    struct prepared_state *state = prepared_state(req);
    struct uct_iov         iov[UCP_IOV_COUNT_MAX];
    unsigned               iov_count = UCP_IOV_COUNT_MAX;
    uint8_t                header[UCP_WIRE_EAGER_BYTES];
    struct ucp_dt_iter     iter = req->dt;

    (void)ucp_dt_iter_pieces(&iter, iter.length, iov, &iov_count);
    ucs_put_le64(header, req->send.tag);
    state->base.cb = prepared_done;
    state->request = req;
    return uct_ep_am_zcopy(ep->message_ep, UCP_AM_EAGER, header, sizeof(header),
                           iov, iov_count, &state->base, UCT_FLAG_PENDING);
}

const struct ucp_proto ucp_eager_prepared_proto = {
    .name    = "eager/prepared",
    .summary = "sent from the user's buffer",
    .setting = "UCX_ZCOPY_THRESH",
    .offer   = prepared_offer,
    .step    = prepared_step,
    .abort   = ucp_eager_abort, /* what a transport has, it completes */
};
