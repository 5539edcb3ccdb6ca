/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_udp_connect.c - the handshake, driven by a script of packets and time.
 *
 *   a client asks; its packets and the server's are delivered, dropped,
 *   doubled, damaged; strangers send what they like, replay what they saw from
 *   other addresses; who has the secret but no cookie asks too
 *
 * Without the secret nothing changes and nobody answers. Without the cookie
 * the server keeps nothing. No answer is longer than what it answers. Both
 * ends agree on keys when they are open, or the client fails in its time. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "fuzz/udp_duel.h"
#include "ucs/clock.h"

enum { CONNECT_STEPS_MAX = 400, CONNECT_HEARD_MAX = 16 };

static struct duel duel;

/* Packets that somebody on the path wrote down. */
static struct {
    uint8_t bytes[UDP_HEAD_BYTES + UDP_EXTENSION_BYTES];
    size_t  length;
} heard[CONNECT_HEARD_MAX];
static unsigned heard_count;

static unsigned server_count(void)
{
    const struct ucs_list *link;
    unsigned               count = 0;
    const struct ucs_list *all   = &duel.ends[1].iface.all;

    for (link = all->next; link != all; link = link->next) {
        ++count;
    }
    return count;
}

static void listen_in(unsigned index)
{
    const struct duel_packet *packet;

    if (duel.packet_count == 0) {
        return;
    }
    packet = &duel.packets[index % duel.packet_count];
    if ((packet->length <= sizeof(heard[0].bytes)) &&
        (heard_count < CONNECT_HEARD_MAX)) {
        memcpy(heard[heard_count].bytes, packet->bytes, packet->length);
        heard[heard_count++].length = packet->length;
    }
}

/* From an address that is not the client's: at most a cookie comes of it, to
 * that address, and no longer than the question. */
static void replay(struct tape *tape)
{
    struct ucs_sockaddr from  = duel_address(3 + tape_u8(tape), 7);
    unsigned            count = server_count(), index = tape_u8(tape);
    unsigned            packets = duel.packet_count;

    if (heard_count == 0) {
        return;
    }
    index %= heard_count;
    duel_inject(&duel, 1, &from, heard[index].bytes, heard[index].length);
    duel_check(server_count() <= count,
               "a packet from elsewhere makes a connection");
    for (; packets < duel.packet_count; ++packets) {
        duel_check(duel.packets[packets].length <= heard[index].length,
                   "an answer is longer than its question");
    }
}

static void strange(struct tape *tape)
{
    uint8_t         bytes[UDP_HEAD_BYTES + UDP_EXTENSION_BYTES + 8];
    struct udp_head head = {
        .to     = tape_u8(tape),
        .number = tape_u8(tape),
        .kind   = (uint8_t)(tape_u8(tape) % UDP_KIND_COUNT),
    };
    size_t index;

    for (index = 0; index < sizeof(bytes); ++index) {
        bytes[index] = tape_u8(tape);
    }
    udp_wire_put_head(bytes, &head);
    duel_inject_strange(&duel, tape_u8(tape) % 2, bytes, sizeof(bytes));
}

/* Somebody who has the secret: a HELLO or CONNECT of any content. */
static void insider(struct tape *tape)
{
    uint8_t             bytes[UDP_HEAD_BYTES + UDP_EXTENSION_BYTES];
    struct udp_head     head  = {.kind = (tape_u8(tape) % 2) ? UDP_KIND_HELLO
                                                             : UDP_KIND_CONNECT};
    struct udp_hello    hello = {.incarnation   = tape_scaled(tape),
                                 .nonce         = tape_scaled(tape),
                                 .cookie        = tape_scaled(tape),
                                 .id            = tape_u8(tape),
                                 .buffer_bytes  = (uint32_t)tape_scaled(tape),
                                 .largest_bytes = (uint32_t)tape_scaled(tape),
                                 .data_port     = tape_u16(tape)};
    struct ucs_sockaddr from  = duel_address(3, 7);
    unsigned            count = server_count();
    bool                shows_cookie = tape_u8(tape) % 4 == 0;
    size_t              length;

    if (shows_cookie) { /* it gets its post: that is a client */
        hello.cookie = udp_connect_cookie(&duel.ends[1].iface.self, &from,
                                          &hello, duel.now_ns / UCS_NS_PER_S);
    }
    udp_wire_put_head(bytes, &head);
    length =
        UDP_HEAD_BYTES + udp_wire_put_hello(bytes + UDP_HEAD_BYTES, &hello);
    udp_seal_put(&duel.ends[1].iface.self.secret, bytes, length, length);
    duel_inject(&duel, 1, &from, bytes, length);
    duel_check(shows_cookie || (server_count() <= count),
               "a connection without a cookie");
}

static void step(struct tape *tape)
{
    unsigned index = tape_u8(tape);

    switch (tape_u8(tape) % 12) {
    case 0:
    case 1:
        listen_in(index);
        duel_deliver(&duel, 0);
        break;
    case 2:
        duel_deliver(&duel, index);
        break;
    case 3:
        listen_in(index);
        duel_drop(&duel, index);
        break;
    case 4:
        duel_repeat(&duel, index);
        break;
    case 5:
        duel_flip(&duel, index, tape_u16(tape));
        break;
    case 6:
        duel_resize(&duel, index, tape_scaled(tape));
        break;
    case 7:
        duel_pass(&duel, tape_scaled(tape) % (2ull * UCS_NS_PER_S));
        break;
    case 8:
        duel_pass_to_next(&duel);
        break;
    case 9:
        strange(tape);
        break;
    case 10:
        replay(tape);
        break;
    default:
        insider(tape);
        break;
    }
}

/* The server's end of the client's connection; NULL: it has gone. */
static const struct udp_conn *server_conn(void)
{
    const struct udp_conn *client = duel.ends[0].conn;

    return (const struct udp_conn *)ucsi_hash_get(&duel.ends[1].iface.conns,
                                                  client->peer_id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tape            tape = {.bytes = data, .size = size};
    const struct udp_conn *client, *server;
    unsigned               count;

    heard_count = 0;
    duel_open(&duel);
    duel_connect(&duel);
    client = duel.ends[0].conn;
    for (count = 0; (count < CONNECT_STEPS_MAX) && !tape_is_over(&tape);
         ++count) {
        step(&tape);
    }
    duel.ends[1].conn = NULL;
    for (count = 0; (count < 1000) && (client->state < UDP_CONN_OPEN);
         ++count) {
        duel_pass_to_next(&duel);
        while (duel.packet_count > 0) {
            duel_deliver(&duel, 0);
        }
    }
    duel_check(client->state >= UDP_CONN_OPEN, "it asks for ever");
    server = server_conn();
    if (udp_conn_is_open(client) && (server != NULL)) {
        duel_check(memcmp(&client->seal, &server->seal, sizeof(client->seal)) ==
                       0,
                   "the ends do not have the same key");
    }
    duel_close(&duel);
    return 0;
}
