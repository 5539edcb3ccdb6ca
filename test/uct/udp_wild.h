/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/udp_wild.h - two interfaces that talk over lo, and a stranger with
 * a socket of his own who sends what he likes to their ports.
 *
 *     hosts[0]  <==== messages, numbered ====>  hosts[1]
 *         ^ ^                                       ^
 *         '-+------------- stranger ----------------'
 *
 * One process and one thread: nothing is lost in between, so everything that
 * the stranger sends can be counted. */
#ifndef TEST_UCT_UDP_WILD_H_
#define TEST_UCT_UDP_WILD_H_

#include "lib/test.h"
#include "uct/api/uct.h"
#include "uct/udp/udp.h"

extern const struct uct_transport uct_udp_transport;

enum { WILD_HELLO_BYTES = UDP_HEAD_BYTES + UDP_EXTENSION_BYTES };

enum { WILD_REGION_BYTES = 4096, WILD_BOUND_MS = 1000 };

/* Of silence, for hosts opened from now on. */
extern unsigned wild_bound_ms;

/* ep       to the other one; NULL: none
 * sent     messages; got: those that came, in order and whole
 * failed   what the endpoint's error callback said */
struct wild_host {
    struct uct_md    *md;
    struct uct_iface *iface;
    struct uct_ep    *ep;
    struct uct_mem   *mem;
    uint8_t           region[WILD_REGION_BYTES];
    uint64_t          sent, got;
    ucs_status_t      failed;
    uint8_t           address[UDP_ADDRESS_BYTES];
};

struct wild {
    struct wild_host hosts[2];
    int              socket; /* the stranger's */
};

void wild_open(struct wild *wild);
void wild_close(struct wild *wild);
/* Only the socket. */
void wild_close_stranger(struct wild *wild);

/* Without one, the test is skipped. */
void wild_find_lo(struct uct_device *device);
void wild_host_open(struct wild_host *host);
void wild_host_close(struct wild_host *host);

/* An endpoint from `host` to that address. */
void wild_connect(struct wild_host *host, const uint8_t *address);

/* hosts[0] sends `count` messages and hosts[1] has them. */
void wild_talk(struct wild *wild, unsigned count);

/* One more message of that host, whose endpoint there is; it may be refused. */
void              wild_send(struct wild_host *host);
void              wild_progress(struct wild *wild);
struct udp_iface *wild_iface(struct wild_host *host);
uint64_t          wild_count(struct wild_host *host, enum udp_counter counter);
/* All that strangers can make it count. */
uint64_t wild_dropped(struct wild_host *host);
unsigned wild_conn_count(struct wild_host *host);

/* The stranger's packet to a channel of that host; it arrives at once. */
void wild_shoot(struct wild *wild, struct wild_host *host,
                enum udp_channel channel, const uint8_t *bytes, size_t length);
/* What came back to the stranger. @return its length; 0: nothing. */
size_t wild_answer(struct wild *wild, uint8_t *bytes, size_t room);

/* A HELLO or CONNECT. @return WILD_HELLO_BYTES. */
size_t           wild_make_hello(uint8_t *bytes, unsigned kind,
                                 const struct udp_hello *hello,
                                 const struct udp_seal  *seal);
struct udp_hello wild_random_hello(void);
/* The stranger has the secret and shakes hands, up to the answer to CONNECT,
 * which may be none. */
void wild_shake_hands(struct wild *wild, struct wild_host *host,
                      struct udp_hello *hello);

#endif
