/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/buffered.h - the buffer that a program attaches to a worker, out of
 * which buffered messages go when their call is over.
 *
 *   send(user's data) --reserve--> piece --submit--> all taken: piece is freed
 *                         |no room           '-----> rest: captured, the piece
 *                         v                          is freed when it is sent
 *                    error, nothing sent
 *
 * The user's request is complete in either case; the message goes on as a
 * request of the worker's own. The piece is as long as the message, so that
 * offsets in it are those of the packed form; what the transport took inside
 * the call is not copied. */
#ifndef UCP_CORE_BUFFERED_H_
#define UCP_CORE_BUFFERED_H_

#include "ucp/core/request.h"
#include "ucs/arena.h"

/* buffer      what the user attached; NULL: nothing is
 * detach      waits until the buffer is drained; no message is taken then
 * lost_*      messages that nobody will get although their calls said OK */
struct ucp_buffered {
    void               *buffer;
    size_t              size_bytes;
    struct ucs_arena    arena;
    struct ucp_request *detach;
    uint64_t            lost_count;
    uint64_t            lost_bytes;
};

/* @return UCS_OK; UCS_ERR_ALREADY_EXISTS: one is attached;
 *         UCS_ERR_BUFFER_TOO_SMALL: it holds no message; with one line. */
UCS_MUST_USE ucs_status_t ucp_buffered_attach(struct ucp_worker *worker,
                                              void *buffer, size_t size_bytes);

/* @return UCS_OK: detached; UCS_INPROGRESS: req completes when the buffer is
 *         drained; UCS_ERR_NO_ELEM: none is attached; UCS_ERR_BUSY: somebody
 *         waits for that already. */
UCS_MUST_USE ucs_status_t ucp_buffered_detach(struct ucp_worker  *worker,
                                              struct ucp_request *req);

/* The worker is being closed: a detach that waits ends. */
void ucp_buffered_cleanup(struct ucp_worker *worker);

/* Room for a message.
 * @return UCS_OK; UCS_ERR_NO_RESOURCE: not now; UCS_ERR_EXCEEDS_LIMIT: never,
 *         with one line; UCS_ERR_NO_ELEM: no buffer is attached, with one
 *         line. */
UCS_MUST_USE ucs_status_t ucp_buffered_reserve(struct ucp_worker *worker,
                                               size_t length, void **piece_p);

/* The message is gone: give its piece back. */
void ucp_buffered_release(struct ucp_worker *worker, void *piece);

/* The call is over and the message is not: copy what is left of it into its
 * piece. The request goes on by itself and then puts itself back. */
void ucp_buffered_capture(struct ucp_request *req, void *piece);

#endif
