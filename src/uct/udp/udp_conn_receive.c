/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_conn_receive.c - the way in: segments in any order become
 * messages in order.
 *
 *   look: old, beyond -> dropped
 *         early -> what acts at once does (chunk, put, any order); the rest
 *                  is held; the ring remembers
 *         next  -> handed up from where it lies, then what it set free
 *
 * A segment for which there is no memory or no room is dropped as if it had
 * been lost: its sender sends it again. */
#include "uct/udp/udp_bundle.h"

#include <string.h>

#include "ucs/assert.h"
#include "uct/udp/udp_connect.h"
#include "uct/udp/udp_share.h"

/* Stands in the ring for a segment of which nothing is left to do; no
 * address. */
static struct udp_held *receive_nothing(void)
{
    return (struct udp_held *)(uintptr_t)1;
}

static bool receive_acts_at_once(unsigned kind, unsigned flags)
{
    switch (kind) {
    case UDP_KIND_AM:
        return (flags & UDP_FLAG_ANY_ORDER) != 0;
    case UDP_KIND_FIN:
        return false;
    default:
        return true;
    }
}

/* Messages that came early, wherever in the ring they lie. */
static void receive_forget_early(struct udp_conn *conn)
{
    struct udp_receive *receive = &conn->receive;
    struct udp_held    *held;
    uint32_t            index;

    for (index = 0; index < receive->ring_count; ++index) {
        held                 = (struct udp_held *)receive->ring[index];
        receive->ring[index] = NULL;
        if ((held != NULL) && (held != receive_nothing())) {
            udp_share_release(conn, held);
            udp_env_unhold(held);
        }
    }
    receive->early_count = 0;
    udp_share_return(conn);
}

void udp_conn_forget_received(struct udp_conn *conn)
{
    struct udp_reassembly *reassembly, *next;

    if (conn->receive.ring != NULL) {
        receive_forget_early(conn);
    }
    ucs_list_for_each_safe (reassembly, next, &conn->reassemblies, link) {
        ucs_mpool_put(reassembly);
    }
    ucs_list_init(&conn->reassemblies);
    conn->env->reassembly_count -= conn->reassembly_count;
    conn->reassembly_count = 0;
}

/* ------------------------------------------------------ reassembly */

static struct udp_reassembly *receive_find(struct udp_conn *conn,
                                           uint32_t         message)
{
    struct udp_reassembly *reassembly;

    ucs_list_for_each (reassembly, &conn->reassemblies, link) {
        if (reassembly->message == message) {
            return reassembly;
        }
    }
    return NULL;
}

/* May one more message begin? One whose turn has not come leaves room for
 * others, of this connection and of all: else all memory may be with messages
 * that wait for one that finds none. */
static bool receive_may_begin(const struct udp_conn *conn, bool is_next)
{
    return is_next ? (conn->reassembly_count < 2 * UDP_AHEAD_CONN_MAX)
                   : ((conn->reassembly_count < UDP_AHEAD_CONN_MAX) &&
                      (conn->env->reassembly_count < UDP_AHEAD_COUNT_MAX));
}

static struct udp_reassembly *receive_begin(struct udp_conn        *conn,
                                            const struct udp_chunk *chunk,
                                            bool                    is_next)
{
    struct udp_reassembly *reassembly = NULL;

    if (receive_may_begin(conn, is_next)) {
        reassembly =
            (struct udp_reassembly *)ucs_mpool_get(&conn->env->reassemblies);
    }
    if (reassembly != NULL) {
        ++conn->reassembly_count;
        ++conn->env->reassembly_count;
        reassembly->message = chunk->message;
        reassembly->total   = chunk->total;
        reassembly->got     = 0;
        memset(reassembly->came, 0,
               (chunk->total / 512 + 1) * sizeof(uint64_t));
        ucs_list_add_tail(&conn->reassemblies, &reassembly->link);
    }
    return reassembly;
}

/* Note that these bytes came. @return false: some of them had, or they are
 * none that a sender of ours makes: eights but for the last. */
static bool receive_claim(struct udp_reassembly *reassembly, uint32_t offset,
                          size_t length)
{
    size_t   at  = offset / 8;
    size_t   end = (offset + length + 7) / 8;
    uint64_t bits;

    if ((offset % 8 != 0) ||
        ((length % 8 != 0) && (offset + length != reassembly->total))) {
        return false;
    }
    for (; at < end; at = (at / 64 + 1) * 64) {
        bits = ~0ull << (at % 64);
        if (end / 64 == at / 64) {
            bits &= (1ull << (end % 64)) - 1;
        }
        if (reassembly->came[at / 64] & bits) {
            return false;
        }
        reassembly->came[at / 64] |= bits;
    }
    return true;
}

/* Put a chunk in its place. @return false: no memory, it must come again. */
static bool receive_chunk(struct udp_conn *conn, const struct udp_head *head,
                          const uint8_t *bytes, size_t length)
{
    const uint8_t *payload =
        bytes + UDP_HEAD_BYTES + udp_wire_extension_bytes(UDP_KIND_CHUNK);
    struct udp_reassembly *reassembly;
    struct udp_chunk       chunk;

    length -= (size_t)(payload - bytes);
    udp_wire_get_chunk(bytes + UDP_HEAD_BYTES, &chunk);
    if ((chunk.total > UDP_MESSAGE_BYTES + UDP_HEADER_BYTES) ||
        (chunk.offset > chunk.total) || (length > chunk.total - chunk.offset)) {
        udp_count(conn->env, UDP_COUNT_BAD_PACKET);
        return true; /* taken: its message will never be whole */
    }
    reassembly = receive_find(conn, chunk.message);
    if (reassembly == NULL) {
        reassembly =
            receive_begin(conn, &chunk, head->number == conn->receive.expected);
    }
    if (reassembly == NULL) {
        return false;
    }
    if ((reassembly->total != chunk.total) ||
        !receive_claim(reassembly, chunk.offset, length)) {
        udp_count(conn->env, UDP_COUNT_BAD_PACKET);
        return true; /* the same */
    }
    memcpy(reassembly->bytes + chunk.offset, payload, length);
    reassembly->got += (uint32_t)length;
    return true;
}

/* Hand a message up. Behind the peer's FIN there is none: whoever took its
 * messages has been told that it ended. Nor is one longer than we send. */
static void receive_message(struct udp_conn *conn, unsigned am_id,
                            struct udp_held *held, uint8_t *data, size_t length)
{
    if (ucs_unlikely(conn->has_peer_fin ||
                     (length > UDP_MESSAGE_BYTES + UDP_HEADER_BYTES))) {
        udp_count(conn->env, UDP_COUNT_BAD_PACKET);
        if (held != NULL) {
            udp_env_unhold(held);
        }
        return;
    }
    conn->has_first = true;
    conn->env->ops->message(conn->env, conn, am_id, held, data, length);
}

static void receive_bundle(struct udp_conn *conn, uint8_t *bytes, size_t length)
{
    if (conn->has_peer_fin) {
        udp_count(conn->env, UDP_COUNT_BAD_PACKET);
        return;
    }
    conn->has_first = true;
    udp_bundle_open(conn, bytes, length);
}

/* -------------------------------------------------------- in order */

static void receive_fin(struct udp_conn *conn)
{
    if (conn->has_peer_fin) {
        udp_count(conn->env, UDP_COUNT_BAD_PACKET);
        return;
    }
    conn->has_peer_fin = true;
    conn->status       = UCS_OK;
    udp_conn_notify(conn);
    if (conn->user == NULL) {
        udp_connect_close(conn);
    }
    udp_connect_closed(conn);
}

/* The last chunk's turn has come, so all others were there. The record that
 * hands it up was made when it arrived. */
static void receive_whole(struct udp_conn *conn, struct udp_held *held)
{
    struct udp_reassembly *reassembly = receive_find(conn, held->length);

    if (reassembly == NULL) {
        udp_env_unhold(held);
        return;
    }
    ucs_list_remove(&reassembly->link);
    --conn->reassembly_count;
    held->reassembly = reassembly;
    held->data       = reassembly->bytes;
    held->length     = reassembly->total;
    if (reassembly->got != reassembly->total) {
        udp_count(conn->env, UDP_COUNT_BAD_PACKET);
        udp_env_unhold(held);
        return;
    }
    receive_message(conn, held->am_id, held, held->data, held->length);
}

/* A segment's turn has come. */
static void receive_turn(struct udp_conn *conn, struct udp_held *held)
{
    switch (held->kind) {
    case UDP_KIND_AM:
        if (held->flags & UDP_FLAG_BUNDLE) {
            receive_bundle(conn, held->data, held->length);
            udp_env_unhold(held);
            break;
        }
        receive_message(conn, held->am_id, held, held->data, held->length);
        break;
    case UDP_KIND_CHUNK:
        receive_whole(conn, held);
        break;
    default:
        receive_fin(conn);
        udp_env_unhold(held);
        break;
    }
}

/* Those that came early and are next now. */
static void receive_freed(struct udp_conn *conn)
{
    struct udp_held *held;

    while ((held = (struct udp_held *)udp_receive_early(&conn->receive)) !=
           NULL) {
        udp_receive_pop(&conn->receive);
        udp_receive_take(&conn->receive);
        if (held != receive_nothing()) {
            udp_share_release(conn, held);
            receive_turn(conn, held);
        }
    }
    udp_share_return(conn);
}

/* ----------------------------------------------------------- arrival */

/* What is left to do of a segment when its turn comes: of the last chunk to
 * hand up its message, whose name is kept in length.
 * @param is_early  It waits, and others may never come.
 * @return NULL: no memory. */
static struct udp_held *receive_rest(struct udp_conn       *conn,
                                     const struct udp_head *head,
                                     const uint8_t *bytes, size_t length,
                                     bool is_early)
{
    bool is_last =
        (head->kind == UDP_KIND_CHUNK) && (head->flags & UDP_FLAG_LAST);
    size_t           kept = is_last ? 0 : length - UDP_HEAD_BYTES;
    struct udp_chunk chunk;
    struct udp_held *held;

    if (!is_last && receive_acts_at_once(head->kind, head->flags)) {
        return receive_nothing();
    }
    held =
        is_early ? udp_share_hold(conn, kept) : udp_env_hold(conn->env, kept);
    if (held == NULL) {
        return NULL;
    }
    held->conn   = conn;
    held->kind   = head->kind;
    held->am_id  = head->am_id;
    held->flags  = head->flags;
    held->length = (uint32_t)kept;
    memcpy(held->bytes, bytes + UDP_HEAD_BYTES, kept);
    if (is_last) {
        udp_wire_get_chunk(bytes + UDP_HEAD_BYTES, &chunk);
        held->length = chunk.message;
    }
    return held;
}

/* What need not wait for its turn. @return false: it must come again. */
static bool receive_act(struct udp_conn *conn, const struct udp_head *head,
                        uint8_t *bytes, size_t length)
{
    switch (head->kind) {
    case UDP_KIND_AM:
        if (ucs_unlikely(head->flags & UDP_FLAG_BUNDLE)) {
            receive_bundle(conn, bytes + UDP_HEAD_BYTES,
                           length - UDP_HEAD_BYTES);
            return true;
        }
        receive_message(conn, head->am_id, NULL, bytes + UDP_HEAD_BYTES,
                        length - UDP_HEAD_BYTES);
        return true;
    case UDP_KIND_CHUNK:
        return receive_chunk(conn, head, bytes, length);
    default:
        return udp_rma_arrival(conn, head, bytes, length);
    }
}

static bool receive_early(struct udp_conn *conn, const struct udp_head *head,
                          uint8_t *bytes, size_t length)
{
    struct udp_held *rest = receive_rest(conn, head, bytes, length, true);

    udp_count(conn->env, UDP_COUNT_EARLY);
    if (rest == NULL) {
        return false;
    }
    if (!udp_share_place(conn, head->number) ||
        (receive_acts_at_once(head->kind, head->flags) &&
         (head->kind != UDP_KIND_AM) &&
         !receive_act(conn, head, bytes, length))) {
        if (rest != receive_nothing()) {
            udp_share_release(conn, rest);
            udp_env_unhold(rest);
        }
        return false;
    }
    udp_receive_keep(&conn->receive, head->number, rest);
    if ((head->kind == UDP_KIND_AM) && (head->flags & UDP_FLAG_ANY_ORDER)) {
        (void)receive_act(conn, head, bytes, length);
    }
    return true;
}

static bool receive_next(struct udp_conn *conn, const struct udp_head *head,
                         uint8_t *bytes, size_t length)
{
    struct udp_held *rest = NULL;

    if (ucs_likely(head->kind == UDP_KIND_AM)) {
        udp_receive_take(&conn->receive);
        (void)receive_act(conn, head, bytes, length);
        return true;
    }
    if ((head->kind == UDP_KIND_FIN) ||
        ((head->kind == UDP_KIND_CHUNK) && (head->flags & UDP_FLAG_LAST))) {
        rest = receive_rest(conn, head, bytes, length, false);
        if (rest == NULL) {
            return false; /* before anything was done: it may come again */
        }
    }
    if (receive_acts_at_once(head->kind, head->flags) &&
        !receive_act(conn, head, bytes, length)) {
        if (rest != NULL) {
            udp_env_unhold(rest);
        }
        return false;
    }
    udp_receive_take(&conn->receive);
    if (rest != NULL) {
        receive_turn(conn, rest);
    }
    return true;
}

/* Nothing overtakes the first message of an endpoint (docs/adr/0026). */
static struct udp_head receive_in_order(const struct udp_head *head)
{
    struct udp_head in_order = *head;

    in_order.flags &= (uint8_t)~UDP_FLAG_ANY_ORDER;
    return in_order;
}

/* Get on the list of those who owe an acknowledgement: at its head if it
 * cannot wait. */
static void receive_owe(struct udp_conn *conn)
{
    struct udp_env *env       = conn->env;
    bool            is_urgent = udp_receive_deadline_ns(&conn->receive) == 0;

    if (conn->is_owing && !is_urgent) {
        return;
    }
    if (conn->is_owing) {
        ucs_list_remove(&conn->owing_link);
    }
    conn->is_owing = true;
    if (is_urgent) {
        ucs_list_add_head(&env->owing, &conn->owing_link);
    } else {
        ucs_list_add_tail(&env->owing, &conn->owing_link);
    }
}

void udp_conn_arrival(struct udp_conn *conn, const struct udp_head *from,
                      uint8_t *bytes, size_t length)
{
    const struct udp_head  in_order = receive_in_order(from);
    const struct udp_head *head     = conn->has_first ? from : &in_order;
    enum udp_arrival arrival = udp_receive_look(&conn->receive, head->number);
    bool             is_kept = true;

    if ((arrival == UDP_ARRIVAL_BEYOND) ||
        ((arrival != UDP_ARRIVAL_OLD) &&
         !conn->env->ops->has_room(conn->env, length))) {
        udp_count(conn->env, UDP_COUNT_NO_ROOM);
        conn->was_shut = true;
        return;
    }
    if (arrival == UDP_ARRIVAL_OLD) {
        udp_count(conn->env, UDP_COUNT_DUPLICATES);
    }
    /* Before a handler runs: what it sends tells that this one came. */
    udp_receive_note(&conn->receive, head, arrival, conn->env->now_ns);
    if (arrival == UDP_ARRIVAL_NEXT) {
        is_kept = receive_next(conn, head, bytes, length);
        if (is_kept && (conn->receive.early_count > 0)) {
            receive_freed(conn);
        }
    } else if (arrival == UDP_ARRIVAL_EARLY) {
        is_kept = receive_early(conn, head, bytes, length);
    }
    if (!is_kept) {
        udp_count(conn->env, UDP_COUNT_NO_ROOM);
    }
    if ((conn->receive.owed_count > 0) || conn->receive.is_urgent) {
        receive_owe(conn);
    }
}
