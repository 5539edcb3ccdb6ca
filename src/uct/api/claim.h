/* SPDX-License-Identifier: BSD-3-Clause */
/* uct/api/claim.h - words that both ends of an endpoint reach.
 *
 *     owner                                  peer
 *     ucti_claim_get(iface) --> name --am--> uct_ep_claim(ep, name)
 *               '--> word <---- the same memory ----> word <--'
 *
 * For protocols in which both ends work on one message and neither may wait
 * for the other: who takes a piece says so in the word first. The words lie
 * with the interface that gave them, two in a cache line; every peer of it
 * can write all of them, so what is read from one is checked as anything else
 * that comes from outside.
 *
 *     63          32 31           0
 *    |  generation  |  the users'  |      name: | generation | index |
 *
 * A word begins as its generation and zero. Both ends change the lower half
 * only, by compare and exchange, and only while the upper half is that of
 * the name: an end that is late then changes nothing, because giving a word
 * back clears it and the next use has another generation.
 *
 * An interface without such memory has none: claims.count 0. Thread: the
 * worker's, for the functions; the words are atomic. */
#ifndef UCT_API_CLAIM_H_
#define UCT_API_CLAIM_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ucs/compiler.h"

struct uct_iface;
struct uct_ep;

enum {
    UCT_CLAIM_COUNT_MAX = 64, /* of one interface */
    /* A word changes once for each unit of tens of KiB, so more of them count
     * for more than lines of their own. */
    UCT_CLAIM_BYTES = UCS_CACHE_LINE_BYTES / 2,
};

struct uct_claim {
    UCS_ALIGNED(UCT_CLAIM_BYTES) _Atomic uint64_t word;
};

/* The words of an interface.
 * words       [count], set by the transport; NULL: none
 * used        a bit for each that was given
 * generation  of the word given last */
struct uct_claims {
    struct uct_claim *words;
    unsigned          count;
    uint32_t          generation;
    uint64_t          used;
};

/* Take a word of this interface.
 * @param name_p  What the peer needs to find it.
 * @return false: all are used, or there are none. */
UCS_EXPORT UCS_MUST_USE bool ucti_claim_get(struct uct_iface *iface,
                                            uint64_t         *name_p);

/* Give it back. The caller knows that the peer touches nothing any more that
 * it claimed, or does not care. */
UCS_EXPORT void ucti_claim_put(struct uct_iface *iface, uint64_t name);

/* The word of a name that ucti_claim_get() gave. */
UCS_EXPORT _Atomic uint64_t *ucti_iface_claim(struct uct_iface *iface,
                                              uint64_t          name);

/* The word of a name that came from the peer of this endpoint.
 * @return NULL: there is none of that index, or the peer is not reached yet.
 *         Valid until the endpoint is destroyed, also after it failed. */
UCS_EXPORT _Atomic uint64_t *ucti_ep_claim(const struct uct_ep *ep,
                                           uint64_t             name);

/* Is this value of a word one of the use that `name` names? */
static inline bool uct_claim_is_current(uint64_t name, uint64_t value)
{
    return (name >> 32) == (value >> 32);
}

#endif
