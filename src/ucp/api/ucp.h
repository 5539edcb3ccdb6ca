/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/api/ucp.h - the protocol API: context, worker, endpoint and what can be
 * sent. Names, values and layouts are those of OpenUCX 1.20.
 *
 * Shapes
 *   x_nbx    starts an operation. Returns NULL: done, no callback was or will
 *            be called; an error pointer (UCS_PTR_IS_ERR): it did not start;
 *            else a request, to be released with ucp_request_free.
 *   field masks  every struct begins with a mask of the fields that are
 *            filled in, or asked for. Other fields are never read or
 *            written, so structs may grow. Unknown bits are ignored.
 *
 * Ownership  "lent" is the callee's to read until the call, or the operation
 *   it starts, is over; "given" becomes the callee's; what a call returns has
 *   a release call named beside it.
 *
 * Threads  a context and its memory handles: any thread, after ucp_init, if
 *   mt_workers_shared was set. A worker and all that belongs to it: as its
 *   ucs_thread_mode_t says. ucp_worker_signal: any thread.
 *
 * Statuses that any call may return: UCS_ERR_INVALID_PARAM (an argument
 *   cannot be), UCS_ERR_NO_MEMORY, and UCS_ERR_UNSUPPORTED (not built or not
 *   possible here). After an error nothing has happened. */
#ifndef UCP_H_
#define UCP_H_

#include <ucp/api/ucp_def.h>
#include <ucp/api/ucp_version.h>

#include <ucp/api/context.h>
#include <ucp/api/worker.h>
#include <ucp/api/ep.h>
#include <ucp/api/listener.h>
#include <ucp/api/dt.h>
#include <ucp/api/request.h>
#include <ucp/api/tag.h>
#include <ucp/api/am.h>
#include <ucp/api/stream.h>
#include <ucp/api/mem.h>
#include <ucp/api/rma.h>
#include <ucp/api/ucp_compat.h>

#endif
