/* SPDX-License-Identifier: BSD-3-Clause */
/* udp_duel.c - the wire and the time. */
#include "fuzz/udp_duel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucs/clock.h"

enum {
    DUEL_SEGMENT_COUNT  = 2048,
    DUEL_HEAL_STEPS_MAX = 200000,
    DUEL_DELAY_NS       = 20 * 1000,
    DUEL_PRIORITY_PORT  = 1000,
    DUEL_DATA_PORT      = 1001,
};

void duel_check(bool is_true, const char *why)
{
    if (!is_true) {
        (void)fprintf(stderr, "fuzz: %s\n", why);
        abort();
    }
}

struct ucs_sockaddr duel_address(unsigned host, uint16_t port)
{
    struct ucs_sockaddr address;

    memset(&address, 0, sizeof(address));
    address.inet.sin_family      = AF_INET;
    address.inet.sin_addr.s_addr = host;
    address.size_bytes           = sizeof(address.inet);
    ucsi_sockaddr_set_port(&address, port);
    return address;
}

static void end_open(struct duel *duel, unsigned index)
{
    struct duel_end  *end   = &duel->ends[index];
    struct udp_iface *iface = &end->iface;
    struct udp_env   *env   = &iface->env;

    end->duel    = duel;
    end->address = duel_address(index + 1, DUEL_PRIORITY_PORT);
    end->region  = calloc(1, DUEL_REGION_BYTES);
    duel_check(end->region != NULL, "no memory");
    iface->self.data_port         = DUEL_DATA_PORT;
    iface->self.secret.key[0]     = 0x1234 + index;
    iface->self.cookie_key.key[1] = 0x5678 + index;
    iface->id_next                = 100 * index;
    env->ops                      = &duel_ops;
    env->now_ns                   = duel->now_ns;
    env->bound_ns                 = 5 * (uint64_t)UCS_NS_PER_S;
    env->incarnation              = 0xabcd + index;
    env->largest_bytes            = UDP_PACKET_BYTES_MAX;
    env->buffer_bytes             = 1 << 20;
    env->window                   = UDP_WINDOW_COUNT;
    ucsi_hash_init(&iface->conns, 0);
    ucs_list_init(&iface->ring);
    ucsi_hash_init(&iface->accepted, 1);
    ucsi_hash_init(&iface->orphans, 2);
    ucsi_hash_init(&iface->asking, 3);
    ucsi_hash_init(&iface->guests, 4);
    iface->options.conns_per_address = 64;
    ucs_list_init(&iface->all);
    ucs_list_init(&iface->opening);
    ucs_queue_init(&iface->inbox);
    ucs_queue_init(&iface->notified);
    duel_check(udp_env_init(env, DUEL_SEGMENT_COUNT) == UCS_OK, "no memory");
}

void duel_open(struct duel *duel)
{
    memset(duel, 0, sizeof(*duel));
    duel->now_ns = 1000 * (uint64_t)UCS_NS_PER_S;
    end_open(duel, 0);
    end_open(duel, 1);
}

static void end_close(struct duel_end *end)
{
    struct udp_iface *iface = &end->iface;
    struct udp_conn  *conn;

    while (!ucs_list_is_empty(&iface->all)) {
        conn       = ucs_list_first(&iface->all, struct udp_conn, link);
        conn->user = NULL;
        udp_conn_fail(conn, UCS_ERR_CANCELED);
        duel_collect(end);
    }
    duel_check(end->asked == end->finished, "an operation never ends");
    udp_env_cleanup(&iface->env);
    ucsi_hash_cleanup(&iface->conns);
    ucsi_hash_cleanup(&iface->accepted);
    ucsi_hash_cleanup(&iface->orphans);
    ucsi_hash_cleanup(&iface->asking);
    ucsi_hash_cleanup(&iface->guests);
    free(end->region);
}

void duel_close(struct duel *duel)
{
    end_close(&duel->ends[0]);
    end_close(&duel->ends[1]);
    while (duel->packet_count > 0) {
        duel_drop(duel, 0);
    }
}

void duel_connect(struct duel *duel)
{
    struct duel_end *client = &duel->ends[0], *server = &duel->ends[1];
    struct udp_conn *conn = udp_peers_new(&client->iface);

    duel_check(conn != NULL, "no memory");
    conn->user                  = client;
    conn->handshake             = server->iface.self.secret;
    conn->address[UDP_PRIORITY] = server->address;
    conn->address[UDP_DATA]     = server->address;
    ucsi_sockaddr_set_port(&conn->address[UDP_DATA], DUEL_DATA_PORT);
    client->conn = conn;
    udp_connect_begin(conn, client->iface.self.data_port);
}

struct udp_conn *duel_conn(struct duel *duel, unsigned index)
{
    struct duel_end *end = &duel->ends[index];

    if ((index == 1) && !ucs_list_is_empty(&end->iface.all)) {
        end->conn = ucs_list_last(&end->iface.all, struct udp_conn, link);
    }
    return ucs_list_is_empty(&end->iface.all) ? NULL : end->conn;
}

bool duel_is_open(const struct duel *duel)
{
    const struct ucs_list *all = &duel->ends[1].iface.all;

    return (duel->ends[0].conn != NULL) &&
           udp_conn_is_open(duel->ends[0].conn) && !ucs_list_is_empty(all);
}

/* ------------------------------------------------------------ the wire */

void duel_put(struct duel_end *from, const struct ucs_sockaddr *to,
              const uint8_t *bytes, size_t length)
{
    struct duel        *duel = from->duel;
    struct duel_packet *packet;

    ++duel->sent_count;
    if (duel->packet_count == DUEL_PACKET_COUNT_MAX) {
        return;
    }
    packet         = &duel->packets[duel->packet_count++];
    packet->from   = from->address;
    packet->to     = *to;
    packet->length = length;
    packet->bytes  = malloc(length);
    duel_check(packet->bytes != NULL, "no memory");
    memcpy(packet->bytes, bytes, length);
}

static struct duel_packet duel_take(struct duel *duel, unsigned index)
{
    struct duel_packet packet;

    index %= duel->packet_count;
    packet = duel->packets[index];
    --duel->packet_count;
    memmove(&duel->packets[index], &duel->packets[index + 1],
            (duel->packet_count - index) * sizeof(packet));
    return packet;
}

/* Whose it is; NULL: of neither end. */
static struct duel_end *duel_receiver(struct duel              *duel,
                                      const struct duel_packet *packet)
{
    uint32_t host = packet->to.inet.sin_addr.s_addr;

    return ((host == 1) || (host == 2)) ? &duel->ends[host - 1] : NULL;
}

static void duel_arrive(struct duel *duel, struct duel_packet *packet)
{
    struct duel_end *end = duel_receiver(duel, packet);

    if (end != NULL) {
        end->iface.env.now_ns = duel->now_ns;
        udp_peers_packet(&end->iface, &packet->from, packet->bytes,
                         packet->length);
        duel_collect(end);
    }
}

void duel_deliver(struct duel *duel, unsigned index)
{
    struct duel_packet packet;

    if (duel->packet_count > 0) {
        packet = duel_take(duel, index);
        duel_arrive(duel, &packet);
        free(packet.bytes);
    }
}

void duel_drop(struct duel *duel, unsigned index)
{
    if (duel->packet_count > 0) {
        free(duel_take(duel, index).bytes);
    }
}

/* A copy of a packet that stays where it is. */
static bool duel_copy(struct duel *duel, unsigned index, size_t length,
                      struct duel_packet *copy_p)
{
    const struct duel_packet *packet;

    if (duel->packet_count == 0) {
        return false;
    }
    packet         = &duel->packets[index % duel->packet_count];
    *copy_p        = *packet;
    copy_p->length = (length == 0) ? packet->length : length;
    copy_p->bytes  = calloc(1, copy_p->length);
    duel_check(copy_p->bytes != NULL, "no memory");
    memcpy(copy_p->bytes, packet->bytes,
           ucs_min(packet->length, copy_p->length));
    return true;
}

void duel_repeat(struct duel *duel, unsigned index)
{
    struct duel_packet copy;

    if (duel_copy(duel, index, 0, &copy)) {
        duel_arrive(duel, &copy);
        free(copy.bytes);
    }
}

/* It arrives, and nothing may come of it. */
static void duel_arrive_in_vain(struct duel *duel, struct duel_packet *packet)
{
    struct duel_end *end        = duel_receiver(duel, packet);
    uint64_t         sent_count = duel->sent_count;
    struct udp_conn *conn       = NULL;
    struct udp_conn  before;

    if (end != NULL) {
        duel_collect(end);
        conn = duel_conn(duel, (unsigned)(end - duel->ends));
    }
    if (conn != NULL) {
        before = *conn;
    }
    duel_arrive(duel, packet);
    duel_check(duel->sent_count == sent_count, "a stranger is answered");
    duel_check((conn == NULL) || (memcmp(&before, conn, sizeof(before)) == 0),
               "a stranger's packet changes a connection");
}

/* Bytes of a packet that its tag covers. */
static size_t duel_covered_bytes(const struct duel_packet *packet)
{
    struct udp_head head;

    duel_check(udp_wire_get_head(packet->bytes, packet->length, &head),
               "a packet of ours makes no sense");
    return ((head.kind == UDP_KIND_ACK) || udp_head_is_bundle(&head))
               ? packet->length
               : UDP_HEAD_BYTES + udp_wire_extension_bytes(head.kind);
}

void duel_flip(struct duel *duel, unsigned index, unsigned bit)
{
    struct duel_packet copy;

    if (duel_copy(duel, index, 0, &copy)) {
        bit %= 8 * (unsigned)duel_covered_bytes(&copy);
        copy.bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        duel_arrive_in_vain(duel, &copy);
        free(copy.bytes);
    }
}

void duel_resize(struct duel *duel, unsigned index, size_t length)
{
    struct duel_packet copy;

    length = 1 + length % 65507;
    if (duel_copy(duel, index, length, &copy)) {
        if (length != duel->packets[index % duel->packet_count].length) {
            duel_arrive_in_vain(duel, &copy);
        }
        free(copy.bytes);
    }
}

static struct duel_packet duel_made(unsigned                   end,
                                    const struct ucs_sockaddr *from,
                                    const uint8_t *bytes, size_t length)
{
    struct duel_packet packet = {.from   = *from,
                                 .to     = duel_address(end + 1, 1),
                                 .length = length,
                                 .bytes  = malloc(length + (length == 0))};

    duel_check(packet.bytes != NULL, "no memory");
    memcpy(packet.bytes, bytes, length);
    return packet;
}

void duel_inject(struct duel *duel, unsigned end,
                 const struct ucs_sockaddr *from, uint8_t *bytes, size_t length)
{
    struct duel_packet packet = duel_made(end, from, bytes, length);

    duel_arrive(duel, &packet);
    free(packet.bytes);
}

void duel_inject_strange(struct duel *duel, unsigned end, uint8_t *bytes,
                         size_t length)
{
    struct ucs_sockaddr from   = duel_address(9, 9);
    struct duel_packet  packet = duel_made(end, &from, bytes, length);

    duel_arrive_in_vain(duel, &packet);
    free(packet.bytes);
}

/* ------------------------------------------------------------ the time */

void duel_pass(struct duel *duel, uint64_t ns)
{
    unsigned index;

    duel->now_ns += ns;
    for (index = 0; index < 2; ++index) {
        duel->ends[index].iface.env.now_ns = duel->now_ns;
        (void)udp_env_turn(&duel->ends[index].iface.env);
        duel_collect(&duel->ends[index]);
    }
}

void duel_pass_to_next(struct duel *duel)
{
    uint64_t next_ns = ucs_min(udp_env_deadline_ns(&duel->ends[0].iface.env),
                               udp_env_deadline_ns(&duel->ends[1].iface.env));

    next_ns = ucs_max(next_ns, duel->now_ns + 1);
    duel_pass(duel, ucs_min(next_ns - duel->now_ns, (uint64_t)UCS_NS_PER_S));
}

static bool duel_is_quiet(struct duel *duel)
{
    unsigned index;

    for (index = 0; index < 2; ++index) {
        struct udp_conn *conn = duel_conn(duel, index);

        if (conn == NULL) {
            return index == 0; /* a client that nobody answers is not */
        }
        if ((conn->state == UDP_CONN_FAILED) || conn->is_over) {
            return true;
        }
        if ((conn->state == UDP_CONN_HELLO) ||
            (conn->state == UDP_CONN_CONNECT) ||
            !udp_send_is_idle(&conn->send) ||
            !ucs_queue_is_empty(&conn->fragments)) {
            return false;
        }
    }
    return duel->packet_count == 0;
}

void duel_heal(struct duel *duel)
{
    unsigned step;

    for (step = 0; !duel_is_quiet(duel); ++step) {
        duel_check(step < DUEL_HEAL_STEPS_MAX, "it never comes to rest");
        if (duel->packet_count > 0) {
            duel_pass(duel, DUEL_DELAY_NS);
            duel_deliver(duel, 0);
        } else {
            duel_pass_to_next(duel);
        }
    }
}
