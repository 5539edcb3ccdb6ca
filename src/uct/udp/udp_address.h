/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_address.h - the address of an interface: where its sockets are
 * and what one must know to talk to them.
 *
 *    0        1       2        4        6       8        24        32       40
 * 56 |version | family| prio   | data   | bits  | address | host id |
 * incarnation | secret |
 *
 * Who has the secret may connect, so an address goes only to who should. */
#ifndef UCT_UDP_ADDRESS_H_
#define UCT_UDP_ADDRESS_H_

#include "uct/udp/udp_io.h"
#include "uct/udp/udp_seal.h"

enum {
    UDP_ADDRESS_VERSION = 1,
    UDP_ADDRESS_BYTES   = 56,
};

/* host_id      of the machine since it booted, and the network namespace: a
 *              loopback address means something only there
 * prefix_bits  of the network that the address is in */
struct udp_address {
    struct ucs_sockaddr channels[UDP_CHANNEL_COUNT];
    uint64_t            host_id, incarnation;
    struct udp_seal     secret;
    uint16_t            prefix_bits;
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
