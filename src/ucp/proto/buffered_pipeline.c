/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/buffered_pipeline.c - protocol 8, Buffered Pipeline: a buffered
 * message that is too large for one eager message. On the wire it is protocol
 * 4; what is its own is where the data lies when the receiver asks for it.
 *
 *     S                                              R
 *     |==== RNDV{tag, length, S's id} + first data =>| match, unpack
 *     | the rest is copied into the attached buffer, |
 *     | the user's operation is over                 |
 *     |<--- ACK{S's id, R's id, offset, length} -----|
 *     |==== FRAG{R's id, offset} + data ============>| out of that buffer
 *     |==== ...                                      |
 *     piece of the buffer is free                      R when all bytes came
 *
 * The copy is core/buffered.c's: it captures whatever is in progress when the
 * call ends, also when RNDV itself found no room. An answer that comes inside
 * the call, over a transport that reaches only its own worker, is served from
 * the user's data. Fragments from the attached buffer may lend it to the
 * transport: its piece is free when the last one is given back. */
#include "ucp/proto/eager.h"

#include "ucp/proto/rndv.h"

static ucs_status_t buffered_offer(const struct ucp_query *query,
                                   struct ucp_offer       *offer_p)
{
    const struct uct_iface_attr *attr = &query->lane->attr;
    size_t                       first;

    if (query->mode != UCP_MODE_BUFFERED) {
        return ucp_offer_refuse(offer_p, "only buffered sends copy into an "
                                         "attached buffer");
    }
    if ((query->lane->transport->am_bcopy == NULL) ||
        (attr->am.bcopy_bytes_max <= UCP_WIRE_RNDV_BYTES)) {
        return ucp_offer_refuse(offer_p, "the message lane has no am_bcopy");
    }
    if (!ucp_rndv_bytes_first(query, &first)) {
        return ucp_offer_refuse(offer_p, "UCX_RNDV_THRESH is inf");
    }
    /* One copy more than protocol 4. */
    return ucp_offer_fragments(query, first, SIZE_MAX, 3, offer_p);
}

const struct ucp_proto ucp_buffered_pipeline_proto = {
    .name    = "rndv/buffered_pipeline",
    .summary = "ask first, then send in fragments out of the attached "
               "buffer",
    .offer   = buffered_offer,
    .step    = ucp_rndv_step_with_data,
    .abort   = ucp_rndv_abort_send,
};
