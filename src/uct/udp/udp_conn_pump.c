/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_conn_pump.c - what goes next: lost segments first, then the
 * queue, as far as window, congestion control and pace allow; and what
 * acknowledgements set free. */
#include "uct/udp/udp_bundle.h"
#include "uct/udp/udp_conn_parts.h"

#include "ucs/clock.h"
#include "uct/udp/udp_seq.h"

/* Timers are not that exact: send so much ahead. */
enum { SEND_PACE_AHEAD_NS = 50 * 1000 };

static bool send_is_paced(const struct udp_conn *conn)
{
    return conn->pace_ns > conn->env->now_ns + SEND_PACE_AHEAD_NS;
}

static size_t send_lost(struct udp_conn *conn, size_t credit_bytes)
{
    size_t bytes = 0, part = 1;

    while (!ucs_list_is_empty(&conn->send.lost) && (bytes < credit_bytes) &&
           (part > 0) && udp_env_may_send(conn->env) &&
           (udp_conn_may_crowd(conn) || (conn->send.flight_count == 0))) {
        part = udp_fragment_resend(conn);
        bytes += part;
    }
    return bytes;
}

/* Flushes whose number everything before has arrived. */
static void send_end_flushes(struct udp_conn *conn)
{
    struct ucs_queue_elem *elem;
    struct udp_fragment   *fragment;

    while ((elem = ucs_queue_head(&conn->flushes)) != NULL) {
        fragment = ucs_container_of(elem, struct udp_fragment, queue);
        if (udp_seq_is_before(conn->send.first, fragment->flush_number)) {
            return;
        }
        (void)ucs_queue_pull(&conn->flushes);
        udp_conn_finish(fragment, UCS_OK);
    }
}

static struct udp_fragment *send_head(struct udp_conn *conn)
{
    struct ucs_queue_elem *elem = ucs_queue_head(&conn->fragments);

    return (elem == NULL) ? NULL
                          : ucs_container_of(elem, struct udp_fragment, queue);
}

/* What the peer waits for without knowing it goes although the path is full. */
static size_t send_refusal(struct udp_conn *conn)
{
    struct udp_fragment *fragment;
    size_t               bytes = 0, part = 1;

    while (((fragment = send_head(conn)) != NULL) && (part > 0) &&
           udp_fragment_refuses(fragment) && udp_env_may_send(conn->env) &&
           udp_send_is_open(&conn->send, 0)) {
        part = udp_fragment_send(conn, fragment);
        bytes += part;
    }
    return bytes;
}

/* Lost segments go in order; the puts that wait for a refusal are before it. */
static size_t send_lost_refusal(struct udp_conn *conn)
{
    struct udp_segment *segment;

    if ((conn->refusal == NULL) || !udp_env_may_send(conn->env) ||
        (!udp_conn_may_crowd(conn) && (conn->send.flight_count > 0))) {
        return 0;
    }
    ucs_list_for_each (segment, &conn->send.lost, link) {
        if ((segment->fragment != NULL) &&
            udp_fragment_refuses(segment->fragment)) {
            size_t bytes = udp_segment_bytes(segment);

            return udp_conn_resend(conn, segment) ? bytes : 0;
        }
    }
    return 0;
}

size_t udp_conn_pump(struct udp_conn *conn, size_t credit_bytes)
{
    size_t               bytes, part;
    struct udp_fragment *fragment;

    if (conn->state != UDP_CONN_OPEN) {
        return 0;
    }
    udp_bundle_go(conn);
    bytes = send_refusal(conn) + send_lost_refusal(conn);
    bytes += send_lost(conn, credit_bytes);
    while (((fragment = send_head(conn)) != NULL) && (bytes < credit_bytes)) {
        if (fragment->kind == UDP_FRAGMENT_FLUSH) {
            udp_fragment_is_sent(conn, fragment);
            continue;
        }
        if (!udp_conn_has_window(conn) || send_is_paced(conn)) {
            break;
        }
        part = udp_fragment_send(conn, fragment);
        bytes += part;
        if (part == 0) {
            break;
        }
    }
    send_end_flushes(conn);
    if (bytes > 0) {
        udp_conn_start_probe(conn);
    }
    if ((conn->env->is_blocked || (bytes >= credit_bytes)) &&
        ((send_head(conn) != NULL) || !ucs_list_is_empty(&conn->send.lost))) {
        udp_conn_make_busy(conn); /* another turn */
    } else if (send_is_paced(conn) && (send_head(conn) != NULL)) {
        udp_conn_rearm(conn);
    }
    return bytes;
}

void udp_conn_queue(struct udp_conn *conn, struct udp_fragment *fragment)
{
    ucs_queue_push(&conn->fragments, &fragment->queue);
    ++conn->fragment_count;
    (void)udp_conn_pump(conn, UDP_CREDIT_BYTES);
    udp_conn_make_busy(conn);
}

void udp_conn_queue_answer(struct udp_conn *conn, struct udp_fragment *answer)
{
    ucs_queue_push(&conn->fragments, &answer->queue);
    ++conn->fragment_count;
    udp_conn_make_busy(conn);
}

void udp_conn_queue_refusal(struct udp_conn *conn, struct udp_fragment *refusal)
{
    conn->refusal = refusal;
    ucs_queue_push_head(&conn->fragments, &refusal->queue);
    ++conn->fragment_count;
    udp_conn_make_busy(conn);
}

/* --------------------------------------------------- acknowledgements */

/* A segment arrived: its fragment may be through. */
static void send_arrived(struct udp_conn *conn, struct udp_segment *segment)
{
    struct udp_fragment *fragment = segment->fragment;

    if (segment->room != UCS_HOTEL_NO_ROOM) {
        (void)ucsi_hotel_checkout(&conn->env->hotel, segment->room);
    }
    ucs_mpool_put(segment);
    if ((fragment != NULL) && (--fragment->open_count == 0) &&
        fragment->is_sent && !fragment->waits_answer) {
        udp_conn_finish(fragment, (ucs_status_t)fragment->status);
    }
}

/* What the segment that arrived last says about the path. */
static void send_measure(struct udp_conn *conn, struct udp_segment *segment,
                         const struct udp_head *head,
                         struct udp_cc_sample  *sample)
{
    uint64_t now_ns   = conn->env->now_ns;
    uint64_t delay_ns = (uint64_t)head->delay_us * UCS_NS_PER_US;

    sample->prior_bytes    = segment->delivered_bytes;
    sample->is_app_limited = segment->is_app_limited;
    sample->interval_ns    = now_ns - segment->delivered_ns;
    sample->delivered_bytes =
        conn->send.delivered_bytes - segment->delivered_bytes;
    udp_send_reached(&conn->send, segment);
    udp_rtt_sample(&conn->rtt, now_ns - segment->sent_ns, delay_ns);
    sample->rtt_ns = conn->rtt.latest_ns;
}

/* Its first sending arrived although it was sent again meanwhile: the path is
 * slower than was thought. Without this sample nobody would ever learn that,
 * and a slow path fill with what was sent again too early. */
static void send_measure_first(struct udp_conn          *conn,
                               const struct udp_segment *segment,
                               const struct udp_head    *head,
                               struct udp_cc_sample     *sample)
{
    udp_rtt_sample(&conn->rtt, conn->env->now_ns - segment->first_ns,
                   (uint64_t)head->delay_us * UCS_NS_PER_US);
    sample->rtt_ns = conn->rtt.latest_ns;
}

/* Those that arrived leave; @return what they tell. */
static void send_take_out(struct udp_conn *conn, struct ucs_list *acked,
                          const struct udp_head *head)
{
    struct udp_cc_sample sample = {.now_ns = conn->env->now_ns};
    uint32_t             newest = udp_seq_widen(head->ack, head->newest);
    struct udp_segment  *segment, *next;
    size_t               lost_bytes;

    ucs_list_for_each_safe (segment, next, acked, link) {
        sample.acked_bytes += udp_segment_bytes(segment);
        if (segment->number != newest) {
            /* It says nothing about time. */
        } else if (segment->attempt == head->newest_attempt) {
            send_measure(conn, segment, head, &sample);
        } else if (head->newest_attempt == 0) {
            send_measure_first(conn, segment, head, &sample);
        }
        send_arrived(conn, segment);
    }
    lost_bytes =
        udp_send_find_lost(&conn->send, udp_rtt_patience_ns(&conn->rtt));
    if (lost_bytes > 0) {
        conn->cc.ops->lost(&conn->cc, lost_bytes, conn->env->now_ns);
    }
    conn->send.delivered_ns = conn->env->now_ns;
    sample.total_bytes      = conn->send.delivered_bytes;
    sample.flight_bytes     = conn->send.flight_bytes;
    conn->cc.ops->acked(&conn->cc, &sample);
}

/* What was sent while the rate was thought to be lower is not waited for
 * longer than what is in flight takes at the rate that is known now. */
static void send_forgive_pace(struct udp_conn *conn)
{
    uint64_t debt_ns = udp_cc_pace_ns(&conn->cc, conn->send.flight_bytes +
                                                     conn->cc.segment_bytes);

    conn->pace_ns = ucs_min(conn->pace_ns, conn->env->now_ns + debt_ns);
}

void udp_conn_take_ack(struct udp_conn *conn, const struct udp_head *head,
                       const struct udp_range *ranges, unsigned range_count)
{
    struct ucs_list acked;
    unsigned        index, count;

    if (udp_seq_is_before(conn->send.next, head->ack)) {
        udp_count(conn->env, UDP_COUNT_BAD_PACKET);
        return;
    }
    udp_send_allow(&conn->send, head->ack + head->window);
    ucs_list_init(&acked);
    count = udp_send_ack(&conn->send, conn->send.first, head->ack, &acked);
    for (index = 0; index < range_count; ++index) {
        count += udp_send_ack(&conn->send, ranges[index].first,
                              ranges[index].end, &acked);
    }
    if (count > 0) {
        udp_rtt_arrived(&conn->rtt);
        conn->timeout_count = 0;
        conn->is_probed     = false;
        send_take_out(conn, &acked, head);
        send_forgive_pace(conn);
        conn->probe_ns = UINT64_MAX;
        if (!udp_send_is_idle(&conn->send)) {
            udp_conn_start_probe(conn);
        } else if (conn->send.ring != NULL) {
            ucs_mpool_put(udp_send_return(&conn->send));
        }
    }
    send_end_flushes(conn);
    if (conn->is_fin_acked) {
        udp_connect_closed(conn);
    }
    if ((send_head(conn) != NULL) || !ucs_list_is_empty(&conn->send.lost)) {
        udp_conn_make_busy(conn);
    }
}
