/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_address.h - the address of an interface: where its sockets are
 * and what one must know to talk to them.
 *
 *     0 version 2        1 family 4 or 6     2 port of priority:2
 *     4 port of data:2   6 bits of network   7 ciphers
 *     8 address:16      24 host id:8        32 incarnation:8
 *    40 secret:16       56 end
 *
 * Who has the secret may connect, so an address goes only to who should. */
#ifndef UCT_UDP_ADDRESS_H_
#define UCT_UDP_ADDRESS_H_

#include "uct/udp/udp_io.h"
#include "uct/udp/udp_seal.h"

enum {
    UDP_ADDRESS_VERSION = 2,
    UDP_ADDRESS_BYTES   = 56,
};

/* host_id      of the machine since it booted, and the network namespace: a
 *              loopback address means something only there
 * prefix_bits  of the network that the address is in
 * ciphers      enum udp_crypt_algorithm: its packets are encrypted by one of
 *              them; 0: they are not */
struct udp_address {
    struct ucs_sockaddr channels[UDP_CHANNEL_COUNT];
    uint64_t            host_id, incarnation;
    struct udp_seal     secret;
    uint8_t             prefix_bits, ciphers;
};

/* The host's id; the same for all processes that share its network. */
uint64_t udp_address_host_id(void);

/* Is it one that never leaves the host? */
bool udp_address_is_loopback(const struct ucs_sockaddr *address);

/* @param bytes  [UDP_ADDRESS_BYTES]. */
void udp_address_encode(const struct udp_address *address, uint8_t *bytes);

/* @return UCS_OK; UCS_ERR_INVALID_ADDR: not ours, or it makes no sense. */
UCS_MUST_USE ucs_status_t udp_address_decode(const uint8_t      *bytes,
                                             size_t              size_bytes,
                                             struct udp_address *address_p);

#endif
