/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/udp_net.h - two connections and a network between them, in virtual
 * time: seeded loss, duplication, reordering, delay; no socket, no clock.
 *
 *     ends[0] client  --- transmit --> heap by time --> packet --> ends[1]
 * server
 *
 * Both ends and the network are one step function, so a seed replays exactly.
 * The seed of the simulator of whole workers. */
#ifndef TEST_UCT_UDP_NET_H_
#define TEST_UCT_UDP_NET_H_

#include "lib/test.h"
#include "ucs/heap.h"
#include "uct/udp/udp_connect.h"

enum { NET_REGION_BYTES = 1 << 16, NET_MESSAGE_COUNT_MAX = 1 << 16 };

/* What may happen to a packet.
 * loss, duplicate, reorder  per thousand
 * delay_ns, jitter_ns       one way
 * mtu_bytes                 longer packets are lost; 0: none
 * is_cut                    nothing passes */
struct udp_net_path {
    unsigned loss, duplicate, reorder;
    uint64_t delay_ns, jitter_ns;
    size_t   mtu_bytes;
    bool     is_cut;
};

/* beside  an interface next to this one; only who it is counts */
struct udp_net_end {
    struct udp_env          env, beside;
    struct udp_net         *net;
    struct udp_connect_self self;
    struct udp_conn         conn;
    bool                    has_conn;
    uint8_t                 region[NET_REGION_BYTES] UCS_ALIGNED(8);
    uint64_t                region_key; /* 0: none */
    unsigned                region_access;
    uint64_t                ordered_count, any_count;
    uint8_t                 any_seen[NET_MESSAGE_COUNT_MAX];
    uint64_t                bad_count;
    uint64_t                refused_count; /* that would not encrypt as we */
    uint64_t                finished_count;
    ucs_status_t            finished_status; /* of the last one */
    bool                    is_full;         /* nothing is taken */
    bool                    is_stopped;      /* its process does not run */
    bool                    is_gone;
};

/* Sees a packet that leaves. @return it is lost. */
typedef bool (*udp_net_spy_fn)(const struct udp_net_end *from,
                               enum udp_channel channel, const uint8_t *bytes,
                               size_t length);

/* path, detour  the two ways between the ends; both carry both directions,
 *               unless is_one_way: then path carries nothing from end 0
 * spy           NULL: nobody looks */
struct udp_net {
    struct udp_net_end  ends[2];
    struct udp_net_path path, detour;
    bool                is_one_way;
    struct ucs_heap     heap;
    uint64_t            now_ns;
    uint64_t            packet_count, lost_count;
    udp_net_spy_fn      spy;
};

/* @param ciphers  Both ends encrypt by one of them; 0: they do not. */
void udp_net_open(struct udp_net *net, unsigned ciphers);
void udp_net_close(struct udp_net *net);
/* Begin to connect; the server's end exists when it has_conn. */
void udp_net_connect(struct udp_net *net);
/* Tell an end of the detour. */
void udp_net_show_detour(struct udp_net_end *end);
/* The next event: a packet, a timer. @return false: none within a second. */
bool udp_net_step(struct udp_net *net);
/* Steps until fn says yes, or so much virtual time is over. */
bool udp_net_until(struct udp_net *net, bool (*fn)(struct udp_net *),
                   double          seconds);
bool udp_net_is_open(struct udp_net *net);

/* Has all arrived that was sent, and do both know it? */
static inline bool udp_net_is_quiet(struct udp_net *net)
{
    return udp_conn_has_settled(&net->ends[0].conn) &&
           udp_conn_has_settled(&net->ends[1].conn);
}

/* Open, and connect until it is done. */
static inline void udp_net_open_connected(struct udp_net *net)
{
    udp_net_open(net, 0);
    udp_net_connect(net);
    ck_assert(udp_net_until(net, udp_net_is_open, 30));
}

/* A packet for that end, sealed with its peer's key whatever it says: `to` is
 * filled in, extension and payload, [length], are behind the head. */
void udp_net_lie(struct udp_net_end *end, struct udp_head head, uint8_t *bytes,
                 size_t length);

/* Send message number n of an end: its pattern and length follow from n.
 * @return false: not now. */
bool udp_net_send(struct udp_net_end *end, uint64_t number, size_t length);
bool udp_net_send_any(struct udp_net_end *end, uint64_t number, size_t length);
/* The same from user memory; it stays lent until it finished. */
bool udp_net_send_zcopy(struct udp_net_end *end, uint64_t number,
                        uint8_t *memory, size_t length);

#endif
