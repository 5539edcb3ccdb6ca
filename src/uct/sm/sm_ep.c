/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_ep.c - endpoints: a few words each, the peer has the rest. */
#include "uct/sm/sm.h"

#include <stdlib.h>
#include <unistd.h>

#include "uct/base/ep.h"

ucs_status_t uct_sm_ep_create(struct uct_iface           *base,
                              const struct uct_ep_params *params,
                              struct uct_ep             **ep_p)
{
    struct uct_sm_iface  *iface = uct_sm_iface_of(base);
    struct uct_sm_address address;
    struct uct_sm_ep     *ep;
    ucs_status_t          status;

    status =
        uct_sm_address_decode(params->address, params->address_bytes, &address);
    if (status != UCS_OK) {
        return status;
    }
    if (address.host_id != iface->address.host_id) {
        return UCS_ERR_UNREACHABLE;
    }
    ep = calloc(1, sizeof(*ep));
    if (ep == NULL) {
        return UCS_ERR_NO_MEMORY;
    }
    ep->peer = uct_sm_peer_get(iface, &address);
    if (ep->peer == NULL) {
        free(ep);
        return UCS_ERR_NO_MEMORY;
    }
    ucti_ep_init(&ep->base, base, params);
    uct_inflight_init(&ep->inflight);
    uct_sm_rights_show(ep);
    ucs_list_add_tail(&ep->peer->eps, &ep->link);
    *ep_p = &ep->base;
    return UCS_OK;
}

void uct_sm_ep_destroy(struct uct_ep *base)
{
    struct uct_sm_ep    *ep    = ucs_container_of(base, struct uct_sm_ep, base);
    struct uct_sm_peer  *peer  = ep->peer;
    struct uct_sm_iface *iface = peer->iface;

    ucti_ep_cleanup(base);
    uct_sm_copies_stop(ep);
    ucti_inflight_cleanup(&ep->inflight);
    ucs_list_remove(&ep->link);
    if (ep->is_ready && (peer->state == UCT_SM_PEER_READY) &&
        (getpid() == iface->process_id)) {
        /* Behind those that wait already: the order of ends is theirs. */
        if (!ucs_list_is_empty(&peer->closing) || !uct_sm_send_close(ep)) {
            ucs_list_add_tail(&peer->closing, &ep->link);
            ++iface->closing_count;
            return;
        }
        peer->free_indexes[peer->free_count++] =
            uct_sm_control_source(ep->control);
    }
    if (ucs_list_is_empty(&peer->eps)) {
        iface->reap_wanted = true;
        uct_sm_look_soon(iface);
    }
    free(ep);
}
