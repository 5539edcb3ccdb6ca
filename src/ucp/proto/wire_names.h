/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/wire_names.h - the messages of wire.h by name, for those who show
 * them to people: the trace. */
#ifndef UCP_PROTO_WIRE_NAMES_H_
#define UCP_PROTO_WIRE_NAMES_H_

#include "ucp/proto/proto.h"
#include "ucp/proto/wire_rdma.h"

/* name          as docs/protocols calls it; NULL: no such message
 * header_bytes  before the data; the header names the message among those
 *               that may overtake one another
 * has_tag       it begins with a tag
 * is_ordered    handed up in the order sent: the n-th one here is the n-th one
 *               there
 * is_control    what follows the header is no data: keys, an address
 * has_head      a proposal: a head of the protocol's own is before the data */
struct ucp_wire_message {
    const char *name;
    uint8_t     header_bytes;
    bool        has_tag;
    bool        is_ordered;
    bool        is_control;
    bool        has_head;
};

/* @return what is known of a message, never NULL. */
static inline const struct ucp_wire_message *ucp_wire_message(uint8_t am_id)
{
    static const struct ucp_wire_message unknown    = {.name = "message"};
    static const struct ucp_wire_message messages[] = {
        [UCP_AM_ANNOUNCE]    = {"ANNOUNCE", .is_control = true},
        [UCP_AM_EAGER]       = {"EAGER", UCP_WIRE_EAGER_BYTES, true, true},
        [UCP_AM_EAGER_FIRST] = {"EAGER_FIRST", UCP_WIRE_FIRST_BYTES, true,
                                true},
        [UCP_AM_EAGER_MORE]  = {"EAGER_MORE", UCP_WIRE_MORE_BYTES, false, true},
        [UCP_AM_RNDV]        = {"RNDV", UCP_WIRE_RNDV_BYTES, true, true,
                                .has_head = true},
        [UCP_AM_ACK]         = {"ACK", UCP_WIRE_ACK_BYTES},
        [UCP_AM_FRAG]        = {"FRAG", UCP_WIRE_FRAG_BYTES},
        [UCP_AM_ABORT]       = {"ABORT", UCP_WIRE_ABORT_BYTES},
        [UCP_AM_RGET]        = {"RGET", UCP_WIRE_RNDV_BYTES, true, true,
                                .has_head = true},
        [UCP_AM_PUT]         = {"PUT", UCP_WIRE_PUT_BYTES, .is_control = true},
        [UCP_AM_FIN]         = {"FIN", UCP_WIRE_FIN_BYTES, .is_control = true},
    };
    bool is_known =
        (am_id < UCS_ARRAY_COUNT(messages)) && (messages[am_id].name != NULL);

    return is_known ? &messages[am_id] : &unknown;
}

#endif
