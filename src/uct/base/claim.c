/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/base/claim.c - give words and take them back; find them by name. */
#include "uct/api/claim.h"

#include "ucs/assert.h"
#include "uct/api/transport.h"

static uint32_t claim_index(uint64_t name)
{
    return (uint32_t)name;
}

bool ucti_claim_get(struct uct_iface *iface, uint64_t *name_p)
{
    struct uct_claims *claims = &iface->claims;
    unsigned           index;

    ucs_assert(claims->count <= UCT_CLAIM_COUNT_MAX);
    if (~claims->used == 0) {
        return false;
    }
    index = (unsigned)__builtin_ctzll(~claims->used);
    if (index >= claims->count) {
        return false;
    }
    claims->used |= UINT64_C(1) << index;
    /* 0 is nobody's. */
    claims->generation += (claims->generation == UINT32_MAX) ? 2 : 1;
    *name_p = (uint64_t)claims->generation << 32 | index;
    /* Whoever learns the name learns it by a message, which orders. */
    atomic_store_explicit(&claims->words[index].word,
                          (uint64_t)claims->generation << 32,
                          memory_order_relaxed);
    return true;
}

_Atomic uint64_t *ucti_iface_claim(struct uct_iface *iface, uint64_t name)
{
    ucs_assert(claim_index(name) < iface->claims.count);
    return &iface->claims.words[claim_index(name)].word;
}

void ucti_claim_put(struct uct_iface *iface, uint64_t name)
{
    uint64_t bit = UINT64_C(1) << claim_index(name);

    ucs_assert(iface->claims.used & bit);
    atomic_store_explicit(ucti_iface_claim(iface, name), 0,
                          memory_order_relaxed);
    iface->claims.used &= ~bit;
}

_Atomic uint64_t *ucti_ep_claim(const struct uct_ep *ep, uint64_t name)
{
    return ((ep->claims != NULL) && (claim_index(name) < ep->claim_count))
               ? &ep->claims[claim_index(name)].word
               : NULL;
}
