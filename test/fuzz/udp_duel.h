/* SPDX-License-Identifier: BSD-3-Clause */
/* test/fuzz/udp_duel.h - two interfaces of udp without sockets, and the wire
 * between them in somebody else's hands.
 *
 *     ends[0] client --- transmit --> packets[] --- deliver --> ends[1] server
 *                                        ^ held, dropped, turned around,
 *                                          doubled, damaged, made up
 *
 * Nothing moves by itself: a fuzz target says which packet arrives, and how
 * late it is. The connections, their table and the handshake are the real
 * ones; only the clock and the sockets are not. */
#ifndef TEST_FUZZ_UDP_DUEL_H_
#define TEST_FUZZ_UDP_DUEL_H_

#include "fuzz/tape.h"
#include "uct/udp/udp.h"

enum {
    DUEL_PACKET_COUNT_MAX  = 256, /* on the wire; more are lost */
    DUEL_REGION_BYTES      = 4096,
    DUEL_REGION_KEY        = 4711,
    DUEL_AM_ID             = 5,
    DUEL_MESSAGE_COUNT_MAX = 4096,
};

struct duel;

struct duel_packet {
    struct ucs_sockaddr from, to;
    size_t              length;
    uint8_t            *bytes; /* a block of its own, so that ASan sees ends */
};

/* conn      the client's own, or the last one that the server accepted
 * next      number of the next message to send; expected: to arrive
 * any       the same of those in any order, which has_come remembers
 * asked     fragments that must finish; finished: those that did
 * atomics   asked to add 1 to the other's first word
 * is_full   takes no messages */
struct duel_end {
    struct udp_iface    iface;
    struct duel        *duel;
    struct ucs_sockaddr address;
    struct udp_conn    *conn;
    uint8_t            *region;
    uint64_t            next, expected, any_next, any_count;
    uint8_t             has_come[DUEL_MESSAGE_COUNT_MAX];
    unsigned            asked, finished, atomics, answered;
    bool                is_full;
};

/* is_lied_to  a peer that knows the keys lies: only memory must stay whole
 * gave_up     one end has, and says so to the other */
struct duel {
    struct duel_end    ends[2];
    uint64_t           now_ns;
    struct duel_packet packets[DUEL_PACKET_COUNT_MAX];
    unsigned           packet_count;
    uint64_t           sent_count;
    bool               is_lied_to;
    bool               gave_up;
};

/* Say why, and abort, unless is_true. */
void duel_check(bool is_true, const char *why);

void duel_open(struct duel *duel);
/* Everything that was asked must finish, and everything be given back. */
void duel_close(struct duel *duel);

/* An address on the wire. */
struct ucs_sockaddr duel_address(unsigned host, uint16_t port);

/* The client asks to connect. */
void duel_connect(struct duel *duel);
bool duel_is_open(const struct duel *duel);
/* The connection of an end that may be used; NULL: it has none. */
struct udp_conn *duel_conn(struct duel *duel, unsigned end);

/* --- what happens on the wire; index is taken modulo what is there */

void duel_deliver(struct duel *duel, unsigned index);
void duel_drop(struct duel *duel, unsigned index);
void duel_repeat(struct duel *duel, unsigned index);
/* Turn a bit that the tag covers: nothing may change at whoever gets it. */
void duel_flip(struct duel *duel, unsigned index, unsigned bit);
/* Give it another length, up to 65507: the same. */
void duel_resize(struct duel *duel, unsigned index, size_t length);
/* Any bytes, from anybody. */
void duel_inject(struct duel *duel, unsigned end,
                 const struct ucs_sockaddr *from, uint8_t *bytes,
                 size_t length);
/* The same by who has no key: nothing may change, nobody answers. */
void duel_inject_strange(struct duel *duel, unsigned end, uint8_t *bytes,
                         size_t length);

/* Time goes on; whoever has something to do does it. */
void duel_pass(struct duel *duel, uint64_t ns);
/* To the next thing that is due, at most a second. */
void duel_pass_to_next(struct duel *duel);
/* A good network, until nothing is on the way or an end has failed. */
void duel_heal(struct duel *duel);

/* --- what the ends do (udp_duel_ends.c); nothing if it may not go now */

void duel_send(struct duel *duel, unsigned end, size_t length, bool any_order);
void duel_send_long(struct duel *duel, unsigned end, size_t length);
void duel_access(struct duel *duel, unsigned end, struct tape *tape);
/* Take what is finished, free who is over. */
void duel_collect(struct duel_end *end);

extern const struct udp_env_ops duel_ops;

/* Called by duel_ops: packets go onto the wire. */
void duel_put(struct duel_end *from, const struct ucs_sockaddr *to,
              const uint8_t *bytes, size_t length);

#endif
