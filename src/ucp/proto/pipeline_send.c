/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/pipeline_send.c - protocol 4, Send/Receive Pipeline: ask first,
 * then send in fragments. Works for any datatype on either side; synchronous
 * messages of any size go this way, and it is what a receiver falls back to
 * that cannot do what protocols 5-7 ask of it.
 *
 *     S                                              R
 *     |==== RNDV{tag, length, S's id} + first data =>| match, unpack
 *     |<--- ACK{S's id, R's id, offset, length} -----| length 0: all is here
 *     |==== FRAG{R's id, offset} + data ============>| unpack at the offset
 *     |==== ...                                      |
 *     |<--- ACK{the next range} ---------------------| as room comes
 *     S is done when the last fragment is sent         R when all bytes came
 *
 *     |<--- ABORT{S's id, truncated} ----------------| does not fit: S is done
 *     |---- ABORT{S's id, cancelled} --------------->| forget the RNDV, or
 *     |                                              | fail what has matched it
 *
 * RNDV is ordered; ACK, FRAG and ABORT are not. The receiver's side is the
 * common one: rndv.c and fragment.c. */
#include "ucp/proto/eager.h"

#include "ucp/proto/rndv.h"

static ucs_status_t pipeline_offer(const struct ucp_query *query,
                                   struct ucp_offer       *offer_p)
{
    const struct uct_iface_attr *attr = &query->lane->attr;
    size_t                       first, last;

    if (query->mode == UCP_MODE_BUFFERED) {
        return ucp_offer_refuse(offer_p, "a buffered send does not lend the "
                                         "buffer");
    }
    if ((query->lane->transport->am_bcopy == NULL) ||
        (attr->am.bcopy_bytes_max <= UCP_WIRE_RNDV_BYTES)) {
        return ucp_offer_refuse(offer_p, "the message lane has no am_bcopy");
    }
    if (!ucp_rndv_bytes_first(query, &first)) {
        return ucp_offer_refuse(offer_p, "UCX_RNDV_THRESH is inf");
    }
    /* The others cannot ask for nothing: an empty message is always ours. */
    last = ucp_rndv_is_wanted(query, UCP_RNDV_SEND) ? SIZE_MAX : 0;
    if (first > last) {
        return ucp_offer_refuse(offer_p, "UCX_RNDV_SCHEME asks for another");
    }
    return ucp_offer_fragments(query, first, last, 2, offer_p);
}

const struct ucp_proto ucp_pipeline_send_proto = {
    .name    = "rndv/pipeline_send",
    .summary = "ask first, then send in fragments",
    .setting = "UCX_RNDV_THRESH",
    .offer   = pipeline_offer,
    .step    = ucp_rndv_step_with_data,
    .abort   = ucp_rndv_abort_send,
};
