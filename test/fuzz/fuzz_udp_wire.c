/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_udp_wire.c - any bytes as a packet: what is decoded lies inside, and
 * encoded again it is what came. Any fields as a packet: they come back. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "fuzz/tape.h"
#include "fuzz/udp_duel.h"

enum { WIRE_BYTES_MAX = UDP_HEAD_BYTES + UDP_PACKET_BYTES_MAX };

/* Decode the extension of a kind and encode it again. @return its length. */
static size_t again(unsigned kind, const uint8_t *in, uint8_t *out)
{
    struct udp_chunk  chunk;
    struct udp_access access;
    struct udp_word   word;
    struct udp_answer answer;
    struct udp_piece  piece;
    struct udp_hello  hello;

    switch (kind) {
    case UDP_KIND_CHUNK:
        udp_wire_get_chunk(in, &chunk);
        return udp_wire_put_chunk(out, &chunk);
    case UDP_KIND_PUT:
    case UDP_KIND_GET:
        udp_wire_get_access(in, &access);
        return udp_wire_put_access(out, &access);
    case UDP_KIND_ATOMIC:
        udp_wire_get_access(in, &access);
        udp_wire_get_word(in, &word);
        (void)udp_wire_put_access(out, &access);
        return udp_wire_put_word(out, &word);
    case UDP_KIND_DATA:
    case UDP_KIND_RESULT:
        udp_wire_get_answer(in, &answer);
        return udp_wire_put_answer(out, &answer);
    case UDP_KIND_PONG:
    case UDP_KIND_RESET:
        udp_wire_get_pong(in, &answer);
        return udp_wire_put_pong(out, &answer);
    case UDP_KIND_PIECE:
        udp_wire_get_piece(in, &piece);
        return udp_wire_put_piece(out, &piece);
    case UDP_KIND_HELLO:
    case UDP_KIND_COOKIE:
    case UDP_KIND_CONNECT:
    case UDP_KIND_ACCEPT:
        udp_wire_get_hello(in, &hello);
        return udp_wire_put_hello(out, &hello);
    default:
        return 0;
    }
}

/* Bytes of an extension that mean nothing: [from, to). */
static void clear_spare(unsigned kind, uint8_t *extension)
{
    switch (kind) {
    case UDP_KIND_CHUNK:
        memset(extension + 12, 0, 4);
        break;
    case UDP_KIND_ATOMIC:
        memset(extension + 22, 0, 2);
        break;
    default:
        break;
    }
}

static void check_ranges(const uint8_t *bytes, size_t length, uint32_t ack)
{
    uint8_t          out[UDP_RANGE_COUNT_MAX * UDP_RANGE_BYTES];
    struct udp_range ranges[UDP_RANGE_COUNT_MAX];
    unsigned count = udp_wire_get_ranges(bytes, length, ack, ranges), index;
    uint32_t end   = ack;
    size_t   size  = (size_t)count * UDP_RANGE_BYTES;

    duel_check(size <= length, "more ranges than bytes");
    for (index = 0; index < count; ++index) {
        duel_check((ranges[index].first != end) &&
                       (ranges[index].first != ranges[index].end),
                   "an empty range");
        if (ranges[index].end - end > UINT16_MAX) {
            return; /* longer than any window: not for the encoder */
        }
        end = ranges[index].end;
    }
    duel_check(udp_wire_put_ranges(out, ack, ranges, count) == size,
               "ranges have another length");
    duel_check(memcmp(out, bytes, size) == 0, "ranges come back changed");
}

static void check_packet(const uint8_t *bytes, size_t length)
{
    uint8_t         out[UDP_HEAD_BYTES + UDP_EXTENSION_BYTES];
    uint8_t         in[UDP_HEAD_BYTES + UDP_EXTENSION_BYTES];
    struct udp_head head;
    size_t          extension;

    if (!udp_wire_get_head(bytes, length, &head)) {
        return;
    }
    duel_check(length >= UDP_HEAD_BYTES, "a head without bytes");
    duel_check(length <= UDP_PACKET_BYTES_MAX, "a packet longer than any");
    extension = udp_wire_extension_bytes(head.kind);
    duel_check(length >= UDP_HEAD_BYTES + extension,
               "an extension without bytes");
    memset(out, 0, sizeof(out));
    memcpy(in, bytes, UDP_HEAD_BYTES + extension);
    in[19] = 0;
    clear_spare(head.kind, in + UDP_HEAD_BYTES);
    udp_wire_put_head(out, &head);
    memcpy(out + UDP_TAG_OFFSET, in + UDP_TAG_OFFSET, 8);
    duel_check(again(head.kind, in + UDP_HEAD_BYTES, out + UDP_HEAD_BYTES) ==
                   extension,
               "an extension has another length");
    duel_check(memcmp(in, out, UDP_HEAD_BYTES + extension) == 0,
               "a packet comes back changed");
    if (head.kind == UDP_KIND_ACK) {
        check_ranges(bytes + UDP_HEAD_BYTES, length - UDP_HEAD_BYTES, head.ack);
    }
}

/* A head of any fields, then any bytes. */
static void check_made(struct tape *tape)
{
    static uint8_t  bytes[WIRE_BYTES_MAX];
    struct udp_head in = {.to             = (uint32_t)tape_u64(tape),
                          .number         = (uint32_t)tape_u64(tape),
                          .ack            = (uint32_t)tape_u64(tape),
                          .window         = tape_u16(tape),
                          .kind           = tape_u8(tape) % UDP_KIND_COUNT,
                          .flags          = tape_u8(tape),
                          .am_id          = tape_u8(tape),
                          .attempt        = tape_u8(tape),
                          .newest_attempt = tape_u8(tape),
                          .newest         = tape_u16(tape),
                          .delay_us       = tape_u16(tape)};
    struct udp_head out;
    size_t          length = tape_u16(tape) % sizeof(bytes), index;
    bool            is_taken;

    udp_wire_put_head(bytes, &in);
    for (index = UDP_TAG_OFFSET; index < sizeof(bytes); ++index) {
        bytes[index] = tape_u8(tape);
    }
    is_taken = udp_wire_get_head(bytes, length, &out);
    if (is_taken) {
        duel_check((out.to == in.to) && (out.number == in.number) &&
                       (out.ack == in.ack) && (out.window == in.window) &&
                       (out.kind == in.kind) && (out.flags == in.flags) &&
                       (out.newest == in.newest) &&
                       (out.delay_us == in.delay_us),
                   "a head comes back changed");
        check_packet(bytes, length);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tape tape = {.bytes = data, .size = size};

    check_packet(data, size);
    check_made(&tape);
    return 0;
}
