/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/wire_names.h - the messages of wire.h by name, for those who show
 * them to people: the trace. */
#ifndef UCP_PROTO_WIRE_NAMES_H_
#define UCP_PROTO_WIRE_NAMES_H_

#include "ucp/proto/proto.h"
#include "ucp/proto/wire_rdma.h"

enum ucp_wire_message_flag {
    UCP_WIRE_HAS_TAG = 1 << 0, /* it begins with a tag */
    /* Handed up in the order sent: the n-th one here is the n-th one there. */
    UCP_WIRE_IS_ORDERED = 1 << 1,
    /* What follows the header is no data: keys, an address. */
    UCP_WIRE_IS_CONTROL = 1 << 2,
    /* A proposal: a head of the protocol's own is before the data. */
    UCP_WIRE_HAS_HEAD = 1 << 3,
    UCP_WIRE_IS_EAGER = UCP_WIRE_HAS_TAG | UCP_WIRE_IS_ORDERED,
    UCP_WIRE_IS_START = UCP_WIRE_IS_EAGER | UCP_WIRE_HAS_HEAD,
};

/* name          as docs/protocols calls it; NULL: no such message
 * header_bytes  before the data; the header names the message among those
 *               that may overtake one another
 * flags         enum ucp_wire_message_flag */
struct ucp_wire_message {
    const char *name;
    uint8_t     header_bytes;
    uint8_t     flags;
};

/* @return what is known of a message, never NULL. */
static inline const struct ucp_wire_message *ucp_wire_message(uint8_t am_id)
{
    static const struct ucp_wire_message unknown    = {"message", 0, 0};
    static const struct ucp_wire_message messages[] = {
        [UCP_AM_ANNOUNCE] = {"ANNOUNCE", 0, UCP_WIRE_IS_CONTROL},
        [UCP_AM_EAGER]    = {"EAGER", UCP_WIRE_EAGER_BYTES, UCP_WIRE_IS_EAGER},
        [UCP_AM_EAGER_FIRST] = {"EAGER_FIRST", UCP_WIRE_FIRST_BYTES,
                                UCP_WIRE_IS_EAGER},
        [UCP_AM_EAGER_MORE]  = {"EAGER_MORE", UCP_WIRE_MORE_BYTES,
                                UCP_WIRE_IS_ORDERED},
        [UCP_AM_RNDV]        = {"RNDV", UCP_WIRE_RNDV_BYTES, UCP_WIRE_IS_START},
        [UCP_AM_ACK]         = {"ACK", UCP_WIRE_ACK_BYTES, 0},
        [UCP_AM_FRAG]        = {"FRAG", UCP_WIRE_FRAG_BYTES, 0},
        [UCP_AM_ABORT]       = {"ABORT", UCP_WIRE_ABORT_BYTES, 0},
        [UCP_AM_RGET]        = {"RGET", UCP_WIRE_RNDV_BYTES, UCP_WIRE_IS_START},
        [UCP_AM_PUT]         = {"PUT", UCP_WIRE_PUT_BYTES, UCP_WIRE_IS_CONTROL},
        [UCP_AM_FIN]         = {"FIN", UCP_WIRE_FIN_BYTES, UCP_WIRE_IS_CONTROL},
    };
    bool is_known =
        (am_id < UCS_ARRAY_COUNT(messages)) && (messages[am_id].name != NULL);

    return is_known ? &messages[am_id] : &unknown;
}

#endif
