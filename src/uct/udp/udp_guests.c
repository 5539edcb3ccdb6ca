/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_guests.c - how many connections others made, by the address they
 * come from.
 *
 * Whoever has the secret may connect under any name, but not from any address:
 * a cookie has come back from there. So an address may make as many as many
 * processes of one host need, and not more: what connections make us keep is
 * bounded with their number. Who makes them and goes silent gives them back
 * after the failure bound. */
#include "ucs/log.h"
#include "uct/udp/udp.h"

/* An address without its port. */
static uint64_t guests_key(const struct udp_iface    *iface,
                           const struct ucs_sockaddr *from)
{
    const uint8_t *bytes  = (const uint8_t *)&from->inet.sin_addr;
    size_t         length = sizeof(from->inet.sin_addr);

    if (from->base.sa_family == AF_INET6) {
        bytes  = (const uint8_t *)&from->inet6.sin6_addr;
        length = sizeof(from->inet6.sin6_addr);
    }
    return udp_seal_hash(&iface->self.cookie_key, bytes, length, 1ull << 56);
}

static uintptr_t guests_count(const struct udp_iface *iface, uint64_t key)
{
    return (uintptr_t)ucsi_hash_get(&iface->guests, key);
}

static void guests_refuse(struct udp_iface          *iface,
                          const struct ucs_sockaddr *from)
{
    char text[UCS_SOCKADDR_TEXT_BYTES_MAX];

    udp_count(&iface->env, UDP_COUNT_REFUSED);
    ucs_warn_limited("udp: %s is refused: its host has made %u connections "
                     "that still live; UCX_UDP_CONNS_PER_ADDRESS allows no "
                     "more",
                     ucsi_sockaddr_print(from, text, sizeof(text)),
                     iface->options.conns_per_address);
}

bool udp_guests_enter(struct udp_iface *iface, struct udp_conn *conn,
                      const struct ucs_sockaddr *from)
{
    uint64_t  key   = guests_key(iface, from);
    uintptr_t count = guests_count(iface, key);

    if (count >= iface->options.conns_per_address) {
        guests_refuse(iface, from);
        return false;
    }
    if (ucsi_hash_put(&iface->guests, key, (void *)(count + 1)) != UCS_OK) {
        return false; /* it asks again */
    }
    conn->guest_key = key;
    conn->is_guest  = true;
    return true;
}

void udp_guests_leave(struct udp_iface *iface, struct udp_conn *conn)
{
    uintptr_t count;

    if (!conn->is_guest) {
        return;
    }
    conn->is_guest = false;
    count          = guests_count(iface, conn->guest_key);
    ucs_assert(count > 0);
    /* There is an entry: to change it needs no memory. */
    if ((count == 1) || (ucsi_hash_put(&iface->guests, conn->guest_key,
                                       (void *)(count - 1)) != UCS_OK)) {
        (void)ucsi_hash_remove(&iface->guests, conn->guest_key);
    }
}
