/* SPDX-License-Identifier: BSD-3-Clause */
/* mock_types.h - private types of the mock transport.
 *
 *   mock_ep ---- items of the wire, in order ----> mock_source (at the peer)
 *
 * An item is one message, put, get, flush or end of one endpoint. What its
 * endpoint and its receiver still want of it decides when it is freed:
 *
 *   accepted --> arrived      the handler ran, the memory changed
 *      '-------> completed    the local buffer is the caller's again
 */
#ifndef TEST_MOCK_MOCK_TYPES_H_
#define TEST_MOCK_MOCK_TYPES_H_

#include <stdlib.h>
#include <string.h>

#include "mock/mock.h"
#include "ucs/assert.h"
#include "ucs/list.h"
#include "uct/api/module.h"
#include "uct/base/complete.h"
#include "uct/base/ep.h"
#include "uct/base/iface.h"
#include "uct/base/iov.h"
#include "uct/base/md.h"
#include "uct/base/pending.h"

enum {
    MOCK_CLAIM_COUNT   = 4,
    MOCK_ADDRESS_BYTES = 24,
    MOCK_RKEY_BYTES    = 40,
    MOCK_ADDRESS_MAGIC = 0x4d4f4341,
    MOCK_RKEY_MAGIC    = 0x4d4f434b,
};

enum mock_kind {
    MOCK_ITEM_AM,
    MOCK_ITEM_PUT,
    MOCK_ITEM_GET,
    MOCK_ITEM_FLUSH,
    MOCK_ITEM_END /* of the source */
};

struct mock_md {
    struct uct_md   base;
    unsigned        device;
    unsigned        host;
    struct ucs_list link;
};

struct mock_mem {
    struct uct_mem  base;
    uint64_t        key;
    uint64_t        number;
    uint64_t        generation; /* of the memory when it was registered */
    struct ucs_list link;       /* world.mems */
};

struct mock_rkey {
    struct uct_rkey base;
    uint64_t        key;
};

/* is_dead  killed: nothing goes out or comes in
 * steps    calls of progress */
struct mock_iface {
    struct uct_iface base;
    uint64_t         id;
    unsigned         device;
    unsigned         host;
    bool             is_dead;
    unsigned         kept_count;
    uint64_t         steps;
    struct ucs_list  eps;
    struct ucs_list  sources;
    struct ucs_list  link;
};

/* The receiver's object; made with the endpoint, so that its end needs no
 * memory. ep NULL: the endpoint is destroyed. */
struct mock_source {
    struct uct_source  base;
    struct mock_iface *iface; /* the receiver */
    struct mock_ep    *ep;
    uint64_t           channel;
    bool               has_sent;
    bool               is_cut; /* the sender was killed */
    struct ucs_list    link;
};

/* source  NULL: the peer's interface is closed, or killed */
struct mock_ep {
    struct uct_ep       base;
    uint64_t            channel;
    uint64_t            peer_id;
    struct mock_source *source;
    bool                is_cut; /* the peer was killed; to be reported */
    unsigned            on_way; /* items that have not arrived */
    struct uct_inflight inflight;
    struct ucs_list     link;
};

/* A piece of the target's memory; the key's object may be gone by then. */
struct mock_remote {
    uint64_t address;
    size_t   length;
    uint64_t key;
};

/* ep       NULL: destroyed, nobody waits for the completion
 * req      to be completed, NULL: nothing is
 * own      stands for a request that the caller did not give
 * data     [length] the bytes, once they were read out of iov
 * sum      of the lent bytes, to see that nobody changes them
 * status   of the operation
 * done_s   when it arrives; a get: when its bytes are here
 * event    its entry in the journal, -1: none */
struct mock_item {
    struct ucs_list     link;
    enum mock_kind      kind;
    uint64_t            number;
    struct mock_ep     *ep;
    struct mock_source *source;
    struct mock_iface  *from;
    struct mock_iface  *to;
    uint8_t             am_id;
    bool                is_any_order;
    bool                is_released; /* deliver() was called */
    bool                has_arrived;
    bool                is_lent; /* iov is in use */
    uint64_t            accepted_step;
    struct uct_req     *req;
    struct uct_req      own;
    bool                is_own_used;
    uint8_t            *data;
    size_t              length;
    size_t              header_length;
    struct uct_iov      iov[MOCK_IOV_COUNT_MAX];
    unsigned            iov_count;
    uint64_t            sum;
    struct mock_remote  remote[MOCK_IOV_COUNT_MAX];
    unsigned            remote_count;
    ucs_status_t        status;
    double              done_s;
    int                 event;
};

struct mock_fault_state {
    struct mock_fault fault;
    unsigned          seen;
    unsigned          hits;
};

/* One host.
 * pinned_bytes   registered and not released
 * now_s          its processor's clock
 * link_free_s    when each device has sent what it was given
 * claims         of its interfaces with UCT_IFACE_CLAIMS; they stay when it
 *                dies, as shared memory does */
struct mock_host {
    bool   is_blocked;
    size_t pinned_bytes;
    size_t pinned_bytes_peak;
    double now_s;
    double link_free_s[MOCK_DEVICE_COUNT_MAX];

    struct uct_claim claims[MOCK_DEVICE_COUNT_MAX][MOCK_CLAIM_COUNT];
};

struct mock_world {
    struct mock_setup       setup;
    struct mock_host        hosts[MOCK_HOST_COUNT_MAX];
    struct ucs_list         mds;
    struct ucs_list         ifaces;
    struct ucs_list         mems;
    struct ucs_list         wire;
    struct mock_event      *events;
    unsigned                event_count;
    unsigned                event_room;
    struct mock_fault_state faults[MOCK_FAULT_COUNT_MAX];
    unsigned                fault_count;
    uint64_t                number; /* the last one given */
    uint64_t                random;
    ucs_status_t            late_status; /* of what is being accepted */
    char                    bad[MOCK_BAD_BYTES];
};

extern struct mock_world mock_world;

static inline struct mock_iface *mock_iface_of(const struct uct_iface *iface)
{
    return ucs_container_of(iface, struct mock_iface, base);
}

static inline struct mock_ep *mock_ep_of(const struct uct_ep *ep)
{
    return ucs_container_of(ep, struct mock_ep, base);
}

#endif
