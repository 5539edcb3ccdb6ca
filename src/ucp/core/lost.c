/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/lost.c - end the process, or say why it may wait for ever.
 *
 *     the peer leaves in order (FIN, closed worker)  --> goes on
 *     its process ended, and the kernel tells (sm)   --> goes on
 *     silence, no way                                --> lost
 *
 * In mode NONE there is nobody to tell: a receive names no endpoint, so it
 * cannot fail with one, and who waits in it waits for ever. A job in which one
 * process ends with an error is ended by its launcher; one that hangs is not. A
 * process that ended was seen by its launcher, too; and one that left by exit()
 * did nothing wrong. */
#include "ucp/core/lost.h"

#include <stdlib.h>

#include "ucp/core/context.h"
#include "ucp/core/worker.h"
#include "ucs/log.h"

void ucp_ep_lost(struct ucp_ep *ep, ucs_status_t status, const char *text)
{
    if ((ep->flags & UCP_EP_PEER_LEFT) || ep->worker->is_closing) {
        return;
    }
    ep->flags |= UCP_EP_LOST;
    if (ep->worker->context->config.lost_peer == UCP_LOST_ERROR) {
        ucs_error("%s: the peer is lost: %s", text, ucs_status_string(status));
        return;
    }
    ucs_log(UCS_LOG_LEVEL_FATAL,
            "%s: the peer is lost: %s; this program asked for no error "
            "handling and may wait for that peer for ever, so it ends here "
            "(UCX_LOST_PEER=error: it goes on)",
            text, ucs_status_string(status));
    abort();
}
