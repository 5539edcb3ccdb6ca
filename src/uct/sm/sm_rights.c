/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/sm/sm_rights.c - who may read and write whose memory.
 *
 *   attach:  is CMA wanted and here?  --> read the peer's segment id from its
 *            memory --> our rights --> into the channel's entry, for the peer
 *   meet:    the entry of a sender says what it may do to us
 *
 * One probe for each peer and direction, on the real peer; its end of the
 * channel tells the other side. Where there is no right, the reason stays
 * with the peer, for people. */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "ucs/config.h"
#include "ucs/log.h"
#include "uct/base/md.h"
#include "uct/sm/sm.h"

#define RIGHTS_BOTH (UCT_RIGHT_PUT | UCT_RIGHT_GET)

/* Do the names in UCX_TLS that chose us mean CMA too? posix, sysv and mm are
 * the rings alone. */
static bool rights_are_named(const struct ucs_config_list *names)
{
    static const char *const with_cma[] = {"all", "sm", "shm", "cma"};
    unsigned                 i, j;

    if (names == NULL) {
        return true;
    }
    for (i = 0; i < names->count; ++i) {
        for (j = 0; j < UCS_ARRAY_COUNT(with_cma); ++j) {
            if (strcmp(names->names[i], with_cma[j]) == 0) {
                return !names->is_excluded;
            }
        }
    }
    return names->is_excluded;
}

void uct_sm_rights_init(struct uct_sm_iface          *iface,
                        const struct ucs_config_list *names)
{
    char *reason = iface->rights_reason;

    iface->rights = 0;
    if (!iface->options.cma) {
        ucti_reason(reason, "UCX_SM_CMA=n");
    } else if (!rights_are_named(names)) {
        ucti_reason(reason, "UCX_TLS names the rings only: sm, shm or cma in "
                            "it allow CMA");
    } else {
        iface->rights = uct_sm_cma_calls(reason);
    }
    if ((iface->rights != 0) && iface->options.cma_ptracer &&
        (prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) != 0)) {
        /* Without yama there is nothing to allow. */
        ucs_debug("sm: PR_SET_PTRACER: %m");
    }
}

ucs_status_t uct_sm_peer_identify(const struct uct_sm_peer *peer)
{
    const struct uct_sm_remote remote = {
        .pid             = peer->address.pid,
        .segment_address = peer->segment_address,
        .segment_id      = peer->address.segment_id,
    };

    return uct_sm_cma_identify(&remote);
}

void uct_sm_rights_probe(struct uct_sm_peer           *peer,
                         const struct uct_sm_identity *identity)
{
    struct uct_sm_iface *iface = peer->iface;
    ucs_status_t         status;

    peer->segment_address = identity->owner_address;
    peer->rights          = UCT_RIGHT_KNOWN;
    memcpy(peer->rights_reason, iface->rights_reason,
           sizeof(peer->rights_reason));
    if (iface->rights == 0) {
        return;
    }
    if (peer->socket != NULL) {
        ucti_reason(peer->rights_reason,
                    "process %d was attached over a socket: its /proc is "
                    "closed to us, or it has another PID namespace",
                    (int)peer->address.pid);
        return;
    }
    status = uct_sm_peer_identify(peer);
    if (status == UCS_OK) {
        peer->rights |= iface->rights;
    } else if (status == UCS_ERR_UNSUPPORTED) {
        uct_sm_cma_reason(peer->address.pid, errno, peer->rights_reason);
    } else {
        ucti_reason(peer->rights_reason, "process %d has no segment at 0x%llx",
                    (int)peer->address.pid,
                    (unsigned long long)peer->segment_address);
    }
    ucs_debug("sm: CMA with process %d: %s%s%s", (int)peer->address.pid,
              (peer->rights & UCT_RIGHT_PUT) ? "put " : "",
              (peer->rights & UCT_RIGHT_GET) ? "get" : "", peer->rights_reason);
}

void uct_sm_rights_show(struct uct_sm_ep *ep)
{
    struct uct_sm_peer *peer = ep->peer;

    ep->base.peer_rights = peer->peer_rights;
    if (!peer->is_mapped) {
        ep->base.rights        = 0;
        ep->base.rights_reason = "nothing was sent yet";
        return;
    }
    ep->base.rights        = peer->rights;
    ep->base.rights_reason = peer->rights_reason;
    ep->base.claims        = peer->mapping.header->claims;
    ep->base.claim_count   = UCT_SM_CLAIM_COUNT;
}

static void rights_show_all(struct uct_sm_peer *peer)
{
    struct uct_sm_ep *ep;

    ucs_list_for_each (ep, &peer->eps, link) {
        uct_sm_rights_show(ep);
    }
}

void uct_sm_rights_told(struct uct_sm_iface        *iface,
                        const struct uct_sm_sender *sender)
{
    struct uct_sm_peer *peer = uct_sm_peer_find(iface, sender->segment_id);

    if (peer != NULL) {
        peer->peer_rights = sender->rights & (UCT_RIGHT_KNOWN | RIGHTS_BOTH);
        rights_show_all(peer);
    }
}

void uct_sm_rights_ask(struct uct_sm_peer *peer)
{
    struct uct_sm_iface *iface = peer->iface;
    unsigned             index;

    for (index = 0; index < iface->channel_room; ++index) {
        const struct uct_sm_channel *channel = iface->channels[index];

        if ((channel != NULL) &&
            (channel->sender.segment_id == peer->address.segment_id)) {
            uct_sm_rights_told(iface, &channel->sender);
        }
    }
}

void uct_sm_rights_lose(struct uct_sm_peer *peer, int error)
{
    if (peer->rights == UCT_RIGHT_KNOWN) {
        return;
    }
    peer->rights = UCT_RIGHT_KNOWN;
    uct_sm_cma_reason(peer->address.pid, error, peer->rights_reason);
    ucs_warn("sm: CMA was allowed and is not any more: %s",
             peer->rights_reason);
    rights_show_all(peer);
}
