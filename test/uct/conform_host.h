/* SPDX-License-Identifier: BSD-3-Clause */
/* test/uct/conform_host.h - one side of a conform_* test: an interface, what
 * is sent on it and what is received. conform.h has the picture. */
#ifndef TEST_UCT_CONFORM_HOST_H_
#define TEST_UCT_CONFORM_HOST_H_

#include <stdlib.h>
#include <string.h>

#include "lib/test.h"
#include "uct/api/uct.h"
#include "uct/base/caps.h"

enum conform_limit {
    CONFORM_LANE_COUNT    = 16,
    CONFORM_SLOT_COUNT    = 16,      /* zcopy in flight per lane */
    CONFORM_MESSAGE_BYTES = 1 << 17, /* largest message that tests send */
    CONFORM_KEPT_COUNT    = 4096,
    CONFORM_REGION_BYTES  = 1 << 20,
    CONFORM_IOV_COUNT     = 128,
    CONFORM_RPC_BYTES     = 512,
    CONFORM_BAD_BYTES     = 160,
    CONFORM_HEADER_BYTES  = 8,
    CONFORM_FAILURE_S     = 2, /* failure_bound_ns of all interfaces */
};

enum conform_am_id {
    AM_ORDERED = 1,  /* checked: pattern and order */
    AM_ANY     = 2,  /* checked: pattern, each once */
    AM_ECHO    = 3,  /* as AM_ORDERED, and one AM_ORDERED is sent back */
    AM_KEEP    = 4,  /* as AM_ORDERED, kept when allowed */
    AM_COUNT   = 5,  /* counted only: any length */
    AM_NOBODY  = 29, /* no handler */
};

/* Transport and number of processes: the value of a test_param.
 * names       what chose the transport, as in uct_iface_params
 * is_encrypted  with NET_ENCRYPT=y */
struct conform_param {
    const struct uct_transport   *transport;
    unsigned                      process_count;
    const struct ucs_config_list *names;
    bool                          is_encrypted;
};

/* What a host received, as others may see it. */
struct inbox {
    uint64_t ordered_count; /* in order and intact */
    uint64_t any_count;     /* intact, and for the first time */
    uint64_t count_count;   /* AM_COUNT */
    uint64_t count_bytes;
    uint64_t kept_count; /* not given back yet */
    uint64_t kept_total;
    uint64_t owed_count; /* echoes not sent yet */
    uint64_t sources;
    uint64_t sources_max; /* at the same time */
    uint64_t ended_ok;
    uint64_t ended_failed;
    uint64_t ended_status; /* of the last one that failed */
    uint64_t ep_errors;
    uint64_t ep_error_status; /* of the last one */
    uint64_t dropped;
    uint64_t unsent; /* messages that lanes still have to send */
    uint64_t refused;
    uint64_t sleeps; /* that ended by the descriptor */
    char     bad[CONFORM_BAD_BYTES];
};

struct host;

/* A buffer that a zcopy in flight borrowed. */
struct slot {
    struct uct_req  req;
    struct lane    *lane;
    struct uct_mem *mem;
    uint8_t        *bytes; /* [lane->message_bytes_max] */
    uint64_t        number;
    bool            is_used;
};

enum lane_kind { LANE_SHORT = 1, LANE_BCOPY = 2, LANE_ZCOPY = 4 };

/* What a lane sends. */
struct lane_load {
    uint64_t count;
    uint64_t bytes_min; /* payload, behind the first 8 bytes */
    uint64_t bytes_max;
    uint32_t kinds; /* enum lane_kind; those that are absent are not used */
    uint32_t am_id; /* AM_ORDERED, AM_ECHO, AM_KEEP, AM_COUNT */
    uint32_t any_percent; /* so many are AM_ANY with UCT_FLAG_ANY_ORDER */
    uint32_t is_polling;  /* retries instead of UCT_FLAG_PENDING */
};

/* One endpoint and what it sends.
 * is_waiting    refused; the pending callback will clear it
 * zcopy_number  of the next zcopy; done_number: of the next completion */
struct lane {
    struct host     *host;
    struct uct_ep   *ep;
    struct lane_load load;
    uint8_t          stream;
    uint32_t         sequence;
    uint32_t         any_sequence;
    bool             is_waiting;
    uint64_t         sent;
    uint64_t         refused;
    uint64_t         pending_calls;
    uint64_t         errors;
    ucs_status_t     error_status;
    ucs_status_t     send_status; /* of the send that failed */
    uint64_t         zcopy_number;
    uint64_t         done_number;
    uint64_t         done_failed;
    unsigned         slots_used;
    struct slot      slots[CONFORM_SLOT_COUNT];
    size_t           slot_bytes;
    /* Instead of sending on: what the pending callback does. */
    void (*on_pending)(struct lane *lane);
};

/* What a receiver knows of a sender. */
struct sender {
    struct uct_source *source;
    struct sender     *next;
    uint32_t           sequence;
    bool               is_known;
    uint8_t            stream;
    uint32_t           any_window; /* bit n: any_base + n arrived */
    uint8_t           *any_seen;   /* [any_bytes] bitmap */
    size_t             any_bytes;
};

struct kept {
    void  *data;
    size_t length;
};

/* An interface with all that tests do with it.
 * shared       the other host's interface and inbox are ours:
 * UCT_IFACE_SELF_ONLY random       of this host, so that a peer process has its
 * own stream is_frozen    nothing progresses */
struct host {
    const struct uct_transport *tl;
    struct uct_md              *md;
    struct uct_iface           *iface;
    struct uct_iface_attr       attr;
    struct host                *shared;
    uint8_t                     address[UCT_ADDRESS_BYTES_MAX];
    struct lane                 lanes[CONFORM_LANE_COUNT];
    unsigned                    lane_count;
    struct inbox                inbox;
    struct sender              *senders;
    struct kept                 kept[CONFORM_KEPT_COUNT];
    uint8_t                    *region; /* [CONFORM_REGION_BYTES] */
    struct uct_mem             *region_mem;
    uint64_t                    random;
    bool                        is_frozen;
    bool                        is_sleepy;
};

enum rpc_op {
    RPC_INBOX,        /* progress and tell the inbox */
    RPC_ADDRESS,      /* the address of the interface */
    RPC_CONNECT,      /* create a lane to the address in bytes */
    RPC_LOAD,         /* give lane a the load in bytes */
    RPC_FREEZE,       /* a: 1 stop progress, 0 go on */
    RPC_RELEASE_KEPT, /* give back up to a kept messages, in random order */
    RPC_REGION,       /* expose the region with access a: rkey, address */
    RPC_REGION_READ,  /* up to CONFORM_RPC_BYTES at offset a */
    RPC_REGION_WRITE, /* bytes at offset a */
    RPC_RIGHTS,       /* of lane a: rights, peer_rights << 8 */
    RPC_SLEEPY,       /* a: 1 sleep on the descriptor whenever idle */
    RPC_DESTROY,      /* destroy all lanes */
    RPC_LEAVE,        /* destroy all lanes, close everything, end */
    RPC_EXIT,         /* end the process without closing anything */
};

struct rpc {
    enum rpc_op  op;
    ucs_status_t status; /* of the answer */
    uint64_t     a;
    uint64_t     size_bytes;
    struct inbox inbox; /* of the answer to RPC_INBOX */
    uint8_t      bytes[CONFORM_RPC_BYTES];
};

/* conform_message.c: patterns and receiving */
uint64_t message_header(uint8_t stream, uint32_t sequence, size_t payload);
void     message_fill(uint8_t *payload, uint64_t header, size_t bytes);
bool     message_check(const uint8_t *payload, uint64_t header, size_t bytes);
void     host_set_handlers(struct host *host);
void     host_release_kept(struct host *host, uint64_t count_max);
void     host_bad(struct host *host, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void host_source_end(void *arg, struct uct_source *source, ucs_status_t status);
void host_free_senders(struct host *host);

/* conform_lane.c: sending */
ucs_status_t lane_open(struct host *host, const uint8_t *address,
                       size_t address_bytes, struct lane **lane_p);
void         lane_close(struct lane *lane);
void         lane_load(struct lane *lane, const struct lane_load *load);
bool         lane_step(struct lane *lane);
bool         lane_is_done(const struct lane *lane);
/* One message of that kind and payload. */
ucs_status_t lane_send(struct lane *lane, enum lane_kind kind, unsigned am_id,
                       size_t payload, unsigned flags);
size_t       lane_payload_max(const struct lane *lane, enum lane_kind kind);
bool         lane_has(const struct lane *lane, enum lane_kind kind);

/* conform_host.c: an interface, and what rpc makes it do */
ucs_status_t host_open(struct host *host, const struct conform_param *param,
                       bool wakeup, char *reason);
void         host_close(struct host *host);
bool         host_step(struct host *host);
void         host_answer(struct host *host, struct rpc *rpc);
uint64_t     host_random(struct host *host);

#endif
