/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/tag/recv.h - the receiving end of tagged messages: what protocols hand
 * over to matching, and what matching hands back.
 *
 *   protocol handler ----- whole / start ----> match ----> receive request
 *                                                |
 *                                                '-------> unexpected message
 *   ucp_tag_recv, msg_recv --> unexpected message --> receive request
 *
 * An unexpected message keeps the transport's buffer if it may, else copies
 * into a pool of the worker. A start (EAGER_FIRST, RNDV) brings the first
 * bytes of a message and says where the rest comes from. */
#ifndef UCP_TAG_RECV_H_
#define UCP_TAG_RECV_H_

#include "ucp/core/worker.h"
#include "ucs/copy.h"

enum ucp_unexpected_kind {
    UCP_UNEXPECTED_WHOLE,
    UCP_UNEXPECTED_EAGER, /* fragments come, or have come, by themselves */
    UCP_UNEXPECTED_RNDV,  /* the rest comes when we ask for it */
};

/* What every receive needs comes first: two cache lines. The tag is
 * match.exact's.
 * length   of the whole message
 * data     [data_length]: its first bytes; behind this struct, kept in
 *          iface's buffer, or of malloc; head_length bytes of the protocol's
 *          lie before it
 * failed   why the rest will never come, or UCS_OK
 * candidate  RNDV: how its sender would go on
 * ep       whose it is; NULL when whole, or when the peer is gone
 * ep_link  in ep->unexpected, unless ep is NULL
 * id       RNDV: the sender's */
struct ucp_unexpected {
    struct ucp_tag_unexpected match;
    size_t                    length;
    size_t                    data_length;
    uint8_t                  *data;
    enum ucp_unexpected_kind  kind;
    ucs_status_t              failed;
    bool                      is_pooled;
    bool                      is_probed; /* taken out of matching by probe */
    uint8_t                   candidate;
    uint16_t                  head_length;
    struct ucp_ep            *ep;
    struct uct_iface         *kept_iface; /* NULL: data is not kept */
    void                     *kept_data;
    struct ucs_list           ep_link;
    uint64_t                  id;
};

/* The first bytes of a message as a handler sees them.
 * iface, base  whose buffer it is, and where that begins: for keeping it
 * ep          NULL: the sender is gone, but all of the message is here */
struct ucp_arrival {
    struct ucp_worker *worker;
    struct uct_iface  *iface;
    struct ucp_ep     *ep;
    uint64_t           tag;
    size_t             length; /* of the whole message */
    const uint8_t     *data;   /* [data_length] */
    size_t             data_length;
    uint64_t           id;
    uint8_t            candidate;   /* RNDV: enum ucp_rndv_kind */
    uint16_t           head_length; /* the protocol's bytes before data */
    void              *base;
    unsigned           am_flags;
};

/* Pools for unexpected messages. */
UCS_MUST_USE ucs_status_t ucp_tag_queues_init(struct ucp_worker *worker);
void                      ucp_tag_queues_cleanup(struct ucp_worker *worker);

/* Free all stored messages, before the interfaces are closed. */
void ucp_unexpected_drop_all(struct ucp_worker *worker);

/* The start of a message arrived: hand it to the receive that matches, or
 * store it.
 * @return UCS_OK, or UCS_INPROGRESS: the transport's buffer is kept. */
ucs_status_t ucp_tag_start_arrived(const struct ucp_arrival *arrival,
                                   enum ucp_unexpected_kind  kind);

/* The oldest receive that the tag matches, no longer in the queue; NULL:
 * nobody waits for it. */
UCS_INLINE struct ucp_request *ucp_tag_recv_match(struct ucp_worker *worker,
                                                  uint64_t           tag)
{
    struct ucp_tag_expected *expected =
        ucp_tag_match_arrived(&worker->tag.match, tag);
    struct ucp_request *req;

    if (ucs_unlikely(expected == NULL)) {
        return NULL;
    }
    req = ucs_container_of(expected, struct ucp_request, recv.expected);
    req->flags &= ~(uint32_t)UCP_REQUEST_EXPECTED;
    return req;
}

/* The rare cases of ucp_tag_recv_whole(): long, too long, not contiguous. */
void ucp_tag_recv_whole_slow(struct ucp_request *req, const uint8_t *data,
                             size_t length);

/* Complete a receive with a whole message. */
UCS_INLINE void ucp_tag_recv_whole(struct ucp_request *req, uint64_t tag,
                                   const uint8_t *data, size_t length)
{
    req->recv.info.sender_tag = tag;
    req->recv.info.length     = length;
    if (ucs_likely((length <= req->dt.length) &&
                   (length <= UCS_COPY_SMALL_BYTES_MAX) &&
                   (req->dt.dt_class == UCP_DT_CONTIG))) {
        ucs_copy_small(req->dt.contig, data, length);
        ucp_request_complete_recv(req, UCS_OK);
    } else {
        ucp_tag_recv_whole_slow(req, data, length);
    }
}

/* Begin to receive a message in pieces: tell the user's info, check that it
 * fits.
 * @return UCS_OK, or UCS_ERR_MESSAGE_TRUNCATED: nothing may be written. */
UCS_MUST_USE ucs_status_t ucp_tag_recv_begin(struct ucp_request *req,
                                             uint64_t tag, size_t length);

/* A piece came: unpack it; the first error of an unpack function is kept.
 * @return whether the message is complete now. */
bool ucp_tag_recv_piece(struct ucp_request *req, size_t offset,
                        const uint8_t *data, size_t length);

/* Everything came, or never will: clean up and complete. */
void ucp_tag_recv_end(struct ucp_request *req, ucs_status_t status);

/* Give a stored message to a receive. It is out of the queue and freed. */
void ucp_tag_recv_unexpected(struct ucp_request    *req,
                             struct ucp_unexpected *unexpected);

/* Free a message that was taken out of the queue. */
void ucp_unexpected_free(struct ucp_unexpected *unexpected);

/* The peer of an endpoint is gone: what it will not finish fails. */
void ucp_unexpected_orphan(struct ucp_ep *ep, ucs_status_t status);

/* Handing over to the protocols that hold the rest of a message; in
 * proto/eager_allocated.c and proto/rndv_recv.c. */
void ucp_eager_recv_start(struct ucp_request       *req,
                          const struct ucp_arrival *arrival);
void ucp_rndv_recv_start(struct ucp_request       *req,
                         const struct ucp_arrival *arrival);

#endif
