/* SPDX-License-Identifier: BSD-3-Clause */
/* udp_net.c - the network, the ends' duties, and messages that check
 * themselves: the number in the first 8 bytes, then a pattern. */
#include "uct/udp_net.h"

#include "uct/udp/udp_bundle.h"

#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "ucs/clock.h"
#include "uct/udp/udp_detour.h"

enum { NET_ANY_BIT = 63 };

/* Where the other end's neighbour is. */
static const struct ucs_sockaddr net_beside = {.size_bytes = 16};

struct net_packet {
    struct ucs_heap_node node;
    struct udp_net_end  *to;
    bool                 is_detoured;
    size_t               length;
    uint8_t              bytes[] UCS_ALIGNED(8);
};

static struct udp_net_end *net_end(struct udp_env *env)
{
    return ucs_container_of(env, struct udp_net_end, env);
}

static struct udp_net_end *net_other(struct udp_net_end *end)
{
    return (end == &end->net->ends[0]) ? &end->net->ends[1]
                                       : &end->net->ends[0];
}

/* ----------------------------------------------------------- network */

static void net_carry(struct udp_net_end *from, const struct udp_net_path *path,
                      const uint8_t *bytes, size_t length)
{
    struct udp_net    *net = from->net;
    struct net_packet *packet;
    uint64_t           at_ns = net->now_ns + path->delay_ns;

    if (path->jitter_ns > 0) {
        at_ns += test_random_below(path->jitter_ns);
    }
    if (test_random_below(1000) < path->reorder) {
        at_ns += path->delay_ns + test_random_below(path->delay_ns * 4 + 1);
    }
    packet              = malloc(sizeof(*packet) + length);
    packet->to          = net_other(from);
    packet->is_detoured = (path == &net->detour);
    packet->length      = length;
    memcpy(packet->bytes, bytes, length);
    ucs_heap_node_init(&packet->node);
    ucs_heap_push(&net->heap, &packet->node, at_ns);
}

static void net_packet_out(struct udp_net_end        *from,
                           const struct udp_net_path *path,
                           enum udp_channel channel, const uint8_t *bytes,
                           size_t length)
{
    struct udp_net *net = from->net;

    ++net->packet_count;
    if (((net->spy != NULL) && net->spy(from, channel, bytes, length)) ||
        path->is_cut ||
        (net->is_one_way && (path == &net->path) && (from == net->ends)) ||
        (test_random_below(1000) < path->loss) ||
        ((path->mtu_bytes != 0) && (length > path->mtu_bytes))) {
        ++net->lost_count;
        return;
    }
    net_carry(from, path, bytes, length);
    if (test_random_below(1000) < path->duplicate) {
        net_carry(from, path, bytes, length);
    }
}

static size_t net_send_out(struct udp_env *env, const struct udp_net_path *path,
                           const struct udp_out *out)
{
    uint8_t  all[UDP_IO_OUT_BYTES_MAX];
    size_t   bytes = 0, offset, part;
    unsigned index;

    for (index = 0; index < out->iov_count; ++index) {
        ck_assert_uint_le(bytes + out->iov[index].iov_len, sizeof(all));
        memcpy(all + bytes, out->iov[index].iov_base, out->iov[index].iov_len);
        bytes += out->iov[index].iov_len;
    }
    for (offset = 0; offset < bytes; offset += part) {
        part = (out->segment_bytes == 0)
                   ? bytes
                   : ucs_min(out->segment_bytes, bytes - offset);
        net_packet_out(net_end(env), path, out->channel, all + offset, part);
    }
    return bytes;
}

static size_t net_transmit(struct udp_env *env, struct udp_out *out)
{
    return net_send_out(env, &net_end(env)->net->path, out);
}

static size_t net_detour(struct udp_env *env, struct udp_env *by,
                         struct udp_out *out)
{
    ck_assert_ptr_eq(by, &net_end(env)->beside);
    ck_assert_int_eq(out->channel, UDP_PRIORITY);
    return net_send_out(env, &net_end(env)->net->detour, out);
}

/* ----------------------------------------------------- duties of an end */

static bool net_has_room(struct udp_env *env, size_t length)
{
    (void)length;
    return !net_end(env)->is_full;
}

static void net_fill(uint8_t *bytes, uint64_t number, size_t length)
{
    size_t index;

    for (index = 8; index < length; ++index) {
        bytes[index] = (uint8_t)(number * 7 + index * 13 + (index >> 8));
    }
    if (length >= 8) {
        memcpy(bytes, &number, 8);
    }
}

static bool net_is_intact(const uint8_t *bytes, uint64_t number, size_t length)
{
    size_t index;

    for (index = 8; index < length; ++index) {
        if (bytes[index] != (uint8_t)(number * 7 + index * 13 + (index >> 8))) {
            return false;
        }
    }
    return true;
}

static void net_message(struct udp_env *env, struct udp_conn *conn,
                        unsigned am_id, struct udp_held *held, uint8_t *data,
                        size_t length)
{
    struct udp_net_end *end = net_end(env);
    uint64_t            number;

    ck_assert_ptr_eq(conn, &end->conn);
    ck_assert_uint_ge(length, 8);
    ck_assert_uint_eq((uintptr_t)data % 8, 0);
    ck_assert_uint_eq(am_id, 5);
    memcpy(&number, data, 8);
    if (number >> NET_ANY_BIT) {
        size_t index = number & ~(1ull << NET_ANY_BIT);

        end->bad_count +=
            !net_is_intact(data, number, length) || (end->any_seen[index] != 0);
        end->any_seen[index] = 1;
        ++end->any_count;
    } else {
        end->bad_count += !net_is_intact(data, number, length) ||
                          (number != end->ordered_count);
        ++end->ordered_count;
    }
    if (held != NULL) {
        udp_env_unhold(held);
    }
}

static void net_notify(struct udp_env *env, struct udp_conn *conn)
{
    (void)env;
    (void)conn; /* looked at with each step */
}

static void *net_region_enter(struct udp_env          *env,
                              const struct udp_access *access, size_t length,
                              unsigned right)
{
    struct udp_net_end *end = net_end(env);

    if ((access->key != end->region_key) || (end->region_key == 0) ||
        !(end->region_access & right) || (access->address > NET_REGION_BYTES) ||
        (length > NET_REGION_BYTES - access->address)) {
        return NULL;
    }
    return end->region + access->address;
}

static void net_region_leave(struct udp_env *env)
{
    (void)env;
}

static const struct udp_env_ops net_ops = {
    .transmit     = net_transmit,
    .detour       = net_detour,
    .has_room     = net_has_room,
    .message      = net_message,
    .notify       = net_notify,
    .region_enter = net_region_enter,
    .region_leave = net_region_leave,
};

static void net_collect(struct udp_net_end *end)
{
    struct ucs_queue_elem *elem;
    struct udp_fragment   *fragment;

    if (!end->has_conn) {
        return;
    }
    end->conn.needs_notify = false;
    while ((elem = ucs_queue_pull(&end->conn.finished)) != NULL) {
        fragment = ucs_container_of(elem, struct udp_fragment, queue);
        ++end->finished_count;
        end->finished_status = (ucs_status_t)fragment->status;
        udp_fragment_free(fragment);
    }
}

/* A packet for nobody yet: the server's half of the handshake, as the
 * interface does it. */
static void net_answer(struct udp_net_end *end, const struct udp_head *head,
                       const uint8_t *bytes, size_t length)
{
    static const struct ucs_sockaddr from = {.size_bytes = 16};
    struct udp_hello                 hello;
    struct udp_conn                  stranger;

    if ((head->kind != UDP_KIND_HELLO) && (head->kind != UDP_KIND_CONNECT)) {
        return;
    }
    ck_assert(
        udp_seal_check(&end->self.secret, bytes, UDP_HEAD_BYTES + 40, length));
    udp_wire_get_hello(bytes + UDP_HEAD_BYTES, &hello);
    if (!udp_connect_agrees(&end->env, hello.ciphers)) {
        ++end->refused_count;
        return;
    }
    if (head->kind == UDP_KIND_HELLO) {
        udp_conn_init(&stranger, &end->env, 0);
        stranger.handshake = end->self.secret;
        stranger.peer_id   = hello.id;
        stranger.nonce     = hello.nonce;
        udp_connect_send_cookie(&stranger, &end->self, &from, &hello);
        return;
    }
    if (!udp_connect_is_ours(&end->self, &from, &hello, end->env.now_ns)) {
        return;
    }
    if (!end->has_conn) {
        udp_conn_init(&end->conn, &end->env, 77);
        end->conn.nonce = test_random();
        end->has_conn   = true;
        ck_assert_int_eq(
            udp_connect_accept(&end->conn, &end->self, &from, &hello), UCS_OK);
    }
    udp_connect_send_accept(&end->conn, 2);
}

static void net_packet_in(struct udp_net_end *end, uint8_t *bytes,
                          size_t length)
{
    struct udp_head head;

    if (end->is_gone || !udp_wire_get_head(bytes, length, &head)) {
        return;
    }
    if (end->has_conn && (head.to == end->conn.id)) {
        udp_conn_packet(&end->conn, &head, bytes, length);
    } else {
        net_answer(end, &head, bytes, length);
    }
}

void udp_net_lie(struct udp_net_end *end, struct udp_head head, uint8_t *bytes,
                 size_t length)
{
    size_t covered = (head.kind == UDP_KIND_ACK)
                         ? length
                         : udp_wire_extension_bytes(head.kind);

    head.to         = end->conn.id;
    end->env.now_ns = end->net->now_ns;
    udp_wire_put_head(bytes, &head);
    udp_seal_put(&end->conn.seal, bytes, UDP_HEAD_BYTES + covered,
                 UDP_HEAD_BYTES + length);
    net_packet_in(end, bytes, UDP_HEAD_BYTES + length);
}

static void net_turn(struct udp_net_end *end)
{
    if (!end->is_gone && !end->is_stopped) {
        end->env.now_ns = end->net->now_ns;
        (void)udp_env_turn(&end->env);
        net_collect(end);
    }
}

/* When something happens next. */
static uint64_t net_next_ns(struct udp_net *net)
{
    struct ucs_heap_node *node    = ucs_heap_min(&net->heap);
    uint64_t              next_ns = (node == NULL) ? UINT64_MAX : node->key;
    unsigned              index;

    for (index = 0; index < 2; ++index) {
        if (!net->ends[index].is_gone && !net->ends[index].is_stopped) {
            next_ns =
                ucs_min(next_ns, udp_env_deadline_ns(&net->ends[index].env));
        }
    }
    return next_ns;
}

bool udp_net_step(struct udp_net *net)
{
    uint64_t              next_ns = net_next_ns(net);
    struct ucs_heap_node *node;
    struct net_packet    *packet;

    if (next_ns > net->now_ns + UCS_NS_PER_S) {
        net->now_ns += UCS_NS_PER_S;
        return false;
    }
    net->now_ns = ucs_max(next_ns, net->now_ns + 1);
    while (((node = ucs_heap_min(&net->heap)) != NULL) &&
           (node->key <= net->now_ns)) {
        (void)ucs_heap_pop(&net->heap);
        packet = ucs_container_of(node, struct net_packet, node);
        packet->to->env.now_ns = net->now_ns;
        if (!packet->to->is_stopped) {
            packet->to->env.came_by =
                packet->is_detoured ? &packet->to->beside : NULL;
            packet->to->env.came_from = &net_beside;
            net_packet_in(packet->to, packet->bytes, packet->length);
        }
        free(packet);
    }
    net_turn(&net->ends[0]);
    net_turn(&net->ends[1]);
    return true;
}

bool udp_net_until(struct udp_net *net, bool (*fn)(struct udp_net *),
                   double          seconds)
{
    uint64_t end_ns = net->now_ns + (uint64_t)(seconds * 1e9);

    while (!fn(net)) {
        if (net->now_ns > end_ns) {
            return false;
        }
        (void)udp_net_step(net);
    }
    return true;
}

bool udp_net_is_open(struct udp_net *net)
{
    return net->ends[1].has_conn && udp_conn_is_open(&net->ends[0].conn) &&
           udp_conn_is_open(&net->ends[1].conn);
}

void udp_net_open(struct udp_net *net, unsigned ciphers)
{
    unsigned index;

    memset(net, 0, sizeof(*net));
    net->now_ns        = 1000 * (uint64_t)UCS_NS_PER_S;
    net->path.delay_ns = 20 * UCS_NS_PER_US;
    net->detour        = net->path;
    ucs_heap_init(&net->heap);
    for (index = 0; index < 2; ++index) {
        struct udp_net_end *end = &net->ends[index];

        end->net                    = net;
        end->env.ops                = &net_ops;
        end->env.now_ns             = net->now_ns;
        end->env.bound_ns           = 10 * (uint64_t)UCS_NS_PER_S;
        end->env.incarnation        = test_random();
        end->env.largest_bytes      = UDP_PACKET_BYTES_MAX;
        end->env.buffer_bytes       = 1 << 20;
        end->env.window             = UDP_WINDOW_COUNT;
        end->env.ciphers            = (uint16_t)ciphers;
        end->self.data_port         = 2;
        end->self.secret.key[0]     = test_random();
        end->self.cookie_key.key[1] = test_random();
        ck_assert_int_eq(udp_env_init(&end->env, 16384), UCS_OK);
    }
}

void udp_net_connect(struct udp_net *net)
{
    struct udp_conn *conn = &net->ends[0].conn;

    net->ends[0].has_conn = true;
    udp_conn_init(conn, &net->ends[0].env, 33);
    conn->handshake = net->ends[1].self.secret;
    conn->nonce     = test_random();
    udp_connect_begin(conn, 2);
}

void udp_net_show_detour(struct udp_net_end *end)
{
    udp_detour_learn(&end->conn, &end->beside, &net_beside);
}

void udp_net_close(struct udp_net *net)
{
    struct ucs_heap_node *node;
    unsigned              index;

    while ((node = ucs_heap_pop(&net->heap)) != NULL) {
        free(ucs_container_of(node, struct net_packet, node));
    }
    for (index = 0; index < 2; ++index) {
        if (net->ends[index].has_conn) {
            net_collect(&net->ends[index]);
            udp_conn_cleanup(&net->ends[index].conn);
        }
        udp_env_cleanup(&net->ends[index].env);
    }
}

/* ---------------------------------------------------------- messages */

static bool net_send(struct udp_net_end *end, uint64_t number, size_t length,
                     unsigned flags)
{
    struct udp_segment *segment;
    uint8_t            *room = NULL;

    end->env.now_ns = end->net->now_ns;
    if (flags == 0) {
        room = udp_bundle_add(&end->conn, 5, length);
    }
    if (room != NULL) {
        net_fill(room, number, length);
        return true;
    }
    segment = udp_env_segment(&end->env, UDP_HEAD_BYTES + length);
    ck_assert_ptr_nonnull(segment);
    net_fill(segment->bytes + UDP_HEAD_BYTES, number, length);
    udp_conn_send_am(&end->conn, segment, 5, flags, length);
    return true;
}

bool udp_net_send(struct udp_net_end *end, uint64_t number, size_t length)
{
    return udp_conn_may_send(&end->conn) &&
           (length <= udp_conn_payload_bytes(&end->conn, UDP_KIND_AM)) &&
           net_send(end, number, length, 0);
}

bool udp_net_send_any(struct udp_net_end *end, uint64_t number, size_t length)
{
    return udp_conn_is_open(&end->conn) && udp_conn_has_window(&end->conn) &&
           (length <= udp_conn_payload_bytes(&end->conn, UDP_KIND_AM)) &&
           net_send(end, number | (1ull << NET_ANY_BIT), length,
                    UDP_FLAG_ANY_ORDER);
}

bool udp_net_send_zcopy(struct udp_net_end *end, uint64_t number,
                        uint8_t *memory, size_t length)
{
    struct udp_conn     *conn = &end->conn;
    struct udp_fragment *fragment;

    if (!udp_conn_is_open(conn) ||
        (conn->fragment_count >= UDP_FRAGMENT_COUNT_MAX)) {
        return false;
    }
    net_fill(memory, number, length);
    fragment                  = udp_fragment_new(conn, UDP_KIND_CHUNK);
    fragment->am_id           = 5;
    fragment->total           = (uint32_t)length;
    fragment->message         = conn->message++;
    fragment->iov[0].iov_base = memory;
    fragment->iov[0].iov_len  = length / 3;
    fragment->iov[1].iov_base = memory + length / 3;
    fragment->iov[1].iov_len  = length - length / 3;
    fragment->iov_count       = 2;
    fragment->req             = &fragment->own;
    end->env.now_ns           = end->net->now_ns;
    udp_conn_queue(conn, fragment);
    return true;
}
