/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_wire.c - encode and decode packets. */
#include "uct/udp/udp_wire.h"

#include "ucs/assert.h"
#include "ucs/bytes.h"

enum {
    WIRE_CHUNK_BYTES = 16,
    WIRE_SPACE_MAX   = UINT16_MAX,
};

static const uint8_t wire_extension_bytes[UDP_KIND_COUNT] = {
    [UDP_KIND_CHUNK]   = WIRE_CHUNK_BYTES,
    [UDP_KIND_PUT]     = 24,
    [UDP_KIND_GET]     = 24,
    [UDP_KIND_DATA]    = 16,
    [UDP_KIND_ATOMIC]  = 40,
    [UDP_KIND_RESULT]  = 16,
    [UDP_KIND_PIECE]   = 8,
    [UDP_KIND_PONG]    = 8,
    [UDP_KIND_RESET]   = 8,
    [UDP_KIND_HELLO]   = 40,
    [UDP_KIND_COOKIE]  = 40,
    [UDP_KIND_CONNECT] = 40,
    [UDP_KIND_ACCEPT]  = 40,
};

size_t udp_wire_extension_bytes(unsigned kind)
{
    ucs_assert(kind < UDP_KIND_COUNT);
    return wire_extension_bytes[kind];
}

void udp_wire_put_ack(uint8_t *bytes, const struct udp_head *head)
{
    ucs_put_le32(bytes + 8, head->ack);
    ucs_put_le16(bytes + 12, head->window);
    bytes[17] = head->attempt;
    bytes[18] = head->newest_attempt;
    bytes[19] = 0;
    ucs_put_le16(bytes + 20, head->newest);
    ucs_put_le16(bytes + 22, head->delay_us);
}

void udp_wire_put_head(uint8_t *bytes, const struct udp_head *head)
{
    ucs_put_le32(bytes, head->to);
    ucs_put_le32(bytes + 4, head->number);
    bytes[14] =
        (uint8_t)(head->kind | (UDP_WIRE_VERSION << UDP_WIRE_KIND_BITS));
    bytes[15] = head->flags;
    bytes[16] = head->am_id;
    udp_wire_put_ack(bytes, head);
}

bool udp_wire_get_head(const uint8_t *bytes, size_t length,
                       struct udp_head *head_p)
{
    unsigned kind;

    if ((length < UDP_HEAD_BYTES) || (length > UDP_PACKET_BYTES_MAX) ||
        ((bytes[14] >> UDP_WIRE_KIND_BITS) != UDP_WIRE_VERSION)) {
        return false;
    }
    kind = udp_wire_kind(bytes);
    if ((kind >= UDP_KIND_COUNT) ||
        (length < UDP_HEAD_BYTES + (size_t)wire_extension_bytes[kind]) ||
        ((kind == UDP_KIND_ACK) && (length % UDP_RANGE_BYTES != 0))) {
        return false;
    }
    head_p->to             = ucs_get_le32(bytes);
    head_p->number         = ucs_get_le32(bytes + 4);
    head_p->ack            = ucs_get_le32(bytes + 8);
    head_p->window         = ucs_get_le16(bytes + 12);
    head_p->kind           = (uint8_t)kind;
    head_p->flags          = bytes[15];
    head_p->am_id          = bytes[16];
    head_p->attempt        = bytes[17];
    head_p->newest_attempt = bytes[18];
    head_p->newest         = ucs_get_le16(bytes + 20);
    head_p->delay_us       = ucs_get_le16(bytes + 22);
    return true;
}

size_t udp_wire_put_chunk(uint8_t *bytes, const struct udp_chunk *chunk)
{
    ucs_put_le32(bytes, chunk->message);
    ucs_put_le32(bytes + 4, chunk->offset);
    ucs_put_le32(bytes + 8, chunk->total);
    ucs_put_le32(bytes + 12, 0);
    return WIRE_CHUNK_BYTES;
}

void udp_wire_get_chunk(const uint8_t *bytes, struct udp_chunk *chunk_p)
{
    chunk_p->message = ucs_get_le32(bytes);
    chunk_p->offset  = ucs_get_le32(bytes + 4);
    chunk_p->total   = ucs_get_le32(bytes + 8);
}

size_t udp_wire_put_access(uint8_t *bytes, const struct udp_access *access)
{
    ucs_put_le64(bytes, access->key);
    ucs_put_le64(bytes + 8, access->address);
    ucs_put_le32(bytes + 16, access->operation);
    ucs_put_le32(bytes + 20, access->length);
    return wire_extension_bytes[UDP_KIND_PUT];
}

void udp_wire_get_access(const uint8_t *bytes, struct udp_access *access_p)
{
    access_p->key       = ucs_get_le64(bytes);
    access_p->address   = ucs_get_le64(bytes + 8);
    access_p->operation = ucs_get_le32(bytes + 16);
    access_p->length    = ucs_get_le32(bytes + 20);
}

/* op and size take the place of the length, which an atomic does not need. */
size_t udp_wire_put_word(uint8_t *bytes, const struct udp_word *word)
{
    bytes[20] = word->op;
    bytes[21] = word->size_bytes;
    bytes[22] = 0;
    bytes[23] = 0;
    ucs_put_le64(bytes + 24, word->operand);
    ucs_put_le64(bytes + 32, word->compare);
    return wire_extension_bytes[UDP_KIND_ATOMIC];
}

void udp_wire_get_word(const uint8_t *bytes, struct udp_word *word_p)
{
    word_p->op         = bytes[20];
    word_p->size_bytes = bytes[21];
    word_p->operand    = ucs_get_le64(bytes + 24);
    word_p->compare    = ucs_get_le64(bytes + 32);
}

size_t udp_wire_put_piece(uint8_t *bytes, const struct udp_piece *piece)
{
    ucs_put_le32(bytes, piece->number);
    ucs_put_le16(bytes + 4, piece->offset);
    ucs_put_le16(bytes + 6, piece->total);
    return wire_extension_bytes[UDP_KIND_PIECE];
}

void udp_wire_get_piece(const uint8_t *bytes, struct udp_piece *piece_p)
{
    piece_p->number = ucs_get_le32(bytes);
    piece_p->offset = ucs_get_le16(bytes + 4);
    piece_p->total  = ucs_get_le16(bytes + 6);
}

size_t udp_wire_put_hello(uint8_t *bytes, const struct udp_hello *hello)
{
    ucs_put_le32(bytes, hello->id);
    ucs_put_le32(bytes + 4, hello->buffer_bytes);
    ucs_put_le64(bytes + 8, hello->incarnation);
    ucs_put_le64(bytes + 16, hello->nonce);
    ucs_put_le64(bytes + 24, hello->cookie);
    ucs_put_le32(bytes + 32, hello->largest_bytes);
    ucs_put_le16(bytes + 36, hello->data_port);
    ucs_put_le16(bytes + 38, hello->ciphers);
    return wire_extension_bytes[UDP_KIND_HELLO];
}

void udp_wire_get_hello(const uint8_t *bytes, struct udp_hello *hello_p)
{
    hello_p->id            = ucs_get_le32(bytes);
    hello_p->buffer_bytes  = ucs_get_le32(bytes + 4);
    hello_p->incarnation   = ucs_get_le64(bytes + 8);
    hello_p->nonce         = ucs_get_le64(bytes + 16);
    hello_p->cookie        = ucs_get_le64(bytes + 24);
    hello_p->largest_bytes = ucs_get_le32(bytes + 32);
    hello_p->data_port     = ucs_get_le16(bytes + 36);
    hello_p->ciphers       = ucs_get_le16(bytes + 38);
}

size_t udp_wire_put_pong(uint8_t *bytes, const struct udp_answer *answer)
{
    ucs_put_le32(bytes, answer->operation);
    ucs_put_le32(bytes + 4, (uint32_t)answer->status);
    return wire_extension_bytes[UDP_KIND_PONG];
}

void udp_wire_get_pong(const uint8_t *bytes, struct udp_answer *answer_p)
{
    answer_p->operation = ucs_get_le32(bytes);
    answer_p->status    = (int32_t)ucs_get_le32(bytes + 4);
    answer_p->value     = 0;
}

size_t udp_wire_put_answer(uint8_t *bytes, const struct udp_answer *answer)
{
    ucs_put_le32(bytes, answer->operation);
    ucs_put_le32(bytes + 4, (uint32_t)answer->status);
    ucs_put_le64(bytes + 8, answer->value);
    return wire_extension_bytes[UDP_KIND_RESULT];
}

void udp_wire_get_answer(const uint8_t *bytes, struct udp_answer *answer_p)
{
    answer_p->operation = ucs_get_le32(bytes);
    answer_p->status    = (int32_t)ucs_get_le32(bytes + 4);
    answer_p->value     = ucs_get_le64(bytes + 8);
}

/* Each range: how many are missing before it, how many it has. */
size_t udp_wire_put_ranges(uint8_t *bytes, uint32_t ack,
                           const struct udp_range *ranges, unsigned count)
{
    uint32_t end = ack;
    unsigned index;

    ucs_assert(count <= UDP_RANGE_COUNT_MAX);
    for (index = 0; index < count; ++index) {
        ucs_assert((ranges[index].end - end) <= WIRE_SPACE_MAX);
        ucs_put_le16(bytes, (uint16_t)(ranges[index].first - end));
        ucs_put_le16(bytes + 2,
                     (uint16_t)(ranges[index].end - ranges[index].first));
        end = ranges[index].end;
        bytes += UDP_RANGE_BYTES;
    }
    return (size_t)count * UDP_RANGE_BYTES;
}

unsigned udp_wire_get_ranges(const uint8_t *bytes, size_t length, uint32_t ack,
                             struct udp_range *ranges_p)
{
    uint32_t end   = ack;
    unsigned count = 0;
    uint16_t gap, run;

    while ((length >= UDP_RANGE_BYTES) && (count < UDP_RANGE_COUNT_MAX)) {
        gap = ucs_get_le16(bytes);
        run = ucs_get_le16(bytes + 2);
        if ((gap == 0) || (run == 0)) {
            break;
        }
        ranges_p[count].first = end + gap;
        ranges_p[count].end   = end + gap + run;
        end                   = ranges_p[count].end;
        ++count;
        bytes += UDP_RANGE_BYTES;
        length -= UDP_RANGE_BYTES;
    }
    return count;
}
