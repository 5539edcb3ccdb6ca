/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/pending.h - for transports: endpoints that wait for resources.
 *
 *      iface->pending:   A  B  [turn]  C  D          refused now: behind D
 *                        ^served        ^next
 *
 * Every operation that a transport offers begins with uct_ep_must_wait() and
 * refuses with uct_ep_refuse(); progress calls ucti_pending_serve() when it
 * has room. Serving goes round once, from the first to the last, and calls
 * each endpoint at most once. One that is refused again before it could send
 * anything keeps its place, so a large message is not starved by small ones;
 * one that sent something goes to the end, so a busy endpoint does not starve
 * others.
 *
 * Thread: the worker's. */
#ifndef UCT_BASE_PENDING_H_
#define UCT_BASE_PENDING_H_

#include "uct/api/transport.h"

/* The rare cases of the two functions below. */
UCS_EXPORT bool ucti_ep_must_wait(struct uct_ep *ep, unsigned flags);
UCS_EXPORT void ucti_pending_enter(struct uct_ep *ep, unsigned flags);

/* Must this operation be refused because others of its endpoint wait? The
 * first line of every operation, also of those that will be accepted. */
static inline bool uct_ep_must_wait(struct uct_ep *ep, unsigned flags)
{
    return ucs_unlikely(ep->pending_state != UCT_PENDING_NONE) &&
           ucti_ep_must_wait(ep, flags);
}

/* Refuse an operation, for lack of resources or because it must wait.
 * @return UCS_ERR_WOULD_BLOCK. */
static inline ucs_status_t uct_ep_refuse(struct uct_ep *ep, unsigned flags)
{
    if ((flags & UCT_FLAG_PENDING) || (ep->pending_state != UCT_PENDING_NONE)) {
        ucti_pending_enter(ep, flags);
    }
    return UCS_ERR_WOULD_BLOCK;
}

static inline bool uct_iface_has_pending(const struct uct_iface *iface)
{
    return !ucs_list_is_empty(&iface->pending);
}

/* May this endpoint send now? NOBODY: what all of them need is used up, so
 * those behind it are not looked at; thousands may wait. */
enum uct_may_send {
    UCT_MAY_SEND_LATER,
    UCT_MAY_SEND_NOW,
    UCT_MAY_SEND_NOBODY,
};

/* Called for each that waits, in turn. It may take its endpoint out. */
typedef enum uct_may_send (*uct_may_send_fn)(struct uct_ep *ep);

/* Call the pending callbacks of those that may send. From progress only.
 * @return how many were called. */
UCS_EXPORT unsigned ucti_pending_serve(struct uct_iface *iface,
                                       uct_may_send_fn   may_send);

/* Leave the queue, if in it. */
UCS_EXPORT void ucti_pending_leave(struct uct_ep *ep);

/* For a transport that knows what an endpoint waits for: if it waits, do so on
 * that list, or on iface->pending again, behind all others. */
static inline void uct_pending_move(struct uct_ep *ep, struct ucs_list *list)
{
    if (ep->pending_state == UCT_PENDING_WAITS) {
        ucs_list_remove(&ep->pending_link);
        ucs_list_add_tail(list, &ep->pending_link);
    }
}

#endif
