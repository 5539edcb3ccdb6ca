/* SPDX-License-Identifier: BSD-3-Clause */
/* test/sim/sim_net.c - packets between hosts, in virtual time. */
#include "sim_net.h"

#include <stdlib.h>
#include <string.h>

#include "ucs/clock.h"

enum {
    NET_IP_UDP_BYTES   = 28,
    NET_ETHERNET_BYTES = 38, /* preamble, header, checksum, gap */
    NET_PORT_FIRST     = 10000,
    NET_BLOCKED_NS     = 100 * 1000, /* a socket that is full */
    NET_ADDRESS_FIRST  = 0x0a000001,
    NET_RAIL_SHIFT     = 16,
};

void sim_net_init(struct sim_net *net, unsigned host_count, uint64_t seed)
{
    memset(net, 0, sizeof(*net));
    ucs_heap_init(&net->events);
    net->random.state   = seed;
    net->now_ns         = UCS_NS_PER_S; /* 0 means "never" to some */
    net->last_packet_ns = net->now_ns;
    net->host_count     = host_count;
    net->hosts =
        calloc((size_t)host_count * SIM_RAIL_COUNT_MAX, sizeof(*net->hosts));
    for (unsigned i = 0; i < host_count * SIM_RAIL_COUNT_MAX; ++i) {
        ucs_list_init(&net->hosts[i].sockets);
        net->hosts[i].next_port = NET_PORT_FIRST;
    }
}

static void net_free_packet(struct sim_packet *packet)
{
    --packet->net->flying_count;
    free(packet);
}

void sim_net_cleanup(struct sim_net *net)
{
    struct ucs_heap_node *node;

    /* What is left is packets: all else belongs to what was closed. */
    while ((node = ucs_heap_min(&net->events)) != NULL) {
        ucs_heap_remove(&net->events, node);
        net_free_packet(
            ucs_container_of(ucs_container_of(node, struct sim_event, node),
                             struct sim_packet, event));
    }
    free(net->hosts);
}

/* 10.rail.host.host */
struct ucs_sockaddr sim_net_address(unsigned host, unsigned rail)
{
    struct ucs_sockaddr address = {.size_bytes = sizeof(struct sockaddr_in)};

    address.inet.sin_family = AF_INET;
    address.inet.sin_addr.s_addr =
        htonl(NET_ADDRESS_FIRST + (rail << NET_RAIL_SHIFT) + host);
    return address;
}

int sim_net_host(const struct ucs_sockaddr *address)
{
    uint32_t number = ntohl(address->inet.sin_addr.s_addr) - NET_ADDRESS_FIRST;

    return ((address->base.sa_family == AF_INET) &&
            (number >> NET_RAIL_SHIFT < SIM_RAIL_COUNT_MAX))
               ? (int)(number & ((1u << NET_RAIL_SHIFT) - 1))
               : -1;
}

unsigned sim_net_rail(const struct ucs_sockaddr *address)
{
    return (ntohl(address->inet.sin_addr.s_addr) - NET_ADDRESS_FIRST) >>
           NET_RAIL_SHIFT;
}

static struct sim_net_host *net_place(const struct sim_net *net, unsigned host,
                                      unsigned rail)
{
    return &net->hosts[rail * net->host_count + host];
}

void sim_socket_open(struct sim_net *net, struct sim_socket *sock,
                     const struct ucs_sockaddr *local)
{
    struct sim_net_host *place =
        net_place(net, (unsigned)sim_net_host(local), sim_net_rail(local));

    sock->address = *local;
    if (ucsi_sockaddr_port(local) == 0) {
        ucsi_sockaddr_set_port(&sock->address, place->next_port++);
    }
    sock->waiting_bytes = 0;
    ucs_queue_init(&sock->packets);
    ucs_list_add_tail(&place->sockets, &sock->link);
}

void sim_socket_close(struct sim_net *net, struct sim_socket *sock)
{
    struct sim_packet *packet;

    (void)net;
    while ((packet = sim_socket_take(sock)) != NULL) {
        free(packet);
    }
    ucs_list_remove(&sock->link);
}

struct sim_packet *sim_socket_take(struct sim_socket *sock)
{
    struct ucs_queue_elem *elem = ucs_queue_pull(&sock->packets);
    struct sim_packet     *packet;

    if (elem == NULL) {
        return NULL;
    }
    packet = ucs_container_of(elem, struct sim_packet, queue);
    sock->waiting_bytes -= packet->length;
    return packet;
}

bool sim_net_is_cut(const struct sim_net *net, unsigned a, unsigned b,
                    unsigned rail)
{
    for (unsigned i = 0; i < net->cut_count; ++i) {
        const struct sim_cut *cut = &net->cuts[i];
        bool                  touches;

        touches = (cut->b < 0) ? ((cut->a == (int)a) || (cut->a == (int)b))
                               : (((cut->a == (int)a) && (cut->b == (int)b)) ||
                                  ((cut->a == (int)b) && (cut->b == (int)a)));
        touches = touches && ((cut->rail < 0) || (cut->rail == (int)rail));
        if (touches && (net->now_ns >= cut->begin_ns) &&
            (net->now_ns < cut->end_ns)) {
            return true;
        }
    }
    return false;
}

void sim_net_set(struct sim_net *net, struct sim_event *event, uint64_t when_ns)
{
    sim_net_unset(net, event);
    ucs_heap_push(&net->events, &event->node, ucs_max(when_ns, net->now_ns));
}

void sim_net_unset(struct sim_net *net, struct sim_event *event)
{
    if (ucs_heap_node_is_in(&event->node)) {
        ucs_heap_remove(&net->events, &event->node);
    }
}

/* A packet reaches its host: into a socket that has room, or nowhere. */
static void net_arrive(struct sim_event *event)
{
    struct sim_packet *packet =
        ucs_container_of(event, struct sim_packet, event);
    struct sim_net    *net = packet->net;
    struct sim_socket *sock;

    net->last_packet_ns = net->now_ns;
    ucs_list_for_each (
        sock, &net_place(net, packet->host, packet->rail)->sockets, link) {
        if (ucsi_sockaddr_port(&sock->address) != packet->port) {
            continue;
        }
        if (sock->waiting_bytes + packet->length > net->weather.receive_bytes) {
            break;
        }
        --net->flying_count;
        sock->waiting_bytes += packet->length;
        ucs_queue_push(&sock->packets, &packet->queue);
        sock->arrived(sock);
        return;
    }
    ++net->lost_count;
    net_free_packet(packet);
}

/* When that interface has sent so many bytes; 0: its queue is
 * full. */
static uint64_t net_leave_ns(struct sim_net *net, struct sim_net_host *place,
                             size_t length)
{
    uint64_t rate = net->weather.rate_Bps;
    uint64_t begin_ns, waiting_bytes;

    if (rate == 0) {
        return net->now_ns;
    }
    begin_ns      = ucs_max(net->now_ns, place->interface_free_ns);
    waiting_bytes = (begin_ns - net->now_ns) * rate / UCS_NS_PER_S;
    if (waiting_bytes + length > net->weather.queue_bytes) {
        return 0;
    }
    place->interface_free_ns =
        begin_ns +
        (length + NET_IP_UDP_BYTES + NET_ETHERNET_BYTES) * UCS_NS_PER_S / rate;
    return place->interface_free_ns;
}

static void net_fly(struct sim_net *net, const struct sim_packet *model,
                    uint64_t leave_ns)
{
    const struct sim_weather *weather = &net->weather;
    size_t bytes = offsetof(struct sim_packet, bytes) + model->length;
    struct sim_packet *packet  = malloc(bytes);
    uint64_t           late_ns = 0;

    memcpy(packet, model, bytes);
    sim_event_init(&packet->event, net_arrive);
    packet->is_marked = sim_random_chance(&net->random, weather->mark_ppm);
    if (sim_random_chance(&net->random, weather->reorder_ppm)) {
        late_ns = sim_random_below(&net->random, weather->reorder_ns + 1);
    }
    late_ns += sim_random_below(&net->random, weather->jitter_ns + 1);
    ++net->flying_count;
    sim_net_set(net, &packet->event, leave_ns + weather->delay_ns + late_ns);
}

/* Is one of its fragments lost? */
static bool net_loses(struct sim_net *net, size_t length)
{
    size_t most  = net->weather.path_mtu - NET_IP_UDP_BYTES;
    size_t count = (length + most - 1) / most;
    bool   loses = false;

    do {
        loses |= sim_random_chance(&net->random, net->weather.loss_ppm);
    } while (count-- > 1);
    return loses;
}

ucs_status_t sim_net_send(struct sim_net *net, struct sim_socket *from,
                          const struct ucs_sockaddr *to, const void *bytes,
                          size_t length, bool may_cut)
{
    int               source = sim_net_host(&from->address);
    int               target = sim_net_host(to);
    unsigned          rail   = sim_net_rail(&from->address);
    struct sim_packet packet;
    uint64_t          leave_ns;

    if ((target < 0) || ((unsigned)target >= net->host_count) ||
        (sim_net_rail(to) != rail)) {
        return UCS_ERR_UNREACHABLE;
    }
    if (length + NET_IP_UDP_BYTES > net->weather.device_mtu) {
        return UCS_ERR_EXCEEDS_LIMIT;
    }
    if (sim_random_chance(&net->random, net->weather.block_ppm)) {
        return UCS_ERR_WOULD_BLOCK;
    }
    ++net->sent_count;
    net->sent_bytes += length;
    net->last_packet_ns = net->now_ns;
    leave_ns =
        net_leave_ns(net, net_place(net, (unsigned)source, rail), length);
    if (!may_cut && (length + NET_IP_UDP_BYTES > net->weather.path_mtu)) {
        ++net->lost_count;
        if (net->weather.tells_mtu) {
            from->too_long(from, to);
        }
        return UCS_OK;
    }
    if ((leave_ns == 0) ||
        sim_net_is_cut(net, (unsigned)source, (unsigned)target, rail) ||
        net_loses(net, length)) {
        ++net->lost_count;
        return UCS_OK;
    }
    packet.net    = net;
    packet.from   = from->address;
    packet.host   = (unsigned)target;
    packet.rail   = rail;
    packet.port   = ucsi_sockaddr_port(to);
    packet.length = length;
    memcpy(packet.bytes, bytes, length);
    net_fly(net, &packet, leave_ns);
    while (sim_random_chance(&net->random, net->weather.duplicate_ppm)) {
        net_fly(net, &packet, leave_ns);
    }
    return UCS_OK;
}

bool sim_net_step(struct sim_net *net, uint64_t end_ns)
{
    struct ucs_heap_node *node = ucs_heap_min(&net->events);
    struct sim_event     *event;

    if ((node == NULL) || (node->key > end_ns)) {
        net->now_ns = ucs_max(net->now_ns, end_ns);
        return false;
    }
    event       = ucs_container_of(node, struct sim_event, node);
    net->now_ns = ucs_max(net->now_ns, node->key);
    ucs_heap_remove(&net->events, node);
    event->fire(event);
    return true;
}
