/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_conn.h - one connection: both directions between one endpoint
 * here and one there.
 *
 *   fragments --pump--> segments --window--> packets --> transmit
 *                         ^ lost, timed out
 *   packets --> arrival --> early ring --> in order --> message
 *                     '--> chunk --> reassembly      '--> notify: it ends
 *
 *   state:  NEW --connect--> HELLO --> CONNECT --> OPEN --> CLOSED
 *                            either end gives up: FAILED
 *
 * A side that has no endpoint on the connection only receives, answers and
 * acknowledges; an endpoint created later to that peer adopts it. Each
 * direction ends with a FIN; when both have, the connection is CLOSED and
 * lingers so that a FIN that comes again is acknowledged again.
 *
 * Pure: (event, env->now_ns) -> env->ops. The files: udp_conn.c joins the
 * parts, udp_conn_send.c and udp_conn_receive.c are the two directions,
 * udp_connect.c begins and ends, udp_rma.c is what touches regions. */
#ifndef UCT_UDP_CONN_H_
#define UCT_UDP_CONN_H_

#include "uct/udp/udp_detour.h"
#include "uct/udp/udp_env.h"
#include "uct/udp/udp_loss.h"
#include "uct/udp/udp_mtu.h"
#include "uct/udp/udp_seal.h"

enum udp_conn_limit {
    UDP_FRAGMENT_COUNT_MAX = 64,         /* queued by an endpoint */
    UDP_ANSWER_COUNT_MAX   = 256,        /* that a peer may ask for at a time */
    UDP_CREDIT_BYTES       = 256 * 1024, /* of a connection in each turn */
    UDP_CONN_PING_URGENT   = 2, /* unanswered PINGs until they come quickly */
};

enum udp_conn_state {
    UDP_CONN_NEW,
    UDP_CONN_HELLO,   /* asked, waits for a cookie */
    UDP_CONN_CONNECT, /* showed the cookie, waits to be accepted */
    UDP_CONN_OPEN,
    UDP_CONN_CLOSED,
    UDP_CONN_FAILED,
};

/* What the layer above wants moved and that does not go inside the call.
 * queue       of the connection, until all of it was sent; then `finished`
 * req         the caller's, or own
 * buffer      its bytes, ours; NULL: they are in iov
 * sent        bytes that are in segments
 * open_count  segments not acknowledged
 * is_sent     all of it is in segments
 * got         of GET: bytes that came */
struct udp_fragment {
    struct ucs_queue_elem queue;
    struct ucs_list       link; /* conn->operations */
    struct udp_conn      *conn;
    struct uct_req       *req;
    struct uct_req        own;
    struct udp_held      *buffer;
    uint8_t              *copy;   /* from the heap, when its owner went */
    void                 *result; /* of an atomic */
    uint64_t              key, address;
    struct udp_word       word;
    uint32_t              total, sent, got;
    uint32_t              open_count;
    uint32_t              message, operation;
    uint32_t              flush_number;
    int32_t               status;
    uint8_t               kind, am_id, flags, iov_count;
    bool                  is_sent, waits_answer;
    uint16_t              header_bytes;
    struct iovec          iov[UDP_IOV_COUNT_MAX + 1];
    uint8_t               header[UDP_HEADER_BYTES];
};

/* Kinds of fragments that are no packets. */
enum { UDP_FRAGMENT_FLUSH = UDP_KIND_COUNT };

/* id, peer_id      what each end calls it; user: the owner's endpoint, or NULL
 * number           of the next packet outside of the order
 * heard_ns         when anything last came; pinged_count: since then
 * fragments        in order; operations: GET, ATOMIC not answered yet
 * finished         fragments to complete, for the owner
 * refusal          RESULT of the last put refused, while on its way; NULL
 * flushes          fragments of FLUSH that wait until their number arrived
 * is_guest         made by somebody at the address with that guest_key
 * client_nonce     what the client drew; ACCEPT says it again
 * has_first        a message of the peer was handed up: now others may come
 *                  out of turn
 * is_left          it is closed when it opens; is_over: the owner frees it
 * shares           what it makes us keep (udp_share.h)
 * crypt            keys, when packets are encrypted; NULL
 * was_shut         the peer was told that its window is shut
 * is_asking        in env->asking_count; is_ending: in env->ending_count
 * is_probed        the tail was sent again, nothing came since
 * bundle           tiny messages that wait for one another; NULL: none
 * burst_count      of them in the turn burst_turn */
struct udp_conn {
    struct udp_env       *env;
    void                 *user;
    uint32_t              id, peer_id;
    uint8_t               state;
    bool                  is_initiator, is_fin_queued, is_fin_acked, is_ending;
    bool                  has_peer_fin, has_source, is_source_ended;
    bool                  is_busy, is_owing, was_shut, is_left, needs_notify;
    bool                  is_asking, is_probed, is_over, has_first, is_guest;
    ucs_status_t          status; /* why it failed, or how the source ended */
    struct ucs_sockaddr   address[UDP_CHANNEL_COUNT];
    struct udp_detour     detour;
    struct udp_seal       seal, handshake;
    struct udp_crypt     *crypt;
    uint64_t              nonce, client_nonce, cookie, peer_incarnation;
    uint64_t              client_key, guest_key; /* in the owner's tables */
    uint16_t              data_port;
    uint32_t              number, message, operation;
    uint32_t              peer_buffer_bytes;
    struct udp_send       send;
    struct udp_receive    receive;
    struct udp_rtt        rtt;
    struct udp_cc         cc;
    struct udp_mtu        mtu;
    struct ucs_queue      fragments, finished, flushes, canceled;
    struct ucs_list       operations, reassemblies;
    struct udp_fragment  *refusal;
    unsigned              fragment_count, operation_count;
    unsigned              reassembly_count;
    uint32_t              shares[UDP_SHARE_COUNT];
    struct ucs_list       busy_link, owing_link, link;
    struct udp_segment   *bundle;
    struct ucs_list       bundle_link;
    uint32_t              burst_turn, burst_count;
    struct ucs_queue_elem notify_link;
    unsigned              inbox_count; /* messages of it that wait */
    struct ucs_timer      timer;
    uint64_t         heard_ns, pinged_ns, asked_ns, retry_ns, begun_ns, pace_ns;
    uint64_t         probe_ns, linger_ns;
    struct udp_held *pieces; /* of the segment pieces_number; NULL: none */
    uint64_t         pieces_mask;
    uint32_t         pieces_number;
    unsigned         pinged_count, retry_count;
    unsigned         timeout_count; /* since a segment arrived */
    struct uct_source source;
};

/* --- udp_conn.c */

/* A connection with that id; nothing is sent. `conn` is the caller's. */
void udp_conn_init(struct udp_conn *conn, struct udp_env *env, uint32_t id);
/* Give everything back. Finish fragments in flight first. */
void udp_conn_cleanup(struct udp_conn *conn);

/* A packet for this connection, from outside; its head was decoded. */
void udp_conn_packet(struct udp_conn *conn, const struct udp_head *head,
                     uint8_t *bytes, size_t length);
/* One that is not encrypted, or not any more. */
void udp_conn_take(struct udp_conn *conn, const struct udp_head *head,
                   uint8_t *bytes, size_t length);

/* From the hotel: that segment was not acknowledged in time. */
void udp_conn_timed_out(struct udp_conn *conn, struct udp_segment *segment);
/* It is over: every fragment goes to `finished` with that status. */
void udp_conn_fail(struct udp_conn *conn, ucs_status_t status);
/* Ask the owner to look at finished, status, is_source_ended. */
void udp_conn_notify(struct udp_conn *conn);
/* Something may have changed: start the timer for what is due next. */
void udp_conn_rearm(struct udp_conn *conn);

UCS_INLINE bool udp_conn_is_open(const struct udp_conn *conn)
{
    return ucs_likely(conn->state == UDP_CONN_OPEN);
}

/* Has all that was accepted arrived, and do we know it? */
UCS_INLINE bool udp_conn_has_settled(const struct udp_conn *conn)
{
    return udp_send_is_idle(&conn->send) && (conn->bundle == NULL) &&
           ucs_queue_is_empty(&conn->fragments);
}

/* --- udp_conn_send.c */

/* May a message go now, and in its turn? It needs a segment, too. has_window:
 * the same without the turn. */
bool udp_conn_may_send(const struct udp_conn *conn);
bool udp_conn_has_window(const struct udp_conn *conn);

/* How many bytes of payload one packet of that kind takes. */
size_t udp_conn_payload_bytes(const struct udp_conn *conn, unsigned kind);

/* Send a message that is in segment->bytes behind the head. The segment is
 * given. */
void udp_conn_send_am(struct udp_conn *conn, struct udp_segment *segment,
                      unsigned am_id, unsigned flags, size_t length);

/* Queue a fragment, given, and send what may go; what answers a peer goes in
 * its turn. */
void udp_conn_queue(struct udp_conn *conn, struct udp_fragment *fragment);
void udp_conn_queue_answer(struct udp_conn *conn, struct udp_fragment *answer);

/* Send what may go: lost segments first, then fragments, up to credit_bytes.
 * @return bytes that went. */
size_t udp_conn_pump(struct udp_conn *conn, size_t credit_bytes);
/* Send this segment again, on the data channel. @return false: not now. */
bool udp_conn_resend(struct udp_conn *conn, struct udp_segment *segment);
/* There is something to send again or for the first time: get a turn. */
void udp_conn_make_busy(struct udp_conn *conn);

/* Head and tag of a packet outside of the order, then send it; bytes has
 * [UDP_HEAD_BYTES + length], `covered` of them are extension. */
bool udp_conn_send_control(struct udp_conn *conn, uint8_t *bytes, unsigned kind,
                           size_t covered, size_t length);

/* Acknowledge now. */
void udp_conn_send_ack(struct udp_conn *conn);
/* Ask for an answer; padded to packet_bytes, 0: to the length of the answer, so
 * that who repeats it gets no more than he gave. */
void udp_conn_send_ping(struct udp_conn *conn, size_t packet_bytes);

/* Segments that arrived: take them out of the window. */
void udp_conn_take_ack(struct udp_conn *conn, const struct udp_head *head,
                       const struct udp_range *ranges, unsigned range_count);
/* It is through; it goes to `finished` if somebody waits. */
void udp_conn_finish(struct udp_fragment *fragment, ucs_status_t status);

/* Its bytes [offset, offset + length) as pieces; @return how many. */
unsigned udp_fragment_slice(const struct udp_fragment *fragment, size_t offset,
                            size_t length, struct iovec *iov);

/* Make a fragment. @return NULL: no memory. */
struct udp_fragment *udp_fragment_new(struct udp_conn *conn, unsigned kind);
void                 udp_fragment_free(struct udp_fragment *fragment);

/* --- udp_conn_receive.c */

void udp_conn_arrival(struct udp_conn *conn, const struct udp_head *head,
                      uint8_t *bytes, size_t length);
void udp_conn_forget_received(struct udp_conn *conn);

/* --- udp_rma.c */

/* PUT, GET, ... RESULT as they come. @return false: it must come again. */
bool udp_rma_arrival(struct udp_conn *conn, const struct udp_head *head,
                     uint8_t *bytes, size_t length);
/* Copy the payload of a DATA segment from the region; @return false: it may
 * not be read any more. */
bool udp_rma_fill(struct udp_fragment *fragment, struct udp_segment *segment,
                  uint8_t *dest);

#endif
