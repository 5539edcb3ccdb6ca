/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/wire.h - the messages between two libucp, byte by byte.
 *
 *   EAGER        0 tag:8                                    8 data
 *   EAGER_FIRST  0 tag:8     8 length:8  16 number:8       24 data
 *   EAGER_MORE   0 number:8  8 offset:8                    16 data
 *   RNDV, RGET   0 tag:8     8 length:8  16 sender id:8
 *                24 candidate:1  25 0:1  26 head length:2  28 0:4
 *                32 head (RGET: keys), then data
 *   ACK          0 sender id:8  8 receiver id:8  16 offset:8  24 length:8
 *                32 flags:1  33 0:7
 *   FRAG         0 receiver id:8  8 offset:8               16 data
 *   PUT, FIN     wire_rdma.h
 *   ABORT        0 id:8  8 side:1  9 status:1
 *
 * Little endian. Data is the rest of the message. Every field comes from a
 * peer: the decoders check the length, their callers what the fields mean. */
#ifndef UCP_PROTO_WIRE_H_
#define UCP_PROTO_WIRE_H_

#include "ucs/bytes.h"
#include "ucs/compiler.h"
#include "ucs/type/status.h"

enum ucp_wire_size {
    UCP_WIRE_EAGER_BYTES = 8,
    UCP_WIRE_FIRST_BYTES = 24,
    UCP_WIRE_MORE_BYTES  = 16,
    UCP_WIRE_RNDV_BYTES  = 32,
    UCP_WIRE_ACK_BYTES   = 40,
    UCP_WIRE_FRAG_BYTES  = 16,
    UCP_WIRE_ABORT_BYTES = 10,
};

/* Who gives up. */
enum ucp_wire_side {
    UCP_WIRE_SENDER   = 0, /* id is the sender's: forget the RNDV */
    UCP_WIRE_RECEIVER = 1, /* id is the sender's: no more is wanted */
};

/* What EAGER_FIRST is, and RNDV and RGET begin with; id is the message's
 * number or the sender's id. */
struct ucp_wire_start {
    uint64_t tag;
    uint64_t length;
    uint64_t id;
};

/* candidate    enum ucp_rndv_kind: how the sender would go on
 * head_length  bytes between this and the first data */
struct ucp_wire_rndv {
    struct ucp_wire_start start;
    uint8_t               candidate;
    uint16_t              head_length;
};

enum ucp_wire_ack_flag {
    /* The candidate will be refused by this endpoint every time. */
    UCP_WIRE_ACK_REFUSED = 1 << 0,
    /* The sender claims what it sends (rdma_shared.c). */
    UCP_WIRE_ACK_SHARED = 1 << 1,
};

struct ucp_wire_ack {
    uint64_t sender_id;
    uint64_t receiver_id;
    uint64_t offset;
    uint64_t length;
    uint8_t  flags; /* enum ucp_wire_ack_flag */
};

/* EAGER_MORE and FRAG have one layout. */
struct ucp_wire_piece {
    uint64_t id;
    uint64_t offset;
};

struct ucp_wire_abort {
    uint64_t     id;
    uint8_t      side;
    ucs_status_t status;
};

static inline void ucp_wire_start_encode(uint8_t                     *bytes,
                                         const struct ucp_wire_start *start)
{
    ucs_put_le64(bytes, start->tag);
    ucs_put_le64(bytes + 8, start->length);
    ucs_put_le64(bytes + 16, start->id);
}

static inline bool ucp_wire_start_decode(const uint8_t *bytes, size_t length,
                                         struct ucp_wire_start *start_p)
{
    if (length < UCP_WIRE_FIRST_BYTES) {
        return false;
    }
    start_p->tag    = ucs_get_le64(bytes);
    start_p->length = ucs_get_le64(bytes + 8);
    start_p->id     = ucs_get_le64(bytes + 16);
    return length - UCP_WIRE_FIRST_BYTES <= start_p->length;
}

static inline void ucp_wire_rndv_encode(uint8_t                    *bytes,
                                        const struct ucp_wire_rndv *rndv)
{
    ucp_wire_start_encode(bytes, &rndv->start);
    bytes[24] = rndv->candidate;
    bytes[25] = 0;
    ucs_put_le16(bytes + 26, rndv->head_length);
    ucs_put_le32(bytes + 28, 0);
}

static inline bool ucp_wire_rndv_decode(const uint8_t *bytes, size_t length,
                                        struct ucp_wire_rndv *rndv_p)
{
    size_t rest;

    if (length < UCP_WIRE_RNDV_BYTES) {
        return false;
    }
    rest                 = length - UCP_WIRE_RNDV_BYTES;
    rndv_p->start.tag    = ucs_get_le64(bytes);
    rndv_p->start.length = ucs_get_le64(bytes + 8);
    rndv_p->start.id     = ucs_get_le64(bytes + 16);
    rndv_p->candidate    = bytes[24];
    rndv_p->head_length  = ucs_get_le16(bytes + 26);
    return (rndv_p->head_length <= rest) &&
           (rest - rndv_p->head_length <= rndv_p->start.length);
}

static inline void ucp_wire_ack_encode(uint8_t                   *bytes,
                                       const struct ucp_wire_ack *ack)
{
    ucs_put_le64(bytes, ack->sender_id);
    ucs_put_le64(bytes + 8, ack->receiver_id);
    ucs_put_le64(bytes + 16, ack->offset);
    ucs_put_le64(bytes + 24, ack->length);
    ucs_put_le64(bytes + 32, ack->flags);
}

static inline bool ucp_wire_ack_decode(const uint8_t *bytes, size_t length,
                                       struct ucp_wire_ack *ack_p)
{
    if (length != UCP_WIRE_ACK_BYTES) {
        return false;
    }
    ack_p->sender_id   = ucs_get_le64(bytes);
    ack_p->receiver_id = ucs_get_le64(bytes + 8);
    ack_p->offset      = ucs_get_le64(bytes + 16);
    ack_p->length      = ucs_get_le64(bytes + 24);
    ack_p->flags       = bytes[32];
    return true;
}

static inline void ucp_wire_piece_encode(uint8_t                     *bytes,
                                         const struct ucp_wire_piece *piece)
{
    ucs_put_le64(bytes, piece->id);
    ucs_put_le64(bytes + 8, piece->offset);
}

static inline bool ucp_wire_piece_decode(const uint8_t *bytes, size_t length,
                                         struct ucp_wire_piece *piece_p)
{
    if (length < UCP_WIRE_FRAG_BYTES) {
        return false;
    }
    piece_p->id     = ucs_get_le64(bytes);
    piece_p->offset = ucs_get_le64(bytes + 8);
    return true;
}

static inline void ucp_wire_abort_encode(uint8_t                     *bytes,
                                         const struct ucp_wire_abort *abort)
{
    ucs_put_le64(bytes, abort->id);
    bytes[8] = abort->side;
    bytes[9] = (uint8_t)abort->status;
}

static inline bool ucp_wire_abort_decode(const uint8_t *bytes, size_t length,
                                         struct ucp_wire_abort *abort_p)
{
    if (length != UCP_WIRE_ABORT_BYTES) {
        return false;
    }
    abort_p->id     = ucs_get_le64(bytes);
    abort_p->side   = bytes[8];
    abort_p->status = (ucs_status_t)(int8_t)bytes[9];
    /* The status reaches the user, perhaps as an error pointer. */
    return (abort_p->side <= UCP_WIRE_RECEIVER) &&
           UCS_STATUS_IS_ERR(abort_p->status) &&
           (abort_p->status > UCS_ERR_LAST);
}

#endif
