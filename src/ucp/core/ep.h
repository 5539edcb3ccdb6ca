/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/ep.h - one peer, seen from one worker.
 *
 *            ep_create()            first send              error, close
 *   (none) -------------> NEW -----------------> READY ----------------> ended
 *      | announcement of    ^
 *      '--- the peer's n-th '  an internal end stands in until the user makes
 *           endpoint           his n-th; see wireup/peer.h
 *
 * Three queues hold what the transport had no room for, in this order:
 *   control   answers; ANY_ORDER
 *   messages  ordered: eager, RNDV, flush
 *   bulk      fragments of matched messages; ANY_ORDER, take turns
 * While messages is not empty nothing may overtake: short_bytes_end is 0, so
 * the fast path of sends is closed. */
#ifndef UCP_CORE_EP_H_
#define UCP_CORE_EP_H_

#include "ucp/api/ucp.h"
#include "ucp/core/request.h"
#include "ucp/proto/proto.h"
#include "ucs/list.h"
#include "ucs/queue.h"

struct ucp_address_view;
struct ucp_peer;
struct ucp_unexpected;

enum ucp_ep_flag {
    UCP_EP_USER      = 1 << 0, /* the user has the handle */
    UCP_EP_ANNOUNCED = 1 << 1, /* the peer knows who we are */
    UCP_EP_DRAINING  = 1 << 2, /* ucp_ep_drain() is at work */
    UCP_EP_CLOSING   = 1 << 3, /* the user's handle is being closed */
    UCP_EP_ENDED     = 1 << 4, /* on worker->ended, to be freed */
    UCP_EP_FOLLOWS   = 1 << 5, /* says nothing until the one before is freed */
    UCP_EP_PEER_LEFT = 1 << 6, /* the peer ended its half in order */
    UCP_EP_LOST      = 1 << 7, /* it was said that the peer is lost */
};

/* Work for a matched message that waits for room or its turn in the bulk
 * queue; embedded by its owner.
 * name  of its protocol, for people
 * step  go on; @return UCS_OK: nothing to send now, it may be gone.
 *       UCS_ERR_WOULD_BLOCK: no room, keep my place. UCP_STEP_TURN_DONE: more
 *       is ready, after the others. */
struct ucp_bulk {
    struct ucs_queue_elem queue;
    bool                  is_queued;
    const char           *name;
    ucs_status_t (*step)(struct ucp_bulk *self);
};

/* What an endpoint configuration decides, made once per lane set.
 * lane             the message lane, lanes[0]'s
 * short_bytes_end  a standard contiguous message below this goes by am_short,
 *                  straight from the call; 0: none does
 * packed_bytes_end  another one below this by one am_bcopy, as well; 0: none
 * zcopy_bytes_min  fragments from this size on are sent from the buffer
 * is_explained     UCX_PROTO_INFO has shown it
 * select           the last index is ucp_pieces_index()'s; 0 for data that is
 *                  not in pieces */
struct ucp_ep_config {
    struct ucs_list         link;
    struct ucp_lane_model   lane;
    unsigned                lane_count;
    struct ucp_lane_row     lanes[UCP_LANE_COUNT_MAX];
    size_t                  short_bytes_end;
    size_t                  packed_bytes_end;
    size_t                  zcopy_bytes_min;
    bool                    is_explained;
    struct ucp_select_table select[UCP_MODE_COUNT][UCP_DT_KIND_COUNT]
                                  [UCP_PIECES_COUNT];
};

/* How the user wants it (read from ucp_ep_params_t in entry/ep.c).
 * name  the user's; NULL: he gave none. Of an endpoint: a copy, its own */
struct ucp_ep_options {
    ucp_err_handling_mode_t err_mode;
    bool                    no_loopback;
    ucp_err_handler_cb_t    err_cb;
    void                   *err_arg;
    void                   *user_data;
    const char             *name;
};

/* An eager message of which more fragments come: at most one per sender,
 * because its fragments are ordered. Either recv or unexpected is set. */
struct ucp_eager_partial {
    uint64_t               number;
    uint64_t               length;
    size_t                 arrived;
    struct ucp_request    *recv;
    struct ucp_unexpected *unexpected;
};

/* One lane of one endpoint.
 * peer_name     ucp_worker_iface.name of the interface at its other end
 * peer_domain   which of the peer's domains that interface belongs to
 * is_announced, is_used  a rail: the peer knows whose it is, and that it counts
 */
struct ucp_ep_lane {
    struct uct_ep *uct_ep;
    uint32_t       peer_name;
    uint8_t        peer_domain;
    bool           is_announced;
    bool           is_used;
};

/* message_ep       the message lane
 * refused          1 << enum ucp_rndv_kind: candidates that the peer will
 *                  never take
 * short_bytes_end  config's, or 0 while the fast path is closed
 * config           NULL: there are no lanes
 * failed           UCS_OK, or why every operation fails now
 * matched_count    messages that the peer has matched and does not have yet
 * fragment_count   fragments that came from it, modulo 2^32: does it send?
 * index            this is the n-th endpoint of its peer
 * requests         send.ep_link of requests that wait for the peer
 * receives         recv.ep_link of receives whose fragments come from here
 * unexpected       link of stored messages that need an answer to here
 * source           where the peer's messages come from, NULL: not yet, ended
 * rails            where its fragments come from beside that; NULL: nowhere
 * trace_row        its row in worker->trace, if there is one
 * lanes            [ucp_ep_lane_count()], the first is the message lane */
struct ucp_ep {
    struct ucp_worker          *worker;
    struct uct_ep              *message_ep;
    size_t                      short_bytes_end;
    const struct ucp_ep_config *config;
    uint16_t                    flags; /* enum ucp_ep_flag */
    uint8_t                     refused;
    ucs_status_t                failed;
    uint32_t                    matched_count;
    uint32_t                    fragment_count;
    uint32_t                    index;
    uint32_t                    trace_row;
    struct ucs_queue            control;
    struct ucs_queue            messages;
    struct ucs_queue            bulk;
    struct ucs_list             requests;
    struct ucs_list             receives;
    struct ucs_list             unexpected;
    struct ucp_eager_partial    eager;
    uint64_t                    eager_number_next;
    struct uct_source          *source;
    struct ucp_peer_rails      *rails;
    struct ucp_peer            *peer;
    struct ucs_list             worker_link;
    struct ucp_ep_options       options;
    struct ucp_ep_lane          lanes[];
};

static inline unsigned ucp_ep_lane_count(const struct ucp_ep *ep)
{
    return (ep->config == NULL) ? 0 : ep->config->lane_count;
}

/* Make an endpoint over the best lane that view offers; the peer is told with
 * the first send. *ep_p is set unless memory is short: an endpoint without a
 * lane can still be heard.
 * @return UCS_OK; UCS_ERR_UNREACHABLE: no transport reaches the peer, one line
 *         says why for each; UCS_ERR_NO_MEMORY; what the transport answers. */
UCS_MUST_USE ucs_status_t ucp_ep_open(struct ucp_worker             *worker,
                                      struct ucp_peer               *peer,
                                      const struct ucp_address_view *view,
                                      uint32_t index, struct ucp_ep **ep_p);

/* Nobody needs this endpoint any more: complete what is left with status and
 * put it on worker->ended. */
void ucp_ep_end(struct ucp_ep *ep, ucs_status_t status);

/* The same, but what is left completes when the endpoint is freed, so from
 * progress: nothing calls back in here. */
void ucp_ep_detach(struct ucp_ep *ep, ucs_status_t status);

/* The user gets an endpoint that has failed before: the next progress tells. */
void ucp_ep_report_later(struct ucp_ep *ep);

/* Free the ended endpoints, and report what is to be reported later; not
 * inside a callback of a transport. */
void ucp_eps_reap(struct ucp_worker *worker);

/* The pool of queued control messages. */
UCS_MUST_USE ucs_status_t ucp_ep_queues_init(struct ucp_worker *worker);

/* Send a request: at once if nothing waits, else behind the others.
 * @return as step() of its protocol; UCS_INPROGRESS when queued. */
UCS_MUST_USE ucs_status_t ucp_ep_submit(struct ucp_ep      *ep,
                                        struct ucp_request *req);

/* Queue work, unless it is queued, and go on with it. */
void ucp_ep_submit_bulk(struct ucp_ep *ep, struct ucp_bulk *bulk);
/* Take work out of the queue, if it is there. */
void ucp_ep_remove_bulk(struct ucp_ep *ep, struct ucp_bulk *bulk);

/* Send a small control message, queued if there is no room.
 * @param bytes  [length] borrowed, at most UCP_CONTROL_BYTES_MAX. */
enum { UCP_CONTROL_BYTES_MAX = 1024 };
void ucp_ep_send_control(struct ucp_ep *ep, uint8_t am_id, const uint8_t *bytes,
                         size_t length);
/* The same; then(arg) is called once, when the transport has it or nobody is
 * there to hear it, perhaps inside this call. What must not end before its
 * last word is on its way waits for that: who is told that it ended may never
 * call progress again. */
void ucp_ep_send_control_then(struct ucp_ep *ep, uint8_t am_id,
                              const uint8_t *bytes, size_t   length,
                              void (*then)(void *arg), void *arg);
/* The endpoint has failed: what waits is dropped. */
void ucp_ep_drop_control(struct ucp_ep *ep);

/* Go on with the queues, as far as there is room. */
void ucp_ep_drain(struct ucp_ep *ep);

/* Is nothing of this endpoint waiting for room? */
static inline bool ucp_ep_is_drained(const struct ucp_ep *ep)
{
    return ucs_queue_is_empty(&ep->control) &&
           ucs_queue_is_empty(&ep->messages) && ucs_queue_is_empty(&ep->bulk);
}

/* Has the peer all that it matched? To oneself: is that received, too? A
 * flush waits for this. */
bool ucp_ep_is_settled(const struct ucp_ep *ep);

/* The peer is gone: complete everything with status, tell the user once. */
void ucp_ep_fail(struct ucp_ep *ep, ucs_status_t status);

/* The peer closed its end in order: what it began and did not finish fails,
 * the rest goes on. */
void ucp_ep_peer_closed(struct ucp_ep *ep);

/* For messages to people: the peer's name and the transport. */
const char *ucp_ep_describe(const struct ucp_ep *ep, char *text, size_t size);

/* Take the user's options over, with a copy of the name.
 * @return UCS_OK; UCS_ERR_NO_MEMORY: nothing was changed. */
UCS_MUST_USE ucs_status_t
ucp_ep_set_options(struct ucp_ep *ep, const struct ucp_ep_options *options);

/* Let a request wait for the peer's word, under an id of its own.
 * @return UCS_OK, UCS_ERR_NO_MEMORY. */
UCS_MUST_USE ucs_status_t ucp_ep_wait_for_peer(struct ucp_ep      *ep,
                                               struct ucp_request *req);
/* The word came, or never will: take id and link back. */
void ucp_ep_wait_over(struct ucp_request *req);

#endif
