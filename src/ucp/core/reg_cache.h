/* SPDX-License-Identifier: BSD-3-Clause */
/* ucp/core/reg_cache.h - memory registered for an operation, and kept where
 * that is safe.
 *
 *   ucp_reg_get() --covered by a kept one, rights suffice--> that one
 *        '--else--> transport's mem_register()
 *   ucp_reg_put() --last user--> kept, unused, oldest goes first
 *                 '--not kept--> transport's mem_release()
 *
 * A registration outlives its operation only where we are certain to hear
 * when the memory goes away:
 *   - inside memory that the user mapped (ucp_mem_map): until ucp_mem_unmap;
 *   - anywhere, if the program's runtime reports what it unmaps (ucs/unmap.h,
 *     Open MPI): a report drops what it touches before the next look-up.
 * Elsewhere it lasts one operation. A registration that is in use when its
 * memory goes is not found any more, and released by its last user. That of a
 * handle is not found any more either, after a report: the handle has it.
 *
 * Thread: any, once ucp_reg_cache_share() was called; else one at a time, and
 * then there is no lock to pay for. docs/guides/memory.md is for users. */
#ifndef UCP_CORE_REG_CACHE_H_
#define UCP_CORE_REG_CACHE_H_

#include <pthread.h>

#include "ucs/counters.h"
#include "ucs/list.h"
#include "ucs/mpool.h"
#include "ucs/ranges.h"
#include "ucs/unmap.h"
#include "uct/api/uct.h"

enum { UCP_REG_DOMAIN_COUNT_MAX = 64 };

struct ucp_reg_cache;
struct ucp_reg_domain;

/* Registered memory, as an operation sees it.
 * mem         for uct_iov.mem and rkey_pack; covers at least what was asked
 * the rest is the cache's:
 * range       first: what is registered
 * ref_count   users; a memory handle is one
 * is_kept     found by look-ups (in domain->kept)
 * is_handles  of a memory handle: does not count against the limits
 * link        on cache->unused, or on a list of those to release */
struct ucp_reg {
    struct ucs_range       range;
    struct uct_mem        *mem;
    struct ucp_reg_cache  *cache;
    struct ucp_reg_domain *domain;
    uint32_t               ref_count;
    bool                   is_kept;
    bool                   is_handles;
    struct ucs_list        link;
};

struct ucp_reg_domain {
    struct uct_md    *md;
    struct ucs_ranges kept; /* struct ucp_reg, found by look-ups */
};

/* Of kept registrations, those of memory handles aside. */
struct ucp_reg_limits {
    bool   is_enabled; /* keep any */
    size_t bytes_max;
    size_t count_max;
};

enum ucp_reg_count {
    UCP_REG_COUNT_HITS,    /* found */
    UCP_REG_COUNT_MISSES,  /* registered anew */
    UCP_REG_COUNT_REPORTS, /* dropped because their memory went away */
    UCP_REG_COUNT_EVICTED, /* released for the limits */
    UCP_REG_COUNT_COUNT
};

/* lock        taken when is_shared
 * handles     ranges of memory handles: struct ucp_mem
 * unused      kept, without a user; the one unused longest is first
 * kept_bytes, kept_count  against the limits
 * gone_count  how often memory went away: what was being registered meanwhile
 *             is not kept */
struct ucp_reg_cache {
    bool                    is_shared;
    unsigned                domain_count;
    struct ucs_unmap_reader reader;
    struct ucs_ranges       handles;
    struct ucs_list         unused;
    size_t                  kept_bytes;
    size_t                  kept_count;
    uint64_t                gone_count;
    struct ucp_reg_limits   limits;
    struct ucs_counters     counters;
    struct ucs_counter      counts[UCP_REG_COUNT_COUNT];
    struct ucs_mpool        pool;
    pthread_mutex_t         lock;
    struct ucp_reg_domain   domains[UCP_REG_DOMAIN_COUNT_MAX];
};

UCS_MUST_USE ucs_status_t ucp_reg_cache_init(
    struct ucp_reg_cache *cache, const struct ucp_reg_limits *limits);
/* Nothing is in use any more; what was kept is released. */
void ucp_reg_cache_cleanup(struct ucp_reg_cache *cache);

/* Serve that domain too; once, before the first get. */
void ucp_reg_cache_add_domain(struct ucp_reg_cache *cache, struct uct_md *md);

/* From now on several threads may call. */
void ucp_reg_cache_share(struct ucp_reg_cache *cache);

/* Can memory be registered with that domain? Where not, operations need no
 * registration (uct_iov.mem is NULL) and there are no remote keys. */
static inline bool ucp_reg_is_possible(const struct uct_md *md)
{
    return md->transport->mem_register != NULL;
}

/* Get memory registered for one operation.
 * @param md       One of the cache's, for which ucp_reg_is_possible().
 * @param address  [length] bytes, length > 0.
 * @param access   enum uct_access; what is found has at least these.
 * @return UCS_OK: give it back with ucp_reg_put(). UCS_ERR_NO_MEMORY; what
 *         mem_register says: nothing happened. */
UCS_MUST_USE ucs_status_t ucp_reg_get(struct ucp_reg_cache *cache,
                                      struct uct_md *md, const void *address,
                                      size_t length, unsigned access,
                                      struct ucp_reg **reg_p);
void                      ucp_reg_put(struct ucp_reg *reg);

/* For memory handles (core/mem.c). What lies in an added range may be kept.
 * Its owner serialises nothing; the range is the cache's until remove, which
 * drops everything that touches it. */
void ucp_reg_cache_add_handle(struct ucp_reg_cache *cache,
                              struct ucs_range     *range);
void ucp_reg_cache_remove_handle(struct ucp_reg_cache *cache,
                                 struct ucs_range     *range);

/* Register exactly this, and let operations find it until ucp_reg_disown(), or
 * until a report says that the memory went all the same.
 * Arguments and answer as those of ucp_reg_get(). */
UCS_MUST_USE ucs_status_t ucp_reg_own(struct ucp_reg_cache *cache,
                                      struct uct_md *md, const void *address,
                                      size_t length, unsigned access,
                                      struct ucp_reg **reg_p);
void                      ucp_reg_disown(struct ucp_reg *reg);

#endif
