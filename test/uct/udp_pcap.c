/* SPDX-License-Identifier: BSD-3-Clause */
/* udp_pcap.c - a capture with packets of every kind, and what is in them.
 *
 *   udp_pcap FILE     writes FILE (pcap, raw IPv4) with the encoders of
 *                     udp_wire.c, and the values that they were given to
 *                     standard output: a line for each packet, name=value
 *   udp_pcap --kinds  each kind and how long its extension is
 *
 * test_udp_dissector.sh asks tshark for the same values. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/bytes.h"
#include "uct/udp/udp_wire.h"

enum {
    PCAP_RAW_IPV4      = 228,
    PCAP_HEAD_BYTES    = 24,
    PCAP_RECORD_BYTES  = 16,
    PCAP_IP_BYTES      = 20,
    PCAP_UDP_BYTES     = 8,
    PCAP_PACKET_BYTES  = 512,
    PCAP_PAYLOAD_BYTES = 24,
    PCAP_ROUNDS        = 20,
    PCAP_TEXT_BYTES    = 1024,
};

static FILE    *file;
static uint64_t state = 1;
static unsigned packet_count;

/* splitmix64 (Vigna, public domain). */
static uint64_t draw(void)
{
    uint64_t bits = (state += 0x9e3779b97f4a7c15ull);

    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
    return bits ^ (bits >> 31);
}

static void put(const void *bytes, size_t length)
{
    if (fwrite(bytes, 1, length, file) != length) {
        perror("udp_pcap");
        exit(1);
    }
}

static void put_file_head(void)
{
    uint8_t head[PCAP_HEAD_BYTES] = {0};

    ucs_put_le32(head, 0xa1b2c3d4u);
    ucs_put_le16(head + 4, 2);
    ucs_put_le16(head + 6, 4);
    ucs_put_le32(head + 16, 65535);
    ucs_put_le32(head + 20, PCAP_RAW_IPV4);
    put(head, sizeof(head));
}

/* A record of one datagram from 10.0.0.1:1000 to 10.0.0.2:2000. */
static void put_packet(const uint8_t *bytes, size_t length)
{
    uint8_t  record[PCAP_RECORD_BYTES]            = {0};
    uint8_t  head[PCAP_IP_BYTES + PCAP_UDP_BYTES] = {0x45, 0};
    uint16_t total = (uint16_t)(sizeof(head) + length);

    ucs_put_le32(record, ++packet_count);
    ucs_put_le32(record + 8, total);
    ucs_put_le32(record + 12, total);
    put(record, sizeof(record));
    head[2]  = (uint8_t)(total >> 8);
    head[3]  = (uint8_t)total;
    head[8]  = 64;
    head[9]  = 17;
    head[12] = 10;
    head[15] = 1;
    head[16] = 10;
    head[19] = 2;
    head[20] = 1000 >> 8;
    head[21] = 1000 & 255;
    head[22] = 2000 >> 8;
    head[23] = 2000 & 255;
    head[24] = (uint8_t)((length + PCAP_UDP_BYTES) >> 8);
    head[25] = (uint8_t)(length + PCAP_UDP_BYTES);
    put(head, sizeof(head));
    put(bytes, length);
}

static void say(const char *name, uint64_t value)
{
    printf(" %s=%llu", name, (unsigned long long)value);
}

static void say_hex(const char *name, uint64_t value, int digits)
{
    printf(" %s=0x%0*llx", name, digits, (unsigned long long)value);
}

static size_t make_hello(uint8_t *x)
{
    struct udp_hello hello = {.incarnation   = draw(),
                              .nonce         = draw(),
                              .cookie        = draw(),
                              .id            = (uint32_t)draw(),
                              .buffer_bytes  = (uint32_t)draw(),
                              .largest_bytes = (uint32_t)draw(),
                              .data_port     = (uint16_t)draw()};

    say_hex("id", hello.id, 8);
    say("buffer", hello.buffer_bytes);
    say_hex("incarnation", hello.incarnation, 16);
    say_hex("nonce", hello.nonce, 16);
    say_hex("cookie", hello.cookie, 16);
    say("largest", hello.largest_bytes);
    say("data_port", hello.data_port);
    say("ciphers", hello.ciphers);
    return udp_wire_put_hello(x, &hello);
}

static size_t make_access(unsigned kind, uint8_t *x)
{
    struct udp_access access = {.key       = draw(),
                                .address   = draw(),
                                .operation = (uint32_t)draw(),
                                .length    = (uint32_t)draw()};
    struct udp_word   word   = {.operand    = draw(),
                                .compare    = draw(),
                                .op         = (uint8_t)(draw() % 8),
                                .size_bytes = 8};
    size_t            length = udp_wire_put_access(x, &access);

    say_hex("key", access.key, 16);
    say_hex("address", access.address, 16);
    say("operation", access.operation);
    if (kind != UDP_KIND_ATOMIC) {
        say("length", access.length);
        return length;
    }
    say("atomic", word.op);
    say("size", word.size_bytes);
    say_hex("operand", word.operand, 16);
    say_hex("compare", word.compare, 16);
    return udp_wire_put_word(x, &word);
}

static size_t make_answer(unsigned kind, uint8_t *x)
{
    struct udp_answer answer = {.operation = (uint32_t)draw(),
                                .status    = -(int32_t)(draw() % 100),
                                .value     = draw()};

    switch (kind) {
    case UDP_KIND_DATA:
        say("operation", answer.operation);
        say("offset", answer.value);
        return udp_wire_put_answer(x, &answer);
    case UDP_KIND_RESULT:
        say("operation", answer.operation);
        printf(" status=%d", answer.status);
        say_hex("value", answer.value, 16);
        return udp_wire_put_answer(x, &answer);
    case UDP_KIND_PONG:
        answer.status = 1200;
        say("ping", answer.operation);
        say("ping_bytes", 1200);
        return udp_wire_put_pong(x, &answer);
    default:
        say("end", answer.operation);
        printf(" status=%d", answer.status);
        return udp_wire_put_pong(x, &answer);
    }
}

static size_t make_part(unsigned kind, uint8_t *x)
{
    struct udp_chunk chunk = {.message = (uint32_t)draw(),
                              .offset  = (uint32_t)draw(),
                              .total   = (uint32_t)draw()};
    struct udp_piece piece = {.number = (uint32_t)draw(),
                              .offset = (uint16_t)draw(),
                              .total  = (uint16_t)draw()};

    if (kind == UDP_KIND_CHUNK) {
        say("message", chunk.message);
        say("offset", chunk.offset);
        say("total", chunk.total);
        return udp_wire_put_chunk(x, &chunk);
    }
    say("piece", piece.number);
    say("offset", piece.offset);
    say("total", piece.total);
    return udp_wire_put_piece(x, &piece);
}

/* Up to all ranges that fit; over the wrap of the numbers, too. */
static size_t make_ranges(uint32_t ack, uint8_t *x)
{
    struct udp_range ranges[UDP_RANGE_COUNT_MAX];
    unsigned         count = (unsigned)(draw() % (UDP_RANGE_COUNT_MAX + 1));
    unsigned         index;
    uint32_t         end = ack;

    for (index = 0; index < count; ++index) {
        ranges[index].first = end + 1 + (uint32_t)(draw() % 50);
        ranges[index].end   = ranges[index].first + 1 + (uint32_t)(draw() % 50);
        end                 = ranges[index].end;
        printf("%s%u-%u", (index == 0) ? " range=" : ",", ranges[index].first,
               end);
    }
    return udp_wire_put_ranges(x, ack, ranges, count);
}

static size_t make_extension(const struct udp_head *head, uint8_t *x)
{
    switch (head->kind) {
    case UDP_KIND_CHUNK:
    case UDP_KIND_PIECE:
        return make_part(head->kind, x);
    case UDP_KIND_PUT:
    case UDP_KIND_GET:
    case UDP_KIND_ATOMIC:
        return make_access(head->kind, x);
    case UDP_KIND_DATA:
    case UDP_KIND_RESULT:
    case UDP_KIND_PONG:
    case UDP_KIND_RESET:
        return make_answer(head->kind, x);
    case UDP_KIND_ACK:
        return make_ranges(head->ack, x);
    default:
        return (head->kind >= UDP_KIND_HELLO) ? make_hello(x) : 0;
    }
}

static void say_head(const struct udp_head *head, uint64_t tag)
{
    say("kind", head->kind);
    say_hex("to", head->to, 8);
    say("number", head->number);
    say("ack", head->ack);
    say("window", head->window);
    say_hex("flags", head->flags, 2);
    say("am_id", head->am_id);
    say("attempt", head->attempt);
    say("newest_attempt", head->newest_attempt);
    say("newest", head->newest);
    say("delay_us", head->delay_us);
    say_hex("tag", tag, 16);
}

static void make_packet(unsigned kind)
{
    uint8_t         bytes[PCAP_PACKET_BYTES] = {0};
    uint64_t        tag                      = draw();
    struct udp_head head                     = {.to             = (uint32_t)draw(),
                                                .number         = (uint32_t)draw(),
                                                .ack            = (uint32_t)draw() | 0xffffff00u,
                                                .window         = (uint16_t)draw(),
                                                .kind           = (uint8_t)kind,
                                                .flags          = (uint8_t)(draw() % 8),
                                                .am_id          = (uint8_t)draw(),
                                                .attempt        = (uint8_t)draw(),
                                                .newest_attempt = (uint8_t)draw(),
                                                .newest         = (uint16_t)draw(),
                                                .delay_us       = (uint16_t)draw()};
    size_t          length;

    udp_wire_put_head(bytes, &head);
    ucs_put_le64(bytes + UDP_TAG_OFFSET, tag);
    say_head(&head, tag);
    length = UDP_HEAD_BYTES + make_extension(&head, bytes + UDP_HEAD_BYTES);
    if ((kind < UDP_KIND_HELLO) && (kind != UDP_KIND_ACK)) {
        length += PCAP_PAYLOAD_BYTES;
    }
    if (kind != UDP_KIND_ACK) {
        say("payload_bytes", (kind < UDP_KIND_HELLO) ? PCAP_PAYLOAD_BYTES : 0);
    }
    printf("\n");
    put_packet(bytes, length);
}

int main(int argc, char **argv)
{
    unsigned round, kind;

    if ((argc == 2) && (strcmp(argv[1], "--kinds") == 0)) {
        for (kind = 0; kind < UDP_KIND_COUNT; ++kind) {
            printf("%u %zu\n", kind, udp_wire_extension_bytes(kind));
        }
        return 0;
    }
    file = (argc == 2) ? fopen(argv[1], "wb") : NULL;
    if (file == NULL) {
        (void)fprintf(stderr, "usage: udp_pcap FILE | --kinds\n");
        return 2;
    }
    put_file_head();
    for (round = 0; round < PCAP_ROUNDS; ++round) {
        for (kind = 0; kind < UDP_KIND_COUNT; ++kind) {
            make_packet(kind);
        }
    }
    return (fclose(file) == 0) ? 0 : 1;
}
