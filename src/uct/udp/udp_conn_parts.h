/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_conn_parts.h - what the files of a connection share. */
#ifndef UCT_UDP_CONN_PARTS_H_
#define UCT_UDP_CONN_PARTS_H_

#include "uct/udp/udp_connect.h"
#include "uct/udp/udp_crypt.h"

/* Tiny packets have a channel of their own. */
UCS_INLINE enum udp_channel udp_conn_channel(size_t packet_bytes)
{
    return (packet_bytes <= UDP_SMALL_BYTES) ? UDP_PRIORITY : UDP_DATA;
}

/* What a packet costs everybody on its way besides its bytes. */
enum { UDP_PACKET_WEIGHT = 192 };

/* Does the congestion control take another packet? */
UCS_INLINE bool udp_conn_may_crowd(const struct udp_conn *conn)
{
    return conn->send.flight_bytes +
               (uint64_t)conn->send.flight_count * UDP_PACKET_WEIGHT <
           conn->cc.window_bytes;
}

/* Send bytes to the peer. @return how many went. */
size_t udp_conn_transmit(struct udp_conn *conn, enum udp_channel channel,
                         const struct iovec *iov, unsigned iov_count,
                         size_t segment_bytes);

/* Packets as they are, by the way that the connection takes now. */
UCS_INLINE size_t udp_conn_emit(const struct udp_conn *conn,
                                struct udp_out        *out)
{
    if (ucs_unlikely(conn->detour.is_taken)) {
        out->to      = &conn->detour.address;
        out->channel = UDP_PRIORITY;
        return conn->env->ops->detour(conn->env, conn->detour.by, out);
    }
    return conn->env->ops->transmit(conn->env, out);
}

/* Does a packet that came concern a detour? */
UCS_INLINE bool udp_detour_is_of_interest(const struct udp_conn *conn)
{
    return conn->detour.is_taken || (conn->env->came_by != NULL);
}

/* When to call udp_detour_step(); UINT64_MAX: never. */
UCS_INLINE uint64_t udp_detour_deadline_ns(const struct udp_conn *conn)
{
    return conn->detour.is_taken ? conn->detour.look_ns : UINT64_MAX;
}

/* udp_conn_crypt.c. Draw the keys, if this end encrypts; once. `ciphers` are
 * what the peer offers, or took.
 * @return UCS_OK; UCS_ERR_UNSUPPORTED: not what we can; no memory. */
UCS_MUST_USE ucs_status_t udp_conn_encrypt(struct udp_conn *conn,
                                           unsigned         ciphers,
                                           uint64_t         server_nonce);
void                      udp_conn_forget_crypt(struct udp_conn *conn);
/* Open a packet where it lies. @return false: dropped and counted. */
bool udp_conn_decrypt(struct udp_conn *conn, const struct udp_head *head,
                      uint8_t *bytes, size_t *length_p);
/* As udp_conn_transmit(), each packet sealed. */
size_t udp_conn_transmit_sealed(struct udp_conn *conn, struct udp_out *out);

/* Is there room for a segment of anybody on the way, and in the socket? */
UCS_INLINE bool udp_env_may_send(const struct udp_env *env)
{
    return !env->is_blocked &&
           (ucs_hotel_guest_count(&env->hotel) + env->bundle_count <
            env->hotel.room_count);
}

/* Number a new segment and write its head; the window has room. */
void udp_segment_number(struct udp_conn *conn, struct udp_segment *segment,
                        struct udp_head *head);

/* Send a segment, sealed and noted, in pieces that every path carries. */
void udp_pieces_send(struct udp_conn *conn, const struct udp_segment *segment);
/* One of them came. */
void udp_pieces_take(struct udp_conn *conn, const uint8_t *bytes,
                     size_t length);

/* It goes out now: check it in to the hotel. */
void udp_segment_note(struct udp_conn *conn, struct udp_segment *segment,
                      enum udp_channel channel);

/* Something is on its way: watch its tail. */
void udp_conn_start_probe(struct udp_conn *conn);

/* A put of which the peer has said that it does not take it. */
UCS_INLINE bool udp_fragment_is_refused(const struct udp_fragment *fragment)
{
    return (fragment->kind == UDP_KIND_PUT) && (fragment->status != UCS_OK);
}

/* conn->refusal from now on; before all others. */
void udp_conn_queue_refusal(struct udp_conn     *conn,
                            struct udp_fragment *refusal);

/* A word to the peer that we do not take its put, or the like. */
UCS_INLINE bool udp_fragment_refuses(const struct udp_fragment *fragment)
{
    return (fragment->kind == UDP_KIND_RESULT) && (fragment->status != UCS_OK);
}

/* Packets of the fragment at the head of the queue, as many as go at once.
 * @return bytes; 0: no more now. */
size_t udp_fragment_send(struct udp_conn *conn, struct udp_fragment *fragment);

/* The lost segment that is oldest once more, and those behind it that go with
 * it in one call. @return bytes; 0: not now. */
size_t udp_fragment_resend(struct udp_conn *conn);

/* Its head as it is when it goes once more. */
void udp_segment_again(struct udp_conn *conn, struct udp_segment *segment);

/* Is there nothing to send behind what is in segments? */
bool udp_conn_is_app_limited(const struct udp_conn *conn);

/* All of it is in segments: leave the queue. */
void udp_fragment_is_sent(struct udp_conn *conn, struct udp_fragment *fragment);

#endif
