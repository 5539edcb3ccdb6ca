/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/wire_rdma.h - the messages around put and get, byte by byte.
 *
 *   PUT          0 sender id:8  8 receiver id:8  16 offset:8  24 length:8
 *                32 layout of that range, for one lane (layout.h)
 *   FIN          0 id:8  8 offset:8  16 length:8  24 status:1
 *
 * As in wire.h. */
#ifndef UCP_PROTO_WIRE_RDMA_H_
#define UCP_PROTO_WIRE_RDMA_H_

#include "ucp/proto/wire.h"

enum ucp_wire_rdma_size {
    UCP_WIRE_PUT_BYTES = 32,
    UCP_WIRE_FIN_BYTES = 25,
};

/* The layout follows. */
struct ucp_wire_put {
    uint64_t sender_id;
    uint64_t receiver_id;
    uint64_t offset;
    uint64_t length;
};

/* id  of the request that hears it: of the sender, what was read of it; of
 *     the receiver, the grant that is over */
struct ucp_wire_fin {
    uint64_t     id;
    uint64_t     offset;
    uint64_t     length;
    ucs_status_t status;
};

static inline void ucp_wire_put_encode(uint8_t                   *bytes,
                                       const struct ucp_wire_put *put)
{
    ucs_put_le64(bytes, put->sender_id);
    ucs_put_le64(bytes + 8, put->receiver_id);
    ucs_put_le64(bytes + 16, put->offset);
    ucs_put_le64(bytes + 24, put->length);
}

static inline bool ucp_wire_put_decode(const uint8_t *bytes, size_t length,
                                       struct ucp_wire_put *put_p)
{
    if (length < UCP_WIRE_PUT_BYTES) {
        return false;
    }
    put_p->sender_id   = ucs_get_le64(bytes);
    put_p->receiver_id = ucs_get_le64(bytes + 8);
    put_p->offset      = ucs_get_le64(bytes + 16);
    put_p->length      = ucs_get_le64(bytes + 24);
    return true;
}

static inline void ucp_wire_fin_encode(uint8_t                   *bytes,
                                       const struct ucp_wire_fin *fin)
{
    ucs_put_le64(bytes, fin->id);
    ucs_put_le64(bytes + 8, fin->offset);
    ucs_put_le64(bytes + 16, fin->length);
    bytes[24] = (uint8_t)fin->status;
}

static inline bool ucp_wire_fin_decode(const uint8_t *bytes, size_t length,
                                       struct ucp_wire_fin *fin_p)
{
    if (length != UCP_WIRE_FIN_BYTES) {
        return false;
    }
    fin_p->id     = ucs_get_le64(bytes);
    fin_p->offset = ucs_get_le64(bytes + 8);
    fin_p->length = ucs_get_le64(bytes + 16);
    fin_p->status = (ucs_status_t)(int8_t)bytes[24];
    return true;
}

#endif
