/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_crypt.h - packets that nobody else can read, change or repeat
 * (UCX_NET_ENCRYPT=y).
 *
 *     head            body                          trailer
 *    | not secret    | encrypted                   | counter 8 | tag 16 |
 *     '--------------- authenticated ----------------------'
 *
 *   secret of the server's address + both nonces --BLAKE2b--> a key for each
 *   direction; nonce of a packet = its counter, which never comes twice
 *
 * The counter is of its own, not the number in the header: a segment that is
 * sent again has the same number, and with two messages under one nonce AES-GCM
 * and Poly1305 give away the key to forge. A window of counters drops what was
 * seen before; packets may come in any order within it.
 *
 * Who knows the secret and has recorded the traffic can read it later: there
 * is no forward secrecy. All cryptography is libsodium's. Pure but for that;
 * nothing is allocated. Thread: the worker's.
 * Sources: RFC 8439, NIST SP 800-38D, RFC 7693; the window: RFC 6479. */
#ifndef UCT_UDP_CRYPT_H_
#define UCT_UDP_CRYPT_H_

#include <sodium.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ucs/compiler.h"
#include "ucs/type/status.h"

enum udp_crypt_limit {
    UDP_CRYPT_SECRET_BYTES  = 16,
    UDP_CRYPT_KEY_BYTES     = 32,
    UDP_CRYPT_COUNTER_BYTES = 8,
    UDP_CRYPT_TAG_BYTES     = 16,
    UDP_CRYPT_TRAILER_BYTES = UDP_CRYPT_COUNTER_BYTES + UDP_CRYPT_TAG_BYTES,
    /* So far may a packet lag behind the newest one: twice what may be on
     * its way. A multiple of 64. */
    UDP_CRYPT_WINDOW = 8192,
};

/* Bits of a set: the client offers what it can, the server takes one. */
enum udp_crypt_algorithm {
    UDP_CRYPT_CHACHA20 = 1 << 0, /* every CPU */
    UDP_CRYPT_AES256   = 1 << 1, /* GCM, where the CPU has it: faster */
};

/* Where counters that were seen are remembered.
 * newest  the highest one; 0: none
 * seen    a bit for each of the last UDP_CRYPT_WINDOW, in a ring */
struct udp_crypt_window {
    uint64_t newest;
    uint64_t seen[UDP_CRYPT_WINDOW / 64];
};

/* One direction. `key` for ChaCha20, `state` for AES. */
struct udp_crypt_direction {
    UCS_ALIGNED(16) crypto_aead_aes256gcm_state state;
    uint8_t key[UDP_CRYPT_KEY_BYTES];
};

/* One connection's.
 * counter  of the packet sent last */
struct udp_crypt {
    struct udp_crypt_direction out, in;
    enum udp_crypt_algorithm   algorithm;
    uint64_t                   counter;
    struct udp_crypt_window    window;
};

/* What a connection was agreed on.
 * secret        of the interface that the client connected to
 * client_nonce  64 random bits of each end, new with each connection
 * is_client     which end we are */
struct udp_crypt_params {
    uint8_t                  secret[UDP_CRYPT_SECRET_BYTES];
    uint64_t                 client_nonce, server_nonce;
    enum udp_crypt_algorithm algorithm;
    bool                     is_client;
};

/* The set that this host can. @return 0: libsodium does not start (logged). */
unsigned udp_crypt_algorithms(void);

/* The best of a set that both can; *algorithm_p.
 * @return UCS_ERR_UNSUPPORTED: there is none (not logged). */
UCS_MUST_USE ucs_status_t udp_crypt_choose(
    unsigned ours, unsigned theirs, enum udp_crypt_algorithm *algorithm_p);

/* Derive the keys. The params may be wiped afterwards.
 * @return UCS_ERR_UNSUPPORTED: not an algorithm of this host (not logged). */
UCS_MUST_USE ucs_status_t udp_crypt_init(struct udp_crypt              *crypt,
                                         const struct udp_crypt_params *params);

/* Wipe the keys. */
void udp_crypt_cleanup(struct udp_crypt *crypt);

/* Seal a packet.
 * @param packet  [length + UDP_CRYPT_TRAILER_BYTES]: head, body, and room; the
 *                body is encrypted where it lies.
 * @return its length now; 0: 2^64 packets were sent, end the connection. */
size_t udp_crypt_seal(struct udp_crypt *crypt, uint8_t *packet,
                      size_t head_bytes, size_t length);

/* Open one, where it lies; from outside.
 * @return its length without the trailer, and *length_p of it is right;
 *         UCS_ERR_INVALID_PARAM: too short, forged or damaged: its bytes
 *         are worth nothing now; UCS_ERR_ALREADY_EXISTS: seen before, or older
 * than the window: untouched. Count and drop it. */
UCS_MUST_USE ucs_status_t udp_crypt_open(struct udp_crypt *crypt,
                                         uint8_t *packet, size_t head_bytes,
                                         size_t length, size_t *length_p);

#endif
