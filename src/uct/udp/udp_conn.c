/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_conn.c - joins the parts of a connection: packets, timers,
 * failure. */
#include "uct/udp/udp_conn.h"

#include "ucs/assert.h"
#include "ucs/clock.h"
#include "uct/udp/udp_bundle.h"
#include "uct/udp/udp_conn_parts.h"
#include "uct/udp/udp_detour.h"
#include "uct/udp/udp_share.h"

static void conn_timer(struct ucs_timer *timer, uint64_t now_ns);

void udp_conn_init(struct udp_conn *conn, struct udp_env *env, uint32_t id)
{
    *conn = (struct udp_conn){.env = env, .id = id, .state = UDP_CONN_NEW};
    udp_send_init(&conn->send, 0);
    udp_receive_init(&conn->receive, 0);
    udp_rtt_init(&conn->rtt);
    udp_mtu_init(&conn->mtu, env->largest_bytes, UINT64_MAX);
    udp_cc_init(&conn->cc, env->congestion, env->congestion_bytes, env->now_ns);
    ucs_queue_init(&conn->fragments);
    ucs_queue_init(&conn->finished);
    ucs_queue_init(&conn->flushes);
    ucs_queue_init(&conn->canceled);
    ucs_list_init(&conn->operations);
    ucs_list_init(&conn->reassemblies);
    ucs_timer_init(&conn->timer, conn_timer);
    conn->probe_ns  = UINT64_MAX;
    conn->retry_ns  = UINT64_MAX;
    conn->linger_ns = UINT64_MAX;
}

/* Leave the queues of the environment. */
static void conn_leave(struct udp_conn *conn)
{
    if (conn->is_busy) {
        ucs_list_remove(&conn->busy_link);
        conn->is_busy = false;
    }
    if (conn->is_owing) {
        ucs_list_remove(&conn->owing_link);
        conn->is_owing = false;
    }
    udp_connect_answered(conn); /* or never */
    udp_connect_ended(conn);
    ucsi_timer_stop(&conn->env->timers, &conn->timer);
    udp_bundle_drop(conn);
    if (conn->env->deferred == conn) {
        conn->env->deferred = NULL;
    }
}

/* Take all segments back. */
static void conn_drop_segments(struct udp_conn *conn)
{
    struct udp_segment *segment, *next;
    struct ucs_list     all;

    ucs_list_init(&all);
    if (conn->send.ring != NULL) {
        udp_send_drain(&conn->send, &all);
        ucs_mpool_put(udp_send_return(&conn->send));
    }
    ucs_list_for_each_safe (segment, next, &all, link) {
        /* Where nobody waits any more, the last segment frees it. */
        if ((segment->fragment != NULL) && segment->fragment->is_sent &&
            (--segment->fragment->open_count == 0)) {
            udp_fragment_free(segment->fragment);
        }
        if (segment->room != UCS_HOTEL_NO_ROOM) {
            (void)ucsi_hotel_checkout(&conn->env->hotel, segment->room);
        }
        ucs_mpool_put(segment);
    }
}

static void conn_drop_queue(struct ucs_queue *queue)
{
    struct ucs_queue_elem *elem;

    while ((elem = ucs_queue_pull(queue)) != NULL) {
        udp_fragment_free(ucs_container_of(elem, struct udp_fragment, queue));
    }
}

void udp_conn_cleanup(struct udp_conn *conn)
{
    conn_leave(conn);
    conn_drop_segments(conn);
    udp_conn_forget_received(conn);
    udp_conn_forget_crypt(conn);
    if (conn->pieces != NULL) {
        udp_share_release(conn, conn->pieces);
        udp_env_unhold(conn->pieces);
    }
    conn_drop_queue(&conn->fragments);
    conn_drop_queue(&conn->flushes);
    conn_drop_queue(&conn->finished);
    conn->env->shares[UDP_SHARE_ANSWER] -= conn->shares[UDP_SHARE_ANSWER];
}

void udp_conn_notify(struct udp_conn *conn)
{
    if (!conn->needs_notify) {
        conn->needs_notify = true;
        conn->env->ops->notify(conn->env, conn);
    }
}

static void conn_fail_queue(struct ucs_queue *queue, ucs_status_t status)
{
    struct ucs_queue_elem *elem;

    while ((elem = ucs_queue_pull(queue)) != NULL) {
        udp_conn_finish(ucs_container_of(elem, struct udp_fragment, queue),
                        status);
    }
}

/* Fragments whose segments are on their way are on no queue: the segments
 * lead to them. */
static void conn_fail_sent(struct udp_conn *conn, ucs_status_t status)
{
    struct udp_segment *segment;
    uint32_t            number;

    if (conn->send.ring == NULL) {
        return;
    }
    for (number = conn->send.first; number != conn->send.next; ++number) {
        segment = *udp_send_slot(&conn->send, number);
        if ((segment != NULL) && (segment->fragment != NULL)) {
            struct udp_fragment *fragment = segment->fragment;

            segment->fragment = NULL; /* it ends here, or with its queue */
            if (fragment->is_sent && (--fragment->open_count == 0) &&
                !fragment->waits_answer) {
                udp_conn_finish(fragment, status);
            }
        }
    }
}

void udp_conn_fail(struct udp_conn *conn, ucs_status_t status)
{
    struct udp_fragment *fragment, *next;

    if (conn->state == UDP_CONN_FAILED) {
        return;
    }
    conn->state  = UDP_CONN_FAILED;
    conn->status = status;
    conn_leave(conn);
    conn_fail_sent(conn, status);
    conn_fail_queue(&conn->flushes, status); /* they count as sent, too */
    ucs_list_for_each_safe (fragment, next, &conn->operations, link) {
        if (fragment->is_sent) {
            udp_conn_finish(fragment, status);
        }
    }
    conn_fail_queue(&conn->fragments, status);
    conn_drop_segments(conn);
    udp_conn_notify(conn);
}

/* Nothing was heard of the segment for its time. */
void udp_conn_timed_out(struct udp_conn *conn, struct udp_segment *segment)
{
    struct udp_env *env = conn->env;

    segment->room = UCS_HOTEL_NO_ROOM;
    if (segment->state != UDP_SEGMENT_SENT) {
        return;
    }
    udp_count(env, UDP_COUNT_TIMEOUTS);
    /* One step back for a burst that was lost together. */
    if (segment->number == conn->send.first) {
        udp_rtt_timed_out(&conn->rtt);
        ++conn->timeout_count;
        udp_detour_timed_out(conn);
        conn->cc.ops->timed_out(&conn->cc, env->now_ns);
    }
    if ((conn->timeout_count > 3) &&
        (udp_segment_bytes(segment) > UDP_PACKET_BYTES_MIN) &&
        (conn->mtu.good_bytes > UDP_PACKET_BYTES_MIN)) {
        udp_mtu_black_hole(&conn->mtu, env->now_ns);
        conn->cc.segment_bytes = conn->mtu.good_bytes;
    }
    udp_send_lose(&conn->send, segment);
    udp_conn_make_busy(conn);
}

/* Heard from the peer. */
static void conn_heard(struct udp_conn *conn)
{
    conn->heard_ns     = conn->env->now_ns;
    conn->pinged_count = 0;
}

static void conn_take_pong(struct udp_conn *conn, const uint8_t *bytes)
{
    struct udp_answer answer;

    /* The extension is half an answer: the PING's number and its length. */
    udp_wire_get_pong(bytes + UDP_HEAD_BYTES, &answer);
    if (udp_mtu_answered(&conn->mtu, answer.operation, conn->env->now_ns)) {
        conn->cc.segment_bytes = conn->mtu.good_bytes;
    }
}

static void conn_answer_ping(struct udp_conn *conn, const struct udp_head *head,
                             size_t length)
{
    uint8_t           bytes[UDP_HEAD_BYTES + 8];
    struct udp_answer answer   = {.operation = head->number,
                                  .status    = (int32_t)length};
    bool              is_taken = conn->detour.is_taken;

    udp_wire_put_pong(bytes + UDP_HEAD_BYTES, &answer);
    conn->detour.is_taken = (conn->env->came_by != NULL); /* as it came */
    (void)udp_conn_send_control(conn, bytes, UDP_KIND_PONG, 8, 8);
    conn->detour.is_taken = is_taken;
}

/* The peer says that it is over. */
static void conn_take_reset(struct udp_conn *conn, const uint8_t *bytes)
{
    struct udp_answer answer;

    udp_wire_get_pong(bytes + UDP_HEAD_BYTES, &answer);
    if (conn->state == UDP_CONN_CLOSED) {
        return;
    }
    if ((answer.status == UCS_OK) &&
        (answer.operation == conn->receive.expected)) {
        conn->has_peer_fin = true; /* we have all that it sent */
    }
    udp_conn_fail(conn, UCS_ERR_CONNECTION_RESET);
}

static void conn_outside_order(struct udp_conn       *conn,
                               const struct udp_head *head, uint8_t *bytes,
                               size_t length)
{
    switch (head->kind) {
    case UDP_KIND_PING:
        conn_answer_ping(conn, head, length);
        break;
    case UDP_KIND_PONG:
        conn_take_pong(conn, bytes);
        break;
    case UDP_KIND_PIECE:
        udp_pieces_take(conn, bytes, length);
        break;
    case UDP_KIND_RESET:
        conn_take_reset(conn, bytes);
        break;
    default: /* ACK: its head has said all */
        break;
    }
}

/* How much of the packet the tag covers: of an ACK or a bundle all of it. */
static size_t conn_covered_bytes(const struct udp_head *head, size_t length)
{
    return ((head->kind == UDP_KIND_ACK) || udp_head_is_bundle(head))
               ? length
               : UDP_HEAD_BYTES + udp_wire_extension_bytes(head->kind);
}

/* The first message of a poll is handed up before anything else is done; one
 * at a time (usnic's fast receive). */
static bool conn_may_defer(const struct udp_conn *conn,
                           const struct udp_head *head)
{
    return conn->env->may_defer && (conn->env->deferred == NULL) &&
           (head->kind == UDP_KIND_AM) &&
           (head->number == conn->receive.expected);
}

void udp_conn_packet(struct udp_conn *conn, const struct udp_head *head,
                     uint8_t *bytes, size_t length)
{
    if (head->kind >= UDP_KIND_HELLO) {
        udp_connect_packet(conn, head, bytes, length);
        return;
    }
    if ((conn->state != UDP_CONN_OPEN) && (conn->state != UDP_CONN_CLOSED)) {
        return; /* it will come again */
    }
    if (ucs_unlikely(conn->crypt != NULL) &&
        !udp_conn_decrypt(conn, head, bytes, &length)) {
        return;
    }
    udp_conn_take(conn, head, bytes, length);
}

void udp_conn_take(struct udp_conn *conn, const struct udp_head *head,
                   uint8_t *bytes, size_t length)
{
    struct udp_range ranges[UDP_RANGE_COUNT_MAX];
    unsigned         range_count = 0;

    if (!udp_seal_check(&conn->seal, bytes, conn_covered_bytes(head, length),
                        length)) {
        udp_count(conn->env, UDP_COUNT_BAD_TAG);
        return;
    }
    conn_heard(conn);
    if (ucs_unlikely(udp_detour_is_of_interest(conn))) {
        udp_detour_heard(conn, head->kind);
    }
    if (conn_may_defer(conn, head)) {
        conn->env->deferred      = conn;
        conn->env->deferred_head = *head;
        conn->env->deferred_ns   = conn->env->now_ns;
        udp_conn_arrival(conn, head, bytes, length);
        return;
    }
    udp_env_catch_up(conn->env);
    if (head->kind == UDP_KIND_ACK) {
        range_count = udp_wire_get_ranges(
            bytes + UDP_HEAD_BYTES, length - UDP_HEAD_BYTES, head->ack, ranges);
    }
    udp_conn_take_ack(conn, head, ranges, range_count);
    if (udp_kind_is_numbered(head->kind)) {
        udp_conn_arrival(conn, head, bytes, length);
    } else {
        conn_outside_order(conn, head, bytes, length);
    }
}

/* The last segment once more, if nothing came for two round trips. */
static void conn_probe(struct udp_conn *conn)
{
    struct udp_segment *last = udp_send_last(&conn->send);

    if (conn->env->now_ns < conn->probe_ns) {
        return;
    }
    conn->probe_ns = UINT64_MAX;
    if ((last != NULL) && !conn->is_probed) {
        conn->is_probed = true;
        udp_count(conn->env, UDP_COUNT_PROBES);
        udp_conn_resend(conn, last);
    }
}

/* Does a segment wait that goes in pieces? All of them must arrive together; a
 * long packet before them would take their place in a short queue, each time
 * anew. */
static bool conn_has_pieces(const struct udp_conn *conn)
{
    const struct ucs_list *lost = &conn->send.lost;

    return !ucs_list_is_empty(lost) &&
           (udp_segment_bytes(ucs_list_first(lost, struct udp_segment, link)) >
            conn->mtu.good_bytes);
}

/* Longer packets, if the path carries them. */
static void conn_search_path(struct udp_conn *conn)
{
    struct udp_env *env = conn->env;
    uint32_t        bytes;

    if (conn->state != UDP_CONN_OPEN) {
        return;
    }
    if (conn_has_pieces(conn)) {
        conn->mtu.due_ns =
            ucs_max(conn->mtu.due_ns, env->now_ns + UDP_PROBE_MIN_NS);
        return;
    }
    bytes = udp_mtu_step(&conn->mtu, env->now_ns);
    if (bytes != 0) {
        udp_mtu_sent(&conn->mtu, conn->number, env->now_ns,
                     udp_rtt_timeout_ns(&conn->rtt) * 2);
        env->is_too_long = false;
        udp_conn_send_ping(conn, bytes);
        if (env->is_too_long) {
            udp_mtu_refused(&conn->mtu, env->now_ns);
        }
    }
}

static void conn_timer(struct ucs_timer *timer, uint64_t now_ns)
{
    struct udp_conn *conn = ucs_container_of(timer, struct udp_conn, timer);

    (void)now_ns;
    udp_connect_step(conn);
    if (conn->state == UDP_CONN_OPEN) {
        udp_detour_step(conn);
        conn_probe(conn);
        conn_search_path(conn);
        if (conn->pace_ns <= conn->env->now_ns) {
            udp_conn_make_busy(conn); /* with its credit, in this turn */
        }
    }
    udp_conn_rearm(conn);
}

void udp_conn_rearm(struct udp_conn *conn)
{
    uint64_t deadline_ns = udp_connect_deadline_ns(conn);

    if (conn->state == UDP_CONN_OPEN) {
        deadline_ns = ucs_min(deadline_ns, conn->probe_ns);
        deadline_ns = ucs_min(deadline_ns, udp_mtu_deadline_ns(&conn->mtu));
        deadline_ns = ucs_min(deadline_ns, udp_detour_deadline_ns(conn));
        if (conn->pace_ns > conn->env->now_ns) {
            deadline_ns = ucs_min(deadline_ns, conn->pace_ns);
        }
    }
    if (deadline_ns == UINT64_MAX) {
        return; /* what is started fires, and finds nothing */
    }
    if (!ucs_timer_is_started(&conn->timer) ||
        (deadline_ns < conn->timer.deadline_ns)) {
        ucsi_timer_start(&conn->env->timers, &conn->timer, deadline_ns);
    }
}
