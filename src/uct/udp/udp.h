/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/udp/udp.h - the private types of the rim: interfaces and endpoints.
 *
 *   udp_ep --> udp_conn --> env.ops --> udp_iface --> udp_io (sockets)
 *                 ^                         |
 *                 '------- packets ---------'
 *
 * A message is handed up from the packet it came in while the application
 * makes progress; otherwise (a stalled worker is served by the helper thread)
 * it waits in the inbox, which is bounded: a full one shuts the window.
 *
 * Thread: the worker's; the helper's while the worker is not inside. gate says
 * who is. */
#ifndef UCT_UDP_UDP_H_
#define UCT_UDP_UDP_H_

#include <stdatomic.h>

#include "ucs/config.h"
#include "uct/base/complete.h"
#include "uct/udp/udp_address.h"
#include "uct/udp/udp_connect.h"
#include "uct/udp/udp_devices.h"
#include "uct/udp/udp_region.h"
#include "uct/udp/udp_stall.h"

enum udp_limit {
    UDP_BCOPY_BYTES_MAX   = 8192 + 256,
    UDP_ZCOPY_BYTES_MAX   = UDP_MESSAGE_BYTES,
    UDP_RMA_BYTES_MAX     = 1 << 30,
    UDP_OPERATION_MAX     = 64, /* GET, ATOMIC of an endpoint at a time */
    UDP_INBOX_COUNT_MAX   = 1024,
    UDP_RECEIVE_COUNT     = 16,
    UDP_SEGMENT_COUNT_MIN = 64, /* of UCX_UDP_SEGMENT_COUNT */
    UDP_SEGMENT_COUNT_MAX = 1 << 22,
};

struct udp_options {
    struct ucs_config_base  base;
    struct ucs_config_list  devices;
    struct ucs_config_range ports;
    size_t                  receive_bytes, send_bytes;
    bool                    encrypt, segmentation, helper, direct;
    int                     congestion;
    size_t                  window_bytes;
    unsigned                segment_count, conns_per_address;
    size_t                  mtu_bytes;
};

extern const struct ucs_config_table udp_config_table;

/* Options of its own. @param config  To copy; NULL: the environment's. */
UCS_MUST_USE ucs_status_t udp_options_read(const void         *config,
                                           struct udp_options *options);

/* conns        connection id -> struct udp_conn
 * accepted     client (its id and incarnation) -> the connection it made
 * orphans      incarnation -> a connection without endpoint of ours
 * asking       incarnation -> the last connection that an endpoint began
 * guests       address -> how many connections it made
 * all          every connection
 * opening      endpoints that wait until their connection is open
 * inbox        messages that wait for the application
 * notified     connections with something to tell
 * gate         0: nobody is inside
 * depth        calls of the application inside one another
 * helper_depth the helper's
 * ring         of the worker's interfaces: they carry one another's detours
 * is_direct    messages may be handed up now
 * is_armed     the application has not called since it said that it sleeps
 * bulk_count   polls in which the data channel is expected to have something
 * skip_count   polls in which a channel was not asked
 * detach_count polls until the sockets leave the event set; 0: they have */
struct udp_iface {
    struct uct_iface        base;
    struct udp_options      options;
    struct udp_env          env;
    struct udp_device       device;
    struct udp_io          *io;
    struct udp_io_attr      io_attr;
    struct udp_address      address;
    struct udp_connect_self self;
    struct ucs_hash         conns, accepted, orphans, asking, guests;
    struct ucs_list         all, opening;
    struct ucs_queue        inbox, notified;
    struct ucs_counters     counters;
    unsigned                inbox_count;
    uint32_t                id_next;
    unsigned                bulk_count, skip_count, detach_count;
    atomic_uint             gate;
    unsigned                depth, helper_depth;
    _Atomic uint64_t        poll_count;
    bool                    is_direct, is_armed;
    struct udp_conn        *last; /* found by a packet */
    struct udp_stall        stall;
    struct ucs_list         ring;
};

/* conn        its own, not begun, until the first message
 * is_opening  if it waits, then on iface->opening */
struct udp_ep {
    struct uct_ep       base;
    struct udp_conn    *conn;
    struct uct_inflight inflight;
    bool                is_opening;
};

static inline struct udp_iface *udp_iface_of(const struct uct_iface *iface)
{
    return ucs_container_of(iface, struct udp_iface, base);
}

static inline struct udp_iface *udp_iface_of_env(const struct udp_env *env)
{
    return ucs_container_of(env, struct udp_iface, env);
}

static inline struct udp_ep *udp_ep_of(const struct uct_ep *ep)
{
    return ucs_container_of(ep, struct udp_ep, base);
}

/* udp_gate.c: the application comes in, and goes. Calls nest. */
void udp_enter(struct udp_iface *iface);
void udp_leave(struct udp_iface *iface);
/* The helper. Calls nest. @return false: the application is inside. */
bool udp_try_enter(struct udp_iface *iface);
void udp_helper_leave(struct udp_iface *iface);
/* Who is inside one interface goes into another one of its worker.
 * @return false: the application is there, and the helper does not wait. */
bool udp_enter_beside(const struct udp_iface *iface, struct udp_iface *other);
void udp_leave_beside(const struct udp_iface *iface, struct udp_iface *other);

/* udp_iface.c */
ucs_status_t udp_iface_open(struct uct_md                 *md,
                            const struct uct_iface_params *params,
                            struct uct_iface             **iface_p);
void         udp_iface_close(struct uct_iface *iface);
void         udp_iface_query(const struct uct_iface *iface,
                             struct uct_iface_attr  *attr_p);
void         udp_iface_address(const struct uct_iface *iface, uint8_t *bytes);
ucs_status_t udp_iface_reach(struct uct_iface *iface, const uint8_t *bytes,
                             size_t size_bytes, char *reason);
uint64_t     udp_iface_rank(struct uct_iface *iface, const uint8_t *bytes,
                            size_t size_bytes, char *why);
/* The address of a peer from outside, as this interface sends to it: with the
 * scope of our link where it is link-local. */
UCS_MUST_USE ucs_status_t udp_iface_decode(const struct udp_iface *iface,
                                           const uint8_t          *bytes,
                                           size_t                  size_bytes,
                                           struct udp_address     *peer_p);
/* What of reaching it needs no kernel. @param reason  Set when refused. */
UCS_MUST_USE ucs_status_t udp_iface_check(const struct udp_iface   *iface,
                                          const struct udp_address *peer,
                                          char                     *reason);

/* udp_peers.c: the connections of an interface */
struct udp_conn *udp_peers_new(struct udp_iface *iface);
void             udp_peers_free(struct udp_iface *iface, struct udp_conn *conn);
void udp_peers_packet(struct udp_iface *iface, const struct ucs_sockaddr *from,
                      uint8_t *bytes, size_t length);
/* A connection that this peer made and nobody here uses; it is the caller's
 * now. @return NULL: there is none. */
struct udp_conn *udp_peers_adopt(struct udp_iface *iface, uint64_t incarnation);
/* This connection begins to ask its peer, unless the peer turns out to ask,
 * too: then its endpoint may move. */
void udp_peers_ask(struct udp_iface *iface, struct udp_conn *conn);
/* Has our half of a connection to that peer an end that it has not heard of? */
bool udp_peers_is_ending(const struct udp_iface *iface, uint64_t incarnation);

/* udp_guests.c: one more connection that somebody there makes.
 * @return false: it has too many, that was counted and said; or no memory. */
bool udp_guests_enter(struct udp_iface *iface, struct udp_conn *conn,
                      const struct ucs_sockaddr *from);
void udp_guests_leave(struct udp_iface *iface, struct udp_conn *conn);

/* udp_hint.c: what ICMP says */
void udp_iface_hints(struct udp_iface *iface);
/* A packet of that length, without IP and UDP, may be the longest that
 * passes. */
void udp_conn_too_long(struct udp_conn *conn, size_t packet_bytes);
/* The peer may be gone: ask. */
void udp_conn_doubt(struct udp_conn *conn);

/* udp_linger.c: who is inside it and its ring waits for what was accepted */
void udp_iface_linger(struct udp_iface *iface);

/* udp_progress.c */
extern const struct udp_env_ops udp_iface_ops;
unsigned                        udp_progress(struct uct_iface *iface);
/* Receive, acknowledge, send again; nothing is handed up. */
unsigned udp_iface_serve(struct udp_iface *iface);

/* udp_wakeup.c */
enum { UDP_SKIP_ALL = 1 << 16 }; /* skip_count: everybody is asked next */
int          udp_event_fd(struct uct_iface *iface);
ucs_status_t udp_arm(struct uct_iface *iface);
/* Let the descriptor fire when something is due; now, if the application has
 * something to do. @return UCS_OK, UCS_ERR_BUSY: something waits. */
ucs_status_t udp_iface_set_alarm(struct udp_iface *iface);
/* The same for who only serves it: the application's work does not count. */
ucs_status_t udp_iface_set_timer(struct udp_iface *iface);
/* detach_count is 0: no packet fires the descriptor until one of the above. */
void udp_iface_detach(struct udp_iface *iface);

/* udp_ep.c */
ucs_status_t      udp_ep_create(struct uct_iface           *iface,
                                const struct uct_ep_params *params,
                                struct uct_ep             **ep_p);
void              udp_ep_destroy(struct uct_ep *ep);
enum uct_may_send udp_ep_may_send(struct uct_ep *ep);
/* What every operation asks first; UCS_OK: it may go.
 * @param may_queue  It need not go at once, so others may wait before it. */
ucs_status_t udp_ep_begin(struct udp_ep *ep, unsigned flags, bool may_queue);
/* A fragment of the caller's: in flight, and completed in order. */
void udp_ep_lend(struct udp_ep *ep, struct udp_fragment *fragment,
                 struct uct_req *req);
/* A fragment went through: complete it.
 * @return false: a callback destroyed the endpoint. */
bool udp_ep_finished(struct udp_ep *ep, struct udp_fragment *fragment);
/* Take the caller's pieces, UDP_IOV_COUNT_MAX at most. */
void udp_fragment_take_iov(struct udp_fragment  *fragment,
                           const struct uct_iov *iov, unsigned count);

/* udp_am.c */
ucs_status_t udp_am_short(struct uct_ep *ep, uint8_t am_id, uint64_t header,
                          const void *payload, size_t length, unsigned flags);
ssize_t      udp_am_bcopy(struct uct_ep *ep, uint8_t am_id, uct_pack_fn pack,
                          void *arg, size_t length_max, unsigned flags);
ucs_status_t udp_am_zcopy(struct uct_ep *ep, uint8_t am_id, const void *header,
                          size_t header_length, const struct uct_iov *iov,
                          unsigned iov_count, struct uct_req *req,
                          unsigned flags);
ucs_status_t udp_ep_flush(struct uct_ep *ep, struct uct_req *req,
                          unsigned flags);

/* udp_ep_rma.c */
uct_put_short_proc udp_put_short;
uct_put_bcopy_proc udp_put_bcopy;
uct_get_bcopy_proc udp_get_bcopy;
uct_zcopy_proc     udp_put_zcopy;
uct_zcopy_proc     udp_get_zcopy;
uct_atomic_proc    udp_atomic;

#endif
