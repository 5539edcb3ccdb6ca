/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/api/transport.h - what a transport must be.
 *
 * Exactly one const struct uct_transport per folder (or per module file). NULL
 * in an optional slot means "cannot"; that absence is the only declaration of
 * a missing feature. The smallest complete example is src/uct/self.
 *
 * Threads: a worker is entered by one thread at a time, not always the same
 * one; so are its interfaces and endpoints. Domains are used by any thread.
 * Callbacks (handlers, completions, pending, error, source end) run only
 * inside progress(); `self` alone also hands messages up inside a send call.
 * A callback may send, create and destroy endpoints, the one that it is about
 * too; it may not call progress() and may not close the interface. */
#ifndef UCT_API_TRANSPORT_H_
#define UCT_API_TRANSPORT_H_

#include "ucs/list.h"
#include "uct/api/claim.h"
#include "uct/api/params.h"
#include "uct/api/rma.h"
#include "uct/api/uct_def.h"

struct ucs_config_table;

/* A thing that the transport can open, or why it is left out.
 * left_out  a sentence for people; empty: it can be opened */
struct uct_device {
    const struct uct_transport *transport;
    char                        name[UCT_NAME_BYTES_MAX];
    char                        left_out[UCT_REASON_BYTES_MAX];
};

/* Base of a memory domain. */
struct uct_md {
    const struct uct_transport *transport;
    struct uct_device           device;
};

/* Base of registered memory. */
struct uct_mem {
    struct uct_md *md;
    void          *address;
    size_t         length;
    unsigned       access; /* enum uct_access */
};

/* Base of an unpacked remote key. */
struct uct_rkey {
    struct uct_md *md;
};

/* Base of an interface. The transport calls uct_iface_init() (base/iface.h);
 * what is not commented as readable is the base's own.
 * pending           endpoints that wait for resources, in turn
 * pending_turn      where an endpoint goes that keeps its turn; NULL: no
 *                   pending callback runs
 * am_dropped_count  messages with an id that nobody receives; readable
 * ep_count          endpoints that are not destroyed; readable
 * claims            words that peers reach too, set by the transport
 * is_idle           nothing to do for progress() before the next call here;
 *                   for transports that nothing reaches from outside */
struct uct_iface {
    const struct uct_transport *transport;
    struct uct_md              *md;
    struct uct_am_entry         am[UCT_AM_ID_COUNT];
    struct ucs_list             pending;
    struct ucs_list            *pending_turn;
    uint64_t                    am_dropped_count;
    unsigned                    ep_count;
    struct uct_claims           claims;
    bool                        is_idle;
    struct uct_iface_params     params;
};

/* Base of an endpoint. The transport calls ucti_ep_init() (base/ep.h).
 * pending_state  enum uct_pending_state
 * rights         enum uct_right: what this end may do to the peer's memory.
 *                Known at the latest when the first message was accepted; may
 *                become less later
 * peer_rights    what the peer may do to ours, as it told; known later, or
 *                never
 * rights_reason  why rights are missing, for people; valid like the endpoint
 * failed         UCS_OK, or the status that every operation now returns
 * claims         [claim_count] the peer's words, once it is reached; NULL
 * destroyed_p    set to true when the endpoint is destroyed inside a callback
 *                of its own; NULL: none runs */
struct uct_ep {
    const struct uct_transport *transport;
    struct uct_iface           *iface;
    uint8_t                     pending_state;
    uint8_t                     rights;
    uint8_t                     peer_rights;
    uint8_t                     claim_count;
    ucs_status_t                failed;
    const char                 *rights_reason;
    struct uct_claim           *claims;
    struct ucs_list             pending_link;
    bool                       *destroyed_p;
    uct_pending_fn              pending;
    uct_error_fn                error;
    void                       *user;
};

struct uct_transport {
    const char *name;
    /* Names in UCX_TLS that mean this transport, its own aside: a comma
     * list, or "". One with + in front means a part of it: known, but it does
     * not choose the transport (docs/adr/0020). The word -all: `all` does not
     * mean it, it must be asked for by name. */
    const char *aliases;
    /* Settings, or NULL. */
    const struct ucs_config_table *config;

    /* Devices: the best first, those that are left out last.
     * @param config   Options of transport->config; NULL: those of the
     *                 environment.
     * @param devices  [*count_p] entries, zeroed, to fill.
     * @param count_p  In: room. Out: how many there are, filled up to room.
     * @param reason   [UCT_REASON_BYTES_MAX] set when there is none: why. */
    void (*devices)(const void *config, struct uct_device *devices,
                    unsigned *count_p, char *reason);

    /* Memory domain. mem_* and rkey_*: NULL when there is no put, get,
     * atomic. Registration of memory that is not mapped fails with
     * UCS_ERR_INVALID_ADDR or succeeds and faults at use: per transport. */
    ucs_status_t (*md_open)(const struct uct_device *device,
                            struct uct_md          **md_p);
    void (*md_close)(struct uct_md *md);
    ucs_status_t (*mem_register)(struct uct_md *md, void *address,
                                 size_t length, unsigned access,
                                 struct uct_mem **mem_p);
    void (*mem_release)(struct uct_mem *mem);
    /* Write the remote key, position independent.
     * @param bytes  [UCT_RKEY_BYTES_MAX]. @return bytes written. */
    size_t (*rkey_pack)(const struct uct_mem *mem, uint8_t *bytes);
    /* @return UCS_ERR_INVALID_PARAM for bytes that are no key of ours. */
    ucs_status_t (*rkey_unpack)(struct uct_md *md, const uint8_t *bytes,
                                size_t size_bytes, struct uct_rkey **rkey_p);
    void (*rkey_release)(struct uct_rkey *rkey);

    /* Interface. */
    ucs_status_t (*iface_open)(struct uct_md                 *md,
                               const struct uct_iface_params *params,
                               struct uct_iface             **iface_p);
    void (*iface_close)(struct uct_iface *iface); /* no endpoints are left */
    void (*iface_query)(const struct uct_iface *iface,
                        struct uct_iface_attr  *attr_p);
    /* @param bytes  [attr.address_bytes]. */
    void (*iface_address)(const struct uct_iface *iface, uint8_t *bytes);
    /* May an endpoint to that address work? Looks at nothing that the peer
     * must do; may probe (can I open its memory?).
     * @param reason  [UCT_REASON_BYTES_MAX] set when not UCS_OK: which check
     *                failed and the setting that would change it.
     * @return UCS_OK, UCS_ERR_UNREACHABLE, UCS_ERR_INVALID_ADDR (not an
     *         address of this transport or version). */
    ucs_status_t (*iface_reach)(struct uct_iface *iface, const uint8_t *bytes,
                                size_t size_bytes, char *reason);
    /* Of addresses that are reached at the same cost, also by several
     * interfaces of the transport, which is taken: the one with the lowest
     * rank. NULL: they are all alike, the first one is.
     * @param why  [UCT_REASON_BYTES_MAX] set: what it depends on. */
    uint64_t (*iface_rank)(struct uct_iface *iface, const uint8_t *bytes,
                           size_t size_bytes, char *why);
    /* @return how many events were handled; 0: nothing happened. */
    unsigned (*progress)(struct uct_iface *iface);
    /* A descriptor that is readable when a sleeper must wake; the
     * interface's. -1: none is needed, nothing ever arrives while asleep. */
    int (*event_fd)(struct uct_iface *iface);
    /* @return UCS_OK: event_fd will fire. UCS_ERR_BUSY: something waits. */
    ucs_status_t (*arm)(struct uct_iface *iface);
    /* Give back a message that a handler kept. */
    void (*am_release)(struct uct_iface *iface, void *data);

    /* Endpoint. ep_create does not wait for the peer. */
    ucs_status_t (*ep_create)(struct uct_iface           *iface,
                              const struct uct_ep_params *params,
                              struct uct_ep             **ep_p);
    /* Orderly end: the peer's source ends with UCS_OK after the last
     * message, and before the first of an endpoint that is created after this
     * one to the same interface. What was accepted is delivered; requests in
     * progress complete with UCS_ERR_CANCELED inside the call. The pending
     * callback never runs after this began. */
    void (*ep_destroy)(struct uct_ep *ep);

    /* Active messages. Data handed up by am_short is the 8-byte header, host
     * order, followed by the payload.
     * @return UCS_OK, UCS_ERR_WOULD_BLOCK (nothing happened), or an error. */
    ucs_status_t (*am_short)(struct uct_ep *ep, uint8_t am_id, uint64_t header,
                             const void *payload, size_t length,
                             unsigned flags);
    /* @param length_max  What pack will write at most: lets the transport
     *                    choose the buffer (docs/adr/0003).
     * @return bytes packed, or a negative ucs_status_t. */
    ssize_t (*am_bcopy)(struct uct_ep *ep, uint8_t am_id, uct_pack_fn pack,
                        void *arg, size_t length_max, unsigned flags);
    /* @param header  Borrowed, [header_length].
     * @param iov     [count] borrowed; the buffers are lent.
     * @return UCS_OK: done, req is not used. UCS_INPROGRESS: req->cb will be
     *         called, if req is not NULL. UCS_ERR_WOULD_BLOCK. An error. */
    ucs_status_t (*am_zcopy)(struct uct_ep *ep, uint8_t am_id,
                             const void *header, size_t header_length,
                             const struct uct_iov *iov, unsigned iov_count,
                             struct uct_req *req, unsigned flags);

    /* Remote memory; the same answers. Bounds and rights are checked against
     * the region that rkey names: UCS_ERR_INVALID_ADDR. Without the right in
     * uct_ep.rights: UCS_ERR_UNSUPPORTED. Operations of one endpoint may land
     * in any order; a flush puts later ones behind it. More pieces than the
     * limits, or sides of different length: UCS_ERR_INVALID_PARAM. */
    uct_put_short_proc *put_short;
    uct_put_bcopy_proc *put_bcopy;
    uct_zcopy_proc     *put_zcopy;
    /* @param buffer  [length], lent until the operation completes. */
    uct_get_bcopy_proc *get_bcopy;
    uct_zcopy_proc     *get_zcopy;
    uct_atomic_proc    *atomic;

    /* Everything sent before is done: active messages need nothing more from
     * either application, put/get/atomic are done at the target.
     * @return UCS_OK: all done. UCS_INPROGRESS: req->cb will be called.
     *         UCS_ERR_WOULD_BLOCK (only with a full queue). An error. */
    ucs_status_t (*ep_flush)(struct uct_ep *ep, struct uct_req *req,
                             unsigned flags);
};

#endif
