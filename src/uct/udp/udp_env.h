/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp_env.h - what the connections of one interface share, and what
 * they ask of it.
 *
 *     packets, time --> udp_conn --> ops: transmit, message, notify, region
 *
 * A connection makes no system call, asks no clock and calls nobody's
 * callback: it says what is to be done. Who owns the environment (an
 * interface, a test, a simulation) does it.
 *
 * Memory comes from bounded pools; what a burst made of them is given back. */
#ifndef UCT_UDP_ENV_H_
#define UCT_UDP_ENV_H_

#include "ucs/counters.h"
#include "ucs/hotel.h"
#include "ucs/mpool.h"
#include "ucs/timer.h"
#include "uct/api/transport.h"
#include "uct/udp/udp_congestion.h"
#include "uct/udp/udp_io.h"
#include "uct/udp/udp_send.h"

enum udp_env_limit {
    UDP_SMALL_BYTES = 768,  /* what the priority channel takes (usnic) */
    UDP_LARGE_BYTES = 8968, /* packets of which we hold a copy */
    /* The longest message in chunks: one packet over loopback, and one call in
     * packets of Ethernet. */
    UDP_MESSAGE_BYTES   = 60 * 1024 + 128,
    UDP_HEADER_BYTES    = 256, /* and its header */
    UDP_CAME_WORDS      = (UDP_MESSAGE_BYTES + UDP_HEADER_BYTES) / 512 + 1,
    UDP_WHOLE_COUNT_MAX = 1024, /* messages in chunks; those that others */
    UDP_AHEAD_COUNT_MAX = 768,  /* are missing before leave some for those */
    UDP_AHEAD_CONN_MAX  = 256,  /* whose turn it is; of one connection */
    UDP_HELD_LARGE_MAX  = 16384,
    UDP_HELD_HUGE_MAX   = UDP_WHOLE_COUNT_MAX,
    UDP_IOV_COUNT_MAX   = 16,
    UDP_SHORT_BYTES_MAX = 1024,
};

struct udp_env;
struct udp_conn;

enum udp_counter {
    UDP_COUNT_RESENT,
    UDP_COUNT_TIMEOUTS,
    UDP_COUNT_PROBES,
    UDP_COUNT_DUPLICATES,
    UDP_COUNT_EARLY,
    UDP_COUNT_DETOURS,
    UDP_COUNT_NO_ROOM,
    UDP_COUNT_REFUSED,
    UDP_COUNT_BAD_PACKET,
    UDP_COUNT_BAD_TAG,
    UDP_COUNT_BAD_CONNECTION,
    UDP_COUNT_BAD_ACCESS,
    UDP_COUNT_COUNT
};

/* What a peer makes us keep: messages by their size, long rings, answers. */
enum udp_share {
    UDP_SHARE_SMALL,
    UDP_SHARE_LARGE,
    UDP_SHARE_HUGE,
    UDP_SHARE_RING,
    UDP_SHARE_ANSWER,
    UDP_SHARE_COUNT
};

/* A message that arrived, or a segment that came early and waits.
 * share       enum udp_share, by its room
 * data        in bytes, or in reassembly->bytes
 * reassembly  of a chunk; freed with the message */
struct udp_held {
    struct ucs_queue_elem  queue;
    struct udp_conn       *conn;
    struct udp_reassembly *reassembly;
    uint8_t               *data;
    uint32_t               length;
    uint8_t                kind, am_id, flags, share;
    uint8_t                bytes[] UCS_ALIGNED(8);
};

/* A message of which not all chunks came.
 * came  one bit for 8 bytes: a whole message has no hole in which the bytes
 *       of another one would be seen */
struct udp_reassembly {
    struct ucs_list link;
    uint32_t        message;
    uint32_t        total, got;
    uint64_t        came[UDP_CAME_WORDS];
    uint8_t         bytes[] UCS_ALIGNED(8);
};

struct udp_env_ops {
    /* Send packets, now. @return bytes that went, from the first on. */
    size_t (*transmit)(struct udp_env *env, struct udp_out *out);
    /* The same by the sockets of `by`, priority channel. NULL: no connection
     * has a detour. */
    size_t (*detour)(struct udp_env *env, struct udp_env *by,
                     struct udp_out *out);
    /* May a message of that length be handed up or kept? One that was taken
     * can not be sent again. */
    bool (*has_room)(struct udp_env *env, size_t length);
    /* A message, in its turn. `held` is given; NULL: data is borrowed for the
     * call. */
    void (*message)(struct udp_env *env, struct udp_conn *conn, unsigned am_id,
                    struct udp_held *held, uint8_t *data, size_t length);
    /* Something ended: conn->finished, conn->failed or conn->source_ended.
     * Comes again until it was looked at. */
    void (*notify)(struct udp_env *env, struct udp_conn *conn);
    /* Where these bytes are, if the key allows it; stays valid until leave.
     * @return NULL: no. */
    void *(*region_enter)(struct udp_env *env, const struct udp_access *access,
                          size_t length, unsigned right);
    void (*region_leave)(struct udp_env *env);
};

/* now_ns          of this step; set by the owner before each call
 * asking_count    handshakes without an answer; asked_ns: the last question
 * ending_count    connections of which our half ends and has not ended
 * came_by         whose sockets the packet came by that is being looked at;
 *                 NULL: our own. came_from: from where, then
 * small, large    struct udp_segment with room for UDP_SMALL_BYTES, or for
 *                 UDP_LARGE_BYTES; held_* likewise, or for any packet
 * rings, short_*  void *[UDP_WINDOW_COUNT], [UDP_RING_COUNT], all NULL, for
 *                 both directions
 * hotel           a room for each segment on its way
 * window          what connections tell their senders
 * busy            connections with something to send, served in turn
 * bundles         connections that gather tiny messages
 * turn            counts the turns
 * rest_ns         when to look whether anything was sent: sent_count segments
 *                 now, and at the last look; has_rested: since then
 * deferred        its message was handed up, what the head said of the other
 *                 direction waits; may_defer: in this poll
 * owing           connections that owe an acknowledgement, oldest first
 * bound_ns        silence for so long is death
 * reassembly_count  of all connections, and of messages not given back yet
 * shares          of all connections (udp_share.h)
 * buffer_bytes    of a socket, as we tell the peer
 * ciphers         enum udp_crypt_algorithm: packets are encrypted by one of
 *                 them; 0: they are not
 * scratch         [UDP_IO_OUT_BYTES_MAX] where they are, if so */
struct udp_env {
    const struct udp_env_ops  *ops;
    uint64_t                   now_ns;
    uint64_t                   asked_ns;
    uint32_t                   ending_count, asking_count;
    struct udp_env            *came_by;
    const struct ucs_sockaddr *came_from;
    uint64_t                   bound_ns;
    uint64_t                   incarnation;
    struct ucs_mpool           small, large, fragments, rings, short_rings;
    struct ucs_mpool           held_small, held_large, held_huge, reassemblies;
    struct ucs_mpool           crypts;
    struct ucs_hotel           hotel;
    struct ucs_timer_queue     timers;
    struct ucs_list            busy, owing, bundles;
    unsigned                   bundle_count;
    struct udp_conn           *deferred;
    struct udp_head            deferred_head;
    uint64_t                   deferred_ns;
    bool                       may_defer;
    uint32_t                   turn;
    uint64_t                   rest_ns;
    uint32_t                   sent_count, sent_count_seen;
    bool                       has_rested;
    struct ucs_counter         counters[UDP_COUNT_COUNT];
    uint32_t                   reassembly_count;
    uint32_t                   shares[UDP_SHARE_COUNT];
    uint32_t                   largest_bytes;
    uint32_t                   buffer_bytes;
    uint8_t                   *scratch;
    uint16_t                   ciphers;
    uint16_t                   window;
    bool                       is_blocked; /* a socket is full */
    bool is_too_long; /* a packet was longer than a device carries */
    enum udp_cc_kind congestion;
    uint64_t         congestion_bytes;
};

extern const struct ucs_counter_table udp_counter_table;

/* The owner has set ops, now_ns and what the settings say; this makes pools,
 * hotel, queues. @param segment_count  On the way at a time, at most. */
UCS_MUST_USE ucs_status_t udp_env_init(struct udp_env *env,
                                       unsigned        segment_count);

/* All connections are gone. */
void udp_env_cleanup(struct udp_env *env);

UCS_INLINE void udp_count(struct udp_env *env, enum udp_counter counter)
{
    ucs_counter_inc(&env->counters[counter]);
}

/* What was deferred by a message that could not wait. */
void udp_env_catch_up(struct udp_env *env);

/* Everything that is due: time-outs, timers, what waits for its turn, and
 * acknowledgements. @return how much was done. */
unsigned udp_env_turn(struct udp_env *env);

/* Send the tiny messages that were gathered. */
void udp_env_send_bundles(struct udp_env *env);

/* It is rest_ns: give back what no connection needs, if nothing was sent since
 * the last look. */
void udp_env_rest(struct udp_env *env);

/* One of its pools, from 0 on. @return NULL: there are no more. */
struct ucs_mpool *udp_env_pool(struct udp_env *env, unsigned index);

/* Only the acknowledgements that are due. @return how many went. */
unsigned udp_env_acknowledge(struct udp_env *env);

/* All that are owed, due or not. @return how many went. */
unsigned udp_env_settle(struct udp_env *env);

/* The window was shut and is open now: tell those who were told. */
void udp_env_reopen(struct udp_env *env, struct udp_conn *conn);

/* When to take the next turn; 0: now. */
uint64_t udp_env_deadline_ns(const struct udp_env *env);

UCS_INLINE enum udp_share udp_held_share(size_t length)
{
    return (length <= UDP_SMALL_BYTES)   ? UDP_SHARE_SMALL
           : (length <= UDP_LARGE_BYTES) ? UDP_SHARE_LARGE
                                         : UDP_SHARE_HUGE;
}

/* A held message with room for `length` bytes. @return NULL: none left. */
struct udp_held *udp_env_hold(struct udp_env *env, size_t length);

/* Is there one? The next call of udp_env_hold() gets it. */
bool udp_env_can_hold(struct udp_env *env, size_t length);

/* Give it back, and its reassembly. */
void udp_env_unhold(struct udp_held *held);

/* A ring of UDP_RING_COUNT or UDP_WINDOW_COUNT pointers, all NULL. Whoever puts
 * it back has cleared it. @return NULL: no memory. */
void **udp_env_ring(struct udp_env *env, unsigned count);

/* A segment with room for that many bytes of packet. @return NULL. */
struct udp_segment *udp_env_segment(struct udp_env *env, size_t packet_bytes);

#endif
