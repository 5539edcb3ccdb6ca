/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/api/uct_def.h - the words of the transport layer: flags, limits, and the
 * small structs that a transport and its user pass to one another.
 *
 *   transport   a kind of network; one const struct of functions
 *   device      one thing that a transport can use ("memory", "eth0")
 *   md          memory domain: a device opened; registers memory
 *   iface       a device opened for one worker: an address, progress
 *   ep          one peer over one iface
 *   source      the receiver's object for a sending ep */
#ifndef UCT_API_UCT_DEF_H_
#define UCT_API_UCT_DEF_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ucs/compiler.h"
#include "ucs/queue.h"
#include "ucs/type/status.h"

struct uct_transport;
struct uct_md;
struct uct_iface;
struct uct_ep;

enum uct_limit {
    UCT_AM_ID_COUNT       = 32,  /* active-message ids 0 .. 31 */
    UCT_NAME_BYTES_MAX    = 32,  /* transport and device names, with NUL */
    UCT_ADDRESS_BYTES_MAX = 255, /* one length byte in a worker address */
    UCT_RKEY_BYTES_MAX    = 128, /* a packed remote key */
    UCT_REASON_BYTES_MAX  = 192, /* a sentence that says why not */
};

/* Flags of one operation. */
enum uct_op_flag {
    /* When refused, enter the interface's pending queue: the endpoint's
     * pending callback is called once resources exist. */
    UCT_FLAG_PENDING = 1 << 0,
    /* This message may overtake and be overtaken, but for the first message of
     * the endpoint, which says who speaks; it is not held back by an endpoint
     * that waits in the pending queue. */
    UCT_FLAG_ANY_ORDER = 1 << 1,
    /* Hand this up from progress: the answer comes from there too, and who
     * waits for both ends calls it once. Only for transports that hand up
     * inside the call of the sender; others need not look. */
    UCT_FLAG_LATER = 1 << 2,
    /* Bits of UCT_FLAG_HEADER. */
    UCT_FLAG_HEADER_SHIFT = 8,
    UCT_FLAG_HEADER_MASK  = 0xff,
};

/* am_bcopy: so many of the bytes that pack writes are a header of the
 * caller's, bulk data follows. A hint, kept modulo 256: a transport may choose
 * where it has pack write so that the data is aligned. */
#define UCT_FLAG_HEADER(_bytes)                                                \
    (((unsigned)(_bytes)&UCT_FLAG_HEADER_MASK) << UCT_FLAG_HEADER_SHIFT)

static inline size_t uct_flag_header_bytes(unsigned flags)
{
    return (flags >> UCT_FLAG_HEADER_SHIFT) & UCT_FLAG_HEADER_MASK;
}

/* Flags with which a message is handed up. */
enum uct_am_flag {
    /* The handler may return UCS_INPROGRESS and keep [data, data + length)
     * until it calls uct_iface_release(). */
    UCT_AM_MAY_KEEP = 1 << 0,
};

/* What an interface promises beyond its functions. */
enum uct_iface_flag {
    UCT_IFACE_INTRA_NODE = 1 << 0, /* reaches only peers on this host */
    UCT_IFACE_SELF_ONLY  = 1 << 1, /* reaches only its own interface */
    /* An am on an endpoint is handed up only after its earlier puts are
     * visible at the target. */
    UCT_IFACE_PUT_BEFORE_AM = 1 << 2,
    /* progress() is a system call: poll it rarely when it is quiet. */
    UCT_IFACE_POLL_IS_SYSCALL = 1 << 3,
    /* A put that has completed is visible at the target: no flush is needed
     * before the peer is told. Says nothing of puts still in progress. */
    UCT_IFACE_PUT_DONE_AT_TARGET = 1 << 4,
    /* am_zcopy copies inside the call: it saves nothing over am_bcopy. */
    UCT_IFACE_ZCOPY_COPIES = 1 << 5,
    /* Has words that peers reach too (uct/api/claim.h). */
    UCT_IFACE_CLAIMS = 1 << 6,
};

/* Where an endpoint stands with the pending queue (base/pending.h):
 * uct_ep.pending_state. */
enum uct_pending_state {
    UCT_PENDING_NONE,
    UCT_PENDING_WAITS, /* in iface->pending: ordered sends are refused */
    UCT_PENDING_TURN,  /* its callback runs and tried nothing yet */
    UCT_PENDING_TRIED, /* its callback runs and tried one operation */
    UCT_PENDING_SENT,  /* its callback runs and sent something */
};

/* What one end of an endpoint may do to the memory of the other
 * (uct_ep.rights). */
enum uct_right {
    UCT_RIGHT_KNOWN  = 1 << 0, /* found out; without it nothing else is set */
    UCT_RIGHT_PUT    = 1 << 1,
    UCT_RIGHT_GET    = 1 << 2,
    UCT_RIGHT_ATOMIC = 1 << 3,
};

/* One local piece of a message.
 * buffer  [length] bytes, lent until the operation completes locally;
 *         may be NULL when length is 0 (an empty entry is legal)
 * mem     its registration, or NULL when the domain needs none */
struct uct_iov {
    void           *buffer;
    size_t          length;
    struct uct_mem *mem;
};

/* A completion that the caller embeds in a struct of its own.
 * queue   the transport's, while the operation is in progress
 * cb      called once, from progress, after status is set
 * status  UCS_OK, or why the operation failed */
struct uct_req {
    struct ucs_queue_elem queue;
    void (*cb)(struct uct_req *self);
    ucs_status_t status;
};

/* Fill dest; @return bytes written, at most the length_max that was given to
 * the operation. Called at most once, inside the operation, only when the
 * operation is accepted. */
typedef size_t (*uct_pack_fn)(void *dest, void *arg);

/* The receiver's object for one sending endpoint. The transport makes it with
 * the first message and ends it once, after the last one.
 * user    ucp's slot: NULL until ucp sets it */
struct uct_source {
    void *user;
};

/* A message arrived.
 * data    [length] bytes, borrowed for this call unless kept (see below);
 *         8-byte aligned
 * flags   enum uct_am_flag
 * @return UCS_OK: done with the data. UCS_INPROGRESS, only when flags has
 *         UCT_AM_MAY_KEEP: the data is kept until uct_iface_release(). */
typedef ucs_status_t (*uct_am_fn)(void *arg, struct uct_source *source,
                                  void *data, size_t length, unsigned flags);

struct uct_am_entry {
    uct_am_fn fn;
    void     *arg;
};

/* A source ended: UCS_OK when the sender closed it in order, otherwise why.
 * Called once, from progress, after its last message; source is invalid
 * afterwards. */
typedef void (*uct_source_end_fn)(void *arg, struct uct_source *source,
                                  ucs_status_t status);

/* Resources for this endpoint exist again; send now. One-shot. */
typedef void (*uct_pending_fn)(struct uct_ep *ep);

/* The peer of this endpoint is gone; reported once, from progress, after every
 * operation in flight was completed with that status. Later operations return
 * the status. The endpoint must still be destroyed. */
typedef void (*uct_error_fn)(struct uct_ep *ep, ucs_status_t status);

/* Rights over registered memory. */
enum uct_access {
    UCT_ACCESS_LOCAL         = 1 << 0,
    UCT_ACCESS_REMOTE_READ   = 1 << 1,
    UCT_ACCESS_REMOTE_WRITE  = 1 << 2,
    UCT_ACCESS_REMOTE_ATOMIC = 1 << 3,
    UCT_ACCESS_ALL           = 15,
};

/* What one family of operations can carry; all zero when the function is
 * absent, or when this interface cannot (iface_params.names, settings).
 * iov_count_max     entries, empty ones included
 * remote_count_max  the same of the other side, put_zcopy and get_zcopy */
struct uct_op_limits {
    size_t   short_bytes_max;
    size_t   bcopy_bytes_max;
    size_t   zcopy_bytes_max;
    unsigned iov_count_max;
    unsigned remote_count_max;
};

/* How fast; the numbers that selection uses: active messages, and the
 * registration of memory. */
struct uct_cost {
    double latency_s;       /* one way, an empty message */
    double overhead_s;      /* processor time per message, each side */
    double bandwidth_Bps;   /* large messages: bytes per second */
    double register_base_s; /* registering memory: base + bytes * per byte */
    double register_per_byte_s;
};

/* How fast put or get is; all zero where there is none.
 * latency_s      from the call to the completion, beyond the overhead
 * overhead_s     processor time of the caller per operation
 * bandwidth_Bps  large operations: bytes per second of one endpoint */
struct uct_rma_cost {
    double latency_s;
    double overhead_s;
    double bandwidth_Bps;
};

struct uct_iface_attr {
    struct uct_op_limits am; /* am_short: bytes after the 8-byte header;
                              * am_zcopy: header + iov */
    size_t               am_zcopy_header_bytes_max;
    struct uct_op_limits put;
    struct uct_op_limits get;
    struct uct_cost      cost;
    struct uct_rma_cost  put_cost;
    struct uct_rma_cost  get_cost;
    unsigned             flags;         /* enum uct_iface_flag */
    size_t               address_bytes; /* of this interface */
};

#endif
