/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/api/uct.h - what a user of transports calls: ucp, tools and tests.
 *
 * The data path is inline: one jump through the transport's struct. A call on
 * an absent function is a bug of the caller; look at the attr first. */
#ifndef UCT_API_UCT_H_
#define UCT_API_UCT_H_

#include "ucs/assert.h"
#include "uct/api/transport.h"

/* All transports of this process: the built-in list, then the modules found
 * in UCX_MODULE_DIR (or the built-in folder). Loads the modules once; any
 * thread.
 * @return a NULL-terminated array owned by libuct. */
UCS_EXPORT const struct uct_transport *const *ucti_transports(void);

/* Why each module file was not loaded: one line a file, for `info`. */
UCS_EXPORT const char *ucti_modules_report(void);

/* Does one of the names of a UCX_TLS list mean this transport? `all` does,
 * but for those that must be asked for by name.
 * @param name  One name, without the leading ^. */
UCS_EXPORT bool ucti_transport_has_name(const struct uct_transport *transport,
                                        const char                 *name);

/* Must it be asked for by name (aliases has -all)? */
UCS_EXPORT bool
ucti_transport_is_on_demand(const struct uct_transport *transport);

/* The same, or a name of a part of it (uct_transport.aliases). */
UCS_EXPORT bool ucti_transport_knows_name(const struct uct_transport *transport,
                                          const char                 *name);

/* Open and close; each checks its arguments, then calls the transport. */
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucti_md_open(const struct uct_device *device, struct uct_md **md_p);
UCS_EXPORT void ucti_md_close(struct uct_md *md);
UCS_EXPORT UCS_MUST_USE ucs_status_t
ucti_iface_open(struct uct_md *md, const struct uct_iface_params *params,
                struct uct_iface **iface_p);
UCS_EXPORT void ucti_iface_close(struct uct_iface *iface);

/* Receive messages with that id; fn NULL: drop them, counted. */
UCS_EXPORT void ucti_iface_set_am(struct uct_iface *iface, uint8_t am_id,
                                  uct_am_fn fn, void *arg);

UCS_EXPORT UCS_MUST_USE ucs_status_t
ucti_ep_create(struct uct_iface *iface, const struct uct_ep_params *params,
               struct uct_ep **ep_p);
UCS_EXPORT void ucti_ep_destroy(struct uct_ep *ep);

/* Let others go first: the pending callback comes again from the next progress,
 * behind all that wait, as if this endpoint had been refused after it sent
 * something. Until then its ordered operations are refused. */
UCS_EXPORT void ucti_ep_yield(struct uct_ep *ep);

static inline unsigned uct_iface_progress(struct uct_iface *iface)
{
    return iface->transport->progress(iface);
}

static inline void uct_iface_release(struct uct_iface *iface, void *data)
{
    iface->transport->am_release(iface, data);
}

static inline ucs_status_t uct_ep_am_short(struct uct_ep *ep, uint8_t am_id,
                                           uint64_t header, const void *payload,
                                           size_t length, unsigned flags)
{
    return ep->transport->am_short(ep, am_id, header, payload, length, flags);
}

static inline ssize_t uct_ep_am_bcopy(struct uct_ep *ep, uint8_t am_id,
                                      uct_pack_fn pack, void *arg,
                                      size_t length_max, unsigned flags)
{
    return ep->transport->am_bcopy(ep, am_id, pack, arg, length_max, flags);
}

static inline ucs_status_t
uct_ep_am_zcopy(struct uct_ep *ep, uint8_t am_id, const void *header,
                size_t header_length, const struct uct_iov *iov,
                unsigned iov_count, struct uct_req *req, unsigned flags)
{
    return ep->transport->am_zcopy(ep, am_id, header, header_length, iov,
                                   iov_count, req, flags);
}

static inline ucs_status_t uct_ep_flush(struct uct_ep *ep, struct uct_req *req,
                                        unsigned flags)
{
    return ep->transport->ep_flush(ep, req, flags);
}

#endif
