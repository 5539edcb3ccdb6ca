/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_peers.c - the connections of an interface: found by id, made by
 * clients, adopted by endpoints.
 *
 * Between two endpoints there is one connection, so that acknowledgements ride
 * on what goes the other way. Whoever asks first makes it; when both ask at
 * the same time, the side of the lesser incarnation does not hear the other,
 * whose endpoint moves to the connection that it accepts. */
#include <stdlib.h>

#include "ucs/clock.h"
#include "ucs/log.h"
#include "ucs/random.h"
#include "uct/udp/udp.h"
#include "uct/udp/udp_detour.h"

#define PEERS_DEAF_NS ((uint64_t)20 * UCS_NS_PER_MS)

/* Two clients never share an incarnation and an id. */
static uint64_t peers_key(const struct udp_hello *hello)
{
    return hello->incarnation ^ ((uint64_t)hello->id << 32) ^ hello->id;
}

static uint32_t peers_id(struct udp_iface *iface)
{
    do {
        ++iface->id_next;
    } while ((iface->id_next == 0) ||
             (ucsi_hash_get(&iface->conns, iface->id_next) != NULL));
    return iface->id_next;
}

struct udp_conn *udp_peers_new(struct udp_iface *iface)
{
    struct udp_conn *conn = malloc(sizeof(*conn));

    if (conn == NULL) {
        return NULL;
    }
    udp_conn_init(conn, &iface->env, peers_id(iface));
    if ((ucsi_random_u64(&conn->nonce) != UCS_OK) ||
        (ucsi_hash_put(&iface->conns, conn->id, conn) != UCS_OK)) {
        free(conn);
        return NULL;
    }
    ucs_list_add_tail(&iface->all, &conn->link);
    return conn;
}

void udp_peers_ask(struct udp_iface *iface, struct udp_conn *conn)
{
    uint64_t incarnation = conn->peer_incarnation;

    /* Who asks itself is both ends. Without memory for the entry there are
     * two connections: no harm. */
    if ((incarnation != iface->env.incarnation) &&
        (ucsi_hash_put(&iface->asking, incarnation, conn) != UCS_OK)) {
        udp_count(&iface->env, UDP_COUNT_NO_ROOM);
    }
    udp_connect_begin(conn, iface->self.data_port);
}

static void peers_forget(struct ucs_hash *hash, struct udp_conn *conn)
{
    if (ucsi_hash_get(hash, conn->peer_incarnation) == conn) {
        (void)ucsi_hash_remove(hash, conn->peer_incarnation);
    }
}

void udp_peers_free(struct udp_iface *iface, struct udp_conn *conn)
{
    ucs_assert(!conn->needs_notify);
    (void)ucsi_hash_remove(&iface->conns, conn->id);
    if (iface->last == conn) {
        iface->last = NULL;
    }
    /* The key is the client's choice, so any value of it may be another's. */
    if (ucsi_hash_get(&iface->accepted, conn->client_key) == conn) {
        (void)ucsi_hash_remove(&iface->accepted, conn->client_key);
    }
    peers_forget(&iface->orphans, conn);
    peers_forget(&iface->asking, conn);
    udp_guests_leave(iface, conn);
    ucs_list_remove(&conn->link);
    udp_conn_cleanup(conn);
    free(conn);
}

struct udp_conn *udp_peers_adopt(struct udp_iface *iface, uint64_t incarnation)
{
    struct udp_conn *conn =
        (struct udp_conn *)ucsi_hash_remove(&iface->orphans, incarnation);

    /* Its client may have given it up for one of ours and say nothing more:
     * what was never heard is not used. */
    if ((conn == NULL) || (conn->state != UDP_CONN_OPEN) ||
        (conn->heard_ns == conn->begun_ns) || conn->is_fin_queued ||
        conn->has_peer_fin) {
        return NULL;
    }
    return conn;
}

bool udp_peers_is_ending(const struct udp_iface *iface, uint64_t incarnation)
{
    const struct udp_conn *conn;

    if (iface->env.ending_count == 0) {
        return false; /* or ten thousand endpoints look at one another */
    }
    ucs_list_for_each (conn, &iface->all, link) {
        if (conn->is_ending && (conn->peer_incarnation == incarnation)) {
            return true;
        }
    }
    return false;
}

static bool peers_is_asking(const struct udp_conn *conn)
{
    return (conn->user != NULL) && ((conn->state == UDP_CONN_HELLO) ||
                                    (conn->state == UDP_CONN_CONNECT));
}

/* Both ask: is it the peer that must give way? Also for a while after we were
 * heard: it has sent its question before it knew. */
static bool peers_is_deaf(const struct udp_iface *iface,
                          const struct udp_conn  *mine,
                          const struct udp_hello *hello)
{
    if ((mine == NULL) || (iface->env.incarnation > hello->incarnation)) {
        return false;
    }
    return peers_is_asking(mine) ||
           ((mine->state == UDP_CONN_OPEN) && mine->is_initiator &&
            (iface->env.now_ns < mine->begun_ns + PEERS_DEAF_NS));
}

/* The endpoint of `mine` uses what the peer made. Nothing was sent on mine but
 * the handshake. */
static void peers_move(struct udp_iface *iface, struct udp_conn *mine,
                       struct udp_conn *conn)
{
    struct udp_ep *ep = (struct udp_ep *)mine->user;

    ucs_assert(ucs_queue_is_empty(&mine->fragments) &&
               ucs_list_is_empty(&mine->operations));
    udp_detour_inherit(conn, mine);
    ep->conn    = conn;
    conn->user  = ep;
    mine->user  = NULL;
    mine->state = UDP_CONN_FAILED; /* whoever answers it is not heard */
    peers_forget(&iface->asking, mine);
    udp_conn_notify(mine);
}

/* Somebody new: an endpoint that waits for it, or one to come, uses it. */
static void peers_offer(struct udp_iface *iface, struct udp_conn *mine,
                        struct udp_conn *conn)
{
    if ((mine != NULL) && peers_is_asking(mine)) {
        peers_move(iface, mine, conn);
        return;
    }
    /* Without memory for the entry it is never adopted: no harm. */
    if (ucsi_hash_put(&iface->orphans, conn->peer_incarnation, conn) !=
        UCS_OK) {
        udp_count(&iface->env, UDP_COUNT_NO_ROOM);
    }
}

/* A client showed its cookie. */
static void peers_accept(struct udp_iface          *iface,
                         const struct ucs_sockaddr *from,
                         const struct udp_hello    *hello)
{
    uint64_t         key = peers_key(hello);
    struct udp_conn *conn =
        (struct udp_conn *)ucsi_hash_get(&iface->accepted, key);

    struct udp_conn *mine =
        (struct udp_conn *)ucsi_hash_get(&iface->asking, hello->incarnation);

    if (conn == NULL) {
        conn = peers_is_deaf(iface, mine, hello) ? NULL : udp_peers_new(iface);
        if (conn == NULL) {
            return; /* it asks again */
        }
        if (!udp_guests_enter(iface, conn, from) ||
            (ucsi_hash_put(&iface->accepted, key, conn) != UCS_OK)) {
            udp_peers_free(iface, conn);
            return;
        }
        conn->client_key = key;
        if (udp_connect_accept(conn, &iface->self, from, hello) != UCS_OK) {
            udp_peers_free(iface, conn);
            return;
        }
        peers_offer(iface, mine, conn);
    }
    udp_connect_send_accept(conn, iface->self.data_port);
}

/* Somebody with our secret, who should know better: it is in our address.
 */
static void peers_refuse(struct udp_iface          *iface,
                         const struct ucs_sockaddr *from,
                         const struct udp_hello    *hello)
{
    char text[UCS_SOCKADDR_TEXT_BYTES_MAX];

    udp_count(&iface->env, UDP_COUNT_BAD_CONNECTION);
    ucs_warn_limited("udp: %s is refused: it %s, this end %s; "
                     "UCX_NET_ENCRYPT must be the same on both sides",
                     ucsi_sockaddr_print(from, text, sizeof(text)),
                     (hello->ciphers != 0) ? "encrypts" : "does not encrypt",
                     (iface->env.ciphers != 0) ? "does" : "does not");
}

/* HELLO, CONNECT: from somebody without a connection.
 * @return false: it does not know this interface's secret. */
static bool peers_stranger(struct udp_iface          *iface,
                           const struct ucs_sockaddr *from,
                           const struct udp_head *head, const uint8_t *bytes,
                           size_t length)
{
    struct udp_conn  stranger;
    struct udp_hello hello;

    if (!udp_seal_check(&iface->self.secret, bytes,
                        UDP_HEAD_BYTES + udp_wire_extension_bytes(head->kind),
                        length)) {
        return false;
    }
    udp_wire_get_hello(bytes + UDP_HEAD_BYTES, &hello);
    if (!udp_connect_agrees(&iface->env, hello.ciphers)) {
        peers_refuse(iface, from, &hello);
        return true;
    }
    if ((head->kind == UDP_KIND_HELLO) ||
        !udp_connect_is_ours(&iface->self, from, &hello, iface->env.now_ns)) {
        /* Also for a cookie that is too old. */
        udp_conn_init(&stranger, &iface->env, 0);
        udp_connect_send_cookie(&stranger, &iface->self, from, &hello);
    } else {
        peers_accept(iface, from, &hello);
    }
    return true;
}

static bool peers_is_stranger(const struct udp_head *head)
{
    return (head->kind == UDP_KIND_HELLO) || (head->kind == UDP_KIND_CONNECT);
}

/* @return false: it is not for this interface. */
static bool peers_take(struct udp_iface *iface, const struct ucs_sockaddr *from,
                       const struct udp_head *head, uint8_t *bytes,
                       size_t length)
{
    struct udp_conn *conn = iface->last;

    if (ucs_unlikely(peers_is_stranger(head))) {
        return peers_stranger(iface, from, head, bytes, length);
    }
    if ((conn == NULL) || (conn->id != head->to)) {
        conn        = (struct udp_conn *)ucsi_hash_get(&iface->conns, head->to);
        iface->last = conn;
    }
    if (ucs_unlikely(conn == NULL)) {
        return false;
    }
    udp_conn_packet(conn, head, bytes, length);
    return true;
}

/* Not for us: for a neighbour, on a detour? @return false: no. */
static bool peers_detoured(struct udp_iface          *iface,
                           const struct ucs_sockaddr *from,
                           const struct udp_head *head, uint8_t *bytes,
                           size_t length)
{
    bool              is_taken = false;
    struct udp_iface *other;

    ucs_list_for_each (other, &iface->ring, ring) {
        if (is_taken || !udp_enter_beside(iface, other)) {
            continue;
        }
        other->env.now_ns    = ucs_max(other->env.now_ns, iface->env.now_ns);
        other->env.came_by   = &iface->env;
        other->env.came_from = from;
        is_taken             = peers_take(other, from, head, bytes, length);
        other->env.came_by   = NULL;
        udp_leave_beside(iface, other);
    }
    return is_taken;
}

void udp_peers_packet(struct udp_iface *iface, const struct ucs_sockaddr *from,
                      uint8_t *bytes, size_t length)
{
    struct udp_head head;

    if (ucs_unlikely(!udp_wire_get_head(bytes, length, &head))) {
        udp_count(&iface->env, UDP_COUNT_BAD_PACKET);
        return;
    }
    if (ucs_unlikely(!peers_take(iface, from, &head, bytes, length)) &&
        !peers_detoured(iface, from, &head, bytes, length)) {
        udp_count(&iface->env, peers_is_stranger(&head)
                                   ? UDP_COUNT_BAD_TAG
                                   : UDP_COUNT_BAD_CONNECTION);
    }
}
