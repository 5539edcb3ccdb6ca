/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/fragment.h - ranges of a message as fragments, granted by the
 * receiver.
 *
 *     S                                                R
 *     |<--- ACK{S's id, R's id, offset, length} -------| at most a window of
 *     |==== FRAG{R's id, offset} + data =============>|   bytes is under way
 *     |==== ... one after the other                    | unpack at the offset
 *     |<--- ACK{the next range} -----------------------| room for one more
 *
 * The window is UCX_RNDV_PIPELINE_DEPTH times UCX_RNDV_FRAG_SIZE, so what a
 * receiver must hold is bounded. Ranges may be asked for in any order, and ACK
 * and FRAG may overtake one another; data that only the user's function can
 * pack is sent in order all the same. */
#ifndef UCP_PROTO_FRAGMENT_H_
#define UCP_PROTO_FRAGMENT_H_

#include "ucp/proto/rndv.h"

/* R: ask for [offset, end) of the message, as the window allows. May give the
 * message up: hold it. */
void ucp_fragment_want(struct ucp_rndv *rndv, size_t offset, size_t end);

/* R: let S send what it claims of [offset, end). May give up, as above. */
void ucp_fragment_share(struct ucp_rndv *rndv, size_t offset, size_t end);

/* R: say that everything is here: all [length] bytes came with the start. */
void ucp_fragment_ask_nothing(struct ucp_ep *ep, uint64_t sender_id,
                              size_t length);

/* S: may a fragment be sent? */
bool ucp_fragment_is_ready(const struct ucp_rndv *rndv);

/* S: send one, if there is one to send. @return as ucp_bulk.step. */
ucs_status_t ucp_fragment_step(struct ucp_rndv *rndv);

/* The handlers of ACK and FRAG. */
extern const struct ucp_handler ucp_fragment_handlers[];

#endif
