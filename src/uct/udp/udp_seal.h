/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_seal.h - who knows the secret wrote this header.
 *
 *   secret of an interface (in its address) --> handshake packets
 *   derive(secret, nonces of both ends)     --> packets of one connection
 *
 * SipHash-2-4 (Aumasson, Bernstein 2012), 64 bit, over the first 24 bytes, the
 * extension, and the length of the packet; not the payload. It stops who
 * cannot read the traffic. Pure. */
#ifndef UCT_UDP_SEAL_H_
#define UCT_UDP_SEAL_H_

#include "ucs/compiler.h"

struct udp_seal {
    uint64_t key[2];
};

/* The hash itself, of [size_bytes]. @param last  Its low size_bytes % 8 bytes
 * are zero. */
uint64_t udp_seal_hash(const struct udp_seal *seal, const uint8_t *bytes,
                       size_t size_bytes, uint64_t last);

/* A key of its own for one use. */
struct udp_seal udp_seal_derive(const struct udp_seal *seal, uint64_t a,
                                uint64_t b);

/* Write the tag of a packet. @param covered_bytes  Head and extension. */
void udp_seal_put(const struct udp_seal *seal, uint8_t *bytes,
                  size_t covered_bytes, size_t length);

/* Is the tag right? covered_bytes is at most length. */
UCS_MUST_USE bool udp_seal_check(const struct udp_seal *seal,
                                 const uint8_t *bytes, size_t covered_bytes,
                                 size_t length);

#endif
