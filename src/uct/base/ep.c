/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/ep.c - endpoints: checks at the door, birth, failure, end. */
#include "uct/base/ep.h"

#include "ucs/assert.h"
#include "uct/api/uct.h"
#include "uct/base/pending.h"

/* What an endpoint may do that needs nobody's leave. */
static uint8_t ep_rights(const struct uct_transport *t)
{
    bool can_put = t->put_short || t->put_bcopy || t->put_zcopy;
    bool can_get = t->get_bcopy || t->get_zcopy;

    return (uint8_t)(UCT_RIGHT_KNOWN | (can_put ? UCT_RIGHT_PUT : 0) |
                     (can_get ? UCT_RIGHT_GET : 0) |
                     ((t->atomic != NULL) ? UCT_RIGHT_ATOMIC : 0));
}

void ucti_ep_init(struct uct_ep *ep, struct uct_iface *iface,
                  const struct uct_ep_params *params)
{
    ep->transport     = iface->transport;
    ep->iface         = iface;
    ep->pending_state = UCT_PENDING_NONE;
    ep->rights        = ep_rights(iface->transport);
    ep->peer_rights   = ep->rights;
    ep->rights_reason = "the transport lacks the functions";
    ep->failed        = UCS_OK;
    ep->claims        = NULL;
    ep->claim_count   = 0;
    ep->destroyed_p   = NULL;
    ep->pending       = params->pending;
    ep->error         = params->error;
    ep->user          = params->user;
    ucs_list_init(&ep->pending_link);
    ++iface->ep_count;
}

void ucti_ep_cleanup(struct uct_ep *ep)
{
    ucti_pending_leave(ep);
    ep->pending = NULL;
    if (ep->destroyed_p != NULL) {
        *ep->destroyed_p = true;
        ep->destroyed_p  = NULL;
    }
    --ep->iface->ep_count;
}

bool ucti_ep_fail(struct uct_ep *ep, struct uct_inflight *inflight,
                  ucs_status_t status)
{
    bool  is_destroyed = false;
    bool *outer_p      = ep->destroyed_p;

    ucs_assert(UCS_STATUS_IS_ERR(status) && (status != UCS_ERR_WOULD_BLOCK));
    if (ep->failed != UCS_OK) {
        return true;
    }
    ep->failed = status;
    ucti_pending_leave(ep);
    ep->destroyed_p = &is_destroyed;
    if (inflight != NULL) {
        (void)ucti_inflight_finish_all(inflight, status);
    }
    if (!is_destroyed && (ep->error != NULL)) {
        ep->error(ep, status);
    }
    if (!is_destroyed) {
        ep->destroyed_p = outer_p;
    } else if (outer_p != NULL) {
        *outer_p = true;
    }
    return !is_destroyed;
}

ucs_status_t ucti_ep_create(struct uct_iface           *iface,
                            const struct uct_ep_params *params,
                            struct uct_ep             **ep_p)
{
    struct uct_ep *ep;
    ucs_status_t   status;

    if ((iface == NULL) || (params == NULL) || (ep_p == NULL) ||
        (params->address == NULL) ||
        (params->address_bytes > UCT_ADDRESS_BYTES_MAX)) {
        return UCS_ERR_INVALID_PARAM;
    }
    status = iface->transport->ep_create(iface, params, &ep);
    if (status == UCS_OK) {
        ucs_assert((ep->iface == iface) && (ep->user == params->user));
        *ep_p = ep;
    }
    return status;
}

void ucti_ep_destroy(struct uct_ep *ep)
{
    ep->transport->ep_destroy(ep);
}
