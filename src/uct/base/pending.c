/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/pending.c - serve endpoints that wait, round robin.
 *
 * Serving puts two links of its own on the list: `turn`, behind the endpoint
 * that is looked at, and `end`, behind the last that waited when serving
 * began. The endpoints between them are still to be looked at. Callbacks may
 * add and remove endpoints anywhere without disturbing that. */
#include "uct/base/pending.h"

#include "ucs/assert.h"
#include "uct/api/uct.h"

bool ucti_ep_must_wait(struct uct_ep *ep, unsigned flags)
{
    switch ((enum uct_pending_state)ep->pending_state) {
    case UCT_PENDING_WAITS:
        return !(flags & UCT_FLAG_ANY_ORDER);
    case UCT_PENDING_TURN:
        ep->pending_state = UCT_PENDING_TRIED;
        return false;
    case UCT_PENDING_TRIED:
        /* The one before was not refused, otherwise this were no TRIED. */
        ep->pending_state = UCT_PENDING_SENT;
        return false;
    case UCT_PENDING_SENT:
    case UCT_PENDING_NONE:
        break;
    }
    return false;
}

void ucti_pending_enter(struct uct_ep *ep, unsigned flags)
{
    struct uct_iface *iface   = ep->iface;
    bool              is_kept = (ep->pending_state == UCT_PENDING_TRIED);

    if (ep->pending_state == UCT_PENDING_WAITS) {
        return;
    }
    if (!(flags & UCT_FLAG_PENDING)) {
        /* In its turn; only tried: the turn is not used up. */
        if (is_kept) {
            ep->pending_state = UCT_PENDING_TURN;
        }
        return;
    }
    ucs_assert(ep->pending != NULL);
    ep->pending_state = UCT_PENDING_WAITS;
    iface->is_idle    = false;
    if (is_kept) {
        ucs_list_add_before(iface->pending_turn, &ep->pending_link);
    } else {
        ucs_list_add_tail(&iface->pending, &ep->pending_link);
    }
}

void ucti_ep_yield(struct uct_ep *ep)
{
    if (ep->pending_state != UCT_PENDING_WAITS) {
        ep->pending_state = UCT_PENDING_SENT; /* the turn is used up */
        ucti_pending_enter(ep, UCT_FLAG_PENDING);
    }
}

void ucti_pending_leave(struct uct_ep *ep)
{
    if (ep->pending_state == UCT_PENDING_WAITS) {
        ucs_list_remove(&ep->pending_link);
    }
    ep->pending_state = UCT_PENDING_NONE;
}

/* Call the callback of an endpoint that waits. */
static void pending_call(struct uct_ep *ep)
{
    bool  is_destroyed = false;
    bool *outer_p      = ep->destroyed_p;

    ucti_pending_leave(ep);
    ep->pending_state = UCT_PENDING_TURN;
    ep->destroyed_p   = &is_destroyed;
    ep->pending(ep);
    if (is_destroyed) {
        if (outer_p != NULL) {
            *outer_p = true;
        }
        return;
    }
    ep->destroyed_p = outer_p;
    if (ep->pending_state != UCT_PENDING_WAITS) {
        ep->pending_state = UCT_PENDING_NONE;
    }
}

unsigned ucti_pending_serve(struct uct_iface *iface, uct_may_send_fn may_send)
{
    unsigned          count = 0;
    enum uct_may_send may   = UCT_MAY_SEND_LATER;
    struct ucs_list   turn, end;
    struct uct_ep    *ep;

    ucs_assert(iface->pending_turn == NULL);
    if (ucs_list_is_empty(&iface->pending)) {
        return 0;
    }
    ucs_list_add_head(&iface->pending, &turn);
    ucs_list_add_tail(&iface->pending, &end);
    iface->pending_turn = &turn;
    while ((turn.next != &end) && (may != UCT_MAY_SEND_NOBODY)) {
        ep = ucs_container_of(turn.next, struct uct_ep, pending_link);
        ucs_list_remove(&turn);
        ucs_list_add_before(ep->pending_link.next, &turn);
        may = may_send(ep);
        if (may == UCT_MAY_SEND_NOW) {
            pending_call(ep);
            ++count;
        }
    }
    iface->pending_turn = NULL;
    ucs_list_remove(&turn);
    ucs_list_remove(&end);
    return count;
}
