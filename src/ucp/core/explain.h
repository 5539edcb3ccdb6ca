/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/explain.h - why messages to a peer go the way they go: lanes,
 * candidates, rights, protocols. Also UCX_PROTO_INFO. */
#ifndef UCP_CORE_EXPLAIN_H_
#define UCP_CORE_EXPLAIN_H_

#include "ucp/core/worker.h"
#include "ucp/proto/explain.h"
#include "ucp/wireup/address.h"

/* Explain what an endpoint to the worker of that address does, or would do.
 * @param ep  NULL: there is none, so rights are not known.
 * @return UCS_OK; UCS_ERR_UNREACHABLE: no lane, which is explained, too;
 *         UCS_ERR_NO_MEMORY. */
UCS_MUST_USE ucs_status_t ucp_explain_peer(struct ucp_explain *explain,
                                           struct ucp_worker  *worker,
                                           const struct ucp_address_view *view,
                                           const struct ucp_ep           *ep);

/* UCX_PROTO_INFO: write the explanation of an endpoint to the log, if its
 * configuration is new. */
void ucp_explain_new_ep(struct ucp_ep *ep);

#endif
