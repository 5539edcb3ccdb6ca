/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/proto.h - what a protocol must be.
 *
 * A protocol moves the bytes of one message. It is one file that holds both
 * ends of the conversation: the sender's steps, and the handlers of every
 * message that it invents. It knows nothing of tags beyond carrying them:
 * tag/ matches and hands over.
 *
 *   offer()  pure: can I, for which sizes, at what cost
 *   step()   go as far as possible; called again when there is room
 *   abort()  the endpoint failed or is closed: let go of what state[] holds
 *
 * Nothing outside select.c, protos.c and the file itself names a protocol. */
#ifndef UCP_PROTO_PROTO_H_
#define UCP_PROTO_PROTO_H_

#include "ucp/core/request.h"
#include "ucp/dt/datatype.h"
#include "ucp/proto/kind.h"
#include "ucs/linear.h"
#include "uct/api/uct.h"

struct ucp_arrival;
struct ucp_context_config;
struct ucp_rndv;

/* Pieces that a protocol hands to the transport at once. A lane that takes
 * fewer sets the limit; 16 is what a cache line of descriptors needs (guess).
 */
enum { UCP_IOV_COUNT_MAX = 16 };

/* How a message is sent, seen from the user. */
enum ucp_mode {
    UCP_MODE_STANDARD,
    UCP_MODE_SYNC,     /* done when the receiver has matched it */
    UCP_MODE_READY,    /* as standard; the receive is known to be posted */
    UCP_MODE_BUFFERED, /* done inside the call, out of the attached buffer */
    UCP_MODE_COUNT
};

/* Ids of all messages between two libucp; one handler each. */
enum ucp_am_id {
    UCP_AM_ANNOUNCE,    /* who is behind this source */
    UCP_AM_EAGER,       /* MATCH: tag, then a whole message */
    UCP_AM_EAGER_FIRST, /* MATCH: tag, size, number, first fragment */
    UCP_AM_EAGER_MORE,  /* MORE: number, offset, fragment */
    UCP_AM_RNDV,        /* RNDV: tag, size, ids, first data */
    UCP_AM_ACK,
    UCP_AM_FRAG,
    UCP_AM_ABORT,
    UCP_AM_RGET, /* RNDV with keys: read it from me */
    UCP_AM_PUT,  /* write this range here */
    UCP_AM_FIN,  /* the RDMA that you allowed is done */
};

enum {
    /* Rows in an endpoint's table of lanes: the message lane and rails. */
    UCP_LANE_COUNT_MAX = 5,
};

/* One way to reach a peer, as far as a choice may depend on it. */
struct ucp_lane_model {
    const struct uct_transport *transport;
    struct uct_iface_attr       attr;
};

/* A row of an endpoint's table of lanes; the first is the message lane.
 * iface_index  which interface of the worker */
struct ucp_lane_row {
    unsigned              iface_index;
    struct ucp_lane_model model;
};

/* All that a protocol may look at to decide.
 * dt_kind      what the data counts as
 * piece_bytes  of an iov or strided data: what a piece of memory has; 0: it is
 *              not in pieces
 * lane         the message lane, rows[0]'s
 * scheme       enum ucp_rndv_scheme: which rendezvous is asked for */
struct ucp_query {
    enum ucp_mode                    mode;
    int                              dt_kind;
    size_t                           piece_bytes;
    const struct ucp_lane_model     *lane;
    const struct ucp_lane_row       *rows; /* [row_count]; NULL when 0 */
    unsigned                         row_count;
    int                              scheme;
    const struct ucp_context_config *config;
};

/* A class of datatypes in a set of them. */
#define UCP_DT_BIT(_class) (1u << (_class))

/* What a protocol answers to a query.
 * reason   why not, a constant sentence, when it refuses
 * piece_s  what each piece of data in pieces costs beyond that, 0: nothing;
 *          select.c adds it to the cost
 * cost     time to move n bytes; UCS_LINEAR_NEVER where it cannot be used */
struct ucp_offer {
    const char          *reason;
    double               piece_s;
    struct ucs_piecewise cost;
};

/* A message and who receives it; arg of fn is a struct ucp_worker_iface. */
struct ucp_handler {
    uint8_t   am_id;
    uct_am_fn fn;
};

/* What a call may do by itself, without a request, with contiguous data on an
 * endpoint where nothing waits, where the table names this protocol. */
enum ucp_direct {
    UCP_DIRECT_NONE,
    UCP_DIRECT_SHORT,  /* one am_short of the buffer */
    UCP_DIRECT_PACKED, /* one am_bcopy of EAGER, if the lane takes so much */
};

#define UCP_STEP_TURN_DONE UCS_ERR_BUSY

struct ucp_proto {
    const char *name;    /* "eager/immediate" */
    const char *summary; /* one line for explain */
    const char *setting; /* that changes how often it wins, or NULL */

    /* Answer by one of the ucp_offer_ functions below.
     * @return UCS_OK, or UCS_ERR_UNSUPPORTED: not for this query; the reason
     *         is set. */
    ucs_status_t (*offer)(const struct ucp_query *query,
                          struct ucp_offer       *offer_p);

    /* @return UCS_OK: the message is on its way, the request is complete.
     *         UCS_INPROGRESS: an event goes on with it.
     *         UCS_ERR_WOULD_BLOCK: no room, call again; the request keeps its
     *         place in the endpoint's queue.
     *         UCP_STEP_TURN_DONE: one fragment is sent and more are ready;
     *         others have their turn first (bulk queue only).
     *         Other errors: it has failed. */
    ucs_status_t (*step)(struct ucp_request *req);

    /* Give up with that status. Never fails.
     * @return UCS_OK: nothing is held any more, the caller completes the
     *         request. UCS_INPROGRESS: a transport still has the buffer; the
     *         protocol completes the request when it is given back. */
    ucs_status_t (*abort)(struct ucp_request *req, ucs_status_t status);

    /* Rendezvous only: how the receiver goes on with a message that the
     * sender would send like this; kind is the candidate on the wire.
     * @return UCS_OK. UCS_ERR_UNSUPPORTED: not this message.
     *         UCS_ERR_UNREACHABLE: no message of this endpoint. Then it comes
     *         as fragments. */
    ucs_status_t (*answer)(struct ucp_rndv          *rndv,
                           const struct ucp_arrival *arrival);
    uint8_t kind;    /* enum ucp_rndv_kind, if there is an answer() */
    uint8_t answers; /* UCP_DT_BIT()s: datatypes of R for which it is asked */

    /* Rendezvous only, or NULL: why an endpoint cannot do at S's side what its
     * configuration could, with data in pieces of so many bytes on average (0:
     * in one block), a constant sentence; then the message goes by protocol 4
     * from the start. Pure. @return NULL: it can. */
    const char *(*obstacle)(const struct ucp_ep *ep, size_t piece_bytes);

    enum ucp_direct direct;

    const struct ucp_handler *handlers; /* ends with fn NULL, or NULL */
};

/* Which protocol up to which size; the last row has SIZE_MAX. */
struct ucp_select_row {
    size_t                  bytes_max;
    const struct ucp_proto *proto;
};

enum { UCP_SELECT_ROW_COUNT_MAX = 8 };

struct ucp_select_table {
    struct ucp_select_row rows[UCP_SELECT_ROW_COUNT_MAX];
};

/* Refuse, with a constant sentence for people. @return UCS_ERR_UNSUPPORTED. */
static inline ucs_status_t ucp_offer_refuse(struct ucp_offer *offer,
                                            const char       *reason)
{
    offer->reason = reason;
    return UCS_ERR_UNSUPPORTED;
}

/* The reason when settings alone forbid it. */
extern const char ucp_offer_no_size_reason[];

/* Offer the sizes from first to last at that cost; refuse when there are
 * none. */
UCS_MUST_USE ucs_status_t ucp_offer_sizes(struct ucp_offer *offer,
                                          size_t bytes_first, size_t bytes_last,
                                          struct ucs_linear cost);

/* The list of protocols, NULL at its end (protos.c). */
extern const struct ucp_proto *const ucp_protos[];

/* Fill the table with the cheapest protocol for every size. Pure.
 * @return UCS_OK; UCS_ERR_UNSUPPORTED: some size has no protocol. */
UCS_MUST_USE ucs_status_t ucp_select(const struct ucp_proto *const *protos,
                                     const struct ucp_query        *query,
                                     struct ucp_select_table       *table_p);

static inline const struct ucp_proto *
ucp_select_lookup(const struct ucp_select_table *table, size_t bytes)
{
    const struct ucp_select_row *row = table->rows;

    while (bytes > row->bytes_max) {
        ++row;
    }
    return row->proto;
}

/* Give all handlers of all protocols to an interface, with arg. */
void ucp_protos_set_handlers(struct uct_iface *iface, void *arg);

#endif
