/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_wire.h - packets as bytes.
 *
 *    0            4            8            12     14   15   16
 *    | to         | number     | ack        | window |kind|flag|
 *    16   17   18   19   20      22      24                    32
 *    | am |att.|n.a.| 0  | newest| delay | tag                 | extension,
 * payload
 *
 * Little endian. docs/transports/udp.md has the maps of all extensions. The
 * tag covers the 24 bytes before it, the extension, and the length of the
 * packet, not the payload.
 *
 * Numbered kinds are segments: they are acknowledged and come again until
 * they are. The others are outside of the order: `number` then is only a
 * count of the sender's, so that no two of its packets are the same.
 *
 * Pure. Decoders check every bound: the bytes come from anybody. */
#ifndef UCT_UDP_WIRE_H_
#define UCT_UDP_WIRE_H_

#include "ucs/compiler.h"

enum udp_wire_limit {
    UDP_WIRE_VERSION     = 1,
    UDP_WIRE_KIND_BITS   = 5,
    UDP_HEAD_BYTES       = 32,
    UDP_TAG_OFFSET       = 24,
    UDP_EXTENSION_BYTES  = 40, /* the longest of a numbered kind */
    UDP_RANGE_BYTES      = 4,
    UDP_RANGE_COUNT_MAX  = 32,
    UDP_PACKET_BYTES_MIN = 1200,  /* every path carries it (RFC 8899) */
    UDP_PACKET_BYTES_MAX = 65504, /* IPv4 over loopback, in eights */
};

enum udp_kind {
    /* Numbered. */
    UDP_KIND_AM,     /* a whole message */
    UDP_KIND_CHUNK,  /* a piece of one */
    UDP_KIND_PUT,    /* bytes for a region */
    UDP_KIND_GET,    /* asks for bytes of a region */
    UDP_KIND_DATA,   /* bytes that were asked for */
    UDP_KIND_ATOMIC, /* an operation on a word */
    UDP_KIND_RESULT, /* its answer, or why something failed */
    UDP_KIND_FIN,    /* the sender's last segment */
    UDP_KIND_NUMBERED_COUNT,
    /* Outside of the order. */
    UDP_KIND_ACK = UDP_KIND_NUMBERED_COUNT,
    UDP_KIND_PING,  /* answer at once; padded, it measures the path */
    UDP_KIND_PONG,  /* the answer; the extension is PING's number, length */
    UDP_KIND_PIECE, /* part of a segment for which the path became too narrow */
    UDP_KIND_RESET, /* this connection is no more; the extension is a status */
    /* Without a connection. */
    UDP_KIND_HELLO,   /* I would like to connect */
    UDP_KIND_COOKIE,  /* then show me that you are where you say */
    UDP_KIND_CONNECT, /* here is the cookie */
    UDP_KIND_ACCEPT,  /* connected; my id */
    UDP_KIND_COUNT
};

enum udp_flag {
    UDP_FLAG_ANY_ORDER = 1 << 0, /* handed up when it comes */
    UDP_FLAG_LAST      = 1 << 1, /* the last chunk of its message */
    UDP_FLAG_ACK_NOW   = 1 << 2, /* do not delay the acknowledgement */
    UDP_FLAG_BUNDLE    = 1 << 3, /* AM: several messages, all under the tag */
    UDP_FLAG_REFUSED   = 1 << 4, /* PUT: I know that you refuse it */
};

/* The first 32 bytes but for the tag. */
struct udp_head {
    uint32_t to; /* connection, as the receiver calls it */
    uint32_t number;
    uint32_t ack;    /* all before it have arrived */
    uint16_t window; /* so many from ack on may be sent */
    uint8_t  kind, flags, am_id;
    uint8_t  attempt;        /* 0: sent for the first time */
    uint8_t  newest_attempt; /* of the segment that arrived last */
    uint16_t newest;         /* its number, the low half */
    uint16_t delay_us;       /* since it arrived */
};

struct udp_chunk {
    uint32_t message; /* counts the sender's messages in chunks */
    uint32_t offset, total;
};

/* PUT, GET, ATOMIC.
 * operation  the asker's name for it
 * length     GET only; address is of this packet's bytes */
struct udp_access {
    uint64_t key, address;
    uint32_t operation, length;
};

struct udp_word {
    uint64_t operand, compare;
    uint8_t  op, size_bytes; /* behind udp_access */
};

/* DATA, RESULT.
 * value  DATA: offset; RESULT: what was there */
struct udp_answer {
    uint32_t operation;
    int32_t  status;
    uint64_t value;
};

/* PIECE: bytes [offset, ...) of the packet of that segment, total bytes. */
struct udp_piece {
    uint32_t number;
    uint16_t offset, total;
};

/* HELLO, COOKIE, CONNECT, ACCEPT: all the same.
 * id            the sender's name for the connection
 * cookie        COOKIE, CONNECT: the server's; ACCEPT: the client's nonce
 * buffer_bytes  of the sender's sockets
 * largest_bytes its device carries
 * ciphers       enum udp_crypt_algorithm: those that it can; ACCEPT: the one
 *               that is used; 0: not encrypted */
struct udp_hello {
    uint64_t incarnation, nonce, cookie;
    uint32_t id, buffer_bytes, largest_bytes;
    uint16_t data_port, ciphers;
};

/* Numbers [first, end) have arrived, `ack` has not. */
struct udp_range {
    uint32_t first, end;
};

/* Is it a message, or are they several? */
UCS_INLINE bool udp_head_is_bundle(const struct udp_head *head)
{
    return (head->kind == UDP_KIND_AM) && (head->flags & UDP_FLAG_BUNDLE);
}

UCS_INLINE bool udp_kind_is_numbered(unsigned kind)
{
    return kind < UDP_KIND_NUMBERED_COUNT;
}

/* Of a packet that we made. */
UCS_INLINE unsigned udp_wire_kind(const uint8_t *bytes)
{
    return bytes[14] & ((1u << UDP_WIRE_KIND_BITS) - 1);
}

/* Bytes between header and payload, of a kind with a fixed extension. */
size_t udp_wire_extension_bytes(unsigned kind);

/* Write the head, tag left out, to [UDP_HEAD_BYTES]. */
void udp_wire_put_head(uint8_t *bytes, const struct udp_head *head);

/* Only what may differ when a segment is sent again. */
void udp_wire_put_ack(uint8_t *bytes, const struct udp_head *head);

/* @return false: not a packet of this version, shorter than its kind needs,
 *         or longer than any. */
UCS_MUST_USE bool udp_wire_get_head(const uint8_t *bytes, size_t length,
                                    struct udp_head *head_p);

/* Extensions, at bytes + UDP_HEAD_BYTES; the length was checked with the
 * head. Each answers how long it is. */
size_t udp_wire_put_chunk(uint8_t *bytes, const struct udp_chunk *chunk);
void   udp_wire_get_chunk(const uint8_t *bytes, struct udp_chunk *chunk_p);
size_t udp_wire_put_access(uint8_t *bytes, const struct udp_access *access);
void   udp_wire_get_access(const uint8_t *bytes, struct udp_access *access_p);
size_t udp_wire_put_word(uint8_t *bytes, const struct udp_word *word);
void   udp_wire_get_word(const uint8_t *bytes, struct udp_word *word_p);
size_t udp_wire_put_answer(uint8_t *bytes, const struct udp_answer *answer);
void   udp_wire_get_answer(const uint8_t *bytes, struct udp_answer *answer_p);

size_t udp_wire_put_piece(uint8_t *bytes, const struct udp_piece *piece);
void   udp_wire_get_piece(const uint8_t *bytes, struct udp_piece *piece_p);
size_t udp_wire_put_hello(uint8_t *bytes, const struct udp_hello *hello);
void   udp_wire_get_hello(const uint8_t *bytes, struct udp_hello *hello_p);
/* PONG, RESET: the first half of an answer. */
size_t udp_wire_put_pong(uint8_t *bytes, const struct udp_answer *answer);
void   udp_wire_get_pong(const uint8_t *bytes, struct udp_answer *answer_p);

/* Ranges behind `ack`, ascending; [UDP_RANGE_BYTES] each. @return bytes. */
size_t udp_wire_put_ranges(uint8_t *bytes, uint32_t ack,
                           const struct udp_range *ranges, unsigned count);

/* Decode what an ACK carries.
 * @param ranges_p  [UDP_RANGE_COUNT_MAX]
 * @return how many; those that make no sense end the list. */
unsigned udp_wire_get_ranges(const uint8_t *bytes, size_t length, uint32_t ack,
                             struct udp_range *ranges_p);

#endif
