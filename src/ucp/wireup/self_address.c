/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/wireup/self_address.c - the address of a worker of this process. */
#include "ucp/wireup/self_address.h"

#include <stdio.h>

#include "ucp/wireup/address.h"

size_t ucp_worker_address_encode(struct ucp_worker *worker, bool net_only,
                                 uint8_t *bytes, size_t size_bytes)
{
    uint8_t addresses[UCP_ADDRESS_ENTRY_COUNT_MAX][UCT_ADDRESS_BYTES_MAX];
    struct ucp_address_view view = {.worker_id = worker->id};

    memcpy(view.secret, worker->secret, sizeof(view.secret));
    snprintf(view.name, sizeof(view.name), "%s", worker->options.name);
    for (unsigned i = 0; (i < worker->iface_count) &&
                         (view.entry_count < UCP_ADDRESS_ENTRY_COUNT_MAX);
         ++i) {
        const struct ucp_worker_iface *wiface = &worker->ifaces[i];
        struct ucp_address_entry      *entry  = &view.entries[view.entry_count];

        if (net_only && (wiface->attr.flags & UCT_IFACE_INTRA_NODE)) {
            continue;
        }
        snprintf(entry->transport, sizeof(entry->transport), "%s",
                 wiface->iface->transport->name);
        entry->domain =
            ucp_context_domain_ordinal(worker->context, wiface->iface->md);
        entry->bytes      = addresses[view.entry_count];
        entry->size_bytes = wiface->attr.address_bytes;
        wiface->iface->transport->iface_address(wiface->iface,
                                                addresses[view.entry_count]);
        ++view.entry_count;
    }
    return ucp_address_encode(&view, bytes, size_bytes);
}
