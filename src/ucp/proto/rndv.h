/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/proto/rndv.h - what an endpoint may do to a rendezvous that waits. */
#ifndef UCP_PROTO_RNDV_H_
#define UCP_PROTO_RNDV_H_

#include "ucp/core/request.h"

/* Take back a rendezvous that the receiver has not matched, and complete the
 * request with UCS_ERR_CANCELED; the peer forgets it. */
void ucp_rndv_cancel(struct ucp_request *req);

/* Has the receiver answered this one? */
bool ucp_rndv_is_matched(const struct ucp_request *req);

#endif
