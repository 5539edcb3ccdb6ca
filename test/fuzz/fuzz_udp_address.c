/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_udp_address.c - any bytes as the address of an interface: what is
 * taken makes sense, and encoded again it means the same. */
#include "fuzz/fuzz.h"

#include <string.h>

#include "fuzz/udp_duel.h"

static void check_taken(const struct udp_address *address)
{
    uint8_t            bytes[UDP_ADDRESS_BYTES];
    struct udp_address again;
    unsigned           channel;

    for (channel = 0; channel < UDP_CHANNEL_COUNT; ++channel) {
        const struct ucs_sockaddr *at = &address->channels[channel];

        duel_check(ucsi_sockaddr_port(at) != 0, "a port of zero is taken");
        duel_check((at->base.sa_family == AF_INET) ||
                       (at->base.sa_family == AF_INET6),
                   "an address of no family is taken");
        (void)udp_address_is_loopback(at);
    }
    udp_address_encode(address, bytes);
    duel_check(udp_address_decode(bytes, sizeof(bytes), &again) == UCS_OK,
               "what was encoded is refused");
    duel_check((memcmp(&again.channels[0].base, &address->channels[0].base,
                       address->channels[0].size_bytes) == 0) &&
                   (again.host_id == address->host_id) &&
                   (again.incarnation == address->incarnation) &&
                   (again.secret.key[1] == address->secret.key[1]) &&
                   (again.prefix_bits == address->prefix_bits),
               "an address comes back changed");
}

/* The input as it is, then cut and padded to the length of an address with a
 * family that is right, so that the rest is looked at. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t            bytes[UDP_ADDRESS_BYTES] = {0};
    struct udp_address address;

    if (udp_address_decode(data, size, &address) == UCS_OK) {
        duel_check(size == UDP_ADDRESS_BYTES, "of another length");
        check_taken(&address);
    }
    memcpy(bytes, data, ucs_min(size, sizeof(bytes)));
    bytes[0] = UDP_ADDRESS_VERSION;
    bytes[1] = (size & 1) ? 4 : 6;
    if (udp_address_decode(bytes, sizeof(bytes), &address) == UCS_OK) {
        check_taken(&address);
    }
    return 0;
}
