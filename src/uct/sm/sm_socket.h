/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_socket.h - where /proc does not lead to a peer: get its memory
 * over an abstract unix socket, of which both ends check that the other one
 * is of the same user.
 *
 *   connector                                listener
 *   connect, check the user
 *   hello (our segment, the one we want) -->  check the user
 *                                        <--  welcome + the memfd
 *   (claim a channel, send in the ring)
 *   one byte: wake up      <------------->    one byte: wake up
 *   hang-up: it has ended  <------------->    hang-up: it has ended
 *
 * The socket stays open: it takes the place of bell and pidfd. A message of
 * the protocol is one packet (SOCK_SEQPACKET). */
#ifndef UCT_SM_SOCKET_H_
#define UCT_SM_SOCKET_H_

#include "uct/sm/sm.h"

enum {
    UCT_SM_LINK_COUNT_MAX = 4096, /* sockets of one interface; guess */
};

enum uct_sm_link_stage {
    UCT_SM_LINK_HELLO,   /* accepted: waits for the hello */
    UCT_SM_LINK_WELCOME, /* connected: waits for the welcome */
    UCT_SM_LINK_OPEN,
};

/* One socket.
 * segment_id   the other end's
 * peer         the connector's; NULL at the listener, or when it was freed
 * use_count    channels that know it
 * is_hung_up   the other end is gone */
struct uct_sm_link {
    struct uct_sm_event    event;
    struct ucs_list        link; /* in iface->links */
    int                    fd;
    enum uct_sm_link_stage stage;
    uint64_t               segment_id;
    struct uct_sm_peer    *peer;
    unsigned               use_count;
    bool                   is_hung_up;
};

/* Listen, under a name that follows from our segment's id.
 * @return false: not possible here (noted at debug level). */
bool uct_sm_socket_listen(struct uct_sm_iface *iface);

/* Close the listener and all sockets. */
void uct_sm_socket_cleanup(struct uct_sm_iface *iface);

/* Begin to attach a peer, which becomes WAITING.
 * @return UCS_OK; UCS_ERR_WOULD_BLOCK: not now, it is still NEW; otherwise why
 *         not, with the reason. */
ucs_status_t uct_sm_socket_connect(struct uct_sm_peer *peer, char *reason);

/* The socket on which that sender got our memory; counted. NULL: it is gone. */
struct uct_sm_link *uct_sm_socket_get(struct uct_sm_iface *iface,
                                      uint64_t             segment_id);
void uct_sm_socket_put(struct uct_sm_iface *iface, struct uct_sm_link *link);

/* The peer is freed: close its socket, if it has one. */
void uct_sm_socket_detach(struct uct_sm_peer *peer);

/* Wake the other end, if it is there. */
void uct_sm_socket_wake(struct uct_sm_link *link);

#endif
