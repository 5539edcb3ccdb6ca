/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/flush.h - what "all done" means, for endpoints and workers, and
 * closing an endpoint, which is a flush with an end.
 *
 * Endpoint: what ucp has queued for it is sent, and the lane is flushed. A
 * rendezvous that the receiver has not matched does not hold it. Worker: all
 * endpoints; succeeds though one failed. */
#ifndef UCP_CORE_FLUSH_H_
#define UCP_CORE_FLUSH_H_

#include "ucp/core/ep.h"

struct ucp_worker;

/* Flush an endpoint.
 * @param req  Used only when something must be waited for; its callback is
 *             set by the caller afterwards.
 * @return UCS_OK: all done. UCS_INPROGRESS: req completes. An error. */
UCS_MUST_USE ucs_status_t ucp_flush_ep(struct ucp_ep      *ep,
                                       struct ucp_request *req);

/* Flush all endpoints of a worker; the same answers, and UCS_ERR_NO_MEMORY. */
UCS_MUST_USE ucs_status_t ucp_flush_worker(struct ucp_worker  *worker,
                                           struct ucp_request *req);

/* Close the user's handle after a flush. Then a rendezvous that nobody has
 * matched is cancelled, and the endpoint ends or goes on as internal end of
 * the peer's. The same answers. */
UCS_MUST_USE ucs_status_t ucp_close_flush(struct ucp_ep      *ep,
                                          struct ucp_request *req);

/* Look at the closes of a worker that wait. One whose peer lives but has not
 * taken anything for the failure bound of the endpoint's error mode gives up:
 * what is left completes with UCS_ERR_ENDPOINT_TIMEOUT, the close with UCS_OK.
 * @return how many have. */
unsigned ucp_closes_look(struct ucp_worker *worker, uint64_t now_ns);

/* Close it now: everything queued completes with UCS_ERR_CANCELED. */
void ucp_close_force(struct ucp_ep *ep);

#endif
