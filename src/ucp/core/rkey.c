/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/rkey.c - writing keys of our memory, opening those of peers. */
#include "ucp/core/rkey.h"

#include <stdlib.h>
#include <string.h>

#include "ucp/core/worker.h"
#include "ucs/log.h"

/* ---- Of our memory ---- */

size_t ucp_rkey_write(const struct ucp_mem *mem, uint8_t *bytes)
{
    const struct ucp_context *context = mem->context;
    struct ucp_rkey_view      view    = {.name = mem->name};
    uint8_t                   keys[UCP_RKEY_KEY_COUNT_MAX][UCT_RKEY_BYTES_MAX];

    for (unsigned i = 0; i < context->resource_count; ++i) {
        const struct uct_transport *transport =
            context->resources[i].md->transport;
        struct ucp_rkey_wire_key *key = &view.keys[view.key_count];

        if ((mem->regs[i] == NULL) || (transport->rkey_pack == NULL)) {
            continue;
        }
        key->bytes = keys[view.key_count];
        key->domain =
            ucp_context_domain_ordinal(context, context->resources[i].md);
        key->size_bytes =
            transport->rkey_pack(mem->regs[i]->mem, keys[view.key_count]);
        memcpy(key->transport, transport->name, strlen(transport->name) + 1);
        ++view.key_count;
    }
    return ucp_rkey_encode(&view, bytes);
}

/* ---- Of a peer's ---- */

static void rkey_add(struct ucp_rkey *rkey, struct uct_md *md,
                     const struct ucp_rkey_wire_key *wire)
{
    struct ucp_rkey_key *key = &rkey->keys[rkey->key_count];
    ucs_status_t         status;

    status = md->transport->rkey_unpack(md, wire->bytes, wire->size_bytes,
                                        &key->uct);
    if (status == UCS_OK) {
        key->domain = wire->domain;
        ++rkey->key_count;
    } else {
        ucs_debug("%s/%s does not take a remote key: %s", md->transport->name,
                  md->device.name, ucs_status_string(status));
    }
}

/* The key among the peer's of the domain that a lane leads to, or NULL. */
static const struct ucp_rkey_wire_key *
rkey_find(const struct ucp_rkey_view *view, const struct ucp_ep_lane *lane)
{
    const struct uct_md *md = lane->uct_ep->iface->md;

    for (unsigned k = 0; k < view->key_count; ++k) {
        if ((strcmp(view->keys[k].transport, md->transport->name) == 0) &&
            (view->keys[k].domain == lane->peer_domain)) {
            return &view->keys[k];
        }
    }
    return NULL;
}

/* Take for each lane the key of the domain at its other end. */
static void rkey_add_all(struct ucp_rkey *rkey, const struct ucp_ep *ep,
                         const struct ucp_rkey_view *view)
{
    for (unsigned i = 0; i < ucp_ep_lane_count(ep); ++i) {
        const struct ucp_ep_lane       *lane = &ep->lanes[i];
        const struct ucp_rkey_wire_key *wire;

        if ((lane->uct_ep == NULL) ||
            (lane->uct_ep->iface->md->transport->rkey_unpack == NULL) ||
            (ucp_rkey_for(rkey, ep, i) != NULL)) {
            continue;
        }
        wire = rkey_find(view, lane);
        if (wire != NULL) {
            rkey_add(rkey, lane->uct_ep->iface->md, wire);
        }
    }
}

ucs_status_t ucp_rkey_open(struct ucp_ep *ep, const uint8_t *bytes,
                           size_t size_bytes, struct ucp_rkey **rkey_p)
{
    struct ucp_context  *context = ep->worker->context;
    char                 reason[UCT_REASON_BYTES_MAX];
    struct ucp_rkey_view view;
    struct ucp_rkey     *rkey;
    ucs_status_t         status;

    status = ucp_rkey_decode(bytes, size_bytes, &view, reason);
    if (status != UCS_OK) {
        ucs_error("ucp_ep_rkey_unpack: %s", reason);
        return status;
    }
    rkey = (struct ucp_rkey *)malloc(sizeof(*rkey) + UCP_LANE_COUNT_MAX *
                                                         sizeof(rkey->keys[0]));
    if (rkey == NULL) {
        return ucsi_no_memory("a remote key", sizeof(*rkey));
    }
    rkey->context   = context;
    rkey->name      = view.name;
    rkey->key_count = 0;
    rkey_add_all(rkey, ep, &view);
    if ((rkey->key_count == 0) && (rkey->name != 0)) {
        ucs_debug("no lane of endpoint %p understands one of the %u keys",
                  (void *)ep, view.key_count);
        ucp_rkey_close(rkey);
        return UCS_ERR_UNREACHABLE;
    }
    *rkey_p = rkey;
    return UCS_OK;
}

void ucp_rkey_close(struct ucp_rkey *rkey)
{
    for (unsigned i = 0; i < rkey->key_count; ++i) {
        rkey->keys[i].uct->md->transport->rkey_release(rkey->keys[i].uct);
    }
    free(rkey);
}

const struct uct_rkey *ucp_rkey_for(const struct ucp_rkey *rkey,
                                    const struct ucp_ep *ep, unsigned lane)
{
    const struct ucp_ep_lane *ours = &ep->lanes[lane];

    for (unsigned i = 0; i < rkey->key_count; ++i) {
        if ((rkey->keys[i].uct->md == ours->uct_ep->iface->md) &&
            (rkey->keys[i].domain == ours->peer_domain)) {
            return rkey->keys[i].uct;
        }
    }
    return NULL;
}

ucs_status_t ucp_rkey_pointer(const struct ucp_rkey *rkey, uint64_t address,
                              void **pointer_p)
{
    struct ucs_range range;

    /* The name is random: who has it got it from the owner, who is us. */
    if ((rkey->name == 0) || !ucp_mem_find(rkey->context, rkey->name, &range)) {
        return UCS_ERR_UNREACHABLE;
    }
    if ((address < range.start) || (address >= range.end)) {
        return UCS_ERR_INVALID_ADDR;
    }
    *pointer_p = (void *)(uintptr_t)address;
    return UCS_OK;
}
