/* SPDX-License-Identifier: BSD-3-Clause */
/* test/mock/mock.h - what a test may do with the mock transport.
 *
 *   test  --- struct mock_control ---> causeway_uct_mock.so
 *                                        |
 *   host 0: domain, interface           wire             host 1
 *     endpoint --- operation ---> [ 4 AM ][ 5 PUT ] ---> handler, memory
 *                                    ^ held until deliver(number)
 *
 * All hosts live in one process and on one thread. The n-th domain that is
 * open on a device is host n: with one context per side, the side. Every
 * message, put and get gets a number when it is accepted, in the order of
 * acceptance, and an entry in the journal; registrations too.
 *
 * mock_open() in mock_open.c finds the struct. README.md has examples. */
#ifndef TEST_MOCK_MOCK_H_
#define TEST_MOCK_MOCK_H_

#include "uct/api/uct_def.h"

enum mock_limit {
    MOCK_DEVICE_COUNT_MAX = 4,
    MOCK_HOST_COUNT_MAX   = 8,
    MOCK_FAULT_COUNT_MAX  = 8,
    MOCK_IOV_COUNT_MAX    = 32,
    MOCK_BAD_BYTES        = 200,
};

/* What can be left out, refused, or made to fail. */
enum mock_op {
    MOCK_AM_SHORT,
    MOCK_AM_BCOPY,
    MOCK_AM_ZCOPY,
    MOCK_PUT_SHORT,
    MOCK_PUT_BCOPY,
    MOCK_PUT_ZCOPY,
    MOCK_GET_BCOPY,
    MOCK_GET_ZCOPY,
    MOCK_FLUSH,
    MOCK_REGISTER,
    MOCK_UNPACK_KEY,
    MOCK_KEEP,
    MOCK_OP_COUNT,
    MOCK_ANY_SEND, /* in a fault: one of AM_SHORT .. FLUSH */
};

/* How the transport is. device_count, absent and seed are read when a context
 * is made, devices when endpoints are; the rest may change at any time.
 * device_count    devices "mock0", "mock1" ...; n reaches n
 * absent          1 << enum mock_op: what it cannot
 * devices         limits, costs and flags
 * is_held         nothing arrives before deliver()
 * completes_late  zcopies complete with their arrival, not before: the bytes
 *                 are read then
 * needs_mem       put_zcopy, get_zcopy want the iov registered
 * pinned_bytes_max  a host may have registered; more: NO_MEMORY
 * generation      changes when memory there is unmapped, or becomes another:
 *                 then a registration made before means the old pages. Called
 *                 by the mock only; NULL: memory stays
 * room            things on the way per endpoint; more are refused
 * kept_max        messages that the handlers of an interface may keep
 * seed            not 0: what may overtake does, and things take their time */
struct mock_setup {
    unsigned              device_count;
    unsigned              absent;
    struct uct_iface_attr devices[MOCK_DEVICE_COUNT_MAX];
    bool                  is_held;
    bool                  completes_late;
    bool                  needs_mem;
    size_t                pinned_bytes_max;
    uint64_t (*generation)(const void *address, size_t length);
    unsigned room;
    unsigned kept_max;
    uint64_t seed;
};

enum mock_event_type {
    MOCK_AM,
    MOCK_PUT,
    MOCK_GET,
    MOCK_REGISTERED,
    MOCK_RELEASED
};

/* An entry of the journal.
 * number   of the thing on the wire, or of the registration
 * channel  of the sending endpoint, for inject(); 0: none
 * address  put, get: remote; registered, released: local
 * bytes    [length] of a message, as they were handed up; else NULL
 * status   how a put or get ended; UCS_INPROGRESS: it did not yet
 * time_s   of the host that did it */
struct mock_event {
    enum mock_event_type type;
    enum mock_op         op;
    uint64_t             number;
    uint64_t             channel;
    unsigned             device;
    unsigned             from;
    unsigned             to;
    uint8_t              am_id;
    bool                 is_any_order;
    size_t               length;
    uint64_t             address;
    uint8_t             *bytes;
    ucs_status_t         status;
    double               time_s;
};

/* Something that goes wrong.
 * op      which operation, of which host
 * first   it is the n-th from now that is hit; 1: the next
 * count   so many, one after the other
 * status  the answer; UCS_ERR_WOULD_BLOCK: refused as if full
 * late    put_zcopy, get_zcopy: accepted, and completes so */
struct mock_fault {
    enum mock_op op;
    unsigned     host;
    unsigned     first;
    unsigned     count;
    ucs_status_t status;
    bool         late;
};

enum mock_order {
    MOCK_OLDEST,    /* the order of acceptance */
    MOCK_PUTS_LAST, /* what may overtake a put does */
    MOCK_EARLIEST   /* by the clock */
};

struct mock_control {
    /* The default setup, no faults, empty journal. Nothing is open. */
    void (*reset)(void);
    struct mock_setup *setup;

    /* Journal: entries [0, count); one is lent until the transport is called
     * again. */
    unsigned (*event_count)(void);
    const struct mock_event *(*event)(unsigned index);
    void (*forget_events)(void);

    /* The wire. @return the number of what may arrive next, 0: nothing. */
    uint64_t (*next)(enum mock_order order);
    /* Let it arrive: a put or get at once, a message with the receiver's next
     * progress. @return false: there is no such thing (any more). */
    bool (*deliver)(uint64_t number);
    /* A message as if it came from that endpoint, handed up with the
     * receiver's next progress. Channel 0: from a stranger to that host.
     * @return false: the endpoint is gone. */
    bool (*inject)(uint64_t channel, unsigned to, uint8_t am_id,
                   const void *bytes, size_t length);

    /* A message on the way becomes another one of the same length; not one
     * whose bytes are still lent. @return false: there is no such thing. */
    bool (*change)(uint64_t number, const void *bytes);

    /* @return an id for fault_hits(). */
    unsigned (*fault)(const struct mock_fault *fault);
    unsigned (*fault_hits)(unsigned id);
    /* Refuse every send of that host, or go on. */
    void (*block)(unsigned host, bool is_blocked);
    /* The host dies: what it has on the way is lost, its peers are told. */
    void (*kill)(unsigned host);

    /* Registrations that were not released; their bytes, and the most that
     * they were since the journal was forgotten. */
    unsigned (*mem_count)(unsigned host);
    size_t (*pinned_bytes)(unsigned host);
    size_t (*pinned_bytes_peak)(unsigned host);

    /* The clock of a host, as the costs of the devices say (mock_clock.c). It
     * is right when all arrives by MOCK_EARLIEST and completes late. */
    double (*now_s)(unsigned host);
    void (*restart_clock)(void);

    /* The first thing that a user of the transport did wrong, or "". */
    const char *(*bad)(void);
};

/* The name under which the module exports it. */
#define MOCK_CONTROL_SYMBOL "causeway_mock_control"

/* Load the module out of `folder`; the same file that the library loads when
 * UCX_MODULE_DIR names the folder. @return NULL: dlerror() says why. */
const struct mock_control *mock_open(const char *folder);

#endif
