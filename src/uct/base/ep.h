/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/ep.h - for transports: the base of an endpoint, and its failure. */
#ifndef UCT_BASE_EP_H_
#define UCT_BASE_EP_H_

#include "uct/api/transport.h"
#include "uct/base/complete.h"

/* Fill the base. Its rights are those of the transport's functions, both
 * ways; a transport that has to find out says less afterwards. */
UCS_EXPORT void ucti_ep_init(struct uct_ep *ep, struct uct_iface *iface,
                             const struct uct_ep_params *params);

/* The first thing that ep_destroy() does: from here on the pending callback
 * does not run. The memory stays the transport's to free. */
UCS_EXPORT void ucti_ep_cleanup(struct uct_ep *ep);

/* The peer is gone. Call from progress, never from inside an operation.
 *
 * In this order: operations return `status` from now on; the endpoint leaves
 * the pending queue; what is in flight completes with `status`; the error
 * callback is called. Later calls do nothing, so the report comes once.
 * @param inflight  Its operations in flight, or NULL when there are none.
 * @param status    Why; an error.
 * @return false when a callback destroyed the endpoint: do not touch it. */
UCS_EXPORT bool ucti_ep_fail(struct uct_ep *ep, struct uct_inflight *inflight,
                             ucs_status_t status);

#endif
