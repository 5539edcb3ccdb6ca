/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_udp_conn.c - two connections and a script: what they send, what becomes
 * of each packet, how time goes on. By the first byte of the input:
 *
 *   honest  strangers only: damaged and made-up packets change nothing; every
 *           message arrives once, whole and in order; an atomic happens once;
 *           a connection fails after its bound of silence, not otherwise
 *   liar    the peer has the keys and says anything in its own name: memory
 *           stays whole and bounded, what has ended stays ended */
#include "fuzz/fuzz.h"

#include <string.h>

#include "fuzz/udp_duel.h"
#include "ucs/bytes.h"
#include "ucs/clock.h"

enum { CONN_STEPS_MAX = 1500, CONN_LIE_BYTES_MAX = 65507 };

static struct duel duel;

static void strange(struct tape *tape)
{
    uint8_t          bytes[96];
    unsigned         end  = tape_u8(tape) % 2;
    struct udp_conn *conn = duel_conn(&duel, end);
    struct udp_head  head = {.kind  = (uint8_t)(tape_u8(tape) % UDP_KIND_COUNT),
                             .flags = tape_u8(tape),
                             .window = tape_u16(tape)};
    size_t           index;

    if (conn != NULL) {
        head.to     = conn->id;
        head.number = conn->receive.expected + tape_u8(tape) % 4;
        head.ack    = conn->send.first + tape_u8(tape) % 4;
    }
    for (index = 0; index < sizeof(bytes); ++index) {
        bytes[index] = tape_u8(tape);
    }
    udp_wire_put_head(bytes, &head);
    duel_inject_strange(&duel, end, bytes, sizeof(bytes));
}

/* The extension of a lie: right, nearly right or nonsense. */
static void lie_extension(struct tape *tape, unsigned kind, uint8_t *bytes)
{
    size_t  index, length = udp_wire_extension_bytes(kind);
    uint8_t how = tape_u8(tape);

    for (index = 0; index < length; ++index) {
        bytes[index] = (how & 1) ? tape_u8(tape) : 0;
    }
    if (how & 2) {
        return;
    }
    switch (kind) {
    case UDP_KIND_PUT:
    case UDP_KIND_GET:
    case UDP_KIND_ATOMIC:
        ucs_put_le64(bytes, DUEL_REGION_KEY);
        ucs_put_le64(bytes + 8, tape_u16(tape) % (DUEL_REGION_BYTES + 9));
        break;
    case UDP_KIND_DATA:
    case UDP_KIND_RESULT:
        ucs_put_le32(bytes, tape_u8(tape) % 8);
        ucs_put_le64(bytes + 8, tape_u16(tape) % 1100);
        break;
    case UDP_KIND_CHUNK:
        ucs_put_le32(bytes, tape_u8(tape) % 4);
        ucs_put_le32(bytes + 4, tape_u16(tape));
        ucs_put_le32(bytes + 8, tape_u16(tape));
        break;
    case UDP_KIND_PIECE:
        ucs_put_le32(bytes, tape_u8(tape) % 4);
        ucs_put_le16(bytes + 4, (uint16_t)(1152 * (tape_u8(tape) % 9)));
        ucs_put_le16(bytes + 6, tape_u16(tape));
        break;
    default:
        break;
    }
}

/* A packet to the client, with the keys of its peer. */
static void lie(struct tape *tape)
{
    static uint8_t   bytes[CONN_LIE_BYTES_MAX];
    struct udp_conn *conn = duel_conn(&duel, 0);
    struct udp_head  head = {
         .kind     = (uint8_t)(tape_u8(tape) % UDP_KIND_HELLO),
         .flags    = tape_u8(tape),
         .am_id    = tape_u8(tape),
         .window   = tape_u16(tape),
         .to       = conn->id,
         .number   = conn->receive.expected + tape_u8(tape) % 16,
         .ack      = conn->send.first + tape_u8(tape) % 8,
         .newest   = tape_u16(tape),
         .delay_us = tape_u16(tape),
    };
    size_t  covered = UDP_HEAD_BYTES + udp_wire_extension_bytes(head.kind);
    size_t  length  = covered;
    uint8_t how     = tape_u8(tape);

    lie_extension(tape, head.kind, bytes + UDP_HEAD_BYTES);
    if (how % 4 == 1) {
        length += tape_u8(tape);
    } else if (how % 4 == 2) {
        length += tape_u16(tape) % (CONN_LIE_BYTES_MAX - covered);
    } else if (how % 4 == 3) {
        length = ucs_max(length, (size_t)tape_u16(tape) % 9000);
    }
    if (how & 64) {
        head.number += tape_u16(tape);
    }
    if ((head.kind == UDP_KIND_ACK) || udp_head_is_bundle(&head)) {
        covered = length;
    }
    udp_wire_put_head(bytes, &head);
    udp_seal_put(&conn->seal, bytes, covered, length);
    duel_inject(&duel, 0, &duel.ends[1].address, bytes, length);
}

static void end_step(struct tape *tape, unsigned end)
{
    struct udp_conn *conn = duel_conn(&duel, end);

    switch (tape_u8(tape) % 16) {
    case 0:
        duel.ends[end].is_full = !duel.ends[end].is_full;
        break;
    case 1:
        if (conn != NULL) {
            udp_connect_close(conn);
        }
        break;
    case 2:
    case 3:
    case 4:
        duel_send_long(&duel, end, tape_u16(tape));
        break;
    case 5:
    case 6:
    case 7:
        duel_access(&duel, end, tape);
        break;
    case 8:
    case 9:
        duel_send(&duel, end, tape_u16(tape), true);
        break;
    default:
        duel_send(&duel, end, tape_u8(tape), false);
        break;
    }
}

static void wire_step(struct tape *tape)
{
    unsigned index = tape_u8(tape);

    switch (tape_u8(tape) % 16) {
    case 0:
    case 1:
        duel_drop(&duel, index);
        break;
    case 2:
        duel_repeat(&duel, index);
        break;
    case 3:
        duel_flip(&duel, index, tape_u16(tape));
        break;
    case 4:
        duel_resize(&duel, index, tape_scaled(tape));
        break;
    case 5:
    case 6:
    case 7:
        duel_deliver(&duel, index);
        break;
    default:
        duel_deliver(&duel, 0);
        break;
    }
}

static void step(struct tape *tape)
{
    uint8_t what = tape_u8(tape);

    switch (what % 8) {
    case 0:
    case 1:
    case 2:
        end_step(tape, (what >> 3) & 1);
        break;
    case 3:
        duel_pass(&duel, tape_scaled(tape) % (2ull * UCS_NS_PER_S));
        break;
    case 4:
        duel_pass_to_next(&duel);
        break;
    case 5:
        if (duel.is_lied_to) {
            lie(tape);
        } else {
            strange(tape);
        }
        break;
    default:
        wire_step(tape);
        break;
    }
}

/* Nobody lied: what was sent has come, if nobody gave up. */
static void check_honest(void)
{
    struct udp_conn *client = duel_conn(&duel, 0);
    struct udp_conn *server = duel_conn(&duel, 1);
    struct duel_end *ends   = duel.ends;
    uint64_t         word;
    unsigned         index;

    if ((client == NULL) || (server == NULL) || !udp_conn_is_open(client) ||
        !udp_conn_is_open(server)) {
        return;
    }
    for (index = 0; index < 2; ++index) {
        duel_check(ends[1 - index].expected == ends[index].next,
                   "a message never came");
        duel_check(ends[1 - index].any_count == ends[index].any_next,
                   "a message of any order never came");
        duel_check(ends[index].asked == ends[index].finished,
                   "an operation has not ended");
        duel_check(ends[index].atomics == ends[index].answered,
                   "an atomic was refused");
        memcpy(&word, ends[1 - index].region, sizeof(word));
        duel_check(word == ends[index].atomics,
                   "an atomic did not happen once");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tape tape = {.bytes = data, .size = size};
    unsigned    count;

    duel_open(&duel);
    duel_connect(&duel);
    duel_heal(&duel);
    duel_check(duel_is_open(&duel), "no connection on a good path");
    duel.is_lied_to = tape_u8(&tape) % 2;
    for (count = 0; (count < CONN_STEPS_MAX) && !tape_is_over(&tape); ++count) {
        step(&tape);
    }
    duel.ends[0].is_full = false;
    duel.ends[1].is_full = false;
    if (!duel.is_lied_to) {
        duel_heal(&duel);
        check_honest();
    }
    duel_close(&duel);
    return 0;
}
