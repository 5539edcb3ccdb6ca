/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/api/params.h - how an interface is opened and an endpoint created. */
#ifndef UCT_API_PARAMS_H_
#define UCT_API_PARAMS_H_

#include "uct/api/uct_def.h"

struct ucs_config_list;

/* How an interface is opened.
 * source_end       called for every source that ends, with source_end_arg
 * config           options of transport->config, lent for the call; NULL: the
 *                  transport reads the environment itself
 * names            the list of UCX_TLS that chose the transport, lent for the
 *                  call: its aliases may mean parts of it; NULL: all of it
 * wakeup           event_fd() and arm() will be used
 * failure_bound_ns a dead peer is reported within this time; 0: 60 s
 * neighbour        an open interface of the same transport and owner, or NULL:
 *                  they may help one another when a network breaks */
struct uct_iface_params {
    uct_source_end_fn             source_end;
    void                         *source_end_arg;
    const void                   *config;
    const struct ucs_config_list *names;
    bool                          wakeup;
    uint64_t                      failure_bound_ns;
    struct uct_iface             *neighbour;
};

/* How an endpoint is created.
 * address  [address_bytes] as the peer's iface_address() wrote it; from
 *          outside: decoded with bounds checks
 * pending  may be NULL when UCT_FLAG_PENDING is never passed
 * error    may be NULL
 * user     the caller's; uct_ep.user
 * spare    an endpoint of a neighbour to the same peer, or NULL: what one
 *          cannot send, the other may */
struct uct_ep_params {
    const uint8_t *address;
    size_t         address_bytes;
    uct_pending_fn pending;
    uct_error_fn   error;
    void          *user;
    struct uct_ep *spare;
};

#endif
