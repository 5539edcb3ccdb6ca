/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_address.c - encode and decode an interface's address. */
#include "uct/udp/udp_address.h"

#include <arpa/inet.h>
#include <string.h>

#include "ucs/bytes.h"
#include "ucs/host.h"

enum { ADDRESS_BYTES_V6 = 16 };

uint64_t udp_address_host_id(void)
{
    static const struct udp_seal key = {{0x63617573, 0x65776179}};
    uint8_t                      bytes[16];

    ucs_put_le64(bytes, ucsi_host_id());
    ucs_put_le64(bytes + 8, ucsi_host_namespace("net"));
    return udp_seal_hash(&key, bytes, sizeof(bytes), 0);
}

bool udp_address_is_loopback(const struct ucs_sockaddr *address)
{
    if (address->base.sa_family == AF_INET) {
        return (ntohl(address->inet.sin_addr.s_addr) >> 24) == 127;
    }
    return IN6_IS_ADDR_LOOPBACK(&address->inet6.sin6_addr);
}

void udp_address_encode(const struct udp_address *address, uint8_t *bytes)
{
    const struct ucs_sockaddr *at     = &address->channels[UDP_PRIORITY];
    bool                       is_six = (at->base.sa_family == AF_INET6);
    struct ucs_writer          writer;
    uint8_t                    host[ADDRESS_BYTES_V6] = {0};

    if (is_six) {
        memcpy(host, &at->inet6.sin6_addr, sizeof(host));
    } else {
        memcpy(host, &at->inet.sin_addr, sizeof(at->inet.sin_addr));
    }
    ucs_writer_init(&writer, bytes, UDP_ADDRESS_BYTES);
    ucs_write_u8(&writer, UDP_ADDRESS_VERSION);
    ucs_write_u8(&writer, is_six ? 6 : 4);
    ucs_write_le16(&writer, ucsi_sockaddr_port(at));
    ucs_write_le16(&writer, ucsi_sockaddr_port(&address->channels[UDP_DATA]));
    ucs_write_u8(&writer, address->prefix_bits);
    ucs_write_u8(&writer, address->ciphers);
    ucs_write_bytes(&writer, host, sizeof(host));
    ucs_write_le64(&writer, address->host_id);
    ucs_write_le64(&writer, address->incarnation);
    ucs_write_le64(&writer, address->secret.key[0]);
    ucs_write_le64(&writer, address->secret.key[1]);
}

static void address_make(struct ucs_sockaddr *address, unsigned family,
                         const uint8_t *host, uint16_t port)
{
    memset(address, 0, sizeof(*address));
    if (family == 6) {
        address->inet6.sin6_family = AF_INET6;
        memcpy(&address->inet6.sin6_addr, host, ADDRESS_BYTES_V6);
        address->size_bytes = sizeof(address->inet6);
    } else {
        address->inet.sin_family = AF_INET;
        memcpy(&address->inet.sin_addr, host, sizeof(address->inet.sin_addr));
        address->size_bytes = sizeof(address->inet);
    }
    ucsi_sockaddr_set_port(address, port);
}

ucs_status_t udp_address_decode(const uint8_t *bytes, size_t size_bytes,
                                struct udp_address *address_p)
{
    uint8_t           host[ADDRESS_BYTES_V6];
    struct ucs_reader reader;
    uint16_t          ports[UDP_CHANNEL_COUNT];
    unsigned          version, family;

    ucs_reader_init(&reader, bytes, size_bytes);
    version                = ucs_read_u8(&reader);
    family                 = ucs_read_u8(&reader);
    ports[UDP_PRIORITY]    = ucs_read_le16(&reader);
    ports[UDP_DATA]        = ucs_read_le16(&reader);
    address_p->prefix_bits = (uint8_t)ucs_read_u8(&reader);
    address_p->ciphers     = (uint8_t)ucs_read_u8(&reader);
    ucs_read_bytes(&reader, host, sizeof(host));
    address_p->host_id       = ucs_read_le64(&reader);
    address_p->incarnation   = ucs_read_le64(&reader);
    address_p->secret.key[0] = ucs_read_le64(&reader);
    address_p->secret.key[1] = ucs_read_le64(&reader);
    if (!ucs_read_ok(&reader) || (ucs_read_left(&reader) != 0) ||
        (version != UDP_ADDRESS_VERSION) || ((family != 4) && (family != 6)) ||
        (ports[0] == 0) || (ports[1] == 0)) {
        return UCS_ERR_INVALID_ADDR;
    }
    address_make(&address_p->channels[UDP_PRIORITY], family, host, ports[0]);
    address_make(&address_p->channels[UDP_DATA], family, host, ports[1]);
    return UCS_OK;
}
