/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_iface.c - open and close, what it can, who it reaches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/clock.h"
#include "ucs/log.h"
#include "ucs/netif.h"
#include "ucs/random.h"
#include "uct/base/iface.h"
#include "uct/base/md.h"
#include "uct/udp/udp.h"
#include "uct/udp/udp_crypt.h"
#include "uct/udp/udp_detour.h"
#include "uct/udp/udp_route.h"

static ucs_status_t iface_find_device(struct udp_iface *iface, const char *name)
{
    struct ucs_netif_list list;
    ucs_status_t          status = ucsi_netif_list_init(&list);

    if (status != UCS_OK) {
        return status;
    }
    status =
        udp_devices_find(&list, &iface->options.devices, name, &iface->device);
    if (status != UCS_OK) {
        ucs_error("udp: there is no interface %s", name);
    } else if (iface->device.status != UCS_OK) {
        status = iface->device.status;
        ucs_error("udp: interface %s: %s", name, iface->device.reason);
    }
    ucsi_netif_list_cleanup(&list);
    iface->address.prefix_bits = (uint8_t)iface->device.prefix_bits;
    return status;
}

static ucs_status_t iface_open_sockets(struct udp_iface *iface)
{
    struct udp_io_params params = {
        .local         = iface->device.local,
        .port_min      = (uint16_t)iface->options.ports.first,
        .port_max      = (uint16_t)iface->options.ports.last,
        .receive_bytes = iface->options.receive_bytes,
        .send_bytes    = iface->options.send_bytes,
        .segmentation  = iface->options.segmentation,
        .direct        = iface->options.direct,
    };
    ucs_status_t status = udp_io_open(&params, &iface->io);
    size_t       longest;

    if (status != UCS_OK) {
        return status;
    }
    udp_io_query(iface->io, &iface->io_attr);
    memcpy(iface->address.channels, iface->io_attr.addresses,
           sizeof(iface->address.channels));
    iface->self.data_port =
        ucsi_sockaddr_port(&iface->address.channels[UDP_DATA]);
    longest = iface->io_attr.mtu_bytes - iface->io_attr.header_bytes;
    if (iface->io_attr.mtu_bytes <= iface->io_attr.header_bytes) {
        longest = UDP_PACKET_BYTES_MIN;
    }
    longest = ucs_min(longest, (size_t)UDP_PACKET_BYTES_MAX);
    iface->env.largest_bytes =
        (uint32_t)ucs_min(longest, iface->options.mtu_bytes);
    iface->env.buffer_bytes =
        (uint32_t)ucs_min(iface->io_attr.receive_bytes, (size_t)UINT32_MAX);
    return UCS_OK;
}

/* Secrets, the incarnation, where ids begin: nobody can guess them. */
static ucs_status_t iface_draw(struct udp_iface *iface)
{
    struct {
        struct udp_seal secret, cookie_key;
        uint64_t        incarnation;
        uint32_t        id;
    } drawn;
    ucs_status_t status = ucsi_random_bytes(&drawn, sizeof(drawn));

    if (status == UCS_OK) {
        iface->address.secret      = drawn.secret;
        iface->address.incarnation = drawn.incarnation;
        iface->address.host_id     = udp_address_host_id();
        iface->self.secret         = drawn.secret;
        iface->self.cookie_key     = drawn.cookie_key;
        iface->env.incarnation     = drawn.incarnation;
        iface->id_next             = drawn.id;
    }
    return status;
}

/* Encrypt by what this host can, if it is wanted. */
static ucs_status_t iface_choose_ciphers(struct udp_iface *iface)
{
    if (!iface->options.encrypt) {
        return UCS_OK;
    }
    iface->env.ciphers     = (uint16_t)udp_crypt_algorithms();
    iface->address.ciphers = (uint8_t)iface->env.ciphers;
    return (iface->env.ciphers != 0) ? UCS_OK : UCS_ERR_UNSUPPORTED;
}

static ucs_status_t iface_open_env(struct udp_iface *iface)
{
    struct udp_env *env = &iface->env;

    env->ops    = &udp_iface_ops;
    env->now_ns = ucsi_clock_ns();
    /* A failure is told within the bound, not when it is over. */
    env->bound_ns = iface->base.params.failure_bound_ns -
                    iface->base.params.failure_bound_ns / 16;
    env->window           = UDP_WINDOW_COUNT;
    env->congestion       = (enum udp_cc_kind)iface->options.congestion;
    env->congestion_bytes = iface->options.window_bytes;
    return udp_env_init(env, iface->options.segment_count);
}

static void iface_init(struct udp_iface *iface)
{
    ucsi_hash_init(&iface->conns, 0);
    ucsi_hash_init(&iface->accepted, iface->self.cookie_key.key[0]);
    ucsi_hash_init(&iface->orphans, iface->self.cookie_key.key[1]);
    ucsi_hash_init(&iface->asking, iface->self.cookie_key.key[1]);
    ucsi_hash_init(&iface->guests, 0); /* keys are hashes with a secret */
    ucs_list_init(&iface->all);
    ucs_list_init(&iface->opening);
    ucs_queue_init(&iface->inbox);
    ucs_queue_init(&iface->notified);
    atomic_init(&iface->gate, 0);
    atomic_init(&iface->poll_count, 0);
    iface->detach_count = 1;
}

/* All gates of a ring: it changes only when nobody else looks at it. */
static void iface_enter_ring(struct udp_iface *iface)
{
    struct udp_iface *other;

    udp_enter(iface);
    ucs_list_for_each (other, &iface->ring, ring) {
        udp_enter(other);
    }
}

static void iface_leave_ring(struct udp_iface *iface)
{
    struct udp_iface *other;

    ucs_list_for_each (other, &iface->ring, ring) {
        udp_leave(other);
    }
    udp_leave(iface);
}

static void iface_join_ring(struct udp_iface       *iface,
                            const struct uct_iface *neighbour)
{
    struct udp_iface *other;

    ucs_list_init(&iface->ring);
    if ((neighbour != NULL) &&
        (neighbour->transport == iface->base.transport)) {
        other = udp_iface_of(neighbour);
        iface_enter_ring(other);
        ucs_list_add_tail(&other->ring, &iface->ring);
        udp_enter(iface); /* now it is one of them */
        iface_leave_ring(other);
    }
}

/* Nobody's detour leads here any more. */
static void iface_quit_ring(struct udp_iface *iface)
{
    struct udp_iface *other;
    struct udp_conn  *conn;

    iface_enter_ring(iface);
    ucs_list_for_each (other, &iface->ring, ring) {
        ucs_list_for_each (conn, &other->all, link) {
            udp_detour_forget(conn, &iface->env);
        }
    }
    if (!ucs_list_is_empty(&iface->ring)) {
        other = ucs_list_first(&iface->ring, struct udp_iface, ring);
        ucs_list_remove(&iface->ring);
        iface_leave_ring(other);
    }
    udp_leave(iface);
}

ucs_status_t udp_iface_open(struct uct_md                 *md,
                            const struct uct_iface_params *params,
                            struct uct_iface             **iface_p)
{
    struct udp_iface *iface = calloc(1, sizeof(*iface));
    ucs_status_t      status;

    if (iface == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    status = udp_options_read(params->config, &iface->options);
    if (status != UCS_OK) {
        free(iface);
        return status;
    }
    ucti_iface_init(&iface->base, md, params);
    status = iface_draw(iface);
    if (status == UCS_OK) {
        status = iface_find_device(iface, md->device.name);
    }
    if (status == UCS_OK) {
        status = iface_choose_ciphers(iface);
    }
    if (status == UCS_OK) {
        status = iface_open_sockets(iface);
    }
    if (status != UCS_OK) {
        ucsi_config_release(&udp_config_table, &iface->options);
        free(iface);
        return status;
    }
    status = iface_open_env(iface);
    if (status != UCS_OK) {
        udp_io_close(iface->io);
        ucsi_config_release(&udp_config_table, &iface->options);
        free(iface);
        return status;
    }
    iface_init(iface);
    ucsi_counters_add(&iface->counters, &udp_counter_table, md->device.name,
                      iface->env.counters);
    iface_join_ring(iface, params->neighbour);
    if (iface->options.helper) {
        status = udp_stall_watch(iface);
    }
    if (status != UCS_OK) {
        udp_iface_close(&iface->base);
        return status;
    }
    *iface_p = &iface->base;
    return UCS_OK;
}

/* ----------------------------------------------------------------- close */

static void iface_drop_inbox(struct udp_iface *iface)
{
    struct ucs_queue_elem *elem;

    while ((elem = ucs_queue_pull(&iface->inbox)) != NULL) {
        udp_env_unhold(ucs_container_of(elem, struct udp_held, queue));
    }
    iface->inbox_count = 0;
}

void udp_iface_close(struct uct_iface *base)
{
    struct udp_iface *iface = udp_iface_of(base);
    struct udp_conn  *conn;

    if (iface->options.helper) {
        udp_stall_forget(iface);
    }
    iface_enter_ring(iface);
    udp_iface_linger(iface);
    iface_leave_ring(iface);
    udp_enter(iface);
    iface_drop_inbox(iface);
    while (!ucs_list_is_empty(&iface->all)) {
        conn               = ucs_list_first(&iface->all, struct udp_conn, link);
        conn->needs_notify = false;
        udp_connect_leave(conn);
        udp_peers_free(iface, conn);
    }
    udp_leave(iface);
    iface_quit_ring(iface);
    ucsi_counters_remove(&iface->counters);
    udp_env_cleanup(&iface->env);
    udp_io_close(iface->io);
    ucsi_hash_cleanup(&iface->conns);
    ucsi_hash_cleanup(&iface->accepted);
    ucsi_hash_cleanup(&iface->orphans);
    ucsi_hash_cleanup(&iface->asking);
    ucsi_hash_cleanup(&iface->guests);
    uct_iface_cleanup(base);
    ucsi_config_release(&udp_config_table, &iface->options);
    free(iface);
}

/* ------------------------------------------------------------- attributes */

/* Bytes per second: of a device that tells its speed not more than that. */
static double iface_bandwidth(const struct udp_iface *iface, double best_Bps)
{
    double speed_Bps = (double)iface->device.speed_mbits * 1e6 / 8;

    return (speed_Bps > 0) ? ucs_min(speed_Bps, best_Bps) : best_Bps;
}

void udp_iface_query(const struct uct_iface *base,
                     struct uct_iface_attr  *attr_p)
{
    const struct udp_iface *iface =
        ucs_container_of(base, const struct udp_iface, base);

    *attr_p = (struct uct_iface_attr){
        .am                        = {.short_bytes_max = UDP_SHORT_BYTES_MAX,
                                      .bcopy_bytes_max = UDP_BCOPY_BYTES_MAX,
                                      .zcopy_bytes_max = UDP_ZCOPY_BYTES_MAX,
                                      .iov_count_max   = UDP_IOV_COUNT_MAX},
        .am_zcopy_header_bytes_max = UDP_HEADER_BYTES,
        .put                       = {.short_bytes_max  = UDP_SHORT_BYTES_MAX,
                                      .bcopy_bytes_max  = UDP_BCOPY_BYTES_MAX,
                                      .zcopy_bytes_max  = UDP_RMA_BYTES_MAX,
                                      .iov_count_max    = UDP_IOV_COUNT_MAX,
                                      .remote_count_max = 1},
        .get                       = {.bcopy_bytes_max  = UDP_BCOPY_BYTES_MAX,
                                      .zcopy_bytes_max  = UDP_RMA_BYTES_MAX,
                                      .iov_count_max    = UDP_IOV_COUNT_MAX,
                                      .remote_count_max = 1},
        /* Fitted so that the fastest is chosen (docs/perf/udp.md): a message
         * of one packet goes from its buffer to its receiver's with one copy
         * on each side, a put as well, but in more packets that lie askew;
         * what answers a get is copied once more. */
        .cost     = {.latency_s     = 2.2e-6,
                     .overhead_s    = 0.8e-6,
                     .bandwidth_Bps = iface_bandwidth(iface, 12e9)},
        .put_cost = {.latency_s     = 3e-6,
                     .overhead_s    = 1e-6,
                     .bandwidth_Bps = iface_bandwidth(iface, 3.2e9)},
        .get_cost = {.latency_s     = 6e-6,
                     .overhead_s    = 1e-6,
                     .bandwidth_Bps = iface_bandwidth(iface, 2.5e9)},
        .flags    = UCT_IFACE_POLL_IS_SYSCALL | UCT_IFACE_PUT_BEFORE_AM |
                 UCT_IFACE_PUT_DONE_AT_TARGET |
                 (iface->device.is_loopback ? UCT_IFACE_INTRA_NODE : 0),
        .address_bytes = UDP_ADDRESS_BYTES,
    };
}

void udp_iface_address(const struct uct_iface *iface, uint8_t *bytes)
{
    udp_address_encode(&udp_iface_of(iface)->address, bytes);
}

static void iface_set_scope(const struct udp_iface *iface,
                            struct ucs_sockaddr    *address)
{
    if ((address->base.sa_family == AF_INET6) &&
        udp_address_is_link_local(address)) {
        address->inet6.sin6_scope_id = iface->device.index;
    }
}

ucs_status_t udp_iface_decode(const struct udp_iface *iface,
                              const uint8_t *bytes, size_t size_bytes,
                              struct udp_address *peer_p)
{
    ucs_status_t status = udp_address_decode(bytes, size_bytes, peer_p);

    if (status == UCS_OK) {
        iface_set_scope(iface, &peer_p->channels[UDP_PRIORITY]);
        iface_set_scope(iface, &peer_p->channels[UDP_DATA]);
    }
    return status;
}

static struct udp_route_peer iface_peer(const struct udp_iface   *iface,
                                        const struct udp_address *address)
{
    return (struct udp_route_peer){
        .address = address->channels[UDP_PRIORITY],
        .is_here = (address->host_id == iface->address.host_id),
    };
}

ucs_status_t udp_iface_check(const struct udp_iface   *iface,
                             const struct udp_address *address, char *reason)
{
    const struct udp_route_peer peer = iface_peer(iface, address);

    if (!udp_connect_agrees(&iface->env, address->ciphers)) {
        (void)snprintf(reason, UCT_REASON_BYTES_MAX,
                       "the peer %s its packets, this end %s: UCX_NET_ENCRYPT "
                       "must be the same on both sides",
                       (address->ciphers != 0) ? "encrypts"
                                               : "does not encrypt",
                       (iface->address.ciphers != 0) ? "does" : "does not");
        return UCS_ERR_UNREACHABLE;
    }
    return udp_route_check(&iface->device, &peer, reason);
}

ucs_status_t udp_iface_reach(struct uct_iface *base, const uint8_t *bytes,
                             size_t size_bytes, char *reason)
{
    const struct udp_iface *iface = udp_iface_of(base);
    struct udp_address      address;
    struct udp_route_peer   peer;
    struct udp_way          way;
    char                    text[UCT_REASON_BYTES_MAX];
    ucs_status_t            status;

    if (udp_iface_decode(iface, bytes, size_bytes, &address) != UCS_OK) {
        ucti_reason(reason, "udp: %zu bytes are no address of version %d",
                    size_bytes, (int)UDP_ADDRESS_VERSION);
        return UCS_ERR_INVALID_ADDR;
    }
    peer   = iface_peer(iface, &address);
    status = udp_iface_check(iface, &address, text);
    if (status == UCS_OK) {
        status = udp_route_reach(&iface->device, &peer, &way, text);
    }
    if (status != UCS_OK) {
        ucti_reason(reason, "%s", text);
    }
    return status;
}

uint64_t udp_iface_rank(struct uct_iface *base, const uint8_t *bytes,
                        size_t size_bytes, char *why)
{
    static const char *const kinds[] = {[UDP_WAY_HERE]    = "on this host",
                                        [UDP_WAY_LINK]    = "on the link",
                                        [UDP_WAY_GATEWAY] = "behind a router"};
    const struct udp_iface  *iface   = udp_iface_of(base);
    struct udp_address       address;
    struct udp_route_peer    peer;
    struct udp_way           way;
    char                     text[UCS_SOCKADDR_TEXT_BYTES_MAX];

    if (udp_iface_decode(iface, bytes, size_bytes, &address) != UCS_OK) {
        ucti_reason(why, "not an address");
        return UINT64_MAX;
    }
    peer = iface_peer(iface, &address);
    if (udp_route_reach(&iface->device, &peer, &way, why) != UCS_OK) {
        return UINT64_MAX;
    }
    ucti_reason(why, "%s is %s",
                ucsi_sockaddr_print(&peer.address, text, sizeof(text)),
                kinds[way.kind]);
    return udp_route_rank(&iface->device, &way);
}
