/* SPDX-License-Identifier: BSD-3-Clause */
/* udp_duel_ends.c - what the two ends send, and what they check when it
 * arrives. A message is its number, then a pattern that follows from it. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/udp_duel.h"

enum { ENDS_ANY_BIT = 63, ENDS_WORD_BYTES = 8 };

static struct duel_end *ends_of(struct udp_env *env)
{
    return ucs_container_of(udp_iface_of_env(env), struct duel_end, iface);
}

static size_t ends_transmit(struct udp_env *env, struct udp_out *out)
{
    uint8_t  all[UDP_IO_OUT_BYTES_MAX];
    size_t   bytes = 0, offset, part;
    unsigned index;

    for (index = 0; index < out->iov_count; ++index) {
        duel_check(bytes + out->iov[index].iov_len <= sizeof(all),
                   "more is sent than a socket takes");
        memcpy(all + bytes, out->iov[index].iov_base, out->iov[index].iov_len);
        bytes += out->iov[index].iov_len;
    }
    for (offset = 0; offset < bytes; offset += part) {
        part = (out->segment_bytes == 0)
                   ? bytes
                   : ucs_min(out->segment_bytes, bytes - offset);
        duel_put(ends_of(env), out->to, all + offset, part);
    }
    return bytes;
}

static bool ends_has_room(struct udp_env *env, size_t length)
{
    (void)length;
    return !ends_of(env)->is_full;
}

/* ------------------------------------------------------------ messages */

static uint8_t ends_byte(uint64_t number, size_t index)
{
    return (uint8_t)(number * 31 + index * 7 + (index >> 8));
}

static void ends_fill(uint8_t *bytes, uint64_t number, size_t length)
{
    size_t index;

    memcpy(bytes, &number, sizeof(number));
    for (index = sizeof(number); index < length; ++index) {
        bytes[index] = ends_byte(number, index);
    }
}

static void ends_check_message(struct duel_end *end, const uint8_t *data,
                               size_t length)
{
    uint64_t number, index;

    duel_check(length >= sizeof(number), "a message that nobody sent");
    memcpy(&number, data, sizeof(number));
    for (index = sizeof(number); index < length; ++index) {
        duel_check(data[index] == ends_byte(number, index),
                   "a message came changed");
    }
    if ((number >> ENDS_ANY_BIT) == 0) {
        duel_check(number == end->expected, "lost, double or out of order");
        ++end->expected;
        return;
    }
    index = number & ~(1ull << ENDS_ANY_BIT);
    duel_check((index < DUEL_MESSAGE_COUNT_MAX) && !end->has_come[index],
               "a message of any order came twice");
    end->has_come[index] = 1;
    ++end->any_count;
}

static void ends_message(struct udp_env *env, struct udp_conn *conn,
                         unsigned am_id, struct udp_held *held, uint8_t *data,
                         size_t length)
{
    static uint8_t   sink[UDP_MESSAGE_BYTES + UDP_HEADER_BYTES];
    struct duel_end *end = ends_of(env);

    duel_check(!conn->is_source_ended, "a message behind the last one");
    duel_check(length <= sizeof(sink), "a message longer than any");
    memcpy(sink, data, length); /* it can be read */
    if (!end->duel->is_lied_to) {
        duel_check(am_id == DUEL_AM_ID, "another id");
        ends_check_message(end, data, length);
    }
    if (held != NULL) {
        udp_env_unhold(held);
    }
}

static void ends_notify(struct udp_env *env, struct udp_conn *conn)
{
    (void)env;
    (void)conn; /* duel_collect() looks at all */
}

static void *ends_region_enter(struct udp_env          *env,
                               const struct udp_access *access, size_t length,
                               unsigned right)
{
    (void)right;
    if ((access->key != DUEL_REGION_KEY) ||
        (access->address > DUEL_REGION_BYTES) ||
        (length > DUEL_REGION_BYTES - access->address)) {
        return NULL;
    }
    return ends_of(env)->region + access->address;
}

static void ends_region_leave(struct udp_env *env)
{
    (void)env;
}

const struct udp_env_ops duel_ops = {
    .transmit     = ends_transmit,
    .has_room     = ends_has_room,
    .message      = ends_message,
    .notify       = ends_notify,
    .region_enter = ends_region_enter,
    .region_leave = ends_region_leave,
};

static void ends_check_failure(const struct duel_end *end,
                               const struct udp_conn *conn)
{
    const struct udp_env *env       = &end->iface.env;
    uint64_t              silent_ns = env->now_ns - conn->heard_ns;

    if (end->duel->is_lied_to || (conn->status == UCS_ERR_CANCELED) ||
        (end->duel->gave_up && (conn->status == UCS_ERR_CONNECTION_RESET))) {
        return;
    }
    duel_check((conn->status == UCS_ERR_ENDPOINT_TIMEOUT) ||
                   (conn->status == UCS_ERR_UNREACHABLE),
               "a connection fails for no reason");
    duel_check(silent_ns >= env->bound_ns,
               "a connection fails before its bound");
    end->duel->gave_up = true;
}

/* Everything a liar can make us keep is bounded. */
static void ends_check_bounds(const struct udp_conn *conn)
{
    duel_check(conn->shares[UDP_SHARE_ANSWER] <= UDP_ANSWER_COUNT_MAX,
               "answers without bound");
    duel_check(conn->fragment_count <=
                   UDP_FRAGMENT_COUNT_MAX + UDP_ANSWER_COUNT_MAX + 1,
               "fragments without bound");
    duel_check(conn->send.next - conn->send.first <= UDP_WINDOW_COUNT,
               "a window without bound");
}

static void ends_finished(struct duel_end *end, struct udp_conn *conn)
{
    struct ucs_queue_elem *elem;
    struct udp_fragment   *fragment;

    while ((elem = ucs_queue_pull(&conn->finished)) != NULL) {
        fragment = ucs_container_of(elem, struct udp_fragment, queue);
        ++end->finished;
        end->answered +=
            (fragment->kind == UDP_KIND_ATOMIC) && (fragment->status == UCS_OK);
        udp_fragment_free(fragment);
    }
}

void duel_collect(struct duel_end *end)
{
    struct udp_conn *conn, *next;

    ucs_list_for_each_safe (conn, next, &end->iface.all, link) {
        ends_check_bounds(conn);
        ends_finished(end, conn);
        conn->needs_notify = false;
        conn->is_source_ended |= conn->has_peer_fin;
        if (conn->state == UDP_CONN_FAILED) {
            ends_check_failure(end, conn);
            conn->is_over = true;
        }
        if (conn->is_over && (conn->user == NULL)) {
            /* Who closed takes back what was not answered. */
            udp_conn_fail(conn, UCS_ERR_CANCELED);
            ends_finished(end, conn);
            conn->needs_notify = false;
            udp_peers_free(&end->iface, conn);
        }
    }
}

/* ------------------------------------------------------------- sending */

void duel_send(struct duel *duel, unsigned index, size_t length, bool any_order)
{
    struct duel_end    *end  = &duel->ends[index];
    struct udp_conn    *conn = duel_conn(duel, index);
    struct udp_segment *segment;
    uint64_t            number;
    size_t              room;

    if ((conn == NULL) || !udp_conn_may_send(conn) || conn->is_fin_queued ||
        (end->any_next == DUEL_MESSAGE_COUNT_MAX)) {
        return;
    }
    room    = udp_conn_payload_bytes(conn, UDP_KIND_AM);
    room    = ucs_min(room, (size_t)UDP_BCOPY_BYTES_MAX);
    length  = sizeof(number) + length % (room - sizeof(number));
    segment = udp_env_segment(conn->env, UDP_HEAD_BYTES + length);
    if (segment == NULL) {
        return;
    }
    number = any_order ? (1ull << ENDS_ANY_BIT) | end->any_next++ : end->next++;
    ends_fill(segment->bytes + UDP_HEAD_BYTES, number, length);
    udp_conn_send_am(conn, segment, DUEL_AM_ID,
                     any_order ? UDP_FLAG_ANY_ORDER : 0, length);
}

/* A fragment with memory of its own. */
static struct udp_fragment *ends_fragment(struct duel *duel, unsigned index,
                                          unsigned kind, size_t length)
{
    struct udp_conn     *conn = duel_conn(duel, index);
    struct udp_fragment *fragment;

    if ((conn == NULL) || !udp_conn_is_open(conn) || conn->is_fin_queued ||
        (conn->fragment_count >= UDP_FRAGMENT_COUNT_MAX)) {
        return NULL;
    }
    fragment = udp_fragment_new(conn, kind);
    duel_check(fragment != NULL, "no memory");
    fragment->copy = malloc(length);
    duel_check(fragment->copy != NULL, "no memory");
    memset(fragment->copy, 0x5a, length);
    fragment->total     = (uint32_t)length;
    fragment->am_id     = DUEL_AM_ID;
    fragment->iov[0]    = (struct iovec){fragment->copy, length};
    fragment->iov_count = 1;
    fragment->req       = &fragment->own;
    ucs_list_add_tail(&conn->operations, &fragment->link);
    ++duel->ends[index].asked;
    return fragment;
}

void duel_send_long(struct duel *duel, unsigned index, size_t length)
{
    struct udp_fragment *fragment;

    length   = ENDS_WORD_BYTES + length % (UDP_MESSAGE_BYTES - ENDS_WORD_BYTES);
    fragment = ends_fragment(duel, index, UDP_KIND_CHUNK, length);
    if (fragment != NULL) {
        ends_fill(fragment->copy, duel->ends[index].next++, length);
        fragment->message = fragment->conn->message++;
        udp_conn_queue(fragment->conn, fragment);
    }
}

void duel_access(struct duel *duel, unsigned index, struct tape *tape)
{
    static const uint8_t kinds[] = {UDP_KIND_PUT, UDP_KIND_GET,
                                    UDP_KIND_ATOMIC};
    unsigned             kind    = kinds[tape_u8(tape) % 3];
    uint64_t             address = ENDS_WORD_BYTES + tape_u16(tape) % 3000;
    size_t               length  = 1 + tape_u16(tape) % 1000;
    struct udp_fragment *fragment;

    if (kind == UDP_KIND_ATOMIC) {
        length  = ENDS_WORD_BYTES;
        address = 0;
    }
    fragment = ends_fragment(duel, index, kind, length);
    if (fragment == NULL) {
        return;
    }
    fragment->key       = DUEL_REGION_KEY + (tape_u8(tape) == 1);
    fragment->address   = address;
    fragment->operation = ++fragment->conn->operation;
    if (kind == UDP_KIND_ATOMIC) {
        fragment->word = (struct udp_word){
            .operand = 1, .op = UCT_ATOMIC_ADD, .size_bytes = ENDS_WORD_BYTES};
        fragment->result = fragment->copy;
        duel->ends[index].atomics += (fragment->key == DUEL_REGION_KEY);
    }
    if (kind != UDP_KIND_PUT) {
        fragment->waits_answer = true;
        ++fragment->conn->operation_count;
    }
    udp_conn_queue(fragment->conn, fragment);
}
